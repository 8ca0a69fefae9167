//! The facts that decide how a nest joins a group that reads it.

use super::{GroupBuilder, Producer};
use crate::groups::access::composes;
use crate::groups::cost::{
    MAX_COPIES, MAX_INSTRUCTIONS, MAX_INTERLEAVED, MAX_READS, MAX_UNROLLED, known_update,
};
use crate::groups::form::Apart;
use crate::nests::access::{MAX_READ_LEAVES, Read};
use crate::nests::affine::Var;
use crate::nests::lower::MAX_FOLDED_PRODUCT;
use crate::nests::nest::{Nest, Order, What, known_volume};

impl GroupBuilder<'_> {
    /// The facts that decide how a map or a fold joins a group that reads it; others do, too, if it
    /// is `shared`.
    pub(super) fn producer(
        &mut self,
        n: &Nest,
        g: u32,
        readers: &[u32],
        shared: bool,
    ) -> Result<Producer, Apart> {
        let ty = self.nests.function.ty(n.value);
        let rank = ty.rank();
        let placements = self.placements(n.value, g, readers).ok_or(Apart::Rows)?;
        let expr = n.what.expr().ok_or(Apart::Call)?;
        let (par, folded) = n.space.split_at(rank);
        let unrolled = known_volume(folded.iter().map(|a| &a.extent));
        let most = match folds_adjacent(n, rank) {
            true => MAX_INTERLEAVED,
            false => MAX_UNROLLED,
        };
        let unrolled = unrolled.filter(|&n| n <= most);
        let count = self.cost.volume(par.iter().map(|a| &a.extent));
        let evaluations = placements.iter().map(|p| {
            let root = self.nest(p.root.nest);
            p.times * self.cost.volume(root.space.iter().map(|a| &a.extent))
        });
        let times = evaluations.sum::<f64>() / count.max(1.0);
        let elsewhere = |&m: &u32| self.placed(m).iter().any(|p| p.group != g);
        let outside = self.is_result[n.value.index()] || !shared && readers.iter().any(elsewhere);
        let (draft, copies, reads) = (self.draft(g), placements.len(), self.reads(n));
        let instructions = expr.nodes.len();
        let inlined_reads = draft.reads + (reads * copies).saturating_sub(copies);
        let expanded = instructions * copies * unrolled.unwrap_or(1);
        let inlined_instructions = draft.instructions + expanded;
        // The kernels of products read their operands where they are.
        let factor = placements.iter().any(|p| {
            let reader = self.nest(p.root.nest);
            let What::Fold { order, .. } = reader.what else {
                return false;
            };
            let small = known_volume(reader.space.iter().map(|a| &a.extent));
            let small = small.is_some_and(|n| n <= MAX_FOLDED_PRODUCT);
            order == Order::Chain && (times > 1.0 || !small)
        });
        let (mut in_turns, mut joined, mut choices) = (false, false, 0);
        for &m in readers {
            let Some(placed) = self.placed_in(m, g) else {
                continue;
            };
            in_turns |= placed.in_turns;
            let is_fold = matches!(self.nest(m).what, What::Fold { .. });
            let before = placed.choices.max(usize::from(is_fold));
            for r in self.nest(m).reads().filter(|r| r.mentions(n.value)) {
                in_turns |= r.interleaves();
                joined |= r.is_joined();
                choices = choices.max(before.saturating_mul(r.source.leaves()));
            }
        }
        // The elements of folds are packed.
        let chosen = |r: &Read| match r.source.leaves() {
            1 => false,
            n => choices.saturating_mul(n) > MAX_READ_LEAVES,
        };
        // Turns within turns would cut a loop into parts, whose number is the product of theirs.
        // Many values that are joined are copied: expressions would run on parts of a loop each.
        let splits = |r: &Read| r.is_joined() || in_turns && r.interleaves();
        let is_apart = outside
            || factor
            || joined
            || n.reads().any(|r| splits(r) || chosen(r))
            || known_update(n).is_some();
        let may_inline = !is_apart
            && unrolled.is_some()
            && copies <= MAX_COPIES
            && inlined_reads <= MAX_READS
            && inlined_instructions <= MAX_INSTRUCTIONS
            && placements
                .iter()
                .all(|p| composes(expr, &p.clone().of_fold(n, rank)));
        Ok(Producer {
            rank,
            placements,
            outside,
            reads,
            instructions,
            inlined: may_inline.then_some([inlined_reads, inlined_instructions]),
            count,
            times,
            time: self.cost.expr(expr) * unrolled.unwrap_or(1) as f64,
            size: ty.dtype.size(),
            in_turns,
            choices,
        })
    }
}

/// Whether a nest folds elements that are adjacent in one of its operands.
fn folds_adjacent(n: &Nest, rank: usize) -> bool {
    let mut any = false;
    for r in n.reads() {
        r.elements(&mut |a| {
            let folded = |v: Var| matches!(v, Var::Axis(k) if k >= rank);
            any |=
                a.at.last()
                    .is_some_and(|form| form.terms.iter().any(|t| folded(t.var)));
        });
    }
    any
}
