//! Arguments of a run: arrays by name or by position.

use crate::args::{Args, usage};
use crate::load::Target;
use crate::streams;
use cotangent::error::shown;
use cotangent::npz::Archive;
use cotangent::{Array, Code, Error, Function, Result, Scalar, Type, Val};
use std::cell::RefCell;
use std::collections::HashSet;

/// The arrays of `--in`, or of the `.npz` file next to the program. Each is read on demand.
pub(crate) struct Inputs {
    archive: Option<RefCell<Archive>>,
    from: String,
}

impl Inputs {
    /// Opens the archive. Without `--in` and without an `.npz` file next to the program, there are
    /// no arrays.
    pub(crate) fn read(args: &Args, target: &Target) -> Result<Inputs> {
        let path = match (&args.input, target.sibling()) {
            (Some(p), _) => p.clone(),
            (None, Some(p)) => {
                streams::report(&format!(
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

    /// The array with one of these names. Several different arrays are an error, since only one
    /// would be used.
    fn get(&self, names: &[String]) -> Result<Option<Array>> {
        let Some(archive) = &self.archive else {
            return Ok(None);
        };
        let mut archive = archive.borrow_mut();
        let present: Vec<&String> = names.iter().filter(|n| archive.has(n)).collect();
        match present[..] {
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

    /// Names and types of the arrays, for error messages.
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

    /// The array with one of these names and this element type.
    pub(crate) fn find(&self, names: &[String], ty: &Type, what: &str) -> Result<Array> {
        let Some(a) = self.get(names)? else {
            let candidates = names.join("` or `");
            let e = Error::new(
                Code::Input,
                format!("{what} is missing: an array `{candidates}` of type {ty}"),
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
    pub(crate) fn args(&self, f: &Function) -> Result<Vec<Array>> {
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

    /// One cotangent per differentiable result. For a single real scalar it is 1 by default.
    pub(crate) fn cotangents(&self, f: &Function) -> Result<Vec<Array>> {
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

    /// One tangent or direction per `wrt` value, named `t_x` by name or `t_0` by position in `wrt`,
    /// for each prefix.
    pub(crate) fn directions(
        &self,
        f: &Function,
        wrt: &[Val],
        prefixes: &[&str],
    ) -> Result<Vec<Array>> {
        let (mut out, values) = (Vec::new(), ValueNames::new(f));
        for (i, &v) in wrt.iter().enumerate() {
            // A file may contain directions for several commands. The first prefix that occurs is
            // used.
            let candidates: Vec<Vec<String>> = prefixes
                .iter()
                .map(|p| values.of(v, &format!("{p}_"), &format!("{p}_{i}")))
                .collect();
            let names = candidates
                .iter()
                .find(|n| self.has(n))
                .cloned()
                .unwrap_or_else(|| candidates.concat());
            out.push(self.find(&names, f.ty(v), &format!("the direction of {}", f.show(v)))?);
        }
        Ok(out)
    }
}

/// Names of arrays for the values of a function.
struct ValueNames<'f> {
    f: &'f Function,
    used: HashSet<&'f str>,
}

impl<'f> ValueNames<'f> {
    fn new(f: &'f Function) -> ValueNames<'f> {
        let used = f
            .params()
            .iter()
            .chain(f.results())
            .filter_map(|&v| f.name_of(v))
            .map(|n| &**n)
            .collect();
        ValueNames { f, used }
    }

    /// Names for a value: its own name with the prefix, then its position, unless that is another
    /// value's name. A number after a prefix is always a position.
    fn of(&self, v: Val, prefix: &str, position: &str) -> Vec<String> {
        let number = |n: &str| !prefix.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
        let own = self
            .f
            .name_of(v)
            .filter(|n| !number(n))
            .map(|n| format!("{prefix}{n}"));
        let free = position
            .strip_prefix(prefix)
            .is_none_or(|n| number(n) || !self.used.contains(n));
        own.into_iter()
            .chain(free.then(|| position.to_owned()))
            .collect()
    }
}

fn argument(f: &Function, i: usize) -> String {
    format!("argument {} of @{}", f.show(f.params()[i]), f.name)
}

/// The values of `--wrt`. By default, every argument that has a tangent.
pub(crate) fn wrt(args: &Args, f: &Function) -> Result<Vec<Val>> {
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
