//! Operations by name, on arrays in every state: eagerly, on a tape, or in a trace.

use crate::array::{Array, State};
use crate::error::{OrRaise, guarded, raise};
use crate::operand::{Number, Operand, array, common};
use crate::program::PyProgram;
use crate::tree::check_level;
use crate::{device, dims, dtype, place, scope, tape};
use cotangent::extend::{Attr, Attrs, Entry, Kind, Spelled};
use cotangent::ops::{
    BINARY, Binary, COMPARISONS, Compare, Comparison, Composite, Op, UNARY, Unary, composites,
    entries,
};
use cotangent::{
    DType, Dim, EagerTensor, Emit, Error, Scalar, TensorOps, TracedTensor, Type, Val, methods,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Number of elements from which an eager operation releases the interpreter.
const DETACHED_ELEMENTS: usize = 1 << 15;

/// The arrays of an emission.
pub(crate) type Arrays<'py> = SmallVec<[Bound<'py, Array>; 3]>;

/// The results that `f` emits for these arrays: written to a trace if one of them is a value of a
/// program, otherwise run, and recorded if one is recorded.
pub(crate) fn emit<F>(py: Python<'_>, x: &[Bound<'_, Array>], f: F) -> PyResult<Vec<Array>>
where
    F: FnOnce(&dyn Emit, &[Val]) -> Vec<Val> + Send,
{
    if x.iter().any(|a| a.get().is_traced()) {
        let loc = place::here(py);
        let nodes: SmallVec<[TracedTensor; 3]> =
            x.iter().map(Array::node).collect::<PyResult<_>>()?;
        let refs: SmallVec<[&TracedTensor; 3]> = nodes.iter().collect();
        let y = guarded(|| {
            TracedTensor::emit(&refs, |cx, v| {
                cx.set_loc(loc);
                f(cx, v)
            })
        })?;
        let scope = scope::innermost(x.iter().filter_map(|a| a.get().scope.as_ref()));
        let traced = |t| Array::of_node(t, scope.clone());
        return Ok(y.or_raise(py)?.into_iter().map(traced).collect());
    }
    let mut values: SmallVec<[EagerTensor; 3]> = x
        .iter()
        .map(|a| a.get().elements(py, "an operation"))
        .collect::<PyResult<_>>()?;
    let device = device::together(py, &mut values)?;
    let rt = &device.runtime;
    let refs: SmallVec<[&EagerTensor; 3]> = values.iter().collect();
    let silent = tape::is_silent();
    let run = || {
        guarded(|| match silent {
            true => cotangent::ad::no_grad(|| rt.write(&refs, f)),
            false => rt.write(&refs, f),
        })
    };
    let is_long = !device.is_cpu() || refs.iter().any(|x| x.len() >= DETACHED_ELEMENTS);
    let y = match is_long {
        true => py.detach(run),
        false => run(),
    }?;
    Ok(y.or_raise(py)?.into_iter().map(Array::eager).collect())
}

/// As [`emit`], with one result.
pub(crate) fn emit_one<'py, F>(
    py: Python<'py>,
    x: &[Bound<'py, Array>],
    weak: bool,
    f: F,
) -> PyResult<Bound<'py, Array>>
where
    F: FnOnce(&dyn Emit, &[Val]) -> Val + Send,
{
    let y = emit(py, x, |cx, v| vec![f(cx, v)])?;
    let Some(y) = y.into_iter().next() else {
        return Err(raise("Invalid", "an operation without a result"));
    };
    Bound::new(py, y.weak(weak))
}

/// The array with elements of this type.
pub(crate) fn cast<'py>(x: &Bound<'py, Array>, to: DType) -> PyResult<Bound<'py, Array>> {
    if x.get().dtype() == to && !x.get().weak {
        return Ok(x.clone());
    }
    let one = std::slice::from_ref(x);
    emit_one(x.py(), one, false, move |cx, v| cx.convert(v[0], to))
}

/// An operation of the library, or a function that is written with operations.
enum Named {
    Op(Entry),
    Composite(Composite),
}

static NAMED: LazyLock<FxHashMap<&'static str, Named>> = LazyLock::new(|| {
    let ops = entries().into_iter().map(|e| (e.name, Named::Op(e)));
    let all = composites().iter().map(|c| (c.name, Named::Composite(*c)));
    ops.chain(all).collect()
});

/// The names of all operations, with their sentences.
#[pyfunction]
pub(crate) fn operations() -> Vec<(&'static str, &'static str)> {
    let ops = entries().into_iter().map(|e| (e.name, e.doc));
    let all = composites().iter().map(|c| (c.name, c.doc));
    ops.chain(all).collect()
}

/// Writes the named operation.
fn write(cx: &dyn Emit, name: &str, s: &mut Spelled<'_>, x: &[Val]) -> Result<Vec<Val>, Error> {
    match NAMED.get(name) {
        Some(Named::Op(e)) => {
            // A guard is part of a function, and its error names the condition.
            if e.name != "guard" {
                cx.set_method(e.name);
            }
            let op = (e.parse)(s)?;
            s.attrs.finish(name)?;
            Ok(cx.emit(op, x).to_vec())
        }
        Some(Named::Composite(c)) => {
            cx.set_method(c.name);
            let y = (c.build)(cx, s, x)?;
            s.attrs.finish(name)?;
            Ok(y)
        }
        None => Err(Error::new(
            cotangent::Code::UnknownOperation,
            format!("there is no operation `{name}`"),
        )),
    }
}

/// The attribute that a Python object is.
fn attribute(x: &Bound<'_, PyAny>, level: usize) -> PyResult<Attr> {
    check_level(level)?;
    if x.is_instance_of::<PyBool>() {
        return Ok(Attr::Bool(x.extract()?));
    }
    if x.is_instance_of::<PyInt>() {
        return Ok(Attr::Num(Scalar::I(x.extract()?)));
    }
    if x.is_instance_of::<PyFloat>() {
        return Ok(Attr::Num(Scalar::F(x.extract()?)));
    }
    if let Ok(s) = x.cast::<PyString>() {
        return Ok(Attr::Str(s.to_string_lossy().into_owned()));
    }
    if let Some(d) = dims::of(x) {
        return Ok(Attr::Dim(d));
    }
    if x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>() {
        let all = x.try_iter()?.map(|a| attribute(&a?, level + 1));
        return Ok(Attr::List(all.collect::<PyResult<_>>()?));
    }
    if let Ok(d) = x.cast::<dtype::PyDType>() {
        return Ok(Attr::DType(d.get().0));
    }
    if let Ok(a) = x.cast::<Array>() {
        let t = a.get().tensor(x.py(), "an attribute")?;
        return Ok(Attr::Array(t.to_array().or_raise(x.py())?));
    }
    if let Ok(p) = x.cast::<PyProgram>() {
        return Ok(Attr::Fn(p.get().function().clone()));
    }
    if let Some(n) = Number::of(x)? {
        return Ok(Attr::Num(n.scalar(dtype::default(n.level()))?));
    }
    if let Ok(i) = x.call_method0("__index__") {
        return attribute(&i, level + 1);
    }
    Err(raise(
        "Attribute",
        format!("{} is no value of an attribute", x.repr()?),
    ))
}

fn attributes(x: Option<&Bound<'_, PyDict>>) -> PyResult<Attrs> {
    let mut all = Attrs::default();
    for (name, value) in x.into_iter().flat_map(|d| d.iter()) {
        if !value.is_none() {
            let name: String = name.extract()?;
            all.0.push((name.into(), attribute(&value, 0)?));
        }
    }
    Ok(all)
}

/// One result as an array, several as a tuple.
pub(crate) fn results<'py>(
    py: Python<'py>,
    y: impl IntoIterator<Item = Array>,
    weak: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let y = y.into_iter().map(|a| Bound::new(py, a.weak(weak)));
    listed(py, y.collect::<PyResult<Arrays<'py>>>()?)
}

/// One array as it is, several as a tuple.
pub(crate) fn listed<'py>(
    py: Python<'py>,
    y: impl IntoIterator<Item = Bound<'py, Array>, IntoIter: ExactSizeIterator>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut y = y.into_iter();
    match y.len() {
        1 => Ok(y.next().expect("there is one").into_any()),
        _ => Ok(PyTuple::new(py, y)?.into_any()),
    }
}

/// The operation or composite of this name: eagerly, on a tape, or in a trace, by what the operands
/// are. `result` is the element type and the shape of an operation that takes them from its result.
#[pyfunction]
#[pyo3(signature = (name, operands, attributes=None, result=None))]
pub(crate) fn op<'py>(
    py: Python<'py>,
    name: &str,
    operands: &Bound<'py, PyTuple>,
    attributes: Option<&Bound<'py, PyDict>>,
    result: Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let attrs = self::attributes(attributes)?;
    let result = match result {
        None => None,
        Some((d, shape)) => Some([Type::new(dtype::parse(&d)?, dims::shape(&shape)?)]),
    };
    let x: Arrays<'py> = operands
        .iter()
        .map(|x| array(&x))
        .collect::<PyResult<_>>()?;
    let weak = !x.is_empty() && x.iter().all(|a| a.get().weak);
    let y = emit(py, &x, |cx, v| {
        let types: SmallVec<[Type; 3]> = v.iter().map(|&v| cx.ty(v)).collect();
        let mut spelled = Spelled {
            name,
            attrs,
            operands: &types,
            results: result.as_ref().map(|r| &r[..]),
        };
        write(cx, name, &mut spelled, v).unwrap_or_else(|e| {
            cx.fail(e.at(cx.loc()));
            Vec::new()
        })
    })?;
    results(py, y, weak)
}

/// The element types of the operands of an elementwise function. Others are converted.
#[derive(Clone, Copy)]
pub(crate) enum Domain {
    /// Every type.
    Any,
    /// All but booleans.
    Integer,
    /// Floats and complex numbers.
    Float,
}

impl Domain {
    fn named(kind: &str) -> Domain {
        match kind {
            "float" => Domain::Float,
            "integer" => Domain::Integer,
            _ => Domain::Any,
        }
    }

    /// The type that operands of this type are converted to.
    fn of(self, d: DType) -> DType {
        match (self, d.kind()) {
            (Domain::Float, Kind::Bool | Kind::Int) => DType::F64,
            (Domain::Integer, Kind::Bool) => DType::I64,
            _ => d,
        }
    }
}

/// An elementwise function of one array. `kind` is `float`, `integer` or `any`.
#[pyfunction]
pub(crate) fn unary<'py>(
    py: Python<'py>,
    name: &str,
    kind: &str,
    x: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let x = array(x)?;
    let d = x.get().dtype();
    let to = Domain::named(kind).of(d);
    if to == d
        && let Some(elements) = few(x.get())
        && let Some(&f) = FUNCTIONS.get(name)
    {
        let y = eagerly(py, || EagerTensor::apply_one(f, &elements))?;
        return Bound::new(py, Array::eager(y));
    }
    let weak = x.get().weak;
    let one = std::slice::from_ref(&x);
    let y = emit_one(py, one, weak, |cx, v| {
        let v = match to == d {
            true => v[0],
            false => cx.convert(v[0], to),
        };
        let types = [cx.ty(v)];
        let mut s = spelled(name, &types);
        one_of(cx, write(cx, name, &mut s, &[v]))
    })?;
    match weak && y.get().dtype() == DType::Bool {
        true => strong(&y),
        false => Ok(y),
    }
}

fn spelled<'a>(name: &'a str, operands: &'a [Type]) -> Spelled<'a> {
    Spelled {
        name,
        attrs: Attrs::default(),
        operands,
        results: None,
    }
}

fn one_of(cx: &dyn Emit, y: Result<Vec<Val>, Error>) -> Val {
    match y {
        Ok(y) if y.len() == 1 => y[0],
        Ok(_) => Val::POISON,
        Err(e) => {
            cx.fail(e.at(cx.loc()));
            Val::POISON
        }
    }
}

/// The same value, which decides element types.
pub(crate) fn strong<'py>(x: &Bound<'py, Array>) -> PyResult<Bound<'py, Array>> {
    let a = x.get();
    if !a.weak {
        return Ok(x.clone());
    }
    match &a.state {
        State::Traced(t) => Bound::new(x.py(), Array::of_node(t.clone(), a.scope.clone())),
        State::Eager(t) => Bound::new(x.py(), Array::eager(t.clone())),
        State::Parameter(_) | State::Donable(_) => Ok(x.clone()),
    }
}

/// The common extents of two shapes by NumPy's rule.
pub(crate) fn broadcast(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let skip = long.len() - short.len();
    let mut all = long.to_vec();
    for (x, y) in all[skip..].iter_mut().zip(short) {
        if x.is(1) {
            *x = y.clone();
        } else if !y.is(1) && x.same(y) == Some(false) {
            return None;
        } else if !y.is(1) && y.as_const().is_some() {
            *x = y.clone();
        }
    }
    Some(all)
}

/// An operand's value of this type in an emission: `arrays` are emitted in order, numbers are
/// constants.
pub(crate) enum Given {
    Array(usize),
    Number(Scalar),
}

/// The operands as values of one element type: the arrays, and how each operand is made of them.
pub(crate) fn given<'py>(
    operands: &[Operand<'py>],
    d: DType,
) -> PyResult<(Arrays<'py>, SmallVec<[Given; 3]>)> {
    let mut arrays = Arrays::new();
    let mut all = SmallVec::new();
    for o in operands {
        match o {
            Operand::Array(a) => {
                all.push(Given::Array(arrays.len()));
                arrays.push(a.clone());
            }
            Operand::Number(n) => all.push(Given::Number(n.scalar(d)?)),
        }
    }
    Ok((arrays, all))
}

/// The values of operands, converted to one element type and broadcast to a common shape.
pub(crate) fn aligned(
    cx: &dyn Emit,
    name: &str,
    v: &[Val],
    given: &[Given],
    d: DType,
) -> SmallVec<[Val; 3]> {
    let mut shape: Vec<Dim> = Vec::new();
    for &x in v {
        let of = cx.ty(x).shape;
        match broadcast(&shape, &of) {
            Some(common) => shape = common,
            None => {
                let types: Vec<String> = v.iter().map(|&v| cx.ty(v).to_string()).collect();
                cx.fail(Error::new(
                    cotangent::Code::ShapeMismatch,
                    format!(
                        "`{name}` of {}: the shapes do not broadcast: extents align at the end and are equal or 1",
                        types.join(" and ")
                    ),
                ));
                return smallvec::smallvec![Val::POISON; given.len()];
            }
        }
    }
    given
        .iter()
        .map(|g| match g {
            Given::Array(k) => {
                let x = cx.convert(v[*k], d);
                match cx.ty(x).shape[..] == shape[..] {
                    true => x,
                    false => cx.broadcast_to(x, &shape),
                }
            }
            Given::Number(s) => cx.full(&Type::new(d, shape.clone()), *s),
        })
        .collect()
}

/// A function of two operands that broadcast. `kind` is that of [`unary`], or `compare` for a
/// comparison.
#[pyfunction]
pub(crate) fn binary<'py>(
    py: Python<'py>,
    name: &str,
    kind: &str,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let op = PAIR_OPS.get(name).copied().unwrap_or(PairOp::Named(name));
    let pair = PairFunction::new(op, Domain::named(kind));
    of_two(py, pair, [Operand::of(x)?, Operand::of(y)?])
}

/// The elements of an array that decides its element type, and has few elements: where they are, or
/// those of a parameter at this time.
fn few(a: &Array) -> Option<Cow<'_, EagerTensor>> {
    let x = match &a.state {
        State::Eager(x) if !a.weak => Cow::Borrowed(x),
        State::Parameter(_) if !scope::captures() => Cow::Owned(a.slot()?.value.clone()),
        _ => return None,
    };
    (x.len() < DETACHED_ELEMENTS).then_some(x)
}

/// Runs an operation, and records it if that is not switched off.
fn eagerly(
    py: Python<'_>,
    run: impl FnOnce() -> cotangent::ad::Result<EagerTensor>,
) -> PyResult<EagerTensor> {
    let y = guarded(|| match tape::is_silent() {
        true => cotangent::ad::no_grad(run),
        false => run(),
    })?;
    y.or_raise(py)
}

static FUNCTIONS: LazyLock<FxHashMap<&'static str, Unary>> =
    LazyLock::new(|| UNARY.iter().map(|f| (f.name, f.op)).collect());

/// An operation of two operands.
#[derive(Clone, Copy)]
pub(crate) enum PairOp<'a> {
    Function(Binary),
    Comparison(Comparison),
    /// Any other operation of the library.
    Named(&'a str),
}

impl<'a> PairOp<'a> {
    fn name(self) -> &'a str {
        match self {
            PairOp::Function(f) => f.def().name,
            PairOp::Comparison(c) => COMPARISONS[c as usize].name,
            PairOp::Named(name) => name,
        }
    }
}

/// A function of two operands.
#[derive(Clone, Copy)]
pub(crate) struct PairFunction<'a> {
    op: PairOp<'a>,
    domain: Domain,
}

impl<'a> PairFunction<'a> {
    pub(crate) const fn new(op: PairOp<'a>, domain: Domain) -> PairFunction<'a> {
        PairFunction { op, domain }
    }
}

static PAIR_OPS: LazyLock<FxHashMap<&'static str, PairOp<'static>>> = LazyLock::new(|| {
    let functions = BINARY.iter().map(|f| (f.name, PairOp::Function(f.op)));
    let comparisons = COMPARISONS
        .iter()
        .map(|c| (c.name, PairOp::Comparison(c.op)));
    functions.chain(comparisons).collect()
});

/// The operation on eager arrays of few elements and one element type, or on one of them and a
/// number, if no operand is converted.
fn quick(
    py: Python<'_>,
    pair: PairFunction<'_>,
    operands: &[Operand<'_>; 2],
) -> PyResult<Option<EagerTensor>> {
    let arrays = operands.each_ref().map(|o| match o {
        Operand::Array(a) => few(a.get()),
        Operand::Number(_) => None,
    });
    let Some(array) = arrays.iter().flatten().next() else {
        return Ok(None);
    };
    let d = array.dtype();
    if pair.domain.of(d) != d {
        return Ok(None);
    }
    let operand = |k: usize| -> PyResult<Option<methods::Operand<'_, EagerTensor>>> {
        Ok(match (&arrays[k], &operands[k]) {
            (Some(x), _) if x.dtype() == d && x.same_context(array) => {
                Some(methods::Operand::Tensor(x))
            }
            (None, Operand::Number(n)) if dtype::beside(d, n.level()) == d => {
                Some(methods::Operand::Number(n.scalar(d)?))
            }
            _ => None,
        })
    };
    let (Some(x), Some(y)) = (operand(0)?, operand(1)?) else {
        return Ok(None);
    };
    let y = match pair.op {
        PairOp::Function(f) => eagerly(py, || EagerTensor::apply_pair(f, x, y)),
        PairOp::Comparison(c) => eagerly(py, || EagerTensor::apply_pair(Compare(c), x, y)),
        PairOp::Named(_) => return Ok(None),
    };
    y.map(Some)
}

/// The result of a function of two operands.
pub(crate) fn of_two<'py>(
    py: Python<'py>,
    pair: PairFunction<'_>,
    operands: [Operand<'py>; 2],
) -> PyResult<Bound<'py, Array>> {
    if let Some(y) = quick(py, pair, &operands)? {
        return Bound::new(py, Array::eager(y));
    }
    let (common, weak) = common(&operands)?;
    let (name, d) = (pair.op.name(), pair.domain.of(common));
    let (mut arrays, mut all) = given(&operands, d)?;
    if arrays.is_empty() {
        // Two numbers: the first is an array.
        if let (Some(Given::Number(_)), Operand::Number(n)) = (all.first(), &operands[0]) {
            arrays.push(Bound::new(py, n.array(d)?)?);
            all[0] = Given::Array(0);
        }
    }
    let weak = weak && !matches!(pair.op, PairOp::Comparison(_));
    emit_one(py, &arrays, weak, |cx, v| {
        let x = aligned(cx, name, v, &all, d);
        if cx.failed() {
            return Val::POISON;
        }
        if let PairOp::Comparison(c) = pair.op {
            return cx.compare(x[0], c, x[1]);
        }
        let types = [cx.ty(x[0]), cx.ty(x[1])];
        let mut s = spelled(name, &types);
        one_of(cx, write(cx, name, &mut s, &x))
    })
}

/// The operands as arrays of their common element type.
#[pyfunction]
#[pyo3(signature = (*operands, kind="any"))]
pub(crate) fn promoted<'py>(
    py: Python<'py>,
    operands: &Bound<'py, PyTuple>,
    kind: &str,
) -> PyResult<Bound<'py, PyTuple>> {
    let operands: Vec<Operand<'py>> = operands
        .iter()
        .map(|x| Operand::of(&x))
        .collect::<PyResult<_>>()?;
    let (common, _) = common(&operands)?;
    let d = Domain::named(kind).of(common);
    let one = |o: &Operand<'py>| match o {
        Operand::Array(a) => cast(a, d),
        Operand::Number(n) => Bound::new(py, n.array(d)?),
    };
    let all = operands.iter().map(one).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, device::with_numbers(all)?)
}

/// The common element type of arrays, element types and Python numbers.
#[pyfunction]
#[pyo3(signature = (*operands))]
pub(crate) fn result_type<'py>(
    py: Python<'py>,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, dtype::PyDType>> {
    let (mut types, mut weak) = (Vec::new(), Vec::new());
    for x in operands.iter() {
        match Operand::find(&x)? {
            Some(o) => match o.vote() {
                Ok(d) => types.push(d),
                Err(l) => weak.push(l),
            },
            None => types.push(dtype::parse(&x)?),
        }
    }
    if types.is_empty() && weak.is_empty() {
        return Err(raise("Arity", "result_type needs at least one argument"));
    }
    dtype::object(py, dtype::common(&types, &weak)?.0)
}

/// An operation of the core on arrays of one type, as an entry without text.
pub(crate) fn apply<'py>(
    x: &Bound<'py, Array>,
    op: impl Into<Op> + Send,
) -> PyResult<Bound<'py, Array>> {
    let op = op.into();
    let one = std::slice::from_ref(x);
    emit_one(x.py(), one, x.get().weak, |cx, v| cx.op(op, v))
}

/// `x` converted to an element type; complex to real is an error.
#[pyfunction]
pub(crate) fn convert<'py>(
    x: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let (x, to) = (array(x)?, dtype::parse(to)?);
    let from = x.get().dtype();
    if from.is_complex() && !to.is_complex() && to != DType::Bool {
        return Err(raise(
            "DTypeMismatch",
            format!(
                "a complex array cannot become {}: take real(x), imag(x) or abs(x)",
                dtype::name(to)
            ),
        ));
    }
    cast(&x, to)
}
