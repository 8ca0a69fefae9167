//! Reductions, products, cumulative operations, sorts and composites: values, conventions, first
//! and second derivatives.

mod composites;
mod dot;
mod order;
mod reduce;
mod running;
mod support;
