//! Resolution of integers to extents. Arithmetic on results of `get_dimension_size` becomes
//! dimensions, so dynamic shapes become symbolic shapes.

use super::function::FunctionLowering;
use cotangent_core::ops::{Binary, Comparison, Value};
use cotangent_core::{Dim, Op, Scalar, Val};

/// The difference `plus - minus`: intermediate values of an extent computation may be negative.
#[derive(Clone)]
struct SignedExtent {
    plus: Dim,
    minus: Dim,
}

impl From<Dim> for SignedExtent {
    fn from(plus: Dim) -> SignedExtent {
        SignedExtent {
            plus,
            minus: Dim::Const(0),
        }
    }
}

impl From<SignedExtent> for Dim {
    fn from(s: SignedExtent) -> Dim {
        if s.minus.is(0) {
            s.plus
        } else {
            s.plus - s.minus
        }
    }
}

impl SignedExtent {
    fn number(n: i128) -> Option<SignedExtent> {
        let size = Dim::Const(
            usize::try_from(n.unsigned_abs())
                .ok()
                .filter(|&n| n < 1 << 62)?,
        );
        let zero = Dim::Const(0);
        Some(if n < 0 {
            SignedExtent {
                plus: zero,
                minus: size,
            }
        } else {
            SignedExtent {
                plus: size,
                minus: zero,
            }
        })
    }

    fn as_const(&self) -> Option<i128> {
        Some(self.plus.as_const()? as i128 - self.minus.as_const()? as i128)
    }
}

/// Maximum number of definitions that are followed.
const MAX_FOLLOWED_DEFINITIONS: usize = 512;
/// Maximum number of elements of a followed integer array. Protects against large operands.
const MAX_FOLLOWED_ELEMENTS: usize = 64;

/// Effect of an operation on the extents in its operands.
enum ExtentStep {
    /// Constants.
    Known(Vec<SignedExtent>),
    /// The operand, converted or reshaped.
    Same,
    /// A concatenation.
    Joined,
    /// A slice: start, limit, stride.
    Taken(usize, usize, usize),
    /// A broadcast to this number of elements.
    Repeated(usize),
    /// A select.
    Chosen,
    /// A binary operation.
    Computed(Binary),
}

impl FunctionLowering<'_> {
    /// The elements of an integer value as dimensions, if they can be resolved.
    pub(crate) fn extents(&self, v: Val) -> Option<Vec<Dim>> {
        Some(
            self.resolve(v, &mut 0, false)?
                .into_iter()
                .map(Dim::from)
                .collect(),
        )
    }

    /// The elements of an integer value as dimensions. Data-dependent scalars become new symbols.
    pub(crate) fn bound_extents(&self, v: Val) -> Option<Vec<Dim>> {
        Some(
            self.resolve(v, &mut 0, true)?
                .into_iter()
                .map(Dim::from)
                .collect(),
        )
    }

    /// The symbol of a data-dependent scalar. It is the same on every call.
    fn bind(&self, v: Val) -> Dim {
        if let Some(d) = self.dynamic_extents.borrow().get(&v) {
            return d.clone();
        }
        let cx = self.cx();
        let all = cx.count(cx.convert(v, cotangent_core::DType::I64), "n");
        let d = cx.ty(all).shape.first().cloned().unwrap_or(Dim::Const(0));
        self.dynamic_extents.borrow_mut().insert(v, d.clone());
        d
    }

    /// The elements of an integer value, if they are constants. They may be negative.
    pub(crate) fn numbers(&self, v: Val) -> Option<Vec<i64>> {
        self.resolve(v, &mut 0, false)?
            .iter()
            .map(|s| i64::try_from(s.as_const()?).ok())
            .collect()
    }

    fn resolve(&self, v: Val, steps: &mut usize, bind: bool) -> Option<Vec<SignedExtent>> {
        let ty = self.cx().ty(v);
        let n = ty
            .shape
            .numel()
            .as_const()
            .filter(|&n| n <= MAX_FOLLOWED_ELEMENTS)?;
        *steps += 1;
        if *steps > MAX_FOLLOWED_DEFINITIONS || !ty.dtype.is_int() {
            return None;
        }
        let definition = self.with_def(v, |op, x| (step(op, n), x.to_vec()));
        let Some((Some(step), x)) = definition else {
            // An argument may be an extent known to the caller, so it gets no new symbol.
            let is_own = self.is_uncalled || self.with_def(v, |_, _| ()).is_some();
            return (bind && is_own && ty.rank() == 0).then(|| vec![self.bind(v).into()]);
        };
        let mut of = |k: usize| self.resolve(*x.get(k)?, steps, bind);
        match step {
            ExtentStep::Known(d) => Some(d),
            ExtentStep::Same => of(0),
            ExtentStep::Joined => (0..x.len())
                .map(of)
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.concat()),
            ExtentStep::Taken(from, to, by) => {
                Some(of(0)?.get(from..to)?.iter().step_by(by).cloned().collect())
            }
            ExtentStep::Repeated(n) => match &of(0)?[..] {
                [d] => Some(vec![d.clone(); n]),
                d if d.len() == n => Some(d.to_vec()),
                _ => None,
            },
            ExtentStep::Chosen => {
                let compared = |op: &Op, x: &[Val]| match op {
                    Op::Compare(c) => Some((c.0, [x[0], x[1]])),
                    _ => None,
                };
                if let Some((c, sides)) = self.with_def(x[0], compared).flatten() {
                    let mut side = |v| self.resolve(v, steps, false)?.first()?.as_const();
                    if let (Some(a), Some(b)) = (side(sides[0]), side(sides[1])) {
                        return self.resolve(x[if holds(c, a, b) { 1 } else { 2 }], steps, bind);
                    }
                }
                // A quotient or remainder with a correction for negative dividends. Extents are not
                // negative.
                let divided =
                    |op: &Op, _: &[Val]| matches!(op, Op::Binary(Binary::Div | Binary::Rem));
                if self.with_def(x[2], divided)? {
                    self.resolve(x[2], steps, bind)
                } else {
                    None
                }
            }
            ExtentStep::Computed(b) => of(0)?
                .into_iter()
                .zip(of(1)?)
                .map(|(a, c)| compute(b, a, c))
                .collect(),
        }
    }
}

fn step(op: &Op, n: usize) -> Option<ExtentStep> {
    let number = |s: Scalar| {
        if let Scalar::I(i) = s {
            SignedExtent::number(i)
        } else {
            None
        }
    };
    Some(match op {
        Op::Constant(c) => ExtentStep::Known(match &c.value {
            Value::Splat(s) => vec![number(*s)?; n],
            Value::Extent(d) => vec![d.clone().into(); n],
            Value::Dense(a) => match a.wide() {
                cotangent_core::Wide::I(v) => v
                    .into_iter()
                    .map(|i| number(Scalar::I(i)))
                    .collect::<Option<_>>()?,
                _ => return None,
            },
        }),
        Op::Convert(_) | Op::Reshape(_) => ExtentStep::Same,
        Op::Concatenate(c) if c.axis == 0 => ExtentStep::Joined,
        Op::Select(_) => ExtentStep::Chosen,
        Op::BroadcastInDim(_) => ExtentStep::Repeated(n),
        Op::Slice(s) => match (&s.start[..], &s.limit[..], &s.stride[..]) {
            ([a], [b], [by]) => ExtentStep::Taken(a.as_const()?, b.as_const()?, *by),
            _ => return None,
        },
        Op::Binary(b) => ExtentStep::Computed(*b),
        _ => return None,
    })
}

fn holds(c: Comparison, a: i128, b: i128) -> bool {
    match c {
        Comparison::Eq => a == b,
        Comparison::Ne => a != b,
        Comparison::Lt => a < b,
        Comparison::Le => a <= b,
        Comparison::Gt => a > b,
        Comparison::Ge => a >= b,
    }
}

fn compute(op: Binary, a: SignedExtent, b: SignedExtent) -> Option<SignedExtent> {
    Some(match op {
        Binary::Add => SignedExtent {
            plus: a.plus + b.plus,
            minus: a.minus + b.minus,
        },
        Binary::Sub => SignedExtent {
            plus: a.plus + b.minus,
            minus: a.minus + b.plus,
        },
        Binary::Mul => SignedExtent {
            plus: a.plus.clone() * b.plus.clone() + a.minus.clone() * b.minus.clone(),
            minus: a.plus * b.minus + a.minus * b.plus,
        },
        Binary::Div => Dim::from(a)
            .floor_div(usize::try_from(b.as_const()?).ok().filter(|&d| d > 0)?)
            .into(),
        Binary::Rem => {
            let d = usize::try_from(b.as_const()?).ok().filter(|&d| d > 0)?;
            let a = Dim::from(a);
            SignedExtent {
                minus: a.floor_div(d) * Dim::Const(d),
                plus: a,
            }
        }
        Binary::Max if b.as_const() == Some(0) && a.as_const().is_none() => {
            Dim::from(a).affine(1, 0).into()
        }
        Binary::Max if a.as_const() == Some(0) && b.as_const().is_none() => {
            Dim::from(b).affine(1, 0).into()
        }
        _ => SignedExtent::number(match (op, a.as_const()?, b.as_const()?) {
            (Binary::Max, x, y) => x.max(y),
            (Binary::Min, x, y) => x.min(y),
            _ => return None,
        })?,
    })
}
