//! Examples of composites, a row for each.

/// A module with one composite.
pub(super) struct Example {
    name: &'static str,
    /// Types of the operands.
    operands: &'static [&'static str],
    /// Attributes, as in the text form.
    attrs: &'static [(&'static str, &'static str)],
    /// Number of results.
    results: usize,
    /// Whether a module `@f` precedes the operands.
    applied: bool,
}

const fn row(
    name: &'static str,
    operands: &'static [&'static str],
    attrs: &'static [(&'static str, &'static str)],
    results: usize,
) -> Example {
    Example {
        name,
        operands,
        attrs,
        results,
        applied: false,
    }
}

const M: &str = "tensor<2x3xf64>";
const V: &str = "tensor<3xf64>";
const SQUARE: &str = "tensor<2x2xf64>";
const KEY: &str = "tensor<2xu32>";
const AXIS: &[(&str, &str)] = &[("axis", "1")];
const AXES: &[(&str, &str)] = &[("axes", "[1]")];

/// The examples, in the order of the list of composites.
static EXAMPLES: &[Example] = &[
    row("reduce", &[M], &[("op", "\"mean\""), ("axes", "[1]")], 1),
    row("mean", &[M], AXES, 1),
    row("var", &[M], AXES, 1),
    row("std", &[M], AXES, 1),
    row("norm", &[M], AXES, 1),
    row("logsumexp", &[M], AXES, 1),
    row("masked_logsumexp", &[M, "tensor<2x3xi1>"], AXES, 1),
    row("median", &[M], AXIS, 1),
    row("max_with_index", &[M], AXIS, 2),
    row("min_with_index", &[M], AXIS, 2),
    row("argsort", &[M], AXIS, 1),
    row("top_k", &[M], &[("k", "2")], 2),
    row("softmax", &[M], AXIS, 1),
    row("log_softmax", &[M], AXIS, 1),
    row("cross_entropy", &[M, "tensor<2xi64>"], AXIS, 1),
    row("layer_norm", &[M], AXES, 1),
    row("relu", &[M], &[], 1),
    row("gelu", &[M], &[], 1),
    row("silu", &[M], &[], 1),
    row("softplus", &[M], &[], 1),
    row(
        "one_hot",
        &["tensor<2xi64>"],
        &[("depth", "3"), ("dtype", "f64")],
        1,
    ),
    row("matmul", &[M, V], &[], 1),
    row("outer", &["tensor<2xf64>", V], &[], 1),
    row("cross", &[M, M], AXIS, 1),
    row("diagonal", &[SQUARE], &[], 1),
    row("trace", &[SQUARE], &[], 1),
    row("logaddexp", &[V, V], &[], 1),
    row("sinc", &[V], &[], 1),
    row("clip", &[V], &[("lo", "0.0"), ("hi", "1.0")], 1),
    row("square", &[V], &[], 1),
    row("fma", &[V, V, V], &[], 1),
    row("log10", &[V], &[], 1),
    row("hypot", &[V, V], &[], 1),
    row("is_inf", &[V], &[], 1),
    row("zeros_like", &[V], &[], 1),
    row("ones_like", &[V], &[], 1),
    row("full_like", &[V], &[("value", "2.0")], 1),
    row("linspace", &["f64", "f64"], &[("num", "5")], 1),
    row("arange", &[], &[("num", "4"), ("dtype", "f64")], 1),
    row("floor_divide", &[V, V], &[], 1),
    row("floor_mod", &[V, V], &[], 1),
    row("copysign", &[V, V], &[], 1),
    row("signbit", &[V], &[], 1),
    row("nextafter", &[V, V], &[], 1),
    row("roll", &[M], &[("shift", "1"), ("axis", "1")], 1),
    row("tile", &[M], &[("counts", "[2, 1]")], 1),
    row("repeat", &[M], &[("count", "2"), ("axis", "1")], 1),
    row("diff", &[M], AXIS, 1),
    row("searchsorted", &[V, M], &[], 1),
    row("ifft", &["tensor<4xc128>"], &[], 1),
    row("irfft", &["tensor<3xc128>"], &[("length", "4")], 1),
    row("fftn", &["tensor<2x2xc128>"], &[], 1),
    row("ifftn", &["tensor<2x2xc128>"], &[], 1),
    row("rfftn", &["tensor<2x4xf64>"], &[], 1),
    row("irfftn", &["tensor<2x3xc128>"], &[("length", "4")], 1),
    row("inv", &[SQUARE], &[], 1),
    row("cholesky_ex", &[SQUARE], &[], 2),
    row("pinv", &[M], &[], 1),
    row("lstsq", &["tensor<3x2xf64>", V], &[], 1),
    row("matrix_norm", &[M], &[("ord", "\"nuc\"")], 1),
    row("matrix_exp", &[SQUARE], &[], 1),
    row("matrix_power", &[SQUARE], &[("n", "3")], 1),
    row("kron", &[SQUARE, "tensor<1x2xf64>"], &[], 1),
    row("tril", &[SQUARE], &[], 1),
    row("triu", &[SQUARE], &[], 1),
    row("eigvalsh", &[SQUARE], &[], 1),
    row("svdvals", &[M], &[], 1),
    row("expm_hermitian", &[SQUARE], &[], 1),
    row("low_rank_approximation", &[M], &[("k", "1")], 1),
    row("svd_truncated", &[M], &[("k", "1")], 3),
    row("svd_thresholded", &[M], &[("rtol", "0.5")], 3),
    row("random_key", &[], &[("seed", "42")], 1),
    row("random_split", &[KEY], &[("n", "2")], 1),
    row("random_fold_in", &[KEY, "u32"], &[], 1),
    row(
        "random_bits",
        &[KEY],
        &[("shape", "[3]"), ("dtype", "u32")],
        1,
    ),
    row(
        "random_uniform",
        &[KEY],
        &[("shape", "[3]"), ("dtype", "f64")],
        1,
    ),
    row(
        "random_normal",
        &[KEY],
        &[("shape", "[3]"), ("dtype", "f64")],
        1,
    ),
    row(
        "random_truncated_normal",
        &[KEY, "f64", "f64"],
        &[("shape", "[3]")],
        1,
    ),
    row("random_bernoulli", &[KEY, "f64"], &[("shape", "[3]")], 1),
    row(
        "random_exponential",
        &[KEY],
        &[("shape", "[3]"), ("dtype", "f64")],
        1,
    ),
    row(
        "random_gumbel",
        &[KEY],
        &[("shape", "[3]"), ("dtype", "f64")],
        1,
    ),
    row("random_categorical", &[KEY, M], &[], 1),
    row("random_int", &[KEY, "i64", "i64"], &[("shape", "[3]")], 1),
    row("random_permutation", &[KEY, M], &[], 1),
    row("random_dropout", &[KEY, V], &[("rate", "0.5")], 1),
];

const fn applied(name: &'static str) -> Example {
    Example {
        applied: true,
        ..row(name, &[], &[], 1)
    }
}

static APPLIED: &[Example] = &[
    applied("fixed_point"),
    applied("root"),
    applied("argmin"),
    applied("solve"),
];

/// The example of a composite; `applied`: of a composite with a module before its operands.
pub(super) fn example(name: &str, applied: bool) -> Option<&'static Example> {
    let rows = if applied { APPLIED } else { EXAMPLES };
    rows.iter().find(|e| e.name == name)
}

impl Example {
    /// The name of the composite.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// The module as text.
    pub(super) fn text(&self) -> String {
        self.text_with("", None)
    }

    /// The module with one attribute replaced by this text, or without it.
    pub(super) fn text_with(&self, name: &str, value: Option<&str>) -> String {
        let kept = self.attrs.iter().filter(|a| a.0 != name);
        let attrs: Vec<String> = kept
            .copied()
            .chain(value.map(|v| (name, v)))
            .map(|(n, v)| format!("{n} = {v}"))
            .collect();
        let attrs = match attrs.is_empty() {
            true => String::new(),
            false => format!(" {{{}}}", attrs.join(", ")),
        };
        if self.applied {
            return self.applied_text(&attrs);
        }
        let names = |prefix: &str, n: usize| {
            let names: Vec<String> = (0..n).map(|k| format!("%{prefix}{k}")).collect();
            names.join(", ")
        };
        let mut out = "tgraph.module @example {\n".to_owned();
        for (k, ty) in self.operands.iter().enumerate() {
            out.push_str(&format!("  %x{k} = tgraph.arg : {ty}\n"));
        }
        let (results, operands) = (names("y", self.results), names("x", self.operands.len()));
        let space = if operands.is_empty() { "" } else { " " };
        out.push_str(&format!(
            "  {results} = tgraph.{}{space}{operands}{attrs}\n",
            self.name
        ));
        out.push_str(&format!("  tgraph.return {results}\n}}\n"));
        out
    }

    /// A module `@f` of an unknown and a parameter, and the composite from a start of 1.
    fn applied_text(&self, attrs: &str) -> String {
        let name = self.name;
        let (body, what) = match name {
            "fixed_point" => (
                "  %q = tgraph.mul %p, %x\n  %r = tgraph.cos %q\n",
                "cos(p x) = x",
            ),
            "root" => (
                "  %q = tgraph.mul %x, %x\n  %r = tgraph.sub %q, %p\n",
                "x² - p = 0",
            ),
            "argmin" => (
                "  %d = tgraph.sub %x, %p\n  %r = tgraph.mul %d, %d\n",
                "(x - p)² is least",
            ),
            _ => ("  %r = tgraph.mul %p, %x\n", "p x = 1"),
        };
        format!(
            "tgraph.module @f {{                      // {what}\n  %x = tgraph.arg : f64\n  %p = tgraph.arg : f64\n{body}  tgraph.return %r\n}}\n\n\
             tgraph.module @main {{\n  %one = tgraph.constant {{value = 1.0}} : f64\n  %p = tgraph.constant {{value = 0.5}} : f64\n  \
             %y = tgraph.{name} @f %one, %p{attrs}\n  tgraph.return %y\n}}\n"
        )
    }
}
