//! [`callback()`]: an operation that a function of arrays evaluates, without derivative.

use crate::array::Array;
use crate::error::Result;
use crate::ir::{Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Val, no_rule};
use crate::shape::{Dim, Env, Type};
use std::fmt;

/// The type rule of a callback.
type Infer = dyn Fn(&[Type]) -> Result<Vec<Type>> + Send + Sync;

/// The evaluation of a callback.
type Eval = dyn Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync;

struct Callback {
    name: Box<str>,
    infer: Box<Infer>,
    eval: Box<Eval>,
}

/// An operation `name` with one result, which a function of the host evaluates. `infer` is its type
/// rule. The operation has no rules: a derivative through it, and a batch of it, are errors that
/// name it.
///
/// `eval` is called when a program needs the result, and never by a pass over the program. An
/// operation equals its clones alone.
///
/// ```
/// use cotangent_core::primitive::callback;
/// use cotangent_core::{Array, Builder, DType, Emit, Type, reference};
/// let total = callback(
///     "total",
///     |x| Ok(vec![Type::scalar(x[0].dtype)]),
///     |x| Ok(vec![Array::scalar(x[0].to_f64().iter().sum::<f64>())]),
/// );
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::new(DType::F64, [2]), None);
/// let y = (&b as &dyn Emit).op(total, &[x]);
/// let f = b.finish(&[y])?;
/// assert_eq!(reference::run(&f, &[Array::vector(vec![1.0, 2.0])])?, [Array::scalar(3.0)]);
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub fn callback(
    name: &str,
    infer: impl Fn(&[Type]) -> Result<Vec<Type>> + Send + Sync + 'static,
    eval: impl Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + 'static,
) -> Op {
    Op::extension(Callback {
        name: name.into(),
        infer: Box::new(infer),
        eval: Box::new(eval),
    })
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "callback({})", self.name)
    }
}

impl Primitive for Callback {
    fn name(&self) -> &str {
        &self.name
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        (self.infer)(x)
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        (self.eval)(x)
    }

    fn has_effect(&self) -> bool {
        true
    }

    fn linearize(&self, _: &Lin<'_>, _: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Err(no_rule(self, "linearize"))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}
