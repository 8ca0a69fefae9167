"""Cotangent's runtime for JAX: a PJRT plugin.

JAX imports this module and calls `initialize` before the first use of a device, whatever its platforms are. Nothing happens
unless they name `cotangent`.
"""

import os

__version__ = "0.1.0"


def initialize():
    """Registers the plugin where `jax_platforms` or the variable JAX_PLATFORMS names it."""
    import jax

    platforms = jax.config.jax_platforms or os.environ.get("JAX_PLATFORMS") or ""
    if "cotangent" in (p.strip() for p in platforms.split(",")):
        from cotangent_jax import _plugin

        _plugin.register()
