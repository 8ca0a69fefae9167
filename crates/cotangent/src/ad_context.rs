//! [`AdContext`]: the rules and the arithmetic of derivatives, for traced and eager tensors.

use cotangent_core::transform::RuleSet;
use cotangent_core::{Op, Result, Type};
use std::ops::Deref;

/// The rules and the arithmetic of derivatives. There is no global context:
/// [`TracedTensorAdExt`](crate::TracedTensorAdExt) uses the default one.
///
/// ```
/// use cotangent::{TracedTensor, ad::{AdContext, Numerics, RuleSet}};
/// let strict = Numerics { strong_zero: true, ..Numerics::default() };
/// let ad = AdContext::builder().with_extension_rules(RuleSet::default()).with_numerics(strict).build()?;
/// let x = TracedTensor::scalar(0.0);
/// let safe = x.greater(&x).select(&x.sqrt(), &x); // sqrt has an infinite slope where it is not taken
/// assert_eq!(ad.grad(&safe, &x)?.to_tensor()?.item::<f64>()?, 1.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct AdContext(pub(crate) cotangent_core::transform::AdContext);

/// Builds an [`AdContext`].
///
/// ```
/// use cotangent::ad::AdContext;
/// use cotangent::transform::{Numerics, RuleSet};
/// let strong = Numerics { strong_zero: true, ..Numerics::default() };
/// let ad = AdContext::builder().with_extension_rules(RuleSet::default()).with_numerics(strong).build()?;
/// // The gradient of where(x > 0, sqrt(x), 0) at 0, without NaN from the branch that is not taken.
/// let x = cotangent::TracedTensor::scalar(0.0);
/// let y = x.greater(0.0).select(&x.sqrt(), &x.full_like(0.0));
/// assert_eq!(ad.grad(&y, &x)?.to_tensor()?.item::<f64>()?, 0.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Default)]
pub struct AdContextBuilder(cotangent_core::transform::AdContextBuilder);

impl AdContextBuilder {
    /// Adds rules of extension operations, or of operations that the caller does not own.
    pub fn with_extension_rules(self, rules: RuleSet) -> AdContextBuilder {
        AdContextBuilder(self.0.with_extension_rules(rules))
    }

    /// Sets the arithmetic of derivatives.
    pub fn with_numerics(self, numerics: cotangent_core::transform::Numerics) -> AdContextBuilder {
        AdContextBuilder(self.0.with_numerics(numerics))
    }

    /// Sets the operation that adds two cotangents, or two tangents, of one type.
    pub fn with_sum(self, op: impl Into<Op>) -> AdContextBuilder {
        AdContextBuilder(self.0.with_sum(op))
    }

    /// Sets the operation without operands whose result is the zero of a type.
    pub fn with_zeros(self, op: impl Fn(&Type) -> Op + Send + Sync + 'static) -> AdContextBuilder {
        AdContextBuilder(self.0.with_zeros(op))
    }

    /// Sets the operation without operands whose result is one: the cotangent that a gradient
    /// starts from.
    pub fn with_ones(self, op: impl Fn(&Type) -> Op + Send + Sync + 'static) -> AdContextBuilder {
        AdContextBuilder(self.0.with_ones(op))
    }

    /// The context.
    pub fn build(self) -> Result<AdContext> {
        self.0.build().map(AdContext)
    }
}

impl AdContext {
    /// Starts a context.
    pub fn builder() -> AdContextBuilder {
        AdContextBuilder::default()
    }

    /// This context with additional rules. A new rule replaces an existing one for the same
    /// operation.
    pub fn with_rules(&self, rules: RuleSet) -> AdContext {
        AdContext(self.0.with_rules(rules))
    }
}

impl Deref for AdContext {
    type Target = cotangent_core::transform::AdContext;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
