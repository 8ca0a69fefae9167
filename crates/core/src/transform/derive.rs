//! The transforms of the user interface: jvp, vjp, grad, hvp, jacobian, hessian. Each returns an
//! ordinary function.

use super::batch::batch;
use super::forward::{Forward, forward_into};
use super::linearize::linearize_into;
use super::replay::replay;
use super::transpose::{transpose_into, transpose_program};
use crate::analysis::dce_keeping;
use crate::bail;
use crate::error::Result;
use crate::ir::{AdContext, Builder, Emit, Function, LinearProgram, Lv, Val, unbound};
use crate::shape::{Dim, Shape, Type};
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// Values to differentiate with respect to, arguments or intermediate values, in the order of the
/// results.
pub type Wrt<'a> = &'a [Val];

/// The mode by which a Jacobian is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Forward mode: one column per input element.
    Forward,
    /// Reverse mode: one row per output element.
    Reverse,
    /// The mode with fewer passes; reverse if an extent is symbolic.
    Auto,
}

/// A derived function, with a map from the values of the original.
pub struct Derived {
    /// The derived function.
    pub f: Function,
    /// For each value of the original, the equal value of `f`, if `f` computes it.
    pub map: Vec<Option<Val>>,
}

pub(super) fn check_wrt(f: &Function, wrt: Wrt<'_>) -> Result<()> {
    for (i, &v) in wrt.iter().enumerate() {
        if v.index() >= f.len() {
            return Err(unbound(f, v));
        }
        let dtype = f.ty(v).dtype;
        if !dtype.has_tangent() {
            bail!(
                IntegerInput,
                "cannot differentiate with respect to input #{i} ({}) of dtype {dtype}: integers have no tangent. \
                 Convert it to a float first, or leave it out of wrt.",
                f.show(v)
            );
        }
    }
    Ok(())
}

/// Returns an error if every result is an integer or a boolean: none has a derivative.
pub(super) fn check_some_tangent(what: &str, f: &Function, wrt: Wrt<'_>) -> Result<()> {
    let types = if wrt.is_empty() {
        Vec::new()
    } else {
        f.result_types()
    };
    if let (Some(t), false) = (types.first(), types.iter().any(|t| t.dtype.has_tangent())) {
        let (all, verb) = if types.len() > 1 {
            ("all results", "are")
        } else {
            ("the result", "is")
        };
        let dtype = t.dtype;
        bail!(
            IntegerOutput,
            "{what} of `{}` needs a float among the results, {all} {verb} of {dtype}: integers and booleans have no \
             tangent. Convert before, or return a float.",
            f.name
        );
    }
    Ok(())
}

/// A supply of fresh names for derived arguments: the prefix with the name or the position of the
/// original value.
pub(super) struct NameSupply<'f> {
    f: &'f Function,
    prefix: &'static str,
    taken: FxHashSet<String>,
}

impl<'f> NameSupply<'f> {
    pub(super) fn new(f: &'f Function, prefix: &'static str) -> NameSupply<'f> {
        let own = f.vals().filter_map(|v| f.name_of(v));
        NameSupply {
            f,
            prefix,
            taken: own.map(|n| n.to_string()).collect(),
        }
    }

    /// A fresh name for value `of` at position `i`. A value may occur at several positions.
    pub(super) fn next(&mut self, of: Val, i: usize) -> String {
        let (f, prefix) = (self.f, self.prefix);
        let mut name = f
            .name_of(of)
            .map_or_else(|| format!("{prefix}{i}"), |n| format!("{prefix}{n}"));
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// Copies the parameters of `f` into `b`.
pub(super) fn params_of(b: &Builder, f: &Function) -> Vec<Val> {
    f.params()
        .iter()
        .map(|&p| b.param_like(f.ty(p).clone(), f, p))
        .collect()
}

/// Copies the names of values to the forward copy.
pub(super) fn keep_names(b: &Builder, f: &Function, map: &[Option<Val>]) {
    for v in f.vals() {
        if let (Some(new), Some(name)) = (map[v.index()], f.name_of(v)) {
            b.set_name(new, name.clone());
        }
    }
}

/// Forward mode: arguments of `f`, then one tangent per `wrt` value -> results, then the tangents
/// of the differentiable results.
///
/// Cost: at most about 3 times `f`, independent of the number of results.
pub fn jvp(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    Ok(jvp_derived(ad, f, wrt, true)?.f)
}

/// As [`jvp`], with the map of values. If not `primal`, only the tangents are results.
pub fn jvp_derived(ad: &AdContext, f: &Function, wrt: Wrt<'_>, primal: bool) -> Result<Derived> {
    check_wrt(f, wrt)?;
    check_some_tangent("jvp", f, wrt)?;
    let b = Builder::deriving(&format!("{}_jvp", f.name), &ad.session(), &[f]);
    let cx: &dyn Emit = &b;
    let args = params_of(&b, f);
    let mut names = NameSupply::new(f, "t_");
    let mut seeds: Vec<(Val, Val)> = Vec::with_capacity(wrt.len());
    for (i, &v) in wrt.iter().enumerate() {
        let t = b.param(f.ty(v).tangent(), Some(&names.next(v, i)));
        b.set_tangent(t);
        seeds.push((v, t));
    }
    let wanted: Option<Vec<bool>> = (!primal).then(|| {
        f.results()
            .iter()
            .map(|&r| f.ty(r).dtype.has_tangent())
            .collect()
    });
    let bodies = f.eqns().iter().any(|e| !e.op.regions().is_empty());
    let run = if bodies {
        forward_into
    } else {
        linearize_and_replay
    };
    let lin = run(&b, f, &args, &seeds, wanted.as_deref())?;
    keep_names(&b, f, &lin.map);
    let mut results = if primal { lin.outs.clone() } else { Vec::new() };
    for (t, &r) in lin.tangents.iter().zip(f.results()) {
        if f.ty(r).dtype.has_tangent() {
            results.push(t.unwrap_or_else(|| cx.zeros(&f.ty(r).tangent())));
        }
    }
    let session = b.session().clone();
    let (mut g, mut map) = (b.finish(&results)?, lin.map);
    if g.pending() {
        // Operations that cannot be executed do not matter if their results are unused.
        let keep: Vec<Val> = wrt.iter().filter_map(|v| map[v.index()]).collect();
        let (live, moved) = dce_keeping(&g, &keep);
        // Removed values have no entry in the map.
        map.iter_mut()
            .for_each(|v| *v = v.map(|v| moved[v.index()]).filter(|&v| v != Val::POISON));
        g = session.legalize(&live)?;
    }
    Ok(Derived { f: g, map })
}

/// Forward mode by replaying the linear program: first all values, then the tangents that the
/// results need.
fn linearize_and_replay(
    cx: &dyn Emit,
    f: &Function,
    args: &[Val],
    seeds: &[(Val, Val)],
    wanted: Option<&[bool]>,
) -> Result<Forward> {
    let program = RefCell::new(LinearProgram::default());
    let inputs: Vec<(Lv, Val)> = seeds
        .iter()
        .map(|&(v, t)| (program.borrow_mut().input(f.ty(v).tangent()), t))
        .collect();
    let linear_seeds: Vec<(Val, Lv)> = seeds.iter().zip(&inputs).map(|(s, i)| (s.0, i.0)).collect();
    let lin = linearize_into(cx, &program, f, args, &linear_seeds, wanted)?;
    let active: Vec<Lv> = lin.tangents.iter().flatten().copied().collect();
    let mut vals = replay(cx, &program.into_inner(), &inputs, &active, &|v| v).into_iter();
    let tangents = lin
        .tangents
        .iter()
        .map(|t| t.and_then(|_| vals.next()))
        .collect();
    Ok(Forward {
        outs: lin.outs,
        tangents,
        map: lin.map,
    })
}

/// The source of the cotangents of a reverse pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// The first result is a real scalar, seeded with one. Other results have no cotangents.
    One,
    /// One more argument per differentiable result.
    Argument,
}

/// As [`grad`] or [`vjp`], with the map of values. If `primal`, the results of `f` come first.
pub fn vjp_derived(
    ad: &AdContext,
    f: &Function,
    wrt: Wrt<'_>,
    seed: Seed,
    primal: bool,
    suffix: &str,
) -> Result<Derived> {
    check_wrt(f, wrt)?;
    check_some_tangent(suffix, f, wrt)?;
    let b = Builder::deriving(&format!("{}_{suffix}", f.name), &ad.session(), &[f]);
    let cx: &dyn Emit = &b;
    let args = params_of(&b, f);
    let (mut cts, mut names): (Vec<Option<Val>>, _) = (Vec::new(), NameSupply::new(f, "ct_"));
    for (k, &r) in f.results().iter().enumerate() {
        let ct = f.ty(r).dtype.has_tangent() && seed == Seed::Argument;
        cts.push(ct.then(|| b.param(f.ty(r).tangent(), Some(&names.next(r, k)))));
    }
    let program = RefCell::new(LinearProgram::default());
    let seeds: Vec<(Val, Lv)> = wrt
        .iter()
        .map(|&v| (v, program.borrow_mut().input(f.ty(v).tangent())))
        .collect();
    let wanted: Option<Vec<bool>> = (!primal).then(|| {
        f.results()
            .iter()
            .map(|&r| f.ty(r).dtype.has_tangent())
            .collect()
    });
    let lin = linearize_into(&b, &program, f, &args, &seeds, wanted.as_deref())?;
    keep_names(&b, f, &lin.map);
    let mut outs = Vec::new();
    for (i, t) in lin.tangents.iter().enumerate() {
        let Some(t) = t else { continue };
        match seed {
            Seed::One if i == 0 => {
                outs.push((*t, cx.op(cx.session().ones(f.ty(f.results()[0])), &[])));
            }
            Seed::One => {}
            Seed::Argument => {
                outs.push((*t, cts[i].expect("differentiable results have one")));
            }
        }
    }
    let inputs: Vec<Lv> = seeds.iter().map(|s| s.1).collect();
    let back = transpose_program(&b, &program.into_inner(), &outs, &inputs)?;
    let mut results = if primal { lin.outs.clone() } else { Vec::new() };
    for (g, &v) in back.into_iter().zip(wrt) {
        results.push(g.unwrap_or_else(|| cx.zeros(&f.ty(v).tangent())));
    }
    Ok(Derived {
        f: b.finish(&results)?,
        map: lin.map,
    })
}

/// Reverse mode: arguments of `f`, then one cotangent per differentiable result -> cotangents in
/// `wrt` order.
///
/// Cost: at most about 4 times `f`, independent of the number of `wrt` values.
pub fn vjp(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    Ok(vjp_derived(ad, f, wrt, Seed::Argument, false, "vjp")?.f)
}

/// Returns an error with a way out unless `f` has a single result, a real floating-point scalar.
pub fn check_scalar_loss(f: &Function) -> Result<()> {
    let [r] = f.results() else {
        bail!(
            Arity,
            "grad needs one result, `{}` has {}; use vjp with cotangents",
            f.name,
            f.results().len()
        )
    };
    check_loss_type(f.ty(*r))
}

/// Returns an error with a way out unless this is the type of a real floating-point scalar, or an
/// opaque type that declares a one.
pub fn check_loss_type(ty: &Type) -> Result<()> {
    if let Some(opaque) = ty.dtype.opaque() {
        if opaque.one().is_some() {
            return Ok(());
        }
        bail!(
            NonScalarOutput,
            "grad needs a real scalar, got {ty}, which declares no `one`; use vjp with a cotangent"
        );
    }
    if ty.rank() != 0 {
        let hint = if ty.shape.iter().all(|d| d.is(1)) {
            ", reshape it to []"
        } else {
            ""
        };
        bail!(
            NonScalarOutput,
            "grad needs a scalar loss (rank 0), got {ty}. Reduce it with sum(..){hint}, or use vjp with a cotangent / \
             jacobian."
        );
    }
    if ty.dtype.is_complex() {
        bail!(
            ComplexLoss,
            "grad needs a real loss, got {}. Use real(..)/abs2(..), or vjp with an explicit cotangent, or \
             holomorphic_derivative.",
            ty.dtype
        );
    }
    if !ty.dtype.has_tangent() {
        bail!(
            IntegerOutput,
            "grad needs a float loss, got {}: integers have no tangent. Convert it first.",
            ty.dtype
        );
    }
    Ok(())
}

/// Gradient of a real scalar: arguments of `f` -> gradients in `wrt` order.
pub fn grad(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    check_scalar_loss(f)?;
    Ok(vjp_derived(ad, f, wrt, Seed::One, false, "grad")?.f)
}

/// Value and gradient of a real scalar: arguments of `f` -> the value, then gradients in `wrt`
/// order.
pub fn value_and_grad(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    check_scalar_loss(f)?;
    Ok(vjp_derived(ad, f, wrt, Seed::One, true, "value_and_grad")?.f)
}

/// As [`value_and_grad`], for a function with further results: arguments of `f` -> all results,
/// then the gradients of the first result in `wrt` order.
pub fn value_and_grad_aux(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    let Some(&loss) = f.results().first() else {
        return check_scalar_loss(f).map(|()| f.clone());
    };
    check_loss_type(f.ty(loss))?;
    Ok(vjp_derived(ad, f, wrt, Seed::One, true, "value_and_grad")?.f)
}

/// Whether the only result of `f` is a real scalar, which the text form seeds with one.
pub fn is_scalar_loss(f: &Function) -> bool {
    check_scalar_loss(f).is_ok()
}

/// Returns an error with a way out unless a value of type `y` is a complex scalar and one of type
/// `x` is complex.
pub fn check_holomorphic(y: &Type, x: &Type) -> Result<()> {
    if y.rank() != 0 || !y.dtype.is_complex() {
        bail!(
            DTypeMismatch,
            "holomorphic_derivative needs a complex scalar, got {y}; for a real one use grad, for others jacobian"
        );
    }
    if !x.dtype.is_complex() {
        bail!(
            DTypeMismatch,
            "holomorphic_derivative needs a complex variable, got {x}; convert it first, or use jvp"
        );
    }
    Ok(())
}

/// The derivative of a holomorphic scalar function: arguments of `f` -> `f'` in `wrt` order, the
/// conjugate of the pullback of 1. Undefined for functions that are not holomorphic; this is not
/// checked.
pub fn holomorphic_derivative(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    let types = f.result_types();
    let [y] = types.as_slice() else {
        bail!(
            Arity,
            "holomorphic_derivative needs one result, `{}` has {}",
            f.name,
            types.len()
        )
    };
    wrt.iter()
        .try_for_each(|&x| check_holomorphic(y, f.ty(x)))?;
    let g = vjp_derived(ad, f, wrt, Seed::One, false, "derivative")?.f;
    to_jax_convention(&g, f.params().len())
}

/// Converts a gradient or vjp to JAX's convention for complex numbers: conjugates the parameters
/// after the first `primals` (the cotangents) and all results. It is its own inverse, and the
/// identity for real types.
pub fn to_jax_convention(f: &Function, primals: usize) -> Result<Function> {
    let b = Builder::new(&f.name, AdContext::default().session());
    let cx: &dyn Emit = &b;
    let params = params_of(&b, f);
    let args: Vec<Val> = params
        .iter()
        .enumerate()
        .map(|(i, &p)| if i < primals { p } else { cx.conj(p) })
        .collect();
    let results: Vec<Val> = cx
        .inline(f, &args)
        .into_iter()
        .map(|r| cx.conj(r))
        .collect();
    b.finish(&results)
}

/// The adjoint of a module: [`grad`] if the result is one real scalar, otherwise [`vjp`].
pub fn adjoint(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    Ok(adjoint_derived(ad, f, wrt)?.f)
}

fn adjoint_derived(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Derived> {
    let seed = if is_scalar_loss(f) {
        Seed::One
    } else {
        Seed::Argument
    };
    vjp_derived(ad, f, wrt, seed, false, "grad")
}

/// Hessian-vector product, forward over reverse: arguments of `f` (and cotangents, unless it is a
/// real scalar), then one direction per `wrt` value -> the product in `wrt` order.
pub fn hvp(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    let g = adjoint_derived(ad, f, wrt)?;
    let at = moved(&g, wrt);
    Ok(jvp_derived(ad, &g.f, &at, false)?
        .f
        .renamed(&format!("{}_hvp", f.name)))
}

/// Hessian-vector product, reverse over forward; equals [`hvp`].
pub fn hvp_reverse(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    let t = jvp_derived(ad, f, wrt, false)?;
    let at = moved(&t, wrt);
    let seed = if is_scalar_loss(f) {
        Seed::One
    } else {
        Seed::Argument
    };
    Ok(vjp_derived(ad, &t.f, &at, seed, false, "hvp")?
        .f
        .renamed(&format!("{}_hvp", f.name)))
}

/// The values in a derived function that correspond to `wrt`.
fn moved(d: &Derived, wrt: Wrt<'_>) -> Vec<Val> {
    wrt.iter()
        .map(|&v| d.map[v.index()].expect("linearize keeps every seeded value"))
        .collect()
}

/// The transpose of a function that is linear in all its parameters: cotangents of the results ->
/// cotangents of the parameters. Returns the error [`NotLinear`](crate::Code::NotLinear) if it is
/// not linear.
pub fn linear_transpose(ad: &AdContext, f: &Function) -> Result<Function> {
    linear_transpose_in(ad, f, &vec![true; f.params().len()])
}

/// As [`linear_transpose`], for a function that is linear in the parameters marked by `linear`
/// together: the other parameters, then cotangents of the results -> cotangents of the linear
/// parameters.
pub fn linear_transpose_in(ad: &AdContext, f: &Function, linear: &[bool]) -> Result<Function> {
    if linear.len() != f.params().len() {
        bail!(
            Arity,
            "linear_transpose of `{}`, which has {} parameters, needs a flag for each, got {}",
            f.name,
            f.params().len(),
            linear.len()
        );
    }
    let b = Builder::deriving(&format!("{}_transposed", f.name), &ad.session(), &[f]);
    let cx: &dyn Emit = &b;
    let args: Vec<Option<Val>> = f
        .params()
        .iter()
        .zip(linear)
        .map(|(&p, l)| (!l).then(|| b.param(f.ty(p).clone(), None)))
        .collect();
    let cts: Vec<Option<Val>> = f
        .results()
        .iter()
        .enumerate()
        .map(|(k, &r)| Some(b.param(f.ty(r).clone(), Some(&format!("ct_{k}")))))
        .collect();
    let back = transpose_into(&b, f, linear, &args, &cts)?;
    if let Some(e) = b.take_error() {
        return Err(e);
    }
    let results: Vec<Val> = back
        .into_iter()
        .zip(f.params().iter().zip(linear).filter(|(_, l)| **l))
        .map(|(g, (&p, _))| g.unwrap_or_else(|| cx.zeros(f.ty(p))))
        .collect();
    b.finish(&results)
}

/// The Jacobian of every differentiable result with respect to every `wrt` value, result-major:
/// arguments of `f` -> arrays of shape `result.shape + wrt.shape`.
pub fn jacobian(
    ad: &AdContext,
    f: &Function,
    wrt: Wrt<'_>,
    direction: Direction,
) -> Result<Function> {
    check_wrt(f, wrt)?;
    check_some_tangent("jacobian", f, wrt)?;
    let outs: Vec<Type> = f
        .result_types()
        .into_iter()
        .filter(|t| t.dtype.has_tangent())
        .collect();
    let ins: Vec<Type> = wrt.iter().map(|&v| f.ty(v).clone()).collect();
    if let Some(t) = outs.iter().chain(&ins).find(|t| t.dtype.opaque().is_some()) {
        bail!(
            DTypeMismatch,
            "jacobian is an array of derivatives by elements, and values of type {t} have none; \
             use vjp or jvp with explicit directions"
        );
    }
    if let Some(t) = outs.iter().chain(&ins).find(|t| t.dtype.is_complex()) {
        bail!(
            ComplexLoss,
            "jacobian needs real inputs and results, got {t}; use vjp or jvp with explicit directions"
        );
    }
    let size = |ts: &[Type]| {
        ts.iter()
            .try_fold(0usize, |a, t| Some(a + t.shape.numel().as_const()?))
    };
    let forward = match direction {
        Direction::Forward => true,
        Direction::Reverse => false,
        Direction::Auto => matches!((size(&ins), size(&outs)), (Some(i), Some(o)) if i < o),
    };
    // One pass per block of the basis: (seeded value, all values on the other side).
    let (seeded, other) = if forward {
        (&ins, &outs)
    } else {
        (&outs, &ins)
    };
    let derived = if forward {
        jvp_derived(ad, f, wrt, false)?.f
    } else {
        vjp(ad, f, wrt)?
    };
    let session = ad.session();
    let b = Builder::deriving(&format!("{}_jacobian", f.name), &session, &[&derived]);
    let cx: &dyn Emit = &b;
    let args = params_of(&b, f);
    let mut blocks: Vec<Vec<Val>> = Vec::new();
    for (i, ty) in seeded.iter().enumerate() {
        let n = ty.shape.numel();
        let mut mapped = vec![false; args.len() + seeded.len()];
        mapped[args.len() + i] = true;
        let (batched, _) = batch(&session, &derived, &mapped, &vec![true; other.len()], &n)?;
        let mut call: Vec<Val> = args.clone();
        for (j, t) in seeded.iter().enumerate() {
            call.push(if i == j {
                let eye = cx.eye(ty.dtype, &n);
                cx.reshape(eye, &join(std::slice::from_ref(&n), &ty.shape))
            } else {
                cx.zeros(t)
            });
        }
        let rows = cx.inline(&batched, &call);
        blocks.push(
            rows.into_iter()
                .zip(other)
                .map(|(v, o)| shape_block(cx, v, ty, o, forward))
                .collect(),
        );
    }
    let pairs = (0..outs.len()).flat_map(|o| (0..ins.len()).map(move |i| (o, i)));
    let results: Vec<Val> = pairs
        .map(|(o, i)| if forward { blocks[i][o] } else { blocks[o][i] })
        .collect();
    b.finish(&results)
}

fn join(a: &[Dim], b: &[Dim]) -> Shape {
    a.iter().chain(b).cloned().collect()
}

/// `[n, other]` -> `result.shape + wrt.shape`.
fn shape_block(cx: &dyn Emit, v: Val, seeded: &Type, other: &Type, forward: bool) -> Val {
    let split = cx.reshape(v, &join(&seeded.shape, &other.shape));
    if !forward {
        return split;
    }
    let (s, o) = (seeded.rank(), other.rank());
    let perm: Vec<usize> = (s..s + o).chain(0..s).collect();
    cx.transpose(split, &perm)
}

/// The Hessian of a real scalar: arguments of `f` -> arrays of shape `wrt_i.shape + wrt_j.shape`,
/// i-major.
pub fn hessian(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<Function> {
    check_scalar_loss(f)?;
    let g = vjp_derived(ad, f, wrt, Seed::One, false, "grad")?;
    let at = moved(&g, wrt);
    Ok(jacobian(ad, &g.f, &at, Direction::Forward)?.renamed(&format!("{}_hessian", f.name)))
}
