//! [`Traced`]: a closure as a value: the function of its trace, its captures, and the program that
//! runs it.
//!
//! It refers to no placeholder of its trace and to no state of the thread that traced it, so
//! threads may share it. [`jit`](super::jit()) caches one for each structure and types of an
//! argument.

use super::capture::{Closed, write};
use super::tree::{Returns, Tree};
use crate::backend::Backend;
use crate::cpu::View;
use crate::here::{AtCaller, here};
use crate::traced::{Orders, ancestors_of, computed_from, evaluate_arguments};
use crate::{CpuBackend, Function, Loc, Result, Tensor, TracedTensor, Type, bail, rewrite};
use cotangent_core::tape::Compiled;
use std::sync::{Arc, OnceLock};

/// A closure that was traced once: a function of its arguments followed by its captures.
///
/// It is `Send` and `Sync`. Its captures live as long as it does.
///
/// ```
/// use cotangent::{DType, TracedTensor, Type, closures::{grad, trace}};
/// let scale = TracedTensor::scalar(3.0);
/// let f = trace(|x: Vec<TracedTensor>| (&x[0] * &scale).sum(..), &[Type::new(DType::F64, [2])])?;
/// assert_eq!((f.function().params().len(), f.captures().len()), (2, 1));
/// assert!(f.captures()[0].same(&scale));
/// // Called on arrays it runs, on any thread; called on placeholders it becomes a call.
/// let x = TracedTensor::vector(vec![1.0, 2.0]);
/// let y = std::thread::scope(|s| s.spawn(|| f.call(&[x.clone()])).join().unwrap())?;
/// assert_eq!(y[0].item::<f64>()?, 9.0);
/// let g = grad(|x: TracedTensor| f.call(&[x]).map(|y| y[0].clone()))(x)?;
/// assert_eq!(g.to_tensor()?.to_vec::<f64>()?, [3.0, 3.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub struct Traced {
    function: Arc<Function>,
    captures: Vec<TracedTensor>,
    orders: Orders,
    loc: Loc,
    backend: CpuBackend,
    program: OnceLock<cotangent_cpu::Program>,
    /// The device of the runs instead of the CPU.
    device: Option<Box<dyn Backend>>,
    on_device: OnceLock<Compiled<Tensor>>,
}

/// Calls a closure once, on placeholders of these types, and returns its trace as a value. The
/// results are the tensors of the tree that it returns.
///
/// ```
/// use cotangent::{DType, Result, TracedTensor, Type, closures::trace};
/// let f = trace(|x: Vec<TracedTensor>| -> Result<_> { Ok(vec![x[0].sin(), x[0].cos()]) }, &[Type::scalar(DType::F64)])?;
/// assert_eq!(f.function().result_types().len(), 2);
/// assert_eq!(f.call(&[TracedTensor::scalar(0.0)])?[1].item::<f64>()?, 1.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// The errors of the closure, and of tensors that it computed.
#[track_caller]
pub fn trace<R: Returns>(f: impl FnOnce(Vec<TracedTensor>) -> R, types: &[Type]) -> Result<Traced> {
    let loc = here();
    let like = vec![TracedTensor::scalar(0.0); types.len()];
    Traced::of(&Closed::call("traced", loc, &like, types, f)?, loc).map_err(|e| e.at(loc))
}

impl Traced {
    /// The closure of a trace.
    pub(super) fn of<B: Tree>(closed: &Closed<B>, loc: Loc) -> Result<Traced> {
        let (function, captures) = closed.function()?;
        Ok(Traced {
            orders: closed.orders(&captures),
            function: Arc::new(rewrite::simplify(&function)),
            captures,
            loc,
            backend: CpuBackend::new(),
            program: OnceLock::new(),
            device: None,
            on_device: OnceLock::new(),
        })
    }

    /// The same closure on a backend: with its threads, kernels of extension operations and hook.
    ///
    /// ```
    /// use cotangent::{CpuBackend, DType, TracedTensor, Type, closures::trace};
    /// let f = trace(|x: Vec<TracedTensor>| x[0].exp(), &[Type::scalar(DType::F64)])?;
    /// let f = f.on_backend(CpuBackend::with_threads(1)?);
    /// assert_eq!(f.call(&[TracedTensor::scalar(0.0)])?[0].item::<f64>()?, 1.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn on_backend(self, backend: CpuBackend) -> Traced {
        Traced {
            backend,
            program: OnceLock::new(),
            device: None,
            ..self
        }
    }

    /// The same closure on a device. Arguments that are on the host are copied there in each run,
    /// and results are copied back unless an argument is on the device.
    ///
    /// ```no_run
    /// use cotangent::{DType, TracedTensor, Type, closures::trace, pjrt::PjrtBackend};
    /// let f = trace(|x: Vec<TracedTensor>| x[0].exp(), &[Type::scalar(DType::F32)])?;
    /// let f = f.on(&PjrtBackend::new("cuda")?);
    /// assert_eq!(f.call(&[TracedTensor::scalar(0.0f32)])?[0].item::<f32>()?, 1.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn on(self, device: &dyn Backend) -> Traced {
        Traced {
            device: Some(device.boxed()),
            on_device: OnceLock::new(),
            ..self
        }
    }

    /// The simplified function. Its parameters are the arguments, then the captures.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// The tensors that the closure captured: arrays, and values of outer traces.
    pub fn captures(&self) -> &[TracedTensor] {
        &self.captures
    }

    /// The results for these arguments. If they and the captures are
    /// [known](TracedTensor::is_known), the program is compiled at the first call, and runs
    /// immediately. Otherwise the closure becomes a call of its function.
    ///
    /// # Errors
    /// Arguments of other types than the closure was traced with; those of the run.
    #[track_caller]
    pub fn call(&self, x: &[TracedTensor]) -> Result<Vec<TracedTensor>> {
        let arguments = self.function.params().len() - self.captures.len();
        if x.len() != arguments {
            bail!(
                Arity,
                "a closure that was traced with {arguments} arguments is called with {}",
                x.len()
            );
        }
        let args: Vec<TracedTensor> = x.iter().chain(&self.captures).cloned().collect();
        match args.iter().all(TracedTensor::is_known) {
            true => {
                let args: Vec<&TracedTensor> = args.iter().collect();
                evaluate_arguments(&args).and_then(|()| self.run(&args))
            }
            false => self.write(here(), &args),
        }
        .at_caller()
    }

    /// Writes a call of the function into the trace of these arguments and captures.
    pub(super) fn write(&self, loc: Loc, args: &[TracedTensor]) -> Result<Vec<TracedTensor>> {
        write(loc, args, |cx, x| cx.call(&self.function, x))
    }

    /// Runs the program on evaluated arguments and captures.
    pub(super) fn run(&self, args: &[&TracedTensor]) -> Result<Vec<TracedTensor>> {
        let arrays: Vec<&Tensor> = args.iter().filter_map(|t| t.array()).collect();
        let given = arrays.iter().map(|array| array.given());
        let orders = self.orders.results(given, &[]);
        let y = match &self.device {
            None => self.run_on_cpu(&arrays)?,
            Some(device) => self.run_on_device(&**device, &arrays)?,
        };
        let from = ancestors_of(args);
        y.into_iter()
            .zip(&*orders)
            .map(|(t, &g)| {
                Ok(computed_from(
                    Tensor::computed(t, g)?,
                    from.clone(),
                    self.loc,
                ))
            })
            .collect()
    }

    fn run_on_cpu(&self, arrays: &[&Tensor]) -> Result<Vec<View>> {
        for x in arrays {
            x.needs_host("a closure on the CPU")?;
        }
        let program = match self.program.get() {
            Some(p) => p,
            None => {
                let p = self.backend.executor().compile(&self.function)?;
                self.program.get_or_init(|| p)
            }
        };
        program.run_tensors(arrays.iter().map(|array| array.view().clone()))
    }

    fn run_on_device(&self, device: &dyn Backend, arrays: &[&Tensor]) -> Result<Vec<View>> {
        let compiled = match self.on_device.get() {
            Some(c) => c,
            None => {
                let c = device.compile(&self.function)?;
                self.on_device.get_or_init(|| c)
            }
        };
        let y = compiled.run(arrays.iter().map(|&x| x.clone()).collect())?;
        Ok(y.into_iter().map(Tensor::into_view).collect())
    }
}
