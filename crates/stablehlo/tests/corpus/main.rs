//! Every case of the corpus: value, forward derivative, reverse derivative, Hessian times vector,
//! against what JAX computed. `COTANGENT_CORPUS` names another folder of cases than `tests/corpus`.
//!
//! `passing.txt` lists the checks that pass, a line `case check ..` for each case. A listed check
//! that does not pass is a failure. `BLESS=1` rewrites the list. `ONLY=name` runs the cases whose
//! names contain `name`, and prints more.

mod json;
mod raising;

use cotangent::{AdContext, Array, Function, Result, Val, Wide, ad};
use json::Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CHECKS: [&str; 4] = ["value", "jvp", "vjp", "hvp"];

/// `COTANGENT_CORPUS`, or the cases of this repository.
fn corpus() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    std::env::var_os("COTANGENT_CORPUS").map_or_else(own, PathBuf::from)
}

/// One case: its description, program and arrays.
struct Case {
    meta: Json,
    data: BTreeMap<String, Array>,
    main: Arc<Function>,
}

fn conj(a: &Array) -> Array {
    match a.wide() {
        Wide::C(v) => Wide::C(v.iter().map(|z| z.conj()).collect())
            .narrow(a.dtype(), a.shape())
            .expect("same shape"),
        _ => a.clone(),
    }
}

/// A message if two arrays differ by more than the tolerance.
fn differ(got: &Array, want: &Array, tolerance: &Json) -> Option<String> {
    if got.shape() != want.shape() {
        return Some(format!(
            "shape {:?}, expected {:?}",
            got.shape(),
            want.shape()
        ));
    }
    let floats = |w: &Wide| matches!(w, Wide::F(_) | Wide::C(_));
    if !floats(&want.wide()) {
        return (got.wide() != want.wide()).then(|| "integers differ".into());
    }
    let (atol, rtol) = (
        tolerance.get("atol").number()?,
        tolerance.get("rtol").number()?,
    );
    let (a, b) = (got.to_c128(), want.to_c128());
    let size = |z: &cotangent::C128| (z.re * z.re + z.im * z.im).sqrt();
    let scale = b
        .iter()
        .map(size)
        .filter(|x| x.is_finite())
        .fold(1.0, f64::max);
    let mut worst: f64 = 0.0;
    for (x, y) in a.iter().zip(&b) {
        let abs = Some(size(y)).filter(|x| x.is_finite()).unwrap_or(0.0);
        for (x, y) in [(x.re, y.re), (x.im, y.im)] {
            let same = x == y || (x.is_nan() && y.is_nan());
            if !same
                && (x - y).abs().partial_cmp(&(atol * scale + rtol * abs))
                    != Some(std::cmp::Ordering::Less)
            {
                worst = worst.max(if (x - y).is_nan() {
                    f64::INFINITY
                } else {
                    (x - y).abs()
                });
            }
        }
    }
    (worst > 0.0).then(|| format!("off by {worst:.3e}"))
}

impl Case {
    fn read(folder: &Path) -> Result<Case> {
        let text =
            std::fs::read_to_string(folder.join("module.mlir")).expect("a case has a module");
        let meta = Json::parse(
            &std::fs::read_to_string(folder.join("case.json")).expect("a case has a description"),
        );
        let data = cotangent::npz::read(folder.join("data.npz"))?
            .into_iter()
            .collect();
        let module = cotangent_stablehlo::read(&text, None)?;
        Ok(Case {
            meta,
            data,
            main: module.main().clone(),
        })
    }

    /// Arrays `name0, name1, ..` by number.
    fn all(&self, name: &str) -> BTreeMap<usize, Array> {
        let number = |k: &str| k.strip_prefix(name).and_then(|n| n.parse().ok());
        self.data
            .iter()
            .filter_map(|(k, v)| Some((number(k)?, v.clone())))
            .collect()
    }

    fn inputs(&self) -> Vec<Array> {
        self.all("in_").into_values().collect()
    }

    fn wrt(&self) -> Vec<Val> {
        self.meta
            .get("diff_inputs")
            .indices()
            .into_iter()
            .map(|i| self.main.params()[i])
            .collect()
    }

    /// A cotangent for every result that has a tangent.
    fn seeds(&self) -> Result<Vec<Array>> {
        let given = self.all("ct_");
        let types = self.main.result_types();
        let outs = self.all("out_");
        types
            .iter()
            .enumerate()
            .filter(|(_, t)| t.dtype.has_tangent())
            .map(|(k, t)| {
                given
                    .get(&k)
                    .map_or_else(|| Array::zeros(t.dtype, outs[&k].shape()), |a| Ok(conj(a)))
            })
            .collect()
    }

    fn tangents(&self) -> Vec<Array> {
        self.all("t_").into_values().collect()
    }

    /// `None` if the case has no such check; else why it fails, if it does.
    fn check(&self, what: &str) -> Option<Result<Option<String>>> {
        let (name, tolerance) = match what {
            "value" => ("out_", "value"),
            "jvp" => ("jvp_", "deriv"),
            "vjp" => ("vjp_", "deriv"),
            _ => (
                "hvp",
                if *self.meta.get("tolerance").get("second") == Json::Null {
                    "deriv"
                } else {
                    "second"
                },
            ),
        };
        let mut want = self.all(name);
        if what == "hvp" {
            want = self.all("hvp_");
            want.extend(self.all("hvpct_"));
        }
        let compare = |got: BTreeMap<usize, Array>| {
            want.iter().find_map(|(k, want)| match got.get(k) {
                None => Some(format!("{name}{k} is missing")),
                Some(got) => differ(got, want, self.meta.get("tolerance").get(tolerance))
                    .map(|e| format!("{k}: {e}")),
            })
        };
        if want.is_empty() {
            None
        } else {
            Some(self.compute(what).map(compare))
        }
    }

    fn compute(&self, what: &str) -> Result<BTreeMap<usize, Array>> {
        let (context, wrt) = (AdContext::default(), self.wrt());
        let at = self.meta.get("diff_inputs").indices();
        let by_input = |v: Vec<Array>| at.iter().copied().zip(v.iter().map(conj)).collect();
        match what {
            "value" => Ok(cotangent::run(&self.main, &self.inputs())?
                .into_iter()
                .enumerate()
                .collect()),
            "jvp" => {
                let f = ad::jvp(&context, &self.main, &wrt)?;
                let mut y =
                    cotangent::run(&Arc::new(f), &[self.inputs(), self.tangents()].concat())?;
                let types = self.main.result_types();
                let float = (0..types.len()).filter(|&k| types[k].dtype.has_tangent());
                Ok(float.zip(y.split_off(types.len())).collect())
            }
            "vjp" => {
                let f = ad::vjp(&context, &self.main, &wrt)?;
                Ok(by_input(cotangent::run(
                    &Arc::new(f),
                    &[self.inputs(), self.seeds()?].concat(),
                )?))
            }
            _ => {
                let f = ad::hvp(&context, &self.main, &wrt)?;
                let seeds = if ad::is_scalar_loss(&self.main) {
                    Vec::new()
                } else {
                    self.seeds()?
                };
                Ok(by_input(cotangent::run(
                    &Arc::new(f),
                    &[self.inputs(), seeds, self.tangents()].concat(),
                )?))
            }
        }
    }
}

/// Runs the cases. Returns, per case and check, `None` if it passes, else the reason.
fn run(root: &Path, only: &str) -> BTreeMap<String, BTreeMap<&'static str, Option<String>>> {
    let mut out = BTreeMap::new();
    let folders = std::fs::read_dir(root)
        .expect("the corpus is a folder")
        .filter_map(|e| Some(e.ok()?.path()));
    for folder in folders.filter(|p| p.join("case.json").exists()) {
        let name = folder
            .file_name()
            .expect("a case has a name")
            .to_string_lossy()
            .into_owned();
        if !name.contains(only) {
            continue;
        }
        let mut row = BTreeMap::new();
        match Case::read(&folder) {
            Err(e) => {
                row.insert("value", Some(e.to_string()));
            }
            Ok(case) => {
                if !only.is_empty() {
                    println!("{:?}", case.main);
                }
                for what in CHECKS {
                    if let Some(r) = case.check(what) {
                        row.insert(what, r.unwrap_or_else(|e| Some(e.to_string())));
                    }
                }
            }
        }
        out.insert(name, row);
    }
    out
}

/// A function after a round trip through text.
fn again(f: Function) -> Result<Arc<Function>> {
    let text = cotangent_stablehlo::write(&[Arc::new(f)])?;
    Ok(cotangent_stablehlo::read(&text, Some("written.mlir"))?
        .main()
        .clone())
}

/// Round trips of programs and their derivatives preserve results.
#[test]
fn what_is_written_reads_back_the_same() {
    let (mut bad, mut written) = (Vec::new(), 0);
    let only = std::env::var("ONLY").unwrap_or_default();
    for folder in std::fs::read_dir(corpus())
        .expect("the corpus is a folder")
        .filter_map(|e| Some(e.ok()?.path()))
    {
        if !folder.join("case.json").exists() || !folder.to_string_lossy().contains(&only) {
            continue;
        }
        let Ok(case) = Case::read(&folder) else {
            continue;
        };
        let (context, wrt) = (AdContext::default(), case.wrt());
        let main = (*case.main).clone();
        let mut check = |what: &str, f: Result<Function>, args: Result<Vec<Array>>| {
            let (Ok(f), Ok(args)) = (f, args) else { return };
            let Ok(want) = cotangent::run(&Arc::new(f.clone()), &args) else {
                return;
            };
            written += 1;
            let got = match again(f).and_then(|g| cotangent::run(&g, &args)) {
                Ok(y) => y,
                // A loop that saves residuals has no StableHLO form.
                Err(e) if e.message().contains("write the loop as a scan") => return,
                Err(e) => return bad.push(format!("{} {what}: {e}", folder.display())),
            };
            let tolerance = case.meta.get("tolerance").get("deriv");
            let why = got
                .iter()
                .zip(&want)
                .find_map(|(a, b)| differ(a, b, tolerance));
            bad.extend(why.map(|e| format!("{} {what}: {e}", folder.display())));
        };
        check("value", Ok(main.clone()), Ok(case.inputs()));
        if wrt.is_empty() || !main.result_types().iter().any(|t| t.dtype.has_tangent()) {
            continue;
        }
        check(
            "jvp",
            ad::jvp(&context, &main, &wrt),
            Ok([case.inputs(), case.tangents()].concat()),
        );
        check(
            "vjp",
            ad::vjp(&context, &main, &wrt),
            case.seeds().map(|s| [case.inputs(), s].concat()),
        );
    }
    assert!(
        written > 100 || !only.is_empty(),
        "{written} programs were written"
    );
    assert!(
        bad.is_empty(),
        "{} of {written}:\n{}",
        bad.len(),
        bad.join("\n")
    );
}

/// The inner product `Re Σ conj(a) b` over pairs of arrays.
fn inner<'a>(
    a: impl IntoIterator<Item = &'a Array>,
    b: impl IntoIterator<Item = &'a Array>,
) -> f64 {
    let pair = |(a, b): (&Array, &Array)| -> f64 {
        a.to_c128()
            .iter()
            .zip(&b.to_c128())
            .map(|(a, b)| a.re * b.re + a.im * b.im)
            .sum()
    };
    a.into_iter().zip(b).map(pair).sum()
}

/// The point `x + h t`, in the type of `x`.
fn along(x: &Array, t: &Array, h: f64) -> Array {
    let moved: Vec<_> = x
        .to_c128()
        .iter()
        .zip(&t.to_c128())
        .map(|(x, t)| x + t * h)
        .collect();
    let wide = match x.wide() {
        Wide::C(_) => Wide::C(moved),
        _ => Wide::F(moved.iter().map(|z| z.re).collect()),
    };
    wide.narrow(x.dtype(), x.shape()).expect("same shape")
}

/// JAX has no reverse mode for loops of unknown length. Finite differences are the reference.
#[test]
fn gradients_that_jax_refuses_agree_with_finite_differences() {
    const H: f64 = 1e-6;
    let mut seen = 0;
    for folder in std::fs::read_dir(corpus())
        .expect("the corpus is a folder")
        .filter_map(|e| Some(e.ok()?.path()))
    {
        let Some(Ok(case)) = folder
            .join("case.json")
            .exists()
            .then(|| Case::read(&folder))
        else {
            continue;
        };
        let refused = *case.meta.get("mode") == Json::Text("fwd".into())
            && case.main.result_types().iter().any(is_f64);
        if !refused || case.wrt().iter().any(|&p| !is_f64(case.main.ty(p))) {
            continue;
        }
        seen += 1;
        let vjp = Arc::new(ad::vjp(&AdContext::default(), &case.main, &case.wrt()).unwrap());
        let outs: Vec<Array> = case
            .all("out_")
            .into_values()
            .filter(|y| y.dtype().has_tangent())
            .collect();
        let ones = |y: &Array| {
            Wide::F(vec![1.0; y.len()])
                .narrow(y.dtype(), y.shape())
                .expect("as many")
        };
        let seeds: Vec<Array> = outs.iter().map(ones).collect();
        let gradient = cotangent::run(&vjp, &[case.inputs(), seeds.clone()].concat()).unwrap();
        let at = |h: f64| {
            let mut x = case.inputs();
            for (i, t) in case.all("t_") {
                x[i] = along(&x[i], &t, h);
            }
            let y = cotangent::run(&case.main, &x).unwrap();
            let float: Vec<Array> = y.into_iter().filter(|y| y.dtype().has_tangent()).collect();
            inner(&float, &seeds)
        };
        let difference = (at(H) - at(-H)) / (2.0 * H);
        let derivative = inner(&gradient, &case.tangents());
        let room = 1e-6 * difference.abs().max(1.0);
        assert!(
            (derivative - difference).abs() < room,
            "{}: {derivative} against {difference}",
            folder.display()
        );
    }
    assert!(seen > 0, "no case has a loop that JAX refuses");
}

fn is_f64(t: &cotangent::Type) -> bool {
    matches!(t.dtype, cotangent::DType::F64 | cotangent::DType::C128)
}

#[test]
fn corpus_passes_as_before() {
    let root = corpus();
    let only = std::env::var("ONLY").unwrap_or_default();
    let rows = run(&root, &only);
    let mut listed = String::new();
    for (name, row) in &rows {
        let passing: Vec<&str> = CHECKS
            .into_iter()
            .filter(|c| matches!(row.get(c), Some(None)))
            .collect();
        if !passing.is_empty() {
            listed += &format!("{name} {}\n", passing.join(" "));
        }
        for (what, why) in row.iter().filter_map(|(k, v)| Some((k, v.as_ref()?))) {
            println!("{name:36} {what:6} {}", why.lines().next().unwrap_or(""));
        }
    }
    for what in CHECKS {
        let all = rows.values().filter(|r| r.contains_key(what)).count();
        let good = rows
            .values()
            .filter(|r| matches!(r.get(what), Some(None)))
            .count();
        println!("{what}: {good} of {all}");
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/passing.txt");
    if std::env::var_os("BLESS").is_some() && only.is_empty() {
        std::fs::write(&list, &listed).expect("the list can be written");
    }
    let pinned = std::fs::read_to_string(&list).unwrap_or_default();
    let mut lost = Vec::new();
    for line in pinned.lines().filter(|l| l.contains(&only)) {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("");
        lost.extend(
            words
                .filter(|w| !matches!(rows.get(name).and_then(|r| r.get(w)), Some(None)))
                .map(|w| format!("{name} {w}")),
        );
    }
    assert!(lost.is_empty(), "these passed before: {}", lost.join(", "));
}
