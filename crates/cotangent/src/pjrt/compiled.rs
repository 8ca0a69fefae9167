//! [`CompiledProgram`]: a program that was compiled for devices, which need not be here, and the
//! file that stores it.
//!
//! ```text
//! cotangent.pjrt 1
//! target h200:8
//! platform cuda
//! mesh data=8                    of a divided program, which also has the next two
//! arguments data,- -             the divisions of arguments, separated by spaces
//! results -
//! function 812                   number of bytes of the function's text
//! executable 52034               number of bytes of the executable
//!                                then both
//! ```

use super::backend::PjrtBackend;
use super::program::DeviceProgram;
use crate::{Function, Program, Result, bail};
use cotangent_core::text::print_function;
use cotangent_stablehlo::{Sharding, Spec, Target, WriteOptions, write_as};
use pjrt::loader::{CompileOptions, OptionValue, Plugin, Topology, Unloaded, find};
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// The first line of a file.
const HEAD: &str = "cotangent.pjrt 1";

/// An H200 as XLA describes it.
const H200: &str = r#"gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128 block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: 4800000000000 l2_cache_size: 62914560
  clock_rate_ghz: 1.98 device_memory_size: 150000000000 shared_memory_per_block_optin: 232448
  registers_per_core_limit: 65536 registers_per_block_limit: 65536 cuda_compute_capability { major: 9 minor: 0 }
}
platform_name: "CUDA" dnn_version_info { major: 9 minor: 10 } device_description_str: "NVIDIA H200""#;

/// Number of devices of `h200` without a number.
const GPUS: usize = 8;

/// A program that was compiled for devices, which need not be here.
///
/// ```no_run
/// use cotangent::Program;
/// use cotangent::pjrt::{CompiledProgram, PjrtBackend};
/// let program = Program::parse(std::fs::read("step.mlir").unwrap(), Some("step.mlir"))?;
/// let compiled = CompiledProgram::compile("h200", program.main(), None, None)?;
/// std::fs::write("step.pjrt", compiled.to_bytes()).unwrap();
/// // On a machine with the device:
/// let compiled = CompiledProgram::from_bytes(&std::fs::read("step.pjrt").unwrap())?;
/// let step = PjrtBackend::new("cuda")?.load(&compiled)?;
/// # Ok::<(), cotangent::Error>(())
/// ```
pub struct CompiledProgram {
    target: String,
    platform: String,
    function: Arc<Function>,
    sharding: Option<Sharding>,
    executable: Vec<u8>,
    opcodes: BTreeMap<String, usize>,
}

impl CompiledProgram {
    /// Compiles a function for a target: `h200` and `h200:1` are eight and one of NVIDIA's GPUs,
    /// `v5e:2x4` eight devices of a TPU, as its plugin names them; a device that is here has the
    /// name that [`PjrtBackend::new`] takes. `bound` is that of
    /// [`PjrtBackend::bounded_program`].
    ///
    /// # Errors
    /// Extents that are not constants; an operation without a form; a plugin that is not installed,
    /// or cannot store programs; the compiler's error.
    pub fn compile(
        target: &str,
        f: &Arc<Function>,
        sharding: Option<&Sharding>,
        bound: Option<usize>,
    ) -> Result<CompiledProgram> {
        let (name, number) = target.split_once(':').unwrap_or((target, ""));
        if PjrtBackend::names().any(|n| n == name) {
            return PjrtBackend::new(target)?.compiled(f, sharding, bound);
        }
        let text = written(f, sharding, bound)?;
        let (platform, stored) = match name {
            "h200" => for_h200(number, &text, sharding)?,
            _ if name.starts_with('v') && !number.is_empty() => for_tpu(target, &text, sharding)?,
            _ => bail!(
                Input,
                "there is no target `{target}`: targets are h200, with a number of devices as in h200:1, TPUs as in \
                 v5e:2x4, and devices that are here ({})",
                PjrtBackend::names().collect::<Vec<_>>().join(", ")
            ),
        };
        Ok(CompiledProgram::of(target, platform, f, sharding, stored))
    }

    fn of(
        target: &str,
        platform: String,
        f: &Arc<Function>,
        sharding: Option<&Sharding>,
        (executable, opcodes): Stored,
    ) -> CompiledProgram {
        CompiledProgram {
            target: target.to_owned(),
            platform,
            function: f.clone(),
            sharding: sharding.cloned(),
            executable,
            opcodes,
        }
    }

    /// The target that it was compiled for.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The function, with the extents that it was compiled for.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// Its division among devices.
    pub fn sharding(&self) -> Option<&Sharding> {
        self.sharding.as_ref()
    }

    /// Number of bytes of the executable.
    pub fn size(&self) -> usize {
        self.executable.len()
    }

    /// Number of collective operations, as [`DeviceProgram::collectives`] counts them. Empty if the
    /// plugin does not tell, and for a program of a file.
    pub fn collectives(&self) -> BTreeMap<String, usize> {
        super::program::collectives(&self.opcodes)
    }

    /// The program as the contents of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let function = print_function(&self.function);
        let mut head = format!(
            "{HEAD}\ntarget {}\nplatform {}\n",
            self.target, self.platform
        );
        if let Some(s) = &self.sharding {
            let all = |specs: &[Spec]| {
                let specs: Vec<String> = specs.iter().map(Spec::to_string).collect();
                specs.join(" ")
            };
            head.push_str(&format!(
                "mesh {}\narguments {}\nresults {}\n",
                s.mesh,
                all(&s.arguments),
                all(&s.results)
            ));
        }
        head.push_str(&format!(
            "function {}\nexecutable {}\n\n",
            function.len(),
            self.executable.len()
        ));
        [head.as_bytes(), function.as_bytes(), &self.executable].concat()
    }

    /// The program of the contents of a file.
    ///
    /// # Errors
    /// [`Code::Syntax`](crate::Code::Syntax) if they are no such file, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<CompiledProgram> {
        let end = bytes.windows(2).position(|w| w == b"\n\n");
        let Some((head, rest)) = end.map(|at| (&bytes[..at], &bytes[at + 2..])) else {
            bail!(Syntax, "this is no compiled program: its head does not end")
        };
        let Ok(head) = std::str::from_utf8(head) else {
            bail!(Syntax, "the head of a compiled program is no text")
        };
        let mut lines = head.lines();
        if lines.next() != Some(HEAD) {
            bail!(
                Syntax,
                "a compiled program begins with `{HEAD}`: this is another format, or another version"
            );
        }
        let fields: BTreeMap<&str, &str> = lines.filter_map(|l| l.split_once(' ')).collect();
        let field = |name: &str| match fields.get(name) {
            Some(text) => Ok(*text),
            None => bail!(Syntax, "the head of a compiled program has no `{name}`"),
        };
        let (text, executable) = match (
            field("function")?.parse::<usize>(),
            field("executable")?.parse::<usize>(),
        ) {
            (Ok(n), Ok(m)) if rest.len().checked_sub(n) == Some(m) => rest.split_at(n),
            _ => bail!(
                Syntax,
                "a compiled program of {} bytes after its head does not have the sizes that it names",
                rest.len()
            ),
        };
        let program = Program::parse(text, None)?;
        let function = program.main().clone();
        let sharding = match fields.get("mesh") {
            None => None,
            Some(mesh) => {
                let sharding = Sharding {
                    mesh: parsed(mesh)?,
                    arguments: specs(field("arguments")?)?,
                    results: specs(field("results")?)?,
                };
                let types: Vec<_> = function.param_types();
                sharding.check(&types, &function.result_types())?;
                Some(sharding)
            }
        };
        Ok(CompiledProgram {
            target: field("target")?.to_owned(),
            platform: field("platform")?.to_owned(),
            function,
            sharding,
            executable: executable.to_vec(),
            opcodes: BTreeMap::new(),
        })
    }
}

fn parsed<T: FromStr<Err = crate::Error>>(text: &str) -> Result<T> {
    text.parse()
}

fn specs(text: &str) -> Result<Vec<Spec>> {
    text.split(' ')
        .filter(|s| !s.is_empty())
        .map(parsed)
        .collect()
}

/// The text of a function as the program of a module.
fn written(f: &Arc<Function>, sharding: Option<&Sharding>, bound: Option<usize>) -> Result<String> {
    let specs = sharding.map(|s| s.arguments.iter().chain(&s.results));
    if specs.is_some_and(|mut all| all.any(Spec::is_open)) {
        bail!(
            Invalid,
            "a program that is stored has no open divisions: give those that `DeviceProgram::division` returns"
        );
    }
    let options = WriteOptions {
        target: Target::Portable,
        sharding,
        bound,
        ..WriteOptions::default()
    };
    write_as(&[Arc::new(Function::clone(f).renamed("main"))], &options)
}

/// An executable, and the number of its instructions of each kind.
type Stored = (Vec<u8>, BTreeMap<String, usize>);

/// Compiles the text for devices of a topology. Returns the platform.
fn compile_for(
    topology: &Topology,
    text: &str,
    sharding: Option<&Sharding>,
    named: Vec<(String, OptionValue)>,
) -> Result<(String, Stored)> {
    let partitions = sharding.map_or(1, |s| s.mesh.size());
    let devices = topology.devices()?;
    if partitions > devices {
        bail!(
            Input,
            "a mesh of {partitions} devices is given, and the target has {devices}"
        );
    }
    let options = CompileOptions {
        partitions,
        named,
        ..CompileOptions::default()
    };
    let made: Unloaded = topology.compile(text.as_bytes(), &options)?;
    let stored = (made.serialize()?, made.opcodes().unwrap_or_default());
    Ok((topology.platform().to_lowercase(), stored))
}

fn for_h200(number: &str, text: &str, sharding: Option<&Sharding>) -> Result<(String, Stored)> {
    let count = match number {
        "" => GPUS,
        _ => match number.parse() {
            Ok(n @ 1..=GPUS) => n,
            _ => bail!(Input, "h200:{number}: a machine has 1 to {GPUS} of them"),
        },
    };
    let library = find("cuda")?;
    let options = [
        ("target_config", OptionValue::Text(H200.to_owned())),
        ("topology", OptionValue::Text(format!("1x1x{count}"))),
    ];
    let topology = Topology::new(Plugin::open(&library)?, "", &options)?;
    // The folder of NVIDIA's compilers is beside that of the plugin.
    let packages = library.ancestors().nth(3).unwrap_or(Path::new(""));
    let folder = packages.join("nvidia/cu13").to_string_lossy().into_owned();
    let named = vec![(
        "xla_gpu_cuda_data_dir".to_owned(),
        OptionValue::Text(folder),
    )];
    compile_for(&topology, text, sharding, named)
}

fn for_tpu(target: &str, text: &str, sharding: Option<&Sharding>) -> Result<(String, Stored)> {
    let library = find("tpu")?;
    if std::env::var_os("TPU_SKIP_MDS_QUERY").is_none() {
        bail!(
            Input,
            "set the environment variable TPU_SKIP_MDS_QUERY=1: without it the plugin asks the network which TPU this \
             machine has"
        );
    }
    let topology = Topology::new(Plugin::open(&library)?, target, &[])?;
    compile_for(&topology, text, sharding, Vec::new())
}

impl PjrtBackend {
    /// A function, compiled for this device or for those of a mesh, to be stored. `bound` is that
    /// of [`bounded_program`](Self::bounded_program).
    ///
    /// ```no_run
    /// use cotangent::{Program, pjrt::PjrtBackend};
    /// let program = Program::parse(std::fs::read("step.mlir").unwrap(), Some("step.mlir"))?;
    /// let device = PjrtBackend::new("cuda")?;
    /// std::fs::write("step.pjrt", device.compiled(program.main(), None, None)?.to_bytes()).unwrap();
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// Extents that are not constants; an operation without a form; the plugin cannot store
    /// programs ([`Code::Unsupported`](crate::Code::Unsupported)); the compiler's error.
    pub fn compiled(
        &self,
        f: &Arc<Function>,
        sharding: Option<&Sharding>,
        bound: Option<usize>,
    ) -> Result<CompiledProgram> {
        let text = written(f, sharding, bound)?;
        let made = self.executable(text.into(), sharding.map(|s| &s.mesh))?;
        let stored = (made.serialize()?, made.opcodes().unwrap_or_default());
        let (target, platform) = (format!("{self:?}"), self.platform().to_owned());
        Ok(CompiledProgram::of(&target, platform, f, sharding, stored))
    }

    /// A compiled program on this device, or on the devices of its mesh.
    ///
    /// # Errors
    /// It was compiled for another platform
    /// ([`Code::DeviceMismatch`](crate::Code::DeviceMismatch)); the plugin's error: another
    /// version, another device.
    pub fn load(&self, program: &CompiledProgram) -> Result<DeviceProgram> {
        if program.platform != self.platform() {
            bail!(
                DeviceMismatch,
                "a program that was compiled for `{}` ({}) cannot run on {self:?}",
                program.target,
                program.platform
            );
        }
        if let Some(s) = &program.sharding {
            self.of_mesh(&s.mesh)?;
        }
        let client = self.device.client();
        let executable = client.deserialize(&program.executable)?;
        Ok(DeviceProgram::loaded(
            self.clone(),
            &program.function,
            program.sharding.clone(),
            executable,
        ))
    }
}
