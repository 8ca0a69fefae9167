# Everyday commands; `.ci/run` is what a change must pass.

# All tests.
test:
    cargo test --workspace

# Formatting and lints, as CI runs them.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Rewrite what tests write: expected outputs, methods of tensors, the reference of operations; read the diff.
bless:
    BLESS=1 cargo test -p cotangent-core --test text
    BLESS=1 cargo test -p cotangent-cpu --lib nests::
    BLESS=1 cargo test -p cotangent-cli --lib --test book --test tidy --test methods
    BLESS=1 cargo test -p cotangent --test names

# Benchmarks, named by question.
bench:
    cargo bench --workspace

# The long random-graph run (minutes).
soak:
    cargo test --release -p cotangent-core --test random_graphs -- --ignored

# Every access of kernels and emitted code to memory, by the address sanitizer, then by valgrind at AVX2 (minutes). Left out
# there: tests of bits that valgrind computes otherwise than processors do (signs of zeros, conversions of large integers).
memory:
    RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 CARGO_TARGET_DIR=target/sanitizer \
        cargo test -p cotangent-kernels --lib --target x86_64-unknown-linux-gnu
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind -q --error-exitcode=1" cargo test -p cotangent-kernels --lib -- \
        emit:: vector_loop tile::emitted --skip every_function_has_code_with_the_interpreters_bits \
        --skip conversions_have_code_with --skip functions_in_bodies_give --skip bodies_of_several_widths_give

# Tests of bits with every tuning constant halved: none of them decides bits (minutes).
tuning:
    RUSTFLAGS="--cfg halved_tuning" CARGO_TARGET_DIR=target/halved cargo test -p cotangent-kernels -p cotangent-cpu

# Every sample and the corpus for every XLA target, compiled and run by jaxlib and by the plugins of tests/devices.txt (an hour).
portable folder="target/portable":
    mkdir -p {{folder}}
    COTANGENT_PORTABLE={{absolute_path(folder)}} cargo test --workspace --test portable --test portable_matrices -- --ignored
    python3 tests/portable.py {{folder}}
    for library in $(python3 tests/portable.py --plugins); do python3 tests/portable.py {{folder}} --plugin $library; done
    python3 tests/factorisations.py {{folder}}
    python3 tests/factorisations.py {{folder}} --times

# The pool of threads under every interleaving.
loom:
    cargo test --release --manifest-path crates/kernels/loom/Cargo.toml

# Documentation without warnings, private items included, with every example run.
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
    cargo test --workspace --doc

# The book as HTML in target/book (needs mdbook: `cargo install mdbook --locked`).
book:
    mdbook build book

# Every sample of every operation, 10 MB of it, under ten limits of address space (minutes).
short:
    cargo test --release -p cotangent-cpu --test short -- --ignored every_sample_with_little_memory
    cargo test --release -p cotangent-cli --test short_memory -- --ignored

# Calls in vector code that should have been inlined (needs objdump).
inlined:
    cargo build --release
    python3 tests/inlined.py target/release/cotangent

# Instructions an element of every elementwise operation on every type (needs valgrind; half an hour).
cells:
    python3 tests/cells.py "$(cargo test --release -p cotangent-cpu --lib --no-run --message-format=json | sed -n 's/.*"executable":"\([^"]*cotangent_cpu[^"]*\)".*/\1/p')"

# Packages every crate as it would be published, and builds it from the package (minutes).
publish-dry-run:
    cargo package --workspace --locked

# The Python package: an sdist with its licences, and a wheel for this system, in target/wheels (needs maturin, and advzip of
# AdvanceCOMP, by which the wheel is 3 % smaller).
wheels:
    cd python && maturin build --release --locked --sdist --compression-level 9 --out ../target/wheels
    advzip --recompress --shrink-insane --iter 5 target/wheels/*.whl

# JAX's own tests on the runtime and on XLA's CPU, from a clone of JAX at the tag of the installed version (hours);
# `python/cotangent-jax/ci.sh` makes the environment.
jax clone:
    target/python-jax/bin/pip install --quiet pytest-timeout absl-py
    target/python-jax/bin/python python/cotangent-jax/jax_tests.py {{clone}}
