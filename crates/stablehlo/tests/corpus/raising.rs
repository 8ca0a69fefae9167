//! Every program of the corpus, read with and without raising: results agree.

use super::corpus;
use cotangent::{Array, Function, npz, reference, verify};
use cotangent_stablehlo::{read, read_unraised};

fn ops(f: &Function) -> Vec<String> {
    f.eqns().iter().map(|e| e.op.name().to_string()).collect()
}

/// Checks that arrays agree within a relative error, or an absolute one below 1.
fn assert_close(name: &str, got: &[Array], want: &[Array], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{name}");
    for (a, b) in got.iter().zip(want) {
        assert_eq!((a.dtype(), a.shape()), (b.dtype(), b.shape()), "{name}");
        for (a, b) in a.to_c128().into_iter().zip(b.to_c128()) {
            for (a, b) in [(a.re, b.re), (a.im, b.im)] {
                let near = (a - b).abs() <= tolerance * (1.0 + b.abs());
                assert!(
                    near || a == b || (a.is_nan() && b.is_nan()),
                    "{name}: {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn programs_of_the_corpus_agree_before_and_after_raising() {
    let (mut programs, mut raised) = (0, 0);
    for case in std::fs::read_dir(corpus()).unwrap() {
        let case = case.unwrap().path();
        let Ok(text) = std::fs::read_to_string(case.join("module.mlir")) else {
            continue;
        };
        let name = case.display().to_string();
        let (f, g) = match (read_unraised(&text, None), read(&text, None)) {
            (Ok(f), Ok(g)) => (f.main().clone(), g.main().clone()),
            (Err(a), Err(b)) => {
                assert_eq!(a.to_string(), b.to_string(), "{name}");
                continue;
            }
            (f, g) => panic!("{name}: {:?} {:?}", f.err(), g.err()),
        };
        verify(&g).unwrap();
        programs += 1;
        if ops(&f) == ops(&g) {
            continue;
        }
        raised += 1;
        let mut data: Vec<(usize, Array)> = npz::read(case.join("data.npz"))
            .unwrap()
            .into_iter()
            .filter_map(|(k, v)| Some((k.strip_prefix("in_")?.parse().ok()?, v)))
            .collect();
        data.sort_by_key(|(k, _)| *k);
        let x: Vec<Array> = data.into_iter().map(|(_, v)| v).collect();
        let floats = x.iter().map(Array::dtype).filter(|d| d.has_tangent());
        let eps = floats.map(|d| d.epsilon()).fold(f64::EPSILON, f64::max);
        let run = |f| reference::run(f, &x).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_close(&name, &run(&g), &run(&f), 1000.0 * eps);
    }
    assert!(
        programs > 150 && raised > 0,
        "{programs} programs, {raised} raised"
    );
}
