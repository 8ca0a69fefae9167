//! Programs from files: `FILE[@NAME]`, `-` for standard input.

use crate::args::usage;
use cotangent::program::{Program, is_stablehlo};
use cotangent::{AdContext, Code, Error, Function, Result, text};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file and the module that was asked for.
pub struct Target {
    /// The file, `-` for standard input.
    pub file: String,
    /// The module after `@`.
    pub module: Option<String>,
}

/// A program, its directives done, and the module that was asked for.
pub struct Loaded {
    program: Program,
    /// The module.
    pub function: Arc<Function>,
}

impl Loaded {
    /// The rules that its derivatives are taken with.
    pub fn context(&self) -> Result<AdContext> {
        self.program.context()
    }

    /// Adds file, line and the line's text to an error.
    pub fn locate(&self, e: Error) -> Error {
        self.program.locate(e)
    }
}

impl Target {
    /// Splits `FILE[@NAME]`.
    pub fn new(text: Option<&str>) -> Result<Target> {
        let text = text.ok_or_else(|| usage("a FILE is missing; `-` reads standard input"))?;
        Ok(match text.rsplit_once('@') {
            // A file may have an `@` in its name.
            Some((file, name)) if !Path::new(text).exists() => Target { file: file.into(), module: Some(name.into()) },
            _ => Target { file: text.into(), module: None },
        })
    }

    /// The text of the file.
    pub fn source(&self) -> Result<String> {
        let bytes = if self.file == "-" {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(&self.file)
        };
        let bytes = bytes.map_err(|e| Error::new(Code::Io, format!("cannot read {}: {e}", self.file)))?;
        String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            Error::new(Code::Syntax, format!("{} is not UTF-8 text (byte {at})", self.file))
        })
    }

    /// The program as it is written: modules and directives.
    pub fn program(&self) -> Result<text::Program> {
        let source = self.source()?;
        if is_stablehlo(&source, Some(&self.file)) {
            return text::Program::from_modules([Program::parse(&source, Some(&self.file))?.main().clone()]);
        }
        text::Program::parse(&source, Some(&self.file))
    }

    /// The module that was asked for, after the directives have run: by name, or the first of the file.
    pub fn load(&self) -> Result<Loaded> {
        let program = Program::parse(&self.source()?, Some(&self.file))?;
        let function = match &self.module {
            Some(name) => program.function(name)?,
            None => program.main().clone(),
        };
        Ok(Loaded { program, function })
    }

    /// The inputs that stand beside the file: `model.npz` for `model.tgraph`.
    pub fn sibling(&self) -> Option<PathBuf> {
        let path = Path::new(&self.file).with_extension("npz");
        (self.file != "-" && path.exists()).then_some(path)
    }
}
