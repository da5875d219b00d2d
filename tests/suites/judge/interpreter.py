"""Find the CPython interpreter with which coil is compared."""

import glob
import os
import shutil
import subprocess
import sys


def version_of(python):
    """Return the version, such as (3, 13, 0), or None if this is not a working CPython."""
    ask = "import sys; print(*sys.version_info[:3], sys.implementation.name)"
    try:
        words = subprocess.run([python, "-c", ask], capture_output=True, text=True,
                               timeout=20).stdout.split()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    if len(words) != 4 or words[3] != "cpython":
        return None
    return tuple(map(int, words[:3]))


def candidates():
    chosen = os.environ.get("COIL_PYTHON")
    if chosen:
        return [chosen]
    names = [f"python3.{minor}" for minor in range(11, 30)] + ["python3"]
    found = [path for path in map(shutil.which, names) if path]
    return found + glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))


def find(who, oldest):
    """Return the path and version of $COIL_PYTHON. If the variable is not set, use CPython 3.13 or, if that is not
    installed, the newest CPython."""
    versions = [(version_of(path), path) for path in candidates()]
    versions = [(version, path) for version, path in versions if version]
    if not versions:
        sys.exit(f"{who}: no CPython found to compare with; set COIL_PYTHON to one (3.13)")
    version, path = max(versions, key=lambda pair: (pair[0][:2] == (3, 13), pair[0]))
    if version < oldest:
        sys.exit("%s: %s is Python %d.%d.%d; asyncio has groups and timeouts since 3.11"
                 % (who, path, *version))  # fmt: skip
    return path, version
