//! [`Jitted`]: a Python function that is traced once for a signature, and compiled.

use crate::array::Array;
use crate::device::{self, Device};
use crate::error::{OrRaise, raise};
use crate::operand;
use crate::program::PyProgram;
use crate::run::{self, Arg, Args, Compiled};
use crate::scope::Open;
use crate::tree::{Leaves, Tree, check_level, flatten};
use cotangent::{
    Builder, DType, Dim, Emit, Function, GraphCompiler, Shape, TracedTensor, Type, Val,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The compiler of all traces.
static COMPILER: LazyLock<GraphCompiler> = LazyLock::new(GraphCompiler::new);

/// Element type, shape (with symbols), and whether it is a Python number.
type Spec = (DType, Shape, bool);

/// An argument whose value is part of the signature.
struct Static {
    /// Position, or name of a keyword.
    at: StaticPlace,
    value: Py<PyAny>,
}

#[derive(Clone, PartialEq)]
enum StaticPlace {
    Position(usize),
    Keyword(String),
}

impl Static {
    /// Values are compared with their types: 1, True and 1.0 are three.
    fn same(&self, o: &Static, py: Python<'_>) -> PyResult<bool> {
        let (a, b) = (self.value.bind(py), o.value.bind(py));
        Ok(self.at == o.at && a.get_type().is(b.get_type()) && a.eq(b)?)
    }
}

/// A call of a jitted function, taken apart.
struct Call<'py> {
    statics: Vec<Static>,
    /// The structure of a pair: the other positional arguments, and the other keywords.
    tree: Tree,
    args: Args<'py>,
    specs: Vec<Spec>,
    /// The device of the arguments, if the function has none.
    device: Arc<Device>,
}

/// The origin of a program's parameter.
enum Source {
    Argument(usize),
    /// An array or parameter that the function captured: read anew at each call.
    Captured(Py<Array>),
    /// A value of an enclosing trace.
    Outer(TracedTensor),
}

/// A function traced at a signature.
struct Entry {
    statics: Vec<Static>,
    tree: Tree,
    specs: Vec<Spec>,
    threads: usize,
    /// The device of the arguments, if the function has none.
    device: Arc<Device>,
    compiled: Compiled,
    sources: Vec<Source>,
    /// Whether the parameters of the program are the arguments, in their order.
    direct: bool,
    out: Tree,
}

impl Entry {
    fn is_closed(&self) -> bool {
        !self.sources.iter().any(|s| matches!(s, Source::Outer(_)))
    }
}

/// Extents of a tree of arrays, as names and numbers.
enum Extents {
    /// The extents of each call.
    Any,
    Of(Vec<Dim>),
    /// Of the children of a node, in their order.
    Children(Vec<Extents>),
    /// Of the values of a dictionary; any for other keys.
    Keyed(Vec<(Py<PyAny>, Extents)>),
}

impl Extents {
    /// `None`; a tuple of names and numbers for an array; a sequence or a dict for a container.
    fn read(x: &Bound<'_, PyAny>, level: usize) -> PyResult<Extents> {
        check_level(level)?;
        if x.is_none() {
            return Ok(Extents::Any);
        }
        if let Ok(d) = x.cast::<PyDict>() {
            let one = |(k, v): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                Ok((k.unbind(), Extents::read(&v, level + 1)?))
            };
            return Ok(Extents::Keyed(d.iter().map(one).collect::<PyResult<_>>()?));
        }
        if x.is_instance_of::<PyString>() || x.is_instance_of::<PyInt>() {
            return Err(PyTypeError::new_err(format!(
                "shapes has a tuple of extents for each array: {x} is one extent"
            )));
        }
        let parts: Vec<Bound<'_, PyAny>> = x.try_iter()?.collect::<PyResult<_>>()?;
        let extent = |x: &Bound<'_, PyAny>| match x.extract::<String>() {
            Ok(name) => Some(Dim::sym(&name)),
            Err(_) => x.extract::<usize>().ok().map(Dim::from),
        };
        match parts.iter().map(extent).collect::<Option<Vec<Dim>>>() {
            Some(all) => Ok(Extents::Of(all)),
            None => {
                let all = parts.iter().map(|x| Extents::read(x, level + 1));
                Ok(Extents::Children(all.collect::<PyResult<_>>()?))
            }
        }
    }

    /// Replaces extents of the leaves of a tree, from the one at `at` on. `name` is the argument.
    fn generalise(
        &self,
        py: Python<'_>,
        tree: &Tree,
        specs: &mut [Spec],
        name: &str,
    ) -> PyResult<()> {
        let differs = |what: String| Err(raise("ShapeMismatch", format!("{name} {what}")));
        let each = |parts: Vec<(&Extents, &Tree)>, specs: &mut [Spec]| {
            let mut at = 0;
            parts.into_iter().try_for_each(|(e, t)| {
                let end = at + t.len();
                let done = e.generalise(py, t, &mut specs[at..end], name);
                at = end;
                done
            })
        };
        match (self, tree) {
            (Extents::Any, _) => Ok(()),
            (Extents::Of(shape), Tree::Leaf) => {
                let given = &specs[0].1;
                let fits = |(d, n): (&Dim, &Dim)| d.as_sym().is_some() || d == n;
                if given.len() != shape.len() || !shape.iter().zip(given.iter()).all(fits) {
                    return differs(format!("has the shape {given:?}, shapes says {shape:?}"));
                }
                specs[0].1 = shape.clone().into();
                Ok(())
            }
            // An empty tuple is the shape of a scalar, and the extents of a node without arrays.
            (Extents::Of(none), t) if none.is_empty() && t.len() == 0 => Ok(()),
            (Extents::Children(all), t) if t.children().len() == all.len() => {
                each(all.iter().zip(t.children()).collect(), specs)
            }
            (Extents::Keyed(all), t) => {
                let Some(children) = t.keyed() else {
                    return differs(format!("is {}, shapes has a dict", t.show(py)));
                };
                for (key, _) in all {
                    let known = |c: &(&Py<PyAny>, &Tree)| c.0.bind(py).eq(key.bind(py));
                    if !children
                        .iter()
                        .map(known)
                        .collect::<PyResult<Vec<_>>>()?
                        .contains(&true)
                    {
                        return differs(format!(
                            "has no key {}, which shapes has",
                            key.bind(py).repr()?
                        ));
                    }
                }
                let of = |(k, t): (&Py<PyAny>, _)| {
                    for (key, e) in all {
                        if key.bind(py).eq(k.bind(py))? {
                            return Ok((e, t));
                        }
                    }
                    Ok((&Extents::Any, t))
                };
                let parts = children.into_iter().map(of);
                each(parts.collect::<PyResult<_>>()?, specs)
            }
            (_, t) => differs(format!(
                "is {}, which is not the structure of shapes",
                t.show(py)
            )),
        }
    }
}

/// A function that is traced once for a signature and compiled: the result of `jit`.
#[pyclass(module = "cotangent", frozen, dict, weakref)]
pub(crate) struct Jitted {
    f: Py<PyAny>,
    static_argnums: Vec<usize>,
    static_argnames: Vec<String>,
    /// Extents of positional arguments, for trees in their structure.
    shapes: Vec<Extents>,
    /// Positions of arguments whose elements a call may take over.
    donated: Vec<usize>,
    /// The device of all runs; `None`: that of the arguments.
    device: Option<Arc<Device>>,
    limit: usize,
    /// The most recently used first.
    entries: Mutex<Vec<Arc<Entry>>>,
    hits: AtomicUsize,
    misses: AtomicUsize,
}

fn same_specs(a: &[Spec], b: &[Spec]) -> bool {
    let same = |(a, b): (&Spec, &Spec)| a.0 == b.0 && a.2 == b.2 && a.1[..] == b.1[..];
    a.len() == b.len() && a.iter().zip(b).all(same)
}

impl Jitted {
    fn entries(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a call apart: static arguments, structure and leaves of the others.
    fn read<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        last: Option<&Entry>,
    ) -> PyResult<Call<'py>> {
        let py = args.py();
        let mut statics = Vec::new();
        let mut keep = |at: StaticPlace, value: Bound<'py, PyAny>| {
            if let Err(e) = value.hash() {
                let kind = value.get_type();
                let error = PyTypeError::new_err(format!(
                    "a static argument must be hashable, {kind} is not: {e}"
                ));
                return Err(error);
            }
            statics.push(Static {
                at,
                value: value.unbind(),
            });
            Ok(())
        };
        let mut dynamic = args.clone();
        if !self.static_argnums.is_empty() {
            let mut others = Vec::new();
            for (k, x) in args.iter().enumerate() {
                match self.static_argnums.contains(&k) {
                    true => keep(StaticPlace::Position(k), x)?,
                    false => others.push(x),
                }
            }
            dynamic = PyTuple::new(py, others)?;
        }
        let named = PyDict::new(py);
        for (name, x) in kwargs.into_iter().flat_map(|d| d.iter()) {
            let text: String = name.extract()?;
            match self.static_argnames.contains(&text) {
                true => keep(StaticPlace::Keyword(text), x)?,
                false => named.set_item(name, x)?,
            }
        }
        let pair = PyTuple::new(py, [dynamic.as_any(), named.as_any()])?;
        let mut leaves = Leaves::new();
        let tree = match last {
            Some(e) if e.tree.along(pair.as_any(), &mut leaves)? => e.tree.clone(),
            _ => {
                let mut found = Vec::new();
                let tree = flatten(pair.as_any(), &mut found)?;
                leaves = found.into();
                tree
            }
        };
        let mut args = Args::new();
        for x in &leaves {
            args.push(Arg::of(x)?);
        }
        let mut specs: Vec<Spec> = args.iter().map(Arg::spec).collect();
        if !self.shapes.is_empty() {
            self.generalise(py, &tree, &mut specs)?;
        }
        let device = match &self.device {
            Some(device) => device.clone(),
            None => device::of_program(&args, &[])?,
        };
        Ok(Call {
            statics,
            tree,
            args,
            specs,
            device,
        })
    }

    /// Replaces extents by the symbols of `shapes`.
    fn generalise(&self, py: Python<'_>, tree: &Tree, specs: &mut [Spec]) -> PyResult<()> {
        let Tree::Tuple(pair) = tree else {
            return Ok(());
        };
        let mut at = 0;
        for (k, arg) in pair[0].children().iter().enumerate() {
            let end = at + arg.len();
            if let Some(extents) = self.shapes.get(k) {
                extents.generalise(py, arg, &mut specs[at..end], &format!("argument {k}"))?;
            }
            at = end;
        }
        Ok(())
    }

    /// Whether a call may take over the elements of each leaf; empty if of none.
    fn donations(&self, tree: &Tree) -> Vec<bool> {
        let Tree::Tuple(pair) = tree else {
            return Vec::new();
        };
        if self.donated.is_empty() {
            return Vec::new();
        }
        let mut all = vec![false; tree.len()];
        let positions = (0..).filter(|k| !self.static_argnums.contains(k));
        let mut at = 0;
        for (k, arg) in positions.zip(pair[0].children()) {
            all[at..at + arg.len()].fill(self.donated.contains(&k));
            at += arg.len();
        }
        all
    }

    /// The entry of a signature.
    fn find(&self, py: Python<'_>, call: &Call<'_>) -> PyResult<Option<Arc<Entry>>> {
        let threads = run::threads();
        let snapshot = self.entries().clone();
        for (k, e) in snapshot.iter().enumerate() {
            let is_here = e.threads == threads && Arc::ptr_eq(&e.device, &call.device);
            if !is_here || !same_specs(&e.specs, &call.specs) {
                continue;
            }
            let mut same = e.statics.len() == call.statics.len() && e.tree.same(&call.tree, py)?;
            for (a, b) in e.statics.iter().zip(&call.statics) {
                same = same && a.same(b, py)?;
            }
            if same {
                if k > 0 {
                    let mut entries = self.entries();
                    if let Some(at) = entries.iter().position(|x| Arc::ptr_eq(x, e)) {
                        let e = entries.remove(at);
                        entries.insert(0, e);
                    }
                }
                return Ok(Some(e.clone()));
            }
        }
        Ok(None)
    }

    /// Calls the function on placeholders.
    fn trace<'py>(&self, py: Python<'py>, call: &mut Call<'py>) -> PyResult<Arc<Entry>> {
        let open = Open::new(true)?;
        let placeholders: Vec<TracedTensor> = call
            .specs
            .iter()
            .map(|(d, shape, _)| TracedTensor::input(*d, shape.clone()))
            .collect();
        let leaves = placeholders
            .iter()
            .zip(&call.specs)
            .map(|(t, spec)| {
                let a = Array::of_node(t.clone(), Some(open.scope().clone())).weak(spec.2);
                Ok(Bound::new(py, a)?.into_any())
            })
            .collect::<PyResult<Vec<_>>>()?;
        let pair = call.tree.unflatten(py, &mut leaves.into_iter())?;
        let (dynamic, named): (Bound<'py, PyTuple>, Bound<'py, PyDict>) = pair.extract()?;
        let mut args: Vec<Bound<'py, PyAny>> = dynamic.iter().collect();
        for s in &call.statics {
            match &s.at {
                StaticPlace::Position(k) => {
                    args.insert((*k).min(args.len()), s.value.bind(py).clone())
                }
                StaticPlace::Keyword(name) => named.set_item(name, s.value.bind(py))?,
            }
        }
        let y = self
            .f
            .bind(py)
            .call(PyTuple::new(py, args)?, Some(&named))?;
        let mut leaves = Vec::new();
        let out = flatten(&y, &mut leaves)?;
        let y: Vec<Bound<'py, Array>> =
            leaves.iter().map(operand::array).collect::<PyResult<_>>()?;
        y.iter().try_for_each(|a| a.get().check())?;
        let y: Vec<TracedTensor> = y.iter().map(Array::node).collect::<PyResult<_>>()?;
        let captured = open.captured();
        let (function, inputs) = compiled(py, &y)?;
        let source = |t: TracedTensor| {
            if let Some(k) = placeholders.iter().position(|p| p.same(&t)) {
                return Source::Argument(k);
            }
            match captured.iter().find(|c| c.placeholder.same(&t)) {
                Some(c) => Source::Captured(c.array.clone_ref(py)),
                None => Source::Outer(t),
            }
        };
        let sources: Vec<Source> = inputs.into_iter().map(source).collect();
        let device = match &self.device {
            Some(device) => device.clone(),
            None => {
                let arrays = captured.into_iter().map(|c| c.array);
                device::of_program(&call.args, &arrays.collect::<Vec<_>>())?
            }
        };
        let of_leaves = self.donations(&call.tree);
        let given_up = |s: &Source| match s {
            Source::Argument(k) => of_leaves[*k],
            _ => false,
        };
        let donated = match of_leaves.is_empty() {
            true => Vec::new(),
            false => sources.iter().map(given_up).collect(),
        };
        let in_order = |(k, s): (usize, &Source)| matches!(s, Source::Argument(n) if *n == k);
        let direct = sources.len() == call.specs.len() && sources.iter().enumerate().all(in_order);
        Ok(Arc::new(Entry {
            direct,
            statics: std::mem::take(&mut call.statics),
            tree: call.tree.clone(),
            specs: call.specs.clone(),
            threads: run::threads(),
            device: call.device.clone(),
            compiled: Compiled::new(function, donated, Some(device)),
            sources,
            out,
        }))
    }

    /// The entry of a call, traced if there is none.
    fn entry<'py>(&self, py: Python<'py>, call: &mut Call<'py>) -> PyResult<Arc<Entry>> {
        if let Some(e) = self.find(py, call)? {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(e);
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let e = self.trace(py, call)?;
        // The first of two threads that trace a signature is kept. A function that reads values of
        // an enclosing trace is traced anew: they are others next time.
        if e.is_closed() && self.limit > 0 {
            let mut entries = self.entries();
            entries.insert(0, e.clone());
            let evicted = match entries.len() > self.limit {
                true => entries.split_off(self.limit),
                false => Vec::new(),
            };
            drop(entries);
            drop(evicted);
        }
        Ok(e)
    }

    /// Appends the arguments of a call that has the signature of the last one: without keys of
    /// dicts sorted, and without types made. `false`: the signature is to be looked up.
    fn repeated<'py>(
        &self,
        e: &Entry,
        args: &Bound<'py, PyTuple>,
        found: &mut Args<'py>,
    ) -> PyResult<bool> {
        let plain =
            e.statics.is_empty() && self.static_argnums.is_empty() && self.shapes.is_empty();
        if !plain || e.threads != run::threads() {
            return Ok(false);
        }
        let Tree::Tuple(pair) = &e.tree else {
            return Ok(false);
        };
        let mut leaves = Leaves::new();
        if pair[1].len() != 0 || !pair[0].along(args.as_any(), &mut leaves)? {
            return Ok(false);
        }
        for (x, (d, shape, weak)) in leaves.iter().zip(&e.specs) {
            let arg = Arg::of(x)?;
            let is_near = self.device.is_some() || arg.is_near(&e.device);
            if !is_near || !arg.is_like(*d, shape, *weak) {
                return Ok(false);
            }
            found.push(arg);
        }
        Ok(true)
    }

    /// The results of an entry for these arguments.
    fn finish<'py>(
        py: Python<'py>,
        e: &Entry,
        args: &mut Args<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let y = match e.direct {
            true => run::call(py, &e.compiled, args)?,
            false => run::call(py, &e.compiled, &Jitted::arguments(py, e, args)?)?,
        };
        let mut y = y.into_iter().map(Bound::into_any);
        match (&e.out, y.len()) {
            (Tree::Leaf, 1) => Ok(y.next().expect("there is one")),
            (out, _) => out.unflatten(py, &mut y),
        }
    }

    /// The arguments of the program of an entry that is not direct.
    fn arguments<'py>(py: Python<'py>, e: &Entry, args: &mut Args<'py>) -> PyResult<Args<'py>> {
        let mut args: SmallVec<[Option<Arg<'py>>; 4]> = args.drain(..).map(Some).collect();
        e.sources
            .iter()
            .map(|s| match s {
                Source::Argument(k) => Ok(args[*k].take().expect("each is one parameter")),
                Source::Captured(a) => Ok(Arg::Array(a.bind(py).clone())),
                Source::Outer(t) => {
                    let a = Array::of_node(t.clone(), crate::scope::current());
                    Ok(Arg::Array(Bound::new(py, a)?))
                }
            })
            .collect()
    }
}

/// The simplified function of traced results, and its parameters.
fn compiled(py: Python<'_>, y: &[TracedTensor]) -> PyResult<(Arc<Function>, Vec<TracedTensor>)> {
    if y.is_empty() {
        let b = Builder::new("main", Default::default());
        return Ok((Arc::new(b.finish(&[]).or_raise(py)?), Vec::new()));
    }
    let refs: Vec<&TracedTensor> = y.iter().collect();
    let program = COMPILER.compile_many(&refs).or_raise(py)?;
    let inputs = program.inputs();
    if inputs.len() != program.function().params().len() {
        return Err(raise(
            "Invalid",
            "a trace holds an array that is no argument",
        ));
    }
    Ok((program.function().clone(), inputs))
}

#[pymethods]
impl Jitted {
    #[new]
    fn new(
        f: Bound<'_, PyAny>,
        static_argnums: Vec<usize>,
        static_argnames: Vec<String>,
        shapes: Option<Vec<Bound<'_, PyAny>>>,
        donated: Vec<usize>,
        cache_limit: usize,
        device: Option<&str>,
    ) -> PyResult<Jitted> {
        let shapes = shapes.unwrap_or_default();
        Ok(Jitted {
            static_argnums,
            static_argnames,
            shapes: shapes
                .iter()
                .map(|x| Extents::read(x, 0))
                .collect::<PyResult<_>>()?,
            donated,
            device: device.map(|d| Device::named(f.py(), d)).transpose()?,
            f: f.unbind(),
            limit: cache_limit,
            entries: Mutex::default(),
            hits: AtomicUsize::new(0),
            misses: AtomicUsize::new(0),
        })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let last = this.entries().first().cloned();
        let mut found = Args::new();
        if kwargs.is_none_or(|k| k.is_empty())
            && let Some(e) = &last
            && this.repeated(e, args, &mut found)?
        {
            this.hits.fetch_add(1, Ordering::Relaxed);
            return Jitted::finish(py, e, &mut found);
        }
        let (args, kwargs) = bound(slf, args, kwargs)?;
        let mut call = this.read(&args, kwargs.as_ref(), last.as_deref())?;
        let e = this.entry(py, &mut call)?;
        Jitted::finish(py, &e, &mut call.args)
    }

    /// The program of the signature of these arguments.
    #[pyo3(signature = (*args, **kwargs))]
    fn lower<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<PyProgram> {
        let (py, this) = (slf.py(), slf.get());
        let (args, kwargs) = bound(slf, args, kwargs)?;
        let mut call = this.read(&args, kwargs.as_ref(), None)?;
        let e = this.entry(py, &mut call)?;
        // A function of all arguments, then of the captured arrays.
        let b = Builder::new("main", Default::default());
        let (mut constants, mut hidden) = (Vec::new(), Vec::new());
        let params: Vec<Val> = e
            .specs
            .iter()
            .map(|(d, shape, _)| b.param(Type::new(*d, shape.clone()), None))
            .collect();
        for (s, ty) in e.sources.iter().zip(e.compiled.function.param_types()) {
            match s {
                Source::Argument(_) => {}
                Source::Captured(a) => {
                    constants.push(a.get().tensor(py, "a program")?);
                    hidden.push(b.param(ty, None));
                }
                Source::Outer(_) => {
                    return Err(raise(
                        "ForeignValue",
                        "a program of its own cannot read values of an enclosing trace",
                    ));
                }
            }
        }
        let mut hidden = hidden.into_iter();
        let x: Vec<Val> = e
            .sources
            .iter()
            .map(|s| match s {
                Source::Argument(k) => params[*k],
                _ => hidden.next().expect("one per captured array"),
            })
            .collect();
        let cx: &dyn Emit = &b;
        let y = cx.inline(&e.compiled.function, &x);
        let function = Arc::new(b.finish(&y).or_raise(py)?);
        let Tree::Tuple(pair) = &e.tree else {
            return Err(raise("Invalid", "arguments that are no tuple"));
        };
        Ok(PyProgram::traced(
            function,
            constants,
            pair[0].clone(),
            e.out.clone(),
        ))
    }

    /// Hits, misses, entries and the limit of the cache.
    fn cache_info<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let class = slf
            .py()
            .import("cotangent._transforms")?
            .getattr("CacheInfo")?;
        let hits = this.hits.load(Ordering::Relaxed);
        let misses = this.misses.load(Ordering::Relaxed);
        class.call1((hits, misses, this.entries().len(), this.limit))
    }

    /// Forgets all programs.
    fn clear_cache(&self) {
        let old = std::mem::take(&mut *self.entries());
        drop(old);
    }

    /// A jitted method is bound to its object.
    fn __get__<'py>(
        slf: Bound<'py, Self>,
        object: Option<Bound<'py, PyAny>>,
        _class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match object {
            None => Ok(slf.into_any()),
            Some(object) => slf
                .py()
                .import("types")?
                .getattr("MethodType")?
                .call1((slf, object)),
        }
    }
}

/// Arguments with keywords bound to positions by the function's signature.
fn bound<'py>(
    slf: &Bound<'py, Jitted>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>)> {
    let Some(kwargs) = kwargs.filter(|k| !k.is_empty()) else {
        return Ok((args.clone(), None));
    };
    let bind = slf.py().import("cotangent._transforms")?.getattr("bind")?;
    bind.call1((slf.get().f.bind(slf.py()), args, kwargs))?
        .extract()
}
