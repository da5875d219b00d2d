/*
 * test_exception.c - the exception handler of a loop without tasks.
 */
#include "../../harness/harness.h"

#include <coil/error.h>
#include <coil/loop.h>

static void trace_message(const coil_exception *e, void *arg)
{
    test_trace("%s: %s, %d; ", (const char *)arg, e->message, e->rc);
}

static coil_loop *open_loop(void)
{
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    return loop;
}

static void report(const char *message)
{
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = -EIO});
}

TEST(a_loop_has_the_default_handler)
{
    coil_loop *loop = open_loop();
    void *arg = loop;

    CHECK(coil_get_exception_handler(NULL) == NULL);
    CHECK(coil_get_exception_handler(&arg) == NULL);
    CHECK(arg == NULL);
    coil_loop_close(loop);
}

TEST(a_handler_is_called_with_its_arg)
{
    coil_loop *loop = open_loop();
    void *arg;

    coil_set_exception_handler(trace_message, "first");
    report("one");
    coil_set_exception_handler(trace_message, "second");
    report("two");
    CHECK(coil_get_exception_handler(&arg) == trace_message);
    CHECK_STR(arg, "second");
    CHECK_TRACE("first: one, -5; second: two, -5; ");
    coil_loop_close(loop);
}

static void report_again(const coil_exception *e, void *arg)
{
    (void)arg;
    test_trace("%s; ", e->message);
    report("in the handler");
}

static void run_report_again(void *arg)
{
    coil_loop *loop = open_loop();

    coil_set_exception_handler(report_again, arg);
    report("first");
    fputs(test_trace_text(), stderr);
    report("second");
    fputs(test_trace_text(), stderr);
    coil_loop_close(loop);
    abort();
}

TEST(a_report_in_the_handler_goes_to_the_default)
{
    test_dies(run_report_again, NULL,
              "coil: in the handler: Input/output error\nfirst; "
              "coil: in the handler: Input/output error\nfirst; second; ");
}

static void run_report(void *arg)
{
    coil_loop *loop = arg == NULL ? NULL : open_loop();

    if (loop != NULL) {
        coil_set_exception_handler(trace_message, "never");
        coil_set_exception_handler(NULL, NULL);
    }
    report(loop != NULL ? "with a loop" : NULL);
    CHECK_TRACE("");
    coil_loop_close(loop);
    abort();
}

TEST(the_default_prints_a_line)
{
    test_dies(run_report, "", "coil: with a loop: Input/output error\n");
    test_dies(run_report, NULL, "coil: Unhandled exception: Input/output error\n");
}

static void report_without_loop(void *arg)
{
    (void)arg;
    coil_set_exception_handler(trace_message, NULL);
}

TEST(a_handler_is_a_loops)
{
    test_dies(report_without_loop, NULL, "this thread has no event loop");
}
