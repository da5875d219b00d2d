#!/usr/bin/env python3
"""Check the options of coil-crawl in the manual, in the man page, and in shell completions.

test_options.py COIL_CRAWL [TEST...]
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from check import Skip, contains, equal, run_tests
from crawling import FAILED, PROGRAM, run
from server import Site, page, status

TOP = pathlib.Path(__file__).resolve().parents[3]
MANUAL = TOP / "docs/manual/coil-crawl.md"


def printed(*arguments):
    status, out, err = run(*arguments)
    equal((status, err), (0, ""))
    return out


def need(tool):
    if shutil.which(tool) is None:
        raise Skip(f"there is no {tool}")


def names():
    """Return the names of all options in --help."""
    return set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", printed("--help"), re.M))


def test_the_manual_has_the_table_of_options():
    """If this test fails, `coil-crawl --print manual-table` prints the table to insert."""
    manual = MANUAL.read_text(encoding="utf-8").split("\n## Options\n")[1].splitlines()
    for row in printed("--print", "manual-table").splitlines():
        if row not in manual:
            raise AssertionError(f"{MANUAL.name} lacks {row}")
    equal(sum(row.startswith("| `-") for row in manual), len(names()))


def test_help_and_manual_page_name_the_same_options():
    page = printed("--print", "man").replace("\\-", "-")
    equal(set(re.findall(r"^\.TP\n(?:\\fB-\w\\fR, )?\\fB--([a-z-]+)\\fR", page, re.M)), names())


def test_help_manual_and_manual_page_name_the_same_exit_statuses():
    manual = MANUAL.read_text(encoding="utf-8").split("\n## Exit status\n")[1].split("\n\n")[0]
    expected = [(status, meaning.replace("`", ""))
                for status, meaning in re.findall(r"^\| (\d) \| (.*) \|$", manual, re.M)]
    text = " ".join(printed("--help").split())
    for status, meaning in expected:
        contains(text, f"{status} {meaning}")
    page = printed("--print", "man").replace("\\-", "-").split(".SH EXIT STATUS\n")[1].split(".SH")[0]
    equal([(status, " ".join(meaning.split())) for status, meaning in
           re.findall(r"^\.TP\n(\d)\n(.*?)\.$", page, re.M | re.S)], expected)
    contains(dict(expected)["1"], "cache")


def test_help_manual_and_manual_page_name_the_same_backends():
    backends = ["io_uring", "epoll", "poll", "select"]
    for text in (printed("--help"), printed("--print", "man"), MANUAL.read_text(encoding="utf-8")):
        about = text[text.rindex("COIL_BACKEND"):][:160]
        equal([name for name in re.findall(r"\w+", about) if name in backends], backends)


def test_manual_page_is_without_faults():
    need("mandoc")
    with tempfile.NamedTemporaryFile("w", suffix=".1") as page:
        page.write(printed("--print", "man"))
        page.flush()
        done = subprocess.run(["mandoc", "-T", "lint", page.name], capture_output=True, text=True,
                              timeout=60, check=False)
    equal((done.returncode, done.stdout), (0, ""))


def at_home(home):
    """Return environment variables with which a shell writes only to this folder."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}
    return {**kept, "HOME": home}


def check_syntax(shell):
    need(shell)
    with (tempfile.NamedTemporaryFile("w") as script,
          tempfile.TemporaryDirectory() as home):
        script.write(printed("--completions", shell))
        script.flush()
        done = subprocess.run([shell, "-n", script.name], capture_output=True, text=True,
                              timeout=60, check=False, env=at_home(home))
    equal((done.returncode, done.stdout, done.stderr), (0, "", ""))


def complete(*words):
    """Return bash's completions for the last word."""
    need("bash")
    script = printed("--completions", "bash") + f"""
COMP_WORDS=(coil-crawl {' '.join(f"'{word}'" for word in words)}); COMP_CWORD={len(words)}
_coil_crawl; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60,
                          check=True).stdout.split()


def test_bash_completes_names_and_values():
    check_syntax("bash")
    equal(complete("--external-"), ["--external-per-host"])
    equal({name[2:] for name in complete("--")}, names())
    equal(complete("--external", ""), ["head", "get", "skip"])
    equal(complete("-f", "j"), ["jsonl", "junit"])
    equal(complete("--timeout", ""), [])


def test_zsh_reads_its_completions():
    check_syntax("zsh")
    for name in names():
        contains(printed("--completions", "zsh"), f"'*--{name}")


def test_fish_completes_names_and_values():
    check_syntax("fish")
    with (tempfile.NamedTemporaryFile("w", suffix=".fish") as script,
          tempfile.TemporaryDirectory() as home):  # fish creates folders in it
        script.write(printed("--completions", "fish"))
        script.flush()
        done = subprocess.run(
            ["fish", "--no-config", "-c",
             f"source '{script.name}'; complete -C 'coil-crawl --external-p'; "
             "complete -C 'coil-crawl --color '"], capture_output=True, text=True,
            timeout=60, check=False, env=at_home(home))
    found = [line.split("\t")[0] for line in done.stdout.splitlines()]
    equal(found[0], "--external-per-host")
    equal(set(found[1:]), {"auto", "always", "never"})


def test_nothing_is_printed_to_a_full_disk_in_silence():
    with open("/dev/full", "w", encoding="utf-8") as full:
        for option in ["--help", "--version"]:
            equal(subprocess.run([PROGRAM, option], stdout=full, timeout=60,
                                 check=False).returncode, 1)


def test_closed_standard_descriptors_do_not_become_output_files():
    """If stdout or stderr is closed, its number must not be given to an output file."""
    with Site({"/": page("/gone"), "/gone": status(404)}) as site, tempfile.TemporaryDirectory() as folder:
        def closing(closed, options):
            command = f"exec {shlex.quote(PROGRAM)} --no-config {options} {site.url} {closed}"
            return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60,
                                  check=False)

        for closed in ">&-", "<&- >&-":
            done = closing(closed, "--warc a.warc.gz -f text")
            equal((done.returncode, done.stderr), (FAILED, "coil-crawl: stdout: Bad file descriptor\n"))
        for closed in "2>&-", "<&- 2>&-", "<&- >&- 2>&-":
            done = closing(closed, "-v -v -f csv:x")
            equal(pathlib.Path(folder, "x").read_text(encoding="utf-8")[:10], "page,line,")


def test_the_text_is_on_stdout_unless_it_is_elsewhere_or_another_report_is_there():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "a.html").write_text("<a href=b>", encoding="utf-8")
        text = "a.html:1:9  b  No such file or directory\n"
        for formats, out, file in (([], text, None), (["jsonl:x"], text, '{"type":"start"'),
                                   (["text:x"], "", text), (["jsonl"], '{"type":"start"', None),
                                   (["github"], "::error file=a.html,", None),
                                   (["github", "text:x"], "::error file=a.html,", text)):
            done = subprocess.run(
                [PROGRAM, "--no-config", "--offline", "-q", "a.html",
                 *(word for name in formats for word in ("-f", name))],
                cwd=folder, capture_output=True, text=True, timeout=60, check=False)
            equal((formats, done.returncode, done.stderr), (formats, 2, ""))
            equal((formats, done.stdout[:len(out)]), (formats, out))
            equal((formats, done.stdout == ""), (formats, out == ""))
            if file is not None:
                equal(pathlib.Path(folder, "x").read_text(encoding="utf-8")[:len(file)], file)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
