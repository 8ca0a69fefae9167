//! Sliding windows as accesses: the element of a window at an index of a space.

use super::access::{Bound, IndexMap, Indices, Read};
use super::affine::Affine;
use super::lower::{Lowered, NestBuilder, Role};
use super::nest::{Expr, ExprOp, ExprOperands, Order, What, Why, WindowOrder, known_volume};
use super::quantity::Quantity;
use super::views::zeros;
use crate::sliding::{empty_reduction, is_tree, small_window};
use cotangent_core::ops::{Convolution, ReduceWindow, Reduction, Sliding};
use cotangent_core::{DType, Dim, Val};
use cotangent_kernels::convolution::has_direct_sum;

/// Maximum number of elements of all windows of extrema whose windows have more than a few: for
/// more, kernels take less time.
const MAX_FOLDED_ELEMENTS: usize = 1 << 16;

/// Maximum time of a convolution that is a fold although its windows have more than a few taps, as
/// a number of products: for more, kernels take less time. Each tap of a row of windows takes the
/// time of [`TAP_PRODUCTS`] besides its products.
const MAX_FOLDED_PRODUCTS: usize = 12_000;
const TAP_PRODUCTS: usize = 32;

/// Maximum number of products of a convolution of a region that is a fold: they may be instructions
/// of a loop, without rows.
const MAX_REGION_PRODUCTS: usize = 2048;

/// Maximum number of elements of a window that is a fold whatever the number of windows is: of
/// extrema of adjacent windows, and of others.
const MAX_EXTREMUM_ELEMENTS: usize = 9;
const MAX_KERNEL_TAPS: usize = 4;

/// Positions beyond this bound are left to kernels, so that none overflows.
const MAX_POSITION: i64 = 1 << 40;

/// Whether extrema of windows of this many elements are a fold: there are few elements, or few
/// windows.
fn folds_extrema(windows: &[Dim], elements: usize, few: usize) -> bool {
    let all = known_volume(windows).and_then(|n| n.checked_mul(elements));
    elements <= few || all.is_some_and(|n| n <= MAX_FOLDED_ELEMENTS)
}

/// Whether sums of this many products are a fold: there are few taps, or few windows.
fn folds_products(windows: &[Dim], taps: usize, role: Role) -> bool {
    let Some((last, rows)) = windows.split_last() else {
        return false;
    };
    let [row, rows] = [last.as_const(), known_volume(rows)];
    let products = |row: usize| taps.checked_mul(rows?)?.checked_mul(row);
    let time = row.and_then(|n| products(n.checked_add(TAP_PRODUCTS)?));
    let few = row.and_then(products).filter(|_| role == Role::Region);
    taps <= MAX_KERNEL_TAPS
        || time.is_some_and(|n| n <= MAX_FOLDED_PRODUCTS)
        || few.is_some_and(|n| n <= MAX_REGION_PRODUCTS)
}

/// Windows over axes of a space.
struct Windows<'a> {
    sliding: &'a Sliding,
    /// Extents of the axes that are slid over.
    x: &'a [Dim],
    window: &'a [usize],
    /// The extents of the space. Its axes from `first` on count the windows.
    space: &'a [Dim],
    first: usize,
}

impl Windows<'_> {
    /// The indices of the element at index `k` of a window, and the bounds of those that exist.
    /// `None` if the operand is dilated, or positions may be too large.
    fn elements(&self, k: &[Affine]) -> Option<(Vec<Affine>, Vec<Bound>)> {
        let (mut at, mut bounds) = (Vec::new(), Vec::new());
        for (a, k) in k.iter().enumerate() {
            let s = self.sliding;
            let sign = s.x_dilation[a].signum();
            // The verifier knows no bounds of the quotient that is an index of a dilated operand.
            (s.x_dilation[a].abs() == 1).then_some(())?;
            let of = |v: &[i64]| v[a].checked_mul(sign).filter(|x| x.abs() < MAX_POSITION);
            let (stride, dilation, low) = (of(&s.stride)?, of(&s.dilation)?, of(&s.low)?);
            let form = Affine::axis(self.first + a).times(&stride.into());
            let form = form.plus(&k.clone().times(&dilation.into()));
            let (n, count) = (&self.x[a], &self.space[self.first + a]);
            at.push(match n.is(1) {
                true => Quantity::Number(0).into(),
                false => form.clone().offset(&(-low).into()),
            });
            if !self.is_inside(n, count, self.window[a], [stride, dilation, low])? {
                bounds.push(Bound {
                    form,
                    low: low.into(),
                    high: Quantity::from(n).offset(low),
                    step: 1,
                });
            }
        }
        Some((at, bounds))
    }

    /// Whether all elements of `count` windows exist along an axis; `None` if positions may be too
    /// large.
    fn is_inside(
        &self,
        n: &Dim,
        count: &Dim,
        window: usize,
        [stride, dilation, low]: [i64; 3],
    ) -> Option<bool> {
        let (Some(n), Some(count)) = (n.as_const(), count.as_const()) else {
            return Some(false);
        };
        let last = |count: usize, by: i64| {
            let last = i64::try_from(count.saturating_sub(1))
                .ok()?
                .checked_mul(by)?;
            (last.abs() < MAX_POSITION).then_some(last)
        };
        let ends = [last(count, stride)?, last(window, dilation)?];
        let least: i64 = ends.iter().map(|e| e.min(&0)).sum();
        let most: i64 = ends.iter().map(|e| e.max(&0)).sum();
        let n = i64::try_from(n).ok()?;
        Some(least >= low && most - low < n)
    }
}

impl NestBuilder<'_> {
    /// A fold over the elements of a small window.
    pub(super) fn reduce_window(
        &mut self,
        r: &ReduceWindow,
        x: Val,
        y: Val,
    ) -> Result<Lowered, Why> {
        let (from, to) = (self.shape(x), self.shape(y));
        let window = small_window(&r.window, 1).ok_or(Why::Window)?;
        let terms = window.iter().product();
        let few = match r.sliding.stride.iter().all(|s| s.abs() == 1) {
            true => MAX_EXTREMUM_ELEMENTS,
            false => MAX_KERNEL_TAPS,
        };
        let fold = match r.op {
            Reduction::Sum => is_tree(r),
            Reduction::Max | Reduction::Min => folds_extrema(to, terms, few),
            _ => false,
        };
        (fold && self.dtype(x) != DType::Bool)
            .then_some(())
            .ok_or(Why::Window)?;
        let (folded, k) = folded_axes(&window, to.len());
        let extents: Vec<Dim> = to.iter().chain(&folded).cloned().collect();
        let windows = Windows {
            sliding: &r.sliding,
            x: from,
            window: &window,
            space: &extents,
            first: 0,
        };
        let (at, bounds) = windows.elements(&k).ok_or(Why::Window)?;
        let inside = self.inside(x, &IndexMap::of(at), &extents, &bounds)?;
        let read = match bounds.is_empty() {
            true => inside,
            false => {
                let none = Read::number(empty_reduction(r.op, self.dtype(x)).cast(self.dtype(x)));
                Read::choice(bounds, inside, &none)
            }
        };
        if folded.is_empty() {
            return Ok(Lowered::Read(read));
        }
        let mut expr = Expr::default();
        expr.read(read, self.dtype(x));
        let space = self.space(to, &folded);
        let (how, order) = (r.op, Order::Window(WindowOrder::Tree));
        Ok(Lowered::Nest(space, What::Fold { expr, how, order }))
    }

    /// The read of a value at mapped indices where bounds hold. A view of another value is computed
    /// first if there are bounds, which are known for its own indices alone.
    fn inside(
        &mut self,
        v: Val,
        map: &IndexMap,
        space: &[Dim],
        bounds: &[Bound],
    ) -> Result<Read, Why> {
        if !bounds.is_empty() {
            self.materialize(v);
        }
        self.read_at(v, map, space).ok_or(Why::Window)
    }

    /// A convolution of few taps is a fold over them, in the order of its kernel. Elements that the
    /// operand does not have are zeros that multiply zeros.
    pub(super) fn convolution(
        &mut self,
        c: &Convolution,
        x: [Val; 2],
        y: Val,
    ) -> Result<Lowered, Why> {
        let ([from, w], to) = (x.map(|v| self.shape(v)), self.shape(y));
        let features = w[2].as_const().ok_or(Why::Window)?;
        let window = small_window(&w[3..], features).ok_or(Why::Window)?;
        let taps = window.iter().product::<usize>() * features;
        let plain = matches!(self.dtype(y), DType::F32 | DType::F64) && !c.stable && !c.strong_zero;
        // Windows of one element are products of matrices.
        let slides = window.iter().any(|&k| k > 1);
        (plain && slides && folds_products(to, taps, self.role))
            .then_some(())
            .ok_or(Why::Window)?;
        // The sum over features is the outer one in the order of matrix products.
        let direct = has_direct_sum(w[1].as_const().ok_or(Why::Window)?, taps);
        let (folded, k) = match direct {
            true => {
                let all: Vec<usize> = window.iter().copied().chain([features]).collect();
                let (folded, mut k) = folded_axes(&all, to.len());
                k.rotate_right(1);
                (folded, k)
            }
            false => {
                let all: Vec<usize> = [features]
                    .into_iter()
                    .chain(window.iter().copied())
                    .collect();
                folded_axes(&all, to.len())
            }
        };
        let extents: Vec<Dim> = to.iter().chain(&folded).cloned().collect();
        let windows = Windows {
            sliding: &c.sliding,
            x: &from[3..],
            window: &window,
            space: &extents,
            first: 3,
        };
        let (at, bounds) = windows.elements(&k[1..]).ok_or(Why::Window)?;
        let [group, batch, output] = [0, 1, 2].map(Affine::axis);
        let of_x = [group.clone(), batch, k[0].clone()].into_iter().chain(at);
        let of_x = IndexMap::of(of_x.collect::<Indices>());
        let of_w = [group, output].into_iter().chain(k.iter().cloned());
        let of_w = IndexMap::of(of_w.collect::<Indices>());
        let mut expr = Expr::default();
        let mut operands = ExprOperands::default();
        for (v, map) in x.into_iter().zip([of_x, of_w]) {
            let inside = self.inside(v, &map, &extents, &bounds)?;
            let read = match bounds.is_empty() {
                true => inside,
                false => Read::choice(bounds.clone(), inside, &zeros(self.dtype(v))),
            };
            operands.push(expr.read(read, self.dtype(v)));
        }
        let op = self.interner.op(&c.multiplied().into());
        expr.push(ExprOp::Apply { op, operands }, self.dtype(y));
        let space = self.space(to, &folded);
        let how = Reduction::Sum;
        let order = match direct {
            true => Order::Window(WindowOrder::Sequence),
            false => Order::Window(WindowOrder::Chain),
        };
        Ok(Lowered::Nest(space, What::Fold { expr, how, order }))
    }
}

/// Axes of a space that follow those of a result of this rank, one for each extent above 1, and the
/// index along each extent.
fn folded_axes(extents: &[usize], rank: usize) -> (Vec<Dim>, Vec<Affine>) {
    let (mut folded, mut at) = (Vec::new(), Vec::new());
    for &n in extents {
        at.push(match n {
            1 => Quantity::Number(0).into(),
            _ => Affine::axis(rank + folded.len()),
        });
        folded.extend((n != 1).then_some(Dim::Const(n)));
    }
    (folded, at)
}
