//! Options of the writer: the systems that its text is for, numerics, the file, bounds of loops.

use crate::sharding::Sharding;
use cotangent_core::transform::Numerics;
use cotangent_core::{Error, Result, bail};

/// The systems that the text is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// JAX on a CPU: factorisations are LAPACK's custom calls, some functions those of `chlo`, and
    /// composites keep operations that StableHLO lacks. The text is read again without loss.
    #[default]
    Jax,
    /// Every XLA target: no custom call, no `chlo` and no composite. Operations that StableHLO
    /// lacks are programs over its operations ([`portable`](crate::portable())). Equations have
    /// locations.
    Portable,
}

impl std::str::FromStr for Target {
    type Err = Error;

    fn from_str(name: &str) -> Result<Target> {
        match name {
            "jax" => Ok(Target::Jax),
            "portable" => Ok(Target::Portable),
            _ => bail!(
                UnknownName,
                "the targets are jax and portable, not `{name}`"
            ),
        }
    }
}

/// Options of [`write_as`](crate::write_as).
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions<'a> {
    /// The numerics of derivatives. They become an attribute of the module, unless they are the
    /// default of the format.
    pub numerics: Numerics,
    /// The systems that the text is for.
    pub target: Target,
    /// The name of the file that the functions are from, for locations of equations.
    pub file: Option<&'a str>,
    /// For [`Target::Portable`]: the largest number of steps of `while` loops whose values are
    /// stored for derivatives. Results are NaN if a loop runs longer.
    pub bound: Option<usize>,
    /// Arguments of the first function that give their memory to a result: position of the
    /// argument, and of the result of its type.
    pub donated: &'a [(usize, usize)],
    /// How arguments and results of the first function are divided among devices.
    pub sharding: Option<&'a Sharding>,
}

impl Default for WriteOptions<'_> {
    fn default() -> Self {
        WriteOptions {
            numerics: Numerics::STABLEHLO,
            target: Target::Jax,
            file: None,
            bound: None,
            donated: &[],
            sharding: None,
        }
    }
}
