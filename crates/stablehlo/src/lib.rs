//! StableHLO text: as JAX and PyTorch print it, read into Cotangent graphs; and any graph as such
//! text.
//!
//! ```
//! let text = "func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
//!   %0 = stablehlo.multiply %x, %x : tensor<2xf64>
//!   return %0 : tensor<2xf64>
//! }";
//! let module = cotangent_stablehlo::read(text, Some("square.mlir")).unwrap();
//! let y = cotangent_core::reference::run(module.main(), &[cotangent_core::Array::vector(vec![2.0, 3.0])]).unwrap();
//! assert_eq!(y[0].to_f64(), [4.0, 9.0]);
//! ```
//! Reading is two steps: `parser` follows the grammar, `lower` the meaning. Both are linear in the
//! text, recurse over nesting only, which is limited, and give errors with line, column and what
//! was written there. [`write()`] goes back.

mod ast;
mod constant;
mod format;
mod lexer;
mod lower;
mod names;
mod parser;
mod write;

pub use write::{write, write_with};

use cotangent_core::transform::{Numerics, Policy};
use cotangent_core::{Function, Result, bail};
use names::NUMERICS;
use std::sync::{Arc, OnceLock};

/// The text with its lines indented: names, private functions, attributes and comments stay as they
/// are written.
///
/// # Errors
/// The text does not follow the grammar.
pub fn format(text: &str, file: Option<&str>) -> Result<String> {
    match parser::parse(text) {
        Ok(_) => Ok(format::layout(text)),
        Err(e) => Err(cotangent_core::text::locate(e, text, file)),
    }
}

/// A text that has been read: its functions.
#[derive(Clone, Debug)]
pub struct Module {
    text: Arc<str>,
    /// Names, and whether they are public.
    names: Vec<(String, bool)>,
    main: Arc<Function>,
    numerics: Numerics,
    at: usize,
    /// All functions, when another one than the main one is asked for.
    others: Arc<OnceLock<Vec<Result<Arc<Function>>>>>,
    notes: Vec<String>,
}

/// Reads StableHLO text; `file` is what errors call it.
///
/// # Errors
/// The text does not follow the grammar, or its main function (`main`, or the first public one)
/// reaches an operation that is not supported or not well formed.
pub fn read(text: &str, file: Option<&str>) -> Result<Module> {
    read_module(text).map_err(|e| cotangent_core::text::locate(e, text, file))
}

fn read_module(text: &str) -> Result<Module> {
    let parsed = parser::parse(text)?;
    let numerics = numerics(&parsed)?;
    let with_body = || parsed.functions.iter().filter(|f| f.body.is_some());
    let names: Vec<(String, bool)> = with_body()
        .map(|f| (f.name.to_string(), f.public))
        .collect();
    let named = names.iter().position(|f| f.0 == "main");
    let Some(at) = named
        .or_else(|| names.iter().position(|f| f.1))
        .or(if names.is_empty() { None } else { Some(0) })
    else {
        bail!(Input, "the text has no function")
    };
    let (mut lowered, notes) = lower::lower(&parsed, Some(&names[at].0))?;
    let main = lowered
        .pop()
        .expect("the function that was asked for is lowered")?;
    Ok(Module {
        text: text.into(),
        names,
        main,
        numerics,
        at,
        others: Arc::default(),
        notes,
    })
}

/// What the module says about the arithmetic of its derivatives.
fn numerics(text: &ast::ParsedModule<'_>) -> Result<Numerics> {
    use cotangent_core::attr::Attr;
    let mut policy = Policy::default();
    let Some((_, attribute, pos)) = text.attrs.iter().find(|a| a.0 == NUMERICS) else {
        return Ok(Numerics::STABLEHLO);
    };
    let mut said = |attr: &ast::Attr<'_>| match attr {
        ast::Attr::Dict(entries) => entries.iter().try_for_each(|(key, value)| {
            let value = match value {
                ast::Attr::Bool(b) => Attr::Bool(*b),
                other => Attr::Str(other.word().unwrap_or_default().into()),
            };
            policy.set(&format!("`{NUMERICS}`"), key, &value)
        }),
        _ => bail!(
            Attribute,
            "`{NUMERICS}` is a dictionary such as {{zero_division = \"nan\"}}"
        ),
    };
    said(attribute).map_err(|e| e.at((*pos).into()))?;
    Ok(policy.or(Numerics::STABLEHLO))
}

impl Module {
    /// The arithmetic of derivatives: what the attribute `cotangent.numerics` of the module says,
    /// else [`Numerics::STABLEHLO`].
    pub fn numerics(&self) -> Numerics {
        self.numerics
    }

    /// The function `main`; if there is none, the first public one, or the first.
    pub fn main(&self) -> &Arc<Function> {
        &self.main
    }

    /// What a reader of the text should know: what was left out of it.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The names of all functions, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|f| f.0.as_str())
    }

    /// Whether others may call the function of this name.
    pub fn is_public(&self, name: &str) -> bool {
        self.names.iter().any(|f| f.0 == name && f.1)
    }

    /// The function of this name.
    ///
    /// # Errors
    /// There is none, or it reaches an operation that is not supported.
    pub fn function(&self, name: &str) -> Result<Arc<Function>> {
        match self.names.iter().position(|f| f.0 == name) {
            Some(i) if i == self.at => Ok(self.main.clone()),
            Some(i) => self.others()[i].clone(),
            None => {
                let names: Vec<&str> = self.names().collect();
                bail!(
                    UnknownName,
                    "there is no function `@{name}`; the text has {}",
                    names.join(", ")
                )
            }
        }
    }

    fn others(&self) -> &[Result<Arc<Function>>] {
        self.others.get_or_init(|| {
            let all = parser::parse(&self.text).and_then(|t| lower::lower(&t, None));
            all.map_or_else(|e| vec![Err(e); self.names.len()], |(all, _)| all)
        })
    }
}
