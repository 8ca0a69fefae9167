//! Python functions as closures over values of programs.
//!
//! An exception of the user's function passes through the library as a foreign error that holds it.

use crate::array::Array;
use crate::device::Nearby;
use crate::error::{OrRaise, guarded};
use crate::operand;
use crate::run::hook;
use crate::scope::{self, Open};
use crate::tree::{Tree, flatten};
use cotangent::cpu::with_interrupt;
use cotangent::{DType, Error, TracedTensor, closures};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Arc, Mutex, PoisonError};

/// The error that holds an exception.
pub(crate) fn throw(e: PyErr) -> Error {
    Error::foreign(Box::new(e))
}

/// The leaves of a function's result, whose scope ends with this value.
pub(crate) struct Called<'py> {
    pub arrays: Vec<Bound<'py, Array>>,
    _open: Open,
}

/// A Python function over a tree of arguments, called with values of a program.
pub(crate) struct Function {
    f: Py<PyAny>,
    /// The structure of the tuple of its arguments.
    pub args: Tree,
    /// Whether each leaf is a Python number.
    weak: Vec<bool>,
    /// The structure of its last result.
    out: Mutex<Option<Tree>>,
    /// Element types of its last result, and whether they are those of Python numbers.
    types: Mutex<Vec<(DType, bool)>>,
}

impl Function {
    pub(crate) fn new(f: &Bound<'_, PyAny>, args: Tree, weak: Vec<bool>) -> Arc<Function> {
        Arc::new(Function {
            f: f.clone().unbind(),
            args,
            weak,
            out: Mutex::new(None),
            types: Mutex::default(),
        })
    }

    /// The structure of its result.
    pub(crate) fn out(&self) -> Tree {
        self.returned().unwrap_or(Tree::None)
    }

    /// The structure of its result, if it returned.
    pub(crate) fn returned(&self) -> Option<Tree> {
        let out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.clone()
    }

    /// Element types of its last result, and whether they are those of Python numbers.
    pub(crate) fn types(&self) -> Vec<(DType, bool)> {
        let types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        types.clone()
    }

    /// Calls the function on these leaves: the leaves of its result.
    pub(crate) fn call<'py>(&self, py: Python<'py>, x: Vec<TracedTensor>) -> PyResult<Called<'py>> {
        let open = Open::new(false)?;
        let args: Vec<Bound<'py, PyAny>> = x
            .into_iter()
            .zip(self.weak.iter().chain(std::iter::repeat(&false)))
            .map(|(t, &weak)| {
                let a = Array::of_node(t, Some(open.scope().clone())).weak(weak);
                Ok(Bound::new(py, a)?.into_any())
            })
            .collect::<PyResult<_>>()?;
        let args = self.args.unflatten(py, &mut args.into_iter())?;
        let y = self.f.bind(py).call1(args.cast_into::<PyTuple>()?)?;
        let mut leaves = Vec::new();
        let out = flatten(&y, &mut leaves)?;
        *self.out.lock().unwrap_or_else(PoisonError::into_inner) = Some(out);
        let y: Vec<Bound<'py, Array>> =
            leaves.iter().map(operand::array).collect::<PyResult<_>>()?;
        y.iter().try_for_each(|a| a.get().check())?;
        let of = |(a, x): (&Bound<'_, Array>, &Bound<'_, PyAny>)| {
            let number = operand::Number::of(x).is_ok_and(|n| n.is_some());
            (a.get().dtype(), number || a.get().weak)
        };
        let types = y.iter().zip(&leaves).map(of).collect();
        *self.types.lock().unwrap_or_else(PoisonError::into_inner) = types;
        Ok(Called {
            arrays: y,
            _open: open,
        })
    }

    /// As [`call`](Self::call), as a closure of the library.
    pub(crate) fn run(&self, x: Vec<TracedTensor>) -> Result<Vec<TracedTensor>, Error> {
        Python::attach(|py| {
            let y = self.call(py, x).map_err(throw)?;
            y.arrays
                .iter()
                .map(|a| Array::node(a).map_err(throw))
                .collect::<Result<_, _>>()
        })
    }
}

/// Leaves as values of programs, and whether each is a Python number. They are on one device.
pub(crate) fn nodes(leaves: &[Bound<'_, PyAny>]) -> PyResult<(Vec<TracedTensor>, Vec<bool>)> {
    let (mut all, mut weak) = (Vec::new(), Vec::new());
    let mut near = Nearby::default();
    for x in leaves {
        let number = operand::Number::of(x)?.is_some();
        let a = operand::array(x)?;
        if !a.get().is_traced() {
            near.add(a.get().placement(), a.get().rank() == 0)?;
        }
        all.push(Array::node(&a)?);
        weak.push(number || a.get().weak);
    }
    Ok((all, weak))
}

/// A function with its arguments as values of programs.
pub(crate) fn applied(
    f: &Bound<'_, PyAny>,
    args: &Bound<'_, PyAny>,
) -> PyResult<(Arc<Function>, Vec<TracedTensor>)> {
    let mut leaves = Vec::new();
    let tree = flatten(args, &mut leaves)?;
    let (x, weak) = nodes(&leaves)?;
    Ok((Function::new(f, tree, weak), x))
}

/// Results of a transform: computed if they are known, otherwise values of the enclosing trace.
pub(crate) fn finish<'py>(
    py: Python<'py>,
    y: Vec<TracedTensor>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let is_known = |t: &TracedTensor| t.is_known() && !scope::is_lazy();
    let known: Vec<TracedTensor> = y.iter().filter(|t| is_known(t)).cloned().collect();
    let computed = match known.is_empty() {
        true => Ok(known),
        false => py.detach(|| guarded(|| with_interrupt(hook(), || closures::evaluate(known))))?,
    };
    let mut computed = computed.or_raise(py)?.into_iter();
    y.into_iter()
        .map(|t| {
            let known = is_known(&t);
            let a = match known.then(|| computed.next()).flatten() {
                Some(t) => Array::known(t.to_tensor().or_raise(py)?)?,
                None => {
                    t.ty().or_raise(py)?;
                    Array::of_node(t, scope::current())
                }
            };
            Ok(Bound::new(py, a)?.into_any())
        })
        .collect()
}

/// The result of a transform of a function, in the structure of the function's result.
pub(crate) fn result<'py>(
    py: Python<'py>,
    f: &Function,
    y: Vec<TracedTensor>,
) -> PyResult<Bound<'py, PyAny>> {
    let y = finish(py, y)?;
    f.out().unflatten(py, &mut y.into_iter())
}
