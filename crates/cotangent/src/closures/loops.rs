//! `scan`, `fori_loop` and `while_loop` of closures, and the checkpoint policies of their
//! derivatives.

use super::capture::{Closed, difference, types, union, write};
use super::tree::{Returns, Tree, leaf_name, leaves, owned, structure};
use crate::here::here;
use crate::ops::Bound;
use crate::{Code, DType, Emit, Error, Function, Result, TracedTensor, Type, Val, bail};
use cotangent_core::ops::Checkpoint;

/// The function of a loop body, applied to `first` and `rest`.
fn apply(cx: &dyn Emit, f: &Function, first: &[Val], rest: &[Val]) -> Vec<Val> {
    cx.inline(f, &[first, rest].concat())
}

/// Checks that the body of a loop returns a carry of the structure and types that it received.
fn check_carry<C: Tree>(method: &str, given: &C, init: &C) -> Result<()> {
    let (got, want) = (structure(given), structure(init));
    if got != want {
        bail!(
            CarryMismatch,
            "the body of `{method}` got a carry of the structure {want} and returns {got}"
        );
    }
    match difference(given, init)? {
        None => Ok(()),
        Some(d) => bail!(
            CarryMismatch,
            "`{method}`: {} is {} but the body returns {}: a carry keeps its type; convert or reshape it",
            d.leaf("the carry"),
            d.want,
            d.got
        ),
    }
}

/// Loops whose derivatives save carries by a policy and recompute steps from them, instead of
/// saving the residuals of every step.
///
/// | | memory for n steps | steps computed |
/// |---|---|---|
/// | `Checkpoint::Never` | n residuals | n |
/// | `Checkpoint::Sqrt` | sqrt(n) carries and residuals | 2 n |
/// | `Checkpoint::Every(k)` | n / k carries, k residuals; any loop | 2 n |
/// | `Checkpoint::Snapshots(s)` | s carries, s residuals | (t + 1) n at most, where C(s + t, s) is n / s |
///
/// Values keep their bits. The gradient with respect to captures is a sum over steps, which is
/// added segment by segment.
///
/// ```
/// use cotangent::{TracedTensor, closures::{Checkpoint, checkpointing, grad}};
/// let pendulum = |policy| move |x: TracedTensor| {
///     checkpointing(policy).fori_loop(0, 10_000, |_, x: TracedTensor| &x - x.sin() * 0.001, x)
/// };
/// let g = |policy| grad(pendulum(policy))(TracedTensor::scalar(1.0))?.to_tensor();
/// // The residuals of 100 steps instead of 10000, and then of 10.
/// assert!(g(Checkpoint::Never)?.same_bits(&g(Checkpoint::Sqrt)?));
/// assert!(g(Checkpoint::Never)?.same_bits(&g(Checkpoint::Snapshots(10))?));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn checkpointing(policy: Checkpoint) -> Loops {
    Loops {
        policy,
        bound: None,
    }
}

/// Emits loops whose derivatives save by one policy: see [`checkpointing`].
///
/// ```
/// use cotangent::{TracedTensor, closures::{Checkpoint, Loops, checkpointing, grad}};
/// let loops: Loops = checkpointing(Checkpoint::Every(4));
/// let f = |x: TracedTensor| {
///     loops.while_loop(|c: TracedTensor| c.less(1000.0), |c: TracedTensor| &c * 2.0, x)
/// };
/// assert_eq!(grad(f)(TracedTensor::scalar(3.0))?.item::<f64>()?, 512.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    policy: Checkpoint,
    bound: Option<usize>,
}

/// `c, y[i] = f(c, x[i])` along the first axis of `xs`. Returns the last carry and the stacked `y`.
///
/// ```
/// use cotangent::{TracedTensor, closures::scan};
/// let xs = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 3.0]);
/// let (total, sums) = scan(|c: TracedTensor, x: TracedTensor| (&c + &x, &c + &x), TracedTensor::scalar(0.0), xs)?;
/// assert_eq!(total.item::<f64>()?, 6.0);
/// assert_eq!(sums.to_vec::<f64>()?, [1.0, 3.0, 6.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn scan<C: Tree, X: Tree, Y: Tree, R: Returns<Out = (C, Y)>>(
    f: impl FnOnce(C, X) -> R,
    init: C,
    xs: X,
) -> Result<(C, Y)> {
    checkpointing(Checkpoint::Never).scan(f, init, xs)
}

/// `f(x[i])` for each element along the first axis of `xs`, one after another, stacked. Values are
/// those of [`vmap`](super::vmap), and operations need no batch rule.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, map}};
/// let xs = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 3.0]);
/// let cube = |x: TracedTensor| x.powi(3);
/// assert_eq!(map(cube, xs.clone())?.to_vec::<f64>()?, [1.0, 8.0, 27.0]);
/// let total = |xs: TracedTensor| Ok::<_, cotangent::Error>(map(cube, xs)?.sum(..));
/// assert_eq!(grad(total)(xs)?.to_vec::<f64>()?, [3.0, 12.0, 27.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn map<X: Tree, R: Returns>(f: impl FnOnce(X) -> R, xs: X) -> Result<R::Out> {
    let each = |(): (), x: X| Ok::<_, Error>(((), f(x).done()?));
    Ok(scan(each, (), xs)?.1)
}

/// As [`scan`], from the last element to the first.
///
/// ```
/// use cotangent::{TracedTensor, closures::scan_reverse};
/// let xs = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 3.0]);
/// let f = |c: TracedTensor, x: TracedTensor| (&c + &x, &c + &x);
/// let (_, sums) = scan_reverse(f, TracedTensor::scalar(0.0), xs)?;
/// assert_eq!(sums.to_vec::<f64>()?, [6.0, 5.0, 3.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn scan_reverse<C: Tree, X: Tree, Y: Tree, R: Returns<Out = (C, Y)>>(
    f: impl FnOnce(C, X) -> R,
    init: C,
    xs: X,
) -> Result<(C, Y)> {
    checkpointing(Checkpoint::Never).scan_reverse(f, init, xs)
}

/// A bound of [`fori_loop`]: a number, or an `i64` scalar tensor.
///
/// ```
/// use cotangent::{TracedTensor, closures::fori_loop};
/// let twice = |_: TracedTensor, x: TracedTensor| x * 2.0;
/// // Known when the program is traced, or at run time.
/// let a = fori_loop(0, 3, twice, TracedTensor::scalar(1.0))?;
/// let b = fori_loop(0, &TracedTensor::scalar(3i64), twice, TracedTensor::scalar(1.0))?;
/// assert_eq!((a.item::<f64>()?, b.item::<f64>()?), (8.0, 8.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum LoopBound {
    /// A bound that is known when the program is traced.
    Const(i64),
    /// A bound that is known at run time: an `i64` scalar.
    Tensor(TracedTensor),
}

impl From<i64> for LoopBound {
    fn from(i: i64) -> LoopBound {
        LoopBound::Const(i)
    }
}

impl From<&TracedTensor> for LoopBound {
    fn from(t: &TracedTensor) -> LoopBound {
        LoopBound::Tensor(t.clone())
    }
}

/// `c = f(i, c)` for `i` in `lo..hi`. Differentiable in reverse mode, even with bounds that are
/// known only at run time.
///
/// ```
/// use cotangent::{TracedTensor, closures::{fori_loop, grad}};
/// let n = TracedTensor::scalar(3i64);
/// let cube = |x: TracedTensor| fori_loop(0, &n, |_, c: TracedTensor| &c * &x, TracedTensor::scalar(1.0));
/// assert_eq!(grad(cube)(TracedTensor::scalar(2.0))?.item::<f64>()?, 12.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn fori_loop<C: Tree, R: Returns<Out = C>>(
    lo: impl Into<LoopBound>,
    hi: impl Into<LoopBound>,
    f: impl FnOnce(TracedTensor, C) -> R,
    init: C,
) -> Result<C> {
    checkpointing(Checkpoint::Never).fori_loop(lo, hi, f, init)
}

/// `c = body(c)` while `test(c)`, a boolean scalar, holds. Differentiable in reverse mode.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, while_loop}};
/// // Doubled until it is at least 10.
/// let f = |x: TracedTensor| {
///     while_loop(|c: TracedTensor| c.less(10.0), |c: TracedTensor| &c * 2.0, x)
/// };
/// assert_eq!(f(TracedTensor::scalar(3.0))?.item::<f64>()?, 12.0);
/// assert_eq!(grad(f)(TracedTensor::scalar(3.0))?.item::<f64>()?, 4.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn while_loop<C: Tree, T: Returns<Out = TracedTensor>, R: Returns<Out = C>>(
    test: impl FnOnce(C) -> T,
    body: impl FnOnce(C) -> R,
    init: C,
) -> Result<C> {
    checkpointing(Checkpoint::Never).while_loop(test, body, init)
}

impl Loops {
    /// The same, with the largest number of steps of a `while` loop. Devices of other engines need
    /// it where derivatives store the values of each step; here it has no effect.
    ///
    /// ```
    /// use cotangent::{TracedTensor, closures::{Checkpoint, checkpointing, grad}};
    /// let loops = checkpointing(Checkpoint::Never).bounded(20);
    /// let f = |x: TracedTensor| {
    ///     loops.while_loop(|c: TracedTensor| c.less(1000.0), |c: TracedTensor| &c * 2.0, x)
    /// };
    /// assert_eq!(grad(f)(TracedTensor::scalar(3.0))?.item::<f64>()?, 512.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn bounded(self, steps: usize) -> Loops {
        Loops {
            bound: Some(steps),
            ..self
        }
    }

    /// As [`scan`].
    #[track_caller]
    pub fn scan<C: Tree, X: Tree, Y: Tree, R: Returns<Out = (C, Y)>>(
        self,
        f: impl FnOnce(C, X) -> R,
        init: C,
        xs: X,
    ) -> Result<(C, Y)> {
        self.scan_from(false, f, init, xs, here())
    }

    /// As [`scan_reverse`].
    #[track_caller]
    pub fn scan_reverse<C: Tree, X: Tree, Y: Tree, R: Returns<Out = (C, Y)>>(
        self,
        f: impl FnOnce(C, X) -> R,
        init: C,
        xs: X,
    ) -> Result<(C, Y)> {
        self.scan_from(true, f, init, xs, here())
    }

    fn scan_from<C: Tree, X: Tree, Y: Tree, R: Returns<Out = (C, Y)>>(
        self,
        reverse: bool,
        f: impl FnOnce(C, X) -> R,
        init: C,
        xs: X,
        loc: crate::Loc,
    ) -> Result<(C, Y)> {
        let mut of = types(&init)?;
        let nk = of.len();
        let mut length = None;
        for (k, t) in types(&xs)?.into_iter().enumerate() {
            if t.rank() == 0 {
                let name = leaf_name(&xs, k).unwrap_or("xs".into());
                let text = format!("scan runs along the first axis, {name} is {t}");
                return Err(Error::new(Code::ShapeMismatch, text).at(loc));
            }
            length.get_or_insert_with(|| t.shape[0].clone());
            of.push(t.unbatched());
        }
        let Some(length) = length else {
            let text = "scan needs a tensor to run along; without one use fori_loop";
            return Err(Error::new(Code::Arity, text).at(loc));
        };
        let rows = leaves(&xs).len();
        let like = (init, xs);
        let closed = Closed::call("body", loc, &like, &of, |(c, x)| f(c, x))?;
        check_carry("scan", &closed.out.0, &like.0).map_err(|e| e.at(loc))?;
        let captures = closed.captures()?;
        let body = closed.after(&captures)?;
        let nc = captures.len();
        let args = [captures, owned(&like)].concat();
        let y = write(loc, &args, |cx, x| {
            let (init, xs) = x[nc..].split_at(nk);
            debug_assert_eq!(xs.len(), rows);
            let (c, y) = cx.checkpointing(self.policy).scan(
                &x[..nc],
                init,
                xs,
                &length,
                reverse,
                |cx, w, c, x| {
                    let mut y = cx.inline(&body, &[w, c, x].concat());
                    let ys = y.split_off(nk);
                    (y, ys)
                },
            );
            [c, y].concat()
        })?;
        Ok(closed.out.rebuild(&mut y.into_iter()))
    }

    /// As [`fori_loop`]. With a data-dependent bound the only policy is `Checkpoint::Every`.
    #[track_caller]
    pub fn fori_loop<C: Tree, R: Returns<Out = C>>(
        self,
        lo: impl Into<LoopBound>,
        hi: impl Into<LoopBound>,
        f: impl FnOnce(TracedTensor, C) -> R,
        init: C,
    ) -> Result<C> {
        let loc = here();
        let like = (TracedTensor::scalar(0i64), init);
        let mut of = vec![Type::scalar(DType::I64)];
        of.extend(types(&like.1)?);
        let closed = Closed::call("body", loc, &like, &of, |(i, c)| f(i, c))?;
        check_carry("fori_loop", &closed.out, &like.1).map_err(|e| e.at(loc))?;
        let captures = closed.captures()?;
        let body = closed.after(&captures)?;
        let (nc, nk) = (captures.len(), of.len() - 1);
        let mut args = [captures, owned(&like.1)].concat();
        let mut bound = |b: LoopBound| match b {
            LoopBound::Const(i) => Err(i),
            LoopBound::Tensor(t) => {
                args.push(t);
                Ok(args.len() - 1)
            }
        };
        let (lo, hi) = (bound(lo.into()), bound(hi.into()));
        let y = write(loc, &args, |cx, x| {
            let of = |b: std::result::Result<usize, i64>| {
                b.map_or_else(Bound::Const, |k| Bound::Val(x[k]))
            };
            cx.checkpointing(self.policy).fori(
                of(lo),
                of(hi),
                &x[..nc],
                &x[nc..nc + nk],
                |cx, w, i, c| cx.inline(&body, &[w, &[i], c].concat()),
            )
        })?;
        Ok(closed.out.rebuild(&mut y.into_iter()))
    }

    /// As [`while_loop`]. The only policy is `Checkpoint::Every`.
    #[track_caller]
    pub fn while_loop<C: Tree, T: Returns<Out = TracedTensor>, R: Returns<Out = C>>(
        self,
        test: impl FnOnce(C) -> T,
        body: impl FnOnce(C) -> R,
        init: C,
    ) -> Result<C> {
        let loc = here();
        let test = Closed::like("cond", loc, &init, test)?;
        let body = Closed::like("body", loc, &init, body)?;
        check_carry("while_loop", &body.out, &init).map_err(|e| e.at(loc))?;
        let captures = union(&[test.captures()?, body.captures()?]);
        let (holds, step) = (test.after(&captures)?, body.after(&captures)?);
        let nc = captures.len();
        let args = [captures, owned(&init)].concat();
        let y = write(loc, &args, |cx, x| {
            let (w, init) = x.split_at(nc);
            let loops = cx.checkpointing(self.policy);
            let loops = match self.bound {
                Some(steps) => loops.bounded(steps),
                None => loops,
            };
            loops.while_loop(
                w,
                init,
                |cx, w, c| apply(cx, &holds, w, c)[0],
                |cx, w, c| apply(cx, &step, w, c),
            )
        })?;
        Ok(body.out.rebuild(&mut y.into_iter()))
    }
}
