//! [`PyProgram`]: functions that were read from a text, traced or derived.

use crate::array::Array;
use crate::error::{OrRaise, raise};
use crate::operand;
use crate::run::{self, Arg, Args, Compiled};
use crate::tree::{Leaves, Tree, flatten};
use cotangent::extend::{Env, View};
use cotangent::text::print_function;
use cotangent::transform as core;
use cotangent::{AdContext, Builder, Emit, Function, Program, Tensor, Val};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::path::PathBuf;
use std::sync::Arc;

/// A program: a function, and the others of its text. Call it with arrays, by position or by the
/// names of arguments.
///
/// >>> p = ct.trace(lambda x: ct.sum(x * x), ct.ones(2))
/// >>> p.inputs
/// [('0', 'f64[2]')]
/// >>> p.grad()(ct.asarray([1.0, 3.0]))
/// array([2., 6.], dtype=float64)
#[pyclass(name = "Program", module = "cotangent", frozen, weakref)]
pub(crate) struct PyProgram {
    /// The text that it was read from.
    source: Option<Program>,
    compiled: Compiled,
    /// The last parameters, which are no arguments.
    constants: Vec<Tensor>,
    /// The structure of the tuple of arguments and of the result of a traced function.
    trees: Option<(Tree, Tree)>,
}

impl PyProgram {
    fn of(source: Option<Program>, function: Arc<Function>) -> PyProgram {
        PyProgram {
            source,
            compiled: Compiled::new(function, Vec::new(), None),
            constants: Vec::new(),
            trees: None,
        }
    }

    pub(crate) fn traced(
        function: Arc<Function>,
        constants: Vec<Tensor>,
        args: Tree,
        out: Tree,
    ) -> PyProgram {
        PyProgram {
            constants,
            trees: Some((args, out)),
            ..PyProgram::of(None, function)
        }
    }

    pub(crate) fn function(&self) -> &Arc<Function> {
        &self.compiled.function
    }

    /// Parameters that are arguments.
    fn params(&self) -> &[Val] {
        let all = self.function().params();
        &all[..all.len() - self.constants.len()]
    }

    fn name(&self, v: Val) -> String {
        let f = self.function();
        f.name_of(v).map_or_else(
            || f.show(v).trim_start_matches('%').to_owned(),
            |n| n.to_string(),
        )
    }

    /// The parameters that a derivative is taken by: names or positions; by default all
    /// floating-point ones.
    fn wrt(&self, wrt: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Val>> {
        let params = self.params();
        let Some(wrt) = wrt else {
            let moves = |v: &Val| self.function().ty(*v).dtype.has_tangent();
            return Ok(params.iter().copied().filter(moves).collect());
        };
        let one = |x: &Bound<'_, PyAny>| -> PyResult<Val> {
            if let Ok(k) = x.extract::<usize>() {
                return params.get(k).copied().ok_or_else(|| {
                    raise(
                        "Arity",
                        format!("there is no argument {k}: there are {}", params.len()),
                    )
                });
            }
            let name: String = x.extract()?;
            let name = name.trim_start_matches('%');
            let found = params.iter().copied().find(|&v| self.name(v) == name);
            found.ok_or_else(|| {
                let all: Vec<String> = params.iter().map(|&v| self.name(v)).collect();
                raise(
                    "UnknownName",
                    format!(
                        "there is no argument {name}: the arguments are {}",
                        all.join(", ")
                    ),
                )
            })
        };
        match wrt.is_instance_of::<pyo3::types::PyString>() || wrt.extract::<usize>().is_ok() {
            true => Ok(vec![one(wrt)?]),
            false => wrt.try_iter()?.map(|x| one(&x?)).collect(),
        }
    }

    /// The function of the arguments alone: arrays that it captured are constants.
    fn closed(&self, py: Python<'_>) -> PyResult<Arc<Function>> {
        let f = self.function();
        if self.constants.is_empty() {
            return Ok(f.clone());
        }
        let b = Builder::new(&f.name, Default::default());
        let n = self.params().len();
        let mut x: Vec<Val> = Vec::new();
        for (k, ty) in f.param_types().into_iter().enumerate() {
            x.push(match k.checked_sub(n) {
                None => b.param(ty, f.name_of(f.params()[k]).map(|n| &**n)),
                Some(k) => {
                    let value = self.constants[k].to_array().or_raise(py)?;
                    (&b as &dyn Emit).constant(value)
                }
            });
        }
        let y = (&b as &dyn Emit).inline(f, &x);
        Ok(Arc::new(b.finish(&y).or_raise(py)?))
    }

    fn derived(
        &self,
        py: Python<'_>,
        wrt: Option<&Bound<'_, PyAny>>,
        derive: impl FnOnce(&AdContext, &Function, &[Val]) -> cotangent::Result<Function>,
    ) -> PyResult<PyProgram> {
        let wrt = self.wrt(wrt)?;
        let context = match &self.source {
            Some(p) => p.context().or_raise(py)?,
            None => AdContext::default(),
        };
        let (f, wrt) = match &self.source {
            Some(p) => p.to_derive(self.function(), &wrt),
            None => ((**self.function()).clone(), wrt),
        };
        let d = derive(&context, &f, &wrt).or_raise(py)?;
        let d = cotangent::rewrite::simplify(&d);
        Ok(PyProgram {
            constants: self.constants.clone(),
            ..PyProgram::of(None, Arc::new(d))
        })
    }
}

#[pymethods]
impl PyProgram {
    /// Reads a text in tgraph or StableHLO form; functions of directives are derived.
    #[classmethod]
    #[pyo3(signature = (text, file=None))]
    fn from_text(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        text: &str,
        file: Option<&str>,
    ) -> PyResult<PyProgram> {
        let p = py.detach(|| Program::parse(text, file)).or_raise(py)?;
        let main = p.main().clone();
        Ok(PyProgram::of(Some(p), main))
    }

    /// Reads StableHLO text, as JAX and PyTorch print it.
    #[classmethod]
    fn from_stablehlo(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        text: &str,
    ) -> PyResult<PyProgram> {
        let p = py.detach(|| Program::from_stablehlo(text)).or_raise(py)?;
        let main = p.main().clone();
        Ok(PyProgram::of(Some(p), main))
    }

    /// Reads a `.tgraph` or `.mlir` file.
    #[classmethod]
    fn from_file(class: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<PyProgram> {
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|e| crate::create::unreadable(&path, &e))?;
        PyProgram::from_text(class, py, &text, Some(&path.display().to_string()))
    }

    /// Names of the functions, in the order of the text.
    #[getter]
    fn names(&self) -> Vec<String> {
        match &self.source {
            Some(p) => p.names().map(str::to_owned).collect(),
            None => vec![self.function().name.to_string()],
        }
    }

    /// The function of this name.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<PyProgram> {
        match &self.source {
            Some(p) => {
                let f = p.function(name).or_raise(py)?;
                Ok(PyProgram::of(Some(p.clone()), f))
            }
            None if *self.function().name == *name => Ok(PyProgram {
                constants: self.constants.clone(),
                trees: self.trees.clone(),
                ..PyProgram::of(None, self.function().clone())
            }),
            None => Err(raise(
                "UnknownName",
                format!("there is no function {name}, only {}", self.function().name),
            )),
        }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let mut leaves = Leaves::new();
        let kwargs = kwargs.filter(|k| !k.is_empty());
        match (&this.trees, kwargs) {
            (Some(_), Some(k)) => {
                return Err(PyTypeError::new_err(format!(
                    "a traced program takes its arguments by position: {} are given by name",
                    k.keys()
                )));
            }
            (Some((tree, _)), None) => {
                if !tree.along(args.as_any(), &mut leaves)? {
                    let mut found = Vec::new();
                    let got = flatten(args.as_any(), &mut found)?;
                    return Err(raise(
                        "Arity",
                        format!(
                            "a program of arguments {} is called with {}",
                            tree.show(py),
                            got.show(py)
                        ),
                    ));
                }
            }
            (None, None) => leaves.extend(args.iter()),
            (None, Some(k)) => {
                leaves.extend(args.iter());
                let mut used = 0;
                for &v in this.params().iter().skip(leaves.len()) {
                    let name = this.name(v);
                    match k.get_item(&name)? {
                        Some(x) => leaves.push(x),
                        None => {
                            return Err(PyTypeError::new_err(format!(
                                "the argument {name} is missing"
                            )));
                        }
                    }
                    used += 1;
                }
                if used != k.len() {
                    return Err(PyTypeError::new_err(format!(
                        "of the arguments {}, given by name, {used} are arguments of the program that no position gives",
                        k.keys()
                    )));
                }
            }
        }
        let n = this.params().len();
        if leaves.len() != n {
            return Err(raise(
                "Arity",
                format!("a program of {n} arguments is called with {}", leaves.len()),
            ));
        }
        let mut all: Args<'py> = leaves.iter().map(Arg::of).collect::<PyResult<_>>()?;
        for t in &this.constants {
            all.push(Arg::Array(Bound::new(py, Array::known(t.clone())?)?));
        }
        let y = run::call(py, &this.compiled, &all)?;
        let Some((_, out)) = &this.trees else {
            return crate::ops::listed(py, y);
        };
        out.unflatten(py, &mut y.into_iter().map(Bound::into_any))
    }

    /// The function in tgraph form; arrays that it captured are constants.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let f = self.closed(py)?;
        Ok(print_function(&f))
    }

    /// The function in StableHLO form; arrays that it captured are constants.
    #[getter]
    fn stablehlo(&self, py: Python<'_>) -> PyResult<String> {
        cotangent::stablehlo::write(&[self.closed(py)?]).or_raise(py)
    }

    /// Names and types of the arguments.
    #[getter]
    fn inputs(&self) -> Vec<(String, String)> {
        let f = self.function();
        let one = |&v: &Val| (self.name(v), f.ty(v).to_string());
        self.params().iter().map(one).collect()
    }

    /// Types of the results.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        let types = self.function().result_types();
        types.iter().map(|t| t.to_string()).collect()
    }

    /// Element types of the arguments.
    #[getter]
    fn _argument_types(&self) -> Vec<&'static str> {
        let one = |&v: &Val| crate::dtype::name(self.function().ty(v).dtype);
        self.params().iter().map(one).collect()
    }

    /// Element types and shapes of the results.
    #[getter]
    fn _result_types(&self) -> Vec<(&'static str, Vec<usize>)> {
        let types = self.function().result_types();
        let shape = |t: &cotangent::Type| t.shape.as_const().unwrap_or_default();
        types
            .iter()
            .map(|t| (crate::dtype::name(t.dtype), shape(t)))
            .collect()
    }

    /// The arrays that a traced function captured: further arguments.
    #[getter]
    fn _constants<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, Array>>> {
        let all = self.constants.iter();
        all.map(|t| Bound::new(py, Array::known(t.clone())?))
            .collect()
    }

    /// The gradient by arguments, given by name or position (by default all floating-point ones).
    #[pyo3(signature = (wrt=None))]
    fn grad(&self, py: Python<'_>, wrt: Option<&Bound<'_, PyAny>>) -> PyResult<PyProgram> {
        self.derived(py, wrt, |c, f, x| core::grad(c, f, x))
    }

    /// The cotangents of arguments, for cotangents of the results as further arguments.
    #[pyo3(signature = (wrt=None))]
    fn vjp(&self, py: Python<'_>, wrt: Option<&Bound<'_, PyAny>>) -> PyResult<PyProgram> {
        self.no_constants("vjp")?;
        self.derived(py, wrt, |c, f, x| core::vjp(c, f, x))
    }

    /// The results and their tangents, for tangents of arguments as further arguments.
    #[pyo3(signature = (wrt=None))]
    fn jvp(&self, py: Python<'_>, wrt: Option<&Bound<'_, PyAny>>) -> PyResult<PyProgram> {
        self.no_constants("jvp")?;
        self.derived(py, wrt, |c, f, x| core::jvp(c, f, x))
    }

    /// The product of the Hessian with directions of arguments as further arguments.
    #[pyo3(signature = (wrt=None))]
    fn hvp(&self, py: Python<'_>, wrt: Option<&Bound<'_, PyAny>>) -> PyResult<PyProgram> {
        self.no_constants("hvp")?;
        self.derived(py, wrt, |c, f, x| core::hvp(c, f, x))
    }

    /// Times of its steps for these arguments, as a table.
    #[pyo3(signature = (*args))]
    fn profile(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<String> {
        let x = self.arrays(args)?;
        let program = self.compiled.program(py)?;
        const RUNS: usize = 10;
        let x: Vec<View> = x.iter().map(View::from).collect();
        let profile = py.detach(|| program.profile(&x, RUNS)).or_raise(py)?;
        Ok(profile.to_string())
    }

    /// The steps of the compiled program: what is fused, and what each computes.
    fn explain(&self) -> String {
        let function = self.function();
        let steps = cotangent::cpu::steps(function);
        let line =
            |(k, s): (usize, &cotangent::cpu::StepInfo)| format!("{k:>4}  {}", s.label(function));
        let lines: Vec<String> = steps.iter().enumerate().map(line).collect();
        lines.join("\n")
    }

    /// Bytes that a run needs at most, for values of its symbolic extents.
    #[pyo3(signature = (**extents))]
    fn memory(&self, py: Python<'_>, extents: Option<&Bound<'_, PyDict>>) -> PyResult<usize> {
        let mut env = Env::default();
        for (name, n) in extents.into_iter().flat_map(|d| d.iter()) {
            let name: String = name.extract()?;
            env.insert(name.as_str().into(), n.extract()?);
        }
        let types = self.function().param_types();
        let types: Vec<_> = types.iter().map(|t| t.evaluated(&env)).collect();
        let memory = cotangent::cpu::memory(self.function(), &types, &Env::default());
        Ok(memory.or_raise(py)?.peak)
    }

    /// The derivatives at these arguments against finite differences, and the two modes against
    /// each other: a report.
    #[pyo3(signature = (*args))]
    fn check(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<String> {
        let x = self.arrays(args)?;
        let options = cotangent::check::Options::default();
        let report =
            cotangent::check::check_function(&AdContext::default(), self.function(), &x, &options);
        Ok(report.or_raise(py)?.to_string())
    }

    fn _repr_html_(&self) -> String {
        let text = self.__repr__().replace('&', "&amp;").replace('<', "&lt;");
        format!(
            "<details open><summary>{}</summary><pre>{text}</pre></details>",
            self.function().name
        )
    }

    /// The function; arrays that it captured are its last parameters.
    fn __repr__(&self) -> String {
        print_function(self.function())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let make = py.import("cotangent._cotangent")?.getattr("program_of")?;
        let constants = this
            .constants
            .iter()
            .map(|t| Bound::new(py, Array::known(t.clone())?))
            .collect::<PyResult<Vec<_>>>()?;
        let skeleton = |t: &Tree| {
            let leaves = (0..t.len()).map(|_| Ok(0i64.into_pyobject(py)?.into_any()));
            let leaves = leaves.collect::<PyResult<Vec<_>>>()?;
            t.unflatten(py, &mut leaves.into_iter())
        };
        let trees = match &this.trees {
            Some((a, b)) => Some((skeleton(a)?, skeleton(b)?)),
            None => None,
        };
        let text = print_function(this.function());
        let args = (text, constants, trees).into_pyobject(py)?;
        Ok((make, args))
    }
}

impl PyProgram {
    fn no_constants(&self, what: &str) -> PyResult<()> {
        match self.constants.is_empty() {
            true => Ok(()),
            false => Err(raise(
                "Arity",
                format!(
                    "{what} of a program that captured arrays: pass them as arguments when it is traced"
                ),
            )),
        }
    }

    /// Arguments as arrays of the core.
    fn arrays(&self, args: &Bound<'_, PyTuple>) -> PyResult<Vec<cotangent::Array>> {
        let py = args.py();
        let given = args.iter().zip(self.function().param_types());
        let given = given.map(|(x, ty)| {
            let a = crate::ops::cast(&operand::array(&x)?, ty.dtype)?;
            a.get().tensor(py, "a program")?.to_array().or_raise(py)
        });
        let mut all: Vec<_> = given.collect::<PyResult<_>>()?;
        for t in &self.constants {
            all.push(t.to_array().or_raise(py)?);
        }
        Ok(all)
    }
}

/// A program as it was pickled.
#[pyfunction]
pub(crate) fn program_of(
    py: Python<'_>,
    text: &str,
    constants: Vec<Bound<'_, Array>>,
    trees: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
) -> PyResult<PyProgram> {
    let p = Program::from_tgraph(text).or_raise(py)?;
    let function = p.main().clone();
    let tensor = |a: &Bound<'_, Array>| a.get().tensor(py, "a program");
    let tree = |x: &Bound<'_, PyAny>| flatten(x, &mut Vec::new());
    Ok(PyProgram {
        constants: constants.iter().map(tensor).collect::<PyResult<_>>()?,
        trees: match &trees {
            Some((a, b)) => Some((tree(a)?, tree(b)?)),
            None => None,
        },
        ..PyProgram::of(Some(p), function)
    })
}
