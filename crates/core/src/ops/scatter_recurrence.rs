//! `scatter_recurrence`: for every element of the operand a linear recurrence along its updates.
//!
//! ```text
//! for every update k in order, p its place:    before[k] = s[p],    s[p] = a[k] s[p] + b[k]
//! ```
//! Results are the last `s` and `before` (0 where an update is out of bounds). With `b = 0` the
//! first result is a scatter that multiplies. The second one is the product of all earlier factors,
//! which gives derivatives of products without a division. The operation is linear in `(s, b)`, and
//! closed under linearization and transposition: its adjoint is the operation in reverse order, and
//! the derivative in `a` is `dbefore, ds = recurrence(ds, a, db + before da)`.

use super::entry::{Entry, Spelled};
use super::support::sample_array;
use super::windows::{Bounds, SCATTER_FIELDS, Windows, cases, cost};
use crate::array::{Array, Wide};
use crate::bail;
use crate::error::Result;
use crate::ir::{Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val};
use crate::math::{Twofold, TwofoldComplex};
use crate::shape::{Dim, Env, Type};

/// A linear recurrence per element of the operand.
#[derive(Clone, Debug)]
pub struct ScatterRecurrence {
    /// The roles of axes.
    pub windows: Windows,
    /// Treatment of updates out of bounds.
    pub bounds: Bounds,
    /// Whether it runs from the last update to the first.
    pub reverse: bool,
}

impl Primitive for ScatterRecurrence {
    fn name(&self) -> &str {
        "scatter_recurrence"
    }

    fn attrs(&self) -> Attrs {
        let a = self.windows.attrs(SCATTER_FIELDS);
        let a = a.with_if(self.bounds != Bounds::Drop, "mode", self.bounds.word(false));
        a.with_if(self.reverse, "reverse", true)
    }

    fn results(&self) -> usize {
        2
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let [s, indices, a, b] = x else {
            bail!(
                Arity,
                "`scatter_recurrence` takes an operand, indices, factors and terms, got {} operands",
                x.len()
            )
        };
        for updates in [a, b] {
            self.windows.check_write(
                "scatter_recurrence",
                SCATTER_FIELDS,
                self.bounds,
                s,
                indices,
                updates,
            )?;
        }
        if !s.dtype.has_tangent() || a.differs(b) {
            bail!(
                ShapeMismatch,
                "`scatter_recurrence` needs floats, and factors {a} and terms {b} of one type"
            );
        }
        Ok(vec![s.clone(), a.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        fn run<T: Copy + Default, S: Copy>(
            s: &[T],
            [a, b]: [&[T]; 2],
            to: impl Iterator<Item = (usize, usize)>,
            of: impl Fn(T) -> S,
            step: impl Fn(S, T, T) -> S,
            value: impl Fn(S) -> T,
        ) -> [Vec<T>; 2] {
            let mut state: Vec<S> = s.iter().map(|&s| of(s)).collect();
            let mut before = vec![T::default(); a.len()];
            for (k, p) in to {
                before[k] = value(state[p]);
                state[p] = step(state[p], a[k], b[k]);
            }
            [state.into_iter().map(value).collect(), before]
        }
        let mut to = self
            .windows
            .pairs(self, self.bounds, x[0].shape(), &x[1], x[2].shape())?;
        if self.reverse {
            to.reverse();
        }
        let to = to.into_iter();
        let y = match (x[0].wide(), x[2].wide(), x[3].wide()) {
            (Wide::F(s), Wide::F(a), Wide::F(b)) => {
                let step = |s: Twofold, a, b| s.step(a, b, |a, s| a * s);
                run(&s, [&a, &b], to, Twofold::of, step, Twofold::value).map(Wide::F)
            }
            (Wide::C(s), Wide::C(a), Wide::C(b)) => {
                let step = |s: TwofoldComplex, a, b| s.step(a, b, false);
                run(
                    &s,
                    [&a, &b],
                    to,
                    TwofoldComplex::of,
                    step,
                    TwofoldComplex::value,
                )
                .map(Wide::C)
            }
            _ => unreachable!("the type rule makes all element types one"),
        };
        y.into_iter()
            .zip([&x[0], &x[2]])
            .map(|(y, like)| y.narrow(like.dtype(), like.shape()))
            .collect()
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask == [true, false, false, true]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.emit().emit(self.clone().into(), x);
        let da = t[2].map(|da| cx.scale(y[1], da));
        let (ds, db) = (cx.or_zeros(t[0], x[0]), cx.sum_opt(t[3], da));
        let operands = [
            ds.into(),
            x[1].into(),
            x[2].into(),
            cx.or_zeros(db, x[3]).into(),
        ];
        Ok((
            y,
            cx.apply(self.clone(), &operands)
                .into_iter()
                .map(Some)
                .collect(),
        ))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(s), Arg::R(indices), Arg::R(a), Arg::L(b)) = (&x[0], &x[1], &x[2], &x[3])
        else {
            return Ok(vec![None; 4]);
        };
        let [ct_s, ct_before] =
            [(ct[0], s), (ct[1], b)].map(|(ct, ty)| ct.unwrap_or_else(|| cx.zeros(ty)));
        let back = ScatterRecurrence {
            reverse: !self.reverse,
            ..self.clone()
        };
        let y = cx.emit(back.into(), &[ct_s, *indices, cx.conj(*a), ct_before]);
        Ok(vec![Some(y[0]), None, None, Some(y[1])])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let [s, a, b] = [x[0], x[2], x[3]].map(|b| cx.replicate(b, size).val);
        let windows = if x[1].mapped {
            self.windows.batched(true)
        } else {
            self.windows.wider()
        };
        let y = cx.emit(
            ScatterRecurrence {
                windows,
                ..self.clone()
            }
            .into(),
            &[s, x[1].val, a, b],
        );
        Ok(y.into_iter()
            .map(|val| Batched { val, mapped: true })
            .collect())
    }

    fn cost(&self, x: &[Type], _: &[Type]) -> Cost {
        cost(2.0, &x[1], &x[2])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(ScatterRecurrence {
        windows: Windows::parse(s, SCATTER_FIELDS)?,
        bounds: Bounds::take(s, Bounds::Drop)?,
        reverse: s.attrs.opt("reverse")?.unwrap_or(false),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let mut out = Vec::new();
    for (k, c) in cases().into_iter().enumerate() {
        let shape = c.shape();
        let dtypes: &[_] = if k == 1 { &[F64, F32, C128] } else { &[F64] };
        for &d in dtypes {
            let reverse = k % 2 == 1;
            let op = ScatterRecurrence {
                windows: c.windows.clone(),
                bounds: Bounds::Drop,
                reverse,
            };
            let x = [
                sample_array(d, &c.x, 0),
                c.indices.clone(),
                sample_array(d, &shape, 40),
                sample_array(d, &shape, 60),
            ];
            out.push(Sample::new(op, x.to_vec()));
        }
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "A linear recurrence s = a s + b along the updates of each element; results: the last s, and s before each update.";
    vec![Entry {
        name: "scatter_recurrence",
        doc,
        parse,
        samples,
    }]
}
