# Everyday commands; `.ci/run` is what a change must pass.

# All tests.
test:
    cargo test --workspace

# Formatting and lints, as CI runs them.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Rewrite the expected output of the text tests; read the diff before committing.
bless:
    BLESS=1 cargo test -p cotangent-core --test text

# Benchmarks, named by question.
bench:
    cargo bench --workspace

# The long random-graph run (minutes).
soak:
    cargo test --release -p cotangent-core --test random_graphs -- --ignored

# Documentation with every example run.
doc:
    cargo doc --workspace --no-deps
    cargo test --workspace --doc
