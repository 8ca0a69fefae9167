//! Pullbacks of the derivative of an operation, emitted by the core's rules and compiled.

use super::compile::compile_static;
use super::pullback::{InputCotangent, Pullback, PullbackEntry, Pullbacks};
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{NodeDerivative, ResidualSource};
use cotangent_core::transform::{LinearMap, Lv};
use cotangent_core::{Builder, Emit, Error, Val};
use smallvec::SmallVec;

impl NodeDerivative {
    /// The pullback of cotangents in these slots. `None` if they must be pulled back by the
    /// emitter.
    pub(crate) fn pullback(
        &self,
        rt: &EagerRuntime,
        slots: impl Iterator<Item = u32> + Clone,
    ) -> Option<&Pullback> {
        if !self.reusable {
            return None;
        }
        let mut list = &self.pullbacks;
        loop {
            let Some(known) = list.0.get() else {
                // User-defined rules may run here and request the same pullback, so the entry is
                // added after it is compiled. Of several, the first one is used.
                let slots: SmallVec<[u32; 1]> = slots.clone().collect();
                let pullback = self.emit_pullback(rt, &slots);
                let _ = list.0.set(Box::new(PullbackEntry {
                    slots,
                    pullback,
                    next: Pullbacks::default(),
                }));
                continue;
            };
            if known.slots.iter().copied().eq(slots.clone()) {
                return known.pullback.as_ref();
            }
            list = &known.next;
        }
    }

    /// The builder's values of the residuals, by index: constants, and a parameter per saved
    /// tensor, in order.
    pub(crate) fn values(&self, b: &Builder) -> Vec<Val> {
        let mut values =
            vec![Val::POISON; self.residuals.iter().map(|k| k.at + 1).max().unwrap_or(0)];
        for k in &self.residuals {
            values[k.at] = match &k.source {
                ResidualSource::Constant(fixed) => b.emit(fixed.0.clone(), &[])[0],
                _ => b.param(k.ty.clone(), None),
            };
        }
        values
    }

    /// Emits the pullback of cotangents in these slots. `give` receives the cotangents of the
    /// inputs, in order.
    pub(crate) fn pull(
        &self,
        b: &Builder,
        values: &[Val],
        slots: &[(u32, Val)],
        give: &mut dyn FnMut(usize, Val),
    ) -> Option<()> {
        let cts: SmallVec<[(Lv, Val); 1]> = slots
            .iter()
            .map(|&(slot, v)| (Lv::from_index(slot as usize), v))
            .collect();
        LinearMap::new(b, &self.program)
            .with_residuals(&|v| values[v.index()])
            .pull(&cts, &self.input_tangents(), &mut |l, v| {
                give(l.index(), v);
                Ok::<(), Error>(())
            })
            .ok()
    }

    fn emit_pullback(&self, rt: &EagerRuntime, slots: &[u32]) -> Option<Pullback> {
        let b = Builder::new(self.op.name(), rt.session().clone());
        let values = self.values(&b);
        // Operands that are saved for linearizing again follow as unused parameters.
        for k in self.relinearize.iter().flatten() {
            b.param(k.ty.clone(), None);
        }
        let given: SmallVec<[(u32, Val); 1]> = slots
            .iter()
            .map(|&s| {
                (
                    s,
                    b.param(self.program.ty(Lv::from_index(s as usize)).clone(), None),
                )
            })
            .collect();
        let (mut to, mut results) = (SmallVec::new(), Vec::new());
        self.pull(&b, &values, &given, &mut |k, v| {
            let back = given
                .iter()
                .position(|g| g.1 == v)
                .map_or(InputCotangent::Computed, InputCotangent::Given);
            if let InputCotangent::Computed = back {
                results.push(v);
            }
            to.push((k as u32, back));
        })?;
        let f = b.finish(&results).ok()?;
        let program = if results.is_empty() {
            None
        } else {
            Some(compile_static(rt, f)?)
        };
        Some(Pullback { program, to })
    }
}
