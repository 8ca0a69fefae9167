//! Laws that every operation obeys: a table of laws, each checked on a [`Sample`].

use super::classes;
use super::numbers::{Rng, agree};
use super::problem::CheckedFunction;
use super::report::{Law, Verdict};
use super::widen::{cast, double_args, spell, widen};
use super::{Options, differentiable};
use crate::array::{Array, Data, Wide};
use crate::bail;
use crate::dtype::C128;
use crate::error::{Code, Error, Result};
use crate::for_dtype;
use crate::ir::{AdContext, Builder, Cost, Emit, Function, Sample, Session, Val};
use crate::reference;
use crate::rewrite::simplify;
use crate::shape::{Dim, Shape, Type};
use crate::text::Program;
use crate::transform::{self};
use std::fmt::Write;
use std::sync::Arc;

/// A sample with its function and results.
struct SampleCase<'a> {
    ad: &'a AdContext,
    sample: &'a Sample,
    /// A function that applies the operation to one parameter per operand.
    f: Function,
    /// Its results.
    y: Vec<Array>,
    /// Relative tolerance for two computations of one value in the operation's own types.
    tolerance: f64,
}

type LawFn = fn(&SampleCase<'_>, &mut Vec<String>) -> Result<()>;

/// The laws by name.
const LAWS: &[(&str, LawFn)] = &[
    ("types", types),
    ("spelling", spelling),
    ("copies", copies),
    ("class", class),
    ("cost", cost),
    ("symbols", symbols),
    ("derivative", derivative),
    ("precision", precision),
    ("text", text),
    ("batch", batch),
    ("derivative of batch", derivative_of_batch),
];

/// The function of one operation, with a parameter per operand.
pub fn function_of(sample: &Sample) -> Result<Function> {
    let types: Vec<Type> = sample.operands.iter().map(Array::ty).collect();
    function_on(sample, &types)
}

fn function_on(sample: &Sample, types: &[Type]) -> Result<Function> {
    let b = Builder::new(sample.op.name(), Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = b.emit(sample.op.clone(), &x);
    b.finish(&y)
}

/// Checks every law on one sample of a built-in operation or an extension. The error lists the
/// violated laws with values.
///
/// Inferred types equal those of evaluation. Printing and parsing gives the same operation. An
/// operation whose class is elementwise gives the same bits for single elements, and so does its
/// scalar function. Costs are finite. Symbolic extents do not change results. Derivatives are
/// linear. They agree with finite differences (where the sample is smooth), with their adjoint, and
/// in second order. Every choice of batched operands agrees with a loop, for batch sizes 0, 1 and
/// 3. The derivative of the batched operation equals the batched derivative.
pub fn check_op(ad: &AdContext, sample: &Sample) -> Result<()> {
    let operands: Vec<Type> = sample.operands.iter().map(Array::ty).collect();
    let name = format!("`{}` on {operands:?}", sample.op.name());
    let f = function_of(sample).map_err(|e| e.note(format!("in a sample of {name}")))?;
    let y = reference::run(&f, &sample.operands)
        .map_err(|e| e.note(format!("in a sample of {name}")))?;
    let eps = sample
        .operands
        .iter()
        .chain(&y)
        .map(|a| a.dtype().epsilon())
        .fold(0.0, f64::max);
    let case = SampleCase {
        ad,
        sample,
        f,
        y,
        tolerance: (64.0 * eps).max(1e-9),
    };
    let mut failures = Vec::new();
    for (law, check) in LAWS {
        let mut found = Vec::new();
        match check(&case, &mut found) {
            // An operation with data-dependent extents cannot be batched, and returns this error.
            Err(e) if e.code() != Code::RankVaries => found.push(e.to_string()),
            _ => {}
        }
        failures.extend(found.into_iter().map(|text| format!("{law}: {text}")));
    }
    if failures.is_empty() {
        return Ok(());
    }
    let e = Error::new(
        Code::CheckFailed,
        format!("{name} breaks {} laws", failures.len()),
    );
    Err(failures.into_iter().fold(e, Error::note))
}

/// Checks every law on each sample of an operation ([`check_op`]). Also checks that rewrites do not
/// merge two different samples in one graph.
pub fn check_ops(ad: &AdContext, samples: &[Sample]) -> Result<()> {
    for sample in samples {
        check_op(ad, sample)?;
    }
    for (k, a) in samples.iter().enumerate() {
        for b in &samples[k + 1..] {
            stays_two(a, b)?;
        }
    }
    Ok(())
}

/// Compares two operations on the same operands, simplified together, with each of them alone.
fn stays_two(a: &Sample, b: &Sample) -> Result<()> {
    let types = |s: &Sample| s.operands.iter().map(Array::ty).collect::<Vec<_>>();
    if types(a) != types(b) {
        return Ok(());
    }
    let builder = Builder::new("both", Session::default());
    let x: Vec<Val> = types(a)
        .iter()
        .map(|t| builder.param(t.clone(), None))
        .collect();
    let y = [
        builder.emit(a.op.clone(), &x),
        builder.emit(b.op.clone(), &x),
    ]
    .concat();
    let both = simplify(&builder.finish(&y)?);
    for at in [a, b] {
        let alone = |s: &Sample| {
            reference::run(
                &function_of(&Sample {
                    operands: at.operands.clone(),
                    ..s.clone()
                })?,
                &at.operands,
            )
        };
        let (Ok(first), Ok(second)) = (alone(a), alone(b)) else {
            continue;
        };
        let (got, want) = (
            reference::run(&both, &at.operands)?,
            [first, second].concat(),
        );
        if got.iter().zip(&want).any(|(g, w)| !g.same_bits(w)) {
            let text = "are merged if a graph has both: the key of an extension must contain all of its state";
            bail!(
                CheckFailed,
                "two operations `{}`, {:?} and {:?}, {text}: {got:?}, not {want:?}",
                a.op.name(),
                a.op,
                b.op
            );
        }
    }
    Ok(())
}

/// Inferred types equal those of evaluated results.
fn types(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    if c.f.results().len() != c.sample.op.results() {
        out.push(format!(
            "`results()` is {}, the type rule returns {}",
            c.sample.op.results(),
            c.f.results().len()
        ));
    }
    let (want, have) = (
        c.f.result_types(),
        c.y.iter().map(Array::ty).collect::<Vec<_>>(),
    );
    if want.len() != have.len() || want.iter().zip(&have).any(|(w, h)| w.differs(h)) {
        out.push(format!(
            "the type rule returns {want:?}, evaluation {have:?}"
        ));
    }
    Ok(())
}

/// Name and attributes determine the operation.
fn spelling(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    let op = &c.sample.op;
    if matches!(op, crate::Op::Extension(_)) {
        return Ok(());
    }
    let again = spell(
        op.name(),
        op.attrs(),
        &c.f.param_types(),
        Some(&c.f.result_types()),
    )?;
    let (a, b) = (format!("{:?}", op.attrs()), format!("{:?}", again.attrs()));
    if again.name() != op.name() || a != b {
        out.push(format!("{}{a} is read as {}{b}", op.name(), again.name()));
    }
    let copy = Sample {
        op: again,
        ..c.sample.clone()
    };
    same(c, &copy, "read again", out)
}

/// Mapping dimensions and regions to themselves does not change results.
fn copies(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    let op = &c.sample.op;
    if let Some(copy) = op.map_dims(&Dim::clone) {
        same(
            c,
            &Sample {
                op: copy,
                ..c.sample.clone()
            },
            "with its dimensions mapped to themselves",
            out,
        )?;
    }
    let bodies: Vec<_> = op.regions().into_iter().cloned().collect();
    if !bodies.is_empty() {
        same(
            c,
            &Sample {
                op: op.with_regions(&bodies),
                ..c.sample.clone()
            },
            "with the same bodies",
            out,
        )?;
    }
    Ok(())
}

fn same(c: &SampleCase<'_>, other: &Sample, how: &str, out: &mut Vec<String>) -> Result<()> {
    let y = reference::run(&function_of(other)?, &other.operands)?;
    if y.len() != c.y.len() || y.iter().zip(&c.y).any(|(a, b)| !a.same_bits(b)) {
        out.push(format!("{how} it gives {y:?}, not {:?}", c.y));
    }
    Ok(())
}

/// The class of the operation and its scalar function agree with its evaluation.
fn class(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    classes::class(&c.sample.op, &c.sample.operands, &c.y, out)
}

/// Costs are finite.
fn cost(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    let Cost { flops, bytes } = c.f.cost();
    if !(flops.is_finite() && flops >= 0.0 && bytes.is_finite() && bytes >= 0.0) {
        out.push(format!("{flops} flops, {bytes} bytes"));
    }
    Ok(())
}

/// Symbolic extents do not change results (equal extents by one symbol, then each extent by its
/// own). An operation and its derivative may reject symbolic extents.
fn symbols(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    let mut count = 0;
    for shared in [true, false] {
        let mut name = |d: &Dim| {
            count += 1;
            Dim::sym(&if shared {
                format!("d{d}")
            } else {
                format!("e{count}")
            })
        };
        let types: Vec<Type> =
            c.f.param_types()
                .into_iter()
                .map(|t| t.with_shape(t.shape.iter().map(&mut name).collect::<Shape>()))
                .collect();
        let Ok(f) = function_on(c.sample, &types) else {
            continue;
        };
        let y = reference::run(&f, &c.sample.operands)?;
        if y.iter().zip(&c.y).any(|(a, b)| !a.same_bits(b)) {
            out.push(format!("as {types:?} it gives {y:?}, not {:?}", c.y));
        }
        let mut rng = Rng::new(3);
        let wrt = differentiable(&c.f);
        for derive in [transform::jvp, transform::vjp] {
            let a = derive(c.ad, &c.f, &wrt)?;
            let b = match derive(c.ad, &f, &wrt) {
                // A derivative that exists only for some extents, such as that of a complete QR,
                // which needs a matrix that is not tall.
                Err(e) if e.code() == Code::NoRule => continue,
                b => b?,
            };
            let n = c.sample.operands.len();
            let more: Vec<Array> = a.param_types()[n..]
                .iter()
                .map(|t| rng.array(t, &<_>::default()))
                .collect::<Result<_>>()?;
            let args = [&c.sample.operands[..], &more].concat();
            let (want, got) = (reference::run(&a, &args)?, reference::run(&b, &args)?);
            if let Err(e) = agree(&got, &want, c.tolerance) {
                out.push(format!("the derivative `{}` as {types:?}: {e}", a.name));
            }
        }
    }
    Ok(())
}

/// Derivatives with respect to each choice of operands, of each result and of all results.
fn derivative(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    let opts = Options {
        directions: 1,
        third_order: false,
        ..Options::default()
    };
    let mut results: Vec<Vec<Val>> = vec![c.f.results().to_vec()];
    if results[0].len() > 1 {
        results.extend(c.f.results().iter().map(|&r| vec![r]));
    }
    for results in results {
        let f = c.f.clone().with_results(&results);
        for wrt in subsets(&differentiable(&f)) {
            let mut rows = Vec::new();
            CheckedFunction::new(c.ad, &f, &c.sample.operands, &wrt, &opts)?
                .rows(&show(&f, &wrt), &mut rows)?;
            for r in rows {
                // A custom derivative is linear and has an adjoint, but its second derivatives need
                // not be symmetric.
                let linear = matches!(r.law, Law::Adjoint | Law::Linear);
                let wrong = match r.verdict {
                    Verdict::Pass => false,
                    Verdict::Fail => c.sample.smooth || linear,
                    Verdict::Unsure => c.sample.smooth,
                    Verdict::Skipped(_) => true,
                };
                if wrong {
                    let of = if results.len() < c.f.results().len() {
                        show(&f, &results)
                    } else {
                        String::new()
                    };
                    out.push(format!("{of} {r}"));
                }
            }
        }
    }
    Ok(())
}

fn show(f: &Function, v: &[Val]) -> String {
    v.iter().map(|&v| f.show(v)).collect::<Vec<_>>().join(" ")
}

/// Every nonempty subset; for many elements only the smallest and the largest subsets.
fn subsets<T: Clone>(all: &[T]) -> Vec<Vec<T>> {
    let n = all.len();
    (1u32..1 << n.min(16))
        .filter(|m| n <= 3 || matches!(m.count_ones() as usize, k if k == 1 || k >= n - 1))
        .map(|m| {
            (0..n)
                .filter(|i| m >> i & 1 == 1)
                .map(|i| all[i].clone())
                .collect()
        })
        .collect()
}

/// Printing, parsing and printing again gives the same text, and the parsed function gives the same
/// results. The same holds for derivatives.
fn text(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    if matches!(c.sample.op, crate::Op::Extension(_)) {
        return Ok(());
    }
    let again = read_again(&c.f)?;
    let y = reference::run(&again, &c.sample.operands)?;
    if y.iter().zip(&c.y).any(|(a, b)| !a.same_bits(b)) {
        out.push(format!("read again it gives {y:?}, not {:?}", c.y));
    }
    let wrt = differentiable(&c.f);
    for derive in [transform::jvp, transform::vjp] {
        read_again(&derive(c.ad, &c.f, &wrt)?)?;
    }
    Ok(())
}

/// The function printed and parsed again. Returns an error if it then prints as another text.
pub fn read_again(f: &Function) -> Result<Function> {
    let print =
        |f: &Function| Ok::<_, Error>(Program::from_modules([Arc::new(f.clone())])?.print());
    let text = print(f)?;
    let program = Program::parse(&text, None)?;
    let again = program
        .module(&f.name)
        .or_else(|| program.modules().last())
        .expect("what was printed")
        .as_ref()
        .clone();
    let second = print(&again)?;
    if second != text {
        bail!(
            CheckFailed,
            "printed, read and printed again `{}` is\n{second}\nnot\n{text}",
            f.name
        );
    }
    Ok(again)
}

/// In a narrow type the derivative is the one in double precision, rounded.
fn precision(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    let wrt = differentiable(&c.f);
    let Some(wide) = widen(&c.f)
        .ok()
        .filter(|w| w.param_types() != c.f.param_types())
    else {
        return Ok(());
    };
    let mut rng = Rng::new(5);
    let t = wrt
        .iter()
        .map(|&v| rng.array(c.f.ty(v), &<_>::default()))
        .collect::<Result<Vec<_>>>()?;
    let args = [&c.sample.operands[..], &t].concat();
    let own = reference::run(&transform::jvp(c.ad, &c.f, &wrt)?, &args)?;
    let double = reference::run(&transform::jvp(c.ad, &wide, &wrt)?, &double_args(&args)?)?;
    let rounded: Vec<Array> = double
        .iter()
        .zip(&own)
        .map(|(d, o)| cast(d, o.dtype()))
        .collect::<Result<_>>()?;
    if c.sample.smooth
        && let Err(e) = agree(&own, &rounded, c.tolerance)
    {
        out.push(format!("against double precision: {e}"));
    }
    Ok(())
}

/// Extents of the batch axis. Each is checked as a constant and as a symbol.
const BATCH_SIZES: [usize; 3] = [0, 1, 3];

fn batch(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    let n = c.sample.operands.len();
    let session = c.ad.session();
    let force = vec![true; c.f.results().len()];
    for chosen in subsets(&(0..n).collect::<Vec<_>>()) {
        let mapped: Vec<bool> = (0..n).map(|i| chosen.contains(&i)).collect();
        let elements = elements(c, &mapped)?;
        let symbol = Dim::sym("batch");
        let (any_size, _) = transform::batch(&session, &c.f, &mapped, &force, &symbol)?;
        for size in BATCH_SIZES {
            let args = batched_args(c, &mapped, &elements[..size])?;
            let loops: Vec<Vec<Array>> = elements[..size]
                .iter()
                .map(|x| reference::run(&c.f, x))
                .collect::<Result<_>>()?;
            let want: Vec<Array> = (0..c.y.len())
                .map(|k| stack(&c.y[k], &loops.iter().map(|y| &y[k]).collect::<Vec<_>>()))
                .collect::<Result<_>>()?;
            let (fixed, _) = transform::batch(&session, &c.f, &mapped, &force, &size.into())?;
            for (f, what) in [(&any_size, "unknown"), (&fixed, "fixed")] {
                let got = reference::run(f, &args);
                let verdict = got
                    .map_err(|e| e.to_string())
                    .and_then(|got| agree(&got, &want, c.tolerance));
                if let Err(e) = verdict {
                    out.push(format!(
                        "operands {chosen:?}, {size} elements ({what} size): {e}"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Operands of each batch element: those of the sample, and perturbations that the operation
/// accepts.
fn elements(c: &SampleCase<'_>, mapped: &[bool]) -> Result<Vec<Vec<Array>>> {
    let mut rng = Rng::new(7);
    let mut out = vec![c.sample.operands.clone()];
    for k in 1..BATCH_SIZES[2] {
        let mut x = c.sample.operands.clone();
        for i in (0..x.len()).filter(|&i| mapped[i]) {
            let old = std::mem::replace(&mut x[i], perturbed(&c.sample.operands[i], k, &mut rng)?);
            if reference::run(&c.f, &x).is_err() {
                x[i] = old;
            }
        }
        out.push(x);
    }
    Ok(out)
}

/// Perturbed elements: floats nearby, integers permuted or incremented, booleans negated.
fn perturbed(x: &Array, k: usize, rng: &mut Rng) -> Result<Array> {
    let mut near = |v: f64| v * rng.between(0.9, 1.1);
    let wide = match x.wide() {
        Wide::F(v) => Wide::F(v.into_iter().map(near).collect()),
        Wide::C(v) => Wide::C(
            v.into_iter()
                .map(|z| C128::new(near(z.re), near(z.im)))
                .collect(),
        ),
        Wide::I(v) if x.dtype() == crate::DType::Bool => Wide::I(
            v.into_iter()
                .map(|b| if rng.chance(0.5) { 1 - b } else { b })
                .collect(),
        ),
        Wide::I(v) if v.len() > 1 => Wide::I((0..v.len()).map(|i| v[(i + k) % v.len()]).collect()),
        Wide::I(v) => Wide::I(v.into_iter().map(|i| i + k as i128).collect()),
    };
    wide.narrow(x.dtype(), x.shape())
}

/// Stacks arrays of one type along a new leading axis. `like` gives the type if `x` is empty.
pub fn stack(like: &Array, x: &[&Array]) -> Result<Array> {
    let shape: Vec<usize> = std::iter::once(x.len())
        .chain(like.shape().iter().copied())
        .collect();
    if let Some(odd) = x.iter().find(|a| a.ty() != like.ty()) {
        bail!(
            RankVaries,
            "elements of a batch have the types {} and {}",
            like.ty(),
            odd.ty()
        );
    }
    let data: Data = for_dtype!(like.dtype(), T => {
        let all: Vec<T> = x.iter().flat_map(|a| a.as_slice::<T>().expect("one element type").iter().copied()).collect();
        <T as crate::Element>::wrap(all)
    });
    Array::from_data(shape, data)
}

fn batched_args(
    c: &SampleCase<'_>,
    mapped: &[bool],
    elements: &[Vec<Array>],
) -> Result<Vec<Array>> {
    (0..mapped.len())
        .map(|i| match mapped[i] {
            true => stack(
                &c.sample.operands[i],
                &elements.iter().map(|x| &x[i]).collect::<Vec<_>>(),
            ),
            false => Ok(c.sample.operands[i].clone()),
        })
        .collect()
}

/// `d(batch f) = batch(df)`, forward and in reverse.
fn derivative_of_batch(c: &SampleCase<'_>, out: &mut Vec<String>) -> Result<()> {
    let n = c.sample.operands.len();
    let session = c.ad.session();
    let wrt = differentiable(&c.f);
    let mut choices: Vec<Vec<bool>> = vec![vec![true; n]];
    if n > 1 {
        choices.extend(
            wrt.iter()
                .map(|w| c.f.params().iter().map(|p| p == w).collect()),
        );
    }
    let size = Dim::sym("batch");
    for mapped in choices.into_iter().filter(|_| !wrt.is_empty()) {
        let force = vec![true; c.f.results().len()];
        let (fb, _) = transform::batch(&session, &c.f, &mapped, &force, &size)?;
        let on: Vec<usize> = (0..n)
            .filter(|&i| mapped[i] && wrt.contains(&c.f.params()[i]))
            .collect();
        let pick = |f: &Function| -> Vec<Val> { on.iter().map(|&i| f.params()[i]).collect() };
        let args = batched_args(c, &mapped, &elements(c, &mapped)?)?;
        for (derive, mode) in [(transform::jvp as Derive, "jvp"), (transform::vjp, "vjp")] {
            let one = derive(c.ad, &c.f, &pick(&c.f))?;
            let all: Vec<bool> = (0..one.params().len())
                .map(|i| mapped.get(i).copied().unwrap_or(true))
                .collect();
            let (batched, _) = transform::batch(
                &session,
                &one,
                &all,
                &vec![true; one.results().len()],
                &size,
            )?;
            let derived = derive(c.ad, &fb, &pick(&fb))?;
            let mut rng = Rng::new(11);
            let env = [("batch".into(), BATCH_SIZES[2])].into_iter().collect();
            let more: Vec<Array> = derived.param_types()[n..]
                .iter()
                .map(|t| rng.array(t, &env))
                .collect::<Result<_>>()?;
            let args = [&args[..], &more].concat();
            let (got, want) = (
                reference::run(&derived, &args)?,
                reference::run(&batched, &args)?,
            );
            if let Err(e) = agree(&got, &want, c.tolerance) {
                let mut text = format!("{mode} of the batch against the batch of the {mode}");
                let _ = write!(text, ", batched {mapped:?}: {e}");
                out.push(text);
            }
        }
    }
    Ok(())
}

type Derive = fn(&AdContext, &Function, transform::Wrt<'_>) -> Result<Function>;
