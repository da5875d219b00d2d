#!/usr/bin/env python3
"""Make the changes that the comment at the top of each program in examples/inside proposes, and check that they have
the described effects.

    test_changes.py FOLDER [TEST...]
"""
import errno
import re
import signal
import sys

from programs import changed, lines_of, matches, output_of
from page_server import ALL_PAGES, crawled_by
from check import contains, equal, run_tests


def numbers_of(name):
    calls, steps = (line for line in lines_of(name) if line[0] in "tc")
    return (int(matches(r"the guess: (\d+) calls, .*", calls)[1]),
            int(matches(r"coil: (\d+) steps .*", steps)[1]))


def test_01_longer_naps_make_the_guess_ask_more():
    calls, steps = numbers_of("01_wrong_model")
    with changed("01_wrong_model", ("COIL_MSEC(20)", "COIL_MSEC(500)")) as program:
        calls_longer, steps_longer = numbers_of(program)
    assert calls_longer > calls, (calls, calls_longer)
    equal(steps_longer, steps)


def test_02_who_is_not_registered_is_never_resumed():
    with changed("02_state_machine", ("self->reads = n < 0;", "self->reads = false;")) as program:
        equal(lines_of(program), ["  (ping waits)", "  (pong waits)"])


def test_03_what_has_not_begun_cannot_catch():
    end = "throw(gen, -ENOENT);\n    coil_gen_destroy(gen), "
    with changed("03_generators", ("next(gen), " + end, end)) as program:
        equal(lines_of(program)[-2:], ["caller_fn(gen_fn()), thrown into",
                                       "  throw(ENOENT)    -> raised ENOENT"])


def test_04_a_static_variable_is_shared_by_all_ten():
    with changed("04_frames", ("int local = 10 * *back->local, rc;", """static int local;
    int rc = (local = 10 * *back->local, 0);""")) as program:
        equal([line.split(",")[0] for line in lines_of(program)[2:]], ["deep has 91"] * 10)


def test_05_the_sleeper_does_not_notice():
    with changed("05_toy_sleep", ("duration = 0.1;", "duration = 100;"),
                 ("sleep_until(event->until);", "")) as program:
        took = float(matches(r"ended after (.*) s: well rested", lines_of(program)[-1])[1])
    assert took < 50, took


def test_06_who_blocks_holds_up_all():
    with changed("06_toy_run", ("asleep(0.1);", "sleep_until(now() + 0.1);")) as program:
        lines = lines_of(program)
    equal(lines[:5], [f"coroutine 0 step {step}" for step in range(1, 6)])
    assert float(lines[-1].split()[0]) >= 2.5, lines[-1]


def test_07_the_end_comes_before_the_amount():
    with changed("07_toy_select", ("#define PIECES 16", "#define PIECES 3")) as program:
        contains(lines_of(program), "done a socket: got 6144 B")


def test_07_a_socket_that_blocks_is_refused():
    with changed("07_toy_select", ("SOCK_STREAM | SOCK_NONBLOCK", "SOCK_STREAM")) as program:
        printed = output_of(program, reports=True, status=-signal.SIGABRT)[1]
    contains(printed, "O_NONBLOCK")


def test_08_nothing_is_there_yet():
    with changed("08_epoll_loop",
                 ("    wait_fd(fd, EPOLLIN);\n    ssize_t n", "    ssize_t n")) as program:
        contains(lines_of(program), "1 got ")


def test_09_a_callback_in_the_middle_of_the_setter():
    with changed("09_future_task", ("call_soon(future_run_callback, future); //",
                                    "future_run_callback(future); //")) as program:
        lines = lines_of(program)
    assert lines.index("  b2: the future is done") < lines.index("  a3: the setter continues")


def test_09_timers_in_the_order_of_their_making():
    with changed("09_future_task",
                 ("at > 0 && list[at - 1]->when > handle.when", "false")) as program:
        lines = lines_of(program)
    assert (lines.index("  the later timer")
            < lines.index("  the earlier timer, though it was asked for later")), lines


def test_10_what_is_there_is_not_waited_for():
    with changed("10_seven_steps",
                 ("coil_call_later(COIL_MSEC(10), send_hello, &receive->fds[1], NULL);",
                  "0;\n    send_hello(&receive->fds[1]);")) as program:
        equal(lines_of(program), ["7. the caller has 'hello'"])


def test_11_a_cancelled_sleep_leaves_its_timer():
    with changed("11_own_sleep",
                 ("coil_handle_cancel(handle);", "")) as program:
        equal(lines_of(program)[-1], "1 timers are left")


def test_12_what_is_there_suspends_nobody():
    loop = "for (int i = 0; i < 2 && rc"
    with changed("12_one_event", (loop, "send_late(&sockets[1]);\n    " + loop)) as program:
        equal(lines_of(program), ["7 bytes, suspended 0 times", "4 bytes, suspended 0 times"])


def test_13_debug_mode_names_the_line_while_it_blocks():
    with changed("13_who_knows", ('LATE "0.3"', 'LATE "1.5"')) as program:
        contains(output_of(program, reports=True)[1], "open_it at ")


def test_14_one_more_function_is_in_the_tasks_traceback():
    with changed("14_stack_ripping",
                 ("static int app(", "static int one_more(void *page)\n{\n"
                  "    volatile int rc = fetch_by_callbacks(page);\n\n"
                  "    if (rc == 0)\n        rc = fetch(page);\n    return rc;\n}\n\n"
                  "static int app("),
                 ("fetch_by_callbacks(page) == 0 && fetch(page) == -EBADMSG",
                  "one_more(page) == -EBADMSG")) as program:
        callback, rest = output_of(program)[0].split("in a task:\n")
    equal("one_more" in callback, False)
    contains(rest, "    one_more at ")


def test_15_a_wait_between_the_two_lines_stops_the_program():
    with changed("15_seen_set", ("    seen_urls[ABOUT] = true; //",
                                 "    coil_yield();\n    seen_urls[ABOUT] = true; //")) \
            as program:
        printed = output_of(program, reports=True, status=-signal.SIGABRT)[1]
    contains(printed, "a link is looked for and added at once")


def test_16_another_failure_ends_the_crawl():
    with changed("16_failed_worker", ("coil_fail(-EBADMSG,", "coil_fail(-EIO,")) as program:
        equal(lines_of(program, reports=True, status=1)[-1], "fixed: fails")


def test_17_closed_without_putting_back():
    with changed("17_lazy", ("        rc = permute(letters, at + 1);\n",
                             "        rc = permute(letters, at + 1);\n"
                             "        if (rc < 0)\n            return rc;\n")) as program:
        lines = lines_of(program)
    equal(lines[-1], "as it was: " + lines[-2].rsplit(" ", 1)[1])


def test_18_gather_does_not_wait_for_the_fourth():
    with changed("18_gather", ('"fourth", COIL_GATHER_ALL', '"fourth", 0')) as program:
        lines = lines_of(program, reports=True, status=1)
    contains(lines[-1], f"gather: {-errno.ENOENT}; ")
    equal("after fourth" in lines, False)


def test_19_half_the_limit_and_as_many_tasks():
    with changed("19_threads_fail", ("#define LIMIT 200", "#define LIMIT 100")) as program:
        threads, tasks = lines_of(program)
    assert int(threads.split()[0]) < 100, threads
    equal(tasks, "20000 tasks wait, in one thread")


def test_crawl_0_by_one_thread():
    with changed("crawl/0_threads", ("#define THREADS 4", "#define THREADS 1")) as program:
        out, _, server = crawled_by(program)
    equal((out, server.most_at_once), (ALL_PAGES, 1))


def vain_of(program):
    out, err, _ = crawled_by(program)
    equal(out, ALL_PAGES)
    return int(re.search(r"(\d+) tries without success", err)[1])


def test_crawl_1_tries_less_often():
    with changed("crawl/1_spin", ("    failed_tries++;\n    return",
                                  "    usleep(1000);\n    failed_tries++;\n    return")) as program:
        calm = vain_of(program)
    assert calm < vain_of("crawl/1_spin"), calm


def test_crawl_2_is_told_again_what_it_did_not_read():
    with changed("crawl/2_callbacks", ("#define CHUNK 4096", "#define CHUNK 128")) as program:
        equal(crawled_by(program)[0], ALL_PAGES)


def test_crawl_3_reads_several_in_turn():
    with changed("crawl/3_futures", ("    await(&future);\n}", """    await(&future);
    printf("%d\\n", sock);
}""")) as program:
        out = crawled_by(program)[0]
    socks = [line for line in out.splitlines() if line.isdigit()]
    equal("\n".join(line for line in out.splitlines() if not line.isdigit()) + "\n", ALL_PAGES)
    assert re.search(r"\b(\d+) (?!\1\b)\d+ (.* )?\1\b", " ".join(socks)), socks


def test_crawl_4_has_a_time_limit():
    with changed("crawl/4_coil", ("        rc = fetch(page);\n", """\
        coil_scope limit;
        rc = coil_scope_enter(&limit, coil_in(COIL_USEC(10)));
        if (rc == 0)
            rc = coil_scope_exit(&limit, fetch(page));
""")) as program:
        out, err, _ = crawled_by(program)
    equal(out, "/ 0\n")
    contains(err, "/: Connection timed out\n")
    with changed("crawl/4_coil", ("        rc = fetch(page);\n", """\
        coil_scope limit;
        rc = coil_scope_enter(&limit, coil_in(COIL_SEC(60)));
        if (rc == 0)
            rc = coil_scope_exit(&limit, fetch(page));
""")) as program:
        equal(crawled_by(program)[0], ALL_PAGES)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[2:]))
