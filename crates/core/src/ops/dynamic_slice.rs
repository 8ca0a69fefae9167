//! `dynamic_slice` and `dynamic_update_slice`: a window at a data-dependent index.
//!
//! ```text
//! y[i] = x[s + i]                                     s = clamp(start, 0, extent - size)
//! y = x with y[s + i] = u[i]
//! ```
//! The start is one integer scalar per axis, clamped so that the window fits. The operations are
//! adjoint to each other: the adjoint of reading a window writes it into zeros.

use super::entry::{Entry, Spelled};
use super::gather::Gather;
use super::moving::{exceeds, no_axis, overlay_all, pick, places, prepend};
use super::scatter::Scatter;
use super::support::{bytes, cost_per_element, mapped, sample_array};
use super::windows::{Bounds, Combine, Windows};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
};
use crate::shape::{Dim, Env, Type};

/// Reads a window of these extents.
#[derive(Clone, Debug)]
pub struct DynamicSlice {
    /// Extents of the window.
    pub sizes: Vec<Dim>,
}

/// Writes a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DynamicUpdateSlice;

/// Checks that there is an integer scalar per axis of `x`, and that a window of these extents fits.
fn check(op: &dyn Primitive, x: &Type, start: &[Type], sizes: &[Dim]) -> Result<()> {
    let name = op.name();
    if start.len() != x.rank() || sizes.len() != x.rank() {
        bail!(
            Arity,
            "`{name}` of {x} needs a start and an extent for each of its {} axes, got {} and {}",
            x.rank(),
            start.len(),
            sizes.len()
        );
    }
    for (k, t) in start.iter().enumerate() {
        if !t.dtype.is_int() || t.rank() != 0 || t.dtype != start[0].dtype {
            bail!(
                DTypeMismatch,
                "`{name}`: the start of axis {k} must be an integer of rank 0 like the others, got {t}"
            );
        }
        if exceeds(&sizes[k], &x.shape[k]) {
            bail!(
                ShapeMismatch,
                "`{name}` of {x}: a window of {} does not fit axis {k} of {}",
                sizes[k],
                x.shape[k]
            );
        }
    }
    Ok(())
}

/// The start of each axis, clamped so that the window fits.
fn clamp(x: &[usize], start: &[Array], sizes: &[usize]) -> Vec<usize> {
    let at = |k: usize| match start[k].wide() {
        Wide::I(v) => v[0].clamp(0, x[k].saturating_sub(sizes[k]) as i128) as usize,
        _ => unreachable!("the type rule asks for integers"),
    };
    (0..x.len()).map(at).collect()
}

impl Primitive for DynamicSlice {
    fn name(&self) -> &str {
        "dynamic_slice"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("sizes", &self.sizes)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let Some((x, start)) = x.split_first() else {
            bail!(Arity, "`dynamic_slice` takes an operand")
        };
        check(self, x, start, &self.sizes)?;
        Ok(vec![x.with_shape(self.sizes.clone())])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let sizes = self
            .sizes
            .iter()
            .map(|d| d.eval(env))
            .collect::<Result<Vec<_>>>()?;
        let start = clamp(x[0].shape(), &x[1..], &sizes);
        Ok(vec![pick(
            &x[0],
            &sizes,
            places(&sizes, x[0].shape(), |k, i| Some(start[k] + i)),
        )?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::View
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&self.clone().into(), x, t))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let mut out = vec![None; x.len()];
        if let (Arg::L(ty), Some(ct)) = (&x[0], ct[0]) {
            let start: Vec<Val> = x[1..].iter().filter_map(Arg::val).collect();
            out[0] = Some(cx.dynamic_update_slice(cx.zeros(ty), ct, &start));
        }
        Ok(out)
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let (operand, start) = (x[0], &x[1..]);
        if start.iter().all(|b| !b.mapped) {
            let (start, sizes) = (from_zero(cx, start), prepend(size.clone(), &self.sizes));
            return mapped(cx.dynamic_slice(operand.val, &start, &sizes));
        }
        let rank = self.sizes.len();
        let (windows, sizes) = match operand.mapped {
            true => (
                Windows::at_starts(rank, true),
                prepend(Dim::Const(1), &self.sizes),
            ),
            false => (Windows::at_starts(rank, false), self.sizes.clone()),
        };
        let op = Gather {
            windows,
            sizes,
            bounds: Bounds::Clip,
        };
        mapped(cx.op(op, &[operand.val, stack_starts(cx, size, start)]))
    }

    fn cost(&self, _: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, y, y)
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            DynamicSlice {
                sizes: self.sizes.iter().map(f).collect(),
            }
            .into(),
        )
    }
}

impl Primitive for DynamicUpdateSlice {
    fn name(&self) -> &str {
        "dynamic_update_slice"
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let [x, u, start @ ..] = x else {
            bail!(
                Arity,
                "`dynamic_update_slice` takes an operand and an update"
            )
        };
        if x.dtype != u.dtype || x.rank() != u.rank() {
            bail!(
                ShapeMismatch,
                "`dynamic_update_slice` of {x} with {u}: element types and ranks must be equal"
            );
        }
        check(self, x, start, &u.shape)?;
        Ok(vec![x.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let start = clamp(x[0].shape(), &x[2..], x[1].shape());
        let to = places(x[1].shape(), x[0].shape(), |k, i| Some(start[k] + i));
        Ok(vec![overlay_all(x[0].clone(), &x[1], to)?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0] && mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let t = [Some(cx.or_zeros(t[0], x[0])), Some(cx.or_zeros(t[1], x[1]))];
        let t: Vec<Option<Lv>> = t.into_iter().chain(vec![None; x.len() - 2]).collect();
        Ok(cx.itself(&(*self).into(), x, &t))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let mut out = vec![None; x.len()];
        if let (Arg::L(ty), Some(ct)) = (&x[1], ct[0]) {
            let start: Vec<Val> = x[2..].iter().filter_map(Arg::val).collect();
            out[0] = Some(cx.dynamic_update_slice(ct, cx.zeros(ty), &start));
            out[1] = Some(cx.dynamic_slice(ct, &start, &ty.shape));
        }
        Ok(out)
    }

    fn added_to(&self, cx: &dyn Emit, to: Val, x: &[Val]) -> Option<Val> {
        let [_, u, start @ ..] = x else { return None };
        let old = cx.dynamic_slice(to, start, &cx.ty(*u).shape);
        Some(cx.dynamic_update_slice(to, cx.add(old, *u), start))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let [operand, update] = [x[0], x[1]].map(|b| cx.replicate(b, size).val);
        let start = &x[2..];
        if start.iter().all(|b| !b.mapped) {
            return mapped(cx.dynamic_update_slice(operand, update, &from_zero(cx, start)));
        }
        let windows = Windows::at_starts(start.len(), true);
        let op = Scatter {
            combine: Combine::Set,
            windows,
            bounds: Bounds::Clip,
            unique: true,
            stable: false,
        };
        mapped(cx.op(op, &[operand, stack_starts(cx, size, start), update]))
    }

    fn cost(&self, x: &[Type], _: &[Type]) -> Cost {
        Cost {
            flops: 0.0,
            bytes: 2.0 * bytes(&x[1]),
        }
    }
}

/// Starts of a window with one more leading axis, which it covers completely.
fn from_zero(cx: &dyn Emit, start: &[Batched]) -> Vec<Val> {
    let dtype = start
        .first()
        .map_or(crate::DType::I64, |b| cx.ty(b.val).dtype);
    std::iter::once(cx.zeros(&Type::scalar(dtype)))
        .chain(start.iter().map(|b| b.val))
        .collect()
}

/// The starts of every batch element as rows of a matrix.
fn stack_starts(cx: &dyn Emit, size: &Dim, start: &[Batched]) -> Val {
    let columns: Vec<Val> = start.iter().map(|b| cx.replicate(*b, size).val).collect();
    cx.stack(&columns, 1)
}

impl dyn Emit + '_ {
    /// The window of these extents that begins at `start`: one integer scalar per axis, clamped so
    /// that it fits.
    pub fn dynamic_slice(&self, x: Val, start: &[Val], sizes: &[Dim]) -> Val {
        self.op(
            DynamicSlice {
                sizes: sizes.to_vec(),
            },
            &prepend(x, start),
        )
    }

    /// `x` with the window `u` written at `start`: one integer scalar per axis, clamped so that it
    /// fits.
    pub fn dynamic_update_slice(&self, x: Val, u: Val, start: &[Val]) -> Val {
        let operands: Vec<Val> = [x, u].into_iter().chain(start.iter().copied()).collect();
        self.op(DynamicUpdateSlice, &operands)
    }

    /// Element `i` (an integer scalar, clamped) of `axis`, which is removed: `x[.., i, ..]`.
    pub fn dynamic_index_axis(&self, x: Val, axis: usize, i: Val) -> Val {
        let ty = self.ty(x);
        let mut sizes = ty.shape.to_vec();
        match sizes.get_mut(axis) {
            Some(d) => *d = Dim::Const(1),
            None => self.fail(no_axis("dynamic_slice", &ty, axis)),
        }
        let y = self.dynamic_slice(x, &self.start_at(&ty, axis, i), &sizes);
        self.drop_axis(y, axis)
    }

    /// `x` with `u` written over element `i` (an integer scalar, clamped) of one axis:
    /// `x[.., i, ..] = u`.
    pub fn dynamic_update_index_axis(&self, x: Val, u: Val, axis: usize, i: Val) -> Val {
        let start = self.start_at(&self.ty(x), axis, i);
        self.dynamic_update_slice(x, self.insert_axis(u, axis), &start)
    }

    fn start_at(&self, ty: &Type, axis: usize, i: Val) -> Vec<Val> {
        let zero = self.zeros(&self.ty(i));
        (0..ty.rank())
            .map(|k| if k == axis { i } else { zero })
            .collect()
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    match s.name {
        "dynamic_slice" => Ok(DynamicSlice {
            sizes: s.attrs.get("sizes")?,
        }
        .into()),
        _ => Ok(DynamicUpdateSlice.into()),
    }
}

fn samples(name: &str) -> Vec<Sample> {
    use crate::DType::*;
    let at = |start: &[i32]| start.iter().map(|&i| Array::scalar(i)).collect::<Vec<_>>();
    let case = |dtype, shape: &[usize], start: &[i32], sizes: &[usize]| match name {
        "dynamic_slice" => {
            let op = DynamicSlice {
                sizes: sizes.iter().map(|&d| Dim::Const(d)).collect(),
            };
            Sample::new(op, prepend(sample_array(dtype, shape, 0), &at(start)))
        }
        _ => {
            let x = [
                sample_array(dtype, shape, 0),
                sample_array(dtype, sizes, 40),
            ];
            Sample::new(DynamicUpdateSlice, x.into_iter().chain(at(start)).collect())
        }
    };
    vec![
        case(F64, &[5], &[1], &[3]),
        case(F64, &[3, 4], &[1, 2], &[2, 2]),
        case(F64, &[3, 4], &[-5, 9], &[2, 1]),
        case(F32, &[2, 3], &[0, 1], &[2, 2]),
        case(C128, &[4], &[2], &[2]),
        case(I32, &[4], &[3], &[3]),
        case(Bool, &[3], &[1], &[1]),
        case(F64, &[0, 2], &[0, 1], &[0, 1]),
        case(F64, &[], &[], &[]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let [read, write] = [
        "Reads a window at a data-dependent start, clamped so that it fits.",
        "Writes a window at a data-dependent start, clamped so that it fits.",
    ];
    vec![
        Entry {
            name: "dynamic_slice",
            doc: read,
            parse,
            samples,
        },
        Entry {
            name: "dynamic_update_slice",
            doc: write,
            parse,
            samples,
        },
    ]
}
