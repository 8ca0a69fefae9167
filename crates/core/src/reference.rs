//! The reference interpreter, which defines the results of a program. It evaluates one equation
//! after another by [`Primitive::eval`](crate::Primitive::eval), without optimizations.

use crate::array::Array;
use crate::bail;
use crate::error::Result;
use crate::ir::Function;
use crate::shape::{Env, Type};

/// Runs `f` on `args`. The arguments bind the symbols. Extents that must be equal are checked.
/// Returns an error if `f` has values of an opaque type: the reference evaluates arrays.
pub fn run(f: &Function, args: &[Array]) -> Result<Vec<Array>> {
    f.check_arrays()?;
    run_in(f, args, &Env::default())
}

/// Runs a called function inside a function with the symbols `outer`. Symbols that its parameters
/// bind are local to it.
pub fn run_in(f: &Function, args: &[Array], outer: &Env) -> Result<Vec<Array>> {
    let mut env = outer.clone();
    bind(f, &args.iter().map(Array::ty).collect::<Vec<_>>(), &mut env)?;
    run_bound(f, args, env)
}

/// Runs a region, which shares the symbols `outer` of the enclosing function.
pub fn run_body(f: &Function, args: &[Array], outer: &Env) -> Result<Vec<Array>> {
    let types: Vec<Type> = args.iter().map(Array::ty).collect();
    run_bound(f, args, bind_body(f, &types, outer)?)
}

fn run_bound(f: &Function, args: &[Array], mut env: Env) -> Result<Vec<Array>> {
    let mut last = vec![usize::MAX; f.len()];
    for (i, e) in f.eqns().iter().enumerate() {
        for v in f.operands(e) {
            last[v.index()] = i;
        }
    }
    for r in f.results() {
        last[r.index()] = usize::MAX;
    }
    let mut values: Vec<Option<Array>> = vec![None; f.len()];
    for (p, a) in f.params().iter().zip(args) {
        values[p.index()] = Some(a.clone());
    }
    for (i, e) in f.eqns().iter().enumerate() {
        let x: Vec<Array> = f
            .operands(e)
            .iter()
            .map(|v| values[v.index()].clone().expect("operands are live"))
            .collect();
        let types: Vec<Type> = x.iter().map(Array::ty).collect();
        let op = e.op.map_dims(&|d| {
            d.eval(&env)
                .map_or_else(|_| d.clone(), crate::shape::Dim::Const)
        });
        let op = op.as_ref().unwrap_or(&e.op);
        // Checks extents that were unknown when the graph was built: all types are constant here.
        op.infer(&types).map_err(|err| err.at(e.loc))?;
        let y = op.eval(&x, &env).map_err(|err| err.at(e.loc))?;
        for v in f.operands(e).iter().filter(|v| last[v.index()] == i) {
            values[v.index()] = None;
        }
        for (r, y) in e.results().zip(y) {
            for (d, &n) in f.ty(r).shape.iter().zip(y.shape()) {
                if let Some(s) = d.as_sym().filter(|s| op.binds().contains(s)) {
                    env.insert(s.clone(), n);
                }
            }
            values[r.index()] = Some(y);
        }
    }
    Ok(f.results()
        .iter()
        .map(|r| values[r.index()].clone().expect("results are live"))
        .collect())
}

/// Binds the symbols of the parameters to the extents of these constant types. Returns an error
/// that names the arguments and their extents if they do not fit.
pub fn bind(f: &Function, args: &[Type], env: &mut Env) -> Result<()> {
    if args.len() != f.params().len() {
        bail!(
            Arity,
            "`{}` takes {} arguments, got {}",
            f.name,
            f.params().len(),
            args.len()
        );
    }
    let mut by = crate::shape::Env::default();
    for (i, (&p, a)) in f.params().iter().zip(args).enumerate() {
        let want = f.ty(p);
        if want.dtype != a.dtype || want.rank() != a.rank() {
            bail!(
                ShapeMismatch,
                "argument {} of `{}` must be {want}, got {a}",
                f.show(p),
                f.name
            );
        }
        for (d, have) in want.shape.iter().zip(a.shape.iter()) {
            if let (Some(s), Some(n)) = (d.as_sym(), have.as_const())
                && !by.contains_key(s)
            {
                by.insert(s.clone(), i);
                env.insert(s.clone(), n);
            }
        }
    }
    check(f, args, env, &by)
}

/// The symbols of a region on arguments of these types, inside a function with the symbols `outer`.
/// Common symbols must have equal values.
pub fn bind_body(f: &Function, args: &[Type], outer: &Env) -> Result<Env> {
    let mut env = outer.clone();
    bind(f, args, &mut env)?;
    if f.param_syms()
        .iter()
        .any(|s| outer.get(s).is_some_and(|n| env[s] != *n))
    {
        env = outer.clone();
        check(f, args, &env, &Env::default())?;
    }
    Ok(env)
}

/// Checks that extents agree with the symbols. `by` is the argument that bound each symbol.
fn check(f: &Function, args: &[Type], env: &Env, by: &Env) -> Result<()> {
    for (&p, a) in f.params().iter().zip(args) {
        for (axis, (d, have)) in f.ty(p).shape.iter().zip(a.shape.iter()).enumerate() {
            let (want, have) = (d.eval(env)?, have.as_const().unwrap_or(0));
            if want != have {
                let other = d
                    .as_sym()
                    .and_then(|s| by.get(s))
                    .map_or(String::new(), |&i| {
                        format!(" as in {}: {}", f.show(f.params()[i]), args[i])
                    });
                bail!(
                    ShapeMismatch,
                    "argument {} of `{}` is {a}: axis {axis} must be {want}{other}",
                    f.show(p),
                    f.name
                );
            }
        }
    }
    Ok(())
}
