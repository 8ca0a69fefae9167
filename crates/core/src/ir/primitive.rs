//! `trait Primitive`: everything that an operation says about itself. The page to read first.
//!
//! An operation has a meaning ([`Primitive::eval`], naive on purpose), a type rule, and three rules
//! from which every derivative follows:
//!
//! ```text
//! linearize : x, dx -> y, dy      the operation at x, and its derivative as a linear program in dx
//! transpose : x, ct -> ct_x       for operations that are linear in some operands
//! batch     : the operation on operands with one more leading axis
//! ```
//!
//! There is no reverse rule: `vjp = transpose . linearize`. Rules write through an emitter
//! ([`Emit`]), so the same rule builds graph equations or computes at once.

pub use super::value::{Owner, Val, Vals};

use super::{Attrs, Class, Emit, Function, Lin, Lv, Op, Session};
use crate::array::Array;
use crate::error::{Code, Error, Result};
use crate::shape::{Dim, Env, Type};
use std::fmt::Debug;
use std::sync::Arc;

/// An operand of a linear operation as [`Primitive::transpose`] sees it.
#[derive(Clone, Debug)]
pub enum Arg {
    /// An ordinary value.
    R(Val),
    /// A linear operand: only its type is known.
    L(Type),
}

impl Arg {
    /// The ordinary value, if it is one.
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
    /// Its axis 0 is the batch axis; otherwise it is the same for every batch element.
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

/// An estimate of work: arithmetic operations and bytes moved, for one execution. `None` extents
/// count as 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Arithmetic operations; a transcendental function counts as what its row says.
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

/// What [`Primitive::linearize`] returns: the results, and the tangent of each (`None`: zero).
pub type Linearized = (Vals, Vec<Option<Lv>>);

/// What [`Primitive::jvp`] returns: the results, and the tangent of each (`None`: zero).
pub type Jvp = (Vals, Vec<Option<Val>>);

/// What an operation that stands for a derivative at a kink (a tie, the point of `|x|`) computes
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kink {
    /// The mean of the derivatives on both sides.
    Mean,
    /// That of one side.
    Side,
}

/// How the result of an operation changes when operands are shifted by `d` (`v + k d`) or scaled by
/// `exp(k d)`: see [`Primitive::shift_rule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShiftRule<'a> {
    /// The result has no tangent: a constant, or a value that is held fixed.
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

/// A body with only the marked results: see [`Primitive::narrow`].
pub type Narrow<'a> = dyn FnMut(&Arc<Function>, &[bool]) -> Arc<Function> + 'a;

/// An operation. Methods without a default must be decided by every operation.
pub trait Primitive: Debug + Send + Sync + 'static {
    /// The name in the text form, without the `tgraph.` prefix.
    fn name(&self) -> &str;

    /// Attributes, complete: name and attributes determine the operation. Regions are attributes
    /// too.
    fn attrs(&self) -> Attrs {
        Attrs::default()
    }

    /// For operations of other crates: what, with the name, determines the operation. Equal
    /// operations on equal operands are computed once. `None`, the default, promises nothing: an
    /// operation is then equal to itself (one `Arc`) alone, whatever [`Primitive::attrs`] says.
    fn key(&self) -> Option<String> {
        None
    }

    /// Number of results.
    fn results(&self) -> usize {
        1
    }

    /// The type rule: result types for operand types, or an error that names the shapes and the way
    /// out.
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>>;

    /// The meaning. Operands have been checked by [`Primitive::infer`]; `env` gives the symbols of
    /// attributes.
    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>>;

    /// Whether the results are jointly linear in the operands that `mask` marks, the others held
    /// fixed.
    fn linear_in(&self, mask: &[bool]) -> bool {
        let _ = mask;
        false
    }

    /// The class of each result for operands of these classes, for operations with bodies of which
    /// some results are linear in operands that others do not depend on; `None` if a result has no
    /// class, or that is not known.
    fn classes(&self, x: &[Class]) -> Option<Vec<Class>> {
        let _ = x;
        None
    }

    /// The operation at `x` and its derivative in direction `t` (`None`: zero; at least one is
    /// not).
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized>;

    /// Results and tangents at once, for operations with bodies, which then save nothing for
    /// forward mode; `None`: by [`Primitive::linearize`].
    fn jvp(&self, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Option<Result<Jvp>> {
        let _ = (cx, x, t);
        None
    }

    /// For cotangents of the results (`None`: zero; at least one is not), the cotangent of each
    /// linear operand. Entries of ordinary operands are ignored.
    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>>;

    /// The operation on operands of which some (at least one) have a leading batch axis of extent
    /// `size`.
    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>>;

    /// Work of one execution.
    fn cost(&self, x: &[Type], y: &[Type]) -> Cost;

    /// Whether it stands for a derivative at a kink: a function that holds such an operation is a
    /// derivative, and is differentiated on one side of all kinks.
    fn kink(&self) -> Option<Kink> {
        None
    }

    /// The operation on one side, for one that computes the [`Kink::Mean`]; ordinary operands in
    /// `x` (`None`: a linear one) are replaced by those of that side.
    fn one_sided(&self, cx: &dyn Emit, x: &mut [Option<Val>]) -> Op {
        let _ = (cx, x);
        unreachable!("`{}` is no derivative at a kink", self.name())
    }

    /// The operation whose [`one_sided`](Primitive::one_sided) form is that of the other side.
    fn turned(&self) -> Op {
        unreachable!("`{}` is no derivative at a kink", self.name())
    }

    /// How its result changes with a shift of its operands; `None` if that is not known.
    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        None
    }

    /// Bodies of control flow and custom rules.
    fn regions(&self) -> Vec<&Arc<Function>> {
        Vec::new()
    }

    /// The same operation with other bodies (in the order of [`Primitive::regions`]).
    fn with_regions(&self, regions: &[Arc<Function>]) -> Op {
        let _ = regions;
        unreachable!("`{}` has no regions", self.name())
    }

    /// The same operation without results that nobody uses, and which it keeps. `narrow` gives a
    /// body with only these results.
    fn narrow(&self, used: &[bool], narrow: &mut Narrow<'_>) -> Option<(Op, Vec<bool>)> {
        let _ = (used, narrow);
        None
    }

    /// Whether the symbols of its bodies' parameters are the bodies' own (a called module), not
    /// those around it.
    fn own_syms(&self) -> bool {
        false
    }

    /// The same operation with its attribute dimensions mapped; `None` if it has no such attribute.
    /// A symbol that it binds is mapped too, if that gives a symbol.
    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        let _ = f;
        None
    }

    /// Symbols whose extent this operation decides while running: each is an extent of a result.
    fn binds(&self) -> Vec<crate::shape::Sym> {
        Vec::new()
    }

    /// Whether it can be run. Otherwise it stands in a linear program that waits to be transposed,
    /// and [`Primitive::legal`] says what to run.
    fn runs(&self) -> bool {
        true
    }

    /// What runs in place of an operation that does not.
    fn legal(&self, session: &Session) -> Result<Op> {
        let _ = session;
        unreachable!("`{}` runs", self.name())
    }
}

/// The error of an operation that has no rule of this kind (`linearize`, `transpose` or `batch`).
pub fn no_rule(op: &dyn Primitive, kind: &str) -> Error {
    Error::new(
        Code::NoRule,
        format!(
            "operation `{}` has no {kind} rule; add one to its Primitive, wrap the call in custom_vjp, \
             or stop_gradient its input",
            op.name()
        ),
    )
}

/// One case of an operation that every law is tested on.
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
