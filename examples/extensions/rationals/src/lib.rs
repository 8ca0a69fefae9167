//! A differentiable language of exact rational numbers, on the core alone: three operations with
//! their rules, constants, and a runtime. It uses no operation, no array and no runtime of
//! Cotangent.
//!
//! ```
//! use rationals::{Arithmetic, Executor, Ratio, context};
//! use cotangent_core::tape::Tape;
//! let tape = Tape::new(Executor, &context()?);
//! let x = tape.variable(Ratio::new(2, 3))?;
//! let y = tape.apply(Arithmetic::Inverse, &[&x])?.remove(0);
//! assert_eq!(y.value(), &Ratio::new(3, 2));
//! assert_eq!(tape.backward(&y)?.get(&x), Some(&Ratio::new(-9, 4)));
//! # Ok::<(), cotangent_core::Error>(())
//! ```

use cotangent_core::primitive::{Arg, Batched, Cost, Linearized, no_rule};
use cotangent_core::transform::{AdContext, Lin, Lv};
use cotangent_core::{
    Array, Attrs, Code, DType, Dim, Emit, Env, Error, Function, Op, Primitive, Result, Type, Val,
};
use std::ops::{Add, Mul};

/// A rational number in lowest terms, with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    /// `numerator / denominator`.
    ///
    /// # Panics
    /// Panics if the denominator is zero.
    pub fn new(numerator: i128, denominator: i128) -> Ratio {
        assert_ne!(denominator, 0, "the denominator of a rational number");
        let (mut a, mut b) = (numerator.abs(), denominator.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = a * denominator.signum();
        Ratio {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        }
    }
}

impl Add for Ratio {
    type Output = Ratio;
    fn add(self, o: Ratio) -> Ratio {
        Ratio::new(
            self.numerator * o.denominator + o.numerator * self.denominator,
            self.denominator * o.denominator,
        )
    }
}

impl Mul for Ratio {
    type Output = Ratio;
    fn mul(self, o: Ratio) -> Ratio {
        Ratio::new(
            self.numerator * o.numerator,
            self.denominator * o.denominator,
        )
    }
}

/// The operations, and constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arithmetic {
    /// `a + b`.
    Sum,
    /// `a b`.
    Product,
    /// `1 / a`.
    Inverse,
    /// An integer.
    Constant(i64),
}

impl From<Arithmetic> for Op {
    fn from(op: Arithmetic) -> Op {
        Op::extension(op)
    }
}

/// The type of every value: its element type only tells that it has a tangent.
pub fn ratio() -> Type {
    Type::scalar(DType::F64)
}

/// A context whose sums, zeros and ones are those of this language.
pub fn context() -> Result<AdContext> {
    AdContext::builder()
        .with_sum(Arithmetic::Sum)
        .with_zeros(|_| Arithmetic::Constant(0).into())
        .with_ones(|_| Arithmetic::Constant(1).into())
        .build()
}

impl Primitive for Arithmetic {
    fn name(&self) -> &str {
        match self {
            Arithmetic::Sum => "ratio.sum",
            Arithmetic::Product => "ratio.product",
            Arithmetic::Inverse => "ratio.inverse",
            Arithmetic::Constant(_) => "ratio.constant",
        }
    }
    fn attrs(&self) -> Attrs {
        match self {
            Arithmetic::Constant(n) => Attrs::default().with("value", *n),
            _ => Attrs::default(),
        }
    }
    fn infer(&self, _: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![ratio()])
    }
    /// The reference evaluation is on arrays, which this language does not have.
    fn eval(&self, _: &[Array], _: &Env) -> Result<Vec<Array>> {
        let text = format!("`{}` is evaluated by its executor", self.name());
        Err(Error::new(Code::NoRule, text))
    }
    fn is_zeros(&self) -> bool {
        *self == Arithmetic::Constant(0)
    }
    fn linear_in(&self, mask: &[bool]) -> bool {
        match self {
            Arithmetic::Sum => mask == [true, true],
            Arithmetic::Product => mask[0] != mask[1],
            Arithmetic::Inverse | Arithmetic::Constant(_) => false,
        }
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let times = |c: Val, t: Lv| cx.apply1(Arithmetic::Product, &[c.into(), t.into()]);
        let dy = match self {
            Arithmetic::Sum => cx.sum_opt(t[0], t[1]),
            Arithmetic::Product => {
                cx.sum_opt(t[0].map(|t| times(x[1], t)), t[1].map(|t| times(x[0], t)))
            }
            Arithmetic::Inverse => t[0].map(|t| {
                let square = cx.op(Arithmetic::Product, &[y, y]);
                let minus = cx.op(Arithmetic::Constant(-1), &[]);
                times(cx.op(Arithmetic::Product, &[minus, square]), t)
            }),
            Arithmetic::Constant(_) => None,
        };
        Ok(cx.one(y, dy))
    }
    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let ct = ct[0].expect("one result");
        let times = |c: Val| cx.op(Arithmetic::Product, &[c, ct]);
        match self {
            Arithmetic::Sum => Ok(vec![Some(ct), Some(ct)]),
            Arithmetic::Product => Ok(vec![x[1].val().map(times), x[0].val().map(times)]),
            Arithmetic::Inverse => Err(no_rule(self, "transpose")),
            Arithmetic::Constant(_) => Ok(Vec::new()),
        }
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

/// The runtime: a loop over equations.
pub struct Executor;

impl Executor {
    fn apply(op: &Op, x: &[Ratio]) -> Result<Ratio> {
        Ok(match (op.name(), x) {
            ("ratio.sum", [a, b]) => *a + *b,
            ("ratio.product", [a, b]) => *a * *b,
            ("ratio.inverse", [a]) if a.numerator != 0 => Ratio::new(a.denominator, a.numerator),
            ("ratio.constant", []) => Ratio::new(op.attrs().get::<i64>("value")?.into(), 1),
            (name, x) => {
                let text = format!("`{name}` of {x:?} is not defined");
                return Err(Error::new(Code::Input, text));
            }
        })
    }
}

impl cotangent_core::tape::Executor for Executor {
    type Value = Ratio;

    fn ty(&self, _: &Ratio) -> Type {
        ratio()
    }

    fn run(&mut self, f: &Function, x: &[Ratio]) -> Result<Vec<Ratio>> {
        let mut values = vec![Ratio::new(0, 1); f.len()];
        for (p, x) in f.params().iter().zip(x) {
            values[p.index()] = *x;
        }
        for e in f.eqns() {
            let x: Vec<Ratio> = f.operands(e).iter().map(|v| values[v.index()]).collect();
            for r in e.results() {
                values[r.index()] = Executor::apply(&e.op, &x).map_err(|err| err.at(e.loc))?;
            }
        }
        Ok(f.results().iter().map(|r| values[r.index()]).collect())
    }
}
