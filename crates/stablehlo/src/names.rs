//! Names that the reader and the writer share.

/// Attribute of a module that specifies the numerics of its derivatives.
pub(crate) const NUMERICS: &str = "cotangent.numerics";
/// Prefix of composite names that the reader turns into operations.
pub(crate) const COMPOSITE_PREFIX: &str = "cotangent.";
/// Name of the module in the attribute of a composite.
pub(crate) const COMPOSITE_MODULE: &str = "op";
