//! Elementwise operations as instructions over tiles.
//!
//! An operation becomes one or a few kernels: vector functions on f32 and f64, the same on f16 and bf16 by way of f32
//! with one rounding after each operation, short loops on the other types, and the row's scalar function for what is
//! rare. Fused or alone, an operation is the same instructions, so it gives the same bits.

use crate::convert::{Source, Target};
use crate::element::{Pair, Plain, Real, Whole, for_pair, for_real, for_whole};
use crate::rows::{self, Row};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Binary, Comparison, Op, SpecialFn, Unary};
use cotangent_core::{C64, C128, DType, bf16, f16, math};
use cotangent_kernels::simd::Level;
use cotangent_kernels::tile::kernels::{self, Arithmetic, Map, Zip};
use cotangent_kernels::tile::{Body, Builder, Float, Kernel, Value};
use cotangent_kernels::vector::functions as vector;
use cotangent_kernels::vector::special as vector_special;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A value of a body and its element type.
pub(crate) type Typed = (Value, DType);

/// A body under construction.
pub(crate) struct Lowering {
    body: Builder,
    level: Level,
    /// Picoseconds for each element, about: what decides whether to share the work.
    cost: u64,
    /// Conversions that were made: the value and the type it was converted to.
    converted: FxHashMap<(Value, DType), Value>,
}

/// Whether an operation on a first operand of this type has instructions here.
pub(crate) fn is_elementwise(op: &Op, dtype: DType) -> bool {
    match op {
        Op::Convert(c) => c.to == dtype || conversion(dtype, c.to).is_some(),
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select(_)
        | Op::AtKink(_)
        | Op::Complex(_)
        | Op::IntegerPow(_)
        | Op::Polygamma(_)
        | Op::BesselIe(_)
        | Op::Special(_)
        | Op::Betainc(_)
        | Op::ReducePrecision(_)
        | Op::RoundTo(_) => true,
        Op::Bitcast(b) => b.to.size() == dtype.size(),
        _ => false,
    }
}

/// The kernel of a conversion that occurs beside arithmetic; the others run alone.
fn conversion(from: DType, to: DType) -> Option<Kernel> {
    use DType::*;
    Some(match (from, to) {
        (F16, F32) => kernels::map::<f16, f32, Widen>(),
        (BF16, F32) => kernels::map::<bf16, f32, Widen>(),
        (F32, F16) => kernels::map::<f32, f16, Narrow>(),
        (F32, BF16) => kernels::map::<f32, bf16, Narrow>(),
        (F32, F64) => kernels::map::<f32, f64, Cast>(),
        (F64, F32) => kernels::map::<f64, f32, Cast>(),
        (Bool, F32) => <f32 as Float>::of_truth(),
        (Bool, F64) => <f64 as Float>::of_truth(),
        (Bool, I32) => kernels::map::<bool, i32, Cast>(),
        (Bool, I64) => kernels::map::<bool, i64, Cast>(),
        (I32, F32) => kernels::map::<i32, f32, Cast>(),
        (I32, F64) => kernels::map::<i32, f64, Cast>(),
        (I64, F32) => kernels::map::<i64, f32, Cast>(),
        (I64, F64) => kernels::map::<i64, f64, Cast>(),
        (F32, C64) => kernels::map::<f32, cotangent_core::C64, Cast>(),
        (F64, C128) => kernels::map::<f64, cotangent_core::C128, Cast>(),
        _ => return None,
    })
}

impl Lowering {
    /// An empty body for the vectors of this machine.
    pub(crate) fn new() -> Lowering {
        Lowering::at(Level::chosen())
    }

    /// An empty body for these vectors.
    pub(crate) fn at(level: Level) -> Lowering {
        Lowering { body: Builder::new(), level, cost: 0, converted: FxHashMap::default() }
    }

    /// The next input.
    pub(crate) fn input(&mut self, dtype: DType) -> Typed {
        self.cost += 15 * dtype.size() as u64;
        (self.body.input(dtype.size()), dtype)
    }

    /// One value for all elements.
    pub(crate) fn constant<T: Plain>(&mut self, x: T) -> Typed {
        // SAFETY: an element is initialised bytes: no type here has padding.
        let bytes = unsafe { std::slice::from_raw_parts((&raw const x).cast::<u8>(), size_of::<T>()) };
        (self.body.constant(bytes), T::DTYPE)
    }

    /// The code for these results, and what it costs for each element.
    pub(crate) fn finish(self, results: &[Value]) -> (Body, u64) {
        (self.body.finish(results), self.cost + 50 * results.len() as u64)
    }

    fn step(&mut self, kernel: Kernel, to: DType, x: &[Value]) -> Typed {
        self.push((kernel, 0), to, x, 20 * to.size() as u64)
    }

    fn row(&mut self, row: Row, to: DType, x: &[Value]) -> Typed {
        self.push(row, to, x, 20_000)
    }

    fn push(&mut self, (kernel, data): Row, to: DType, x: &[Value], cost: u64) -> Typed {
        self.cost += cost;
        // SAFETY: callers in this file pair each kernel with operands and a result of its element types.
        (unsafe { self.body.step(kernel, to.size(), x, data) }, to)
    }

    fn vector1(&mut self, f: vector::Unary, (x, dtype): Typed) -> Typed {
        let kernel = match dtype {
            DType::F32 => <f32 as Float>::unary(f, self.level),
            _ => <f64 as Float>::unary(f, self.level),
        };
        use vector::Unary as F;
        let cheap =
            matches!(f, F::Neg | F::Abs | F::Sign | F::Floor | F::Ceil | F::Trunc | F::Square | F::OneMinusSquare);
        let cost = if cheap { 10 } else { 100 } * dtype.size() as u64;
        self.push((kernel, 0), dtype, &[x], cost)
    }

    fn vector2(&mut self, f: vector::Binary, (x, dtype): Typed, (y, _): Typed) -> Typed {
        let kernel = match dtype {
            DType::F32 => <f32 as Float>::binary(f, self.level),
            _ => <f64 as Float>::binary(f, self.level),
        };
        let cost =
            if matches!(f, vector::Binary::Pow | vector::Binary::Atan2 | vector::Binary::Xlogy) { 200 } else { 10 };
        self.push((kernel, 0), dtype, &[x, y], cost * dtype.size() as u64)
    }

    /// A function with loops, differentiated as often in its parameters.
    fn special(&mut self, f: vector_special::Special, orders: (u32, u32), x: &[Typed]) -> Typed {
        let dtype = x[0].1;
        let wide: SmallVec<[Typed; 3]> = x.iter().map(|&x| self.widened(x)).collect();
        let operands: SmallVec<[Value; 3]> = wide.iter().map(|x| x.0).collect();
        let step = f.kernel(self.level, wide[0].1 == DType::F32, orders);
        let y = self.push(step, wide[0].1, &operands, 3_000);
        self.narrowed(y, dtype)
    }

    /// A float in a type that has vectors: f16 and bf16 as f32.
    fn widened(&mut self, x: Typed) -> Typed {
        let kernel = match x.1 {
            DType::F16 => kernels::map::<f16, f32, Widen>(),
            DType::BF16 => kernels::map::<bf16, f32, Widen>(),
            _ => return x,
        };
        if let Some(&y) = self.converted.get(&(x.0, DType::F32)) {
            return (y, DType::F32);
        }
        let y = self.step(kernel, DType::F32, &[x.0]);
        self.converted.insert((x.0, DType::F32), y.0);
        y
    }

    /// The inverse of [`Lowering::widened`].
    fn narrowed(&mut self, x: Typed, to: DType) -> Typed {
        match to {
            DType::F16 => self.step(kernels::map::<f32, f16, Narrow>(), to, &[x.0]),
            DType::BF16 => self.step(kernels::map::<f32, bf16, Narrow>(), to, &[x.0]),
            _ => x,
        }
    }

    /// The instructions of an elementwise operation.
    pub(crate) fn emit(&mut self, op: &Op, x: &[Typed]) -> Typed {
        use vector_special::Special as F;
        match op {
            Op::Unary(f) => self.unary(*f, x[0]),
            Op::Binary(f) => self.binary(*f, x[0], x[1]),
            Op::AtKink(_) => self.binary(Binary::MulStrongZero, x[0], x[1]),
            Op::Compare(c) => self.compare(c.0, x[0], x[1]),
            Op::Select(_) => self.step(kernels::select(x[1].1.size()), x[1].1, &[x[0].0, x[1].0, x[2].0]),
            Op::Complex(_) => match x[0].1 {
                DType::F32 => self.step(kernels::complex::<f32>(), DType::C64, &[x[0].0, x[1].0]),
                _ => self.step(kernels::complex::<f64>(), DType::C128, &[x[0].0, x[1].0]),
            },
            Op::Convert(c) if c.to == x[0].1 => x[0],
            Op::Convert(c) => {
                let kernel = conversion(x[0].1, c.to).expect("asked before");
                self.step(kernel, c.to, &[x[0].0])
            }
            Op::IntegerPow(p) => self.integer_pow(p.n, x[0]),
            Op::Polygamma(p) if p.order == 0 => self.special(F::Digamma, (0, 0), x),
            Op::Polygamma(p) => self.special(F::Polygamma, (p.order, 0), x),
            Op::BesselIe(b) => self.special(F::BesselIe, (b.order, 0), x),
            Op::Special(s) => {
                let f = match s.f {
                    SpecialFn::Igamma => F::Igamma,
                    SpecialFn::Igammac => F::Igammac,
                    SpecialFn::GammaDensity => F::GammaDensity,
                    SpecialFn::Zeta => F::Zeta,
                };
                self.special(f, (s.order, 0), x)
            }
            Op::Betainc(b) => self.special(F::Betainc, (b.a, b.b), x),
            Op::ReducePrecision(p) => {
                let row = for_real!(x[0].1, T => rows::reduce_precision::<T>(rows::packed(p.exponent, p.mantissa)));
                self.row(row, x[0].1, &[x[0].0])
            }
            Op::RoundTo(r) => {
                let row = for_real!(x[0].1, T => rows::round_to::<T>(r.format.number() as i64));
                self.row(row, x[0].1, &[x[0].0])
            }
            Op::Bitcast(b) => self.step(kernels::copy(b.to.size()), b.to, &[x[0].0]),
            op => unreachable!("{op:?} is not elementwise"),
        }
    }

    fn unary(&mut self, op: Unary, x: Typed) -> Typed {
        let (def, dtype) = (op.def(), x.1);
        let to = (def.types)(dtype).expect("the type rule checked it");
        match (dtype.kind(), op) {
            (_, Unary::StopGradient) => x,
            (Kind::Float, Unary::IsNan) => {
                let x = self.widened(x);
                self.compare(Comparison::Ne, x, x)
            }
            (Kind::Float, Unary::IsFinite) => {
                let x = self.widened(x);
                let a = self.vector1(vector::Unary::Abs, x);
                let infinity = match a.1 {
                    DType::F32 => self.constant(f32::INFINITY),
                    _ => self.constant(f64::INFINITY),
                };
                self.compare(Comparison::Lt, a, infinity)
            }
            (Kind::Float, Unary::Lgamma) => self.special(vector_special::Special::Lgamma, (0, 0), &[x]),
            (Kind::Float, Unary::Digamma) => self.special(vector_special::Special::Digamma, (0, 0), &[x]),
            (Kind::Float, _) => match (to == dtype).then(|| vector_unary(op)).flatten() {
                Some(f) => {
                    let wide = self.widened(x);
                    let y = self.vector1(f, wide);
                    self.narrowed(y, dtype)
                }
                None if to == dtype => self.row(for_real!(dtype, T => rows::real1::<T>(def.real)), to, &[x.0]),
                None => self.row(for_real!(dtype, T => rows::real_truth::<T>(def.real)), to, &[x.0]),
            },
            (Kind::Complex, _) => {
                let f = def.complex;
                let row = match (dtype, to) {
                    _ if to == dtype => for_pair!(dtype, T => rows::pair1::<T>(f)),
                    (DType::C64, DType::F32) => rows::pair_real::<C64, f32>(f),
                    (DType::C128, DType::F64) => rows::pair_real::<C128, f64>(f),
                    _ => for_pair!(dtype, T => rows::pair_truth::<T>(f)),
                };
                self.row(row, to, &[x.0])
            }
            (Kind::Bool, Unary::Not) => self.step(kernels::not(), to, &[x.0]),
            (_, Unary::Not) => self.step(for_whole!(dtype, T => kernels::invert::<T>()), to, &[x.0]),
            (Kind::Int, Unary::Neg) => {
                let zero = for_whole!(dtype, T => self.constant(<T as Whole>::of(0)));
                self.binary(Binary::Sub, zero, x)
            }
            _ if to == dtype => self.row(for_whole!(dtype, T => rows::whole1::<T>(def.int)), to, &[x.0]),
            _ => self.row(for_whole!(dtype, T => rows::whole_truth::<T>(def.int)), to, &[x.0]),
        }
    }

    fn binary(&mut self, op: Binary, x: Typed, y: Typed) -> Typed {
        let (def, dtype, both) = (op.def(), x.1, [x.0, y.0]);
        match dtype.kind() {
            Kind::Float => match vector_binary(op) {
                Some(f) => {
                    let (a, b) = (self.widened(x), self.widened(y));
                    let z = self.vector2(f, a, b);
                    self.narrowed(z, dtype)
                }
                None => self.row(for_real!(dtype, T => rows::real2::<T>(def.real)), dtype, &both),
            },
            Kind::Complex => {
                let kernel = match (op, dtype) {
                    (Binary::Add, DType::C64) => kernels::complex_add::<C64>(),
                    (Binary::Add, _) => kernels::complex_add::<C128>(),
                    (Binary::Mul, DType::C64) => kernels::zip::<C64, C64, Product>(),
                    (Binary::Mul, _) => kernels::zip::<C128, C128, Product>(),
                    _ => return self.row(for_pair!(dtype, T => rows::pair2::<T>(def.complex)), dtype, &both),
                };
                self.step(kernel, dtype, &both)
            }
            Kind::Int | Kind::Bool => {
                let f = match op {
                    Binary::Add => Arithmetic::Add,
                    Binary::Sub => Arithmetic::Sub,
                    Binary::Mul => Arithmetic::Mul,
                    Binary::Max => Arithmetic::Max,
                    Binary::Min => Arithmetic::Min,
                    Binary::And => Arithmetic::And,
                    Binary::Or => Arithmetic::Or,
                    Binary::Xor => Arithmetic::Xor,
                    _ => return self.row(for_whole!(dtype, T => rows::whole2::<T>(def.int)), dtype, &both),
                };
                self.step(for_whole!(dtype, T => kernels::integers::<T>(f)), dtype, &both)
            }
        }
    }

    fn compare(&mut self, c: Comparison, x: Typed, y: Typed) -> Typed {
        use kernels::Comparison as C;
        let (mut a, mut b) = (self.widened(x), self.widened(y));
        if matches!(c, Comparison::Gt | Comparison::Ge) {
            std::mem::swap(&mut a, &mut b);
        }
        let c = match c {
            Comparison::Eq => C::Eq,
            Comparison::Ne => C::Ne,
            Comparison::Lt | Comparison::Gt => C::Lt,
            Comparison::Le | Comparison::Ge => C::Le,
        };
        let kernel = match a.1 {
            DType::C64 => kernels::equal::<C64>(c == C::Eq),
            DType::C128 => kernels::equal::<C128>(c == C::Eq),
            DType::F32 => <f32 as Float>::compare(c),
            DType::F64 => <f64 as Float>::compare(c),
            dtype => for_whole!(dtype, T => kernels::compare::<T>(c)),
        };
        self.step(kernel, DType::Bool, &[a.0, b.0])
    }

    /// A power with a fixed exponent, as [`math::powi`](cotangent_core::math::powi): few factors are multiplied, more are
    /// the vector function if the type of arithmetic has the exponent, else the row's.
    fn integer_pow(&mut self, n: i64, x: Typed) -> Typed {
        match x.1.kind() {
            Kind::Float if n.unsigned_abs() <= math::MULTIPLIED => {
                let (wide, m) = (self.widened(x), n.unsigned_abs());
                let y = match n {
                    0.. => self.squaring(m, wide),
                    _ => {
                        let first = self.squaring(m - m / 2, wide);
                        let y = self.vector1(vector::Unary::Recip, first);
                        if m == 1 {
                            y
                        } else {
                            let rest = self.squaring(m / 2, wide);
                            self.vector2(vector::Binary::Div, y, rest)
                        }
                    }
                };
                self.narrowed(y, x.1)
            }
            Kind::Float if n.unsigned_abs() < if x.1 == DType::F64 { 1 << 53 } else { 1 << 24 } => {
                let wide = self.widened(x);
                let n = for_real!(wide.1, T => self.constant(<T as Real>::of(n as f64)));
                let y = self.vector2(vector::Binary::Pow, wide, n);
                self.narrowed(y, x.1)
            }
            Kind::Float => self.row(for_real!(x.1, T => rows::real_power::<T>(n)), x.1, &[x.0]),
            Kind::Complex => self.row(for_pair!(x.1, T => rows::pair_power::<T>(n)), x.1, &[x.0]),
            _ => self.row(for_whole!(x.1, T => rows::whole_power::<T>(n)), x.1, &[x.0]),
        }
    }
}

impl Lowering {
    /// A power by repeated squaring, from the lowest bit of the exponent up.
    fn squaring(&mut self, mut bits: u64, x: Typed) -> Typed {
        let (mut square, mut y) = (x, None);
        while bits > 0 {
            if bits & 1 == 1 {
                y = Some(match y {
                    None => square,
                    Some(y) => self.vector2(vector::Binary::Mul, y, square),
                });
            }
            bits >>= 1;
            if bits > 0 {
                square = self.vector1(vector::Unary::Square, square);
            }
        }
        y.unwrap_or_else(|| for_real!(x.1, T => self.constant(<T as Real>::of(1.0))))
    }
}

struct Widen;
struct Narrow;
struct Cast;
struct Product;

/// As [`convert`](crate::convert).
impl<T: Source, U: Target> Map<T, U> for Cast {
    #[inline(always)]
    fn f(x: T) -> U {
        x.become_()
    }
}

impl<T: Real> Map<T, f32> for Widen {
    #[inline(always)]
    fn f(x: T) -> f32 {
        x.to() as f32
    }
}

impl Map<f32, f16> for Narrow {
    #[inline(always)]
    fn f(x: f32) -> f16 {
        f16::from_f32(x)
    }
}

impl Map<f32, bf16> for Narrow {
    #[inline(always)]
    fn f(x: f32) -> bf16 {
        bf16::from_f32(x)
    }
}

impl<T: Pair> Zip<T, T> for Product {
    #[inline(always)]
    fn f(a: T, b: T) -> T {
        T::of(a.to() * b.to())
    }
}

/// The vector function of a row.
fn vector_unary(op: Unary) -> Option<vector::Unary> {
    use vector::Unary as F;
    Some(match op {
        Unary::Neg => F::Neg,
        Unary::Abs => F::Abs,
        Unary::Sign => F::Sign,
        Unary::Floor => F::Floor,
        Unary::Ceil => F::Ceil,
        Unary::Trunc => F::Trunc,
        Unary::RoundHalfEven => F::RoundHalfEven,
        Unary::RoundHalfAway => F::RoundHalfAway,
        Unary::Sqrt => F::Sqrt,
        Unary::Rsqrt => F::Rsqrt,
        Unary::Exp => F::Exp,
        Unary::Exp2 => F::Exp2,
        Unary::Expm1 => F::Expm1,
        Unary::Log => F::Log,
        Unary::Log2 => F::Log2,
        Unary::Log1p => F::Log1p,
        Unary::Sin => F::Sin,
        Unary::Cos => F::Cos,
        Unary::Tan => F::Tan,
        Unary::Asin => F::Asin,
        Unary::Acos => F::Acos,
        Unary::Atan => F::Atan,
        Unary::Sinh => F::Sinh,
        Unary::Cosh => F::Cosh,
        Unary::Tanh => F::Tanh,
        Unary::Logistic => F::Logistic,
        Unary::Erf => F::Erf,
        Unary::Erfc => F::Erfc,
        Unary::Cbrt => F::Cbrt,
        Unary::Asinh => F::Asinh,
        Unary::Acosh => F::Acosh,
        Unary::Atanh => F::Atanh,
        Unary::ErfInv => F::ErfInv,
        Unary::OneMinusSquare => F::OneMinusSquare,
        Unary::SechSquare => F::SechSquare,
        Unary::RecipOnePlusSquare => F::RecipOnePlusSquare,
        _ => return None,
    })
}

/// The vector function of a row.
fn vector_binary(op: Binary) -> Option<vector::Binary> {
    use vector::Binary as F;
    Some(match op {
        Binary::Add => F::Add,
        Binary::Sub => F::Sub,
        Binary::Mul => F::Mul,
        Binary::Div => F::Div,
        Binary::Max => F::Max,
        Binary::Min => F::Min,
        Binary::Pow => F::Pow,
        Binary::Atan2 => F::Atan2,
        Binary::Rem => F::Rem,
        Binary::Xlogy => F::Xlogy,
        Binary::MulStrongZero => F::MulStrongZero,
        Binary::DivStrongZero => F::DivStrongZero,
        Binary::AddError => F::AddError,
        _ => return None,
    })
}
