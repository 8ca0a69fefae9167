//! StableHLO text: as JAX and PyTorch print it, read into Cotangent graphs; and any graph as such text.
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
//! Reading is two steps: `parser` follows the grammar, `lower` the meaning. Both are linear in the text, recurse over
//! nesting only, which is limited, and give errors with line, column and what was written there. [`write()`] goes back.

mod ast;
mod constant;
mod lexer;
mod lower;
mod parser;
mod write;

pub use write::write;

use cotangent_core::{Function, Result, bail};
use std::sync::Arc;

/// A text that has been read: its functions.
#[derive(Clone, Debug)]
pub struct Module {
    functions: Vec<(String, bool, Result<Arc<Function>>)>,
    main: Arc<Function>,
}

/// Reads StableHLO text; `file` is what errors call it.
///
/// # Errors
/// The text does not follow the grammar, or its main function (`main`, or the first public one) reaches an operation
/// that is not supported or not well formed.
pub fn read(text: &str, file: Option<&str>) -> Result<Module> {
    read_module(text).map_err(|e| cotangent_core::text::locate(e, text, file))
}

fn read_module(text: &str) -> Result<Module> {
    let all = lower::lower(&parser::parse(text)?)?;
    let main = all.iter().find(|f| f.0 == "main").or_else(|| all.iter().find(|f| f.1)).or(all.first());
    let main = match main {
        Some(f) => f.2.clone()?,
        None => bail!(Input, "the text has no function"),
    };
    Ok(Module { functions: all, main })
}

impl Module {
    /// The function `main`; if there is none, the first public one, or the first.
    pub fn main(&self) -> &Arc<Function> {
        &self.main
    }

    /// The names of all functions, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|f| f.0.as_str())
    }

    /// Whether others may call the function of this name.
    pub fn is_public(&self, name: &str) -> bool {
        self.functions.iter().any(|f| f.0 == name && f.1)
    }

    /// The function of this name.
    ///
    /// # Errors
    /// There is none, or it reaches an operation that is not supported.
    pub fn function(&self, name: &str) -> Result<Arc<Function>> {
        match self.functions.iter().find(|f| f.0 == name) {
            Some(f) => f.2.clone(),
            None => {
                let names: Vec<&str> = self.names().collect();
                bail!(UnknownName, "there is no function `@{name}`; the text has {}", names.join(", "))
            }
        }
    }
}
