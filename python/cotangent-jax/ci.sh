#!/usr/bin/env bash
# The package cotangent-jax in an environment of its own, with the version of JAX that it is tested against: built as a wheel,
# installed and tested. With CI=true a part that cannot be installed is a failure; elsewhere the last lines say so.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD env=$PWD/target/python-jax
jax=${JAX_VERSION:-0.10.2}

without() {
    echo "skipped: $1"
    if [ "${CI:-}" = true ]; then exit 1; fi
    exit 0
}

python=${PYTHON:-python3}
command -v "$python" >/dev/null || without "cotangent-jax needs python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || without "cotangent-jax needs Python 3.11 or later"
"$python" -m venv "$env" || without "python3 cannot make an environment"
"$env/bin/pip" install --quiet --disable-pip-version-check "jax==$jax" scipy pytest equinox optax diffrax \
    || without "pip cannot install jax $jax and the libraries of the tests"

rm -rf "$env/wheels"
"$env/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$env/wheels" ./python/cotangent-jax
"$env/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$env"/wheels/*.whl
echo "wheel: $(du -k "$env"/wheels/*.whl | cut -f1) KB"

# Run from a folder without the sources, so that the installed package is the one that is tested.
export COTANGENT_BYTECODE=${COTANGENT_BYTECODE:-$root/../shared/bytecode}
(cd "$env" && bin/python -m pytest -q -rs -p no:cacheprovider "$root/python/cotangent-jax/tests") | tee "$env/tests.log"
if [ "${CI:-}" = true ] && grep -q '^SKIPPED' "$env/tests.log"; then
    echo "tests were skipped"
    exit 1
fi
