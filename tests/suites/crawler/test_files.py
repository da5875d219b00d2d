"""Test coil-crawl without a server, on HTML and Markdown files in folders.

test_files.py COIL_CRAWL [TEST...]
"""
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from check import contains, equal, run_tests
from crawling import INTERRUPTED, PROGRAM, run, started
from server import Site, html


TOP = pathlib.Path(__file__).resolve().parents[3]


class Check:
    """Run coil-crawl in a folder with the given files, and store the exit status, output and records."""

    def __init__(self, files, *arguments, **options):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = pathlib.Path(folder).resolve()
            for name, text in files.items():
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if text is None:
                    os.mkfifo(path)
                else:
                    path.write_text(text)
            self.status, self.out, err = run("-f", "jsonl:/dev/stderr", *arguments, cwd=folder, **options)
        self.err = "".join(line for line in err.splitlines(True) if line[0] != "{")
        self.records = [json.loads(line) for line in err.splitlines() if line[0] == "{"]

    def name(self, url):
        return (url or "").removeprefix(self.folder.as_uri() + "/")

    def verdicts(self):
        """Return {target#fragment: "verdict reason"}. If there is no reason, the value is only the verdict."""
        found = {}
        for record in self.records:
            if record["type"] == "verdict":
                name = self.name(record["target"])
                if record["fragment"] is not None:
                    name += "#" + record["fragment"]
                found[name] = " ".join(filter(None, (record["verdict"], record["reason"])))
        return found

    def links(self):
        return [(self.name(r["page"]), r["text"], r["line"], r["column"])
                for r in self.records if r["type"] == "link"]

    def pages(self):
        return {self.name(r["url"]): r for r in self.records if r["type"] == "page"}


def test_files_wait_for_descriptors():
    """If coil-crawl runs out of descriptors, it later retries the files that it could not open, one by one."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))

    files = {f"{n}.html": f"<a href={n + 1}.html>x</a>" for n in range(300)}
    check = Check({**files, "300.html": ""}, "--offline", "--max-tasks", "200", ".", preexec_fn=limit)
    equal((check.status, set(check.verdicts().values()), len(check.pages())), (0, {"ok"}, 301))


def test_plain_text_is_searched_for_urls():
    """A plain text file on the command line is searched for URLs, with the suffix .txt or without a suffix, and causes
    a warning. Text files in folders are skipped."""
    with Site({"/a": html("")}) as site:
        text = f"See ({site.url}a), <{site.url}gone> and [x](none.md).\n"
        for name in ("notes.txt", "README", ".plan"):
            check = Check({name: text}, name)
            equal(check.verdicts(), {name: "ok", site.url + "a": "ok", site.url + "gone": "broken status"})
            equal([link[2:] for link in check.links()], [(1, 6), (1, 6 + len(site.url) + 5)])
            equal(check.status, 2)
            contains(check.err, f"coil-crawl: {name}: searched for URLs only, as plain text")
        equal(Check({"notes.txt": text, "a.html": ""}, ".").verdicts(), {"a.html": "ok"})
    check = Check({"PAGE": "<!DOCTYPE html><a href=no>"}, "PAGE")
    equal((check.verdicts(), check.err), ({"PAGE": "ok", "no": "broken no-such-file"}, ""))


def test_files_that_are_not_searched_are_told():
    files = {"a.rst": "`x <gone>`_", "b.adoc": "link:gone[x]", "c.json": '"http://h/"', "d.pdf": "%PDF-1.7",
             "e": "\x7fELF\0"}
    for name, text in files.items():
        check = Check({name: text}, name)
        equal((check.status, check.verdicts(), check.links()), (0, {name: "ok"}, []))
        contains(check.err, f"coil-crawl: {name}: not searched for links: its type is ")
        contains(check.out, "1 page was not searched, or only in part: -v lists it")
    check = Check({f"{n:02}.rst": "" for n in range(12)}, *(f"{n:02}.rst" for n in range(12)))
    contains(check.err, "09.rst: not searched")
    contains(check.err, "and 2 others; -v lists them")
    assert "10.rst" not in check.err
    contains(Check({"a.rst": ""}, "-v", "a.rst").out, "a.rst  not searched for links")


def test_mdx_is_markdown():
    check = Check({"a.mdx": "import X from 'no'\n\n<X href='x.md' url={no}/> [y](y.md)\n\n# Z\n[z](#z)",
                   "b.md": "[a](a.mdx#z) [c](a.mdx#c)"}, "--offline", ".")
    equal(check.verdicts(), {"a.mdx": "ok", "b.md": "ok", "y.md": "broken no-such-file", "a.mdx#z": "ok",
                             "a.mdx#c": "fragment no-such-id"})


def test_places_that_github_adds_to_markdown():
    check = Check({"README.md": "# A Title\n<a id=own></a>x[^1]\n\n[^1]: y\n" +
                   " ".join(f"[x](#{id})" for id in ("readme", "user-content-a-title", "user-content-own", "fn-1", "fnref-1",
                                                     "user-content-fn-1", "user-content-fnref-1", "user-content-A-Title")) +
                   " [x](#user-content-readme) [x](#user-content-) [x](#fnref-2) [x](a.html#readme)",
                   "a.html": ""}, "--offline", "README.md")
    equal({target for target, verdict in check.verdicts().items() if verdict != "ok"},
          {"README.md#user-content-readme", "README.md#user-content-", "README.md#fnref-2", "a.html#readme"})


def test_files_that_are_too_long_are_searched_in_part():
    text = "[a](a.md)\n" * 9
    check = Check({"x.md": text + "[b](b.md)", "x.txt": "http://h/1\nhttp://h/22222", "x.html": "<a href=b.md>" + "x" * 99},
                  "--offline", "-v", "--max-body-size", "94", "x.md", "x.html")
    equal(check.verdicts(), {"x.md": "ok", "x.html": "ok", "a.md": "broken no-such-file", "b.md": "broken no-such-file"})
    contains(check.out, "x.md  searched only in part: it is longer than 94 bytes (--max-body-size)")
    equal(len(check.links()), 10)
    check = Check({"x.txt": "http://h/1\nhttp://h/22222"}, "--offline", "--max-body-size", "20", "x.txt")
    equal([link[1] for link in check.links()], ["http://h/1"])


def test_starts_come_from_standard_input_and_pipes():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.md", "b c.md"):
            pathlib.Path(folder, name).write_text("[x](gone.md)\n", encoding="utf-8")
        program = f"{shlex.quote(PROGRAM)} --no-config --offline -f jsonl"
        for command, found in (
                ("printf 'a.md\\nb c.md\\n' | %s -", ["a.md", "b%20c.md"]),
                ("printf 'a.md\\0b c.md\\0' | %s --files-from -", ["a.md", "b%20c.md"]),
                ("%s --files-from <(echo a.md)", ["a.md"]),
                ("cat a.md | %s /dev/stdin", []),  # plain text without a URL
                ("%s <(echo '<p><a href=gone.md>')", ["63"]),
                ("echo '<p><a href=gone.md>' | %s /dev/stdin a.md", ["stdin", "a.md"])):
            done = subprocess.run(["bash", "-c", command % program], cwd=folder, capture_output=True, text=True,
                                  timeout=60, check=False)
            equal((command, done.returncode), (command, 2 if found else 0))
            records = [json.loads(line) for line in done.stdout.splitlines()]
            equal((command, sorted(os.path.basename(r["page"]) for r in records if r["type"] == "link")),
                  (command, sorted(found)))
            equal({r["target"] for r in records if r["type"] == "link"},
                  {pathlib.Path(folder, "gone.md").as_uri()} if found else set())


def test_file_urls_out_of_the_folder_are_findings():
    """A link with a file URL outside the checked folder is a finding, because it does not work on a server or another
    machine. A relative link to such a file is OK."""
    with tempfile.TemporaryDirectory() as outside:
        path = pathlib.Path(outside).resolve() / "a b.html"
        path.write_text("", encoding="utf-8")
        here = pathlib.Path(os.path.relpath(path, pathlib.Path(tempfile.gettempdir()).resolve() / "x"))
        check = Check({"a.html": f"<a href='{path.as_uri()}'>1</a><a href=' FILE:{path}?q#x'>2</a><a href='{here}'>3</a>"
                                 "<a href=file://host/x>4</a><a href=file:///no/such>5</a><base href=.>"}, "--offline", ".")
        equal(check.status, 2)
        equal(check.verdicts(), {"a.html": "ok", path.as_uri(): "ok", "file:" + path.as_uri()[7:]: "broken outside",
                                 "file://host/x": "broken outside", "file:/no/such": "broken outside"})
        contains(check.out, "file:// outside of the folder that is checked")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        (root / "a.html").write_text(f"<a href='{root.as_uri()}/b.html'>1</a><a href='{root.as_uri()}/c.html'>2</a>", encoding="utf-8")
        (root / "b.html").write_text("", encoding="utf-8")
        code, out, _ = run("--offline", ".", cwd=root)
        equal((code, "c.html" in out, "b.html" in out), (2, True, False))


def test_links_of_a_file_to_another_host():
    """In a file, "//host:8443/x" means "https://host:8443/x", although file URLs cannot have a port."""
    check = Check({"a.html": "<script src=//h/x></script><script src=//h:8443/y></script><a href=//h:x/z>"
                             "<a href='  \\\\h:1\\w'><iframe srcdoc='<base href=//h:2/d/><a href=v>'></iframe>"},
                  "--offline", "a.html")
    equal(check.verdicts(), {"a.html": "ok", **{url: "unchecked offline" for url in (
        "https://h/x", "https://h:8443/y", "https://h:1/w", "https://h:2/d/v")}, "//h:x/z": "broken not-a-url"})


def test_links_to_texts_in_files():
    check = Check({"a.html": "<a href='b.html#:~:text=there'>x</a><a href='b.html#:~:text=not%20there'>y</a>"
                             " <a href='#:~:text=z'>z</a> <a href='#:~:text=no'>z</a><a href='c.md#:~:text=no'>c</a>",
                   "b.html": "<p>There!", "c.md": "x"}, "--offline", "a.html")
    equal(check.status, 0)
    equal(check.verdicts(), {"a.html": "ok", "b.html": "ok", "c.md": "ok", "b.html#:~:text=not there": "text no-such-text",
                             "a.html#:~:text=no": "text no-such-text"})


def test_base_of_a_file():
    """A base such as "/sub/" is relative to the root folder, as on a server."""
    check = Check({"a.html": "<base href=/sub/><a href=b.html>1</a><a href=/c.html>2</a>",
                   "sub/b.html": "<base href='../'><a href=c.html>3</a><a href=no.html>4</a>",
                   "sub/d.html": "<base href=http://h/><a href=x>5</a>",
                   "sub/e.html": "<base href=file://h/><a href=/x>6</a>", "c.html": ""},
                  "--offline", ".")
    equal(check.verdicts(), {"a.html": "ok", "sub/b.html": "ok", "sub/d.html": "ok", "sub/e.html": "ok",
                             "c.html": "ok", "no.html": "broken no-such-file",
                             "http://h/x": "unchecked offline", "file://h/x": "broken no-such-file"})


def test_base_of_a_file_that_will_be_served():
    check = Check({"a.html": "<base href=/x/sub/><a href=b.html>1</a><a href=/x/c.html>2</a><a href=/up>3</a>",
                   "sub/b.html": "", "c.html": ""},
                  "--offline", "--base-url", "http://h/x/", ".")
    equal(check.verdicts(), {"a.html": "ok", "sub/b.html": "ok", "c.html": "ok",
                             "http://h/up": "unchecked offline"})


def test_links_between_files():
    check = Check({"a.html": "<a href=sub/b.html>1</a>\n<img src='x y.png'><a href=no.html>",
                   "sub/b.html": "<a href=../a.html><a href=/a.html><a href=../../up.html>",
                   "x y.png": "x"}, ".")
    equal(check.status, 2)
    equal(check.verdicts(), {"a.html": "ok", "sub/b.html": "ok", "x%20y.png": "ok",
                             "no.html": "broken no-such-file",
                             check.folder.parent.as_uri() + "/up.html": "broken no-such-file"})
    contains(check.links(), ("a.html", "no.html", 2, 28))
    equal(sorted(check.pages()), ["a.html", "sub/b.html"])


def test_ids_are_looked_for_wherever_they_are_asked_for():
    check = Check({"a.html": "<a href=b.html#x><a href=b.html#y><a href=c.html#z>"
                             "<a href=c.html#q><a href=t.txt#1><p id=own><a href=#own><a href=#Top>",
                   "b.html": "<p id=x>", "c.html": "<a name=z><a href=nowhere.html>",
                   "t.txt": ""}, "a.html")
    equal(check.status, 2)
    equal(check.verdicts(), {
        "a.html": "ok", "b.html#x": "ok", "b.html#y": "fragment no-such-id", "c.html#z": "ok",
        "c.html#q": "fragment no-such-id", "t.txt#1": "unchecked not-searched",
        "a.html#own": "ok", "a.html#Top": "ok"})
    equal(sorted(check.pages()), ["a.html"])


def test_markdown_and_its_headings():
    check = Check({"README.md": "# One & two\n\n[a](docs/b.md#the-end) [b](docs/b.md#end)\n"
                                "[c](#one--two)\n\n[d]\n\n[d]: docs/none.md\n",
                   "docs/b.md": "## The end!\n<a id=raw></a>\n\n[up](../README.md#one-two) "
                                "[raw](#raw)\n"}, ".")
    equal(check.status, 2)
    equal(check.verdicts(), {
        "README.md": "ok", "docs/b.md": "ok", "docs/b.md#the-end": "ok",
        "docs/b.md#end": "fragment no-such-id", "README.md#one--two": "ok",
        "docs/none.md": "broken no-such-file", "README.md#one-two": "fragment no-such-id",
        "docs/b.md#raw": "ok"})
    contains(check.links(), ("README.md", "docs/b.md#the-end", 3, 5))


def test_fragments_of_markdown_in_capitals():
    links = ["Installation", "%C3%84RGER", "raw", "Raw", "RAW", "the-End"]
    check = Check({"a.md": "# Installation\n## Ärger\n<a id=Raw></a>\n" +
                           "".join(f"[x](#{link}) [y](b.html#{link})\n" for link in links),
                   "b.html": "<i id=installation></i>"}, "a.md", "b.html")
    well = {key for key, verdict in check.verdicts().items() if verdict == "ok"}
    equal(well, {"a.md", "b.html", "a.md#Installation", "a.md#ÄRGER", "a.md#Raw"})


def test_empty_elements_of_xhtml():
    text = '<title/><script src="x.js"/><a href="b.html">x</a><p id="i"/><a href="#i">x</a>'
    check = Check({"a.xhtml": text, "b.html": text, "x.js": ""}, ".")
    equal(check.verdicts(), {"a.xhtml": "ok", "x.js": "ok", "b.html": "ok", "a.xhtml#i": "ok"})


def test_only_named_files_are_searched():
    check = Check({"a.html": "<a href=b.html>", "b.html": "<a href=no.html>"}, "a.html")
    equal(check.status, 0)
    equal(check.verdicts(), {"a.html": "ok", "b.html": "ok"})


def test_what_a_server_would_do():
    files = {"index.html": "<a href=guide/><a href=guide/#x><a href=about><a href=empty/>"
                           "<a href=https://docs.example/guide/index.html>",
             "guide/index.html": "<p id=x><a href=/about.html>", "about.html": "",
             "empty/x.txt": ""}
    plain = Check(files, "--offline", ".").verdicts()
    equal(plain["about"], "broken no-such-file")
    equal((plain["guide/"], plain["guide/#x"], plain["empty/"]), ("ok", "ok", "ok"))
    equal(plain["https://docs.example/guide/index.html"], "unchecked offline")
    served = Check(files, "--clean-urls", "--base-url", "https://docs.example/", "--offline", ".")
    equal(served.status, 0)
    equal(served.verdicts()["about"], "ok")
    equal(served.verdicts()["guide/index.html"], "ok")


def test_the_root_is_the_folder_unless_it_is_said():
    files = {"site/a/b.html": "<a href=/x.html>", "site/x.html": "", "x.html": ""}
    equal(Check(files, "site/a").verdicts().get("site/x.html"), None)
    equal(Check(files, "site/a").status, 2)
    equal(Check(files, "--root-dir", "site", "site/a").verdicts()["site/x.html"], "ok")


def test_nothing_that_could_block_is_opened():
    check = Check({"a.html": "<a href=fifo><a href=fifo#x>", "fifo": None}, "a.html")
    equal(check.verdicts(), {"a.html": "ok", "fifo": "ok", "fifo#x": "unchecked not-searched"})


def test_a_pipe_without_a_writer_is_interrupted():
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        with started("--offline", pipe) as process:
            time.sleep(0.5)
            equal(process.poll(), None)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
            equal((process.returncode, err), (INTERRUPTED, "coil-crawl: interrupted\n"))


def test_links_that_leave_the_files_are_asked_for():
    with Site({"/ok": html("x")}) as site:
        check = Check({"a.md": f"[a]({site.url}ok) [b]({site.url}no)"}, "a.md")
        equal(check.status, 2)
        equal(check.verdicts(), {"a.md": "ok", site.url + "ok": "ok",
                                 site.url + "no": "broken status"})
        equal(Check({"a.md": f"[b]({site.url}no)"}, "--external", "skip", "a.md").status, 0)


def test_a_folder_without_pages_is_nothing():
    equal(Check({"x.txt": ""}, ".").status, 4)


def test_reports_name_files_as_one_would_from_here():
    files = {"docs/a.html": "<a href=no.html>"}
    contains(Check(files, "docs").out, "docs/a.html:1:9  no.html  No such file or directory")
    contains(Check(files, "-q", "-f", "github", "docs").out,
             "::error file=docs/a.html,line=1,col=9,title=broken link::no.html: ")


def test_the_documents_of_this_project():
    """Every Markdown file of this project outside tests/ must have only working links and fragments."""
    documents = [path.relative_to(TOP) for path in sorted(TOP.rglob("*.md"))
                 if not {"tests", "node_modules", ".git"} & set(path.relative_to(TOP).parts[:-1]) and
                 not path.relative_to(TOP).parts[0].startswith("build")]
    status, out, err = run("--offline", "-q", *map(str, documents), cwd=TOP)
    equal((status, out, err), (0, "", ""))
    contains([str(path) for path in documents], "README.md")
    assert len(documents) > 60, documents


def test_the_hook_for_pre_commit():
    """Run the hook's command with the files of a commit, as pre-commit does."""
    hook = (TOP / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^(?:- |  )(\w+): (.*)$", hook, re.M))
    equal((fields["id"], fields["language"], fields["types_or"]), ("coil-crawl", "system", "[html, markdown]"))
    program, *options = shlex.split(fields["entry"])
    equal(program, "coil-crawl")
    files = {"README.md": "[a](docs/a.html#x) [b](docs/b.md) <http://h/>", "docs/a.html": "<p id=x>",
             "docs/c.md": "[a](/README.md)"}
    check = Check(files, *options, "-f", "text", "README.md", "docs/a.html", "docs/c.md")
    equal((check.status, check.out), (2, "README.md:1:24  docs/b.md  No such file or directory\n"))
    check = Check({**files, "docs/b.md": ""}, *options, "-f", "text", "README.md", "docs/a.html", "docs/c.md")
    equal((check.status, check.out, check.err), (0, "", ""))


def test_what_is_skipped_has_its_place_if_it_fails_the_run():
    check = Check({"a.html": '<a href="mailto:x@y">x</a>\n<a href="b.html">x</a>',
                   "b.html": '<p>\n<a href="mailto:x@y">x</a>'},
                  "--fail-on", "skipped", "--max-tasks", "1", "-f", "github", ".")
    equal(check.status, 2)
    equal(check.out, "::error file=a.html,line=1,col=10,title=skipped::mailto:x@y: "
          "a scheme other than http and https\n"
          "::error file=b.html,line=2,col=10,title=skipped::mailto:x@y: "
          "a scheme other than http and https\n")
    check = Check({"a.html": '<a href="mailto:x@y">x</a>'}, "--fail-on", "skipped", "-f", "text", "-q", ".")
    equal((check.status, check.out),
          (2, "a.html:1:10  mailto:x@y  a scheme other than http and https\n"))


def test_a_folder_without_an_index_is_there_or_not():
    """A link to a folder without an index page is OK unless --index-files is given. With "." in --index-files, folders
    without an index page are OK again."""
    files = {"index.html": '<a href="empty/">x</a><a href="full/">y</a><a href="full">z</a><a href="empty">z</a>',
             "empty/notes.pdf": "x", "full/index.html": "x"}
    equal(Check(files, "--offline", ".").verdicts()["empty/"], "ok")
    check = Check(files, "--offline", "--index-files", "index.html", ".")
    equal((check.status, check.verdicts()["empty/"], check.verdicts()["empty"]),
          (2, "broken no-such-file", "broken no-such-file"))
    equal((check.verdicts()["full/"], check.verdicts()["full"]), ("ok", "ok"))
    contains(check.out, "the folder has no index file: --index-files")
    check = Check(files, "--offline", "--index-files", "other.html,.", ".")
    equal((check.status, check.verdicts()["empty/"]), (0, "ok"))


def test_what_is_hidden_is_checked_only_if_it_is_named():
    """Hidden files and node_modules are checked only if they are named on the command line. .gitignore has no
    effect."""
    files = {"a.md": "[x](.hidden/b.md) [y](node_modules/c/d.md)", ".hidden/b.md": "x", "node_modules/c/d.md": "x",
             ".gitignore": "public/\n", "public/e.html": "x", ".f.md": "x"}
    equal(sorted(Check(files, "--offline", ".").pages()), ["a.md", "public/e.html"])
    equal(sorted(Check(files, "--offline", ".", ".hidden", ".f.md", "node_modules").pages()),
          [".f.md", ".hidden/b.md", "a.md", "node_modules/c/d.md", "public/e.html"])


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
