#!/usr/bin/env python3
"""Run the programs of examples/inside and check their output. If the output is not deterministic, only its order and
bounds are checked.

    test_inside.py FOLDER [TEST...]
"""
import errno
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from programs import BUILD, FOLDER, SOURCES, WRAPPER, lines_of, matches, output_of
from page_server import ALL_PAGES, SITE, crawled_by, serving
from check import Skip, contains, equal, run_tests


def test_01_wrong_model_asks_in_vain():
    lines = lines_of("01_wrong_model")
    for half in (lines[:4], lines[5:9]):
        equal(sorted(half[:2]), ["before first", "before second"])
        equal(sorted(half[2:]), ["after first", "after second"])
    equal(lines[5:9], ["before first", "before second", "after first", "after second"])
    calls, useless = map(int, matches(r"the guess: (\d+) calls, (\d+) of them useless",
                                   lines[4]).groups())
    equal(calls - useless, 4)  # two coroutines of two parts each
    steps = int(matches(r"coil: (\d+) steps of tasks and callbacks", lines[9])[1])
    assert steps < 20, steps


def test_02_state_machine_hands_suspend_up():
    equal(lines_of("02_state_machine"), """\
  (ping waits)
  (pong waits)
ping 1
  (ping waits)
pong 2
  (pong waits)
ping 3
  (ping waits)
pong 4
  (pong waits)
ping 5
pong 6""".splitlines())


def test_03_generators_give_the_documents_values():
    equal(output_of("03_generators")[0], """\
the blog's
  next()           -> 1
  next()           -> 2
  f = 4
  send(4)          -> 3
  next()           -> ended with 0
  next()           -> ended with None
the answer's, sent to and thrown into
  next()           -> 1
  abc
  send(abc)        -> 2
  throw(ENOENT)    -> raised ENOENT
  next()           -> ended with None
the answer's, with a return value
  next()           -> 1
  next()           -> ended with abc
outer(inner())
  next()           -> 1
  next()           -> 2
  inner abc
  outer 3
  send(abc)        -> 4
  next()           -> ended with None
wrap(cofoo())
  next()           -> before
  next()           -> cofoo
  next()           -> after
  next()           -> ended with None
the answer's, plain
  next()           -> 1
  next()           -> 2
  next()           -> ended with None
caller_fn(gen_fn())
  next()           -> 1
  result of yield: hello
  send(hello)      -> 2
  result of 2nd yield: goodbye
  return value of yield-from: done
  send(goodbye)    -> ended with None
caller_fn(gen_fn()), thrown into
  next()           -> 1
  caught No such file or directory
  throw(ENOENT)    -> ended with None
""")


def test_04_frames_outlive_their_calls():
    equal(lines_of("04_frames"), [
        "subroutine: 6, and again 6",
        "coroutine: bar, and then qux",
        *(f"deep has {10 * i + (i == 7)}, body {i}" for i in range(10))])


def test_05_toy_sleep_yields_two_events():
    lines = lines_of("05_toy_sleep")
    first, second = (float(matches(r"AsyncSleep\(until=(\d+\.\d\d)\)", line)[1])
                     for line in lines[:2])
    assert 0.05 <= first < second, lines
    equal(float(matches(r"ended after (.*) s: well rested", lines[2])[1]) >= 0.1, True)


def test_06_toy_run_sleeps_for_all_at_once():
    lines = lines_of("06_toy_run")
    equal(lines[:-1], [f"coroutine {number} step {step}"
                       for step in range(1, 6) for number in range(5)])
    assert 0.5 <= float(lines[-1].split()[0]) < 2.5, lines[-1]


def test_07_toy_select_reads_while_others_sleep():
    lines = lines_of("07_toy_select")
    equal([line for line in lines if line.startswith("background")],
          [f"background round {number}" for number in range(1, 6)])
    equal(sorted(line for line in lines if not line.startswith(("background", " "))),
          ["done /dev/urandom: got 32768 B", "done /proc/self/exe: got 4096 B",
           "done a socket: got 32768 B", "read /dev/urandom", "read /proc/self/exe",
           "read a socket"])
    equal(lines[:4], ["background round 1", "read /dev/urandom", "read /proc/self/exe",
                      "read a socket"])
    assert lines.index("background round 2") < lines.index("done a socket: got 32768 B")
    # the list shows the wait and the progress of each other reader
    at = lines.index("background round 2") + 1
    waits = [line for line in lines if line.startswith("  ")]
    equal(lines[at:at + len(waits)], waits)
    for line in waits[:-2]:  # a reader that has ended is not in the list
        progress = int(matches(r"  AsyncRead\(file=\d+, amount=(?:32768|4096), progress=(\d+)\)",
                               line)[1])
        assert progress < 32768, line
    progress = int(matches(r"  AsyncRecv\(file=3, amount=32768, progress=(\d+)\)", waits[-2])[1])
    equal((progress % 2048, progress < 32768), (0, True))
    matches(r"  AsyncSleep\(until=\d+\.\d{3}\)", waits[-1])


def test_07_toy_selects_loop_is_as_long_as_its_head_says():
    text = (SOURCES / "07_toy_select.c").read_text(encoding="utf-8")
    for function, most in (("static void run(void)", 30), ("static int wait_for_events(", 25)):
        body = text[text.index(function):]
        lines = body[:body.index("\n}\n") + 2].count("\n") + 1
        assert lines <= most, (function, lines)


def test_08_epoll_loop_runs_until_nothing_is_left():
    lines = lines_of("08_epoll_loop")
    for name in "123":
        equal([line for line in lines if line[0] == name],
              [f"{name} A", f"{name} B", f"{name} got HTTP/1.0 200 OK", f"{name}-2 A",
               f"{name}-2 Over", f"{name} Over, with its result"])
    equal(lines[:3], ["1 A", "2 A", "3 A"])


def test_09_future_task_keeps_the_order():
    equal(output_of("09_future_task")[0], """\
run_until_complete:
  both tasks are created, none has run
  a1: runs, and yields once
  b1: awaits the future
  a2: sets the result
  a3: the setter continues
  b2: the future is done
  b3: awaiting it again takes no turn
  the task is a future: a result
  the earlier timer, though it was asked for later
  the later timer
  a timer can set a future
  a cancelled future calls its callback, too
  so does a future that fails: Input/output error
stop:
  ready before the stop: called
the next run:
  made ready by that: called in the next run
closing: 1 task was destroyed but it is pending
""")


def test_10_seven_steps_come_in_their_order():
    lines = lines_of("10_seven_steps")
    equal([line[:2] for line in lines], [f"{number}." for number in range(1, 8)])
    equal(lines[6], "7. the caller has 'hello'")


def test_11_own_sleep_leaves_no_timer():
    equal(lines_of("11_own_sleep"), [
        "on select", "egg: 42", "nothing: 0", f"roast: {-errno.ECANCELED}",
        "gave up on the roast", "0 timers are left"])


def test_12_one_event_waits_only_if_it_must():
    equal(lines_of("12_one_event"), ["7 bytes, suspended 0 times",
                                     "4 bytes, suspended 1 times"])


def test_13_who_knows_that_open_blocks():
    out, err = output_of("13_who_knows", reports=True)
    equal(out.splitlines(), ["open() in a task: no other task ran",
                             "open() in debug mode: no other task ran",
                             "open() on a lane: the ticker ticked"])
    assert re.search(r"^coil: Executing task 'main' took \d+\.\d+ seconds", err, re.M), err


def test_14_stack_ripping_is_the_callbacks_alone():
    text = output_of("14_stack_ripping")[0]
    callback, task, generator = re.split(r"in a task:\n|in a generator:\n", text)
    for part, has, lacks in ((callback, ["parse_links", "read_response"], ["fetch"]),
                             (task, ["parse_links", "fetch", "app"], ["read_response"]),
                             (generator, ["parse_links", "caller_fn"], ["read_response"])):
        contains(part, "parse error in '<a href=' (Bad message)\n")
        for name in has:
            contains(part, f"    {name} ")
        for name in lacks:
            equal(f"    {name} " in part, False)


def test_15_seen_set_is_safe_with_tasks_alone():
    equal(lines_of("15_seen_set"), ["two threads queued one link 2 times",
                                    "two tasks queued one link 1 times"])


def test_15_seen_set_races_where_thread_sanitizer_sees_it():
    library = BUILD / "src"
    if not (library / "libcoil.so").exists():
        raise Skip("there is no shared libcoil beside the programs")
    if b"__asan_init" in (library / "libcoil.so").read_bytes():
        raise Skip("libcoil has AddressSanitizer, which cannot be combined with ThreadSanitizer")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "seen_set")
        built = subprocess.run(
            ["cc", "-g", "-O1", "-fsanitize=thread", "-D_GNU_SOURCE",
             "-I", str(SOURCES.parents[1] / "include"), str(SOURCES / "15_seen_set.c"),
             "-o", program, "-L", str(library), f"-Wl,-rpath,{library}", "-lcoil", "-pthread"],
            capture_output=True, text=True)
        if built.returncode != 0:
            raise Skip("it cannot be built with ThreadSanitizer: "
                       + built.stderr.strip().splitlines()[-1])
        # ThreadSanitizer may miss a race if both processors write at exactly the same time
        for _ in range(50):
            done = subprocess.run([program], capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1"})
            if "unexpected memory mapping" in done.stderr:
                raise Skip("ThreadSanitizer cannot run with this kernel's address layout")
            if done.stderr != "":
                break
        contains(done.stderr, "SUMMARY: ThreadSanitizer: data race")
        assert re.search(r"#\d add_in_thread ", done.stderr), done.stderr


def test_16_failed_worker_is_reported_and_cured():
    out, err = output_of("16_failed_worker", reports=True)
    equal(out.splitlines(), ["as in the chapter: hangs", "fixed: page 2 is not HTML",
                             "fixed: all pages are done"])
    contains(err, "coil: Deadlock: all tasks wait")
    contains(err, "- main waits")
    contains(err, "queue.join")


def test_17_lazy_makes_what_is_asked_for():
    equal(lines_of("17_lazy"), [
        "xyz abcdefghijklmnopqrst", "xzy abcdefghijklmnopqrts", "yxz abcdefghijklmnopqsrt",
        "yzx abcdefghijklmnopqstr", "zyx abcdefghijklmnopqtsr", "zxy abcdefghijklmnopqtrs",
        "and after 100,000 more: abcdefghijknpstqolmr", "as it was: abcdefghijklmnopqrst"])


def test_18_gather_waits_for_all():
    equal(lines_of("18_gather"), [
        "before first", "before second", "after first", "after second",
        "gather: 0; first: 5, second: 6",
        "before third", "before fourth", "after fourth",
        f"gather: 0; third: {-errno.ENOENT}, fourth: 6"])


def test_19_threads_fail_and_tasks_do_not():
    if WRAPPER:
        raise Skip("valgrind runs one thread at a time, and starves those that wait")
    out, err = output_of("19_threads_fail", reports=True)
    if err != "":
        raise Skip(err.strip())  # neither setuid() nor a user namespace is available
    threads, tasks = out.splitlines()
    made = int(matches(r"(\d+) threads, then: Resource temporarily unavailable", threads)[1])
    assert made < 200, made
    equal(tasks, "20000 tasks wait, in one thread")


def test_crawl_finds_the_same_pages_by_all_five():
    for name in ("0_threads", "1_spin", "2_callbacks", "3_futures", "4_coil"):
        out, err, server = crawled_by(f"crawl/{name}")
        equal((name, out), (name, ALL_PAGES))
        equal((name, sorted(server.requests)), (name, sorted(SITE)))  # each page once
        matches(r"\d+\.\d+ s of processor time\n"
                + (r"[1-9]\d* tries without success\n" if name == "1_spin" else ""), err)


HTML = {"Content-Type": "text/html; charset=latin-1"}
CHAPTER = {
    "/": (200, HTML, '<a href="/foo"><A HREF=\'bar#x\'><a href="/"><a href="/text">'
          '<a href="/gone"><a href="/cut"><a href="http://localhost/"><a href="mailto:x@y">'
          '<a href="/hop0"><a href="/nowhere"><a href="/foo#again">'),
    "/foo": (300, {"Location": "/baz"}, "many choices"),
    "/bar": (302, {"Location": "baz"}, ""),
    "/baz": (200, {"Content-Type": "text/html"}, '<a href="/">'),
    "/text": (200, {"Content-Type": "text/plain"}, 'href="/unseen"'),
    "/cut": None,
    "/nowhere": (301, {}, ""),
    **{f"/hop{i}": (307, {"Location": f"/hop{i + 1}"}, "") for i in range(20)},
}


def chapters_lines(server, *options, reports=True):
    """Return the report of crawl/5_chapter without the server's URL, and standard error."""
    if not os.path.exists(os.path.join(FOLDER, "crawl/5_chapter")):
        raise Skip("there is no coil-http")
    out, err = output_of("crawl/5_chapter", *options, server.url, reports=reports)
    return out.replace(server.url, "").splitlines(), err.replace(server.url, "")


def test_crawl_5_is_the_chapters_last_with_its_report():
    with serving(CHAPTER) as server:
        lines, err = chapters_lines(server)
    equal(lines[:22], [
        "*** Report ***", "/ 200 text/html latin-1 " + str(len(CHAPTER["/"][2])) + " 7/8",
        "/bar 302 redirect /baz", "/baz 200 text/html utf-8 12 0/1",
        lines[4], "/foo 300 redirect /baz", "/gone 404 None utf-8 4",
        *(f"/hop{i} 307 redirect /hop{i + 1}" for i in (0, 1, 10, *range(2, 10))),
        "/nowhere error redirect without a Location", "/text 200 text/plain utf-8 14",
        lines[20], lines[21]])
    matches(r"/cut error \S.*", lines[4])
    matches(r"Finished 19 urls in \d+\.\d{3} secs \(max_tasks=10\) "
            r"\(\d+\.\d{3} urls/sec/task\)", lines[20])
    equal(lines[-2:], ["Todo: 0", "Done: 19"])
    contains(lines, "        13 redirect")
    equal(err, "redirect limit reached for /hop11\n")
    tries = server.requests.count("/cut")
    assert tries >= 4, tries  # max_tries; libcurl tries once more on a connection that it had kept
    equal(sorted(path for path in server.requests if path != "/cut"),
          sorted(["/", "/bar", "/baz", "/foo", "/gone", "/nowhere", "/text",
                  *(f"/hop{i}" for i in range(11))]))  # each once, also where ways meet


def test_crawl_5_takes_the_chapters_options():
    with serving({**CHAPTER, "/cut": (200, {}, "")}) as server:
        lines, err = chapters_lines(server, "--max_redirect", "0", "--max_tasks", "1",
                                    "--max_tries", "1", "--select")
    contains(lines, "Done: 8")
    contains(next(line for line in lines if line.startswith("Finished")), "(max_tasks=1)")
    equal(sorted(err.splitlines()), ["redirect limit reached for /baz"] * 2
          + ["redirect limit reached for /hop1"])
    equal(server.connections, 1)  # the session reuses it, as each response is released


TOYS = ["02", "05", "06", "07", "08", "09", "toy", "pages", "0_", "1_", "2_", "3_"]


# These programs may be longer than the others, because each of them shows several ideas.
LONGER = ["03", "07", "08", "09", "19", "0_", "2_", "3_", "4_"]


def test_they_say_what_they_show_and_stay_short():
    readme = (SOURCES / "README.md").read_text(encoding="utf-8")
    for path in [*SOURCES.glob("*.[ch]"), *SOURCES.glob("crawl/*.[ch]")]:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"/*\n * {path.name} - "), path.name
        limit = 80 if path.suffix == ".c" and not path.name.startswith(tuple(LONGER)) else 240
        limit = 375 if path.name.startswith("5_") else limit  # a whole crawler, with its report
        assert text.count("\n") <= limit, f"{path.name} has {text.count(chr(10))} lines"
        assert "src/" not in text, path.name
        if path.suffix == ".c":
            contains(readme, path.stem)
        is_toy = path.name.startswith(tuple(TOYS))
        equal((path.name, "#include <coil" in text), (path.name, not is_toy))
        equal(len(re.findall(r"^ */\* \[(?!end\])\w+\] \*/$", text, re.M)),
              len(re.findall(r"^ */\* \[end\] \*/$", text, re.M)))


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
