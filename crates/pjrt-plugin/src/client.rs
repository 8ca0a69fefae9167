//! Clients, their devices and memories.
//!
//! Devices exist once per process and are never freed: buffers and executables of a client that was
//! destroyed keep valid ones.

use crate::attributes::{Attribute, Attributes};
use crate::call::{Call, give, release};
use crate::counts;
use crate::failure::{Answer, Failure};
use crate::host_call::Host;
use cotangent::CpuBackend;
use pjrt::{NamedValue, Pointer, args, code, named_value};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The name of the platform. JAX finds rules and devices by it.
pub(crate) const PLATFORM: &str = "cotangent";

/// The version of the platform, which is part of keys of caches.
pub(crate) const VERSION: &str = concat!("cotangent ", env!("CARGO_PKG_VERSION"));

/// Kinds of memory. All are the memory of this machine; the first is that of arrays whose program
/// chooses none.
pub(crate) const MEMORY_KINDS: [&str; 2] = ["device", "pinned_host"];

/// The largest number of devices.
const MAX_DEVICES: i64 = 64;

/// A device: all devices are the same machine.
pub(crate) struct Device {
    pub(crate) id: i32,
    name: String,
    memories: OnceLock<[&'static Memory; MEMORY_KINDS.len()]>,
    handles: OnceLock<[Pointer; MEMORY_KINDS.len()]>,
}

/// A kind of memory of a device.
pub(crate) struct Memory {
    pub(crate) device: &'static Device,
    /// An index of [`MEMORY_KINDS`].
    kind: usize,
    devices: [Pointer; 1],
    name: String,
}

// SAFETY: the addresses in them are those of devices and memories, which are never freed and are
// constant.
unsafe impl Sync for Device {}
// SAFETY: as for `Sync` of `Device`.
unsafe impl Send for Device {}
// SAFETY: as for `Device`.
unsafe impl Sync for Memory {}
// SAFETY: as for `Device`.
unsafe impl Send for Memory {}

impl Device {
    /// The device of this number.
    pub(crate) fn get(id: usize) -> &'static Device {
        static ALL: Mutex<Vec<&'static Device>> = Mutex::new(Vec::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        while all.len() <= id {
            let made = Device::new(all.len() as i32);
            all.push(made);
        }
        all[id]
    }

    fn new(id: i32) -> &'static Device {
        let device: &'static Device = Box::leak(Box::new(Device {
            id,
            name: format!("CotangentDevice(id={id})"),
            memories: OnceLock::new(),
            handles: OnceLock::new(),
        }));
        let memory = |kind: usize| -> &'static Memory {
            let name = format!("CotangentMemory(id={id}, kind={})", MEMORY_KINDS[kind]);
            Box::leak(Box::new(Memory {
                device,
                kind,
                devices: [device.handle()],
                name,
            }))
        };
        let memories = device.memories.get_or_init(|| std::array::from_fn(memory));
        device.handles.get_or_init(|| memories.map(Memory::handle));
        device
    }

    pub(crate) fn handle(&'static self) -> Pointer {
        std::ptr::from_ref(self).into()
    }

    /// The memory of this kind.
    pub(crate) fn memory(&self, kind: usize) -> &'static Memory {
        self.memories
            .get()
            .expect("a device is made with its memories")[kind]
    }
}

impl Memory {
    pub(crate) fn handle(&'static self) -> Pointer {
        std::ptr::from_ref(self).into()
    }
}

/// A client. It is its own description of the topology.
pub(crate) struct Client {
    devices: Vec<&'static Device>,
    handles: Vec<Pointer>,
    memories: Vec<Pointer>,
    pub(crate) backend: CpuBackend,
}

impl Client {
    /// The device of a number of the interface.
    pub(crate) fn device(&self, id: i64) -> Result<&'static Device, Failure> {
        let found = usize::try_from(id).ok().and_then(|k| self.devices.get(k));
        found.copied().ok_or_else(|| {
            let text = format!("there is no device {id}: there are {}", self.devices.len());
            Failure::new(code::NOT_FOUND, text)
        })
    }

    /// The memory of a device or memory in the arguments of a call; the first without one.
    pub(crate) fn placed<A: pjrt::Arguments>(
        &self,
        call: &Call<A>,
        device: Pointer,
        memory: Pointer,
    ) -> Result<&'static Memory, Failure> {
        match (device.is_null(), memory.is_null()) {
            (_, false) => call.handle::<Memory>(memory),
            (true, true) => Ok(self.devices[0].memory(0)),
            (false, true) => Ok(call.handle::<Device>(device)?.memory(0)),
        }
    }
}

fn int(option: &NamedValue, name: &str) -> Result<i64, Failure> {
    match option.kind {
        named_value::INT64 => Ok(option.value as i64),
        _ => Err(Failure::argument(format!(
            "the option `{name}` is an integer"
        ))),
    }
}

pub(crate) fn create(call: &mut Call<args::ClientCreate>) -> Answer {
    let (mut count, mut threads, mut host) = (1, 0, Host::default());
    for option in call.list::<NamedValue>(call.create_options, call.num_options)? {
        let name = call.text(option.name, option.name_size)?;
        let value = int(option, name)?;
        match name {
            "device_count" if (1..=MAX_DEVICES).contains(&value) => count = value,
            "threads" if value >= 0 => threads = value as usize,
            "callback" => host = Host::at(value),
            "device_count" | "threads" => {
                return Err(Failure::argument(format!(
                    "{name} = {value} is out of range"
                )));
            }
            _ => {
                return Err(Failure::argument(format!(
                    "there is no option `{name}`: the options are device_count, threads and callback"
                )));
            }
        }
    }
    let devices: Vec<_> = (0..count as usize).map(Device::get).collect();
    let backend = match threads {
        0 => CpuBackend::new(),
        n => CpuBackend::with_threads(n)?,
    };
    call.client = give(Client {
        handles: devices.iter().map(|d| d.handle()).collect(),
        memories: { devices.iter() }
            .flat_map(|d| (0..MEMORY_KINDS.len()).map(|k| d.memory(k).handle()))
            .collect(),
        backend: host.register(backend),
        devices,
    });
    Ok(())
}

pub(crate) fn destroy(call: &mut Call<args::ClientDestroy>) -> Answer {
    release::<Client>(call.client);
    Ok(())
}

pub(crate) fn platform_name(call: &mut Call<args::ClientPlatformName>) -> Answer {
    (call.platform_name, call.platform_name_size) = (PLATFORM.as_ptr().into(), PLATFORM.len());
    Ok(())
}

pub(crate) fn process_index(call: &mut Call<args::ClientProcessIndex>) -> Answer {
    call.process_index = 0;
    Ok(())
}

pub(crate) fn platform_version(call: &mut Call<args::ClientPlatformVersion>) -> Answer {
    call.platform_version = VERSION.as_ptr().into();
    call.platform_version_size = VERSION.len();
    Ok(())
}

pub(crate) fn devices(call: &mut Call<args::ClientDevices>) -> Answer {
    let all = &call.handle::<Client>(call.client)?.handles;
    (call.devices, call.num_devices) = (all.as_ptr().into(), all.len());
    Ok(())
}

pub(crate) fn addressable_devices(call: &mut Call<args::ClientAddressableDevices>) -> Answer {
    let all = &call.handle::<Client>(call.client)?.handles;
    (call.addressable_devices, call.num_addressable_devices) = (all.as_ptr().into(), all.len());
    Ok(())
}

pub(crate) fn lookup_device(call: &mut Call<args::ClientLookupDevice>) -> Answer {
    let client = call.handle::<Client>(call.client)?;
    call.device = client.device(call.id.into())?.handle();
    Ok(())
}

pub(crate) fn lookup_addressable_device(
    call: &mut Call<args::ClientLookupAddressableDevice>,
) -> Answer {
    let client = call.handle::<Client>(call.client)?;
    call.addressable_device = client.device(call.local_hardware_id.into())?.handle();
    Ok(())
}

pub(crate) fn addressable_memories(call: &mut Call<args::ClientAddressableMemories>) -> Answer {
    let all = &call.handle::<Client>(call.client)?.memories;
    (call.addressable_memories, call.num_addressable_memories) = (all.as_ptr().into(), all.len());
    Ok(())
}

pub(crate) fn default_device_assignment(
    call: &mut Call<args::ClientDefaultDeviceAssignment>,
) -> Answer {
    let client = call.handle::<Client>(call.client)?;
    let count = i64::from(call.num_replicas) * i64::from(call.num_partitions);
    if !(1..=client.devices.len() as i64).contains(&count) {
        let text = format!(
            "{count} devices are asked for: there are {}",
            client.devices.len()
        );
        return Err(Failure::argument(text));
    }
    if call.default_assignment_size < count as usize {
        return Err(Failure::argument("the list of the assignment is too short"));
    }
    for (k, device) in client.devices[..count as usize].iter().enumerate() {
        call.write(call.default_assignment, k, device.id);
    }
    Ok(())
}

pub(crate) fn topology(call: &mut Call<args::ClientTopologyDescription>) -> Answer {
    call.handle::<Client>(call.client)?;
    call.topology = call.client;
    Ok(())
}

pub(crate) fn topology_destroy(_: &mut Call<args::TopologyDescriptionDestroy>) -> Answer {
    // The topology is the client, which has its own slot.
    Ok(())
}

pub(crate) fn topology_platform_name(
    call: &mut Call<args::TopologyDescriptionPlatformName>,
) -> Answer {
    (call.platform_name, call.platform_name_size) = (PLATFORM.as_ptr().into(), PLATFORM.len());
    Ok(())
}

pub(crate) fn topology_platform_version(
    call: &mut Call<args::TopologyDescriptionPlatformVersion>,
) -> Answer {
    call.platform_version = VERSION.as_ptr().into();
    call.platform_version_size = VERSION.len();
    Ok(())
}

pub(crate) fn topology_devices(
    call: &mut Call<args::TopologyDescriptionGetDeviceDescriptions>,
) -> Answer {
    let all = &call.handle::<Client>(call.topology)?.handles;
    (call.descriptions, call.num_descriptions) = (all.as_ptr().into(), all.len());
    Ok(())
}

pub(crate) fn topology_attributes(call: &mut Call<args::TopologyDescriptionAttributes>) -> Answer {
    (call.attributes, call.num_attributes) = Attributes::none().parts();
    Ok(())
}

/// Attributes of the plugin: the versions of StableHLO that it reads.
pub(crate) fn plugin_attributes(call: &mut Call<args::PluginAttributes>) -> Answer {
    static ALL: OnceLock<Attributes> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        Attributes::new([
            ("xla_version", Attribute::Int(2)),
            ("stablehlo_current_version", Attribute::Ints(&[1, 17, 0])),
            ("stablehlo_minimum_version", Attribute::Ints(&[0, 9, 0])),
        ])
    });
    (call.attributes, call.num_attributes) = all.parts();
    Ok(())
}

pub(crate) fn plugin_initialize(_: &mut Call<args::PluginInitialize>) -> Answer {
    Ok(())
}

pub(crate) fn description_id(call: &mut Call<args::DeviceDescriptionId>) -> Answer {
    call.id = call.handle::<Device>(call.device_description)?.id;
    Ok(())
}

pub(crate) fn description_process_index(
    call: &mut Call<args::DeviceDescriptionProcessIndex>,
) -> Answer {
    call.process_index = 0;
    Ok(())
}

pub(crate) fn description_attributes(call: &mut Call<args::DeviceDescriptionAttributes>) -> Answer {
    (call.attributes, call.num_attributes) = Attributes::none().parts();
    Ok(())
}

pub(crate) fn description_kind(call: &mut Call<args::DeviceDescriptionKind>) -> Answer {
    (call.device_kind, call.device_kind_size) = (PLATFORM.as_ptr().into(), PLATFORM.len());
    Ok(())
}

pub(crate) fn description_debug_string(
    call: &mut Call<args::DeviceDescriptionDebugString>,
) -> Answer {
    let name = &call.handle::<Device>(call.device_description)?.name;
    (call.debug_string, call.debug_string_size) = (name.as_ptr().into(), name.len());
    Ok(())
}

pub(crate) fn description_to_string(call: &mut Call<args::DeviceDescriptionToString>) -> Answer {
    let name = &call.handle::<Device>(call.device_description)?.name;
    (call.to_string, call.to_string_size) = (name.as_ptr().into(), name.len());
    Ok(())
}

pub(crate) fn device_description(call: &mut Call<args::DeviceGetDescription>) -> Answer {
    call.handle::<Device>(call.device)?;
    call.device_description = call.device;
    Ok(())
}

pub(crate) fn is_addressable(call: &mut Call<args::DeviceIsAddressable>) -> Answer {
    call.is_addressable = 1;
    Ok(())
}

pub(crate) fn local_hardware_id(call: &mut Call<args::DeviceLocalHardwareId>) -> Answer {
    call.local_hardware_id = call.handle::<Device>(call.device)?.id;
    Ok(())
}

pub(crate) fn device_memories(call: &mut Call<args::DeviceAddressableMemories>) -> Answer {
    let all = call.handle::<Device>(call.device)?.handles.get();
    let all = all.map_or(&[][..], |m| m);
    (call.memories, call.num_memories) = (all.as_ptr().into(), all.len());
    Ok(())
}

pub(crate) fn default_memory(call: &mut Call<args::DeviceDefaultMemory>) -> Answer {
    call.memory = call.handle::<Device>(call.device)?.memory(0).handle();
    Ok(())
}

/// Bytes of the arrays of all devices: they are one machine.
pub(crate) fn memory_stats(call: &mut Call<args::DeviceMemoryStats>) -> Answer {
    call.handle::<Device>(call.device)?;
    // Statistics that are not set are unknown.
    **call = args::DeviceMemoryStats {
        struct_size: call.struct_size,
        extensions: call.extensions,
        device: call.device,
        bytes_in_use: counts::BYTES.now(),
        peak_bytes_in_use: counts::BYTES.peak(),
        peak_bytes_in_use_is_set: 1,
        num_allocs: counts::ARRAYS.now(),
        num_allocs_is_set: 1,
        pool_bytes: cotangent::memory_stats().bytes as i64,
        pool_bytes_is_set: 1,
        ..args::DeviceMemoryStats::default()
    };
    Ok(())
}

pub(crate) fn memory_id(call: &mut Call<args::MemoryId>) -> Answer {
    let memory = call.handle::<Memory>(call.memory)?;
    call.id = memory.device.id * MEMORY_KINDS.len() as i32 + memory.kind as i32;
    Ok(())
}

pub(crate) fn memory_kind(call: &mut Call<args::MemoryKind>) -> Answer {
    let kind = MEMORY_KINDS[call.handle::<Memory>(call.memory)?.kind];
    (call.kind, call.kind_size) = (kind.as_ptr().into(), kind.len());
    Ok(())
}

pub(crate) fn memory_kind_id(call: &mut Call<args::MemoryKindId>) -> Answer {
    call.kind_id = call.handle::<Memory>(call.memory)?.kind as i32;
    Ok(())
}

pub(crate) fn memory_debug_string(call: &mut Call<args::MemoryDebugString>) -> Answer {
    let name = &call.handle::<Memory>(call.memory)?.name;
    (call.debug_string, call.debug_string_size) = (name.as_ptr().into(), name.len());
    Ok(())
}

pub(crate) fn memory_to_string(call: &mut Call<args::MemoryToString>) -> Answer {
    let name = &call.handle::<Memory>(call.memory)?.name;
    (call.to_string, call.to_string_size) = (name.as_ptr().into(), name.len());
    Ok(())
}

pub(crate) fn memory_devices(call: &mut Call<args::MemoryAddressableByDevices>) -> Answer {
    let all = &call.handle::<Memory>(call.memory)?.devices;
    (call.devices, call.num_devices) = (all.as_ptr().into(), all.len());
    Ok(())
}
