//! The house rules that a program can see: import arrows, file sizes, headers, where `unsafe` may stand.

mod imports;
mod source;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every Rust file of the workspace, with its path from the root.
fn sources() -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut folders = vec![root().join("crates"), root().join("fuzz")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|n| n != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                out.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(out.len() > 50, "the workspace has sources");
    out.sort();
    out
}

/// The pages that people read: every Markdown file but those of dependencies and build outputs.
fn pages() -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !["target", "corpus"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                out.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    out.sort();
    out
}

/// Files that may stand in circles of imports, by crate: `ir/` of the core, because an operation writes to an emitter that
/// takes operations, and those that are not cut yet. The list may only shrink.
const CIRCLES: &[(&str, &[&str])] = &[
    (
        "cli",
        &[
            "commands/check.rs",
            "commands/diff.rs",
            "commands/explain.rs",
            "commands/mod.rs",
            "commands/ops.rs",
            "commands/profile.rs",
            "main.rs",
        ],
    ),
    (
        "core",
        &[
            "array.rs",
            "attr.rs",
            "check/mod.rs",
            "check/problem.rs",
            "check/random/mod.rs",
            "check/random/steps.rs",
            "emit.rs",
            "graph.rs",
            "graph/symbols.rs",
            "ops/arg_reduce.rs",
            "ops/at_kink.rs",
            "ops/bessel.rs",
            "ops/betainc.rs",
            "ops/binary/mod.rs",
            "ops/binary/table.rs",
            "ops/bitcast.rs",
            "ops/body.rs",
            "ops/broadcast.rs",
            "ops/call.rs",
            "ops/checkpointing.rs",
            "ops/compare.rs",
            "ops/complex.rs",
            "ops/composite/elementary.rs",
            "ops/composite/fourier.rs",
            "ops/composite/implicit.rs",
            "ops/composite/matrices.rs",
            "ops/composite/mod.rs",
            "ops/composite/nn.rs",
            "ops/composite/products.rs",
            "ops/composite/samplers.rs",
            "ops/composite/spectral.rs",
            "ops/composite/statistics.rs",
            "ops/concatenate.rs",
            "ops/constant.rs",
            "ops/convert.rs",
            "ops/convolution.rs",
            "ops/cumulative.rs",
            "ops/custom_jvp.rs",
            "ops/custom_vjp.rs",
            "ops/dot_general.rs",
            "ops/dynamic_slice.rs",
            "ops/fft.rs",
            "ops/gather.rs",
            "ops/guard.rs",
            "ops/implicit/dense.rs",
            "ops/implicit/iterate.rs",
            "ops/implicit/krylov.rs",
            "ops/implicit/mod.rs",
            "ops/implicit/space.rs",
            "ops/integer_pow.rs",
            "ops/iota.rs",
            "ops/linalg/cholesky.rs",
            "ops/linalg/count.rs",
            "ops/linalg/det.rs",
            "ops/linalg/eig.rs",
            "ops/linalg/eigh.rs",
            "ops/linalg/francis/balance.rs",
            "ops/linalg/francis/complex.rs",
            "ops/linalg/francis/mod.rs",
            "ops/linalg/francis/real.rs",
            "ops/linalg/francis/vectors.rs",
            "ops/linalg/lu.rs",
            "ops/linalg/mod.rs",
            "ops/linalg/qr.rs",
            "ops/linalg/schur.rs",
            "ops/linalg/solve.rs",
            "ops/linalg/spectral.rs",
            "ops/linalg/spectrum.rs",
            "ops/linalg/svd.rs",
            "ops/linalg/triangular_solve.rs",
            "ops/linear_solve.rs",
            "ops/loops.rs",
            "ops/mod.rs",
            "ops/pad.rs",
            "ops/polygamma.rs",
            "ops/recurrence.rs",
            "ops/reduce.rs",
            "ops/reduce_precision.rs",
            "ops/reduce_window.rs",
            "ops/reshape.rs",
            "ops/reverse.rs",
            "ops/round_to.rs",
            "ops/scan.rs",
            "ops/scatter.rs",
            "ops/scatter_recurrence.rs",
            "ops/select.rs",
            "ops/select_window.rs",
            "ops/slice.rs",
            "ops/sliding.rs",
            "ops/sort.rs",
            "ops/special.rs",
            "ops/sums.rs",
            "ops/support.rs",
            "ops/switch.rs",
            "ops/transpose.rs",
            "ops/unary/mod.rs",
            "ops/unary/table.rs",
            "ops/while_loop.rs",
            "ops/windows.rs",
            "primitive.rs",
            "reference.rs",
            "rewrite/algebra.rs",
            "rewrite/dce.rs",
            "rewrite/mod.rs",
            "rewrite/products.rs",
            "rewrite/shifts.rs",
            "rewrite/windows.rs",
            "shape.rs",
            "text/attrs.rs",
            "text/build.rs",
            "text/cursor.rs",
            "text/derive.rs",
            "text/mod.rs",
            "text/names.rs",
            "text/parse.rs",
            "text/print.rs",
            "text/print_attr.rs",
            "text/types.rs",
            "transform/batch.rs",
            "transform/forward.rs",
            "transform/kinks.rs",
            "transform/linear.rs",
            "transform/linearity.rs",
            "transform/linearize.rs",
            "transform/mod.rs",
            "transform/region.rs",
            "transform/session.rs",
            "transform/transpose.rs",
        ],
    ),
    (
        "cotangent",
        &[
            "eager/backward.rs",
            "eager/exec.rs",
            "eager/gradient.rs",
            "eager/hook.rs",
            "eager/kinks.rs",
            "eager/rule.rs",
            "eager/runtime.rs",
            "eager/tape.rs",
            "eager/tensor.rs",
            "eager/whole.rs",
            "npy.rs",
            "npy_header.rs",
            "traced/compiler.rs",
            "traced/executor.rs",
            "traced/mod.rs",
            "traced/node.rs",
            "traced/orders.rs",
            "traced/record.rs",
            "traced/trace.rs",
        ],
    ),
    (
        "cpu",
        &[
            "axes.rs",
            "contract.rs",
            "control.rs",
            "convert.rs",
            "elementwise.rs",
            "executor.rs",
            "fuse.rs",
            "fused.rs",
            "linalg.rs",
            "loops.rs",
            "lower.rs",
            "phases.rs",
            "products.rs",
            "program.rs",
            "recurrence.rs",
            "reduce.rs",
            "sliding.rs",
            "sort.rs",
            "tensor.rs",
            "tiny.rs",
            "windows.rs",
        ],
    ),
    (
        "kernels",
        &[
            "convolution.rs",
            "convolution/groups.rs",
            "convolution/lines.rs",
            "convolution/outside.rs",
            "convolution/phases.rs",
            "convolution/tiles.rs",
            "element.rs",
            "emit/allocate.rs",
            "emit/complex.rs",
            "emit/instruction.rs",
            "emit/lower.rs",
            "emit/lower/block.rs",
            "emit/lower/looped.rs",
            "emit/lower/narrow.rs",
            "emit/lower/pairs.rs",
            "emit/mod.rs",
            "emit/record.rs",
            "fourier/factors.rs",
            "fourier/hartley.rs",
            "fourier/odd.rs",
            "fourier/plan.rs",
            "fourier/prime.rs",
            "fourier/real.rs",
            "gemm.rs",
            "gemm/batch.rs",
            "gemm/blocks.rs",
            "gemm/indirect.rs",
            "gemm/integers.rs",
            "gemm/micro.rs",
            "gemm/pack.rs",
            "gemm/vector.rs",
            "linalg/field.rs",
            "linalg/large.rs",
            "linalg/mod.rs",
            "linalg/qr.rs",
            "linalg/small.rs",
            "linalg/solve.rs",
            "linalg/spectral/bidiagonal.rs",
            "linalg/spectral/conquer/bidiagonal.rs",
            "linalg/spectral/conquer/tridiagonal.rs",
            "linalg/spectral/mod.rs",
            "linalg/spectral/quotients.rs",
            "linalg/spectral/singular.rs",
            "linalg/spectral/symmetric.rs",
            "linalg/spectral/tridiagonal.rs",
            "memory/mod.rs",
            "memory/pool.rs",
            "parallel/claims.rs",
            "parallel/mod.rs",
            "tile/body.rs",
            "tile/emitted.rs",
            "tile/halves.rs",
            "tile/kernels.rs",
            "tile/mod.rs",
            "tile/pack.rs",
            "tree.rs",
            "tree/vectors.rs",
            "twice.rs",
            "vector/complex.rs",
            "vector/functions.rs",
            "vector/math.rs",
            "vector/mod.rs",
            "vector/special/bessel.rs",
            "vector/special/beta.rs",
            "vector/special/gamma.rs",
            "vector/special/incomplete.rs",
            "vector/special/mod.rs",
            "vector/special/parts.rs",
            "vector/special/series.rs",
            "vector/special/zeta.rs",
        ],
    ),
    (
        "stablehlo",
        &[
            "lower/body.rs",
            "lower/callbacks.rs",
            "lower/collectives.rs",
            "lower/composite.rs",
            "lower/control.rs",
            "lower/dynamic.rs",
            "lower/elementwise.rs",
            "lower/exchanges.rs",
            "lower/factored.rs",
            "lower/frame.rs",
            "lower/indexing.rs",
            "lower/lapack.rs",
            "lower/loops.rs",
            "lower/mod.rs",
            "lower/narrow.rs",
            "lower/reduce.rs",
            "lower/shape.rs",
            "lower/sort.rs",
            "lower/sparse.rs",
            "lower/special.rs",
            "lower/table.rs",
            "parser/attribute.rs",
            "parser/mod.rs",
            "write/constant.rs",
            "write/control.rs",
            "write/elementwise.rs",
            "write/linalg.rs",
            "write/mod.rs",
            "write/movement.rs",
            "write/ops.rs",
            "write/reduce.rs",
            "write/sliding.rs",
            "write/whole.rs",
        ],
    ),
];

#[test]
fn files_import_without_circles() {
    let mut bad = Vec::new();
    for name in ["cli", "core", "cotangent", "cpu", "derive", "einsum", "kernels", "stablehlo"] {
        let src = format!("crates/{name}/src/");
        let files: Vec<(String, String)> = sources()
            .into_iter()
            .filter(|(f, _)| f.starts_with(&src) && !f.ends_with("tests.rs") && !f.contains("/tests/"))
            .map(|(f, text)| (f[src.len()..].to_owned(), text))
            .collect();
        assert!(!files.is_empty(), "{name} has sources");
        let edges = imports::edges(&files);
        let permitted: BTreeSet<&str> =
            CIRCLES.iter().filter(|(n, _)| *n == name).flat_map(|(_, f)| f.iter().copied()).collect();
        let circles = imports::circles(&edges);
        let mut idle = permitted.clone();
        for circle in &circles {
            circle.iter().for_each(|f| _ = idle.remove(f.as_str()));
            if !circle.iter().all(|f| permitted.contains(f.as_str())) {
                bad.push(format!("{name}: {} files\n{}", circle.len(), imports::arrows(&edges, circle)));
            }
        }
        bad.extend(idle.iter().map(|f| format!("{name}: {f} stands in no circle and needs no exception")));
    }
    assert_none("circles of imports, the smallest of a crate first", bad);
}

fn assert_none(what: &str, bad: Vec<String>) {
    assert!(bad.is_empty(), "{what}:\n  {}", bad.join("\n  "));
}

#[test]
fn every_file_opens_with_what_it_is() {
    let bad =
        sources().into_iter().filter(|(_, s)| !s.starts_with("//!") && !s.starts_with("#!")).map(|f| f.0).collect();
    assert_none("files without a `//!` header", bad);
}

#[test]
fn files_stay_readable() {
    let long = |(name, s): (String, String)| {
        let n = s.lines().count();
        (n > 800).then(|| format!("{name}: {n} lines"))
    };
    assert_none("files over 800 lines", sources().into_iter().filter_map(long).collect());
}

#[test]
fn arrows_point_one_way() {
    let allowed: &[(&str, &[&str])] = &[
        ("core", &[]),
        ("kernels", &[]),
        ("cpu", &["core", "kernels"]),
        ("stablehlo", &["core"]),
        ("einsum", &[]),
        ("derive", &[]),
        ("cotangent", &["core", "cpu", "derive", "einsum", "stablehlo"]),
        ("cli", &["cotangent"]),
    ];
    let mut bad = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
        let Some((_, may)) = allowed.iter().find(|(n, _)| *n == name) else {
            bad.push(format!("{name}: not in the table of this test"));
            continue;
        };
        // Only what the library itself needs: tests may look anywhere.
        let needs = manifest.split("[dev-dependencies]").next().unwrap();
        for line in needs.lines().filter(|l| l.starts_with("cotangent")) {
            let dep = line.split(['.', ' ', '=']).next().unwrap();
            let dep = dep.strip_prefix("cotangent-").unwrap_or("cotangent");
            if dep != name && !may.contains(&dep) {
                bad.push(format!("{name} imports {dep}"));
            }
        }
    }
    assert_none("imports against the arrows", bad);
}

#[test]
fn unsafe_stands_in_kernels_and_cpu_with_its_reason() {
    let mut bad = Vec::new();
    for (name, text) in sources().iter().filter(|(n, _)| !n.contains("tests/tidy/")) {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            // Without `pub` a function is one of a trait or a type of functions, where the promise is stated.
            let states = code.contains("unsafe {")
                || code.contains("unsafe impl")
                || code.contains("pub unsafe fn ")
                || code.contains(") unsafe fn ");
            let uses = code.contains("unsafe fn");
            if !(states || uses) {
                continue;
            }
            if !(name.starts_with("crates/kernels/") || name.starts_with("crates/cpu/")) {
                bad.push(format!("{name}:{}: unsafe outside kernels and cpu", i + 1));
            }
            let reason = |l: &&str| l.contains("SAFETY") || l.contains("# Safety");
            // One reason may hold for a whole file of intrinsics.
            let of_all = text.lines().take_while(|l| l.starts_with("//!")).any(|l| l.contains("SAFETY of every block"));
            if states && !of_all && !lines[i.saturating_sub(8)..=i].iter().any(reason) {
                bad.push(format!("{name}:{}: no SAFETY comment", i + 1));
            }
        }
    }
    assert_none("unsafe", bad);
}

/// Files are written whole or not at all by one module, and standard output and error by another, so that no failure of
/// a disk or a pipe is lost or is a panic.
#[test]
fn one_place_writes_files_and_one_the_terminal() {
    let files = ["fs::write(", "File::create(", "fs::copy(", "fs::rename("];
    let streams = ["println!(", "print!(", "stdout()", "stderr()"];
    let mut bad = Vec::new();
    for (name, text) in sources().iter().filter(|(n, _)| n.starts_with("crates/") && n.contains("/src/")) {
        let own = text.split("#[cfg(test)]").next().unwrap();
        for (i, line) in own.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            let writes = files.iter().any(|w| line.contains(w)) && name != "crates/cotangent/src/files.rs";
            let speaks = streams.iter().any(|w| line.contains(w));
            let may = ["crates/cli/src/streams.rs", "crates/cli/src/show.rs", "crates/kernels/src/environment.rs"];
            if writes || speaks && !may.contains(&name.as_str()) && !name.contains("/tests") {
                bad.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    assert_none("writing past `files` and `streams`", bad);
}

/// Of a type the example stands in its own documentation; of a function there, or in that of its module. Methods are
/// shown by their type's.
#[test]
fn what_users_import_has_an_example() {
    let mut bad = Vec::new();
    let kinds = ["pub struct ", "pub enum ", "pub trait ", "pub type ", "pub fn "];
    for (name, text) in sources().iter().filter(|(n, _)| n.starts_with("crates/cotangent/src/")) {
        let module = text.lines().take_while(|l| l.starts_with("//!")).any(|l| l.contains("```"));
        let mut shown = false;
        for line in text.lines() {
            if line.starts_with("///") {
                shown |= line.contains("```");
            } else if !line.starts_with("#[") {
                let function = module && line.starts_with("pub fn ");
                if kinds.iter().any(|k| line.starts_with(k)) && !shown && !function {
                    bad.push(format!("{name}: {line}"));
                }
                shown = false;
            }
        }
    }
    assert_none("public items without an example", bad);
}

#[test]
fn nothing_is_left_for_later_without_an_owner() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("unimpl", "emented!"),
        concat!("to", "do!("),
    ];
    let mut bad = Vec::new();
    for (name, text) in sources() {
        for (i, line) in text.lines().enumerate() {
            if words.iter().any(|w| line.contains(w)) {
                bad.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    assert_none("left for later", bad);
}

/// Where the size of a program, the rank of an array or a constant decides how long a vector is, not data: a file, what
/// its line contains (empty: any line), and why.
const BOUNDED: &[(&str, &str, &str)] = &[
    ("kernels/src/memory/", "", "the one place"),
    ("kernels/src/emit/", "", "instructions of a body"),
    ("kernels/src/vector/special/zeta.rs", "p.len()", "the order of a derivative"),
    ("kernels/src/tile/", "", "instructions and operands of a body, tiles of a fixed size"),
    ("kernels/src/view.rs", "shape.len()", "rank"),
    ("kernels/src/copy.rs", "shape", "rank"),
    ("kernels/src/sliding.rs", "extents.len()", "rank"),
    ("kernels/src/sliding.rs", "axes.iter()", "rank"),
    ("kernels/src/window.rs", "moving.map", "rank"),
    ("kernels/src/window/parts.rs", "axes", "rank"),
    ("kernels/src/convolution/layout.rs", "axes", "rank"),
    ("kernels/src/convolution/tiles.rs", "(0..first.count).step_by(high)", "bands that threads share"),
    ("kernels/src/reduce.rs", "chunks.partial.resize(here", "at most SOME rows"),
    ("kernels/src/reduce.rs", "first + width", "at most WIDTH bytes of columns"),
    ("kernels/src/reduce/best.rs", "first + width", "at most WIDTH bytes of columns"),
    ("kernels/src/linalg/panels.rs", "panels.data.resize(end", "within its capacity"),
    ("kernels/src/parallel/mod.rs", "CPU_SETSIZE", "cores"),
    ("cpu/src/fuse.rs", "", "equations of a function"),
    ("cpu/src/fuse/lower.rs", "", "equations of a function"),
    ("cpu/src/memory.rs", "", "equations of a function"),
    ("cpu/src/profile.rs", "", "equations of a function, and a measurement of a fixed size"),
    ("cpu/src/program.rs", "", "equations of a function"),
    ("cpu/src/recurrence.rs", "f.len()", "equations of a function"),
    ("cpu/src/tiny.rs", "", "programs whose values are few and small"),
    ("cpu/src/tiny/layout.rs", "", "programs whose values are few and small"),
    ("cpu/src/loops.rs", "first[of_cond..]", "operands of a loop"),
    ("cpu/src/loops.rs", "stacks.len()", "results of a loop"),
    ("cpu/src/movement.rs", "axes.to_vec()", "rank"),
    ("cpu/src/phases.rs", "shape.len()", "rank"),
    ("cpu/src/tensor.rs", "shape().to_vec()", "rank"),
];

/// What makes a vector whose length is no constant, and ends the process where there is no memory.
fn allocates(line: &str, kernels: bool) -> bool {
    let constant = |n: &str| n.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '_');
    let length =
        |after: &str, end: char| line.split(after).nth(1).and_then(|rest| Some(rest.split_once(end)?.0.to_owned()));
    let repeated = length("vec![", ']').is_some_and(|x| x.rsplit_once("; ").is_some_and(|(_, n)| !constant(n)));
    let room = line.contains(" Vec::with_capacity(") || line.contains("(Vec::with_capacity(");
    let room = room && length("Vec::with_capacity(", ')').is_some_and(|n| !constant(&n));
    (repeated && !line.contains("smallvec!["))
        || room
        || line.contains(".resize(")
        || line.contains(".to_vec()")
        || (kernels && line.contains(".collect"))
}

/// Memory whose size data decides comes from `kernels/memory` and what calls it: it answers that there is none.
#[test]
fn memory_whose_size_data_decides_may_not_be_there() {
    let mut bad = Vec::new();
    let mut used = vec![false; BOUNDED.len()];
    let inside = |n: &str| n.starts_with("crates/kernels/src/") || n.starts_with("crates/cpu/src/");
    for (name, text) in
        sources().iter().filter(|(n, _)| inside(n) && !n.contains("tests") && !n.ends_with("testing.rs"))
    {
        let code = text.lines().take_while(|l| !l.starts_with("#[cfg(test)]")).map(|l| l.split("//").next().unwrap());
        for (i, line) in code.enumerate().filter(|(_, l)| allocates(l, name.contains("kernels"))) {
            let mut known = false;
            for ((file, what, _), used) in BOUNDED.iter().zip(&mut used) {
                if name["crates/".len()..].starts_with(file) && line.contains(what) {
                    (known, *used) = (true, true);
                }
            }
            if !known {
                bad.push(format!("{name}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    assert_none("vectors that end the process where there is no memory (see kernels/memory)", bad);
    let idle = BOUNDED.iter().zip(used).filter(|(_, used)| !used).map(|((file, what, _), _)| format!("{file}: {what}"));
    assert_none("exceptions that nothing needs", idle.collect());
}

/// The rule above sees what it is for.
#[test]
fn the_rule_for_memory_sees_what_it_forbids() {
    let forbidden =
        ["let x = vec![0.0; n];", "let y = vec![T::ZERO; rows * count];", "Vec::with_capacity(n)", "x.to_vec()"];
    let caught = |l: &&str| allocates(&format!("    let _ = ({l}"), false);
    assert_eq!(forbidden.iter().filter(|l| caught(l)).count(), forbidden.len());
    assert!(allocates("        let x: Vec<f64> = x.iter().map(f).collect();", true));
    let allowed = ["let x = vec![0.0; WIDTH];", "let x = vec![0; 16];", "zeros(n)?", "with_capacity(n)?", "vec![a, b]"];
    assert!(!allowed.iter().any(caught));
}
