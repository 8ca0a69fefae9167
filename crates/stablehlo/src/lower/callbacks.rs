//! Host callbacks: calls back into the Python that printed the text, which is not here.
//!
//! A callback whose results reach no result of the program (what `jax.debug.print` prints, a
//! progress bar) is dropped, and the module says so once. One whose results are read is refused.
//! Which ones are read is decided on the text, backward from the results of the functions that
//! others may call: an operation is needed if one of its results is, and then so are its operands;
//! loops, branches and calls are followed result by result.

use super::function::FunctionLowering;
use super::module::ModuleLowering;
use super::needed::{TextPosition, place};
use crate::ast::Operation;
use cotangent_core::primitive::Vals;
use cotangent_core::{Code, DType, Error, Result};

impl ModuleLowering<'_> {
    /// What a text says about the callbacks that were left out.
    pub(super) fn dropped_callbacks(&self) -> Option<String> {
        let mut places: Vec<TextPosition> = self.dropped.borrow().iter().copied().collect();
        places.sort_unstable();
        let (&(line, _), rest) = places.split_first()?;
        let (what, whose, more) = match rest.len() {
            0 => ("a host callback", "its", String::new()),
            n => ("host callbacks", "their", format!(", and {n} more")),
        };
        Some(format!(
            "{what} dropped (line {line}{more}): {whose} results reach no result of the program"
        ))
    }
}

/// The error of a callback whose results are read.
pub(super) fn refused(name: &str) -> Error {
    let text = format!(
        "the host callback `@{name}` is not supported: its results are read, and it calls Python"
    );
    Error::new(Code::UnknownOperation, text)
}

/// A callback: refused if its results are read; otherwise whatever stands for them is read by
/// nobody.
pub(super) fn callback(f: &FunctionLowering<'_>, op: &Operation<'_>, name: &str) -> Result<Vals> {
    if f.lowering.needed.places.contains(&place(op)) {
        return Err(refused(name));
    }
    f.lowering.dropped.borrow_mut().insert(place(op));
    // Extents that the text does not say: nobody asks for them.
    let nothing = |k: usize| {
        let ty = f.result(op, k)?;
        let known = ty.shape.iter().map(|d| {
            if d.as_const().is_some() {
                d.clone()
            } else {
                0usize.into()
            }
        });
        let ty = ty.with_shape(known.collect::<Vec<_>>());
        Ok(if ty.dtype == DType::Bool {
            f.cx().full(&ty, false)
        } else {
            f.cx().zeros(&ty)
        })
    };
    (0..op.count as usize).map(nothing).collect()
}
