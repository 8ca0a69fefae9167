//! Host callbacks: calls into the Python process that printed the text, which is not available.
//!
//! A callback whose results reach no result of the program (`jax.debug.print`, a progress bar) is
//! dropped, with one note per module. A callback whose results are read is an error. The analysis
//! runs backward over the text from the results of public functions. An operation is live if one of
//! its results is, and then its operands are live. Loops, branches and calls are analysed per
//! result.

use super::attributes::{attribute, find};
use super::function::FunctionLowering;
use super::module::ModuleLowering;
use crate::ast::{Attr, Operation, Signature, Ty};
use crate::host_call::HostCall;
use cotangent_core::primitive::Vals;
use cotangent_core::{Code, DType, Dim, Error, Loc, Op, Result, Type};

impl ModuleLowering<'_> {
    /// The note about dropped callbacks.
    pub(super) fn dropped_callbacks(&self) -> Option<String> {
        let mut positions: Vec<Loc> = self.dropped.borrow().iter().copied().collect();
        positions.sort_unstable();
        let (first, rest) = positions.split_first()?;
        let place = match first {
            Loc::Text(line, _) => format!("line {line}"),
            other => other.to_string(),
        };
        let (what, whose, more) = match rest.len() {
            0 => ("a host callback", "its", String::new()),
            n => ("host callbacks", "their", format!(", and {n} more")),
        };
        Some(format!(
            "{what} dropped ({place}{more}): {whose} results reach no result of the program"
        ))
    }
}

/// The error for a callback whose results are read.
pub(super) fn unsupported_callback(name: &str) -> Error {
    let text = format!(
        "the host callback `@{name}` is not supported: its results are read, and it calls Python"
    );
    Error::new(Code::UnknownOperation, text)
}

/// The custom call of a function of the host, by an index in its `backend_config`.
pub(super) const HOST_CALLBACK: &str = "cotangent_callback";

/// Lowers a call of the host. Tokens come first among its operands and results.
pub(super) fn host_callback(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let config = find(op, &["backend_config"]).and_then(Attr::word);
    let Some(index) = config.and_then(|index| index.parse().ok()) else {
        return Err(attribute(op, "backend_config", "the index of a function"));
    };
    let is_token = |t: &&Ty| matches!(t, Ty::Token);
    let given = match &op.signature {
        Signature::Function(types, _) => types.iter().take_while(is_token).count(),
        _ => 0,
    };
    let token = Type::new(DType::Bool, vec![Dim::Const(0)]);
    let returned = op.result_types().unwrap_or_default().iter();
    let returned = returned.take_while(is_token).count();
    let mut types = vec![token];
    for k in returned..op.count as usize {
        types.push(f.result(op, k)?);
    }
    let effect = find(op, &["has_side_effect"]).and_then(Attr::bool) == Some(true);
    let call = HostCall::new(index, given, types, effect);
    let results = f.cx().emit(Op::extension(call), &f.operands(op)?);
    Ok(match returned {
        0 => results.into_iter().skip(1).collect(),
        _ => results,
    })
}

/// Lowers a callback. If its results are read, that is an error; otherwise they are replaced by
/// zeros.
pub(super) fn callback(f: &FunctionLowering<'_>, op: &Operation<'_>, name: &str) -> Result<Vals> {
    if f.lowering.needed.places.contains(&op.pos) {
        return Err(unsupported_callback(name));
    }
    f.lowering.dropped.borrow_mut().insert(op.pos);
    // Unknown extents become 0: the value is unused.
    let nothing = |k: usize| {
        let ty = f.result(op, k)?;
        let extents = ty.shape.iter().map(|d| {
            if d.as_const().is_some() {
                d.clone()
            } else {
                0usize.into()
            }
        });
        let ty = ty.with_shape(extents.collect::<Vec<_>>());
        Ok(if ty.dtype == DType::Bool {
            f.cx().full(&ty, false)
        } else {
            f.cx().zeros(&ty)
        })
    };
    (0..op.count as usize).map(nothing).collect()
}
