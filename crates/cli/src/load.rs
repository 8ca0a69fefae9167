//! Programs from files: `FILE[@NAME]`, `-` for standard input.

use crate::args::{Args, usage};
use crate::streams;
use cotangent::ad::Policy;
use cotangent::program::{Program, as_text, is_stablehlo};
use cotangent::{AdContext, Code, Error, Function, Result, Val, files, text};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file and the requested module.
pub(crate) struct Target {
    /// The file, `-` for standard input.
    file: PathBuf,
    /// The module after `@`.
    pub module: Option<String>,
    /// Numerics that replace those of the file.
    numerics: Option<Policy>,
}

/// A program after its directives have run, and the requested module.
pub(crate) struct Loaded {
    program: Program,
    /// The requested module.
    pub function: Arc<Function>,
}

impl Loaded {
    /// The context for derivatives, with the numerics of the program.
    pub(crate) fn context(&self) -> Result<AdContext> {
        self.program.context()
    }

    /// The function that derivatives by these values are derived from, and the values in it.
    pub(crate) fn to_derive(&self, wrt: &[Val]) -> (Function, Vec<Val>) {
        self.program.to_derive(&self.function, wrt)
    }

    /// Adds file, line and the text of the line to an error.
    pub(crate) fn locate(&self, e: Error) -> Error {
        self.program.locate(e)
    }
}

impl Target {
    /// Splits `FILE[@NAME]`.
    pub(crate) fn new(args: &Args) -> Result<Target> {
        let numerics = args.numerics;
        let text = args
            .target
            .as_deref()
            .ok_or_else(|| usage("a FILE is missing; `-` reads standard input"))?;
        // A file may have an `@` in its name.
        match if Path::new(text).exists() {
            None
        } else {
            module_of(text)
        } {
            None => Ok(Target {
                file: text.into(),
                module: None,
                numerics,
            }),
            Some((file, Some(name))) => Ok(Target {
                file,
                module: Some(name),
                numerics,
            }),
            Some((_, None)) => Err(usage(format!(
                "the name of the module in {} is not UTF-8 text",
                text.display()
            ))),
        }
    }

    /// Whether it is standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    /// Whether it is a program that `compile` wrote.
    pub(crate) fn is_compiled(&self) -> bool {
        self.file.extension().is_some_and(|e| e == "pjrt")
    }

    /// The name of the file, for messages.
    pub(crate) fn name(&self) -> String {
        self.file.display().to_string()
    }

    /// Replaces the file.
    pub(crate) fn write(&self, text: &str) -> Result<()> {
        files::write(&self.file, text.as_bytes())
    }

    /// Returns an error if an output file is the program itself.
    pub(crate) fn refuse_overwrite(&self, option: &str, path: Option<&Path>) -> Result<()> {
        let same = |path: &Path| {
            !self.is_stdin()
                && matches!((path.canonicalize(), self.file.canonicalize()), (Ok(a), Ok(b)) if a == b)
        };
        match path.filter(|p| same(p)) {
            Some(p) => Err(usage(format!(
                "{option} {} is the program itself, which it would replace",
                p.display()
            ))),
            None => Ok(()),
        }
    }

    /// The contents of the file.
    pub(crate) fn source(&self) -> Result<Vec<u8>> {
        let bytes = if self.is_stdin() {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(&self.file)
        };
        bytes.map_err(|e| Error::new(Code::Io, format!("cannot read {}: {e}", self.name())))
    }

    /// The program before its directives run: modules and directives.
    pub(crate) fn written(&self) -> Result<text::Program> {
        let source = self.source()?;
        if is_stablehlo(&source, Some(&self.name())) {
            let program = self.program(&source)?;
            let main = text::Program::from_modules([program.main().clone()])?;
            return Ok(main.with_numerics(program.numerics()));
        }
        let name = self.name();
        text::Program::parse_over(
            as_text(&source, Some(&name))?,
            Some(&name),
            &[],
            self.numerics.unwrap_or_default(),
        )
    }

    /// The program after its directives have run. Notes about dropped parts are printed on standard
    /// error.
    pub(crate) fn program(&self, source: &[u8]) -> Result<Program> {
        let program = Program::parse(source, Some(&self.name()))?;
        program
            .notes()
            .iter()
            .for_each(|n| streams::report(&format!("note: {}: {n}", self.name())));
        Ok(match self.numerics {
            Some(choices) => program.with_policy(choices),
            None => program,
        })
    }

    /// The requested module after the directives have run: by name, or the main module of the file.
    pub(crate) fn load(&self) -> Result<Loaded> {
        let program = self.program(&self.source()?)?;
        let function = match &self.module {
            Some(name) => program.function(name)?,
            None => program.main().clone(),
        };
        Ok(Loaded { program, function })
    }

    /// The inputs next to the file, if they exist: `model.npz` for `model.tgraph`.
    pub(crate) fn sibling(&self) -> Option<PathBuf> {
        let path = self.file.with_extension("npz");
        (!self.is_stdin() && path.exists()).then_some(path)
    }
}

/// The parts of `FILE@NAME`. The name is `None` if it is not UTF-8.
#[cfg(unix)]
fn module_of(text: &OsStr) -> Option<(PathBuf, Option<String>)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = text.as_bytes();
    let at = bytes.iter().rposition(|&b| b == b'@')?;
    let name = String::from_utf8(bytes[at + 1..].to_vec()).ok();
    Some((OsStr::from_bytes(&bytes[..at]).into(), name))
}

#[cfg(not(unix))]
fn module_of(text: &OsStr) -> Option<(PathBuf, Option<String>)> {
    let (file, name) = text.to_str()?.rsplit_once('@')?;
    Some((file.into(), Some(name.into())))
}
