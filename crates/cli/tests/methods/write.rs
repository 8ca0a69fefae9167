//! The texts of generated files.

use super::parse::Method;
use cotangent::ops::{BINARY, COMPARISONS, UNARY};
use std::fmt::Write;

/// Rows whose method of the emitter is written by hand: it writes no operation for real operands.
const BY_HAND: [&str; 3] = ["conj", "real", "imag"];

/// Notice in generated files.
const NOTICE: &str = "Written by `crates/cli/tests/methods` (`BLESS=1`).";

/// The type of a kind of tensors.
pub(crate) fn tensor_of(kind: &str) -> &'static str {
    match kind {
        "traced" => "TracedTensor",
        _ => "EagerTensor",
    }
}

/// A documentation comment, wrapped at 100 columns.
fn doc(indent: &str, text: &str) -> String {
    let (mut out, mut line) = (String::new(), format!("{indent}///"));
    for word in text.replace('[', "\\[").split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 100 {
            out.push_str(&line);
            out.push('\n');
            line = format!("{indent}///");
        }
        line.push(' ');
        line.push_str(word);
    }
    out + &line + "\n"
}

/// `name`: its sentence.
fn sentence(name: &str, doc: &str) -> String {
    format!("Elementwise `{name}`: {}.", doc.trim_end_matches('.'))
}

/// A method of the emitter that writes an operation of a table.
struct EmitterRow {
    method: &'static str,
    sentence: String,
    /// The variant of the table's type.
    variant: String,
}

/// Methods of the emitter, one per row. `table` is the type of the operations, `operands` are the
/// names of the parameters.
fn emitter(table: &str, operands: &[&str], rows: impl Iterator<Item = EmitterRow>) -> String {
    let params: String = operands.iter().map(|x| format!(", {x}: Val")).collect();
    let operands = operands.join(", ");
    let mut out = format!(
        "//! Methods of the emitter, one per row of the table.\n//! {NOTICE}\n\n\
         use super::{table};\nuse crate::ir::{{Emit, Val}};\n\nimpl dyn Emit + '_ {{\n"
    );
    for EmitterRow {
        method,
        sentence,
        variant,
    } in rows
    {
        let _ = writeln!(
            out,
            "{}    pub fn {method}(&self{params}) -> Val {{\n        self.op({table}::{variant}, &[{operands}])\n    }}\n",
            doc("    ", &sentence),
        );
    }
    out.trim_end().to_owned() + "\n}\n"
}

pub(crate) fn emitter_unary() -> String {
    let rows = UNARY.iter().filter(|d| !BY_HAND.contains(&d.name));
    let rows = rows.map(|d| EmitterRow {
        method: d.method,
        sentence: sentence(d.name, d.doc),
        variant: format!("{:?}", d.op),
    });
    emitter("Unary", &["x"], rows)
}

pub(crate) fn emitter_binary() -> String {
    let rows = BINARY.iter().filter(|d| !d.method.is_empty());
    let rows = rows.map(|d| EmitterRow {
        method: d.method,
        sentence: sentence(d.name, d.doc),
        variant: format!("{:?}", d.op),
    });
    emitter("Binary", &["x", "y"], rows)
}

/// A method of the trait of elementwise functions.
fn elementwise_method(name: &str, params: &str, text: &str, body: &str) -> String {
    format!(
        "{}    #[track_caller]\n    fn {name}(&self{params}) -> Result<Self, Self::Error> {{\n        {body}\n    }}\n\n",
        doc("    ", text)
    )
}

pub(crate) fn elementwise() -> String {
    let mut out = format!(
        "//! [`Elementwise`]: a method per row of the tables of unary functions, binary functions and\n\
         //! comparisons.\n//! {NOTICE}\n\n\
         use super::broadcast::of_pair;\nuse crate::TensorOps;\nuse crate::ops::Comparison;\n\n\
         /// Elementwise functions. Operands of two are broadcast to one shape by NumPy's rule.\n\
         ///\n/// ```\n/// use cotangent::{{Tensor, methods::*}};\n\
         /// let x = Tensor::vector(vec![1.0, 4.0]);\n\
         /// assert_eq!(x.sqrt()?.add(&x)?.to_vec::<f64>()?, [2.0, 6.0]);\n\
         /// # Ok::<(), cotangent::Error>(())\n/// ```\n\
         pub trait Elementwise: TensorOps {{\n"
    );
    for d in UNARY.iter().filter(|d| !d.tensor.is_empty()) {
        let body = format!("Self::emit_one(&[self], |cx, x| cx.{}(x[0]))", d.method);
        out += &elementwise_method(d.tensor, "", &sentence(d.tensor, d.doc), &body);
    }
    for d in BINARY.iter().filter(|d| !d.method.is_empty()) {
        let n = d.method;
        let body = format!("of_pair(\"{n}\", self, y, |cx, x, y| cx.{n}(x, y))");
        out += &elementwise_method(n, ", y: &Self", &sentence(n, d.doc), &body);
    }
    for d in COMPARISONS {
        let (n, op) = (d.tensor, d.op);
        let text = format!("Elementwise `{}`, as booleans.", d.doc);
        let body =
            format!("of_pair(\"{n}\", self, y, |cx, x, y| cx.compare(x, Comparison::{op:?}, y))");
        out += &elementwise_method(n, ", y: &Self", &text, &body);
    }
    out.trim_end().to_owned() + "\n}\n\nimpl<T: TensorOps> Elementwise for T {}\n"
}

/// Names and types of parameters, with `Self` replaced.
fn params(m: &Method, tensor: &str) -> String {
    let list = m
        .params
        .iter()
        .map(|(n, t)| format!(", {n}: {}", t.replace("Self", tensor)));
    let list: String = list.collect();
    match m.receiver {
        true => format!("&self{list}"),
        false => list.trim_start_matches(", ").to_owned(),
    }
}

/// Arguments that pass the parameters on.
fn arguments(m: &Method) -> String {
    let receiver = m.receiver.then_some("self");
    let names = m.params.iter().map(|(n, _)| n.as_str());
    receiver
        .into_iter()
        .chain(names)
        .collect::<Vec<_>>()
        .join(", ")
}

pub(crate) fn keepdims(reductions: &[Method]) -> String {
    let mut out = format!(
        "//! [`KeepDims`]: reductions that keep their axes with extent 1.\n//! {NOTICE}\n\n\
         use super::Reductions;\nuse super::broadcast::with_axes;\nuse crate::{{Axes, TensorOps}};\n\n\
         /// Reductions that keep their axes, with extent 1.\n\
         ///\n/// ```\n/// use cotangent::{{Tensor, methods::*}};\n\
         /// let x = Tensor::from_vec_row_major([1, 2], vec![1.0, 2.0])?;\n\
         /// assert_eq!(x.sum_keepdims(-1)?.shape(), [1, 1]);\n\
         /// # Ok::<(), cotangent::Error>(())\n/// ```\n\
         pub trait KeepDims: TensorOps {{\n"
    );
    let over_axes = |m: &&Method| {
        m.params.first().is_some_and(|p| p.1 == "impl Into<Axes>") && m.name != "layer_norm"
    };
    for m in reductions.iter().filter(over_axes) {
        let rest: String = m.params[1..]
            .iter()
            .map(|(n, t)| format!(", {n}: {t}"))
            .collect();
        let more: String = m.params[1..]
            .iter()
            .map(|(n, _)| format!(", {n}"))
            .collect();
        let text = format!("As `{}`; the axes are kept with extent 1.", m.name);
        let _ = write!(
            out,
            "{}    #[track_caller]\n    fn {n}_keepdims(&self, axes: impl Into<Axes>{rest}) -> Result<Self, Self::Error> {{\n        \
             let axes = axes.into();\n        \
             with_axes(self, &Reductions::{n}(self, axes.clone(){more})?, &axes)\n    }}\n\n",
            doc("    ", &text),
            n = m.name
        );
    }
    out.trim_end().to_owned() + "\n}\n\nimpl<T: TensorOps> KeepDims for T {}\n"
}

/// The body of an eager method that runs one operation without an emitter.
fn direct(name: &str) -> Option<String> {
    if BY_HAND.contains(&name) {
        return None;
    }
    if let Some(d) = UNARY.iter().find(|d| d.tensor == name) {
        return Some(format!("self.unary(Unary::{:?})", d.op));
    }
    if let Some(d) = BINARY.iter().find(|d| d.method == name) {
        return Some(format!("self.pair(Binary::{:?}, y)", d.op));
    }
    let d = COMPARISONS.iter().find(|d| d.tensor == name)?;
    Some(format!("self.pair(Compare(Comparison::{:?}), y)", d.op))
}

/// The body and result of a method of traced tensors. The error is stored in the result, but for
/// lists of tensors and `matmul`, whose result is promised.
fn traced(call: &str, m: &Method) -> (String, String) {
    match m.result.as_str() {
        "Result<Self, Self::Error>" if m.name == "matmul" => {
            (call.to_owned(), "Result<TracedTensor>".into())
        }
        "Result<Self, Self::Error>" => (format!("carried({call})"), "TracedTensor".into()),
        "Result<(Self, Self), Self::Error>" => (
            format!("carried_pair({call})"),
            "(TracedTensor, TracedTensor)".into(),
        ),
        _ => (call.to_owned(), "Result<Vec<TracedTensor>>".into()),
    }
}

/// Names that occur as words of a text, as an import.
fn import(path: &str, names: &[&str], text: &str) -> String {
    let word = |n: &&&str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|w| w == **n)
    };
    let used: Vec<&str> = names.iter().filter(word).copied().collect();
    match used.as_slice() {
        [] => String::new(),
        [one] => format!("use {path}::{one};\n"),
        many => format!("use {path}::{{{}}};\n", many.join(", ")),
    }
}

pub(crate) fn inherent(kind: &str, of: &str, methods: &[Method]) -> String {
    let tensor = tensor_of(kind);
    let mut body = String::new();
    for m in methods {
        let call = format!("{of}::{}({})", m.name, arguments(m));
        let (code, result) = match kind {
            "traced" => traced(&call, m),
            _ => {
                let result = m
                    .result
                    .replace(", Self::Error", "")
                    .replace("Self", tensor);
                (direct(&m.name).unwrap_or(call), result)
            }
        };
        let text: String = m.doc.iter().map(|l| format!("    /// {l}\n")).collect();
        let _ = write!(
            body,
            "{text}    #[track_caller]\n    pub fn {}({}) -> {result} {{\n        {code}\n    }}\n\n",
            m.name,
            params(m, tensor)
        );
    }
    let head = format!("//! Methods of [`{tensor}`] that [`{of}`] lists.\n//! {NOTICE}\n\n");
    let mut uses = match kind {
        "traced" => {
            import("super::super", &["TracedTensor"], &body)
                + &import("super::super::record", &["carried", "carried_pair"], &body)
                + &import("crate", &["Result"], &body)
        }
        _ => import("super::super", &["EagerTensor", "Result"], &body),
    };
    uses += &import("crate", &["Axes", "Axis", "DType", "Shape"], &body);
    uses += &format!("use crate::methods::{of};\n");
    let ops = [
        "Binary",
        "Bounds",
        "Combine",
        "Compare",
        "Comparison",
        "DotGeneral",
        "Unary",
    ];
    uses += &import("crate::ops", &ops, &body);
    uses += &import("std::ops", &["RangeBounds"], &body);
    format!("{head}{uses}\nimpl {tensor} {{\n{}\n}}\n", body.trim_end())
}

/// Former names: name, parameters, the call of the new name, and the new name.
const OLD_NAMES: &[(&str, &str, &str, &str)] = &[
    ("convert", "&self, to: DType", "self.astype(to)", "astype"),
    ("lt", "&self, y: &Self", "self.less(y)", "less"),
    ("le", "&self, y: &Self", "self.less_equal(y)", "less_equal"),
    ("gt", "&self, y: &Self", "self.greater(y)", "greater"),
    (
        "ge",
        "&self, y: &Self",
        "self.greater_equal(y)",
        "greater_equal",
    ),
    (
        "round_half_even",
        "&self",
        "self.round_ties_even()",
        "round_ties_even",
    ),
    ("popcnt", "&self", "self.count_ones()", "count_ones"),
    ("recip", "&self", "self.reciprocal()", "reciprocal"),
    (
        "cumsum",
        "&self, axis: usize",
        "self.cumulative_sum(axis)",
        "cumulative_sum",
    ),
    (
        "cumprod",
        "&self, axis: usize",
        "self.cumulative_prod(axis)",
        "cumulative_prod",
    ),
    (
        "reverse",
        "&self, axes: &[usize]",
        "self.flip(axes)",
        "flip",
    ),
    (
        "slice_axis",
        "&self, axis: usize, start: usize, limit: usize",
        "self.slice(axis, start..limit)",
        "slice",
    ),
    (
        "index_axis",
        "&self, axis: usize, i: usize",
        "self.index(axis, i)",
        "index",
    ),
    (
        "concatenate",
        "parts: &[&Self], axis: usize",
        "Self::concat(parts, axis)",
        "concat",
    ),
];

/// Former names of eager tensors alone.
const OLD_EAGER: &[(&str, &str, &str, &str)] = &[
    ("eq", "&self, y: &Self", "self.equal(y)", "equal"),
    ("ne", "&self, y: &Self", "self.not_equal(y)", "not_equal"),
    (
        "scale",
        "&self, c: f64",
        "self.number(Binary::Mul, c, true)",
        "`x * c`",
    ),
];

/// Former names of traced tensors alone.
const OLD_TRACED: &[(&str, &str, &str, &str)] = &[
    (
        "reshape_to",
        "&self, shape: &[Dim]",
        "self.reshape(shape)",
        "reshape",
    ),
    (
        "broadcast_in_dim_to",
        "&self, shape: &[Dim], dims: &[usize]",
        "self.broadcast_in_dim(shape, dims)",
        "broadcast_in_dim",
    ),
];

pub(crate) fn old_names(kind: &str) -> String {
    let tensor = tensor_of(kind);
    let (more, result, uses) = match kind {
        "traced" => (
            OLD_TRACED,
            tensor,
            "use super::super::TracedTensor;\nuse crate::{DType, Dim};\n",
        ),
        _ => (
            OLD_EAGER,
            "Result<EagerTensor>",
            "use super::super::{EagerTensor, Result};\nuse crate::DType;\nuse crate::ops::Binary;\n",
        ),
    };
    let mut body = String::new();
    for (old, params, call, new) in OLD_NAMES.iter().chain(more) {
        let note = match new.starts_with('`') {
            true => format!("use {}", new.trim_matches('`')),
            false => format!("renamed to {new}"),
        };
        let new = new.trim_matches('`');
        let _ = write!(
            body,
            "    /// The former name of `{new}`.\n    #[deprecated(note = \"{note}\")]\n    #[doc(hidden)]\n    \
             #[track_caller]\n    pub fn {old}({params}) -> {result} {{\n        {call}\n    }}\n\n"
        );
    }
    format!(
        "//! Former names of methods of [`{tensor}`].\n//! {NOTICE}\n\n{uses}\nimpl {tensor} {{\n{}\n}}\n",
        body.trim_end()
    )
}

pub(crate) fn generated_mod(kind: &str, traits: &[(&str, &str)]) -> String {
    let mut names: Vec<&str> = traits.iter().map(|t| t.1).chain(["old_names"]).collect();
    names.sort_unstable();
    let mods: String = names.iter().map(|n| format!("mod {n};\n")).collect();
    format!(
        "//! Methods of [`{}`](super::{}) that traits and tables list.\n//! {NOTICE}\n\n{mods}",
        tensor_of(kind),
        tensor_of(kind)
    )
}
