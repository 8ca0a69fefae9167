//! Element types: `f16 bf16 f32 f64`, `c64 c128`, `i8..i64`, `u8..u64` and `i1` (bool).
//!
//! `c64` is a pair of `f32`, `c128` a pair of `f64`. Only floats and complex numbers have tangents.

pub use half::{bf16, f16};
/// Complex number with `f32` parts (`c64`). The number in the name counts all bits, as in NumPy;
/// [`Complex32`] is the same type by the name of the crate `num-complex`.
pub type C64 = num_complex::Complex<f32>;
/// [`C64`] by the width of one part.
pub type C32 = C64;
/// Complex number with `f64` parts (`c128`). [`Complex64`] is the same type.
pub type C128 = num_complex::Complex<f64>;
/// [`C64`] by the name of the crate `num-complex`.
pub type Complex32 = C64;
/// [`C128`] by the name of the crate `num-complex`.
pub type Complex64 = C128;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    C64,
    C128,
}

/// The families of element types that operations are defined on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `i1`: logic.
    Bool,
    /// Signed and unsigned integers, two's complement, wrapping.
    Int,
    /// Real floating point.
    Float,
    /// Complex floating point.
    Complex,
}

use DType::*;

impl DType {
    /// Every element type, in the order of the enum.
    pub const ALL: [DType; 15] = [
        Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128,
    ];

    /// [`DType::C64`] by the width of one part.
    pub const C32: DType = C64;

    /// The name in the text form, `i1` for booleans.
    pub const fn name(self) -> &'static str {
        match self {
            Bool => "i1",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            F16 => "f16",
            BF16 => "bf16",
            F32 => "f32",
            F64 => "f64",
            C64 => "c64",
            C128 => "c128",
        }
    }

    /// The element type of a name; accepts `complex<f32>`, `ui8` (StableHLO) and `bool` too.
    pub fn parse(name: &str) -> Option<DType> {
        match name {
            "bool" => Some(Bool),
            "complex<f32>" => Some(C64),
            "complex<f64>" => Some(C128),
            "ui8" => Some(U8),
            "ui16" => Some(U16),
            "ui32" => Some(U32),
            "ui64" => Some(U64),
            _ => DType::ALL.into_iter().find(|d| d.name() == name),
        }
    }

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Bool | I8 | U8 => 1,
            I16 | U16 | F16 | BF16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 | C64 => 8,
            C128 => 16,
        }
    }

    /// The family of the type.
    pub const fn kind(self) -> Kind {
        match self {
            Bool => Kind::Bool,
            I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 => Kind::Int,
            F16 | BF16 | F32 | F64 => Kind::Float,
            C64 | C128 => Kind::Complex,
        }
    }

    /// Real floating point.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// Complex.
    pub fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }

    /// Integer (booleans are not).
    pub fn is_int(self) -> bool {
        self.kind() == Kind::Int
    }

    /// Signed integer, float or complex.
    pub fn is_signed(self) -> bool {
        !matches!(self, Bool | U8 | U16 | U32 | U64)
    }

    /// Whether values of this type have tangents: floats and complex numbers.
    pub fn has_tangent(self) -> bool {
        matches!(self.kind(), Kind::Float | Kind::Complex)
    }

    /// The type of real and imaginary parts (`c64 -> f32`); a real type is its own.
    pub fn real(self) -> DType {
        match self {
            C64 => F32,
            C128 => F64,
            d => d,
        }
    }

    /// The complex type over a real one (`f32 -> c64`), if there is one.
    pub fn complex(self) -> Option<DType> {
        match self {
            F32 | C64 => Some(C64),
            F64 | C128 => Some(C128),
            _ => None,
        }
    }

    /// Distance from 1 to the next number of the (real) type; 0 for integers.
    pub fn epsilon(self) -> f64 {
        match self.real() {
            F16 => f16::EPSILON.to_f64(),
            BF16 => bf16::EPSILON.to_f64(),
            F32 => f32::EPSILON as f64,
            F64 => f64::EPSILON,
            _ => 0.0,
        }
    }

    /// Bits of an integer type (1 for booleans).
    pub fn bits(self) -> u32 {
        if self == Bool {
            1
        } else {
            self.size() as u32 * 8
        }
    }

    /// Smallest and largest integer of an integer or boolean type.
    pub fn int_range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
