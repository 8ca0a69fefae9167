//! [`Executable`]: a compiled program.

use super::buffer::Buffer;
use super::client::ClientHandle;
use super::{Padded, list};
use crate::args::*;
use crate::{Arguments, ExecuteOptions, Pointer, Program};
use cotangent_core::{Result, bail};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A program that a client compiled, on the devices that it was compiled for.
pub struct Executable {
    client: Arc<ClientHandle>,
    loaded: Pointer,
    unloaded: Unloaded,
    devices: usize,
    results: usize,
}

/// A compiled program that is not bound to devices of a client, such as one for devices that are
/// not here ([`Topology`](super::Topology)).
pub struct Unloaded {
    plugin: &'static super::Plugin,
    executable: Pointer,
}

impl Drop for Unloaded {
    fn drop(&mut self) {
        let executable = self.executable;
        if executable.is_null() {
            return;
        }
        // SAFETY: the handle is alive and owned.
        unsafe {
            self.plugin.release(ExecutableDestroy {
                executable,
                ..Default::default()
            });
        }
    }
}

// SAFETY: the interface may be called from any thread, and the handles are owned.
unsafe impl Send for Executable {}
// SAFETY: the interface may be called from any thread at the same time.
unsafe impl Sync for Executable {}

impl Drop for Executable {
    fn drop(&mut self) {
        let executable = self.loaded;
        self.client.live.executables.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the executable is alive and owned. What it runs keeps what it needs.
        unsafe {
            self.client.plugin.release(LoadedExecutableDestroy {
                executable,
                ..Default::default()
            });
        }
    }
}

impl Unloaded {
    /// A handle that the caller owns.
    ///
    /// # Safety
    /// `executable` is an executable of this plugin that the caller owns.
    pub(crate) unsafe fn of(plugin: &'static super::Plugin, executable: Pointer) -> Unloaded {
        Unloaded { plugin, executable }
    }

    /// The program as bytes from which a client of the same platform and version
    /// [loads](super::Client::deserialize) it.
    ///
    /// # Errors
    /// [`Code::Unsupported`](cotangent_core::Code::Unsupported) if the plugin cannot store
    /// programs.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let executable = self.executable;
        // SAFETY: the executable is alive. The bytes are copied, and their owner is then deleted.
        unsafe {
            let made = self.plugin.call(ExecutableSerialize {
                executable,
                ..Default::default()
            })?;
            let bytes = list::<u8>(made.serialized_bytes, made.serialized_bytes_size);
            if !made.serialized_executable_deleter.is_null() {
                let delete: unsafe extern "C" fn(Pointer) =
                    std::mem::transmute(made.serialized_executable_deleter);
                delete(made.serialized_executable);
            }
            Ok(bytes)
        }
    }

    /// The program after the compiler's passes, in a format of the compiler.
    ///
    /// # Errors
    /// [`Code::Unsupported`](cotangent_core::Code::Unsupported) if the plugin does not tell.
    pub fn optimized(&self) -> Result<Vec<u8>> {
        let mut program = Program {
            struct_size: size_of::<Program>(),
            ..Default::default()
        };
        let program = &raw mut program;
        let args = ExecutableOptimizedProgram {
            executable: self.executable,
            program: Pointer(program.cast()),
            ..Default::default()
        };
        // SAFETY: the executable is alive. The first call writes the size of the program, the
        // second one that many bytes. The record lives until the end of this function.
        unsafe {
            self.plugin.call(args)?;
            let mut code = vec![0u8; (*program).code_size];
            (*program).code = Pointer(code.as_mut_ptr().cast());
            self.plugin.call(args)?;
            Ok(code)
        }
    }

    /// Number of instructions of each kind in the program after the compiler's passes, as XLA names
    /// them: `all-reduce`, for example. Empty if the plugin has another compiler.
    ///
    /// # Errors
    /// As [`Unloaded::optimized`].
    pub fn opcodes(&self) -> Result<BTreeMap<String, usize>> {
        Ok(super::hlo::opcodes(&self.optimized()?))
    }
}

impl Executable {
    /// An executable that the caller owns.
    ///
    /// # Safety
    /// `loaded` is an executable of this client that the caller owns.
    pub(crate) unsafe fn of(client: &Arc<ClientHandle>, loaded: Pointer) -> Result<Executable> {
        client.live.executables.fetch_add(1, Ordering::Relaxed);
        let plugin = client.plugin;
        let mut made = Executable {
            client: client.clone(),
            loaded,
            unloaded: Unloaded {
                plugin,
                executable: Pointer::default(),
            },
            devices: 0,
            results: 0,
        };
        // SAFETY: the executable is alive. The caller owns the handle that it receives.
        unsafe {
            let found = plugin.call(LoadedExecutableGetExecutable {
                loaded_executable: loaded,
                ..Default::default()
            })?;
            made.unloaded = Unloaded::of(plugin, found.executable);
            let results = plugin.call(ExecutableNumOutputs {
                executable: found.executable,
                ..Default::default()
            })?;
            made.results = results.num_outputs;
            let devices = plugin.call(LoadedExecutableAddressableDevices {
                executable: loaded,
                ..Default::default()
            })?;
            made.devices = devices.num_addressable_devices;
        }
        Ok(made)
    }

    /// Number of devices on which it runs.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Number of results on each device.
    pub fn results(&self) -> usize {
        self.results
    }

    /// Runs the program: a list of arguments for each of its devices, and a list of results.
    /// Returns when the run is enqueued. If it fails, reading a result is the error.
    ///
    /// Arguments that the program donates are deleted, but for those whose positions are in `keep`.
    ///
    /// # Errors
    /// Another number of devices; the plugin's error: another number of arguments, a deleted one,
    /// no memory.
    pub fn run(&self, arguments: &[Vec<&Buffer>], keep: &[usize]) -> Result<Vec<Vec<Buffer>>> {
        if arguments.len() != self.devices {
            bail!(
                Arity,
                "the program runs on {} devices, and arguments are given for {}",
                self.devices,
                arguments.len()
            );
        }
        let count = arguments.first().map_or(0, Vec::len);
        if let Some(other) = arguments.iter().find(|a| a.len() != count) {
            bail!(
                Arity,
                "devices have equal numbers of arguments, got {count} and {}",
                other.len()
            );
        }
        let pointers = |list: &Vec<&Buffer>| list.iter().map(|b| b.pointer()).collect();
        let given: Vec<Vec<Pointer>> = arguments.iter().map(pointers).collect();
        let lists: Vec<Pointer> = given.iter().map(|l| l.as_ptr().into()).collect();
        let mut made = vec![vec![Pointer::default(); self.results]; self.devices];
        let out: Vec<Pointer> = made
            .iter_mut()
            .map(|l| Pointer(l.as_mut_ptr().cast::<c_void>()))
            .collect();
        let keep: Vec<i64> = keep.iter().map(|&k| k as i64).collect();
        let options = ExecuteOptions {
            non_donatable_input_indices: keep.as_ptr().into(),
            num_non_donatable_input_indices: keep.len(),
            ..Default::default()
        };
        // SAFETY: the record begins with its size.
        let options = unsafe { Padded::new(options) };
        // SAFETY: the executable and the arguments are alive, lists have their lengths, and the
        // lists of results have room for each. The caller owns the results.
        unsafe {
            self.client.plugin.call(LoadedExecutableExecute {
                executable: self.loaded,
                options: options.address(),
                argument_lists: lists.as_ptr().into(),
                num_devices: self.devices,
                num_args: count,
                output_lists: out.as_ptr().into(),
                ..Default::default()
            })?;
            let own = |list: Vec<Pointer>| {
                let own = |b| Buffer::of(&self.client, b);
                list.into_iter().map(own).collect()
            };
            Ok(made.into_iter().map(own).collect())
        }
    }

    /// The program after the compiler's passes, in a format of the compiler.
    ///
    /// # Errors
    /// [`Code::Unsupported`](cotangent_core::Code::Unsupported) if the plugin does not tell.
    pub fn optimized(&self) -> Result<Vec<u8>> {
        self.unloaded.optimized()
    }

    /// Number of instructions of each kind in the program after the compiler's passes, as XLA names
    /// them: `all-reduce`, for example. Empty if the plugin has another compiler.
    ///
    /// # Errors
    /// As [`Executable::optimized`].
    pub fn opcodes(&self) -> Result<BTreeMap<String, usize>> {
        self.unloaded.opcodes()
    }

    /// How the compiler divided arguments and results among the devices.
    ///
    /// # Errors
    /// As [`Executable::optimized`].
    pub fn divisions(&self) -> Result<super::Divisions> {
        Ok(super::hlo::divisions(&self.optimized()?))
    }

    /// The program as bytes from which [`Client::deserialize`](super::Client::deserialize) makes it
    /// without compiling.
    ///
    /// # Errors
    /// [`Code::Unsupported`](cotangent_core::Code::Unsupported) if the plugin cannot store
    /// programs.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        self.unloaded.serialize()
    }

    /// Bytes of temporary memory of a run on one device.
    ///
    /// # Errors
    /// [`Code::Unsupported`](cotangent_core::Code::Unsupported) if the plugin does not tell.
    pub fn temporary_bytes(&self) -> Result<u64> {
        let plugin = self.client.plugin;
        if !plugin.has(&ExecutableGetCompiledMemoryStats::SLOT) {
            bail!(
                Unsupported,
                "the plugin {plugin:?} does not tell the memory of programs"
            );
        }
        // SAFETY: the executable is alive.
        let stats = unsafe {
            plugin.call(ExecutableGetCompiledMemoryStats {
                executable: self.unloaded.executable,
                ..Default::default()
            })?
        };
        Ok(stats.temp_size_in_bytes.max(0) as u64)
    }
}
