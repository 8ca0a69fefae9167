//! `iota`: the index along one axis.

use super::Comparison;
use super::entry::{Entry, Spelled, arity};
use super::support::cost_per_element;
use crate::array::{Array, Wide, room};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::shape::{Dim, Env, Type};

/// `y[i] = i[axis]` of this type.
#[derive(Clone, Debug)]
pub struct Iota {
    /// Type of the result.
    pub ty: Type,
    /// The axis.
    pub axis: usize,
}

impl Primitive for Iota {
    fn name(&self) -> &str {
        "iota"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("axis", self.axis)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 0)?;
        if self.axis >= self.ty.rank() || self.ty.dtype == DType::Bool {
            bail!(
                Attribute,
                "`iota` of {} has no axis {} to count along",
                self.ty,
                self.axis
            );
        }
        Ok(vec![self.ty.clone()])
    }

    fn eval(&self, _: &[Array], env: &Env) -> Result<Vec<Array>> {
        let shape = self.ty.shape.eval(env)?;
        let n = room(&shape, size_of::<i128>())?;
        let inner: usize = shape[self.axis + 1..].iter().product();
        let at = |i: usize| i / inner % shape[self.axis];
        let wide = match self.ty.dtype.kind() {
            Kind::Float => Wide::F((0..n).map(|i| at(i) as f64).collect()),
            Kind::Complex => Wide::C((0..n).map(|i| C128::new(at(i) as f64, 0.0)).collect()),
            _ => Wide::I((0..n).map(|i| at(i) as i128).collect()),
        };
        Ok(vec![wide.narrow(self.ty.dtype, shape.clone())?])
    }

    fn linearize(&self, cx: &Lin<'_>, _: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(self.clone(), &[]), None))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(1.0, x, y)
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        let ty = self
            .ty
            .with_shape(self.ty.shape.iter().map(f).collect::<Vec<_>>());
        Some(
            Iota {
                ty,
                axis: self.axis,
            }
            .into(),
        )
    }
}

impl dyn Emit + '_ {
    /// The index along `axis`, of this type.
    pub fn iota(&self, ty: &Type, axis: usize) -> Val {
        self.op(
            Iota {
                ty: ty.clone(),
                axis,
            },
            &[],
        )
    }

    /// The identity matrix of extent `n`.
    pub fn eye(&self, dtype: DType, n: &Dim) -> Val {
        let ty = Type::new(DType::I64, vec![n.clone(), n.clone()]);
        let same = self.compare(self.iota(&ty, 0), Comparison::Eq, self.iota(&ty, 1));
        self.convert(same, dtype)
    }

    /// Ones at the indices along a new last axis of extent `n`, zeros elsewhere. All zeros for an
    /// index out of bounds.
    pub fn one_hot(&self, indices: Val, n: &Dim, dtype: DType) -> Val {
        let wide = self.convert(indices, DType::I64);
        let ty = self.ty(wide);
        let shape: Vec<Dim> = ty.shape.iter().chain([n]).cloned().collect();
        let repeated = self.broadcast_in_dim(wide, &shape, &(0..ty.rank()).collect::<Vec<_>>());
        let same = self.compare(
            repeated,
            Comparison::Eq,
            self.iota(&ty.with_shape(shape), ty.rank()),
        );
        self.convert(same, dtype)
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    match s.results {
        Some([t]) => Ok(Iota {
            ty: t.clone(),
            axis: s.attrs.opt("axis")?.unwrap_or(0),
        }
        .into()),
        _ => bail!(
            Syntax,
            "`iota` needs the type of its result: `: tensor<4xi64>`"
        ),
    }
}

fn samples(_: &str) -> Vec<Sample> {
    let i = |dtype, shape: &[usize], axis| {
        Sample::new(
            Iota {
                ty: Type::new(dtype, shape),
                axis,
            },
            vec![],
        )
    };
    vec![
        i(DType::I64, &[3, 2], 0),
        i(DType::F32, &[2, 3], 1),
        i(DType::C128, &[2], 0),
        i(DType::U8, &[0], 0),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "iota",
        doc: "The index along one axis.",
        parse,
        samples,
    }]
}
