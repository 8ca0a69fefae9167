//! StableHLO text: a reader to Cotangent graphs for text printed by JAX and PyTorch, and a writer
//! for graphs.
//!
//! ```
//! let text = "func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
//!   %0 = stablehlo.multiply %x, %x : tensor<2xf64>
//!   return %0 : tensor<2xf64>
//! }";
//! use cotangent_core::{Array, reference};
//! let module = cotangent_stablehlo::read(text, Some("square.mlir")).unwrap();
//! let y = reference::run(module.main(), &[Array::vector(vec![2.0, 3.0])]).unwrap();
//! assert_eq!(y[0].to_f64(), [4.0, 9.0]);
//! ```
//! Reading has two steps: `parser` builds a syntax tree, and `lower` turns it into graphs. Both
//! take time linear in the length of the text. They recurse over nesting only, whose depth is
//! limited. Errors contain line, column and the text at that position. [`write()`] is the inverse.

mod ast;
mod constant;
mod format;
mod lexer;
mod lower;
mod names;
mod parser;
mod write;

pub use write::{write, write_with};

use cotangent_core::rewrite::raise;
use cotangent_core::transform::{Numerics, Policy};
use cotangent_core::{Function, Result, bail};
use names::NUMERICS;
use std::sync::{Arc, OnceLock};

/// The text with its lines indented. Names, private functions, attributes and comments are
/// unchanged.
///
/// # Errors
/// The text does not follow the grammar.
pub fn format(text: &str, file: Option<&str>) -> Result<String> {
    match parser::parse(text) {
        Ok(_) => Ok(format::layout(text)),
        Err(e) => Err(cotangent_core::text::locate(e, text, file)),
    }
}

/// The functions of a text.
#[derive(Clone, Debug)]
pub struct Module {
    text: Arc<str>,
    /// Names of functions, and whether each is public.
    names: Vec<(String, bool)>,
    main: Arc<Function>,
    numerics: Numerics,
    at: usize,
    raises: bool,
    /// All functions, lowered when one other than the main function is requested.
    others: Arc<OnceLock<Vec<Result<Arc<Function>>>>>,
    notes: Vec<String>,
}

/// Reads StableHLO text and [raises](cotangent_core::rewrite::raise()) its functions. `file` is its
/// name in error messages.
///
/// # Errors
/// The text does not follow the grammar, or its main function (`main`, or the first public one)
/// reaches an operation that is unsupported or malformed.
pub fn read(text: &str, file: Option<&str>) -> Result<Module> {
    read_module(text, true).map_err(|e| cotangent_core::text::locate(e, text, file))
}

/// As [`read`], operation by operation: functions are not raised.
///
/// # Errors
/// As [`read`].
pub fn read_unraised(text: &str, file: Option<&str>) -> Result<Module> {
    read_module(text, false).map_err(|e| cotangent_core::text::locate(e, text, file))
}

fn read_module(text: &str, raises: bool) -> Result<Module> {
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
    let mut module = Module {
        text: text.into(),
        names,
        main: main.clone(),
        numerics,
        at,
        raises,
        others: Arc::default(),
        notes,
    };
    module.main = module.raised(main);
    Ok(module)
}

/// The numerics of derivatives, from the module's attribute.
fn numerics(text: &ast::ParsedModule<'_>) -> Result<Numerics> {
    use cotangent_core::attr::Attr;
    let mut policy = Policy::default();
    let Some((_, attribute, pos)) = text.attrs.iter().find(|a| a.0 == NUMERICS) else {
        return Ok(Numerics::STABLEHLO);
    };
    let mut set_policy = |attr: &ast::Attr<'_>| match attr {
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
    set_policy(attribute).map_err(|e| e.at((*pos).into()))?;
    Ok(policy.or(Numerics::STABLEHLO))
}

impl Module {
    /// Numerics of derivatives: the attribute `cotangent.numerics` of the module, else
    /// [`Numerics::STABLEHLO`].
    pub fn numerics(&self) -> Numerics {
        self.numerics
    }

    /// The function `main`, else the first public function, else the first function.
    pub fn main(&self) -> &Arc<Function> {
        &self.main
    }

    /// Notes for the user: parts of the text that were dropped.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The names of all functions, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|f| f.0.as_str())
    }

    /// Whether the function of this name is public.
    pub fn is_public(&self, name: &str) -> bool {
        self.names.iter().any(|f| f.0 == name && f.1)
    }

    /// The function of this name.
    ///
    /// # Errors
    /// There is no such function, or it reaches an unsupported operation.
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

    fn raised(&self, f: Arc<Function>) -> Arc<Function> {
        match self.raises {
            true => Arc::new(raise(&f)),
            false => f,
        }
    }

    fn others(&self) -> &[Result<Arc<Function>>] {
        self.others.get_or_init(|| {
            let all = parser::parse(&self.text).and_then(|t| lower::lower(&t, None));
            let all = all.map_or_else(|e| vec![Err(e); self.names.len()], |(all, _)| all);
            let raised = |f: Result<Arc<Function>>| f.map(|f| self.raised(f));
            all.into_iter().map(raised).collect()
        })
    }
}
