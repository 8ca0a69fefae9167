//! `count`: the numbers `0 .. n` for a data-dependent `n`. The extent of the result is a new
//! symbol.
//!
//! It converts a data-dependent rank to an extent: `count` binds the symbol, and slices and
//! broadcasts use it. It has no derivative. It cannot be batched, because extents would differ
//! between batch elements.

use super::super::support::cost_per_element;
use crate::array::Array;
use crate::bail;
use crate::dtype::DType;
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attr, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::ops::entry::{Entry, Spelled, arity};
use crate::shape::{Dim, Env, Sym, Type};

/// An iota of data-dependent length: `n` elements for an operand `n`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Count {
    /// The symbol of the extent.
    pub extent: Sym,
}

impl Primitive for Count {
    fn name(&self) -> &str {
        "count"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("extent", &*self.extent)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if x[0] != Type::scalar(DType::I64) {
            bail!(
                DTypeMismatch,
                "`count` takes a number of type i64, got {}",
                x[0]
            );
        }
        Ok(vec![Type::new(DType::I64, vec![Dim::sym(&self.extent)])])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let n = x[0].as_slice::<i64>().map_or(0, |n| n[0]).max(0);
        crate::array::room(&[n as usize], 8)?;
        Ok(vec![Array::vector((0..n).collect())])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(self.clone(), x), None))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        let text = format!(
            "`{}`, an extent that depends on data, would differ between the elements of a batch: use a fixed rank, or a \
             loop",
            self.extent
        );
        Err(Error::new(Code::RankVaries, text))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(0.0, x, y)
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            Count {
                extent: f(&Dim::sym(&self.extent)).as_sym()?.clone(),
            }
            .into(),
        )
    }

    fn binds(&self) -> Vec<Sym> {
        vec![self.extent.clone()]
    }
}

impl dyn Emit + '_ {
    /// The numbers `0 .. n` (`i64`) for a data-dependent scalar `n` of type `i64`. Their extent is
    /// a new symbol, named after `base`.
    pub fn count(&self, n: Val, base: &str) -> Val {
        self.op(
            Count {
                extent: self.fresh_sym(base),
            },
            &[n],
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let extent = match s.attrs.get::<Attr>("extent")? {
        Attr::Str(s) => s.as_str().into(),
        Attr::Dim(d) if d.as_sym().is_some() => d.as_sym().expect("just looked").clone(),
        _ => bail!(Attribute, "the attribute `extent` must name an extent"),
    };
    Ok(Count { extent }.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let of = |n: i64| Sample::new(Count { extent: "n".into() }, vec![Array::scalar(n)]);
    vec![of(3), of(0), of(-1)]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The numbers 0 .. n for a data-dependent n; binds their extent to a symbol.";
    vec![Entry {
        name: "count",
        doc,
        parse,
        samples,
    }]
}
