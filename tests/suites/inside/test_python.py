#!/usr/bin/env python3
"""Run examples/inside/python/frames.py with each installed CPython that docs/tutorial/02-stopping-halfway.md
mentions.

    test_python.py FOLDER [TEST...]
"""
import glob
import os
import shutil
import subprocess
import sys

from programs import SOURCES
from check import Skip, contains, equal, run_tests

COMMON = """\
frames that outlive their calls: bar called by foo
generator flag of foo, of gen_fn: False True
one code, two frames: True False
{created}
send(None): 1
{first}
  result of yield: hello
send('hello'): 2
{second}
its variables: {{'result': 'hello'}} and the other's: {{}}
send(None): 1
the caller stands at its yield from: {delegating}
  result of yield: hello
send('hello'): 2
the inner generator has advanced: True
the caller has not: True
  result of 2nd yield: goodbye
  return value of yield-from: done
send('goodbye'): StopIteration
send(None) to outer(): an event
the frames on the way to the event: outer -> inner -> wait
nested calls on a C stack of 1 MiB: 100000
"""


def python(version):
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = sorted(glob.glob(f"{root}/versions/{version}.*/bin/python{version}"))
    return found[-1] if found else shutil.which(f"python{version}")


def frames_of(version, opcodes, **expected):
    program = python(version)
    if program is None or subprocess.run([program, "-c", ""], capture_output=True).returncode != 0:
        raise Skip(f"there is no CPython {version}")
    done = subprocess.run([program, "-I", SOURCES / "python/frames.py"], capture_output=True,
                          text=True, timeout=60)
    equal((done.returncode, done.stderr), (0, ""))
    code, rest = done.stdout.split("\n", 1)
    equal(code, "dis(foo): " + opcodes)
    equal(rest, COMMON.format(**expected))
    chapter = (SOURCES.parents[1] / "docs/tutorial/02-stopping-halfway.md").read_text()
    numbers = [text.split(" at ")[1] for text in expected.values()]
    created, size = numbers[0].split(", of ")
    contains(chapter, f"| {version} | {created} | {numbers[1]} | {numbers[2]} | {numbers[3]} | "
             + size.split()[0] + " |")


def test_frames_of_3_11():
    frames_of("3.11", "RESUME LOAD_GLOBAL PRECALL CALL POP_TOP LOAD_CONST RETURN_VALUE",
              created="created: RETURN_GENERATOR at 0, of 98 bytes",
              first="suspended: YIELD_VALUE at 8", second="suspended: YIELD_VALUE at 52",
              delegating="YIELD_VALUE at 42")


def test_frames_of_3_12():
    frames_of("3.12", "RESUME LOAD_GLOBAL CALL POP_TOP RETURN_CONST",
              created="created: RETURN_GENERATOR at 0, of 84 bytes",
              first="suspended: YIELD_VALUE at 8", second="suspended: YIELD_VALUE at 44",
              delegating="YIELD_VALUE at 36")


def test_frames_of_3_13():
    frames_of("3.13", "RESUME LOAD_GLOBAL CALL POP_TOP RETURN_CONST",
              created="created: POP_TOP at 2, of 84 bytes",
              first="suspended: RESUME at 10", second="suspended: RESUME at 46",
              delegating="RESUME at 38")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
