//! Elementwise comparisons `eq ne lt le gt ge`: the result is boolean and has no tangent.

use super::entry::{Entry, Spelled, arity};
use super::support::{batch_leading, cost_per_element, same_shape};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::error::Result;
use crate::ir::{
    Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Sample, Val, no_rule,
};
use crate::shape::{Dim, Env, Type};
use std::cmp::Ordering;

/// A comparison. NaN is unequal to everything. Complex numbers have only `eq` and `ne`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Elementwise comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compare(pub Comparison);

const NAMES: [(&str, Comparison); 6] = [
    ("eq", Comparison::Eq),
    ("ne", Comparison::Ne),
    ("lt", Comparison::Lt),
    ("le", Comparison::Le),
    ("gt", Comparison::Gt),
    ("ge", Comparison::Ge),
];

impl Comparison {
    /// Whether operands with this order satisfy the comparison (`None`: unordered).
    pub fn holds(self, o: Option<Ordering>) -> bool {
        match self {
            Comparison::Eq => o == Some(Ordering::Equal),
            Comparison::Ne => o != Some(Ordering::Equal),
            Comparison::Lt => o == Some(Ordering::Less),
            Comparison::Le => matches!(o, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Gt => o == Some(Ordering::Greater),
            Comparison::Ge => matches!(o, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

impl Primitive for Compare {
    fn name(&self) -> &str {
        NAMES[self.0 as usize].0
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        if x[0].dtype != x[1].dtype {
            bail!(
                DTypeMismatch,
                "`{}` needs operands of one element type, got {} and {}",
                self.name(),
                x[0],
                x[1]
            );
        }
        if x[0].dtype.is_complex() && !matches!(self.0, Comparison::Eq | Comparison::Ne) {
            bail!(
                DTypeMismatch,
                "`{}` is not defined on {}: complex numbers have no order",
                self.name(),
                x[0].dtype
            );
        }
        Ok(vec![same_shape(self, x)?.with_dtype(DType::Bool)])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let order: Vec<Option<Ordering>> = match (x[0].wide(), x[1].wide()) {
            (Wide::F(a), Wide::F(b)) => a.iter().zip(&b).map(|(a, b)| a.partial_cmp(b)).collect(),
            (Wide::I(a), Wide::I(b)) => a.iter().zip(&b).map(|(a, b)| a.partial_cmp(b)).collect(),
            (Wide::C(a), Wide::C(b)) => a
                .iter()
                .zip(&b)
                .map(|(a, b)| (a == b).then_some(Ordering::Equal))
                .collect(),
            _ => unreachable!("the type rule makes both element types one"),
        };
        Ok(vec![Array::from_vec(
            x[0].shape(),
            order.into_iter().map(|o| self.0.holds(o)).collect(),
        )?])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(*self, x), None))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(1.0, x, y)
    }
}

impl dyn Emit + '_ {
    /// Elementwise comparison of operands of one type.
    pub fn compare(&self, x: Val, c: Comparison, y: Val) -> Val {
        self.op(Compare(c), &[x, y])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    match NAMES.iter().find(|(n, _)| *n == s.name) {
        Some((_, c)) => Ok(Compare(*c).into()),
        None => bail!(UnknownOperation, "`{}` is not a comparison", s.name),
    }
}

/// Samples with less, equal, greater and unordered operands, in every element type that the
/// comparison is defined on.
fn samples(name: &str) -> Vec<Sample> {
    let op = Compare(
        NAMES
            .iter()
            .find(|(n, _)| *n == name)
            .expect("a name of the table")
            .1,
    );
    let equality = matches!(op.0, Comparison::Eq | Comparison::Ne);
    DType::ALL
        .into_iter()
        .filter(|t| equality || !t.is_complex())
        .map(|t| {
            let side = |k: usize| {
                const F: [[f64; 5]; 2] = [
                    [1.0, 2.0, 3.0, f64::NAN, 0.0],
                    [2.0, 2.0, 1.0, f64::NAN, -0.0],
                ];
                let wide = match t.kind() {
                    Kind::Float => Wide::F(F[k].to_vec()),
                    Kind::Complex => {
                        Wide::C((0..5).map(|i| C128::new(F[k][i], F[0][4 - i])).collect())
                    }
                    _ => Wide::I([[3, 1, -1, 0, 1], [2, 1, 1, -1, 0]][k].to_vec()),
                };
                wide.narrow(t, [5]).expect("five elements")
            };
            Sample::rough(op, vec![side(0), side(1)])
        })
        .collect()
}

pub(super) fn entries() -> Vec<Entry> {
    NAMES
        .iter()
        .map(|(name, _)| Entry {
            name,
            doc: "Elementwise comparison of operands of one type and shape; the result is i1.",
            parse,
            samples,
        })
        .collect()
}
