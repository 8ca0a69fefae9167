//! Graphs to StableHLO text, in the form that MLIR prints.
//!
//! The writer is an emitter ([`Emit`]): an operation that StableHLO has becomes a line, any other
//! is written with simpler ones by the same builder methods that rules use. Regions are inlined
//! bodies; a function that is called becomes a `func.func` of its own. Custom derivatives are
//! lowered away, and what cannot be expressed is an error that says so.
//!
//! Symbolic extents print as `?`. What needs their numbers computes them from `get_dimension_size`
//! of the parameters, or from the value that decides them: a loop whose steps are stacked is taken
//! twice, first to count them.

mod constant;
mod control;
mod elementwise;
mod linalg;
mod movement;
mod ops;
mod reduce;
mod sliding;
pub mod whole;

use crate::NUMERICS;
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::rewrite::simplify;
use cotangent_core::shape::{Extents, Sym};
use cotangent_core::transform::{Numerics, Policy, Session};
use cotangent_core::{Code, DType, Dim, Emit, Error, Function, Loc, Op, Result, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

/// What the text needs of those who read it; `chlo` names functions that StableHLO has none for.
const HEADER: &str = "// StableHLO 1.4 and chlo.\n";

/// The text of functions, simplified: the first one is `@main` unless another has that name; what
/// they call follows.
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Type};
/// let b = Builder::new("main", Default::default());
/// let x = b.param(Type::new(DType::F32, vec![2.into()]), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.exp(x);
/// let f = b.finish(&[y]).unwrap();
/// let text = cotangent_stablehlo::write(&[f.into()]).unwrap();
/// assert!(text.contains("%0 = stablehlo.exponential %x : tensor<2xf32>"));
/// assert_eq!(cotangent_stablehlo::read(&text, None).unwrap().main().eqns().len(), 1);
/// ```
///
/// # Errors
/// An operation has no StableHLO form: one of another crate, or a function that neither StableHLO
/// nor chlo has.
pub fn write(functions: &[Arc<Function>]) -> Result<String> {
    write_with(functions, Numerics::STABLEHLO)
}

/// As [`write`], with the arithmetic that derivatives of the text are to have, as an attribute of
/// the module where it is not what the format means without it.
///
/// ```
/// use cotangent_core::transform::{Numerics, Session};
/// let b = cotangent_core::Builder::new("main", Session::default());
/// let f = b.finish(&[]).unwrap();
/// let text = cotangent_stablehlo::write_with(&[f.into()], Numerics::TGRAPH).unwrap();
/// assert_eq!(cotangent_stablehlo::read(&text, None).unwrap().numerics(), Numerics::TGRAPH);
/// ```
///
/// # Errors
/// As [`write`].
pub fn write_with(functions: &[Arc<Function>], numerics: Numerics) -> Result<String> {
    let names = RefCell::new(Names::default());
    let any_main = functions.iter().any(|f| &*f.name == "main");
    for (k, f) in functions.iter().enumerate() {
        names.borrow_mut().add(
            &Arc::new(simplify(f)),
            if k == 0 && !any_main { "main" } else { &f.name },
            true,
        );
    }
    let mut out = String::from(HEADER);
    let module = functions.first().map_or("empty", |f| &f.name);
    let attributes = match numerics {
        Numerics::STABLEHLO => String::new(),
        n => format!("attributes {{{NUMERICS} = {{{}}}}} ", Policy::from(n)),
    };
    let _ = writeln!(out, "module @{} {attributes}{{", symbol(module));
    let mut done = 0;
    loop {
        let Some(entry) = names.borrow().all.get(done).cloned() else {
            break;
        };
        out.push_str(&function(&entry, &names)?);
        done += 1;
    }
    out.push_str("}\n");
    Ok(out)
}

/// A function of a text.
#[derive(Clone)]
struct Named {
    f: Arc<Function>,
    name: String,
    public: bool,
    /// The decomposition of a composite: its one operation is written with simpler ones.
    expands: bool,
}

/// Functions of a text and what they are called.
#[derive(Default)]
struct Names {
    all: Vec<Named>,
    taken: FxHashSet<String>,
    by_place: FxHashMap<*const Function, usize>,
    /// Decompositions by the text of their operation.
    by_text: FxHashMap<String, usize>,
}

impl Names {
    /// The name of a function, which is new if it has none yet.
    fn add(&mut self, f: &Arc<Function>, wish: &str, public: bool) -> String {
        if let Some(&k) = self.by_place.get(&Arc::as_ptr(f)) {
            return self.all[k].name.clone();
        }
        self.by_place.insert(Arc::as_ptr(f), self.all.len());
        self.push(f.clone(), wish, public, false)
    }

    /// The name of the decomposition of an operation with this text.
    fn decomposition(&mut self, f: Arc<Function>, wish: &str, text: &str) -> String {
        if let Some(&k) = self.by_text.get(text) {
            return self.all[k].name.clone();
        }
        self.by_text.insert(text.to_owned(), self.all.len());
        self.push(f, wish, false, true)
    }

    fn push(&mut self, f: Arc<Function>, wish: &str, public: bool, expands: bool) -> String {
        let mut name = wish.to_owned();
        for k in 0.. {
            if !self.taken.contains(&name) {
                break;
            }
            name = format!("{wish}_{k}");
        }
        self.taken.insert(name.clone());
        self.all.push(Named {
            f,
            name: name.clone(),
            public,
            expands,
        });
        name
    }
}

/// A name after `@`, in quotes unless it is plain.
fn symbol(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let bare =
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(plain);
    if bare {
        name.into()
    } else {
        format!("{name:?}")
    }
}

fn function(entry: &Named, names: &RefCell<Names>) -> Result<String> {
    let Named {
        f,
        name,
        public,
        expands,
    } = entry;
    let t = Text {
        session: Session::default(),
        names,
        state: RefCell::default(),
        expands: Cell::new(*expands),
    };
    t.state.borrow_mut().depth = 2;
    let mut taken = FxHashSet::default();
    let mut params = Vec::new();
    for (k, &p) in f.params().iter().enumerate() {
        let plain = |n: &str| {
            n.starts_with(|c: char| c.is_ascii_alphabetic())
                && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let own = f
            .name_of(p)
            .map(|n| n.to_string())
            .filter(|n| plain(n) && taken.insert(n.clone()));
        let own = own.unwrap_or_else(|| fresh(&mut taken, &format!("arg{k}")));
        params.push(t.value(&format!("%{own}"), f.ty(p).clone()));
    }
    t.measure(&params);
    let results = (&t as &dyn Emit).inline(f, &params);
    if let Some(e) = t.state.borrow_mut().error.take() {
        return Err(e);
    }
    let list = |v: &[Val], each: &dyn Fn(Val) -> String| {
        v.iter().map(|&v| each(v)).collect::<Vec<_>>().join(", ")
    };
    let mut out = String::new();
    let head = list(&params, &|v| format!("{}: {}", t.name(v), show(&t.ty(v))));
    let types: Vec<Type> = results.iter().map(|&v| t.ty(v)).collect();
    let arrow = if types.is_empty() {
        String::new()
    } else {
        format!(" -> {}", tuple(&types))
    };
    let access = if *public { "public" } else { "private" };
    let _ = writeln!(
        out,
        "  func.func {access} @{}({head}){arrow} {{",
        symbol(name)
    );
    out.push_str(&t.state.borrow().out);
    let _ = writeln!(out, "    return{}", t.returned(&results));
    out.push_str("  }\n");
    Ok(out)
}

/// `wish`, or that with a number behind it.
fn fresh(taken: &mut FxHashSet<String>, wish: &str) -> String {
    let mut name = wish.to_owned();
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// An element type as StableHLO calls it.
fn element(d: DType) -> &'static str {
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

/// A type: `tensor<2x?xf32>`.
fn show(ty: &Type) -> String {
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

/// Types of results: one, or several in parentheses.
fn tuple(types: &[Type]) -> String {
    match types {
        [t] => show(t),
        _ => format!("({})", shown(types)),
    }
}

fn shown(types: &[Type]) -> String {
    types.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// Numbers with commas between them.
fn numbers<T: ToString>(v: impl IntoIterator<Item = T>) -> String {
    v.into_iter()
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// `array<i64: 1, 2>`.
fn array<T: ToString>(v: impl IntoIterator<Item = T>) -> String {
    let list = numbers(v);
    if list.is_empty() {
        "array<i64>".into()
    } else {
        format!("array<i64: {list}>")
    }
}

/// A region that has been written.
struct Region {
    args: Vec<Val>,
    text: String,
}

/// The text of one function so far.
struct Text<'n> {
    session: Session,
    names: &'n RefCell<Names>,
    state: RefCell<State>,
    /// Whether the next operation that is kept whole elsewhere is written with simpler ones.
    expands: Cell<bool>,
}

#[derive(Default)]
struct State {
    out: String,
    depth: usize,
    names: Vec<Rc<str>>,
    types: Vec<Type>,
    /// The next number of a value.
    number: usize,
    error: Option<Error>,
    loc: Loc,
    /// Constants that stand where the next line does.
    constants: FxHashMap<String, Val>,
    /// Symbols as values, of type i32.
    extents: FxHashMap<Sym, Val>,
    symbols: usize,
}

impl Text<'_> {
    fn value(&self, name: &str, ty: Type) -> Val {
        let mut s = self.state.borrow_mut();
        s.names.push(name.into());
        s.types.push(ty);
        Val::from_index(s.names.len() - 1)
    }

    fn name(&self, v: Val) -> Rc<str> {
        self.state
            .borrow()
            .names
            .get(v.index())
            .cloned()
            .unwrap_or_else(|| "%?".into())
    }

    fn list(&self, x: &[Val]) -> String {
        x.iter()
            .map(|&v| self.name(v).to_string())
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn types(&self, x: &[Val]) -> Vec<Type> {
        x.iter().map(|&v| self.ty(v)).collect()
    }

    /// ` %a, %b : t, u`, or nothing.
    fn returned(&self, x: &[Val]) -> String {
        if x.is_empty() {
            String::new()
        } else {
            format!(" {} : {}", self.list(x), shown(&self.types(x)))
        }
    }

    /// Writes an operation: what stands behind `=`.
    fn line(&self, what: &str, results: Vec<Type>) -> Vals {
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
            "{}{equals}{what}",
            "  ".repeat(indent)
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

    /// A constant, once where it is needed several times.
    fn constant(&self, text: String, ty: &Type) -> Val {
        let known = self.state.borrow().constants.get(&text).copied();
        known.unwrap_or_else(|| {
            let v = self.line(&text, vec![ty.clone()])[0];
            self.state.borrow_mut().constants.insert(text, v);
            v
        })
    }

    /// `(operand types) -> result types`.
    fn signature(&self, x: &[Val], y: &[Type]) -> String {
        format!("({}) -> {}", shown(&self.types(x)), tuple(y))
    }

    /// An operation without attributes, all types alike or not.
    fn plain(&self, name: &str, x: &[Val], y: Vec<Type>) -> Vals {
        let types = self.types(x);
        let alike = types.iter().chain(&y).all(|t| *t == y[0]);
        let of = match (alike, name.starts_with("chlo.")) {
            (true, false) => show(&y[0]),
            (_, true) => format!("{} -> {}", shown(&types), show(&y[0])),
            _ => self.signature(x, &y),
        };
        self.line(&format!("{name} {} : {of}", self.list(x)), y)
    }

    /// A region with arguments of these types.
    fn region(&self, types: &[Type], write: impl FnOnce(&[Val]) -> Vec<Val>) -> Region {
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
        Region { args, text }
    }

    /// The lines of a region whose arguments are there.
    fn block(&self, write: impl FnOnce() -> Vec<Val>) -> String {
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

    fn indent(&self) -> String {
        "  ".repeat(self.state.borrow().depth)
    }

    /// `({ ^bb0(%a: t): .. }, { .. })`.
    fn regions(&self, all: &[Region]) -> String {
        let indent = self.indent();
        let each = |r: &Region| {
            let head = if r.args.is_empty() {
                String::new()
            } else {
                format!("{indent}^bb0({}):\n", self.arguments(&r.args))
            };
            format!("{{\n{head}{}{indent}}}", r.text)
        };
        format!("({})", all.iter().map(each).collect::<Vec<_>>().join(", "))
    }

    /// `%a: t, %b: u`.
    fn arguments(&self, args: &[Val]) -> String {
        args.iter()
            .map(|&v| format!("{}: {}", self.name(v), show(&self.ty(v))))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The first error of what was written: what is looked at next may be poison.
    fn sound(&self) -> Result<()> {
        self.state.borrow_mut().error.take().map_or(Ok(()), Err)
    }

    /// Binds the symbols of the parameters.
    fn measure(&self, params: &[Val]) {
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

    /// Names an extent that is a number found while the program runs.
    fn bind(&self, s: &Sym, n: Val) {
        let n = (self as &dyn Emit).convert(n, DType::I32);
        self.state.borrow_mut().extents.insert(s.clone(), n);
    }

    /// An extent as a value of type i32.
    fn extent_value(&self, d: &Dim) -> Result<Val> {
        let mut unknown = None;
        d.syms(&mut |s| {
            if !self.state.borrow().extents.contains_key(s) {
                unknown = Some(s.clone());
            }
        });
        match unknown {
            Some(s) => {
                let text = format!(
                    "the extent `{s}` is decided while the program runs: StableHLO has no such arrays"
                );
                Err(Error::new(Code::Unbound, text))
            }
            None => Ok(d.compute(self)),
        }
    }

    /// Extents as a vector of type i32.
    fn extent_vector(&self, dims: &[Dim]) -> Result<Val> {
        let cx: &dyn Emit = self;
        let one = |d: &Dim| Ok(cx.reshape(self.extent_value(d)?, &[Dim::Const(1)]));
        let all = dims.iter().map(one).collect::<Result<Vec<Val>>>()?;
        Ok(cx.concatenate(&all, 0))
    }
}

impl Extents for Text<'_> {
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

impl Emit for Text<'_> {
    fn emit(&self, op: Op, x: &[Val]) -> Vals {
        let n = op.results();
        if !x.contains(&Val::POISON) {
            let types = self.types(x);
            let written = op
                .infer(&types)
                .and_then(|y| whole::or_simpler(self, &op, x, y));
            match written {
                Ok(y) => return y,
                Err(e) => self.fail(e.at(self.loc())),
            }
        }
        smallvec::smallvec![Val::POISON; n]
    }

    fn ty(&self, v: Val) -> Type {
        self.state
            .borrow()
            .types
            .get(v.index())
            .cloned()
            .unwrap_or_else(|| Type::scalar(DType::F64))
    }

    fn fail(&self, e: Error) {
        self.state.borrow_mut().error.get_or_insert(e);
    }

    fn failed(&self) -> bool {
        self.state.borrow().error.is_some()
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_loc(&self, loc: Loc) {
        self.state.borrow_mut().loc = loc;
    }

    fn loc(&self) -> Loc {
        self.state.borrow().loc
    }

    fn fresh_sym(&self, base: &str) -> Sym {
        let mut s = self.state.borrow_mut();
        s.symbols += 1;
        format!("{base}_{}", s.symbols).into()
    }
}
