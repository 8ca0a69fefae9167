//! Names for authors of operations: the trait of an operation, what its rules read and write, its
//! entry in the text form, kernels, and checks.
//!
//! ```
//! use cotangent::closures::grad;
//! use cotangent::extend::*;
//! use cotangent::{Array, Dim, Op, Result, TracedTensor, Type};
//!
//! /// `x log x`.
//! #[derive(Debug)]
//! struct Entropy;
//!
//! impl Primitive for Entropy {
//!     fn name(&self) -> &str {
//!         "entropy"
//!     }
//!     fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
//!         Ok(x.to_vec())
//!     }
//!     fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
//!         let y = x[0].to_f64().into_iter().map(|x| x * x.ln()).collect();
//!         Ok(vec![Array::from_vec(x[0].shape(), y)?])
//!     }
//!     fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
//!         let y = cx.op(Op::extension(Entropy), x);
//!         let slope = cx.add(cx.log(x[0]), cx.full_like(x[0], 1.0));
//!         Ok(cx.one(y, t[0].map(|t| cx.scale(slope, t))))
//!     }
//!     fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
//!         Err(no_rule(self, "transpose"))
//!     }
//!     fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
//!         Ok(vec![Batched { val: cx.op(Op::extension(Entropy), &[x[0].val]), mapped: true }])
//!     }
//!     fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
//!         Cost::default()
//!     }
//! }
//! let entropy = |x: TracedTensor| {
//!     Ok::<_, cotangent::Error>(TracedTensor::apply(Op::extension(Entropy), &[&x])?[0].sum(..))
//! };
//! let x = TracedTensor::vector(vec![1.0, 1.0f64.exp()]);
//! assert_eq!(grad(entropy)(x)?.to_tensor()?.to_vec::<f64>()?, [1.0, 2.0]);
//! # Ok::<(), cotangent::Error>(())
//! ```

pub use cotangent_core::attr::FromAttr;
pub use cotangent_core::check::{check_op, check_ops};
pub use cotangent_core::dtype::Kind;
pub use cotangent_core::graph::unbound;
pub use cotangent_core::ops::{Entry, OpaqueEntry, Spelled};
pub use cotangent_core::primitive::{
    Kink, Linearized, OpClass, ScalarFn, ShiftRule, callback, elementwise, no_rule,
};
pub use cotangent_core::text::Extensions;
pub use cotangent_core::transform::{
    Class, Lin, LinEqn, LinearProgram, Lv, Numerics, Operand, Rule, RuleSet, Session,
};
pub use cotangent_core::{
    Arg, Attr, Attrs, Batched, Cost, Cotangent, Data, Emit, Env, Loc, MAX_DEPTH, Op, Opaque,
    OpaqueType, Owner, Primitive, Sample, Sym, Val, Vals, Wide, array, attr, bail, emit, for_dtype,
    primitive, shape,
};
pub use cotangent_cpu::Tensor as View;
pub use cotangent_cpu::kernel::{Kernel, Operands, Results};
