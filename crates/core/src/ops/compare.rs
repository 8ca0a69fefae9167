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

/// A row of the table of comparisons.
pub struct ComparisonDef {
    /// The comparison.
    pub op: Comparison,
    /// Its name in the text form.
    pub name: &'static str,
    /// The name of the method of tensors.
    pub tensor: &'static str,
    /// The formula.
    pub doc: &'static str,
}

/// A row.
const fn row(
    op: Comparison,
    name: &'static str,
    tensor: &'static str,
    doc: &'static str,
) -> ComparisonDef {
    ComparisonDef {
        op,
        name,
        tensor,
        doc,
    }
}

/// The table, in the order of the enum.
pub static COMPARISONS: &[ComparisonDef] = &[
    row(Comparison::Eq, "eq", "equal", "x == y"),
    row(Comparison::Ne, "ne", "not_equal", "x != y"),
    row(Comparison::Lt, "lt", "less", "x < y"),
    row(Comparison::Le, "le", "less_equal", "x <= y"),
    row(Comparison::Gt, "gt", "greater", "x > y"),
    row(Comparison::Ge, "ge", "greater_equal", "x >= y"),
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
        COMPARISONS[self.0 as usize].name
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
    match COMPARISONS.iter().find(|d| d.name == s.name) {
        Some(d) => Ok(Compare(d.op).into()),
        None => bail!(UnknownOperation, "`{}` is not a comparison", s.name),
    }
}

/// Samples with less, equal, greater and unordered operands, in every element type that the
/// comparison is defined on.
fn samples(name: &str) -> Vec<Sample> {
    let op = Compare(
        COMPARISONS
            .iter()
            .find(|d| d.name == name)
            .expect("a name of the table")
            .op,
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
    COMPARISONS
        .iter()
        .map(|d| Entry {
            name: d.name,
            doc: "Elementwise comparison of operands of one type and shape; the result is i1.",
            parse,
            samples,
        })
        .collect()
}
