//! StableHLO: a reader to Cotangent graphs for text that JAX and PyTorch print, portable artefacts
//! (`.mlirbc`) and files of `jax.export`, and a writer of text for graphs.
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
//! Reading has two steps: `parser` for text and `bytecode` for artefacts build a syntax tree, and
//! `lower` turns it into graphs. They take time linear in the length of the source. They recurse
//! over nesting only, whose depth is limited. Errors contain line, column and the text at that
//! position, or the offset in the bytecode and the location in the program that was compiled.
//! [`write()`] is the inverse.

mod ast;
mod bytecode;
mod constant;
mod format;
mod host_call;
mod lexer;
mod lower;
mod names;
mod parser;
mod portable;
mod scope;
mod sharding;
mod signature;
mod write;

pub use host_call::{HOST_CALL, HostCall};
pub use portable::portable;
pub use sharding::{Mesh, Sharding, Spec};
pub use signature::{Declared, MainSignature, Parameter};
pub use write::{Target, WriteOptions, write, write_as, write_with};

use cotangent_core::rewrite::raise;
use cotangent_core::transform::{Numerics, Policy};
use cotangent_core::{Error, Function, Result, bail};
use names::NUMERICS;
use std::sync::{Arc, OnceLock};

/// The text with its lines indented. Names, private functions, attributes and comments are
/// unchanged. Bytecode is printed as text, with operations in MLIR's generic form.
///
/// # Errors
/// The source is malformed.
pub fn format(source: impl AsRef<[u8]>, file: Option<&str>) -> Result<String> {
    let source = source.as_ref();
    let parsed = located_parse(source, file)?;
    match std::str::from_utf8(source) {
        Ok(text) => Ok(format::layout(text)),
        Err(_) => write::tree(&parsed).map_err(|e| locate(e, source, file)),
    }
}

/// As [`format`](format()), but operations of bytecode that nothing reads are left out.
///
/// # Errors
/// The source is malformed.
pub fn format_live(source: impl AsRef<[u8]>, file: Option<&str>) -> Result<String> {
    let source = source.as_ref();
    let mut parsed = located_parse(source, file)?;
    match std::str::from_utf8(source) {
        Ok(text) => Ok(format::layout(text)),
        Err(_) => {
            write::retain_live(&mut parsed);
            write::tree(&parsed).map_err(|e| locate(e, source, file))
        }
    }
}

/// The functions of a text or an artefact.
#[derive(Clone, Debug)]
pub struct Module {
    source: Arc<[u8]>,
    /// Names of functions, and whether each is public.
    names: Vec<(String, bool)>,
    main: Arc<Function>,
    signature: Arc<MainSignature>,
    numerics: Numerics,
    at: usize,
    raises: bool,
    /// All functions, lowered when one other than the main function is requested.
    others: Arc<OnceLock<Vec<Result<Arc<Function>>>>>,
    notes: Vec<String>,
}

/// Reads StableHLO and [raises](cotangent_core::rewrite::raise()) its functions: text, a portable
/// artefact, or a file of `jax.export`. `file` is its name in error messages.
///
/// # Errors
/// The source is malformed, or its main function (`main`, or the first public one) reaches an
/// operation that is unsupported or malformed.
pub fn read(source: impl AsRef<[u8]>, file: Option<&str>) -> Result<Module> {
    read_module(source.as_ref(), file, true)
}

/// As [`read`], operation by operation: functions are not raised.
///
/// # Errors
/// As [`read`].
pub fn read_unraised(source: impl AsRef<[u8]>, file: Option<&str>) -> Result<Module> {
    read_module(source.as_ref(), file, false)
}

/// The syntax tree of text or bytecode. Bytecode contains bytes that text cannot have.
fn parsed(source: &[u8]) -> Result<ast::ParsedModule<'_>> {
    match std::str::from_utf8(source) {
        Ok(text) => parser::parse(text),
        Err(_) => bytecode::read(source),
    }
}

/// The error with its file, and with the line of the text or the location of the operation.
fn locate(e: Error, source: &[u8], file: Option<&str>) -> Error {
    match std::str::from_utf8(source) {
        Ok(text) => cotangent_core::text::locate(e, text, file),
        Err(_) => bytecode::locate(in_file(e, file), source),
    }
}

fn in_file(e: Error, file: Option<&str>) -> Error {
    match file {
        Some(file) => e.in_file(file),
        None => e,
    }
}

/// The syntax tree, or an error with its location.
fn located_parse<'s>(source: &'s [u8], file: Option<&str>) -> Result<ast::ParsedModule<'s>> {
    parsed(source).map_err(|e| match std::str::from_utf8(source) {
        Ok(text) => cotangent_core::text::locate(e, text, file),
        // Errors of the reader have the location of their operation.
        Err(_) => in_file(e, file),
    })
}

fn read_module(source: &[u8], file: Option<&str>, raises: bool) -> Result<Module> {
    let parsed = located_parse(source, file)?;
    lowered(&parsed, source, raises).map_err(|e| locate(e, source, file))
}

fn lowered(parsed: &ast::ParsedModule<'_>, source: &[u8], raises: bool) -> Result<Module> {
    let numerics = numerics(parsed)?;
    let with_body = || parsed.functions.iter().filter(|f| f.body.is_some());
    let names: Vec<(String, bool)> = with_body()
        .map(|f| (f.name.to_string(), f.public))
        .collect();
    let named = names.iter().position(|f| f.0 == "main");
    let Some(at) = named
        .or_else(|| names.iter().position(|f| f.1))
        .or(if names.is_empty() { None } else { Some(0) })
    else {
        bail!(Input, "the program has no function")
    };
    let (mut lowered, notes) = lower::lower(parsed, Some(&names[at].0))?;
    let main = lowered
        .pop()
        .expect("the function that was asked for is lowered")?;
    let mut module = Module {
        source: source.into(),
        names,
        main: main.clone(),
        signature: Arc::new(signature::signature(parsed, at)),
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
    set_policy(attribute).map_err(|e| e.at(*pos))?;
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

    /// The main function as the source declares it.
    pub fn signature(&self) -> &MainSignature {
        &self.signature
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

    /// The error with its file, and with the line of the text, or the location that bytecode has of
    /// the operation in the program that was compiled.
    pub fn locate(&self, e: Error, file: Option<&str>) -> Error {
        locate(e, &self.source, file)
    }

    fn raised(&self, f: Arc<Function>) -> Arc<Function> {
        match self.raises {
            true => Arc::new(raise(&f)),
            false => f,
        }
    }

    fn others(&self) -> &[Result<Arc<Function>>] {
        self.others.get_or_init(|| {
            let all = parsed(&self.source).and_then(|t| lower::lower(&t, None));
            let all = all.map_or_else(|e| vec![Err(e); self.names.len()], |(all, _)| all);
            let raised = |f: Result<Arc<Function>>| f.map(|f| self.raised(f));
            all.into_iter().map(raised).collect()
        })
    }
}
