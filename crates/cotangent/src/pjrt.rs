//! Devices of other engines: programs leave as StableHLO, and run on a PJRT plugin such as XLA's,
//! on CPUs, GPUs and TPUs.
//!
//! A [`PjrtBackend`] is one device. Nothing moves by itself: [`PjrtBackend::upload`] and
//! [`DeviceTensor::download`] transfer tensors. A [`DeviceProgram`] runs on tensors of its device
//! and leaves its results there. Runs are asynchronous; reading a result waits for it, and is the
//! error of the program that should have computed it.
//!
//! ```no_run
//! use cotangent::pjrt::PjrtBackend;
//! use cotangent::{Program, Tensor};
//! let device = PjrtBackend::new("cpu")?; // XLA on the CPU: `pip install xla-cpu-pjrt==0.0.1`
//! let text = "tgraph.module @f { %x = tgraph.arg : tensor<3xf32> %y = tgraph.exp %x : tensor<3xf32> tgraph.return %y : tensor<3xf32> }";
//! let program = Program::from_tgraph(text)?;
//! let f = device.program(program.main())?;
//! let mut x = device.upload(&Tensor::vector(vec![0.0f32, 0.5, 1.0]))?;
//! for _ in 0..3 {
//!     x = f.run(&[&x])?.remove(0);
//! }
//! println!("{}", x.download()?);
//! # Ok::<(), cotangent::Error>(())
//! ```
//!
//! [`GraphExecutor`](crate::GraphExecutor) takes the backend as it takes one of the CPU, and then
//! transfers arguments and results in each run.
//!
//! A [`Mesh`] gives devices names in a grid, and a [`Spec`] says how a tensor is divided among
//! them. [`DeviceProgram::sharded`] divides a program: the compiler finds what is exchanged. Inside
//! of a program [`shard()`] divides a value.
//!
//! Values are near to those of the CPU backend, and not the same bits: other engines add in other
//! orders. Random numbers are the same everywhere, because they are keyed.

mod backend;
mod compiled;
mod program;
mod runtime;
mod stored;
mod tensor;
mod waiting;

pub use backend::PjrtBackend;
pub use compiled::CompiledProgram;
pub use cotangent_stablehlo::{Mesh, Spec};
pub use pjrt::loader::{MemoryStats, OptionValue, find, found, search_in};
pub use program::{DeviceProgram, DeviceRequirements, shard};
pub use tensor::DeviceTensor;
pub(crate) use waiting::runtime_of;
