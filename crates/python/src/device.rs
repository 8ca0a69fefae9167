//! Devices: the CPU, and those of PJRT plugins, such as `cuda:1`. Each has a runtime of eager
//! operations.
//!
//! Arrays do not move by themselves: an operation on arrays of two devices is an error. Arrays of
//! rank 0 are numbers, and are copied to the device of the others.

use crate::array::{Array, RUNTIME, State};
use crate::error::{OrRaise, guarded, raise};
use crate::run::Arg;
use crate::tree::flatten;
use cotangent::pjrt::{DeviceTensor, PjrtBackend, search_in};
use cotangent::{EagerRuntime, EagerTensor, Tensor};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// A device, and the runtime of its eager operations.
pub(crate) struct Device {
    pub name: String,
    /// `None`: the CPU.
    pub backend: Option<PjrtBackend>,
    pub runtime: Arc<EagerRuntime>,
}

/// Cotangent's own runtime.
static CPU: LazyLock<Arc<Device>> = LazyLock::new(|| {
    Arc::new(Device {
        name: "cpu".to_owned(),
        backend: None,
        runtime: RUNTIME.clone(),
    })
});

/// Devices of plugins that were asked for.
static DEVICES: Mutex<Vec<Arc<Device>>> = Mutex::new(Vec::new());

fn devices() -> MutexGuard<'static, Vec<Arc<Device>>> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets plugins be found among the packages of this interpreter.
fn search(py: Python<'_>) -> PyResult<()> {
    let path: Vec<PathBuf> = py.import("sys")?.getattr("path")?.extract()?;
    search_in(path.into_iter().filter(|p| p.is_dir()).collect());
    Ok(())
}

/// The device of a backend, which is named if it is new.
fn registered(name: &str, backend: PjrtBackend) -> Arc<Device> {
    let mut all = devices();
    let same = |d: &&Arc<Device>| d.backend.as_ref() == Some(&backend);
    if let Some(known) = all.iter().find(same) {
        return known.clone();
    }
    let device = Arc::new(Device {
        name: name.to_owned(),
        runtime: EagerRuntime::with_backend(backend.clone()),
        backend: Some(backend),
    });
    all.push(device.clone());
    device
}

impl Device {
    /// The CPU.
    pub(crate) fn cpu() -> &'static Arc<Device> {
        &CPU
    }

    /// The CPU, and the devices of plugins that were asked for.
    pub(crate) fn all() -> Vec<Arc<Device>> {
        std::iter::once(&*CPU).chain(&*devices()).cloned().collect()
    }

    /// The device of this name: `cpu`, or that of a plugin, as in `cuda:1`.
    pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<Arc<Device>> {
        if name == "cpu" {
            return Ok(CPU.clone());
        }
        let (plugin, number) = name.split_once(':').unwrap_or((name, "0"));
        if !PjrtBackend::names().any(|n| n == plugin) {
            let others: Vec<&str> = PjrtBackend::names().collect();
            return Err(raise(
                "Attribute",
                format!(
                    "there is no device {name:?}: devices are \"cpu\", and {}, with a number as in \"cuda:1\"; \
                     cotangent.devices() lists those that are there",
                    others.join(", ")
                ),
            ));
        }
        let full = format!("{plugin}:{number}");
        if let Some(known) = devices().iter().find(|d| d.name == full) {
            return Ok(known.clone());
        }
        search(py)?;
        let backend = py.detach(|| guarded(|| PjrtBackend::new(name)))?;
        Ok(registered(&full, backend.or_raise(py)?))
    }

    /// The device of a tensor.
    pub(crate) fn of(t: &Tensor) -> Arc<Device> {
        match PjrtBackend::of(t) {
            None => CPU.clone(),
            Some(backend) => {
                let name = format!("{backend:?}");
                registered(&name, backend)
            }
        }
    }

    /// The device of a runtime.
    pub(crate) fn of_runtime(rt: &Arc<EagerRuntime>) -> Arc<Device> {
        if Arc::ptr_eq(rt, &RUNTIME) {
            return CPU.clone();
        }
        let all = devices();
        let found = all.iter().find(|d| Arc::ptr_eq(&d.runtime, rt));
        found.unwrap_or(&CPU).clone()
    }

    pub(crate) fn is_cpu(&self) -> bool {
        self.backend.is_none()
    }

    /// Whether it is that of these elements.
    pub(crate) fn has(&self, x: &EagerTensor) -> bool {
        Arc::ptr_eq(&self.runtime, x.runtime())
    }

    /// An error for a tensor of another device.
    pub(crate) fn check(&self, t: &Tensor) -> PyResult<()> {
        match PjrtBackend::of(t) == self.backend {
            true => Ok(()),
            false => Err(apart(&Device::of(t).name, &self.name)),
        }
    }

    /// A copy of a tensor of the CPU or of this device, here.
    pub(crate) fn copy(&self, py: Python<'_>, t: &Tensor) -> PyResult<Tensor> {
        match &self.backend {
            Some(backend) if PjrtBackend::of(t).is_none() => {
                py.detach(|| guarded(|| backend.to_device(t)))?.or_raise(py)
            }
            _ => self.check(t).map(|()| t.clone()),
        }
    }

    /// A tensor of a program of the device.
    pub(crate) fn tensor(&self, x: &DeviceTensor) -> cotangent::Result<Tensor> {
        match &self.backend {
            Some(backend) => backend.tensor(x),
            None => x.download(),
        }
    }

    /// A tensor as an argument of a program of the device, where it is copied if it is on the CPU.
    pub(crate) fn argument(&self, py: Python<'_>, t: &Tensor) -> PyResult<DeviceTensor> {
        let there = self.copy(py, t)?;
        let Some(backend) = &self.backend else {
            return Err(apart("cpu", &self.name));
        };
        py.detach(|| guarded(|| backend.device_tensor(&there)))?
            .or_raise(py)
    }
}

/// The elements of a tensor on the CPU: a copy if they are elsewhere, after waiting for them.
pub(crate) fn host(py: Python<'_>, t: &Tensor) -> PyResult<Tensor> {
    match PjrtBackend::of(t) {
        None => Ok(t.clone()),
        Some(_) => py.detach(|| guarded(|| t.to_host()))?.or_raise(py),
    }
}

/// The error of arrays of two devices.
fn apart(a: &str, b: &str) -> PyErr {
    raise(
        "DeviceMismatch",
        format!(
            "an array is on the device {a:?}, and another on {b:?}: arrays do not move by themselves; copy one with \
             x.to_device({b:?})"
        ),
    )
}

/// The device of an operation on these values. Numbers on the CPU are copied there.
pub(crate) fn together(py: Python<'_>, x: &mut [EagerTensor]) -> PyResult<Arc<Device>> {
    let Some(far) = x.iter().find(|x| !CPU.has(x)) else {
        return Ok(CPU.clone());
    };
    let device = Device::of_runtime(far.runtime());
    for x in x {
        if device.has(x) {
            continue;
        }
        if !(CPU.has(x) && x.rank() == 0 && !x.tracks_grad()) {
            return Err(apart(&Device::of_runtime(x.runtime()).name, &device.name));
        }
        let t = device.copy(py, &x.to_tensor().or_raise(py)?)?;
        *x = device.runtime.constant_from(t).or_raise(py)?;
    }
    Ok(device)
}

/// The device of arrays that a program reads together.
#[derive(Default)]
pub(crate) struct Nearby {
    far: Option<Arc<Device>>,
    /// Whether an array that is no number is on the CPU.
    on_cpu: bool,
}

impl Nearby {
    /// Adds an array of this device. An error if it is not that of the others. Numbers may be on
    /// the CPU.
    pub(crate) fn add(&mut self, device: Arc<Device>, is_number: bool) -> PyResult<()> {
        match &self.far {
            _ if device.is_cpu() => self.on_cpu |= !is_number,
            Some(other) if other.name != device.name => {
                return Err(apart(&device.name, &other.name));
            }
            _ => self.far = Some(device),
        }
        match &self.far {
            Some(far) if self.on_cpu => Err(apart("cpu", &far.name)),
            _ => Ok(()),
        }
    }

    /// The device of all of them.
    pub(crate) fn device(self) -> Arc<Device> {
        self.far.unwrap_or_else(|| CPU.clone())
    }
}

/// An error for arrays of several devices in the arguments of a function, also in those that it is
/// not differentiated by.
pub(crate) fn check_arguments(args: &Bound<'_, PyTuple>) -> PyResult<()> {
    let (mut leaves, mut near) = (Vec::new(), Nearby::default());
    flatten(args.as_any(), &mut leaves)?;
    for x in leaves {
        if let Ok(a) = x.cast::<Array>()
            && !a.get().is_traced()
        {
            near.add(a.get().placement(), a.get().rank() == 0)?;
        }
    }
    Ok(())
}

/// The device of a program: that of its arguments, and of arrays that it captured on other devices
/// than the CPU.
pub(crate) fn of_program(args: &[Arg<'_>], captured: &[Py<Array>]) -> PyResult<Arc<Device>> {
    let mut near = Nearby::default();
    for (device, is_number) in args.iter().filter_map(Arg::placement) {
        near.add(device, is_number)?;
    }
    for device in captured.iter().map(|a| a.get().placement()) {
        if !device.is_cpu() {
            near.add(device, false)?;
        }
    }
    Ok(near.device())
}

impl Array {
    /// The device of the elements; that of a value of a program is not known.
    pub(crate) fn placement(&self) -> Arc<Device> {
        match &self.state {
            State::Eager(x) => Device::of_runtime(x.runtime()),
            State::Parameter(_) => {
                let slot = self.slot().expect("it is a parameter");
                Device::of_runtime(slot.value.runtime())
            }
            State::Donable(d) => d.device(),
            State::Traced(_) => CPU.clone(),
        }
    }
}

/// A value for a place on this device: the array, if it is there, or a copy of a number.
pub(crate) fn same<'py>(x: &Bound<'py, Array>, device: &Device) -> PyResult<Bound<'py, Array>> {
    let there = x.get().placement();
    if there.name == device.name {
        return Ok(x.clone());
    }
    if x.get().rank() > 0 {
        return Err(apart(&there.name, &device.name));
    }
    let t = x.get().tensor(x.py(), "a copy")?;
    Bound::new(x.py(), Array::known(device.copy(x.py(), &t)?)?)
}

/// The arrays, with numbers on the CPU copied to the device of the others.
pub(crate) fn with_numbers<'py>(x: Vec<Bound<'py, Array>>) -> PyResult<Vec<Bound<'py, Array>>> {
    let placed = |a: &Bound<'py, Array>| (!a.get().is_traced()).then(|| a.get().placement());
    let Some(far) = x.iter().filter_map(placed).find(|d| !d.is_cpu()) else {
        return Ok(x);
    };
    let one = |a: Bound<'py, Array>| match placed(&a) {
        Some(d) if d.is_cpu() && a.get().rank() == 0 => same(&a, &far),
        _ => Ok(a),
    };
    x.into_iter().map(one).collect()
}

/// The names of the devices, and the plugins that cannot be used, with the reason.
#[pyfunction]
pub(crate) fn find_devices<'py>(py: Python<'py>) -> PyResult<(Vec<String>, Bound<'py, PyDict>)> {
    search(py)?;
    let mut names = vec![CPU.name.clone()];
    let failed = PyDict::new(py);
    for (plugin, first) in py.detach(|| guarded(PjrtBackend::installed))? {
        match first {
            Ok(first) => names.extend((0..first.devices()).map(|k| format!("{plugin}:{k}"))),
            Err(why) => failed.set_item(plugin, why.message())?,
        }
    }
    Ok((names, failed))
}

/// A copy of an array on another device; the array itself if it is there.
#[pyfunction]
pub(crate) fn to_device<'py>(x: &Bound<'py, Array>, device: &str) -> PyResult<Bound<'py, Array>> {
    let (py, array) = (x.py(), x.get());
    let device = Device::named(py, device)?;
    if array.is_traced() {
        return match device.is_cpu() {
            true => Ok(x.clone()),
            false => Err(raise(
                "Concretization",
                "a value of a program has the device of the program: choose it with cotangent.jit(f, device=..), or by \
                 the device of the arguments",
            )),
        };
    }
    if array.placement().name == device.name {
        return Ok(x.clone());
    }
    if array.is_recorded() {
        return Err(raise(
            "GraphFreed",
            "an array that is recorded on a tape cannot be copied to another device: its gradient would be lost. Copy \
             x.detach()",
        ));
    }
    // The way from one device to another is over the CPU.
    let there = device.copy(py, &array.tensor(py, "to_device()")?)?;
    Bound::new(py, Array::known(there)?)
}
