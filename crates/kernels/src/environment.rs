//! Variables of the environment that choose how kernels run. One that says something else is told
//! so on the error stream, when it is first asked for, and chooses nothing.
//!
//! | variable | |
//! |---|---|
//! | `COTANGENT_THREADS` | the most threads, 1 or more |
//! | `COTANGENT_SIMD` | `portable`, `avx2`, `avx512`: the widest vectors |
//! | `COTANGENT_ENGINE` | `interpreter`, `emitter`: what runs fused loops |

use std::io::Write;

/// What a variable chooses, if it is set and `read` knows what it says; `known` says in words what
/// that may be.
pub(crate) fn chosen<T>(
    name: &str,
    known: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let text = std::env::var_os(name)?;
    let choice = text.to_str().and_then(read);
    if choice.is_none() {
        // Where it cannot be said, that is no reason to panic.
        let text = text.to_string_lossy();
        let _ = writeln!(
            std::io::stderr(),
            "cotangent: {name}={} is ignored: it may be {known}",
            text.escape_debug()
        );
    }
    choice
}
