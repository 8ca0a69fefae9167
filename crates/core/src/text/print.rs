//! Printing of functions in canonical form.
//!
//! Every value has a unique name: its own, or `%7` at position 7. A symbol that is mentioned only
//! once prints as `?`, otherwise as `?a`. Regions are printed in place. Modules of the program, and
//! regions with several uses, are printed by name.

use super::comments::{CommentPrinter, Comments};
use super::print_attr::attr;
use super::shared::SharedFunctions;
use super::types::write_type;
use crate::ir::{Attr, Attrs, Function, Op, Val};
use crate::names::written;
use crate::shape::{Dim, Sym, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::{self, Write};
use std::sync::Arc;

/// The text of one function as a module. Regions with several uses become modules before it.
pub fn print_function(f: &Function) -> String {
    let mut p = Printing::new(
        SharedFunctions::new(&[(f, true)], &[], [].into_iter()),
        None,
    );
    p.module(f, true);
    p.out
}

impl fmt::Display for Function {
    /// As [`print_function`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_function(self))
    }
}

/// A type in the text form: `f32`, `tensor<2xnxf32>`.
pub fn print_type(ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, ty, &|_| false);
    out
}

/// The printer of a text of modules. A shared module is printed a single time.
pub(super) struct Printing {
    shared: SharedFunctions,
    done: FxHashSet<*const Function>,
    pub spoken: CommentPrinter,
    pub out: String,
}

impl Printing {
    pub(super) fn new(shared: SharedFunctions, comments: Option<Arc<Comments>>) -> Printing {
        Printing {
            shared,
            done: FxHashSet::default(),
            spoken: CommentPrinter::new(comments),
            out: String::new(),
        }
    }

    /// An empty text of the same modules with other comments.
    pub(super) fn again(self, comments: Arc<Comments>) -> Printing {
        Printing::new(self.shared, Some(comments))
    }

    /// Prints a module after those that it uses, unless it is printed already.
    pub(super) fn module(&mut self, f: &Function, public: bool) {
        if !self.done.insert(f) {
            return;
        }
        for m in self.shared.uses(f).to_vec() {
            self.module(&m, self.shared.is_public(&m));
        }
        let open = anonymous(f, &self.shared);
        let p = Printer {
            shared: &self.shared,
            open: &open,
            spoken: &self.spoken,
        };
        let out = &mut self.out;
        let name = self.shared.name(f).unwrap_or(&f.name);
        out.push_str(if out.is_empty() { "" } else { "\n" });
        let private = if public { "" } else { "private " };
        p.spoken.above(out, name);
        let _ = write!(out, "tgraph.module {private}@{} {{", written(name));
        p.spoken.opened(out, f);
        out.push('\n');
        p.statements(out, f, 1, true);
        out.push('}');
        p.spoken.behind(out, name);
        out.push('\n');
    }
}

/// Symbols that print as `?`: bound by one parameter and not mentioned elsewhere. A region shares
/// the symbols of the enclosing function, so they are printed by name.
fn anonymous(f: &Function, shared: &SharedFunctions) -> FxHashSet<Sym> {
    let mut seen = SymbolUses {
        shared,
        bound: FxHashMap::default(),
        needed: FxHashSet::default(),
    };
    if !shared.is_body(f) && f.syms().iter().any(|s| s.starts_with('?')) {
        seen.function(f);
    }
    seen.bound
        .into_iter()
        .filter(|(s, n)| *n == 1 && !seen.needed.contains(s))
        .map(|(s, _)| s)
        .collect()
}

struct SymbolUses<'a> {
    shared: &'a SharedFunctions,
    bound: FxHashMap<Sym, usize>,
    needed: FxHashSet<Sym>,
}

impl SymbolUses<'_> {
    fn function(&mut self, f: &Function) {
        for &p in f.params() {
            for d in f.ty(p).shape.iter() {
                match d.as_sym() {
                    Some(s) if s.starts_with('?') && s.len() > 1 => {
                        *self.bound.entry(s.clone()).or_insert(0) += 1
                    }
                    _ => self.dim(d),
                }
            }
        }
        for e in f.eqns() {
            // The printed type of an operation without operands defines its extents.
            if f.operands(e).is_empty() {
                e.results()
                    .for_each(|r| f.ty(r).shape.iter().for_each(|d| self.dim(d)));
            }
            e.op.attrs().0.iter().for_each(|(_, a)| self.attr(a));
        }
    }

    fn dim(&mut self, d: &Dim) {
        d.syms(&mut |s| {
            if !self.needed.contains(s) {
                self.needed.insert(s.clone());
            }
        });
    }

    fn attr(&mut self, a: &Attr) {
        match a {
            Attr::Dim(d) => self.dim(d),
            Attr::List(v) => v.iter().for_each(|a| self.attr(a)),
            Attr::Fn(f) if self.shared.name(f).is_some() => {
                let own = if self.shared.is_body(f) {
                    FxHashSet::default()
                } else {
                    f.param_syms()
                };
                self.needed.extend(f.syms().difference(&own).cloned());
            }
            Attr::Fn(f) => self.function(f),
            Attr::Num(_) | Attr::Bool(_) | Attr::Str(_) | Attr::DType(_) | Attr::Array(_) => {}
        }
    }
}

struct Printer<'a> {
    shared: &'a SharedFunctions,
    open: &'a FxHashSet<Sym>,
    spoken: &'a CommentPrinter,
}

impl Printer<'_> {
    /// Prints equations and the return; in a module also parameters, as statements at their
    /// positions.
    fn statements(&self, out: &mut String, f: &Function, depth: usize, module: bool) {
        let names = ValueNames::new(f);
        let params = if module { f.params() } else { &[] };
        let comments = self.spoken.lines(f, || first_values(f, params));
        let at_depth = |out: &mut String| indent(out, depth);
        let mut params = params.iter().peekable();
        let mut line = 0;
        for e in f.eqns() {
            let first = e.results().next();
            while let Some(&&p) = params.peek().filter(|p| first.is_none_or(|r| ***p < r)) {
                comments.above(out, line, &at_depth);
                self.param(out, f, p, &names, depth);
                comments.end(out, line);
                (line, _) = (line + 1, params.next());
            }
            comments.above(out, line, &at_depth);
            indent(out, depth);
            for (i, r) in e.results().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                names.write(out, r);
            }
            out.push_str(if first.is_some() {
                " = tgraph."
            } else {
                "tgraph."
            });
            self.operation(out, &e.op, f.operands(e), &names, depth);
            let types: Vec<&Type> = e.results().map(|r| f.ty(r)).collect();
            self.types(out, &types);
            comments.end(out, line);
            line += 1;
        }
        for &p in params {
            comments.above(out, line, &at_depth);
            self.param(out, f, p, &names, depth);
            comments.end(out, line);
            line += 1;
        }
        comments.above(out, line, &at_depth);
        indent(out, depth);
        out.push_str("tgraph.return");
        self.values(out, f.results(), &names);
        let types: Vec<&Type> = f.results().iter().map(|&r| f.ty(r)).collect();
        self.types(out, &types);
        comments.end(out, line);
        comments.close(out, &at_depth);
    }

    fn param(&self, out: &mut String, f: &Function, p: Val, names: &ValueNames<'_>, depth: usize) {
        indent(out, depth);
        names.write(out, p);
        out.push_str(match f.is_tangent(p) {
            true => " = tgraph.tangent : ",
            false => " = tgraph.arg : ",
        });
        self.ty(out, f.ty(p));
    }

    fn values(&self, out: &mut String, x: &[Val], names: &ValueNames<'_>) {
        for (i, &v) in x.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { " " });
            names.write(out, v);
        }
    }

    fn types(&self, out: &mut String, types: &[&Type]) {
        for (i, t) in types.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { " : " });
            self.ty(out, t);
        }
    }

    fn ty(&self, out: &mut String, t: &Type) {
        write_type(out, t, &|d| {
            let mut open = false;
            d.syms(&mut |s| open |= self.open.contains(s));
            open
        });
    }

    fn operation(
        &self,
        out: &mut String,
        op: &Op,
        x: &[Val],
        names: &ValueNames<'_>,
        depth: usize,
    ) {
        out.push_str(op.name());
        let Attrs(mut attrs) = op.attrs();
        if let Some((key, Attr::Fn(callee))) = attrs.first()
            && key == "callee"
            && let Some(name) = self.shared.name(callee)
        {
            let _ = write!(out, " @{}", written(name));
            attrs.remove(0);
        }
        self.values(out, x, names);
        let mut plain = 0;
        for (key, a) in attrs.iter().filter(|(_, a)| !is_body(a)) {
            out.push_str(if plain > 0 { ", " } else { " {" });
            let _ = write!(out, "{} = ", written(key));
            attr(out, a);
            plain += 1;
        }
        out.push_str(if plain > 0 { "}" } else { "" });
        for (key, a) in attrs.iter().filter(|(_, a)| is_body(a)) {
            out.push(' ');
            out.push_str(key);
            match a {
                Attr::Fn(b) => self.body(out, b, depth),
                Attr::List(v) => {
                    out.push_str(" [");
                    for (i, a) in v.iter().enumerate() {
                        out.push_str(if i > 0 { ", " } else { "" });
                        if let Attr::Fn(b) = a {
                            self.body(out, b, depth);
                        }
                    }
                    out.push(']');
                }
                _ => {}
            }
        }
    }

    fn body(&self, out: &mut String, f: &Arc<Function>, depth: usize) {
        if let Some(name) = self.shared.name(f) {
            let _ = write!(out, " @{}", written(name));
            return;
        }
        let names = ValueNames::new(f);
        out.push('(');
        for (i, &p) in f.params().iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            names.write(out, p);
            out.push_str(": ");
            self.ty(out, f.ty(p));
        }
        out.push_str(") {");
        self.spoken.opened(out, f);
        out.push('\n');
        self.statements(out, f, depth + 1, false);
        indent(out, depth);
        out.push('}');
    }
}

/// The first value of each line of a module or a region, in the order of lines.
fn first_values(f: &Function, params: &[Val]) -> Vec<u32> {
    let mut params = params.iter().map(|p| p.index() as u32).peekable();
    let mut out = Vec::with_capacity(params.len() + f.eqns().len());
    for e in f.eqns() {
        let first = e.results().next().map(|r| r.index() as u32);
        while let Some(p) = params.next_if(|&p| first.is_none_or(|r| p < r)) {
            out.push(p);
        }
        out.push(first.unwrap_or_else(|| out.last().copied().unwrap_or(0)));
    }
    out.extend(params);
    out
}

/// Whether an attribute is a region, or a list of regions.
fn is_body(a: &Attr) -> bool {
    match a {
        Attr::Fn(_) => true,
        Attr::List(v) => v.iter().any(|a| matches!(a, Attr::Fn(_))),
        _ => false,
    }
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Unique names of values, even if given names are not unique.
struct ValueNames<'a> {
    f: &'a Function,
    /// Values that need another name, because their name or number is in use.
    other: FxHashMap<Val, String>,
}

impl<'a> ValueNames<'a> {
    fn new(f: &'a Function) -> ValueNames<'a> {
        let mut taken: FxHashSet<&str> = FxHashSet::default();
        let mut twice: Vec<Val> = Vec::new();
        let mut numbers = false;
        for v in f.vals() {
            if let Some(name) = f.name_of(v) {
                numbers |= name.starts_with(|c: char| c.is_ascii_digit());
                if !taken.insert(name) {
                    twice.push(v);
                }
            }
        }
        if numbers {
            let number =
                |v: &Val| f.name_of(*v).is_none() && taken.contains(v.index().to_string().as_str());
            twice.extend(f.vals().filter(number));
        }
        let mut other: FxHashMap<Val, String> = FxHashMap::default();
        let mut made: FxHashSet<String> = FxHashSet::default();
        for v in twice {
            let base = f
                .name_of(v)
                .map_or_else(|| v.index().to_string(), |n| n.to_string());
            let new = (1..)
                .map(|i| format!("{base}_{i}"))
                .find(|n| !taken.contains(&**n) && !made.contains(n));
            let new = new.expect("endless");
            made.insert(new.clone());
            other.insert(v, new);
        }
        ValueNames { f, other }
    }

    fn write(&self, out: &mut String, v: Val) {
        out.push('%');
        let other = if self.other.is_empty() {
            None
        } else {
            self.other.get(&v).map(String::as_str)
        };
        match other.or(self.f.name_of(v).map(|n| &**n)) {
            Some(n) => out.push_str(&written(n)),
            None => {
                let _ = write!(out, "{}", v.index());
            }
        }
    }
}
