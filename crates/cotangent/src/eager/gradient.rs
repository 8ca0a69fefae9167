//! Accumulation of gradients of variables.

use super::apply::apply;
use super::runtime::EagerRuntime;
use super::tape::{Gradient, Value};
use super::turns::lock;
use cotangent_core::{Env, Loc, Result};
use std::sync::Mutex;

impl Gradient {
    /// Adds a value to a gradient. Only an in-place addition runs under the lock; any other may run
    /// user code. If the gradient changed meanwhile, the addition is repeated.
    pub(super) fn add(
        grad: &Mutex<Gradient>,
        rt: &EagerRuntime,
        v: Value,
        track: bool,
    ) -> Result<()> {
        loop {
            let (mut sum, version) = {
                let mut g = lock(grad);
                g.version += 1;
                match &mut g.value {
                    None => {
                        g.value = Some(v);
                        return Ok(());
                    }
                    Some(old) => {
                        if add_in_place(rt, old, &v, track) {
                            return Ok(());
                        }
                        (old.clone(), g.version)
                    }
                }
            };
            add_up(rt, &mut sum, &v, track)?;
            let old = {
                let mut g = lock(grad);
                if g.version != version {
                    continue;
                }
                g.version += 1;
                g.value.replace(sum)
            };
            drop(old);
            return Ok(());
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
