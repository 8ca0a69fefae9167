//! [`Program`]: functions read from text, ours or StableHLO, to be run, called and differentiated like any other.

use crate::traced::{here, record_in};
use crate::{AdContext, Array, Error, Function, Result, TracedTensor, bail, text};
use std::sync::Arc;

/// The functions of a text.
///
/// ```
/// use cotangent::{Program, TracedTensor, closures::{grad, vmap}};
/// let text = "
///     func.func @main(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
///       %0 = stablehlo.multiply %x, %y : tensor<f64>
///       %1 = stablehlo.sine %0 : tensor<f64>
///       return %1 : tensor<f64>
///     }";
/// let program = Program::from_stablehlo(text)?;
/// let f = |x: TracedTensor| Ok::<_, cotangent::Error>(program.call(&[x, TracedTensor::scalar(2.0)])?.remove(0));
/// let x = TracedTensor::from_vec_row_major(vec![2], vec![0.0, 0.5]);
/// let slope = vmap(grad(f))(x)?.to_tensor()?.to_vec::<f64>()?;
/// assert!((slope[0] - 2.0).abs() < 1e-15 && (slope[1] - 2.0 * 1f64.cos()).abs() < 1e-15);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    functions: Vec<Named>,
    main: Arc<Function>,
    is_stablehlo: bool,
    source: Arc<str>,
    file: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
struct Named {
    name: String,
    public: bool,
    function: Result<Arc<Function>>,
}

impl Program {
    /// Reads StableHLO text, as JAX and PyTorch print it.
    ///
    /// # Errors
    /// The text does not follow the grammar, or its main function reaches an operation that is not supported: then the
    /// message names it, with line and column.
    pub fn from_stablehlo(text: &str) -> Result<Program> {
        Program::stablehlo(text, None)
    }

    /// Reads text in the form of this library, and derives what its directives ask for.
    ///
    /// # Errors
    /// As [`text::Program::parse`], and those of the derivatives.
    pub fn from_tgraph(text: &str) -> Result<Program> {
        Program::tgraph(text, None)
    }

    /// Reads either: `.mlir` files and texts with StableHLO in them are StableHLO. `file` is what messages call it.
    pub fn parse(text: &str, file: Option<&str>) -> Result<Program> {
        if is_stablehlo(text, file) { Program::stablehlo(text, file) } else { Program::tgraph(text, file) }
    }

    fn stablehlo(source: &str, file: Option<&str>) -> Result<Program> {
        let module = cotangent_stablehlo::read(source, file)?;
        let named = |n: &str| Named { name: n.into(), public: module.is_public(n), function: module.function(n) };
        let functions = module.names().map(named).collect();
        Ok(Program {
            functions,
            main: module.main().clone(),
            is_stablehlo: true,
            source: source.into(),
            file: file.map(Into::into),
        })
    }

    fn tgraph(source: &str, file: Option<&str>) -> Result<Program> {
        let program = text::Program::parse(source, file)?.derive(&AdContext::default())?;
        let named = |m: &Arc<Function>| Named { name: m.name.to_string(), public: true, function: Ok(m.clone()) };
        let functions = program.modules().map(named).collect();
        let Some(main) = program.modules().next().cloned() else { bail!(Input, "the text has no module") };
        Ok(Program { functions, main, is_stablehlo: false, source: source.into(), file: file.map(Into::into) })
    }

    /// The arithmetic that derivatives of this text need.
    ///
    /// StableHLO does not say what had a derivative of its own: where a guard against a singular branch was one, only a
    /// `select` is left, and the cotangent zero of the branch that was not taken would meet an infinite slope. So there a
    /// zero stays zero ([`Numerics::strong_zero`](crate::ad::Numerics)).
    pub fn context(&self) -> Result<AdContext> {
        let numerics = crate::ad::Numerics { strong_zero: self.is_stablehlo, ..Default::default() };
        AdContext::builder().with_numerics(numerics).build()
    }

    /// The function `main`; if there is none, the first public one, or the first.
    pub fn main(&self) -> &Arc<Function> {
        &self.main
    }

    /// The names of all functions, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|f| f.name.as_str())
    }

    /// The function of this name.
    ///
    /// # Errors
    /// There is none, or it reaches an operation that is not supported.
    pub fn function(&self, name: &str) -> Result<Arc<Function>> {
        match self.functions.iter().find(|f| f.name == name) {
            Some(f) => f.function.clone().map_err(|e| self.locate(e)),
            None => {
                let names: Vec<String> = self.names().map(|n| format!("@{n}")).collect();
                let file = self.file.as_deref().unwrap_or("the text");
                bail!(UnknownName, "{file} has no module @{name}; it has {}", names.join(", "))
            }
        }
    }

    /// The functions that others may call, the main one first.
    ///
    /// # Errors
    /// One of them reaches an operation that is not supported.
    pub fn public(&self) -> Result<Vec<Arc<Function>>> {
        let others = self.functions.iter().filter(|f| f.public);
        let others = others.map(|f| f.function.clone().map_err(|e| self.locate(e))).collect::<Result<Vec<_>>>()?;
        let rest = others.into_iter().filter(|f| !Arc::ptr_eq(f, &self.main));
        Ok(std::iter::once(self.main.clone()).chain(rest).collect())
    }

    /// The public functions as StableHLO text, which XLA accepts.
    ///
    /// ```
    /// use cotangent::Program;
    /// let program = Program::from_tgraph("
    ///     tgraph.module @square {
    ///       %x = tgraph.arg : tensor<3xf32>
    ///       %y = tgraph.mul %x, %x
    ///       tgraph.return %y
    ///     }")?;
    /// assert!(program.to_stablehlo()?.contains("stablehlo.multiply %x, %x : tensor<3xf32>"));
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// An operation has no StableHLO form.
    pub fn to_stablehlo(&self) -> Result<String> {
        cotangent_stablehlo::write(&self.public()?)
    }

    /// The public functions in the text form of this library.
    pub fn to_tgraph(&self) -> Result<String> {
        Ok(text::Program::from_modules(self.public()?)?.to_string())
    }

    /// Runs the main function on arrays.
    pub fn run(&self, args: &[Array]) -> Result<Vec<Array>> {
        crate::run(&self.main, args).map_err(|e| self.locate(e))
    }

    /// Writes the main function where traced tensors are: a step of a larger program, which closures may
    /// differentiate, batch and compile.
    #[track_caller]
    pub fn call(&self, x: &[TracedTensor]) -> Result<Vec<TracedTensor>> {
        let f = &self.main;
        let types = x.iter().map(TracedTensor::ty).collect::<Result<Vec<_>>>()?;
        f.apply_types(&types).map_err(|e| e.at(here()))?;
        record_in(AdContext::default().session(), here(), &x.iter().collect::<Vec<_>>(), |cx, x| cx.call(f, x).to_vec())
    }

    /// Adds the file and the line of the text to an error whose place is in it.
    pub fn locate(&self, e: Error) -> Error {
        text::locate(e, &self.source, self.file.as_deref())
    }
}

/// Whether a text is StableHLO: by the name of its file, else by what stands in it.
///
/// ```
/// use cotangent::program::is_stablehlo;
/// assert!(is_stablehlo("", Some("model.mlir")));
/// assert!(!is_stablehlo("tgraph.module @m {", None));
/// ```
pub fn is_stablehlo(text: &str, file: Option<&str>) -> bool {
    match file.and_then(|f| f.rsplit_once('.')) {
        Some((_, "mlir")) => true,
        Some((_, "tgraph")) => false,
        _ => !text.contains("tgraph.") && ["func.func", "stablehlo."].iter().any(|w| text.contains(w)),
    }
}
