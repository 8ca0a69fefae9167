//! The text form of nests: one line for each, `%4 f32 [i:20000 | j:4] = fold add %3[i, j] tree`.

use super::access::{Access, Bound, Read, Source, Start};
use super::affine::{Affine, Term, Var};
use super::nest::{AxisKind, Expr, ExprOp, Nest, Nests, Order, What, WindowOrder};
use super::quantity::Quantity;
use cotangent_core::ops::Reduction;
use cotangent_core::{Function, Op, Scalar, Val};
use rustc_hash::FxHashSet;
use std::fmt;

/// Letters for axes, in order.
const AXIS_LETTERS: &str = "ijklmnopqrstuvw";

/// The names of values and axes.
pub(crate) struct Names<'a> {
    f: &'a Function,
    /// Letters that are no symbol of the function.
    letters: Vec<char>,
}

impl fmt::Display for Nests<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Names::new(self.function);
        for n in &self.nests {
            writeln!(out, "{}", names.nest(n))?;
        }
        let results: Vec<String> = self.results.iter().map(|r| names.read(r)).collect();
        writeln!(out, "results {}", results.join(", "))
    }
}

impl<'a> Names<'a> {
    pub(crate) fn new(f: &'a Function) -> Names<'a> {
        let mut used = FxHashSet::default();
        f.vals().for_each(|v| {
            f.ty(v).syms(&mut |s| {
                used.insert(s.to_string());
            });
        });
        let letters = AXIS_LETTERS.chars();
        Names {
            f,
            letters: letters.filter(|c| !used.contains(&c.to_string())).collect(),
        }
    }

    pub(crate) fn axis(&self, k: usize) -> String {
        match self.letters.get(k) {
            Some(c) => c.to_string(),
            None => format!("a{k}"),
        }
    }

    pub(crate) fn value(&self, v: Val) -> String {
        self.f.show(v)
    }

    fn space(&self, n: &Nest) -> String {
        let axes = |kind: AxisKind| -> Vec<String> {
            let own = n.space.iter().enumerate().filter(|(_, a)| a.kind == kind);
            own.map(|(k, a)| format!("{}:{}", self.axis(k), a.extent))
                .collect()
        };
        let (result, folded) = (axes(AxisKind::Par).join(" "), axes(AxisKind::Fold));
        match folded.is_empty() {
            true => format!("[{result}]"),
            false if result.is_empty() => format!("[| {}]", folded.join(" ")),
            false => format!("[{result} | {}]", folded.join(" ")),
        }
    }

    fn nest(&self, n: &Nest) -> String {
        let (value, dtype) = (self.value(n.value), self.f.ty(n.value).dtype);
        let head = format!("{value} {dtype} {}", self.space(n));
        match &n.what {
            What::Map(e) => format!("{head} = {}", self.expr(e)),
            What::Fold { expr, how, order } => {
                let order = match order {
                    Order::Tree => "tree",
                    Order::Exact => "exact",
                    Order::Chain => "chain",
                    Order::Window(WindowOrder::Tree) => "window tree",
                    Order::Window(WindowOrder::Chain) => "window chain",
                    Order::Window(WindowOrder::Sequence) => "window sequence",
                };
                format!(
                    "{head} = fold {} {} {order}",
                    fold_name(*how),
                    self.expr(expr)
                )
            }
            What::Literal(a) => format!("{head} = literal of {} elements", a.len()),
            What::Call(c) => {
                let result = |v| format!("{} {}", self.value(v), self.f.ty(v));
                let results: Vec<String> = n.values().map(result).collect();
                let operands: Vec<String> = c.operands.iter().map(|x| self.read(&x.read)).collect();
                let (results, operands) = (results.join(", "), operands.join(", "));
                let (name, why) = (c.op.name(), c.why.text());
                format!("{results} = call {name}({operands}): {why}")
            }
        }
    }

    fn expr(&self, e: &Expr) -> String {
        let mut texts: Vec<String> = Vec::with_capacity(e.nodes.len());
        for node in &e.nodes {
            texts.push(match &node.op {
                ExprOp::Read(r) => self.read(r),
                ExprOp::Number(s) => number(**s),
                ExprOp::Index(k) => format!("index({})", self.axis(*k)),
                ExprOp::Extent(d) => format!("extent({d})"),
                ExprOp::Apply { op, operands } => {
                    let operands: Vec<&str> = operands
                        .iter()
                        .map(|&x| texts[x as usize].as_str())
                        .collect();
                    format!("{}({})", applied(op), operands.join(", "))
                }
            });
        }
        texts.pop().unwrap_or_default()
    }

    fn read(&self, r: &Read) -> String {
        self.source(&r.source, &r.starts)
    }

    fn source(&self, s: &Source, starts: &[Start]) -> String {
        match s {
            Source::Number(s) => number(**s),
            Source::Element(a) => self.element(a, starts),
            Source::Choice(c) => {
                let bounds: Vec<String> = c.bounds.iter().map(|b| self.bound(b, starts)).collect();
                let inside = self.source(&c.inside, starts);
                let outside = self.source(&c.outside, starts);
                format!("{inside} if {} else {outside}", bounds.join(" and "))
            }
        }
    }

    /// An element of a value.
    pub(crate) fn element(&self, a: &Access, starts: &[Start]) -> String {
        if a.at.is_empty() {
            return self.value(a.of);
        }
        let at: Vec<String> = a.at.iter().map(|f| self.form(f, starts)).collect();
        format!("{}[{}]", self.value(a.of), at.join(", "))
    }

    fn bound(&self, b: &Bound, starts: &[Start]) -> String {
        let form = self.form(&b.form, starts);
        let zero = Quantity::Number(0);
        // Indices are not negative.
        let grows = |t: &Term| t.coefficient.surely_at_least(&zero);
        let least = b.form.terms.iter().all(grows) && b.form.offset.surely_at_least(&b.low);
        let range = if b.high == b.low.offset(1) {
            format!("{form} = {}", b.low)
        } else if least {
            format!("{form} < {}", b.high)
        } else {
            format!("{} <= {form} < {}", b.low, b.high)
        };
        match b.step {
            1 => range,
            step => format!("{range} by {step}"),
        }
    }

    fn form(&self, f: &Affine, starts: &[Start]) -> String {
        let mut out = String::new();
        let mut add = |coefficient: &Quantity, text: Option<String>| {
            let negative = matches!(coefficient, Quantity::Number(n) if *n < 0);
            let size = match negative {
                true => Quantity::Number(0).minus(coefficient),
                false => coefficient.clone(),
            };
            out.push_str(match (out.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            });
            out.push_str(&match text {
                None => size.to_string(),
                Some(t) if size.is(1) => t,
                Some(t) => format!("{}*{t}", in_parentheses(&size)),
            });
        };
        for t in &f.terms {
            add(&t.coefficient, Some(self.term(t, starts)));
        }
        if f.terms.is_empty() || !f.offset.is(0) {
            add(&f.offset, None);
        }
        out
    }

    fn term(&self, t: &Term, starts: &[Start]) -> String {
        let mut out = match t.var {
            Var::Axis(k) => self.axis(k),
            Var::Start(k) => {
                let s = &starts[k];
                format!("clamp({}, 0, {})", self.read(&s.read), s.last)
            }
        };
        if !t.divisor.is(1) {
            out = format!("{out}/{}", in_parentheses(&t.divisor));
        }
        match &t.modulus {
            Some(m) => format!("({out} mod {})", in_parentheses(m)),
            None => out,
        }
    }
}

fn in_parentheses(q: &Quantity) -> String {
    let text = q.to_string();
    match text.contains(['+', '-', '*']) {
        true => format!("({text})"),
        false => text,
    }
}

/// An operation with its attributes: `convert[f32]`.
fn applied(op: &Op) -> String {
    let attrs: Vec<String> = op.attrs().0.iter().map(|(_, a)| a.to_string()).collect();
    match attrs.is_empty() {
        true => op.name().to_owned(),
        false => format!("{}[{}]", op.name(), attrs.join(", ")),
    }
}

fn fold_name(how: Reduction) -> &'static str {
    match how {
        Reduction::Sum => "add",
        Reduction::Prod => "multiply",
        other => {
            let name = other.def().name;
            name.strip_prefix("reduce_").unwrap_or(name)
        }
    }
}

fn number(s: Scalar) -> String {
    match s {
        Scalar::I(i) => i.to_string(),
        Scalar::F(x) => format!("{x:?}"),
        Scalar::C(z) => format!("({:?}, {:?})", z.re, z.im),
    }
}
