//! Portable artefacts and files of `jax.export` that `make.py` made: their programs are those of
//! their text, and run to the values of XLA. `COTANGENT_ARTEFACTS` names a further folder.

mod damage;

use cotangent_core::text::print_function;
use cotangent_core::{Array, DType, Wide};
use cotangent_stablehlo::{Module, format, read, read_unraised};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bytecode/artefacts")
}

/// An artefact: `NAME-VERSION.mlirbc` or `NAME.jax_export`.
struct Artefact {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Artefact {
    fn named(name: &str) -> Artefact {
        let path = folder().join(name);
        let bytes = std::fs::read(&path).unwrap();
        Artefact { path, bytes }
    }

    /// All artefacts, of a further folder too.
    fn all() -> Vec<Artefact> {
        let more = std::env::var_os("COTANGENT_ARTEFACTS").map(PathBuf::from);
        let files = |folder: PathBuf| std::fs::read_dir(folder).unwrap();
        let mut paths: Vec<PathBuf> = [Some(folder()), more]
            .into_iter()
            .flatten()
            .flat_map(files)
            .map(|e| e.unwrap().path())
            .filter(|p| {
                p.extension()
                    .is_some_and(|e| e == "mlirbc" || e == "jax_export")
            })
            .collect();
        paths.sort();
        let artefact = |path: PathBuf| Artefact {
            bytes: std::fs::read(&path).unwrap(),
            path,
        };
        paths.into_iter().map(artefact).collect()
    }

    /// The file of the same program with another extension: `mlp.npz` of `mlp-1.0.0.mlirbc`.
    fn sibling(&self, extension: &str) -> PathBuf {
        let stem = self.path.file_stem().unwrap().to_str().unwrap();
        let version = |v: &str| v.starts_with(|c: char| c.is_ascii_digit());
        let name = match stem.rsplit_once('-') {
            Some((name, v)) if version(v) => name,
            _ => stem,
        };
        self.path.with_file_name(format!("{name}.{extension}"))
    }

    fn read(&self) -> Module {
        read(&self.bytes, self.path.to_str()).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Arguments `in_0`, .. and results `out_0`, .., if they are known.
    fn values(&self) -> Option<BTreeMap<String, Array>> {
        if let Ok(data) = cotangent::npz::read(self.sibling("npz")) {
            return Some(data.into_iter().collect());
        }
        // Value and gradient with respect to `w` of `sum(tanh(x @ w))`, where all elements of `x`
        // and `w` are 1.
        let name = self.path.file_name()?.to_str()?;
        name.starts_with("sharded").then(|| {
            let tanh = 4f32.tanh();
            let array = |shape: &[usize], x: f32| Array::full(shape, x).unwrap();
            let data = [
                ("in_0", array(&[8, 4], 1.0)),
                ("in_1", array(&[4, 2], 1.0)),
                ("out_0", array(&[], 16.0 * tanh)),
                ("out_1", array(&[4, 2], 8.0 * (1.0 - tanh * tanh))),
            ];
            data.map(|(name, a)| (name.to_owned(), a)).into()
        })
    }
}

/// Why two results differ, unless they are equal within rounding. Numbers of type bf16 are stored
/// as their bits.
fn difference(got: &Array, want: &Array) -> Option<String> {
    let want = match (got.dtype(), want.dtype()) {
        (DType::BF16, DType::U16) => {
            let float = |b| f32::from_bits((b as u32) << 16).into();
            let floats = want.to_f64().into_iter().map(float).collect();
            Wide::F(floats)
                .narrow(DType::BF16, want.shape().to_vec())
                .unwrap()
        }
        _ => want.clone(),
    };
    if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
        let (a, b) = (got.dtype(), want.dtype());
        return Some(format!("{a}{:?}, not {b}{:?}", got.shape(), want.shape()));
    }
    if !matches!(want.wide(), Wide::F(_) | Wide::C(_)) {
        return (got.wide() != want.wide()).then(|| format!("{got:?}, not {want:?}"));
    }
    let tolerance = match got.dtype().real() {
        DType::F64 => 1e-9,
        DType::F32 => 2e-5,
        _ => 0.0,
    };
    let parts = |a: &Array| {
        a.to_c128()
            .into_iter()
            .flat_map(|z| [z.re, z.im])
            .collect::<Vec<f64>>()
    };
    let (a, b) = (parts(got), parts(&want));
    let scale = b
        .iter()
        .filter(|x| x.is_finite())
        .fold(1.0f64, |m, x| m.max(x.abs()));
    let same =
        |x: f64, y: f64| x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance * scale;
    let bad = a.iter().zip(&b).find(|(x, y)| !same(**x, **y));
    bad.map(|(x, y)| format!("{x}, not {y}"))
}

#[test]
fn artefacts_run_to_the_values_of_xla() {
    let (mut bad, mut count) = (Vec::new(), 0);
    for a in Artefact::all() {
        let Some(data) = a.values() else { continue };
        let all = |name: &str| {
            let nth = |k| data.get(&format!("{name}_{k}")).cloned();
            (0..).map_while(nth).collect::<Vec<Array>>()
        };
        let results = match cotangent::run(a.read().main(), &all("in")) {
            Ok(results) => results,
            Err(e) => {
                bad.push(format!("{}: {e}", a.path.display()));
                continue;
            }
        };
        let want = all("out");
        count += 1;
        assert_eq!(results.len(), want.len(), "{}", a.path.display());
        for (k, (got, want)) in results.iter().zip(&want).enumerate() {
            let text = difference(got, want);
            bad.extend(text.map(|t| format!("{} out_{k}: {t}", a.path.display())));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(count >= 20, "{count} artefacts with values");
}

/// The text of a function with a number for each definition in place of its name. Bytecode has no
/// names.
fn unnamed(text: &str) -> String {
    let (mut out, mut numbers, mut next) = (String::new(), BTreeMap::new(), 0);
    for line in text.lines() {
        let results = line
            .find(" = ")
            .filter(|_| line.trim_start().starts_with('%'));
        let mut rest = line;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            let name = &rest[at..];
            let word = |c: char| !(c.is_alphanumeric() || "_%".contains(c));
            let (name, after) = name.split_at(name.find(word).unwrap_or(name.len()));
            let place = line.len() - rest.len() + at;
            if results.is_some_and(|end| place < end) || after.starts_with(": ") {
                numbers.insert(name.to_owned(), next);
                next += 1;
            }
            out.push_str(&format!("%{}", numbers[name]));
            rest = after;
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

/// All functions of a module as text, one error for each that cannot be lowered.
fn functions(m: &Module) -> Vec<String> {
    let print = |name: &str| match m.function(name) {
        Ok(f) => unnamed(&print_function(&f)),
        Err(e) => format!("{:?} {}", e.code(), e.message()),
    };
    m.names().map(print).collect()
}

#[test]
fn artefacts_read_to_the_program_of_their_text() {
    let (mut bad, mut count) = (Vec::new(), 0);
    let is_portable = |a: &Artefact| a.path.extension().unwrap() == "mlirbc";
    for a in Artefact::all().into_iter().filter(is_portable) {
        let Ok(text) = std::fs::read_to_string(a.sibling("mlir")) else {
            continue;
        };
        count += 1;
        let of = |m: Result<Module, cotangent_core::Error>| m.map(|m| functions(&m));
        let (got, want) = (
            of(read_unraised(&a.bytes, None)),
            of(read_unraised(&text, None)),
        );
        match (got, want) {
            (Ok(got), Ok(want)) => {
                let differs = got.iter().zip(&want).find(|(a, b)| a != b);
                if let Some((got, want)) = differs {
                    bad.push(format!("{}:\n{got}\nis not\n{want}", a.path.display()));
                } else if got.len() != want.len() {
                    bad.push(format!("{}: {} functions", a.path.display(), got.len()));
                }
            }
            (Err(got), Err(want)) if got.message() == want.message() => {}
            (got, want) => {
                let why = |r: Result<_, cotangent_core::Error>| r.err().map(|e| e.to_string());
                bad.push(format!(
                    "{}: {:?}, {:?}",
                    a.path.display(),
                    why(got),
                    why(want)
                ));
            }
        }
    }
    let shown: Vec<String> = bad
        .iter()
        .take(5)
        .map(|b| b.chars().take(4000).collect())
        .collect();
    assert!(
        bad.is_empty(),
        "{} of {count} differ:\n{}",
        bad.len(),
        shown.join("\n")
    );
    assert!(count >= 15, "{count} artefacts with a text");
}

#[test]
fn printed_artefacts_read_to_the_same_program() {
    for a in Artefact::all() {
        let text = format(&a.bytes, None).unwrap_or_else(|e| panic!("{e}"));
        // The text does not select a platform.
        if text.contains("_platform_index") {
            continue;
        }
        let of = |m: cotangent_core::Result<Module>| {
            functions(&m.unwrap_or_else(|e| panic!("{e}\n{text}")))
        };
        let (got, want) = (
            of(read_unraised(&text, None)),
            of(read_unraised(&a.bytes, None)),
        );
        assert_eq!(got, want, "{}:\n{text}", a.path.display());
    }
}

#[test]
fn a_file_without_the_platform_cpu_is_an_error() {
    let mut bytes = Artefact::named("platforms.jax_export").bytes;
    let at = bytes
        .windows(8)
        .position(|w| w == b"\x03\0\0\0cpu\0")
        .unwrap();
    bytes[at + 4..at + 7].copy_from_slice(b"tpu");
    let e = read(&bytes, None).unwrap_err().to_string();
    assert!(
        e.contains("for the platforms cuda, tpu: export it for `cpu`, too"),
        "{e}"
    );
}

#[test]
fn callbacks_of_an_artefact_are_dropped_with_a_note() {
    let module = Artefact::named("effects-1.17.0.mlirbc").read();
    let note = &module.notes()[0];
    assert!(
        note.starts_with("host callbacks dropped (byte ") && note.contains(", and 1 more"),
        "{note}"
    );
}

#[test]
fn errors_name_the_line_of_the_program_that_was_compiled() {
    let name = "sharded-1.17.0.mlirbc";
    let mut bytes = Artefact::named(name).bytes;
    // The name of an operation that is unknown.
    let at = bytes.windows(7).position(|w| w == b"tanh_v2").unwrap();
    bytes[at..at + 4].copy_from_slice(b"tang");
    let e = read(&bytes, Some(name)).unwrap_err().to_string();
    assert!(e.starts_with("sharded-1.17.0.mlirbc:byte "), "{e}");
    assert!(
        e.contains("the operation `tang_v2` is not supported"),
        "{e}"
    );
    assert!(e.contains("in jit(product)/"), "{e}");
    assert!(e.contains("make.py:"), "{e}");
}
