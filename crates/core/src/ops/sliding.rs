//! The geometry of sliding windows, for convolutions and windowed reductions: the elements of an
//! operand that are in a window.
//!
//! Along each axis the element `k` of the window at `p` is the element `i` of the operand with
//!
//! ```text
//! x_dilation · i = stride · p + dilation · k - low        there is none if that is no index
//! ```
//! Exchanging the three indices of this equation gives the geometries of the adjoints, so the
//! operations are closed under transposition. Steps may be negative for that reason. `low` is the
//! padding before the first element. The padding after the last element follows from the number of
//! windows, an attribute of the operation.

use super::entry::Spelled;
use super::moving::{advance, padded};
use crate::bail;
use crate::error::Result;
use crate::ir::{Attrs, Primitive};
use crate::shape::{Dim, Type};

/// Steps of every axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sliding {
    /// Step from one window to the next; not 0.
    pub stride: Vec<i64>,
    /// Step from one element of a window to the next; not 0.
    pub dilation: Vec<i64>,
    /// Step from one element of the operand to the next, in the same unit; not 0.
    pub x_dilation: Vec<i64>,
    /// Position of the operand's first element relative to the first element of the first window.
    pub low: Vec<i64>,
}

impl Sliding {
    /// Windows with stride and dilation 1 and without padding, along this many axes.
    pub fn plain(axes: usize) -> Sliding {
        Sliding {
            stride: vec![1; axes],
            dilation: vec![1; axes],
            x_dilation: vec![1; axes],
            low: vec![0; axes],
        }
    }

    /// Number of axes.
    pub fn axes(&self) -> usize {
        self.stride.len()
    }

    /// The index of element `k` of the window at `p` along an axis of `n` elements.
    pub fn source(&self, axis: usize, p: usize, k: usize, n: usize) -> Option<usize> {
        let wide = |v: &[i64]| i128::from(v[axis]);
        let at =
            wide(&self.stride) * p as i128 + wide(&self.dilation) * k as i128 - wide(&self.low);
        let step = wide(&self.x_dilation);
        (at % step == 0)
            .then_some(at / step)
            .and_then(|i| usize::try_from(i).ok())
            .filter(|&i| i < n)
    }

    /// The indices of the elements of the window at `p` (of extent `window`), in order, along an
    /// axis of `n` elements.
    pub(super) fn sources(&self, axis: usize, p: usize, window: usize, n: usize) -> Vec<usize> {
        if window <= n {
            return (0..window)
                .filter_map(|k| self.source(axis, p, k, n))
                .collect();
        }
        let wide = |v: &[i64]| i128::from(v[axis]);
        let by = wide(&self.dilation);
        let place = |i: usize| {
            let at = wide(&self.x_dilation) * i as i128 + wide(&self.low)
                - wide(&self.stride) * p as i128;
            (at % by == 0 && (0..window as i128).contains(&(at / by))).then_some(i)
        };
        let mut found: Vec<usize> = (0..n).filter_map(place).collect();
        if (by < 0) != (wide(&self.x_dilation) < 0) {
            found.reverse();
        }
        found
    }

    /// The inverse geometry: the windows that have an element `i` as their element `k`.
    pub(super) fn inverse(&self) -> Sliding {
        let negative = |v: &[i64]| v.iter().map(|x| -x).collect();
        let s = Sliding {
            stride: self.x_dilation.clone(),
            dilation: negative(&self.dilation),
            x_dilation: self.stride.clone(),
            low: negative(&self.low),
        };
        s.upright()
    }

    /// The geometry with window index and element index exchanged.
    pub(super) fn exchanged(&self) -> Sliding {
        Sliding {
            stride: self.dilation.clone(),
            dilation: self.stride.clone(),
            ..self.clone()
        }
    }

    /// The same geometry with a positive step of the operand.
    fn upright(mut self) -> Sliding {
        for k in 0..self.axes() {
            if self.x_dilation[k] < 0 {
                for v in [
                    &mut self.stride,
                    &mut self.dilation,
                    &mut self.x_dilation,
                    &mut self.low,
                ] {
                    v[k] = -v[k];
                }
            }
        }
        self
    }

    /// The geometry with one more leading axis, along which windows have one element.
    pub(super) fn batched(&self) -> Sliding {
        let one =
            |first: i64, rest: &[i64]| std::iter::once(first).chain(rest.iter().copied()).collect();
        Sliding {
            stride: one(1, &self.stride),
            dilation: one(1, &self.dilation),
            x_dilation: one(1, &self.x_dilation),
            low: one(0, &self.low),
        }
    }

    /// Number of windows of `size` elements within an axis of `n` elements padded by `low` and
    /// `high`.
    pub fn count(&self, axis: usize, n: &Dim, size: &Dim, high: i64) -> Result<Dim> {
        let step = |v: &[i64]| match usize::try_from(v[axis]) {
            Ok(s) if s > 0 => Ok(s),
            _ => bail!(
                Attribute,
                "windows are counted by padding where their steps are positive, got {}",
                v[axis]
            ),
        };
        let (stride, dilation, x_dilation) = (
            step(&self.stride)?,
            step(&self.dilation)?,
            step(&self.x_dilation)?,
        );
        let room = padded(n, self.low[axis], high, x_dilation - 1)?;
        let span = padded(size, 0, 0, dilation - 1)?;
        match (room.as_const(), span.as_const()) {
            (Some(n), Some(s)) if n < s => Ok(Dim::Const(0)),
            (Some(n), Some(s)) => Ok(Dim::Const((n - s) / stride + 1)),
            _ => Ok((room - span + Dim::Const(stride)).floor_div(stride)),
        }
    }

    /// Checks the steps for this many axes.
    pub(super) fn check(&self, op: &str, axes: usize) -> Result<()> {
        for (name, v) in [
            ("stride", &self.stride),
            ("dilation", &self.dilation),
            ("x_dilation", &self.x_dilation),
            ("low", &self.low),
        ] {
            if v.len() != axes {
                bail!(
                    Attribute,
                    "`{op}`: `{name}` has {} entries for {axes} axes of windows",
                    v.len()
                );
            }
            // Bounds the attributes so that their sums and negatives do not overflow.
            if v.iter()
                .any(|s| s.unsigned_abs() > i64::MAX as u64 / 2 || (*s == 0 && name != "low"))
            {
                bail!(
                    Attribute,
                    "`{op}`: `{name}` = {v:?} must be steps, none of them 0"
                );
            }
        }
        Ok(())
    }

    /// Attributes that differ from their defaults.
    pub(super) fn attrs(&self, a: Attrs) -> Attrs {
        let not = |d: i64, v: &[i64]| v.iter().any(|&x| x != d);
        a.with_if(not(1, &self.stride), "stride", &self.stride)
            .with_if(not(1, &self.dilation), "dilation", &self.dilation)
            .with_if(not(1, &self.x_dilation), "x_dilation", &self.x_dilation)
            .with_if(not(0, &self.low), "low", &self.low)
    }

    pub(super) fn parse(s: &mut Spelled<'_>, axes: usize) -> Result<Sliding> {
        let mut list =
            |name: &str, default| Ok(s.attrs.opt(name)?.unwrap_or_else(|| vec![default; axes]));
        Ok(Sliding {
            stride: list("stride", 1)?,
            dilation: list("dilation", 1)?,
            x_dilation: list("x_dilation", 1)?,
            low: list("low", 0)?,
        })
    }

    /// The attribute `extents`, or the numbers of windows that follow from `high` (0 by default)
    /// for an operand and windows of these extents.
    pub(super) fn take_extents(
        &self,
        s: &mut Spelled<'_>,
        x: &[Dim],
        size: &[Dim],
    ) -> Result<Vec<Dim>> {
        if let Some(extents) = s.attrs.opt("extents")? {
            return Ok(extents);
        }
        let high: Vec<i64> = s.attrs.opt("high")?.unwrap_or_else(|| vec![0; self.axes()]);
        self.check(s.name, x.len())?;
        if high.len() != x.len() || size.len() != x.len() {
            bail!(
                Attribute,
                "`{}`: `high` and windows have an entry for each of {} axes",
                s.name,
                x.len()
            );
        }
        (0..x.len())
            .map(|k| self.count(k, &x[k], &size[k], high[k]))
            .collect()
    }
}

/// The flat indices in an operand of shape `x` of the elements of the window at `p`, in row-major
/// order of the window.
pub(super) fn elements<'a>(
    s: &'a Sliding,
    x: &'a [usize],
    window: &'a [usize],
    p: &'a [usize],
) -> impl Iterator<Item = usize> + 'a {
    // Indices of the window's elements along each axis. Their number is bounded by the operand's
    // extent.
    let along: Vec<Vec<usize>> = (0..p.len())
        .map(|a| s.sources(a, p[a], window[a], x[a]))
        .collect();
    let extents: Vec<usize> = along.iter().map(Vec::len).collect();
    let mut k = vec![0; window.len()];
    let mut more = !extents.contains(&0);
    std::iter::from_fn(move || {
        if !more {
            return None;
        }
        let at = (0..p.len()).fold(0, |sum, a| sum * x[a] + along[a][k[a]]);
        more = advance(&mut k, &extents);
        Some(at)
    })
}

/// Every index of a shape, row-major.
pub(crate) fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let mut next = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
    std::iter::from_fn(move || {
        let now = next.take()?;
        let mut then = now.clone();
        next = advance(&mut then, shape).then_some(then);
        Some(now)
    })
}

/// Checks the windows of `op` over an operand of this type, except for the number of windows.
pub(super) fn check_windows(
    op: &dyn Primitive,
    s: &Sliding,
    window: &[Dim],
    x: &Type,
) -> Result<()> {
    s.check(op.name(), x.rank())?;
    if window.len() != x.rank() {
        bail!(
            Attribute,
            "`{}`: `window` = {window:?} has no entry for each axis of {x}",
            op.name()
        );
    }
    Ok(())
}

/// Windows over an operand, for samples of operations with windows.
pub(super) struct SampleWindow {
    pub sliding: Sliding,
    pub window: Vec<usize>,
    /// Elements added after the last one, per axis.
    pub high: Vec<i64>,
    /// The shape of the operand.
    pub x: Vec<usize>,
}

impl SampleWindow {
    /// The number of windows along each axis.
    pub(super) fn extents(&self) -> Vec<Dim> {
        let count = |k: usize| {
            self.sliding
                .count(k, &self.x[k].into(), &self.window[k].into(), self.high[k])
                .expect("a sample")
        };
        (0..self.x.len()).map(count).collect()
    }
}

pub(super) fn sample_windows() -> Vec<SampleWindow> {
    let s = |steps: [&[i64]; 4], window: &[usize], high: &[i64], x: &[usize]| {
        let [stride, dilation, x_dilation, low] = steps.map(<[i64]>::to_vec);
        SampleWindow {
            sliding: Sliding {
                stride,
                dilation,
                x_dilation,
                low,
            },
            window: window.to_vec(),
            high: high.to_vec(),
            x: x.to_vec(),
        }
    };
    vec![
        s([&[1], &[1], &[1], &[0]], &[2], &[0], &[4]),
        s(
            [&[2, 1], &[1, 2], &[1, 1], &[1, 0]],
            &[3, 2],
            &[1, 1],
            &[4, 3],
        ),
        s([&[2], &[1], &[3], &[-1]], &[3], &[2], &[4]),
        s([&[], &[], &[], &[]], &[], &[], &[]),
        s([&[1], &[1], &[1], &[2]], &[2], &[1], &[2]),
    ]
}
