//! `checkpoint`, `cond`, `switch`, `scan`, `fori_loop`, `while_loop` of closures: they become bodies, what they captured operands.

use super::capture::{Closed, types, union, with, write};
use super::tree::{Returns, Tree, leaves, owned, structure};
use crate::ops::Bound;
use crate::traced::here;
use crate::{Code, DType, Emit, Error, Function, Result, TracedTensor, Type, Val, bail};

/// A body's function applied to `first` and `rest`.
fn apply(cx: &dyn Emit, f: &Function, first: &[Val], rest: &[Val]) -> Vec<Val> {
    cx.inline(f, &[first, rest].concat())
}

/// A loop's body returns a carry of the structure it got.
fn check_carry<C: Tree>(what: &str, given: &C, init: &C) -> Result<()> {
    let (got, want) = (structure(given), structure(init));
    if got != want {
        bail!(CarryMismatch, "{what} got a carry of the structure {want} and returns {got}");
    }
    Ok(())
}

/// What `f` computes; derivatives compute it again instead of saving what is inside.
///
/// ```
/// use cotangent::{TracedTensor, closures::{checkpoint, grad}};
/// let f = |x: TracedTensor| x.sin().sin();
/// let x = || TracedTensor::scalar(1.0);
/// let (a, b) = (grad(f)(x())?.to_tensor()?, grad(checkpoint(f))(x())?.to_tensor()?);
/// assert!(a.same_bits(&b));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn checkpoint<A: Tree, R: Returns>(f: impl Fn(A) -> R) -> impl Fn(A) -> Result<R::Out> {
    let loc = here();
    move |x| {
        let closed = Closed::like("checkpoint", loc, &x, &f)?;
        let (f, captures) = closed.function()?;
        let y = write(loc, &with(&x, &captures), |cx, x| cx.checkpoint(x, |cx, x| cx.inline(&f, x)))?;
        Ok(closed.out.rebuild(&mut y.into_iter()))
    }
}

/// `yes(x)` where `p`, a boolean of rank 0, holds, and `no(x)` otherwise; only that one runs. Both return the same
/// structure and types.
///
/// ```
/// use cotangent::{TracedTensor, closures::{cond, grad}};
/// let f = |x: TracedTensor| cond(&x.gt(&TracedTensor::scalar(0.0)), x, |x: TracedTensor| x.sqrt(), |x| x * 0.0);
/// assert_eq!(grad(f)(TracedTensor::scalar(4.0))?.to_tensor()?.item::<f64>()?, 0.25);
/// assert_eq!(grad(f)(TracedTensor::scalar(-1.0))?.to_tensor()?.item::<f64>()?, 0.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn cond<A: Tree, R: Returns, S: Returns<Out = R::Out>>(
    p: &TracedTensor,
    x: A,
    yes: impl FnOnce(A) -> R,
    no: impl FnOnce(A) -> S,
) -> Result<R::Out> {
    let loc = here();
    let (yes, no) = (Closed::like("then", loc, &x, yes)?, Closed::like("else", loc, &x, no)?);
    let (a, b) = (structure(&yes.out), structure(&no.out));
    if a != b {
        let text = format!("the branches of `cond` return different structures: {a} and {b}");
        return Err(Error::new(Code::BranchMismatch, text).at(loc));
    }
    let captures = union(&[yes.captures()?, no.captures()?]);
    let (then, other) = (yes.after(&captures)?, no.after(&captures)?);
    let args = [std::slice::from_ref(p), &captures[..], &owned(&x)].concat();
    let y =
        write(loc, &args, |cx, x| cx.cond(x[0], &x[1..], |cx, x| cx.inline(&then, x), |cx, x| cx.inline(&other, x)))?;
    Ok(yes.out.rebuild(&mut y.into_iter()))
}

/// One of several closures, chosen by an integer of rank 0; one out of range is the nearest that exists.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, switch}};
/// type F = fn(TracedTensor) -> TracedTensor;
/// let branches: [F; 3] = [|x| x, |x| &x * &x, |x| x.powi(3)];
/// let d = |k: i64| grad(move |x: TracedTensor| switch(&TracedTensor::scalar(k), x, &branches))(TracedTensor::scalar(2.0));
/// assert_eq!(d(1)?.to_tensor()?.item::<f64>()?, 4.0);
/// assert_eq!(d(7)?.to_tensor()?.item::<f64>()?, 12.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn switch<A: Tree, R: Returns>(index: &TracedTensor, x: A, branches: &[impl Fn(A) -> R]) -> Result<R::Out> {
    let loc = here();
    let closed: Vec<Closed<R::Out>> =
        branches.iter().map(|f| Closed::like("branch", loc, &x, f)).collect::<Result<_>>()?;
    let Some(first) = closed.first() else {
        return Err(Error::new(Code::Arity, "`switch` needs at least one branch").at(loc));
    };
    for (k, c) in closed.iter().enumerate() {
        let (a, b) = (structure(&first.out), structure(&c.out));
        if a != b {
            let text = format!("branch {k} of `switch` returns the structure {b}, branch 0 {a}");
            return Err(Error::new(Code::BranchMismatch, text).at(loc));
        }
    }
    let captures = union(&closed.iter().map(Closed::captures).collect::<Result<Vec<_>>>()?);
    let bodies: Vec<Function> = closed.iter().map(|c| c.after(&captures)).collect::<Result<_>>()?;
    let args = [std::slice::from_ref(index), &captures[..], &owned(&x)].concat();
    type Body<'a> = Box<dyn Fn(&dyn Emit, &[Val]) -> Vec<Val> + 'a>;
    let bodies: Vec<Body<'_>> =
        bodies.iter().map(|f| Box::new(move |cx: &dyn Emit, x: &[Val]| cx.inline(f, x)) as Body<'_>).collect();
    let all: Vec<_> = bodies.iter().map(|b| &**b).collect();
    let y = write(loc, &args, |cx, x| cx.switch(x[0], &x[1..], &all))?;
    Ok(first.out.rebuild(&mut y.into_iter()))
}

/// `c, y[i] = f(c, x[i])` along the first axis of `xs`: the last carry, and the `y` stacked.
///
/// ```
/// use cotangent::{TracedTensor, closures::scan};
/// let xs = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 3.0]);
/// let (total, sums) = scan(|c: TracedTensor, x: TracedTensor| (&c + &x, &c + &x), TracedTensor::scalar(0.0), xs)?;
/// assert_eq!(total.to_tensor()?.item::<f64>()?, 6.0);
/// assert_eq!(sums.to_tensor()?.to_vec::<f64>()?, [1.0, 3.0, 6.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn scan<C: Tree, X: Tree, Y: Tree, R: Returns<Out = (C, Y)>>(
    f: impl FnOnce(C, X) -> R,
    init: C,
    xs: X,
) -> Result<(C, Y)> {
    scan_from(false, f, init, xs, here())
}

/// As [`scan`], from the last row to the first.
///
/// ```
/// use cotangent::{TracedTensor, closures::scan_reverse};
/// let xs = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 3.0]);
/// let f = |c: TracedTensor, x: TracedTensor| (&c + &x, &c + &x);
/// let (_, sums) = scan_reverse(f, TracedTensor::scalar(0.0), xs)?;
/// assert_eq!(sums.to_tensor()?.to_vec::<f64>()?, [6.0, 5.0, 3.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn scan_reverse<C: Tree, X: Tree, Y: Tree, R: Returns<Out = (C, Y)>>(
    f: impl FnOnce(C, X) -> R,
    init: C,
    xs: X,
) -> Result<(C, Y)> {
    scan_from(true, f, init, xs, here())
}

fn scan_from<C: Tree, X: Tree, Y: Tree, R: Returns<Out = (C, Y)>>(
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
            let text = format!("scan runs along the first axis, tensor #{k} of xs is {t}");
            return Err(Error::new(Code::ShapeMismatch, text).at(loc));
        }
        length.get_or_insert_with(|| t.shape[0].clone());
        of.push(t.unbatched());
    }
    let Some(length) = length else {
        bail!(Arity, "scan needs a tensor to run along; without one use fori_loop");
    };
    let rows = leaves(&xs).len();
    let like = (init, xs);
    let closed = Closed::call("body", loc, &like, &of, |(c, x)| f(c, x))?;
    check_carry("the body of `scan`", &closed.out.0, &like.0).map_err(|e| e.at(loc))?;
    let captures = closed.captures()?;
    let body = closed.after(&captures)?;
    let nc = captures.len();
    let args = [captures, owned(&like)].concat();
    let y = write(loc, &args, |cx, x| {
        let (init, xs) = x[nc..].split_at(nk);
        debug_assert_eq!(xs.len(), rows);
        let (c, y) = cx.scan(&x[..nc], init, xs, &length, reverse, |cx, w, c, x| {
            let mut y = cx.inline(&body, &[w, c, x].concat());
            let ys = y.split_off(nk);
            (y, ys)
        });
        [c, y].concat()
    })?;
    Ok(closed.out.rebuild(&mut y.into_iter()))
}

/// An end of [`fori_loop`]: a number, or an `i64` tensor of rank 0.
///
/// ```
/// use cotangent::{TracedTensor, closures::fori_loop};
/// let twice = |_: TracedTensor, x: TracedTensor| x * 2.0;
/// // Known when the program is written, or when it runs.
/// let a = fori_loop(0, 3, twice, TracedTensor::scalar(1.0))?;
/// let b = fori_loop(0, &TracedTensor::scalar(3i64), twice, TracedTensor::scalar(1.0))?;
/// assert_eq!((a.to_tensor()?.item::<f64>()?, b.to_tensor()?.item::<f64>()?), (8.0, 8.0));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum LoopBound {
    /// Known.
    Const(i64),
    /// Known when it runs.
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

/// `c = f(i, c)` for `i` in `lo..hi`. Differentiable in reverse, also where the bounds are known only when it runs.
///
/// ```
/// use cotangent::{TracedTensor, closures::{fori_loop, grad}};
/// let n = TracedTensor::scalar(3i64);
/// let cube = |x: TracedTensor| fori_loop(0, &n, |_, c: TracedTensor| &c * &x, TracedTensor::scalar(1.0));
/// assert_eq!(grad(cube)(TracedTensor::scalar(2.0))?.to_tensor()?.item::<f64>()?, 12.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn fori_loop<C: Tree, R: Returns<Out = C>>(
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
    check_carry("the body of `fori_loop`", &closed.out, &like.1).map_err(|e| e.at(loc))?;
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
        let of = |b: std::result::Result<usize, i64>| b.map_or_else(Bound::Const, |k| Bound::Val(x[k]));
        cx.fori(of(lo), of(hi), &x[..nc], &x[nc..nc + nk], |cx, w, i, c| cx.inline(&body, &[w, &[i], c].concat()))
    })?;
    Ok(closed.out.rebuild(&mut y.into_iter()))
}

/// `c = body(c)` while `test(c)`, a boolean of rank 0, holds. Differentiable in reverse.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, while_loop}};
/// // Doubled until it is at least 10.
/// let f = |x: TracedTensor| {
///     while_loop(|c: TracedTensor| c.lt(&TracedTensor::scalar(10.0)), |c: TracedTensor| &c * 2.0, x)
/// };
/// assert_eq!(f(TracedTensor::scalar(3.0))?.to_tensor()?.item::<f64>()?, 12.0);
/// assert_eq!(grad(f)(TracedTensor::scalar(3.0))?.to_tensor()?.item::<f64>()?, 4.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn while_loop<C: Tree, T: Returns<Out = TracedTensor>, R: Returns<Out = C>>(
    test: impl FnOnce(C) -> T,
    body: impl FnOnce(C) -> R,
    init: C,
) -> Result<C> {
    let loc = here();
    let test = Closed::like("cond", loc, &init, test)?;
    let body = Closed::like("body", loc, &init, body)?;
    check_carry("the body of `while_loop`", &body.out, &init).map_err(|e| e.at(loc))?;
    let captures = union(&[test.captures()?, body.captures()?]);
    let (holds, step) = (test.after(&captures)?, body.after(&captures)?);
    let nc = captures.len();
    let args = [captures, owned(&init)].concat();
    let y = write(loc, &args, |cx, x| {
        let (w, init) = x.split_at(nc);
        cx.while_loop(w, init, |cx, w, c| apply(cx, &holds, w, c)[0], |cx, w, c| apply(cx, &step, w, c))
    })?;
    Ok(body.out.rebuild(&mut y.into_iter()))
}
