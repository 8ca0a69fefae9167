//! Derivatives: transforms of a graph by the rules of its operations.
//!
//! ```text
//! linearize : (a -> b)    -> (a -> b, T a -o T b)       forward with residuals, linear program
//! transpose : (R a -o b)  -> (CT b -o CT a)
//! jvp = replay of the linear program;  vjp = its transpose
//! ```
//!
//! Transforms name only four operations: the sum that merges fan-out, and the zeros and ones that
//! it starts from ([`Session::sum`], [`Session::zeros`], [`Session::ones`]), which an opaque type
//! declares and a context can replace on arrays, and the `stop_gradient` of a shift that cancels.

mod batch;
mod derive;
mod forward;
mod kinks;
mod linear_map;
mod linearize;
mod linearized;
mod memo;
mod policy;
mod region;
mod replay;
mod tangents;
mod transpose;

pub use crate::ir::{
    AdContext, AdContextBuilder, Class, Lin, LinEqn, LinearProgram, Lv, Numerics, Operand, Rule,
    RuleSet, Session,
};
pub use batch::{batch, batch_into};
pub use derive::{
    Derived, Direction, Seed, Wrt, adjoint, check_holomorphic, check_loss_type, check_scalar_loss,
    grad, hessian, holomorphic_derivative, hvp, hvp_reverse, is_scalar_loss, jacobian, jvp,
    jvp_derived, linear_transpose, linear_transpose_in, to_jax_convention, value_and_grad,
    value_and_grad_aux, vjp, vjp_derived,
};
pub use forward::RegionJvp;
pub use kinks::{Step, on_one_side};
pub use linear_map::LinearMap;
pub use linearize::linearize_into;
pub use linearized::{LinearizedFunction as Linearized, linearize};
pub use policy::Policy;
pub use region::{RegionBatch, RegionLin, RegionTranspose, Residual, SavePolicy};
pub use replay::replay;
pub use transpose::{transpose_into, transpose_program};
