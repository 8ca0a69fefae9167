//! Places of Python programs as locations of operations.
//!
//! The library stores a location with each operation. A place of a Python program is a row of a
//! table; its location is line 0, which no text has, and the row's number. (Successor: a location
//! of the core for places of other languages.)

use cotangent::extend::Loc;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// A line of a Python program.
#[derive(Clone)]
pub(crate) struct SourcePlace {
    pub file: String,
    pub line: u32,
    function: String,
}

impl SourcePlace {
    /// As a traceback shows it.
    pub(crate) fn note(&self, py: Python<'_>) -> String {
        let text = py
            .import("linecache")
            .and_then(|m| m.call_method1("getline", (&self.file, self.line)))
            .and_then(|line| line.extract::<String>());
        let text = text.unwrap_or_default();
        let head = format!(
            "File \"{}\", line {}, in {}",
            self.file, self.line, self.function
        );
        match text.trim() {
            "" => head,
            text => format!("{head}: {text}"),
        }
    }
}

/// Maximum number of places. Further ones have no location.
const MAX_PLACES: usize = 1 << 16;

#[derive(Default)]
struct Places {
    all: Vec<SourcePlace>,
    /// By code object, which is never freed once it is listed, and line.
    known: FxHashMap<(usize, u32), u32>,
    /// Code objects of known places.
    codes: Vec<Py<PyAny>>,
}

static PLACES: Mutex<Option<Places>> = Mutex::new(None);

/// The place of this number.
pub(crate) fn find(id: u32) -> Option<SourcePlace> {
    let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    places.as_ref()?.all.get(id as usize).cloned()
}

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
            let places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(&id) = places.as_ref().and_then(|p| p.known.get(&key)) {
                return Some(Loc::Text(0, id));
            }
        }
        let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
        if !file.starts_with(package) {
            let function = code.getattr("co_name").ok()?.extract().ok()?;
            return add(
                key,
                code,
                SourcePlace {
                    file,
                    line,
                    function,
                },
            );
        }
        frame = frame.getattr("f_back").ok().filter(|f| !f.is_none())?;
    }
}

fn add(key: (usize, u32), code: Bound<'_, PyAny>, place: SourcePlace) -> Option<Loc> {
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    let places = places.get_or_insert_default();
    if places.all.len() >= MAX_PLACES {
        return None;
    }
    let id = places.all.len() as u32;
    places.all.push(place);
    places.known.insert(key, id);
    places.codes.push(code.unbind());
    Some(Loc::Text(0, id))
}

/// The innermost frame of Python code.
fn current(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    static GETFRAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let getframe = GETFRAME.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("sys")?.getattr("_getframe")?.unbind())
    });
    getframe.ok()?.bind(py).call0().ok()
}
