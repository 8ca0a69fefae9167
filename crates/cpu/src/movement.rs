//! Kernels that move elements: views where possible, otherwise copies of regions.

use crate::element::{Bits, IntegerElement, for_integer_or_bool, for_size};
use crate::kernel::{Kernel, Operands, Sizes, kernel};
use crate::tensor::{Extents, Fresh, Strides, Tensor, copied, row_major, volume};
use cotangent_core::ops::{DynamicSlice, Pad, Slice};
use cotangent_core::{DType, Dim, Result};
use cotangent_kernels::copy::copy_region;
use smallvec::smallvec;
use std::mem::MaybeUninit;

fn sizes(dims: &[Dim]) -> Sizes {
    Sizes::of(&dims.iter().cloned().collect())
}

/// Kernel of a strided slice: a view.
pub(crate) fn slice(s: &Slice) -> Kernel {
    let (start, limit, stride) = (sizes(&s.start), sizes(&s.limit), s.stride.clone());
    kernel(move |env, [mut x]| {
        let (start, limit) = (start.at(env)?, limit.at(env)?);
        for (k, &by) in stride.iter().enumerate() {
            x = x.slice(
                k,
                start[k],
                limit[k].saturating_sub(start[k]).div_ceil(by),
                by,
            );
        }
        Ok(x)
    })
}

/// Kernel that reverses axes: a view.
pub(crate) fn reverse(axes: &[usize]) -> Kernel {
    let axes = axes.to_vec();
    kernel(move |_, [x]| Ok(axes.iter().fold(x, |x, &k| x.reverse(k))))
}

/// Kernel of a bitcast to elements of another size. The parts of a larger element form a last axis,
/// least significant first.
pub(crate) fn bitcast(to: DType) -> Kernel {
    kernel(move |_, [x]| {
        let from = x.dtype().size();
        let x = x.into_dense()?;
        let mut shape = Extents::from_slice(x.shape());
        match from / to.size() {
            0 => drop(shape.pop()),
            parts => shape.push(parts),
        }
        let y = Fresh::new(to, volume(&shape)?)?;
        // SAFETY: the type rule makes both buffers the same number of bytes; they are separate
        // allocations. Any bytes are elements of either type, since the type rule admits no
        // booleans here.
        unsafe {
            std::ptr::copy_nonoverlapping(x.first_ptr(), y.ptr(), x.numel() * from);
            Ok(y.into_tensor(&shape))
        }
    })
}

/// Kernel of a concatenation along `axis`.
pub(crate) fn concatenate(axis: usize, dtype: DType) -> Kernel {
    for_size!(dtype, W => Box::new(move |_, mut x: Operands| {
        if x.len() == 1 {
            return Ok(smallvec![x.remove(0)]);
        }
        let mut shape = Extents::from_slice(x[0].shape());
        shape[axis] = x.iter().map(|x| x.shape()[axis]).fold(0, usize::saturating_add);
        let (strides, mut at) = (row_major(&shape), 0);
        let y = Tensor::filled_bits::<W, _>(dtype, shape, |dst| {
            for x in x.iter().filter(|x| x.numel() > 0) {
                copy_region(dst, at, &strides, x.bits::<W>());
                at += x.shape()[axis] * strides[axis] as usize;
            }
        })?;
        Ok(smallvec![y])
    }))
}

/// Kernel of padding: low, high (negative values remove elements) and interior. Without a value
/// operand the padding is zero.
pub(crate) fn pad(p: &Pad, dtype: DType) -> Kernel {
    let p = p.clone();
    for_size!(dtype, W => Box::new(move |_, x: Operands| {
        let mut x = x.into_iter();
        let (x, value) = (x.next().expect("the type rule checked it"), x.next());
        let (mut shape, mut first) = (Extents::new(), Extents::new());
        let mut part = x;
        for k in 0..p.low.len() {
            let (n, low) = (part.shape()[k] as i128, i128::from(p.low[k]));
            let step = p.interior[k] as i128 + 1;
            let extent = (n + low + i128::from(p.high[k]) + (step - 1) * (n - 1).max(0)).max(0);
            // Elements i with 0 <= low + i step < extent.
            let from = div_ceil((-low).max(0), step).min(n);
            let to = div_ceil((extent - low).max(0), step).clamp(from, n);
            part = part.slice(k, from as usize, (to - from) as usize, 1);
            shape.push(extent as usize);
            first.push((low + from * step).max(0) as usize);
        }
        let (strides, y) = (row_major(&shape), Fresh::new(dtype, volume(&shape)?)?);
        // SAFETY: `y` is a new buffer for `volume(&shape)` elements of `dtype`, which has the size
        // of `W`. Its elements need no initial value as `MaybeUninit`.
        let dst = unsafe { std::slice::from_raw_parts_mut(y.ptr().cast::<MaybeUninit<W>>(), volume(&shape)?) };
        let value = MaybeUninit::new(value.map_or_else(W::default, |value| value.bits::<W>().get(&[])));
        match p.interior.iter().all(|&i| i == 0) {
            true => fill_around(dst, &shape, &first, part.shape(), value),
            false => dst.fill(value),
        }
        if part.numel() > 0 {
            let at = first.iter().zip(&strides).map(|(&i, &s)| i * s as usize).sum();
            let steps: Strides = strides.iter().zip(&p.interior).map(|(&s, &i)| s * (i as isize + 1)).collect();
            copy_region(dst, at, &steps, part.bits::<MaybeUninit<W>>());
        }
        // SAFETY: either all elements were filled, or those outside of the part were filled and the
        // part was copied.
        Ok(smallvec![unsafe { y.into_tensor(&shape) }])
    }))
}

/// Fills the elements of a row-major array outside of a part of it, which starts at index `first`.
fn fill_around<T: Copy>(dst: &mut [T], shape: &[usize], first: &[usize], part: &[usize], value: T) {
    let [n, inner @ ..] = shape else { return };
    let slab = dst.len() / (*n).max(1);
    let (from, to) = (first[0].min(*n) * slab, (first[0] + part[0]).min(*n) * slab);
    dst[..from].fill(value);
    dst[to..].fill(value);
    if *inner != part[1..] {
        dst[from..to]
            .chunks_mut(slab.max(1))
            .for_each(|dst| fill_around(dst, inner, &first[1..], &part[1..], value));
    }
}

/// `ceil(a / b)` for `a >= 0`, `b > 0`.
fn div_ceil(a: i128, b: i128) -> i128 {
    (a + b - 1) / b
}

/// The value of a rank-0 integer or boolean tensor.
pub(crate) fn integer(x: &Tensor) -> i128 {
    for_integer_or_bool!(x.dtype(), T => <T as IntegerElement>::to(x.view::<T>().get(&[])))
}

/// The start index of a window, clamped so that the window is in bounds.
fn clamped(extent: usize, size: usize, start: &Tensor) -> usize {
    integer(start).clamp(0, extent.saturating_sub(size) as i128) as usize
}

/// Kernel of a slice at a run-time start: a view.
pub(crate) fn dynamic_slice(d: &DynamicSlice) -> Kernel {
    let sizes = sizes(&d.sizes);
    Box::new(move |env, x: Operands| {
        let mut x = x.into_iter();
        let mut y = x.next().expect("the type rule checked it");
        for ((k, &size), start) in sizes.at(env)?.iter().enumerate().zip(x) {
            let at = clamped(y.shape()[k], size, &start);
            y = y.slice(k, at, size, 1);
        }
        Ok(smallvec![y])
    })
}

/// Kernel of a slice update at a run-time start: in place if the operand is not shared.
pub(crate) fn dynamic_update_slice(dtype: DType) -> Kernel {
    for_size!(dtype, W => Box::new(move |_, x: Operands| {
        let mut x = x.into_iter();
        let mut next = || x.next().expect("the type rule checked it");
        let (y, u) = (next(), next());
        let strides = row_major(y.shape());
        let at = x.enumerate().map(|(k, start)| clamped(y.shape()[k], u.shape()[k], &start) * strides[k] as usize);
        let at = at.sum();
        let mut y = owned::<W>(y)?;
        copy_region(y.exclusive_bits::<W>().expect("a new tensor is not shared"), at, &strides, u.bits::<W>());
        Ok(smallvec![y])
    }))
}

/// The tensor as a row-major buffer that is not shared; copies if necessary.
pub(crate) fn owned<W: Bits + Default>(mut x: Tensor) -> Result<Tensor> {
    if x.exclusive_bits::<W>().is_some() {
        return Ok(x);
    }
    Tensor::filled_bits::<W, _>(x.dtype(), copied(x.shape()), |dst| {
        cotangent_kernels::copy::copy_into(dst, x.bits())
    })
}
