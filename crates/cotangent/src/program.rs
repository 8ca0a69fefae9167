//! [`Program`]: functions that are read from tgraph text or StableHLO, and run, called and differentiated.

use crate::ad::{Numerics, Policy};
use crate::here::{AtCaller, here};
use crate::rewrite::raise_for_derivatives;
use crate::traced::record_in;
use crate::{AdContext, Array, Code, Error, Function, Result, TracedTensor, Val, bail, text};
use cotangent_stablehlo::{Target, WriteOptions};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    origin: Arc<Origin>,
    main: Arc<Function>,
    numerics: Numerics,
    file: Option<Arc<str>>,
    notes: Vec<String>,
}

/// The parsed text. A function is derived or lowered on its first use.
#[derive(Debug)]
enum Origin {
    StableHlo(cotangent_stablehlo::Module),
    Tgraph {
        program: text::Program,
        source: Arc<str>,
        derived: Mutex<FxHashMap<String, Arc<Function>>>,
        /// Why the text cannot be read with other numerics.
        broken: Option<Error>,
    },
}

impl Program {
    /// Reads StableHLO: text as JAX and PyTorch print it, a portable artefact (`.mlirbc`), or a
    /// file of `jax.export`.
    ///
    /// # Errors
    /// The source is malformed, or its main function reaches an unsupported operation. The message
    /// names the operation, with line and column, or with its offset and its line of the program
    /// that JAX compiled.
    pub fn from_stablehlo(source: impl AsRef<[u8]>) -> Result<Program> {
        Program::stablehlo(source.as_ref(), None)
    }

    /// Reads tgraph text. Functions of directives are derived on their first use
    /// ([`function`](Self::function)).
    ///
    /// # Errors
    /// As [`text::Program::parse`].
    pub fn from_tgraph(text: &str) -> Result<Program> {
        Program::tgraph(text, None)
    }

    /// Reads either form, as [`is_stablehlo`] decides. `file` is the file name in messages.
    pub fn parse(source: impl AsRef<[u8]>, file: Option<&str>) -> Result<Program> {
        let source = source.as_ref();
        if is_stablehlo(source, file) {
            return Program::stablehlo(source, file);
        }
        Program::tgraph(as_text(source, file)?, file)
    }

    fn stablehlo(source: &[u8], file: Option<&str>) -> Result<Program> {
        let module = cotangent_stablehlo::read(source, file)?;
        let (main, numerics, notes) = (
            module.main().clone(),
            module.numerics(),
            module.notes().to_vec(),
        );
        let origin = Arc::new(Origin::StableHlo(module));
        Ok(Program {
            origin,
            main,
            numerics,
            file: file.map(Into::into),
            notes,
        })
    }

    fn tgraph(source: &str, file: Option<&str>) -> Result<Program> {
        Program::tgraph_over(source, file, Policy::default())
    }

    /// The text with choices of numerics that replace those at its head.
    fn tgraph_over(source: &str, file: Option<&str>, over: Policy) -> Result<Program> {
        let program = text::Program::parse_over(source, file, &[], over)?;
        let public = || program.names().filter(|n| n.1).map(|n| n.0);
        let main = public().find(|n| *n == "main").or_else(|| public().next());
        let Some(main) = main.or_else(|| program.names().next().map(|n| n.0)) else {
            let e = Error::new(Code::Input, "the text has no module");
            return Err(match file {
                Some(file) => e.in_file(file),
                None => e,
            });
        };
        let main = program
            .derive_one(&AdContext::default(), main)?
            .expect("its name was listed");
        let numerics = program.numerics();
        let origin = Arc::new(Origin::Tgraph {
            program,
            source: source.into(),
            derived: Mutex::default(),
            broken: None,
        });
        let file = file.map(Into::into);
        Ok(Program {
            origin,
            main,
            numerics,
            file,
            notes: Vec::new(),
        })
    }

    /// The arithmetic of derivatives that the text specifies: `tgraph.numerics` at its head, or
    /// `cotangent.numerics` of a StableHLO module. The defaults are [`Numerics::TGRAPH`] and
    /// [`Numerics::STABLEHLO`].
    ///
    /// ```
    /// use cotangent::{Program, ad};
    /// let quotient = "
    ///     tgraph.module @m {
    ///       %x = tgraph.arg : f64
    ///       %y = tgraph.arg : f64
    ///       %q = tgraph.div %x, %y
    ///       tgraph.return %q
    ///     }";
    /// assert!(Program::from_tgraph(quotient)?.numerics().zero_division_nan);
    /// let ieee = format!("tgraph.numerics {{zero_division = \"ieee\"}}\n{quotient}");
    /// assert!(!Program::from_tgraph(&ieee)?.numerics().zero_division_nan);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn numerics(&self) -> Numerics {
        self.numerics
    }

    /// The program with another arithmetic of derivatives than its text specifies, also in its
    /// directives. Attributes of a directive take precedence.
    ///
    /// ```
    /// use cotangent::{Array, Program, ad::{self, Numerics}};
    /// let text = "
    ///     tgraph.module @m {
    ///       %x = tgraph.arg : f64
    ///       %y = tgraph.arg : f64
    ///       %q = tgraph.div %x, %y
    ///       tgraph.return %q
    ///     }
    ///     tgraph.adjoint @m wrt(%x) -> @slope";
    /// let at = [Array::scalar(1.0), Array::scalar(0.0)];
    /// let slope = |p: &Program| Ok::<_, cotangent::Error>(cotangent::run(&p.function("slope")?, &at)?[0].to_f64()[0]);
    /// let program = Program::from_tgraph(text)?;
    /// assert!(slope(&program)?.is_nan());
    /// assert_eq!(slope(&program.with_numerics(Numerics::default()))?, f64::INFINITY);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn with_numerics(self, numerics: Numerics) -> Program {
        self.with_policy(numerics.into())
    }

    /// The program with choices that replace those of its text: numerics, and whether directives of
    /// a tgraph text derive from numerically stable forms.
    ///
    /// ```
    /// use cotangent::{Array, Program, ad::Policy};
    /// let text = "
    ///     tgraph.module @m {
    ///       %x = tgraph.arg : f64
    ///       %e = tgraph.exp %x
    ///       %y = tgraph.log1p %e
    ///       tgraph.return %y
    ///     }
    ///     tgraph.adjoint @m wrt(%x) -> @slope";
    /// let at = [Array::scalar(1000.0)];
    /// let slope = |p: &Program| Ok::<_, cotangent::Error>(cotangent::run(&p.function("slope")?, &at)?[0].to_f64()[0]);
    /// let program = Program::from_tgraph(text)?;
    /// assert_eq!(slope(&program)?, 1.0);
    /// let written = Policy { raise: Some(false), ..Policy::default() };
    /// assert_ne!(slope(&program.with_policy(written))?, 1.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn with_policy(self, choices: Policy) -> Program {
        let numerics = choices.or(self.numerics);
        let Origin::Tgraph {
            program, source, ..
        } = &*self.origin
        else {
            return Program { numerics, ..self };
        };
        let raises = choices.raise.unwrap_or(program.raises());
        if (self.numerics, program.raises()) == (numerics, raises) {
            return self;
        }
        let all = Policy {
            raise: Some(raises),
            ..numerics.into()
        };
        // Directives are derived again. The text is known to parse; a derivative that does not
        // exist is an error of `function`.
        match Program::tgraph_over(source, self.file.as_deref(), all) {
            Ok(program) => program,
            Err(e) => {
                let (program, broken) = (program.clone(), Some(e));
                let origin = Arc::new(Origin::Tgraph {
                    program,
                    source: source.clone(),
                    derived: Mutex::default(),
                    broken,
                });
                Program {
                    numerics,
                    origin,
                    ..self
                }
            }
        }
    }

    /// A function and the values to differentiate it by, as directives of the text derive it: from
    /// numerically stable forms, unless the text specifies `raise = false`. StableHLO text is
    /// raised when it is read.
    pub fn to_derive(&self, f: &Function, wrt: &[Val]) -> (Function, Vec<Val>) {
        match &*self.origin {
            Origin::Tgraph { program, .. } if program.raises() => raise_for_derivatives(f, wrt),
            _ => (f.clone(), wrt.to_vec()),
        }
    }

    /// The context of derivatives: the rules of the operations, and the arithmetic that the text
    /// specifies ([`numerics`](Self::numerics)).
    pub fn context(&self) -> Result<AdContext> {
        AdContext::builder().with_numerics(self.numerics).build()
    }

    /// The function `main`; if there is none, the first public one, or the first.
    pub fn main(&self) -> &Arc<Function> {
        &self.main
    }

    /// Notes on omitted parts of the text: host callbacks whose results are unused.
    ///
    /// ```
    /// let text = r#"func.func @main(%x: tensor<f64>) -> tensor<f64> {
    ///   stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true} : (tensor<f64>) -> ()
    ///   return %x : tensor<f64>
    /// }"#;
    /// let program = cotangent::Program::from_stablehlo(text)?;
    /// assert!(program.notes()[0].starts_with("a host callback dropped (line 2)"));
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The names of all functions, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (text, stablehlo) = match &*self.origin {
            Origin::Tgraph { program, .. } => (Some(program.names().map(|n| n.0)), None),
            Origin::StableHlo(module) => (None, Some(module.names())),
        };
        text.into_iter()
            .flatten()
            .chain(stablehlo.into_iter().flatten())
    }

    /// The function of this name.
    ///
    /// # Errors
    /// There is no such function, it reaches an unsupported operation, or a directive specifies a
    /// derivative that does not exist.
    pub fn function(&self, name: &str) -> Result<Arc<Function>> {
        let found = match &*self.origin {
            Origin::StableHlo(module) if !module.names().any(|n| n == name) => None,
            Origin::StableHlo(module) => Some(module.function(name).map_err(|e| self.locate(e))?),
            Origin::Tgraph {
                broken: Some(e), ..
            } => return Err(e.clone()),
            Origin::Tgraph { .. } if *self.main.name == *name => Some(self.main.clone()),
            Origin::Tgraph {
                program, derived, ..
            } => {
                let known = derived
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get(name)
                    .cloned();
                match known {
                    Some(f) => Some(f),
                    None => {
                        let made = program.derive_one(&AdContext::default(), name)?;
                        if let Some(f) = &made {
                            derived
                                .lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .insert(name.to_owned(), f.clone());
                        }
                        made
                    }
                }
            }
        };
        match found {
            Some(f) => Ok(f),
            None => {
                let names: Vec<String> = self.names().map(|n| format!("@{n}")).collect();
                let file = self.file.as_deref().unwrap_or("the text");
                bail!(
                    UnknownName,
                    "{file} has no module @{name}; it has {}",
                    names.join(", ")
                )
            }
        }
    }

    /// The public functions, the main one first.
    ///
    /// # Errors
    /// A function reaches an unsupported operation, or a derivative does not exist.
    pub fn public(&self) -> Result<Vec<Arc<Function>>> {
        let all = match &*self.origin {
            Origin::StableHlo(module) => {
                let names = module.names().filter(|n| module.is_public(n));
                names
                    .map(|n| module.function(n).map_err(|e| self.locate(e)))
                    .collect::<Result<Vec<_>>>()?
            }
            Origin::Tgraph {
                broken: Some(e), ..
            } => return Err(e.clone()),
            // Derived in this order, because a function may depend on earlier ones.
            Origin::Tgraph { program, .. } => {
                let all = program.derive(&AdContext::default())?;
                all.marked().filter(|m| m.1).map(|m| m.0.clone()).collect()
            }
        };
        let rest = all.into_iter().filter(|f| f.name != self.main.name);
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
        self.stablehlo_of(&self.public()?)
    }

    /// The named functions as StableHLO text; the first one is the main function.
    ///
    /// # Errors
    /// As [`to_stablehlo`](Self::to_stablehlo).
    pub fn stablehlo_of(&self, functions: &[Arc<Function>]) -> Result<String> {
        self.stablehlo_for(functions, Target::Jax, None)
    }

    /// The named functions as StableHLO text for a target; the first one is the main function.
    /// `bound` is that of [`WriteOptions`].
    ///
    /// ```
    /// use cotangent::Program;
    /// use cotangent::stablehlo::Target;
    /// let program = Program::from_tgraph("
    ///     tgraph.module @values {
    ///       %a = tgraph.arg : tensor<3x3xf64>
    ///       %w = tgraph.eigh %a {vectors = false}
    ///       tgraph.return %w
    ///     }")?;
    /// let functions = [program.main().clone()];
    /// let text = program.stablehlo_for(&functions, Target::Portable, None)?;
    /// assert!(!text.contains("custom_call"));
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// An operation has no form for this target.
    pub fn stablehlo_for(
        &self,
        functions: &[Arc<Function>],
        target: Target,
        bound: Option<usize>,
    ) -> Result<String> {
        let options = WriteOptions {
            target,
            bound,
            ..WriteOptions::default()
        };
        self.stablehlo_with(functions, &options)
    }

    /// As [`stablehlo_for`](Self::stablehlo_for), with all options of the writer. Numerics and file
    /// are those of the program.
    ///
    /// ```
    /// use cotangent::Program;
    /// use cotangent::pjrt::{Mesh, Spec};
    /// use cotangent::stablehlo::{Sharding, Target, WriteOptions};
    /// let program = Program::from_tgraph("
    ///     tgraph.module @double {
    ///       %x = tgraph.arg : tensor<8xf32>
    ///       %y = tgraph.add %x, %x : tensor<8xf32>
    ///       tgraph.return %y : tensor<8xf32>
    ///     }")?;
    /// let (mesh, rows) = (Mesh::new(&[("data", 4)])?, Spec::new(&[Some("data")]));
    /// let sharding = Sharding::of(program.main(), &mesh, &[("x", rows.clone())], &[rows])?;
    /// let options = WriteOptions {
    ///     target: Target::Portable,
    ///     sharding: Some(&sharding),
    ///     ..Default::default()
    /// };
    /// let text = program.stablehlo_with(&[program.main().clone()], &options)?;
    /// assert!(text.contains("sdy.mesh @mesh = <[\"data\"=4]>"));
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// An operation has no form for this target.
    pub fn stablehlo_with(
        &self,
        functions: &[Arc<Function>],
        options: &WriteOptions<'_>,
    ) -> Result<String> {
        let options = WriteOptions {
            numerics: self.numerics,
            file: self.file.as_deref(),
            ..*options
        };
        cotangent_stablehlo::write_as(functions, &options).map_err(|e| self.locate(e))
    }

    /// The public functions as tgraph text.
    pub fn to_tgraph(&self) -> Result<String> {
        self.tgraph_of(self.public()?)
    }

    /// The named functions as tgraph text; the first one is the main function.
    ///
    /// # Errors
    /// Two of them have one name.
    pub fn tgraph_of(&self, functions: Vec<Arc<Function>>) -> Result<String> {
        Ok(text::Program::from_modules(functions)?
            .with_numerics(self.numerics)
            .to_string())
    }

    /// Runs the main function on arrays.
    pub fn run(&self, args: &[Array]) -> Result<Vec<Array>> {
        crate::run(&self.main, args).map_err(|e| self.locate(e))
    }

    /// Emits the main function into the trace of the operands, as a part of a larger program, which
    /// closures may differentiate, batch and compile.
    #[track_caller]
    pub fn call(&self, x: &[TracedTensor]) -> Result<Vec<TracedTensor>> {
        let f = &self.main;
        let types = x.iter().map(TracedTensor::ty).collect::<Result<Vec<_>>>()?;
        f.apply_types(&types).at_caller()?;
        record_in(
            AdContext::default().session(),
            here(),
            &x.iter().collect::<Vec<_>>(),
            |cx, x| cx.call(f, x).to_vec(),
        )
    }

    /// Adds the file and the line of the text to an error with a position in the text. An error
    /// with an offset in bytecode gets the line of the program that JAX compiled.
    pub fn locate(&self, e: Error) -> Error {
        let file = self.file.as_deref();
        match &*self.origin {
            Origin::StableHlo(module) => module.locate(e, file),
            Origin::Tgraph { source, .. } => text::locate(e, source, file),
        }
    }
}

/// Bytes as text. `file` is the file name in messages.
///
/// ```
/// use cotangent::program::as_text;
/// assert_eq!(as_text(b"tgraph", None)?, "tgraph");
/// assert!(as_text(b"\xff", Some("a.tgraph")).is_err());
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// They are not UTF-8.
pub fn as_text<'s>(source: &'s [u8], file: Option<&str>) -> Result<&'s str> {
    std::str::from_utf8(source).map_err(|e| {
        let (name, at) = (file.unwrap_or("the source"), e.valid_up_to());
        Error::new(
            Code::Syntax,
            format!("{name} is not UTF-8 text (byte {at})"),
        )
    })
}

/// Whether a source is StableHLO: by the extension of its file, otherwise by its contents. Bytes
/// that are not UTF-8 are bytecode.
///
/// ```
/// use cotangent::program::is_stablehlo;
/// assert!(is_stablehlo("", Some("model.mlir")) && is_stablehlo("", Some("model.mlirbc")));
/// assert!(is_stablehlo(b"ML\xefR", None));
/// assert!(!is_stablehlo("tgraph.module @m {", None));
/// ```
pub fn is_stablehlo(source: impl AsRef<[u8]>, file: Option<&str>) -> bool {
    match file.and_then(|f| f.rsplit_once('.')) {
        Some((_, "mlir" | "mlirbc" | "jax_export")) => true,
        Some((_, "tgraph")) => false,
        _ => match std::str::from_utf8(source.as_ref()) {
            Ok(text) => {
                !text.contains("tgraph.")
                    && ["func.func", "stablehlo."].iter().any(|w| text.contains(w))
            }
            Err(_) => true,
        },
    }
}
