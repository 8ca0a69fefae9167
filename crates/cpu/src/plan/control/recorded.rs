//! Folds, small products and updates of windows, recorded element by element.

use super::elements::element;
use super::frame::{FrameAddress, StridedOperand};
use super::steps::{Placed, StepRecorder};
use super::update::Update;
use crate::elementwise::Lowering;
use crate::folds::RawProduct;
use crate::plan::code::FoldCode;
use crate::plan::compose::combining;
use cotangent_core::ops::{Binary, Reduction};
use cotangent_core::{DType, Op};
use cotangent_kernels::gemm::K_BLOCK_STEPS;
use cotangent_kernels::tile::{Body, StepValue, StepsBuilder};
use cotangent_kernels::tree::{CHUNK, fold_in_order};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

impl StepRecorder<'_> {
    pub(super) fn fold(
        &mut self,
        p: Placed<'_>,
        f: &FoldCode,
        [rows, len]: [usize; 2],
        [y, x]: [FrameAddress; 2],
    ) -> Option<()> {
        let size = f.dtype.size();
        self.limited(rows.saturating_mul(len))?;
        for r in 0..rows {
            let mut items = Vec::with_capacity(len);
            for k in 0..len {
                items.push(self.operand(p, x, (r * len + k) as isize, size)?);
            }
            let value = self.folded(f, &items)?;
            self.write(p.element(y, r, size), size, value)?;
            self.bounded()?;
        }
        Some(())
    }

    /// The fold of one row.
    pub(super) fn folded(&mut self, f: &FoldCode, items: &[StepValue]) -> Option<StepValue> {
        if f.stable || items.len() > CHUNK {
            return None;
        }
        let is_complex_product = f.how == Reduction::Prod && f.dtype.is_complex();
        let combine = match is_complex_product {
            true => binary(Binary::Mul, f.dtype.real()),
            false => binary(combining(f.how, f.dtype)?, f.dtype),
        };
        let mut recorded = true;
        let b = &mut self.b;
        let mut lanes = Vec::new();
        let mut alike = |x: &[StepValue]| lanes.extend_from_slice(x);
        let mut combined = |a, c| {
            let both = match is_complex_product {
                true => complex_product(b, &combine, [a, c], f.dtype.size()),
                false => b.body(&combine, &[a, c]).map(|y| y[0]),
            };
            recorded &= both.is_some();
            both.unwrap_or(a)
        };
        let value = fold_in_order(items, f.lanes(), &mut combined, &mut alike);
        self.b.alike(&lanes);
        recorded.then_some(())?;
        match &f.narrow {
            Some(narrow) => Some(self.b.body(narrow, &[value])?[0]),
            None => Some(value),
        }
    }

    /// The sum of products of pairs, as matrix products add them. Where zero factors are left out,
    /// `nan` collects whether a sum is NaN: those sums are computed anew, element by element.
    pub(super) fn chain(
        &mut self,
        product: &RawProduct,
        dtype: DType,
        pairs: impl ExactSizeIterator<Item = (StepValue, StepValue)>,
        nan: &mut Option<StepValue>,
    ) -> Option<StepValue> {
        if pairs.len() > K_BLOCK_STEPS {
            return None;
        }
        let sum = match ProductChain::of(dtype)? {
            ProductChain::Complex => self.complex_chain(dtype, pairs),
            chain => {
                let mut sum = self.b.constant(&[0; 16][..dtype.size()]);
                for (a, c) in pairs {
                    sum = chain.step(&mut self.b, a, c, sum)?;
                }
                sum
            }
        };
        if product.has_strong_zero() && !dtype.is_int() {
            let parts: SmallVec<[StepValue; 2]> = match dtype.is_complex() {
                true => self.b.parts(sum, dtype.size()).into(),
                false => SmallVec::from_slice(&[sum]),
            };
            for part in parts {
                let own = self.b.is_nan(part);
                *nan = Some(match *nan {
                    Some(others) => self.b.either(others, own),
                    None => own,
                });
            }
        }
        Some(sum)
    }

    /// The sum of products of complex numbers: that of each product of parts in a chain of its own.
    fn complex_chain(
        &mut self,
        dtype: DType,
        pairs: impl Iterator<Item = (StepValue, StepValue)>,
    ) -> StepValue {
        let size = dtype.size();
        let mut sums = [self.b.constant(&[0; 8][..size / 2]); 4];
        for (x, y) in pairs {
            let [x, y] = [x, y].map(|z| self.b.parts(z, size));
            for (sum, [i, j]) in sums.iter_mut().zip([[0, 0], [1, 1], [0, 1], [1, 0]]) {
                *sum = self.b.fma(x[i], y[j], *sum);
            }
        }
        let [rr, ii, ri, ir] = sums;
        self.b.complex([rr, ii], [ri, ir])
    }

    pub(super) fn product(
        &mut self,
        p: Placed<'_>,
        product: RawProduct,
        dtype: DType,
        y: FrameAddress,
        x: &[StridedOperand; 2],
    ) -> Option<()> {
        let batch = x[0].shape.len().checked_sub(2)?;
        let (rows, depth) = (x[0].shape[batch], x[0].shape[batch + 1]);
        let columns = *x[1].shape.last()?;
        let count: usize = x[0].shape[..batch].iter().product();
        let all = count
            .saturating_mul(rows)
            .saturating_mul(depth)
            .saturating_mul(columns);
        self.limited(all)?;
        let size = dtype.size();
        let (mut to, mut nan) = (0, None);
        for b in 0..count {
            let of_batch = |f: usize| -> isize {
                let mut left = b;
                let mut at = 0;
                for a in (0..batch).rev() {
                    at += (left % x[0].shape[a]) as isize * x[f].strides[a];
                    left /= x[0].shape[a];
                }
                at
            };
            let first = [of_batch(0), of_batch(1)];
            for i in 0..rows {
                for j in 0..columns {
                    let mut pairs: Vec<(StepValue, StepValue)> = Vec::with_capacity(depth);
                    for k in 0..depth {
                        let at = |f: usize, i: usize, j: usize| {
                            let s = &x[f].strides;
                            first[f] + i as isize * s[batch] + j as isize * s[batch + 1]
                        };
                        let a = self.operand(p, x[0].at, at(0, i, k), size)?;
                        let c = self.operand(p, x[1].at, at(1, k, j), size)?;
                        pairs.push((a, c));
                    }
                    let sum = self.chain(&product, dtype, pairs.into_iter(), &mut nan)?;
                    self.write(p.element(y, to, size), size, sum)?;
                    to += 1;
                }
                self.bounded()?;
            }
        }
        if let Some(nan) = nan {
            self.b.rare(nan);
        }
        Some(())
    }

    /// An update of a window whose every index is inside of the result.
    pub(super) fn update(&mut self, p: Placed<'_>, u: &Update) -> Option<()> {
        let (y, x) = (self.resolved(p.at(u.y)), self.resolved(p.at(u.x[0])));
        if (y.base, y.offset) != (x.base, x.offset) {
            for offset in (0..u.bytes as isize).step_by(u.size) {
                let from = FrameAddress {
                    base: u.x[0].base,
                    offset: u.x[0].offset + offset,
                };
                let value = self.operand(p, from, 0, u.size)?;
                let to = FrameAddress {
                    base: y.base,
                    offset: y.offset + offset,
                };
                self.write(to, u.size, value)?;
                self.bounded()?;
            }
        }
        let mut offset = None;
        let mut counts: SmallVec<[usize; 4]> = SmallVec::new();
        let mut first = [0isize; 2];
        for a in &u.axes {
            let n = usize::try_from(a.high - a.low).ok()?;
            // A window begins at `low + start`, and ends inside of the axis.
            let mut most = 0;
            for &(slot, factor) in &a.starts {
                (factor == -1).then_some(())?;
                let (start, last) = *self.starts.get(&slot)?;
                most += i64::from(last);
                let bytes = i32::try_from(a.strides[0] * u.size as isize).ok()?;
                offset = Some(self.b.moved(offset, start, bytes));
            }
            if a.low < 0 || a.high + most > a.extent as i64 {
                return None;
            }
            first[0] += a.low as isize * a.strides[0];
            first[1] += a.low as isize * a.strides[1];
            counts.push(n);
        }
        // The element of the update at the first index of the window does not depend on starts.
        let mut moved: FxHashMap<usize, i64> = FxHashMap::default();
        for &(slot, factor) in &u.first.1 {
            *moved.entry(slot).or_default() += factor;
        }
        for a in &u.axes {
            for &(slot, factor) in &a.starts {
                *moved.entry(slot).or_default() -= factor * a.strides[1] as i64;
            }
        }
        if moved.values().any(|&m| m != 0) {
            return None;
        }
        first[1] += u.first.0 as isize;
        let total: usize = counts.iter().product();
        self.limited(total)?;
        let entry = element(y)?.entry;
        self.flush(entry)?;
        for k in 0..total {
            let (mut left, mut at) = (k, first);
            for (a, &n) in u.axes.iter().zip(&counts).rev() {
                let i = (left % n) as isize;
                left /= n;
                at[0] += i * a.strides[0];
                at[1] += i * a.strides[1];
            }
            let value = self.operand(p, u.x[1], at[1], u.size)?;
            let to = element(FrameAddress {
                base: y.base,
                offset: y.offset + at[0] * u.size as isize,
            })?;
            match offset {
                None => {
                    self.b.store(to, None, u.size, value);
                    self.remember(to, u.size, value, true);
                }
                some => self.b.store(to, some, u.size, value),
            }
        }
        if offset.is_some() {
            let e = &mut self.entries[entry as usize];
            e.known.clear();
            e.complete = true;
        }
        Some(())
    }
}

/// The product of complex numbers of `size` bytes, by products of parts that are rounded each.
fn complex_product(
    b: &mut StepsBuilder,
    times: &Body,
    x: [StepValue; 2],
    size: usize,
) -> Option<StepValue> {
    let [x, y] = x.map(|z| b.parts(z, size));
    let mut part = |i: usize, j: usize| Some(b.body(times, &[x[i], y[j]])?[0]);
    let [rr, ii, ri, ir] = [part(0, 0)?, part(1, 1)?, part(0, 1)?, part(1, 0)?];
    Some(b.complex([rr, ii], [ri, ir]))
}

/// A step of a product of a type.
enum ProductChain {
    Fma,
    /// Four chains, one for each product of parts.
    Complex,
    /// A product and a sum.
    Both(Box<[Body; 2]>),
}

impl ProductChain {
    fn of(dtype: DType) -> Option<ProductChain> {
        if matches!(dtype, DType::F32 | DType::F64) {
            return Some(ProductChain::Fma);
        }
        if dtype.is_complex() {
            return Some(ProductChain::Complex);
        }
        let exact = dtype.is_int();
        exact.then(|| {
            ProductChain::Both(Box::new(
                [Binary::Mul, Binary::Add].map(|f| binary(f, dtype)),
            ))
        })
    }

    fn step(
        &self,
        b: &mut StepsBuilder,
        x: StepValue,
        y: StepValue,
        sum: StepValue,
    ) -> Option<StepValue> {
        match self {
            ProductChain::Fma => Some(b.fma(x, y, sum)),
            ProductChain::Complex => None,
            ProductChain::Both(bodies) => {
                let [times, plus] = &**bodies;
                let product = b.body(times, &[x, y])?[0];
                Some(b.body(plus, &[sum, product])?[0])
            }
        }
    }
}

/// The code of an elementwise operation on two elements.
fn binary(f: Binary, dtype: DType) -> Body {
    let mut lowering = Lowering::new();
    let x = [lowering.input(dtype), lowering.input(dtype)];
    let y = lowering.emit(&Op::Binary(f), &x);
    lowering.finish(&[y.0]).0
}
