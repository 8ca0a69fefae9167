//! Environment variables that select how kernels run. An unknown value is reported on standard
//! error at the first use and ignored.
//!
//! | variable | |
//! |---|---|
//! | `COTANGENT_THREADS` | maximum number of threads, 1 or more |
//! | `COTANGENT_SIMD` | `portable`, `avx2`, `avx512`: the instruction set |
//! | `COTANGENT_ENGINE` | `interpreter`, `emitter`: the engine of fused loops |

use std::io::Write;

/// Returns the value that `read` gives for the variable `name`. Returns `None` if the variable is
/// not set or not valid. `known` describes the valid values for the message.
pub fn chosen<T>(name: &str, known: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let text = std::env::var_os(name)?;
    let choice = text.to_str().and_then(read);
    if choice.is_none() {
        // A failure to write the message is ignored.
        let text = text.to_string_lossy();
        let _ = writeln!(
            std::io::stderr(),
            "cotangent: {name}={} is ignored: it may be {known}",
            text.escape_debug()
        );
    }
    choice
}
