//! Operations on plain tensors, run immediately: with a backend ([`TensorOpsExt`], and methods of
//! [`CpuBackend`]), or on a backend of the thread ([`TensorOps`]).
//!
//! The tensors are constants of the runtime of the backend, so an operation has the bits and the
//! memory order of eager tensors. Compiled operations are cached in the backend.

/// Writes the operations of a table as methods of plain tensors and of the backend.
macro_rules! operations {
    (
        $(#[$about:meta])*
        methods {$(
            $(#[$doc:meta])*
            $name:ident$(<$l:lifetime>)?($($p:ident: $t:ty),*) -> $y:ty |$on:ident, $a:ident| $call:expr;
        )*}
        functions {$(
            $(#[$of_doc:meta])*
            $of_name:ident($($of_p:ident: $of_t:ty),*) -> $of_y:ty |$of_on:ident| $of_call:expr;
        )*}
    ) => {
        $(#[$about])*
        pub trait TensorOpsExt: Sized {
            $($(#[$doc])*
            fn $name$(<$l>)?(&self, $($p: $t,)* ctx: &mut CpuBackend) -> Result<$y>;)*

            $($(#[$of_doc])*
            fn $of_name($($of_p: $of_t,)* ctx: &mut CpuBackend) -> Result<$of_y>;)*
        }

        impl TensorOpsExt for Tensor {
            $(#[track_caller]
            fn $name$(<$l>)?(&self, $($p: $t,)* ctx: &mut CpuBackend) -> Result<$y> {
                CpuBackend::$name(ctx, self, $($p),*)
            })*

            $(#[track_caller]
            fn $of_name($($of_p: $of_t,)* ctx: &mut CpuBackend) -> Result<$of_y> {
                CpuBackend::$of_name(ctx, $($of_p),*)
            })*
        }

        /// Operations on plain tensors.
        impl CpuBackend {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name$(<$l>)?(&mut self, a: &Tensor, $($p: $t),*) -> Result<$y> {
                let $on = Constants::of(self);
                let $a = $on.tensor(a);
                $call.plain()
            })*

            $($(#[$of_doc])*
            #[track_caller]
            pub fn $of_name(&mut self, $($of_p: $of_t),*) -> Result<$of_y> {
                let $of_on = Constants::of(self);
                $of_call.plain()
            })*
        }
    };
}

mod constants;
mod operations;

pub use operations::TensorOpsExt;

use crate::pjrt::runtime_of;
use crate::{CpuBackend, Emit, Result, Tensor, TensorOps, Val};
use constants::Constants;

thread_local! {
    /// The backend of operations without one.
    static BACKEND: CpuBackend = CpuBackend::new();
}

impl TensorOps for Tensor {
    type Error = crate::Error;

    #[track_caller]
    fn emit(x: &[&Self], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Result<Vec<Self>> {
        if let Some(rt) = x.iter().find_map(|x| runtime_of(x)) {
            return Constants::on(rt).emit(x, f);
        }
        // `f` may use plain tensors itself, so the backend is not borrowed while it runs.
        BACKEND.with(Constants::of).emit(x, f)
    }
}

impl CpuBackend {
    /// Runs the operations that `f` emits for plain tensors, one by one. `f` may use every function
    /// of the core's emitter, and extension operations with their kernels here. An error if there
    /// is no operand.
    ///
    /// ```
    /// use cotangent::{CpuBackend, Tensor};
    /// let x = Tensor::vector(vec![0.0, 0.0]);
    /// let y = CpuBackend::new().emit(&[&x], |cx, x| vec![cx.logsumexp(x[0], &[0])])?;
    /// assert_eq!(y[0].item::<f64>()?, 2f64.ln());
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn emit(
        &mut self,
        operands: &[&Tensor],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<Tensor>> {
        Constants::of(self).emit(operands, f)
    }
}
