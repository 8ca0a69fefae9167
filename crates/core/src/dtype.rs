//! Element types: `f16 bf16 f32 f64`, `c64 c128`, `i8..i64`, `u8..u64` and `i1` (bool); and opaque
//! types, whose values are not arrays.
//!
//! `c64` is a pair of `f32`, `c128` a pair of `f64`. Floats and complex numbers have tangents, and
//! opaque types that declare a cotangent type.

pub use half::{bf16, f16};
use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

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
    /// Values of a type that an extension declares. They have rank 0, and are elements of no array.
    Opaque(OpaqueType),
}

/// A type that an extension declares: `!sparse.matrix<rows = 4>`.
///
/// A handle of a declaration that is stored for the rest of the process. Two handles are equal if
/// their texts are. See [`Opaque`](crate::Opaque) and [`OpaqueType::declare`].
#[derive(Clone, Copy)]
pub struct OpaqueType(pub(crate) &'static Interned);

/// An interned opaque type.
pub(crate) struct Interned {
    /// Its position in the order of declarations.
    pub number: usize,
    /// The text form.
    pub text: &'static str,
    /// Whether its values have tangents.
    pub has_tangent: bool,
    /// Its declaration, which this file does not interpret.
    pub declaration: Box<dyn Any + Send + Sync>,
}

/// Its only mutable state is cells that are set a single time, and flags.
impl std::panic::RefUnwindSafe for Interned {}

impl OpaqueType {
    /// The text form: `!sparse.matrix<rows = 4>`.
    pub const fn text(self) -> &'static str {
        self.0.text
    }

    /// Whether values of this type have tangents.
    pub const fn has_tangent(self) -> bool {
        self.0.has_tangent
    }
}

impl PartialEq for OpaqueType {
    fn eq(&self, o: &OpaqueType) -> bool {
        self.0.number == o.0.number
    }
}

impl Eq for OpaqueType {}

impl Hash for OpaqueType {
    fn hash<H: Hasher>(&self, h: &mut H) {
        self.0.number.hash(h);
    }
}

impl PartialOrd for OpaqueType {
    fn partial_cmp(&self, o: &OpaqueType) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}

impl Ord for OpaqueType {
    /// The order of declarations.
    fn cmp(&self, o: &OpaqueType) -> Ordering {
        self.0.number.cmp(&o.0.number)
    }
}

impl fmt::Debug for OpaqueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for OpaqueType {
    /// The text form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
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
    /// Types of extensions, on which only operations of extensions are defined.
    Opaque,
}

use DType::*;

impl DType {
    /// Every element type of arrays, in the order of the enum.
    pub const ALL: [DType; 15] = [
        Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128,
    ];

    /// [`DType::C64`] by the width of one part.
    pub const C32: DType = C64;

    /// The name in the text form: `i1` for booleans, `!name<..>` for opaque types.
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
            Opaque(t) => t.text(),
        }
    }

    /// The element type of arrays with a name; accepts `complex<f32>`, `ui8` (StableHLO) and `bool`
    /// too.
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

    /// Bytes of one element of an array; 0 for opaque types.
    pub const fn size(self) -> usize {
        match self {
            Bool | I8 | U8 => 1,
            I16 | U16 | F16 | BF16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 | C64 => 8,
            C128 => 16,
            Opaque(_) => 0,
        }
    }

    /// A number that distinguishes types, for keys: the position in [`DType::ALL`], and larger
    /// numbers for opaque types.
    pub const fn number(self) -> usize {
        match self {
            Bool => 0,
            I8 => 1,
            I16 => 2,
            I32 => 3,
            I64 => 4,
            U8 => 5,
            U16 => 6,
            U32 => 7,
            U64 => 8,
            F16 => 9,
            BF16 => 10,
            F32 => 11,
            F64 => 12,
            C64 => 13,
            C128 => 14,
            Opaque(t) => DType::ALL.len() + t.0.number,
        }
    }

    /// The family of the type.
    pub const fn kind(self) -> Kind {
        match self {
            Bool => Kind::Bool,
            I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 => Kind::Int,
            F16 | BF16 | F32 | F64 => Kind::Float,
            C64 | C128 => Kind::Complex,
            Opaque(_) => Kind::Opaque,
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
        !matches!(self, Bool | U8 | U16 | U32 | U64 | Opaque(_))
    }

    /// Floating point, real or complex.
    pub fn is_inexact(self) -> bool {
        matches!(self.kind(), Kind::Float | Kind::Complex)
    }

    /// Whether values of this type have tangents: floats, complex numbers, and values of opaque
    /// types that declare a cotangent type.
    pub fn has_tangent(self) -> bool {
        match self {
            Opaque(t) => t.has_tangent(),
            d => d.is_inexact(),
        }
    }

    /// The opaque type, if it is one.
    pub fn opaque(self) -> Option<OpaqueType> {
        match self {
            Opaque(t) => Some(t),
            _ => None,
        }
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

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
