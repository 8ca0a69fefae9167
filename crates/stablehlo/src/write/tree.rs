//! The syntax tree as StableHLO text, with operations in MLIR's generic form. Shardings and
//! locations are omitted.

use super::constant::literal;
use super::names::symbol;
use super::text::{numbers, show};
use crate::ast::{Attr, Dense, Elements, Function, Narrow, Operation, ParsedModule, Region};
use crate::ast::{Signature, Ty};
use crate::constant::constant;
use cotangent_core::{Dim, Result};
use std::fmt::Write;

/// Enumerations, by the attributes that have their values.
const ENUMERATIONS: [(&str, &str); 8] = [
    ("comparison_direction", "comparison_direction"),
    ("compare_type", "comparison_type"),
    ("fft_type", "fft_type"),
    ("mode", "result_accuracy_mode"),
    ("precision_config", "precision"),
    ("rng_algorithm", "rng_algorithm"),
    ("rng_distribution", "rng_distribution"),
    ("transpose_a", "transpose"),
];

/// Records, by the attributes that have them.
const RECORDS: [(&str, &str); 8] = [
    ("algorithm", "dot_algorithm"),
    ("channel_handle", "channel_handle"),
    ("dimension_numbers", "gather"),
    ("dot_dimension_numbers", "dot"),
    ("output_operand_aliases", "output_operand_alias"),
    ("replica_groups", "replica_group_mesh_axes"),
    ("result_accuracy", "result_accuracy"),
    ("scatter_dimension_numbers", "scatter"),
];

/// Integers of 32 bits. Others have 64.
const SHORT: [&str; 4] = ["api_version", "exponent_bits", "mantissa_bits", "version"];

fn named(table: &[(&str, &'static str)], key: &str) -> Option<&'static str> {
    table.iter().find(|r| r.0 == key).map(|r| r.1)
}

/// The text of a module.
///
/// # Errors
/// A constant is malformed.
pub(crate) fn tree(module: &ParsedModule<'_>) -> Result<String> {
    let mut t = TreeText {
        module,
        out: String::new(),
        depth: 0,
        names: Vec::new(),
    };
    let attrs = module.attrs.iter().map(|(name, a, _)| (&**name, a));
    let attrs = t.dictionary(attrs)?;
    let given = if attrs.is_empty() { "" } else { " attributes " };
    let name = module.name.as_ref();
    let name = name.map_or_else(String::new, |name| format!(" @{}", symbol(name)));
    t.line(&format!("module{name}{given}{attrs} {{"));
    t.depth += 1;
    for f in &module.functions {
        t.function(f)?;
    }
    t.depth -= 1;
    t.line("}");
    Ok(t.out)
}

struct TreeText<'t> {
    module: &'t ParsedModule<'t>,
    out: String,
    depth: usize,
    /// Names of values by number.
    names: Vec<String>,
}

impl TreeText<'_> {
    fn line(&mut self, text: &str) {
        let width = 2 * self.depth;
        let _ = writeln!(self.out, "{:width$}{text}", "");
    }

    fn name(&mut self, id: u32, name: String) {
        let at = id as usize;
        if self.names.len() <= at {
            self.names.resize(at + 1, String::new());
        }
        self.names[at] = name;
    }

    fn function(&mut self, f: &Function<'_>) -> Result<()> {
        let visibility = if f.public { "public" } else { "private" };
        let results = list(f.results.iter().map(ty));
        let body = f.body.as_ref();
        let args = body.map_or(&[][..], |b| &b.args);
        self.names.clear();
        for a in args {
            self.name(a.id, format!("%{}", a.name));
        }
        let args = list(args.iter().map(|a| {
            let bound = match a.constant {
                Some(_) => " {jax.global_constant = \"_platform_index\"}",
                None => "",
            };
            format!("%{}: {}{bound}", a.name, ty(&a.ty))
        }));
        let head = format!(
            "func.func {visibility} @{}({args}) -> ({results})",
            symbol(&f.name)
        );
        match body {
            None => self.line(&head),
            Some(body) => {
                self.line(&format!("{head} {{"));
                self.operations(body)?;
                self.line("}");
            }
        }
        Ok(())
    }

    fn operations(&mut self, region: &Region<'_>) -> Result<()> {
        self.depth += 1;
        for op in &region.ops {
            self.operation(op)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn operation(&mut self, op: &Operation<'_>) -> Result<()> {
        let of = |id: &u32| self.names.get(*id as usize).cloned().unwrap_or_default();
        let operands = list(op.operands.iter().map(of));
        let mut text = String::new();
        match op.count {
            0 => {}
            1 => text = format!("%{} = ", op.first),
            n => text = format!("%{}:{n} = ", op.first),
        }
        let _ = write!(text, "\"{}\"({operands})", op.name);
        for (k, region) in op.regions.iter().enumerate() {
            text.push_str(if k == 0 { " ({" } else { ", {" });
            self.line(&text);
            text.clear();
            let args = region.args.iter().map(|a| (a.id, &a.name, ty(&a.ty)));
            let mut shown = Vec::new();
            for (id, name, ty) in args {
                self.name(id, format!("%{name}"));
                shown.push(format!("%{name}: {ty}"));
            }
            if !shown.is_empty() {
                self.line(&format!("^bb0({}):", shown.join(", ")));
            }
            self.operations(region)?;
            text.push('}');
        }
        if !op.regions.is_empty() {
            text.push(')');
        }
        let attrs = self.dictionary(op.attrs.iter().map(|(name, a)| (&**name, a)))?;
        if !attrs.is_empty() {
            let _ = write!(text, " {attrs}");
        }
        if let Signature::Function(params, results) = &op.signature {
            let params = list(params.iter().map(ty));
            let _ = write!(text, " : ({params}) -> ({})", list(results.iter().map(ty)));
        }
        self.line(&text);
        for k in 0..op.count {
            let name = match op.count {
                1 => format!("%{}", op.first),
                _ => format!("%{}#{k}", op.first),
            };
            self.name(op.first + k, name);
        }
        Ok(())
    }

    /// `{a = 1 : i64, b}`, or nothing for no attributes.
    fn dictionary<'a>(
        &self,
        attrs: impl Iterator<Item = (&'a str, &'a Attr<'a>)>,
    ) -> Result<String> {
        let mut all = Vec::new();
        for (name, a) in attrs {
            let key = symbol(name);
            match a {
                Attr::Skipped => {}
                Attr::Unit => all.push(key),
                a => all.push(format!("{key} = {}", self.attr(name, a)?)),
            }
        }
        Ok(match all.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", all.join(", ")),
        })
    }

    /// The attribute of this name.
    fn attr(&self, key: &str, a: &Attr<'_>) -> Result<String> {
        let is_array = |l: &[Attr<'_>]| {
            let plain = |a: &Attr<'_>| matches!(a, Attr::Int(_) | Attr::Bool(_));
            !key.contains('.') && l.iter().all(plain)
        };
        Ok(match a {
            Attr::Unit | Attr::Skipped => "unit".into(),
            Attr::Bool(b) => b.to_string(),
            Attr::Int(i) if SHORT.contains(&key) => format!("{i} : i32"),
            Attr::Int(i) => format!("{i} : i64"),
            Attr::Float(x) if key == "epsilon" => format!("{} : f32", float(*x)),
            Attr::Float(x) => format!("{} : f64", float(*x)),
            Attr::Str(s) => quoted(s),
            Attr::Word(w) => match named(&ENUMERATIONS, key) {
                Some(kind) => format!("#stablehlo<{kind} {w}>"),
                None => (*w).into(),
            },
            Attr::Symbol(s) => format!("@{}", symbol(s)),
            Attr::Type(t) => ty(t),
            Attr::List(l) if is_array(l) => match &l[..] {
                [] => "array<i64>".into(),
                [Attr::Bool(_), ..] => format!("array<i1: {}>", list(l.iter().map(plain))),
                _ => format!("array<i64: {}>", list(l.iter().map(plain))),
            },
            Attr::List(l) => {
                let all: Result<Vec<String>> = l.iter().map(|a| self.attr(key, a)).collect();
                format!("[{}]", all?.join(", "))
            }
            Attr::Dict(d) => match named(&RECORDS, key) {
                Some(record) => self.record(record, d)?,
                None => {
                    let text = self.dictionary(d.iter().map(|(name, a)| (&**name, a)))?;
                    if text.is_empty() { "{}".into() } else { text }
                }
            },
            Attr::Product(p) => {
                let side = |a: &Attr<'_>| match a {
                    Attr::List(l) => format!("[{}]", list(l.iter().map(plain))),
                    a => plain(a),
                };
                let sides: Vec<String> = p.iter().map(side).collect();
                match &sides[..] {
                    [x, w, y] => format!("#stablehlo.conv<{x}x{w}->{y}>"),
                    sides => sides.join("x"),
                }
            }
            Attr::Dense(d) => self.dense(d)?,
        })
    }

    /// `#stablehlo.gather<offset_dims = [0], index_vector_dim = 1>`.
    fn record(
        &self,
        name: &str,
        fields: &[(std::borrow::Cow<'_, str>, Attr<'_>)],
    ) -> Result<String> {
        let mut all = Vec::new();
        for (key, a) in fields {
            let text = match a {
                Attr::List(l) if l.is_empty() && name != "output_operand_alias" => continue,
                Attr::List(l) => format!("[{}]", list(l.iter().map(plain))),
                Attr::Int(_) | Attr::Float(_) => plain(a),
                Attr::Word(w) if key == "mode" => format!("#stablehlo.result_accuracy_mode<{w}>"),
                a => self.attr(key, a)?,
            };
            all.push(format!("{key} = {text}"));
        }
        Ok(format!("#stablehlo.{name}<{}>", all.join(", ")))
    }

    /// `dense<[1, 2]> : tensor<2xi64>`.
    fn dense(&self, d: &Dense<'_>) -> Result<String> {
        let Some(t) = &d.ty else {
            return Ok("unit".into());
        };
        let (wide, narrow) = match t {
            Ty::Tensor(t) => (t, None),
            Ty::Narrow(t, n) => (t, Some(*n)),
            // Layouts are tensors of type index.
            other => {
                let words = match d.elements {
                    Elements::Bytes(b) => b.chunks_exact(8),
                    _ => [].chunks_exact(8),
                };
                let word = |b: &[u8]| b.try_into().map_or(0, i64::from_le_bytes);
                let text = match words.len() {
                    0 => String::new(),
                    _ => format!("[{}]", numbers(words.map(word))),
                };
                return Ok(format!("dense<{text}> : {}", ty(other)));
            }
        };
        let value = constant(self.module, d, wide, narrow)?;
        let text = literal(&value).unwrap_or_else(|| "dense<>".into());
        Ok(format!("{text} : {}", ty(t)))
    }
}

/// A number or a word without its type.
fn plain(a: &Attr<'_>) -> String {
    match a {
        Attr::Int(i) => i.to_string(),
        Attr::Bool(b) => b.to_string(),
        Attr::Float(x) => float(*x),
        a => a.word().unwrap_or_default().into(),
    }
}

fn float(x: f64) -> String {
    super::constant::float(x, cotangent_core::DType::F64)
}

fn list(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<String>>().join(", ")
}

/// The text of a type.
/// A type as text.
pub(crate) fn ty(t: &Ty) -> String {
    match t {
        Ty::Tensor(t) => show(t),
        Ty::Narrow(t, n) => {
            let extents = t.shape.iter().map(|d| match d {
                Dim::Const(n) => format!("{n}x"),
                Dim::Expr(_) => "?x".into(),
            });
            let element = match n {
                Narrow::Float(f) => f.name().to_owned(),
                Narrow::Int(bits, true) => format!("i{bits}"),
                Narrow::Int(bits, false) => format!("ui{bits}"),
            };
            format!("tensor<{}{element}>", extents.collect::<String>())
        }
        Ty::Token => "!stablehlo.token".into(),
        Ty::Function(f) => {
            let (params, results) = (list(f.0.iter().map(ty)), list(f.1.iter().map(ty)));
            format!("({params}) -> ({results})")
        }
        Ty::Other(name) => (**name).into(),
    }
}

/// A string in quotes. Bytes that are not printable are two hexadecimal digits.
fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for b in s.bytes() {
        match b {
            b'"' | b'\\' => out.extend(['\\', b as char]),
            b' '..=b'~' => out.push(b as char),
            b => {
                let _ = write!(out, "\\{b:02X}");
            }
        }
    }
    out.push('"');
    out
}
