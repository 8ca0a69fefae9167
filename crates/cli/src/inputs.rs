//! Arguments of a run: arrays by name or by position.

use crate::args::{Args, usage};
use crate::load::Target;
use crate::streams;
use cotangent::error::shown;
use cotangent::npz::Archive;
use cotangent::{Array, Code, Error, Function, Result, Scalar, Type, Val};
use std::cell::RefCell;
use std::collections::HashSet;

/// The arrays of `--in`, or of the `.npz` beside the file; each is read when it is asked for.
pub struct Inputs {
    archive: Option<RefCell<Archive>>,
    from: String,
}

impl Inputs {
    /// Opens them; without `--in` and without a file beside the program there are none.
    pub fn read(args: &Args, target: &Target) -> Result<Inputs> {
        let path = match (&args.input, target.sibling()) {
            (Some(p), _) => p.clone(),
            (None, Some(p)) => {
                streams::say(&format!(
                    "inputs from {}",
                    shown(&p.display().to_string(), 200)
                ));
                p
            }
            (None, None) => {
                return Ok(Inputs {
                    archive: None,
                    from: String::new(),
                });
            }
        };
        Ok(Inputs {
            archive: Some(RefCell::new(Archive::open(&path)?)),
            from: path.display().to_string(),
        })
    }

    /// The array that has one of these names; an error if several are there that differ, as one
    /// would be ignored.
    fn get(&self, names: &[String]) -> Result<Option<Array>> {
        let Some(archive) = &self.archive else {
            return Ok(None);
        };
        let mut archive = archive.borrow_mut();
        let there: Vec<&String> = names.iter().filter(|n| archive.has(n)).collect();
        match there[..] {
            [] => Ok(None),
            [name] => archive.read(name),
            [first, ref others @ ..] => {
                let array = archive.read(first)?;
                let other = |name: &&&String| !matches!((&array, archive.read(name)), (Some(a), Ok(Some(b))) if a.same_bits(&b));
                let Some(second) = others.iter().find(other) else {
                    return Ok(array);
                };
                let text = format!(
                    "{} has both `{first}` and `{second}`, which are one argument",
                    self.from
                );
                Err(Error::new(Code::Input, text).note("leave one of them out"))
            }
        }
    }

    fn has(&self, names: &[String]) -> bool {
        self.archive
            .as_ref()
            .is_some_and(|a| names.iter().any(|n| a.borrow().has(n)))
    }

    /// What there is, for messages.
    fn list(&self) -> String {
        let Some(archive) = &self.archive else {
            return String::new();
        };
        let mut archive = archive.borrow_mut();
        let names: Vec<String> = archive.names().map(str::to_owned).collect();
        let mut one = |n: &String| {
            archive
                .ty(n)
                .map_or_else(|| n.clone(), |t| format!("{n} {t}"))
        };
        if names.is_empty() {
            "nothing".into()
        } else {
            names.iter().map(&mut one).collect::<Vec<_>>().join(", ")
        }
    }

    /// The array of the one of these names that there is, of this type.
    pub fn find(&self, names: &[String], ty: &Type, what: &str) -> Result<Array> {
        let Some(a) = self.get(names)? else {
            let ways = names.join("` or `");
            let e = Error::new(
                Code::Input,
                format!("{what} is missing: an array `{ways}` of type {ty}"),
            );
            return Err(match self.archive {
                None => e.note("give inputs with --in A.npz"),
                Some(_) => e.note(format!("{} has: {}", self.from, self.list())),
            });
        };
        if a.dtype() != ty.dtype {
            return Err(Error::new(
                Code::DTypeMismatch,
                format!("{what} must be {ty}, got {}", a.ty()),
            )
            .note(format!(
                "convert the array to {} before it is saved",
                ty.dtype
            )));
        }
        Ok(a)
    }

    /// The arguments of a function.
    pub fn args(&self, f: &Function) -> Result<Vec<Array>> {
        let names = ValueNames::new(f);
        let one = |(i, &p): (usize, &Val)| {
            self.find(
                &names.of(p, "", &format!("in_{i}")),
                f.ty(p),
                &argument(f, i),
            )
        };
        f.params().iter().enumerate().map(one).collect()
    }

    /// A cotangent per differentiable result; a real scalar's is 1 unless it is given.
    pub fn cotangents(&self, f: &Function) -> Result<Vec<Array>> {
        let (mut out, values) = (Vec::new(), ValueNames::new(f));
        for (k, &r) in f
            .results()
            .iter()
            .enumerate()
            .filter(|(_, r)| f.ty(**r).dtype.has_tangent())
        {
            let names = values.of(r, "ct_", &format!("ct_{k}"));
            let ty = f.ty(r);
            let only = f.results().len() == 1 && ty.rank() == 0 && !ty.dtype.is_complex();
            out.push(match self.get(&names)? {
                None if only => Scalar::F(1.0).array(ty.dtype),
                _ => self.find(&names, ty, &format!("the cotangent of result {k}"))?,
            });
        }
        Ok(out)
    }

    /// A tangent or direction per `wrt` value: `t_x` by its name, or `t_0` by its place in `wrt`,
    /// for each prefix.
    pub fn directions(&self, f: &Function, wrt: &[Val], prefixes: &[&str]) -> Result<Vec<Array>> {
        let (mut out, values) = (Vec::new(), ValueNames::new(f));
        for (i, &v) in wrt.iter().enumerate() {
            // One file may hold directions of several commands: the first prefix that is there
            // counts.
            let ways: Vec<Vec<String>> = prefixes
                .iter()
                .map(|p| values.of(v, &format!("{p}_"), &format!("{p}_{i}")))
                .collect();
            let names = ways
                .iter()
                .find(|n| self.has(n))
                .cloned()
                .unwrap_or_else(|| ways.concat());
            out.push(self.find(&names, f.ty(v), &format!("the direction of {}", f.show(v)))?);
        }
        Ok(out)
    }
}

/// The names of values of a function.
struct ValueNames<'f> {
    f: &'f Function,
    taken: HashSet<&'f str>,
}

impl<'f> ValueNames<'f> {
    fn new(f: &'f Function) -> ValueNames<'f> {
        let taken = f
            .params()
            .iter()
            .chain(f.results())
            .filter_map(|&v| f.name_of(v))
            .map(|n| &**n)
            .collect();
        ValueNames { f, taken }
    }

    /// Of a value: its own (with a prefix), then by position, unless that is another one's own
    /// name. A number behind a prefix is a position.
    fn of(&self, v: Val, prefix: &str, position: &str) -> Vec<String> {
        let number = |n: &str| !prefix.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
        let own = self
            .f
            .name_of(v)
            .filter(|n| !number(n))
            .map(|n| format!("{prefix}{n}"));
        let free = position
            .strip_prefix(prefix)
            .is_none_or(|n| number(n) || !self.taken.contains(n));
        own.into_iter()
            .chain(free.then(|| position.to_owned()))
            .collect()
    }
}

fn argument(f: &Function, i: usize) -> String {
    format!("argument {} of @{}", f.show(f.params()[i]), f.name)
}

/// The values of `--wrt`; without it, every argument that has a tangent.
pub fn wrt(args: &Args, f: &Function) -> Result<Vec<Val>> {
    if let Some(text) = &args.wrt {
        return cotangent::text::resolve_wrt(f, text);
    }
    let all: Vec<Val> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect();
    if all.is_empty() {
        return Err(usage(format!(
            "@{} has no float argument to differentiate",
            f.name
        )));
    }
    Ok(all)
}
