//! Transforms of Rust closures over traced tensors, and over trees of them.
//!
//! ```text
//! grad : (A -> f64[]) -> (A -> A)      vmap : (A -> B) -> ([A] -> [B])      jit : (A -> B) -> (A -> B)
//! ```
//! A closure is called once, on placeholders. The operations that it recorded become a function,
//! the core transforms this function, and the result is emitted into the trace. So transforms nest,
//! even in closures that capture tensors of outer closures:
//!
//! ```
//! use cotangent::{TracedTensor, closures::{grad, vmap}};
//! // d/dx [x * d/dy (x y)] = 2 x, for many x.
//! let f = |x: TracedTensor| {
//!     let dy = grad(|y: TracedTensor| &x * &y)(x.clone())?;
//!     Ok::<_, cotangent::Error>(&x * &dy)
//! };
//! let x = TracedTensor::from_vec_row_major(vec![2], vec![3.0, -1.0]);
//! assert_eq!(vmap(grad(f))(x)?.to_vec::<f64>()?, [6.0, -2.0]);
//! # Ok::<(), cotangent::Error>(())
//! ```
//!
//! Closures return a [`Tree`] or a `Result` of one. Several arguments are a tuple. An error inside
//! a closure, or of a tensor that it computed, is the error of the transform.

mod capture;
mod check;
mod control;
mod custom;
mod derivatives;
mod gradients;
mod implicit;
mod jit;
mod linearize;
mod loops;
mod nans;
mod profile;
mod saved;
mod traced;
mod tree;

pub use capture::{with_numerics, with_rules};
pub use check::{check, check_with};
pub use control::{checkpoint, cond, switch};
pub use cotangent_core::ops::{Checkpoint, Solver, Stopping};
pub use cotangent_derive::Tree;
pub use custom::{custom_jvp, custom_vjp};
pub use derivatives::{
    hessian, holomorphic_derivative, hvp, jacobian, jvp, vjp, vmap, vmap_axes, vmap_axes_to,
};
pub use gradients::{
    grad, grad_aux, grad_of, value_and_grad, value_and_grad_aux, value_and_grad_of,
};
pub use implicit::{
    Solution, argmin, argmin_with, fixed_point, fixed_point_with, linear_solve, linear_solve_with,
    root, root_with,
};
pub use jit::{Jit, JitCache, debug_nans, evaluate, jit, jit_with_cache, on};
pub use linearize::{DerivativeMap, linearize};
pub use loops::{LoopBound, Loops, checkpointing, fori_loop, map, scan, scan_reverse, while_loop};
pub use profile::profile;
pub use saved::{load, save};
pub use traced::{Traced, trace};
pub use tree::{Nest, Returns, Tree};
