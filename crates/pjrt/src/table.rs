//! The table of slots: a row each, in the order of the table of functions.

use crate::records::{ApiSlot, Arguments, Field, MemoryLayout, Pointer};
use std::mem::offset_of;

/// The end of the last required field; the head if there is none.
const fn end(fields: &[Field]) -> usize {
    match fields.last() {
        Some(f) => f.offset + f.size,
        None => 16,
    }
}

const fn field<T>(name: &'static str, offset: usize) -> Field {
    Field {
        name,
        offset,
        size: size_of::<T>(),
    }
}

/// A row: number, struct, name, first minor version, required fields, and later ones.
macro_rules! slots {
    ($(#[$doc:meta])* $table:ident $(#[$args_doc:meta])* $module:ident
        $($number:literal $args:ident $name:literal $since:literal { $($field:ident: $ty:ty),* }
        $({ $($more:ident: $more_ty:ty),* })?)*) => {
        $(#[$doc])*
        pub static $table: &[ApiSlot] = &[$(<$module::$args as Arguments>::SLOT),*];

        $(#[$args_doc])*
        #[allow(missing_docs)]
        pub mod $module {
            use super::*;
            $(
                #[repr(C)]
                #[derive(Clone, Copy, Debug, Default)]
                pub struct $args {
                    pub struct_size: usize,
                    pub extensions: Pointer,
                    $(pub $field: $ty,)*
                    $($(pub $more: $more_ty,)*)?
                }

                impl Arguments for $args {
                    const SLOT: ApiSlot = ApiSlot {
                        number: $number,
                        name: $name,
                        since: $since,
                        size: size_of::<$args>(),
                        required: end(&[$(field::<$ty>("", offset_of!($args, $field))),*]),
                        fields: &[
                            $(field::<$ty>(stringify!($field), offset_of!($args, $field)),)*
                            $($(field::<$more_ty>(stringify!($more), offset_of!($args, $more)),)*)?
                        ],
                    };
                }
            )*
        }
    };
}

slots! {
    /// Every slot, in the order of the table of functions.
    SLOTS
    /// The argument structs of slots, with the names of the interface's header.
    args
    5 ErrorDestroy "PJRT_Error_Destroy" 57 { error: Pointer }
    6 ErrorMessage "PJRT_Error_Message" 57 { error: Pointer, message: Pointer, message_size:
        usize }
    7 ErrorGetCode "PJRT_Error_GetCode" 57 { error: Pointer, code: i32 }
    8 PluginInitialize "PJRT_Plugin_Initialize" 57 {}
    9 PluginAttributes "PJRT_Plugin_Attributes" 57 { attributes: Pointer, num_attributes: usize
        }
    10 EventDestroy "PJRT_Event_Destroy" 57 { event: Pointer }
    11 EventIsReady "PJRT_Event_IsReady" 57 { event: Pointer, is_ready: u8 }
    12 EventError "PJRT_Event_Error" 57 { event: Pointer }
    13 EventAwait "PJRT_Event_Await" 57 { event: Pointer }
    14 EventOnReady "PJRT_Event_OnReady" 57 { event: Pointer, callback: Pointer, user_arg:
        Pointer }
    15 ClientCreate "PJRT_Client_Create" 57 { create_options: Pointer, num_options: usize,
        kv_get_callback: Pointer, kv_get_user_arg: Pointer, kv_put_callback: Pointer,
        kv_put_user_arg: Pointer, client: Pointer } { kv_try_get_callback: Pointer,
        kv_try_get_user_arg: Pointer }
    16 ClientDestroy "PJRT_Client_Destroy" 57 { client: Pointer }
    17 ClientPlatformName "PJRT_Client_PlatformName" 57 { client: Pointer, platform_name:
        Pointer, platform_name_size: usize }
    18 ClientProcessIndex "PJRT_Client_ProcessIndex" 57 { client: Pointer, process_index: i32 }
    19 ClientPlatformVersion "PJRT_Client_PlatformVersion" 57 { client: Pointer,
        platform_version: Pointer, platform_version_size: usize }
    20 ClientDevices "PJRT_Client_Devices" 57 { client: Pointer, devices: Pointer, num_devices:
        usize }
    21 ClientAddressableDevices "PJRT_Client_AddressableDevices" 57 { client: Pointer,
        addressable_devices: Pointer, num_addressable_devices: usize }
    22 ClientLookupDevice "PJRT_Client_LookupDevice" 57 { client: Pointer, id: i32, device:
        Pointer }
    23 ClientLookupAddressableDevice "PJRT_Client_LookupAddressableDevice" 57 { client: Pointer,
        local_hardware_id: i32, addressable_device: Pointer }
    24 ClientAddressableMemories "PJRT_Client_AddressableMemories" 57 { client: Pointer,
        addressable_memories: Pointer, num_addressable_memories: usize }
    25 ClientCompile "PJRT_Client_Compile" 57 { client: Pointer, program: Pointer,
        compile_options: Pointer, compile_options_size: usize, executable: Pointer }
    26 ClientDefaultDeviceAssignment "PJRT_Client_DefaultDeviceAssignment" 57 { client: Pointer,
        num_replicas: i32, num_partitions: i32, default_assignment_size: usize,
        default_assignment: Pointer }
    27 ClientBufferFromHostBuffer "PJRT_Client_BufferFromHostBuffer" 57 { client: Pointer, data:
        Pointer, element_type: i32, dims: Pointer, num_dims: usize, byte_strides: Pointer,
        num_byte_strides: usize, host_buffer_semantics: i32, device: Pointer, memory: Pointer,
        device_layout: Pointer, done_with_host_buffer: Pointer, buffer: Pointer }
    28 DeviceDescriptionId "PJRT_DeviceDescription_Id" 57 { device_description: Pointer, id: i32
        }
    29 DeviceDescriptionProcessIndex "PJRT_DeviceDescription_ProcessIndex" 57 {
        device_description: Pointer, process_index: i32 }
    30 DeviceDescriptionAttributes "PJRT_DeviceDescription_Attributes" 57 { device_description:
        Pointer, num_attributes: usize, attributes: Pointer }
    31 DeviceDescriptionKind "PJRT_DeviceDescription_Kind" 57 { device_description: Pointer,
        device_kind: Pointer, device_kind_size: usize }
    32 DeviceDescriptionDebugString "PJRT_DeviceDescription_DebugString" 57 {
        device_description: Pointer, debug_string: Pointer, debug_string_size: usize }
    33 DeviceDescriptionToString "PJRT_DeviceDescription_ToString" 57 { device_description:
        Pointer, to_string: Pointer, to_string_size: usize }
    34 DeviceGetDescription "PJRT_Device_GetDescription" 57 { device: Pointer,
        device_description: Pointer }
    35 DeviceIsAddressable "PJRT_Device_IsAddressable" 57 { device: Pointer, is_addressable: u8
        }
    36 DeviceLocalHardwareId "PJRT_Device_LocalHardwareId" 57 { device: Pointer,
        local_hardware_id: i32 }
    37 DeviceAddressableMemories "PJRT_Device_AddressableMemories" 57 { device: Pointer,
        memories: Pointer, num_memories: usize }
    38 DeviceDefaultMemory "PJRT_Device_DefaultMemory" 57 { device: Pointer, memory: Pointer }
    39 DeviceMemoryStats "PJRT_Device_MemoryStats" 57 { device: Pointer, bytes_in_use: i64,
        peak_bytes_in_use: i64, peak_bytes_in_use_is_set: u8, num_allocs: i64,
        num_allocs_is_set: u8, largest_alloc_size: i64, largest_alloc_size_is_set: u8,
        bytes_limit: i64, bytes_limit_is_set: u8, bytes_reserved: i64, bytes_reserved_is_set:
        u8, peak_bytes_reserved: i64, peak_bytes_reserved_is_set: u8, bytes_reservable_limit:
        i64, bytes_reservable_limit_is_set: u8, largest_free_block_bytes: i64,
        largest_free_block_bytes_is_set: u8 } { pool_bytes: i64, pool_bytes_is_set: u8,
        peak_pool_bytes: i64, peak_pool_bytes_is_set: u8 }
    40 MemoryId "PJRT_Memory_Id" 57 { memory: Pointer, id: i32 }
    41 MemoryKind "PJRT_Memory_Kind" 57 { memory: Pointer, kind: Pointer, kind_size: usize }
    42 MemoryDebugString "PJRT_Memory_DebugString" 57 { memory: Pointer, debug_string: Pointer,
        debug_string_size: usize }
    43 MemoryToString "PJRT_Memory_ToString" 57 { memory: Pointer, to_string: Pointer,
        to_string_size: usize }
    44 MemoryAddressableByDevices "PJRT_Memory_AddressableByDevices" 57 { memory: Pointer,
        devices: Pointer, num_devices: usize }
    45 ExecutableDestroy "PJRT_Executable_Destroy" 57 { executable: Pointer }
    46 ExecutableName "PJRT_Executable_Name" 57 { executable: Pointer, executable_name: Pointer,
        executable_name_size: usize }
    47 ExecutableNumReplicas "PJRT_Executable_NumReplicas" 57 { executable: Pointer,
        num_replicas: usize }
    48 ExecutableNumPartitions "PJRT_Executable_NumPartitions" 57 { executable: Pointer,
        num_partitions: usize }
    49 ExecutableNumOutputs "PJRT_Executable_NumOutputs" 57 { executable: Pointer, num_outputs:
        usize }
    50 ExecutableSizeOfGeneratedCodeInBytes "PJRT_Executable_SizeOfGeneratedCodeInBytes" 57 {
        executable: Pointer, size_in_bytes: i64 }
    51 ExecutableGetCostAnalysis "PJRT_Executable_GetCostAnalysis" 57 { executable: Pointer,
        num_properties: usize, properties: Pointer }
    52 ExecutableOutputMemoryKinds "PJRT_Executable_OutputMemoryKinds" 57 { executable: Pointer,
        num_outputs: usize, memory_kinds: Pointer, memory_kind_sizes: Pointer }
    53 ExecutableOptimizedProgram "PJRT_Executable_OptimizedProgram" 57 { executable: Pointer,
        program: Pointer }
    54 ExecutableSerialize "PJRT_Executable_Serialize" 57 { executable: Pointer,
        serialized_bytes: Pointer, serialized_bytes_size: usize, serialized_executable: Pointer,
        serialized_executable_deleter: Pointer }
    55 LoadedExecutableDestroy "PJRT_LoadedExecutable_Destroy" 57 { executable: Pointer }
    56 LoadedExecutableGetExecutable "PJRT_LoadedExecutable_GetExecutable" 57 {
        loaded_executable: Pointer, executable: Pointer }
    57 LoadedExecutableAddressableDevices "PJRT_LoadedExecutable_AddressableDevices" 57 {
        executable: Pointer, addressable_devices: Pointer, num_addressable_devices: usize }
    58 LoadedExecutableDelete "PJRT_LoadedExecutable_Delete" 57 { executable: Pointer }
    59 LoadedExecutableIsDeleted "PJRT_LoadedExecutable_IsDeleted" 57 { executable: Pointer,
        is_deleted: u8 }
    60 LoadedExecutableExecute "PJRT_LoadedExecutable_Execute" 57 { executable: Pointer,
        options: Pointer, argument_lists: Pointer, num_devices: usize, num_args: usize,
        output_lists: Pointer, device_complete_events: Pointer, execute_device: Pointer }
    61 ExecutableDeserializeAndLoad "PJRT_Executable_DeserializeAndLoad" 57 { client: Pointer,
        serialized_executable: Pointer, serialized_executable_size: usize, loaded_executable:
        Pointer } { overridden_serialized_compile_options: Pointer,
        overridden_serialized_compile_options_size: usize }
    62 LoadedExecutableFingerprint "PJRT_LoadedExecutable_Fingerprint" 57 { executable: Pointer,
        executable_fingerprint: Pointer, executable_fingerprint_size: usize }
    63 BufferDestroy "PJRT_Buffer_Destroy" 57 { buffer: Pointer }
    64 BufferElementType "PJRT_Buffer_ElementType" 57 { buffer: Pointer, element_type: i32 }
    65 BufferDimensions "PJRT_Buffer_Dimensions" 57 { buffer: Pointer, dims: Pointer, num_dims:
        usize }
    66 BufferUnpaddedDimensions "PJRT_Buffer_UnpaddedDimensions" 57 { buffer: Pointer,
        unpadded_dims: Pointer, num_dims: usize }
    67 BufferDynamicDimensionIndices "PJRT_Buffer_DynamicDimensionIndices" 57 { buffer: Pointer,
        dynamic_dim_indices: Pointer, num_dynamic_dims: usize }
    68 BufferGetMemoryLayout "PJRT_Buffer_GetMemoryLayout" 57 { buffer: Pointer, layout:
        MemoryLayout }
    69 BufferOnDeviceSizeInBytes "PJRT_Buffer_OnDeviceSizeInBytes" 57 { buffer: Pointer,
        on_device_size_in_bytes: usize }
    70 BufferDevice "PJRT_Buffer_Device" 57 { buffer: Pointer, device: Pointer }
    71 BufferMemory "PJRT_Buffer_Memory" 57 { buffer: Pointer, memory: Pointer }
    72 BufferDelete "PJRT_Buffer_Delete" 57 { buffer: Pointer }
    73 BufferIsDeleted "PJRT_Buffer_IsDeleted" 57 { buffer: Pointer, is_deleted: u8 }
    74 BufferCopyToDevice "PJRT_Buffer_CopyToDevice" 57 { buffer: Pointer, dst_device: Pointer,
        dst_buffer: Pointer }
    75 BufferToHostBuffer "PJRT_Buffer_ToHostBuffer" 57 { src: Pointer, host_layout: Pointer,
        dst: Pointer, dst_size: usize, event: Pointer }
    76 BufferIsOnCpu "PJRT_Buffer_IsOnCpu" 57 { buffer: Pointer, is_on_cpu: u8 }
    77 BufferReadyEvent "PJRT_Buffer_ReadyEvent" 57 { buffer: Pointer, event: Pointer }
    78 BufferUnsafePointer "PJRT_Buffer_UnsafePointer" 57 { buffer: Pointer, buffer_pointer:
        usize }
    79 BufferIncreaseExternalReferenceCount "PJRT_Buffer_IncreaseExternalReferenceCount" 57 {
        buffer: Pointer }
    80 BufferDecreaseExternalReferenceCount "PJRT_Buffer_DecreaseExternalReferenceCount" 57 {
        buffer: Pointer }
    81 BufferOpaqueDeviceMemoryDataPointer "PJRT_Buffer_OpaqueDeviceMemoryDataPointer" 57 {
        buffer: Pointer, device_memory_ptr: Pointer }
    82 CopyToDeviceStreamDestroy "PJRT_CopyToDeviceStream_Destroy" 57 { stream: Pointer }
    83 CopyToDeviceStreamAddChunk "PJRT_CopyToDeviceStream_AddChunk" 57 { stream: Pointer,
        chunk: Pointer, transfer_complete: Pointer }
    84 CopyToDeviceStreamTotalBytes "PJRT_CopyToDeviceStream_TotalBytes" 57 { stream: Pointer,
        total_bytes: i64 }
    85 CopyToDeviceStreamGranuleSize "PJRT_CopyToDeviceStream_GranuleSize" 57 { stream: Pointer,
        granule_size_in_bytes: i64 }
    86 CopyToDeviceStreamCurrentBytes "PJRT_CopyToDeviceStream_CurrentBytes" 57 { stream:
        Pointer, current_bytes: i64 }
    87 TopologyDescriptionCreate "PJRT_TopologyDescription_Create" 57 { topology_name: Pointer,
        topology_name_size: usize, create_options: Pointer, num_options: usize, topology:
        Pointer }
    88 TopologyDescriptionDestroy "PJRT_TopologyDescription_Destroy" 57 { topology: Pointer }
    89 TopologyDescriptionPlatformName "PJRT_TopologyDescription_PlatformName" 57 { topology:
        Pointer, platform_name: Pointer, platform_name_size: usize }
    90 TopologyDescriptionPlatformVersion "PJRT_TopologyDescription_PlatformVersion" 57 {
        topology: Pointer, platform_version: Pointer, platform_version_size: usize }
    91 TopologyDescriptionGetDeviceDescriptions "PJRT_TopologyDescription_GetDeviceDescriptions"
        57 { topology: Pointer, descriptions: Pointer, num_descriptions: usize }
    92 TopologyDescriptionSerialize "PJRT_TopologyDescription_Serialize" 57 { topology: Pointer,
        serialized_bytes: Pointer, serialized_bytes_size: usize, serialized_topology: Pointer,
        serialized_topology_deleter: Pointer }
    93 TopologyDescriptionAttributes "PJRT_TopologyDescription_Attributes" 57 { topology:
        Pointer, attributes: Pointer, num_attributes: usize }
    94 Compile "PJRT_Compile" 57 { topology: Pointer, program: Pointer, compile_options:
        Pointer, compile_options_size: usize, client: Pointer, executable: Pointer }
    95 ExecutableOutputElementTypes "PJRT_Executable_OutputElementTypes" 57 { executable:
        Pointer, output_types: Pointer, num_output_types: usize }
    96 ExecutableOutputDimensions "PJRT_Executable_OutputDimensions" 57 { executable: Pointer,
        num_outputs: usize, dims: Pointer, dim_sizes: Pointer }
    97 BufferCopyToMemory "PJRT_Buffer_CopyToMemory" 57 { buffer: Pointer, dst_memory: Pointer,
        dst_buffer: Pointer }
    98 ClientCreateViewOfDeviceBuffer "PJRT_Client_CreateViewOfDeviceBuffer" 57 { client:
        Pointer, device_buffer_ptr: Pointer, dims: Pointer, num_dims: usize, element_type: i32,
        layout: Pointer, device: Pointer, on_delete_callback: Pointer, on_delete_callback_arg:
        Pointer, stream: isize, buffer: Pointer } { memory: Pointer }
    99 ExecutableFingerprint "PJRT_Executable_Fingerprint" 57 { executable: Pointer,
        executable_fingerprint: Pointer, executable_fingerprint_size: usize }
    100 ClientTopologyDescription "PJRT_Client_TopologyDescription" 57 { client: Pointer,
        topology: Pointer }
    101 ExecutableGetCompiledMemoryStats "PJRT_Executable_GetCompiledMemoryStats" 57 {
        executable: Pointer, generated_code_size_in_bytes: i64, argument_size_in_bytes: i64,
        output_size_in_bytes: i64, alias_size_in_bytes: i64, temp_size_in_bytes: i64 } {
        host_generated_code_size_in_bytes: i64, host_argument_size_in_bytes: i64,
        host_output_size_in_bytes: i64, host_alias_size_in_bytes: i64, host_temp_size_in_bytes:
        i64, peak_memory_in_bytes: i64 }
    102 MemoryKindId "PJRT_Memory_Kind_Id" 57 { memory: Pointer, kind_id: i32 }
    103 ExecuteContextCreate "PJRT_ExecuteContext_Create" 57 { context: Pointer }
    104 ExecuteContextDestroy "PJRT_ExecuteContext_Destroy" 57 { context: Pointer }
    105 BufferCopyRawToHost "PJRT_Buffer_CopyRawToHost" 57 { buffer: Pointer, dst: Pointer,
        offset: i64, transfer_size: i64, event: Pointer }
    106 AsyncHostToDeviceTransferManagerDestroy "PJRT_AsyncHostToDeviceTransferManager_Destroy"
        60 { transfer_manager: Pointer }
    107 AsyncHostToDeviceTransferManagerTransferData
        "PJRT_AsyncHostToDeviceTransferManager_TransferData" 60 { transfer_manager: Pointer,
        buffer_index: i32, data: Pointer, offset: i64, transfer_size: i64, is_last_transfer: u8,
        done_with_h2d_transfer: Pointer }
    108 ClientCreateBuffersForAsyncHostToDevice "PJRT_Client_CreateBuffersForAsyncHostToDevice"
        60 { client: Pointer, shape_specs: Pointer, num_shape_specs: usize, device_layouts:
        Pointer, num_device_layouts: usize, memory: Pointer, transfer_manager: Pointer }
    109 AsyncHostToDeviceTransferManagerRetrieveBuffer
        "PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer" 62 { transfer_manager: Pointer,
        buffer_index: i32, buffer_out: Pointer }
    110 AsyncHostToDeviceTransferManagerDevice "PJRT_AsyncHostToDeviceTransferManager_Device" 62
        { transfer_manager: Pointer, device_out: Pointer }
    111 AsyncHostToDeviceTransferManagerBufferCount
        "PJRT_AsyncHostToDeviceTransferManager_BufferCount" 62 { transfer_manager: Pointer,
        buffer_count: usize }
    112 AsyncHostToDeviceTransferManagerBufferSize
        "PJRT_AsyncHostToDeviceTransferManager_BufferSize" 62 { transfer_manager: Pointer,
        buffer_index: i32, buffer_size: usize }
    113 AsyncHostToDeviceTransferManagerSetBufferError
        "PJRT_AsyncHostToDeviceTransferManager_SetBufferError" 62 { transfer_manager: Pointer,
        buffer_index: i32, error_code: i32, error_message: Pointer, error_message_size: usize }
    114 AsyncHostToDeviceTransferManagerAddMetadata
        "PJRT_AsyncHostToDeviceTransferManager_AddMetadata" 62 { transfer_manager: Pointer,
        transfer_metadata: Pointer, num_metadata: usize }
    115 ClientDmaMap "PJRT_Client_DmaMap" 67 { client: Pointer, data: Pointer, size: usize }
    116 ClientDmaUnmap "PJRT_Client_DmaUnmap" 67 { client: Pointer, data: Pointer }
    117 ClientCreateUninitializedBuffer "PJRT_Client_CreateUninitializedBuffer" 69 { client:
        Pointer, shape_dims: Pointer, shape_num_dims: usize, shape_element_type: i32,
        shape_layout: Pointer, device: Pointer, memory: Pointer, buffer: Pointer }
    118 ClientUpdateGlobalProcessInfo "PJRT_Client_UpdateGlobalProcessInfo" 73 { client:
        Pointer, process_infos: Pointer, num_process_infos: usize }
    119 TopologyDescriptionDeserialize "PJRT_TopologyDescription_Deserialize" 75 {
        serialized_topology: Pointer, serialized_topology_size: usize, topology: Pointer }
    120 ClientCreateAliasBuffer "PJRT_Client_CreateAliasBuffer" 77 { client: Pointer, memory:
        Pointer, shape_dims: Pointer, shape_num_dims: usize, shape_element_type: i32,
        shape_layout: Pointer, alias_buffer: Pointer, fulfill_alias_buffer_cb: Pointer }
    121 ClientFulfillAliasBuffer "PJRT_Client_FulfillAliasBuffer" 77 { client: Pointer, buffer:
        Pointer, status_code: i32, error_message: Pointer, error_message_size: usize,
        fulfill_alias_buffer_cb: Pointer }
    122 LoadedExecutableGetDeviceAssignment "PJRT_LoadedExecutable_GetDeviceAssignment" 79 {
        executable: Pointer, serialized_bytes: Pointer, serialized_bytes_size: usize,
        serialized_device_assignment: Pointer, serialized_device_assignment_deleter: Pointer }
}

slots! {
    /// The slots of the extension for layouts of arrays, in the order of its table of functions.
    LAYOUT_SLOTS
    /// The argument structs of the extension for layouts.
    layout_args
    3 LayoutDestroy "PJRT_Layouts_MemoryLayout_Destroy" 57 { layout: Pointer }
    4 LayoutSerialize "PJRT_Layouts_MemoryLayout_Serialize" 57 { layout: Pointer,
        serialized_bytes: Pointer, serialized_bytes_size: usize, serialized_layout: Pointer,
        serialized_layout_deleter: Pointer }
    5 ClientGetDefaultLayout "PJRT_Layouts_PJRT_Client_GetDefaultLayout" 57 { client: Pointer,
        element_type: i32, dims: Pointer, num_dims: usize, layout: Pointer }
    6 BufferMemoryLayout "PJRT_Layouts_PJRT_Buffer_MemoryLayout" 57 { buffer: Pointer, layout:
        Pointer }
    7 TopologyGetDefaultLayout "PJRT_Layouts_PJRT_Topology_GetDefaultLayout" 57 { topology:
        Pointer, element_type: i32, dims: Pointer, num_dims: usize, layout: Pointer }
    8 ExecutableGetOutputLayouts "PJRT_Layouts_PJRT_Executable_GetOutputLayouts" 81 {
        executable: Pointer, num_outputs: usize, layouts: Pointer }
    9 ExecutableGetParameterLayouts "PJRT_Layouts_PJRT_Executable_GetParameterLayouts" 81 {
        executable: Pointer, num_parameters: usize, layouts: Pointer }
}
