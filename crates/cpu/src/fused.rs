//! [`Fused`]: a group of elementwise operations and row reductions as one kernel over tensors.
//!
//! A group is a list of **phases**: code over tiles, then folds of its results over the last axes.
//! A fold gives one value per row, which later phases broadcast along the row.
//! [`phases`](crate::phases) runs all phases on a block of rows while the block is in the cache.
//!
//! A result overwrites an operand whose last use is this group, if no later phase reads the
//! operand. Axes along which every operand is broadcast are computed once. A group may compute a
//! matrix product that it reads ([`products`](crate::products)), one block of rows just before the
//! phases run on them. The product is stored in the buffer of a result or in scratch memory.

use crate::across::Across;
use crate::element::{PlainElement, for_any};
use crate::elementwise::{Lowering, Typed};
use crate::kernel::{Kernel, Operands, Results, Sizes};
use crate::phases::{Made, Run};
use crate::products::{Cut, Factors, Product, Widths};
use crate::tensor::{Extents, Fresh, Tensor, copied, volume};
use cotangent_core::ops::Op;
use cotangent_core::{DType, Env, Result};
use cotangent_kernels::tile::Body;
use cotangent_kernels::tile::fold::ReduceOp;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// Granularity of a value: one per element of the shape, or one per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Level {
    Elements,
    Rows,
}

/// A compiled group.
pub(crate) struct Fused {
    /// Shape of the elements; `None` is the shape of the first operand.
    pub(crate) shape: Option<Sizes>,
    /// Number of last axes that form a row.
    pub(crate) reduced: usize,
    pub(crate) operands: Vec<Operand>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) phases: Vec<Phase>,
    /// Matrix products, stored in the last buffers. The factors of each are passed after the
    /// operands.
    pub(crate) products: Vec<Product>,
    /// Buffers that are results, in order.
    pub(crate) results: Vec<usize>,
}

/// A value defined outside the group.
pub(crate) struct Operand {
    pub(crate) level: Level,
    /// Broadcast dimensions, if it is broadcast.
    pub(crate) dims: Option<Vec<usize>>,
    /// A fold reads it directly, so it must be dense.
    pub(crate) folded: bool,
}

/// A value that a phase or a product computes.
pub(crate) struct Buffer {
    pub(crate) dtype: DType,
    pub(crate) level: Level,
    pub(crate) life: Life,
    /// Operands, then products, that it may overwrite.
    pub(crate) over: Vec<Place>,
}

/// Lifetime of the elements of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Until their own phase has folded them.
    Phase,
    /// Until the last phase.
    Group,
    /// Beyond the group: the buffer is a result.
    Result,
}

/// Code over tiles, and folds that run after it.
pub(crate) struct Phase {
    pub(crate) level: Level,
    pub(crate) body: Body,
    pub(crate) reads: Vec<Place>,
    /// Buffers that the code writes.
    pub(crate) writes: Vec<usize>,
    /// Folds: operation, operand, and buffer of the results.
    pub(crate) folds: Vec<(ReduceOp, Place, usize)>,
    /// Estimated time per element, in ps.
    pub(crate) cost: u64,
}

/// Location of a value: an operand or a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Operand(usize),
    Buffer(usize),
}

impl Phase {
    /// Whether output `k` may overwrite the value at `place`.
    pub(crate) fn may_write_over(&self, k: usize, place: Place) -> bool {
        let read = self.reads.iter().position(|p| *p == place);
        !self.folds.iter().any(|f| f.1 == place)
            && read.is_none_or(|r| self.body.may_overwrite(k, r))
    }

    /// Whether the phase reads the value at `place`.
    pub(crate) fn needs(&self, place: Place) -> bool {
        self.reads.contains(&place) || self.folds.iter().any(|f| f.1 == place)
    }
}

/// Compiles one elementwise operation on operands of these types and of one shape.
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

/// Cache key: the operation (variant, row of its table, target type) and its operand types.
type Key = (
    std::mem::Discriminant<Op>,
    u32,
    Option<DType>,
    SmallVec<[DType; 3]>,
);

thread_local! {
    /// Kernels of elementwise operations executed eagerly on this thread. The number of keys is
    /// bounded, because such operations have no attributes besides a type.
    static CACHED_KERNELS: RefCell<FxHashMap<Key, Rc<Fused>>> = RefCell::default();
}

/// The kernel of an elementwise operation without attributes besides a type, compiled on first use;
/// `None` for other operations. The caller has checked the operands with the type rule.
pub(crate) fn cached(op: &Op, x: &Operands) -> Option<Rc<Fused>> {
    let (row, to) = match op {
        Op::Unary(f) => (*f as u32, None),
        Op::Binary(f) => (*f as u32, None),
        Op::Compare(c) => (c.0 as u32, None),
        Op::Convert(c) => (0, Some(c.to)),
        Op::Select(_) if x[0].shape().len() == x[1].shape().len() => (0, None),
        _ => return None,
    };
    let key: Key = (
        std::mem::discriminant(op),
        row,
        to,
        x.iter().map(Tensor::dtype).collect(),
    );
    CACHED_KERNELS.with_borrow_mut(|known| {
        let types = key.3.clone();
        Some(
            known
                .entry(key)
                .or_insert_with(|| Rc::new(alone(op, &types)))
                .clone(),
        )
    })
}

/// Memory of a buffer during one call.
enum Memory {
    /// The memory of this operand, which is overwritten.
    Over(usize),
    Fresh(Fresh),
    /// Scratch memory of each thread, for one block of rows.
    Passing,
}

impl Fused {
    pub(crate) fn kernel(self) -> Kernel {
        Box::new(move |env, x| self.run(env, x))
    }

    /// Row blocks that keep products in the cache, for products of sizes `[m, k, n]` and `count`
    /// rows of `len` elements. `None` if products are computed as a whole before the phases.
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

    /// Whether a buffer holds a product.
    pub(crate) fn is_product(&self, buffer: usize) -> bool {
        buffer >= self.buffers.len() - self.products.len()
    }

    #[expect(
        clippy::too_many_lines,
        reason = "passes over vectors that share the indices of one group"
    )]
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
            None => copied(operands[0].shape()),
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
        // Products stored in the buffer of a result, as pairs (product, result).
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
            Memory::Over(i) => Some(
                x[*i]
                    .exclusive_ptr()
                    .expect("checked to be exclusive above"),
            ),
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
        // SAFETY: every `Tensor` addresses valid elements for all indices of its shape, which
        // equals the shape of its level (broadcast above). Buffers were allocated with one value
        // per element or per row. An overwritten operand is dense and not shared (`exclusive_ptr`).
        // `Buffer::over` lists only operands and products that no later phase reads. Products have
        // the rows of the group.
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
                copied(kept)
            } else {
                copied(&shape)
            };
            let y = match std::mem::replace(&mut memory[b], Memory::Passing) {
                Memory::Over(i) => x[i].clone(),
                // SAFETY: the phases have written all elements of every result.
                Memory::Fresh(f) => unsafe { f.into_tensor(&own) },
                Memory::Passing => unreachable!("a result has a separate buffer and occurs once"),
            };
            if narrow { y.widened(&full) } else { y }
        };
        Ok(self.results.iter().map(&mut finish).collect())
    }
}

/// Copies a tensor to row-major order; broadcast axes keep stride 0.
fn with_finest_axis_last(t: Tensor) -> Result<Tensor> {
    let shape = Extents::from_slice(t.shape());
    let repeated: SmallVec<[bool; 8]> = t.strides().iter().map(|&s| s == 0).collect();
    Ok(t.narrowed(|d| repeated[d]).into_dense()?.widened(&shape))
}

/// Adds the element of a rank-0 array as a constant of the code.
pub(crate) fn literal(lowering: &mut Lowering, value: &cotangent_core::Array) -> Typed {
    fn of<T: PlainElement>(lowering: &mut Lowering, value: &cotangent_core::Array) -> Typed {
        lowering.constant(value.as_slice::<T>().expect("the element type was matched")[0])
    }
    for_any!(value.dtype(), T => of::<T>(lowering, value))
}
