//! [`DeviceProgram`]: a function on a device, or on the devices of a mesh.

use super::backend::PjrtBackend;
use super::tensor::{DeviceTensor, Placement, bytes};
use crate::here::AtCaller;
use crate::report::report;
use crate::{Function, Result, Tensor, TensorOps, TracedTensor, Type, bail};
use cotangent_core::tape::{self, Compiled};
use cotangent_core::transform::Session;
use cotangent_core::{Env, reference};
use cotangent_stablehlo::{Mesh, Sharding, Spec, Target, WriteOptions, write_as};
use pjrt::loader::{Buffer, Division, Executable};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Once, PoisonError};

/// Number of sets of extents whose executables a program holds.
const MAX_SPECIALIZED: usize = 16;

/// A function as a program on a device, or divided among several: arguments and results stay there.
///
/// ```no_run
/// use cotangent::pjrt::PjrtBackend;
/// use cotangent::{Program, Tensor};
/// let device = PjrtBackend::new("cuda")?;
/// let text = "tgraph.module @f { %x = tgraph.arg : tensor<nxf32> %y = tgraph.exp %x : tensor<nxf32> tgraph.return %y : tensor<nxf32> }";
/// let f = device.program(Program::from_tgraph(text)?.main())?;
/// for n in [2, 3, 2] {
///     let x = device.upload(&Tensor::vector(vec![0.0f32; n]))?;
///     assert_eq!(f.run(&[&x])?[0].download()?.to_vec::<f32>()?, vec![1.0; n]);
/// }
/// assert_eq!(device.cache_stats().misses, 2);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub struct DeviceProgram {
    backend: PjrtBackend,
    function: Arc<Function>,
    donated: Vec<usize>,
    sharding: Option<Arc<Sharding>>,
    /// Largest number of steps of loops whose values derivatives need.
    bound: Option<usize>,
    /// The function with the extents of arguments, by their types, most recently used last.
    specialized: Mutex<Vec<Specialized>>,
    /// Whether it was reported that there are more sets of extents than are held.
    reported: Once,
}

#[derive(Clone)]
struct Specialized {
    arguments: Arc<[Type]>,
    results: Arc<[Type]>,
    /// The division, with what the compiler chose where it is open.
    sharding: Option<Arc<Sharding>>,
    executable: Arc<Executable>,
}

/// A division, with what the compiler chose for arguments and results whose division is open.
fn chosen(sharding: &Arc<Sharding>, executable: &Executable) -> Result<Arc<Sharding>> {
    let specs = || sharding.arguments.iter().chain(&sharding.results);
    if !specs().any(Spec::is_open) {
        return Ok(sharding.clone());
    }
    let found = executable.divisions()?;
    let choose = |what: &str, specs: &[Spec], found: &[Option<Division>]| {
        let one = |(k, spec): (usize, &Spec)| {
            let division = found.get(k).and_then(Option::as_ref);
            let of_mesh = |d: &Division| Spec::of_parts(&sharding.mesh, &d.parts, &d.places);
            match division.and_then(of_mesh) {
                _ if !spec.is_open() => Ok(spec.clone()),
                Some(spec) => Ok(spec),
                None => bail!(
                    Unsupported,
                    "the compiler does not tell how it divided {what} {k}, or not along axes of the mesh {}: give its \
                     division",
                    sharding.mesh
                ),
            }
        };
        specs.iter().enumerate().map(one).collect::<Result<_>>()
    };
    Ok(Arc::new(Sharding {
        mesh: sharding.mesh.clone(),
        arguments: choose("argument", &sharding.arguments, &found.arguments)?,
        results: choose("result", &sharding.results, &found.results)?,
    }))
}

/// The collective operations among instructions. One of two halves is counted once.
pub(super) fn collectives(opcodes: &BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    const KINDS: [&str; 6] = [
        "all-reduce",
        "all-gather",
        "all-to-all",
        "collective-broadcast",
        "collective-permute",
        "reduce-scatter",
    ];
    let mut count = BTreeMap::new();
    for (opcode, n) in opcodes {
        let name = opcode.strip_suffix("-start").unwrap_or(opcode);
        if KINDS.contains(&name) {
            *count.entry(name.to_owned()).or_insert(0) += n;
        }
    }
    count
}

/// Memory and exchanges of a compiled program: see [`PjrtBackend::requirements`].
///
/// ```no_run
/// use cotangent::pjrt::{DeviceRequirements, PjrtBackend};
/// # let program = cotangent::Program::from_tgraph("")?;
/// let needs: DeviceRequirements = PjrtBackend::new("cuda")?.requirements(program.main(), None, None)?;
/// println!("{:?} bytes of temporary memory, {:?}", needs.temporary_bytes, needs.collectives);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRequirements {
    /// Bytes of temporary memory of a run on one device; `None` if the plugin does not tell.
    pub temporary_bytes: Option<u64>,
    /// Number of collective operations, as [`DeviceProgram::collectives`] counts them; `None` if
    /// the plugin does not tell.
    pub collectives: Option<BTreeMap<String, usize>>,
}

impl DeviceProgram {
    /// A program whose executable for the extents of its parameters is here.
    pub(super) fn loaded(
        backend: PjrtBackend,
        f: &Arc<Function>,
        sharding: Option<Sharding>,
        executable: Executable,
    ) -> DeviceProgram {
        let ready = Specialized {
            arguments: f.param_types().into(),
            results: f.result_types().into(),
            sharding: sharding.map(Arc::new),
            executable: Arc::new(executable),
        };
        DeviceProgram {
            backend,
            function: f.clone(),
            donated: Vec::new(),
            sharding: ready.sharding.clone(),
            bound: None,
            specialized: Mutex::new(vec![ready]),
            reported: Once::new(),
        }
    }

    /// A program that was not checked.
    fn bounded(backend: PjrtBackend, f: &Arc<Function>, bound: Option<usize>) -> DeviceProgram {
        DeviceProgram {
            backend,
            function: f.clone(),
            donated: Vec::new(),
            sharding: None,
            bound,
            specialized: Mutex::default(),
            reported: Once::new(),
        }
    }

    fn new(backend: PjrtBackend, f: &Arc<Function>, bound: Option<usize>) -> Result<DeviceProgram> {
        let program = DeviceProgram::bounded(backend, f, bound);
        if f.param_syms().is_empty() {
            // The text tells now what has no form.
            program.text(f)?;
        }
        Ok(program)
    }

    /// The function.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// The same program, which may write results over these arguments: a run makes them unusable.
    /// Each needs a result of its type.
    ///
    /// ```no_run
    /// use cotangent::pjrt::PjrtBackend;
    /// use cotangent::{Program, Tensor};
    /// let device = PjrtBackend::new("cuda")?;
    /// let text = "tgraph.module @step { %x = tgraph.arg : tensor<3xf32> %y = tgraph.exp %x : tensor<3xf32> tgraph.return %y : tensor<3xf32> }";
    /// let step = device.program(Program::from_tgraph(text)?.main())?.donate(&[0])?;
    /// let x = device.upload(&Tensor::vector(vec![0.0f32; 3]))?;
    /// let y = step.run(&[&x])?;
    /// assert!(x.download().is_err() && y[0].download().is_ok());
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no such argument.
    pub fn donate(self, arguments: &[usize]) -> Result<DeviceProgram> {
        let count = self.function.params().len();
        if let Some(k) = arguments.iter().find(|&&k| k >= count) {
            bail!(
                Arity,
                "`{}` has {count} arguments, and argument {k} is donated",
                self.function.name
            );
        }
        let program = DeviceProgram {
            donated: arguments.to_vec(),
            specialized: Mutex::default(),
            ..self
        };
        if program.function.param_syms().is_empty() {
            program.aliases(&program.function)?;
        }
        Ok(program)
    }

    /// The same program on the devices of a mesh: the first ones of the plugin. Arguments are
    /// divided by name, and copied to each device if they have none here. Results are divided by
    /// position, and further ones are copies. The compiler divides the work, and exchanges what is
    /// needed. It also chooses the divisions that are [open](Spec::open);
    /// [`division`](Self::division) tells them.
    ///
    /// ```no_run
    /// use cotangent::pjrt::{Mesh, PjrtBackend, Spec};
    /// use cotangent::{DType, Program, Tensor};
    /// let device = PjrtBackend::new("cuda")?;
    /// let text = "tgraph.module @norm { %x = tgraph.arg : tensor<16xf32> %y = tgraph.mul %x, %x : tensor<16xf32> %z = tgraph.reduce_sum %y {axes = [0]} : f32 tgraph.return %z : f32 }";
    /// let (mesh, rows) = (Mesh::new(&[("data", 8)])?, Spec::new(&[Some("data")]));
    /// let f = device.program(Program::from_tgraph(text)?.main())?.sharded(&mesh, &[("x", rows.clone())], &[])?;
    /// let x = device.upload_sharded(&Tensor::ones(DType::F32, [16])?, &mesh, &rows)?;
    /// assert_eq!(f.run(&[&x])?[0].download()?.item::<f32>()?, 16.0);
    /// assert_eq!(f.collectives(&[&x])?["all-reduce"], 1);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// An argument that does not exist, more results than there are; an axis that the mesh lacks,
    /// an extent that does not divide; a mesh of more devices than the plugin has.
    pub fn sharded(
        self,
        mesh: &Mesh,
        arguments: &[(&str, Spec)],
        results: &[Spec],
    ) -> Result<DeviceProgram> {
        self.backend.of_mesh(mesh)?;
        let sharding = Sharding::of(&self.function, mesh, arguments, results)?;
        Ok(DeviceProgram {
            sharding: Some(Arc::new(sharding)),
            specialized: Mutex::default(),
            ..self
        })
    }

    /// Donated arguments with the result that is written over each.
    fn aliases(&self, f: &Function) -> Result<Vec<(usize, usize)>> {
        let results = f.result_types();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for &k in &self.donated {
            let ty = f.ty(f.params()[k]);
            let free = |r: &usize| results[*r] == *ty && pairs.iter().all(|p| p.1 != *r);
            let Some(r) = (0..results.len()).find(free) else {
                bail!(
                    Invalid,
                    "argument {k} of `{}` is donated, and no result of its type {ty} is left that could be written over it",
                    f.name
                )
            };
            pairs.push((k, r));
        }
        Ok(pairs)
    }

    /// The StableHLO of a function, as the function `main` of a module.
    fn text(&self, f: &Arc<Function>) -> Result<Arc<str>> {
        let options = WriteOptions {
            target: Target::Portable,
            donated: &self.aliases(f)?,
            sharding: self.sharding.as_deref(),
            bound: self.bound,
            ..WriteOptions::default()
        };
        let f = Arc::new(Function::clone(f).renamed("main"));
        Ok(write_as(&[f], &options)?.into())
    }

    /// Runs the program. Returns when the run is enqueued.
    ///
    /// # Errors
    /// Another number of arguments, or arguments of other types; a tensor of another device, or
    /// divided otherwise ([`Code::DeviceMismatch`](crate::Code::DeviceMismatch)); a tensor that was
    /// donated before; the compiler's error.
    pub fn run(&self, x: &[&DeviceTensor]) -> Result<Vec<DeviceTensor>> {
        self.run_keeping(x, &[])
    }

    /// As [`run`](Self::run), and does not write over the donated arguments at these positions.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_keeping(&self, x: &[&DeviceTensor], keep: &[usize]) -> Result<Vec<DeviceTensor>> {
        let ready = self.specialized(x)?;
        let buffers = x.iter().map(|x| x.buffers()).collect::<Result<Vec<_>>>()?;
        let devices = ready.executable.devices();
        let arguments = |d: usize| buffers.iter().map(|b| &b[d]).collect();
        let arguments: Vec<Vec<&Buffer>> = (0..devices).map(arguments).collect();
        let made = ready.executable.run(&arguments, keep);
        let made = made.map_err(|e| {
            let results: usize = ready.results.iter().map(bytes).sum();
            let temporary = ready.executable.temporary_bytes().unwrap_or(0);
            self.backend.out_of_memory(e, results as u64 + temporary)
        })?;
        for (k, x) in x.iter().enumerate() {
            if self.donated.contains(&k) && !keep.contains(&k) {
                x.donate(&self.function.name);
            }
        }
        let mut made: Vec<_> = made.into_iter().map(Vec::into_iter).collect();
        let result = |(k, ty): (usize, &Type)| {
            let shards = made.iter_mut().filter_map(Iterator::next).collect();
            let placement = match &ready.sharding {
                None => Placement::Device(self.backend.device.clone()),
                Some(s) => Placement::Mesh {
                    client: self.backend.device.client().clone(),
                    mesh: s.mesh.clone(),
                    spec: s.results[k].clone(),
                },
            };
            DeviceTensor::new(ty.clone(), shards, placement)
        };
        Ok(ready.results.iter().enumerate().map(result).collect())
    }

    /// Number of collective operations in the compiled program for such arguments, by the names of
    /// XLA. An operation of two halves is counted once.
    ///
    /// # Errors
    /// As [`run`](Self::run); the plugin does not tell its compiled programs.
    pub fn collectives(&self, x: &[&DeviceTensor]) -> Result<BTreeMap<String, usize>> {
        Ok(collectives(&self.specialized(x)?.executable.opcodes()?))
    }

    /// How arguments of these types, and the results, are divided: with what the compiler chose
    /// where the division is [open](Spec::open). `None` for a program on one device.
    ///
    /// ```no_run
    /// use cotangent::pjrt::{Mesh, PjrtBackend, Spec};
    /// use cotangent::{Program, Tensor};
    /// let device = PjrtBackend::new("cuda")?;
    /// let program = Program::parse(std::fs::read("loss.mlir").unwrap(), Some("loss.mlir"))?;
    /// let (mesh, f) = (Mesh::new(&[("data", 8)])?, program.main());
    /// let loss = device.program(f)?.sharded(&mesh, &[("x", Spec::open())], &[Spec::open()])?;
    /// let division = loss.division(&f.param_types())?.expect("a division");
    /// println!("x is divided as {}", division.arguments[0]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// Arguments of other types; the compiler's error;
    /// [`Code::Unsupported`](crate::Code::Unsupported) if the plugin does not tell what it chose.
    pub fn division(&self, types: &[Type]) -> Result<Option<Arc<Sharding>>> {
        Ok(self.for_types(types)?.sharding)
    }

    /// Checks that each argument is where the program reads it, by this division.
    fn placed(&self, x: &[&DeviceTensor], sharding: Option<&Arc<Sharding>>) -> Result<()> {
        let client = self.backend.device.client();
        for (k, x) in x.iter().enumerate() {
            let fits = match (x.placement(), sharding) {
                (Placement::Device(d), None) => *d == self.backend.device,
                (
                    Placement::Mesh {
                        client: c,
                        mesh,
                        spec,
                    },
                    Some(s),
                ) => {
                    let argument = s.arguments.get(k);
                    let is_there = argument.is_some_and(|a| a.is_open() || a == spec);
                    c.is(client) && *mesh == s.mesh && is_there
                }
                _ => false,
            };
            if !fits {
                let program = match sharding {
                    None => format!("runs on {:?}", self.backend),
                    Some(s) => format!(
                        "runs on {} devices of {}, with this argument divided as `{}`",
                        s.mesh.size(),
                        self.backend.platform(),
                        s.arguments.get(k).cloned().unwrap_or_default()
                    ),
                };
                bail!(
                    DeviceMismatch,
                    "`{}` {program}, and argument {k} is {x:?}: download it, and upload it there",
                    self.function.name
                );
            }
        }
        Ok(())
    }

    /// Reports on standard error, once, that extents change too often.
    fn report_many(&self) {
        self.reported.call_once(|| {
            report(&format!(
                "cotangent: `{}` was given more than {MAX_SPECIALIZED} sets of extents on {:?}, and each new one is \
                 compiled: pad its arguments, so that they have few\n",
                self.function.name, self.backend
            ));
        });
    }

    /// The executable for these arguments.
    fn specialized(&self, x: &[&DeviceTensor]) -> Result<Specialized> {
        self.placed(x, self.sharding.as_ref())?;
        let types: Vec<Type> = x.iter().map(|x| x.ty().clone()).collect();
        let ready = self.for_types(&types)?;
        self.placed(x, ready.sharding.as_ref())?;
        Ok(ready)
    }

    /// The executable for arguments of these types.
    fn for_types(&self, types: &[Type]) -> Result<Specialized> {
        let same = |s: &Specialized| *s.arguments == *types;
        let lock = || {
            self.specialized
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        {
            let mut known = lock();
            if let Some(k) = known.iter().position(same) {
                known[k..].rotate_left(1);
                return Ok(known[known.len() - 1].clone());
            }
        }
        reference::bind(&self.function, types, &mut Env::default())?;
        let f = Session::default().specialize(&self.function, types);
        let results = f.result_types();
        if let Some(open) = results.iter().find(|t| t.shape.as_const().is_none()) {
            bail!(
                Unsupported,
                "`{}` has a result of type {open}, whose extents are data-dependent: {:?} needs them before a run",
                f.name,
                self.backend
            );
        }
        let mesh = self.sharding.as_ref().map(|s| &s.mesh);
        let executable = self.backend.executable(self.text(&f)?, mesh)?;
        let sharding = self.sharding.as_ref();
        let made = Specialized {
            arguments: types.into(),
            results: results.into(),
            sharding: sharding.map(|s| chosen(s, &executable)).transpose()?,
            executable,
        };
        let mut known = lock();
        if known.len() == MAX_SPECIALIZED {
            known.remove(0);
            self.report_many();
        }
        known.push(made.clone());
        Ok(made)
    }
}

impl PjrtBackend {
    /// A function as a program on this device. It is compiled when it runs: once for each set of
    /// extents, if its parameters have symbolic ones.
    ///
    /// # Errors
    /// An operation has no form in StableHLO.
    pub fn program(&self, f: &Arc<Function>) -> Result<DeviceProgram> {
        DeviceProgram::new(self.clone(), f, None)
    }

    /// As [`program`](Self::program), for derivatives of `while` loops: devices need to know how
    /// many steps of a loop they store. Results are NaN if a loop takes more.
    ///
    /// ```no_run
    /// use cotangent::pjrt::PjrtBackend;
    /// use cotangent::{Program, ad};
    /// let text = std::fs::read("examples/fixed_point.tgraph").unwrap();
    /// let program = Program::parse(&text, None)?;
    /// let f = program.main();
    /// let g = ad::value_and_grad(&ad::AdContext::default(), f, &f.params()[..1])?;
    /// let g = PjrtBackend::new("cuda")?.bounded_program(&g.into(), 100)?;
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`program`](Self::program).
    pub fn bounded_program(&self, f: &Arc<Function>, steps: usize) -> Result<DeviceProgram> {
        DeviceProgram::new(self.clone(), f, Some(steps))
    }
}

impl PjrtBackend {
    /// The memory and exchanges of a function on this device, or on those of a mesh. It is
    /// compiled, and does not run.
    ///
    /// ```no_run
    /// use cotangent::{Program, pjrt::PjrtBackend};
    /// let program = Program::parse(std::fs::read("step.mlir").unwrap(), Some("step.mlir"))?;
    /// let needs = PjrtBackend::new("cuda")?.requirements(program.main(), None, None)?;
    /// println!("{:?} bytes of temporary memory", needs.temporary_bytes);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// Extents that are not constants; an operation without a form; the compiler's error.
    pub fn requirements(
        &self,
        f: &Arc<Function>,
        sharding: Option<&Sharding>,
        bound: Option<usize>,
    ) -> Result<DeviceRequirements> {
        let program = DeviceProgram {
            sharding: sharding.cloned().map(Arc::new),
            ..DeviceProgram::bounded(self.clone(), f, bound)
        };
        let made = self.executable(program.text(f)?, sharding.map(|s| &s.mesh))?;
        Ok(DeviceRequirements {
            temporary_bytes: made.temporary_bytes().ok(),
            collectives: made.opcodes().ok().map(|all| collectives(&all)),
        })
    }
}

/// A value inside of a program, divided among the devices of the mesh that the program runs on. On
/// one device, and on the CPU, it is the value itself. So are its derivatives; they are divided in
/// the same way.
///
/// ```
/// use cotangent::pjrt::{Spec, shard};
/// use cotangent::{TracedTensor, closures::grad};
/// let f = |x: TracedTensor| Ok::<_, cotangent::Error>(shard(&x, &Spec::new(&[Some("data")]))?.square().sum(..));
/// let g = grad(f)(TracedTensor::vector(vec![1.0, 2.0]))?;
/// assert_eq!(g.to_vec::<f64>()?, [2.0, 4.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// More dimensions than the value has. Axes that the mesh lacks, and extents that do not divide,
/// are errors of the program.
#[track_caller]
pub fn shard(x: &TracedTensor, spec: &Spec) -> Result<TracedTensor> {
    let dims: Vec<_> = spec.axes().iter().cloned().map(Some).collect();
    let y = TracedTensor::emit(&[x], |cx, x| vec![cx.shard(x[0], &dims)]).at_caller()?;
    let y = y.into_iter().next().expect("one result");
    y.ty().map(|_| y.clone())
}

impl tape::Executor for PjrtBackend {
    type Value = Tensor;

    fn ty(&self, x: &Tensor) -> Type {
        x.ty()
    }

    fn run(&mut self, f: &Function, x: &[Tensor]) -> Result<Vec<Tensor>> {
        self.compile(&Arc::new(f.clone()))?.run(x.to_vec())
    }

    /// Compiles a function whose runs transfer arguments that are on the host. Results are
    /// transferred unless an argument is on the device.
    fn compile(&self, f: &Arc<Function>) -> Result<Compiled<Tensor>> {
        let (backend, program) = (self.clone(), self.program(f)?);
        Ok(Compiled::new(f, move |x: Vec<Tensor>| {
            // Results stay on the device if an argument is there.
            let stays = x.iter().any(|x| x.remote().is_some());
            let place = |x: &Tensor| match x.remote() {
                Some(_) => backend.device_tensor(x),
                None => backend.upload(x),
            };
            let x: Vec<DeviceTensor> = x.iter().map(place).collect::<Result<_>>()?;
            let y = program.run(&x.iter().collect::<Vec<_>>())?;
            let result = |y: &DeviceTensor| match stays {
                true => backend.tensor(y),
                false => y.download(),
            };
            y.iter().map(result).collect()
        }))
    }
}
