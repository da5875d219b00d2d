#!/usr/bin/env python3
"""Test the crawler as a library, with crawl-site, which includes only crawler/crawler.h of the crawler's headers.

    test_library.py CRAWL_SITE [TEST...]
"""
import subprocess
import sys

from check import contains, equal, run_tests
from server import Site, page


def crawl_site(*arguments):
    """Return the exit status of crawl-site and the lines that it prints."""
    done = subprocess.run([sys.argv[1], *arguments], stdout=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stdout.splitlines()


def test_records_of_a_site():
    with Site({"/": page("/a", "/gone"), "/a": page("/")}) as site:
        status, lines = crawl_site(site.url)
        lines = sorted(line.replace(site.url, "/") for line in lines)
    equal(status, 0)
    equal(lines, ["page / 200 2", "page /a 200 1", "page /gone 404 0", "summary 2 3 1",
                  "verdict / ok", "verdict /a ok", "verdict /gone broken"])


def test_options_are_those_of_the_command():
    with Site({"/": page("/a"), "/a": page("/b"), "/b": page()}) as site:
        status, lines = crawl_site("max-depth=1", site.url)
        equal(site.requests, ["/", "/a"])
    equal(status, 0)
    contains("\n".join(lines), "verdict " + site.url + "b skipped")


def test_a_wrong_option_has_a_message():
    status, lines = crawl_site("max-depth=deep", "http://h/")
    equal(status, 1)
    equal(len(lines), 1)
    assert lines[0].startswith("--max-depth: "), lines


def test_starts_that_would_be_options_or_commands_are_refused():
    for start in ("-", "--help", "resume", "explain"):
        equal(crawl_site(start, "http://h/")[0], 1)


def test_what_the_command_refuses_is_refused():
    status, lines = crawl_site("exclude-private=", "proxy=h:3128", "http://h/")
    equal(status, 1)
    contains(lines[0], "--exclude-private")
    status, lines = crawl_site("warc=x", "http://h/")
    equal(status, 1)
    contains(lines[0], "--warc")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
