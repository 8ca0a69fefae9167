//! Names that the reader and the writer share.

/// The attribute of a module that says how it is differentiated.
pub const NUMERICS: &str = "cotangent.numerics";
/// Prefix of composite names that the reader takes as operations.
pub const COMPOSITE_PREFIX: &str = "cotangent.";
/// Name of the module in the attribute of a composite.
pub const COMPOSITE_MODULE: &str = "op";
