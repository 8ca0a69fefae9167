//! Opaque types: values that this crate does not interpret, declared by an extension.
//!
//! ```text
//! !sparse.matrix<rows = 4, cols = 6>      name, and parameters as attributes
//! ```
//! A declaration states the type of cotangents, and the operations that are their zero and their
//! sum. Transforms use these where they use `constant` and `add` on arrays. Operations of this
//! crate refuse opaque operands, except those that pass values on ([`Op::infer`]).
//!
//! Tangents and cotangents of a value have one type `V`, and `V` is the type of its own cotangents:
//! a derivative of a derivative is again of type `V`.

use super::{Attr, Attrs, FromAttr, Function, Op};
use crate::bail;
use crate::dtype::{DType, Interned, OpaqueType};
use crate::error::Result;
use crate::names::is_name;
use crate::shape::Type;
use rustc_hash::FxHashMap;
use std::any::Any;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

/// Maximum number of opaque types of a process, and of bytes of their text forms together.
/// Declarations are never freed, so this bounds the memory that texts can request.
const MAX_TYPES: usize = 1 << 14;
const MAX_TEXT_BYTES: usize = 1 << 24;

/// The declaration of an opaque type by an extension.
///
/// ```
/// use cotangent_core::{Attrs, Cotangent, DType, Opaque, OpaqueType, Type};
/// /// A rotation of space. A small rotation is a vector.
/// #[derive(Debug)]
/// struct Rotation;
/// impl Opaque for Rotation {
///     fn name(&self) -> &str {
///         "motion.rotation"
///     }
///     fn cotangent(&self) -> Cotangent {
///         Cotangent::Other(Type::new(DType::F64, [3]))
///     }
/// }
/// let ty = OpaqueType::declare(Rotation)?;
/// assert_eq!(Type::from(ty).to_string(), "!motion.rotation");
/// assert_eq!(Type::from(ty).tangent(), Type::new(DType::F64, [3]));
/// assert!(ty.get::<Rotation>().is_some());
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub trait Opaque: Any + Debug + Send + Sync {
    /// The name, with a dot: `sparse.matrix`. The text form prints `!` before it.
    fn name(&self) -> &str;

    /// The parameters: numbers, booleans, words, element types, and lists of these. With the name
    /// they determine the type. None by default.
    fn parameters(&self) -> Attrs {
        Attrs::default()
    }

    /// The type of tangents and cotangents of values.
    fn cotangent(&self) -> Cotangent;

    /// The zero, if cotangents have this type, `own`: an operation without operands, whose
    /// [`is_zeros`](crate::Primitive::is_zeros) is true.
    fn zero(&self, own: OpaqueType) -> Option<Op> {
        let _ = own;
        None
    }

    /// The sum of two values, if cotangents have this type, `own`. It is linear in both operands
    /// together.
    fn sum(&self, own: OpaqueType) -> Option<Op> {
        let _ = own;
        None
    }

    /// The one, if values of this type, `own`, are real scalars: an operation without operands. A
    /// gradient of such a value starts from it. `None`, the default: only arrays have gradients, a
    /// value of this type has pullbacks ([`vjp`](crate::transform::vjp)).
    fn one(&self, own: OpaqueType) -> Option<Op> {
        let _ = own;
        None
    }
}

/// The type of cotangents of an opaque type.
#[derive(Clone, Debug, PartialEq)]
pub enum Cotangent {
    /// Values have no derivative, as integers have none.
    None,
    /// The type itself: its values are vectors, with [`Opaque::zero`] and [`Opaque::sum`].
    Own,
    /// An array type with constant extents, or an opaque type whose cotangents have its own type.
    Other(Type),
}

/// A stored declaration.
struct Declared {
    declaration: Box<dyn Opaque>,
    cotangent: Cotangent,
    arithmetic: OnceLock<Arithmetic>,
    /// The result of checking the declaration. A failed declaration stays stored.
    checked: OnceLock<Result<()>>,
    checking: AtomicBool,
}

/// The operations that transforms write on values of an opaque type.
struct Arithmetic {
    zero: Option<Op>,
    sum: Option<Op>,
    one: Option<Op>,
}

impl Declared {
    fn of(ty: OpaqueType) -> &'static Declared {
        (ty.0.declaration.downcast_ref()).expect("this file alone interns opaque types")
    }

    /// The operations. They are not computed under a lock, because an extension computes them.
    fn arithmetic(&self, own: OpaqueType) -> &Arithmetic {
        if let Some(known) = self.arithmetic.get() {
            return known;
        }
        let d = &self.declaration;
        let new = Arithmetic {
            zero: d.zero(own),
            sum: d.sum(own),
            one: d.one(own),
        };
        self.arithmetic.get_or_init(|| new)
    }

    /// Checks zero, sum and one. A declaration inside the check is not checked again.
    fn check(&self, own: OpaqueType) -> Result<()> {
        if let Some(known) = self.checked.get() {
            return known.clone();
        }
        if self.checking.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let new = self.check_arithmetic(own);
        self.checked.get_or_init(|| new).clone()
    }

    fn check_arithmetic(&self, own: OpaqueType) -> Result<()> {
        let Arithmetic { zero, sum, one } = self.arithmetic(own);
        if self.cotangent != Cotangent::Own {
            if zero.is_some() || sum.is_some() || one.is_some() {
                bail!(
                    Invalid,
                    "{own} declares a zero, a sum or a one, but its cotangents have another type"
                );
            }
            return Ok(());
        }
        let (Some(zero), Some(sum)) = (zero, sum) else {
            bail!(
                Invalid,
                "{own} is the type of its cotangents: it must declare their zero and their sum"
            );
        };
        let ty = Type::from(own);
        let constants = [("zero", Some(zero)), ("one", one.as_ref())];
        for (what, op) in constants.into_iter().filter_map(|(w, op)| Some((w, op?))) {
            check_result(own, what, op, &[], &ty)?;
        }
        if !zero.is_zeros() {
            bail!(
                Invalid,
                "`{}`, the zero of {own}, must return true from `Primitive::is_zeros`",
                zero.name()
            );
        }
        check_result(own, "sum", sum, &[ty.clone(), ty.clone()], &ty)?;
        sum.check_sum()
    }
}

fn check_result(own: OpaqueType, what: &str, op: &Op, x: &[Type], want: &Type) -> Result<()> {
    let got = op
        .infer(x)
        .map_err(|e| e.note(format!("in the declaration of {own}, as its {what}")))?;
    if got != [want.clone()] || op.results() != 1 {
        bail!(
            Invalid,
            "`{}`, the {what} of {own}, must have one result of that type, got {got:?}",
            op.name()
        );
    }
    Ok(())
}

/// The types so far, by their text forms.
#[derive(Default)]
struct Table {
    types: FxHashMap<&'static str, OpaqueType>,
    bytes: usize,
}

fn intern(text: String, declaration: impl Opaque, cotangent: Cotangent) -> Result<OpaqueType> {
    static TABLE: Mutex<Option<Table>> = Mutex::new(None);
    let mut table = TABLE.lock().unwrap_or_else(|e| e.into_inner());
    let table = table.get_or_insert_default();
    if let Some(&known) = table.types.get(&*text) {
        let known_type = (&*Declared::of(known).declaration as &dyn Any).type_id();
        if known_type != declaration.type_id() {
            bail!(
                DuplicateName,
                "the opaque type {text} is declared by another Rust type: choose another name"
            );
        }
        return Ok(known);
    }
    if table.types.len() == MAX_TYPES || table.bytes + text.len() > MAX_TEXT_BYTES {
        bail!(
            Limit,
            "a process has at most {MAX_TYPES} opaque types, of {MAX_TEXT_BYTES} characters \
             together: put into parameters only what type rules need"
        );
    }
    table.bytes += text.len();
    let text: &'static str = text.leak();
    let interned = Interned {
        number: table.types.len(),
        text,
        has_tangent: cotangent != Cotangent::None,
        declaration: Box::new(Declared {
            declaration: Box::new(declaration),
            cotangent,
            arithmetic: OnceLock::new(),
            checked: OnceLock::new(),
            checking: AtomicBool::new(false),
        }),
    };
    let ty = OpaqueType(Box::leak(Box::new(interned)));
    table.types.insert(text, ty);
    Ok(ty)
}

/// The text form of a declaration.
fn text_of(ty: &dyn Opaque) -> Result<String> {
    let name = ty.name();
    let parts = || name.split('.').all(|part| !part.is_empty());
    if !(is_name(name) && name.contains('.') && parts() && !name.starts_with("tgraph.")) {
        bail!(
            Invalid,
            "the name of an opaque type is that of its extension, a dot and a word, as \
             `sparse.matrix`, got `{name}`"
        );
    }
    let Attrs(parameters) = ty.parameters();
    let mut out = format!("!{name}");
    let mut refused = None;
    for (i, (key, value)) in parameters.iter().enumerate() {
        let (twice, other) = (parameters[..i].iter().any(|(k, _)| k == key), !is_name(key));
        if twice || other {
            refused = Some(key);
        }
        let _ = write!(out, "{}{key} = ", if i > 0 { ", " } else { "<" });
        value.write(&mut out, &mut |_, _| refused = Some(key));
    }
    if let Some(key) = refused {
        bail!(
            Attribute,
            "the parameter `{key}` of `!{name}`: parameters have distinct names, and are numbers, \
             booleans, words, element types, or lists of these"
        );
    }
    if !parameters.is_empty() {
        out.push('>');
    }
    Ok(out)
}

impl OpaqueType {
    /// The type of a declaration. Equal names and parameters are one type, with the first
    /// declaration.
    ///
    /// Returns an error for a name without a dot, parameters of other kinds, a zero, sum or one
    /// that does not fit, a name and parameters that another Rust type has declared, and more than
    /// 16384 types in a process, because declarations are never freed.
    pub fn declare(declaration: impl Opaque) -> Result<OpaqueType> {
        let text = text_of(&declaration)?;
        let cotangent = declaration.cotangent();
        if let Cotangent::Other(ty) = &cotangent {
            let own = ty.dtype.has_tangent() && ty.tangent() == *ty;
            if !own || ty.shape.as_const().is_none() || ty.check().is_err() {
                bail!(
                    Invalid,
                    "the cotangents of {text} cannot have type {ty}: it must be an array type of \
                     floats with constant extents, or an opaque type of its own cotangents"
                );
            }
        }
        let ty = intern(text, declaration, cotangent)?;
        Declared::of(ty).check(ty)?;
        Ok(ty)
    }

    /// The declaration, if it is of this Rust type.
    pub fn get<T: Opaque>(self) -> Option<&'static T> {
        (&*Declared::of(self).declaration as &dyn Any).downcast_ref()
    }

    fn arithmetic(self) -> &'static Arithmetic {
        Declared::of(self).arithmetic(self)
    }

    /// The zero of this type.
    pub(super) fn zero(self) -> Option<&'static Op> {
        self.arithmetic().zero.as_ref()
    }

    /// The sum of two values of this type.
    pub(super) fn sum(self) -> Option<&'static Op> {
        self.arithmetic().sum.as_ref()
    }

    /// The one of this type.
    pub(crate) fn one(self) -> Option<&'static Op> {
        self.arithmetic().one.as_ref()
    }
}

impl From<OpaqueType> for Type {
    /// The type of a value.
    fn from(ty: OpaqueType) -> Type {
        Type::scalar(DType::Opaque(ty))
    }
}

impl From<OpaqueType> for Attr {
    fn from(ty: OpaqueType) -> Attr {
        Attr::DType(DType::Opaque(ty))
    }
}

impl FromAttr for OpaqueType {
    const WHAT: &'static str = "an opaque type";
    fn from_attr(a: &Attr) -> Option<OpaqueType> {
        DType::from_attr(a)?.opaque()
    }
}

impl Type {
    /// The type of tangents and cotangents of values of this type: the type itself for arrays, the
    /// declared one for opaque types. The type itself, too, if it has none
    /// ([`DType::has_tangent`]).
    pub fn tangent(&self) -> Type {
        match self.dtype.opaque().map(Declared::of) {
            Some(Declared {
                cotangent: Cotangent::Other(ty),
                ..
            }) => ty.clone(),
            _ => self.clone(),
        }
    }

    /// Returns an error for an opaque type: for runtimes that compute arrays.
    pub fn check_array(&self) -> Result<()> {
        if let Some(ty) = self.dtype.opaque() {
            bail!(
                DTypeMismatch,
                "this runtime computes arrays, and has no values of the opaque type {ty}: run them on \
                 an executor of the extension (`tape::Executor`)"
            );
        }
        Ok(())
    }

    /// Whether values of this type have a zero: arrays, and opaque types of their own cotangents.
    pub(crate) fn has_zero(&self) -> bool {
        self.dtype.opaque().is_none_or(|t| t.zero().is_some())
    }
}

impl Op {
    /// The type rule ([`Primitive::infer`](crate::Primitive::infer)), and the rule for opaque
    /// types: a built-in operation takes and returns them only if it passes values on: calls,
    /// control flow, custom rules, `linear_solve` (as constants), and `stop_gradient`.
    pub fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let opaque = |t: &&Type| t.dtype.opaque().is_some();
        let refuse = |t: &Type, verb: &str| -> Result<Vec<Type>> {
            bail!(
                DTypeMismatch,
                "`{}` {verb} {t}: only operations of its extension, and control flow, are defined \
                 on an opaque type",
                self.name()
            )
        };
        let passes = self.passes_values();
        if let Some(t) = x.iter().find(opaque).filter(|_| !passes) {
            return refuse(t, "cannot take");
        }
        let y = (**self).infer(x)?;
        for t in y.iter().filter(opaque) {
            if !passes {
                return refuse(t, "cannot return");
            }
            t.check()?;
        }
        Ok(y)
    }
}

impl Function {
    /// Returns an error if it has values of an opaque type, regions included: for runtimes that
    /// compute arrays.
    pub fn check_arrays(&self) -> Result<()> {
        let opaque = self.opaque_value().map(Type::from);
        let checked = opaque.map_or(Ok(()), |ty| ty.check_array());
        checked.map_err(|e| e.note(format!("in `{}`", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    /// A type with a long text form.
    #[derive(Debug)]
    struct Long(usize);

    impl Opaque for Long {
        fn name(&self) -> &str {
            "test.long"
        }
        fn parameters(&self) -> Attrs {
            let word = "a".repeat(MAX_TEXT_BYTES / 8);
            Attrs::default().with("word", &*word).with("k", self.0)
        }
        fn cotangent(&self) -> Cotangent {
            Cotangent::None
        }
    }

    #[test]
    fn the_memory_of_declarations_is_bounded() {
        let first = OpaqueType::declare(Long(0)).expect("a small number of types");
        let failed = (1..9).find_map(|k| OpaqueType::declare(Long(k)).err());
        assert_eq!(failed.expect("the limit of bytes").code(), Code::Limit);
        // Types that exist stay.
        assert_eq!(OpaqueType::declare(Long(0)).expect("a known type"), first);
    }
}
