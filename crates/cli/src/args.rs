//! Parser of the command line.

use cotangent::ad::Policy;
use cotangent::pjrt::{Mesh, Spec};
use cotangent::stablehlo::Target as XlaTarget;
use cotangent::{Code, Error, Result};
use lexopt::prelude::*;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The arguments of one invocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Args {
    /// The command, `help` if none was given.
    pub command: String,
    /// `FILE[@NAME]`, or the operation of `ops NAME`.
    pub target: Option<OsString>,
    /// The second file of `convert`.
    pub destination: Option<PathBuf>,
    /// `--wrt`.
    pub wrt: Option<String>,
    /// `--numerics`.
    pub numerics: Option<Policy>,
    /// `--in`.
    pub input: Option<PathBuf>,
    /// `--out`.
    pub output: Option<PathBuf>,
    /// `--check` of `fmt` and `derive`.
    pub check: bool,
    /// `--write` of `fmt`.
    pub write: bool,
    /// `--raise` of `convert`.
    pub raise: bool,
    /// `--target` of `convert`.
    pub written_for: Option<XlaTarget>,
    /// `--target` of `compile`.
    pub compiled_for: Option<String>,
    /// `--bound` of `convert`, `compile` and `--on`.
    pub bound: Option<usize>,
    /// `--mesh`: axes and extents.
    pub mesh: Option<Mesh>,
    /// `--shard`: arguments and their divisions.
    pub shard: Vec<(String, Spec)>,
    /// `--allow-skipped` of `check`.
    pub allow_skipped: bool,
    /// `--grad` of `profile`.
    pub grad: bool,
    /// `--runs` of `profile`.
    pub runs: Option<usize>,
    /// `--trace` of `profile`.
    pub trace: Option<PathBuf>,
    /// `--svg` of `explain`.
    pub svg: Option<PathBuf>,
    /// `--html` of `explain`.
    pub html: Option<PathBuf>,
    /// `--passes` of `explain`.
    pub passes: bool,
    /// `--plan` of `explain`.
    pub plan: bool,
    /// `--on`.
    pub on: Option<String>,
    /// `--isolate` of `--on` and `compile`.
    pub isolate: bool,
    /// `--help` was given.
    pub help: bool,
}

/// The options of commands that run derivatives.
const DERIVATIVE: &[&str] = &[
    "wrt", "numerics", "in", "out", "on", "bound", "mesh", "shard", "isolate",
];

/// Commands, and the options of each.
pub(crate) const COMMANDS: &[(&str, &[&str])] = &[
    ("fmt", &["check", "write"]),
    ("derive", &["numerics", "check"]),
    (
        "convert",
        &["numerics", "raise", "target", "bound", "mesh", "shard"],
    ),
    (
        "compile",
        &[
            "numerics", "in", "out", "target", "bound", "mesh", "shard", "isolate",
        ],
    ),
    (
        "run",
        &[
            "numerics", "in", "out", "on", "bound", "mesh", "shard", "isolate",
        ],
    ),
    ("grad", DERIVATIVE),
    ("vjp", DERIVATIVE),
    ("jvp", DERIVATIVE),
    ("hvp", DERIVATIVE),
    ("jacobian", DERIVATIVE),
    ("hessian", DERIVATIVE),
    ("check", &["wrt", "numerics", "in", "allow-skipped"]),
    (
        "explain",
        &[
            "wrt", "numerics", "in", "svg", "html", "passes", "plan", "on", "bound", "mesh",
            "shard", "isolate",
        ],
    ),
    (
        "profile",
        &["wrt", "numerics", "in", "grad", "runs", "trace"],
    ),
    ("devices", &[]),
    ("ops", &[]),
    ("help", &[]),
    ("version", &[]),
];

pub(crate) fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Input, message).note("`cotangent --help` lists the commands")
}

/// Parses the arguments of the command line.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Args> {
    from(lexopt::Parser::from_args(arguments))
}

/// The value of `--numerics`.
fn numerics(text: &str) -> Result<Policy> {
    text.parse().map_err(|e: Error| {
        usage(format!("--numerics {text}: {}", e.message()))
            .note("for example: --numerics nan,stable")
    })
}

/// The value of `--runs` or `--bound`.
fn count(name: &str, text: &OsStr) -> Result<usize> {
    let n = text.to_str().and_then(|t| t.parse().ok());
    n.filter(|n| (1..=1_000_000).contains(n)).ok_or_else(|| {
        usage(format!(
            "--{name} takes a number from 1 to 1000000, not `{}`",
            text.display()
        ))
    })
}

/// The mesh of `--mesh data=4,model=2`.
fn mesh(text: &str) -> Result<Mesh> {
    let wrong = |e: Error| usage(format!("--mesh {text}: {}", e.message()));
    text.parse().map_err(wrong)
}

/// The argument and the division of `--shard x=data,-`.
fn shard(text: &str) -> Result<(String, Spec)> {
    let Some((name, dims)) = text.split_once('=').filter(|(n, _)| !n.is_empty()) else {
        return Err(usage(format!(
            "--shard {text}: an argument has an axis of the mesh or `-` for each dimension, as in `--shard x=data,-`"
        )));
    };
    Ok((name.trim_start_matches('%').to_owned(), dims.parse()?))
}

/// `; did you mean X?` for the most similar name, or for the longest one that begins like `given`:
/// one of the two is the beginning of the other. Empty if there is none.
fn did_you_mean(given: &str, sigil: &str, among: &[&str]) -> String {
    let begins = |n: &&&str| n.len() > 1 && (given.starts_with(**n) || n.starts_with(given));
    let alike = || among.iter().filter(begins).max_by_key(|n| n.len()).copied();
    let near = cotangent::text::nearest(given, among.iter().copied()).or_else(alike);
    near.map_or(String::new(), |n| format!("; did you mean `{sigil}{n}`?"))
}

/// The error for an option that does not exist.
fn unknown_option(command: &str, name: &str) -> Error {
    let own = COMMANDS.iter().find(|c| c.0 == command);
    let options: Vec<&str> = match own {
        Some(c) => c.1.to_vec(),
        None => COMMANDS.iter().flat_map(|c| c.1).copied().collect(),
    };
    let who = own.map_or(String::new(), |c| format!("`{}`: ", c.0));
    let hint = did_you_mean(name, "--", &options);
    let error = Error::new(Code::Input, format!("{who}unknown option `--{name}`{hint}"));
    error.note(match own {
        Some(c) => format!("`cotangent {} --help` lists its options", c.0),
        None => "`cotangent --help` lists the commands".to_owned(),
    })
}

fn from(mut p: lexopt::Parser) -> Result<Args> {
    let mut a = Args::default();
    let mut seen: Vec<&'static str> = Vec::new();
    let mistake = |e: lexopt::Error| usage(e.to_string());
    while let Some(arg) = p.next().map_err(mistake)? {
        let name = match arg {
            Long(name) => COMMANDS
                .iter()
                .flat_map(|c| c.1)
                .find(|n| **n == name)
                .copied(),
            _ => None,
        };
        if let Some(name) = name {
            if seen.contains(&name) && name != "shard" {
                return Err(usage(format!("`--{name}` is given twice")));
            }
            seen.push(name);
        }
        match arg {
            Long("help") | Short('h') => a.help = true,
            Long("version") | Short('V') => a.command = "version".into(),
            Long("wrt") => a.wrt = Some(p.value().and_then(|v| v.string()).map_err(mistake)?),
            Long("numerics") => {
                let text = p.value().and_then(|v| v.string()).map_err(mistake)?;
                a.numerics = Some(numerics(&text)?);
            }
            Long("in") => a.input = Some(p.value().map_err(mistake)?.into()),
            Long("out") => a.output = Some(p.value().map_err(mistake)?.into()),
            Long("trace") => a.trace = Some(p.value().map_err(mistake)?.into()),
            Long("svg") => a.svg = Some(p.value().map_err(mistake)?.into()),
            Long("html") => a.html = Some(p.value().map_err(mistake)?.into()),
            Long("runs") => a.runs = Some(count("runs", &p.value().map_err(mistake)?)?),
            Long("bound") => a.bound = Some(count("bound", &p.value().map_err(mistake)?)?),
            Long("target") => {
                let text = p.value().and_then(|v| v.string()).map_err(mistake)?;
                a.compiled_for = Some(text);
            }
            Long("mesh") => {
                a.mesh = Some(mesh(&p.value().and_then(|v| v.string()).map_err(mistake)?)?);
            }
            Long("shard") => {
                let text = p.value().and_then(|v| v.string()).map_err(mistake)?;
                a.shard.push(shard(&text)?);
            }
            Long("on") => a.on = Some(p.value().and_then(|v| v.string()).map_err(mistake)?),
            Long("isolate") => a.isolate = true,
            Long("grad") => a.grad = true,
            Long("passes") => a.passes = true,
            Long("plan") => a.plan = true,
            Long("check") => a.check = true,
            Long("write") => a.write = true,
            Long("raise") => a.raise = true,
            Long("allow-skipped") => a.allow_skipped = true,
            // `-@NAME` is a module of standard input, not an option.
            Short('@') if a.target.is_none() => {
                let mut target = OsString::from("-@");
                target.push(p.optional_value().unwrap_or_default());
                a.target = Some(target);
            }
            Value(v) if a.command.is_empty() => a.command = v.to_string_lossy().into_owned(),
            Value(v) if a.target.is_none() => a.target = Some(v),
            Value(v) if a.command == "convert" && a.destination.is_none() => {
                a.destination = Some(v.into())
            }
            Long(name) => {
                let name = name.to_owned();
                return Err(unknown_option(&a.command, &name));
            }
            other => return Err(mistake(other.unexpected())),
        }
    }
    checked(a, &seen)
}

/// The arguments, if their command exists and takes the options that were seen.
fn checked(mut a: Args, seen: &[&str]) -> Result<Args> {
    if a.command.is_empty() {
        a.command = "help".into();
    }
    let Some((name, allowed)) = COMMANDS.iter().find(|(n, _)| *n == a.command) else {
        let names: Vec<&str> = COMMANDS.iter().map(|c| c.0).collect();
        let hint = did_you_mean(&a.command, "", &names);
        return Err(usage(format!("unknown command `{}`{hint}", a.command)));
    };
    if let Some(s) = seen.iter().find(|s| !allowed.contains(s)) {
        return Err(usage(format!("`{name}` has no option `--{s}`")));
    }
    if a.command == "convert"
        && let Some(text) = a.compiled_for.take()
    {
        let wrong = |e: Error| usage(format!("--target {text}: {}", e.message()));
        a.written_for = Some(text.parse().map_err(wrong)?);
    }
    if a.command == "compile" && a.compiled_for.is_none() && !a.help {
        return Err(usage(
            "`compile` needs the devices: give `--target h200`, `--target v5e:2x4` or one that `cotangent devices` lists",
        ));
    }
    let is_portable = a.written_for == Some(XlaTarget::Portable);
    let portable = is_portable || a.on.is_some() || a.compiled_for.is_some();
    let given = [
        ("bound", a.bound.is_some()),
        ("mesh", a.mesh.is_some()),
        ("shard", !a.shard.is_empty()),
        ("isolate", a.isolate),
    ];
    if let Some((name, _)) = given.iter().find(|g| g.1 && !portable) {
        let of = match a.command == "convert" {
            true => "--target portable",
            false => "--on",
        };
        return Err(usage(format!("`--{name}` is an option of `{of}`")));
    }
    if a.mesh.is_none() && !a.shard.is_empty() {
        return Err(usage("`--shard` needs the devices: give `--mesh data=8`"));
    }
    if a.check && a.write {
        return Err(usage(
            "`--check` only compares and `--write` replaces the file: give one of them",
        ));
    }
    Ok(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Args> {
        from(lexopt::Parser::from_args(words))
    }

    #[test]
    fn words_are_read_in_any_order() {
        let a = read(&["grad", "--wrt", "x,y", "m.tgraph", "--in=a.npz"]).unwrap();
        assert_eq!(
            (a.command.as_str(), a.target),
            ("grad", Some("m.tgraph".into()))
        );
        assert_eq!(
            (a.wrt.as_deref(), a.input),
            (Some("x,y"), Some("a.npz".into()))
        );
        assert_eq!(read(&[]).unwrap().command, "help");
    }

    #[test]
    fn mistakes_are_named() {
        for (words, what) in [
            (&["gard", "f"][..], "did you mean `grad`"),
            (&["gradient", "f"], "did you mean `grad`"),
            (&["run", "f", "--input", "a"], "did you mean `--in`"),
            (&["profile", "f", "--grid"], "did you mean `--grad`"),
            (&["--numeric", "nan"], "did you mean `--numerics`"),
            (&["run", "--grid"], "`run`: unknown option `--grid` "),
            (&["fmt", "f", "--wrt", "x"], "`fmt` has no option `--wrt`"),
            (&["run", "f", "--in"], "--in"),
            (&["run", "f", "--frob"], "--frob"),
            (
                &["convert", "f", "--target", "tpu"],
                "the targets are jax and portable, not `tpu`",
            ),
            (
                &["convert", "f", "--bound", "9"],
                "`--bound` is an option of `--target portable`",
            ),
            (&["run", "f", "g"], "g"),
            (
                &["run", "f", "--in", "a", "--in", "b"],
                "`--in` is given twice",
            ),
            (&["fmt", "f", "--check", "--write"], "give one of them"),
        ] {
            let e = read(words).unwrap_err().to_string();
            assert!(e.contains(what), "{e}");
        }
    }
}
