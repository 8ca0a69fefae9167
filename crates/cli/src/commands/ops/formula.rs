//! The adjoint of an operation in one line.

use cotangent::ad::{self, AdContext};
use cotangent::rewrite::simplify;
use cotangent::{Function, Val};
use std::sync::Arc;

/// Maximum length of a line, in characters. A longer adjoint is given by its number of operations.
const MAX_LINE_CHARS: usize = 100;

/// The cotangents of the operands of a function of one operation. `None` if there are none.
pub(super) fn adjoint(f: &Arc<Function>) -> Option<(&'static str, String)> {
    let wrt: Vec<Val> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect();
    if wrt.is_empty() || !f.result_types().iter().any(|t| t.dtype.has_tangent()) {
        return None;
    }
    let g = simplify(&ad::vjp(&AdContext::default(), f, &wrt).ok()?);
    let lines: Vec<String> = g.results().iter().map(|&r| expression(&g, r)).collect();
    if lines.iter().all(|l| l == "0.0") {
        return Some(("adjoint", "zero".to_owned()));
    }
    let line = lines.join("; ");
    let text = match line.chars().count() <= MAX_LINE_CHARS {
        true => line,
        false => format!("{} operations", g.eqns().len()),
    };
    Some(("adjoint", text))
}

/// A value as a nested expression, cut where it is longer than a line.
fn expression(f: &Function, v: Val) -> String {
    let Some(e) = f.eqns().iter().find(|e| e.results().any(|r| r == v)) else {
        return f.show(v);
    };
    let mut text = e.op.name().to_owned();
    if text == "constant" {
        let attrs = e.op.attrs();
        let value = attrs.0.iter().find(|a| a.0 == "value");
        return value.map_or(text, |(_, a)| super::attributes::value(a));
    }
    text.push('(');
    for (k, x) in f.operands(e).iter().enumerate() {
        if k > 0 {
            text.push_str(", ");
        }
        text.push_str(&expression(f, *x));
        if text.chars().count() > MAX_LINE_CHARS {
            return text;
        }
    }
    text.push(')');
    text
}
