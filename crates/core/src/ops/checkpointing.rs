//! Checkpointing of loops: derivatives save some carries instead of the residuals of every step.
//!
//! ```text
//! every k       f = piece . piece . .. ,  a piece is checkpoint(k steps)            n/k carries, k steps' residuals
//! snapshots s   f(n, s) = f(n - m, s - 1) . checkpoint(f(m, s)),  n <= k C(s + t, s)    s carries, k steps' residuals
//! ```
//! A loop with a policy is one operation and is evaluated as usual. Its derivative is that of an
//! equivalent loop written in segments, so it needs no rule, and higher derivatives are
//! checkpointed, too. With `s` snapshots each step is computed at most t + 1 times: the split is
//! Griewank's, which is optimal for `s` snapshots. Here k = s, so that snapshots and residuals of a
//! segment take about equal memory; k is larger where t would exceed [`MAX_CHECKPOINT_DEPTH`].
//! Equal segments share one function; there are about s t functions for any number of steps.
//!
//! A `while` is written as segments of k steps. Steps after its condition fails do nothing.

use super::body::{params, rewrap};
use super::checkpoint::Checkpoint;
use super::{Call, Scan, While};
use crate::bail;
use crate::error::Result;
use crate::ir::{Emit, Function, Session, Val};
use crate::shape::{Dim, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Maximum nesting depth of checkpoints, counted as recomputations: a step is computed at most
/// `MAX_CHECKPOINT_DEPTH + 1` times.
const MAX_CHECKPOINT_DEPTH: usize = 32;

impl Scan {
    /// A scan of operands of these types, written in segments. `None` if it is one segment.
    pub(super) fn in_pieces(&self, session: &Session, x: &[Type]) -> Result<Option<Arc<Function>>> {
        let cut = match (self.checkpoint, self.length.as_const()) {
            (Checkpoint::Never, _) => return Ok(None),
            (Checkpoint::Every(k), Some(n)) if k >= n => return Ok(None),
            (Checkpoint::Every(k), _) => LoopSplit::Every(k),
            (Checkpoint::Sqrt, Some(n)) if n < 4 => return Ok(None),
            (Checkpoint::Sqrt, Some(n)) => LoopSplit::Every(n.isqrt()),
            (Checkpoint::Snapshots(s), Some(n)) if s >= n => return Ok(None),
            (Checkpoint::Snapshots(s), Some(n)) => LoopSplit::Snapshots(s, n),
            (_, None) => bail!(
                ReverseWhile,
                "the derivative of `scan` of {} steps saves by {:?}, which needs a constant number of steps; save a carry every \
                 k steps (`checkpoint = k`, `Checkpoint::Every(k)`)",
                self.length,
                self.checkpoint
            ),
        };
        let plain = Scan {
            checkpoint: Checkpoint::Never,
            ..self.clone()
        };
        let f = rewrap(session, "scan", &[&self.body], |b| {
            let x = params(b, x);
            match cut {
                LoopSplit::Every(k) => every(b, &plain, k, &x),
                LoopSplit::Snapshots(s, n) => {
                    let piece = s.max(n.div_ceil(reach(s, MAX_CHECKPOINT_DEPTH)));
                    Snapshots {
                        scan: &plain,
                        piece,
                        made: FxHashMap::default(),
                    }
                    .write(b, n, s, &x)
                }
            }
        })?;
        Ok(Some(f))
    }
}

enum LoopSplit {
    Every(usize),
    /// `Snapshots(s, n)`: `s` snapshots for `n` steps.
    Snapshots(usize, usize),
}

/// A scan over `length` steps, with the rows of these steps.
fn steps(cx: &dyn Emit, scan: &Scan, length: Dim, x: &[Val]) -> Vec<Val> {
    cx.emit(
        Scan {
            length,
            ..scan.clone()
        }
        .into(),
        x,
    )
    .to_vec()
}

/// Rows of the first `n` of `length` steps, and rows of the other steps.
fn split(cx: &dyn Emit, scan: &Scan, rows: &[Val], length: &Dim, n: &Dim) -> (Vec<Val>, Vec<Val>) {
    let rest = length.clone() - n.clone();
    let parts = rows.iter().map(|&x| match scan.reverse {
        false => (
            cx.slice_axis(x, 0, 0usize, n.clone()),
            cx.slice_axis(x, 0, n.clone(), length.clone()),
        ),
        true => (
            cx.slice_axis(x, 0, rest.clone(), length.clone()),
            cx.slice_axis(x, 0, 0usize, rest.clone()),
        ),
    });
    parts.unzip()
}

/// Concatenates the stacked results of two consecutive ranges of steps.
fn join(cx: &dyn Emit, scan: &Scan, first: Val, then: Val) -> Val {
    cx.concatenate(
        &if scan.reverse {
            [then, first]
        } else {
            [first, then]
        },
        0,
    )
}

/// A scan over checkpointed segments of `k` steps, then the remaining steps.
fn every(cx: &dyn Emit, scan: &Scan, k: usize, x: &[Val]) -> Vec<Val> {
    let (w, rest) = x.split_at(scan.consts);
    let (init, rows) = rest.split_at(scan.carry);
    let pieces = scan.length.floor_div(k);
    let covered = pieces.clone() * Dim::Const(k);
    let left = scan.length.clone() - covered.clone();
    let (first, last) = split(cx, scan, rows, &scan.length, &covered);
    let regroup = |x: Val, lead: &[Dim], drop: usize| {
        let shape = [lead, &cx.ty(x).shape[drop..]].concat();
        cx.reshape(x, &shape)
    };
    let first: Vec<Val> = first
        .into_iter()
        .map(|x| regroup(x, &[pieces.clone(), Dim::Const(k)], 1))
        .collect();
    let (c, y) = cx.scan(w, init, &first, &pieces, scan.reverse, |cx, w, c, x| {
        let mut y = cx.checkpoint(&[w, c, x].concat(), |cx, x| {
            steps(cx, scan, Dim::Const(k), x)
        });
        let ys = y.split_off(scan.carry.min(y.len()));
        (y, ys)
    });
    let y: Vec<Val> = y
        .into_iter()
        .map(|y| regroup(y, std::slice::from_ref(&covered), 2))
        .collect();
    if left.is(0) {
        return [c, y].concat();
    }
    let mut all = steps(cx, scan, left, &[w, &c, &last].concat());
    for (then, first) in all[scan.carry..].iter_mut().zip(y) {
        *then = join(cx, scan, first, *then);
    }
    all
}

/// Maximum number of segments for `s` snapshots if each is computed at most `t + 1` times: C(s + t,
/// s).
fn reach(s: usize, t: usize) -> usize {
    let mut c = 1u128;
    for i in 1..=t as u128 {
        c = c * (s as u128 + i) / i;
        if c > usize::MAX as u128 {
            return usize::MAX;
        }
    }
    c as usize
}

/// A scan whose derivative saves a limited number of snapshots.
struct Snapshots<'a> {
    scan: &'a Scan,
    /// Number of steps of a segment.
    piece: usize,
    /// Functions written so far, by number of steps and of snapshots.
    made: FxHashMap<(usize, usize), Arc<Function>>,
}

impl Snapshots<'_> {
    /// Number of the `n` steps before the next of `s` snapshots. `None` if they are one segment.
    fn before(&self, n: usize, s: usize) -> Option<usize> {
        let pieces = n.div_ceil(self.piece);
        if pieces <= 1 {
            return None;
        }
        let t = (1..).find(|&t| reach(s, t) >= pieces).expect("they grow");
        let least = if t > 1 { reach(s, t - 2) } else { 1 };
        let after = reach(s - 1, t).min(pieces - least);
        Some((pieces - after) * self.piece)
    }

    /// Writes `n` steps with `s` snapshots.
    fn write(&mut self, cx: &dyn Emit, mut n: usize, mut s: usize, x: &[Val]) -> Vec<Val> {
        let scan = self.scan;
        let (w, rest) = x.split_at(scan.consts);
        let (init, rows) = rest.split_at(scan.carry);
        let (mut carry, mut rows) = (init.to_vec(), rows.to_vec());
        let mut stacked: Vec<Vec<Val>> = vec![Vec::new(); scan.body.results().len() - scan.carry];
        loop {
            let before = self.before(n, s);
            let (first, last) = match before {
                Some(m) => split(cx, scan, &rows, &Dim::Const(n), &Dim::Const(m)),
                None => (rows, Vec::new()),
            };
            let x = [w, &carry, &first].concat();
            let mut y = match before {
                Some(m) => match self.function(cx, m, s, &x) {
                    Some(callee) => cx
                        .emit(
                            Call {
                                callee,
                                checkpoint: true,
                            }
                            .into(),
                            &x,
                        )
                        .to_vec(),
                    None => vec![Val::POISON; scan.body.results().len()],
                },
                None => steps(cx, scan, Dim::Const(n), &x),
            };
            stacked
                .iter_mut()
                .zip(y.drain(scan.carry..))
                .for_each(|(all, y)| all.push(y));
            (carry, rows) = (y, last);
            let Some(m) = before else { break };
            (n, s) = (n - m, s - 1);
        }
        for parts in &mut stacked {
            if scan.reverse {
                parts.reverse();
            }
            carry.push(if parts.len() == 1 {
                parts[0]
            } else {
                cx.concatenate(parts, 0)
            });
        }
        carry
    }

    /// The function of `n` steps with `s` snapshots, for operands of these types.
    fn function(&mut self, cx: &dyn Emit, n: usize, s: usize, x: &[Val]) -> Option<Arc<Function>> {
        if let Some(f) = self.made.get(&(n, s)) {
            return Some(f.clone());
        }
        let f = cx
            .body("pieces", &cx.types(x), |cx, x| self.write(cx, n, s, x))
            .func?;
        self.made.insert((n, s), f.clone());
        Some(f)
    }
}

impl While {
    /// A `while` of operands of these types, written as checkpointed segments of `k` steps. Steps
    /// after its end do nothing.
    pub(super) fn in_pieces(
        &self,
        session: &Session,
        k: usize,
        x: &[Type],
    ) -> Result<Arc<Function>> {
        let (nc, n) = (self.cond_consts, self.cond_consts + self.body_consts);
        rewrap(session, "while", &[&self.cond, &self.body], |b| {
            let x = params(b, x);
            let cx: &dyn Emit = b;
            let piece = cx.body("piece", &cx.types(&x), |cx, x| {
                cx.checkpoint(x, |cx, x| {
                    let step = |cx: &dyn Emit, w: &[Val], c: &[Val], _: &[Val]| {
                        let more = cx.inline(&self.cond, &[&w[..nc], c].concat())[0];
                        let x = [&w[nc..], c].concat();
                        let c = cx.cond(
                            more,
                            &x,
                            |cx, x| cx.inline(&self.body, x),
                            |_, x| x[self.body_consts..].to_vec(),
                        );
                        (c, vec![])
                    };
                    cx.scan(&x[..n], &x[n..], &[], &Dim::Const(k), false, step)
                        .0
                })
            });
            piece.emit(cx, &[&x[..nc], &x].concat(), |body| {
                While {
                    body,
                    body_consts: n,
                    checkpoint: Checkpoint::Never,
                    bound: self.bound.map(|n| n.div_ceil(k)),
                    ..self.clone()
                }
                .into()
            })
        })
    }
}
