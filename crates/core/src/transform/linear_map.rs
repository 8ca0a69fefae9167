//! [`LinearMap`]: a linear program at a point, which is written forward (`replay`) or transposed
//! (`transpose`) to an emitter.

use crate::ir::{Emit, LinearProgram, Lv, Val};
use crate::shape::{Env, Type};
use smallvec::SmallVec;

/// A linear program at a point: its ordinary operands are values of an emitter.
///
/// ```
/// use cotangent_core::transform::{Lin, LinearMap, LinearProgram};
/// use cotangent_core::{Builder, DType, Error, Type};
/// use std::cell::RefCell;
///
/// let ty = Type::scalar(DType::F64);
/// let b = Builder::new("pullback", Default::default());
/// let (x, ct) = (b.param(ty.clone(), None), b.param(ty.clone(), None));
/// let program = RefCell::new(LinearProgram::default());
/// let dx = program.borrow_mut().input(ty);
/// // dy = x dx
/// let dy = Lin::new(&b, &program).scale(x, dx);
/// let mut gradient = None;
/// LinearMap::new(&b, &program.into_inner()).pull(&[(dy, ct)], &[dx], &mut |_, ct_x| {
///     gradient = Some(ct_x);
///     Ok::<(), Error>(())
/// })?;
/// let f = b.finish(&[gradient.unwrap()])?;
/// assert_eq!(f.eqns()[0].op.name(), "mul");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct LinearMap<'a> {
    pub(super) cx: &'a dyn Emit,
    pub(super) program: &'a LinearProgram,
    pub(super) residual: &'a dyn Fn(Val) -> Val,
    env: Option<&'a Env>,
}

/// One entry per linear value, without an allocation for the program of one operation.
pub(super) type PerLinear<T> = SmallVec<[T; 8]>;

impl<'a> LinearMap<'a> {
    /// The map of `program`, whose ordinary values are values of `cx`.
    pub fn new(cx: &'a dyn Emit, program: &'a LinearProgram) -> LinearMap<'a> {
        LinearMap {
            cx,
            program,
            residual: &|v| v,
            env: None,
        }
    }

    /// Sets the function from ordinary values of the program to values of the emitter.
    pub fn with_residuals(self, residual: &'a dyn Fn(Val) -> Val) -> LinearMap<'a> {
        LinearMap { residual, ..self }
    }

    /// Sets the extents of symbols. Types of linear values are evaluated with them.
    pub fn with_extents(self, env: &'a Env) -> LinearMap<'a> {
        let env = Some(env).filter(|env| !env.is_empty());
        LinearMap { env, ..self }
    }

    /// The type of a linear value, with the extents that are known.
    pub(super) fn ty(&self, l: Lv) -> Type {
        let ty = self.program.ty(l);
        self.env.map_or_else(|| ty.clone(), |env| ty.evaluated(env))
    }
}
