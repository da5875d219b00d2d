#!/usr/bin/env python3
"""Run coil-crawl against the servers in hostile.py. Check its verdicts, messages and memory use, and that the crawl
ends.

    test_hostile.py COIL_CRAWL [CASE...]

Many cases run concurrently, since most of them wait. Memory use is not measured in builds with sanitizers.
"""
import collections
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import hostile
from crawling import ENVIRONMENT, PROGRAM
from hostile import LINK_BYTES, MIB, URL_BYTES, equal, true

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'harness'))
import afresh  # noqa: E402

AT_A_TIME = 24
with open(PROGRAM, 'rb') as program:
    SANITIZED = b'__asan_init' in program.read()
PATIENCE = 5 if SANITIZED else 1  # factor for time limits, with a reserve for a busy machine
LOADED = 6

# Run a program from a small process, and measure its peak memory. Since ru_maxrss survives exec(), a child of this
# large process would seem large.
MEASURE = """
import os, sys
child = os.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], 'w') as out:
    print(usage.ru_maxrss * 1024, file=out)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
"""


class Result:
    """The result of coil-crawl for one case."""

    def __init__(self, case, site, other, fill, folder):
        self.case, self.site, self.other, self.fill = case, site, other, fill
        jsonl, peak = os.path.join(folder, 'crawl.jsonl'), os.path.join(folder, 'peak')
        command = [sys.executable, '-I', '-S', '-c', MEASURE, peak, PROGRAM, '--no-config', '-f',
                   f'jsonl:{jsonl if case.jsonl else "/dev/null"}', '-f', 'text', *case.options,
                   site.origin + '/']
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=ENVIRONMENT, start_new_session=True)
        try:
            out, err = process.communicate(timeout=case.seconds * PATIENCE * LOADED)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise AssertionError(f'no end within {case.seconds * PATIENCE * LOADED} s') from None
        self.seconds = time.monotonic() - begin
        self.status = process.returncode
        self.out, self.err = (text.decode('utf-8', 'replace') for text in (out, err))
        with open(peak, encoding='ascii') as file:
            self.peak = int(file.read())
        self.jsonl, self.records = '', []
        if case.jsonl:
            true(os.path.exists(jsonl), f'no JSONL; stderr: {self.err[:300]}')
            with open(jsonl, encoding='utf-8') as file:
                self.jsonl = file.read()
            true(self.jsonl.endswith('\n'), 'the last line of the JSONL is not whole')
            self.records = [json.loads(line) for line in self.jsonl.split('\n')[:-1]]

    def of(self, kind):
        return [record for record in self.records if record['type'] == kind]


def check_whole(result):
    """Check that each link has a verdict, that no verdict occurs twice, and that the summary is the last record."""
    summary = result.records[-1]
    equal((summary['type'], summary['exit']), ('summary', result.status))
    verdicts = collections.Counter((r['target'], r['fragment']) for r in result.of('verdict'))
    more = [target for target, n in verdicts.items() if n > 1]
    true(not more, f'two verdicts of {more[:3]}')
    links = {(r['text'], None) if r['target'] is None else (r['target'], r['fragment'])
             for r in result.of('link')}
    without = links - set(verdicts)
    true(not without, f'no verdict of {list(without)[:3]}')


def check_verdict(result, target, fragment, verdict, reason):
    def among(word, words):
        return word in words if isinstance(words, tuple) else word == words

    target = result.fill(target)
    found = [r for r in result.of('verdict') if (r['target'], r['fragment']) == (target, fragment)]
    true(found, f'no verdict of {target[:80]}, {fragment}')
    record = found[0]
    true(among(record['verdict'], verdict) and among(record['reason'], reason),
         f'{target[:80]} is {record["verdict"]}, {record["reason"]}, {record["status"]}: '
         f'{record["message"]}; expected {verdict}, {reason}')
    return record


def check_target(result):
    case = result.case
    record = check_verdict(result, case.target, case.fragment, case.verdict, case.reason)
    true(re.search(case.words, record['message'] or '', re.IGNORECASE),
         f'the message is {record["message"]!r}, without {case.words!r}')
    if case.status != 'any':
        equal(record['status'], case.status)
    if case.searched is not None:
        searched = [r['searched'] for r in result.of('page') if r['url'] == record['target']]
        equal(searched[-1:], [case.searched])  # plus one for a repeated request
    if record['verdict'] in hostile.FAILING:
        true('/' + record['target'].split('/', 3)[-1][:20] in result.out,
             f'the report does not tell of {record["target"][:80]}: {result.out[:300]}')


def check_limits(result):
    true('Sanitizer' not in result.err and 'runtime error' not in result.err, result.err[:2000])
    limit = result.case.memory
    true(SANITIZED or result.peak <= limit, f'{result.peak / MIB:.0f} MiB, of at most '
         f'{limit / MIB:.0f} ({result.case.urls} * {URL_BYTES} + '
         f'{result.case.open_links} * {LINK_BYTES} B known)')
    true(result.seconds < result.case.seconds * PATIENCE * LOADED, f'{result.seconds:.1f} s')


def judge(result):
    case = result.case
    check_limits(result)
    if case.jsonl:
        check_whole(result)
        if case.verdict:
            check_target(result)
        for target, fragment, verdict, reason in case.also:
            check_verdict(result, target, fragment, verdict, reason)
        if '/good' in case.links:
            check_verdict(result, '{site}/good', None, 'ok', None)
    equal(result.status, case.exit_status)
    if case.check:
        case.check(result)


def try_case(case):
    """Run a case. Returns the case, an error message or None, the duration, and the peak memory."""
    begin = time.monotonic()
    result = None
    try:
        with case.serve() as (site, other, fill), tempfile.TemporaryDirectory() as folder:
            result = Result(case, site, other, fill, folder)
            judge(result)
        wrong = None
    except AssertionError as error:
        wrong = str(error)
    except Exception as error:  # for example, a record lacks a member
        wrong = f'{type(error).__name__}: {error}'
    return case, wrong, time.monotonic() - begin, result.peak if result else 0


def main(names):
    every = int(os.environ.get('COIL_TEST_EVERY', '1'))
    cases = [case for case in hostile.CASES if case.name in names] if names else hostile.CASES[::every]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        # Start the longest cases first, so that the whole run takes less time.
        done = list(pool.map(try_case, sorted(cases, key=lambda case: -case.seconds)))
    failed = 0
    for case, wrong, seconds, peak in done:
        if wrong:
            failed += 1
            print(f'FAILED {case.name} ({case.what}): {wrong[:1000]}')
        elif names:
            print(f'{case.name}: {seconds:.1f} s, {peak / MIB:.0f} MiB')
    seconds = time.monotonic() - begin
    print(f'{len(cases)} behaviours in {seconds:.0f} s')
    print(f'{len(cases) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    afresh.begin()
    sys.exit(main(sys.argv[2:]))
