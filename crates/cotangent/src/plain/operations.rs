//! [`TensorOpsExt`]: the operations of tensors on plain tensors and a backend.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::constants::{Constants, ToPlain, references};
use crate::operand::Operand;
use crate::ops::{
    Bounds, Combine, DotGeneral, LossReduction, MatrixNorm, TriangularSolve, Windows,
};
use crate::{Axes, Axis, CpuBackend, DType, Dim, EagerTensor, Result, Shape, Tensor, TracedTensor};
use std::ops::RangeBounds;

operations! {
    /// Operations on plain tensors, run immediately on a backend: the last parameter, which caches
    /// compiled operations. [`CpuBackend`] has the same operations as methods. No tape is recorded,
    /// and the bits of results are those of eager tensors. An undefined result is an error.
    ///
    /// Methods of [`Tensor`] take precedence over those of the same name here: of `reshape`,
    /// `broadcast_to` and other views, and of `zeros_like` and `ones_like`, the form of the backend
    /// serves. A program imports either this trait or those of [`methods`](crate::methods) and
    /// [`TensorLinalgExt`](crate::linalg::TensorLinalgExt), which need no backend.
    ///
    /// ```
    /// use cotangent::{CpuBackend, Tensor, TensorOpsExt};
    /// let mut ctx = CpuBackend::with_threads(2)?;
    /// let a = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    /// let b = a.matmul(&a, &mut ctx)?.transpose(&[1, 0], &mut ctx)?;
    /// assert_eq!(b.reduce_sum(&[0], &mut ctx)?.to_vec::<f64>()?, [22.0, 32.0]);
    /// assert_eq!(ctx.reshape(&b, [4])?.shape(), a.reshape([4])?.shape());
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    methods {
    /// Elementwise `neg`: -x.
    neg() -> Tensor
        |on, a| a.neg();
    /// Elementwise `abs`: absolute value: real for complex numbers; derivative 0 at 0.
    abs() -> Tensor
        |on, a| a.abs();
    /// Elementwise `sign`: -1, 0 or 1 (zeros keep their sign, NaN stays NaN); z / |z| on complex
    /// numbers.
    sign() -> Tensor
        |on, a| a.sign();
    /// Elementwise `floor`: largest integer that is at most x.
    floor() -> Tensor
        |on, a| a.floor();
    /// Elementwise `ceil`: smallest integer that is at least x.
    ceil() -> Tensor
        |on, a| a.ceil();
    /// Elementwise `trunc`: integer part, toward zero.
    trunc() -> Tensor
        |on, a| a.trunc();
    /// Elementwise `round_ties_even`: nearest integer, ties to even.
    round_ties_even() -> Tensor
        |on, a| a.round_ties_even();
    /// Elementwise `round_half_away`: nearest integer, ties away from zero.
    round_half_away() -> Tensor
        |on, a| a.round_half_away();
    /// Elementwise `sqrt`: square root; derivative infinite at 0.
    sqrt() -> Tensor
        |on, a| a.sqrt();
    /// Elementwise `rsqrt`: 1 / sqrt(x).
    rsqrt() -> Tensor
        |on, a| a.rsqrt();
    /// Elementwise `cbrt`: cube root; the principal one on complex numbers.
    cbrt() -> Tensor
        |on, a| a.cbrt();
    /// Elementwise `exp`: e^x.
    exp() -> Tensor
        |on, a| a.exp();
    /// Elementwise `exp2`: 2^x.
    exp2() -> Tensor
        |on, a| a.exp2();
    /// Elementwise `expm1`: e^x - 1 without cancellation.
    expm1() -> Tensor
        |on, a| a.expm1();
    /// Elementwise `log`: natural logarithm; the principal branch on complex numbers.
    log() -> Tensor
        |on, a| a.log();
    /// Elementwise `log2`: logarithm to base 2.
    log2() -> Tensor
        |on, a| a.log2();
    /// Elementwise `log1p`: log(1 + x) without cancellation.
    log1p() -> Tensor
        |on, a| a.log1p();
    /// Elementwise `sin`: sine.
    sin() -> Tensor
        |on, a| a.sin();
    /// Elementwise `cos`: cosine.
    cos() -> Tensor
        |on, a| a.cos();
    /// Elementwise `tan`: tangent.
    tan() -> Tensor
        |on, a| a.tan();
    /// Elementwise `asin`: inverse sine.
    asin() -> Tensor
        |on, a| a.asin();
    /// Elementwise `acos`: inverse cosine.
    acos() -> Tensor
        |on, a| a.acos();
    /// Elementwise `atan`: inverse tangent.
    atan() -> Tensor
        |on, a| a.atan();
    /// Elementwise `sinh`: hyperbolic sine.
    sinh() -> Tensor
        |on, a| a.sinh();
    /// Elementwise `cosh`: hyperbolic cosine.
    cosh() -> Tensor
        |on, a| a.cosh();
    /// Elementwise `tanh`: hyperbolic tangent.
    tanh() -> Tensor
        |on, a| a.tanh();
    /// Elementwise `asinh`: inverse hyperbolic sine.
    asinh() -> Tensor
        |on, a| a.asinh();
    /// Elementwise `acosh`: inverse hyperbolic cosine.
    acosh() -> Tensor
        |on, a| a.acosh();
    /// Elementwise `atanh`: inverse hyperbolic tangent.
    atanh() -> Tensor
        |on, a| a.atanh();
    /// Elementwise `logistic`: 1 / (1 + e^-x).
    logistic() -> Tensor
        |on, a| a.logistic();
    /// Elementwise `erf`: error function: 2/sqrt(pi) times the integral of e^-s² from 0 to x.
    erf() -> Tensor
        |on, a| a.erf();
    /// Elementwise `erfc`: 1 - erf(x) without cancellation.
    erfc() -> Tensor
        |on, a| a.erfc();
    /// Elementwise `erf_inv`: inverse of erf.
    erf_inv() -> Tensor
        |on, a| a.erf_inv();
    /// Elementwise `lgamma`: log |gamma(x)|.
    lgamma() -> Tensor
        |on, a| a.lgamma();
    /// Elementwise `digamma`: derivative of log gamma(x).
    digamma() -> Tensor
        |on, a| a.digamma();
    /// Elementwise `is_finite`: neither infinite nor NaN.
    is_finite() -> Tensor
        |on, a| a.is_finite();
    /// Elementwise `is_nan`: not a number.
    is_nan() -> Tensor
        |on, a| a.is_nan();
    /// Elementwise `not`: logical not; bitwise on integers.
    not() -> Tensor
        |on, a| a.not();
    /// Elementwise `count_ones`: number of bits that are set.
    count_ones() -> Tensor
        |on, a| a.count_ones();
    /// Elementwise `leading_zeros`: number of leading zero bits.
    leading_zeros() -> Tensor
        |on, a| a.leading_zeros();
    /// Elementwise `conj`: complex conjugate.
    conj() -> Tensor
        |on, a| a.conj();
    /// Elementwise `real`: real part.
    real() -> Tensor
        |on, a| a.real();
    /// Elementwise `imag`: imaginary part.
    imag() -> Tensor
        |on, a| a.imag();
    /// Elementwise `stop_gradient`: the identity, with derivative zero.
    stop_gradient() -> Tensor
        |on, a| a.stop_gradient();
    /// Elementwise `add`: x + y; on booleans the logical or.
    add(y: &Tensor) -> Tensor
        |on, a| a.add(&on.tensor(y));
    /// Elementwise `sub`: x - y.
    sub(y: &Tensor) -> Tensor
        |on, a| a.sub(&on.tensor(y));
    /// Elementwise `mul`: x * y; on booleans the logical and.
    mul(y: &Tensor) -> Tensor
        |on, a| a.mul(&on.tensor(y));
    /// Elementwise `div`: x / y; integers truncate toward zero, x / 0 = -1.
    div(y: &Tensor) -> Tensor
        |on, a| a.div(&on.tensor(y));
    /// Elementwise `rem`: x - trunc(x / y) y, with the sign of x; for integers x rem 0 = x.
    rem(y: &Tensor) -> Tensor
        |on, a| a.rem(&on.tensor(y));
    /// Elementwise `pow`: x to the power y; integers by repeated multiplication, wrapping.
    pow<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.pow(&on.operand(y.into()));
    /// Elementwise `atan2`: angle of the point (y, x), in \[-pi, pi]; derivative 0 at the origin.
    atan2(y: &Tensor) -> Tensor
        |on, a| a.atan2(&on.tensor(y));
    /// Elementwise `maximum`: the larger operand; NaN if either is NaN, +0 > -0; a tie shares the
    /// gradient.
    maximum<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.maximum(&on.operand(y.into()));
    /// Elementwise `minimum`: the smaller operand; NaN if either is NaN, -0 < +0; a tie shares the
    /// gradient.
    minimum<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.minimum(&on.operand(y.into()));
    /// Elementwise `and`: logical and; bitwise on integers.
    and(y: &Tensor) -> Tensor
        |on, a| a.and(&on.tensor(y));
    /// Elementwise `or`: logical or; bitwise on integers.
    or(y: &Tensor) -> Tensor
        |on, a| a.or(&on.tensor(y));
    /// Elementwise `xor`: logical xor; bitwise on integers.
    xor(y: &Tensor) -> Tensor
        |on, a| a.xor(&on.tensor(y));
    /// Elementwise `shift_left`: shift left by y bits; 0 if y is at least the width of the type.
    shift_left(y: &Tensor) -> Tensor
        |on, a| a.shift_left(&on.tensor(y));
    /// Elementwise `shift_right_logical`: logical shift right by y bits; 0 if y is at least the
    /// width of the type.
    shift_right_logical(y: &Tensor) -> Tensor
        |on, a| a.shift_right_logical(&on.tensor(y));
    /// Elementwise `shift_right_arithmetic`: arithmetic shift right by y bits, which repeats the
    /// sign bit.
    shift_right_arithmetic(y: &Tensor) -> Tensor
        |on, a| a.shift_right_arithmetic(&on.tensor(y));
    /// Elementwise `xlogy`: x log y, 0 where x = 0.
    xlogy(y: &Tensor) -> Tensor
        |on, a| a.xlogy(&on.tensor(y));
    /// Elementwise `x == y`, as booleans.
    equal<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.equal(&on.operand(y.into()));
    /// Elementwise `x != y`, as booleans.
    not_equal<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.not_equal(&on.operand(y.into()));
    /// Elementwise `x < y`, as booleans.
    less<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.less(&on.operand(y.into()));
    /// Elementwise `x <= y`, as booleans.
    less_equal<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.less_equal(&on.operand(y.into()));
    /// Elementwise `x > y`, as booleans.
    greater<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.greater(&on.operand(y.into()));
    /// Elementwise `x >= y`, as booleans.
    greater_equal<'a>(y: impl Into<Operand<'a, Tensor>>) -> Tensor
        |on, a| a.greater_equal(&on.operand(y.into()));
    /// `x * x`.
    square() -> Tensor
        |on, a| a.square();
    /// `1 / x`.
    reciprocal() -> Tensor
        |on, a| a.reciprocal();
    /// `|z|²` without the square root: real, and smooth at zero.
    abs2() -> Tensor
        |on, a| a.abs2();
    /// The angle of a complex number, in `(-pi, pi]`. Its gradient at zero is zero.
    angle() -> Tensor
        |on, a| a.angle();
    /// Logarithm to base 10.
    log10() -> Tensor
        |on, a| a.log10();
    /// Whether an element, or a part of a complex one, is infinite.
    is_inf() -> Tensor
        |on, a| a.is_inf();
    /// `sin(pi x) / (pi x)`, 1 at 0.
    sinc() -> Tensor
        |on, a| a.sinc();
    /// `1 / (1 + e^-x)`: PyTorch's name of `logistic`.
    sigmoid() -> Tensor
        |on, a| a.sigmoid();
    /// `max(x, 0)`, with gradient 0 at 0.
    relu() -> Tensor
        |on, a| a.relu();
    /// The Gaussian error linear unit, with `erf`.
    gelu() -> Tensor
        |on, a| a.gelu();
    /// The Gaussian error linear unit, approximated with `tanh`.
    gelu_tanh() -> Tensor
        |on, a| a.gelu_tanh();
    /// `x logistic(x)`.
    silu() -> Tensor
        |on, a| a.silu();
    /// `log(1 + e^x)` without overflow.
    softplus() -> Tensor
        |on, a| a.softplus();
    /// `log(e^x + e^y)` without overflow. Shapes are broadcast by NumPy's rule.
    logaddexp(y: &Tensor) -> Tensor
        |on, a| a.logaddexp(&on.tensor(y));
    /// `sqrt(x² + y²)` without overflow. Shapes are broadcast by NumPy's rule.
    hypot(y: &Tensor) -> Tensor
        |on, a| a.hypot(&on.tensor(y));
    /// The quotient rounded toward -inf, with derivative 0. Shapes are broadcast by NumPy's rule.
    floor_divide(y: &Tensor) -> Tensor
        |on, a| a.floor_divide(&on.tensor(y));
    /// The remainder of `floor_divide`, with the sign of `y`. Shapes are
    /// broadcast by NumPy's rule.
    floor_mod(y: &Tensor) -> Tensor
        |on, a| a.floor_mod(&on.tensor(y));
    /// This tensor's magnitudes with the signs of `y`. Shapes are broadcast by NumPy's rule.
    copysign(y: &Tensor) -> Tensor
        |on, a| a.copysign(&on.tensor(y));
    /// The next representable numbers toward `y`, with derivative 0. Shapes are broadcast by
    /// NumPy's rule.
    nextafter(y: &Tensor) -> Tensor
        |on, a| a.nextafter(&on.tensor(y));
    /// Whether real numbers are negative, -0 or a NaN with the sign bit.
    signbit() -> Tensor
        |on, a| a.signbit();
    /// The Hurwitz zeta function of `s` (this tensor) and `q`.
    zeta(q: &Tensor) -> Tensor
        |on, a| a.zeta(&on.tensor(q));
    /// The regularized lower incomplete gamma function of `a` (this tensor) and `x`.
    igamma(x: &Tensor) -> Tensor
        |on, a| a.igamma(&on.tensor(x));
    /// The regularized upper incomplete gamma function of `a` (this tensor) and `x`.
    igammac(x: &Tensor) -> Tensor
        |on, a| a.igammac(&on.tensor(x));
    /// The regularized incomplete beta function of `a` (this tensor), `b` and `x`.
    betainc(b: &Tensor, x: &Tensor) -> Tensor
        |on, a| a.betainc(&on.tensor(b), &on.tensor(x));
    /// Derivative `order` of `digamma`.
    polygamma(order: u32) -> Tensor
        |on, a| a.polygamma(order);
    /// The modified Bessel function of the first kind of this order.
    bessel_i(order: u32) -> Tensor
        |on, a| a.bessel_i(order);
    /// `bessel_i` times `exp(-|x|)`.
    bessel_ie(order: u32) -> Tensor
        |on, a| a.bessel_ie(order);
    /// Complex numbers from real and imaginary parts.
    complex(im: &Tensor) -> Tensor
        |on, a| a.complex(&on.tensor(im));
    /// A gradient or cotangent in the convention of JAX: the complex conjugate, and the tensor
    /// itself for real elements. It is its own inverse.
    to_jax_convention() -> Tensor
        |on, a| a.to_jax_convention();
    /// Elementwise power with a constant exponent.
    powf(c: f64) -> Tensor
        |on, a| a.powf(c);
    /// Elementwise power with a fixed integer exponent.
    powi(n: i64) -> Tensor
        |on, a| a.powi(n);
    /// `min(max(x, lo), hi)`.
    clip(lo: f64, hi: f64) -> Tensor
        |on, a| a.clip(lo, hi);
    /// Elements of `yes` where this boolean tensor holds, of `no` elsewhere. Shapes are broadcast
    /// by NumPy's rule.
    select(yes: &Tensor, no: &Tensor) -> Tensor
        |on, a| a.select(&on.tensor(yes), &on.tensor(no));
    /// A tensor of the same type and shape with one value in every element.
    full_like(value: f64) -> Tensor
        |on, a| a.full_like(value);
    /// Zeros of the same type and shape.
    zeros_like() -> Tensor
        |on, a| a.zeros_like();
    /// Ones of the same type and shape.
    ones_like() -> Tensor
        |on, a| a.ones_like();
    /// The elements of a range of an axis.
    slice(axis: impl Into<Axis>, range: impl RangeBounds<usize>) -> Tensor
        |on, a| a.slice(axis, range);
    /// Every `step`-th of the elements of a range of an axis.
    slice_step(axis: impl Into<Axis>, range: impl RangeBounds<usize>, step: usize) -> Tensor
        |on, a| a.slice_step(axis, range, step);
    /// Index `i` of an axis, which is removed.
    index(axis: impl Into<Axis>, i: usize) -> Tensor
        |on, a| a.index(axis, i);
    /// The window of these extents that begins at `start`: an integer scalar for each axis, clamped
    /// so that the window fits.
    dynamic_slice(start: &[&Tensor], sizes: impl Into<Shape>) -> Tensor
        |on, a| a.dynamic_slice(&references(&on.tensors(start)), sizes);
    /// This tensor with `update` written at `start`: an integer scalar for each axis, clamped so
    /// that the window fits.
    dynamic_update_slice(update: &Tensor, start: &[&Tensor]) -> Tensor
        |on, a| a.dynamic_update_slice(&on.tensor(update), &references(&on.tensors(start)));
    /// Windows of these extents at `indices`: StableHLO's `gather`. `take` and `take_along_axis`
    /// are its usual forms. `bounds` specifies the result for an index out of range.
    gather(indices: &Tensor, windows: &Windows, sizes: impl Into<Shape>, bounds: Bounds) -> Tensor
        |on, a| a.gather(&on.tensor(indices), windows, sizes, bounds);
    /// 1 where the index along a new last axis of extent `depth` is the element, else 0, as numbers
    /// of this element type. The elements are integers.
    one_hot(depth: impl Into<Dim>, dtype: DType) -> Tensor
        |on, a| a.one_hot(depth, dtype);
    /// The elements at `indices` along an axis. `bounds` specifies the result for an index out of
    /// range.
    take(indices: &Tensor, axis: impl Into<Axis>, bounds: Bounds) -> Tensor
        |on, a| a.take(&on.tensor(indices), axis, bounds);
    /// One element per index along an axis: `y[i, j, k] = x[i, indices[i, j, k], k]` for axis 1.
    /// `bounds` specifies the result for an index out of range.
    take_along_axis(indices: &Tensor, axis: impl Into<Axis>, bounds: Bounds) -> Tensor
        |on, a| a.take_along_axis(&on.tensor(indices), axis, bounds);
    /// This tensor with `updates` combined into the elements that `take` reads.
    put(indices: &Tensor, updates: &Tensor, axis: impl Into<Axis>, combine: Combine, bounds: Bounds) -> Tensor
        |on, a| a.put(&on.tensor(indices), &on.tensor(updates), axis, combine, bounds);
    /// This tensor with `updates` combined into the elements that `take_along_axis` reads.
    put_along_axis(indices: &Tensor, updates: &Tensor, axis: impl Into<Axis>, combine: Combine, bounds: Bounds) -> Tensor
        |on, a| a.put_along_axis(&on.tensor(indices), &on.tensor(updates), axis, combine, bounds);
    /// The elements sorted along an axis. The sort is stable.
    sort(axis: impl Into<Axis>, descending: bool) -> Tensor
        |on, a| a.sort(axis, descending);
    /// The positions of the sorted elements along an axis. The sort is stable.
    argsort(axis: impl Into<Axis>, descending: bool) -> Tensor
        |on, a| a.argsort(axis, descending);
    /// The positions, as `i64`, at which the elements of `v` are inserted into this ascending
    /// vector: before equal elements, or after them if `right`. NaN is greater than every number.
    searchsorted(v: &Tensor, right: bool) -> Tensor
        |on, a| a.searchsorted(&on.tensor(v), right);
    /// The `k` greatest elements along an axis, greatest first, and their positions.
    top_k(axis: impl Into<Axis>, k: usize) -> (Tensor, Tensor)
        |on, a| a.top_k(axis, k);
    /// As `sum`; the axes are kept with extent 1.
    sum_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.sum_keepdims(axes);
    /// As `prod`; the axes are kept with extent 1.
    prod_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.prod_keepdims(axes);
    /// As `max`; the axes are kept with extent 1.
    max_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.max_keepdims(axes);
    /// As `min`; the axes are kept with extent 1.
    min_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.min_keepdims(axes);
    /// As `any`; the axes are kept with extent 1.
    any_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.any_keepdims(axes);
    /// As `all`; the axes are kept with extent 1.
    all_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.all_keepdims(axes);
    /// As `mean`; the axes are kept with extent 1.
    mean_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.mean_keepdims(axes);
    /// As `var`; the axes are kept with extent 1.
    var_keepdims(axes: impl Into<Axes>, correction: f64) -> Tensor
        |on, a| a.var_keepdims(axes, correction);
    /// As `std`; the axes are kept with extent 1.
    std_keepdims(axes: impl Into<Axes>, correction: f64) -> Tensor
        |on, a| a.std_keepdims(axes, correction);
    /// As `norm`; the axes are kept with extent 1.
    norm_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.norm_keepdims(axes);
    /// As `logsumexp`; the axes are kept with extent 1.
    logsumexp_keepdims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.logsumexp_keepdims(axes);
    /// The matrix product of the last two axes, batched over leading axes.
    matmul(y: &Tensor) -> Tensor
        |on, a| a.matmul(&on.tensor(y));
    /// The outer product: every element of this tensor times every element of `y`, in the shape of
    /// this tensor followed by that of `y`.
    outer(y: &Tensor) -> Tensor
        |on, a| a.outer(&on.tensor(y));
    /// Products summed over pairs of axes, with batch axes.
    dot_general(y: &Tensor, d: DotGeneral) -> Tensor
        |on, a| a.dot_general(&on.tensor(y), d);
    /// Products summed over axes of this tensor, each with an axis of `y`.
    tensordot(y: &Tensor, axes: impl Into<Axes>, axes_of_y: impl Into<Axes>) -> Tensor
        |on, a| a.tensordot(&on.tensor(y), axes, axes_of_y);
    /// The cross product of vectors of three elements along an axis. Shapes are broadcast by
    /// NumPy's rule, and the axis is one of the result.
    cross(y: &Tensor, axis: impl Into<Axis>) -> Tensor
        |on, a| a.cross(&on.tensor(y), axis);
    /// The sum of `conj(x) y` along an axis. Shapes are broadcast by NumPy's rule, and the axis is
    /// one of the result of the broadcast.
    vecdot(y: &Tensor, axis: impl Into<Axis>) -> Tensor
        |on, a| a.vecdot(&on.tensor(y), axis);
    /// The sum over axes.
    sum(axes: impl Into<Axes>) -> Tensor
        |on, a| a.sum(axes);
    /// The product over axes.
    prod(axes: impl Into<Axes>) -> Tensor
        |on, a| a.prod(axes);
    /// The maximum over axes. Equal maxima share the gradient; NaN if any element is NaN.
    max(axes: impl Into<Axes>) -> Tensor
        |on, a| a.max(axes);
    /// The minimum over axes. Equal minima share the gradient; NaN if any element is NaN.
    min(axes: impl Into<Axes>) -> Tensor
        |on, a| a.min(axes);
    /// Whether any element holds, over axes.
    any(axes: impl Into<Axes>) -> Tensor
        |on, a| a.any(axes);
    /// Whether all elements hold, over axes.
    all(axes: impl Into<Axes>) -> Tensor
        |on, a| a.all(axes);
    /// The mean over axes.
    mean(axes: impl Into<Axes>) -> Tensor
        |on, a| a.mean(axes);
    /// The variance over axes. `correction` is subtracted from the number of elements.
    var(axes: impl Into<Axes>, correction: f64) -> Tensor
        |on, a| a.var(axes, correction);
    /// The standard deviation over axes. `correction` is subtracted from the number of elements.
    std(axes: impl Into<Axes>, correction: f64) -> Tensor
        |on, a| a.std(axes, correction);
    /// The Euclidean norm over axes, without overflow. Its gradient at zero is zero.
    norm(axes: impl Into<Axes>) -> Tensor
        |on, a| a.norm(axes);
    /// `log(sum(exp(x)))` over axes, without overflow.
    logsumexp(axes: impl Into<Axes>) -> Tensor
        |on, a| a.logsumexp(axes);
    /// The sum over axes.
    reduce_sum(axes: &[usize]) -> Tensor
        |on, a| a.reduce_sum(axes);
    /// The product over axes.
    reduce_prod(axes: &[usize]) -> Tensor
        |on, a| a.reduce_prod(axes);
    /// The maximum over axes.
    reduce_max(axes: &[usize]) -> Tensor
        |on, a| a.reduce_max(axes);
    /// The minimum over axes.
    reduce_min(axes: &[usize]) -> Tensor
        |on, a| a.reduce_min(axes);
    /// Whether any element holds, over axes.
    reduce_any(axes: &[usize]) -> Tensor
        |on, a| a.reduce_any(axes);
    /// Whether all elements hold, over axes.
    reduce_all(axes: &[usize]) -> Tensor
        |on, a| a.reduce_all(axes);
    /// The bitwise and over axes.
    reduce_and(axes: &[usize]) -> Tensor
        |on, a| a.reduce_and(axes);
    /// The bitwise or over axes.
    reduce_or(axes: &[usize]) -> Tensor
        |on, a| a.reduce_or(axes);
    /// The bitwise exclusive or over axes.
    reduce_xor(axes: &[usize]) -> Tensor
        |on, a| a.reduce_xor(axes);
    /// The median along an axis, which is removed. For an even count it is the mean of the two
    /// middle elements.
    median(axis: impl Into<Axis>) -> Tensor
        |on, a| a.median(axis);
    /// The index of the first maximum along an axis, which is removed.
    argmax(axis: impl Into<Axis>) -> Tensor
        |on, a| a.argmax(axis);
    /// The index of the first minimum along an axis, which is removed.
    argmin(axis: impl Into<Axis>) -> Tensor
        |on, a| a.argmin(axis);
    /// Cumulative sums along an axis.
    cumulative_sum(axis: impl Into<Axis>) -> Tensor
        |on, a| a.cumulative_sum(axis);
    /// Cumulative products along an axis.
    cumulative_prod(axis: impl Into<Axis>) -> Tensor
        |on, a| a.cumulative_prod(axis);
    /// `exp(x) / sum(exp(x))` along an axis, without overflow in derivatives of any order.
    softmax(axis: impl Into<Axis>) -> Tensor
        |on, a| a.softmax(axis);
    /// `x - logsumexp(x)` along an axis, without overflow in derivatives of any order.
    log_softmax(axis: impl Into<Axis>) -> Tensor
        |on, a| a.log_softmax(axis);
    /// The cross-entropy of logits and labels (probabilities or classes) along an axis: the mean
    /// over all rows, a scalar.
    cross_entropy(labels: &Tensor, axis: impl Into<Axis>) -> Tensor
        |on, a| a.cross_entropy(&on.tensor(labels), axis);
    /// The cross-entropy along an axis with another reduction: [`LossReduction::None`] gives the
    /// losses of rows, without the axis.
    cross_entropy_with(labels: &Tensor, axis: impl Into<Axis>, reduction: LossReduction) -> Tensor
        |on, a| a.cross_entropy_with(&on.tensor(labels), axis, reduction);
    /// The elements normalized to mean 0 and variance 1 over axes, whose extents stay.
    layer_norm(axes: impl Into<Axes>, eps: f64) -> Tensor
        |on, a| a.layer_norm(axes, eps);
    /// The elements converted to another element type.
    astype(dtype: DType) -> Tensor
        |on, a| a.astype(dtype);
    /// The bits of the elements as another element type. Bits that are split or joined have a last
    /// axis.
    bitcast(dtype: DType) -> Tensor
        |on, a| a.bitcast(dtype);
    /// The elements, in row-major order, in another shape of numbers and symbols.
    reshape(shape: impl Into<Shape>) -> Tensor
        |on, a| a.reshape(shape);
    /// Permuted axes: axis `k` of the result is axis `axes[k]`.
    permute_dims(axes: impl Into<Axes>) -> Tensor
        |on, a| a.permute_dims(axes);
    /// Permuted axes: axis `k` of the result is axis `perm[k]`.
    transpose(perm: &[usize]) -> Tensor
        |on, a| a.transpose(perm);
    /// Axes in reverse order: the transpose of a matrix.
    t() -> Tensor
        |on, a| a.t();
    /// The transpose of the last two axes.
    matrix_transpose() -> Tensor
        |on, a| a.matrix_transpose();
    /// A broadcast to a shape of numbers and symbols by NumPy's rule: axes are aligned at the end.
    broadcast_to(shape: impl Into<Shape>) -> Tensor
        |on, a| a.broadcast_to(shape);
    /// A broadcast to a shape of numbers and symbols. Axis `k` becomes axis `axes[k]`, and is
    /// broadcast if its extent is 1.
    broadcast_in_dim(shape: impl Into<Shape>, axes: &[usize]) -> Tensor
        |on, a| a.broadcast_in_dim(shape, axes);
    /// A new axis of extent 1 at this position of the result.
    expand_dims(axis: impl Into<Axis>) -> Tensor
        |on, a| a.expand_dims(axis);
    /// The tensor without axes of extent 1. An axis of another extent is an error.
    squeeze(axes: impl Into<Axes>) -> Tensor
        |on, a| a.squeeze(axes);
    /// The elements in reverse order along axes.
    flip(axes: impl Into<Axes>) -> Tensor
        |on, a| a.flip(axes);
    /// The elements moved by `shift` along an axis; those past the end come first.
    roll(shift: i64, axis: impl Into<Axis>) -> Tensor
        |on, a| a.roll(shift, axis);
    /// The whole tensor several times along each axis: `counts` for the last axes. With more counts
    /// than axes, leading axes are added.
    tile(counts: impl Into<Shape>) -> Tensor
        |on, a| a.tile(counts);
    /// Each element `count` times along an axis.
    repeat(count: impl Into<Dim>, axis: impl Into<Axis>) -> Tensor
        |on, a| a.repeat(count, axis);
    /// Differences of neighbours along an axis, taken `n` times; of booleans, whether they differ.
    diff(axis: impl Into<Axis>, n: usize) -> Tensor
        |on, a| a.diff(axis, n);
    /// The elements with `value` around and between them: `low` and `high` are counts per axis
    /// (negative ones remove elements), `interior` counts between neighbours.
    pad(low: &[i64], high: &[i64], interior: &[usize], value: f64) -> Tensor
        |on, a| a.pad(low, high, interior, value);
    /// The elements `x[.., i, i]` of the last two axes.
    diagonal() -> Tensor
        |on, a| a.diagonal();
    /// The sum of the diagonal of the last two axes.
    trace() -> Tensor
        |on, a| a.trace();
    /// The slices of extent 1 along an axis, which is removed. The extent must be a number.
    unstack(axis: impl Into<Axis>) -> Vec<Tensor>
        |on, a| a.unstack(axis);
    /// Consecutive slices of these extents along an axis. Their sum is the extent of the axis.
    split(axis: impl Into<Axis>, sizes: &[usize]) -> Vec<Tensor>
        |on, a| a.split(axis, sizes);
    /// The lower triangular factor `L` of the Hermitian part, `L Lᴴ = (A + Aᴴ) / 2`.
    cholesky() -> Tensor
        |on, a| a.cholesky();
    /// As `cholesky`, and a boolean per matrix: whether the factor exists. A factor that does not
    /// exist is NaN, not an error.
    cholesky_ex() -> (Tensor, Tensor)
        |on, a| a.cholesky_ex();
    /// The solution of a triangular system; `self` is the triangular matrix.
    triangular_solve(b: &Tensor, how: TriangularSolve) -> Tensor
        |on, a| a.triangular_solve(&on.tensor(b), how);
    /// `P`, `L`, `U` with `A[P, :] = L U` (partial pivoting); `P` as row numbers (`i32`).
    lu() -> (Tensor, Tensor, Tensor)
        |on, a| a.lu();
    /// The solution `X` of `A X = B`; a vector `B` is a column.
    solve(b: &Tensor) -> Tensor
        |on, a| a.solve(&on.tensor(b));
    /// The inverse.
    inv() -> Tensor
        |on, a| a.inv();
    /// The determinant. Its derivative is also correct at singular matrices.
    det() -> Tensor
        |on, a| a.det();
    /// Sign (phase) and logarithm of the magnitude of the determinant.
    slogdet() -> (Tensor, Tensor)
        |on, a| a.slogdet();
    /// The thin factorization `A = Q R`: `Q` with orthonormal columns and upper triangular `R`.
    qr() -> (Tensor, Tensor)
        |on, a| a.qr();
    /// As `qr`, with a square `Q`. For a tall matrix it has no derivative.
    qr_complete() -> (Tensor, Tensor)
        |on, a| a.qr_complete();
    /// Eigenvalues, ascending, and eigenvectors of the Hermitian part.
    eigh() -> (Tensor, Tensor)
        |on, a| a.eigh();
    /// Eigenvalues, ascending, of the Hermitian part. They also have derivatives where they
    /// coincide.
    eigvalsh() -> Tensor
        |on, a| a.eigvalsh();
    /// Complex eigenvalues, ordered by real part, and complex eigenvectors.
    eig() -> (Tensor, Tensor)
        |on, a| a.eig();
    /// Complex eigenvalues, ordered by real part.
    eigvals() -> Tensor
        |on, a| a.eigvals();
    /// The thin decomposition: `U`, singular values (descending) and `Vᴴ`.
    svd() -> (Tensor, Tensor, Tensor)
        |on, a| a.svd();
    /// As `svd`, with square `U` and `Vᴴ`. They have derivatives only for square matrices.
    svd_full() -> (Tensor, Tensor, Tensor)
        |on, a| a.svd_full();
    /// Singular values, descending. They also have derivatives where they coincide.
    svdvals() -> Tensor
        |on, a| a.svdvals();
    /// The `k` largest singular values with their vectors: `U`, `s`, `Vᴴ`.
    svd_truncated(k: usize) -> (Tensor, Tensor, Tensor)
        |on, a| a.svd_truncated(k);
    /// The singular values above `rtol` times the largest, with their vectors. Their number is
    /// data-dependent.
    svd_thresholded(rtol: f64) -> (Tensor, Tensor, Tensor)
        |on, a| a.svd_thresholded(rtol);
    /// The nearest matrix of rank `k`, in the Frobenius norm.
    low_rank_approximation(k: usize) -> Tensor
        |on, a| a.low_rank_approximation(k);
    /// The Moore-Penrose inverse.
    pinv() -> Tensor
        |on, a| a.pinv();
    /// The minimizer `x` of `|A x - b|` with the least norm.
    lstsq(b: &Tensor) -> Tensor
        |on, a| a.lstsq(&on.tensor(b));
    /// A norm of matrices. The last two axes are removed.
    matrix_norm(kind: MatrixNorm) -> Tensor
        |on, a| a.matrix_norm(kind);
    /// `(Σ |x|^p)^(1/p)` over axes, which are removed. `p` may be infinite or 0.
    vector_norm(axes: impl Into<Axes>, p: f64) -> Tensor
        |on, a| a.vector_norm(axes, p);
    /// As `vector_norm`; the axes are kept with extent 1.
    vector_norm_keepdims(axes: impl Into<Axes>, p: f64) -> Tensor
        |on, a| a.vector_norm_keepdims(axes, p);
    /// The exponential of square matrices.
    matrix_exp() -> Tensor
        |on, a| a.matrix_exp();
    /// The exponential of square matrices: SciPy's name of `matrix_exp`.
    expm() -> Tensor
        |on, a| a.expm();
    /// An integer power of square matrices.
    matrix_power(n: i64) -> Tensor
        |on, a| a.matrix_power(n);
    /// The Kronecker product.
    kron(b: &Tensor) -> Tensor
        |on, a| a.kron(&on.tensor(b));
    /// The matrix function `f` of the Hermitian part: `f` of each eigenvalue, with the same
    /// eigenvectors. `f` must be elementwise.
    spectral_function(f: impl Fn(&TracedTensor) -> TracedTensor) -> Tensor
        |on, a| a.spectral_function(f);
    /// The conjugate transpose of the last two axes.
    conj_transpose() -> Tensor
        |on, a| a.conj_transpose();
    /// The conjugate transpose of the last two axes: as `conj_transpose`.
    adjoint() -> Tensor
        |on, a| a.adjoint();
    /// The elements on and below diagonal `k`, zero elsewhere.
    tril(k: i64) -> Tensor
        |on, a| a.tril(k);
    /// The elements on and above diagonal `k`, zero elsewhere.
    triu(k: i64) -> Tensor
        |on, a| a.triu(k);
    }

    functions {
    /// Tensors joined along an axis.
    concat(parts: &[&Tensor], axis: impl Into<Axis>) -> Tensor
        |on| EagerTensor::concat(&references(&on.tensors(parts)), axis);
    /// Tensors of one shape, stacked along a new axis of the result.
    stack(parts: &[&Tensor], axis: impl Into<Axis>) -> Tensor
        |on| EagerTensor::stack(&references(&on.tensors(parts)), axis);
    }
}
