"""The build backend of this package (PEP 517): cargo builds the library, and the wheel holds it and the Python files.

The wheel is for every Python 3 on this platform, because the library uses nothing of Python's interface.
"""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "cotangent_jax"
LIBRARY = {"darwin": "libcotangent_pjrt.dylib", "win32": "cotangent_pjrt.dll"}.get(sys.platform, "libcotangent_pjrt.so")


def _library():
    """Builds the library in the workspace's target folder. Returns its path."""
    root = HERE.parents[1]
    command = ["cargo", "build", "--release", "--locked", "--package", "cotangent-pjrt-plugin"]
    subprocess.run(command, cwd=root, check=True, stdout=sys.stderr)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    return root / target / "release" / LIBRARY


def _metadata(project):
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {project['version']}"]
    lines += [f"Summary: {project['description']}", f"License-Expression: {project['license']}"]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {d}" for d in project["dependencies"]]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / project["readme"]).read_text()]
    return "\n".join(lines)


def _entry_points(project):
    groups = project["entry-points"].items()
    return "\n".join(f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in all.items()) for group, all in groups) + "\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name = f"{PACKAGE}-{project['version']}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}"
    info = f"{name}.dist-info"
    files = {f"{PACKAGE}/{p.name}": p.read_bytes() for p in sorted((HERE / PACKAGE).glob("*.py"))}
    files[f"{PACKAGE}/{LIBRARY}"] = _library().read_bytes()
    for license in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{license}"] = (HERE.parents[1] / license).read_bytes()
    files[f"{info}/METADATA"] = _metadata(project).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = _entry_points(project).encode()
    record = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(data)}")
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    wheel = f"{name}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files.items():
            out.writestr(path, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the sources are those of the repository: install from a clone")
