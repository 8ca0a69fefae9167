//! Executables: compiled programs, shared by all handles of the same program, and their slots.

use crate::attributes::{Attribute, Attributes};
use crate::call::{Call, give, release};
use crate::client::{Client, Device, MEMORY_KINDS, VERSION};
use crate::counts::{self, Counted};
use crate::failure::{Answer, Failure};
use crate::layout::Layout;
use crate::options::{Options, assignment};
use crate::value;
use cotangent::cpu;
use cotangent::stablehlo::{self, Declared};
use cotangent::{CpuBackend, DType, Env, Executable, Function, Type};
use pjrt::{Pointer, Program, args, layout_args};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Estimated time in nanoseconds below which a program runs in the thread of its caller.
const INLINE_NANOSECONDS: f64 = 20_000.0;

/// Estimated time of an arithmetic operation, of a byte, and of an equation, in nanoseconds.
const NANOSECONDS: [f64; 3] = [0.25, 0.1, 100.0];

/// A compiled program.
pub(crate) struct Compiled {
    pub(crate) program: Executable,
    source: Vec<u8>,
    hash: u64,
    name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// Types of the results, tokens included.
    pub(crate) results: Vec<ResultType>,
    types: Vec<i32>,
    dims: Vec<i64>,
    ranks: Vec<usize>,
    layouts: Layouts,
    kinds: Vec<Pointer>,
    kind_sizes: Vec<usize>,
    fingerprint: String,
    text: OnceLock<Result<String, Failure>>,
    costs: OnceLock<Attributes>,
    /// Whether it runs in the thread of its caller: it is small, or it calls the host.
    pub(crate) placement: Placement,
    _counted: Counted,
}

/// Layouts of parameters, and of results.
struct Layouts {
    handles: [Vec<Pointer>; 2],
    _all: [Vec<Layout>; 2],
}

impl Layouts {
    fn new(parameters: &[Parameter], results: &[ResultType]) -> Layouts {
        let rank = |p: &Parameter| p.dims.as_ref().map_or(1, |d| d.len());
        let all = [
            { parameters.iter() }
                .map(|p| Layout::row_major(rank(p)))
                .collect(),
            { results.iter() }
                .map(|r| Layout::row_major(r.dims.len()))
                .collect::<Vec<Layout>>(),
        ];
        Layouts {
            handles: [0, 1].map(|k| all[k].iter().map(Layout::handle).collect()),
            _all: all,
        }
    }
}

// SAFETY: the addresses are those of static texts and of layouts that it owns, in vectors that do
// not change.
unsafe impl Send for Compiled {}
// SAFETY: as for `Send`.
unsafe impl Sync for Compiled {}

/// The thread that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// The queue's.
    Queue,
    /// The caller's, if the arguments are computed.
    Inline,
    /// The caller's: the program calls the host, and the queue never waits for the host.
    Caller,
}

/// A parameter of a program.
pub(crate) struct Parameter {
    pub(crate) dtype: DType,
    /// Extents; `None` for a token, which has no value.
    pub(crate) dims: Option<Box<[i64]>>,
    pub(crate) donated: bool,
}

/// The type of a result.
pub(crate) struct ResultType {
    pub(crate) dtype: DType,
    pub(crate) dims: Box<[i64]>,
    pub(crate) is_token: bool,
    /// The kind of memory: an index of [`MEMORY_KINDS`].
    pub(crate) memory: usize,
}

/// The kind of memory of a result.
fn memory(kind: Option<&str>) -> Result<usize, Failure> {
    let Some(kind) = kind else { return Ok(0) };
    let found = MEMORY_KINDS.iter().position(|k| *k == kind);
    found.ok_or_else(|| {
        let text =
            format!("memory of the kind `{kind}` does not exist: there are {MEMORY_KINDS:?}");
        Failure::unimplemented(text)
    })
}

/// Extents of a type, which must be constant.
fn extents(t: &Type, what: &str, k: usize) -> Result<Box<[i64]>, Failure> {
    match t.shape.as_const() {
        Some(dims) => Ok(dims.into_iter().map(|n| n as i64).collect()),
        None => Err(Failure::unimplemented(format!(
            "{what} {k} of the program has type {t}: extents that are found while running are not supported"
        ))),
    }
}

/// Element type and extents; `None` for a token.
type ArrayType = Option<(DType, Box<[i64]>)>;

/// The declared types with those of the graph, tokens excepted.
fn paired<'d>(
    declared: impl Iterator<Item = &'d Declared>,
    mut types: impl Iterator<Item = Type>,
    what: &str,
) -> Result<Vec<ArrayType>, Failure> {
    let pair = |(k, declared): (usize, &Declared)| match declared {
        Declared::Token => Ok(None),
        Declared::Narrow(name) => Err(Failure::unimplemented(format!(
            "{what} {k} of the program has type {name}: arrays of this element type are not supported"
        ))),
        Declared::Array(_) => {
            let t = types.next().expect("the graph has every declared array");
            Ok(Some((t.dtype, extents(&t, what, k)?)))
        }
    };
    declared.enumerate().map(pair).collect()
}

/// Whether a function calls the host, or has a loop, whose number of iterations no cost counts.
fn scan(f: &Function, found: &mut (bool, bool)) {
    for e in f.eqns() {
        found.0 |= e.op.name() == stablehlo::HOST_CALL;
        found.1 |= e.op.name() == "while";
        e.op.regions().into_iter().for_each(|r| scan(r, found));
    }
}

fn placement(f: &Function) -> Placement {
    let mut found = (false, false);
    scan(f, &mut found);
    let (calls, loops) = found;
    let cost = f.cost();
    let [flop, byte, equation] = NANOSECONDS;
    let time = cost.flops * flop + cost.bytes * byte + f.eqns().len() as f64 * equation;
    match () {
        () if calls => Placement::Caller,
        () if loops || time > INLINE_NANOSECONDS => Placement::Queue,
        () => Placement::Inline,
    }
}

impl Compiled {
    fn new(source: &[u8], hash: u64, backend: &CpuBackend) -> Result<Compiled, Failure> {
        let module = stablehlo::read(source, None)?;
        let f = module.main();
        let signature = module.signature();
        let declared = signature.parameters.iter().map(|p| &p.ty);
        let types = f.params().iter().map(|&v| f.ty(v).clone());
        let parameters = paired(declared, types, "parameter")?;
        let parameters = parameters.into_iter().zip(&signature.parameters);
        let parameters = parameters.map(|(ty, p)| {
            let (dtype, dims) = ty.unzip();
            Parameter {
                dtype: dtype.unwrap_or(DType::Bool),
                dims,
                donated: p.donated,
            }
        });
        let types = f.results().iter().map(|&v| f.ty(v).clone());
        let results = paired(signature.results.iter(), types, "result")?;
        let results = results.into_iter().zip(&signature.memory_kinds);
        let results = results.map(|(ty, kind)| {
            let is_token = ty.is_none();
            let (dtype, dims) = ty.unwrap_or((DType::Bool, Box::new([0])));
            Ok(ResultType {
                dtype,
                dims,
                is_token,
                memory: memory(kind.as_deref())?,
            })
        });
        let results = results.collect::<Result<Vec<ResultType>, Failure>>()?;
        let kinds = results.iter().map(|r| MEMORY_KINDS[r.memory]);
        let parameters: Vec<Parameter> = parameters.collect();
        let program = backend.executor().compile(f)?;
        Ok(Compiled {
            placement: placement(f),
            program,
            source: source.to_vec(),
            hash,
            name: signature.module.clone().unwrap_or_else(|| "main".into()),
            layouts: Layouts::new(&parameters, &results),
            parameters,
            types: results.iter().map(|r| value::number(r.dtype)).collect(),
            dims: results
                .iter()
                .flat_map(|r| r.dims.iter().copied())
                .collect(),
            ranks: results.iter().map(|r| r.dims.len()).collect(),
            kinds: kinds.clone().map(|k| k.as_ptr().into()).collect(),
            kind_sizes: kinds.map(str::len).collect(),
            results,
            fingerprint: format!("{hash:016x}"),
            text: OnceLock::new(),
            costs: OnceLock::new(),
            _counted: Counted::new(&counts::EXECUTABLES),
        })
    }

    fn text(&self) -> Result<&str, Failure> {
        let made = || match std::str::from_utf8(&self.source) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Ok(stablehlo::format_live(&self.source, None)?),
        };
        self.text
            .get_or_init(made)
            .as_deref()
            .map_err(Failure::clone)
    }

    fn costs(&self) -> &Attributes {
        self.costs.get_or_init(|| {
            let cost = self.program.function().cost();
            Attributes::new([
                ("flops", Attribute::Float(cost.flops as f32)),
                ("bytes accessed", Attribute::Float(cost.bytes as f32)),
            ])
        })
    }
}

/// Live programs by the hash of their source.
type Cache = HashMap<u64, Weak<Compiled>>;

fn cache() -> MutexGuard<'static, Cache> {
    static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let mut cache = cache();
        if cache.get(&self.hash).is_some_and(|c| c.strong_count() == 0) {
            cache.remove(&self.hash);
        }
    }
}

/// The compiled program of a source: that of an earlier compilation, if it lives.
fn compiled(source: &[u8], backend: &CpuBackend) -> Result<Arc<Compiled>, Failure> {
    let mut hasher = DefaultHasher::new();
    (source, backend.threads()).hash(&mut hasher);
    let hash = hasher.finish();
    let found = cache().get(&hash).and_then(Weak::upgrade);
    if let Some(found) = found.filter(|c| c.source == source) {
        return Ok(found);
    }
    let made = Arc::new(Compiled::new(source, hash, backend)?);
    cache().insert(hash, Arc::downgrade(&made));
    Ok(made)
}

/// The object of an executable on a device.
pub(crate) struct Loaded {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) device: &'static Device,
    devices: [Pointer; 1],
    assignment: Vec<u8>,
    deleted: AtomicBool,
}

impl Loaded {
    fn give(compiled: Arc<Compiled>, device: &'static Device) -> Pointer {
        give(Loaded {
            compiled,
            device,
            devices: [device.handle()],
            assignment: assignment(device.id),
            deleted: AtomicBool::new(false),
        })
    }

    /// # Errors
    /// The executable was deleted.
    pub(crate) fn check(&self) -> Answer {
        match self.deleted.load(Ordering::Acquire) {
            true => Err(Failure::argument("the executable has been deleted")),
            false => Ok(()),
        }
    }
}

/// The object of an executable without a device.
type Unloaded = Arc<Compiled>;

pub(crate) fn compile(call: &mut Call<args::ClientCompile>) -> Answer {
    let client = call.handle::<Client>(call.client)?;
    let program = call.record::<Program>(call.program)?;
    let format = call.text(program.format, program.format_size)?;
    if format != "mlir" {
        let text = format!("programs of the format `{format}` are not read: the format is mlir");
        return Err(Failure::unimplemented(text));
    }
    let source = call.list::<u8>(program.code, program.code_size)?;
    let options = Options::read(call.list(call.compile_options, call.compile_options_size)?)?;
    let device = client.device(options.device)?;
    call.executable = Loaded::give(compiled(source, &client.backend)?, device);
    Ok(())
}

/// The head of a serialized executable: its version.
fn head() -> Vec<u8> {
    format!("PJRT {VERSION}\n").into_bytes()
}

extern "C" fn release_bytes(bytes: Pointer) {
    release::<Vec<u8>>(bytes);
}

pub(crate) fn serialize(call: &mut Call<args::ExecutableSerialize>) -> Answer {
    let compiled = call.handle::<Unloaded>(call.executable)?;
    let bytes = [head(), compiled.source.clone()].concat();
    (call.serialized_bytes, call.serialized_bytes_size) = (bytes.as_ptr().into(), bytes.len());
    call.serialized_executable = give(bytes);
    call.serialized_executable_deleter = Pointer(release_bytes as *mut _);
    Ok(())
}

pub(crate) fn deserialize(call: &mut Call<args::ExecutableDeserializeAndLoad>) -> Answer {
    let client = call.handle::<Client>(call.client)?;
    let bytes = call.list::<u8>(call.serialized_executable, call.serialized_executable_size)?;
    let Some(source) = bytes.strip_prefix(&head()[..]) else {
        let text = format!("this is not an executable of {VERSION}: compile the program again");
        return Err(Failure::argument(text));
    };
    let options = Options::read(call.list(
        call.overridden_serialized_compile_options,
        call.overridden_serialized_compile_options_size,
    )?)?;
    let device = client.device(options.device)?;
    call.loaded_executable = Loaded::give(compiled(source, &client.backend)?, device);
    Ok(())
}

pub(crate) fn loaded_destroy(call: &mut Call<args::LoadedExecutableDestroy>) -> Answer {
    release::<Loaded>(call.executable);
    Ok(())
}

pub(crate) fn get_executable(call: &mut Call<args::LoadedExecutableGetExecutable>) -> Answer {
    let loaded = call.handle::<Loaded>(call.loaded_executable)?;
    call.executable = give::<Unloaded>(loaded.compiled.clone());
    Ok(())
}

pub(crate) fn devices(call: &mut Call<args::LoadedExecutableAddressableDevices>) -> Answer {
    let all = &call.handle::<Loaded>(call.executable)?.devices;
    (call.addressable_devices, call.num_addressable_devices) = (all.as_ptr().into(), all.len());
    Ok(())
}

extern "C" fn release_nothing(_: Pointer) {}

pub(crate) fn device_assignment(
    call: &mut Call<args::LoadedExecutableGetDeviceAssignment>,
) -> Answer {
    let bytes = &call.handle::<Loaded>(call.executable)?.assignment;
    (call.serialized_bytes, call.serialized_bytes_size) = (bytes.as_ptr().into(), bytes.len());
    call.serialized_device_assignment = bytes.as_ptr().into();
    call.serialized_device_assignment_deleter = Pointer(release_nothing as *mut _);
    Ok(())
}

pub(crate) fn delete(call: &mut Call<args::LoadedExecutableDelete>) -> Answer {
    let deleted = &call.handle::<Loaded>(call.executable)?.deleted;
    deleted.store(true, Ordering::Release);
    Ok(())
}

pub(crate) fn is_deleted(call: &mut Call<args::LoadedExecutableIsDeleted>) -> Answer {
    let deleted = &call.handle::<Loaded>(call.executable)?.deleted;
    call.is_deleted = deleted.load(Ordering::Acquire).into();
    Ok(())
}

pub(crate) fn loaded_fingerprint(call: &mut Call<args::LoadedExecutableFingerprint>) -> Answer {
    let text = &call.handle::<Loaded>(call.executable)?.compiled.fingerprint;
    call.executable_fingerprint = text.as_ptr().into();
    call.executable_fingerprint_size = text.len();
    Ok(())
}

pub(crate) fn destroy(call: &mut Call<args::ExecutableDestroy>) -> Answer {
    release::<Unloaded>(call.executable);
    Ok(())
}

pub(crate) fn name(call: &mut Call<args::ExecutableName>) -> Answer {
    let name = &call.handle::<Unloaded>(call.executable)?.name;
    (call.executable_name, call.executable_name_size) = (name.as_ptr().into(), name.len());
    Ok(())
}

pub(crate) fn replicas(call: &mut Call<args::ExecutableNumReplicas>) -> Answer {
    call.num_replicas = 1;
    Ok(())
}

pub(crate) fn partitions(call: &mut Call<args::ExecutableNumPartitions>) -> Answer {
    call.num_partitions = 1;
    Ok(())
}

pub(crate) fn outputs(call: &mut Call<args::ExecutableNumOutputs>) -> Answer {
    call.num_outputs = call.handle::<Unloaded>(call.executable)?.results.len();
    Ok(())
}

pub(crate) fn code_size(call: &mut Call<args::ExecutableSizeOfGeneratedCodeInBytes>) -> Answer {
    call.handle::<Unloaded>(call.executable)?;
    call.size_in_bytes = 0;
    Ok(())
}

pub(crate) fn costs(call: &mut Call<args::ExecutableGetCostAnalysis>) -> Answer {
    let costs = call.handle::<Unloaded>(call.executable)?.costs();
    (call.properties, call.num_properties) = costs.parts();
    Ok(())
}

pub(crate) fn output_types(call: &mut Call<args::ExecutableOutputElementTypes>) -> Answer {
    let types = &call.handle::<Unloaded>(call.executable)?.types;
    (call.output_types, call.num_output_types) = (types.as_ptr().into(), types.len());
    Ok(())
}

pub(crate) fn output_dimensions(call: &mut Call<args::ExecutableOutputDimensions>) -> Answer {
    let compiled = call.handle::<Unloaded>(call.executable)?;
    call.num_outputs = compiled.ranks.len();
    call.dims = compiled.dims.as_ptr().into();
    call.dim_sizes = compiled.ranks.as_ptr().into();
    Ok(())
}

pub(crate) fn output_layouts(call: &mut Call<layout_args::ExecutableGetOutputLayouts>) -> Answer {
    let [_, results] = &call.handle::<Unloaded>(call.executable)?.layouts.handles;
    (call.layouts, call.num_outputs) = (results.as_ptr().into(), results.len());
    Ok(())
}

pub(crate) fn parameter_layouts(
    call: &mut Call<layout_args::ExecutableGetParameterLayouts>,
) -> Answer {
    let [parameters, _] = &call.handle::<Unloaded>(call.executable)?.layouts.handles;
    (call.layouts, call.num_parameters) = (parameters.as_ptr().into(), parameters.len());
    Ok(())
}

pub(crate) fn output_memories(call: &mut Call<args::ExecutableOutputMemoryKinds>) -> Answer {
    let compiled = call.handle::<Unloaded>(call.executable)?;
    call.num_outputs = compiled.kinds.len();
    call.memory_kinds = compiled.kinds.as_ptr().into();
    call.memory_kind_sizes = compiled.kind_sizes.as_ptr().into();
    Ok(())
}

pub(crate) fn fingerprint(call: &mut Call<args::ExecutableFingerprint>) -> Answer {
    let text = &call.handle::<Unloaded>(call.executable)?.fingerprint;
    call.executable_fingerprint = text.as_ptr().into();
    call.executable_fingerprint_size = text.len();
    Ok(())
}

/// The program as text. Without memory for it the caller asks for its size.
pub(crate) fn optimized(call: &mut Call<args::ExecutableOptimizedProgram>) -> Answer {
    const FORMAT: &str = "mlir";
    let text = call.handle::<Unloaded>(call.executable)?.text()?;
    let mut program = *call.record::<Program>(call.program)?;
    if !program.code.is_null() {
        if program.code_size < text.len() {
            return Err(Failure::argument("the memory for the program is too small"));
        }
        call.copy(program.code, text.as_bytes());
    }
    program.code_size = text.len();
    (program.format, program.format_size) = (FORMAT.as_ptr().into(), FORMAT.len());
    call.write(call.program, 0, program);
    Ok(())
}

pub(crate) fn memory_stats(call: &mut Call<args::ExecutableGetCompiledMemoryStats>) -> Answer {
    let compiled = call.handle::<Unloaded>(call.executable)?;
    let size = |dtype: DType, dims: &[i64]| dims.iter().product::<i64>() * dtype.size() as i64;
    let arguments = compiled.parameters.iter();
    let argument = |p: &Parameter| p.dims.as_ref().map_or(0, |dims| size(p.dtype, dims));
    let f = compiled.program.function();
    let types: Vec<Type> = f.params().iter().map(|&v| f.ty(v).clone()).collect();
    let peak = cpu::memory(f, &types, &Env::default()).map_or(0, |m| m.peak as i64);
    let output: i64 = compiled
        .results
        .iter()
        .map(|r| size(r.dtype, &r.dims))
        .sum();
    let given: i64 = arguments.clone().map(argument).sum();
    **call = args::ExecutableGetCompiledMemoryStats {
        struct_size: call.struct_size,
        extensions: call.extensions,
        executable: call.executable,
        argument_size_in_bytes: given,
        alias_size_in_bytes: { arguments }.filter(|p| p.donated).map(argument).sum(),
        output_size_in_bytes: output,
        temp_size_in_bytes: (peak - output).max(0),
        peak_memory_in_bytes: peak + given,
        ..args::ExecutableGetCompiledMemoryStats::default()
    };
    Ok(())
}
