//! [`Loc`]: the place where an equation was written: in a text, in a Rust program, or in a program
//! of another language.
//!
//! A front end for another language stores its places in a table of the process ([`Loc::foreign`]).
//! It calls this library inside [`Loc::scope`], because the Rust caller is then the front end.

use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard};

/// Where an equation was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loc {
    /// Unknown, or made by a transform.
    #[default]
    None,
    /// Line and column (both from 1) of a text.
    Text(u32, u32),
    /// A place in a Rust program.
    Rust(&'static Location<'static>),
    /// A place in a program of another language: an index of the table of [`Loc::foreign`].
    Foreign(u32),
}

/// A line of a program in another language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The function around it; empty if there is none.
    pub function: Arc<str>,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match &*self.function {
            "" => Ok(()),
            function => write!(f, ", in {function}"),
        }
    }
}

/// Maximum number of lines in the table. Generated programs could fill the memory otherwise.
const MAX_SOURCE_LINES: usize = 1 << 20;

/// The lines of other languages that locations refer to. They live as long as the process.
#[derive(Default)]
struct SourceLines {
    all: Vec<SourceLine>,
    index: FxHashMap<SourceLine, u32>,
}

static SOURCE_LINES: Mutex<Option<SourceLines>> = Mutex::new(None);

fn source_lines() -> MutexGuard<'static, Option<SourceLines>> {
    SOURCE_LINES.lock().unwrap_or_else(|e| e.into_inner())
}

thread_local! {
    /// The location that [`Loc::caller`] returns, unless it is [`Loc::None`].
    static SCOPE: Cell<Loc> = const { Cell::new(Loc::None) };
}

/// Restores the previous scope, also after a panic.
struct Restored(Loc);

impl Drop for Restored {
    fn drop(&mut self) {
        SCOPE.set(self.0);
    }
}

impl Loc {
    /// The location of a line of another language. Equal lines are one location. The line is stored
    /// until the process ends; after about a million lines, the location of a new one is unknown.
    ///
    /// ```
    /// use cotangent_core::Loc;
    /// let loc = Loc::foreign("fit.py", 12, "loss");
    /// assert_eq!(loc, Loc::foreign("fit.py", 12, "loss"));
    /// assert_eq!(loc.to_string(), "fit.py:12, in loss");
    /// let line = loc.source_line().unwrap();
    /// assert_eq!((&*line.file, line.line, &*line.function), ("fit.py", 12, "loss"));
    /// ```
    pub fn foreign(file: &str, line: u32, function: &str) -> Loc {
        let mut lines = source_lines();
        let SourceLines { all, index } = lines.get_or_insert_default();
        let line = SourceLine {
            file: file.into(),
            line,
            function: function.into(),
        };
        if let Some(&k) = index.get(&line) {
            return Loc::Foreign(k);
        }
        if all.len() >= MAX_SOURCE_LINES {
            return Loc::None;
        }
        let k = all.len() as u32;
        all.push(line.clone());
        index.insert(line, k);
        Loc::Foreign(k)
    }

    /// The line of another language, if this is a location of one.
    pub fn source_line(self) -> Option<SourceLine> {
        let Loc::Foreign(k) = self else { return None };
        source_lines().as_ref()?.all.get(k as usize).cloned()
    }

    /// Calls `f`. Inside it, operations that this thread records, and errors of calls, have this
    /// location instead of that of the Rust caller. The innermost scope counts; a scope of
    /// [`Loc::None`] restores the locations of Rust callers.
    ///
    /// ```
    /// use cotangent_core::Loc;
    /// let line = Loc::foreign("fit.py", 3, "");
    /// assert_eq!(line.scope(Loc::caller), line);
    /// assert!(matches!(line.scope(|| Loc::None.scope(Loc::caller)), Loc::Rust(_)));
    /// assert!(matches!(Loc::caller(), Loc::Rust(_)));
    /// ```
    pub fn scope<R>(self, f: impl FnOnce() -> R) -> R {
        let _restored = Restored(SCOPE.replace(self));
        f()
    }

    /// The location of the enclosing [`Loc::scope`] of this thread. Outside of scopes, the place in
    /// the Rust program that calls the calling function, if that is marked `#[track_caller]`.
    #[track_caller]
    #[inline]
    pub fn caller() -> Loc {
        match SCOPE.get() {
            Loc::None => Loc::Rust(Location::caller()),
            loc => loc,
        }
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loc::None => Ok(()),
            Loc::Text(line, col) => write!(f, "{line}:{col}"),
            Loc::Rust(l) => write!(f, "{}:{}", l.file(), l.line()),
            Loc::Foreign(_) => match self.source_line() {
                Some(line) => line.fmt(f),
                None => Ok(()),
            },
        }
    }
}
