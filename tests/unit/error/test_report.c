/*
 * test_report.c - reports, written by the same calls as text or as JSON.
 */
#include "../../harness/harness.h"

#include "../../../src/error/error.h"
#include "../../../src/error/report.h"
#include "../../../src/error/symbol.h"

#include <coil.h>

#include <fcntl.h>
#include <unistd.h>

static char text[8192];

static FILE *to_text(void)
{
    FILE *out = fmemopen(text, sizeof text, "w");

    CHECK(out != NULL);
    return out;
}

static const char *report_of(void (*fill)(struct coil__report *), bool json)
{
    struct coil__report report;
    FILE *out = to_text();

    coil__report_json = json;
    coil__report_begin(&report, out, "example");
    fill(&report);
    coil__report_end(&report);
    coil__report_json = false;
    fclose(out);
    return text;
}

/* ---- values ------------------------------------------------------------------------ */

static void fill_values(struct coil__report *report)
{
    coil__report_value(report, "task", "Task '%s'", "main");
    coil__report_value(report, "part", ", %.*s", 2, "abc");
    coil__report_value(report, "fd", ", descriptor %d", -3);
    coil__report_value(report, "bytes", ", %zu bytes", (size_t)4096);
    coil__report_value(report, "address", " at 0x%zx", (size_t)0xbeef);
    coil__report_value(report, "seconds", ", %.1f s", 2.5);
    coil__report_value(report, "late", ", %.1f s", -0.25);
    coil__report_value(report, "state", ", ready");
    coil__report_words(report, "; %d words\n", 2);
}

TEST(report_in_text_is_its_patterns)
{
    CHECK_STR(
        report_of(fill_values, false),
        "Task 'main', ab, descriptor -3, 4096 bytes at 0xbeef, 2.5 s, -0.2 s, ready; "
        "2 words\n");
}

TEST(report_in_json_is_its_keys_and_values)
{
    CHECK_STR(report_of(fill_values, true),
              "{\"report\":\"example\",\"task\":\"main\",\"part\":\"ab\",\"fd\":-3,"
              "\"bytes\":4096,\"address\":\"0xbeef\",\"seconds\":2.500,\"late\":-0.250,"
              "\"state\":\", ready\"}\n");
}

static void fill_nested(struct coil__report *report)
{
    coil__report_open(report, "empty", '[');
    coil__report_close(report, ']');
    coil__report_open(report, "tasks", '[');
    for (int i = 0; i < 2; i++) {
        coil__report_open(report, NULL, '{');
        coil__report_value(report, "i", "%d\n", i);
        coil__report_close(report, '}');
    }
    coil__report_close(report, ']');
    coil__report_value(report, "last", "%s", "one");
}

TEST(report_has_records_and_lists_in_json_alone)
{
    CHECK_STR(report_of(fill_nested, false), "0\n1\none");
    CHECK_STR(report_of(fill_nested, true),
              "{\"report\":\"example\",\"empty\":[],\"tasks\":[{\"i\":0},{\"i\":1}],"
              "\"last\":\"one\"}\n");
}

/* ---- strings ----------------------------------------------------------------------- */

static const char *string;

static void fill_string(struct coil__report *report)
{
    coil__report_value(report, "s", "%s", string);
}

static void check_string(const char *bytes, const char *expected)
{
    char whole[256];

    string = bytes;
    snprintf(whole, sizeof whole, "{\"report\":\"example\",\"s\":\"%s\"}\n", expected);
    CHECK_STR(report_of(fill_string, true), whole);
}

TEST(report_escapes_strings_for_json)
{
    check_string("", "");
    check_string("a \"b\" \\ /", "a \\\"b\\\" \\\\ /");
    check_string("\t\n\x1f\x7f", "\\u0009\\u000a\\u001f\x7f");
    check_string("Stra\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x8c\x8d",
                 "Stra\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x8c\x8d");
}

TEST(report_replaces_what_is_not_utf8_for_json)
{
    check_string("a\xff", "a\\ufffd");
    check_string("\x80", "\\ufffd");
    check_string("cut \xe2\x82", "cut \\ufffd\\ufffd");
    check_string("\xc0\xaf", "\\ufffd\\ufffd");            /* an overlong encoding */
    check_string("\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"); /* a surrogate */
    check_string("\xf4\x90\x80\x80",
                 "\\ufffd\\ufffd\\ufffd\\ufffd"); /* beyond U+10FFFF */
}

TEST(report_to_text_is_cut_at_its_end)
{
    struct coil__report report;
    char small[8];

    CHECK(coil__report_begin_text(&report, small, sizeof small));
    coil__report_words(&report, "0123456789");
    coil__report_end_text(&report);
    CHECK_STR(small, "0123456");
    CHECK(coil__report_begin_text(&report, small, sizeof small));
    coil__report_words(&report, "new");
    coil__report_end_text(&report);
    CHECK_STR(small, "new");
}

/* ---- in a signal handler ----------------------------------------------------------- */

static void report_in_handler(void *json)
{
    struct coil__report report;
    struct coil__message line = {.length = 0};

    coil__report_json = json != NULL;
    coil__report_begin_in_handler(&report, &line, "blocked");
    coil__report_value(&report, "task", "task '%s' runs\n", "main");
    coil__report_open(&report, "frames", '[');
    for (size_t i = 0; i < 40; i++) /* more text than a line can hold */
        coil__report_value(&report, NULL, " 0x%zx", i);
    coil__report_close(&report, ']');
    coil__report_words(&report, "\n");
    coil__report_end_in_handler(&report);
    abort();
}

TEST(report_in_a_handler_is_the_same)
{
    test_dies(report_in_handler, NULL, "task 'main' runs\n 0x0 0x1 0x2");
    test_dies(report_in_handler, NULL, "0x25 0x26 0x27\n");
    test_dies(report_in_handler, text,
              "{\"report\":\"blocked\",\"task\":\"main\",\"frames\":[\"0x0\",\"0x1\",");
    test_dies(report_in_handler, text, "\"0x26\",\"0x27\"]}\n");
}

/* ---- errors ------------------------------------------------------------------------ */

static int fail(void *arg)
{
    (void)arg;
    return coil_fail(-EINVAL, "no \"port\"");
}

static int await_failure(void *arg)
{
    coil_task *task;
    int rc;

    CHECK_INT(coil_spawn(fail, NULL, &(coil_spawn_opts){.name = "inner"}, &task), 0);
    rc = coil_task_await(task);
    coil_task_release(task);
    coil__report_json = true;
    coil_error_print(coil_last_error(), arg);
    coil__report_json = false;
    return rc;
}

/*
 * Check that the text contains these parts in this order. The rest, such as function
 * names and the end of a stack, depends on the build.
 */
static void check_in_order(const char *const parts[], size_t n)
{
    const char *at = text;

    for (size_t i = 0; i < n && at != NULL; i++) {
        at = strstr(at, parts[i]);
        CHECK(at != NULL);
    }
}

TEST(error_in_json_lists_its_causes)
{
    const char *const parts[] = {
        ("{\"report\":\"error\",\"errors\":[{\"message\":\"no \\\"port\\\"\","
         "\"error\":\"Invalid argument\",\"task\":\"inner\",\"frames\":["),
        "]},{\"awaited_by\":\"main\",\"frames\":[", "]}]}\n"};
    coil_run_opts opts = {.no_report = true};
    FILE *out = to_text();

    CHECK_INT(coil_run(await_failure, out, &opts), -EINVAL);
    fclose(out);
    check_in_order(parts, 3);
}

/* ---- COIL_REPORTS ------------------------------------------------------------------ */

static int look_and_fail(void *arg)
{
    (void)arg;
    coil_dump(stderr);
    return coil_fail(-EINVAL, "no port");
}

static int misuse(void *arg)
{
    (void)arg;
    return coil_fail(1, NULL);
}

static void run_in_json(void *fn)
{
    setenv("COIL_REPORTS", "json", 1);
    coil_run((coil_task_fn)(uintptr_t)fn, NULL, NULL);
    abort();
}

TEST(reports_are_json_if_the_environment_asks)
{
    void *looks = (void *)(uintptr_t)look_and_fail;

    test_dies(run_in_json, looks,
              "{\"report\":\"tasks\",\"count\":1,\"tasks\":[{\"name\":\"main\","
              "\"state\":\"runs\",\"frames\":[");
    test_dies(
        run_in_json, looks,
        "\n{\"report\":\"exception\",\"message\":\"The main task 'main' has failed\","
        "\"errors\":[{\"message\":\"no port\",\"error\":\"Invalid argument\","
        "\"task\":\"main\",\"frames\":[");
    test_dies(
        run_in_json, (void *)(uintptr_t)misuse,
        "{\"report\":\"misuse\",\"message\":\"coil_fail: 1 is not a negative errno\","
        "\"stack\":\"main\",\"frames\":[");
}

static void run_in_an_unknown_format(void *unused)
{
    (void)unused;
    setenv("COIL_REPORTS", "jsno", 1);
    for (int i = 0; i < 2; i++)
        coil_run(look_and_fail, NULL, NULL);
    abort();
}

TEST(reports_in_an_unknown_format_are_text_and_said_to_be_so_once)
{
    test_dies(run_in_an_unknown_format, NULL,
              "coil: COIL_REPORTS=jsno: must be \"text\" or \"json\"\n"
              "coil: 1 task\n");
    test_dies(run_in_an_unknown_format, NULL, "no port (Invalid argument)\n");
}
