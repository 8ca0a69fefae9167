//! Index maps of operations that move elements, from their attributes and types.

use super::access::{Bound, IndexMap, Indices, Read, Start, limits};
use super::affine::{Affine, Var};
use super::quantity::Quantity;
use cotangent_core::{DType, Dim, Scalar, Type};

/// Index 0 along axes of extent 1. An axis whose extent may be 1 is read modulo its extent.
pub(crate) fn broadcast(x: &Type, shape: &[Dim], dims: &[usize]) -> Option<IndexMap> {
    let limits = limits(shape, &[]);
    let index = |(d, &to): (&Dim, &usize)| {
        if d.is(1) {
            return Some(Quantity::Number(0).into());
        }
        let form = Affine::axis(to);
        match d.same(&shape[to]) {
            Some(true) => Some(form),
            _ => Some(form.split(&d.into(), &limits)?.1),
        }
    };
    let at: Option<Vec<Affine>> = x.shape.iter().zip(dims).map(index).collect();
    Some(IndexMap::of(at?))
}

/// The element at the same position in row-major order. The index along axes of extent 1 is 0.
/// `None` if an index is not affine.
pub(crate) fn reshape(x: &Type, shape: &[Dim]) -> Option<IndexMap> {
    let limits = limits(shape, &[]);
    let mut position = Affine::from(Quantity::Number(0));
    for (k, d) in shape.iter().enumerate().filter(|(_, d)| !d.is(1)) {
        position = position.times(&d.into()).plus(&Affine::axis(k));
    }
    let mut at = Vec::with_capacity(x.rank());
    for d in x.shape.iter().skip(1).rev() {
        let (quotient, remainder) = position.split(&d.into(), &limits)?;
        at.push(remainder);
        position = quotient;
    }
    if let Some(d) = x.shape.first() {
        // An axis of extent 1 has index 0, which shorter forms show.
        at.push(if d.is(1) {
            Quantity::Number(0).into()
        } else {
            position
        });
    }
    at.reverse();
    Some(IndexMap::of(at))
}

/// Axis `k` of the result is axis `perm[k]` of the operand.
pub(crate) fn transpose(perm: &[usize]) -> IndexMap {
    let mut map = IndexMap::identity(perm.len());
    for (k, &p) in perm.iter().enumerate() {
        map.at[p] = Affine::axis(k);
    }
    map
}

/// Strided windows.
pub(crate) fn slice(start: &[Dim], stride: &[usize]) -> IndexMap {
    let index = |(k, (start, &stride)): (usize, (&Dim, &usize))| {
        Affine::axis(k)
            .times(&i64::try_from(stride).unwrap_or(i64::MAX).into())
            .offset(&start.into())
    };
    let at = start.iter().zip(stride).enumerate().map(index);
    IndexMap::of(at.collect::<Indices>())
}

/// Reversed axes.
pub(crate) fn reverse(x: &Type, axes: &[usize]) -> IndexMap {
    let mut map = IndexMap::identity(x.rank());
    for &a in axes {
        let last = Quantity::from(&x.shape[a]).offset(-1);
        map.at[a] = Affine::axis(a).times(&(-1).into()).offset(&last);
    }
    map
}

/// The starts of a window: `reads` are those of the starts, for each index of the result. Also the
/// form of each start, which is a number where it is known.
pub(crate) fn starts(x: &[Dim], sizes: &[Dim], reads: Vec<Read>) -> (Vec<Start>, Vec<Affine>) {
    let (mut starts, mut forms) = (Vec::new(), Vec::new());
    for ((n, size), read) in x.iter().zip(sizes).zip(reads) {
        let last = Quantity::from(n).minus(&size.into());
        let known = match (read.as_number(), last.as_number()) {
            (_, Some(0)) => Some(0),
            (Some(Scalar::I(i)), Some(last)) => i64::try_from(i.clamp(0, last.into())).ok(),
            _ => None,
        };
        match known {
            Some(start) => forms.push(Quantity::Number(start).into()),
            None => {
                forms.push(Var::Start(starts.len()).into());
                starts.push(Start { read, last });
            }
        }
    }
    (starts, forms)
}

/// Elements added around and between: the map of the operand, and the bounds where it is read.
pub(crate) fn pad(
    x: &Type,
    shape: &[Dim],
    low: &[i64],
    high: &[i64],
    interior: &[usize],
) -> Option<(IndexMap, Vec<Bound>)> {
    let limits = limits(shape, &[]);
    let (mut at, mut bounds) = (Vec::new(), Vec::new());
    for (k, d) in x.shape.iter().enumerate() {
        let step = i64::try_from(interior[k]).ok()?.checked_add(1)?;
        let form = Affine::axis(k);
        at.push(if d.is(1) {
            Quantity::Number(0).into()
        } else if step == 1 {
            form.clone().offset(&low[k].checked_neg()?.into())
        } else {
            let quotient = form.split(&step.into(), &limits)?.0;
            quotient.offset(&(-low[k].div_euclid(step)).into())
        });
        if step == 1 && low[k] <= 0 && high[k] <= 0 {
            continue;
        }
        let extent = Quantity::from(d).offset(-1).times(&step.into());
        bounds.push(Bound {
            form,
            low: low[k].into(),
            high: extent.offset(low[k]).offset(1),
            step,
        });
    }
    Some((IndexMap::of(at), bounds))
}

/// The first operand whose end along the axis is above the index: reads of the operands at their
/// own indices, with their types.
pub(crate) fn concatenate(operands: &[(Read, Type)], axis: usize, shape: &[Dim]) -> Option<Read> {
    let mut start = Quantity::Number(0);
    let mut parts = Vec::with_capacity(operands.len());
    for (read, ty) in operands.iter().filter(|(_, ty)| !ty.shape[axis].is(0)) {
        let mut map = IndexMap::identity(shape.len());
        let from = Quantity::Number(0).minus(&start);
        map.at[axis] = match ty.shape[axis].is(1) {
            true => Quantity::Number(0).into(),
            false => Affine::axis(axis).offset(&from),
        };
        start = start.plus(&(&ty.shape[axis]).into());
        parts.push((read.through(&map, shape)?, start.clone()));
    }
    (!parts.is_empty()).then(|| halves(&parts, axis))
}

/// The part whose end is the first above the index along an axis, by a choice between both halves
/// of the parts.
fn halves(parts: &[(Read, Quantity)], axis: usize) -> Read {
    if let [(read, _)] = parts {
        return read.clone();
    }
    let (low, high) = parts.split_at(parts.len() / 2);
    let bound = Bound {
        form: Affine::axis(axis),
        low: 0.into(),
        high: low[low.len() - 1].1.clone(),
        step: 1,
    };
    Read::choice(vec![bound], halves(low, axis), &halves(high, axis))
}

/// A read of zeros.
pub(crate) fn zeros(dtype: DType) -> Read {
    Read::number(Scalar::I(0).cast(dtype))
}
