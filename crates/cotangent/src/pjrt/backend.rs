//! [`PjrtBackend`]: a device of a plugin, and the programs that were compiled for it.

use super::stored::StoredExecutable;
use crate::traced::{Cache, CacheStats};
use crate::{Result, bail};
use cotangent_stablehlo::Mesh;
use pjrt::loader::{Client, ClientOption, CompileOptions, Device, Executable, MemoryStats};
use std::any::Any;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Names of devices, and their plugins: `xla` is XLA on the CPU.
const PLUGINS: [(&str, &str); 4] = [
    ("xla", "cpu"),
    ("cuda", "cuda"),
    ("tpu", "tpu"),
    ("cotangent", "cotangent"),
];

/// Default limit of the executables that a backend keeps.
const DEFAULT_EXECUTABLES: usize = 256;

/// A device of a PJRT plugin, as a backend. Clones share its compiled programs.
///
/// ```no_run
/// use cotangent::pjrt::PjrtBackend;
/// use cotangent::{GraphCompiler, GraphExecutor, TracedTensor};
/// let executor = GraphExecutor::new(PjrtBackend::new("cuda:1")?);
/// let x = TracedTensor::vector(vec![1.0f32, 2.0]);
/// let program = GraphCompiler::new().compile(&x.exp().sum(..))?;
/// println!("{} on {:?}", executor.run(&program)?, executor.backend());
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone)]
pub struct PjrtBackend {
    pub(super) device: Device,
    executables: Arc<Cache<ExecutableKey, Arc<Executable>>>,
    /// Operations of the device that are not run yet.
    pub(super) queue: Arc<OnceLock<Box<dyn Queued>>>,
}

/// The text of a program, and the numbers of the devices for which it was compiled.
type ExecutableKey = (Arc<str>, Vec<i32>);

/// The operations that wait on a device, and what is cached for them.
pub(super) trait Queued: Send + Sync {
    /// Forgets what is cached.
    fn clear(&self);

    /// The queue, for the module that made it.
    fn any(&self) -> &dyn Any;
}

/// Backends are equal if they are the same device.
impl PartialEq for PjrtBackend {
    fn eq(&self, o: &PjrtBackend) -> bool {
        self.device == o.device
    }
}

impl Eq for PjrtBackend {}

impl std::fmt::Debug for PjrtBackend {
    /// Prints the platform and the number of the device, as in `cuda:1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.device.fmt(f)
    }
}

impl PjrtBackend {
    /// The device of this name: that of a plugin (`cpu` or `xla`, `cuda`, `tpu`, `cotangent`), with
    /// the number of a device that is not the first, as in `cuda:1`. The environment variable
    /// `COTANGENT_PJRT_<NAME>` is the path of the plugin's library; without it the plugin is looked
    /// for among the packages of the active Python. Nothing is downloaded.
    ///
    /// ```
    /// let error = cotangent::pjrt::PjrtBackend::new("npu").unwrap_err().to_string();
    /// assert!(error.contains("COTANGENT_PJRT_NPU"), "{error}");
    /// ```
    ///
    /// # Errors
    /// The plugin is not installed, or has no such device.
    pub fn new(name: &str) -> Result<PjrtBackend> {
        let (plugin, number) = name.split_once(':').unwrap_or((name, "0"));
        let Ok(number) = number.parse::<usize>() else {
            bail!(
                Input,
                "`{name}`: a device is a plugin and a number, as in `cuda:1`"
            )
        };
        let known = PLUGINS.iter().find(|p| p.0 == plugin);
        let library = pjrt::loader::find(known.map_or(plugin, |p| p.1))?;
        PjrtBackend::with_library(library, &[])?.on(number)
    }

    /// The plugins that are installed, or named by an environment variable: `xla`, which is XLA on
    /// the CPU, `cuda`, `tpu`, `cotangent`. Each with its first device, or the reason why it cannot
    /// be used.
    ///
    /// ```
    /// for (name, device) in cotangent::pjrt::PjrtBackend::installed() {
    ///     match device {
    ///         Ok(first) => println!("{name}: {} devices", first.devices()),
    ///         Err(why) => println!("{name} cannot be used: {why}"),
    ///     }
    /// }
    /// ```
    pub fn installed() -> Vec<(&'static str, Result<PjrtBackend>)> {
        let found = pjrt::loader::found();
        let is_there = |plugin: &str| {
            let variable = format!("COTANGENT_PJRT_{}", plugin.to_uppercase());
            found.iter().any(|f| f.0 == plugin) || std::env::var_os(variable).is_some()
        };
        let there = PLUGINS.iter().filter(|p| is_there(p.1));
        there.map(|p| (p.0, PjrtBackend::new(p.1))).collect()
    }

    /// The names of the devices that are not the CPU, by plugin: `xla`, `cuda`, `tpu`, `cotangent`.
    ///
    /// ```
    /// assert!(cotangent::pjrt::PjrtBackend::names().any(|name| name == "cuda"));
    /// ```
    pub fn names() -> impl Iterator<Item = &'static str> {
        PLUGINS.iter().map(|p| p.0)
    }

    /// The first device of the plugin in a shared library, with options of its client.
    ///
    /// # Errors
    /// The library is no plugin; the plugin's error.
    pub fn with_library(
        path: impl AsRef<Path>,
        options: &[ClientOption<'_>],
    ) -> Result<PjrtBackend> {
        let client = Client::shared(path.as_ref(), options)?;
        let device = client.devices().swap_remove(0);
        Ok(PjrtBackend {
            device,
            executables: Arc::new(Cache::new(DEFAULT_EXECUTABLES)),
            queue: Arc::default(),
        })
    }

    /// Another device of the same plugin. It shares the compiled programs.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn on(&self, number: usize) -> Result<PjrtBackend> {
        let devices = self.device.client().devices();
        let Some(device) = devices.get(number) else {
            bail!(
                Input,
                "there is no device {number} of `{}`: it has {} devices",
                self.platform(),
                devices.len()
            )
        };
        Ok(PjrtBackend {
            device: device.clone(),
            executables: self.executables.clone(),
            queue: Arc::default(),
        })
    }

    /// The name of the platform: `cpu`, `cuda`, `tpu`, `cotangent`.
    pub fn platform(&self) -> &str {
        self.device.client().platform()
    }

    /// Number of devices of the plugin.
    pub fn devices(&self) -> usize {
        self.device.client().devices().len()
    }

    /// The kind of the device in the plugin's words.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn kind(&self) -> Result<String> {
        self.device.kind()
    }

    /// The memory of the device.
    ///
    /// # Errors
    /// [`Code::Unsupported`](crate::Code::Unsupported) if the platform does not count it.
    pub fn memory(&self) -> Result<MemoryStats> {
        self.device.memory()
    }

    /// The devices of a mesh.
    pub(super) fn of_mesh(&self, mesh: &Mesh) -> Result<Vec<Device>> {
        let mut devices = self.device.client().devices();
        if mesh.size() > devices.len() {
            bail!(
                Input,
                "a mesh of {} devices is given, and `{}` has {}",
                mesh.size(),
                self.platform(),
                devices.len()
            );
        }
        devices.truncate(mesh.size());
        Ok(devices)
    }

    /// The executable of a program's text on this device, or on those of a mesh; compiled if it is
    /// cached neither here nor in the folder `COTANGENT_CACHE`.
    pub(super) fn executable(
        &self,
        text: Arc<str>,
        mesh: Option<&Mesh>,
    ) -> Result<Arc<Executable>> {
        let devices = match mesh {
            Some(mesh) => self.of_mesh(mesh)?.iter().map(Device::id).collect(),
            None => vec![self.device.id()],
        };
        let key = (text, devices);
        if let Some(found) = self.executables.get(&key) {
            return Ok(found);
        }
        let options = CompileOptions {
            partitions: key.1.len(),
            devices: key.1.clone(),
            ..CompileOptions::default()
        };
        let client = self.device.client();
        let stored = StoredExecutable::of(&self.device, &key.0, &key.1);
        let made = match stored.as_ref().and_then(|s| s.load(client)) {
            Some(loaded) => loaded,
            None => {
                let made = client.compile(key.0.as_bytes(), &options);
                let made = made
                    .map_err(|e| e.note(format!("the compiler of {self:?} refused the program")))?;
                if let Some(stored) = &stored {
                    stored.store(&made);
                }
                made
            }
        };
        let made = Arc::new(made);
        self.executables.insert(key, made.clone());
        Ok(made)
    }

    /// Statistics of the compiled programs that are kept.
    pub fn cache_stats(&self) -> CacheStats {
        self.executables.stats()
    }

    /// Sets the maximum number of compiled programs that are kept.
    pub fn set_cache_limit(&self, programs: usize) {
        self.executables.set_limit(programs);
    }

    /// Forgets the compiled programs.
    pub fn clear_caches(&self) {
        self.executables.clear();
        if let Some(queue) = self.queue.get() {
            queue.clear();
        }
    }

    /// Number of executables, buffers and events of the plugin's client that are alive.
    pub fn live_objects(&self) -> [usize; 3] {
        self.device.client().live_objects()
    }
}
