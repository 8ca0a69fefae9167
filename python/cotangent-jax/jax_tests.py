"""JAX's own tests on Cotangent's runtime: of the tests that pass on XLA's CPU, which pass here?

    python jax_tests.py [--reports FOLDER] CLONE [NAME ..]

CLONE is JAX's repository at the tag of the installed version; NAME is a file of its tests without `.py`, by default all of FILES.
pytest, pytest-timeout and absl-py are needed. Each file runs twice, once per platform, in processes of their own. Reports of
XLA's CPU that FOLDER has are used again.

A test that passes on XLA's CPU and is skipped here counts as a failure. Two kinds are listed apart: tests that need element
types of less than 8 bits or floats of 8 bits, which arrays here cannot have, and tests that need several devices.
"""

import argparse
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

# Messages of what arrays and programs here cannot have, and the share of the other tests that must pass.
APART = {
    "types": re.compile(r"element type are not supported|arrays of type \w+ \(\d+\) are not supported"),
    "devices": re.compile(r"a program for \d+ devices|(requires|needs) (>= ?|more than )?\d+ (global )?devices", re.I),
}
SHARE = 0.99

# Tests of JAX ask for the device under test by name; ours is to pass those of cpu.
PLUGIN = 'import jax\nfrom jax._src import test_util\njax.config.update("jax_test_dut", "cpu")\n'


def run(clone, name, platforms, report):
    """Runs a file of tests, unless there is a report of XLA's CPU. Outcomes by the names of tests: None for a pass, else the
    kind and message."""
    if platforms != "cpu" or not report.exists():
        report.unlink(missing_ok=True)
        variables = {
            "JAX_PLATFORMS": platforms,
            "JAX_ENABLE_X64": "1",
            "JAX_NUM_GENERATED_CASES": "2",
            "JAX_SKIP_SLOW_TESTS": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(report.parent), os.environ.get("PYTHONPATH")])),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "device_under_test", "-p", "no:cacheprovider"]
        command += ["--timeout", "300", f"--junitxml={report}", f"tests/{name}.py"]
        done = subprocess.run(command, cwd=clone, env=os.environ | variables, capture_output=True, text=True)
        if not report.exists():
            sys.exit(f"{name} on {platforms}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    outcomes = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        bad = [e for e in case if e.tag in ("failure", "error", "skipped")]
        text = "".join((e.get("message") or "") + (e.text or "") for e in bad)
        outcomes[f"{case.get('classname')}::{case.get('name')}"] = (bad[0].tag, text) if bad else None
    return outcomes


def kind_of(text):
    return next((kind for kind, pattern in APART.items() if pattern.search(text)), None)


def main(clone, names, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "device_under_test.py").write_text(PLUGIN)
    total = dict.fromkeys(["reference", "passed", *APART], 0)
    for name in names or FILES:
        reference, ours = (
            run(clone, name, platforms, folder / f"{name}-{platforms.split(',')[0]}.xml")
            for platforms in ("cpu", "cotangent,cpu")
        )
        counts = dict.fromkeys(total, 0)
        for test in (test for test, outcome in reference.items() if outcome is None):
            counts["reference"] += 1
            outcome = ours.get(test, ("missing", ""))
            if outcome is None:
                counts["passed"] += 1
            elif kind := kind_of(outcome[1]):
                counts[kind] += 1
            else:
                text = outcome[1].strip().splitlines() or [""]
                print(f"  {outcome[0]} {test}: {text[0][:160]}")
        apart = ", ".join(f"{counts[kind]} need other {kind}" for kind in APART)
        print(f"{name}: {counts['passed']} of {counts['reference']} pass, {apart}", flush=True)
        total = {key: total[key] + counts[key] for key in total}
    counted = total["reference"] - sum(total[kind] for kind in APART)
    share = total["passed"] / counted if counted else 1.0
    apart = ", ".join(f"{total[kind]} need other {kind}" for kind in APART)
    print(f"all: {total['passed']} of {counted} pass ({100 * share:.2f} %); apart: {apart}")
    return share < SHARE


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("clone")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(options.clone, options.names, options.reports or pathlib.Path(folder)))
