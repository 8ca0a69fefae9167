//! Reductions, products, running operations, sorts, and the composites that are built of them:
//! values, conventions, first and second derivatives.

mod composites;
mod dot;
mod order;
mod reduce;
mod running;
mod support;
