//! `gather`: windows of the operand at data-dependent indices ([`Windows`] defines the axes).
//!
//! ```text
//! y[g, w] = x[start(indices[g]) + w]
//! ```
//! The adjoint is a scatter that adds. Both treat indices out of bounds in the same way
//! ([`Bounds`]).

use super::entry::{Entry, Spelled};
use super::moving::{no_axis, overlay, prepend};
use super::support::{mapped, sample_array};
use super::windows::{Bounds, Combine, GATHER_FIELDS, Windows, cases, cost};
use crate::array::Array;
use crate::error::{Code, Error, Result};
use crate::ir::{Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val};
use crate::shape::{Dim, Env, Type};

/// Reads windows.
#[derive(Clone, Debug)]
pub struct Gather {
    /// The roles of axes.
    pub windows: Windows,
    /// Extents of a window along the axes of the operand; 1 along collapsed and batch axes.
    pub sizes: Vec<Dim>,
    /// Treatment of indices out of bounds.
    pub bounds: Bounds,
}

impl Primitive for Gather {
    fn name(&self) -> &str {
        "gather"
    }

    fn attrs(&self) -> Attrs {
        let a = self
            .windows
            .attrs(GATHER_FIELDS)
            .with("slice_sizes", &self.sizes);
        a.with_if(self.bounds != Bounds::Clip, "mode", self.bounds.word(true))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![self.windows.infer_read(
            "gather",
            GATHER_FIELDS,
            self.bounds,
            x,
            &self.sizes,
        )?])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let sizes: Vec<Dim> = self
            .sizes
            .iter()
            .map(|d| d.eval(env).map(Dim::Const))
            .collect::<Result<_>>()?;
        let ty = self.windows.infer_read(
            "gather",
            GATHER_FIELDS,
            self.bounds,
            &[x[0].ty(), x[1].ty()],
            &sizes,
        )?;
        let shape = ty.shape.eval(env)?;
        let out = Array::zeros(x[0].dtype(), shape.clone())?;
        let from = self
            .windows
            .pairs(self, self.bounds, x[0].shape(), &x[1], &shape)?;
        Ok(vec![overlay(
            out,
            &x[0],
            from.into_iter().map(|(at, from)| (from, at)),
        )?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&self.clone().into(), x, t))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Arg::R(indices), Some(ct)) = (&x[0], &x[1], ct[0]) else {
            return Ok(vec![None, None]);
        };
        Ok(vec![
            Some(cx.scatter(
                Combine::Add,
                &self.windows,
                self.bounds,
                cx.zeros(ty),
                *indices,
                ct,
            )),
            None,
        ])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let (windows, sizes) = match (x[0].mapped, x[1].mapped) {
            (true, false) => (self.windows.wider(), prepend(size.clone(), &self.sizes)),
            (true, true) => (
                self.windows.batched(true),
                prepend(Dim::Const(1), &self.sizes),
            ),
            (false, _) => (self.windows.batched(false), self.sizes.clone()),
        };
        mapped(cx.gather(&windows, &sizes, self.bounds, x[0].val, x[1].val))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost(0.0, &x[1], &y[0])
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            Gather {
                sizes: self.sizes.iter().map(f).collect(),
                ..self.clone()
            }
            .into(),
        )
    }
}

impl dyn Emit + '_ {
    /// Windows of these extents of `x` at `indices`.
    pub fn gather(
        &self,
        windows: &Windows,
        sizes: &[Dim],
        bounds: Bounds,
        x: Val,
        indices: Val,
    ) -> Val {
        self.op(
            Gather {
                windows: windows.clone(),
                sizes: sizes.to_vec(),
                bounds,
            },
            &[x, indices],
        )
    }

    /// `x[.., indices, ..]` along an axis: the axes of `indices` (of any rank) replace `axis`.
    ///
    /// Indices count from the start; negative ones are out of bounds.
    pub fn take(&self, x: Val, indices: Val, axis: usize, bounds: Bounds) -> Val {
        let (ty, rank) = (self.ty(x), self.ty(indices).rank());
        if axis >= ty.rank() {
            self.fail(no_axis("take", &ty, axis));
            return Val::POISON;
        }
        let mut sizes = ty.shape.to_vec();
        sizes[axis] = Dim::Const(1);
        let windows = Windows::parts(ty.rank(), axis, rank);
        self.gather(&windows, &sizes, bounds, x, indices)
    }

    /// `y[i, .., j, .., k] = x[i, .., indices[i, .., j, .., k], .., k]`: an index along `axis` for
    /// every element. Other axes have equal extents, or extent 1 in one operand.
    pub fn take_along_axis(&self, x: Val, indices: Val, axis: usize, bounds: Bounds) -> Val {
        let (tx, ti) = (self.ty(x), self.ty(indices));
        if axis >= tx.rank() || ti.rank() != tx.rank() {
            let text = format!(
                "`take_along_axis` of {tx} along axis {axis} at {ti}: there must be such an axis in both"
            );
            self.fail(Error::new(Code::ShapeMismatch, text));
            return Val::POISON;
        }
        let (mut sx, mut si) = (tx.shape.to_vec(), ti.shape.to_vec());
        for k in (0..tx.rank()).filter(|&k| k != axis) {
            match (sx[k].is(1), si[k].is(1)) {
                (true, false) => sx[k] = si[k].clone(),
                (false, true) => si[k] = sx[k].clone(),
                _ => {}
            }
        }
        let (x, indices) = (self.broadcast_to(x, &sx), self.broadcast_to(indices, &si));
        self.gather(
            &Windows::along(tx.rank(), axis),
            &vec![Dim::Const(1); tx.rank()],
            bounds,
            x,
            indices,
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let windows = Windows::parse(s, GATHER_FIELDS)?;
    Ok(Gather {
        windows,
        sizes: s.attrs.get("slice_sizes")?,
        bounds: Bounds::take(s, Bounds::Clip)?,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let mut out = Vec::new();
    for (k, c) in cases().into_iter().enumerate() {
        let sizes: Vec<Dim> = c.sizes.iter().map(|&d| Dim::Const(d)).collect();
        let op = |bounds| Gather {
            windows: c.windows.clone(),
            sizes: sizes.clone(),
            bounds,
        };
        let dtypes: &[_] = if k == 1 {
            &[F64, F32, C128, I32, Bool]
        } else {
            &[F64]
        };
        for &d in dtypes {
            out.push(Sample::new(
                op(Bounds::Clip),
                vec![sample_array(d, &c.x, 0), c.indices.clone()],
            ));
        }
        let second = if c.outside {
            Bounds::Drop
        } else {
            Bounds::Error
        };
        out.push(Sample::new(
            op(second),
            vec![sample_array(F64, &c.x, 5), c.indices.clone()],
        ));
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Windows of an operand at integer indices; out of bounds by mode: clip, fill (zeros) or error.";
    vec![Entry {
        name: "gather",
        doc,
        parse,
        samples,
    }]
}
