//! `custom_jvp` and `custom_vjp`: closures with derivatives that the caller defines.

use super::capture::{Closed, types, union, write};
use super::tree::{Returns, Tree, leaves, owned, structure};
use crate::here::here;
use crate::{Array, Code, Dim, Emit, Env, Error, Function, Loc, Op, Primitive, Result, Type, Val};
use cotangent_core::primitive::{Arg, Batched, Cost, Linearized};
use cotangent_core::transform::{self as core, AdContext, Lin, Lv};

fn same_structure(loc: Loc, what: &str, got: String, want: String) -> Result<()> {
    if got != want {
        return Err(Error::new(
            Code::RuleArity,
            format!("{what} has the structure {got}, not {want}"),
        )
        .at(loc));
    }
    Ok(())
}

/// The derivative of a closure by its captures, in addition to the one that a rule gives for its
/// arguments.
struct Captured {
    /// Parameters of the closure, then a tangent per capture that has one, or a cotangent per
    /// result that has one.
    by: Option<Function>,
    /// Whether each capture has a tangent.
    has: Vec<bool>,
    /// The reason for a missing derivative: the error of differentiation by a capture.
    failed: Option<Error>,
}

impl Captured {
    fn of(
        body: &Function,
        captures: usize,
        derive: impl FnOnce(&AdContext, &Function, &[Val]) -> Result<Function>,
    ) -> Captured {
        let first = &body.params()[..captures];
        let has: Vec<bool> = first
            .iter()
            .map(|&p| body.ty(p).dtype.has_tangent())
            .collect();
        let moves: Vec<Val> = first
            .iter()
            .zip(&has)
            .filter(|(_, h)| **h)
            .map(|(&p, _)| p)
            .collect();
        if moves.is_empty() || !body.result_types().iter().any(|t| t.dtype.has_tangent()) {
            return Captured {
                by: None,
                has,
                failed: None,
            };
        }
        match derive(super::capture::session().context(), body, &moves) {
            Ok(f) => Captured {
                by: Some(f),
                has,
                failed: None,
            },
            Err(e) => Captured {
                by: None,
                has,
                failed: Some(e),
            },
        }
    }

    /// The captures as operands of the operation.
    fn operands(&self, cx: &dyn Emit, captures: &[Val]) -> Vec<Val> {
        let Some(e) = &self.failed else {
            return captures.to_vec();
        };
        let one = |(&c, &has): (&Val, &bool)| match has {
            true => cx.op(Op::extension(Fixed { why: e.to_string() }), &[c]),
            false => c,
        };
        captures.iter().zip(&self.has).map(one).collect()
    }

    /// The values of captures with a tangent, from a value per capture.
    fn some<T: Copy>(&self, all: &[Option<T>]) -> Vec<T> {
        all.iter()
            .zip(&self.has)
            .filter(|(_, h)| **h)
            .filter_map(|(t, _)| *t)
            .collect()
    }

    /// A value per capture, from the values of captures with a tangent.
    fn spread(&self, some: Vec<Val>) -> Vec<Option<Val>> {
        let mut some = some.into_iter();
        self.has
            .iter()
            .map(|&h| if h { some.next() } else { None })
            .collect()
    }
}

/// A captured value that the closure has no derivative by.
#[derive(Debug)]
struct Fixed {
    why: String,
}

impl Fixed {
    fn error(&self) -> Error {
        let text = format!(
            "a closure with a custom derivative captures this value, and has no derivative by it: {}. Make it an \
             argument, or stop_gradient it",
            self.why
        );
        Error::new(Code::NoRule, text)
    }
}

impl Primitive for Fixed {
    fn name(&self) -> &str {
        "captured"
    }

    fn key(&self) -> Option<String> {
        Some(self.why.clone())
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(x.to_vec())
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        Ok(x.to_vec())
    }

    fn linearize(&self, _: &Lin<'_>, _: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Err(self.error())
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(self.error())
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let val = cx.op(
            Op::extension(Fixed {
                why: self.why.clone(),
            }),
            &[x[0].val],
        );
        Ok(vec![Batched {
            val,
            mapped: x[0].mapped,
        }])
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

/// A value per entry of `has`, taken from `some` or zero.
fn full(cx: &dyn Emit, some: &[Option<Val>], types: &[Type]) -> Vec<Val> {
    some.iter()
        .zip(types)
        .map(|(v, t)| v.unwrap_or_else(|| cx.zeros(t)))
        .collect()
}

/// `f` with the derivative `rule(x, dx)`, which returns the result of `f` and its tangent. It must
/// be linear in `dx`. The rule applies to the argument only. The derivative by tensors that `f`
/// captured is that of `f` itself, and an error if it has none.
///
/// ```
/// use cotangent::{TracedTensor, closures::{custom_jvp, grad}};
/// let f = custom_jvp(
///     |x: TracedTensor| &x * &x,
///     |x: TracedTensor, t: TracedTensor| (&x * &x, &t * &x * 100.0),
/// );
/// assert_eq!(grad(f)(TracedTensor::scalar(3.0))?.item::<f64>()?, 300.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn custom_jvp<A: Tree, B: Tree, R: Returns<Out = B>, S: Returns<Out = (B, B)>>(
    f: impl Fn(A) -> R,
    rule: impl Fn(A, A) -> S,
) -> impl Fn(A) -> Result<B> {
    let loc = here();
    move |x| {
        let of = types(&x)?;
        let closed = Closed::like("f", loc, &x, &f)?;
        let like = (x.rebuild(&mut owned(&x).into_iter()), x);
        let both = [&of[..], &of].concat();
        let ruled = Closed::call("rule", loc, &like, &both, |(x, t)| rule(x, t))?;
        same_structure(
            loc,
            "the tangent that the rule returns",
            structure(&ruled.out.1),
            structure(&closed.out),
        )?;
        let outs = leaves(&closed.out).len();
        let captures = union(&[closed.captures()?, ruled.captures()?]);
        let (body, rule) = (closed.after(&captures)?, ruled.after(&captures)?);
        let nc = captures.len();
        let captured = Captured::of(&body, nc, core::jvp);
        let of_results = body.result_types();
        let args = [captures, owned(&like.1)].concat();
        let y = write(loc, &args, |cx, x| {
            cx.custom_jvp(
                &[&captured.operands(cx, &x[..nc])[..], &x[nc..]].concat(),
                |cx, x| cx.inline(&body, x),
                |cx, x, _, t| {
                    let dx = full(cx, &t[nc..], &of);
                    let y = cx.inline(&rule, &[x, &dx].concat());
                    let Some(by) = &captured.by else {
                        return y[outs..].iter().map(|v| Some(*v)).collect();
                    };
                    let moved = cx.inline(by, &[x, &captured.some(&t[..nc])].concat());
                    let mut moved = moved[outs..].iter();
                    let mut with = |(&v, t): (&Val, &Type)| match t.dtype.has_tangent() {
                        true => moved.next().map(|&m| cx.add(v, m)),
                        false => None,
                    };
                    y[outs..].iter().zip(&of_results).map(&mut with).collect()
                },
            )
        })?;
        Ok(closed.out.rebuild(&mut y.into_iter()))
    }
}

/// `f` with a reverse derivative: `fwd(x)` returns the result of `f` and residuals, and
/// `bwd(residuals, ct)` the cotangent of `x`. In forward mode the derivative is the transpose of
/// `bwd`, which must then be linear. These rules apply to the argument only. The derivative by
/// tensors that `f` captured is that of `f` itself, and an error if it has none.
///
/// ```
/// use cotangent::{TracedTensor, closures::{custom_vjp, grad}};
/// let f = custom_vjp(
///     |x: TracedTensor| x.sin(),
///     |x: TracedTensor| (x.sin(), x),
///     |x: TracedTensor, ct: TracedTensor| ct * x.cos() * 10.0,
/// );
/// let g = grad(f)(TracedTensor::scalar(1.0))?.item::<f64>()?;
/// assert!((g - 10.0 * 1f64.cos()).abs() < 1e-12);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn custom_vjp<A, B, C, R, S, T>(
    f: impl Fn(A) -> R,
    fwd: impl Fn(A) -> S,
    bwd: impl Fn(C, B) -> T,
) -> impl Fn(A) -> Result<B>
where
    A: Tree,
    B: Tree,
    C: Tree,
    R: Returns<Out = B>,
    S: Returns<Out = (B, C)>,
    T: Returns<Out = A>,
{
    let loc = here();
    move |x| {
        let closed = Closed::like("f", loc, &x, &f)?;
        let forward = Closed::like("fwd", loc, &x, &fwd)?;
        let (b, c) = (structure(&forward.out.0), structure(&closed.out));
        same_structure(loc, "the first result of fwd", b, c)?;
        let of_residuals = types(&forward.out.1)?;
        let outs = types(&closed.out)?;
        let like = (
            forward
                .out
                .1
                .rebuild(&mut owned(&forward.out.1).into_iter()),
            closed.out.rebuild(&mut owned(&closed.out).into_iter()),
        );
        let back = Closed::call(
            "bwd",
            loc,
            &like,
            &[&of_residuals[..], &outs].concat(),
            |(r, ct)| bwd(r, ct),
        )?;
        same_structure(
            loc,
            "the result of bwd",
            structure(&back.out),
            structure(&x),
        )?;
        let captures = union(&[closed.captures()?, forward.captures()?, back.captures()?]);
        let (body, fwd, bwd) = (
            closed.after(&captures)?,
            forward.after(&captures)?,
            back.after(&captures)?,
        );
        let (nc, n) = (captures.len(), outs.len());
        let captured = Captured::of(&body, nc, core::vjp);
        // The point at which the derivative by captures is taken is saved with the residuals, if
        // there is such a derivative.
        let at = if captured.by.is_some() {
            body.params().len()
        } else {
            nc
        };
        let args = [captures, owned(&x)].concat();
        let y = write(loc, &args, |cx, x| {
            cx.custom_vjp(
                &[&captured.operands(cx, &x[..nc])[..], &x[nc..]].concat(),
                |cx, x| cx.inline(&body, x),
                |cx, x| {
                    let mut y = cx.inline(&fwd, x);
                    let mut r = x[..at].to_vec();
                    r.extend(y.split_off(n));
                    (y, r)
                },
                |cx, r, ct| {
                    let some: Vec<Val> = ct
                        .iter()
                        .zip(&outs)
                        .filter(|(_, t)| t.dtype.has_tangent())
                        .filter_map(|(c, _)| *c)
                        .collect();
                    let ct = full(cx, ct, &outs);
                    let back = cx.inline(&bwd, &[&r[..nc], &r[at..], &ct].concat());
                    let by = captured
                        .by
                        .as_ref()
                        .map(|f| cx.inline(f, &[&r[..at], &some].concat()));
                    let first = captured.spread(by.unwrap_or_default());
                    first
                        .into_iter()
                        .chain(back.into_iter().map(Some))
                        .collect()
                },
            )
        })?;
        Ok(closed.out.rebuild(&mut y.into_iter()))
    }
}
