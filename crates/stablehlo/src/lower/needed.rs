//! Liveness analysis of host callbacks: a backward pass over the text from the results of its
//! functions.

use super::attributes::{callee, find};
use crate::ast::{Attr, Function, Id, Operation, ParsedModule, Region, Ty};
use cotangent_core::Loc;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum nesting depth of calls that is analysed. Deeper calls count as reading all their
/// arguments.
const MAX_FOLLOWED_CALL_DEPTH: usize = 64;

/// The target of a custom call.
pub(super) fn target<'o>(op: &'o Operation<'_>) -> Option<&'o str> {
    find(op, &["call_target_name"])
        .or_else(|| op.unnamed().next())
        .and_then(Attr::word)
}

/// Whether a custom call of this name calls back into Python, such as
/// `xla_ffi_python_cpu_callback`.
pub(super) fn is_callback(target: &str) -> bool {
    target.contains("python") && target.ends_with("callback")
}

fn calls_back(op: &Operation<'_>) -> bool {
    op.name.ends_with(".custom_call") && target(op).is_some_and(is_callback)
}

/// Callbacks whose results are read.
#[derive(Default)]
pub(super) struct NeededCallbacks {
    /// Positions of callbacks whose results reach a result of a public function.
    pub(super) places: FxHashSet<Loc>,
    /// Private functions that return results of a callback, with its position. They cannot be
    /// requested by name.
    pub(super) private_results: FxHashMap<usize, Loc>,
}

/// Analyses a text.
pub(super) fn needed(text: &ParsedModule<'_>) -> NeededCallbacks {
    let mut all = NeededCallbacks::default();
    // Fast path: most texts have no callbacks.
    if !text
        .functions
        .iter()
        .filter_map(|f| f.body.as_ref())
        .any(any_result)
    {
        return all;
    }
    let by_name: FxHashMap<&str, usize> = text
        .functions
        .iter()
        .enumerate()
        .map(|(i, f)| (&*f.name, i))
        .collect();
    let some_public = text.functions.iter().any(|f| f.public);
    for (i, f) in text.functions.iter().enumerate() {
        let mut s = CallbackSearch {
            text,
            by_name: &by_name,
            done: FxHashMap::default(),
            found: FxHashSet::default(),
        };
        s.function(i, vec![true; f.results.len()], 0);
        if f.public || &*f.name == "main" || !some_public && i == 0 {
            all.places.extend(s.found);
        } else if let Some(&first) = s.found.iter().min() {
            all.private_results.insert(i, first);
        }
    }
    all
}

/// Whether a callback in a region has a result other than a token.
fn any_result(r: &Region<'_>) -> bool {
    let values = |op: &Operation<'_>| match op.result_types() {
        Some(types) => types.iter().any(|t| !matches!(t, Ty::Token)),
        None => op.count > 0,
    };
    r.ops
        .iter()
        .any(|op| calls_back(op) && values(op) || op.regions.iter().any(any_result))
}

struct CallbackSearch<'s, 't> {
    text: &'t ParsedModule<'t>,
    by_name: &'s FxHashMap<&'t str, usize>,
    /// Parameters that a function needs for these results.
    done: FxHashMap<(usize, Vec<bool>), Vec<bool>>,
    found: FxHashSet<Loc>,
}

/// Ids of live values.
type LiveValues = FxHashSet<Id>;

impl<'t> CallbackSearch<'_, 't> {
    fn function(&mut self, i: usize, results: Vec<bool>, depth: usize) -> Vec<bool> {
        let f: &'t Function<'t> = &self.text.functions[i];
        let Some(body) = &f.body else {
            return Vec::new();
        };
        if depth > MAX_FOLLOWED_CALL_DEPTH {
            // All callbacks in it count as read; it is visited once.
            if self.done.insert((i, Vec::new()), Vec::new()).is_none() {
                self.all(body);
            }
            return vec![true; body.args.len()];
        }
        let key = (i, results);
        if let Some(known) = self.done.get(&key) {
            return known.clone();
        }
        // Recursive functions are rejected by lowering.
        self.done.insert(key.clone(), vec![true; body.args.len()]);
        let mut live = LiveValues::default();
        self.region(body, &key.1, &mut live, depth);
        let params: Vec<bool> = body.args.iter().map(|a| live.contains(&a.id)).collect();
        self.done.insert(key, params.clone());
        params
    }

    /// Marks every callback in a region and in its callees as read.
    fn all(&mut self, r: &'t Region<'t>) {
        for op in &r.ops {
            if calls_back(op) {
                self.found.insert(op.pos);
            }
            op.regions.iter().for_each(|r| self.all(r));
            if let Some(&i) = callee(op).and_then(|c| self.by_name.get(c))
                && self.done.insert((i, Vec::new()), Vec::new()).is_none()
                && let Some(body) = &self.text.functions[i].body
            {
                self.all(body);
            }
        }
    }

    /// Adds the values that a region needs for its live results.
    fn region(&mut self, r: &'t Region<'t>, results: &[bool], live: &mut LiveValues, depth: usize) {
        for op in r.ops.iter().rev() {
            if op.name.ends_with(".return") {
                let live_results = op
                    .operands
                    .iter()
                    .enumerate()
                    .filter(|(k, _)| results.get(*k).copied().unwrap_or(true));
                live.extend(live_results.map(|(_, &v)| v));
            } else {
                self.operation(op, live, depth);
            }
        }
    }

    fn operation(&mut self, op: &'t Operation<'t>, live: &mut LiveValues, depth: usize) {
        let live_results: Vec<bool> = (0..op.count)
            .map(|k| live.contains(&(op.first + k)))
            .collect();
        if !live_results.contains(&true) {
            return;
        }
        if calls_back(op) {
            // A token only orders callbacks.
            let token =
                |k: usize| matches!(op.result_types().and_then(|t| t.get(k)), Some(Ty::Token));
            if live_results
                .iter()
                .enumerate()
                .any(|(k, &w)| w && !token(k))
            {
                self.found.insert(op.pos);
            }
            return;
        }
        if let Some(&i) = callee(op).and_then(|c| self.by_name.get(c)) {
            let params = self.function(i, live_results, depth + 1);
            let needed_operands = op
                .operands
                .iter()
                .enumerate()
                .filter(|(k, _)| params.get(*k).copied().unwrap_or(true));
            live.extend(needed_operands.map(|(_, &v)| v));
            return;
        }
        match (op.name, &op.regions[..]) {
            ("stablehlo.while" | "mhlo.while", [cond, body]) => {
                self.repeat(op, cond, body, live_results, live, depth)
            }
            ("stablehlo.case" | "stablehlo.if" | "mhlo.case" | "mhlo.if", branches) => {
                live.extend(&op.operands);
                branches
                    .iter()
                    .for_each(|b| self.region(b, &live_results, live, depth));
            }
            (_, regions) => {
                live.extend(&op.operands);
                regions
                    .iter()
                    .for_each(|r| self.region(r, &[], live, depth));
            }
        }
    }

    /// Live carries of a loop: a fixed point over the condition, the live results and the next
    /// iteration.
    fn repeat(
        &mut self,
        op: &'t Operation<'t>,
        cond: &'t Region<'t>,
        body: &'t Region<'t>,
        mut carried: Vec<bool>,
        live: &mut LiveValues,
        depth: usize,
    ) {
        self.region(cond, &[], live, depth);
        let mark = |r: &Region<'_>, live: &LiveValues, carried: &mut Vec<bool>| {
            r.args
                .iter()
                .zip(carried.iter_mut())
                .for_each(|(a, c)| *c |= live.contains(&a.id));
        };
        mark(cond, live, &mut carried);
        // Values found live by an earlier pass over this loop.
        mark(body, live, &mut carried);
        loop {
            let before = carried.clone();
            self.region(body, &before, live, depth);
            mark(body, live, &mut carried);
            if carried == before {
                break;
            }
        }
        live.extend(
            op.operands
                .iter()
                .zip(&carried)
                .filter(|(_, c)| **c)
                .map(|(&v, _)| v),
        );
    }
}
