//! [`MainSignature`]: the main function as a source declares it: types that graphs do not have, and
//! parameters whose memory a call may take.

use crate::ast::{ParsedModule, Ty};
use crate::write::ty;
use cotangent_core::DType;

/// The main function of a source.
#[derive(Clone, Debug)]
pub struct MainSignature {
    /// The name of the module, without `@`.
    pub module: Option<String>,
    /// Parameters, without those that the choice of a platform binds.
    pub parameters: Vec<Parameter>,
    /// Types of the results.
    pub results: Vec<Declared>,
    /// Kinds of memory of the results, where the source has them (`mhlo.memory_kind`).
    pub memory_kinds: Vec<Option<String>>,
}

/// A parameter of the main function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its type.
    pub ty: Declared,
    /// Whether a call may take its memory: the attributes `tf.aliasing_output` and
    /// `jax.buffer_donor`.
    pub donated: bool,
}

/// A type of a parameter or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declared {
    /// An array of this element type: a parameter or result of the graph.
    Array(DType),
    /// A type that graphs hold in a wider one, as it is written: `tensor<3xi4>`.
    Narrow(String),
    /// A token: no parameter and no result of the graph.
    Token,
}

impl Declared {
    fn of(t: &Ty) -> Declared {
        match t {
            Ty::Tensor(t) => Declared::Array(t.dtype),
            Ty::Token => Declared::Token,
            other => Declared::Narrow(ty(other)),
        }
    }
}

/// The declaration of the function at `main` among those with a body.
pub(crate) fn signature(module: &ParsedModule<'_>, main: usize) -> MainSignature {
    let mut with_body = module.functions.iter().filter(|f| f.body.is_some());
    let function = with_body.nth(main);
    let args = function.and_then(|f| f.body.as_ref());
    let args = args.iter().flat_map(|b| &b.args);
    MainSignature {
        module: module.name.as_deref().map(str::to_owned),
        parameters: { args }
            .filter(|a| a.constant.is_none())
            .map(|a| Parameter {
                ty: Declared::of(&a.ty),
                donated: a.donated,
            })
            .collect(),
        memory_kinds: function.map_or(Vec::new(), |f| {
            let mut kinds = f.memory_kinds.clone();
            kinds.resize(f.results.len(), None);
            kinds
        }),
        results: function
            .iter()
            .flat_map(|f| &f.results)
            .map(Declared::of)
            .collect(),
    }
}
