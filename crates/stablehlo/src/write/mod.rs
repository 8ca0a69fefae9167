//! Writer of graphs as StableHLO text, in MLIR's pretty form.
//!
//! The writer is an emitter ([`Emit`]). An operation of StableHLO becomes a line; any other is
//! decomposed into simpler operations. Bodies are inlined into regions, and a called function
//! becomes a `func.func`. An operation whose decomposition has other bits or derivatives becomes a
//! composite. An operation without a StableHLO form is an error.
//!
//! A symbolic extent is printed as `?`. Where its value is needed, it is computed from
//! `get_dimension_size` of a parameter, or from the value that determines it. A `while` with
//! stacked results is written twice; the first loop counts the steps.

mod composite;
mod constant;
mod control;
mod elementwise;
mod emit;
mod linalg;
mod live;
mod movement;
mod names;
mod ops;
mod options;
mod reduce;
mod sliding;
mod text;
mod tree;

pub(crate) use live::retain as retain_live;
pub use options::{Target, WriteOptions};
pub(crate) use tree::{tree, ty};

use crate::names::NUMERICS;
use crate::portable::portable;
use crate::sharding::{Sharding, Spec};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{Numerics, Policy, Session};
use cotangent_core::{Emit, EmitterStatus, Function, Result, Type};
use names::{FunctionNames, WrittenFunction, symbol};
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::sync::Arc;
use text::{TextEmitter, show, tuple};

/// Comment with the version and the dialects of the text. `chlo` has functions that StableHLO
/// lacks.
const HEADER: &str = "// StableHLO 1.4 and chlo.\n";

/// As [`HEADER`], for [`Target::Portable`].
const PORTABLE_HEADER: &str = "// StableHLO 1.4.\n";

/// The text of functions, simplified. The first one is named `@main`, unless another has that name.
/// Called functions follow.
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Type};
/// let b = Builder::new("main", Default::default());
/// let x = b.param(Type::new(DType::F32, vec![2.into()]), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.exp(x);
/// let f = b.finish(&[y]).unwrap();
/// let text = cotangent_stablehlo::write(&[f.into()]).unwrap();
/// assert!(text.contains("%0 = stablehlo.exponential %x : tensor<2xf32>"));
/// assert_eq!(cotangent_stablehlo::read(&text, None).unwrap().main().eqns().len(), 1);
/// ```
///
/// # Errors
/// An operation has no StableHLO form: an extension, or a function that neither StableHLO nor chlo
/// has. Values of opaque types have none.
pub fn write(functions: &[Arc<Function>]) -> Result<String> {
    write_with(functions, Numerics::STABLEHLO)
}

/// As [`write()`], with the numerics of derivatives. They become an attribute of the module, unless
/// they are the default of the format.
///
/// ```
/// use cotangent_core::transform::{Numerics, Session};
/// let b = cotangent_core::Builder::new("main", Session::default());
/// let f = b.finish(&[]).unwrap();
/// let text = cotangent_stablehlo::write_with(&[f.into()], Numerics::TGRAPH).unwrap();
/// assert_eq!(cotangent_stablehlo::read(&text, None).unwrap().numerics(), Numerics::TGRAPH);
/// ```
///
/// # Errors
/// As [`write()`].
pub fn write_with(functions: &[Arc<Function>], numerics: Numerics) -> Result<String> {
    let options = WriteOptions {
        numerics,
        ..WriteOptions::default()
    };
    write_as(functions, &options)
}

/// As [`write()`], with options.
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Type};
/// use cotangent_stablehlo::{Target, WriteOptions};
/// let b = Builder::new("main", Default::default());
/// let x = b.param(Type::new(DType::F32, vec![2.into()]), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.erf(x);
/// let f = [std::sync::Arc::new(b.finish(&[y]).unwrap())];
/// let portable = WriteOptions { target: Target::Portable, ..Default::default() };
/// assert!(cotangent_stablehlo::write(&f).unwrap().contains("chlo.erf"));
/// assert!(!cotangent_stablehlo::write_as(&f, &portable).unwrap().contains("chlo"));
/// ```
///
/// # Errors
/// As [`write()`]. [`Target::Portable`] also refuses `eig` and `schur` of general matrices, large
/// matrices in `eigh` and `svd`, and extents without a bound: the error names the equation.
pub fn write_as(functions: &[Arc<Function>], options: &WriteOptions<'_>) -> Result<String> {
    functions.iter().try_for_each(|f| f.check_arrays())?;
    if let (Some(sharding), Some(f)) = (options.sharding, functions.first()) {
        let arguments: Vec<Type> = f.params().iter().map(|&p| f.ty(p).clone()).collect();
        sharding.check(&arguments, &f.result_types())?;
    }
    let names = RefCell::new(FunctionNames::default());
    let any_main = functions.iter().any(|f| &*f.name == "main");
    for (k, f) in functions.iter().enumerate() {
        let f = &match options.target {
            Target::Jax => f.clone(),
            Target::Portable => Arc::new(portable(&simplify(f), options.bound)?),
        };
        names.borrow_mut().add(
            &Arc::new(simplify(f)),
            if k == 0 && !any_main { "main" } else { &f.name },
            true,
        );
    }
    let mut out = String::from(match options.target {
        Target::Jax => HEADER,
        Target::Portable => PORTABLE_HEADER,
    });
    let module = functions.first().map_or("empty", |f| &f.name);
    let mut attributes = Vec::new();
    if let Some(sharding) = options.sharding {
        let devices = sharding.mesh.size();
        attributes.push(format!("mhlo.num_partitions = {devices} : i32"));
        attributes.push("mhlo.num_replicas = 1 : i32".to_owned());
    }
    if options.numerics != Numerics::STABLEHLO {
        attributes.push(format!(
            "{NUMERICS} = {{{}}}",
            Policy::from(options.numerics)
        ));
    }
    let attributes = match attributes.is_empty() {
        true => String::new(),
        false => format!("attributes {{{}}} ", attributes.join(", ")),
    };
    let _ = writeln!(out, "module @{} {attributes}{{", symbol(module));
    if let Some(sharding) = options.sharding {
        let _ = writeln!(out, "  {}", sharding.mesh.declaration());
    }
    let mut done = 0;
    loop {
        let Some(entry) = names.borrow().all.get(done).cloned() else {
            break;
        };
        // Donation and the sharding of arguments are those of the first function.
        let own = WriteOptions {
            donated: if done == 0 { options.donated } else { &[] },
            ..*options
        };
        let sharding = options.sharding.filter(|_| done == 0);
        out.push_str(&function(&entry, &names, &own, sharding)?);
        done += 1;
    }
    out.push_str("}\n");
    Ok(out)
}

fn function(
    entry: &WrittenFunction,
    names: &RefCell<FunctionNames>,
    options: &WriteOptions<'_>,
    sharding: Option<&Sharding>,
) -> Result<String> {
    let WrittenFunction {
        f,
        name,
        public,
        expands,
    } = entry;
    let t = TextEmitter {
        session: Session::default(),
        options: *options,
        names,
        status: EmitterStatus::default(),
        state: RefCell::default(),
        expands: Cell::new(*expands),
    };
    t.state.borrow_mut().depth = 2;
    let mut taken = FxHashSet::default();
    let mut params = Vec::new();
    for (k, &p) in f.params().iter().enumerate() {
        let plain = |n: &str| {
            n.starts_with(|c: char| c.is_ascii_alphabetic())
                && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let parameter_name = f
            .name_of(p)
            .map(|n| n.to_string())
            .filter(|n| plain(n) && taken.insert(n.clone()));
        let parameter_name =
            parameter_name.unwrap_or_else(|| fresh(&mut taken, &format!("arg{k}")));
        params.push(t.value(&format!("%{parameter_name}"), f.ty(p).clone()));
    }
    t.bind_parameters(&params);
    let results = (&t as &dyn Emit).inline(f, &params);
    if let Some(e) = t.status.take_error() {
        return Err(e);
    }
    let mut out = String::new();
    let head: Vec<String> = params
        .iter()
        .enumerate()
        .map(|(k, &v)| {
            let ty = t.ty(v);
            let attributes = argument_attributes(options, sharding, k, &ty);
            format!("{}: {}{attributes}", t.name(v), show(&ty))
        })
        .collect();
    let head = head.join(", ");
    let types: Vec<Type> = results.iter().map(|&v| t.ty(v)).collect();
    let arrow = match sharding {
        _ if types.is_empty() => String::new(),
        None => format!(" -> {}", tuple(&types)),
        Some(sharding) => {
            let each = |(ty, spec): (&Type, &Spec)| {
                format!("{} {{{}}}", show(ty), spec.attribute(ty.shape.rank()))
            };
            let all: Vec<String> = types.iter().zip(&sharding.results).map(each).collect();
            format!(" -> ({})", all.join(", "))
        }
    };
    let access = if *public { "public" } else { "private" };
    let _ = writeln!(
        out,
        "  func.func {access} @{}({head}){arrow} {{",
        symbol(name)
    );
    out.push_str(&t.state.borrow().out);
    let _ = writeln!(out, "    return{}", t.returned(&results));
    out.push_str("  }\n");
    Ok(out)
}

/// The attributes of an argument of a function, in braces after a space; empty if there are none.
fn argument_attributes(
    options: &WriteOptions<'_>,
    sharding: Option<&Sharding>,
    argument: usize,
    ty: &Type,
) -> String {
    let mut all = Vec::new();
    if let Some(sharding) = sharding {
        all.push(sharding.arguments[argument].attribute(ty.shape.rank()));
    }
    if let Some((_, result)) = options.donated.iter().find(|d| d.0 == argument) {
        all.push(format!("tf.aliasing_output = {result} : i32"));
    }
    match all.is_empty() {
        true => String::new(),
        false => format!(" {{{}}}", all.join(", ")),
    }
}

/// A new name: `preferred`, with underscores appended if it is taken.
fn fresh(taken: &mut FxHashSet<String>, preferred: &str) -> String {
    let mut name = preferred.to_owned();
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}
