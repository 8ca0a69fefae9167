//! Conversion of functions to other element types: to double precision for finite differences, and
//! of samples to every type that an operation accepts.

use crate::array::{Array, Wide};
use crate::dtype::{C128, DType};
use crate::error::{Code, Error, Result};
use crate::ir::{
    Attr, Attrs, Builder, Emit, Eqn, Function, Op, Sample, Session, Val, Vals, Visit, Walk,
};
use crate::ops::{self, Spelled};
use crate::shape::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;

/// A change of element types, with a cache of converted regions: a shared region is converted a
/// single time.
pub(super) struct Retype<'a> {
    map: &'a dyn Fn(DType) -> DType,
    /// Converted regions by the address of the original.
    bodies: RefCell<FxHashMap<*const Function, ConvertedRegion>>,
}

struct ConvertedRegion {
    /// Kept alive so that its address is not reused.
    _original: Arc<Function>,
    new: Arc<Function>,
}

impl<'a> Retype<'a> {
    fn new(map: &'a dyn Fn(DType) -> DType) -> Retype<'a> {
        Retype {
            map,
            bodies: RefCell::default(),
        }
    }

    /// The operation with the element types among its attributes mapped, rebuilt from its name and
    /// attributes.
    fn op(&self, op: &Op, operands: &[Type], results: &[Type]) -> Result<Op> {
        let attrs = op.attrs();
        let fits = |t: Vec<Type>| t.iter().zip(results).all(|(a, b)| a.dtype == b.dtype);
        if !attrs.0.iter().any(|(_, a)| has_type(a)) && op.infer(operands).is_ok_and(fits) {
            return Ok(op.clone());
        }
        let attrs: Result<Vec<_>> = attrs
            .0
            .into_iter()
            .map(|(n, a)| Ok((n, self.attr(a)?)))
            .collect();
        spell(op.name(), Attrs(attrs?), operands, Some(results))
    }

    fn attr(&self, a: Attr) -> Result<Attr> {
        Ok(match a {
            Attr::DType(d) => Attr::DType((self.map)(d)),
            Attr::Array(x) => Attr::Array(cast(&x, (self.map)(x.dtype()))?),
            Attr::List(v) => {
                Attr::List(v.into_iter().map(|a| self.attr(a)).collect::<Result<_>>()?)
            }
            Attr::Fn(body) => Attr::Fn(self.body(&body)?),
            a => a,
        })
    }

    /// A region with every value retyped.
    fn body(&self, f: &Arc<Function>) -> Result<Arc<Function>> {
        if let Some(region) = self.bodies.borrow().get(&Arc::as_ptr(f)) {
            return Ok(region.new.clone());
        }
        let to = |t: &Type| t.with_dtype((self.map)(t.dtype));
        let equation = |b: &Builder, Visit { eqn, op, x, .. }: Visit<'_, Val>| {
            let types: Vec<Type> = x.iter().map(|&v| b.ty(v)).collect();
            let results: Vec<Type> = eqn.results().map(|r| to(f.ty(r))).collect();
            Ok(b.emit(self.op(&op, &types, &results)?, &x))
        };
        let new = Arc::new(copied(f, to, &[], equation)?.0);
        let region = ConvertedRegion {
            _original: f.clone(),
            new: new.clone(),
        };
        self.bodies.borrow_mut().insert(Arc::as_ptr(f), region);
        Ok(new)
    }
}

/// Every element type of a function's values, regions included.
pub(super) fn dtypes(f: &Function) -> FxHashSet<DType> {
    fn visit(f: &Function, seen: &mut FxHashSet<*const Function>, out: &mut FxHashSet<DType>) {
        out.extend(f.vals().map(|v| f.ty(v).dtype));
        for r in f.eqns().iter().flat_map(|e| e.op.regions()) {
            if seen.insert(Arc::as_ptr(r)) {
                visit(r, seen, out);
            }
        }
    }
    let mut out = FxHashSet::default();
    visit(f, &mut FxHashSet::default(), &mut out);
    out
}

/// `f64` for floats, `c128` for complex numbers, other types as they are.
fn double(d: DType) -> DType {
    match d {
        d if d.is_float() => DType::F64,
        d if d.is_complex() => DType::C128,
        d => d,
    }
}

/// An array of another element type; a float that becomes complex gets a zero imaginary part.
pub(super) fn cast(x: &Array, to: DType) -> Result<Array> {
    match x.wide() {
        Wide::F(v) if to.is_complex() => {
            Wide::C(v.into_iter().map(|x| C128::new(x, 0.0)).collect())
        }
        w => w,
    }
    .narrow(to, x.shape())
}

/// A copy of `f` in which floating-point parameters and values that depend on them are in double
/// precision. Other values (constants, random numbers) are computed as before and converted at
/// their uses.
///
/// Returns an error if an operation does not exist in double precision (one that reads the bit
/// pattern of its operand).
pub fn widen(f: &Function) -> Result<Function> {
    Ok(open(f, &[], true)?.0)
}

/// Arguments for a function that was widened.
pub(super) fn double_args(args: &[Array]) -> Result<Vec<Array>> {
    args.iter().map(|a| cast(a, double(a.dtype()))).collect()
}

/// A copy of `f` with one more parameter per `wrt` value, which is added to that value; in double
/// precision if `wide`. Derivatives with respect to these parameters are derivatives with respect
/// to the values.
pub(super) fn open(f: &Function, wrt: &[Val], wide: bool) -> Result<(Function, Vec<Val>)> {
    let to = |t: &Type| {
        if wide {
            t.with_dtype(double(t.dtype))
        } else {
            t.clone()
        }
    };
    let retype = Retype::new(&double);
    let mut active = vec![false; f.len()];
    for &p in f.params() {
        active[p.index()] = wide && f.ty(p).dtype.has_tangent();
    }
    copied(f, to, wrt, |b, Visit { eqn, op, x, .. }| {
        let on = f.operands(eqn).iter().any(|v| active[v.index()]);
        for r in eqn.results() {
            active[r.index()] = on || (wide && wrt.contains(&r));
        }
        match on {
            true => copy_wide(b, f, eqn, &x, &retype),
            false => Ok(b.emit(op.into_owned(), &x)),
        }
    })
}

/// A copy of `f`. The parameters have the types that `to` gives, and `equation` writes the results
/// of each equation. One more parameter per `wrt` value follows them and is added to that value.
/// Returns the copy and these parameters.
pub(super) fn copied(
    f: &Function,
    to: impl Fn(&Type) -> Type,
    wrt: &[Val],
    mut equation: impl FnMut(&Builder, Visit<'_, Val>) -> Result<Vals>,
) -> Result<(Function, Vec<Val>)> {
    let b = Builder::new(&f.name, Session::default());
    let cx: &dyn Emit = &b;
    let mut walk = Walk::copying(f);
    walk.copy_params_as(&b, &to);
    let deltas: Vec<Val> = wrt.iter().map(|&v| b.param(to(f.ty(v)), None)).collect();
    let shift = |walk: &mut Walk<'_, Val>, v: Val| {
        for (_, &d) in wrt.iter().zip(&deltas).filter(|(w, _)| **w == v) {
            let x = cx.convert(walk.image(v), cx.ty(d).dtype);
            walk.set(v, cx.emit(b.session().sum(&cx.ty(d)), &[x, d])[0]);
        }
    };
    for &p in f.params() {
        shift(&mut walk, p);
    }
    while let Some(visit) = walk.next(cx) {
        let eqn = visit.eqn;
        for (r, y) in eqn.results().zip(equation(&b, visit)?) {
            walk.set(r, y);
            shift(&mut walk, r);
        }
    }
    Ok((b.finish(&walk.results())?, deltas))
}

/// Copies one equation in double precision.
fn copy_wide(cx: &dyn Emit, f: &Function, e: &Eqn, x: &[Val], retype: &Retype<'_>) -> Result<Vals> {
    let x: Vec<Val> = f
        .operands(e)
        .iter()
        .zip(x)
        .map(|(v, &x)| cx.convert(x, double(f.ty(*v).dtype)))
        .collect();
    let types: Vec<Type> = x.iter().map(|&v| cx.ty(v)).collect();
    let results: Vec<Type> = e
        .results()
        .map(|r| f.ty(r).with_dtype(double(f.ty(r).dtype)))
        .collect();
    let y = cx.emit(retype.op(&e.op, &types, &results)?, &x);
    match y
        .iter()
        .zip(&results)
        .find(|(y, want)| cx.ty(**y).dtype != want.dtype)
    {
        Some((y, want)) if !cx.failed() => {
            let text = format!(
                "`{}` gives {} in double precision, not {want}",
                e.op.name(),
                cx.ty(*y)
            );
            Err(Error::new(Code::DTypeMismatch, text))
        }
        _ => Ok(y),
    }
}

/// Builds an operation from its name and attributes.
pub(super) fn spell(
    name: &str,
    attrs: Attrs,
    operands: &[Type],
    results: Option<&[Type]>,
) -> Result<Op> {
    let Some(entry) = ops::entries().into_iter().find(|e| e.name == name) else {
        return Err(Error::new(
            Code::UnknownOperation,
            format!("`{name}` cannot be read from its spelling"),
        ));
    };
    let mut s = Spelled {
        name,
        attrs,
        operands,
        results,
    };
    let op = (entry.parse)(&mut s)?;
    s.attrs.finish(name)?;
    Ok(op)
}

fn has_type(a: &Attr) -> bool {
    match a {
        Attr::DType(_) | Attr::Array(_) | Attr::Fn(_) => true,
        Attr::List(v) => v.iter().any(has_type),
        _ => false,
    }
}

/// Whether an operation of a function, or of a region, reads the bits of numbers.
fn reads_bits(f: &Function) -> bool {
    let mut eqns = f.eqns().iter();
    eqns.any(|e| matches!(e.op, Op::Bitcast(_)) || e.op.regions().iter().any(|f| reads_bits(f)))
}

/// The sample with its floats in another element type, if the operation accepts it. Real operands
/// become `to`; for a complex `to`, real and complex operands do. Complex numbers that were real
/// get imaginary parts.
pub fn retype(sample: &Sample, to: DType) -> Option<Sample> {
    let map = |d: DType| match d {
        d if d.is_float() => to,
        d if d.is_complex() && to.is_complex() => to,
        d if d.is_complex() => to.complex().unwrap_or(d),
        d => d,
    };
    if !sample.operands.iter().any(|x| map(x.dtype()) != x.dtype()) {
        return None;
    }
    // The bits of a complex number are those of two.
    if to.is_complex() && sample.op.regions().iter().any(|f| reads_bits(f)) {
        return None;
    }
    let turned = |x: &Array| -> Result<Array> {
        match x.wide() {
            Wide::F(v) if to.is_complex() => {
                let n = v.len();
                Wide::C(
                    (0..n)
                        .map(|i| C128::new(v[i], 0.25 * v[(i + 1) % n]))
                        .collect(),
                )
                .narrow(to, x.shape())
            }
            _ => cast(x, map(x.dtype())),
        }
    };
    let operands: Vec<Array> = sample
        .operands
        .iter()
        .map(turned)
        .collect::<Result<_>>()
        .ok()?;
    let types: Vec<Type> = operands.iter().map(Array::ty).collect();
    let old: Vec<Type> = sample.operands.iter().map(Array::ty).collect();
    let results: Vec<Type> = sample
        .op
        .infer(&old)
        .ok()?
        .iter()
        .map(|t| t.with_dtype(map(t.dtype)))
        .collect();
    let op = Retype::new(&map).op(&sample.op, &types, &results).ok()?;
    op.infer(&types).ok()?;
    Some(Sample {
        op,
        operands,
        smooth: sample.smooth,
    })
}
