"""Build and run the programs in examples/inside, unchanged or with changes."""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "crawler"))

from check import equal  # noqa: E402

FOLDER = os.path.abspath(sys.argv[1])
BUILD = pathlib.Path(FOLDER).parents[1]
SOURCES = pathlib.Path(__file__).resolve().parents[3] / "examples/inside"
# AddressSanitizer prints this warning for each program that uses makecontext(3).
ASAN_OF_CONTEXTS = re.compile(r"==\d+==WARNING: ASan doesn't fully support makecontext.*\n")
WRAPPER = shlex.split(os.environ.get("COIL_WRAPPER", ""))


def output_of(name, *arguments, reports=False, status=0):
    """Run a program in FOLDER, or the program with this path, and return its standard output and standard error. The
    program must not write to standard error, unless `reports` is true."""
    done = subprocess.run([*WRAPPER, os.path.join(FOLDER, name), *arguments],
                          capture_output=True, text=True, timeout=120)
    printed = ASAN_OF_CONTEXTS.sub("", done.stderr)
    equal((done.returncode, "" if reports else printed), (status, ""))
    return done.stdout, printed


def lines_of(name, *arguments, **options):
    return output_of(name, *arguments, **options)[0].splitlines()


def matches(pattern, text):
    found = re.fullmatch(pattern, text)
    assert found, f"\n  is       {text!r:.4000}\n  expected {pattern!r:.4000}"
    return found


@contextlib.contextmanager
def changed(name, *changes):
    """Build a program with changes, each of which replaces an old text with a new one in the source or in an included
    header. Yields the path of the program."""
    with tempfile.TemporaryDirectory() as folder:
        copies = os.path.join(folder, "inside")
        shutil.copytree(SOURCES, copies)
        for old, new in changes:
            replace_once(os.path.join(copies, os.path.dirname(name)), copies, name, old, new)
        program = os.path.join(folder, "program")
        compiles, links = commands_of(name)
        source = next(word for word in compiles if word.endswith(f"/{name}.c"))
        build({source: os.path.join(copies, f"{name}.c")}, compiles, program + ".o")
        build({f"examples/inside/{name}.p/{os.path.basename(name)}.c.o": program + ".o",
               "src/libcoil.so.0.1.0": str(BUILD / "src/libcoil.so")}, links, program)
        yield program


def replace_once(folder, above, name, old, new):
    """Replace `old`, which must occur exactly once in these files."""
    hits = []
    for path in {pathlib.Path(above, f"{name}.c"), *pathlib.Path(folder).glob("*.h"),
                 *pathlib.Path(above).glob("*.h")}:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        hits += [(str(path), text)] * text.count(old)
    equal((old, len({path for path, _ in hits}), len(hits)), (old, 1, 1))
    path, text = hits[0]
    pathlib.Path(path).write_text(text.replace(old, new), encoding="utf-8")


def commands_of(name):
    """Return Ninja's commands that compile and link the program."""
    listed = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands",
                             f"examples/inside/{name}"],
                            capture_output=True, text=True, check=True).stdout
    own = [shlex.split(line) for line in listed.splitlines()
           if f"examples/inside/{name}.p/" in line]
    equal(len(own), 2)
    return own


def build(instead, command, output):
    """Run one of Ninja's commands with some files replaced. Compiler warnings are not errors."""
    words = [instead.get(word, word) for word in command if word != "-Werror"]
    words[words.index("-o") + 1] = output
    if "-MF" in words:
        words[words.index("-MF") + 1] = output + ".d"
    done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
