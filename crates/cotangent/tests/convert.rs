//! Conversion of texts from one form to the other and back. Every program of the corpus keeps its
//! bits, and the main module runs by default.

use cotangent::ad::{self, AdContext};
use cotangent::{Array, DType, Function, Program, npz};
use std::path::Path;
use std::sync::Arc;

/// The programs of the corpus with their inputs.
fn corpus() -> Vec<(String, String, Vec<Array>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut out = Vec::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(folder.join("module.mlir")) else {
            continue;
        };
        let arrays = npz::read(folder.join("data.npz")).unwrap();
        let find = |i: usize| {
            arrays
                .iter()
                .find(|(n, _)| *n == format!("in_{i}"))
                .map(|(_, a)| a.clone())
        };
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        out.push((name, text, (0..).map_while(find).collect()));
    }
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out
}

/// The value and, if they exist, derivatives of all results by all differentiable arguments.
fn answers(p: &Program, args: &[Array]) -> Result<Vec<Array>, String> {
    let words = |e: cotangent::Error| e.to_string();
    let f: &Arc<Function> = p.main();
    let mut out = cotangent::run(f, args).map_err(words)?;
    let wrt: Vec<_> = f
        .params()
        .iter()
        .copied()
        .filter(|&v| f.ty(v).dtype.has_tangent())
        .collect();
    let cotangents: Vec<Array> = f
        .results()
        .iter()
        .zip(&out)
        .filter(|(_, a)| a.dtype().has_tangent())
        .map(ones)
        .collect();
    if wrt.is_empty() || cotangents.is_empty() {
        return Ok(out);
    }
    let cx: AdContext = p.context().map_err(words)?;
    let g = ad::vjp(&cx, f, &wrt).map_err(words)?;
    // An error of the derivative is not an error of the value: the first text has it, too.
    match cotangent::run(&Arc::new(g), &[args, &cotangents].concat()) {
        Ok(g) => out.extend(g),
        Err(e) => return Err(e.message().to_owned()),
    }
    Ok(out)
}

fn ones((_, a): (&cotangent::Val, &Array)) -> Array {
    let one = if a.dtype() == DType::Bool { 0 } else { 1 };
    cotangent::Scalar::I(one)
        .full(a.dtype(), a.shape().to_vec())
        .unwrap()
}

fn same(a: &[Array], b: &[Array]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_bits(b))
}

fn near(a: &[Array], b: &[Array]) -> bool {
    let close = |(a, b): (&Array, &Array)| {
        cotangent::check::agree(std::slice::from_ref(a), std::slice::from_ref(b), 1e-4)
    };
    a.len() == b.len() && a.iter().zip(b).map(close).all(|r| r.is_ok())
}

#[test]
fn converted_programs_are_equivalent_and_run_their_main_module() {
    let (mut wrong, mut rounded, mut tried) = (Vec::new(), 0, 0);
    for (name, text, args) in corpus() {
        let program = Program::from_stablehlo(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let Ok(want) = answers(&program, &args) else {
            continue;
        };
        tried += 1;
        let mut check =
            |what: &str, again: Result<Program, cotangent::Error>, exact: bool| match again {
                Ok(p) => match answers(&p, &args) {
                    Ok(got) if same(&got, &want) => {}
                    Ok(got) if !exact && near(&got, &want) => rounded += 1,
                    Ok(_) => wrong.push(format!("{name} {what}: other numbers")),
                    Err(e) => wrong.push(format!("{name} {what}: {e}")),
                },
                Err(e) => wrong.push(format!("{name} {what}: {e}")),
            };
        let tgraph = program
            .to_tgraph()
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let again = Program::from_tgraph(&tgraph);
        assert!(
            again
                .as_ref()
                .is_ok_and(|p| *p.main().name == *program.main().name),
            "{name}: {again:?}"
        );
        // The text form holds every equation; StableHLO may write one with others.
        check("as text", again.clone(), true);
        let back = again
            .and_then(|p| p.to_stablehlo())
            .and_then(|t| Program::from_stablehlo(&t));
        check("as text and StableHLO", back.clone(), false);
        check(
            "and as text again",
            back.and_then(|p| p.to_tgraph())
                .and_then(|t| Program::from_tgraph(&t)),
            false,
        );
    }
    println!("{tried} programs, {rounded} of their texts to rounding");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 150, "{tried}");
}

/// A long helper that is called twice remains a module, and is printed before the main one.
#[test]
fn the_main_module_is_found_under_any_name() {
    let steps: String = (0..40)
        .map(|k| {
            format!(
                "  %{} = stablehlo.sine %{} : tensor<3xf64>\n",
                k + 1,
                if k == 0 { "x".into() } else { k.to_string() }
            )
        })
        .collect();
    for main in ["main", "f", "a_name with spaces"] {
        for helper in ["helper", "body", "main_1"] {
            let text = format!(
                "module @jit_f {{\nfunc.func private @{helper}(%x: tensor<3xf64>) -> tensor<3xf64> {{\n{steps}  \
                 return %40 : tensor<3xf64>\n}}\nfunc.func public @\"{main}\"(%x: tensor<3xf64>) -> tensor<f64> {{\n  \
                 %a = call @{helper}(%x) : (tensor<3xf64>) -> tensor<3xf64>\n  \
                 %b = call @{helper}(%a) : (tensor<3xf64>) -> tensor<3xf64>\n  \
                 %zero = stablehlo.constant dense<0.0> : tensor<f64>\n  \
                 %s = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : \
                 (tensor<3xf64>, tensor<f64>) -> tensor<f64>\n  return %s : tensor<f64>\n}}\n}}\n"
            );
            let program = Program::from_stablehlo(&text).unwrap();
            let args = [Array::vector(vec![0.1, 0.2, 0.3])];
            let want = answers(&program, &args).unwrap();
            let tgraph = program.to_tgraph().unwrap();
            assert!(tgraph.contains("tgraph.module private @"), "{tgraph}");
            let again = Program::from_tgraph(&tgraph).unwrap();
            assert_eq!(*again.main().name, *main);
            assert!(same(&answers(&again, &args).unwrap(), &want));
            let back = Program::from_stablehlo(again.to_stablehlo().unwrap()).unwrap();
            assert!(near(&answers(&back, &args).unwrap(), &want));
            // Without `private`, the first public module is the helper, so it is the main one.
            let bare = Program::from_tgraph(&tgraph.replace(" private", ""));
            assert!(main == "main" || *bare.unwrap().main().name != *main);
        }
    }
}
