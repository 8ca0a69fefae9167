//! linearize: a function becomes two, its values with residuals and its derivative at a point.

use super::derive::{
    NameSupply, Wrt, check_some_tangent, check_wrt, keep_names, linear_transpose_in, params_of,
};
use super::linearize::linearize_into;
use super::replay::{reaching, replay};
use crate::error::Result;
use crate::ir::{
    AdContext, Builder, Emit, Function, LinEqn, LinearProgram, Lv, Operand, Val, Walk, keep_extents,
};
use crate::shape::{Sym, Type};
use std::cell::RefCell;

/// A function and its derivative at a point, as two functions. The second is applied to any number
/// of tangents without evaluating the first again.
///
/// ```
/// use cotangent_core::transform::{AdContext, linearize};
/// use cotangent_core::{Array, Builder, DType, Emit, Type, reference};
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::scalar(DType::F64), Some("x"));
/// let y = (&b as &dyn Emit).mul(x, x);
/// let f = b.finish(&[y])?;
///
/// let ad = AdContext::default();
/// let lin = linearize(&ad, &f, f.params())?;
/// let mut residuals = reference::run(&lin.primal, &[Array::scalar(3.0)])?;
/// assert_eq!(residuals.remove(0), Array::scalar(9.0));
/// let at = |t: f64| [residuals.clone(), vec![Array::scalar(t)]].concat();
/// assert_eq!(reference::run(&lin.tangent, &at(10.0))?, [Array::scalar(60.0)]);
/// assert_eq!(reference::run(&lin.transpose(&ad)?, &at(0.5))?, [Array::scalar(3.0)]);
/// # Ok::<(), cotangent_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearizedFunction {
    /// Arguments of the function -> its results, then the residuals.
    pub primal: Function,
    /// Residuals, then one tangent per `wrt` value -> tangents of the differentiable results.
    pub tangent: Function,
    residuals: usize,
}

impl LinearizedFunction {
    /// Number of residuals: the last results of `primal`, and the first parameters of `tangent`.
    pub fn residuals(&self) -> usize {
        self.residuals
    }

    /// The transpose of `tangent`: residuals, then one cotangent per differentiable result ->
    /// cotangents in `wrt` order.
    pub fn transpose(&self, ad: &AdContext) -> Result<Function> {
        let linear: Vec<bool> = (0..self.tangent.params().len())
            .map(|i| i >= self.residuals)
            .collect();
        linear_transpose_in(ad, &self.tangent, &linear)
    }
}

/// Linearizes a function with respect to `wrt`.
///
/// The first function costs about as much as `f`. The second holds only operations that are linear
/// in the tangents, and constants. O(equations).
pub fn linearize(ad: &AdContext, f: &Function, wrt: Wrt<'_>) -> Result<LinearizedFunction> {
    check_wrt(f, wrt)?;
    check_some_tangent("linearize", f, wrt)?;
    let session = ad.session();
    let b = Builder::deriving(&f.name, &session, &[f]);
    let args = params_of(&b, f);
    let program = RefCell::new(LinearProgram::default());
    let seeds: Vec<(Val, Lv)> = wrt
        .iter()
        .map(|&v| (v, program.borrow_mut().input(f.ty(v).tangent())))
        .collect();
    let lin = linearize_into(&b, &program, f, &args, &seeds, None)?;
    keep_names(&b, f, &lin.map);
    let (primal, program) = (b.finish(&lin.outs)?, program.into_inner());
    let outs: Vec<Lv> = lin.tangents.iter().flatten().copied().collect();
    let inputs: Vec<Type> = wrt.iter().map(|&v| f.ty(v).tangent()).collect();
    let (saved, recompute) = residuals(&primal, &program, &outs, &inputs);

    let b = Builder::deriving(&format!("{}_tangent", f.name), &session, &[&primal]);
    let cx: &dyn Emit = &b;
    let mut walk = Walk::copying(&primal).only(recompute);
    for &v in &saved {
        walk.set(v, b.param(primal.ty(v).clone(), None));
    }
    let mut names = NameSupply::new(f, "t_");
    let inputs: Vec<(Lv, Val)> = seeds
        .iter()
        .enumerate()
        .map(|(i, &(v, l))| (l, b.param(f.ty(v).tangent(), Some(&names.next(v, i)))))
        .collect();
    walk.copy(&b);
    let mut tangents = replay(&b, &program, &inputs, &outs, &|v| walk.image(v)).into_iter();
    let results: Vec<Val> = lin
        .tangents
        .iter()
        .zip(primal.results())
        .filter(|(_, r)| primal.ty(**r).dtype.has_tangent())
        .map(|(t, &r)| {
            let tangent = t.and_then(|_| tangents.next());
            tangent.unwrap_or_else(|| cx.zeros(&primal.ty(r).tangent()))
        })
        .collect();
    let tangent = session.legalize(&b.finish(&results)?)?;
    let results = [primal.results(), &saved].concat();
    Ok(LinearizedFunction {
        primal: primal.with_results(&results),
        tangent,
        residuals: saved.len(),
    })
}

/// The values of `primal` that the tangents `outs` of `program` need, and a mask of the equations
/// that the program repeats: constants. Every symbol that the program mentions is an extent of a
/// saved value or of a tangent (`tangents`).
fn residuals(
    primal: &Function,
    program: &LinearProgram,
    outs: &[Lv],
    tangents: &[Type],
) -> (Vec<Val>, Vec<bool>) {
    let mut wanted = vec![false; primal.len()];
    let mut mentioned: Vec<Sym> = Vec::new();
    let need = reaching(program, outs);
    let needed = |e: &&LinEqn| e.results().any(|r| need[r.index()]);
    for e in program.eqns().iter().filter(needed) {
        for o in &e.operands {
            if let Operand::R(v) = o {
                wanted[v.index()] = true;
            }
        }
        program.eqn_syms(e, &mut |s| mentioned.push(s.clone()));
    }
    for ty in primal.result_types() {
        ty.syms(&mut |s| mentioned.push(s.clone()));
    }
    let mut recompute = vec![false; primal.eqns().len()];
    for (again, e) in recompute.iter_mut().zip(primal.eqns()) {
        if primal.operands(e).is_empty() && e.results().any(|r| wanted[r.index()]) {
            *again = true;
            primal.eqn_syms(e, &mut |s| mentioned.push(s.clone()));
            e.results().for_each(|r| wanted[r.index()] = false);
        }
    }
    let mut saved = primal.vals().filter(|v| wanted[v.index()]).collect();
    let ty = |v: Val| primal.ty(v).clone();
    keep_extents(&mut saved, mentioned, tangents, primal.len(), &ty);
    (saved, recompute)
}
