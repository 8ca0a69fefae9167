"""Registration of the library with JAX, and the tables of JAX that decide by the name of a platform."""

import collections
import os
import pathlib
import sys
import warnings

from cotangent_jax import _callbacks

PLATFORM = "cotangent"

_LIBRARY = {"darwin": "libcotangent_pjrt.dylib", "win32": "cotangent_pjrt.dll"}.get(sys.platform, "libcotangent_pjrt.so")


def library():
    """The path of the library: that of COTANGENT_PJRT, or the one in this package."""
    return os.environ.get("COTANGENT_PJRT") or str(pathlib.Path(__file__).with_name(_LIBRARY))


def options():
    """Options of the client: virtual devices by COTANGENT_DEVICES, threads by COTANGENT_JAX_THREADS, and the function of callbacks."""
    chosen = {"callback": _callbacks.address()}
    for option, variable in [("device_count", "COTANGENT_DEVICES"), ("threads", "COTANGENT_JAX_THREADS")]:
        if value := os.environ.get(variable):
            chosen[option] = int(value)
    return chosen


def register():
    from jax._src import xla_bridge

    xla_bridge.register_plugin(PLATFORM, priority=500, library_path=library(), options=options)
    try:
        _share_rules()
        _take_branches_of_cpu()
        _callbacks.install(PLATFORM)
    except (ImportError, AttributeError) as error:
        import jax

        text = f"jax {jax.__version__} differs from the versions that cotangent-jax knows: linear algebra, donation or callbacks may be refused"
        warnings.warn(f"{text} ({error})")


def _share_rules():
    """Rules of lowering for cpu are those of this platform, also rules that are registered later; buffers may be donated."""
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    own = rules[PLATFORM]
    if not isinstance(own, collections.ChainMap):
        rules[PLATFORM] = collections.ChainMap(own, rules["cpu"])
    if PLATFORM not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(PLATFORM)


def _take_branches_of_cpu():
    """`jax.lax.platform_dependent` takes the branch of cpu, unless one names this platform."""
    from jax._src.interpreters import mlir
    from jax._src.lax.control_flow import conditionals

    def follow(branches):
        if branches is None or any(ps and PLATFORM in ps for ps in branches):
            return branches
        return tuple((*ps, PLATFORM) if ps and "cpu" in ps else ps for ps in branches)

    def rule_of(primitive, parameter):
        default = mlir._lowerings[primitive].rule

        def rule(ctx, *args, **params):
            if parameter in params:
                params[parameter] = follow(params[parameter])
            return default(ctx, *args, **params)

        return rule

    for primitive, parameter in [
        (conditionals.platform_index_p, "platforms"),
        (conditionals.cond_p, "branches_platforms"),
    ]:
        mlir.register_lowering(primitive, rule_of(primitive, parameter), platform=PLATFORM)
