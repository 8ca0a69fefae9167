//! A loader of plugins: their devices, programs that they compile, and arrays on their devices.
//!
//! ```text
//! Plugin -> Client -> Device
//!              | compile            | upload
//!           Executable -- run --> Buffer -- download --> Array
//! ```
//!
//! Objects are owned handles, which threads may share. A [`Plugin`] is a shared library that is
//! loaded once. A [`Client`] has its devices; all other objects keep their client alive. Runs and
//! transfers are asynchronous: [`Buffer::download`] and [`Buffer::wait`] wait, and return the error
//! of the program that should have written the buffer.
//!
//! ```no_run
//! use cotangent_core::Array;
//! use pjrt::loader::{Client, CompileOptions, find};
//! let client = Client::shared(&find("cpu")?, &[])?;
//! let text = "func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
//! let program = client.compile(text.as_bytes(), &CompileOptions::default())?;
//! let x = client.upload(&Array::vector(vec![1.0f32, 2.0]), &client.devices()[0])?;
//! let y = program.run(&[vec![&x]], &[])?;
//! assert_eq!(y[0][0].download()?, Array::vector(vec![1.0f32, 2.0]));
//! # Ok::<(), cotangent_core::Error>(())
//! ```

mod buffer;
mod client;
mod event;
mod executable;
mod find;
mod hlo;
mod options;
mod plugin;
mod topology;

pub use buffer::Buffer;
pub use client::{Client, ClientOption, Device, MemoryStats};
pub use event::Event;
pub use executable::{Executable, Unloaded};
pub use find::{find, found, search_in};
pub use hlo::{Division, Divisions};
pub use options::{CompileOptions, OptionValue};
pub use plugin::Plugin;
pub use topology::Topology;

use crate::Pointer;

/// A struct as this library passes it: followed by zeros for the fields of later versions. Plugins
/// accept structs that are larger than theirs, and zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
struct Padded<T> {
    value: T,
    later: [usize; LATER_WORDS],
}

/// Words for fields of later versions.
const LATER_WORDS: usize = 32;

impl<T> Padded<T> {
    /// # Safety
    /// `T` begins with its size in bytes.
    unsafe fn new(value: T) -> Padded<T> {
        let mut padded = Padded {
            value,
            later: [0; LATER_WORDS],
        };
        // SAFETY: the caller guarantees the first field (# Safety).
        unsafe {
            (&raw mut padded)
                .cast::<usize>()
                .write(size_of::<Padded<T>>())
        };
        padded
    }

    /// Its address.
    fn address(&self) -> Pointer {
        (&raw const *self).into()
    }
}

/// Copies a list that a plugin lends.
///
/// # Safety
/// The address is null, or that of `len` initialised elements.
unsafe fn list<T: Copy>(address: Pointer, len: usize) -> Vec<T> {
    if address.is_null() || len == 0 {
        return Vec::new();
    }
    // SAFETY: the caller guarantees the elements (# Safety).
    unsafe { std::slice::from_raw_parts(address.0.cast::<T>().cast_const(), len) }.to_vec()
}

/// Copies a text that a plugin lends.
///
/// # Safety
/// The address is null, or that of `len` bytes.
unsafe fn text(address: Pointer, len: usize) -> String {
    // SAFETY: the caller guarantees the bytes (# Safety).
    String::from_utf8_lossy(&unsafe { list::<u8>(address, len) }).into_owned()
}
