//! [`Client`] and [`Device`]: a plugin's devices, and what it makes on them.

use super::buffer::Buffer;
use super::event::Event;
use super::executable::Executable;
use super::options::{CompileOptions, OptionValue, named_values};
use super::plugin::Plugin;
use super::{list, text};
use crate::args::*;
use crate::{NamedValue, dtypes::number_of};
use crate::{Pointer, Program, named_value, semantics};
use cotangent_core::{Array, Result, bail, for_dtype};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Arrays up to this size are copied when they are uploaded. Larger ones are kept until they are
/// transferred.
const COPIED_BYTES: usize = 64 << 10;

/// An option of a client: its name and value, as the plugin's documentation gives them.
pub type ClientOption<'a> = (&'a str, OptionValue);

/// The devices of a plugin. Clones share them; everything that a client makes keeps it alive.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<ClientHandle>);

/// The handle of a client, and what it is asked for once.
pub(crate) struct ClientHandle {
    pub(crate) plugin: &'static Plugin,
    pub(crate) client: Pointer,
    devices: Vec<DeviceHandle>,
    platform: String,
    version: String,
    pub(crate) live: LiveCounts,
}

/// Number of objects that are alive.
#[derive(Default)]
pub(crate) struct LiveCounts {
    pub(crate) executables: AtomicUsize,
    pub(crate) buffers: AtomicUsize,
    pub(crate) events: AtomicUsize,
}

#[derive(Clone, Copy)]
struct DeviceHandle {
    device: Pointer,
    id: i32,
}

// SAFETY: the interface may be called from any thread. The handle is owned, and lists of devices
// live as long as it.
unsafe impl Send for ClientHandle {}
// SAFETY: the interface may be called from any thread at the same time.
unsafe impl Sync for ClientHandle {}

impl Drop for ClientHandle {
    fn drop(&mut self) {
        let client = self.client;
        // SAFETY: the client is alive, and nothing that it made is: all of it holds this handle.
        unsafe {
            self.plugin.release(ClientDestroy {
                client,
                ..Default::default()
            });
        }
    }
}

impl std::fmt::Debug for Client {
    /// Prints the platform, and the number of devices.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} devices)", self.platform(), self.0.devices.len())
    }
}

impl Client {
    /// A client of a plugin. For some platforms a client takes the memory of its devices, so
    /// programs use [`Client::shared`].
    ///
    /// # Errors
    /// The plugin's error: an option that it does not know, no device.
    pub fn new(plugin: &'static Plugin, options: &[ClientOption<'_>]) -> Result<Client> {
        let values = named_values(options);
        // SAFETY: the options are alive during the call.
        let made = unsafe {
            plugin.call(ClientCreate {
                create_options: values.as_ptr().into(),
                num_options: values.len(),
                ..Default::default()
            })?
        };
        let mut handle = ClientHandle {
            plugin,
            client: made.client,
            devices: Vec::new(),
            platform: String::new(),
            version: String::new(),
            live: LiveCounts::default(),
        };
        let client = made.client;
        // SAFETY: the client is alive. It owns the texts and the list of devices.
        unsafe {
            let name = plugin.call(ClientPlatformName {
                client,
                ..Default::default()
            })?;
            handle.platform = text(name.platform_name, name.platform_name_size);
            let version = plugin.call(ClientPlatformVersion {
                client,
                ..Default::default()
            })?;
            handle.version = text(version.platform_version, version.platform_version_size);
            let all = plugin.call(ClientAddressableDevices {
                client,
                ..Default::default()
            })?;
            for device in list::<Pointer>(all.addressable_devices, all.num_addressable_devices) {
                let described = plugin.call(DeviceGetDescription {
                    device,
                    ..Default::default()
                })?;
                let id = plugin.call(DeviceDescriptionId {
                    device_description: described.device_description,
                    ..Default::default()
                })?;
                handle.devices.push(DeviceHandle { device, id: id.id });
            }
        }
        if handle.devices.is_empty() {
            bail!(DeviceLost, "the plugin {plugin:?} has no device");
        }
        Ok(Client(Arc::new(handle)))
    }

    /// The client of a library with these options that is in use, or a new one.
    ///
    /// # Errors
    /// The errors of [`Plugin::open`] and [`Client::new`].
    pub fn shared(path: &Path, options: &[ClientOption<'_>]) -> Result<Client> {
        type Clients = BTreeMap<String, Weak<ClientHandle>>;
        static SHARED: Mutex<Clients> = Mutex::new(Clients::new());
        let plugin = Plugin::open(path)?;
        let key = format!("{} {options:?}", plugin.path().display());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = shared.get(&key).and_then(Weak::upgrade) {
            return Ok(Client(client));
        }
        let client = Client::new(plugin, options)?;
        shared.insert(key, Arc::downgrade(&client.0));
        Ok(client)
    }

    /// Whether both are one client.
    pub fn is(&self, other: &Client) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The plugin.
    pub fn plugin(&self) -> &'static Plugin {
        self.0.plugin
    }

    /// The name of the platform: `cpu`, `cuda`, `tpu`, `cotangent`.
    pub fn platform(&self) -> &str {
        &self.0.platform
    }

    /// The version of the platform, as the plugin writes it.
    pub fn platform_version(&self) -> &str {
        &self.0.version
    }

    /// The devices of this process.
    pub fn devices(&self) -> Vec<Device> {
        let of = |index| Device {
            client: self.clone(),
            index,
        };
        (0..self.0.devices.len()).map(of).collect()
    }

    /// Attributes of the plugin that are integers or lists of them: versions of StableHLO that it
    /// reads, for example.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn attributes(&self) -> Result<BTreeMap<String, Vec<i64>>> {
        // SAFETY: the struct has no inputs. The plugin owns the list that it returns.
        let all = unsafe { self.0.plugin.call(PluginAttributes::default())? };
        // SAFETY: the plugin owns what it returned, which is alive (the interface).
        let all = unsafe { list::<NamedValue>(all.attributes, all.num_attributes) };
        let mut attributes = BTreeMap::new();
        for a in &all {
            // SAFETY: the plugin owns names and lists, which live as long as it.
            let name = unsafe { text(a.name, a.name_size) };
            match a.kind {
                named_value::INT64 => {
                    attributes.insert(name, vec![a.value as i64]);
                }
                named_value::INT64_LIST => {
                    let address = Pointer(a.value as usize as *mut _);
                    // SAFETY: the plugin owns what it returned, which is alive (the interface).
                    attributes.insert(name, unsafe { list::<i64>(address, a.value_size) });
                }
                _ => {}
            }
        }
        Ok(attributes)
    }

    /// Compiles a program: StableHLO as text or as a portable artefact.
    ///
    /// Options that change values are set on all platforms of XLA: sums and products as IEEE 754
    /// has them, minimum and maximum with NaN, no excess precision.
    ///
    /// # Errors
    /// The compiler's error.
    pub fn compile(&self, program: &[u8], options: &CompileOptions) -> Result<Executable> {
        let (program, options) = (ProgramText::of(program), options.encode(self.platform()));
        // SAFETY: the client, the program and the options are alive during the call.
        let made = unsafe {
            self.0.plugin.call(ClientCompile {
                client: self.0.client,
                program: program.address(),
                compile_options: options.as_ptr().into(),
                compile_options_size: options.len(),
                ..Default::default()
            })?
        };
        // SAFETY: the caller owns the executable that it receives.
        unsafe { Executable::of(&self.0, made.executable) }
    }

    /// The executable that [`Executable::serialize`] stored.
    ///
    /// # Errors
    /// The plugin's error: another version, another device.
    pub fn deserialize(&self, bytes: &[u8]) -> Result<Executable> {
        // SAFETY: the client and the bytes are alive during the call.
        let made = unsafe {
            self.0.plugin.call(ExecutableDeserializeAndLoad {
                client: self.0.client,
                serialized_executable: bytes.as_ptr().into(),
                serialized_executable_size: bytes.len(),
                ..Default::default()
            })?
        };
        // SAFETY: the caller owns the executable that it receives.
        unsafe { Executable::of(&self.0, made.loaded_executable) }
    }

    /// The elements of an array on a device. Returns before a large array is transferred.
    ///
    /// # Errors
    /// The plugin's error: no memory, an element type that it lacks.
    pub fn upload(&self, x: &Array, device: &Device) -> Result<Buffer> {
        let Some(element_type) = number_of(x.dtype()) else {
            bail!(
                Unsupported,
                "arrays of {} have no place on a device",
                x.dtype()
            )
        };
        let extents: Vec<i64> = x.shape().iter().map(|&n| n as i64).collect();
        let data = for_dtype!(x.dtype(), T => {
            let elements: &[T] = x.as_slice().expect("the element type was matched");
            Pointer::from(elements.as_ptr())
        });
        let is_copied = x.len() * x.dtype().size() <= COPIED_BYTES;
        // SAFETY: the client, the device and the array are alive during the call. A large array is
        // kept until its event, below.
        let made = unsafe {
            self.0.plugin.call(ClientBufferFromHostBuffer {
                client: self.0.client,
                data,
                element_type,
                dims: extents.as_ptr().into(),
                num_dims: extents.len(),
                host_buffer_semantics: if is_copied {
                    semantics::DURING_CALL
                } else {
                    semantics::UNTIL_TRANSFER
                },
                device: device.handle().device,
                ..Default::default()
            })?
        };
        // SAFETY: the caller owns the buffer and the event that it receives.
        let (buffer, event) = unsafe {
            (
                Buffer::of(&self.0, made.buffer),
                Event::of(&self.0, made.done_with_host_buffer),
            )
        };
        if let Some(event) = event {
            if is_copied {
                event.wait()?;
            } else {
                event.keep(x.clone())?;
            }
        }
        Ok(buffer)
    }

    /// Number of executables, buffers and events of this client that are alive.
    pub fn live_objects(&self) -> [usize; 3] {
        let live = &self.0.live;
        [&live.executables, &live.buffers, &live.events].map(|n| n.load(Ordering::Relaxed))
    }
}

/// A program as the interface passes it.
pub(crate) struct ProgramText<'a> {
    record: Program,
    _text: &'a [u8],
}

impl ProgramText<'_> {
    pub(crate) fn of(text: &[u8]) -> ProgramText<'_> {
        const FORMAT: &str = "mlir";
        ProgramText {
            record: Program {
                struct_size: size_of::<Program>(),
                code: text.as_ptr().into(),
                code_size: text.len(),
                format: FORMAT.as_ptr().into(),
                format_size: FORMAT.len(),
                ..Default::default()
            },
            _text: text,
        }
    }

    /// Its address, for the time of a call.
    pub(crate) fn address(&self) -> Pointer {
        (&raw const self.record).into()
    }
}

/// A device of a client.
#[derive(Clone)]
pub struct Device {
    client: Client,
    index: usize,
}

impl std::fmt::Debug for Device {
    /// Prints the platform and the number, as in `cpu:0`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.client.platform(), self.index)
    }
}

impl PartialEq for Device {
    /// Whether both are one device of one client.
    fn eq(&self, other: &Device) -> bool {
        self.client.is(&other.client) && self.index == other.index
    }
}

/// Memory of a device, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Bytes in use.
    pub in_use: u64,
    /// The largest number of bytes in use so far, if the device counts them.
    pub peak: Option<u64>,
    /// The most bytes that can be in use, if there is a limit.
    pub limit: Option<u64>,
}

impl Device {
    fn handle(&self) -> DeviceHandle {
        self.client.0.devices[self.index]
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its position among the devices of this process.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Its number among the devices of all processes.
    pub fn id(&self) -> i32 {
        self.handle().id
    }

    pub(crate) fn pointer(&self) -> Pointer {
        self.handle().device
    }

    /// The kind of the device, in the plugin's words: `NVIDIA H200`, for example.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn kind(&self) -> Result<String> {
        let plugin = self.client.plugin();
        // SAFETY: the device is alive, and owns its description and the text.
        unsafe {
            let described = plugin.call(DeviceGetDescription {
                device: self.pointer(),
                ..Default::default()
            })?;
            let kind = plugin.call(DeviceDescriptionKind {
                device_description: described.device_description,
                ..Default::default()
            })?;
            Ok(text(kind.device_kind, kind.device_kind_size))
        }
    }

    /// The memory of the device.
    ///
    /// # Errors
    /// [`Code::Unsupported`](cotangent_core::Code::Unsupported) if the platform does not count it.
    pub fn memory(&self) -> Result<MemoryStats> {
        // SAFETY: the device is alive.
        let stats = unsafe {
            self.client.plugin().call(DeviceMemoryStats {
                device: self.pointer(),
                ..Default::default()
            })?
        };
        let given = |is_set: u8, bytes: i64| (is_set != 0).then_some(bytes.max(0) as u64);
        Ok(MemoryStats {
            in_use: stats.bytes_in_use.max(0) as u64,
            peak: given(stats.peak_bytes_in_use_is_set, stats.peak_bytes_in_use),
            limit: given(stats.bytes_limit_is_set, stats.bytes_limit),
        })
    }
}
