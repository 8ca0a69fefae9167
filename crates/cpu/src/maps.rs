//! Elementwise operations on tensors: eager ones, and those that kernels of other operations need.
//!
//! A plan composes elementwise operations in the code of its steps; here each runs alone, by the
//! same instructions, so it gives the same bits. A thread keeps the code of operations that have no
//! attributes besides a type.

use crate::element::{PlainElement, for_size, limit};
use crate::elementwise::{Lowering, Typed};
use crate::kernel::{Kernel, Operands};
use crate::tensor::{Extents, Fresh, Tensor, volume};
use crate::tuning::{CLAIM_NS, STORE_PS_PER_BYTE};
use cotangent_core::ops::{Convert, Op, Unary};
use cotangent_core::{DType, Result};
use cotangent_kernels::copy::copy_into;
use cotangent_kernels::parallel::{Shared, attempt};
use cotangent_kernels::tile::{Body, Instruction, PREFETCH_ELEMENTS, min_stream_bytes};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;
use std::rc::Rc;

/// An elementwise operation on operands of one shape.
pub(crate) struct Elementwise {
    body: Body,
    /// The element type of the result.
    dtype: DType,
    /// Estimated time per element, in ps.
    cost: u64,
    /// Operands that the result may be written over.
    over: SmallVec<[usize; 3]>,
    /// The one kernel of the code, if it has no other values than its operands and its result.
    single: Option<Instruction>,
}

/// Size of the result for which the one kernel of an operation is called on whole operands.
const MAX_SINGLE_BYTES: usize = 8 << 10;

thread_local! {
    /// Row-major copies of small operands.
    static COPIES: RefCell<[Vec<u128>; 3]> = const { RefCell::new([const { Vec::new() }; 3]) };
}

impl Elementwise {
    /// The operation on operands of these types.
    pub(crate) fn new(op: &Op, types: &[DType]) -> Elementwise {
        let mut lowering = Lowering::new();
        let x: SmallVec<[Typed; 3]> = types.iter().map(|&t| lowering.input(t)).collect();
        let (y, dtype) = lowering.emit(op, &x);
        let (body, cost) = lowering.finish(&[y]);
        let over = 0..types.len();
        let over = over.filter(|&k| types[k] == dtype && body.may_overwrite(0, k));
        let plain = body.registers() == 0 && body.constants().next().is_none();
        let single = (plain && body.code().count() == 1).then(|| body.code().next());
        Elementwise {
            over: over.collect(),
            single: single.flatten(),
            body,
            dtype,
            cost,
        }
    }

    /// The operation as the kernel of a call.
    pub(crate) fn kernel(self) -> Kernel {
        Box::new(move |_, x| Ok(smallvec![self.run(x)?]))
    }

    /// Computes the result. Axes along which all operands repeat are computed once.
    pub(crate) fn run(&self, mut x: Operands) -> Result<Tensor> {
        let n = x[0].numel();
        let widest = x
            .iter()
            .map(|x| x.dtype().size())
            .fold(self.dtype.size(), usize::max);
        if let Some(i) = &self.single
            && n <= MAX_SINGLE_BYTES / widest
        {
            return self.run_single(i, n, &x);
        }
        let repeats =
            |x: &Operands, d: usize| x[0].shape()[d] > 1 && x.iter().all(|x| x.strides()[d] == 0);
        if !(0..x[0].shape().len()).any(|d| repeats(&x, d)) {
            return self.run_each(&mut x);
        }
        let full = Extents::from_slice(x[0].shape());
        let repeated: SmallVec<[bool; 8]> = (0..full.len()).map(|d| repeats(&x, d)).collect();
        let mut x = x.into_iter().map(|x| x.narrowed(|d| repeated[d])).collect();
        Ok(self.run_each(&mut x)?.widened(&full))
    }

    /// Computes the result by the one kernel.
    fn run_single(&self, i: &Instruction, n: usize, x: &[Tensor]) -> Result<Tensor> {
        let y = Fresh::new(self.dtype, n)?;
        // The memory is taken, so that a function of an extension that runs another operation finds
        // none.
        let mut copies = COPIES.take();
        // Values are operands, then the result.
        let at = |k: usize| match x.get(k) {
            Some(x) if x.is_row_major() => x.first_ptr(),
            Some(x) => copied(&mut copies[k], x),
            None => y.ptr().cast_const(),
        };
        let from = i.x.map(at);
        // SAFETY: each operand has `n` elements, row-major, and the result has room for them.
        unsafe { (i.kernel)(n, y.ptr(), from, i.data) };
        COPIES.set(copies);
        // SAFETY: the kernel has written all elements.
        Ok(unsafe { y.into_tensor(x[0].shape()) })
    }

    /// Computes the result for each index.
    fn run_each(&self, x: &mut Operands) -> Result<Tensor> {
        let over = (self.over.iter()).find_map(|&k| Some((k, x[k].exclusive_ptr()?)));
        let n = volume(x[0].shape())?;
        let fresh = match over {
            Some(_) => None,
            None => Some(Fresh::new(self.dtype, n)?),
        };
        let to = Shared(match (&fresh, over) {
            (Some(fresh), _) => fresh.ptr(),
            (None, Some((_, at))) => at,
            (None, None) => unreachable!("a result has memory"),
        });
        let size = self.dtype.size();
        let strides = x.iter().map(Tensor::strides);
        let mut laid = self.body.laid(x[0].shape(), strides);
        if fresh.is_some()
            && n.saturating_mul(size) >= min_stream_bytes()
            && self.cost < STORE_PS_PER_BYTE * size as u64
        {
            laid.stream(std::iter::once(0));
        }
        let from: SmallVec<[Shared<u8>; 3]> =
            x.iter().map(|x| Shared(x.first_ptr().cast_mut())).collect();
        let claim = (CLAIM_NS * 1000 / self.cost.max(1)) as usize;
        let claim = claim.max(1).next_multiple_of(PREFETCH_ELEMENTS);
        let nanos = self.cost.saturating_mul(n as u64) / 1000;
        let chunk = |c: usize| {
            let range = c * claim..n.min((c + 1) * claim);
            let x: SmallVec<[*const u8; 3]> = from.iter().map(|x| x.get().cast_const()).collect();
            let y = to.get().wrapping_add(range.start * size);
            // SAFETY: operands are valid at every index of their one shape. The result has room for
            // all elements; it is new, or a row-major operand that is not shared and may be written
            // over. Chunks are disjoint.
            unsafe { self.body.run(&laid, range, &x, &[y]) };
            Ok(())
        };
        match n <= claim {
            true => chunk(0),
            false => attempt(n.div_ceil(claim), nanos, chunk),
        }
        .map_err(limit)?;
        let shape = Extents::from_slice(x[0].shape());
        Ok(match (fresh, over) {
            // SAFETY: all elements are written.
            (Some(fresh), _) => unsafe { fresh.into_tensor(&shape) },
            (None, Some((k, _))) => x.swap_remove(k),
            (None, None) => unreachable!("a result has memory"),
        })
    }
}

/// The address of a row-major copy of an operand.
pub(crate) fn copied(to: &mut Vec<u128>, x: &Tensor) -> *const u8 {
    let n = x.numel();
    to.resize((n * x.dtype().size()).div_ceil(size_of::<u128>()), 0);
    for_size!(x.dtype(), W => {
        // SAFETY: there is room for `n` elements, which are plain numbers of at most 16 bytes.
        let to = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<W>(), n) };
        copy_into(to, x.bits());
    });
    to.as_ptr().cast()
}

/// The operation (variant, row of its table, target type) and its operand types.
type Key = (
    std::mem::Discriminant<Op>,
    u32,
    Option<DType>,
    SmallVec<[DType; 3]>,
);

thread_local! {
    /// The number of keys is bounded: the operations have no attributes besides a type.
    static KNOWN: RefCell<FxHashMap<Key, Rc<Elementwise>>> = RefCell::default();
}

/// The key of an elementwise operation without attributes besides a type on operands of one shape.
fn key(op: &Op, x: &[Tensor]) -> Option<Key> {
    let (row, to) = match op {
        // It moves its operand.
        Op::Unary(Unary::StopGradient) => return None,
        Op::Unary(f) => (*f as u32, None),
        Op::Binary(f) => (*f as u32, None),
        Op::Compare(c) => (c.0 as u32, None),
        Op::Convert(c) => (0, Some(c.to)),
        Op::Select(_) => (0, None),
        _ => return None,
    };
    let (first, others) = x.split_first()?;
    let one_shape = others.iter().all(|x| x.shape() == first.shape());
    let types = x.iter().map(Tensor::dtype).collect();
    one_shape.then(|| (std::mem::discriminant(op), row, to, types))
}

/// An operation that the thread keeps. Its operands follow the type rule, as those of the first
/// call did: the rule depends on their element types if they have one shape.
pub(crate) fn known(op: &Op, x: &[Tensor]) -> Option<Rc<Elementwise>> {
    let key = key(op, x)?;
    KNOWN.with_borrow(|all| all.get(&key).cloned())
}

/// An operation that the thread keeps from now on; `None` for one with attributes, and for operands
/// of several shapes. The operands follow the type rule.
pub(crate) fn kept(op: &Op, x: &[Tensor]) -> Option<Rc<Elementwise>> {
    let key = key(op, x)?;
    let new = Rc::new(Elementwise::new(op, &key.3));
    KNOWN.with_borrow_mut(|all| all.insert(key, new.clone()));
    Some(new)
}

/// Converts the elements to type `to`.
pub(crate) fn converted(x: Tensor, to: DType) -> Result<Tensor> {
    if x.dtype() == to {
        return Ok(x);
    }
    let x: Operands = smallvec![x];
    let op = Convert { to }.into();
    let convert = known(&op, &x).or_else(|| kept(&op, &x));
    convert.expect("a conversion is elementwise").run(x)
}

impl Tensor {
    /// Computes `self += x` in place. Returns `false` and changes nothing if the buffer is shared
    /// or not dense, or if shapes or types differ or are not supported.
    pub fn add_over(&mut self, x: &Tensor) -> bool {
        fn of<T: PlainElement + std::ops::Add<Output = T>>(y: &mut Tensor, x: &Tensor) -> bool {
            match (y.exclusive::<T>(), x.as_slice::<T>()) {
                (Some(y), Some(x)) => y.iter_mut().zip(x).for_each(|(y, &x)| *y = *y + x),
                _ => return false,
            }
            true
        }
        match (self.dtype(), x.dtype()) {
            _ if self.shape() != x.shape() => false,
            (DType::F64, DType::F64) => of::<f64>(self, x),
            (DType::F32, DType::F32) => of::<f32>(self, x),
            _ => false,
        }
    }
}
