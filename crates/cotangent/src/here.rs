//! Source locations of the user's calls.

use cotangent_core::{Loc, Result};

/// The source location of the caller of a method that is marked `#[track_caller]`, or that of the
/// enclosing [`Loc::scope`]. In a closure it is a location of this crate, so closures capture it.
#[track_caller]
pub(crate) fn here() -> Loc {
    Loc::caller()
}

/// A result whose error gets the caller's location.
pub(crate) trait AtCaller {
    /// The result; its error has the caller's location, unless it has another one.
    #[track_caller]
    fn at_caller(self) -> Self;
}

impl<T> AtCaller for Result<T> {
    #[track_caller]
    fn at_caller(self) -> Result<T> {
        let loc = here();
        self.map_err(|e| e.at(loc))
    }
}

/// As `bail!`, in a method that is marked `#[track_caller]`: the error has the caller's location.
macro_rules! bail_here {
    ($code:ident, $($arg:tt)*) => {
        return Err($crate::Error::new($crate::Code::$code, format!($($arg)*)).at($crate::here::here()))
    };
}

pub(crate) use bail_here;
