//! Text of one function: lines, regions, names of values, and StableHLO's spelling of types.

use super::names::FunctionNames;
use super::options::{Target, WriteOptions};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::shape::{Extents, Sym};
use cotangent_core::transform::Session;
use cotangent_core::{Code, DType, Dim, Emit, EmitterStatus, Error, Loc, Result, Type};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::rc::Rc;

/// StableHLO's name of an element type.
pub(super) fn element(d: DType) -> &'static str {
    match d {
        DType::U8 => "ui8",
        DType::U16 => "ui16",
        DType::U32 => "ui32",
        DType::U64 => "ui64",
        DType::C64 => "complex<f32>",
        DType::C128 => "complex<f64>",
        d => d.name(),
    }
}

/// StableHLO's form of a type: `tensor<2x?xf32>`.
pub(super) fn show(ty: &Type) -> String {
    let mut out = String::from("tensor<");
    for d in ty.shape.iter() {
        match d {
            Dim::Const(n) => {
                let _ = write!(out, "{n}x");
            }
            Dim::Expr(_) => out.push_str("?x"),
        }
    }
    out.push_str(element(ty.dtype));
    out.push('>');
    out
}

/// Types of results: one type, or several in parentheses.
pub(super) fn tuple(types: &[Type]) -> String {
    match types {
        [t] => show(t),
        _ => format!("({})", shown(types)),
    }
}

pub(super) fn shown(types: &[Type]) -> String {
    types.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// Numbers, separated by commas.
pub(super) fn numbers<T: ToString>(v: impl IntoIterator<Item = T>) -> String {
    v.into_iter()
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// An attribute `array<i64: 1, 2>`.
pub(super) fn array<T: ToString>(v: impl IntoIterator<Item = T>) -> String {
    let list = numbers(v);
    if list.is_empty() {
        "array<i64>".into()
    } else {
        format!("array<i64: {list}>")
    }
}

/// A written region: its arguments and its lines.
pub(super) struct WrittenRegion {
    pub(super) args: Vec<Val>,
    pub(super) text: String,
}

/// State of writing one function.
pub(super) struct TextEmitter<'n> {
    pub(super) session: Session,
    pub(super) options: WriteOptions<'n>,
    pub(super) names: &'n RefCell<FunctionNames>,
    pub(super) status: EmitterStatus,
    pub(super) state: RefCell<EmitterState>,
    /// Whether the next operation is decomposed even if it would be written as a composite.
    pub(super) expands: Cell<bool>,
}

#[derive(Default)]
pub(super) struct EmitterState {
    pub(super) out: String,
    pub(super) depth: usize,
    pub(super) names: Vec<Rc<str>>,
    pub(super) types: Vec<Type>,
    /// Number of the next value.
    pub(super) number: usize,
    /// Constants in scope, by their text.
    pub(super) constants: FxHashMap<String, Val>,
    /// Values of symbols, of type i32.
    pub(super) extents: FxHashMap<Sym, Val>,
    pub(super) symbols: usize,
}

impl TextEmitter<'_> {
    pub(super) fn value(&self, name: &str, ty: Type) -> Val {
        let mut s = self.state.borrow_mut();
        s.names.push(name.into());
        s.types.push(ty);
        Val::from_index(s.names.len() - 1)
    }

    pub(super) fn name(&self, v: Val) -> Rc<str> {
        self.state
            .borrow()
            .names
            .get(v.index())
            .cloned()
            .unwrap_or_else(|| "%?".into())
    }

    pub(super) fn list(&self, x: &[Val]) -> String {
        x.iter()
            .map(|&v| self.name(v).to_string())
            .collect::<Vec<_>>()
            .join(", ")
    }

    pub(super) fn types(&self, x: &[Val]) -> Vec<Type> {
        x.iter().map(|&v| self.ty(v)).collect()
    }

    /// Operands and types of a return: ` %a, %b : t, u`, or nothing.
    pub(super) fn returned(&self, x: &[Val]) -> String {
        if x.is_empty() {
            String::new()
        } else {
            format!(" {} : {}", self.list(x), shown(&self.types(x)))
        }
    }

    /// Writes a line. `what` is the text after `=`.
    pub(super) fn line(&self, what: &str, results: Vec<Type>) -> Vals {
        let (indent, base) = {
            let mut s = self.state.borrow_mut();
            let base = s.number;
            s.number += 1;
            (s.depth, base)
        };
        let many = results.len() > 1;
        let group = if many {
            format!("%{base}:{}", results.len())
        } else {
            format!("%{base}")
        };
        let equals = if results.is_empty() {
            String::new()
        } else {
            format!("{group} = ")
        };
        let _ = writeln!(
            self.state.borrow_mut().out,
            "{}{equals}{what}{}",
            "  ".repeat(indent),
            self.location()
        );
        let name = |k: usize| {
            if many {
                format!("%{base}#{k}")
            } else {
                format!("%{base}")
            }
        };
        results
            .into_iter()
            .enumerate()
            .map(|(k, t)| self.value(&name(k), t))
            .collect()
    }

    /// Whether the text is for every XLA target.
    pub(super) fn is_portable(&self) -> bool {
        self.options.target == Target::Portable
    }

    /// The location of the current equation in MLIR's form, in text for every XLA target.
    fn location(&self) -> String {
        if !self.is_portable() {
            return String::new();
        }
        let place = match self.loc() {
            Loc::Text(line, column) => {
                let file = self.options.file.unwrap_or("-");
                Some((file.to_owned(), line, column))
            }
            Loc::Rust(l) => Some((l.file().to_owned(), l.line(), l.column())),
            loc => loc.source_line().map(|l| (l.file.to_string(), l.line, 0)),
        };
        place.map_or(String::new(), |(file, line, column)| {
            format!(" loc({file:?}:{line}:{column})")
        })
    }

    /// A constant. A constant in scope with the same text is reused.
    pub(super) fn constant(&self, text: String, ty: &Type) -> Val {
        let existing = self.state.borrow().constants.get(&text).copied();
        existing.unwrap_or_else(|| {
            let v = self.line(&text, vec![ty.clone()])[0];
            self.state.borrow_mut().constants.insert(text, v);
            v
        })
    }

    /// A function type: `(operand types) -> result types`.
    pub(super) fn signature(&self, x: &[Val], y: &[Type]) -> String {
        format!("({}) -> {}", shown(&self.types(x)), tuple(y))
    }

    /// Writes an operation without attributes. If all types are equal, one type is printed.
    pub(super) fn plain(&self, name: &str, x: &[Val], y: Vec<Type>) -> Vals {
        let types = self.types(x);
        let alike = types.iter().chain(&y).all(|t| *t == y[0]);
        let of = match (alike, name.starts_with("chlo.")) {
            (true, false) => show(&y[0]),
            (_, true) => format!("{} -> {}", shown(&types), show(&y[0])),
            _ => self.signature(x, &y),
        };
        self.line(&format!("{name} {} : {of}", self.list(x)), y)
    }

    /// Writes a region with arguments of these types.
    pub(super) fn region(
        &self,
        types: &[Type],
        write: impl FnOnce(&[Val]) -> Vec<Val>,
    ) -> WrittenRegion {
        let names: Vec<String> = {
            let mut s = self.state.borrow_mut();
            let first = s.number;
            s.number += types.len();
            (0..types.len())
                .map(|k| format!("%{}", first + k))
                .collect()
        };
        let args: Vec<Val> = names
            .iter()
            .zip(types)
            .map(|(n, t)| self.value(n, t.clone()))
            .collect();
        let text = self.block(|| write(&args));
        WrittenRegion { args, text }
    }

    /// The lines of a region whose arguments are defined.
    pub(super) fn block(&self, write: impl FnOnce() -> Vec<Val>) -> String {
        let (before, constants) = {
            let mut s = self.state.borrow_mut();
            s.depth += 1;
            (std::mem::take(&mut s.out), s.constants.clone())
        };
        let y = write();
        let end = format!("stablehlo.return{}", self.returned(&y));
        let mut s = self.state.borrow_mut();
        let indent = "  ".repeat(s.depth);
        let _ = writeln!(s.out, "{indent}{end}");
        s.depth -= 1;
        s.constants = constants;
        std::mem::replace(&mut s.out, before)
    }

    pub(super) fn indent(&self) -> String {
        "  ".repeat(self.state.borrow().depth)
    }

    /// Regions in the generic form: `({ ^bb0(%a: t): .. }, { .. })`.
    pub(super) fn regions(&self, all: &[WrittenRegion]) -> String {
        let indent = self.indent();
        let each = |r: &WrittenRegion| {
            let head = if r.args.is_empty() {
                String::new()
            } else {
                format!("{indent}^bb0({}):\n", self.arguments(&r.args))
            };
            format!("{{\n{head}{}{indent}}}", r.text)
        };
        format!("({})", all.iter().map(each).collect::<Vec<_>>().join(", "))
    }

    /// Arguments with types: `%a: t, %b: u`.
    pub(super) fn arguments(&self, args: &[Val]) -> String {
        args.iter()
            .map(|&v| format!("{}: {}", self.name(v), show(&self.ty(v))))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns the first error. Called before values are inspected, since they may be poison.
    pub(super) fn check_errors(&self) -> Result<()> {
        self.status.take_error().map_or(Ok(()), Err)
    }

    /// Defines the symbols of the parameters' extents by `get_dimension_size`.
    pub(super) fn bind_parameters(&self, params: &[Val]) {
        for &p in params {
            for (axis, d) in self.ty(p).shape.iter().enumerate() {
                let Some(s) = d.as_sym() else { continue };
                if self.state.borrow().extents.contains_key(s) {
                    continue;
                }
                let ty = Type::scalar(DType::I32);
                let text = format!(
                    "stablehlo.get_dimension_size {}, dim = {axis} : ({}) -> {}",
                    self.name(p),
                    show(&self.ty(p)),
                    show(&ty)
                );
                let v = self.line(&text, vec![ty])[0];
                self.state.borrow_mut().extents.insert(s.clone(), v);
            }
        }
    }

    /// Defines a data-dependent extent by its value.
    pub(super) fn bind(&self, s: &Sym, n: Val) {
        let n = (self as &dyn Emit).convert(n, DType::I32);
        self.state.borrow_mut().extents.insert(s.clone(), n);
    }

    /// The value of an extent, of type i32.
    pub(super) fn extent_value(&self, d: &Dim) -> Result<Val> {
        let mut unknown = None;
        d.syms(&mut |s| {
            if !self.state.borrow().extents.contains_key(s) {
                unknown = Some(s.clone());
            }
        });
        match unknown {
            Some(s) => {
                let text =
                    format!("the extent `{s}` is data-dependent: StableHLO has no such arrays");
                Err(Error::new(Code::Unbound, text))
            }
            None => Ok(d.compute(self)),
        }
    }

    /// The values of extents, as a vector of type i32.
    pub(super) fn extent_vector(&self, dims: &[Dim]) -> Result<Val> {
        let cx: &dyn Emit = self;
        let one = |d: &Dim| Ok(cx.reshape(self.extent_value(d)?, &[Dim::Const(1)]));
        let all = dims.iter().map(one).collect::<Result<Vec<Val>>>()?;
        Ok(cx.concatenate(&all, 0))
    }
}

impl Extents for TextEmitter<'_> {
    type Number = Val;

    fn number(&self, n: i64) -> Val {
        (self as &dyn Emit).full(&Type::scalar(DType::I32), n)
    }

    fn symbol(&self, s: &Sym) -> Val {
        self.state
            .borrow()
            .extents
            .get(s)
            .copied()
            .unwrap_or(Val::POISON)
    }

    fn add(&self, a: Val, b: Val) -> Val {
        (self as &dyn Emit).add(a, b)
    }

    fn multiply(&self, a: Val, b: Val) -> Val {
        (self as &dyn Emit).mul(a, b)
    }

    fn floor_div(&self, a: Val, d: i64) -> Val {
        (self as &dyn Emit).div(a, self.number(d))
    }

    fn relu(&self, a: Val) -> Val {
        (self as &dyn Emit).maximum(a, self.number(0))
    }
}
