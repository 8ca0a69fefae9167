//! Finds or compiles the rule of an operation, and runs it.

use super::table::{CompiledRule, MAX_THREAD_RULES, RuleEntry, Rules, THREAD_RULES, TypeKey};
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Value, Values};
use crate::eager::turns::lock;
use cotangent_core::OpKey;
use cotangent_core::{Loc, Op, Result};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One word of an operand's rank, element type, order, and whether it is tracked; and its extents.
#[inline]
fn words(v: &Value, tracked: bool) -> (u64, &[usize]) {
    let (dtype, shape) = (v.tensor.dtype().number() as u64, v.tensor.shape());
    let tracked = u64::from(tracked && v.edge.is_some());
    let head = (shape.len() as u64) << 16 | dtype << 8 | (v.given as u64) << 1 | tracked;
    (head, shape)
}

fn type_key(x: &[&Value], tracked: bool) -> TypeKey {
    let mut key = TypeKey::new();
    for (head, shape) in x.iter().map(|v| words(v, tracked)) {
        key.push(head);
        key.extend(shape.iter().map(|&n| n as u64));
    }
    key
}

/// The place of a rule in the cache of a thread.
#[inline]
fn place((op, key): (&Op, OpKey<'_>), x: &[&Value], tracked: bool) -> usize {
    let own = match op {
        Op::Unary(f) => *f as usize,
        Op::Binary(f) => *f as usize + 7,
        _ => {
            let mut h = FxHasher::default();
            key.hash(&mut h);
            h.finish() as usize
        }
    };
    let mixed = x.iter().fold(own, |h, v| {
        let h = h
            .wrapping_mul(31)
            .wrapping_add(usize::from(tracked && v.edge.is_some()));
        let shape = v.tensor.shape().iter();
        shape.fold(h, |h, &n| h.wrapping_mul(31).wrapping_add(n))
    });
    mixed % MAX_THREAD_RULES
}

impl RuleEntry {
    /// Whether it is the rule of this operation on these operands. Nothing is stored: it is asked
    /// in every eager call.
    fn fits(&self, key: OpKey<'_>, x: &[&Value], tracked: bool) -> bool {
        let mut own = &self.operands[..];
        for v in x {
            let (head, shape) = words(v, tracked);
            // The head has the rank, so as many extents follow.
            match own.split_first() {
                Some((first, rest)) if *first == head => {
                    let (extents, others) = rest.split_at(shape.len());
                    if extents.iter().zip(shape).any(|(a, &b)| *a != b as u64) {
                        return false;
                    }
                    own = others;
                }
                _ => return false,
            }
        }
        own.is_empty() && key.is_of(&self.op)
    }
}

impl Rules {
    /// Runs the compiled rule of an operation, and records the operation if operands are tracked.
    /// `None` if there is no compiled rule.
    pub(crate) fn run(
        &self,
        (rt, op): (&EagerRuntime, &Op),
        x: &[&Value],
        tracked: bool,
        loc: Loc,
        y: &mut Values,
    ) -> Option<Result<()>> {
        let key = op.key_without_text()?;
        let epoch = self.epoch.load(Ordering::Acquire);
        let index = place((op, key), x, tracked);
        let recent = THREAD_RULES
            .try_with(|rules| rules[index].take())
            .ok()
            .flatten();
        let rule = match recent.filter(|rule| rule.epoch == epoch && rule.fits(key, x, tracked)) {
            Some(rule) => rule,
            None => self.find(rt, (op, key), x, tracked, epoch)?,
        };
        let done = rule
            .compiled
            .as_ref()
            .map(|compiled| compiled.run(x, loc, y));
        // The cache is not accessible while the thread ends.
        let _ = THREAD_RULES.try_with(|rules| rules[index].set(Some(rule)));
        done
    }

    /// The rule of an operation, compiled if it occurs the second time; `None` on the first
    /// occurrence.
    fn find(
        &self,
        rt: &EagerRuntime,
        (op, key): (&Op, OpKey<'_>),
        x: &[&Value],
        tracked: bool,
        epoch: u64,
    ) -> Option<Arc<RuleEntry>> {
        let mut h = FxHasher::default();
        key.hash(&mut h);
        for (head, shape) in x.iter().map(|v| words(v, tracked)) {
            h.write_u64(head);
            shape.iter().for_each(|&n| h.write_u64(n as u64));
        }
        let hash = h.finish();
        let fitting = |all: &SmallVec<[Arc<RuleEntry>; 1]>| {
            all.iter().find(|r| r.fits(key, x, tracked)).cloned()
        };
        let known = lock(&self.table).rules.get(&hash).and_then(fitting);
        if known.is_some() {
            return known;
        }
        let claim = self.claim(hash)?;
        let compiled = CompiledRule::new(rt, op, x, tracked);
        let rule = Arc::new(RuleEntry {
            epoch,
            op: op.clone(),
            operands: type_key(x, tracked),
            compiled,
        });
        if self.epoch.load(Ordering::Acquire) == epoch {
            lock(&self.table)
                .rules
                .entry(hash)
                .or_default()
                .push(rule.clone());
        }
        drop(claim);
        Some(rule)
    }
}
