#!/usr/bin/env bash
# The Python package in an environment of its own: built as a wheel, installed, tested, its stubs checked; the wheel's size and
# the time of an import. With CI=true a part that cannot be installed is a failure; elsewhere the last lines say so.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD env=$PWD/target/python
# Between dev and release: tests of bits and errors do not need the last optimization, and the wheel is ready sooner.
profile=${COTANGENT_PYTHON_PROFILE:-ci}

without() {
    echo "skipped: $1"
    if [ "${CI:-}" = true ]; then exit 1; fi
    exit 0
}

python=${PYTHON:-python3}
command -v "$python" >/dev/null || without "the Python package needs python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || without "the Python package needs Python 3.11 or later"
"$python" -m venv "$env" || without "python3 cannot make an environment"
"$env/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.16,<2' 'numpy>=2.0' pytest scipy ml_dtypes mypy jax \
    || without "pip cannot install what the Python tests need"

rm -rf "$env/wheels"
(cd python && CARGO_TARGET_DIR="$root/crates/python/target" "$env/bin/maturin" build --quiet --profile "$profile" --locked \
    --compression-level 9 --interpreter "$env/bin/python" --out "$env/wheels")
"$env/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$env"/wheels/*.whl
echo "wheel: $(du -k "$env"/wheels/*.whl | cut -f1) KB"
"$env/bin/python" - <<'END'
import subprocess, sys
times = []
for _ in range(5):
    code = "import time; t = time.perf_counter(); import cotangent; print(time.perf_counter() - t)"
    times.append(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout))
print(f"import: {1e3 * min(times):.1f} ms")
END

tests=(python/tests)
if [ -d ../shared/suites/python_door ]; then
    tests+=(../shared/suites/python_door ../shared/guide/blocks.py)
else
    echo "skipped: the shared suites are not beside this checkout"
fi
# Run from a folder without the sources, so that the installed package is the one that is tested.
paths=("${tests[@]/#/$root/}")
(cd "$env" && bin/python -m pytest -q -rs -p no:cacheprovider "${paths[@]}") | tee "$env/tests.log"
if [ "${CI:-}" = true ] && grep '^SKIPPED' "$env/tests.log" | grep -v -e torch -e 'no PJRT plugin'; then
    echo "tests other than those of torch and of devices were skipped"
    exit 1
fi
# Types: the sources, a program of a user, and the stubs against what is defined.
(cd python && "$env/bin/python" -m mypy --strict cotangent)
(cd "$env" && bin/python -m mypy --strict "$root/python/tests/typed.py" && bin/stubtest cotangent)

if [ -n "${ARRAY_API_TESTS:-}" ] && [ -d "$ARRAY_API_TESTS" ]; then
    (cd "$ARRAY_API_TESTS" && ARRAY_API_TESTS_MODULE=cotangent "$env/bin/python" -m pytest -q array_api_tests \
        --max-examples 20 --xfails-file "$root/python/tests/array_api_xfails.txt")
else
    echo "skipped: the array API suite (ARRAY_API_TESTS is the folder of its clone)"
fi
