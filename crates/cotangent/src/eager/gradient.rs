//! Accumulation of gradients of variables.

use super::apply::apply;
use super::runtime::EagerRuntime;
use super::tape::{Gradient, GradientPlace, Value};
use cotangent_core::{Env, Loc, Result};

impl Gradient {
    /// Adds a value to a gradient. Only an in-place addition runs under the lock; any other may run
    /// user code. If the gradient changed meanwhile, the addition is repeated.
    pub(super) fn add(
        place: &GradientPlace<'_>,
        rt: &EagerRuntime,
        v: Value,
        track: bool,
    ) -> Result<()> {
        let clears = rt.clears();
        let mut v = Some(v);
        loop {
            let other = place.with(clears, |g| {
                g.version += 1;
                let Some(old) = &mut g.value else {
                    g.value = v.take();
                    return None;
                };
                let added = v.as_ref().is_none_or(|v| add_in_place(rt, old, v, track));
                (!added).then(|| (old.clone(), g.version))
            });
            let (Some((mut sum, version)), Some(v)) = (other, &v) else {
                return Ok(());
            };
            add_up(rt, &mut sum, v, track)?;
            // The old value is dropped after the lock is released.
            let old = place.with(clears, |g| {
                (g.version == version).then(|| {
                    g.version += 1;
                    g.value.replace(sum)
                })
            });
            if old.is_some() {
                return Ok(());
            }
        }
    }
}

/// Adds `v` to `old` in place, if its buffer is not shared and nothing is recorded. Returns whether
/// it did.
fn add_in_place(rt: &EagerRuntime, old: &mut Value, v: &Value, track: bool) -> bool {
    let apart = |v: &Value| v.edge.is_some() || v.sides.is_some();
    let recorded = track && (apart(old) || apart(v));
    let plain = !rt.is_watched() && !rt.session().has_own_sum();
    !recorded && plain && old.tensor.add_over(&v.tensor)
}

/// Replaces `old` by `old + v`, in place if its buffer is not shared and nothing is recorded.
pub(super) fn add_up(rt: &EagerRuntime, old: &mut Value, v: &Value, track: bool) -> Result<()> {
    if !add_in_place(rt, old, v, track) {
        let mut y = apply(
            rt,
            &rt.session().sum(old.ty()),
            &[old, v],
            track,
            Loc::None,
            &mut Env::default(),
        )?;
        *old = y.remove(0);
    }
    Ok(())
}
