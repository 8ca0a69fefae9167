//! Syntax tree of StableHLO, in text or bytecode: functions, operations, attributes and types,
//! without their meaning.
//!
//! Values are numbered in the order of their definitions within a function. The values of a region
//! are therefore a range, and its captures are known once it has been parsed.

use cotangent_core::ops::Format;
use cotangent_core::{DType, Dim, Loc, Type};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::rc::Rc;

/// Maximum nesting depth of regions: the limit of graphs, plus a function and a module.
pub(crate) const MAX_REGIONS: usize = cotangent_core::MAX_DEPTH as usize + 2;
/// Maximum nesting depth of attributes and types.
pub(crate) const MAX_NESTED: usize = 40;

/// A value of a function, by number.
pub(crate) type Id = u32;

/// Attributes by name.
pub(crate) type NamedAttrs<'a> = Vec<(Cow<'a, str>, Attr<'a>)>;

/// A parsed text.
#[derive(Debug, Default)]
pub(crate) struct ParsedModule<'a> {
    /// The name of the outermost module with a name, without `@`.
    pub name: Option<Cow<'a, str>>,
    /// Functions in the order of the text.
    pub functions: Vec<Function<'a>>,
    /// Attributes of the enclosing modules, with their positions.
    pub attrs: Vec<(Cow<'a, str>, Attr<'a>, Loc)>,
    /// Blobs of a `dialect_resources` section, by name, as hex strings.
    pub resources: Vec<(Cow<'a, str>, &'a str)>,
}

/// `func.func`.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    /// Without `@` and quotes.
    pub name: Cow<'a, str>,
    /// Whether it is not marked `private`.
    pub public: bool,
    /// Where it starts.
    pub pos: Loc,
    /// Types of the results.
    pub results: Vec<Ty>,
    /// Kinds of memory of the results, where they are written; the last ones may be missing.
    pub memory_kinds: Vec<Option<String>>,
    /// Parameters and operations; `None` for a declaration.
    pub body: Option<Region<'a>>,
}

/// A block in braces with its arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region<'a> {
    /// Where it starts.
    pub pos: Loc,
    /// Its arguments, numbered from `first`.
    pub args: Vec<Argument<'a>>,
    /// Operations in order; the last one returns.
    pub ops: Vec<Operation<'a>>,
    /// The first value that it defines.
    pub first: Id,
    /// Values defined outside and used inside, in order of first use.
    pub captures: Vec<Id>,
}

/// A parameter of a function or a block.
#[derive(Clone, Debug)]
pub(crate) struct Argument<'a> {
    /// Its number.
    pub id: Id,
    /// Its name without `%`.
    pub name: Cow<'a, str>,
    /// Its type.
    pub ty: Ty,
    /// Its value, if that is known: it is no parameter of the program.
    pub constant: Option<i64>,
    /// Whether a call may take its memory, for a parameter of a function.
    pub donated: bool,
}

/// Whether the attributes of a parameter let a call take its memory.
pub(crate) fn donates(attrs: &[(Cow<'_, str>, Attr<'_>)]) -> bool {
    attrs.iter().any(|(name, a)| match &**name {
        "tf.aliasing_output" => true,
        "jax.buffer_donor" => a.bool() == Some(true),
        _ => false,
    })
}

/// The kind of memory of a parameter or result, if its attributes have one.
pub(crate) fn memory_kind(attrs: &[(Cow<'_, str>, Attr<'_>)]) -> Option<String> {
    let kind = attrs.iter().find(|a| a.0 == "mhlo.memory_kind");
    kind.and_then(|a| a.1.word()).map(str::to_owned)
}

/// The kinds of memory of the results of a function, from the list of their attributes.
pub(crate) fn memory_kinds(attrs: Option<&Attr<'_>>) -> Vec<Option<String>> {
    let Some(Attr::List(all)) = attrs else {
        return Vec::new();
    };
    let kind = |attrs: &Attr<'_>| match attrs {
        Attr::Dict(d) => memory_kind(d),
        _ => None,
    };
    all.iter().map(kind).collect()
}

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation<'a> {
    /// The name with its dialect: `stablehlo.add`.
    pub name: &'a str,
    /// Where it starts.
    pub pos: Loc,
    /// The first of its results.
    pub first: Id,
    /// Number of results.
    pub count: u32,
    /// Operands in order.
    pub operands: SmallVec<[Id; 4]>,
    /// Attributes by name. Bare words and values have the name `""`.
    pub attrs: Vec<(Cow<'a, str>, Attr<'a>)>,
    /// Regions in order.
    pub regions: Vec<Region<'a>>,
    /// The types after the colon.
    pub signature: Signature,
    /// Whether a part of it was skipped because its syntax is unknown. Lowering rejects such an
    /// operation.
    pub opaque: bool,
}

/// The types after the colon of an operation.
#[derive(Clone, Debug, Default)]
pub(crate) enum Signature {
    /// None are written.
    #[default]
    None,
    /// `: a, b`; the meaning depends on the operation.
    List(SmallVec<[Ty; 2]>),
    /// `: (a, b) -> c`.
    Function(SmallVec<[Ty; 2]>, SmallVec<[Ty; 2]>),
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    /// A tensor. An extent written as `?` is the symbol `?`.
    Tensor(Type),
    /// A tensor of a narrow element type, stored as the given wider tensor type.
    Narrow(Type, Narrow),
    /// `!stablehlo.token`.
    Token,
    /// A function type.
    Function(Rc<(Vec<Ty>, Vec<Ty>)>),
    /// Any other, as written.
    Other(Rc<str>),
}

impl Ty {
    /// The tensor type of an element type by name. Element types that are not supported have none.
    pub(crate) fn tensor(element: &str, dims: Vec<Dim>) -> Option<Ty> {
        // These names are those of the text language.
        let dtype = DType::parse(element).filter(|_| !matches!(element, "bool" | "c64" | "c128"));
        match dtype {
            Some(dtype) => Some(Ty::Tensor(Type::new(dtype, dims))),
            None => Narrow::parse(element).map(|n| Ty::Narrow(Type::new(n.wide(), dims), n)),
        }
    }
}

/// An element type that is stored in a wider one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Narrow {
    /// A float of 8, 6 or 4 bits, in `f32`.
    Float(Format),
    /// An integer with this number of bits, and whether it is signed. Stored in `i8` or `ui8`.
    Int(u32, bool),
}

impl Narrow {
    /// The element type of this name: `f8E4M3FN`, `i4`, `ui2`.
    pub(crate) fn parse(name: &str) -> Option<Narrow> {
        match name {
            "i4" => Some(Narrow::Int(4, true)),
            "i2" => Some(Narrow::Int(2, true)),
            "ui4" => Some(Narrow::Int(4, false)),
            "ui2" => Some(Narrow::Int(2, false)),
            _ => Format::parse(name).map(Narrow::Float),
        }
    }

    /// The element type that stores its numbers.
    pub(crate) fn wide(self) -> DType {
        match self {
            Narrow::Float(_) => DType::F32,
            Narrow::Int(_, true) => DType::I8,
            Narrow::Int(_, false) => DType::U8,
        }
    }
}

/// An attribute.
#[derive(Clone, Debug)]
pub(crate) enum Attr<'a> {
    /// Present, without a value.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// A quoted string.
    Str(Cow<'a, str>),
    /// A bare word.
    Word(&'a str),
    /// `@name`.
    Symbol(Cow<'a, str>),
    /// A type.
    Type(Ty),
    /// `[a, b]` and `array<i64: a, b>`.
    List(Rc<[Attr<'a>]>),
    /// `{a = 1}`, `<a = 1>`, `#stablehlo.gather<a = 1>`.
    Dict(Rc<[(Cow<'a, str>, Attr<'a>)]>),
    /// `[0] x [1]`, `[b, f, 0]x[o, i, 0]->[b, f, 0]`, `0:2:1`.
    Product(Rc<[Attr<'a>]>),
    /// `dense<..> : type`.
    Dense(Rc<Dense<'a>>),
    /// A skipped attribute: it does not affect values.
    Skipped,
}

/// A constant as it is written.
#[derive(Debug)]
pub(crate) struct Dense<'a> {
    /// Where it starts.
    pub pos: Loc,
    /// Its elements.
    pub elements: Elements<'a>,
    /// Its type, if one follows it.
    pub ty: Option<Ty>,
}

impl Dense<'_> {
    /// The element type.
    fn dtype(&self) -> Option<DType> {
        match &self.ty {
            Some(Ty::Tensor(t)) => Some(t.dtype),
            _ => None,
        }
    }

    /// The number of elements, if it is small: that of an attribute that lists axes or windows.
    fn few(&self) -> Option<usize> {
        const MAX_LISTED: usize = 1 << 16;
        match &self.ty {
            Some(Ty::Tensor(t)) => {
                cotangent_core::array::numel(&t.shape.as_const()?).filter(|&n| n <= MAX_LISTED)
            }
            _ => None,
        }
    }
}

/// `count` booleans from bytes of [`Elements::Bytes`].
pub(crate) fn booleans(bytes: &[u8], count: usize) -> Option<Vec<bool>> {
    match bytes {
        [0xFF] => Some(vec![true; count]),
        [b] if count > 8 => Some(vec![*b != 0; count]),
        b if b.len() == count.div_ceil(8) => {
            Some((0..count).map(|i| b[i / 8] >> (i % 8) & 1 != 0).collect())
        }
        b if b.len() == count => Some(b.iter().map(|&b| b != 0).collect()),
        _ => None,
    }
}

/// The elements of a constant.
#[derive(Debug)]
pub(crate) enum Elements<'a> {
    /// `dense<3>`: one value for all elements.
    Splat(Number<'a>),
    /// Elements of nested lists in row-major order, and the extents of the lists.
    List(Vec<Number<'a>>, Vec<usize>),
    /// `"0x.."`: bytes in memory order, as hex digits.
    Hex(&'a str),
    /// Bytes in memory order: of all elements, or of one value for all. Booleans may be packed,
    /// eight in a byte.
    Bytes(&'a [u8]),
    /// `dense_resource<name>`: a blob at the end of the text.
    Resource(Cow<'a, str>),
}

/// One element as text: a number, or the two parts of a complex number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number<'a> {
    /// The number or the real part.
    pub re: &'a str,
    /// The imaginary part.
    pub im: Option<&'a str>,
}

impl<'a> Operation<'a> {
    /// The attribute of this name.
    pub(crate) fn attr(&self, name: &str) -> Option<&Attr<'a>> {
        self.attrs.iter().find(|(n, _)| n == name).map(|(_, a)| a)
    }

    /// Bare words and values, in order.
    pub(crate) fn unnamed(&self) -> impl Iterator<Item = &Attr<'a>> {
        self.attrs
            .iter()
            .filter(|(n, _)| n.is_empty())
            .map(|(_, a)| a)
    }

    /// The types of the results, if the signature contains them.
    pub(crate) fn result_types(&self) -> Option<&[Ty]> {
        match &self.signature {
            Signature::Function(_, r) => Some(r),
            Signature::List(l) if self.count == 1 => l.last().map(std::slice::from_ref),
            Signature::List(l) if l.len() == self.count as usize => Some(l),
            _ => None,
        }
    }
}

impl<'a> Attr<'a> {
    /// An integer.
    pub(crate) fn int(&self) -> Option<i64> {
        match self {
            Attr::Int(i) => i64::try_from(*i).ok(),
            Attr::Dense(d) => match &d.elements {
                Elements::Splat(n) => n.re.parse().ok(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The integers of a list or of a `dense` constant. A splat is expanded to its type.
    pub(crate) fn ints(&self) -> Option<Vec<i64>> {
        match self {
            Attr::List(l) => l.iter().map(Attr::int).collect(),
            Attr::Dense(d) => match &d.elements {
                Elements::List(l, _) => l.iter().map(|n| n.re.parse().ok()).collect(),
                Elements::Splat(n) => Some(vec![n.re.parse().ok()?; d.few()?]),
                Elements::Bytes(b) if d.dtype()? == DType::I64 => {
                    let number = |b: &[u8]| Some(i64::from_le_bytes(b.try_into().ok()?));
                    match d.few()? {
                        count if b.len() == 8 => Some(vec![number(b)?; count]),
                        count if b.len() == 8 * count => b.chunks_exact(8).map(number).collect(),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A list of booleans.
    pub(crate) fn bools(&self) -> Option<Vec<bool>> {
        match self {
            Attr::List(l) => l.iter().map(Attr::bool).collect(),
            Attr::Dense(d) => match &d.elements {
                Elements::List(l, _) => {
                    Some(l.iter().map(|n| n.re == "true" || n.re == "1").collect())
                }
                Elements::Splat(n) => Some(vec![n.re == "true" || n.re == "1"; d.few()?]),
                Elements::Bytes(b) if d.dtype()? == DType::Bool => booleans(b, d.few()?),
                _ => None,
            },
            _ => None,
        }
    }

    /// A boolean.
    pub(crate) fn bool(&self) -> Option<bool> {
        match self {
            Attr::Bool(b) => Some(*b),
            Attr::Int(i) => Some(*i != 0),
            Attr::Unit => Some(true),
            _ => None,
        }
    }

    /// A word, a string, or the value of an enumeration.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Attr::Word(w) => Some(w),
            Attr::Str(s) | Attr::Symbol(s) => Some(s),
            _ => None,
        }
    }

    /// The entries of a dictionary.
    pub(crate) fn get(&self, name: &str) -> Option<&Attr<'a>> {
        match self {
            Attr::Dict(d) => d.iter().find(|(n, _)| n == name).map(|(_, a)| a),
            _ => None,
        }
    }
}
