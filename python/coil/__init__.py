"""Await in plain functions and in C, under asyncio.

`await coil.run(function, *args)` calls a plain function on a stack of its own. In that function, and in all functions
that it calls, even through C code, `coil.await_(awaitable)` waits as `await` does in a coroutine.
"""

import atexit as _atexit
import sys as _sys

if _sys.implementation.name != "cpython" or not (3, 11) <= _sys.version_info[:2] <= (3, 13):
    raise ImportError("coil supports CPython 3.11 to 3.13")
if not getattr(_sys, "_is_gil_enabled", lambda: True)():
    raise ImportError("coil does not support free-threaded builds of CPython")

from collections.abc import Coroutine as _Coroutine  # noqa: E402

from coil._coil import Run, _close_all, await_, can_await, run, stack_size  # noqa: E402

_Coroutine.register(Run)
_atexit.register(_close_all)

__all__ = ["Run", "await_", "can_await", "get_include", "run", "stack_size"]


def get_include():
    """Return the folder that contains coil/python.h, for the compiler's option -I."""
    from pathlib import Path

    return str(Path(__file__).parent / "include")
