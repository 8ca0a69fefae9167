//! Dense row-major arrays: constants, inputs and outputs of programs, and the reference
//! interpreter's values.
//!
//! [`Array`] stores elements in their own type; a clone shares them. [`Wide`] is the representation
//! of the reference interpreter: floats as `f64`, complex numbers as pairs of `f64`, integers as
//! `i128`. Conversion back rounds or wraps once.

use crate::bail;
pub use crate::buffer::{Buffer, Elements};
use crate::dtype::{C64, C128, DType, Kind, OpaqueType, bf16, f16};
use crate::error::Result;
use crate::shape::Type;
use std::any::Any;
use std::fmt;

/// A Rust type that is the element type of a [`DType`].
pub trait Element: Copy + PartialEq + fmt::Debug + Default + Send + Sync + 'static {
    /// The matching element type.
    const DTYPE: DType;
    /// Wraps a vector.
    fn wrap(data: Vec<Self>) -> Data;
    /// Wraps memory of this or another owner.
    fn share(data: Buffer<Self>) -> Data;
    /// The elements, if the data has this type.
    fn slice(data: &Data) -> Option<&[Self]>;
    /// Takes the elements out, copying only when they are shared.
    fn take(data: Data) -> Option<Vec<Self>>;
}

macro_rules! elements {
    ($($variant:ident $t:ty),*) => {
        /// Elements by type.
        #[derive(Clone, PartialEq)]
        #[allow(missing_docs)]
        pub enum Data { $($variant(Buffer<$t>)),* }

        $(impl Element for $t {
            const DTYPE: DType = DType::$variant;
            fn wrap(data: Vec<$t>) -> Data { Data::$variant(data.into()) }
            fn share(data: Buffer<$t>) -> Data { Data::$variant(data) }
            #[inline]
            fn slice(data: &Data) -> Option<&[$t]> {
                match data { Data::$variant(v) => Some(v), _ => None }
            }
            fn take(data: Data) -> Option<Vec<$t>> {
                match data { Data::$variant(v) => Some(v.into_vec()), _ => None }
            }
        })*

        impl Data {
            /// The element type.
            pub fn dtype(&self) -> DType {
                match self { $(Data::$variant(_) => DType::$variant),* }
            }

            /// Number of elements.
            #[inline]
            pub fn len(&self) -> usize {
                match self { $(Data::$variant(v) => v.len()),* }
            }

            /// The value of [`Elements::owner`], for memory of another owner.
            pub fn owner(&self) -> Option<&dyn Any> {
                match self { $(Data::$variant(v) => v.owner()),* }
            }

            /// Whether both are one allocation.
            fn is_shared_with(&self, other: &Data) -> bool {
                match (self, other) {
                    $((Data::$variant(a), Data::$variant(b)) => a.is(b),)*
                    _ => false,
                }
            }
        }
    };
}

elements!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
    F16 f16, BF16 bf16, F32 f32, F64 f64, C64 C64, C128 C128);

/// Runs an expression with a type alias `$T` bound to the Rust type of a [`DType`]:
/// `for_dtype!(dtype, T => size_of::<T>())`. Panics for an opaque type, which is the type of no
/// array.
#[macro_export]
macro_rules! for_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool => {
                type $T = bool;
                $body
            }
            $crate::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::DType::I16 => {
                type $T = i16;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::U16 => {
                type $T = u16;
                $body
            }
            $crate::DType::U32 => {
                type $T = u32;
                $body
            }
            $crate::DType::U64 => {
                type $T = u64;
                $body
            }
            $crate::DType::F16 => {
                type $T = $crate::f16;
                $body
            }
            $crate::DType::BF16 => {
                type $T = $crate::bf16;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::DType::C64 => {
                type $T = $crate::C64;
                $body
            }
            $crate::DType::C128 => {
                type $T = $crate::C128;
                $body
            }
            $crate::DType::Opaque(t) => $crate::array::no_elements(t),
        }
    };
}

/// The panic of [`for_dtype`] for an opaque type.
#[doc(hidden)]
pub fn no_elements(ty: OpaqueType) -> ! {
    panic!("{ty} is the element type of no array")
}

/// Returns an error for an opaque type, which is the element type of no array.
pub(crate) fn check_element(dtype: DType) -> Result<()> {
    if let DType::Opaque(t) = dtype {
        bail!(
            DTypeMismatch,
            "an array cannot have elements of type {t}: values of opaque types are computed by \
             operations of their extension only"
        );
    }
    Ok(())
}

impl Data {
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A dense array in row-major order.
#[derive(Clone, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    data: Data,
}

impl Array {
    /// An array from elements in row-major order. Returns an error if their number is not the
    /// product of the extents.
    pub fn from_vec<T: Element>(shape: impl Into<Vec<usize>>, data: Vec<T>) -> Result<Array> {
        Array::from_data(shape, T::wrap(data))
    }

    /// As [`Array::from_vec`], for elements of a type known at run time.
    pub fn from_data(shape: impl Into<Vec<usize>>, data: Data) -> Result<Array> {
        let shape = shape.into();
        if numel(&shape) != Some(data.len()) {
            bail!(
                ShapeMismatch,
                "{} elements do not fill the shape {shape:?}",
                data.len()
            );
        }
        Ok(Array { shape, data })
    }

    /// An array of rank 0.
    pub fn scalar<T: Element>(value: T) -> Array {
        Array {
            shape: Vec::new(),
            data: T::wrap(vec![value]),
        }
    }

    /// An array of rank 1.
    pub fn vector<T: Element>(data: Vec<T>) -> Array {
        Array {
            shape: vec![data.len()],
            data: T::wrap(data),
        }
    }

    /// An array with all elements equal.
    pub fn full<T: Element>(shape: impl Into<Vec<usize>>, value: T) -> Result<Array> {
        let shape = shape.into();
        let n = room(&shape, size_of::<T>())?;
        Ok(Array {
            data: T::wrap(vec![value; n]),
            shape,
        })
    }

    /// Zeros (false for booleans). An error for an opaque type.
    pub fn zeros(dtype: DType, shape: impl Into<Vec<usize>>) -> Result<Array> {
        check_element(dtype)?;
        for_dtype!(dtype, T => Array::full(shape, T::default()))
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// Element type and shape.
    pub fn ty(&self) -> Type {
        Type::new(self.dtype(), self.shape.as_slice())
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The elements by type.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The elements by type, owned.
    pub fn into_data(self) -> Data {
        self.data
    }

    /// The elements in row-major order, if they have type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        T::slice(&self.data)
    }

    /// An array with the same elements in row-major order, and another shape of the same size.
    pub fn reshape(self, shape: impl Into<Vec<usize>>) -> Result<Array> {
        Array::from_data(shape, self.data)
    }

    /// Elements at these positions, in the interpreter's representation. Other elements are not
    /// read.
    pub fn pick(&self, at: &[usize]) -> Wide {
        fn ints<T: Copy + Into<i128>>(v: &[T], at: &[usize]) -> Wide {
            Wide::I(at.iter().map(|&i| v[i].into()).collect())
        }
        fn floats<T: Copy + Into<f64>>(v: &[T], at: &[usize]) -> Wide {
            Wide::F(at.iter().map(|&i| v[i].into()).collect())
        }
        match &self.data {
            Data::Bool(v) => ints(v, at),
            Data::I8(v) => ints(v, at),
            Data::I16(v) => ints(v, at),
            Data::I32(v) => ints(v, at),
            Data::I64(v) => ints(v, at),
            Data::U8(v) => ints(v, at),
            Data::U16(v) => ints(v, at),
            Data::U32(v) => ints(v, at),
            Data::U64(v) => ints(v, at),
            Data::F16(v) => floats(v, at),
            Data::BF16(v) => floats(v, at),
            Data::F32(v) => floats(v, at),
            Data::F64(v) => floats(v, at),
            Data::C64(v) => Wide::C(
                at.iter()
                    .map(|&i| C128::new(v[i].re.into(), v[i].im.into()))
                    .collect(),
            ),
            Data::C128(v) => Wide::C(at.iter().map(|&i| v[i]).collect()),
        }
    }

    /// Whether an element, or a part of a complex one, is not a number.
    pub fn has_nan(&self) -> bool {
        match self.wide() {
            Wide::F(x) => x.iter().any(|x| x.is_nan()),
            Wide::C(z) => z.iter().any(|z| z.re.is_nan() || z.im.is_nan()),
            Wide::I(_) => false,
        }
    }

    /// All elements in the interpreter's representation.
    pub fn wide(&self) -> Wide {
        fn ints<T: Copy + Into<i128>>(v: &[T]) -> Wide {
            Wide::I(v.iter().map(|&x| x.into()).collect())
        }
        fn floats<T: Copy + Into<f64>>(v: &[T]) -> Wide {
            Wide::F(v.iter().map(|&x| x.into()).collect())
        }
        match &self.data {
            Data::Bool(v) => ints(v),
            Data::I8(v) => ints(v),
            Data::I16(v) => ints(v),
            Data::I32(v) => ints(v),
            Data::I64(v) => ints(v),
            Data::U8(v) => ints(v),
            Data::U16(v) => ints(v),
            Data::U32(v) => ints(v),
            Data::U64(v) => ints(v),
            Data::F16(v) => floats(v),
            Data::BF16(v) => floats(v),
            Data::F32(v) => floats(v),
            Data::F64(v) => Wide::F(v.to_vec()),
            Data::C64(v) => Wide::C(
                v.iter()
                    .map(|z| C128::new(z.re.into(), z.im.into()))
                    .collect(),
            ),
            Data::C128(v) => Wide::C(v.to_vec()),
        }
    }

    /// Real parts as `f64`, for tests and printing.
    pub fn to_f64(&self) -> Vec<f64> {
        match self.wide() {
            Wide::F(v) => v,
            Wide::I(v) => v.into_iter().map(|x| x as f64).collect(),
            Wide::C(v) => v.into_iter().map(|z| z.re).collect(),
        }
    }

    /// Elements as complex numbers.
    pub fn to_c128(&self) -> Vec<C128> {
        match self.wide() {
            Wide::C(v) => v,
            _ => self
                .to_f64()
                .into_iter()
                .map(|x| C128::new(x, 0.0))
                .collect(),
        }
    }

    /// Whether types, shapes and bits are equal. NaN equals NaN of any payload. Takes O(1) time for
    /// arrays that share their elements, and otherwise ends at the first difference.
    pub fn same_bits(&self, other: &Array) -> bool {
        fn same<T: Into<f64>>(a: T, b: T) -> bool {
            let (a, b): (f64, f64) = (a.into(), b.into());
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        macro_rules! same_elements {
            ($(|$a:ident, $b:ident| $same:expr, $($variant:ident)*;)*) => {
                match (&self.data, &other.data) {
                    $($((Data::$variant(x), Data::$variant(y)) => {
                        x.iter().zip(&**y).all(|($a, $b)| $same)
                    })*)*
                    _ => false,
                }
            };
        }
        self.shape == other.shape
            && (self.data.is_shared_with(&other.data)
                || same_elements! {
                    |a, b| a == b, Bool I8 I16 I32 I64 U8 U16 U32 U64;
                    |a, b| same(*a, *b), F16 BF16 F32 F64;
                    |a, b| same(a.re, b.re) && same(a.im, b.im), C64 C128;
                })
    }
}

/// Product of the extents. Returns an error if that many elements of `size` bytes cannot be
/// allocated, so that the allocation does not abort.
pub fn room(shape: &[usize], size: usize) -> Result<usize> {
    // Smaller arrays are not checked. After a larger allocation, 4 MiB must remain free.
    const MIN_CHECKED_BYTES: usize = 1 << 20;
    let free = |bytes: usize| {
        Vec::<u8>::new()
            .try_reserve_exact(bytes.saturating_add(4 * MIN_CHECKED_BYTES))
            .is_ok()
    };
    match numel(shape).and_then(|n| Some((n, n.checked_mul(size)?))) {
        Some((n, bytes)) if bytes < MIN_CHECKED_BYTES || free(bytes) => Ok(n),
        _ => bail!(
            Limit,
            "there is no memory for an array of shape {shape:?} with {size} bytes per element"
        ),
    }
}

/// Product of the extents, `None` on overflow.
pub fn numel(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1usize, |a, &d| a.checked_mul(d))
        .filter(|&n| n <= isize::MAX as usize)
}

/// Elements in the representation of the reference interpreter.
#[derive(Clone, Debug, PartialEq)]
pub enum Wide {
    /// Floats.
    F(Vec<f64>),
    /// Complex numbers.
    C(Vec<C128>),
    /// Integers and booleans (0, 1).
    I(Vec<i128>),
}

impl Wide {
    /// Rounds (floats) or wraps (integers) to an element type of the same family.
    pub fn narrow(self, dtype: DType, shape: impl Into<Vec<usize>>) -> Result<Array> {
        check_element(dtype)?;
        let data = match self {
            Wide::F(v) => match dtype {
                DType::F16 => f16::wrap(v.into_iter().map(crate::math::nearest_f16).collect()),
                DType::BF16 => bf16::wrap(v.into_iter().map(crate::math::nearest_bf16).collect()),
                DType::F32 => f32::wrap(v.into_iter().map(|x| x as f32).collect()),
                _ => f64::wrap(v),
            },
            Wide::C(v) => match dtype {
                DType::C64 => C64::wrap(
                    v.into_iter()
                        .map(|z| C64::new(z.re as f32, z.im as f32))
                        .collect(),
                ),
                _ => C128::wrap(v),
            },
            Wide::I(v) => {
                macro_rules! ints { ($($t:ident $e:ident)*) => { match dtype {
                    $(DType::$e => <$t>::wrap(v.into_iter().map(|x| x as $t).collect()),)*
                    _ => bool::wrap(v.into_iter().map(|x| x != 0).collect()) } } }
                ints!(i8 I8 i16 I16 i32 I32 i64 I64 u8 U8 u16 U16 u32 U32 u64 U64)
            }
        };
        debug_assert_eq!(
            data.dtype(),
            dtype,
            "the family of an element type is its own"
        );
        Array::from_data(shape, data)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Wide::F(v) => v.len(),
            Wide::C(v) => v.len(),
            Wide::I(v) => v.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements at these positions, in this order.
    pub fn pick(&self, at: impl Iterator<Item = usize>) -> Wide {
        match self {
            Wide::F(v) => Wide::F(at.map(|i| v[i]).collect()),
            Wide::C(v) => Wide::C(at.map(|i| v[i]).collect()),
            Wide::I(v) => Wide::I(at.map(|i| v[i]).collect()),
        }
    }
}

/// One element of any type, as written in a program.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// Integer or boolean.
    I(i128),
    /// Float.
    F(f64),
    /// Complex.
    C(C128),
}

impl Scalar {
    /// The value in another family: integers become floats, reals complex. Floats truncate toward
    /// zero, integers wrap.
    pub fn cast(self, dtype: DType) -> Scalar {
        match (self, dtype.kind()) {
            (Scalar::I(i), Kind::Int) => Scalar::I(wrap(i, dtype)),
            (Scalar::I(i), Kind::Float) => Scalar::F(i as f64),
            (Scalar::I(i), Kind::Complex) => Scalar::C(C128::new(i as f64, 0.0)),
            (Scalar::I(i), Kind::Bool) => Scalar::I((i != 0) as i128),
            (Scalar::F(x), Kind::Complex) => Scalar::C(C128::new(x, 0.0)),
            (Scalar::F(x), Kind::Int) => Scalar::I(wrap(x as i128, dtype)),
            (Scalar::F(x), Kind::Bool) => Scalar::I((x != 0.0) as i128),
            (Scalar::C(z), Kind::Float) => Scalar::F(z.re),
            (Scalar::C(z), Kind::Int | Kind::Bool) => Scalar::F(z.re).cast(dtype),
            (s, _) => s,
        }
    }

    /// Checked form of [`Scalar::cast`] for numbers from program text. Returns an error if the
    /// element type cannot represent the number.
    pub fn exact(self, dtype: DType) -> Result<Scalar> {
        check_element(dtype)?;
        let whole = dtype.is_int() || dtype == DType::Bool;
        let fits = match self {
            Scalar::I(i) => !whole || (dtype.int_range().0..=dtype.int_range().1).contains(&i),
            Scalar::F(_) => !whole,
            Scalar::C(_) => dtype.is_complex(),
        };
        match self {
            _ if fits => Ok(self.cast(dtype)),
            Scalar::I(i) => bail!(DTypeMismatch, "{i} is not a number of type {dtype}"),
            Scalar::F(x) => bail!(DTypeMismatch, "{x:?} is not a number of type {dtype}"),
            Scalar::C(z) => bail!(
                DTypeMismatch,
                "({:?}, {:?}) is not a number of type {dtype}",
                z.re,
                z.im
            ),
        }
    }

    /// The number in the element type, rounded if that is a float. Returns an error if the type
    /// cannot represent it: 2.0 is an integer, 0.5 is not, and 300 is not a `u8`.
    pub fn number(self, dtype: DType) -> Result<Scalar> {
        match self {
            Scalar::C(z) if z.im == 0.0 && !dtype.is_complex() => Scalar::F(z.re).number(dtype),
            Scalar::F(x) if x.fract() == 0.0 && !dtype.has_tangent() => {
                Scalar::I(x as i128).exact(dtype)
            }
            _ => self.exact(dtype),
        }
    }

    /// A rank-0 array of the element type.
    pub fn array(self, dtype: DType) -> Array {
        self.full(dtype, Vec::new()).expect("one element fits")
    }

    /// An array with this value everywhere.
    pub fn full(self, dtype: DType, shape: Vec<usize>) -> Result<Array> {
        let one = match self.cast(dtype) {
            Scalar::I(i) => Wide::I(vec![i]),
            Scalar::F(x) => Wide::F(vec![x]),
            Scalar::C(z) => Wide::C(vec![z]),
        };
        let one = one.narrow(dtype, Vec::new())?;
        for_dtype!(dtype, T => Array::full(shape, T::slice(one.data()).expect("the element type just made")[0]))
    }

    fn key(self) -> (u8, i128, u64, u64) {
        match self {
            Scalar::I(i) => (0, i, 0, 0),
            Scalar::F(x) => (1, 0, x.to_bits(), 0),
            Scalar::C(z) => (2, 0, z.re.to_bits(), z.im.to_bits()),
        }
    }
}

impl fmt::Display for Scalar {
    /// The shortest digits that parse to the same bits; `(re, im)` for a complex number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::I(i) => write!(f, "{i}"),
            Scalar::F(x) => write_float(f, *x),
            Scalar::C(z) => write_pair(f, z.re, z.im),
        }
    }
}

/// Prints the shortest digits that parse to the same bits. `nan` has no sign and no payload.
pub(crate) fn write_float<T>(out: &mut impl fmt::Write, x: T) -> fmt::Result
where
    T: fmt::Debug + Copy + Into<f64>,
{
    if x.into().is_nan() {
        out.write_str("nan")
    } else {
        write!(out, "{x:?}")
    }
}

/// Prints a complex number.
pub(crate) fn write_pair<T>(out: &mut impl fmt::Write, re: T, im: T) -> fmt::Result
where
    T: fmt::Debug + Copy + Into<f64>,
{
    out.write_str("(")?;
    write_float(out, re)?;
    out.write_str(", ")?;
    write_float(out, im)?;
    out.write_str(")")
}

/// The integer modulo 2^bits, in the range of the type.
fn wrap(i: i128, dtype: DType) -> i128 {
    match dtype {
        DType::I8 => (i as i8).into(),
        DType::I16 => (i as i16).into(),
        DType::I32 => (i as i32).into(),
        DType::I64 => (i as i64).into(),
        DType::U8 => (i as u8).into(),
        DType::U16 => (i as u16).into(),
        DType::U32 => (i as u32).into(),
        DType::U64 => (i as u64).into(),
        _ => i,
    }
}

impl PartialEq for Scalar {
    /// Bitwise: `-0 != 0`, NaN equals itself.
    fn eq(&self, other: &Scalar) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Scalar {}

impl std::hash::Hash for Scalar {
    fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
        self.key().hash(h);
    }
}

impl From<f64> for Scalar {
    fn from(x: f64) -> Scalar {
        Scalar::F(x)
    }
}

impl From<i64> for Scalar {
    fn from(x: i64) -> Scalar {
        Scalar::I(x.into())
    }
}

impl From<bool> for Scalar {
    fn from(x: bool) -> Scalar {
        Scalar::I(x.into())
    }
}

impl From<C128> for Scalar {
    fn from(x: C128) -> Scalar {
        Scalar::C(x)
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_SHOWN_ELEMENTS: usize = 12;
        write!(f, "{} {{", self.ty())?;
        let dots = if self.len() > MAX_SHOWN_ELEMENTS {
            ", .."
        } else {
            ""
        };
        match self.wide().pick(0..self.len().min(MAX_SHOWN_ELEMENTS)) {
            Wide::F(v) => write!(f, "{v:?}{dots}")?,
            Wide::C(v) => write!(
                f,
                "{:?}{dots}",
                v.iter().map(|z| (z.re, z.im)).collect::<Vec<_>>()
            )?,
            Wide::I(v) => write!(f, "{v:?}{dots}")?,
        }
        f.write_str("}")
    }
}
