//! `bitcast_convert`: reinterprets bits as another element type. With a narrower type each element
//! is split along a new last axis, lowest bits first. With a wider type the last axis is removed.
//! It has no derivative.

use super::entry::{Entry, Spelled, arity};
use super::support::{cost_per_element, mapped, sample_array};
use crate::array::{Array, Data, Element, check_element, no_elements};
use crate::bail;
use crate::dtype::{C64, C128, DType, bf16, f16};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
    no_rule,
};
use crate::shape::{Dim, Env, Type};

/// Reinterprets bits as this element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bitcast {
    /// The result's element type.
    pub to: DType,
}

/// All bytes, in little-endian order.
fn bytes_of(x: &Data) -> Vec<u8> {
    macro_rules! bytes {
        ($($variant:ident)*) => {
            match x {
                $(Data::$variant(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),)*
                Data::Bool(v) => v.iter().map(|&b| b.into()).collect(),
                Data::C64(v) => v.iter().flat_map(|z| [z.re.to_le_bytes(), z.im.to_le_bytes()]).flatten().collect(),
                Data::C128(v) => v.iter().flat_map(|z| [z.re.to_le_bytes(), z.im.to_le_bytes()]).flatten().collect(),
            }
        };
    }
    bytes!(I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64)
}

/// Elements from their bytes, in little-endian order.
fn of_bytes(b: &[u8], to: DType) -> Data {
    fn each<const N: usize, T: Element>(b: &[u8], f: impl Fn([u8; N]) -> T) -> Data {
        T::wrap(
            b.chunks_exact(N)
                .map(|c| f(c.try_into().expect("chunks of N")))
                .collect(),
        )
    }
    fn pair<const N: usize, T>(b: &[u8], f: impl Fn([u8; N]) -> T) -> (T, T) {
        let part = |b: &[u8]| f(b.try_into().expect("halves of N"));
        (part(&b[..N]), part(&b[N..]))
    }
    match to {
        DType::Bool => each::<1, _>(b, |c| c[0] != 0),
        DType::I8 => each(b, i8::from_le_bytes),
        DType::I16 => each(b, i16::from_le_bytes),
        DType::I32 => each(b, i32::from_le_bytes),
        DType::I64 => each(b, i64::from_le_bytes),
        DType::U8 => each(b, u8::from_le_bytes),
        DType::U16 => each(b, u16::from_le_bytes),
        DType::U32 => each(b, u32::from_le_bytes),
        DType::U64 => each(b, u64::from_le_bytes),
        DType::F16 => each(b, f16::from_le_bytes),
        DType::BF16 => each(b, bf16::from_le_bytes),
        DType::F32 => each(b, f32::from_le_bytes),
        DType::F64 => each(b, f64::from_le_bytes),
        DType::C64 => each::<8, _>(b, |c| {
            let (re, im) = pair(&c, f32::from_le_bytes);
            C64::new(re, im)
        }),
        DType::C128 => each::<16, _>(b, |c| {
            let (re, im) = pair(&c, f64::from_le_bytes);
            C128::new(re, im)
        }),
        DType::Opaque(t) => no_elements(t),
    }
}

impl Primitive for Bitcast {
    fn name(&self) -> &str {
        "bitcast_convert"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("to", self.to)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        check_element(self.to)?;
        let (x, from, to) = (&x[0], x[0].dtype.size(), self.to.size());
        if (x.dtype == DType::Bool) != (self.to == DType::Bool) {
            bail!(
                DTypeMismatch,
                "`bitcast_convert` of {x} to {}: booleans have no bit pattern; use `convert`",
                self.to
            );
        }
        let mut shape = x.shape.to_vec();
        if to < from {
            shape.push(Dim::Const(from / to));
        } else if to > from {
            match shape.pop() {
                Some(n) if n.same(&Dim::Const(to / from)) != Some(false) => {}
                _ => bail!(
                    ShapeMismatch,
                    "`bitcast_convert` of {x} to {} needs a last axis of {} elements",
                    self.to,
                    to / from
                ),
            }
        }
        Ok(vec![Type::new(self.to, shape)])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let shape = self.infer(&[x[0].ty()])?[0]
            .shape
            .as_const()
            .unwrap_or_default();
        Ok(vec![Array::from_data(
            shape,
            of_bytes(&bytes_of(x[0].data()), self.to),
        )?])
    }

    fn class(&self, x: &[DType]) -> OpClass {
        match x {
            [x] if x.size() == self.to.size() => OpClass::Elementwise,
            _ => OpClass::Other,
        }
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(*self, x), None))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        mapped(cx.op(*self, &[x[0].val]))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// Reinterprets the bits of `x` as another element type. Writes no operation if `x` has that
    /// type.
    pub fn bitcast(&self, x: Val, to: DType) -> Val {
        if self.ty(x).dtype == to {
            x
        } else {
            self.op(Bitcast { to }, &[x])
        }
    }

    /// The next representable number after `x` toward `y`. Its derivative is zero.
    pub fn next_after(&self, x: Val, y: Val) -> Val {
        use super::Comparison::{Eq, Gt, Lt};
        let ty = self.ty(x);
        let (int, sign) = match ty.dtype.size() {
            2 => (DType::I16, i16::MIN.into()),
            4 => (DType::I32, i32::MIN.into()),
            _ => (DType::I64, i64::MIN),
        };
        let zero = self.full_like(x, 0.0);
        let number = |n: i64| self.full(&ty.with_dtype(int), n);
        // Incrementing the bits moves away from zero.
        let outward = self.not(self.xor(self.compare(x, Lt, y), self.compare(x, Gt, zero)));
        let next = self.add(
            self.bitcast(x, int),
            self.select(outward, number(1), number(-1)),
        );
        let least = self.select(self.compare(y, Gt, zero), number(1), number(sign + 1));
        let next = self.bitcast(
            self.select(self.compare(x, Eq, zero), least, next),
            ty.dtype,
        );
        let nan = self.or(self.is_nan(x), self.is_nan(y));
        self.select(
            nan,
            self.stop_gradient(self.add(x, y)),
            self.select(self.compare(x, Eq, y), self.stop_gradient(y), next),
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(Bitcast {
        to: s.attrs.get("to")?,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use DType::*;
    let b = |dtype, shape: &[usize], to| {
        Sample::rough(Bitcast { to }, vec![sample_array(dtype, shape, 3)])
    };
    vec![
        b(F32, &[2, 3], U32),
        b(I64, &[3], F64),
        b(BF16, &[2], I16),
        b(F16, &[2], U8),
        b(U64, &[2], U32),
        b(U32, &[3, 2], U64),
        b(F32, &[2, 2], C64),
        b(C128, &[2], F64),
        b(F64, &[0], I32),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The same bits as another element type; a narrower type adds a last axis, a wider type removes it.";
    vec![Entry {
        name: "bitcast_convert",
        doc,
        parse,
        samples,
    }]
}
