"""JAX's own tests on Cotangent's runtime: of the tests that pass on XLA's CPU, which pass here?

    python jax_tests.py CLONE [NAME ..]

CLONE is JAX's repository at the tag of the installed version; NAME is a file of its tests without `.py`, by default all of FILES.
pytest, pytest-timeout and absl-py are needed. Each file runs twice, once per platform, in processes of their own.
Tests that need element types of less than 8 bits or floats of 8 bits, which arrays here cannot have, are counted apart.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

FILES = """lax_test lax_autodiff_test lax_control_flow_test api_test lax_numpy_operators_test lax_numpy_einsum_test
lax_numpy_reducers_test lax_numpy_indexing_test fft_test lax_scipy_test image_test ode_test optimizers_test custom_root_test
custom_linear_solve_test array_test python_callback_test lax_numpy_test linalg_test batching_test core_test dtypes_test
random_lax_test nn_test jet_test lax_vmap_test""".split()

# Messages of errors about types, and the share of other tests that must pass.
TYPES = re.compile(r"element type are not supported|arrays of type \w+ \(\d+\) are not supported")
SHARE = 0.99

# Tests of JAX ask for the device under test by name; ours is to pass those of cpu.
PLUGIN = 'import jax\nfrom jax._src import test_util\njax.config.update("jax_test_dut", "cpu")\n'


def run(clone, name, platforms, folder):
    """Outcomes by the names of tests: None for a pass, else the kind and message."""
    report = pathlib.Path(folder, f"{name}-{platforms.split(',')[0]}.xml")
    environment = {
        **os.environ,
        "JAX_PLATFORMS": platforms,
        "JAX_ENABLE_X64": "1",
        "JAX_NUM_GENERATED_CASES": "2",
        "JAX_SKIP_SLOW_TESTS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")])),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "device_under_test", "-p", "no:cacheprovider"]
    command += ["--timeout", "300", f"--junitxml={report}", f"tests/{name}.py"]
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
    if not report.exists():
        sys.exit(f"{name} on {platforms}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    outcomes = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        bad = [e for e in case if e.tag in ("failure", "error", "skipped")]
        text = "".join((e.get("message") or "") + (e.text or "") for e in bad)
        outcomes[f"{case.get('classname')}::{case.get('name')}"] = (bad[0].tag, text) if bad else None
    return outcomes


def main(clone, *names):
    total = dict.fromkeys(["reference", "passed", "types"], 0)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "device_under_test.py").write_text(PLUGIN)
        for name in names or FILES:
            reference, ours = (run(clone, name, p, folder) for p in ("cpu", "cotangent,cpu"))
            wanted = [test for test, outcome in reference.items() if outcome is None]
            missed = {test: ours.get(test, ("missing", "")) for test in wanted if ours.get(test, "missing") is not None}
            types = [test for test, (_, text) in missed.items() if TYPES.search(text)]
            passed = len(wanted) - len(missed)
            print(f"{name}: {passed} of {len(wanted)} pass, {len(types)} need other types", flush=True)
            for test, (kind, text) in missed.items():
                if test not in types:
                    print(f"  {kind} {test}: {text.strip().splitlines()[0][:160] if text.strip() else ''}", flush=True)
            for key, count in [("reference", len(wanted)), ("passed", passed), ("types", len(types))]:
                total[key] += count
    counted = total["reference"] - total["types"]
    share = total["passed"] / counted if counted else 1.0
    print(f"all: {total['passed']} of {counted} pass ({100 * share:.2f} %), {total['types']} need other types")
    return share < SHARE


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
