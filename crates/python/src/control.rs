//! Control flow of Python functions: branches, loops, checkpoints.

use crate::array::Array;
use crate::closure::{Function, applied, finish, nodes, result, throw};
use crate::dtype;
use crate::error::{OrRaise, raise, stop};
use crate::operand;
use crate::tree::{Tree, flatten};
use cotangent::closures::{self, Checkpoint, LoopBound, checkpointing};
use cotangent::{DType, Error, TracedTensor};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use std::cell::RefCell;
use std::sync::Arc;

type Results<'py> = Bound<'py, PyAny>;

/// A boolean scalar.
fn predicate(p: &Bound<'_, PyAny>) -> PyResult<TracedTensor> {
    let p = operand::array(p)?;
    if p.get().rank() != 0 {
        return Err(raise(
            "ShapeMismatch",
            format!(
                "a condition is one boolean, not {}: reduce it with any or all, or choose elementwise with where",
                p.get().ty()
            ),
        ));
    }
    Array::node(&crate::ops::cast(&p, DType::Bool)?)
}

/// An error unless both functions returned one structure.
fn same_structure(py: Python<'_>, code: &str, what: &str, a: &Tree, b: &Tree) -> PyResult<()> {
    match a.same(b, py)? {
        true => Ok(()),
        false => Err(raise(
            code,
            format!(
                "{what} have different structures: {} and {}",
                a.show(py),
                b.show(py)
            ),
        )),
    }
}

#[pyfunction]
#[pyo3(signature = (pred, true_fn, false_fn, *operands))]
pub(crate) fn cond<'py>(
    py: Python<'py>,
    pred: &Bound<'py, PyAny>,
    true_fn: &Bound<'py, PyAny>,
    false_fn: &Bound<'py, PyAny>,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Results<'py>> {
    switch_on(
        py,
        Choice::Pred(predicate(pred)?),
        vec![true_fn.clone(), false_fn.clone()],
        operands,
    )
}

#[pyfunction]
#[pyo3(signature = (index, branches, *operands))]
pub(crate) fn switch<'py>(
    py: Python<'py>,
    index: &Bound<'py, PyAny>,
    branches: Vec<Bound<'py, PyAny>>,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Results<'py>> {
    let index = crate::ops::cast(&operand::array(index)?, DType::I64)?;
    switch_on(py, Choice::Index(Array::node(&index)?), branches, operands)
}

enum Choice {
    Pred(TracedTensor),
    Index(TracedTensor),
}

fn switch_on<'py>(
    py: Python<'py>,
    choice: Choice,
    branches: Vec<Bound<'py, PyAny>>,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Results<'py>> {
    let mut leaves = Vec::new();
    let tree = flatten(operands.as_any(), &mut leaves)?;
    let (x, weak) = nodes(&leaves)?;
    let calls: Vec<Arc<Function>> = branches
        .iter()
        .map(|f| Function::new(f, tree.clone(), weak.clone()))
        .collect();
    // Results of weak operands alone take the types of the first branch that decides.
    let wanted: RefCell<Option<Vec<DType>>> = RefCell::new(None);
    for _ in 0..2 {
        let bodies: Vec<_> = calls
            .iter()
            .map(|call| {
                let wanted = &wanted;
                move |x: Vec<TracedTensor>| typed(call, x, wanted.borrow().as_deref())
            })
            .collect();
        let y = match &choice {
            Choice::Pred(p) => closures::cond(p, x.clone(), &bodies[0], &bodies[1]),
            Choice::Index(i) => closures::switch(i, x.clone(), &bodies),
        };
        for call in &calls[1..] {
            if let (Some(a), Some(b)) = (calls[0].returned(), call.returned()) {
                same_structure(py, "BranchMismatch", "the results of branches", &a, &b)?;
            }
        }
        let first = wanted.borrow().is_none();
        match y {
            Err(e) if first && e.code() == cotangent::Code::BranchMismatch => {
                let Some(types) = agreed(&calls)? else {
                    return Err(crate::error::python(py, e));
                };
                *wanted.borrow_mut() = Some(types);
            }
            y => return result(py, &calls[0], y.or_raise(py)?),
        }
    }
    Err(raise("Invalid", "branches of changing types"))
}

/// The results of a call, converted to these types where they are weak.
fn typed(
    call: &Function,
    x: Vec<TracedTensor>,
    wanted: Option<&[DType]>,
) -> Result<Vec<TracedTensor>, Error> {
    Python::attach(|py| {
        let y = call.call(py, x).map_err(throw)?;
        let types = call.types();
        let one = |(k, a): (usize, &Bound<'_, Array>)| {
            let want = wanted.and_then(|w| w.get(k)).copied();
            let a = match want {
                Some(d) if types[k].1 => crate::ops::cast(a, d)?,
                _ => a.clone(),
            };
            Array::node(&a)
        };
        y.arrays
            .iter()
            .enumerate()
            .map(|y| one(y).map_err(throw))
            .collect()
    })
}

/// The element types of results of several calls, where weak results take the types of others.
fn agreed(calls: &[Arc<Function>]) -> PyResult<Option<Vec<DType>>> {
    let all: Vec<Vec<(DType, bool)>> = calls.iter().map(|c| c.types()).collect();
    let n = all[0].len();
    if all.iter().any(|t| t.len() != n) || !all.iter().flatten().any(|t| t.1) {
        return Ok(None);
    }
    let of = |k: usize| {
        let strong: Vec<DType> = all
            .iter()
            .map(|t| t[k])
            .filter(|t| !t.1)
            .map(|t| t.0)
            .collect();
        let weak: Vec<u8> = all
            .iter()
            .map(|t| t[k])
            .filter(|t| t.1)
            .map(|t| dtype::level(t.0))
            .collect();
        dtype::common(&strong, &weak).map(|c| c.0)
    };
    (0..n).map(of).collect::<PyResult<_>>().map(Some)
}

/// The initial values of a loop: weak ones take the types that the body returns.
struct Carry {
    tree: Tree,
    x: Vec<TracedTensor>,
    weak: Vec<bool>,
}

impl Carry {
    fn new(init: &Bound<'_, PyAny>) -> PyResult<Carry> {
        let mut leaves = Vec::new();
        let tree = flatten(init, &mut leaves)?;
        let (x, weak) = nodes(&leaves)?;
        Ok(Carry { tree, x, weak })
    }

    /// The initial values with the types of these results, where they are weak; `None` if none
    /// changes.
    fn converted(&self, y: &[TracedTensor]) -> cotangent::Result<Option<Vec<TracedTensor>>> {
        let (mut x, mut changed) = (self.x.clone(), false);
        for (k, (x, y)) in x.iter_mut().zip(y).enumerate() {
            let d = y.dtype()?;
            if self.weak[k] && x.dtype()? != d {
                changed = true;
                *x = x.astype(d);
            }
        }
        Ok(changed.then_some(x))
    }
}

/// Checks the values that a body returns for a carry.
type Check<'a> = dyn Fn(&[TracedTensor]) -> Result<(), Error> + 'a;

/// Runs a loop with initial values, of which some are Python numbers: again where those took other
/// types in the body.
fn looped<T>(
    py: Python<'_>,
    carry: &Carry,
    run: impl Fn(Vec<TracedTensor>, &[bool], &Check<'_>) -> cotangent::Result<T>,
) -> PyResult<T> {
    let better: RefCell<Option<Vec<TracedTensor>>> = RefCell::new(None);
    let check = |y: &[TracedTensor]| match carry.converted(y)? {
        Some(x) => {
            *better.borrow_mut() = Some(x);
            Err(stop())
        }
        None => Ok(()),
    };
    let y = run(carry.x.clone(), &carry.weak, &check);
    let again = better.borrow_mut().take();
    match again {
        Some(x) => run(x, &[], &|_| Ok(())).or_raise(py),
        None => y.or_raise(py),
    }
}

/// An error unless a body returned the structure of its carry.
fn check_carry(got: &Tree, want: &Tree) -> Result<(), Error> {
    Python::attach(|py| {
        let what = "the carry of a loop and the result of its body";
        same_structure(py, "CarryMismatch", what, want, got).map_err(throw)
    })
}

#[pyfunction]
pub(crate) fn scan<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
    xs: &Bound<'py, PyAny>,
    reverse: bool,
) -> PyResult<(Results<'py>, Results<'py>)> {
    let carry = Carry::new(init)?;
    let mut leaves = Vec::new();
    let of_xs = flatten(xs, &mut leaves)?;
    let (xs, _) = nodes(&leaves)?;
    let tree = Tree::Tuple(vec![carry.tree.clone(), of_xs].into());
    let n = carry.x.len();
    let (call, (c, y)) = looped(py, &carry, |init, weak, check| {
        let call = Function::new(f, tree.clone(), weak.to_vec());
        let body = |c: Vec<TracedTensor>, x: Vec<TracedTensor>| {
            let mut y = call.run([c, x].concat())?;
            match call.out() {
                Tree::Tuple(parts) if parts.len() == 2 => check_carry(&parts[0], &carry.tree)?,
                out => {
                    return Err(throw(Python::attach(|py| {
                        raise(
                            "CarryMismatch",
                            format!(
                                "the body of scan returns a pair of a carry and an output, this one returns {}",
                                out.show(py)
                            ),
                        )
                    })));
                }
            }
            let outs = y.split_off(n);
            check(&y)?;
            Ok((y, outs))
        };
        let y = match reverse {
            false => loops().scan(body, init, xs.clone()),
            true => loops().scan_reverse(body, init, xs.clone()),
        };
        Ok((call, y?))
    })?;
    let mut all = finish(py, [c, y].concat())?.into_iter();
    let c = carry.tree.unflatten(py, &mut all.by_ref().take(n))?;
    match call.out() {
        Tree::Tuple(parts) => Ok((c, parts[1].unflatten(py, &mut all)?)),
        _ => Err(raise("Invalid", "a scan without results")),
    }
}

#[pyfunction]
pub(crate) fn while_loop<'py>(
    py: Python<'py>,
    cond_fun: &Bound<'py, PyAny>,
    body_fun: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
) -> PyResult<Results<'py>> {
    let carry = Carry::new(init)?;
    let args = Tree::Tuple(vec![carry.tree.clone()].into());
    let (body, y) = looped(py, &carry, |init, weak, check| {
        let test = Function::new(cond_fun, args.clone(), weak.to_vec());
        let body = Function::new(body_fun, args.clone(), weak.to_vec());
        let y = loops().while_loop(
            |c: Vec<TracedTensor>| {
                let y = test.run(c)?;
                match y.as_slice() {
                    [p] => Ok(p.astype(DType::Bool)),
                    _ => Err(throw(raise(
                        "CarryMismatch",
                        "the condition of while_loop returns one boolean",
                    ))),
                }
            },
            |c: Vec<TracedTensor>| {
                let y = body.run(c)?;
                check_carry(&body.out(), &carry.tree)?;
                check(&y)?;
                Ok(y)
            },
            init,
        )?;
        Ok((body, y))
    })?;
    result(py, &body, y)
}

/// A bound of a counted loop: a number, or a value of the program.
fn bound(x: &Bound<'_, PyAny>) -> PyResult<LoopBound> {
    if x.is_instance_of::<PyInt>() {
        return Ok(LoopBound::Const(x.extract()?));
    }
    let x = crate::ops::cast(&operand::array(x)?, DType::I64)?;
    Ok(LoopBound::Tensor(Array::node(&x)?))
}

#[pyfunction]
pub(crate) fn fori_loop<'py>(
    py: Python<'py>,
    lower: &Bound<'py, PyAny>,
    upper: &Bound<'py, PyAny>,
    body_fun: &Bound<'py, PyAny>,
    init: &Bound<'py, PyAny>,
) -> PyResult<Results<'py>> {
    let carry = Carry::new(init)?;
    let args = Tree::Tuple(vec![Tree::Leaf, carry.tree.clone()].into());
    let (lower, upper) = (bound(lower)?, bound(upper)?);
    let (body, y) = looped(py, &carry, |init, weak, check| {
        let body = Function::new(body_fun, args.clone(), [&[true], weak].concat());
        let step = |i: TracedTensor, c: Vec<TracedTensor>| {
            let y = body.run([vec![i], c].concat())?;
            check_carry(&body.out(), &carry.tree)?;
            check(&y)?;
            Ok(y)
        };
        let y = loops().fori_loop(lower.clone(), upper.clone(), step, init)?;
        Ok((body, y))
    })?;
    result(py, &body, y)
}

/// `f` applied as one operation, whose derivatives compute its intermediate values again.
#[pyfunction]
pub(crate) fn checkpoint<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Results<'py>> {
    let (call, x) = applied(f, args.as_any())?;
    let y = closures::checkpoint(|x: Vec<TracedTensor>| call.run(x))(x);
    result(py, &call, y.or_raise(py)?)
}

thread_local! {
    /// The policies of the blocks that this thread is in, for the loops that it traces.
    static SAVED: RefCell<Vec<Checkpoint>> = const { RefCell::new(Vec::new()) };
}

/// Loops with the policy of the innermost block.
fn loops() -> closures::Loops {
    checkpointing(SAVED.with_borrow(|s| s.last().copied().unwrap_or_default()))
}

/// A block whose loops save by a policy: the carries of every k-th step, for an integer k; of about
/// the square root of the steps, for "sqrt"; of about s steps, for ("snapshots", s).
#[pyclass(module = "cotangent", frozen)]
pub(crate) struct Saving(Checkpoint);

#[pymethods]
impl Saving {
    #[new]
    fn new(policy: &Bound<'_, PyAny>) -> PyResult<Saving> {
        let policy = match (
            policy.extract::<usize>(),
            policy.extract::<(String, usize)>(),
        ) {
            (Ok(k), _) if k > 0 => Checkpoint::Every(k),
            (_, Ok((word, s))) if word == "snapshots" && s > 0 => Checkpoint::Snapshots(s),
            _ if policy.extract::<&str>().is_ok_and(|w| w == "sqrt") => Checkpoint::Sqrt,
            _ => {
                return Err(raise(
                    "Attribute",
                    format!(
                        "a policy is None, a positive integer, 'sqrt' or ('snapshots', steps), not {}",
                        policy.repr()?
                    ),
                ));
            }
        };
        Ok(Saving(policy))
    }

    fn __enter__(&self) {
        SAVED.with_borrow_mut(|s| s.push(self.0));
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        SAVED.with_borrow_mut(|s| s.pop());
    }
}
