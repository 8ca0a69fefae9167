//! Calls of compiled functions: run on elements, recorded on a tape, or written to a trace, by what
//! the arguments are.

use crate::array::{Array, RUNTIME, State};
use crate::device::{self, Device};
use crate::error::{OrRaise, guarded};
use crate::numpy::{Borrowed, Small, borrow};
use crate::operand::{self, Number};
use crate::{buffer, dims, dtype, place, scope, tape};
use cotangent::cpu::Hook;
use cotangent::extend::for_dtype;
use cotangent::pjrt::{DeviceProgram, DeviceTensor};
use cotangent::tensor::Order;
use cotangent::{
    CpuBackend, DType, EagerTensor, Element, Executable, Function, Shape, Tensor, TensorOps,
    TracedTensor,
};
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Duration from which a run releases the interpreter.
const DETACHED: Duration = Duration::from_micros(20);

/// The limit of threads of runs; 0: that of the process.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The current limit of threads.
pub(crate) fn threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}

/// Sets the limit of threads of later compilations; 0: that of the process. Returns the former one.
#[pyfunction]
pub(crate) fn set_threads(py: Python<'_>, n: usize) -> PyResult<usize> {
    let old = THREADS.swap(n, Ordering::Relaxed);
    RUNTIME.with_backend_mut(|b| *b = backend()).or_raise(py)?;
    Ok(old)
}

thread_local! {
    /// The exception of a signal that ended a run of this thread.
    static SIGNAL: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The exception of the signal that ended the last run of this thread.
pub(crate) fn take_signal() -> Option<PyErr> {
    SIGNAL.take()
}

/// The hook of runs: asks the interpreter for signals, whose exception it stores.
pub(crate) fn hook() -> &'static Hook {
    static HOOK: LazyLock<Hook> = LazyLock::new(|| {
        Arc::new(|| {
            Python::attach(|py| match py.check_signals() {
                Ok(()) => false,
                Err(e) => {
                    SIGNAL.set(Some(e));
                    true
                }
            })
        })
    });
    &HOOK
}

/// The backend of runs, with the hook.
pub(crate) fn backend() -> CpuBackend {
    let backend = match threads() {
        0 => CpuBackend::new(),
        n => CpuBackend::with_threads(n).unwrap_or_default(),
    };
    backend.with_interrupt(hook().clone())
}

/// A compiled function.
pub(crate) struct Compiled {
    pub function: Arc<Function>,
    program: OnceLock<Executable>,
    /// Its device; `None`: that of the arguments.
    device: Option<Arc<Device>>,
    /// The program of the last device that is not the CPU, and the parameters that it may write
    /// over.
    on_device: Mutex<Option<(Arc<Device>, Arc<Placed>)>>,
    /// Whether a run takes over the elements of each parameter; empty: of none.
    donated: Vec<bool>,
    /// Whether a run took long, so that the next one releases the interpreter.
    slow: AtomicBool,
}

/// A program on a device, and the parameters that a run may write over.
struct Placed {
    program: DeviceProgram,
    donated: Vec<usize>,
}

impl Compiled {
    /// A function that takes over the elements of some parameters (`donated`; empty: of none), on a
    /// device, or on that of the arguments.
    pub(crate) fn new(
        function: Arc<Function>,
        donated: Vec<bool>,
        device: Option<Arc<Device>>,
    ) -> Compiled {
        Compiled {
            function,
            program: OnceLock::new(),
            device,
            on_device: Mutex::default(),
            donated,
            slow: AtomicBool::new(true),
        }
    }

    /// The program, compiled at the first use.
    pub(crate) fn program(&self, py: Python<'_>) -> PyResult<&Executable> {
        if let Some(p) = self.program.get() {
            return Ok(p);
        }
        let function = &self.function;
        let p = py.detach(|| guarded(|| backend().executor().compile(function)))?;
        let p = p.or_raise(py)?;
        Ok(self.program.get_or_init(|| p))
    }

    /// The results of a run.
    fn arrays<'py>(&self, py: Python<'py>, y: Vec<Tensor>) -> PyResult<Results<'py>> {
        let array = match self.donated.is_empty() {
            true => Array::known,
            false => Array::donable,
        };
        y.into_iter().map(|t| Bound::new(py, array(t)?)).collect()
    }

    /// Donated parameters, each with a result of its type that can be written over it.
    fn aliased(&self) -> Vec<usize> {
        let mut free = self.function.result_types();
        let taken = self.donated.iter().zip(self.function.param_types());
        let aliased = taken.enumerate().filter(|(_, (taken, ty))| {
            let at = free.iter().position(|r| **taken && r == ty);
            at.inspect(|&at| drop(free.swap_remove(at))).is_some()
        });
        aliased.map(|(k, _)| k).collect()
    }

    /// The program on a device that is not the CPU.
    fn on(&self, py: Python<'_>, device: &Arc<Device>) -> PyResult<Arc<Placed>> {
        let lock = || {
            self.on_device
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some((d, placed)) = &*lock()
            && Arc::ptr_eq(d, device)
        {
            return Ok(placed.clone());
        }
        let donated = self.aliased();
        let make = || match &device.backend {
            Some(b) => b.program(&self.function)?.donate(&donated),
            None => cotangent::bail!(Invalid, "the CPU has programs of its own"),
        };
        let program = py.detach(|| guarded(make))?.or_raise(py)?;
        let placed = Arc::new(Placed { program, donated });
        *lock() = Some((device.clone(), placed.clone()));
        Ok(placed)
    }
}

/// An argument of a call.
pub(crate) enum Arg<'py> {
    Array(Bound<'py, Array>),
    /// Memory of NumPy, borrowed for the call.
    Borrowed(Borrowed<'py>),
    Number(Number),
}

impl<'py> Arg<'py> {
    pub(crate) fn of(x: &Bound<'py, PyAny>) -> PyResult<Arg<'py>> {
        if let Ok(a) = x.cast::<Array>() {
            a.get().check()?;
            return Ok(Arg::Array(a.clone()));
        }
        if let Some(n) = Number::of(x)? {
            return Ok(Arg::Number(n));
        }
        if let Some(b) = borrow(x)? {
            return Ok(Arg::Borrowed(b));
        }
        if let Some(d) = dims::array(x)? {
            return Ok(Arg::Array(d));
        }
        Ok(Arg::Array(operand::array(x)?))
    }

    /// Element type, shape, and whether it is a Python number.
    pub(crate) fn spec(&self) -> (DType, Shape, bool) {
        match self {
            Arg::Array(a) => {
                let ty = a.get().ty();
                (ty.dtype, ty.shape, a.get().weak)
            }
            Arg::Borrowed(b) => {
                let dims = b.shape().iter().map(|&n| n.into()).collect::<Vec<_>>();
                (b.dtype, dims.into(), false)
            }
            Arg::Number(n) => (dtype::default(n.level()), Shape::scalar(), true),
        }
    }

    /// Its device, and whether it is a number; `None` for a Python number, and for a value of a
    /// program.
    pub(crate) fn placement(&self) -> Option<(Arc<Device>, bool)> {
        match self {
            Arg::Array(a) if self.is_traced() || matches!(a.get().state, State::Traced(_)) => None,
            Arg::Array(a) => Some((a.get().placement(), a.get().rank() == 0)),
            Arg::Borrowed(b) => Some((Device::cpu().clone(), b.shape().is_empty())),
            Arg::Number(_) => None,
        }
    }

    /// Whether a program of this device takes it without a copy of an array.
    pub(crate) fn is_near(&self, device: &Device) -> bool {
        match self {
            Arg::Array(a) => match &a.get().state {
                State::Eager(x) => device.has(x) || (x.rank() == 0 && Device::cpu().has(x)),
                _ => a.get().placement().name == device.name,
            },
            Arg::Borrowed(b) => device.is_cpu() || b.shape().is_empty(),
            Arg::Number(_) => true,
        }
    }

    /// Whether it has this type, and is a Python number or not.
    pub(crate) fn is_like(&self, d: DType, shape: &Shape, weak: bool) -> bool {
        let fits = |extents: &[usize]| {
            extents.len() == shape.len() && extents.iter().zip(shape.iter()).all(|(&n, d)| d.is(n))
        };
        match self {
            Arg::Array(a) => match &a.get().state {
                State::Eager(x) => x.dtype() == d && a.get().weak == weak && fits(x.shape()),
                _ => {
                    let spec = self.spec();
                    spec.0 == d && spec.2 == weak && spec.1[..] == shape[..]
                }
            },
            Arg::Borrowed(b) => b.dtype == d && !weak && fits(b.shape()),
            Arg::Number(n) => weak && dtype::default(n.level()) == d && shape.is_empty(),
        }
    }

    fn is_traced(&self) -> bool {
        match self {
            Arg::Array(a) => {
                let known = |a: &Array| match &a.state {
                    State::Traced(t) => t.is_known() && !scope::is_lazy(),
                    _ => !a.is_traced(),
                };
                !known(a.get())
            }
            _ => false,
        }
    }

    fn is_recorded(&self) -> bool {
        matches!(self, Arg::Array(a) if a.get().is_recorded()) && !tape::is_silent()
    }

    /// As an array; a number is one of this element type.
    pub(crate) fn array(&self, py: Python<'py>, d: Option<DType>) -> PyResult<Bound<'py, Array>> {
        match self {
            Arg::Array(a) => Ok(a.clone()),
            Arg::Borrowed(b) => {
                let t = b.tensor().or_raise(py)?;
                let t = copy(&t, b.shape()).or_raise(py)?;
                Bound::new(py, Array::known(t)?)
            }
            Arg::Number(n) => Bound::new(py, n.array(d.unwrap_or(dtype::default(n.level())))?),
        }
    }

    /// The elements of an array on the CPU that is no parameter and no value of a program.
    fn on_cpu(&self) -> Option<&EagerTensor> {
        match self {
            Arg::Array(a) => match &a.get().state {
                State::Eager(x) if Device::cpu().has(x) => Some(x),
                _ => None,
            },
            _ => None,
        }
    }

    /// The elements where they are.
    fn tensor(&self, py: Python<'_>, d: DType) -> PyResult<Tensor> {
        match self {
            Arg::Array(a) => a.get().placed(py, "a call"),
            Arg::Borrowed(b) => b.tensor().or_raise(py),
            Arg::Number(n) => Tensor::full(d, Vec::new(), n.scalar(d)?).or_raise(py),
        }
    }
}

/// A tensor with elements of its own.
fn copy(t: &Tensor, shape: &[usize]) -> cotangent::Result<Tensor> {
    fn of<T: Element>(t: &Tensor, shape: &[usize]) -> cotangent::Result<Tensor> {
        Tensor::from_vec_row_major(shape.to_vec(), t.to_vec_row_major::<T>()?)
    }
    for_dtype!(t.dtype(), T => of::<T>(t, shape))
}

/// Arguments of a call, in the order of the program's parameters.
pub(crate) type Args<'py> = SmallVec<[Arg<'py>; 4]>;

/// Results of a call.
pub(crate) type Results<'py> = SmallVec<[Bound<'py, Array>; 4]>;

/// The results of a compiled function for these arguments.
pub(crate) fn call<'py>(
    py: Python<'py>,
    f: &Compiled,
    args: &[Arg<'py>],
) -> PyResult<Results<'py>> {
    if args.iter().any(Arg::is_traced) {
        return written(py, f, args);
    }
    let found;
    let device = match &f.device {
        Some(device) => device,
        None => {
            found = device::of_program(args, &[])?;
            &found
        }
    };
    if args.iter().any(Arg::is_recorded) {
        let mut values: Vec<EagerTensor> = args
            .iter()
            .zip(f.function.param_types())
            .map(|(a, ty)| a.array(py, Some(ty.dtype))?.get().elements(py, "a call"))
            .collect::<PyResult<_>>()?;
        for x in &mut values {
            if !x.tracks_grad() && !device.has(x) {
                let t = device.copy(py, &x.to_tensor().or_raise(py)?)?;
                *x = device.runtime.constant_from(t).or_raise(py)?;
            }
        }
        let device = device::together(py, &mut values)?;
        let refs: Vec<&EagerTensor> = values.iter().collect();
        let y = device.runtime.write(&refs, |cx, x| cx.call(&f.function, x));
        let new = |x| Bound::new(py, Array::eager(x));
        return y.or_raise(py)?.into_iter().map(new).collect();
    }
    if !device.is_cpu() {
        return run_on(py, f, device, args);
    }
    let program = f.program(py)?;
    match f.donated.is_empty() && program.is_direct() {
        true => run_tiny(py, f, program, args),
        false => run(py, f, program, args),
    }
}

/// Runs the program on a device that is not the CPU. Arguments on the CPU are copied there, and
/// results stay there.
fn run_on<'py>(
    py: Python<'py>,
    f: &Compiled,
    device: &Arc<Device>,
    args: &[Arg<'py>],
) -> PyResult<Results<'py>> {
    let placed = f.on(py, device)?;
    let mut keep = Vec::new();
    let mut x: Vec<DeviceTensor> = Vec::with_capacity(args.len());
    for (k, (a, ty)) in args.iter().zip(f.function.param_types()).enumerate() {
        let t = match a {
            Arg::Array(a) if placed.donated.contains(&k) => {
                // Elements of other arrays than results of such a function stay theirs.
                if !matches!(a.get().state, State::Donable(_)) {
                    keep.push(k);
                }
                a.get().given_up(py)?
            }
            a => a.tensor(py, ty.dtype)?,
        };
        x.push(device.argument(py, &t)?);
    }
    let run = || {
        let y = placed
            .program
            .run_keeping(&x.iter().collect::<Vec<_>>(), &keep)?;
        y.iter().map(|y| device.tensor(y)).collect()
    };
    let y: cotangent::Result<Vec<Tensor>> = py.detach(|| guarded(run))?;
    f.arrays(py, y.or_raise(py)?)
}

/// A call in the trace of the arguments.
fn written<'py>(py: Python<'py>, f: &Compiled, args: &[Arg<'py>]) -> PyResult<Results<'py>> {
    let arrays: Vec<Bound<'py, Array>> = args
        .iter()
        .zip(f.function.param_types())
        .map(|(a, ty)| a.array(py, Some(ty.dtype)))
        .collect::<PyResult<_>>()?;
    let nodes: Vec<TracedTensor> = arrays.iter().map(Array::node).collect::<PyResult<_>>()?;
    let refs: Vec<&TracedTensor> = nodes.iter().collect();
    let loc = place::here(py);
    let y = TracedTensor::emit(&refs, |cx, x| {
        cx.set_loc(loc);
        cx.call(&f.function, x)
    });
    let scope = scope::innermost(arrays.iter().filter_map(|a| a.get().scope.as_ref()));
    let traced = |t| Bound::new(py, Array::of_node(t, scope.clone()));
    y.or_raise(py)?.into_iter().map(traced).collect()
}

/// Runs a program over small tensors: it is too short to release the interpreter, has no loop whose
/// run a signal would end, and its results own their memory.
fn run_tiny<'py>(
    py: Python<'py>,
    f: &Compiled,
    program: &Executable,
    args: &[Arg<'py>],
) -> PyResult<Results<'py>> {
    let mut x = SmallVec::<[Small<'_, 'py>; 4]>::new();
    for (a, &p) in args.iter().zip(f.function.params()) {
        x.push(match a {
            Arg::Borrowed(b) => Small::Borrowed(b),
            a => match a.on_cpu() {
                Some(x) => Small::Read(x.tensor_read().or_raise(py)?),
                None => {
                    let t = a.tensor(py, f.function.ty(p).dtype)?;
                    Device::cpu().check(&t)?;
                    Small::Tensor(t)
                }
            },
        });
    }
    // Results become objects where they are computed, and are not moved again.
    let (mut y, mut failed) = (Results::new(), None);
    let give = |view| {
        let array = Array::known(Tensor::from_view(view, Order::RowMajor));
        match array.and_then(|a| Bound::new(py, a)) {
            Ok(a) => y.push(a),
            Err(e) => failed = Some(e),
        }
    };
    let done = guarded(|| Small::run(program, &x, give))?;
    match (done, failed) {
        (_, Some(e)) => Err(e),
        (Some(done), None) => done.or_raise(py).map(|()| y),
        (None, None) => run(py, f, program, args),
    }
}

/// Runs a program.
fn run<'py>(
    py: Python<'py>,
    f: &Compiled,
    program: &Executable,
    args: &[Arg<'py>],
) -> PyResult<Results<'py>> {
    let taken = f.donated.iter().copied().chain(std::iter::repeat(false));
    let views = args
        .iter()
        .zip(f.function.params())
        .zip(taken)
        .map(|((a, &p), taken)| {
            let t = match a {
                Arg::Array(a) if taken => a.get().given_up(py)?,
                a => a.tensor(py, f.function.ty(p).dtype)?,
            };
            Device::cpu().check(&t)?;
            Ok(t.into_view())
        })
        .collect::<PyResult<Vec<_>>>()?;
    let begin = Instant::now();
    let y = match f.slow.load(Ordering::Relaxed) {
        true => py.detach(|| guarded(|| program.run_tensors(views))),
        false => guarded(|| program.run_tensors(views)),
    }?;
    f.slow.store(begin.elapsed() >= DETACHED, Ordering::Relaxed);
    let mut y: Vec<Tensor> = y
        .or_raise(py)?
        .into_iter()
        .map(|view| Tensor::from_view(view, Order::RowMajor))
        .collect();
    // A result never is in memory of the caller's.
    for a in args {
        if let Arg::Borrowed(b) = a
            && b.release()
        {
            for t in &mut y {
                if b.holds(buffer::address(t.view())) {
                    *t = copy(t, t.shape()).or_raise(py)?;
                }
            }
        }
    }
    f.arrays(py, y)
}
