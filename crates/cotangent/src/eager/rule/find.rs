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

fn push_type_key(words: &mut TypeKey, x: &[&Value], tracked: bool) {
    for v in x {
        let (dtype, shape, tracked) = (
            v.tensor.dtype().number() as u64,
            v.tensor.shape(),
            tracked && v.edge.is_some(),
        );
        words.push(
            (shape.len() as u64) << 16 | dtype << 8 | (v.given as u64) << 1 | u64::from(tracked),
        );
        for &n in shape {
            words.push(n as u64);
        }
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
        // Built in its final place: moving data right after it is written stalls.
        let mut operands = TypeKey::new();
        push_type_key(&mut operands, x, tracked);
        let mut h = FxHasher::default();
        key.hash(&mut h);
        operands.iter().for_each(|&w| h.write_u64(w));
        let (hash, epoch) = (h.finish(), self.epoch.load(Ordering::Acquire));
        let index = hash as usize % MAX_THREAD_RULES;
        let recent = THREAD_RULES
            .try_with(|rules| rules[index].take())
            .ok()
            .flatten();
        let rule = match recent.filter(|rule| rule.epoch == epoch && rule.fits(key, &operands)) {
            Some(rule) => rule,
            None => self.find(rt, (op, key), (x, &operands), tracked, (hash, epoch))?,
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
        (x, operands): (&[&Value], &TypeKey),
        tracked: bool,
        (hash, epoch): (u64, u64),
    ) -> Option<Arc<RuleEntry>> {
        let fitting = |all: &SmallVec<[Arc<RuleEntry>; 1]>| {
            all.iter().find(|r| r.fits(key, operands)).cloned()
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
            operands: operands.clone(),
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
