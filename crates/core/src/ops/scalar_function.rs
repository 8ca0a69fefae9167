//! [`elementwise`]: an operation from a function of numbers and its derivative.
//!
//! ```text
//! y = f(x),  dy = f'(x) dx
//! ```

use super::entry::arity;
use super::support::cost_per_element;
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{DType, Kind};
use crate::error::{Code, Error, Result};
use crate::ir::primitive::ScalarFn;
use crate::ir::{
    Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, OpClass, Primitive, Val, no_rule,
};
use crate::shape::{Dim, Env, Type};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Arithmetic operations that a call of the function counts as.
const FLOPS: f64 = 20.0;

/// Writes the derivative from the operand and the result.
type Slope = dyn Fn(&dyn Emit, Val, Val) -> Val + Send + Sync;

/// An elementwise operation of one operand.
#[derive(Clone)]
struct ScalarFunction {
    name: Arc<str>,
    /// A number that no other call of [`elementwise`] gets.
    id: u64,
    value: ScalarFn,
    slope: Arc<Slope>,
}

/// An elementwise operation `name` of one real floating-point operand. `value` is the function of
/// one element, in f64; results are rounded to the element type. `slope(cx, x, y)` writes the
/// derivative at the operand `x` with the result `y`, in the type of `x`.
///
/// The operation runs in the loops of its neighbors and has derivatives of every order that `slope`
/// has. Clones of the operation are equal; operations of two calls of this function are not.
///
/// ```
/// use cotangent_core::primitive::elementwise;
/// use cotangent_core::{Builder, DType, Emit, Array, Type, reference};
/// use cotangent_core::transform::{AdContext, grad};
/// let cube = elementwise("cube", |x| x * x * x, |cx, x, _| cx.scale_by(3.0, cx.square(x)));
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::scalar(DType::F64), None);
/// let y = (&b as &dyn Emit).op(cube, &[x]);
/// let f = b.finish(&[y])?;
/// let g = grad(&AdContext::default(), &f, f.params())?;
/// assert_eq!(reference::run(&g, &[Array::scalar(2.0)])?, [Array::scalar(12.0)]);
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub fn elementwise(
    name: &str,
    value: impl Fn(f64) -> f64 + Send + Sync + 'static,
    slope: impl Fn(&dyn Emit, Val, Val) -> Val + Send + Sync + 'static,
) -> Op {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Op::extension(ScalarFunction {
        name: name.into(),
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        value: Arc::new(move |x| value(x[0])),
        slope: Arc::new(slope),
    })
}

impl fmt::Debug for ScalarFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "elementwise({})", self.name)
    }
}

impl ScalarFunction {
    fn op(&self) -> Op {
        Op::extension(self.clone())
    }
}

impl Primitive for ScalarFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn key(&self) -> Option<String> {
        Some(format!("elementwise {}", self.id))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if x[0].dtype.kind() != Kind::Float {
            bail!(
                DTypeMismatch,
                "`{}` is a function of real floating-point numbers, got {}; convert the operand first",
                self.name,
                x[0]
            );
        }
        Ok(x.to_vec())
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let y = x[0].to_f64().into_iter().map(|x| (self.value)(&[x]));
        Ok(vec![
            Wide::F(y.collect()).narrow(x[0].dtype(), x[0].shape())?,
        ])
    }

    fn class(&self, _: &[DType]) -> OpClass {
        OpClass::Elementwise
    }

    fn scalar(&self, _: &[DType]) -> Option<ScalarFn> {
        Some(self.value.clone())
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(self.op(), x);
        let slope = (self.slope)(cx.emit(), x[0], y);
        let (got, want) = (cx.ty(slope), cx.ty(x[0]));
        if got.differs(&want) && !cx.failed() {
            let text = format!(
                "the derivative of `{}` has the type {got} for an operand of type {want}",
                self.name
            );
            return Err(Error::new(Code::RuleType, text).at(cx.loc()));
        }
        Ok(cx.one(y, t[0].map(|t| cx.scale(slope, t))))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        Ok(vec![Batched {
            val: cx.op(self.op(), &[x[0].val]),
            mapped: x[0].mapped,
        }])
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost_per_element(FLOPS, x, y)
    }
}
