//! Errors with the codes of PJRT, and the slots that read them.

use crate::call::{Answer, Call, give, release};
use cotangent::Code;
use pjrt::{args, code};

/// An error that a slot returns.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Failure {
        let message = message.into();
        Failure { code, message }
    }

    /// An argument that is wrong.
    pub(crate) fn argument(message: impl Into<String>) -> Failure {
        Failure::new(code::INVALID_ARGUMENT, message)
    }

    /// A feature that does not exist.
    pub(crate) fn unimplemented(message: impl Into<String>) -> Failure {
        Failure::new(code::UNIMPLEMENTED, message)
    }

    /// The error of code that panicked.
    pub(crate) fn panicked(payload: &(dyn std::any::Any + Send)) -> Failure {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message");
        Failure::new(code::INTERNAL, format!("the runtime panicked: {text}"))
    }
}

impl From<cotangent::Error> for Failure {
    fn from(e: cotangent::Error) -> Failure {
        let code = match e.code() {
            Code::UnknownOperation | Code::NoRule => code::UNIMPLEMENTED,
            Code::Interrupted => code::ABORTED,
            Code::Syntax | Code::ShapeMismatch | Code::Arity | Code::Input => {
                code::INVALID_ARGUMENT
            }
            _ => code::INTERNAL,
        };
        Failure::new(code, e.to_string())
    }
}

pub(crate) fn destroy(call: &mut Call<args::ErrorDestroy>) -> Answer {
    release::<Failure>(call.error);
    Ok(())
}

pub(crate) fn message(call: &mut Call<args::ErrorMessage>) -> Answer {
    let message = &call.handle::<Failure>(call.error)?.message;
    (call.message, call.message_size) = (message.as_ptr().into(), message.len());
    Ok(())
}

pub(crate) fn code(call: &mut Call<args::ErrorGetCode>) -> Answer {
    call.code = call.handle::<Failure>(call.error)?.code;
    Ok(())
}

/// The error as a handle, or null.
pub(crate) fn as_handle(outcome: Answer) -> pjrt::Pointer {
    outcome.map_or_else(give, |()| Default::default())
}
