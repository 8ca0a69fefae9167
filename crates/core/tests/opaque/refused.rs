//! Operations of the core, arrays, batches and the reference refuse opaque types.

use crate::derivatives::function;
use crate::language::{PairType, TestOp, key, operations, pair, real, types};
use cotangent_core::check::{Options, check_function, function_of};
use cotangent_core::ops::{Constant, Convert, applied, composites, entries};
use cotangent_core::text::{Extensions, Program, print_function};
use cotangent_core::transform::{AdContext, Direction, batch, grad, jacobian, jvp};
use cotangent_core::{
    Array, Builder, Code, DType, Dim, Emit, Error, OpaqueType, Result, Scalar, Type, reference,
};

/// Operations that pass values on.
const PASSING: [&str; 11] = [
    "call",
    "checkpoint",
    "cond",
    "switch",
    "scan",
    "while",
    "custom_jvp",
    "custom_vjp",
    "custom_vjp_lin",
    "linear_solve",
    "stop_gradient",
];

fn opaque() -> DType {
    pair().dtype
}

#[test]
fn every_operation_refuses_opaque_operands() {
    let mut seen = 0;
    for e in entries() {
        for s in (e.samples)(e.name) {
            let types: Vec<Type> = s.operands.iter().map(Array::ty).collect();
            for k in 0..types.len() {
                let mut types = types.clone();
                types[k] = pair();
                let b = Builder::new("f", Default::default());
                let x: Vec<_> = types.iter().map(|t| b.param(t.clone(), None)).collect();
                let y = b.emit(s.op.clone(), &x);
                let name = s.op.name();
                match (b.finish(&y), PASSING.contains(&name)) {
                    (Ok(_), passing) => assert!(passing, "`{name}` takes {types:?}"),
                    (Err(e), true) => assert!(e.to_string().contains("!test.pair"), "{name}: {e}"),
                    (Err(e), false) => {
                        assert_eq!(e.code(), Code::DTypeMismatch, "{name}: {e}");
                        let message = format!("`{name}` cannot take !test.pair");
                        assert!(e.to_string().contains(&message), "{e}");
                    }
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 1000, "{seen}");
}

fn parsed(text: &str) -> Result<Program> {
    let (operations, types) = (operations(), types());
    let extensions = Extensions {
        operations: &operations,
        types: &types,
    };
    Program::parse_extended(text, None, extensions)
}

/// The text with the type of argument `k` replaced.
fn with_opaque_argument(text: &str, k: usize) -> Option<String> {
    let mut args = 0;
    let mut found = false;
    let lines = text
        .lines()
        .map(|line| match line.split_once(" = tgraph.arg : ") {
            Some((name, _)) if line.starts_with("  %") => {
                args += 1;
                found |= args == k + 1;
                match args == k + 1 {
                    true => format!("{name} = tgraph.arg : !test.pair"),
                    false => line.to_owned(),
                }
            }
            // Result types follow from the operands.
            _ if line.starts_with("  ") && !line.starts_with("   ") && !line.contains('{') => {
                line.rsplit_once(" : ").map_or(line, |l| l.0).to_owned()
            }
            _ => line.to_owned(),
        });
    let text = lines.collect::<Vec<_>>().join("\n");
    found.then_some(text)
}

#[test]
fn texts_of_operations_and_composites_with_opaque_arguments_are_errors() -> Result<()> {
    let mut seen = 0;
    let operations = entries().into_iter().flat_map(|e| (e.samples)(e.name));
    let mut texts: Vec<(String, String)> = Vec::new();
    for s in operations {
        texts.push((s.op.name().to_owned(), print_function(&function_of(&s)?)));
    }
    for c in composites().iter().chain(applied()) {
        for n in 1..4 {
            let args: String = (0..n)
                .map(|k| format!("  %x{k} = tgraph.arg : f64\n"))
                .collect();
            let operands: Vec<String> = (0..n).map(|k| format!("%x{k}")).collect();
            let name = c.name;
            let call = format!("  %y = tgraph.{name} {}\n", operands.join(", "));
            texts.push((
                name.to_owned(),
                format!("tgraph.module @m {{\n{args}{call}  tgraph.return %y\n}}\n"),
            ));
        }
    }
    for (name, text) in texts {
        for k in 0.. {
            let Some(text) = with_opaque_argument(&text, k) else {
                break;
            };
            // A composite such as `clip` without bounds writes nothing.
            let operations = |p: &Program| {
                let eqns = p.modules().flat_map(|m| m.eqns());
                eqns.map(|e| e.op.name().to_owned()).collect::<Vec<_>>()
            };
            let written = parsed(&text).as_ref().map_or(Vec::new(), operations);
            let passing = |name: &String| PASSING.contains(&name.as_str());
            assert!(passing(&name) || written.iter().all(passing), "{text}");
            seen += 1;
        }
    }
    assert!(seen > 1000, "{seen}");
    Ok(())
}

#[test]
fn literals_and_conversions_of_opaque_types_are_errors() {
    let refused = |write: &dyn Fn(&dyn Emit)| -> Error {
        let b = Builder::new("f", Default::default());
        write(&b);
        b.finish(&[]).unwrap_err()
    };
    let constant = refused(&|cx| {
        cx.op(Constant::splat(pair(), Scalar::F(1.0)), &[]);
    });
    assert!(
        constant
            .to_string()
            .contains("`constant` cannot return !test.pair"),
        "{constant}"
    );
    let converted = refused(&|cx| {
        let x = cx.full(&real(), 1.0);
        cx.op(Convert { to: opaque() }, &[x]);
    });
    assert_eq!(converted.code(), Code::DTypeMismatch);
    let stacked = refused(&|cx| {
        let _ = cx.iota(&Type::new(opaque(), [3]), 0);
    });
    assert_eq!(stacked.code(), Code::DTypeMismatch);
    let text = "tgraph.module @m {\n  %p = tgraph.arg : !test.pair\n  %y = tgraph.ARGS\n  tgraph.return %y\n}";
    for args in [
        "add %p, 1.0",
        "constant {value = 1.0} : !test.pair",
        "constant {value = dense<1.0> : !test.pair}",
        "convert %p {to = !test.pair}",
        "zeros_like %p",
        "iota {axis = 0} : !test.pair",
        "bitcast_convert 1.0 {to = !test.pair} : !test.pair",
        "test.scale %p, true",
    ] {
        let e = parsed(&text.replace("ARGS", args)).err();
        assert!(e.is_some(), "{args}");
    }
}

#[test]
fn arrays_have_no_opaque_elements() {
    assert!(Array::zeros(opaque(), [2]).is_err());
    assert!(Scalar::F(1.0).exact(opaque()).is_err());
    assert!(Scalar::F(1.0).number(opaque()).is_err());
    assert!(Scalar::F(1.0).full(opaque(), vec![2]).is_err());
    assert_eq!(opaque().size(), 0);
    assert_eq!(opaque().int_range(), (0, 0));
    assert_eq!(opaque().opaque(), OpaqueType::declare(PairType(0)).ok());
    let b = Builder::new("f", Default::default());
    let x = b.param(Type::new(opaque(), [2]), None);
    let e = b.finish(&[x]).unwrap_err();
    assert!(e.to_string().contains("have no axes"), "{e}");
}

#[test]
fn the_reference_and_checks_name_the_executor() -> Result<()> {
    let f = function(&[real(), real()], |cx, x| {
        let p = cx.op(TestOp::Make, x);
        vec![cx.op(TestOp::Dot, &[p, p])]
    })?;
    let args = [Array::scalar(1.0), Array::scalar(2.0)];
    let e = reference::run(&f, &args).unwrap_err();
    assert!(e.to_string().contains("executor of the extension"), "{e}");
    assert!(check_function(&AdContext::default(), &f, &args, &Options::default()).is_err());
    // Values inside regions are values of the function.
    let b = Builder::new("g", Default::default());
    let (x, y) = (b.param(real(), None), b.param(real(), None));
    let z = (&b as &dyn Emit).call(&std::sync::Arc::new(f), &[x, y]);
    assert!(b.finish(&z)?.check_arrays().is_err());
    Ok(())
}

#[test]
fn opaque_values_have_no_batches_and_no_jacobian() -> Result<()> {
    let ad = AdContext::default();
    let f = function(&[pair(), real()], |cx, x| {
        vec![cx.op(TestOp::Dot, &[cx.op(TestOp::Scale, x), x[0]])]
    })?;
    for mapped in [[true, false], [false, true]] {
        let e = batch(&ad.session(), &f, &mapped, &[], &Dim::Const(3))
            .err()
            .unwrap();
        let text = e.to_string();
        assert!(
            text.contains("have no axes") || e.code() == Code::NoRule,
            "{text}"
        );
    }
    let e = jacobian(&ad, &f, &f.params()[..1], Direction::Auto).unwrap_err();
    assert!(e.to_string().contains("!test.pair"), "{e}");
    // A loss of an opaque type without a one, and values without tangents.
    let b = Builder::new("f", Default::default());
    let (p, k) = (b.param(pair(), None), b.param(key(), None));
    let f = b.finish(&[p, k])?;
    let first = f.clone().with_results(&[p]);
    let e = grad(&ad, &first, &first.params()[..1]).unwrap_err();
    assert_eq!(e.code(), Code::NonScalarOutput);
    assert!(e.to_string().contains("use vjp"), "{e}");
    let e = jvp(&ad, &f, &f.params()[1..]).unwrap_err();
    assert_eq!(e.code(), Code::IntegerInput);
    assert!(e.to_string().contains("!test.key"), "{e}");
    Ok(())
}
