//! Lowering of elementwise operations to instructions over tiles.
//!
//! An operation becomes one or a few kernels, by element type. f32 and f64 use vector functions.
//! f16 and bf16 use those of f32, with one rounding after each operation. Integers use loops that
//! the compiler vectorises. Complex numbers use a vector of real and a vector of imaginary parts.
//! Rare operations call the scalar function of their table entry, and extensions their own. An
//! operation has the same instructions whether fused or single, so it gives the same bits.

use crate::convert;
use crate::element::{
    IntegerElement, PlainElement, RealElement, for_any, for_complex, for_complex_part, for_int,
    for_integer_or_bool, for_real,
};
use crate::scalar::{self, ScalarKernel};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Beyond, Binary, Comparison, Format, Op, SpecialFn, Unary};
use cotangent_core::primitive::{OpClass, ScalarFn};
use cotangent_core::{C64, C128, DType, Primitive, Type, bf16, f16, math};
use cotangent_kernels::simd::Isa;
use cotangent_kernels::tile::complex;
use cotangent_kernels::tile::halves::Half;
use cotangent_kernels::tile::integers;
use cotangent_kernels::tile::kernels::{self, Arithmetic};
use cotangent_kernels::tile::rounding::{self, Reduce, Round};
use cotangent_kernels::tile::{Body, Builder, TileFloat, TileOp, Value};
use cotangent_kernels::vector::{
    complex as complex_vector, functions as vector, special as vector_special,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// A value of a body and its element type.
pub(crate) type Typed = (Value, DType);

/// A body under construction.
pub(crate) struct Lowering {
    body: Builder,
    isa: Isa,
    /// Estimated time per element, in ps. It decides whether the work is divided among threads.
    cost: u64,
    /// f32 values of f16 and bf16 values.
    converted: FxHashMap<Value, Value>,
    /// Number of instructions that call a scalar function per element.
    #[cfg(test)]
    by_element: usize,
}

/// Maximum number of operands of an instruction.
const MAX_OPERANDS: usize = 3;

/// Whether an operation on operands of these types is lowered here.
pub(crate) fn is_elementwise(op: &Op, x: &[DType]) -> bool {
    let class = || op.results() == 1 && op.class(x) == OpClass::Elementwise;
    match op {
        // Its axes matter for derivatives only.
        Op::AtKink(_) => true,
        Op::Extension(p) => class() && extension_type(&**p, x).is_some() && p.scalar(x).is_some(),
        _ => class(),
    }
}

/// Whether the operation is lowered to instructions over tiles on these operands. The runtime
/// relies on equal shapes, which only the type rules of built-in operations guarantee.
pub(crate) fn is_fused(op: &Op, x: &[Type]) -> bool {
    is_elementwise(op, &dtypes(x)) && x.iter().all(|t| t.shape == x[0].shape)
}

/// The element types of operands.
pub(crate) fn dtypes(x: &[Type]) -> SmallVec<[DType; 3]> {
    x.iter().map(|t| t.dtype).collect()
}

/// The element type of the operands and the result of an extension operation, if it is one float
/// type and an instruction has as many operands.
fn extension_type(op: &dyn Primitive, x: &[DType]) -> Option<DType> {
    let dtype = *x.first().filter(|_| x.len() <= MAX_OPERANDS)?;
    let types: SmallVec<[Type; 3]> = x.iter().map(|&t| Type::scalar(t)).collect();
    let result = op.infer(&types).ok()?;
    let same = x.iter().all(|&t| t == dtype) && result == [Type::scalar(dtype)];
    (dtype.is_float() && same).then_some(dtype)
}

impl Lowering {
    /// An empty body for the instruction set of this machine.
    pub(crate) fn new() -> Lowering {
        Lowering::at(Isa::chosen())
    }

    /// An empty body for the given instruction set.
    pub(crate) fn at(isa: Isa) -> Lowering {
        Lowering {
            body: Builder::new(),
            isa,
            cost: 0,
            converted: FxHashMap::default(),
            #[cfg(test)]
            by_element: 0,
        }
    }

    /// Adds the next input.
    pub(crate) fn input(&mut self, dtype: DType) -> Typed {
        self.cost += 15 * dtype.size() as u64;
        (self.body.input(dtype.size()), dtype)
    }

    /// Adds a constant that is broadcast to all elements.
    pub(crate) fn constant<T: PlainElement>(&mut self, x: T) -> Typed {
        // SAFETY: `x` is initialised, and no element type has padding, so its `size_of::<T>()`
        // bytes are readable.
        let bytes =
            unsafe { std::slice::from_raw_parts((&raw const x).cast::<u8>(), size_of::<T>()) };
        (self.body.constant(bytes), T::DTYPE)
    }

    /// The code that computes `results`, and its estimated time per element, in ps.
    pub(crate) fn finish(self, results: &[Value]) -> (Body, u64) {
        (
            self.body.finish(results),
            self.cost + 50 * results.len() as u64,
        )
    }

    /// The instructions so far.
    pub(crate) fn builder(&self) -> &Builder {
        &self.body
    }

    fn step(&mut self, kernel: TileOp, to: DType, x: &[Value]) -> Typed {
        self.push((kernel, 0), to, x, 20 * to.size() as u64)
    }

    fn row(&mut self, row: ScalarKernel, to: DType, x: &[Value]) -> Typed {
        #[cfg(test)]
        {
            self.by_element += 1;
        }
        self.push(row, to, x, 20_000)
    }

    fn push(&mut self, (kernel, data): ScalarKernel, to: DType, x: &[Value], cost: u64) -> Typed {
        self.cost += cost;
        // SAFETY: every caller is in this file and pairs the kernel with operands and a result of
        // the kernel's element types.
        (unsafe { self.body.step(kernel, to.size(), x, data) }, to)
    }

    fn vector1(&mut self, f: vector::Unary, (x, dtype): Typed) -> Typed {
        let kernel = match dtype {
            DType::F32 => <f32 as TileFloat>::unary(f, self.isa),
            _ => <f64 as TileFloat>::unary(f, self.isa),
        };
        use vector::Unary as F;
        let cheap = matches!(
            f,
            F::Neg
                | F::Abs
                | F::Sign
                | F::Floor
                | F::Ceil
                | F::Trunc
                | F::Square
                | F::OneMinusSquare
        );
        let cost = if cheap { 10 } else { 100 } * dtype.size() as u64;
        self.push((kernel, 0), dtype, &[x], cost)
    }

    fn vector2(&mut self, f: vector::Binary, (x, dtype): Typed, (y, _): Typed) -> Typed {
        let kernel = match dtype {
            DType::F32 => <f32 as TileFloat>::binary(f, self.isa),
            _ => <f64 as TileFloat>::binary(f, self.isa),
        };
        let cost = if matches!(
            f,
            vector::Binary::Pow | vector::Binary::Atan2 | vector::Binary::Xlogy
        ) {
            200
        } else {
            10
        };
        self.push((kernel, 0), dtype, &[x, y], cost * dtype.size() as u64)
    }

    /// `x · y + z` of floats of 32 or 64 bits, rounded once.
    pub(crate) fn fma(&mut self, [x, y, z]: [Typed; 3]) -> Typed {
        self.step(kernels::fma(x.1.size()), x.1, &[x.0, y.0, z.0])
    }

    /// Converts elements to another type.
    pub(crate) fn convert(&mut self, x: Typed, to: DType) -> Typed {
        if x.1 == to {
            return x;
        }
        let x = self.widened(x);
        convert::path(x.1, to)
            .into_iter()
            .fold((x.0, to), |(v, _), (kernel, to)| {
                self.step(kernel, to, &[v])
            })
    }

    /// A special function with internal loops, differentiated `orders` times in its parameters.
    fn special(&mut self, f: vector_special::Special, orders: (u32, u32), x: &[Typed]) -> Typed {
        let dtype = x[0].1;
        let wide: SmallVec<[Typed; 3]> = x.iter().map(|&x| self.widened(x)).collect();
        let operands: SmallVec<[Value; 3]> = wide.iter().map(|x| x.0).collect();
        let step = f.kernel(self.isa, wide[0].1 == DType::F32, orders);
        let y = self.push(step, wide[0].1, &operands, 3_000);
        self.narrowed(y, dtype)
    }

    /// A float in a type with vector functions: f16 and bf16 are converted to f32.
    fn widened(&mut self, x: Typed) -> Typed {
        let kernel = match x.1 {
            DType::F16 => f16::widen(),
            DType::BF16 => bf16::widen(),
            _ => return x,
        };
        if let Some(&y) = self.converted.get(&x.0) {
            return (y, DType::F32);
        }
        let y = self.step(kernel, DType::F32, &[x.0]);
        self.converted.insert(x.0, y.0);
        y
    }

    /// The inverse of [`Lowering::widened`]. The rounded f32 value is cached for later readers in
    /// f32.
    fn narrowed(&mut self, x: Typed, to: DType) -> Typed {
        let (narrow, round) = match to {
            DType::F16 => (f16::narrow(), f16::round()),
            DType::BF16 => (bf16::narrow(), bf16::round()),
            _ => return x,
        };
        let (y, wide) = (
            self.step(narrow, to, &[x.0]),
            self.step(round, DType::F32, &[x.0]),
        );
        self.converted.insert(y.0, wide.0);
        y
    }

    /// Adds the instructions of an elementwise operation.
    pub(crate) fn emit(&mut self, op: &Op, x: &[Typed]) -> Typed {
        use vector_special::Special as F;
        match op {
            Op::Unary(f) => self.unary(*f, x[0]),
            Op::Binary(f) => self.binary(*f, x[0], x[1]),
            Op::AtKink(_) => self.binary(Binary::MulStrongZero, x[0], x[1]),
            Op::Compare(c) => self.compare(c.0, x[0], x[1]),
            Op::Select(_) => self.step(
                kernels::select(x[1].1.size()),
                x[1].1,
                &[x[0].0, x[1].0, x[2].0],
            ),
            Op::Complex(_) => match x[0].1 {
                DType::F32 => self.step(kernels::complex::<f32>(), DType::C64, &[x[0].0, x[1].0]),
                _ => self.step(kernels::complex::<f64>(), DType::C128, &[x[0].0, x[1].0]),
            },
            Op::Convert(c) => self.convert(x[0], c.to),
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
                let (kernel, data) = (
                    for_real!(x[0].1, T => T::reduce()),
                    rounding::bits(p.exponent, p.mantissa),
                );
                self.push((kernel, data), x[0].1, &[x[0].0], 50 * x[0].1.size() as u64)
            }
            Op::RoundTo(r) => self.round_to(r.format, x[0]),
            Op::Bitcast(b) => self.step(kernels::copy(b.to.size()), b.to, &[x[0].0]),
            Op::Extension(p) => self.extension(&**p, x),
            op => unreachable!("{op:?} is not elementwise"),
        }
    }

    /// Calls the scalar function of an extension per element.
    fn extension(&mut self, op: &dyn Primitive, x: &[Typed]) -> Typed {
        let types: SmallVec<[DType; 3]> = x.iter().map(|x| x.1).collect();
        let operands: SmallVec<[Value; 3]> = x.iter().map(|x| x.0).collect();
        let f = op.scalar(&types).expect("checked by `is_elementwise`");
        let f: Arc<ScalarFn> = Arc::new(f);
        let kernel = for_real!(types[0], T => match x.len() {
            1 => scalar::extension::<T, 1>(),
            2 => scalar::extension::<T, 2>(),
            _ => scalar::extension::<T, 3>(),
        });
        let address = Arc::as_ptr(&f) as usize;
        self.body.keep(f);
        self.row((kernel, address), types[0], &operands)
    }

    /// Rounds a float to a narrow format. f16 and bf16 are rounded in f32, which represents their
    /// values exactly.
    fn round_to(&mut self, format: Format, x: Typed) -> Typed {
        use rounding::Beyond as B;
        let beyond = match format.beyond() {
            _ if format.is_powers() => B::Powers,
            Beyond::Infinite => B::Infinite,
            Beyond::Nan => B::Nan,
            Beyond::NanNoSign => B::NanNoSign,
            Beyond::Greatest => B::Greatest,
        };
        let (mantissa, least, greatest) = (
            format.mantissa(),
            format.least_exponent(),
            format.greatest() as f32,
        );
        let data = rounding::NarrowFormat {
            mantissa,
            least,
            greatest,
            beyond,
        }
        .data();
        let wide = self.widened(x);
        let kernel = match wide.1 {
            DType::F32 => <f32 as Round>::kernel(beyond),
            _ => <f64 as Round>::kernel(beyond),
        };
        let y = self.push((kernel, data), wide.1, &[wide.0], 50 * wide.1.size() as u64);
        self.narrowed(y, x.1)
    }

    fn unary(&mut self, op: Unary, x: Typed) -> Typed {
        let (def, dtype) = (op.def(), x.1);
        let to = (def.types)(dtype).expect("the type rule checked it");
        match (dtype.kind(), op) {
            (_, Unary::StopGradient) | (Kind::Float, Unary::Real | Unary::Conj) => x,
            (Kind::Float, Unary::Imag) => {
                for_real!(dtype, T => self.constant(<T as RealElement>::of(0.0)))
            }
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
            (Kind::Float, Unary::Lgamma) => {
                self.special(vector_special::Special::Lgamma, (0, 0), &[x])
            }
            (Kind::Float, Unary::Digamma) => {
                self.special(vector_special::Special::Digamma, (0, 0), &[x])
            }
            (Kind::Float, _) => match vector_unary(op) {
                Some(f) => {
                    let wide = self.widened(x);
                    let y = self.vector1(f, wide);
                    self.narrowed(y, dtype)
                }
                None => self.row(
                    for_real!(dtype, T => scalar::real_unary::<T>(def.real)),
                    to,
                    &[x.0],
                ),
            },
            (Kind::Complex, _) => self.complex_unary(op, x, to),
            (Kind::Bool, Unary::Not) => self.step(kernels::not(), to, &[x.0]),
            (_, Unary::Not) => self.step(
                for_integer_or_bool!(dtype, T => kernels::invert::<T>()),
                to,
                &[x.0],
            ),
            (Kind::Int, Unary::Neg) => {
                let zero =
                    for_integer_or_bool!(dtype, T => self.constant(<T as IntegerElement>::of(0)));
                self.binary(Binary::Sub, zero, x)
            }
            (_, op) => {
                use integers::IntegerUnary as F;
                let f = match op {
                    Unary::Abs => F::Abs,
                    Unary::Sign => F::Sign,
                    Unary::Popcnt => F::CountOnes,
                    Unary::Clz => F::LeadingZeros,
                    op => unreachable!("`{op:?}` is not defined on {dtype}"),
                };
                self.step(for_int!(dtype, T => integers::unary::<T>(f)), to, &[x.0])
            }
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
                None => self.row(
                    for_real!(dtype, T => scalar::real_binary::<T>(def.real)),
                    dtype,
                    &both,
                ),
            },
            Kind::Complex => self.complex_binary(op, x, y),
            Kind::Int | Kind::Bool | Kind::Opaque => self.integers(op, x, y),
        }
    }

    /// A unary function of complex numbers.
    fn complex_unary(&mut self, op: Unary, x: Typed, to: DType) -> Typed {
        use complex::ComplexUnary as F;
        use complex_vector::ComplexFunction as G;
        let (dtype, isa, scalar) = (x.1, self.isa, op.def().complex);
        let simple = |f: F| for_complex_part!(dtype, P => complex::unary::<P>(f));
        let kernel = match op {
            Unary::Neg => simple(F::Neg),
            Unary::Conj => simple(F::Conj),
            Unary::Real => simple(F::Real),
            Unary::Imag => simple(F::Imag),
            Unary::OneMinusSquare => simple(F::OneMinusSquare),
            Unary::IsFinite => simple(F::IsFinite),
            Unary::IsNan => simple(F::IsNan),
            Unary::Abs => for_complex_part!(dtype, P => complex_vector::absolute::<P>(isa)),
            op => {
                let f = match op {
                    Unary::Sign => G::Sign,
                    Unary::Sqrt => G::Sqrt,
                    Unary::Rsqrt => G::Rsqrt,
                    Unary::Exp => G::Exp,
                    Unary::Exp2 => G::Exp2,
                    Unary::Expm1 => G::Expm1,
                    Unary::Log => G::Log,
                    Unary::Log2 => G::Log2,
                    Unary::Log1p => G::Log1p,
                    Unary::Sin => G::Sin,
                    Unary::Cos => G::Cos,
                    Unary::Tan => G::Tan,
                    Unary::Sinh => G::Sinh,
                    Unary::Cosh => G::Cosh,
                    Unary::Tanh => G::Tanh,
                    Unary::Logistic => G::Logistic,
                    Unary::SechSquare => G::SechSquare,
                    // Inverse functions have many branch cuts, and they and the cube root are rare.
                    _ => {
                        return self.row(
                            for_complex!(dtype, T => scalar::complex_unary::<T>(scalar)),
                            to,
                            &[x.0],
                        );
                    }
                };
                let kernel = for_complex_part!(dtype, P => f.kernel::<P>(isa, scalar));
                return self.push(kernel, to, &[x.0], 200 * dtype.size() as u64);
            }
        };
        self.step(kernel, to, &[x.0])
    }

    /// A binary function of complex numbers.
    fn complex_binary(&mut self, op: Binary, x: Typed, y: Typed) -> Typed {
        use complex::ComplexBinary as F;
        use complex_vector::ComplexFunction2 as G;
        let (dtype, both, isa, scalar) = (x.1, [x.0, y.0], self.isa, op.def().complex);
        let simple = |f: F| for_complex_part!(dtype, P => complex::binary::<P>(f));
        let f = match op {
            Binary::Add => {
                return self.step(
                    for_complex!(dtype, T => kernels::complex_add::<T>()),
                    dtype,
                    &both,
                );
            }
            Binary::Sub => return self.step(simple(F::Sub), dtype, &both),
            Binary::Mul => return self.step(simple(F::Mul), dtype, &both),
            Binary::MulStrongZero => return self.step(simple(F::MulStrongZero), dtype, &both),
            Binary::Div => G::Div,
            Binary::DivStrongZero => G::DivStrongZero,
            Binary::Pow => G::Pow,
            Binary::Xlogy => G::Xlogy,
            op => unreachable!("`{op:?}` is not defined on {dtype}"),
        };
        let kernel = for_complex_part!(dtype, P => f.kernel::<P>(isa, scalar));
        self.push(kernel, dtype, &both, 200 * dtype.size() as u64)
    }

    /// `z^n` like [`powi`](cotangent_core::math::complex::powi); negative exponents are computed in
    /// double precision.
    fn complex_power(&mut self, n: i64, x: Typed) -> Typed {
        let m = n.unsigned_abs();
        if n >= 0 {
            return self.power_of(x, m);
        }
        let wide = self.convert(x, DType::C128);
        let one = self.constant(C128::ONE);
        let first = if m == 1 {
            wide
        } else {
            self.power_of(wide, m - m / 2)
        };
        let mut y = self.complex_binary(Binary::Div, one, first);
        if m > 1 {
            let rest = self.power_of(wide, m / 2);
            y = self.complex_binary(Binary::Div, y, rest);
        }
        self.convert(y, x.1)
    }

    /// `z^m` by squaring.
    fn power_of(&mut self, z: Typed, m: u64) -> Typed {
        let kernel = for_complex_part!(z.1, P => complex_vector::power::<P>(self.isa));
        self.push((kernel, m as usize), z.1, &[z.0], 100 * z.1.size() as u64)
    }

    /// A binary function of integers or booleans.
    fn integers(&mut self, op: Binary, x: Typed, y: Typed) -> Typed {
        use integers::IntegerBinary as F;
        let (dtype, both) = (x.1, [x.0, y.0]);
        let f = match op {
            Binary::Add => Ok(Arithmetic::Add),
            Binary::Sub => Ok(Arithmetic::Sub),
            Binary::Mul => Ok(Arithmetic::Mul),
            Binary::Max => Ok(Arithmetic::Max),
            Binary::Min => Ok(Arithmetic::Min),
            Binary::And => Ok(Arithmetic::And),
            Binary::Or => Ok(Arithmetic::Or),
            Binary::Xor => Ok(Arithmetic::Xor),
            Binary::ShiftLeft => Err(F::ShiftLeft),
            Binary::ShiftRightLogical => Err(F::ShiftRightLogical),
            Binary::ShiftRightArithmetic => Err(F::ShiftRightArithmetic),
            Binary::Div => Err(F::Div),
            Binary::Rem => Err(F::Rem),
            Binary::Pow => Err(F::Pow),
            op => unreachable!("`{op:?}` is not defined on {dtype}"),
        };
        match f {
            Ok(f) => self.step(
                for_integer_or_bool!(dtype, T => kernels::integers::<T>(f)),
                dtype,
                &both,
            ),
            Err(f) => {
                let many = matches!(f, F::Div | F::Rem | F::Pow);
                let cost = if many { 300 } else { 20 } * dtype.size() as u64;
                self.push(
                    (for_int!(dtype, T => integers::binary::<T>(f, self.isa)), 0),
                    dtype,
                    &both,
                    cost,
                )
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
            DType::C64 => kernels::complex_equal::<C64>(c == C::Eq),
            DType::C128 => kernels::complex_equal::<C128>(c == C::Eq),
            DType::F32 => <f32 as TileFloat>::compare(c),
            DType::F64 => <f64 as TileFloat>::compare(c),
            dtype => for_integer_or_bool!(dtype, T => kernels::compare::<T>(c)),
        };
        self.step(kernel, DType::Bool, &[a.0, b.0])
    }

    /// A power with a fixed exponent, like [`math::powi`]. Small
    /// exponents multiply. Others call the vector function if the type of arithmetic represents the
    /// exponent exactly, else the scalar function.
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
                let n = for_real!(wide.1, T => self.constant(<T as RealElement>::of(n as f64)));
                let y = self.vector2(vector::Binary::Pow, wide, n);
                self.narrowed(y, x.1)
            }
            Kind::Float => self.row(for_real!(x.1, T => scalar::real_power::<T>(n)), x.1, &[x.0]),
            Kind::Complex => self.complex_power(n, x),
            _ => {
                let kernel = for_int!(x.1, T => integers::fixed_power::<T>());
                self.push((kernel, n as usize), x.1, &[x.0], 100 * x.1.size() as u64)
            }
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
        y.unwrap_or_else(|| for_real!(x.1, T => self.constant(<T as RealElement>::of(1.0))))
    }
}

/// The vector function of a unary operation, if there is one.
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

/// The vector function of a binary operation, if there is one.
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

/// Adds the element of a rank-0 array as a constant of the code.
pub(crate) fn literal(lowering: &mut Lowering, value: &cotangent_core::Array) -> Typed {
    fn of<T: PlainElement>(lowering: &mut Lowering, value: &cotangent_core::Array) -> Typed {
        lowering.constant(value.as_slice::<T>().expect("the element type was matched")[0])
    }
    for_any!(value.dtype(), T => of::<T>(lowering, value))
}
