#!/usr/bin/env bash
# Runs a fuzz target on the stable toolchain: fuzz/run.sh text|stablehlo|graphs [libFuzzer options]
# A crash is written to the current folder; minimise it, and add it under tests/regressions.
set -euo pipefail
cd "$(dirname "$0")"
target=$1
shift
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
mkdir -p "corpus/$target"
[ "$target" = text ] && cp -n ../examples/*.tgraph ../tests/graphs/*.tgraph "corpus/$target/" 2>/dev/null || true
if [ "$target" = stablehlo ]; then
    for case in ../tests/corpus/*/module.mlir; do
        cp -n "$case" "corpus/stablehlo/$(basename "$(dirname "$case")").mlir" || true
    done
fi
# With many features, libFuzzer's entropic schedule takes most of the time: 12 runs of `graphs` a second instead of 240.
set -- -entropic=0 "$@"
exec cargo run --release --target "$(rustc -vV | sed -n 's/^host: //p')" --bin "$target" -- "corpus/$target" "$@"
