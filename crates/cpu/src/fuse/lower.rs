//! Lowering of a group to a kernel: its phases, their inputs and outputs, and the values stored in
//! buffers.

use super::{Group, How, Input, Part, Read};
use crate::contract::Contraction;
use crate::elementwise::{Lowering, Typed};
use crate::fused::{Buffer, Fused, Level, Life, Operand, Phase, Place, literal};
use crate::kernel::Sizes;
use crate::products::Product;
use cotangent_core::ops::Op;
use cotangent_core::{Function, Shape, Val};
use cotangent_kernels::tile::fold::ReduceOp;
use rustc_hash::FxHashMap;

impl Group {
    /// Lowers the group to a kernel.
    #[expect(
        clippy::too_many_lines,
        reason = "passes over vectors that share the indices of one group"
    )]
    pub(crate) fn lower(&self, f: &Function) -> Fused {
        let n = self.eqns.len();
        let result = |k: usize| {
            f.eqns()[self.eqns[k].0]
                .results()
                .next()
                .expect("a member has a result")
        };
        let maker: FxHashMap<Val, usize> = (0..n).map(|k| (result(k), k)).collect();
        let made = |k: usize| {
            self.eqns[k].2.iter().filter_map(|r| match r {
                Read::Value(v, _) => maker.get(v).copied(),
                Read::Literal(_) => None,
            })
        };
        // A group of per-row equations only is elementwise in a smaller space.
        let flat = self.eqns.iter().all(|e| e.1 == Part::Row);
        let part = |k: usize| if flat { Part::Element } else { self.eqns[k].1 };

        // Phase of each equation: the first in which its operands are computed. An elementwise
        // equation moves to the phase of its first use.
        let mut phase = vec![0usize; n];
        for k in 0..n {
            let after = |j: usize| {
                phase[j] + usize::from(part(k) == Part::Element && part(j) != Part::Element)
            };
            phase[k] = made(k).map(after).max().unwrap_or(0);
        }
        let mut needed = vec![usize::MAX; n];
        for k in (0..n).rev() {
            if part(k) == Part::Element && needed[k] != usize::MAX {
                phase[k] = needed[k];
            }
            made(k).for_each(|j| needed[j] = needed[j].min(phase[k]));
        }

        // Values that are stored in buffers.
        let mut life: Vec<Option<Life>> = (0..n)
            .map(|k| (part(k) != Part::Element).then_some(Life::Group))
            .collect();
        for k in 0..n {
            for j in made(k).filter(|&j| part(j) == Part::Element) {
                if phase[k] > phase[j] {
                    life[j] = Some(Life::Group);
                } else if part(k) != Part::Element {
                    life[j] = life[j].or(Some(Life::Phase));
                }
            }
        }
        let results = || self.outputs.iter().filter_map(|v| maker.get(v));
        results().for_each(|&k| life[k] = Some(Life::Result));
        let (mut buffers, mut buffer) = (Vec::new(), vec![usize::MAX; n]);
        for k in 0..n {
            if let Some(life) = life[k] {
                buffer[k] = buffers.len();
                let dtype = f.ty(result(k)).dtype;
                buffers.push(Buffer {
                    dtype,
                    level: part(k).makes(),
                    life,
                    over: vec![],
                });
            }
        }
        let mut products = Vec::with_capacity(self.products.len());
        let mut product: FxHashMap<Val, usize> = FxHashMap::default();
        for (i, x) in &self.products {
            let e = &f.eqns()[*i];
            let (Op::DotGeneral(d), Some(y)) = (&e.op, e.results().next()) else {
                unreachable!("a product has a result")
            };
            let contraction = Contraction::new(d, f.ty(x[0]).rank(), f.ty(x[1]).rank());
            product.insert(y, buffers.len());
            products.push(Product {
                contraction,
                buffer: buffers.len(),
            });
            let life = if self.outputs.contains(&y) {
                Life::Result
            } else {
                Life::Group
            };
            buffers.push(Buffer {
                dtype: f.ty(y).dtype,
                level: Level::Elements,
                life,
                over: vec![],
            });
        }
        let buffer_of = |v: &Val| {
            maker
                .get(v)
                .map(|&k| buffer[k])
                .or_else(|| product.get(v).copied())
        };

        let level = |of: Part| if flat { Level::Elements } else { of.reads() };
        let operand: FxHashMap<&Input, usize> = self
            .inputs
            .iter()
            .enumerate()
            .map(|(i, input)| (input, i))
            .collect();
        let place = |v: Val, of: Part, dims: &Option<Vec<usize>>| match buffer_of(&v) {
            Some(b) => Place::Buffer(b),
            None => Place::Operand(operand[&(v, (of.reads(), dims.clone()))]),
        };
        let mut phases: Vec<Phase> = Vec::new();
        for p in 0..=phase.iter().copied().max().unwrap_or(0) {
            for own in [Part::Element, Part::Row] {
                let (mut lowering, mut reads, mut writes) =
                    (Lowering::new(), Vec::new(), Vec::new());
                let (mut here, mut results) = (FxHashMap::<Val, Typed>::default(), Vec::new());
                let mut known = FxHashMap::<Place, Typed>::default();
                for k in (0..n).filter(|&k| phase[k] == p && part(k) == own) {
                    let (eqn, of, from) = &self.eqns[k];
                    let mut value = |r: &Read| match r {
                        Read::Literal(a) => literal(&mut lowering, a),
                        Read::Value(v, dims) => here.get(v).copied().unwrap_or_else(|| {
                            let place = place(*v, *of, dims);
                            *known.entry(place).or_insert_with(|| {
                                reads.push(place);
                                lowering.input(f.ty(*v).dtype)
                            })
                        }),
                    };
                    let x: Vec<Typed> = from.iter().map(&mut value).collect();
                    let y = lowering.emit(&f.eqns()[*eqn].op, &x);
                    here.insert(result(k), y);
                    if life[k].is_some() {
                        writes.push(buffer[k]);
                        results.push(y.0);
                    }
                }
                let fold = |k: usize| match (&self.eqns[k], own) {
                    ((_, of @ Part::Fold(fold), from), Part::Element) if phase[k] == p => {
                        match &from[0] {
                            Read::Value(v, dims) => Some((*fold, place(*v, *of, dims), buffer[k])),
                            Read::Literal(_) => unreachable!("a fold reads a value"),
                        }
                    }
                    _ => None,
                };
                let folds: Vec<(ReduceOp, Place, usize)> = (0..n).filter_map(fold).collect();
                if writes.is_empty() && folds.is_empty() {
                    continue;
                }
                let (body, cost) = lowering.finish(&results);
                phases.push(Phase {
                    level: level(own),
                    body,
                    reads,
                    writes,
                    folds,
                    cost,
                });
            }
        }
        let folded = |i: usize| {
            phases
                .iter()
                .any(|p| p.folds.iter().any(|f| f.1 == Place::Operand(i)))
        };
        let level_of = |how: &How| if flat { Level::Elements } else { how.0 };
        for (at, p) in phases.iter().enumerate() {
            for (k, &b) in p.writes.iter().enumerate() {
                if buffers[b].life != Life::Result {
                    continue;
                }
                let free = |place: &Place| {
                    let (dtype, level) = match *place {
                        Place::Operand(i) => {
                            (f.ty(self.inputs[i].0).dtype, level_of(&self.inputs[i].1))
                        }
                        Place::Buffer(p) => (buffers[p].dtype, buffers[p].level),
                    };
                    (dtype, level) == (buffers[b].dtype, buffers[b].level)
                        && p.may_write_over(k, *place)
                        && !phases[at + 1..].iter().any(|p| p.needs(*place))
                };
                // At most 16 candidates, since a group may have up to 128 operands.
                let operands = (0..self.inputs.len())
                    .map(Place::Operand)
                    .filter(free)
                    .take(16);
                let passing = products
                    .iter()
                    .map(|p| p.buffer)
                    .filter(|&p| buffers[p].life != Life::Result);
                buffers[b].over = operands
                    .chain(passing.map(Place::Buffer).filter(free))
                    .collect();
            }
        }
        let operands = self.inputs.iter().enumerate().map(|(i, (_, how))| Operand {
            level: level_of(how),
            dims: how.1.clone(),
            folded: folded(i),
        });
        let rows = || -> Shape {
            self.space
                .shape
                .iter()
                .take(self.space.kept())
                .cloned()
                .collect()
        };
        Fused {
            operands: operands.collect(),
            shape: Some(Sizes::of(&if flat {
                rows()
            } else {
                self.space.shape.clone()
            })),
            reduced: if flat || self.eqns.iter().all(|e| e.1 == Part::Element) {
                0
            } else {
                self.space.reduced
            },
            results: self.outputs.iter().filter_map(buffer_of).collect(),
            buffers,
            phases,
            products,
        }
    }
}
