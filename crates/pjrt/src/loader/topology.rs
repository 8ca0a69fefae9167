//! [`Topology`]: devices that are not here, for which programs are compiled.

use super::client::ProgramText;
use super::executable::Unloaded;
use super::options::{CompileOptions, OptionValue, named_values};
use super::plugin::Plugin;
use super::{list, text};
use crate::Pointer;
use crate::args::*;
use cotangent_core::Result;

/// A description of devices that need not be present.
pub struct Topology {
    plugin: &'static Plugin,
    topology: Pointer,
    platform: String,
}

// SAFETY: the interface may be called from any thread, and the handle is owned.
unsafe impl Send for Topology {}
// SAFETY: the interface may be called from any thread at the same time.
unsafe impl Sync for Topology {}

impl Drop for Topology {
    fn drop(&mut self) {
        let topology = self.topology;
        // SAFETY: the topology is alive and owned.
        unsafe {
            self.plugin.release(TopologyDescriptionDestroy {
                topology,
                ..Default::default()
            });
        }
    }
}

impl Topology {
    /// The topology of this name, as the plugin's documentation gives names and options: `v5e:2x4`
    /// for eight devices of a TPU.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn new(
        plugin: &'static Plugin,
        name: &str,
        options: &[(&str, OptionValue)],
    ) -> Result<Topology> {
        let values = named_values(options);
        // SAFETY: name and options are alive during the call.
        let made = unsafe {
            plugin.call(TopologyDescriptionCreate {
                topology_name: name.as_ptr().into(),
                topology_name_size: name.len(),
                create_options: values.as_ptr().into(),
                num_options: values.len(),
                ..Default::default()
            })?
        };
        let mut topology = Topology {
            plugin,
            topology: made.topology,
            platform: String::new(),
        };
        // SAFETY: the topology is alive, and owns the text.
        unsafe {
            let found = plugin.call(TopologyDescriptionPlatformName {
                topology: topology.topology,
                ..Default::default()
            })?;
            topology.platform = text(found.platform_name, found.platform_name_size);
        }
        Ok(topology)
    }

    /// The name of the platform.
    pub fn platform(&self) -> &str {
        &self.platform
    }

    /// Number of devices.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn devices(&self) -> Result<usize> {
        let topology = self.topology;
        // SAFETY: the topology is alive, and owns the list.
        unsafe {
            let found = self.plugin.call(TopologyDescriptionGetDeviceDescriptions {
                topology,
                ..Default::default()
            })?;
            Ok(list::<Pointer>(found.descriptions, found.num_descriptions).len())
        }
    }

    /// Compiles a program for these devices.
    ///
    /// # Errors
    /// The compiler's error.
    pub fn compile(&self, program: &[u8], options: &CompileOptions) -> Result<Unloaded> {
        let (program, options) = (ProgramText::of(program), options.encode(&self.platform));
        // SAFETY: the topology, the program and the options are alive during the call. The caller
        // owns the executable.
        unsafe {
            let made = self.plugin.call(Compile {
                topology: self.topology,
                program: program.address(),
                compile_options: options.as_ptr().into(),
                compile_options_size: options.len(),
                ..Default::default()
            })?;
            Ok(Unloaded::of(self.plugin, made.executable))
        }
    }
}
