//! What the derivative of a loop saves.

use super::entry::Spelled;
use crate::bail;
use crate::error::Result;
use crate::ir::{Attr, Attrs, Emit, FromAttr};

/// What the derivative of a loop saves. Values keep their bits whatever is saved; sums over steps,
/// as the cotangent of what every step reads, are added piece by piece.
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
    /// What every step needs.
    #[default]
    Never,
    /// A carry every so many steps, and what those steps need at a time. For loops of any length,
    /// `while` too.
    Every(usize),
    /// A carry about every square root of the number of steps, which must be known.
    Sqrt,
    /// About so many carries, and what as many steps need at a time; every step is computed as
    /// rarely as that allows. The number of steps must be known.
    Snapshots(usize),
}

impl Checkpoint {
    /// As attributes.
    pub(super) fn attrs(self, a: Attrs) -> Attrs {
        match self {
            Checkpoint::Never => a,
            Checkpoint::Every(k) => a.with("checkpoint", k),
            Checkpoint::Sqrt => a.with("checkpoint", "sqrt"),
            Checkpoint::Snapshots(s) => a.with("snapshots", s),
        }
    }

    /// From attributes.
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

    /// Pieces have steps.
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

/// Writes loops whose derivatives save by one policy.
pub struct Loops<'a> {
    pub(super) cx: &'a dyn Emit,
    pub(super) checkpoint: Checkpoint,
}

impl dyn Emit + '_ {
    /// Loops whose derivatives save by this policy.
    pub fn checkpointing(&self, checkpoint: Checkpoint) -> Loops<'_> {
        Loops {
            cx: self,
            checkpoint,
        }
    }
}
