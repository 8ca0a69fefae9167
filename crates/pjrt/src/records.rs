//! Records of the interface that several slots share, and the record of a slot.

use std::ffi::c_void;

/// An address that the interface passes: of a handle, a list, a text or a function.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer(pub *mut c_void);

impl Default for Pointer {
    /// The null pointer.
    fn default() -> Pointer {
        Pointer(std::ptr::null_mut())
    }
}

impl<T> From<*const T> for Pointer {
    fn from(p: *const T) -> Pointer {
        Pointer(p.cast_mut().cast())
    }
}

impl Pointer {
    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// A row of the table of slots.
#[derive(Debug)]
pub struct ApiSlot {
    /// Index of the slot in [`Api`](crate::Api), in words.
    pub number: usize,
    /// The name of the function.
    pub name: &'static str,
    /// The minor version of the interface in which the slot appeared; 57 for those before it.
    pub since: i32,
    /// Size in bytes of the argument struct.
    pub size: usize,
    /// Size in bytes of the fields that every caller passes. Later versions added the others.
    pub required: usize,
    /// The fields of the argument struct after the two words at its head.
    pub fields: &'static [Field],
}

/// A field of an argument struct.
#[derive(Debug)]
pub struct Field {
    /// Its name in the header of the interface.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

/// The argument struct of a slot: plain data, for which zero bytes are a value.
pub trait Arguments: Copy + Default + 'static {
    /// The row of the slot.
    const SLOT: ApiSlot;
}

/// The version of the interface that a library implements.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Version {
    /// Size of this struct in bytes.
    pub struct_size: usize,
    /// A list of extensions, or null.
    pub extensions: Pointer,
    /// Major version.
    pub major: i32,
    /// Minor version.
    pub minor: i32,
}

/// A named value of options and attributes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct NamedValue {
    /// Size of this struct in bytes.
    pub struct_size: usize,
    /// A list of extensions, or null.
    pub extensions: Pointer,
    /// The name, not ended by a zero.
    pub name: Pointer,
    /// Length of the name.
    pub name_size: usize,
    /// One of [`named_value`].
    pub kind: i32,
    /// The value, or the address of a list or text.
    pub value: u64,
    /// Number of elements; 1 for a scalar.
    pub value_size: usize,
}

/// Kinds of a [`NamedValue`].
pub mod named_value {
    /// A text.
    pub const STRING: i32 = 0;
    /// An integer.
    pub const INT64: i32 = 1;
    /// A list of integers.
    pub const INT64_LIST: i32 = 2;
    /// A float of 32 bits.
    pub const FLOAT: i32 = 3;
    /// A boolean.
    pub const BOOL: i32 = 4;
}

/// A program for a compiler, or from one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Program {
    /// Size of this struct in bytes.
    pub struct_size: usize,
    /// A list of extensions, or null.
    pub extensions: Pointer,
    /// The bytes.
    pub code: Pointer,
    /// Number of bytes.
    pub code_size: usize,
    /// The name of the format: `mlir`.
    pub format: Pointer,
    /// Length of the name.
    pub format_size: usize,
}

/// The order of the elements of a buffer in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryLayout {
    /// Size of this struct in bytes.
    pub struct_size: usize,
    /// A list of extensions, or null.
    pub extensions: Pointer,
    /// Size in bytes of the variant's own struct.
    pub variant_size: usize,
    /// A list of extensions, or null.
    pub variant_extensions: Pointer,
    /// Tiled: axes from the fastest to the slowest. Strided: strides in bytes.
    pub list: Pointer,
    /// Number of axes.
    pub list_size: usize,
    /// Tiled: extents of tiles, concatenated.
    pub tile_dims: Pointer,
    /// Tiled: number of extents of each tile.
    pub tile_dim_sizes: Pointer,
    /// Tiled: number of tiles.
    pub num_tiles: usize,
    /// 0: tiled, 1: strided.
    pub kind: i32,
}

/// Options of one execution.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ExecuteOptions {
    /// Size of this struct in bytes.
    pub struct_size: usize,
    /// A list of extensions, or null.
    pub extensions: Pointer,
    /// Functions that send, per device.
    pub send_callbacks: Pointer,
    /// Functions that receive, per device.
    pub recv_callbacks: Pointer,
    /// Number of functions that send, per device.
    pub num_send_ops: usize,
    /// Number of functions that receive, per device.
    pub num_recv_ops: usize,
    /// Number of the launch among several processes.
    pub launch_id: i32,
    /// Arguments that keep their buffers although the program donates them.
    pub non_donatable_input_indices: Pointer,
    /// Number of these arguments.
    pub num_non_donatable_input_indices: usize,
}

/// Bytes with their deleter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Chunk {
    /// The bytes.
    pub data: Pointer,
    /// Number of bytes.
    pub size: usize,
    /// Called with the bytes and `deleter_arg`.
    pub deleter: Pointer,
    /// The second argument of the deleter.
    pub deleter_arg: Pointer,
}

/// Codes of errors.
pub mod code {
    /// The operation was cancelled.
    pub const CANCELLED: i32 = 1;
    /// The kind of the error is not known.
    pub const UNKNOWN: i32 = 2;
    /// An argument is wrong.
    pub const INVALID_ARGUMENT: i32 = 3;
    /// Something that was named does not exist.
    pub const NOT_FOUND: i32 = 5;
    /// There is not enough memory.
    pub const RESOURCE_EXHAUSTED: i32 = 8;
    /// The state does not permit the call.
    pub const FAILED_PRECONDITION: i32 = 9;
    /// The operation was ended.
    pub const ABORTED: i32 = 10;
    /// The function or feature does not exist.
    pub const UNIMPLEMENTED: i32 = 12;
    /// An invariant does not hold.
    pub const INTERNAL: i32 = 13;
    /// The service is not there.
    pub const UNAVAILABLE: i32 = 14;
    /// Data are lost.
    pub const DATA_LOSS: i32 = 15;
}

/// Promises of a caller about a host array that becomes a buffer.
pub mod semantics {
    /// It is constant during the call.
    pub const DURING_CALL: i32 = 0;
    /// It is constant until the transfer is complete.
    pub const UNTIL_TRANSFER: i32 = 1;
    /// It is constant as long as the buffer lives, which may share its memory.
    pub const ZERO_COPY: i32 = 2;
    /// As [`ZERO_COPY`], and the owner of the buffer may write to it.
    pub const MUTABLE_ZERO_COPY: i32 = 3;
}
