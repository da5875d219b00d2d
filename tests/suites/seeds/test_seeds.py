"""Check that every program and test in docs/seeds.md exists and is run, and that no row is missing.

A name in backticks is a file, `FILE [MARKER]`, `FILE.md (Heading)`, `FILE.py: TEST`, a test of coil-tests, or a
scenario of tests/suites/asyncio. `*` in a file's name stands for any text. The tests of a program's folder must mention
the program. The file `run` of a folder must mention each script of that folder.

    test_seeds.py BUILD
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
ROWS = [*map(str, range(1, 110)), *(f"A{number}" for number in range(1, 11)),
        *(f"N{number}" for number in range(1, 41))]
PROGRAMS = {"examples/inside": "tests/suites/inside/test_inside.py",
            "examples/inside/crawl": "tests/suites/inside/test_inside.py",
            "examples": "tests/suites/crawler/test_examples.py"}
NAME = re.compile(r"[a-z]\w*")
ENTRY = re.compile(r"(?P<file>[\w./*-]+/[\w.*-]+|[\w-]+\.\w+)"
                   r"(?: \[(?P<marker>\w+)\]| \((?P<heading>.+)\)|: (?P<test>test_\w+))?")


def text_of(path):
    return path.read_text(encoding="utf-8")


def rows():
    """Yield the first cell of each row in docs/seeds.md, and the names in the last cell."""
    for line in text_of(TOP / "docs/seeds.md").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("row", "where", "---"):
            yield cells[0], re.findall(r"`([^`]+)`", cells[-1])


def tests_that_run(build):
    listed = subprocess.run([f"{build}/tests/coil-tests", "-l"], capture_output=True, text=True,
                            check=True).stdout
    tests = {line.split("/")[0] for line in listed.split()}
    for path in (TOP / "tests/suites/asyncio").glob("*/*.trace"):
        tests.update(re.findall(r"^scenario (\w+)$", text_of(path), re.M))
    return tests


def wrong_with_file(path, marker, heading, test):
    if path.suffix == ".c" and str(path.parent.relative_to(TOP)) in PROGRAMS:
        if path.stem not in text_of(TOP / PROGRAMS[str(path.parent.relative_to(TOP))]):
            return "no test runs it"
    if marker and not re.search(rf"^ */\* \[{marker}\] \*/$.*?^ */\* \[end\] \*/$", text_of(path),
                                re.M | re.S):
        return "has no such marker"
    if heading and not re.search(rf"^#+ {re.escape(heading)}$", text_of(path), re.M):
        return "has no such heading"
    if test and not re.search(rf"^ *def {test}\(", text_of(path), re.M):
        return "has no such test"
    if test and path.name not in text_of(path.parent / "run"):
        return "no script runs it"
    return None


def wrong_with(entry, tests):
    if NAME.fullmatch(entry):
        return None if entry in tests else "there is no such test"
    found = ENTRY.fullmatch(entry)
    if not found:
        return "neither a file nor a test"
    files = sorted(TOP.glob(found["file"]))
    if len(files) != 1:
        return "there is no such file" if not files else "more than one"
    return wrong_with_file(files[0], found["marker"], found["heading"], found["test"])


def main(build):
    tests = tests_that_run(build)
    shown = list(rows())
    passed = failed = 0
    for row, entries in shown:
        wrong = [f"`{entry}`: {why}" for entry in entries
                 for why in [wrong_with(entry, tests)] if why]
        if not entries:
            wrong = ["nothing shows it"]
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for each in wrong:
            print(f"docs/seeds.md: {row}: {each}")
    numbers = [row for row, _ in shown]
    for row in ROWS:
        if row not in numbers:
            failed += 1
            print(f"docs/seeds.md: row {row} is missing")
    lines = [line for line in text_of(TOP / "docs/seeds.md").splitlines() if line.startswith("| ")]
    for line in {line for line in lines if lines.count(line) > 1} - {"| row | what | from | shown by |"}:
        failed += 1
        print(f"docs/seeds.md: this line occurs twice: {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
