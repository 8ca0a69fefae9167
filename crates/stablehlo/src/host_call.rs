//! [`HostCall`]: the operation of a custom call `cotangent_callback`, a call of the program that
//! runs the graph.
//!
//! The reader knows its index and types. A runtime that can call its host has a kernel for the name
//! [`HOST_CALL`].

use cotangent_core::primitive::{Linearized, no_rule};
use cotangent_core::transform::{Lin, Lv};
use cotangent_core::{
    Arg, Array, Attrs, Batched, Code, Cost, Dim, Emit, Env, Error, Primitive, Result, Type, Val,
};

/// The name of the operation, for [kernels](cotangent_core::Primitive::name).
pub const HOST_CALL: &str = "host_call";

/// A call of the host. Its first result is a token: an empty array that orders calls.
#[derive(Clone, Debug)]
pub struct HostCall {
    /// The number of the function of the host.
    pub index: i64,
    /// Number of operands that are tokens. They come first.
    pub tokens: usize,
    /// Types of the results, the token included.
    results: Vec<Type>,
    /// Whether it is executed although no result is needed.
    effect: bool,
}

impl HostCall {
    pub(crate) fn new(index: i64, tokens: usize, results: Vec<Type>, effect: bool) -> HostCall {
        HostCall {
            index,
            tokens,
            results,
            effect,
        }
    }

    /// The call that an operation is.
    ///
    /// # Errors
    /// The operation is another one.
    pub fn of(op: &dyn Primitive) -> Result<HostCall> {
        if op.name() != HOST_CALL {
            let text = format!("`{}` is not a call of the host", op.name());
            return Err(Error::new(Code::Invalid, text));
        }
        let mut attrs = op.attrs();
        Ok(HostCall {
            index: attrs.get("index")?,
            tokens: attrs.get("tokens")?,
            results: Vec::new(),
            effect: op.must_run(),
        })
    }
}

impl Primitive for HostCall {
    fn name(&self) -> &str {
        HOST_CALL
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with("index", self.index)
            .with("tokens", self.tokens)
    }

    fn infer(&self, _: &[Type]) -> Result<Vec<Type>> {
        Ok(self.results.clone())
    }

    fn eval(&self, _: &[Array], _: &Env) -> Result<Vec<Array>> {
        let text = "the program calls its host, and this runtime has no function for it";
        Err(Error::new(Code::UnknownOperation, text))
    }

    fn has_effect(&self) -> bool {
        true
    }

    fn must_run(&self) -> bool {
        self.effect
    }

    fn linearize(&self, _: &Lin<'_>, _: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Err(no_rule(self, "linearize"))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}
