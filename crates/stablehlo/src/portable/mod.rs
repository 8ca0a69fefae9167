//! Programs for every XLA target: operations that StableHLO lacks become functions over simpler
//! operations, so that the text has no custom call and no function of `chlo`.
//!
//! The pass maps graphs to graphs. So its programs run on every runtime, and tests compare them
//! with the kernels. Regions are mapped, too; a region that is shared stays shared.

mod eigh;
mod elementary;
mod jacobi;
mod jet;
mod loops;
mod lu;
pub(crate) mod matrix;
mod numbers;
mod qr;
mod special;
mod svd;
mod tables;

use cotangent_core::ops::{Binary, Call, Comparison, Solve, SpecialFn};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::shape::Sym;
use cotangent_core::transform::Session;
use cotangent_core::{Builder, DType, Dim, Emit, Error, Function, Loc, Op, Result, Type, bail};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// The function, with operations that StableHLO lacks replaced by simpler ones, for XLA targets.
///
/// All extents are constants then. The derivative of a `while` loop stores values of each step: the
/// buffers have as many rows as the loop's own `bound`, or this one, and results are NaN if the
/// loop runs longer. Factorisations `eigh` and `svd` take matrices with up to 512 rows or columns;
/// results of matrices whose rotations do not converge are NaN.
///
/// # Errors
/// An operation has no such form, an extent is not a constant, or a derivative of a `while` loop
/// has no bound. The error names the operation, its place and the way out.
pub fn portable(f: &Function, bound: Option<usize>) -> Result<Function> {
    for &p in f.params() {
        if let Some(d) = f.ty(p).shape.iter().find(|d| d.as_const().is_none()) {
            bail!(
                Unsupported,
                "the extent `{d}` of the parameter {} is not a constant, and XLA compiles one size: write the program \
                 with the extents of its arguments",
                f.show(p)
            );
        }
    }
    let pass = Pass {
        bound,
        regions: RefCell::default(),
    };
    pass.mapped(f)
}

/// The state of the pass.
struct Pass {
    /// Number of rows of the buffers of `while` loops that have no bound of their own.
    bound: Option<usize>,
    /// Regions, and what they are mapped to, by identity. The region is kept so that its address is
    /// not reused.
    regions: RefCell<FxHashMap<*const Function, [Arc<Function>; 2]>>,
}

impl Pass {
    fn mapped(&self, f: &Function) -> Result<Function> {
        let trips = f.eqns().iter().filter_map(|e| match &e.op {
            Op::While(w) => Some((w.saves.clone()?, w.bound.or(self.bound)?)),
            _ => None,
        });
        let trips: FxHashMap<Sym, usize> = trips.collect();
        let longer = RefCell::default();
        let mapped = f.map_equations(&mut |to, e, x| {
            let emitter = PortableEmitter {
                to,
                pass: self,
                longer: &longer,
            };
            let op = match trips.is_empty() {
                false => with_extents(&e.op, &trips),
                true => e.op.clone(),
            };
            Ok(emitter.emit(op, x).to_vec())
        })?;
        match &longer.into_inner()[..] {
            [] => Ok(mapped),
            longer => loops::checked(mapped, longer),
        }
    }

    fn region(&self, f: &Arc<Function>) -> Result<Arc<Function>> {
        let key = Arc::as_ptr(f);
        if let Some([_, new]) = self.regions.borrow().get(&key) {
            return Ok(new.clone());
        }
        let new = Arc::new(self.mapped(f)?);
        let entry = [f.clone(), new.clone()];
        self.regions.borrow_mut().insert(key, entry);
        Ok(new)
    }
}

/// The operation, and its regions, with numbers for some symbols.
fn with_extents(op: &Op, symbols: &FxHashMap<Sym, usize>) -> Op {
    let find = |s: &Sym| symbols.get(s).map(|&n| Dim::Const(n));
    let op = op
        .map_dims(&|d| d.subst(&find))
        .unwrap_or_else(|| op.clone());
    let regions = op.regions();
    if regions.is_empty() || matches!(op, Op::Call(_)) {
        return op;
    }
    let new: Vec<_> = regions.iter().map(|f| Arc::new(f.subst(&find))).collect();
    op.with_regions(&new)
}

/// An emitter that replaces operations before it writes them to another one.
struct PortableEmitter<'a> {
    to: &'a dyn Emit,
    pass: &'a Pass,
    /// For each loop with a bound, whether it would run longer.
    longer: &'a RefCell<Vec<Val>>,
}

impl PortableEmitter<'_> {
    /// The results of a replacement, or of the operation with mapped regions.
    fn write(&self, op: Op, x: &[Val]) -> Result<Vals> {
        if !op.runs() {
            return Ok(self.emit(op.legal(self.session())?, x));
        }
        if let Op::While(w) = &op
            && w.saves.is_some()
        {
            let (y, longer) = loops::bounded(self, w, w.bound.or(self.pass.bound), x)?;
            self.longer.borrow_mut().extend(longer);
            return Ok(y);
        }
        if let Some(y) = replacement(self, &op, x)? {
            return Ok(y);
        }
        if let Op::Call(c) = &op {
            // A called function has symbols of its own.
            let types: Vec<Type> = x.iter().map(|&v| self.ty(v)).collect();
            let callee = self.session().specialize(&c.callee, &types);
            let callee = self.pass.region(&callee)?;
            return Ok(self.to.emit(
                Call {
                    callee,
                    ..c.clone()
                }
                .into(),
                x,
            ));
        }
        let regions = op.regions();
        if regions.is_empty() {
            return Ok(self.to.emit(op, x));
        }
        let new = regions.into_iter().map(|f| self.pass.region(f));
        let new = new.collect::<Result<Vec<_>>>()?;
        Ok(self.to.emit(op.with_regions(&new), x))
    }
}

/// The results of simpler operations; `None` if StableHLO has the operation.
fn replacement(cx: &dyn Emit, op: &Op, x: &[Val]) -> Result<Option<Vals>> {
    let types: Vec<Type> = x.iter().map(|&v| cx.ty(v)).collect();
    let y = op.infer(&types)?;
    let symbolic = |ty: &Type| ty.shape.iter().find(|d| d.as_const().is_none()).cloned();
    if let Some(d) = y.iter().find_map(symbolic) {
        bail!(
            Unsupported,
            "the extent `{d}` of the result of `{}` depends on data, and XLA has no such arrays: compute it on the CPU \
             runtime",
            op.name()
        );
    }
    let empty = |ty: &Type| ty.shape.iter().any(|d| d.is(0));
    if !x.is_empty() && !y.is_empty() && y.iter().all(empty) {
        return Ok(Some(y.iter().map(|ty| cx.zeros(ty)).collect()));
    }
    if let Some(y) = linear_algebra(cx, op, x, &y)? {
        return Ok(Some(y));
    }
    let f64s = |f: &dyn Fn(&[numbers::RealValue<'_>]) -> Val| {
        Some(elementary::computed_in(cx, DType::F64, x, f))
    };
    let v = match op {
        Op::Unary(u) => elementary::unary(cx, *u, x[0]),
        Op::Binary(Binary::Pow) if types[0].dtype.is_int() => Some(integer_power(cx, x[0], x[1])),
        Op::Polygamma(p) => match p.order {
            0 => Some(cx.digamma(x[0])),
            n => f64s(&|x| elementary::polygamma(n, x[0]).v),
        },
        Op::BesselIe(b) => f64s(&|x| special::bessel_ie(b.order, x[0]).v),
        Op::Betainc(b) => {
            let orders = (b.a as usize, b.b as usize);
            f64s(&|x| special::betainc(orders, x[0], x[1], x[2]).v)
        }
        Op::Special(s) => f64s(&|x| {
            let (a, x, order) = (x[0], x[1], s.order);
            match s.f {
                SpecialFn::Igamma => special::igamma(false, order, a, x).v,
                SpecialFn::Igammac => special::igamma(true, order, a, x).v,
                SpecialFn::GammaDensity => special::gamma_density(order, a, x).v,
                SpecialFn::Zeta => special::zeta(order, a, x).v,
            }
        }),
        Op::Bitcast(b) if types[0].dtype.is_complex() || b.to.is_complex() => {
            complex_bitcast(cx, b.to, x[0], &y[0])
        }
        _ => None,
    };
    Ok(v.map(|v| Vals::from_slice(&[v])))
}

fn linear_algebra(cx: &dyn Emit, op: &Op, x: &[Val], y: &[Type]) -> Result<Option<Vals>> {
    if matrix::is_factorisation(op)
        && let Some(y) = matrix::empty_factors(cx, x[0], y)
    {
        return Ok(Some(y));
    }
    let one = |v: Val| Vals::from_slice(&[v]);
    Ok(Some(match op {
        Op::Spectral(s) => {
            let types: Vec<Type> = x.iter().map(|&v| cx.ty(v)).collect();
            cx.inline(&*s.expand(&types)?, x).into()
        }
        Op::Lu(_) => lu::lu(cx, x[0])?,
        Op::Solve(Solve) => one(matrix::solve(cx, &cx.lu(x[0]), x[1])),
        Op::Det(_) => one(matrix::det(cx, &cx.lu(x[0]))),
        Op::Slogdet(s) => matrix::slogdet(cx, s, &cx.lu(x[0]), y),
        Op::Qr(q) => qr::qr(cx, q, x[0])?,
        Op::Eigh(e) => eigh::eigh(cx, e, x[0])?,
        Op::Svd(s) => svd::svd(cx, s, x[0])?,
        Op::Eig(_) | Op::Schur(_) => bail!(
            Unsupported,
            "`{}` has no portable StableHLO form: compute it on the CPU runtime, or use `eigh` if the matrix is \
             symmetric",
            op.name()
        ),
        _ => return Ok(None),
    }))
}

/// `x^n` on integers, wrapping, by repeated squaring. For negative `n` the exact value is
/// truncated.
fn integer_power(cx: &dyn Emit, x: Val, n: Val) -> Val {
    let ty = cx.ty(x);
    let constant = |cx: &dyn Emit, c: i64| cx.full(&ty, c);
    let number = |c: i64| constant(cx, c);
    let is = |v: Val, how: Comparison, c: i64| cx.compare(v, how, number(c));
    let positive = match ty.dtype.is_signed() {
        true => cx.maximum(n, number(0)),
        false => n,
    };
    let y = cx.while_loop(
        &[],
        &[constant(cx, 1), x, positive],
        |cx, _, c| {
            let axes: Vec<usize> = (0..ty.rank()).collect();
            cx.reduce_any(cx.compare(c[2], Comparison::Ne, constant(cx, 0)), &axes)
        },
        |cx, _, c| {
            let odd = cx.and(c[2], constant(cx, 1));
            let odd = cx.compare(odd, Comparison::Ne, constant(cx, 0));
            vec![
                cx.select(odd, cx.mul(c[0], c[1]), c[0]),
                cx.mul(c[1], c[1]),
                cx.div(c[2], constant(cx, 2)),
            ]
        },
    );
    if !ty.dtype.is_signed() {
        return y[0];
    }
    let odd = cx.and(n, number(1));
    let alternating = cx.sub(number(1), cx.add(odd, odd));
    let truncated = cx.select(
        is(x, Comparison::Eq, 1),
        number(1),
        cx.select(is(x, Comparison::Eq, -1), alternating, number(0)),
    );
    cx.select(is(n, Comparison::Lt, 0), truncated, y[0])
}

/// A reinterpretation of complex numbers as pairs of real ones, or of pairs as complex numbers.
fn complex_bitcast(cx: &dyn Emit, to: DType, x: Val, y: &Type) -> Option<Val> {
    let count = |ty: &Type| ty.shape.as_const().map(|s| s.iter().product::<usize>());
    let ty = cx.ty(x);
    let x = if ty.dtype.is_complex() {
        cx.stack(&[cx.real(x), cx.imag(x)], ty.rank())
    } else {
        x
    };
    let ty = cx.ty(x);
    let (from, part) = (ty.dtype.size(), to.real().size());
    let flat = count(&ty)?;
    // Elements of the wider type, each as several of the narrower one.
    let rows = flat * from / part.max(from);
    let shape: &[usize] = if part > from {
        &[rows, part / from]
    } else {
        &[rows]
    };
    let dims = |s: &[usize]| s.iter().map(|&n| Dim::Const(n)).collect::<Vec<_>>();
    let bits = cx.bitcast(cx.reshape(x, &dims(shape)), to.real());
    if !to.is_complex() {
        return Some(cx.reshape(bits, &y.shape));
    }
    let pairs = cx.reshape(bits, &dims(&[count(y)?, 2]));
    let half = |k: usize| cx.reshape(cx.slice_axis(pairs, 1, k, k + 1), &y.shape);
    Some(cx.complex(half(0), half(1)))
}

impl Emit for PortableEmitter<'_> {
    fn emit(&self, op: Op, x: &[Val]) -> Vals {
        let n = op.results();
        if x.contains(&Val::POISON) {
            return smallvec::smallvec![Val::POISON; n];
        }
        self.write(op, x).unwrap_or_else(|e| {
            self.fail(e.at(self.loc()));
            smallvec::smallvec![Val::POISON; n]
        })
    }

    fn ty(&self, v: Val) -> Type {
        self.to.ty(v)
    }

    fn fail(&self, e: Error) {
        self.to.fail(e);
    }

    fn failed(&self) -> bool {
        self.to.failed()
    }

    fn session(&self) -> &Session {
        self.to.session()
    }

    fn set_loc(&self, loc: Loc) {
        self.to.set_loc(loc);
    }

    fn loc(&self) -> Loc {
        self.to.loc()
    }

    fn written(&self, v: Val) -> Option<(Op, Vals)> {
        self.to.written(v)
    }

    fn fresh_sym(&self, base: &str) -> Sym {
        self.to.fresh_sym(base)
    }

    fn nested(&self, name: &str) -> Builder {
        self.to.nested(name)
    }

    fn claim_sym(&self, s: &Sym) -> Sym {
        self.to.claim_sym(s)
    }
}
