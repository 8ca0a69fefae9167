//! Places of Python programs as locations of operations.

use cotangent::{Loc, SourceLine};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// A line as a traceback shows it.
pub(crate) fn note(py: Python<'_>, line: &SourceLine) -> String {
    let text = py
        .import("linecache")
        .and_then(|m| m.call_method1("getline", (&*line.file, line.line)))
        .and_then(|line| line.extract::<String>());
    let text = text.unwrap_or_default();
    let SourceLine {
        file,
        line,
        function,
    } = line;
    let head = format!("File \"{file}\", line {line}, in {function}");
    match text.trim() {
        "" => head,
        text => format!("{head}: {text}"),
    }
}

/// Maximum number of lines that are known by their code objects.
const MAX_LINES: usize = 1 << 16;

#[derive(Default)]
struct KnownLines {
    /// By code object, which is never freed once it is listed, and line.
    locs: FxHashMap<(usize, u32), Loc>,
    codes: Vec<Py<PyAny>>,
}

static KNOWN: Mutex<Option<KnownLines>> = Mutex::new(None);

/// The folder of the package.
fn package(py: Python<'_>) -> Option<&str> {
    static FOLDER: PyOnceLock<String> = PyOnceLock::new();
    let folder = FOLDER.get_or_try_init(py, || {
        let file: String = py.import("cotangent")?.getattr("__file__")?.extract()?;
        Ok::<_, PyErr>(file.trim_end_matches("__init__.py").to_owned())
    });
    folder.ok().map(String::as_str)
}

/// The location of the innermost line outside the package that is being executed.
pub(crate) fn here(py: Python<'_>) -> Loc {
    look(py).unwrap_or_default()
}

fn look(py: Python<'_>) -> Option<Loc> {
    let package = package(py)?;
    let mut frame = current(py)?;
    loop {
        let code = frame.getattr("f_code").ok()?;
        let line: u32 = frame.getattr("f_lineno").ok()?.extract().ok()?;
        let key = (code.as_ptr() as usize, line);
        {
            let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(&loc) = known.as_ref().and_then(|k| k.locs.get(&key)) {
                return Some(loc);
            }
        }
        let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
        if !file.starts_with(package) {
            let function: String = code.getattr("co_name").ok()?.extract().ok()?;
            let loc = Loc::foreign(&file, line, &function);
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            let known = known.get_or_insert_default();
            if known.codes.len() < MAX_LINES {
                known.locs.insert(key, loc);
                known.codes.push(code.unbind());
            }
            return Some(loc);
        }
        frame = frame.getattr("f_back").ok().filter(|f| !f.is_none())?;
    }
}

/// The innermost frame of Python code.
fn current(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    static GETFRAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let getframe = GETFRAME.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("sys")?.getattr("_getframe")?.unbind())
    });
    getframe.ok()?.bind(py).call0().ok()
}
