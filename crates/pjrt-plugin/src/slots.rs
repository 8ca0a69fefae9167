//! The table of functions: a row for every slot of the interface.

use crate::call::{Call, enter};
use crate::failure::{Answer, Failure};
use crate::{buffer, client, error, event, executable, execute, layout};
use pjrt::{
    API_VERSION, Api, Arguments, FIRST_SLOT, LAYOUT_SLOTS, LayoutsExtension, Pointer, SLOTS,
    Version, args, layout_args,
};

/// The table of functions, at an address that does not change.
pub(crate) struct Table {
    api: Box<Api>,
    _layouts: Box<LayoutsExtension>,
}

// SAFETY: the addresses are those of functions.
unsafe impl Send for Table {}
// SAFETY: as for `Send`.
unsafe impl Sync for Table {}

impl Table {
    pub(crate) fn address(&self) -> *const Api {
        &raw const *self.api
    }
}

/// A slot that does not exist here.
fn missing<A: Arguments>(_: &mut Call<A>) -> Answer {
    Err(Failure::unimplemented(format!(
        "{} is not implemented",
        A::SLOT.name
    )))
}

/// Rows: an argument struct, and the function that serves it.
macro_rules! slots {
    ($fill:ident $module:ident $first:expr; $($args:ident => $serve:expr,)*) => {
        fn $fill(slots: &mut [Pointer]) {
            $({
                /// # Safety
                /// The arguments are as the interface requires.
                unsafe extern "C" fn slot(arguments: *mut $module::$args) -> Pointer {
                    // SAFETY: the caller keeps the promises of the interface (# Safety).
                    unsafe { enter(arguments, $serve) }
                }
                slots[<$module::$args as Arguments>::SLOT.number - $first] = Pointer(slot as *mut _);
            })*
        }
    };
}

slots! {
    fill args FIRST_SLOT;
    ErrorDestroy => error::destroy,
    ErrorMessage => error::message,
    ErrorGetCode => error::code,
    PluginInitialize => client::plugin_initialize,
    PluginAttributes => client::plugin_attributes,
    EventDestroy => event::destroy,
    EventIsReady => event::is_ready,
    EventError => event::error,
    EventAwait => event::wait,
    EventOnReady => event::on_ready,
    ClientCreate => client::create,
    ClientDestroy => client::destroy,
    ClientPlatformName => client::platform_name,
    ClientProcessIndex => client::process_index,
    ClientPlatformVersion => client::platform_version,
    ClientDevices => client::devices,
    ClientAddressableDevices => client::addressable_devices,
    ClientLookupDevice => client::lookup_device,
    ClientLookupAddressableDevice => client::lookup_addressable_device,
    ClientAddressableMemories => client::addressable_memories,
    ClientCompile => executable::compile,
    ClientDefaultDeviceAssignment => client::default_device_assignment,
    ClientBufferFromHostBuffer => buffer::from_host,
    DeviceDescriptionId => client::description_id,
    DeviceDescriptionProcessIndex => client::description_process_index,
    DeviceDescriptionAttributes => client::description_attributes,
    DeviceDescriptionKind => client::description_kind,
    DeviceDescriptionDebugString => client::description_debug_string,
    DeviceDescriptionToString => client::description_to_string,
    DeviceGetDescription => client::device_description,
    DeviceIsAddressable => client::is_addressable,
    DeviceLocalHardwareId => client::local_hardware_id,
    DeviceAddressableMemories => client::device_memories,
    DeviceDefaultMemory => client::default_memory,
    DeviceMemoryStats => client::memory_stats,
    MemoryId => client::memory_id,
    MemoryKind => client::memory_kind,
    MemoryDebugString => client::memory_debug_string,
    MemoryToString => client::memory_to_string,
    MemoryAddressableByDevices => client::memory_devices,
    ExecutableDestroy => executable::destroy,
    ExecutableName => executable::name,
    ExecutableNumReplicas => executable::replicas,
    ExecutableNumPartitions => executable::partitions,
    ExecutableNumOutputs => executable::outputs,
    ExecutableSizeOfGeneratedCodeInBytes => executable::code_size,
    ExecutableGetCostAnalysis => executable::costs,
    ExecutableOutputMemoryKinds => executable::output_memories,
    ExecutableOptimizedProgram => executable::optimized,
    ExecutableSerialize => executable::serialize,
    LoadedExecutableDestroy => executable::loaded_destroy,
    LoadedExecutableGetExecutable => executable::get_executable,
    LoadedExecutableAddressableDevices => executable::devices,
    LoadedExecutableDelete => executable::delete,
    LoadedExecutableIsDeleted => executable::is_deleted,
    LoadedExecutableExecute => execute::execute,
    ExecutableDeserializeAndLoad => executable::deserialize,
    LoadedExecutableFingerprint => executable::loaded_fingerprint,
    BufferDestroy => buffer::destroy,
    BufferElementType => buffer::element_type,
    BufferDimensions => buffer::dimensions,
    BufferUnpaddedDimensions => buffer::unpadded_dimensions,
    BufferDynamicDimensionIndices => buffer::dynamic_dimensions,
    BufferGetMemoryLayout => buffer::layout,
    BufferOnDeviceSizeInBytes => buffer::size_on_device,
    BufferDevice => buffer::device,
    BufferMemory => buffer::memory,
    BufferDelete => buffer::delete,
    BufferIsDeleted => buffer::is_deleted,
    BufferCopyToDevice => buffer::copy_to_device,
    BufferToHostBuffer => buffer::to_host,
    BufferIsOnCpu => buffer::is_on_cpu,
    BufferReadyEvent => buffer::ready_event,
    BufferUnsafePointer => buffer::unsafe_pointer,
    BufferIncreaseExternalReferenceCount => buffer::increase_external,
    BufferDecreaseExternalReferenceCount => buffer::decrease_external,
    BufferOpaqueDeviceMemoryDataPointer => buffer::data_pointer,
    CopyToDeviceStreamDestroy => missing,
    CopyToDeviceStreamAddChunk => missing,
    CopyToDeviceStreamTotalBytes => missing,
    CopyToDeviceStreamGranuleSize => missing,
    CopyToDeviceStreamCurrentBytes => missing,
    TopologyDescriptionCreate => missing,
    TopologyDescriptionDestroy => client::topology_destroy,
    TopologyDescriptionPlatformName => client::topology_platform_name,
    TopologyDescriptionPlatformVersion => client::topology_platform_version,
    TopologyDescriptionGetDeviceDescriptions => client::topology_devices,
    TopologyDescriptionSerialize => missing,
    TopologyDescriptionAttributes => client::topology_attributes,
    Compile => missing,
    ExecutableOutputElementTypes => executable::output_types,
    ExecutableOutputDimensions => executable::output_dimensions,
    BufferCopyToMemory => buffer::copy_to_memory,
    ClientCreateViewOfDeviceBuffer => buffer::view,
    ExecutableFingerprint => executable::fingerprint,
    ClientTopologyDescription => client::topology,
    ExecutableGetCompiledMemoryStats => executable::memory_stats,
    MemoryKindId => client::memory_kind_id,
    ExecuteContextCreate => execute::create_context,
    ExecuteContextDestroy => execute::destroy_context,
    BufferCopyRawToHost => buffer::copy_raw,
    AsyncHostToDeviceTransferManagerDestroy => missing,
    AsyncHostToDeviceTransferManagerTransferData => missing,
    ClientCreateBuffersForAsyncHostToDevice => missing,
    AsyncHostToDeviceTransferManagerRetrieveBuffer => missing,
    AsyncHostToDeviceTransferManagerDevice => missing,
    AsyncHostToDeviceTransferManagerBufferCount => missing,
    AsyncHostToDeviceTransferManagerBufferSize => missing,
    AsyncHostToDeviceTransferManagerSetBufferError => missing,
    AsyncHostToDeviceTransferManagerAddMetadata => missing,
    ClientDmaMap => missing,
    ClientDmaUnmap => missing,
    ClientCreateUninitializedBuffer => buffer::uninitialized,
    ClientUpdateGlobalProcessInfo => missing,
    TopologyDescriptionDeserialize => missing,
    ClientCreateAliasBuffer => missing,
    ClientFulfillAliasBuffer => missing,
    LoadedExecutableGetDeviceAssignment => executable::device_assignment,
}

slots! {
    fill_layouts layout_args LayoutsExtension::FIRST_SLOT;
    LayoutDestroy => layout::destroy,
    LayoutSerialize => layout::serialize,
    ClientGetDefaultLayout => layout::of_client,
    BufferMemoryLayout => layout::of_buffer,
    TopologyGetDefaultLayout => layout::of_topology,
    ExecutableGetOutputLayouts => executable::output_layouts,
    ExecutableGetParameterLayouts => executable::parameter_layouts,
}

/// The table of functions.
pub(crate) fn table() -> Table {
    let mut slots = [Pointer::default(); LAYOUT_SLOTS.len()];
    fill_layouts(&mut slots);
    let layouts = Box::new(LayoutsExtension {
        struct_size: size_of::<LayoutsExtension>(),
        kind: LayoutsExtension::KIND,
        next: Pointer::default(),
        slots,
    });
    let mut slots = [Pointer::default(); SLOTS.len()];
    fill(&mut slots);
    let api = Box::new(Api {
        struct_size: size_of::<Api>(),
        extensions: (&raw const *layouts).into(),
        version: Version {
            struct_size: size_of::<Version>(),
            extensions: Pointer::default(),
            major: API_VERSION.0,
            minor: API_VERSION.1,
        },
        slots,
    });
    Table {
        api,
        _layouts: layouts,
    }
}
