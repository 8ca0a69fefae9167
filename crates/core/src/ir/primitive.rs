//! `trait Primitive`: the interface of operations.
//!
//! An operation has a definition ([`Primitive::eval`], a simple reference implementation), a type
//! rule, and three rules from which every derivative follows:
//!
//! ```text
//! linearize : x, dx -> y, dy      the operation at x, and its derivative as a linear program in dx
//! transpose : x, ct -> ct_x       for operations that are linear in some operands
//! batch     : the operation on operands with one more leading axis
//! ```
//!
//! There is no reverse rule: `vjp = transpose . linearize`. Rules write through an emitter
//! ([`Emit`]), so the same rule builds graph equations or computes eagerly.

pub use super::value::{Owner, Val, Vals};

use super::{Attrs, Class, Emit, Function, Lin, Lv, Op, Session};
use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Code, Error, Result};
use crate::shape::{Dim, Env, Type};
use std::fmt::Debug;
use std::sync::Arc;

/// An operand of a linear operation in [`Primitive::transpose`].
#[derive(Clone, Debug)]
pub enum Arg {
    /// An ordinary value.
    R(Val),
    /// A linear operand: only its type is known.
    L(Type),
}

impl Arg {
    /// The value, if it is an ordinary one.
    pub fn val(&self) -> Option<Val> {
        match self {
            Arg::R(v) => Some(*v),
            Arg::L(_) => None,
        }
    }

    /// The type of the operand.
    pub fn ty(&self, cx: &dyn Emit) -> Type {
        match self {
            Arg::R(v) => cx.ty(*v),
            Arg::L(ty) => ty.clone(),
        }
    }

    /// Whether it is a linear operand.
    pub fn is_linear(&self) -> bool {
        matches!(self, Arg::L(_))
    }
}

/// A value that may have a leading batch axis.
#[derive(Clone, Copy, Debug)]
pub struct Batched {
    /// The value.
    pub val: Val,
    /// Whether axis 0 is the batch axis. Otherwise the value is the same for every batch element.
    pub mapped: bool,
}

impl Batched {
    /// The type of one element of the batch.
    pub fn element(self, cx: &dyn Emit) -> Type {
        let ty = cx.ty(self.val);
        if self.mapped && ty.rank() > 0 {
            ty.unbatched()
        } else {
            ty
        }
    }
}

/// An estimate of the work of one execution. Symbolic extents count as 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Arithmetic operations. A transcendental function counts as the number in its row.
    pub flops: f64,
    /// Bytes read and written.
    pub bytes: f64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, o: Cost) {
        self.flops += o.flops;
        self.bytes += o.bytes;
    }
}

/// The return type of [`Primitive::linearize`]: the results, and the tangent of each (`None`:
/// zero).
pub type Linearized = (Vals, Vec<Option<Lv>>);

/// The return type of [`Primitive::jvp`]: the results, and the tangent of each (`None`: zero).
pub type Jvp = (Vals, Vec<Option<Val>>);

/// The convention of an operation that computes a derivative at a kink (a tie, `|x|` at 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kink {
    /// The mean of the derivatives on both sides.
    Mean,
    /// The derivative on one side.
    Side,
}

/// The change of the result of an operation when operands are shifted by `d` (`v + k d`) or scaled
/// by `exp(k d)`: see [`Primitive::shift_rule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShiftRule<'a> {
    /// The result has no tangent: a constant, or a value that is held constant.
    Fixed,
    /// `-x`.
    Negate,
    /// `|x|`.
    Magnitude,
    /// The sign of `x`.
    Sign,
    /// `exp(x)`.
    Exp,
    /// `log(x)`.
    Log,
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// The same number in another floating-point type.
    Convert,
    /// The second or the third operand, element by element.
    Choose,
    /// A sum over these axes.
    Sum(&'a [usize]),
    /// A broadcast: axis `k` of the operand becomes this axis of the result.
    Broadcast(&'a [usize]),
    /// The same elements in another shape.
    Reshape,
    /// A permutation of axes.
    Permute(&'a [usize]),
}

/// Properties of an operation that passes and the runtime use without knowing more about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpClass {
    /// Operands and results of one shape, and each element of a result depends only on the elements
    /// of the operands at the same index.
    Elementwise,
    /// One result with elements of the first operand, which the runtime returns without a copy.
    View,
    /// Any other operation.
    Other,
}

/// A function of one element of each operand: see [`Primitive::scalar`].
pub type ScalarFn = Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// Returns a region with only the marked results: see [`Primitive::narrow`].
pub type Narrow<'a> = dyn FnMut(&Arc<Function>, &[bool]) -> Arc<Function> + 'a;

/// An operation. Every operation implements the methods without a default.
pub trait Primitive: Debug + Send + Sync + 'static {
    /// The name in the text form, without the `tgraph.` prefix.
    fn name(&self) -> &str;

    /// All attributes: name and attributes determine the operation. Regions are attributes, too.
    fn attrs(&self) -> Attrs {
        Attrs::default()
    }

    /// The key of an extension operation: with the name it determines the operation. Equal
    /// operations on equal operands are merged. `None`, the default: an operation equals only
    /// itself (the same `Arc`), regardless of [`Primitive::attrs`].
    fn key(&self) -> Option<String> {
        None
    }

    /// Number of results.
    fn results(&self) -> usize {
        1
    }

    /// The type rule: result types for operand types. Its error names the shapes and a way out.
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>>;

    /// Evaluates the operation: its reference semantics. [`Primitive::infer`] has accepted the
    /// operands. `env` holds the values of symbols in attributes.
    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>>;

    /// The class of the operation for operands of these element types. A scalar predicate of a
    /// choice is permitted in addition to operands of one shape.
    fn class(&self, x: &[DType]) -> OpClass {
        let _ = x;
        OpClass::Other
    }

    /// The function of one element of each operand, for an elementwise extension with one result.
    /// With it the runtime fuses the operation into the loops of its neighbors. It computes in f64,
    /// and the runtime rounds the result to the element type; results must equal those of
    /// [`Primitive::eval`].
    ///
    /// `None`, the default: the operation runs by its registered kernel, or by `eval`. Built-in
    /// operations have kernels of their own. Operations with more than three operands, or with
    /// booleans, integers or complex numbers, are not fused.
    fn scalar(&self, x: &[DType]) -> Option<ScalarFn> {
        let _ = x;
        None
    }

    /// Whether evaluation does more than compute the results. Passes do not evaluate such an
    /// operation. It runs where the program needs its results.
    fn has_effect(&self) -> bool {
        false
    }

    /// Whether it is executed although the program needs none of its results: a call that writes
    /// something outside. By default, whether a region has such an operation.
    fn must_run(&self) -> bool {
        self.regions().into_iter().any(|r| r.must_run())
    }

    /// Whether it is the zero of its type: an operation without operands whose result is zero. Then
    /// linear programs may use its result where a linear value is needed.
    fn is_zeros(&self) -> bool {
        false
    }

    /// Whether the results are linear in the operands marked by `mask` together, with the others
    /// held constant.
    fn linear_in(&self, mask: &[bool]) -> bool {
        let _ = mask;
        false
    }

    /// The class of each result for operands of these classes. For operations with regions whose
    /// results depend on different operands. `None` if a result has no class, or if it is unknown.
    fn classes(&self, x: &[Class]) -> Option<Vec<Class>> {
        let _ = x;
        None
    }

    /// The results at `x`, and their derivative in direction `t` (`None`: zero; at least one is
    /// not).
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized>;

    /// Results and tangents together, for operations with regions: forward mode then saves no
    /// residuals. `None`: by [`Primitive::linearize`].
    fn jvp(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Option<Result<Jvp>> {
        let _ = (cx, x, t);
        None
    }

    /// The cotangent of each linear operand, for cotangents of the results (`None`: zero; at least
    /// one is not). Entries of ordinary operands are ignored.
    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>>;

    /// The sum of `to` and the result of this operation on `x`, whose first operand is zero, by an
    /// operation that adds to what it writes alone. `None`: the result is added as a whole.
    fn added_to(&self, cx: &dyn Emit, to: Val, x: &[Val]) -> Option<Val> {
        let _ = (cx, to, x);
        None
    }

    /// The operation on operands of which at least one has a leading batch axis of extent `size`.
    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>>;

    /// The error of the results, relative to the largest element of each, for an operation that
    /// ends an iteration at a tolerance.
    fn tolerance(&self) -> Option<f64> {
        None
    }

    /// Work of one execution.
    fn cost(&self, x: &[Type], y: &[Type]) -> Cost;

    /// Whether it computes a derivative at a kink. A function that holds such an operation is a
    /// derivative itself, and is differentiated on one side of all kinks.
    fn kink(&self) -> Option<Kink> {
        None
    }

    /// The operation on one side, for an operation that computes the [`Kink::Mean`]. Ordinary
    /// operands in `x` (`None`: a linear one) are replaced by their values on that side.
    fn one_sided(&self, cx: &dyn Emit, x: &mut [Option<Val>]) -> Op {
        let _ = (cx, x);
        unreachable!("`{}` is no derivative at a kink", self.name())
    }

    /// The operation whose [`one_sided`](Primitive::one_sided) form is the derivative on the other
    /// side.
    fn turned(&self) -> Op {
        unreachable!("`{}` is no derivative at a kink", self.name())
    }

    /// The change of its result under a shift of its operands; `None` if unknown.
    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        None
    }

    /// Regions: bodies of control flow and of custom rules.
    fn regions(&self) -> Vec<&Arc<Function>> {
        Vec::new()
    }

    /// The parameter types of each region (in the order of [`Primitive::regions`]), for operands of
    /// these types. `None` for a region whose types do not follow from the operands.
    fn region_operands(&self, x: &[Type]) -> Vec<Option<Vec<Type>>> {
        let _ = x;
        vec![None; self.regions().len()]
    }

    /// This operation with other regions (in the order of [`Primitive::regions`]).
    fn with_regions(&self, regions: &[Arc<Function>]) -> Op {
        let _ = regions;
        unreachable!("`{}` has no regions", self.name())
    }

    /// This operation without its unused results, and a mask of the results that remain. `narrow`
    /// returns a region with only these results.
    fn narrow(&self, used: &[bool], narrow: &mut Narrow<'_>) -> Option<(Op, Vec<bool>)> {
        let _ = (used, narrow);
        None
    }

    /// Whether symbols of its regions' parameters are local to the regions (a called module),
    /// instead of those of the enclosing function.
    fn own_syms(&self) -> bool {
        false
    }

    /// This operation with the dimensions in its attributes mapped; `None` if it has none. A symbol
    /// that it binds is mapped, too, if the result is a symbol.
    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        let _ = f;
        None
    }

    /// Symbols that this operation binds at run time. Each is an extent of a result.
    fn binds(&self) -> Vec<crate::shape::Sym> {
        Vec::new()
    }

    /// Whether it can be executed. Otherwise it is defined in linear programs that are transposed,
    /// and [`Primitive::legal`] returns an executable replacement.
    fn runs(&self) -> bool {
        true
    }

    /// An executable replacement of an operation that cannot be executed.
    fn legal(&self, session: &Session) -> Result<Op> {
        let _ = session;
        unreachable!("`{}` runs", self.name())
    }
}

/// The error for an operation without a rule of this kind (`linearize`, `transpose` or `batch`).
pub fn no_rule(op: &dyn Primitive, kind: &str) -> Error {
    let instead = match kind {
        "batch" => "or replace `vmap` by `map` (in text `scan`), which needs none",
        _ => "wrap the call in custom_vjp, or stop_gradient its input",
    };
    let text = format!(
        "operation `{}` has no {kind} rule; add one to its Primitive, {instead}",
        op.name()
    );
    Error::new(Code::NoRule, text)
}

/// A sample of an operation, on which every law is tested.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The operation.
    pub op: Op,
    /// Operands in the domain where the operation is smooth (unless `smooth` is false).
    pub operands: Vec<Array>,
    /// Whether derivatives may be compared with finite differences here.
    pub smooth: bool,
}

impl Sample {
    /// A sample at smooth points.
    pub fn new(op: impl Into<Op>, operands: Vec<Array>) -> Sample {
        Sample {
            op: op.into(),
            operands,
            smooth: true,
        }
    }

    /// A sample whose derivative is a convention (ties, corners), not a limit.
    pub fn rough(op: impl Into<Op>, operands: Vec<Array>) -> Sample {
        Sample {
            smooth: false,
            ..Sample::new(op, operands)
        }
    }
}
