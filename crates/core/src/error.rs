//! Errors with a stable code, a message that says what would be right, and a place.
//!
//! A user's mistake is an [`Error`]; our own bug is a panic. Codes are what programs match on and
//! never change.

use std::fmt;
use std::sync::Arc;

/// Result with our error.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, as a name that programs may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Code {
    /// Text that does not follow the grammar.
    Syntax,
    UnknownOperation,
    UnknownName,
    DuplicateName,
    UnknownDType,
    /// Wrong number of operands, results, tangents or attributes of an operation.
    Arity,
    /// An attribute is missing, unknown or out of range.
    Attribute,
    ShapeMismatch,
    DTypeMismatch,
    /// A structural invariant of a graph does not hold (see `verify`).
    Invalid,
    NonScalarOutput,
    ComplexLoss,
    IntegerInput,
    IntegerOutput,
    NoRule,
    NotLinear,
    RuleArity,
    RuleType,
    SeedMismatch,
    TangentMismatch,
    BranchMismatch,
    CarryMismatch,
    ForeignValue,
    Unbound,
    GraphFreed,
    /// A call inside a closure needs what the call around the closure holds.
    Busy,
    ModifiedInPlace,
    CustomVjpForward,
    EffectInCheckpoint,
    RankVaries,
    ReverseWhile,
    OutOfBounds,
    /// A matrix has no Cholesky factor.
    NotPositiveDefinite,
    /// A system of equations has no unique solution.
    Singular,
    /// A derivative does not exist because a matrix lacks rank.
    RankDeficient,
    /// A derivative does not exist because eigenvalues or singular values coincide.
    DegenerateSpectrum,
    /// An iteration ended without a solution.
    NotConverged,
    /// A law of `check` does not hold.
    CheckFailed,
    /// A limit of this library: nesting, size, memory.
    Limit,
    /// An input file or array is missing or malformed.
    Input,
    /// Reading or writing failed.
    Io,
}

/// Where an equation was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loc {
    /// Not known, or made by a transform from nothing in particular.
    #[default]
    None,
    /// Line and column (both from 1) of a text.
    Text(u32, u32),
    /// A place in a Rust program.
    Rust(&'static std::panic::Location<'static>),
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loc::None => Ok(()),
            Loc::Text(line, col) => write!(f, "{line}:{col}"),
            Loc::Rust(l) => write!(f, "{}:{}", l.file(), l.line()),
        }
    }
}

/// An error: code, message, place and further lines of help.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: Code,
    message: String,
    loc: Loc,
    file: Option<Arc<str>>,
    notes: Vec<String>,
}

/// Characters of a message, or of a note, that are kept.
const LONGEST: usize = 1200;
/// Characters of one word of it: a path, a type, a name in quotes without blanks.
const LONGEST_NAME: usize = 200;

/// A message as it is shown, whatever names a text or a file put into it. Reports of checks have
/// many lines, which are their own.
fn spoken(code: Code, message: String) -> String {
    if code == Code::CheckFailed {
        message
    } else {
        shown(&message, LONGEST)
    }
}

/// A text for people to read, of at most about so many characters: what a terminal would obey is
/// escaped, and words that are too long are cut. Every message of an [`Error`] is made by this;
/// what is printed otherwise and was chosen by a file should be, too.
///
/// ```
/// use cotangent_core::error::shown;
/// assert_eq!(shown("a\x1b[31mb", 40), "a\\u{1b}[31mb");
/// assert!(shown(&"x".repeat(1_000_000), 100).len() < 110);
/// ```
pub fn shown(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most + 8));
    let (mut all, mut word) = (0usize, 0usize);
    for c in text.chars() {
        if all >= most {
            out.push_str("..");
            break;
        }
        word = if c == ' ' { 0 } else { word + 1 };
        if word > LONGEST_NAME {
            // The rest of this word, but for a quote that closes it.
            out.push_str(if word == LONGEST_NAME + 1 { ".." } else { "" });
            if c != '`' {
                continue;
            }
        }
        all += 1;
        // Controls, and characters that change the direction or the place of others.
        if c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

impl Error {
    /// A new error without a place.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        let message = spoken(code, message.into());
        Error(Box::new(Inner {
            code,
            message,
            loc: Loc::None,
            file: None,
            notes: Vec::new(),
        }))
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message without place and notes.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The place, if known.
    pub fn loc(&self) -> Loc {
        self.0.loc
    }

    /// Sets the place unless an inner one is known already.
    pub fn at(mut self, loc: Loc) -> Error {
        if self.0.loc == Loc::None {
            self.0.loc = loc;
        }
        self
    }

    /// Sets the file name shown before the place.
    pub fn in_file(mut self, file: &str) -> Error {
        self.0
            .file
            .get_or_insert_with(|| shown(file, LONGEST_NAME).into());
        self
    }

    /// Adds a line of context or help.
    pub fn note(mut self, note: impl Into<String>) -> Error {
        self.0.notes.push(spoken(self.0.code, note.into()));
        self
    }

    /// The further lines.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            code,
            message,
            loc,
            file,
            notes,
        } = &*self.0;
        match (file, loc) {
            (Some(file), Loc::None | Loc::Rust(_)) => write!(f, "{file}: ")?,
            (Some(file), Loc::Text(..)) => write!(f, "{file}:{loc}: ")?,
            (None, Loc::Text(..)) => write!(f, "{loc}: ")?,
            (None, _) => {}
        }
        write!(f, "{message} [{code:?}]")?;
        if let Loc::Rust(_) = loc {
            write!(f, "\n  at {loc}")?;
        }
        for note in notes {
            write!(f, "\n  {note}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// Returns early with an [`Error`]: `bail!(ShapeMismatch, "... {x}")`.
#[macro_export]
macro_rules! bail {
    ($code:ident, $($arg:tt)*) => {
        return Err($crate::Error::new($crate::Code::$code, format!($($arg)*)))
    };
}
