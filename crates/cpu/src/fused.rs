//! [`Fused`]: a group of elementwise operations and reductions of rows as one kernel over tensors.
//!
//! A group is a list of **phases**: code over tiles, then folds of what it made over the last axes.
//! What a fold gives is a value for each row, which later phases read along the row;
//! [`phases`](crate::phases) runs all of them on a few rows while these are in a cache.
//!
//! A result is written over an operand that dies here, if nothing reads the operand afterwards.
//! Axes along which every operand repeats are computed once. What a group reads may be a product of
//! matrices that it computes itself ([`products`](crate::products)), a block of rows before the
//! phases run on these, where the result will lie or in memory that passes.

use crate::across::Across;
use crate::element::{PlainElement, for_any};
use crate::elementwise::{Lowering, Typed};
use crate::kernel::{Kernel, Operands, Results, Sizes};
use crate::phases::{Made, Run};
use crate::products::{Cut, Factors, Product, Widths};
use crate::tensor::{Extents, Fresh, Tensor, volume};
use cotangent_core::ops::Op;
use cotangent_core::{DType, Env, Result};
use cotangent_kernels::tile::Body;
use cotangent_kernels::tile::fold::Fold;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// What a value has one of: each element of the shape, or each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Level {
    Elements,
    Rows,
}

/// A group made ready.
pub(crate) struct Fused {
    /// The shape of the elements; that of the first operand if there is none.
    pub(crate) shape: Option<Sizes>,
    /// How many of the last axes a row has.
    pub(crate) reduced: usize,
    pub(crate) operands: Vec<Operand>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) phases: Vec<Phase>,
    /// What it computes of the last buffers; the factors of each come after the operands.
    pub(crate) products: Vec<Product>,
    /// The buffers that are results, in order.
    pub(crate) results: Vec<usize>,
}

/// A value from outside.
pub(crate) struct Operand {
    pub(crate) level: Level,
    /// How it is repeated, if it is.
    pub(crate) dims: Option<Vec<usize>>,
    /// A fold reads it as it is.
    pub(crate) folded: bool,
}

/// A value that a phase makes.
pub(crate) struct Buffer {
    pub(crate) dtype: DType,
    pub(crate) level: Level,
    pub(crate) life: Life,
    /// The operands over which it may be written, then the products.
    pub(crate) over: Vec<Place>,
}

/// How long elements are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Until their own phase has folded them.
    Phase,
    /// Until the last phase.
    Group,
    /// They are a result.
    Result,
}

/// Code, and folds of what is there when it has run.
pub(crate) struct Phase {
    pub(crate) level: Level,
    pub(crate) body: Body,
    pub(crate) reads: Vec<Place>,
    /// The buffers that the code writes.
    pub(crate) writes: Vec<usize>,
    /// What is folded, and the buffer of the results.
    pub(crate) folds: Vec<(Fold, Place, usize)>,
    /// Picoseconds for each element, about.
    pub(crate) cost: u64,
}

/// Where a value is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Operand(usize),
    Buffer(usize),
}

impl Phase {
    /// Whether a value written as the `k`-th may be written where another lies.
    pub(crate) fn may_write_over(&self, k: usize, place: Place) -> bool {
        let read = self.reads.iter().position(|p| *p == place);
        !self.folds.iter().any(|f| f.1 == place)
            && read.is_none_or(|r| self.body.may_overwrite(k, r))
    }

    /// Whether it reads what lies there.
    pub(crate) fn needs(&self, place: Place) -> bool {
        self.reads.contains(&place) || self.folds.iter().any(|f| f.1 == place)
    }
}

/// One elementwise operation on operands of these types and one shape.
pub(crate) fn alone(op: &Op, types: &[DType]) -> Fused {
    let mut lowering = Lowering::new();
    let x: Vec<Typed> = types.iter().map(|&t| lowering.input(t)).collect();
    let (y, dtype) = lowering.emit(op, &x);
    let (body, cost) = lowering.finish(&[y]);
    let over = (0..x.len())
        .filter(|&i| types[i] == dtype && body.may_overwrite(0, i))
        .map(Place::Operand)
        .collect();
    let reads = (0..x.len()).map(Place::Operand).collect();
    Fused {
        shape: None,
        reduced: 0,
        operands: x
            .iter()
            .map(|_| Operand {
                level: Level::Elements,
                dims: None,
                folded: false,
            })
            .collect(),
        buffers: vec![Buffer {
            dtype,
            level: Level::Elements,
            life: Life::Result,
            over,
        }],
        phases: vec![Phase {
            level: Level::Elements,
            body,
            reads,
            writes: vec![0],
            folds: vec![],
            cost,
        }],
        products: vec![],
        results: vec![0],
    }
}

/// What an operation without attributes and its operand types are.
type Key = (std::mem::Discriminant<Op>, u32, SmallVec<[DType; 3]>);

thread_local! {
    /// Operations that ran at once on this thread: there are only so many without other attributes
    /// than a type.
    static CACHED_KERNELS: RefCell<FxHashMap<Key, Rc<Fused>>> = RefCell::default();
}

/// Runs one elementwise operation without other attributes than a type, made ready the first time;
/// `None` for another. The type rule has checked the operands.
pub(crate) fn cached(op: &Op, x: &Operands) -> Option<Rc<Fused>> {
    let row = match op {
        Op::Unary(f) => *f as u32,
        Op::Binary(f) => *f as u32,
        Op::Compare(c) => c.0 as u32,
        Op::Convert(c) => c.to as u32,
        Op::Select(_) if x[0].shape().len() == x[1].shape().len() => 0,
        _ => return None,
    };
    let key: Key = (
        std::mem::discriminant(op),
        row,
        x.iter().map(Tensor::dtype).collect(),
    );
    CACHED_KERNELS.with_borrow_mut(|known| {
        let types = key.2.clone();
        Some(
            known
                .entry(key)
                .or_insert_with(|| Rc::new(alone(op, &types)))
                .clone(),
        )
    })
}

/// Where a buffer of the whole shape is.
enum Memory {
    /// Over this operand.
    Over(usize),
    Fresh(Fresh),
    /// A few rows at a time, in what each thread has for it.
    Passing,
}

impl Fused {
    pub(crate) fn kernel(self) -> Kernel {
        Box::new(move |env, x| self.run(env, x))
    }

    /// How rows are cut so that products are read in a cache, by the sizes `[m, k, n]` of these;
    /// nothing if they run as a whole before. There are so many rows of such a length.
    pub(crate) fn cut(
        &self,
        products: impl Iterator<Item = ([usize; 3], DType)> + Clone,
        count: usize,
        len: usize,
    ) -> Option<Cut> {
        let ([m, _, n], _) = products.clone().next()?;
        let widths = products.fold(Widths::default(), |w, ([_, k, n], dtype)| {
            w.and([k, n], dtype)
        });
        Some(
            widths
                .cut(count * len / n, m, (len / n).max(1))?
                .scaled(n, len),
        )
    }

    /// Whether a buffer is a product.
    pub(crate) fn is_product(&self, buffer: usize) -> bool {
        buffer >= self.buffers.len() - self.products.len()
    }

    pub(crate) fn run(&self, env: &Env, mut operands: Operands) -> Result<Results> {
        let mut factors = SmallVec::<[Factors; 1]>::new();
        if !self.products.is_empty() {
            let mut rest = operands.drain(self.operands.len()..);
            for p in &self.products {
                let mut next = || {
                    rest.next()
                        .expect("the operands of products come after the others")
                };
                factors.push(Factors::new(p, next(), next())?);
            }
        }
        let full: Extents = match &self.shape {
            Some(shape) => shape.at(env)?,
            None => operands[0].shape().into(),
        };
        let mut x: SmallVec<[Tensor; 4]> = SmallVec::with_capacity(operands.len());
        for (t, o) in operands.into_iter().zip(&self.operands) {
            let shape = match o.level {
                Level::Elements => &full[..],
                Level::Rows => &full[..full.len() - self.reduced],
            };
            let t = match &o.dims {
                Some(dims) => t.broadcast(shape, dims)?,
                None => t,
            };
            debug_assert_eq!(t.shape(), shape, "operands of one shape");
            x.push(if o.folded { t.into_dense()? } else { t });
        }
        let mut shape = full.clone();
        if self.reduced == 0 && self.products.is_empty() {
            for (d, n) in shape.iter_mut().enumerate() {
                if *n > 1 && x.iter().all(|t| t.strides()[d] == 0) {
                    *n = 1;
                }
            }
        }
        let narrow = shape != full;
        if narrow {
            x = x
                .into_iter()
                .map(|t| t.narrowed(|d| shape[d] != full[d]))
                .collect();
        }
        let n = volume(&shape)?;
        let (kept, gone) = shape.split_at(shape.len() - self.reduced);
        let (count, len) = (volume(kept)?, volume(gone)?);
        let by_rows = self.by_rows(len);
        let mut across: SmallVec<[Option<Across>; 4]> = SmallVec::with_capacity(x.len());
        for (t, o) in x.iter_mut().zip(&self.operands) {
            let blocks = if by_rows && o.level == Level::Elements {
                Across::of(t)
            } else {
                None
            };
            if blocks.is_none() && t.is_across() {
                *t = with_finest_axis_last(t.clone())?;
            }
            across.push(blocks);
        }

        let cut = self.cut(factors.iter().map(|f| (f.sizes(), f.dtype())), count, len);
        let mut writable: SmallVec<[usize; 4]> = (0..x.len())
            .filter(|&i| x[i].exclusive_ptr().is_some())
            .collect();
        let mut memory: SmallVec<[Memory; 2]> = SmallVec::with_capacity(self.buffers.len());
        // Products that lie where a result will.
        let mut under: SmallVec<[(usize, usize); 1]> = SmallVec::new();
        for (k, b) in self.buffers.iter().enumerate() {
            let found = match b.life {
                Life::Result => writable
                    .iter()
                    .position(|&i| b.over.contains(&Place::Operand(i))),
                _ => None,
            };
            let product = b.over.iter().find_map(|place| match *place {
                Place::Buffer(p) if found.is_none() && under.iter().all(|u| u.0 != p) => Some(p),
                _ => None,
            });
            under.extend(product.map(|p| (p, k)));
            memory.push(match (found, b.level, b.life) {
                (Some(at), ..) => Memory::Over(writable.remove(at)),
                _ if under.iter().any(|u| u.0 == k) => Memory::Passing,
                _ if product.is_some()
                    || (self.is_product(k) && (cut.is_none() || b.life == Life::Result)) =>
                {
                    Memory::Fresh(Fresh::initialised(b.dtype, n)?)
                }
                (None, Level::Rows, _) => Memory::Fresh(Fresh::new(b.dtype, count)?),
                (None, _, Life::Result) => Memory::Fresh(Fresh::new(b.dtype, n)?),
                (None, _, Life::Group) if !by_rows => Memory::Fresh(Fresh::new(b.dtype, n)?),
                _ => Memory::Passing,
            });
        }
        let whole = memory.iter().map(|m| match m {
            Memory::Over(i) => Some(x[*i].exclusive_ptr().expect("it was a moment ago")),
            Memory::Fresh(f) => Some(f.ptr()),
            Memory::Passing => None,
        });
        let mut whole: SmallVec<[Option<*mut u8>; 4]> = whole.collect();
        under.iter().for_each(|&(p, k)| whole[p] = whole[k]);
        let run = Run::new(
            self,
            &shape,
            [count, len],
            &x,
            across,
            whole,
            Made { factors, cut },
        );
        // SAFETY: operands address elements of their type for every index of the shape of their
        // level; buffers hold a value for every element, or row, of theirs; an operand that is
        // written over is a whole buffer of its own, and `over` says that nothing reads it, or the
        // product that lies under a result, afterwards. Products have the rows of the group.
        unsafe {
            if by_rows {
                run.by_rows()?
            } else {
                run.by_phases()?
            }
        };
        drop(run);
        let mut finish = |&b: &usize| {
            let own: Extents = if self.buffers[b].level == Level::Rows {
                kept.into()
            } else {
                shape.clone()
            };
            let y = match std::mem::replace(&mut memory[b], Memory::Passing) {
                Memory::Over(i) => x[i].clone(),
                // SAFETY: the phases have written all of it.
                Memory::Fresh(f) => unsafe { f.into_tensor(&own) },
                Memory::Passing => unreachable!("a result has memory of its own and stands once"),
            };
            if narrow { y.widened(&full) } else { y }
        };
        Ok(self.results.iter().map(&mut finish).collect())
    }
}

/// A tensor whose last axis is not its finest, copied so that it is; axes along which it repeats
/// stay so.
fn with_finest_axis_last(t: Tensor) -> Result<Tensor> {
    let shape = Extents::from_slice(t.shape());
    let repeated: SmallVec<[bool; 8]> = t.strides().iter().map(|&s| s == 0).collect();
    Ok(t.narrowed(|d| repeated[d]).into_dense()?.widened(&shape))
}

/// The bytes of a rank-0 array's element as an instruction's constant.
pub(crate) fn literal(lowering: &mut Lowering, value: &cotangent_core::Array) -> Typed {
    fn of<T: PlainElement>(lowering: &mut Lowering, value: &cotangent_core::Array) -> Typed {
        lowering.constant(value.as_slice::<T>().expect("the type was asked")[0])
    }
    for_any!(value.dtype(), T => of::<T>(lowering, value))
}
