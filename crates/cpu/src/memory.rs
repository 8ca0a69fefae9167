//! Memory that a run needs besides its arguments, computed from its plan without running.
//!
//! Values that only other steps read share one arena; results, and values that kernels of other
//! operations read or compute, are tensors of their own, alive from the step that computes them to
//! the last one that reads them. A step may write over an operand that it is the last to read. The
//! memory of a loop or branch counts while its step runs.
//!
//! Not counted are a kernel's scratch memory (packed panels, work copies of factorisations, blocks
//! of rows of each thread) and memory that a thread caches for its next run.

use crate::compilation::plan_of;
use crate::tensor::{Strides, row_major};
use cotangent_core::{Env, Function, Result, Type, reference};
use std::sync::Arc;

pub use crate::plan::Memory;

/// Computes the memory that a run of the function needs for row-major arguments of these types.
/// Takes as long as a compilation.
///
/// Returns an error if arguments do not fit the parameters, or if an extent is data-dependent.
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Env, Type, transform::Session};
/// let b = Builder::new("f", Session::default());
/// let ty = Type::new(DType::F64, [500, 500]);
/// let x = b.param(ty.clone(), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.matmul(cx.sin(x), cx.cos(x));
/// let f = b.finish(&[y]).unwrap();
/// let memory = cotangent_cpu::memory::memory(&f, &[ty], &Env::default()).unwrap();
/// // The sine, the cosine and the product. Buffers of 2 MiB and more fill huge pages.
/// assert!((6_000_000..6_300_000).contains(&memory.peak));
/// assert_eq!(memory.results, 2_000_000);
/// ```
pub fn memory(f: &Function, arguments: &[Type], outer: &Env) -> Result<Memory> {
    let env = reference::bind_body(f, arguments, outer)?;
    let layout = |t: &Type| Ok(row_major(&t.shape.eval(&env)?));
    let layouts = arguments
        .iter()
        .map(layout)
        .collect::<Result<Vec<Strides>>>()?;
    plan_of(&Arc::new(f.clone()))?.memory(&env, &layouts)
}
