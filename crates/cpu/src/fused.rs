//! [`Fused`]: a group of elementwise operations as one kernel over tensors.
//!
//! Reductions over the last axes are taken of blocks of elements as they are made; an element that is only reduced never
//! leaves its block.
//!
//! A result is written over an operand that dies here, if nothing reads the operand afterwards. Axes along which every
//! operand repeats are computed once.

use crate::element::{Plain, for_any};
use crate::elementwise::{Lowering, Typed};
use crate::kernel::{Kernel, Operands, Results, Sizes};
use crate::tensor::{Extents, Fresh, Tensor, volume};
use cotangent_core::ops::Op;
use cotangent_core::{DType, Env, Result};
use cotangent_kernels::tile::fold::{self, Fold, Rows};
use cotangent_kernels::tile::{Body, Source};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// Code over tiles, and how it meets tensors.
pub(crate) struct Fused {
    pub(crate) body: Body,
    /// The shape of all results; that of the first operand if there is none.
    pub(crate) shape: Option<Sizes>,
    /// How each operand is repeated into the shape, if it is.
    pub(crate) inputs: Vec<Option<Vec<usize>>>,
    /// What the body makes: element types.
    pub(crate) made: Vec<DType>,
    /// How many of these are results; the others are only reduced.
    pub(crate) outputs: usize,
    /// The reductions, and what each reduces: results after the others.
    pub(crate) folds: Vec<(Fold, usize)>,
    /// Over how many of the last axes.
    pub(crate) reduced: usize,
}

/// One elementwise operation on operands of these types and one shape.
pub(crate) fn alone(op: &Op, types: &[DType]) -> Fused {
    let mut lowering = Lowering::new();
    let x: Vec<Typed> = types.iter().map(|&t| lowering.input(t)).collect();
    let (y, dtype) = lowering.emit(op, &x);
    let inputs = vec![None; x.len()];
    let body = lowering.finish(&[y]);
    Fused { body, shape: None, inputs, made: vec![dtype], outputs: 1, folds: vec![], reduced: 0 }
}

/// What an operation without attributes and its operand types are.
type Key = (std::mem::Discriminant<Op>, u32, SmallVec<[DType; 3]>);

thread_local! {
    /// Operations that ran at once on this thread: there are only so many without attributes.
    static AT_ONCE: RefCell<FxHashMap<Key, Rc<Fused>>> = RefCell::default();
}

/// Runs one elementwise operation without attributes, made ready the first time; `None` for another. The type rule has
/// checked the operands.
pub(crate) fn at_once(op: &Op, x: &Operands) -> Option<Rc<Fused>> {
    let row = match op {
        Op::Unary(f) => *f as u32,
        Op::Binary(f) => *f as u32,
        Op::Compare(c) => c.0 as u32,
        Op::Select(_) if x[0].shape().len() == x[1].shape().len() => 0,
        _ => return None,
    };
    let key: Key = (std::mem::discriminant(op), row, x.iter().map(Tensor::dtype).collect());
    AT_ONCE.with_borrow_mut(|known| {
        let types = key.2.clone();
        Some(known.entry(key).or_insert_with(|| Rc::new(alone(op, &types))).clone())
    })
}

impl Fused {
    pub(crate) fn kernel(self) -> Kernel {
        Box::new(move |env, x| self.run(env, x))
    }

    pub(crate) fn run(&self, env: &Env, operands: Operands) -> Result<Results> {
        let full: Extents = match &self.shape {
            Some(shape) => shape.at(env)?,
            None => operands[0].shape().into(),
        };
        let mut x: SmallVec<[Tensor; 4]> = SmallVec::with_capacity(operands.len());
        for (t, dims) in operands.into_iter().zip(&self.inputs) {
            x.push(match dims {
                Some(dims) => t.broadcast(&full, dims)?,
                None => t,
            });
        }
        debug_assert!(x.iter().all(|t| t.shape() == full.as_slice()), "operands of one shape");
        let mut shape = full.clone();
        for (d, n) in shape.iter_mut().enumerate() {
            if *n > 1 && self.folds.is_empty() && x.iter().all(|t| t.strides()[d] == 0) {
                *n = 1;
            }
        }
        let narrow = shape != full;
        if narrow {
            x = x.into_iter().map(|t| t.narrowed(|d| shape[d] != full[d])).collect();
        }
        for t in &mut x {
            if t.is_across() {
                *t = regrained(t.clone())?;
            }
        }
        let n = volume(&shape)?;
        let mut results: SmallVec<[Place; 1]> = SmallVec::new();
        let mut dying: SmallVec<[usize; 4]> = (0..x.len()).filter(|&i| x[i].exclusive_ptr().is_some()).collect();
        for (k, &dtype) in self.made[..self.outputs].iter().enumerate() {
            // A few candidates are enough: a group may have very many operands.
            let fits = |&i: &usize| x[i].dtype() == dtype && self.body.may_overwrite(k, i);
            results.push(match dying.iter().take(16).position(fits) {
                Some(at) => Place::Over(dying.remove(at)),
                None => Place::Fresh(Fresh::new(dtype, n)?),
            });
        }
        let outputs: SmallVec<[*mut u8; 4]> = results
            .iter()
            .map(|r| match r {
                Place::Over(i) => x[*i].exclusive_ptr().expect("it was a moment ago"),
                Place::Fresh(f) => f.ptr(),
            })
            .collect();
        let sources: SmallVec<[Source<'_>; 4]> =
            x.iter().map(|t| Source { data: t.first_ptr(), strides: t.strides() }).collect();
        let mut reduced = Results::new();
        if self.folds.is_empty() {
            // SAFETY: tensors address elements of their type for every index of their shape; fresh buffers hold `n`
            // elements; an operand that is written over is a whole buffer of its own, where the body allows it.
            unsafe { self.body.run(&shape, 0..n, &sources, &outputs) };
        } else {
            // SAFETY: as above.
            reduced = unsafe { self.fold(&shape, n, &sources, &outputs)? };
        }
        drop(sources);
        let finish = |r: Place| {
            let y = match r {
                Place::Over(i) => x[i].clone(),
                // SAFETY: the body has written all elements.
                Place::Fresh(f) => unsafe { f.into_tensor(shape.clone()) },
            };
            if narrow { y.widened(&full) } else { y }
        };
        Ok(results.into_iter().map(finish).chain(reduced).collect())
    }

    /// Runs block by block, and gives the reductions.
    ///
    /// # Safety
    /// That of [`Body::run`] over all `n` elements.
    unsafe fn fold(&self, shape: &[usize], n: usize, x: &[Source<'_>], outputs: &[*mut u8]) -> Result<Results> {
        let (kept, gone) = shape.split_at(shape.len() - self.reduced);
        let (count, len) = (kept.iter().product::<usize>(), gone.iter().product::<usize>());
        let most = fold::block(len).min(n);
        let only: Vec<Fresh> = self.made[self.outputs..].iter().map(|&t| Fresh::new(t, most)).collect::<Result<_>>()?;
        let (mut results, mut rows): (Vec<Fresh>, Vec<Box<dyn Rows>>) = (Vec::new(), Vec::new());
        for &(fold, of) in &self.folds {
            let y = Fresh::new(self.made[of], count)?;
            // SAFETY: the buffer holds `count` elements.
            rows.push(unsafe {
                match self.made[of] {
                    DType::F32 => fold::rows::<f32>(fold, y.ptr().cast(), count, len),
                    _ => fold::rows::<f64>(fold, y.ptr().cast(), count, len),
                }
            });
            results.push(y);
        }
        let mut start = 0;
        while start < n {
            // Whole rows, or a piece of one.
            let end = if len > most { start + most.min(len - start % len) } else { n.min(start + most) };
            let size = |k: usize| self.made[k].size();
            let at = outputs.iter().enumerate().map(|(k, y)| y.wrapping_add(start * size(k)));
            let places: SmallVec<[*mut u8; 4]> = at.chain(only.iter().map(Fresh::ptr)).collect();
            // SAFETY: the caller's promise; what is only reduced has room for a block. Then the block is there.
            unsafe {
                self.body.run(shape, start..end, x, &places);
                for ((_, of), rows) in self.folds.iter().zip(&mut rows) {
                    rows.take(places[*of], end - start);
                }
            }
            start = end;
        }
        // SAFETY: every result was written, row by row or when there was nothing to reduce.
        Ok(results.into_iter().map(|y| unsafe { y.into_tensor(kept.into()) }).collect())
    }
}

/// Where a result is written.
enum Place {
    /// Over this operand.
    Over(usize),
    Fresh(Fresh),
}

/// A tensor whose last axis is not its finest, copied so that it is; axes along which it repeats stay so.
fn regrained(t: Tensor) -> Result<Tensor> {
    let shape = Extents::from_slice(t.shape());
    let repeated: SmallVec<[bool; 8]> = t.strides().iter().map(|&s| s == 0).collect();
    Ok(t.narrowed(|d| repeated[d]).into_dense()?.widened(&shape))
}

/// The bytes of a rank-0 array's element as an instruction's constant.
pub(crate) fn literal(lowering: &mut Lowering, value: &cotangent_core::Array) -> Typed {
    fn of<T: Plain>(lowering: &mut Lowering, value: &cotangent_core::Array) -> Typed {
        lowering.constant(value.as_slice::<T>().expect("the type was asked")[0])
    }
    for_any!(value.dtype(), T => of::<T>(lowering, value))
}
