//! Operations on the tensors of a device, which wait to be run as one program.
//!
//! A compiled program for each operation would cost a compilation for each kind of operation, and
//! tens of microseconds for each call. So operations are recorded. They run when a result is read,
//! when [`Waiting::LIMIT`] of them wait, or on request: those that live tensors depend on, as one
//! program, whose results are the tensors that are alive. Programs of one structure are compiled
//! once: floating-point numbers other than 0 and 1, and arrays above [`LITERAL_BYTES`], are
//! arguments of the program.

use super::backend::{PjrtBackend, Queued};
use super::program::DeviceProgram;
use super::tensor::DeviceTensor;
use crate::eager::{Device, EagerRuntime};
use crate::tensor::{Remote, Tensor, remote_of};
use crate::traced::Cache;
use crate::{AdContext, Array, Builder, DType, Emit, Error, Op, Result, Type, bail};
use cotangent_core::ops::{BroadcastInDim, Constant, Guard, Value};
use cotangent_core::text::print_function;
use cotangent_core::transform::Session;
use cotangent_core::{Scalar, Val, Wide};
use cotangent_cpu::Tensor as View;
use cotangent_cpu::kernel::{Operands, Results};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Largest number of bytes of an array that is part of a program's text.
const LITERAL_BYTES: usize = 1 << 10;
/// Number of different numbers that stay on the device as arguments of programs.
const MAX_NUMBERS: usize = 256;
/// Number of collected programs that a device keeps.
const MAX_PROGRAMS: usize = 256;

/// The operations of a device that wait, and the programs of earlier ones.
struct Waiting {
    queue: Mutex<Queue>,
    /// Programs by the text of their functions.
    programs: Cache<Arc<str>, Arc<DeviceProgram>>,
    /// Operations, with their operand types, that have a form on devices.
    forms: Mutex<HashSet<String>>,
    numbers: Mutex<HashMap<(DType, Scalar), DeviceTensor>>,
}

#[derive(Default)]
struct Queue {
    operations: Vec<Operation>,
    /// Results of all operations, in order.
    values: Vec<Weak<Elements>>,
    /// Conditions that must hold, which are read with the next result.
    guards: Vec<(Guard, Vec<Arc<Elements>>)>,
}

struct Operation {
    /// `None`: the result is the operand.
    op: Option<Op>,
    operands: Vec<Operand>,
    /// Position of its first result in the values of the queue.
    first: usize,
}

#[derive(Clone)]
enum Operand {
    Waiting(usize),
    Computed(DeviceTensor),
    /// A number with the type of the operand.
    Number(Type, Scalar),
}

/// The elements of a tensor on a device, perhaps not computed yet.
struct Elements {
    backend: PjrtBackend,
    ty: Type,
    state: Mutex<State>,
}

#[derive(Clone)]
enum State {
    /// The position in the values of the queue.
    Waiting(usize),
    Computed(DeviceTensor),
    Failed(Error),
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting {
            queue: Mutex::default(),
            programs: Cache::new(MAX_PROGRAMS),
            forms: Mutex::default(),
            numbers: Mutex::default(),
        }
    }
}

impl Waiting {
    /// Number of operations that wait at most.
    const LIMIT: usize = 512;
}

impl Queued for Waiting {
    fn clear(&self) {
        self.programs.clear();
        lock(&self.numbers).clear();
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

impl Elements {
    fn new(backend: &PjrtBackend, ty: Type, state: State) -> Arc<Elements> {
        Arc::new(Elements {
            backend: backend.clone(),
            ty,
            state: Mutex::new(state),
        })
    }

    /// The tensor of the device, after running what waits if it is not computed yet.
    fn computed(&self) -> Result<DeviceTensor> {
        if matches!(*lock(&self.state), State::Waiting(_)) {
            self.backend.flush();
        }
        match lock(&self.state).clone() {
            State::Computed(t) => Ok(t),
            State::Failed(e) => Err(e),
            State::Waiting(_) => bail!(Invalid, "an operation on {:?} did not run", self.backend),
        }
    }
}

impl fmt::Debug for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.backend.fmt(f)
    }
}

impl Remote for Elements {
    fn ty(&self) -> &Type {
        &self.ty
    }

    fn download(&self) -> Result<Array> {
        let computed = self.computed()?;
        self.backend.check_guards()?;
        computed.download()?.to_array()
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// The elements of a view that is on a device of a plugin.
fn elements_of(view: &View) -> Option<Arc<Elements>> {
    remote_of(view)?.clone().any().downcast().ok()
}

/// The runtime of operations on plain tensors of the device of a tensor; `None` on the host.
pub(crate) fn runtime_of(x: &Tensor) -> Option<Arc<EagerRuntime>> {
    let ad = AdContext::default();
    Some(EagerRuntime::on_device(Arc::new(PjrtBackend::of(x)?), &ad))
}

impl Device for PjrtBackend {
    fn execute(&self, op: &Op, x: &Operands) -> Result<Results> {
        if let Op::Guard(guard) = op {
            return self.guard(guard, x);
        }
        let types: Vec<Type> = x.iter().map(View::ty).collect();
        let results = op.infer(&types)?;
        self.check_form(op, &types, &results)?;
        // Another backend of the same device has a queue of its own, which is run before.
        let others = x.iter().filter_map(elements_of).map(|e| e.backend.clone());
        others
            .filter(|b| !Arc::ptr_eq(&b.queue, &self.queue))
            .for_each(|b| b.flush());
        let mut queue = lock(&self.waiting().queue);
        let mut operands = Vec::with_capacity(x.len());
        for view in x {
            match self.operand(view)? {
                Ok(operand) => operands.push(operand),
                // What is computed from a failed result has its error.
                Err(e) => {
                    let failed = |ty| self.result(ty, State::Failed(e.clone()));
                    return results.into_iter().map(|ty| Ok(failed(ty)?.1)).collect();
                }
            }
        }
        let op = match op {
            Op::Constant(c) => match self.constant(c)? {
                Some(Operand::Computed(t)) => {
                    let (_, view) = self.result(c.ty.clone(), State::Computed(t))?;
                    return Ok([view].into_iter().collect());
                }
                Some(number) => {
                    operands.push(number);
                    None
                }
                None => Some(op.clone()),
            },
            op => Some(op.clone()),
        };
        let first = queue.values.len();
        let mut views = Results::new();
        for (k, ty) in results.into_iter().enumerate() {
            let (elements, view) = self.result(ty, State::Waiting(first + k))?;
            queue.values.push(Arc::downgrade(&elements));
            views.push(view);
        }
        queue.operations.push(Operation {
            op,
            operands,
            first,
        });
        if queue.operations.len() >= Waiting::LIMIT {
            self.run_waiting(&mut queue);
        }
        Ok(views)
    }

    fn upload(&self, x: &Tensor) -> Result<Tensor> {
        self.to_device(x)
    }

    fn holds(&self, x: &Arc<dyn Remote>) -> bool {
        let elements: Option<Arc<Elements>> = x.clone().any().downcast().ok();
        elements.is_some_and(|e| e.backend.device == self.device)
    }

    fn synchronize(&self) -> Result<()> {
        self.wait_for_all()
    }
}

impl PjrtBackend {
    /// Runs the operations that wait, and waits for their results. Returns the first error.
    pub(crate) fn wait_for_all(&self) -> Result<()> {
        let live: Vec<Arc<Elements>> = {
            let mut queue = lock(&self.waiting().queue);
            let live = queue.values.iter().filter_map(Weak::upgrade).collect();
            self.run_waiting(&mut queue);
            live
        };
        self.check_guards()?;
        live.iter().try_for_each(|e| e.computed()?.wait())
    }

    fn waiting(&self) -> &Waiting {
        let queue = self.queue.get_or_init(|| Box::new(Waiting::default()));
        queue.any().downcast_ref().expect("its own type")
    }

    /// A result, and its view.
    fn result(&self, ty: Type, state: State) -> Result<(Arc<Elements>, View)> {
        let elements = Elements::new(self, ty, state);
        let view = Tensor::on_device(elements.clone(), Default::default())?.into_view();
        Ok((elements, view))
    }

    /// Checks that an operation has a form on devices, once for its operand types.
    fn check_form(&self, op: &Op, types: &[Type], results: &[Type]) -> Result<()> {
        if let Some(open) = results.iter().find(|t| t.shape.as_const().is_none()) {
            bail!(
                Unsupported,
                "`{}` has a result of type {open} with data-dependent extents, which {self:?} needs before a run: \
                 compute it on the host, after `to_host`",
                op.name()
            );
        }
        let b = Builder::new("operation", Session::default());
        let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
        let y = b.emit(op.clone(), &x);
        let f = Arc::new(b.finish(&y)?);
        let key = print_function(&f);
        if lock(&self.waiting().forms).contains(&key) {
            return Ok(());
        }
        if let Err(e) = self.program(&f) {
            let way = "compute it on the host, after `to_host`";
            return Err(e.note(format!("`{}` has no form on {self:?}: {way}", op.name())));
        }
        lock(&self.waiting().forms).insert(key);
        Ok(())
    }

    /// An operand of a recorded operation; the error if it failed.
    fn operand(&self, view: &View) -> Result<Result<Operand>> {
        let Some(elements) = elements_of(view) else {
            return Ok(Ok(self.of_host(view)?));
        };
        if elements.backend.device != self.device {
            bail!(
                DeviceMismatch,
                "an operation on {self:?} has an operand on {:?}: copy it by `to_host`, then by `to_device`",
                elements.backend
            );
        }
        let state = lock(&elements.state).clone();
        Ok(match state {
            State::Waiting(at) => Ok(Operand::Waiting(at)),
            State::Computed(t) => Ok(Operand::Computed(t)),
            State::Failed(e) => Err(e),
        })
    }

    /// A constant of the runtime: a number, or an array.
    fn of_host(&self, view: &View) -> Result<Operand> {
        let equal = view.strides().iter().zip(view.shape());
        let is_number = equal.into_iter().all(|(&s, &n)| s == 0 || n == 1) && view.numel() > 0;
        if !is_number {
            let array = view.clone().into_array()?;
            return Ok(Operand::Computed(self.upload(&Tensor::from(array))?));
        }
        let first = (0..view.shape().len()).fold(view.clone(), |v, d| v.slice(d, 0, 1, 1));
        let number = match first.into_array()?.wide() {
            Wide::I(v) => Scalar::I(v[0]),
            Wide::F(v) => Scalar::F(v[0]),
            Wide::C(v) => Scalar::C(v[0]),
        };
        Ok(Operand::Number(view.ty(), number))
    }

    /// A constant as an operand; `None` if it is part of the program.
    fn constant(&self, c: &Constant) -> Result<Option<Operand>> {
        Ok(match &c.value {
            Value::Splat(s) => Some(Operand::Number(c.ty.clone(), *s)),
            Value::Dense(a) if a.len() * a.dtype().size() > LITERAL_BYTES => {
                Some(Operand::Computed(self.upload(&Tensor::from(a))?))
            }
            _ => None,
        })
    }

    /// A value under a condition, which is read with the next result.
    fn guard(&self, guard: &Guard, x: &Operands) -> Result<Results> {
        let rest: Vec<Arc<Elements>> = x[1..].iter().filter_map(elements_of).collect();
        if rest.len() + 1 == x.len() {
            lock(&self.waiting().queue)
                .guards
                .push((guard.clone(), rest));
        }
        Ok([x[0].clone()].into_iter().collect())
    }

    /// The first error of the guards.
    fn check_guards(&self) -> Result<()> {
        let guards = std::mem::take(&mut lock(&self.waiting().queue).guards);
        for (guard, operands) in guards {
            let arrays = operands
                .iter()
                .map(|e| e.computed()?.download()?.to_array())
                .collect::<Result<Vec<Array>>>()?;
            let ok = &arrays[0];
            if ok.as_slice::<bool>().is_some_and(|ok| ok.contains(&false)) {
                return Err(guard.error(ok, arrays.get(1)));
            }
        }
        Ok(())
    }

    /// Runs what waits.
    pub(super) fn flush(&self) {
        self.run_waiting(&mut lock(&self.waiting().queue));
    }

    /// Runs what live tensors depend on. They get their elements, or the error.
    fn run_waiting(&self, queue: &mut Queue) {
        let operations = std::mem::take(&mut queue.operations);
        let values = std::mem::take(&mut queue.values);
        let live: Vec<(usize, Arc<Elements>)> = values
            .iter()
            .enumerate()
            .filter_map(|(k, v)| Some((k, v.upgrade()?)))
            .collect();
        if live.is_empty() {
            return;
        }
        let outputs: Vec<usize> = live.iter().map(|l| l.0).collect();
        let states: Vec<State> = match self.run_program(&operations, &outputs) {
            Ok(y) => y.into_iter().map(State::Computed).collect(),
            Err(e) => vec![State::Failed(e); live.len()],
        };
        for ((_, elements), state) in live.iter().zip(states) {
            *lock(&elements.state) = state;
        }
    }

    /// Runs operations as one program with these values as results.
    fn run_program(
        &self,
        operations: &[Operation],
        outputs: &[usize],
    ) -> Result<Vec<DeviceTensor>> {
        let mut needed = vec![false; operations.len()];
        let producer = |value: usize| operations.partition_point(|o| o.first <= value) - 1;
        outputs.iter().for_each(|&v| needed[producer(v)] = true);
        for k in (0..operations.len()).rev() {
            if !needed[k] {
                continue;
            }
            for operand in &operations[k].operands {
                if let Operand::Waiting(v) = operand {
                    needed[producer(*v)] = true;
                }
            }
        }
        let mut program = Collected::new();
        for (op, _) in operations.iter().zip(&needed).filter(|o| *o.1) {
            program.push(self, op)?;
        }
        let values: Vec<Val> = outputs.iter().map(|v| program.values[v]).collect();
        let Collected { b, arguments, .. } = program;
        let f = Arc::new(b.finish(&values)?);
        let key: Arc<str> = print_function(&f).into();
        let program = match self.waiting().programs.get(&key) {
            Some(program) => program,
            None => {
                let made = Arc::new(self.program(&f)?);
                self.waiting().programs.insert(key, made.clone());
                made
            }
        };
        program.run(&arguments.iter().collect::<Vec<_>>())
    }

    /// A number on the device.
    fn number(&self, ty: &Type, c: Scalar) -> Result<DeviceTensor> {
        let key = (ty.dtype, c.cast(ty.dtype));
        if let Some(known) = lock(&self.waiting().numbers).get(&key) {
            return Ok(known.clone());
        }
        let made = self.upload(&Tensor::from(c.array(ty.dtype)))?;
        let mut numbers = lock(&self.waiting().numbers);
        if numbers.len() == MAX_NUMBERS {
            numbers.clear();
        }
        numbers.insert(key, made.clone());
        Ok(made)
    }

    /// A copy of a tensor on this device. Operations on it and on tensors that are computed from it
    /// run there: those of [`methods`](crate::methods), and those of a runtime
    /// [`EagerRuntime::with_backend`]. They wait until a result is read.
    ///
    /// ```no_run
    /// use cotangent::{Tensor, methods::*, pjrt::PjrtBackend};
    /// let device = PjrtBackend::new("cuda")?;
    /// let x = device.to_device(&Tensor::vector(vec![3.0f32, 4.0]))?;
    /// let norm = x.square()?.sum(..)?.sqrt()?;
    /// assert_eq!(norm.device().as_deref(), Some("cuda:0"));
    /// assert_eq!(norm.item::<f32>()?, 5.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// The tensor is on another device; as [`upload`](Self::upload).
    pub fn to_device(&self, x: &Tensor) -> Result<Tensor> {
        if let Some(remote) = x.remote() {
            if Device::holds(self, remote) {
                return Ok(x.clone());
            }
            bail!(
                DeviceMismatch,
                "a tensor of type {} is on {remote:?}: copy it to the host by `to_host`, then to {self:?}",
                x.ty()
            );
        }
        let computed = State::Computed(PjrtBackend::upload(self, x)?);
        Tensor::on_device(Elements::new(self, x.ty(), computed), x.given())
    }

    /// The device of a tensor; `None` on the host.
    ///
    /// ```
    /// use cotangent::{Tensor, pjrt::PjrtBackend};
    /// assert_eq!(PjrtBackend::of(&Tensor::scalar(1.0)), None);
    /// ```
    pub fn of(x: &Tensor) -> Option<PjrtBackend> {
        Some(elements_of(x.view())?.backend.clone())
    }

    /// Returns an error for a tensor that is not on this device.
    pub(crate) fn holding(&self, x: &[&Tensor]) -> Result<()> {
        let other = |x: &&&Tensor| !x.remote().is_some_and(|r| Device::holds(self, r));
        match x.iter().find(other) {
            None => Ok(()),
            Some(x) => bail!(
                DeviceMismatch,
                "a tensor of type {} is on {}, not on {self:?}: copy it by `upload_tensor` or `to_device`",
                x.ty(),
                x.device().as_deref().unwrap_or("the host")
            ),
        }
    }

    /// A tensor of this device, such as the result of a [`DeviceProgram`], as a plain tensor.
    ///
    /// # Errors
    /// It is on another device, or divided among several.
    pub fn tensor(&self, x: &DeviceTensor) -> Result<Tensor> {
        if !x.is_on(&self.device) {
            bail!(DeviceMismatch, "{x:?} is not on {self:?}");
        }
        let elements = Elements::new(self, x.ty().clone(), State::Computed(x.clone()));
        Tensor::on_device(elements, Default::default())
    }

    /// A plain tensor of this device as an argument of a [`DeviceProgram`], after running what it
    /// depends on.
    ///
    /// # Errors
    /// It is on the host or on another device; the error of what should have computed it.
    pub fn device_tensor(&self, x: &Tensor) -> Result<DeviceTensor> {
        self.holding(&[x])?;
        match elements_of(x.view()) {
            Some(elements) => elements.computed(),
            None => self.upload(x),
        }
    }
}

/// A program of recorded operations.
struct Collected {
    b: Builder,
    arguments: Vec<DeviceTensor>,
    parameters: Vec<Val>,
    /// Values of the program by their position in the queue.
    values: HashMap<usize, Val>,
}

impl Collected {
    fn new() -> Collected {
        Collected {
            b: Builder::new("collected", Session::default()),
            arguments: Vec::new(),
            parameters: Vec::new(),
            values: HashMap::new(),
        }
    }

    fn push(&mut self, backend: &PjrtBackend, o: &Operation) -> Result<()> {
        let mut x = Vec::with_capacity(o.operands.len());
        for operand in &o.operands {
            x.push(match operand {
                Operand::Waiting(v) => self.values[v],
                Operand::Computed(t) => self.argument(t),
                Operand::Number(ty, c) if is_text(ty, *c) => {
                    self.b.emit(Constant::splat(ty.clone(), *c).into(), &[])[0]
                }
                Operand::Number(ty, c) => {
                    let number = self.argument(&backend.number(ty, *c)?);
                    let (shape, dims) = (ty.shape.clone(), Vec::new());
                    match ty.shape.rank() {
                        0 => number,
                        _ => self
                            .b
                            .emit(BroadcastInDim { shape, dims }.into(), &[number])[0],
                    }
                }
            });
        }
        let y = match &o.op {
            Some(op) => self.b.emit(op.clone(), &x),
            None => x.into(),
        };
        if let Some(e) = self.b.take_error() {
            return Err(e);
        }
        for (k, y) in y.into_iter().enumerate() {
            self.values.insert(o.first + k, y);
        }
        Ok(())
    }

    /// The parameter of a tensor.
    fn argument(&mut self, t: &DeviceTensor) -> Val {
        if let Some(k) = self.arguments.iter().position(|a| a.is(t)) {
            return self.parameters[k];
        }
        let parameter = self.b.param(t.ty().clone(), None);
        self.arguments.push(t.clone());
        self.parameters.push(parameter);
        parameter
    }
}

/// Whether a number is part of the text of a program: integers, and 0 and 1, which the compiler
/// knows rules of.
fn is_text(ty: &Type, c: Scalar) -> bool {
    !ty.dtype.has_tangent() || [0, 1].iter().any(|&k| c == Scalar::I(k).cast(ty.dtype))
}
