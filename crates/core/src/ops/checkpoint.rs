//! [`Checkpoint`]: the checkpointing policy of a loop, and its attributes.

use super::entry::Spelled;
use crate::bail;
use crate::error::Result;
use crate::ir::{Attr, Attrs, Emit, FromAttr};

/// Residuals that the derivative of a loop saves. The choice does not change the bits of values.
/// Sums over steps (cotangents of loop constants) are added segment by segment, so their rounding
/// may differ.
///
/// ```
/// use cotangent_core::ops::Checkpoint;
/// use cotangent_core::transform::{AdContext, grad};
/// use cotangent_core::{Builder, DType, Dim, Emit, Type};
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::scalar(DType::F64), Some("x"));
/// let cx: &dyn Emit = &b;
/// let step = |cx: &dyn Emit, _: &[_], c: &[_], _: &[_]| (vec![cx.sin(c[0])], vec![]);
/// let (c, _) = cx.checkpointing(Checkpoint::Sqrt).scan(&[], &[x], &[], &Dim::Const(10_000), false, step);
/// let f = b.finish(&c)?;
/// // 100 carries instead of 10000 residuals.
/// let g = grad(&AdContext::default(), &f, f.params())?;
/// assert!(g.eqns().iter().flat_map(|e| e.results()).all(|r| g.ty(r).shape.iter().all(|d| d.is(100))));
/// # Ok::<(), cotangent_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checkpoint {
    /// Saves the residuals of every step.
    #[default]
    Never,
    /// Saves the carries every `k` steps, and the residuals of `k` steps at a time. For loops of
    /// any length, including `while`.
    Every(usize),
    /// Saves the carries about every `sqrt(n)` of `n` steps. The number of steps must be a
    /// constant.
    Sqrt,
    /// Saves about `s` sets of carries, and the residuals of about `s` steps at a time. Steps are
    /// recomputed as rarely as that allows. The number of steps must be a constant.
    Snapshots(usize),
}

impl Checkpoint {
    /// The policy as attributes.
    pub(super) fn attrs(self, a: Attrs) -> Attrs {
        match self {
            Checkpoint::Never => a,
            Checkpoint::Every(k) => a.with("checkpoint", k),
            Checkpoint::Sqrt => a.with("checkpoint", "sqrt"),
            Checkpoint::Snapshots(s) => a.with("snapshots", s),
        }
    }

    /// Parses the policy from attributes.
    pub(super) fn take(s: &mut Spelled<'_>) -> Result<Checkpoint> {
        let every = s.attrs.opt::<Attr>("checkpoint")?;
        match (every, s.attrs.opt("snapshots")?) {
            (None, None) => Ok(Checkpoint::Never),
            (None, Some(s)) => Ok(Checkpoint::Snapshots(s)),
            (Some(_), Some(_)) => bail!(
                Attribute,
                "`{}` takes `checkpoint` or `snapshots`, not both",
                s.name
            ),
            (Some(Attr::Str(w)), None) if w == "sqrt" => Ok(Checkpoint::Sqrt),
            (Some(a), None) => match usize::from_attr(&a) {
                Some(k) => Ok(Checkpoint::Every(k)),
                None => bail!(
                    Attribute,
                    "the attribute `checkpoint` must be a number of steps or \"sqrt\""
                ),
            },
        }
    }

    /// Checks that segments and snapshots are not empty.
    pub(super) fn check(self, op: &str) -> Result<()> {
        if matches!(self, Checkpoint::Every(0) | Checkpoint::Snapshots(0)) {
            bail!(
                Attribute,
                "`{op}` cannot be checkpointed by {self:?}: it takes at least one step and one snapshot"
            );
        }
        Ok(())
    }
}

/// An emitter of loops with one checkpointing policy.
pub struct Loops<'a> {
    pub(super) cx: &'a dyn Emit,
    pub(super) checkpoint: Checkpoint,
    /// Largest number of steps of a `while`.
    pub(super) bound: Option<usize>,
}

impl Loops<'_> {
    /// The same, with the largest number of steps of a `while` whose values derivatives store on
    /// devices that need it before a run.
    pub fn bounded(self, steps: usize) -> Self {
        Loops {
            bound: Some(steps),
            ..self
        }
    }
}

impl dyn Emit + '_ {
    /// An emitter of loops with this checkpointing policy.
    pub fn checkpointing(&self, checkpoint: Checkpoint) -> Loops<'_> {
        Loops {
            cx: self,
            checkpoint,
            bound: None,
        }
    }
}
