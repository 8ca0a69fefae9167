//! Compiled pullbacks of the derivative of an operation.

use super::compile::compile_static;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::NodeDerivative;
use cotangent_core::tape::Pullback;
use cotangent_cpu::Program;

impl NodeDerivative {
    /// The pullback of cotangents in these slots. `None` if they must be pulled back by the
    /// emitter.
    pub(crate) fn compiled_pullback(
        &self,
        rt: &EagerRuntime,
        slots: impl Iterator<Item = u32> + Clone,
    ) -> Option<&Pullback<Program>> {
        if !self.reusable {
            return None;
        }
        self.pullbacks.get(slots, |slots| {
            let pullback = self.pullback(rt.session(), self.op.name(), slots).ok()?;
            pullback.compiled(|f| compile_static(rt, f))
        })
    }
}
