//! Errors with a stable code, a message with a way out, and a source location.
//!
//! A mistake of the user is an [`Error`]; a bug of this library is a panic. Programs match on
//! codes, which never change.

pub use crate::loc::{Loc, SourceLine};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Stable names of the kinds of errors.
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
    /// A call inside a closure needs a resource that the enclosing call holds.
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
    /// The hook of a run ended it.
    Interrupted,
    /// A device, its plugin or StableHLO lacks a function or a type.
    Unsupported,
    /// Tensors of different devices meet in one operation.
    DeviceMismatch,
    /// A device has too little memory.
    OutOfMemory,
    /// A device or its compiler failed.
    DeviceLost,
    /// An error of the program that calls this library: see [`Error::foreign`].
    Foreign,
}

/// An error: code, message, location and notes.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: Code,
    message: String,
    loc: Loc,
    file: Option<Arc<str>>,
    notes: Vec<String>,
    payload: Option<Arc<ForeignPayload>>,
}

/// The value of a [foreign error](Error::foreign), until it is taken. Clones of the error share it.
type ForeignPayload = Mutex<Option<Box<dyn Any + Send>>>;

/// Maximum number of characters of a message or a note. Longer ones are cut.
const MAX_MESSAGE_CHARS: usize = 1200;
/// Maximum number of characters of a word of a message: a path, a type, or a quoted name without
/// blanks.
const MAX_WORD_CHARS: usize = 200;

/// The message for display: escaped and cut, because names in it may come from a file. Reports of
/// checks are not changed.
fn spoken(code: Code, message: String) -> String {
    if code == Code::CheckFailed {
        message
    } else {
        shown(&message, MAX_MESSAGE_CHARS)
    }
}

/// Returns `text` with at most about `most` characters for display. Control characters are escaped,
/// and long words are cut. Every message of an [`Error`] passes through it. Other printed text that
/// comes from a file should, too.
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
        if word > MAX_WORD_CHARS {
            // Skips the rest of the word, except for a closing quote.
            out.push_str(if word == MAX_WORD_CHARS + 1 { ".." } else { "" });
            if c != '`' {
                continue;
            }
        }
        all += 1;
        // Control characters, and characters that change the direction or the position of others.
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
    /// A new error without a location.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        let message = spoken(code, message.into());
        Error(Box::new(Inner {
            code,
            message,
            loc: Loc::None,
            file: None,
            notes: Vec::new(),
            payload: None,
        }))
    }

    /// An error of the program that calls this library, for example an exception of another
    /// language: a closure returns it, it passes through tracing and transforms like any error, and
    /// [`Error::take_foreign`] gives the same value back to the caller of the transform. The
    /// message is the payload, if that is a string.
    ///
    /// ```
    /// use cotangent_core::{Code, Error};
    /// struct Exception { number: i32 }
    /// let e = Error::foreign(Box::new(Exception { number: 7 })).note("in a closure");
    /// assert_eq!(e.code(), Code::Foreign);
    /// let copy = e.clone();
    /// let payload = e.take_foreign().unwrap().downcast::<Exception>().ok().unwrap();
    /// assert_eq!(payload.number, 7);
    /// assert!(copy.take_foreign().is_none()); // it was taken
    /// ```
    pub fn foreign(payload: Box<dyn Any + Send>) -> Error {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied());
        let message = text.unwrap_or("an error of the calling program").to_owned();
        let mut e = Error::new(Code::Foreign, message);
        e.0.payload = Some(Arc::new(Mutex::new(Some(payload))));
        e
    }

    /// Takes the payload of a [foreign error](Error::foreign) out of it and its clones. `None` for
    /// another error, and after the payload was taken.
    pub fn take_foreign(&self) -> Option<Box<dyn Any + Send>> {
        let payload = self.0.payload.as_ref()?;
        payload.lock().unwrap_or_else(|e| e.into_inner()).take()
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message without location and notes.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The location, if known.
    pub fn loc(&self) -> Loc {
        self.0.loc
    }

    /// Sets the location, unless an inner one is already set.
    pub fn at(mut self, loc: Loc) -> Error {
        if self.0.loc == Loc::None {
            self.0.loc = loc;
        }
        self
    }

    /// Sets the file name that is shown before the location.
    pub fn in_file(mut self, file: &str) -> Error {
        self.0
            .file
            .get_or_insert_with(|| shown(file, MAX_WORD_CHARS).into());
        self
    }

    /// Adds a line of context or help.
    pub fn note(mut self, note: impl Into<String>) -> Error {
        self.0.notes.push(spoken(self.0.code, note.into()));
        self
    }

    /// The error of a call of `method` on operands of these types. The message names the method and
    /// these types in place of the operation that failed in it. A foreign error stays as it is.
    ///
    /// ```
    /// use cotangent_core::{Code, Error};
    /// let e = Error::new(Code::OutOfBounds, "`slice` of f64[2]: 5..6 is not within the axis");
    /// assert_eq!(e.of_call("split", ["f64[2,1]"]).message(), "`split` of f64[2,1]: 5..6 is not within the axis");
    /// ```
    pub fn of_call<T: fmt::Display>(
        mut self,
        method: &str,
        operands: impl IntoIterator<Item = T>,
    ) -> Error {
        if self.0.payload.is_some() {
            return self;
        }
        let message = std::mem::take(&mut self.0.message);
        let named = message.strip_prefix('`').and_then(|m| m.split_once('`'));
        // An attribute in backquotes is followed by its value.
        let named = named.filter(|(_, rest)| !rest.starts_with(" ="));
        let of_operands = |reason: &str| format!("`{method}` of {}: {reason}", listed(operands));
        self.0.message = match named {
            Some((op, _)) if op == method => message,
            Some((_, rest)) => {
                let reason = match rest.strip_prefix(" of ") {
                    Some(rest) => rest.split_once(": ").map(|r| r.1),
                    None => rest.strip_prefix(": "),
                };
                match reason {
                    Some(reason) => of_operands(reason),
                    None => format!("`{method}`{rest}"),
                }
            }
            None => of_operands(&message),
        };
        self
    }

    /// Lines of context and help.
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
            payload: _,
        } = &*self.0;
        match (file, loc) {
            (Some(file), Loc::None | Loc::Rust(_) | Loc::Foreign(_)) => write!(f, "{file}: ")?,
            (Some(file), Loc::Text(..) | Loc::Byte(_)) => write!(f, "{file}:{loc}: ")?,
            (None, Loc::Text(..) | Loc::Byte(_)) => write!(f, "{loc}: ")?,
            (None, _) => {}
        }
        write!(f, "{message} [{code:?}]")?;
        if let Loc::Rust(_) | Loc::Foreign(_) = loc {
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

/// Things as a list for messages: `f64[2], f64[] and i1[]`.
fn listed<T: fmt::Display>(things: impl IntoIterator<Item = T>) -> String {
    let mut all: Vec<String> = things.into_iter().map(|t| t.to_string()).collect();
    match all.pop() {
        None => "no tensors".to_owned(),
        Some(last) if all.is_empty() => last,
        Some(last) => format!("{} and {last}", all.join(", ")),
    }
}

/// Returns early with an [`Error`]: `bail!(ShapeMismatch, "... {x}")`.
#[macro_export]
macro_rules! bail {
    ($code:ident, $($arg:tt)*) => {
        return Err($crate::Error::new($crate::Code::$code, format!($($arg)*)))
    };
}
