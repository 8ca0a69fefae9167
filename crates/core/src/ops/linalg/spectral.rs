//! `spectral`: a function of the eigenvalues of Hermitian matrices, and its derivatives, which are
//! correct for coincident eigenvalues.
//!
//! With `H = (A + Aᴴ) / 2 = V diag(w) Vᴴ`, `M = Vᴴ E V`, `N = Vᴴ F V` and divided differences
//! `f[..]`,
//!
//! ```text
//! order 0    f(H)         = V diag(f(w)) Vᴴ
//! order 1    Df(H)[E]     = V (f[w_i, w_j] M_ij) Vᴴ
//! order 2    D²f(H)[E, F] = V (Σ_k f[w_i, w_k, w_j] (M_ik N_kj + N_ik M_kj)) Vᴴ
//! ```
//! (Daleckii and Krein 1965). Each is the derivative of the preceding one, linear in each
//! direction, and its own adjoint. Third derivatives use the eigenvectors, and are NaN if
//! eigenvalues coincide. O(n³); for order 2 O(n³) times the work of `f`.
//!
//! A divided difference is computed as a quotient, or as a mean of `f'` (`f''`) between its points.
//! The mean is used where these derivatives vary smoothly and the mean agrees with the quotient up
//! to its rounding error. Both conditions are needed: the first detects kinks whose mean happens to
//! agree, the second steps and plateaus between points of equal slope. Both are scale-free.

use super::super::support::bytes;
use super::Eigh;
use super::matrix::{complex, real};
use super::support::{batch_leading, batches, ending, size, square};
use crate::array::Array;
use crate::bail;
use crate::error::Result;
use crate::ir::{
    AdContext, Arg, Attrs, Batched, Builder, Cost, Emit, Function, Lin, Linearized, Lv, Op,
    Operand, Primitive, Sample, Session, Val, no_rule,
};
use crate::ops::entry::{Entry, Spelled};
use crate::ops::{Call, Comparison};
use crate::reference;
use crate::shape::{Dim, Env, Type};
use crate::transform::{self};
use std::sync::Arc;

/// A function of matrices, or a derivative of it. Operands: the matrices; their eigenvalues and
/// eigenvectors if `decomposed`; the directions.
#[derive(Clone, Debug)]
pub struct Spectral {
    /// The function of one eigenvalue.
    pub f: Arc<Function>,
    /// Number of directions.
    pub order: usize,
    /// Whether the eigendecomposition of the first operand is given as operands, which have no
    /// derivative.
    pub decomposed: bool,
}

/// A scalar function with its first two derivatives.
struct ScalarJet([Arc<Function>; 3]);

impl ScalarJet {
    fn of(f: &Arc<Function>) -> Result<ScalarJet> {
        let first = slope(f)?;
        let second = slope(&first)?;
        Ok(ScalarJet([f.clone(), first, second]))
    }

    /// The `order`-th derivative of each element.
    fn at(&self, cx: &dyn Emit, order: usize, x: Val) -> Val {
        let mut f = self.0[order].clone();
        for d in cx.ty(x).shape.iter().rev() {
            match cx.session().batch_region(&f, &[true], &[true], d) {
                Ok(g) => f = g.func.clone(),
                Err(e) => {
                    cx.fail(e);
                    return Val::POISON;
                }
            }
        }
        cx.inline(&f, &[x])[0]
    }

    /// `f[w_i, w_j]` for all pairs, a bound of its error, and whether it was computed as a mean.
    fn first(&self, cx: &dyn Emit, w: Val, like: &Type) -> [Val; 3] {
        let at = |order: usize| pairs(cx, self.at(cx, order, w), like);
        let ((a, b), (fa, fb), (da, db)) = (pairs(cx, w, like), at(0), at(1));
        let (gap, middle) = (cx.sub(b, a), cx.scale_by(0.5, cx.add(a, b)));
        // Four-point Lobatto quadrature: both ends and two interior points.
        let root = 5f64.sqrt();
        let aside = cx.scale_by(0.5 / root, gap);
        let [p, q] = [cx.sub(middle, aside), cx.add(middle, aside)].map(|x| self.at(cx, 1, x));
        let (ends, inner) = (cx.add(da, db), cx.add(p, q));
        let mean = cx.scale_by(1.0 / 12.0, cx.add(ends, cx.scale_by(5.0, inner)));
        let odd = cx.sub(cx.sub(db, da), cx.scale_by(root, cx.sub(q, p)));
        let slopes = magnitude(cx, &[da, db, p, q]);
        let even = ScalarJet::even(cx, magnitude(cx, &[odd, cx.sub(ends, inner)]), slopes);
        let same = cx.compare(gap, Comparison::Eq, cx.zeros(like));
        let gap = cx.select(same, cx.full(like, 1.0), gap);
        let quotient = cx.div(cx.sub(fb, fa), gap);
        // Rounding error of a value: of its computation, and of its argument.
        let argument = cx.mul(cx.maximum(cx.abs(a), cx.abs(b)), slopes);
        let rounding = |x: Val| {
            cx.scale_by(
                FUNCTION_ROUNDINGS * like.dtype.epsilon(),
                cx.add(cx.full(like, 1.0), x),
            )
        };
        let error = cx.div(
            rounding(cx.add(magnitude(cx, &[fa, fb]), argument)),
            cx.abs(gap),
        );
        let agree = cx.compare(cx.abs(cx.sub(quotient, mean)), Comparison::Le, error);
        let near = cx.or(same, cx.and(even, agree));
        [
            cx.select(near, mean, quotient),
            cx.stop_gradient(cx.select(near, rounding(slopes), error)),
            near,
        ]
    }

    /// `f[a, b, c]`, from `f''` at the three points, and for the pairs `ab`, `bc` and `ac` the
    /// first differences (see [`first`](Self::first)) and `f''` at the midpoints.
    fn second(&self, cx: &dyn Emit, [a, b, c]: [Val; 3], ends: [Val; 3], of: [[Val; 3]; 4]) -> Val {
        let ty = cx.ty(a);
        let size = |x: Val, y: Val| cx.abs(cx.sub(x, y));
        let at_least = |x: Val, y: Val| cx.compare(x, Comparison::Ge, y);
        let (g_ab, g_bc, g_ac) = (size(a, b), size(b, c), size(a, c));
        // The quotient over the widest of the three gaps.
        let by_ac = cx.and(at_least(g_ac, g_ab), at_least(g_ac, g_bc));
        let by_ab = at_least(g_ab, g_bc);
        let pick = |x: Val, y: Val, z: Val| cx.select(by_ac, x, cx.select(by_ab, y, z));
        let [[ab, bc, ac], errors, [p, q, r], edges] = of;
        let over = pick(cx.sub(bc, ab), cx.sub(bc, ac), cx.sub(ac, ab));
        let gap = pick(cx.sub(c, a), cx.sub(b, a), cx.sub(c, b));
        let same = cx.compare(gap, Comparison::Eq, cx.zeros(&ty));
        let gap = cx.select(same, cx.full(&ty, 1.0), gap);
        let quotient = cx.div(over, gap);
        // Quadrature with the corners, the edge midpoints and the centre of a triangle: exact for
        // cubics.
        let sum = |v: [Val; 3]| cx.add(v[0], cx.add(v[1], v[2]));
        let centre = self.at(cx, 2, cx.scale_by(1.0 / 3.0, sum([a, b, c])));
        let outer = cx.add(
            cx.scale_by(1.0 / 40.0, sum(ends)),
            cx.scale_by(1.0 / 15.0, sum(edges)),
        );
        let mean = cx.add(outer, cx.scale_by(9.0 / 40.0, centre));
        let bend = |middle: Val, x: Val, y: Val| cx.sub(middle, cx.scale_by(0.5, cx.add(x, y)));
        let [x, y, z] = ends;
        let sag = cx.sub(centre, cx.scale_by(1.0 / 3.0, sum(ends)));
        let bends = magnitude(
            cx,
            &[
                bend(edges[0], x, y),
                bend(edges[1], y, z),
                bend(edges[2], x, z),
                sag,
            ],
        );
        let even = ScalarJet::even(
            cx,
            bends,
            magnitude(cx, &[x, y, z, edges[0], edges[1], edges[2], centre]),
        );
        let error = cx.div(sum(errors), cx.abs(gap));
        let agree = cx.compare(cx.abs(cx.sub(quotient, mean)), Comparison::Le, error);
        let near = cx.or(same, cx.and(cx.and(p, cx.and(q, r)), cx.and(even, agree)));
        cx.select(near, mean, quotient)
    }

    /// Whether a deviation from linear interpolation is small relative to the values. False for
    /// infinite deviations.
    fn even(cx: &dyn Emit, deviation: Val, values: Val) -> Val {
        let ty = cx.ty(values);
        let excess = cx.sub(deviation, cx.scale_by(ty.dtype.epsilon().cbrt(), values));
        cx.compare(excess, Comparison::Le, cx.zeros(&ty))
    }
}

/// Accepted error of a value of `f`, in rounding errors.
const FUNCTION_ROUNDINGS: f64 = 256.0;

/// The sum of magnitudes.
fn magnitude(cx: &dyn Emit, x: &[Val]) -> Val {
    x[1..]
        .iter()
        .fold(cx.abs(x[0]), |sum, &x| cx.add(sum, cx.abs(x)))
}

/// The derivative of a scalar function.
fn slope(f: &Arc<Function>) -> Result<Arc<Function>> {
    let derived = transform::jvp(&AdContext::default(), f, f.params())?;
    let b = Builder::new("slope", Session::default());
    let x = b.param(f.ty(f.params()[0]).clone(), None);
    let cx: &dyn Emit = &b;
    let y = cx.inline(&derived, &[x, cx.full_like(x, 1.0)])[1];
    Ok(Arc::new(b.finish(&[y])?))
}

/// Broadcasts numbers of the last axis to matrices of the type of `like`, along axis `axis`.
fn along(cx: &dyn Emit, x: Val, like: &Type, axis: usize) -> Val {
    let dims: Vec<usize> = (0..like.rank() - 2).chain([axis]).collect();
    cx.broadcast_in_dim(x, &like.shape, &dims)
}

/// `x_i` and `x_j` for all pairs, as matrices of the type of `like`.
pub(crate) fn pairs(cx: &dyn Emit, x: Val, like: &Type) -> (Val, Val) {
    (
        along(cx, x, like, like.rank() - 2),
        along(cx, x, like, like.rank() - 1),
    )
}

/// The value with axis `axis` moved to the front.
fn forward(cx: &dyn Emit, x: Val, axis: usize) -> Val {
    let perm: Vec<usize> = std::iter::once(axis)
        .chain((0..cx.ty(x).rank()).filter(|&k| k != axis))
        .collect();
    cx.transpose(x, &perm)
}

impl Spectral {
    /// The operation written with other operations, as a function of its operands.
    pub fn expand(&self, types: &[Type]) -> Result<Arc<Function>> {
        let b = Builder::new("spectral", Session::default());
        let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
        let cx: &dyn Emit = &b;
        let (w, v) = match self.decomposed {
            true => (x[1], x[2]),
            false => {
                let d = cx.eigh(cx.as_square(x[0]));
                (d[0], d[1])
            }
        };
        let y = self.in_basis(cx, w, v, &x[x.len() - self.order..])?;
        Ok(Arc::new(b.finish(&[y])?))
    }

    fn in_basis(&self, cx: &dyn Emit, w: Val, v: Val, directions: &[Val]) -> Result<Val> {
        let jet = ScalarJet::of(&self.f)?;
        let (ty, vh) = (cx.ty(v), cx.adjoint(v));
        let like = ty.with_dtype(cx.ty(w).dtype);
        let (rows, columns) = (like.rank() - 2, like.rank() - 1);
        let m: Vec<Val> = directions
            .iter()
            .map(|&e| cx.mm(vh, cx.mm(cx.as_square(e), v)))
            .collect();
        let weighted = |cx: &dyn Emit, c: Val, x: Val| cx.mul(cx.convert(c, ty.dtype), x);
        let core = match m[..] {
            [] => {
                let columns = along(cx, jet.at(cx, 0, w), &like, columns);
                return Ok(cx.mm(weighted(cx, columns, v), vh));
            }
            [m] => weighted(cx, jet.first(cx, w, &like)[0], m),
            [m, n, ..] => {
                let [value, error, near] = jet.first(cx, w, &like);
                let (wi, wj) = pairs(cx, w, &like);
                let middle = jet.at(cx, 2, cx.scale_by(0.5, cx.add(wi, wj)));
                let (numbers, tables) = ([w, jet.at(cx, 2, w)], [value, error, near, middle]);
                let products = [(m, columns), (n, rows), (n, columns), (m, rows)];
                let lines = numbers
                    .iter()
                    .chain(&tables)
                    .map(|&x| (x, rows))
                    .chain(products);
                let lines: Vec<Val> = lines.map(|(x, axis)| forward(cx, x, axis)).collect();
                let count = cx.ty(w).shape[rows].clone();
                let step = |cx: &dyn Emit, c: &[Val], t: &[Val], k: &[Val]| {
                    let [points, curvatures] = [0, 1].map(|x| {
                        let (i, j) = pairs(cx, c[x], &like);
                        [
                            i,
                            cx.broadcast_in_dim(k[x], &like.shape, &(0..rows).collect::<Vec<_>>()),
                            j,
                        ]
                    });
                    let of = [2, 3, 4, 5].map(|x| {
                        let (ik, kj) = pairs(cx, k[x], &like);
                        [ik, kj, c[x]]
                    });
                    let product = |left: Val, right: Val| {
                        cx.mul(along(cx, left, &ty, rows), along(cx, right, &ty, columns))
                    };
                    let both = cx.add(product(k[6], k[7]), product(k[8], k[9]));
                    let f = jet.second(cx, points, curvatures, of);
                    (vec![cx.add(t[0], weighted(cx, f, both))], vec![])
                };
                let fixed = [&numbers[..], &tables].concat();
                cx.scan(&fixed, &[cx.zeros(&ty)], &lines, &count, false, step)
                    .0[0]
            }
        };
        Ok(cx.mm(v, cx.mm(core, vh)))
    }

    /// Index of the first direction among the operands.
    fn start(&self) -> usize {
        if self.decomposed { 3 } else { 1 }
    }
}

impl Primitive for Spectral {
    fn name(&self) -> &str {
        "spectral"
    }

    fn attrs(&self) -> Attrs {
        let attrs =
            Attrs::default()
                .with("f", self.f.clone())
                .with_if(self.order > 0, "order", self.order);
        attrs.with_if(self.decomposed, "decomposed", true)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        if self.order > 2 {
            bail!(
                Attribute,
                "`spectral` has orders 0, 1 and 2, got {}",
                self.order
            );
        }
        if x.len() != self.start() + self.order {
            bail!(
                Arity,
                "`spectral` of order {} takes {} operands, got {}",
                self.order,
                self.start() + self.order,
                x.len()
            );
        }
        let n = square(self, &x[0])?;
        let (y, w) = (
            ending(&x[0], x[0].dtype, &[n, n]),
            ending(&x[0], x[0].dtype.real(), &[n]),
        );
        let of = if self.decomposed {
            [&[w][..], &vec![y.clone(); 1 + self.order]].concat()
        } else {
            vec![y.clone(); self.order]
        };
        if let Some((have, want)) = x[1..]
            .iter()
            .zip(&of)
            .find(|(have, want)| have.differs(want))
        {
            bail!(
                ShapeMismatch,
                "`spectral` of {} also takes {want}, got {have}",
                x[0]
            );
        }
        let one = Type::scalar(x[0].dtype.real());
        if self.f.param_types() != [one.clone()] || self.f.result_types() != [one.clone()] {
            bail!(
                ShapeMismatch,
                "the function of `spectral` takes and returns a number, {one}, for each eigenvalue"
            );
        }
        Ok(vec![y])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let types: Vec<Type> = x.iter().map(Array::ty).collect();
        let f = self.expand(&types)?;
        reference::run_body(&f, x, env)
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        let (fixed, directions) = mask.split_at(self.start());
        !fixed.contains(&true) && directions.iter().filter(|&&m| m).count() == 1
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let (a, directions, moved) = (cx.as_square(x[0]), &x[self.start()..], &t[self.start()..]);
        if self.order == 2 && t[0].is_some() {
            // By the eigenvectors.
            let (d, dt) =
                Eigh { vectors: true }.linearize(cx, &[a], &[t[0].map(|t| cx.lsquare(t))])?;
            let all = [&[a][..], &d, directions].concat();
            let types: Vec<Type> = all.iter().map(|&v| cx.ty(v)).collect();
            let callee = Spectral {
                decomposed: true,
                ..self.clone()
            }
            .expand(&types)?;
            let moved: Vec<Option<Lv>> = std::iter::once(None)
                .chain(dt)
                .chain(moved.iter().copied())
                .collect();
            return Call {
                callee,
                checkpoint: false,
            }
            .linearize(cx, &all, &moved);
        }
        let given = match self.decomposed {
            true => [x[1], x[2]],
            false => {
                let d = cx.eigh(cx.stop_gradient(a));
                [d[0], d[1]]
            }
        };
        let of = Spectral {
            decomposed: true,
            ..self.clone()
        };
        let fixed = [&[a][..], &given, directions].concat();
        let y = cx.op(of.clone(), &fixed);
        let mut dy = None;
        for (k, t) in moved.iter().enumerate() {
            let operands = fixed.iter().enumerate().map(|(i, &v)| match t {
                Some(t) if i == 3 + k => (*t).into(),
                _ => v.into(),
            });
            let operands: Vec<Operand> = operands.collect();
            dy = cx.sum_opt(dy, t.map(|_| cx.apply1(of.clone(), &operands)));
        }
        if let Some(t) = t[0] {
            let next = Spectral {
                order: self.order + 1,
                ..of
            };
            let along: Operand = cx.lhermitian(cx.lsquare(t)).into();
            let operands: Vec<Operand> = fixed.iter().map(|&v| v.into()).chain([along]).collect();
            dy = cx.sum_opt(dy, Some(cx.apply1(next, &operands)));
        }
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Some(ct), Some(k)) = (ct[0], x.iter().position(Arg::is_linear)) else {
            return Err(no_rule(self, "transpose"));
        };
        let operand = |(i, a): (usize, &Arg)| match a.val() {
            None => ct,
            Some(v) if i >= self.start() => cx.adjoint(v),
            Some(v) => v,
        };
        let all: Vec<Val> = x.iter().enumerate().map(operand).collect();
        let back = cx.op(self.clone(), &all);
        Ok((0..x.len()).map(|i| (i == k).then_some(back)).collect())
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, self.clone(), size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = x[0].shape.last().map_or(1.0, size);
        let each = self.f.cost().flops;
        let flops = batches(&x[0]) * n * (10.0 * n * n + each * n.powi(self.order as i32));
        Cost {
            flops,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }

    fn regions(&self) -> Vec<&Arc<Function>> {
        vec![&self.f]
    }

    fn with_regions(&self, regions: &[Arc<Function>]) -> Op {
        Spectral {
            f: regions[0].clone(),
            ..self.clone()
        }
        .into()
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let (f, order) = (s.attrs.get("f")?, s.attrs.opt("order")?.unwrap_or(0));
    Ok(Spectral {
        f,
        order,
        decomposed: s.attrs.opt("decomposed")?.unwrap_or(false),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let of = |order: usize, write: fn(&dyn Emit, Val) -> Val| {
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::scalar(crate::DType::F64), None);
        let y = write(&b, x);
        Spectral {
            f: Arc::new(b.finish(&[y]).expect("a sample")),
            order,
            decomposed: false,
        }
    };
    let exp = |cx: &dyn Emit, x: Val| cx.exp(x);
    let tanh = |cx: &dyn Emit, x: Val| cx.tanh(x);
    let a = real(&[3, 3], &[1.0, 0.3, -0.2, 0.5, 0.4, 0.6, -0.4, 0.2, -0.7]);
    let e = real(&[3, 3], &[0.2, -0.5, 0.7, 0.1, 0.9, -0.3, 0.8, -0.6, 0.4]);
    let z = complex(&[2, 2], &[(0.9, 0.0), (0.3, 0.5), (0.2, -0.4), (-0.3, 0.0)]);
    // Two and three equal eigenvalues.
    let twice = real(&[3, 3], &[2.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 2.0]);
    let eye = real(&[2, 2], &[1.0, 0.0, 0.0, 1.0]);
    vec![
        Sample::new(of(0, exp), vec![a.clone()]),
        Sample::new(of(0, tanh), vec![z.clone()]),
        Sample::new(of(1, tanh), vec![a.clone(), e.clone()]),
        Sample::new(of(1, exp), vec![z.clone(), z]),
        Sample::new(of(0, exp), vec![twice.clone()]),
        Sample::new(of(0, tanh), vec![eye]),
        Sample::rough(of(2, exp), vec![a, e.clone(), e.clone()]),
        Sample::rough(of(1, exp), vec![twice, e]),
        Sample::new(of(0, exp), vec![real(&[2, 0, 0], &[])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "A function `f` of the eigenvalues of the Hermitian part, V diag(f(w)) V^H, or its derivative of an `order`.";
    vec![Entry {
        name: "spectral",
        doc,
        parse,
        samples,
    }]
}
