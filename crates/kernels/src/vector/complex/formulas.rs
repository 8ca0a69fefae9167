//! Formulas of complex functions over [`V`], without kernels.

use crate::vector::{V, math};
use std::f64::consts::LN_2;

/// A complex vector: real and imaginary parts.
pub(crate) type Z<W> = [W; 2];

/// A value, and the lanes that need the scalar function.
pub(crate) type Result<W> = (Z<W>, <W as V>::M);

/// The type of the parts of a complex number in memory.
pub trait ComplexPart: Copy + Into<f64> + 'static {
    /// Whether squares and quotients of numbers of this type are normal numbers of `f64`.
    const NARROW: bool;
    /// The nearest number.
    fn nearest(x: f64) -> Self;
}

impl ComplexPart for f32 {
    const NARROW: bool = true;
    #[inline(always)]
    fn nearest(x: f64) -> f32 {
        x as f32
    }
}

impl ComplexPart for f64 {
    const NARROW: bool = false;
    #[inline(always)]
    fn nearest(x: f64) -> f64 {
        x
    }
}

/// Functions of one complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the function of that name")]
pub enum ComplexFunction {
    Sign,
    Sqrt,
    Rsqrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sin,
    Cos,
    Tan,
    Sinh,
    Cosh,
    Tanh,
    Logistic,
    SechSquare,
}

/// Functions of two complex numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the function of that name")]
pub enum ComplexFunction2 {
    Div,
    DivStrongZero,
    Pow,
    Xlogy,
}

/// A vector of `f64`.
pub(crate) trait F64Vector: V<E = f64> {}
impl<W: V<E = f64>> F64Vector for W {}

#[inline(always)]
pub(super) fn k<W: F64Vector>(x: f64) -> W {
    W::splat(x)
}

#[inline(always)]
fn pick<W: F64Vector>(m: W::M, a: Z<W>, b: Z<W>) -> Z<W> {
    [W::select(m, a[0], b[0]), W::select(m, a[1], b[1])]
}

#[inline(always)]
fn scaled<W: F64Vector>(z: Z<W>, by: W) -> Z<W> {
    [z[0].mul(by), z[1].mul(by)]
}

/// `i z`
#[inline(always)]
fn times_i<W: F64Vector>([x, y]: Z<W>) -> Z<W> {
    [y.neg(), x]
}

/// `-i z`
#[inline(always)]
fn over_i<W: F64Vector>([x, y]: Z<W>) -> Z<W> {
    [y, x.neg()]
}

#[inline(always)]
pub(crate) fn product<W: F64Vector>([a, b]: Z<W>, [x, y]: Z<W>) -> Z<W> {
    [a.mul(x).sub(b.mul(y)), a.mul(y).add(b.mul(x))]
}

#[inline(always)]
pub(crate) fn is_zero<W: F64Vector>([x, y]: Z<W>) -> W::M {
    W::both(x.eq(k(0.0)), y.eq(k(0.0)))
}

/// Whether a number is zero, or has a magnitude for which squares and quotients are normal numbers.
#[inline(always)]
fn ordinary<W: F64Vector>(v: W) -> W::M {
    let a = v.abs();
    W::either(a.eq(k(0.0)), W::both(k::<W>(1e-150).lt(a), a.lt(k(1e150))))
}

#[inline(always)]
pub(super) fn extreme<W: F64Vector, P: ComplexPart>([x, y]: Z<W>) -> W::M {
    if P::NARROW {
        // Squares and quotients are normal numbers.
        return W::not(x.abs().add(y.abs()).lt(k(f64::INFINITY)));
    }
    W::not(W::both(ordinary(x), ordinary(y)))
}

/// `a²`, and its rounding error.
#[inline(always)]
fn square<W: F64Vector>(a: W) -> (W, W) {
    let p = a.mul(a);
    (p, a.fma(a, p.neg()))
}

#[inline(always)]
fn two_sum<W: F64Vector>(a: W, b: W) -> (W, W) {
    let s = a.add(b);
    let t = s.sub(a);
    (s, a.sub(s.sub(t)).add(b.sub(t)))
}

/// `a² + b² + rest`, compensated for the rounding errors of the squares and sums.
#[inline(always)]
fn squares_plus<W: F64Vector>(a: W, b: W, rest: W) -> W {
    let ((p, p_low), (q, q_low)) = (square(a), square(b));
    let (s, e1) = two_sum(rest, p);
    let (s, e2) = two_sum(s, q);
    s.add(e1.add(e2).add(p_low.add(q_low)))
}

/// `√(x² + y²)`; 0 for 0. For parts of f64 the rounding errors of the squares and the root are
/// corrected (Borges 2020).
#[inline(always)]
pub(super) fn modulus<W: F64Vector, P: ComplexPart>([x, y]: Z<W>) -> W {
    if P::NARROW {
        // Both squares are exact.
        return x.mul(x).add(y.mul(y)).sqrt();
    }
    let (x, y) = (x.abs(), y.abs());
    let less = x.lt(y);
    let (a, b) = (W::select(less, y, x), W::select(less, x, y));
    let h = a.fma(a, b.mul(b)).sqrt();
    let ((hh, h_low), (aa, a_low)) = (square(h), square(a));
    let error = b.neg().fma(b, hh.sub(aa)).add(h_low).sub(a_low);
    W::select(a.eq(k(0.0)), a, h.sub(error.div(h.add(h))))
}

/// `log |z|` of a number that is not zero.
#[inline(always)]
fn log_modulus<W: F64Vector>([x, y]: Z<W>) -> W {
    let far = math::log(x.fma(x, y.mul(y)));
    let (a, b) = (x.abs(), y.abs());
    let big = W::select(a.lt(b), b, a);
    let near = W::both(k::<W>(0.4).lt(big), big.lt(k(1.5)));
    let mut y2 = far;
    if W::may_hold(near) {
        let u = squares_plus(x, y, k(-1.0));
        y2 = W::select(W::both(near, u.abs().lt(k(0.6))), math::log1p(u), far);
    }
    y2.mul(k(0.5))
}

#[inline(always)]
fn log<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let y = [log_modulus(z), math::atan2(z[1], z[0])];
    (y, W::either(extreme::<_, P>(z), is_zero(z)))
}

#[inline(always)]
fn log1p<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let [x, y] = z;
    let one = x.add(k(1.0));
    let u = squares_plus(x, y, x.add(x));
    let near = u.abs().lt(k(0.6));
    let mut re = math::log1p(u);
    if W::may_hold(W::not(near)) {
        re = W::select(near, re, math::log(one.fma(one, y.mul(y))));
    }
    let value = [re.mul(k(0.5)), math::atan2(y, one)];
    let pole = is_zero([one, y]);
    (
        pick(is_zero(z), z, value),
        W::either(extreme::<_, P>(z), pole),
    )
}

/// Lanes whose angle or exponent is outside of the range of the vector functions.
#[inline(always)]
fn outside<W: F64Vector>(x: W, angle: W) -> W::M {
    W::either(math::far_angle(angle), W::not(x.lt(k(700.0))))
}

#[inline(always)]
fn exp_of<W: F64Vector>([x, y]: Z<W>) -> Z<W> {
    let e = math::exp(x);
    [e.mul(math::cos(y)), e.mul(math::sin(y))]
}

#[inline(always)]
fn exp<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    (
        exp_of(z),
        W::either(extreme::<_, P>(z), outside(z[0], z[1])),
    )
}

#[inline(always)]
fn expm1<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let [x, y] = z;
    let (e, cos, h) = (math::expm1(x), math::cos(y), math::sin(y.mul(k(0.5))));
    let square = h.add(h).mul(h);
    let whole = math::exp(x);
    // The sum with +0 is +0 at zeros.
    let near = e.mul(cos).sub(square).add(k(0.0));
    let re = W::select(k::<W>(20.0).lt(x), whole.mul(cos).sub(k(1.0)), near);
    (
        [re, whole.mul(math::sin(y))],
        W::either(extreme::<_, P>(z), outside(x, y)),
    )
}

#[inline(always)]
fn sinh<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let [x, y] = z;
    let value = [
        math::sinh(x).mul(math::cos(y)),
        math::cosh(x).mul(math::sin(y)),
    ];
    (value, W::either(extreme::<_, P>(z), outside(x.abs(), y)))
}

#[inline(always)]
fn cosh<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let [x, y] = z;
    let value = [
        math::cosh(x).mul(math::cos(y)),
        math::sinh(x).mul(math::sin(y)),
    ];
    (value, W::either(extreme::<_, P>(z), outside(x.abs(), y)))
}

#[inline(always)]
fn tanh<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let [x, y] = z;
    let one = k::<W>(1.0);
    let (t, s) = (math::tan(y), math::sinh(x));
    let (b, r) = (one.add(t.mul(t)), one.add(s.mul(s)).sqrt());
    let d = one.add(b.mul(s).mul(s));
    let mut value = [b.mul(r).mul(s).div(d), t.div(d)];
    let far = k::<W>(22.0).lt(x.abs());
    if W::may_hold(far) {
        let small = math::exp(x.abs().mul(k(-2.0)));
        let im = math::sin(y).mul(math::cos(y)).mul(k(4.0)).mul(small);
        value = pick(far, [one.or(x.sign_of()), im], value);
    }
    (value, W::either(extreme::<_, P>(z), math::far_angle(y)))
}

#[inline(always)]
fn sqrt<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let [x, y] = z;
    let t = x.abs().add(modulus::<_, P>(z)).mul(k(0.5)).sqrt();
    let u = y.div(t.add(t));
    let left = [u.abs(), t.or(y.sign_of())];
    let value = pick(k::<W>(0.0).le(x), [t, u], left);
    (pick(is_zero(z), [k(0.0), y], value), extreme::<_, P>(z))
}

/// `a` times the conjugate of `b`, and `|b|²`.
#[inline(always)]
fn over<W: F64Vector>(a: Z<W>, [x, y]: Z<W>) -> (Z<W>, W) {
    let top = [a[0].mul(x).add(a[1].mul(y)), a[1].mul(x).sub(a[0].mul(y))];
    (top, x.mul(x).add(y.mul(y)))
}

/// `a / b`. The divisor is first scaled by a power of two, unless its square is a normal number.
#[inline(always)]
fn quotient<W: F64Vector, P: ComplexPart>(a: Z<W>, b: Z<W>) -> Result<W> {
    let (value, top, usual) = if P::NARROW {
        let (top, n) = over(a, b);
        let usual = W::both(k::<W>(0.0).lt(n), n.lt(k(f64::INFINITY)));
        ([top[0].div(n), top[1].div(n)], top, usual)
    } else {
        let (p, q) = (b[0].abs(), b[1].abs());
        let big = W::select(p.lt(q), q, p);
        // The inverse of 2^e, computed from its exponent.
        let scale = k::<W>(f64::from_bits(2046 << 52)).bits_sub(big.and(k(f64::INFINITY)));
        let (top, n) = over(a, scaled(b, scale));
        let usual = W::both(k::<W>(1e-280).lt(big), big.lt(k(1e280)));
        (scaled([top[0].div(n), top[1].div(n)], scale), top, usual)
    };
    // The scalar function is needed if a part of either operand is not finite (then `top - top` is
    // not 0), or if the magnitude of the divisor is outside of the usual range.
    let finite = top[0].sub(top[0]).eq(k(0.0));
    (value, W::not(W::both(usual, finite)))
}

#[inline(always)]
fn sign<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let h = modulus::<_, P>(z);
    (
        pick(is_zero(z), z, [z[0].div(h), z[1].div(h)]),
        extreme::<_, P>(z),
    )
}

#[inline(always)]
fn rsqrt<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let (root, rare) = sqrt::<_, P>(z);
    let (y, pole) = quotient::<_, P>([k(1.0), k(0.0)], root);
    (y, W::either(rare, pole))
}

#[inline(always)]
fn logistic<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let right = k::<W>(0.0).le(z[0]);
    let (e, rare) = exp::<_, P>(pick(right, scaled(z, k(-1.0)), z));
    let top = pick(right, [k(1.0), k(0.0)], e);
    let (y, pole) = quotient::<_, P>(top, [e[0].add(k(1.0)), e[1]]);
    (y, W::either(rare, pole))
}

#[inline(always)]
fn sech_square<W: F64Vector, P: ComplexPart>(z: Z<W>) -> Result<W> {
    let left = z[0].lt(k(0.0));
    let (e, rare) = exp::<_, P>(scaled(z, W::select(left, k(2.0), k(-2.0))));
    let d = [e[0].add(k(1.0)), e[1]];
    let (y, pole) = quotient::<_, P>(scaled(e, k(4.0)), d);
    let (y, again) = quotient::<_, P>(y, d);
    (y, W::either(rare, W::either(pole, again)))
}

/// `-i` times a result.
#[inline(always)]
fn times_minus_i<W: F64Vector>((y, rare): Result<W>) -> Result<W> {
    (over_i(y), rare)
}

#[inline(always)]
pub(super) fn unary<W: F64Vector, P: ComplexPart>(f: ComplexFunction, [z]: [Z<W>; 1]) -> Result<W> {
    match f {
        ComplexFunction::Sign => sign::<_, P>(z),
        ComplexFunction::Sqrt => sqrt::<_, P>(z),
        ComplexFunction::Rsqrt => rsqrt::<_, P>(z),
        ComplexFunction::Exp => exp::<_, P>(z),
        ComplexFunction::Exp2 => exp::<_, P>(scaled(z, k(LN_2))),
        ComplexFunction::Expm1 => expm1::<_, P>(z),
        ComplexFunction::Log => log::<_, P>(z),
        ComplexFunction::Log2 => {
            let (y, rare) = log::<_, P>(z);
            ([y[0].div(k(LN_2)), y[1].div(k(LN_2))], rare)
        }
        ComplexFunction::Log1p => log1p::<_, P>(z),
        ComplexFunction::Sin => times_minus_i(sinh::<_, P>(times_i(z))),
        ComplexFunction::Cos => cosh::<_, P>(times_i(z)),
        ComplexFunction::Tan => times_minus_i(tanh::<_, P>(times_i(z))),
        ComplexFunction::Sinh => sinh::<_, P>(z),
        ComplexFunction::Cosh => cosh::<_, P>(z),
        ComplexFunction::Tanh => tanh::<_, P>(z),
        ComplexFunction::Logistic => logistic::<_, P>(z),
        ComplexFunction::SechSquare => sech_square::<_, P>(z),
    }
}

#[inline(always)]
pub(super) fn binary<W: F64Vector, P: ComplexPart>(
    f: ComplexFunction2,
    [a, b]: [Z<W>; 2],
) -> Result<W> {
    match f {
        // If the strong zero matters, the quotient is NaN, and the scalar function is called.
        ComplexFunction2::Div | ComplexFunction2::DivStrongZero => quotient::<_, P>(a, b),
        ComplexFunction2::Xlogy => {
            let (l, rare) = log::<_, P>(b);
            (
                product(a, l),
                W::either(rare, W::either(extreme::<_, P>(a), is_zero(a))),
            )
        }
        ComplexFunction2::Pow => {
            // Powers with small integer exponents are computed by multiplication, in the scalar
            // function.
            let whole = W::both(b[1].eq(k(0.0)), b[0].trunc().eq(b[0]));
            let (l, rare) = log::<_, P>(a);
            let (y, far) = exp::<_, P>(product(b, l));
            (
                y,
                W::either(W::either(rare, far), W::either(extreme::<_, P>(b), whole)),
            )
        }
    }
}
