//! The command line under limits of address space: for every limit, a result or an error that names
//! the missing memory.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

const VECTOR: &str = "  %i = tgraph.iota {axis = 0} : tensor<1300000xf64>\n  %x = tgraph.sin %i\n";
const MATRIX: &str = "  %i = tgraph.iota {axis = 0} : tensor<700x700xf64>
  %j = tgraph.iota {axis = 1} : tensor<700x700xf64>
  %d = tgraph.sub %i, %j
  %e = tgraph.mul %d, %d
  %n = tgraph.neg %e
  %x = tgraph.exp %n\n";

/// Operands, an operation, and its number of results. CI runs the first ones.
const ALL: &[(&str, &str, usize)] = &[
    (VECTOR, "sort %x {axis = 0}", 1),
    (VECTOR, "rfft %x {axis = 0}", 1),
    (VECTOR, "top_k %x {k = 1000}", 2),
    (VECTOR, "cumsum %x {axis = 0}", 1),
    (
        VECTOR,
        "reduce_window %x {reduce = \"sum\", window = [3], extents = [1299998]}",
        1,
    ),
    (MATRIX, "eigh %x", 2),
    (MATRIX, "svdvals %x", 1),
    (MATRIX, "svd %x", 3),
    (MATRIX, "eig %x", 2),
    (MATRIX, "qr %x", 2),
    (MATRIX, "lu %x", 3),
    (MATRIX, "cholesky %x", 1),
    (MATRIX, "solve %x, %e", 1),
    (MATRIX, "inv %x", 1),
    (MATRIX, "det %x", 1),
    (MATRIX, "matrix_exp %x", 1),
    (MATRIX, "matmul %x, %e", 1),
];

/// Runs programs under each limit in MiB until one succeeds. With 2 GiB it must succeed.
fn short(programs: &[(&str, &str, usize)], limits: impl Iterator<Item = usize> + Clone) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("short_memory");
    std::fs::create_dir_all(&folder).unwrap();
    let mut bad = Vec::new();
    for (operands, op, results) in programs {
        let names: Vec<String> = (0..*results).map(|k| format!("%y{k}")).collect();
        let head = format!(
            "tgraph.module @m {{\n{operands}  {} = tgraph.{op}\n",
            names.join(", ")
        );
        let text = format!("{head}  %z = tgraph.reduce_sum %y0\n  tgraph.return %z\n}}\n");
        let path = folder.join(format!("{}.tgraph", op.split(' ').next().unwrap()));
        std::fs::write(&path, text).unwrap();
        for limit in limits.clone().chain([2048]) {
            let script = format!(
                "ulimit -c 0; ulimit -v {}; exec \"$0\" run \"$1\"",
                limit << 10
            );
            let mut run = Command::new("sh");
            run.args(["-c", &script, env!("CARGO_BIN_EXE_cotangent")])
                .arg(&path);
            let out = run
                .env("RUST_BACKTRACE", "0")
                .env("COTANGENT_THREADS", "2")
                .output()
                .unwrap();
            let status = out.status.code();
            if status == Some(0) {
                break;
            }
            if status != Some(2) || limit == 2048 {
                bad.push(format!(
                    "{op} in {limit} MiB: {} {}",
                    out.status,
                    String::from_utf8_lossy(&out.stderr)
                ));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn some_programs_with_little_memory() {
    short(&ALL[..2], [95, 115, 135].into_iter());
}

/// Takes minutes; run by `just short`.
#[test]
#[ignore = "takes minutes"]
fn every_program_with_little_memory() {
    short(ALL, (88..200).step_by(4));
}

/// The memory for a window depends on the operand, not on the extent of the window.
#[test]
fn windows_may_be_of_any_extent() {
    let operand = "  %x = tgraph.iota {axis = 0} : tensor<4xf64>\n";
    for window in [3_000_000_000_u64, 9_000_000_000_000_000_000] {
        for reduce in ["sum", "max"] {
            let op = format!(
                "reduce_window %x {{reduce = \"{reduce}\", window = [{window}], extents = [3]}}"
            );
            short(&[(operand, &op, 1)], [1024].into_iter());
        }
    }
}
