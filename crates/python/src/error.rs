//! Errors of the library as Python exceptions: classes by code, notes, places of the user's lines.

use crate::place;
use cotangent::extend::Loc;
use cotangent::{Code, Error, ad};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The module of exception classes, which are defined in Python because they have two bases.
fn classes(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("cotangent._errors")?.unbind())
    })?;
    Ok(module.bind(py))
}

/// An exception of the class of this code.
pub(crate) fn raise(code: &str, message: impl AsRef<str>) -> PyErr {
    Python::attach(|py| of_code(py, code, message.as_ref(), None, &[]).unwrap_or_else(|e| e))
}

fn of_code(
    py: Python<'_>,
    code: &str,
    message: &str,
    at: Option<(String, u32)>,
    notes: &[String],
) -> PyResult<PyErr> {
    let args = PyDict::new(py);
    args.set_item("where", at)?;
    let error = classes(py)?
        .getattr("of_code")?
        .call((code, message), Some(&args))?;
    for note in notes {
        error.call_method1("add_note", (note,))?;
    }
    Ok(PyErr::from_value(error))
}

/// The exception of an error. An error that holds an exception of the user's function, or one that
/// ended a run, is that exception.
pub(crate) fn python(py: Python<'_>, e: Error) -> PyErr {
    let held = match e.code() {
        Code::Interrupted => crate::run::take_signal(),
        _ => e
            .take_foreign()
            .and_then(|x| x.downcast::<PyErr>().ok())
            .map(|x| *x),
    };
    if let Some(thrown) = held {
        return thrown;
    }
    let (mut notes, mut at) = (e.notes().to_vec(), None);
    let mut message = e.message().to_owned();
    match e.loc() {
        Loc::Foreign(_) => {
            if let Some(line) = e.loc().source_line() {
                notes.insert(0, place::note(py, &line));
                at = Some((line.file.to_string(), line.line));
            }
        }
        Loc::Text(line, column) => {
            let text = e.to_string();
            let end = text.find(&format!("{line}:{column}: "));
            let file = end.map_or("", |n| text[..n].trim_end_matches(':'));
            message = match file {
                "" => format!("{line}:{column}: {message}"),
                file => format!("{file}:{line}:{column}: {message}"),
            };
            at = Some((file.to_owned(), line));
        }
        Loc::Byte(at) => message = format!("byte {at}: {message}"),
        Loc::None | Loc::Rust(_) => {}
    }
    let code = format!("{:?}", e.code());
    of_code(py, &code, &message, at, &notes).unwrap_or_else(|e| e)
}

/// Converts results of the library.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|e| python(py, e))
    }
}

impl<T> OrRaise<T> for Result<T, ad::Error> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|e| python(py, e.into()))
    }
}

/// The error of a closure that ends a trace whose result is not wanted.
pub(crate) fn stop() -> Error {
    Error::foreign(Box::new(()))
}

/// The result of `f`. A panic, which is a defect of the library, is an exception that says what to
/// report.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or(panic.downcast_ref::<&str>().copied())
            .unwrap_or("a panic");
        raise(
            "Internal",
            format!(
                "a defect of cotangent {}, please report it: {text}",
                env!("CARGO_PKG_VERSION")
            ),
        )
    })
}
