//! `round_to`: rounding to the numbers of a format of 8, 6 or 4 bits, in the same element type;
//! ties to even.
//!
//! Numbers of such a format are stored in a wider type, which represents all of them. Numbers that
//! are too large become infinite, NaN, or the greatest number, as the format defines. The
//! derivative is 1: tangents are not rounded.

use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val,
    no_rule,
};
use crate::shape::{Dim, Env, Type};

/// The representation of numbers above the range of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Infinity, and NaN for NaN.
    Infinite,
    /// NaN for both.
    Nan,
    /// NaN for both, and there is no -0.
    NanNoSign,
    /// The greatest number, and -0 for NaN.
    Greatest,
}

struct FormatDef {
    name: &'static str,
    bits: u32,
    mantissa: i32,
    /// The exponent of the least normal number.
    least: i32,
    greatest: f64,
    beyond: Beyond,
}

const fn def(
    name: &'static str,
    bits: u32,
    mantissa: i32,
    least: i32,
    greatest: f64,
    beyond: Beyond,
) -> FormatDef {
    FormatDef {
        name,
        bits,
        mantissa,
        least,
        greatest,
        beyond,
    }
}

/// A format of powers of two only, without sign and zero.
const POWERS: &str = "f8E8M0FNU";

const FORMATS: [FormatDef; 11] = [
    def("f8E4M3FN", 8, 3, -6, 448.0, Beyond::Nan),
    def("f8E5M2", 8, 2, -14, 57344.0, Beyond::Infinite),
    def("f8E4M3", 8, 3, -6, 240.0, Beyond::Infinite),
    def("f8E3M4", 8, 4, -2, 15.5, Beyond::Infinite),
    def("f8E4M3FNUZ", 8, 3, -7, 240.0, Beyond::NanNoSign),
    def("f8E5M2FNUZ", 8, 2, -15, 57344.0, Beyond::NanNoSign),
    def("f8E4M3B11FNUZ", 8, 3, -10, 30.0, Beyond::NanNoSign),
    def("f6E2M3FN", 6, 3, 0, 7.5, Beyond::Greatest),
    def("f6E3M2FN", 6, 2, -2, 28.0, Beyond::Greatest),
    def("f4E2M1FN", 4, 1, 0, 6.0, Beyond::Greatest),
    def(POWERS, 8, 0, -127, 1.7014118346046923e38, Beyond::Nan),
];

/// A format of 8, 6 or 4 bits, by its name in StableHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format(u8);

impl Format {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Format> {
        (0..FORMATS.len() as u8).map(Format)
    }

    /// The format of this name, `f8E4M3FN`.
    pub fn parse(name: &str) -> Option<Format> {
        Format::all().find(|f| f.name() == name)
    }

    fn def(self) -> &'static FormatDef {
        &FORMATS[usize::from(self.0) % FORMATS.len()]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.def().name
    }

    /// Bits of a number.
    pub fn bits(self) -> u32 {
        self.def().bits
    }

    /// Its index in the list.
    pub fn number(self) -> usize {
        self.0.into()
    }

    /// The format with this index in the list.
    pub fn of_number(n: usize) -> Format {
        Format((n % FORMATS.len()) as u8)
    }

    /// Bits of the fraction.
    pub fn mantissa(self) -> u32 {
        self.def().mantissa.unsigned_abs()
    }

    /// The exponent of the least normal number.
    pub fn least_exponent(self) -> i32 {
        self.def().least
    }

    /// The greatest finite number.
    pub fn greatest(self) -> f64 {
        self.def().greatest
    }

    /// Whether its numbers are powers of two, without a sign or a zero.
    pub fn is_powers(self) -> bool {
        self.def().name == POWERS
    }

    /// The representation of numbers above its range.
    pub fn beyond(self) -> Beyond {
        self.def().beyond
    }

    /// The number of the format that is nearest to `x`.
    pub fn round(self, x: f64) -> f64 {
        let d = self.def();
        if d.name == POWERS {
            return power(x, d.greatest);
        }
        if x.is_nan() {
            return if d.beyond == Beyond::Greatest {
                -0.0
            } else {
                f64::NAN
            };
        }
        let mut y = x;
        if x.is_finite() && x != 0.0 {
            let e = libm::ilogb(x).max(d.least) - d.mantissa;
            y = libm::scalbn(libm::scalbn(x, -e).round_ties_even(), e).copysign(x);
        }
        if y.abs() > d.greatest {
            y = match d.beyond {
                Beyond::Infinite => f64::INFINITY.copysign(x),
                Beyond::Nan | Beyond::NanNoSign => f64::NAN,
                Beyond::Greatest => d.greatest.copysign(x),
            };
        }
        if d.beyond == Beyond::NanNoSign && y == 0.0 {
            0.0
        } else {
            y
        }
    }

    /// The number with these bits.
    pub fn decode(self, bits: u32) -> f64 {
        let d = self.def();
        if d.name == POWERS {
            return if bits >= 255 {
                f64::NAN
            } else {
                libm::scalbn(1.0, bits as i32 - 127)
            };
        }
        let bits = bits & ((1 << d.bits) - 1);
        let sign = bits >> (d.bits - 1) != 0;
        let code = bits & ((1 << (d.bits - 1)) - 1);
        let (exponent, part) = (
            (code >> d.mantissa) as i32,
            f64::from(code & ((1 << d.mantissa) - 1)),
        );
        let whole = if exponent > 0 {
            f64::from(1u32 << d.mantissa)
        } else {
            0.0
        };
        let x = libm::scalbn(whole + part, exponent.max(1) - 1 + d.least - d.mantissa);
        let x = match d.beyond {
            _ if x <= d.greatest && !(d.beyond == Beyond::NanNoSign && sign && code == 0) => x,
            Beyond::Infinite if part == 0.0 => f64::INFINITY,
            _ => f64::NAN,
        };
        if sign { -x } else { x }
    }
}

/// The nearest power of two, ties upward. NaN for numbers that are not positive or too large.
fn power(x: f64, greatest: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let e = libm::ilogb(x).max(-127);
    let low = libm::scalbn(1.0, e);
    let y = if x >= 1.5 * low { 2.0 * low } else { low };
    if y > greatest || x.is_infinite() {
        f64::NAN
    } else {
        y
    }
}

/// Rounding to the numbers of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RoundTo {
    /// The format.
    pub format: Format,
}

impl Primitive for RoundTo {
    fn name(&self) -> &str {
        "round_to"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("format", self.format.name())
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if !x[0].dtype.is_float() {
            bail!(DTypeMismatch, "`round_to` is not defined on {}", x[0].dtype);
        }
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let y = x[0]
            .to_f64()
            .into_iter()
            .map(|x| self.format.round(x))
            .collect();
        Ok(vec![Wide::F(y).narrow(x[0].dtype(), x[0].shape())?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(*self, x), t[0]))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(4.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// The nearest numbers of a format of few bits.
    pub fn round_to(&self, x: Val, format: Format) -> Val {
        self.op(RoundTo { format }, &[x])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let name: String = s.attrs.get("format")?;
    match Format::parse(&name) {
        Some(format) => Ok(RoundTo { format }.into()),
        None => {
            let all: Vec<&str> = Format::all().map(Format::name).collect();
            bail!(
                Attribute,
                "`round_to` has no format `{name}`; there are {}",
                all.join(", ")
            )
        }
    }
}

/// Nonsmooth samples: the function is piecewise constant, so finite differences do not give the
/// derivative.
fn samples(_: &str) -> Vec<Sample> {
    let x = [
        0.0,
        -0.0,
        0.3,
        -1.7,
        5.0,
        31.0,
        464.0,
        1e6,
        -1e6,
        f64::INFINITY,
        f64::NAN,
    ];
    Format::all()
        .map(|format| Sample::rough(RoundTo { format }, vec![Array::vector(x.to_vec())]))
        .collect()
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The nearest number of a `format` of 8, 6 or 4 bits (f8E4M3FN, ..), ties to even; its derivative is 1.";
    vec![Entry {
        name: "round_to",
        doc,
        parse,
        samples,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of a format rounds to itself; the middle of two neighbours rounds to the even
    /// one.
    #[test]
    fn numbers_round_to_themselves_and_middles_to_even() {
        for f in Format::all() {
            let all: Vec<f64> = (0..1u32 << (f.bits() - u32::from(f.name() != POWERS)))
                .map(|b| f.decode(b))
                .collect();
            for (code, &x) in all.iter().enumerate().filter(|x| x.1.is_finite()) {
                assert_eq!(f.round(x).to_bits(), x.to_bits(), "{} {x}", f.name());
                let Some(&next) = all.get(code + 1).filter(|x| x.is_finite()) else {
                    continue;
                };
                let (middle, even) = ((x + next) / 2.0, if code % 2 == 0 { x } else { next });
                assert!(next > x);
                if f.name() != POWERS {
                    assert_eq!(f.round(middle), even, "{} {middle}", f.name());
                    assert_eq!(f.round(-middle), -even, "{} {middle}", f.name());
                }
                let near = [middle.next_down(), middle.next_up()].map(|m| f.round(m));
                assert_eq!(near, [x, next], "{} {middle}", f.name());
            }
        }
    }
}
