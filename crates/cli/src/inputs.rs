//! Arguments of a run: arrays by name or by position.

use crate::args::{Args, usage};
use crate::load::Target;
use cotangent::npz::{self, Arrays};
use cotangent::{Array, Code, DType, Error, Function, Result, Scalar, Type, Val};

/// The arrays of `--in`, or of the `.npz` beside the file.
pub struct Inputs {
    arrays: Arrays,
    from: String,
}

impl Inputs {
    /// Reads them; without `--in` and without a file beside the program there are none.
    pub fn read(args: &Args, target: &Target) -> Result<Inputs> {
        let path = match (&args.input, target.sibling()) {
            (Some(p), _) => p.clone(),
            (None, Some(p)) => {
                let p = p.display().to_string();
                eprintln!("inputs from {p}");
                p
            }
            (None, None) => return Ok(Inputs { arrays: Arrays::new(), from: String::new() }),
        };
        Ok(Inputs { arrays: npz::read(&path)?, from: path })
    }

    fn get(&self, names: &[String]) -> Option<&Array> {
        names.iter().find_map(|n| self.arrays.iter().find(|(name, _)| name == n)).map(|(_, a)| a)
    }

    /// The array of the first of these names that there is, of this type.
    pub fn find(&self, names: &[String], ty: &Type, what: &str) -> Result<Array> {
        let Some(a) = self.get(names) else {
            let have = self.arrays.iter().map(|(n, a)| format!("{n} {}", a.ty())).collect::<Vec<_>>().join(", ");
            let ways = names.join("` or `");
            let e = Error::new(Code::Input, format!("{what} is missing: an array `{ways}` of type {ty}"));
            return Err(if self.from.is_empty() {
                e.note("give inputs with --in A.npz")
            } else {
                e.note(format!("{} has: {}", self.from, if have.is_empty() { "nothing" } else { &have }))
            });
        };
        if a.dtype() != ty.dtype {
            return Err(Error::new(Code::DTypeMismatch, format!("{what} must be {ty}, got {}", a.ty()))
                .note(format!("convert the array to {} before it is saved", ty.dtype)));
        }
        Ok(a.clone())
    }

    /// The arguments of a function.
    pub fn args(&self, f: &Function) -> Result<Vec<Array>> {
        let one = |(i, &p): (usize, &Val)| self.find(&names(f, p, "", &format!("in_{i}")), f.ty(p), &argument(f, i));
        f.params().iter().enumerate().map(one).collect()
    }

    /// A cotangent per differentiable result; a real scalar's is 1 unless it is given.
    pub fn cotangents(&self, f: &Function) -> Result<Vec<Array>> {
        let mut out = Vec::new();
        for (k, &r) in f.results().iter().enumerate().filter(|(_, r)| f.ty(**r).dtype.has_tangent()) {
            let names = names(f, r, "ct_", &format!("ct_{k}"));
            let ty = f.ty(r);
            let only = f.results().len() == 1 && ty.rank() == 0 && !ty.dtype.is_complex();
            out.push(match self.get(&names) {
                None if only => Scalar::F(1.0).array(ty.dtype),
                _ => self.find(&names, ty, &format!("the cotangent of result {k}"))?,
            });
        }
        Ok(out)
    }

    /// A tangent or direction per `wrt` value, `prefix` being `t` or `v`.
    pub fn directions(&self, f: &Function, wrt: &[Val], prefixes: &[&str]) -> Result<Vec<Array>> {
        let mut out = Vec::new();
        for (i, &v) in wrt.iter().enumerate() {
            let at = f.params().iter().position(|&p| p == v).unwrap_or(i);
            let names: Vec<String> =
                prefixes.iter().flat_map(|p| names(f, v, &format!("{p}_"), &format!("{p}_{at}"))).collect();
            out.push(self.find(&names, f.ty(v), &format!("the direction of {}", f.show(v)))?);
        }
        Ok(out)
    }
}

/// Names of a value: its own (with a prefix), then by position.
fn names(f: &Function, v: Val, prefix: &str, position: &str) -> Vec<String> {
    f.name_of(v).map(|n| format!("{prefix}{n}")).into_iter().chain([position.to_owned()]).collect()
}

fn argument(f: &Function, i: usize) -> String {
    format!("argument {} of @{}", f.show(f.params()[i]), f.name)
}

/// The values of `--wrt`; without it, every argument that has a tangent.
pub fn wrt(args: &Args, f: &Function) -> Result<Vec<Val>> {
    if let Some(text) = &args.wrt {
        return cotangent::text::resolve_wrt(f, text);
    }
    let all: Vec<Val> = f.params().iter().copied().filter(|&p| f.ty(p).dtype.has_tangent()).collect();
    if all.is_empty() {
        return Err(usage(format!("@{} has no float argument to differentiate", f.name)));
    }
    Ok(all)
}

/// Arrays for a check when none are given: symbols are 3, floats are smooth points, integers small.
pub fn made_up(f: &Function) -> Result<Vec<Array>> {
    let mut env = cotangent::Env::default();
    for &p in f.params() {
        for d in f.ty(p).shape.iter() {
            d.syms(&mut |s| {
                env.insert(s.clone(), 3);
            });
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut out = Vec::new();
    for &p in f.params() {
        let ty = f.ty(p);
        let shape = ty.shape.eval(&env)?;
        let n = cotangent::array::numel(&shape).unwrap_or(0);
        let wide = match ty.dtype {
            d if d.is_float() => cotangent::Wide::F((0..n).map(|_| 0.3 + next()).collect()),
            d if d.is_complex() => {
                cotangent::Wide::C((0..n).map(|_| cotangent::C128::new(0.3 + next(), next() - 0.5)).collect())
            }
            DType::Bool => cotangent::Wide::I((0..n).map(|i| (i % 2) as i128).collect()),
            _ => cotangent::Wide::I((0..n).map(|i| (i % 3) as i128).collect()),
        };
        out.push(wide.narrow(ty.dtype, shape)?);
    }
    Ok(out)
}
