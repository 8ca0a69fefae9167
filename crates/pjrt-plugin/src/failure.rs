//! Errors with the codes of PJRT.

use cotangent::Code;
use pjrt::code;

/// The result of a slot, and the outcome of work.
pub(crate) type Answer = Result<(), Failure>;

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
            Code::UnknownOperation | Code::NoRule | Code::Unsupported => code::UNIMPLEMENTED,
            Code::OutOfMemory => code::RESOURCE_EXHAUSTED,
            Code::Interrupted => code::ABORTED,
            Code::Syntax | Code::ShapeMismatch | Code::Arity | Code::Input => {
                code::INVALID_ARGUMENT
            }
            _ => code::INTERNAL,
        };
        Failure::new(code, e.to_string())
    }
}
