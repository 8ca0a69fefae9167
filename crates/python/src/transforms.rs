//! Transforms of Python functions: gradients, jvp, vjp, Jacobians, Hessians, batches.

use crate::array::Array;
use crate::closure::{Function, applied, finish, nodes, result, throw};
use crate::error::{OrRaise, raise, stop};
use crate::operand;
use crate::tree::{Tree, flatten};
use cotangent::check::{Law, Options};
use cotangent::closures::{self, DerivativeMap};
use cotangent::{Error, TracedTensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

type Results<'py> = Bound<'py, PyAny>;

/// Arguments that a derivative is taken by, and the others.
struct Split<'py> {
    args: Bound<'py, PyTuple>,
    /// Positions of the former.
    at: Vec<usize>,
}

impl<'py> Split<'py> {
    fn new(args: &Bound<'py, PyTuple>, argnums: &[isize]) -> PyResult<Split<'py>> {
        let n = args.len();
        let position = |&k: &isize| {
            let at = if k < 0 { k + n as isize } else { k };
            match usize::try_from(at).ok().filter(|&at| at < n) {
                Some(at) => Ok(at),
                None => Err(PyTypeError::new_err(format!(
                    "argnums is {k}, but the function is called with {n} positional arguments"
                ))),
            }
        };
        crate::device::check_arguments(args)?;
        Ok(Split {
            args: args.clone(),
            at: argnums.iter().map(position).collect::<PyResult<_>>()?,
        })
    }

    /// The former arguments as a tuple.
    fn chosen(&self) -> PyResult<Bound<'py, PyTuple>> {
        let chosen = self.at.iter().map(|&k| self.args.get_item(k));
        PyTuple::new(self.args.py(), chosen.collect::<PyResult<Vec<_>>>()?)
    }

    /// The function of these arguments.
    fn of(&self, f: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let all: Vec<usize> = (0..self.args.len()).collect();
        if self.at == all {
            return Ok(f.clone());
        }
        let py = f.py();
        let partial = Partial {
            f: f.clone().unbind(),
            args: self.args.clone().unbind(),
            at: self.at.clone(),
        };
        Ok(Bound::new(py, partial)?.into_any())
    }
}

/// A function of some of its arguments.
#[pyclass(frozen)]
struct Partial {
    f: Py<PyAny>,
    args: Py<PyTuple>,
    at: Vec<usize>,
}

#[pymethods]
impl Partial {
    #[pyo3(signature = (*x))]
    fn __call__<'py>(&self, x: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        let mut all: Vec<Bound<'py, PyAny>> = self.args.bind(py).iter().collect();
        for (value, &k) in x.iter().zip(&self.at) {
            all[k] = value;
        }
        self.f.bind(py).call1(PyTuple::new(py, all)?)
    }
}

/// The only leaf of a result, which has a gradient.
fn scalar(f: &Function, mut y: Vec<TracedTensor>) -> Result<TracedTensor, Error> {
    match (f.out(), y.len()) {
        (Tree::Leaf, 1) => loss(y.remove(0)),
        (tree, _) => Err(throw(Python::attach(|py| {
            raise(
                "NonScalarOutput",
                format!(
                    "a gradient needs a function that returns one scalar, this one returns {}; has_aux=True is for \
                     further results",
                    tree.show(py)
                ),
            )
        }))),
    }
}

/// A value that has a gradient.
fn loss(y: TracedTensor) -> Result<TracedTensor, Error> {
    let ty = y.ty()?;
    match crate::tape::no_loss("a gradient", ty.dtype, ty.rank()) {
        Some((code, why)) => Err(throw(raise(code, why))),
        None => Ok(y),
    }
}

/// An error for arguments of integers and booleans, by which there is no derivative.
fn check_differentiable(at: &[usize], tree: &Tree, x: &[TracedTensor]) -> PyResult<()> {
    let Tree::Tuple(args) = tree else {
        return Ok(());
    };
    let args = at.iter().zip(&**args);
    let of_leaves = args.flat_map(|(k, t)| std::iter::repeat_n(k, t.len()));
    for (k, t) in of_leaves.zip(x) {
        if let Ok(ty) = t.ty()
            && !ty.dtype.has_tangent()
        {
            let name = crate::dtype::name(ty.dtype);
            return Err(raise(
                "IntegerInput",
                format!(
                    "there is no derivative by argument {k}, in which numbers are {name}: convert them to floats (2.0 \
                     instead of 2, x.astype('float64')), or choose other arguments with argnums"
                ),
            ));
        }
    }
    Ok(())
}

/// The value of `f` at `args`, its further results (`has_aux`), and its gradients by some
/// arguments.
#[pyfunction]
pub(crate) fn value_and_grad<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    argnums: Vec<isize>,
    has_aux: bool,
    value: bool,
    args: &Bound<'py, PyTuple>,
) -> PyResult<(Results<'py>, Results<'py>, Results<'py>)> {
    let split = Split::new(args, &argnums)?;
    let chosen = split.chosen()?;
    let (call, x) = applied(&split.of(f)?, chosen.as_any())?;
    let tree = call.args.clone();
    check_differentiable(&split.at, &tree, &x)?;
    let g = closures::value_and_grad_aux(|x: Vec<TracedTensor>| {
        let mut y = call.run(x)?;
        if !has_aux {
            return Ok((scalar(&call, y)?, Vec::new()));
        }
        let first = match call.out() {
            Tree::Tuple(c) if c.len() == 2 && matches!(c[0], Tree::Leaf) => loss(y.remove(0))?,
            tree => {
                return Err(throw(Python::attach(|py| {
                    PyTypeError::new_err(format!(
                        "with has_aux=True a function returns a pair of a scalar and further results, this one returns {}",
                        tree.show(py)
                    ))
                })));
            }
        };
        Ok::<_, Error>((first, y))
    });
    let ((y, aux), g) = g(x).or_raise(py)?;
    let (n, m) = (usize::from(value), aux.len());
    let wanted = value.then_some(y);
    let all: Vec<TracedTensor> = wanted.into_iter().chain(aux).chain(g).collect();
    let mut all = finish(py, all)?.into_iter();
    let y = match n {
        1 => all.next().unwrap_or_else(|| py.None().into_bound(py)),
        _ => py.None().into_bound(py),
    };
    let aux = match (has_aux, call.out()) {
        (true, Tree::Tuple(c)) => c[1].unflatten(py, &mut all.by_ref().take(m))?,
        _ => py.None().into_bound(py),
    };
    Ok((y, aux, tree.unflatten(py, &mut all)?))
}

/// Leaves of tangents or cotangents in the structure and types of values.
fn directions(
    given: &Bound<'_, PyAny>,
    tree: &Tree,
    of: &[TracedTensor],
    code: &str,
) -> PyResult<Vec<TracedTensor>> {
    let py = given.py();
    let mut leaves = Vec::new();
    let found = flatten(given, &mut leaves)?;
    // Lists and tuples of directions may stand for each other at the top.
    let top = |t: &Tree| match t {
        Tree::List(c) => Tree::Tuple(c.clone()),
        t => t.clone(),
    };
    if !top(&found).same(&top(tree), py)? {
        return Err(raise(
            code,
            format!(
                "the directions have the structure {}, the values {}",
                found.show(py),
                tree.show(py)
            ),
        ));
    }
    let one = |(x, t): (&Bound<'_, PyAny>, &TracedTensor)| {
        let number = operand::Number::of(x)?.is_some();
        let a = operand::array(x)?;
        let want = t.dtype().or_raise(py)?;
        let converts = (number || a.get().weak) && want.has_tangent();
        let a = if converts {
            crate::ops::cast(&a, want)?
        } else {
            a
        };
        Array::node(&a)
    };
    leaves.iter().zip(of).map(one).collect()
}

/// The results of `f` at `primals`, and their tangents.
#[pyfunction]
pub(crate) fn jvp<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyAny>,
    tangents: &Bound<'py, PyAny>,
) -> PyResult<(Results<'py>, Results<'py>)> {
    let (call, x) = applied(f, primals)?;
    let tree = call.args.clone();
    let t = directions(tangents, &tree, &x, "TangentMismatch")?;
    let (y, dy) = closures::jvp(|x: Vec<TracedTensor>| call.run(x), x, t).or_raise(py)?;
    let n = y.len();
    let mut all = finish(py, y.into_iter().chain(dy).collect())?.into_iter();
    let y = call.out().unflatten(py, &mut all.by_ref().take(n))?;
    Ok((y, call.out().unflatten(py, &mut all)?))
}

type Map = dyn Fn(Vec<TracedTensor>) -> cotangent::Result<Vec<TracedTensor>> + Send + Sync;

/// A linear map between trees: the pullback of a function.
#[pyclass(frozen, module = "cotangent")]
pub(crate) struct LinearMap {
    map: Box<Map>,
    from: Tree,
    like: Vec<TracedTensor>,
    to: Tree,
    code: &'static str,
}

#[pymethods]
impl LinearMap {
    fn __call__<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Results<'py>> {
        let py = x.py();
        let x = directions(x, &self.from, &self.like, self.code)?;
        let y = finish(py, (self.map)(x).or_raise(py)?)?;
        self.to.unflatten(py, &mut y.into_iter())
    }
}

/// The results of `f`, and the map of their cotangents to those of the arguments (a tuple).
#[pyfunction]
pub(crate) fn vjp<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyTuple>,
) -> PyResult<(Results<'py>, Bound<'py, LinearMap>)> {
    let (call, x) = applied(f, primals.as_any())?;
    let tree = call.args.clone();
    let inner = call.clone();
    let (y, pull) = closures::vjp(move |x: Vec<TracedTensor>| inner.run(x), x).or_raise(py)?;
    let map = LinearMap {
        map: Box::new(pull),
        from: call.out(),
        like: y.clone(),
        to: tree,
        code: "SeedMismatch",
    };
    Ok((result(py, &call, y)?, Bound::new(py, map)?))
}

/// A derivative at a point, as a linear map.
#[pyclass(frozen, module = "cotangent")]
pub(crate) struct Linearized {
    map: DerivativeMap<Vec<TracedTensor>, Vec<TracedTensor>>,
    from: Tree,
    like: Vec<TracedTensor>,
    to: Tree,
}

#[pymethods]
impl Linearized {
    #[pyo3(signature = (*x))]
    fn __call__<'py>(&self, x: &Bound<'py, PyTuple>) -> PyResult<Results<'py>> {
        let py = x.py();
        let x = directions(x.as_any(), &self.from, &self.like, "TangentMismatch")?;
        let y = finish(py, (self.map)(x).or_raise(py)?)?;
        self.to.unflatten(py, &mut y.into_iter())
    }

    /// The cotangents of the arguments, as a tuple, for cotangents of the results.
    fn transpose<'py>(&self, ct: &Bound<'py, PyAny>) -> PyResult<Results<'py>> {
        let py = ct.py();
        let mut leaves = Vec::new();
        flatten(ct, &mut leaves)?;
        let (ct, _) = nodes(&leaves)?;
        let y = finish(py, (self.map.transpose())(ct).or_raise(py)?)?;
        self.from.unflatten(py, &mut y.into_iter())
    }
}

/// The results of `f`, and its derivative as a map of tangents.
#[pyfunction]
pub(crate) fn linearize<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyTuple>,
) -> PyResult<(Results<'py>, Bound<'py, Linearized>)> {
    let (call, x) = applied(f, primals.as_any())?;
    let tree = call.args.clone();
    let inner = call.clone();
    let like = x.clone();
    let f = closures::linearize(move |x: Vec<TracedTensor>| inner.run(x));
    let (y, map) = f(x).or_raise(py)?;
    let map = Linearized {
        map,
        from: tree,
        like,
        to: call.out(),
    };
    Ok((result(py, &call, y)?, Bound::new(py, map)?))
}

/// The Jacobian of a function that returns one array, by some arguments.
#[pyfunction]
pub(crate) fn jacobian<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    argnums: Vec<isize>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Option<Results<'py>>> {
    let split = Split::new(args, &argnums)?;
    let chosen = split.chosen()?;
    let (call, x) = applied(&split.of(f)?, chosen.as_any())?;
    let tree = call.args.clone();
    check_differentiable(&split.at, &tree, &x)?;
    let several = std::cell::Cell::new(false);
    let j = closures::jacobian(|x: Vec<TracedTensor>| {
        let mut y = call.run(x)?;
        match (call.out(), y.len()) {
            (Tree::Leaf, 1) => Ok(y.remove(0)),
            _ => {
                several.set(true);
                Err(stop())
            }
        }
    });
    let y = j(x);
    if several.get() {
        return Ok(None);
    }
    let y = finish(py, y.or_raise(py)?)?;
    Ok(Some(tree.unflatten(py, &mut y.into_iter())?))
}

/// The Hessian of a function that returns a real scalar: a tree of trees.
#[pyfunction]
pub(crate) fn hessian<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    argnums: Vec<isize>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Results<'py>> {
    let split = Split::new(args, &argnums)?;
    let chosen = split.chosen()?;
    let (call, x) = applied(&split.of(f)?, chosen.as_any())?;
    let tree = call.args.clone();
    check_differentiable(&split.at, &tree, &x)?;
    let h = closures::hessian(|x: Vec<TracedTensor>| scalar(&call, call.run(x)?));
    let rows: Vec<Vec<TracedTensor>> = h(x).or_raise(py)?;
    let mut all = finish(py, rows.into_iter().flatten().collect())?.into_iter();
    let rows = (0..tree.len()).map(|_| tree.unflatten(py, &mut all));
    let rows: Vec<_> = rows.collect::<PyResult<_>>()?;
    tree.unflatten(py, &mut rows.into_iter())
}

/// The product of the Hessian of `f` at `primals` with `tangents`.
#[pyfunction]
pub(crate) fn hvp<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    primals: &Bound<'py, PyAny>,
    tangents: &Bound<'py, PyAny>,
) -> PyResult<Results<'py>> {
    let (call, x) = applied(f, primals)?;
    let tree = call.args.clone();
    let n = tree.children().len();
    check_differentiable(&(0..n).collect::<Vec<_>>(), &tree, &x)?;
    let t = directions(tangents, &tree, &x, "TangentMismatch")?;
    let h = closures::hvp(|x: Vec<TracedTensor>| scalar(&call, call.run(x)?));
    let y = finish(py, h(x, t).or_raise(py)?)?;
    tree.unflatten(py, &mut y.into_iter())
}

/// An axis for each leaf, from a tree of axes that is a prefix of the tree.
fn axes(tree: &Tree, given: &Bound<'_, PyAny>, out: &mut Vec<Option<isize>>) -> PyResult<()> {
    if given.is_none() || given.extract::<isize>().is_ok() {
        let axis = match given.is_none() {
            true => None,
            false => Some(given.extract()?),
        };
        out.extend(std::iter::repeat_n(axis, tree.len()));
        return Ok(());
    }
    let differs = || {
        PyValueError::new_err(format!(
            "the axes {given} are no prefix of the tree {}",
            tree.show(given.py())
        ))
    };
    if let Some(children) = tree.keyed() {
        if children.len() != given.len()? {
            return Err(differs());
        }
        let mut children = children.into_iter();
        return children.try_for_each(|(k, t)| axes(t, &given.get_item(k)?, out));
    }
    let children: Vec<Bound<'_, PyAny>> = given.try_iter()?.collect::<PyResult<_>>()?;
    match tree {
        Tree::Tuple(c) | Tree::List(c) if c.len() == children.len() => c
            .iter()
            .zip(&children)
            .try_for_each(|(t, g)| axes(t, g, out)),
        _ => Err(differs()),
    }
}

fn normalized(axis: Option<isize>, rank: usize) -> PyResult<Option<usize>> {
    let Some(a) = axis else { return Ok(None) };
    let at = if a < 0 { a + rank as isize } else { a };
    match usize::try_from(at) {
        Ok(at) if at < rank => Ok(Some(at)),
        _ => Err(raise(
            "Attribute",
            format!("vmap over axis {a} of an array of rank {rank}"),
        )),
    }
}

/// `f` of each element of a batch. `in_axes` and `out_axes` are trees of axes, or of `None`.
#[pyfunction]
pub(crate) fn vmap<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    in_axes: &Bound<'py, PyAny>,
    out_axes: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Results<'py>> {
    let mut leaves = Vec::new();
    let tree = flatten(args.as_any(), &mut leaves)?;
    let (x, weak) = nodes(&leaves)?;
    let mut given = Vec::new();
    axes(&tree, in_axes, &mut given)?;
    let mut batch = Vec::new();
    for (axis, t) in given.into_iter().zip(&x) {
        batch.push(normalized(axis, t.rank().or_raise(py)?)?);
    }
    // A Python number that is a batch of numbers has no axis, so a weak leaf stays weak.
    let call = Function::new(f, tree, weak);
    let plain = out_axes.extract::<isize>().is_ok_and(|a| a == 0);
    let y = match plain {
        true => closures::vmap_axes(|x: Vec<TracedTensor>| call.run(x), &batch)(x),
        false => {
            let to = out_positions(&call, &x, &batch, out_axes)?;
            closures::vmap_axes_to(|x: Vec<TracedTensor>| call.run(x), &batch, &to)(x)
        }
    };
    result(py, &call, y.or_raise(py)?)
}

/// The batch axis of each result, from a tree of axes: the function is traced once to know its
/// results.
fn out_positions(
    call: &Arc<Function>,
    x: &[TracedTensor],
    batch: &[Option<usize>],
    out_axes: &Bound<'_, PyAny>,
) -> PyResult<Vec<Option<usize>>> {
    let py = out_axes.py();
    let y = closures::vmap_axes(|x: Vec<TracedTensor>| call.run(x), batch)(x.to_vec());
    let y = y.or_raise(py)?;
    let mut given = Vec::new();
    axes(&call.out(), out_axes, &mut given)?;
    let mut to = Vec::new();
    for (axis, t) in given.into_iter().zip(&y) {
        to.push(normalized(axis, t.rank().or_raise(py)?)?);
    }
    Ok(to)
}

/// The derivatives of `f` at `args` up to an order against finite differences, and forward against
/// reverse mode: a report of the laws of these modes.
#[pyfunction]
pub(crate) fn check_grads<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    order: usize,
    forward: bool,
    reverse: bool,
) -> PyResult<String> {
    let (call, x) = applied(f, args.as_any())?;
    let options = Options {
        second_order: order > 1,
        third_order: order > 2,
        ..Options::default()
    };
    let run = |x: Vec<TracedTensor>| call.run(x);
    let mut report = closures::check_with(run, x, options).or_raise(py)?;
    report.rows.retain(|row| match row.law {
        Law::Difference | Law::Linear => forward,
        _ => reverse,
    });
    match report.passed() {
        true => Ok(report.to_string()),
        false => Err(raise("CheckFailed", report.to_string())),
    }
}
