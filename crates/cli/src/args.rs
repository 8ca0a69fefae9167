//! What the words of the command line mean.

use cotangent::{Code, Error, Result};
use lexopt::prelude::*;

/// One invocation.
#[derive(Debug, Default)]
pub struct Args {
    /// The command, `help` if none was given.
    pub command: String,
    /// `FILE[@NAME]`, or the operation of `ops NAME`.
    pub target: Option<String>,
    /// The second file of `convert`.
    pub destination: Option<String>,
    /// `--wrt`.
    pub wrt: Option<String>,
    /// `--in`.
    pub input: Option<String>,
    /// `--out`.
    pub output: Option<String>,
    /// `--check` of `fmt`.
    pub check: bool,
    /// `--write` of `fmt`.
    pub write: bool,
    /// `--grad` of `profile`.
    pub grad: bool,
    /// `--runs` of `profile`.
    pub runs: Option<usize>,
    /// `--trace` of `profile`.
    pub trace: Option<String>,
    /// `--svg` of `explain`.
    pub svg: Option<String>,
    /// `--help` was given.
    pub help: bool,
}

/// The commands and the options that each takes.
pub const COMMANDS: &[(&str, &[&str])] = &[
    ("fmt", &["check", "write"]),
    ("derive", &[]),
    ("convert", &[]),
    ("run", &["in", "out"]),
    ("grad", &["wrt", "in", "out"]),
    ("vjp", &["wrt", "in", "out"]),
    ("jvp", &["wrt", "in", "out"]),
    ("hvp", &["wrt", "in", "out"]),
    ("jacobian", &["wrt", "in", "out"]),
    ("hessian", &["wrt", "in", "out"]),
    ("check", &["wrt", "in"]),
    ("explain", &["wrt", "in", "svg"]),
    ("profile", &["wrt", "in", "grad", "runs", "trace"]),
    ("ops", &[]),
    ("help", &[]),
    ("version", &[]),
];

pub fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Input, message).note("`cotangent --help` lists the commands")
}

/// Reads the command line.
pub fn parse() -> Result<Args> {
    from(lexopt::Parser::from_env())
}

fn from(mut p: lexopt::Parser) -> Result<Args> {
    let mut a = Args::default();
    let mut seen: Vec<String> = Vec::new();
    while let Some(arg) = p.next().map_err(|e| usage(e.to_string()))? {
        let value = |p: &mut lexopt::Parser| -> Result<String> {
            let v = p.value().and_then(|v| v.string()).map_err(|e| usage(e.to_string()))?;
            Ok(v)
        };
        match arg {
            Long("help") | Short('h') => a.help = true,
            Long("version") | Short('V') => a.command = "version".into(),
            Long("wrt") => (a.wrt, _) = (Some(value(&mut p)?), seen.push("wrt".into())),
            Long("in") => (a.input, _) = (Some(value(&mut p)?), seen.push("in".into())),
            Long("out") => (a.output, _) = (Some(value(&mut p)?), seen.push("out".into())),
            Long("trace") => (a.trace, _) = (Some(value(&mut p)?), seen.push("trace".into())),
            Long("svg") => (a.svg, _) = (Some(value(&mut p)?), seen.push("svg".into())),
            Long("runs") => {
                let text = value(&mut p)?;
                let n = text.parse().ok().filter(|n| (1..=1_000_000).contains(n));
                a.runs =
                    Some(n.ok_or_else(|| usage(format!("--runs takes a number from 1 to 1000000, not `{text}`")))?);
                seen.push("runs".into());
            }
            Long("grad") => (a.grad, _) = (true, seen.push("grad".into())),
            Long("check") => (a.check, _) = (true, seen.push("check".into())),
            Long("write") => (a.write, _) = (true, seen.push("write".into())),
            // `-@NAME` is a module of standard input, not an option.
            Short('@') if a.target.is_none() => {
                let name = p.optional_value().unwrap_or_default();
                a.target = Some(format!("-@{}", name.to_string_lossy()));
            }
            Value(v) if a.command.is_empty() => a.command = v.to_string_lossy().into_owned(),
            Value(v) if a.target.is_none() => a.target = Some(v.to_string_lossy().into_owned()),
            Value(v) if a.command == "convert" && a.destination.is_none() => {
                a.destination = Some(v.to_string_lossy().into_owned());
            }
            other => return Err(usage(other.unexpected().to_string())),
        }
    }
    if a.command.is_empty() {
        a.command = "help".into();
    }
    let Some((name, allowed)) = COMMANDS.iter().find(|(n, _)| *n == a.command) else {
        let near = cotangent::text::nearest(&a.command, COMMANDS.iter().map(|c| c.0));
        let hint = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        return Err(usage(format!("unknown command `{}`{hint}", a.command)));
    };
    match seen.iter().find(|s| !allowed.contains(&s.as_str())) {
        Some(s) => Err(usage(format!("`{name}` has no option `--{s}`"))),
        None => Ok(a),
    }
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
        assert_eq!((a.command.as_str(), a.target.as_deref()), ("grad", Some("m.tgraph")));
        assert_eq!((a.wrt.as_deref(), a.input.as_deref()), (Some("x,y"), Some("a.npz")));
        assert_eq!(read(&[]).unwrap().command, "help");
    }

    #[test]
    fn mistakes_are_named() {
        for (words, what) in [
            (&["gard", "f"][..], "did you mean `grad`"),
            (&["fmt", "f", "--wrt", "x"], "`fmt` has no option `--wrt`"),
            (&["run", "f", "--in"], "--in"),
            (&["run", "f", "--frob"], "--frob"),
            (&["run", "f", "g"], "g"),
        ] {
            let e = read(words).unwrap_err().to_string();
            assert!(e.contains(what), "{e}");
        }
    }
}
