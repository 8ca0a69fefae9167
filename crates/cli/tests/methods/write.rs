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

/// A documentation comment without links, wrapped at 100 columns.
fn doc(indent: &str, text: &str) -> String {
    wrapped(indent, &text.replace('[', "\\["))
}

/// A documentation comment, wrapped at 100 columns.
fn wrapped(indent: &str, text: &str) -> String {
    let (mut out, mut line) = (String::new(), format!("{indent}///"));
    for word in text.split_whitespace() {
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
fn elementwise_method(signature: &str, bound: &str, text: &str, body: &str) -> String {
    format!(
        "{}    #[track_caller]\n    fn {signature} -> Result<Self, Self::Error>{bound} {{\n        {body}\n    }}\n\n",
        doc("    ", text)
    )
}

/// The second operand of a method.
#[derive(Clone, Copy, PartialEq)]
enum Second {
    Tensor,
    /// A tensor or a number.
    Operand,
}

/// The second operand of a binary function or comparison.
fn two(name: &str) -> Second {
    let of_numbers = COMPARISONS.iter().any(|d| d.tensor == name)
        || ["pow", "maximum", "minimum"].contains(&name);
    match of_numbers {
        true => Second::Operand,
        false => Second::Tensor,
    }
}

impl Second {
    fn method(self, name: &str, text: &str, function: &str) -> String {
        match self {
            Second::Tensor => {
                let body = format!("of_pair(\"{name}\", self, y, {function})");
                elementwise_method(&format!("{name}(&self, y: &Self)"), "", text, &body)
            }
            Second::Operand => {
                let body = format!("of_operand(\"{name}\", self, y.into(), {function})");
                let signature = format!("{name}<'a>(&self, y: impl Into<Operand<'a, Self>>)");
                elementwise_method(&signature, " where Self: 'a", text, &body)
            }
        }
    }
}

pub(crate) fn elementwise() -> String {
    let mut out = format!(
        "//! [`Elementwise`]: a method per row of the tables of unary functions, binary functions and\n\
         //! comparisons.\n//! {NOTICE}\n\n\
         use super::Operand;\nuse super::broadcast::{{of_operand, of_pair}};\nuse crate::TensorOps;\n\
         use crate::ops::Comparison;\nuse crate::tensor_ops::called_one;\n\n\
         /// Elementwise functions. Operands of two are broadcast to one shape by NumPy's rule.\n\
         /// In comparisons, `maximum`, `minimum` and `pow` the second one may be a number.\n\
         ///\n/// ```\n/// use cotangent::{{Tensor, methods::*}};\n\
         /// let x = Tensor::vector(vec![1.0, 4.0]);\n\
         /// assert_eq!(x.sqrt()?.add(&x)?.to_vec::<f64>()?, [2.0, 6.0]);\n\
         /// # Ok::<(), cotangent::Error>(())\n/// ```\n\
         pub trait Elementwise: TensorOps {{\n"
    );
    for d in UNARY.iter().filter(|d| !d.tensor.is_empty()) {
        let (n, method) = (d.tensor, d.method);
        let body = format!("called_one(\"{n}\", &[self], |cx, x| cx.{method}(x[0]))");
        out += &elementwise_method(&format!("{n}(&self)"), "", &sentence(n, d.doc), &body);
    }
    for d in BINARY.iter().filter(|d| !d.method.is_empty()) {
        let n = d.method;
        let (function, of_two) = (format!("|cx, x, y| cx.{n}(x, y)"), two(n));
        out += &of_two.method(n, &sentence(n, d.doc), &function);
    }
    for d in COMPARISONS {
        let (n, op) = (d.tensor, d.op);
        let text = format!("Elementwise `{}`, as booleans.", d.doc);
        let function = format!("|cx, x, y| cx.compare(x, Comparison::{op:?}, y)");
        out += &two(n).method(n, &text, &function);
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

/// The call of an operation of an eager tensor and another operand.
fn of_two(name: &str, op: &str) -> String {
    match two(name) {
        Second::Tensor => format!("self.pair(\"{name}\", {op}, y)"),
        Second::Operand => format!("self.operand(\"{name}\", {op}, y.into())"),
    }
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
        return Some(of_two(name, &format!("Binary::{:?}", d.op)));
    }
    let d = COMPARISONS.iter().find(|d| d.tensor == name)?;
    Some(of_two(name, &format!("Compare(Comparison::{:?})", d.op)))
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
        let borrows = m.params.iter().any(|(_, t)| t.contains("'a"));
        let lifetime = if borrows { "<'a>" } else { "" };
        let _ = write!(
            body,
            "{text}    #[track_caller]\n    pub fn {}{lifetime}({}) -> {result} {{\n        {code}\n    }}\n\n",
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
    uses += &import("crate", &["Axes", "Axis", "DType", "Dim", "Shape"], &body);
    uses += &import("crate::methods", &[of, "Operand"], &format!("{of} {body}"));
    let ops = [
        "Binary",
        "Bounds",
        "Combine",
        "Compare",
        "Comparison",
        "DotGeneral",
        "LossReduction",
        "Unary",
        "Windows",
    ];
    uses += &import("crate::ops", &ops, &body);
    uses += &import("std::ops", &["RangeBounds"], &body);
    format!("{head}{uses}\nimpl {tensor} {{\n{}\n}}\n", body.trim_end())
}

/// A parameter of a method on a backend, and the argument of the eager method.
fn constant(name: &str, ty: &str) -> (String, String) {
    match ty {
        "&Self" => ("&Tensor".into(), format!("&on.tensor({name})")),
        "&[&Self]" => (
            "&[&Tensor]".into(),
            format!("&references(&on.tensors({name}))"),
        ),
        "impl Into<Operand<'a, Self>>" => (
            "impl Into<Operand<'a, Tensor>>".into(),
            format!("&on.operand({name}.into())"),
        ),
        ty => (ty.to_owned(), name.to_owned()),
    }
}

/// A row of the table of operations on a backend: a method of eager tensors, on constants.
fn operation(m: &Method) -> String {
    let (mut params, mut arguments) = (Vec::new(), Vec::new());
    for (name, ty) in &m.params {
        let (ty, argument) = constant(name, ty);
        params.push(format!("{name}: {ty}"));
        arguments.push(argument);
    }
    let (head, call) = match m.receiver {
        true => ("|on, a|", format!("a.{}", m.name)),
        false => ("|on|", format!("EagerTensor::{}", m.name)),
    };
    let lifetime = match params.iter().any(|p| p.contains("'a")) {
        true => "<'a>",
        false => "",
    };
    let result = m.result.replace(", Self::Error", "");
    let result = result
        .trim_start_matches("Result<")
        .replace("Self", "Tensor");
    let doc: String = m.doc.iter().map(|l| wrapped("    ", l)).collect();
    format!(
        "{doc}    {}{lifetime}({}) -> {}\n        {head} {call}({});\n",
        m.name,
        params.join(", "),
        result.strip_suffix('>').unwrap_or(&result),
        arguments.join(", ")
    )
}

/// Documentation of the trait of operations on plain tensors with a backend.
const TENSOR_OPS_EXT: &str = "\
Operations on plain tensors, run immediately on a backend: the last parameter, which caches
compiled operations. [`CpuBackend`] has the same operations as methods. No tape is recorded,
and the bits of results are those of eager tensors. An undefined result is an error.

Methods of [`Tensor`] take precedence over those of the same name here: of `reshape`,
`broadcast_to` and other views, and of `zeros_like` and `ones_like`, the form of the backend
serves. A program imports either this trait or those of [`methods`](crate::methods) and
[`TensorLinalgExt`](crate::linalg::TensorLinalgExt), which need no backend.

```
use cotangent::{CpuBackend, Tensor, TensorOpsExt};
let mut ctx = CpuBackend::with_threads(2)?;
let a = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
let b = a.matmul(&a, &mut ctx)?.transpose(&[1, 0], &mut ctx)?;
assert_eq!(b.reduce_sum(&[0], &mut ctx)?.to_vec::<f64>()?, [22.0, 32.0]);
assert_eq!(ctx.reshape(&b, [4])?.shape(), a.reshape([4])?.shape());
# Ok::<(), cotangent::Error>(())
```
";

/// The operations on plain tensors with a backend.
pub(crate) fn operations(methods: &[Method]) -> String {
    let rows = |receiver: bool| -> String {
        let of = methods.iter().filter(|m| m.receiver == receiver);
        of.map(operation).collect()
    };
    let (methods, functions) = (rows(true), rows(false));
    let body = methods.clone() + &functions;
    let names = [
        "Axes",
        "Axis",
        "CpuBackend",
        "DType",
        "Dim",
        "EagerTensor",
        "Result",
        "Shape",
        "Tensor",
        "TracedTensor",
    ];
    let always = "CpuBackend Result Tensor";
    let ops = [
        "Bounds",
        "Combine",
        "DotGeneral",
        "LossReduction",
        "MatrixNorm",
        "TriangularSolve",
        "Windows",
    ];
    let uses = "use super::constants::{Constants, ToPlain, references};\n".to_owned()
        + &import("crate::operand", &["Operand"], &body)
        + &import("crate::ops", &ops, &body)
        + &import("crate", &names, &format!("{always} {body}"))
        + &import("std::ops", &["RangeBounds"], &body);
    let about: String = TENSOR_OPS_EXT
        .lines()
        .map(|l| format!("    /// {l}").trim_end().to_owned() + "\n")
        .collect();
    format!(
        "//! [`TensorOpsExt`]: the operations of tensors on plain tensors and a backend.\n//! {NOTICE}\n\n\
         {uses}\noperations! {{\n{about}    \
         methods {{\n{methods}    }}\n\n    functions {{\n{functions}    }}\n}}\n"
    )
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
        "self.number(\"mul\", Binary::Mul, c.into(), true)",
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
