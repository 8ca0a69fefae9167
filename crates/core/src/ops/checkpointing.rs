//! Checkpointing of loops: derivatives that save a carry now and then instead of what every step
//! needs.
//!
//! ```text
//! every k       f = piece . piece . .. ,  a piece is checkpoint(k steps)            n/k carries, k steps' residuals
//! snapshots s   f(n, s) = f(n - m, s - 1) . checkpoint(f(m, s)),  n <= k C(s + t, s)    s carries, k steps' residuals
//! ```
//! A loop with a policy is one operation and runs as it is. Its derivative is that of the same loop
//! written in pieces, so there is no rule for it, and higher derivatives are checkpointed too.
//! Between snapshots every step is computed at most t + 1 times: the split is Griewank's, which no
//! other order of `s` snapshots improves. Here k is s, so that what is saved of either kind is as
//! much, and larger where t would exceed [`MAX_DEPTH`]. Equal pieces of equal rank are one
//! function, of which there are about s t, whatever the number of steps.
//!
//! A `while` is written as pieces of k steps that do nothing once its condition fails.

use super::body::{params, rewrap};
use super::checkpoint::Checkpoint;
use super::{Call, Scan, While};
use crate::bail;
use crate::error::Result;
use crate::ir::{Emit, Function, Session, Val};
use crate::shape::{Dim, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Checkpoints in checkpoints: a step is computed at most so many times and once more.
const MAX_DEPTH: usize = 32;

impl Scan {
    /// A scan of operands of these types, written in pieces; none if it is one piece.
    pub(super) fn in_pieces(&self, session: &Session, x: &[Type]) -> Result<Option<Arc<Function>>> {
        let cut = match (self.checkpoint, self.length.as_const()) {
            (Checkpoint::Never, _) => return Ok(None),
            (Checkpoint::Every(k), Some(n)) if k >= n => return Ok(None),
            (Checkpoint::Every(k), _) => Cut::Every(k),
            (Checkpoint::Sqrt, Some(n)) if n < 4 => return Ok(None),
            (Checkpoint::Sqrt, Some(n)) => Cut::Every(n.isqrt()),
            (Checkpoint::Snapshots(s), Some(n)) if s >= n => return Ok(None),
            (Checkpoint::Snapshots(s), Some(n)) => Cut::Snapshots(s, n),
            (_, None) => bail!(
                ReverseWhile,
                "the derivative of `scan` of {} steps saves by {:?}, which needs to know how many they are; save a carry every \
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
                Cut::Every(k) => every(b, &plain, k, &x),
                Cut::Snapshots(s, n) => {
                    let piece = s.max(n.div_ceil(reach(s, MAX_DEPTH)));
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

enum Cut {
    Every(usize),
    /// So many, for so many steps.
    Snapshots(usize, usize),
}

/// Some steps of a scan, with the rows that are theirs.
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

/// Rows of the first `n` of `length` steps, and of the others.
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

/// What steps returned one after the other, stacked.
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

/// A scan over checkpoints of `k` steps, then the steps that are left.
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

/// How many pieces `s` snapshots serve if each is computed at most `t + 1` times: C(s + t, s).
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

/// A scan whose derivative keeps some snapshots.
struct Snapshots<'a> {
    scan: &'a Scan,
    /// Steps that are not cut further.
    piece: usize,
    /// So many steps with so many snapshots.
    made: FxHashMap<(usize, usize), Arc<Function>>,
}

impl Snapshots<'_> {
    /// How many of `n` steps come before the next of `s` snapshots; none if they are one piece.
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

    /// `n` steps with `s` snapshots.
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

    /// The function of `n` steps with `s` snapshots, for such operands.
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
    /// A `while` of operands of these types, written as checkpoints of `k` steps; those after its
    /// end do nothing.
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
                    ..self.clone()
                }
                .into()
            })
        })
    }
}
