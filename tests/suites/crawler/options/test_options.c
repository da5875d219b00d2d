/*
 * test_options.c - crawler/options/options.h: parsing valid command lines, and the
 * messages for invalid ones.
 */
#include "../../../../crawler/options/options.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* The result of parsing a command line. */
struct parsed {
    struct options options;
    int rc;
    char *out, *complaints;
};

static struct parsed parse_arguments(int argc, const char *const argv[])
{
    struct parsed parsed;
    size_t n;
    FILE *out = open_memstream(&parsed.out, &n);
    FILE *complaints = open_memstream(&parsed.complaints, &n);

    CHECK_INT(options_init(&parsed.options), 0);
    parsed.rc =
        options_parse(&parsed.options, argc, (char *const *)argv, out, complaints);
    fclose(out);
    fclose(complaints);
    return parsed;
}

#define ARGUMENTS(...) ((const char *const[]){"coil-crawl", __VA_ARGS__, NULL})
#define PARSE(...)                                                                       \
    parse_arguments(sizeof ARGUMENTS(__VA_ARGS__) / sizeof(char *) - 1,                  \
                    ARGUMENTS(__VA_ARGS__))

static void finish(struct parsed *parsed)
{
    options_finish(&parsed->options);
    free(parsed->out);
    free(parsed->complaints);
}

/* Check that the command line was refused with this message. */
static void check_refused(struct parsed parsed, const char *sentence)
{
    char whole[512];

    snprintf(whole, sizeof whole, "coil-crawl: %s\n", sentence);
    CHECK_INT(parsed.rc, -EINVAL);
    CHECK_STR(parsed.complaints, whole);
    CHECK_STR(parsed.out, "");
    finish(&parsed);
}

#define REFUSED(sentence, ...) check_refused(PARSE(__VA_ARGS__, "h"), sentence)

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CHECK(file != NULL && fputs(text, file) >= 0);
    CHECK_INT(fclose(file), 0);
}

/* A temporary folder, which is the working directory until leave_scratch() is called. */
static char scratch[] = "/tmp/coil-options-XXXXXX";

static void enter_scratch(void)
{
    CHECK(mkdtemp(scratch) != NULL && chdir(scratch) == 0);
}

static void leave_scratch(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", scratch);
    CHECK_INT(chdir("/"), 0);
    CHECK_INT(system(command), 0);
}

TEST(options_have_the_defaults_of_the_manual)
{
    struct parsed p = PARSE("example.org");
    const struct options *o = &p.options;

    CHECK_INT(p.rc, 0);
    CHECK_INT(o->starts.count, 1);
    CHECK_STR(o->starts.at[0], "http://example.org/");
    CHECK(!o->lenient && !o->quiet && !o->explain && !o->insecure && !o->no_robots);
    CHECK_INT(o->external, EXTERNAL_HEAD);
    CHECK_INT(o->fragments, FRAGMENTS_SITE);
    CHECK_INT(o->color, COLOR_AUTO);
    CHECK_INT(o->max_tasks, 10);
    CHECK_INT(o->per_host, 0);
    CHECK_INT(o->external_per_host, 2);
    CHECK_INT(o->max_redirects, 10);
    CHECK_INT(o->max_tries, 3);
    CHECK_INT(o->max_depth, UINT_MAX);
    CHECK_INT(o->max_pages, 0);
    CHECK_INT(o->max_url_bytes, 2048);
    CHECK_INT(o->max_body_bytes, 16 << 20);
    CHECK_INT(o->max_duration_ns, 0);
    CHECK_INT(o->timeout_ns, INT64_C(30000000000));
    CHECK_INT(o->max_time_ns, INT64_C(600000000000));
    CHECK_INT(o->delay_ns, 0);
    CHECK_INT(o->max_age_ns, INT64_C(86400000000000));
    CHECK(strncmp(o->user_agent, "coil-crawl/", 11) == 0);
    CHECK_INT(o->accept_count, 1);
    CHECK_INT(o->accept[0].first, 200);
    CHECK_INT(o->accept[0].last, 299);
    for (int i = 0; i < VERDICT_COUNT; i++)
        CHECK_INT(o->fail_on[i], i == VERDICT_BROKEN || i == VERDICT_FRAGMENT ||
                                     i == VERDICT_ERROR || i == VERDICT_TIMEOUT);
    CHECK_INT(o->index_files.count, 2);
    CHECK_STR(o->index_files.at[0], "index.html");
    CHECK_STR(o->index_files.at[1], ".");
    CHECK_PTR(o->proxy, NULL);
    CHECK_PTR(o->ca_file, NULL);
    CHECK_PTR(o->cache, NULL);
    CHECK_INT(o->formats.count, 0);
    finish(&p);
}

TEST(options_may_stand_anywhere_in_any_form)
{
    struct parsed p = PARSE("a", "--max-tasks=5", "b", "--max-tries", "7", "-qvv",
                            "-fjsonl:x", "-f", "github:-", "--", "--c");
    const struct options *o = &p.options;

    CHECK_STR(p.complaints, "");
    CHECK_INT(o->max_tasks, 5);
    CHECK_INT(o->max_tries, 7);
    CHECK(o->quiet);
    CHECK_INT(o->verbosity, 2);
    CHECK_INT(o->formats.count, 2);
    CHECK_STR(o->formats.at[0], "jsonl:x");
    CHECK_STR(o->formats.at[1], "github:-");
    CHECK_INT(o->starts.count, 3);
    CHECK_STR(o->starts.at[2], "http://--c/");
    finish(&p);
}

TEST(options_long_names_may_be_shortened_while_they_are_clear)
{
    struct parsed p = PARSE("--max-ta", "5", "--excl=x", "--str", "h");

    CHECK_INT(p.rc, -EINVAL); /* exclude, exclude-private */
    CHECK_STR(p.complaints,
              "coil-crawl: --excl: that may be --exclude, --exclude-private\n");
    finish(&p);
    p = PARSE("--max-ta", "5", "--exclude=x", "--str", "h");
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.options.max_tasks, 5);
    CHECK_INT(p.options.exclude.count, 1);
    finish(&p);
}

TEST(options_a_name_that_is_not_clear_is_refused_with_those_that_begin_so)
{
    REFUSED("--max-con: that may be --max-concurrency, --max-connections-per-host",
            "--max-con=5");
    REFUSED("--p: that may be --per-host, --proxy", "--p=5"); /* --print is hidden */
}

TEST(options_of_other_checkers_are_known)
{
    struct parsed p = PARSE("--max-concurrency=4", "--max-redirects=1", "--tries=2", "-l",
                            "3", "--ignore-url=x", "--wait=1", "--max-cache-age=2d",
                            "--exclude-all-private", "-m", "5", "h");

    CHECK_STR(p.complaints, "");
    CHECK_INT(p.options.max_tasks, 4);
    CHECK_INT(p.options.max_redirects, 1);
    CHECK_INT(p.options.max_tries, 2);
    CHECK_INT(p.options.max_depth, 3);
    CHECK_INT(p.options.exclude.count, 1);
    CHECK_INT(p.options.delay_ns, INT64_C(1000000000));
    CHECK(p.options.exclude_private);
    CHECK_INT(p.options.max_time_ns, INT64_C(5000000000));
    finish(&p);
}

TEST(options_each_flag_has_its_contrary)
{
    struct parsed p =
        PARSE("--lenient", "--no-lenient", "--no-robots", "--robots", "--no-progress",
              "--insecure", "--no-insecure", "--cookies", "h");

    CHECK_STR(p.complaints, "");
    CHECK(!p.options.lenient && !p.options.no_robots && !p.options.insecure);
    CHECK(p.options.no_progress && p.options.cookies);
    finish(&p);
    p = PARSE("--lenient", "--strict", "h");
    CHECK(!p.options.lenient);
    finish(&p);
    p = PARSE("--strict", "--lenient", "h");
    CHECK(p.options.lenient);
    finish(&p);
}

TEST(options_what_is_unknown_is_refused_with_what_was_meant)
{
    REFUSED("--max-depht: no such option; did you mean --max-depth?", "--max-depht=3");
    REFUSED("--timeuot: no such option; did you mean --timeout?", "--timeuot", "3");
    REFUSED("--recursive: no such option; coil-crawl --help lists them", "--recursive");
    REFUSED("--no-max-tasks: no such option; did you mean --max-tasks?",
            "--no-max-tasks");
    REFUSED("--: no such option; coil-crawl --help lists them", "--=5");
    REFUSED("-z: no such option; coil-crawl --help lists them", "-qz");
    REFUSED("--max-t: that may be --max-tasks, --max-tries, --max-time", "--max-t=5");
    REFUSED("--quiet: takes no value", "--quiet=yes");
    check_refused(PARSE("h", "--timeout"), "--timeout: needs a value: TIME");
    check_refused(PARSE("h", "-f"), "--format: needs a value: FORMAT[:FILE]");
}

TEST(options_numbers_have_their_ranges)
{
    REFUSED("--max-tasks: \"0\" is not a number from 1 to 1000000", "--max-tasks=0");
    REFUSED("--max-tasks: \"ten\" is not a number from 1 to 1000000", "--max-tasks=ten");
    REFUSED("--max-tasks: \"\" is not a number from 1 to 1000000", "--max-tasks=");
    REFUSED("--max-tasks: \"-1\" is not a number from 1 to 1000000", "--max-tasks", "-1");
    REFUSED("--max-tasks: \"5x\" is not a number from 1 to 1000000", "--max-tasks=5x");
    REFUSED("--max-tasks: \" 5\" is not a number from 1 to 1000000", "--max-tasks= 5");
    REFUSED("--max-redirect: \"99999999999999999999\" is not a number from 0 to 250",
            "--max-redirect=99999999999999999999");
    REFUSED("--max-tries: \"0\" is not a number from 1 to 250", "--max-tries=0");
    REFUSED("--max-depth: \"deep\" is not a number from 0 to 65000, nor \"none\"",
            "--max-depth=deep");
    REFUSED("--max-pages: \"0\" is not a number from 1 to 1000000000, nor \"none\"",
            "--max-pages=0");
    REFUSED("--per-host: \"none\" is not a number from 1 to 1000000", "--per-host=none");
    REFUSED("--external-per-host: \"0\" is not a number from 1 to 1000000",
            "--external-per-host=0");
}

TEST(options_none_takes_a_limit_away)
{
    struct parsed p =
        PARSE("--max-depth=1", "--max-depth=none", "--max-pages=5", "--max-pages=none",
              "--max-duration=5m", "--max-duration=none", "h");

    CHECK_STR(p.complaints, "");
    CHECK_INT(p.options.max_depth, UINT_MAX);
    CHECK_INT(p.options.max_pages, 0);
    CHECK_INT(p.options.max_duration_ns, 0);
    finish(&p);
}

static int64_t time_of(const char *text)
{
    struct parsed p = PARSE("--timeout", text, "h");
    int64_t ns = p.rc == 0 ? p.options.timeout_ns : -1;

    finish(&p);
    return ns;
}

TEST(options_times_are_in_seconds_or_have_a_unit)
{
    CHECK_INT(time_of("90"), INT64_C(90000000000));
    CHECK_INT(time_of("1.5"), INT64_C(1500000000));
    CHECK_INT(time_of("500ms"), INT64_C(500000000));
    CHECK_INT(time_of("30s"), INT64_C(30000000000));
    CHECK_INT(time_of("5m"), INT64_C(300000000000));
    CHECK_INT(time_of("2h"), INT64_C(7200000000000));
    CHECK_INT(time_of("1.5d"), INT64_C(129600000000000));
    CHECK_INT(time_of("0.000000001"), 1);
    CHECK_INT(time_of("1000000000"), INT64_C(1000000000000000000));
}

TEST(options_what_is_no_time_is_refused)
{
    static const char *const wrong[] = {
        "",      "0",   "-1",  "s",          "1.",
        ".5",    "1e3", "inf", "nan",        "0x5",
        "5 s",   "5y",  "1,5", "1000000001", "99999999999999999",
        "11575d"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_INT(time_of(wrong[i]), -1);
    REFUSED("--timeout: \"5x\" is not a time, such as 90, 1.5, 30s, 5m, 2h or 1d",
            "--timeout=5x");
    REFUSED(
        "--max-duration: \"0\" is not a time, such as 90, 1.5, 30s, 5m, 2h or 1d, nor "
        "\"none\"",
        "--max-duration=0");
    REFUSED("--max-time: \"none\" is not a time, such as 90, 1.5, 30s, 5m, 2h or 1d",
            "--max-time=none");
    REFUSED("--delay: \"x\" is not a time, such as 90, 1.5, 30s, 5m, 2h or 1d",
            "--delay=x");
    REFUSED("--max-age: \"1w\" is not a time, such as 90, 1.5, 30s, 5m, 2h or 1d",
            "--max-age=1w");
}

static int64_t size_of(const char *text)
{
    struct parsed p = PARSE("--max-body-size", text, "h");
    int64_t bytes = p.rc == 0 ? (int64_t)p.options.max_body_bytes : -1;

    finish(&p);
    return bytes;
}

TEST(options_sizes_are_in_bytes_or_have_a_unit)
{
    CHECK_INT(size_of("2048"), 2048);
    CHECK_INT(size_of("64K"), 65536);
    CHECK_INT(size_of("16m"), 16 << 20);
    CHECK_INT(size_of("16MB"), 16 << 20);
    CHECK_INT(size_of("1GiB"), 1 << 30);
    CHECK_INT(size_of("1T"), INT64_C(1) << 40);
    CHECK_INT(size_of("0"), -1);
    CHECK_INT(size_of("2T"), -1);
    CHECK_INT(size_of("9999999999999T"), -1);
    CHECK_INT(size_of("M"), -1);
    CHECK_INT(size_of("1.5M"), -1);
    CHECK_INT(size_of("16Mb"), -1);
    CHECK_INT(size_of("16 M"), -1);
    CHECK_INT(size_of("-1"), -1);
    REFUSED("--max-url-length: \"1M\" is not a size from 16 to 65536 bytes, such as "
            "2048, 64K or "
            "16M",
            "--max-url-length=1M");
}

TEST(options_choices_are_words)
{
    struct parsed p = PARSE("--external=get", "--fragments=all", "--color=never", "h");

    CHECK_INT(p.options.external, EXTERNAL_GET);
    CHECK_INT(p.options.fragments, FRAGMENTS_ALL);
    CHECK_INT(p.options.color, COLOR_NEVER);
    finish(&p);
    p = PARSE("--external=skip", "--fragments=none", "--color=always", "h");
    CHECK_INT(p.options.external, EXTERNAL_SKIP);
    CHECK_INT(p.options.fragments, FRAGMENTS_NONE);
    CHECK_INT(p.options.color, COLOR_ALWAYS);
    finish(&p);
    REFUSED("--external: \"no\" is none of head, get, skip", "--external=no");
    REFUSED("--fragments: \"\" is none of site, all, none", "--fragments=");
    REFUSED("--color: \"auto always\" is none of auto, always, never",
            "--color=auto always");
    REFUSED("--completions: \"csh\" is none of bash, zsh, fish", "--completions=csh");
}

TEST(options_traps_are_switched_off_one_by_one_or_all)
{
    struct parsed p = PARSE("--no-trap=session", "--no-trap", "repeat", "h");

    CHECK(p.options.trap_session_off && p.options.trap_repeat_off);
    CHECK(!p.options.trap_calendar_off);
    finish(&p);
    p = PARSE("--no-trap=all", "h");
    CHECK(p.options.trap_session_off && p.options.trap_repeat_off &&
          p.options.trap_calendar_off);
    finish(&p);
    REFUSED("--no-trap: \"x\" is none of repeat, session, calendar, all",
            "--no-trap=repeat,x");
}

TEST(options_regular_expressions_are_tried_out_at_once)
{
    struct parsed p = PARSE("--exclude=\\.png$", "--exclude=a|b", "--include", "x", "h");

    CHECK_INT(p.options.exclude.count, 2);
    CHECK_STR(pattern_text(&p.options.exclude, 1), "a|b");
    CHECK_INT(patterns_match(&p.options.exclude, "http://h/a.png", NULL), 1);
    CHECK_INT(p.options.include.count, 1);
    finish(&p);
    REFUSED("--exclude: \"(\" is not a usable pattern: missing closing parenthesis (at "
            "character 2)",
            "--exclude=(");
    REFUSED(
        "--exclude: \"\" is not a usable pattern: an empty pattern would match every URL",
        "--exclude=");
    REFUSED(
        "--include: \"a|\" is not a usable pattern: the empty alternative at \"|\" would "
        "match every URL",
        "--include=a|");
    REFUSED(
        "--include: \"[a\" is not a usable pattern: missing terminating ] for character "
        "class (at character 3)",
        "--include=[a");
}

static void check_accept(const char *text, int first, int last)
{
    struct parsed p = PARSE("-a", text, "h");

    CHECK_INT(p.rc, 0);
    CHECK_INT(p.options.accept_count, 1);
    CHECK_INT(p.options.accept[0].first, first);
    CHECK_INT(p.options.accept[0].last, last);
    finish(&p);
}

TEST(options_accept_takes_statuses_and_ranges)
{
    struct parsed p = PARSE("-a", "200..299, 403", "--accept=999", "h");

    CHECK_INT(p.options.accept_count, 3);
    CHECK_INT(p.options.accept[1].first, 403);
    CHECK_INT(p.options.accept[2].last, 999);
    finish(&p);
    check_accept("204", 204, 204);
    check_accept("200..=299", 200, 299);
    check_accept("200-206", 200, 206);
    REFUSED(
        "--accept: \"299..200\" is neither a status from 100 to 999 nor a range such as "
        "200..299",
        "-a", "299..200");
    REFUSED("--accept: \"99\" is neither a status from 100 to 999 nor a range such as "
            "200..299",
            "-a99");
    REFUSED(
        "--accept: \"\" is neither a status from 100 to 999 nor a range such as 200..299",
        "-a", "200,");
    REFUSED("--accept: \"2xx\" is neither a status from 100 to 999 nor a range such as "
            "200..299",
            "-a", "2xx");
    REFUSED("--accept: \"200..\" is neither a status from 100 to 999 nor a range such as "
            "200..299",
            "-a", "200..");
    REFUSED("--accept: \"050\" is neither a status from 100 to 999 nor a range such as "
            "200..299",
            "-a", "050");
}

static void check_accept_of(const struct options *options, size_t at, const char *host,
                            unsigned port, int first)
{
    const struct status_range *range = &options->accept[at];

    CHECK_STR(range->host.name != NULL ? range->host.name : "all", host);
    CHECK_INT(range->host.port, port);
    CHECK_INT(range->first, first);
}

/*
 * --accept=HOST=STATUSES applies only to HOST. --accept=STATUSES replaces the default for
 * all other hosts.
 */
TEST(options_accept_takes_a_host)
{
    struct parsed p =
        PARSE("-a", "LinkedIn.com=999,403", "-a", "[::1]:80=200..=299", "h");

    CHECK_STR(p.complaints, "");
    CHECK_INT(p.options.accept_count, 4);
    check_accept_of(&p.options, 0, "all", 0, 200);
    check_accept_of(&p.options, 1, "linkedin.com", 0, 999);
    check_accept_of(&p.options, 2, "linkedin.com", 0, 403);
    check_accept_of(&p.options, 3, "[::1]", 80, 200);
    CHECK_INT(p.options.accept[3].last, 299);
    finish(&p);
    p = PARSE("-a", "a=404", "-a", "204,b:8080=403,c=405", "-a", "206", "h");
    CHECK_INT(p.options.accept_count, 5);
    check_accept_of(&p.options, 0, "a", 0, 404);
    check_accept_of(&p.options, 1, "all", 0, 204);
    check_accept_of(&p.options, 2, "b", 8080, 403);
    check_accept_of(&p.options, 3, "c", 0, 405);
    check_accept_of(&p.options, 4, "all", 0, 206);
    finish(&p);
    REFUSED("--accept: \"a b\" is not a host", "-a", "a b=403");
    REFUSED("--accept: \"a/b\" is not a host", "-a", "200,a/b=403");
    REFUSED("--accept: \"h:0\" is not a host", "-a", "h:0=403");
    REFUSED(
        "--accept: \"\" is neither a status from 100 to 999 nor a range such as 200..299",
        "-a", "h=");
    REFUSED("--accept: \"=403\" is neither a status from 100 to 999 nor a range such as "
            "200..299",
            "-a", "=403");
}

TEST(options_fail_on_takes_verdicts)
{
    struct parsed p = PARSE("--fail-on=blocked", "--fail-on=broken,skipped", "h");

    for (int i = 0; i < VERDICT_COUNT; i++)
        CHECK_INT(p.options.fail_on[i],
                  i == VERDICT_BLOCKED || i == VERDICT_BROKEN || i == VERDICT_SKIPPED);
    finish(&p);
    p = PARSE("--fail-on=none", "h");
    for (int i = 0; i < VERDICT_COUNT; i++)
        CHECK(!p.options.fail_on[i]);
    finish(&p);
    REFUSED("--fail-on: \"dead\" is none of ok, redirect, broken, fragment, text, "
            "blocked, error, "
            "timeout, skipped, unchecked, none",
            "--fail-on=broken,dead");
}

/* --fail-on accepts the names in the table of verdicts. */
TEST(options_fail_on_takes_each_verdict)
{
    for (int i = VERDICT_OPEN + 1; i < VERDICT_COUNT; i++) {
        char option[32];
        struct parsed p;

        snprintf(option, sizeof option, "--fail-on=%s", verdict_word((enum verdict)i));
        p = PARSE(option, "h");
        CHECK_INT(p.rc, 0);
        CHECK(p.options.fail_on[i]);
        finish(&p);
    }
}

TEST(options_headers_cookies_and_credentials_become_headers)
{
    struct parsed p = PARSE("-H", "Accept-Language: de", "-b", "a=1", "-bb=2", "-u",
                            "me:first", "-u", "Aladdin:open sesame", "h");
    const struct text_list *headers = &p.options.headers;

    CHECK_STR(p.complaints, "");
    CHECK_INT(headers->count, 3);
    CHECK_STR(headers->at[0], "Accept-Language: de");
    CHECK_STR(headers->at[1], "Cookie: a=1; b=2");
    CHECK_STR(headers->at[2], "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    finish(&p);
    p = PARSE("-ua:", "h");
    CHECK_STR(p.options.headers.at[0], "Authorization: Basic YTo=");
    finish(&p);
    p = PARSE("-ua:b", "h");
    CHECK_STR(p.options.headers.at[0], "Authorization: Basic YTpi");
    finish(&p);
}

TEST(options_what_is_no_header_is_refused_without_its_secret)
{
    REFUSED("--header: not a header: write \"Name: value\"", "-H", "secret");
    REFUSED("--header: not a header: write \"Name: value\"", "-H", "Na me: x");
    REFUSED(
        "--header: Accept-Encoding is not for you to say: an answer must be whole, and "
        "encoded as coil-crawl reads it",
        "-H", "accept-encoding: gzip");
    REFUSED(
        "--header-for: Range is not for you to say: an answer must be whole, and encoded "
        "as coil-crawl reads it",
        "--header-for", "h:Range: bytes=0-1");
    REFUSED("--header: If-None-Match is not for you to say: an answer must be whole, and "
            "encoded as coil-crawl reads it",
            "-H", "If-None-Match: \"x\"");
    REFUSED("--header: not a header: write \"Name: value\"", "-H", ": x");
    REFUSED("--header: not a header: write \"Name: value\"", "-H", "A: b\r\nC: d");
    REFUSED("--cookie: not a cookie: write \"name=value\"", "-b", "secret");
    REFUSED("--cookie: not a cookie: write \"name=value\"", "-b", "=secret");
    REFUSED("--cookie: not a cookie: write \"name=value\"", "-b", "a=b\nc");
    REFUSED("--user: write USER:PASSWORD", "-u", "secret");
    REFUSED("--header-for: write \"HOST:Name: value\"", "--header-for", "secret");
    REFUSED("--header-for: write \"HOST:Name: value\"", "--header-for", "host:secret");
    REFUSED("--header-for: write \"HOST:Name: value\"", "--header-for", "h/x:A: b");
    REFUSED("--header-for: write \"HOST:Name: value\"", "--header-for", "[::1:A: b");
    REFUSED("--user-agent: control characters cannot be sent", "-A", "a\nb");
    REFUSED("--user-agent: needs a value: TEXT", "-A", "");
}

static void check_host_header(const char *text, const char *host, unsigned port,
                              const char *header)
{
    struct parsed p = PARSE("--header-for", text, "h");

    CHECK_INT(p.options.host_header_count, 1);
    CHECK_STR(p.options.host_headers[0].host.name, host);
    CHECK_INT(p.options.host_headers[0].host.port, port);
    CHECK_STR(p.options.host_headers[0].header, header);
    finish(&p);
}

TEST(options_headers_for_another_host)
{
    check_host_header("GitHub.com:Authorization: token x", "github.com", 0,
                      "Authorization: token x");
    check_host_header("h:8443:A: b", "h", 8443, "A: b");
    check_host_header("[0::1]:80:A: b", "[::1]", 80, "A: b");
    check_host_header("B\xc3\xbc"
                      "cher.example: A:b",
                      "xn--bcher-kva.example", 0, "A:b");
    REFUSED("--header-for: write \"HOST:Name: value\"", "--header-for", "h:99999:A: b");
}

TEST(options_proxies)
{
    struct parsed p = PARSE("-x", "socks5://h:1080", "h");

    CHECK_STR(p.options.proxy, "socks5://h:1080");
    finish(&p);
    p = PARSE("-x", "", "h");
    CHECK_STR(p.options.proxy, "");
    finish(&p);
    p = PARSE("-xproxy:3128", "h");
    CHECK_STR(p.options.proxy, "proxy:3128");
    finish(&p);
    REFUSED("--proxy: \"ftp\" is not a scheme of proxies: http, https, socks4, socks4a, "
            "socks5, "
            "socks5h",
            "-x", "ftp://h");
    REFUSED("--proxy: not a proxy: write http://HOST:PORT", "-x", "http://");
    REFUSED("--proxy: not a proxy: write http://HOST:PORT", "-x", "a b");
}

TEST(options_files_and_folders_are_looked_for_at_once)
{
    struct parsed p;

    enter_scratch();
    write_file("ca.pem", "");
    CHECK_INT(mkdir("www", 0700), 0);
    p = PARSE("--cacert=ca.pem", "--baseline=ca.pem", "--cache=new", "--root-dir=www",
              "--base-url=HTTP://Example.org", "h");
    CHECK_STR(p.complaints, "");
    CHECK_STR(p.options.ca_file, "ca.pem");
    CHECK_STR(p.options.root_dir, "www");
    CHECK_STR(p.options.base_url, "http://example.org/");
    CHECK_STR(p.options.cache, "new");
    finish(&p);
    REFUSED("--cacert: nowhere.pem: No such file or directory", "--cacert=nowhere.pem");
    REFUSED("--cacert: www: Is a directory", "--cacert=www");
    REFUSED("--baseline: nowhere: No such file or directory", "--baseline=nowhere");
    REFUSED("--root-dir: nowhere: No such file or directory", "--root-dir=nowhere");
    REFUSED("--root-dir: ca.pem: Not a directory", "--root-dir=ca.pem");
    REFUSED("--base-url: not an http or https URL", "--base-url=ftp://h/");
    REFUSED("--cache: needs a value: FILE", "--cache=");
    leave_scratch();
}

TEST(options_index_files_replace_the_default)
{
    struct parsed p =
        PARSE("--index-files=index.htm,README.md", "--index-files", "default.html", "h");

    CHECK_INT(p.options.index_files.count, 3);
    CHECK_STR(p.options.index_files.at[0], "index.htm");
    CHECK_STR(p.options.index_files.at[1], "README.md");
    finish(&p);
    REFUSED("--index-files: \"\" is not the name of a file", "--index-files=a,,b");
    REFUSED("--index-files: \"a/b\" is not the name of a file", "--index-files=a/b");
}

/* Restore a crawl that was begun with one option. The caller finishes the result. */
static struct parsed restore(const char *option)
{
    struct parsed parsed = {.rc = 0};
    const char *decided[] = {option}, *starts[] = {"http://h/"};
    struct options now = {.command = COMMAND_RESUME};
    size_t n;
    FILE *complaints = open_memstream(&parsed.complaints, &n);

    CHECK_INT(options_init(&parsed.options), 0);
    parsed.rc = options_restore(&parsed.options, &now, &(struct text_list){decided, 1},
                                &(struct text_list){starts, 1}, complaints);
    fclose(complaints);
    return parsed;
}

TEST(options_of_a_saved_crawl_that_are_unknown_are_named)
{
    static const char *const known[] = {"--max-depth=3", "--no-robots", "--lenient"};
    struct parsed p;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        p = restore(known[i]);
        CHECK_STR(p.complaints, "");
        CHECK_INT(p.rc, 0);
        finish(&p);
    }
    p = restore("--new-option=3");
    CHECK_INT(p.rc, -EINVAL);
    CHECK_STR(p.complaints, "coil-crawl: the crawl was begun with the option "
                            "--new-option, which this version of coil-crawl does not "
                            "have\n");
    finish(&p);
}

TEST(options_formats_go_to_files_of_their_own)
{
    struct parsed p = PARSE("-f", "text:a", "-fjsonl", "-f", "github:b:c", "h");

    CHECK_INT(p.options.formats.count, 3);
    CHECK_STR(p.options.formats.at[0], "text:a");
    CHECK_STR(p.options.formats.at[1], "jsonl:-");
    CHECK_STR(p.options.formats.at[2], "github:b:c");
    finish(&p);
    REFUSED("--format: \"xml\" is none of text, jsonl, github, junit, "
            "sarif, csv, markdown, html",
            "-f", "xml");
    REFUSED("--format: \"xml\" is none of text, jsonl, github, junit, "
            "sarif, csv, markdown, html",
            "-f", "xml:file");
    REFUSED("--format: \"jsonl:\" does not name a file", "-f", "jsonl:");
    REFUSED("--format: two reports to stdout", "-f", "jsonl:-", "-f", "github");
    REFUSED("--format: two reports to x", "-f", "jsonl:x", "-f", "github:x");
    REFUSED("--format and --format write the same file: ./x", "-f", "csv:x", "-f",
            "html:./x");
    REFUSED("--format and --warc write the same file: x", "-f", "csv:x", "--warc", "x");
    REFUSED("--format and --warc write the same file: ./x.cdxj", "-f", "csv:x.cdxj",
            "--warc", "./x");
    REFUSED("--warc and --cache write the same file: /proc/self/cwd/x", "--warc", "x",
            "--cache", "/proc/self/cwd/x");
    REFUSED("--format and --state write the same file: no/crawl.db", "-f",
            "csv:no/crawl.db", "-d", "no");
}

/* ---- where to start ---------------------------------------------------------------- */

static void check_start(const char *operand, const char *expected)
{
    struct parsed p = PARSE("--", operand);

    CHECK_STR(p.complaints, "");
    CHECK_INT(p.options.starts.count, 1);
    if (p.options.starts.count == 1)
        CHECK_STR(p.options.starts.at[0], expected);
    finish(&p);
}

TEST(options_what_exists_is_local_and_the_rest_a_url)
{
    enter_scratch();
    CHECK_INT(mkdir("docs", 0700), 0);
    write_file("docs/a.html", "");
    write_file("example.com", "");
    check_start("docs", "docs");
    check_start("docs/a.html", "docs/a.html");
    check_start("./docs/", "./docs/");
    check_start("example.com", "example.com");
    check_start("http://example.com", "http://example.com/");
    check_start("example.org/a/b.html#x", "http://example.org/a/b.html");
    check_start("localhost/a", "http://localhost/a");
    check_start("http:/example.org/a", "http://example.org/a");
    check_start("HTTPS:example.org", "https://example.org/");
    check_start("http:8080", "http://http:8080/");
    check_start("example.org/?to=https://h/", "http://example.org/?to=https://h/");
    check_start("localhost:8000", "http://localhost:8000/");
    check_start("wiki", "http://wiki/");
    check_start("[::1]:80/a", "http://[::1]/a");
    leave_scratch();
}

TEST(options_a_path_that_does_not_exist_is_no_host)
{
    const char *wrong[] = {"./x",        "../x", "/nowhere/x", "docs/x.html",
                           "index.html", "../y", "nowhere.md", "~/x"};

    enter_scratch();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char sentence[256];

        snprintf(sentence, sizeof sentence,
                 "%s: no such file or folder; write http:// before a host", wrong[i]);
        check_refused(PARSE(wrong[i]), sentence);
    }
    leave_scratch();
}

TEST(options_a_start_is_needed_and_must_be_one)
{
    check_refused(PARSE("-q"),
                  "name a URL, a folder or a file; coil-crawl --help says more");
    check_refused(PARSE("ftp://h/"), "ftp://h/: not an http or https URL, nor a file");
    check_refused(PARSE("mailto:a@b"),
                  "mailto:a@b: not an http or https URL, nor a file");
    check_refused(PARSE("Tel:123"), "Tel:123: not an http or https URL, nor a file");
    check_refused(PARSE("a b.example"),
                  "a b.example: not an http or https URL, nor a file");
    check_refused(PARSE(""), ": not an http or https URL, nor a file");
    check_refused(PARSE("/dev/null"),
                  "/dev/null: neither a file nor a folder, nor a pipe");
}

TEST(options_explain_is_the_first_word)
{
    struct parsed p = PARSE("explain", "example.org/a");

    CHECK(p.options.explain);
    CHECK_INT(p.options.starts.count, 1);
    CHECK_STR(p.options.starts.at[0], "http://example.org/a");
    finish(&p);
    p = PARSE("-q", "a", "explain");
    CHECK(!p.options.explain);
    CHECK_INT(p.options.starts.count, 2);
    finish(&p);
}

/* Regression test: a command with too few or too many arguments was treated as a host. */
TEST(options_a_command_without_its_folder_is_wrong_usage)
{
    static const struct {
        const char *arguments[4], *usage;
    } wrong[] = {
        {{"resume"}, "resume DIR"},      {{"resume", "a", "b"}, "resume DIR"},
        {{"recheck"}, "recheck DIR"},    {{"report"}, "report DIR"},
        {{"collect"}, "collect DIR"},    {{"diff"}, "diff DIR DIR"},
        {{"diff", "a"}, "diff DIR DIR"}, {{"diff", "a", "b", "c"}, "diff DIR DIR"},
        {{"explain"}, "explain URL"},
    };
    struct parsed p;

    enter_scratch();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *argv[6] = {"coil-crawl"};
        int argc = 1;
        char usage[64];

        for (size_t j = 0; j < 4 && wrong[i].arguments[j] != NULL; j++)
            argv[argc++] = wrong[i].arguments[j];
        snprintf(usage, sizeof usage, ": write coil-crawl %s; a folder", wrong[i].usage);
        p = parse_arguments(argc, argv);
        CHECK_INT(p.rc, -EINVAL);
        CHECK(strstr(p.complaints, usage) != NULL);
        finish(&p);
    }
    CHECK_INT(mkdir("report", 0777), 0);
    check_start("report", "report"); /* the folder exists */
    check_start("./report", "./report");
    check_start("http://resume/", "http://resume/");
    p = PARSE("--files-from=x", "resume", "dir");
    CHECK_STR(p.complaints, "coil-crawl: resume: --files-from is only for a new crawl\n");
    finish(&p);
    leave_scratch();
}

static void check_starts(struct parsed p, const char *expected)
{
    char starts[256] = "";

    CHECK_STR(p.complaints, "");
    for (size_t i = 0; i < p.options.starts.count; i++) {
        strncat(starts, p.options.starts.at[i], sizeof starts - strlen(starts) - 1);
        strncat(starts, " ", sizeof starts - strlen(starts) - 1);
    }
    CHECK_STR(starts, expected);
    finish(&p);
}

TEST(options_starts_may_be_listed_in_a_file)
{
    enter_scratch();
    write_file("a.md", "");
    write_file("b c.html", "");
    write_file("list",
               "\xef\xbb\xbf a.md\r\n\n# b c.html\nb c.html\t\nhttp://h/x\nexample.org");
    check_starts(PARSE("--files-from", "list", "http://i/"),
                 "http://i/ a.md b c.html http://h/x http://example.org/ ");
    write_file("wrong", "a.md\n\ngone.md\n");
    check_refused(
        PARSE("--files-from=wrong"),
        "wrong:3: gone.md: no such file or folder; write http:// before a host");
    write_file("empty", "\n# nothing\n");
    check_refused(PARSE("--files-from=empty"), "empty: does not name any URL or file");
    check_refused(PARSE("--files-from=gone"), "gone: No such file or directory");
    check_refused(PARSE("--files-from="), "--files-from: needs a value: FILE");
    leave_scratch();
}

TEST(options_patterns_that_no_shell_has_expanded)
{
    enter_scratch();
    CHECK_INT(mkdir("docs", 0777), 0);
    write_file("docs/a.md", "");
    write_file("docs/b.md", "");
    write_file("docs/c.html", "");
    write_file("docs/[x].md", "");
    check_starts(PARSE("docs/*.html"), "docs/c.html ");
    check_starts(PARSE("docs/[ab].md"), "docs/a.md docs/b.md ");
    check_starts(PARSE("docs/{b,c}.*"), "docs/b.md docs/c.html ");
    check_starts(PARSE("docs/[x].md"), "docs/[x].md ");
    check_starts(PARSE("http://h/*"), "http://h/* ");
    check_starts(PARSE("example.org/a?b"), "http://example.org/a?b ");
    check_refused(PARSE("docs/*.txt"), "docs/*.txt: no file matches");
    check_refused(PARSE("**/*.md"),
                  "**/*.md: \"**\" is not supported here: name the folder, "
                  "whose subfolders are searched, too");
    leave_scratch();
}

TEST(options_file_urls_are_files)
{
    char url[128], expected[128];

    enter_scratch();
    write_file("b c#.html", "");
    snprintf(url, sizeof url, "file://%s/b%%20c%%23.html?q#x", scratch);
    snprintf(expected, sizeof expected, "%s/b c#.html ", scratch);
    check_starts(PARSE(url), expected);
    snprintf(url, sizeof url, "FILE://localhost%s", scratch);
    snprintf(expected, sizeof expected, "%s ", scratch);
    check_starts(PARSE(url), expected);
    check_refused(PARSE("file:///no/such"), "file:///no/such: No such file or directory");
    check_refused(PARSE("file://h/x"), "file://h/x: not a file on this machine");
    check_refused(PARSE("file:///a%2fb"), "file:///a%2fb: not a file on this machine");
    leave_scratch();
}

TEST(options_a_sitemap_that_is_missing_is_no_host)
{
    enter_scratch();
    check_refused(
        PARSE("--sitemap=map.xml", "http://h/"),
        "map.xml: no such file; write http:// before a host, and the path of its "
        "sitemap");
    check_refused(PARSE("--sitemap=./map", "http://h/"),
                  "./map: no such file or folder; write http:// before a host");
    check_refused(PARSE("--sitemap=no/map.xml", "http://h/"),
                  "no/map.xml: no such file or folder; write http:// before a host");
    check_starts(PARSE("--sitemap=h.example/map.xml"), "http://h.example/map.xml ");
    leave_scratch();
}

/* ---- the configuration file -------------------------------------------------------- */

TEST(options_stand_in_a_file_and_the_command_line_counts)
{
    struct parsed p;

    enter_scratch();
    write_file("coil-crawl.toml",
               "\xef\xbb\xbf# ours\n\n  max-tasks = 3  \r\nlenient = true\n"
               "no-robots = false\nprogress = false\n"
               "exclude = 'a = b # c'\naccept=403\nverbose = 2\n"
               "max-tries\t=\t9");
    p = PARSE("--max-tries=4", "--exclude=d", "-a", "200", "h");
    CHECK_STR(p.complaints, "");
    CHECK_INT(p.options.max_tasks, 3);
    CHECK_INT(p.options.max_tries, 4);
    CHECK(p.options.lenient && !p.options.no_robots && p.options.no_progress);
    CHECK_INT(p.options.verbosity, 2);
    CHECK_INT(p.options.exclude.count, 2);
    CHECK_STR(pattern_text(&p.options.exclude, 0), "a = b # c");
    CHECK_INT(p.options.accept_count, 2);
    CHECK_INT(p.options.accept[0].first, 403);
    finish(&p);
    p = PARSE("--no-config", "h");
    CHECK_INT(p.options.max_tasks, 10);
    finish(&p);
    write_file("other.toml", "max-tasks = 7");
    p = PARSE("--config=other.toml", "h");
    CHECK_INT(p.options.max_tasks, 7);
    CHECK_INT(p.options.max_tries, 3);
    finish(&p);
    leave_scratch();
}

TEST(options_of_a_file_say_nothing_to_a_terminal)
{
    struct parsed p;

    enter_scratch();
    write_file("coil-crawl.toml", "\"a\\u001b[2J\\u009b\" = 1\n");
    p = PARSE("h");
    CHECK_INT(p.rc, -EINVAL);
    CHECK(strstr(p.complaints, "a?[2J?") != NULL);
    finish(&p);
    write_file("coil-crawl.toml", "exclude = \"(\\u001b[2J\"\n");
    p = PARSE("h");
    CHECK_INT(p.rc, -EINVAL);
    CHECK(strstr(p.complaints, "(?[2J") != NULL);
    finish(&p);
    leave_scratch();
}

/*
 * The author of ./coil-crawl.toml may be untrusted, if the file comes from a repository.
 * So the options in this file must not cause writes outside the file's folder.
 */
TEST(options_of_a_file_that_was_not_named_write_below_its_folder_alone)
{
    static const char *const refused[] = {"format = ['text:../victim']",
                                          "format = 'csv:/tmp/victim'",
                                          "format = ['text', 'html:a/../../victim']",
                                          "format = 'jsonl:link/x'",
                                          "format = 'text:dangling'",
                                          "format = 'text:.git/config'",
                                          "format = 'text:a/.GIT'",
                                          "warc = '../victim'",
                                          "warc = 'indexed'",
                                          "cache = '../victim'",
                                          "cache = 'link/x'",
                                          "state = '..'",
                                          "state = '../victim/'",
                                          "state = 'kept'",
                                          "state = '.git'",
                                          "format = 'text:missing/../../victim'"};
    static const char *const allowed[] = {
        "format = ['text:-', 'csv:new.csv', 'html:a/new.html', 'jsonl:./a//new']",
        "warc = 'a/../a/new.warc.gz'",
        "cache = '.link-cache'",
        "state = 'new-folder/'",
        "state = '.'",
        "format = 'text:missing/new'",
        "format = 'text:inside'"};
    struct parsed p;

    enter_scratch();
    CHECK(mkdir("a", 0777) == 0 && mkdir("kept", 0777) == 0 && mkdir(".git", 0777) == 0);
    CHECK(symlink("/tmp", "link") == 0 && symlink("/tmp/no-such-file", "dangling") == 0 &&
          symlink("a", "inside") == 0);
    CHECK(symlink("../victim", "indexed.cdxj") == 0 &&
          symlink("/tmp/victim", "kept/crawl.db") == 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        write_file("coil-crawl.toml", refused[i]);
        p = PARSE("http://h/");
        CHECK_INT(p.rc, -EINVAL);
        CHECK(strstr(p.complaints, "coil-crawl.toml:1: ") != NULL &&
              strstr(p.complaints, "is not below the folder of this file") != NULL);
        finish(&p);
        p = PARSE("--config=./coil-crawl.toml", "http://h/"); /* named: trusted */
        CHECK_STR(p.complaints, "");
        finish(&p);
    }
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        write_file("coil-crawl.toml", allowed[i]);
        p = PARSE("http://h/");
        CHECK_STR(p.complaints, "");
        finish(&p);
    }
    write_file("coil-crawl.toml", "");
    /* these options are allowed on the command line */
    p = PARSE("-f", "text:../x", "--cache=/tmp/y", "http://h/");
    CHECK_STR(p.complaints, "");
    finish(&p);
    leave_scratch();
}

/*
 * The value of a repeatable option may be a list. Option names may have underscores
 * instead of hyphens, as in other link checkers.
 */
TEST(options_in_a_file_may_be_lists)
{
    struct parsed p;

    enter_scratch();
    write_file("coil-crawl.toml",
               "exclude = [\n  '\\.png$', # pictures\n  \"/calendar/\",\n]\n"
               "accept = [200, \"b.example=403,404\", '204..206']\n"
               "max_concurrency = 7\ntimeout = 1.5\nmax_time = \"2m\"\n"
               "include = []\nfail-on = ['broken', 'blocked']\n");
    p = PARSE("h");
    CHECK_STR(p.complaints, "");
    CHECK_INT(p.options.exclude.count, 2);
    CHECK_STR(pattern_text(&p.options.exclude, 0), "\\.png$");
    CHECK_STR(pattern_text(&p.options.exclude, 1), "/calendar/");
    CHECK_INT(p.options.accept_count, 4);
    check_accept_of(&p.options, 2, "b.example", 0, 404);
    check_accept_of(&p.options, 3, "all", 0, 204);
    CHECK_INT(p.options.max_tasks, 7);
    CHECK_INT(p.options.timeout_ns, COIL_MSEC(1500));
    CHECK_INT(p.options.max_time_ns, COIL_SEC(120));
    CHECK(p.options.fail_on[VERDICT_BLOCKED] && !p.options.fail_on[VERDICT_ERROR]);
    finish(&p);
    leave_scratch();
}

static void check_line_refused(const char *lines, const char *sentence)
{
    write_file("coil-crawl.toml", lines);
    check_refused(PARSE("h"), sentence);
}

TEST(options_in_a_file_are_refused_with_its_name_and_line)
{
    enter_scratch();
    check_line_refused("\nmax-tasks = 'x'\n",
                       "coil-crawl.toml:2: max-tasks: \"x\" is not a number "
                       "from 1 to 1000000");
    check_line_refused("max-taks = 3",
                       "coil-crawl.toml:1: max-taks: no such option; did you "
                       "mean max-tasks?");
    check_line_refused("qqqqqqqq = 3", "coil-crawl.toml:1: qqqqqqqq: no such option; "
                                       "coil-crawl --help lists them");
    check_line_refused("\"\" = 3", "coil-crawl.toml:1: : no such option; "
                                   "coil-crawl --help lists them");
    check_line_refused("print = 'man'", "coil-crawl.toml:1: print: no such option; "
                                        "coil-crawl --help lists them");
    check_line_refused("= 3", "coil-crawl.toml:1: there is no name before \"=\"");
    check_line_refused("quiet", "coil-crawl.toml:1: there is no \"=\" after the name");
    check_line_refused("timeout = true",
                       "coil-crawl.toml:1: timeout: needs a value: timeout = TIME");
    check_line_refused("timeout = 30s", "coil-crawl.toml:1: neither a number, true nor "
                                        "false: a text needs quotes");
    check_line_refused("quiet = 3",
                       "coil-crawl.toml:1: quiet: \"3\" is neither true nor false");
    check_line_refused("verbose = 'x'",
                       "coil-crawl.toml:1: verbose: \"x\" is neither true nor false");
    check_line_refused("config = 'x'",
                       "coil-crawl.toml:1: config: only for the command line");
    check_line_refused("max-tasks = 3\nmax-concurrency = 3\n",
                       "coil-crawl.toml:2: max-tasks: is there twice");
    check_line_refused("max-tasks = [\n3]",
                       "coil-crawl.toml:2: max-tasks: takes one value, not a list");
    check_line_refused("accept = [\n]", "coil-crawl.toml:2: accept: an empty list: leave "
                                        "it out for the default");
    check_line_refused("[http]\nheader = 'A: b'",
                       "coil-crawl.toml:1: a table: options have none");
    leave_scratch();
}

TEST(options_a_file_that_cannot_be_read_is_said)
{
    enter_scratch();
    check_refused(PARSE("--config=nowhere", "h"), "nowhere: No such file or directory");
    CHECK_INT(mkdir("coil-crawl.toml", 0700), 0);
    check_refused(PARSE("h"), "coil-crawl.toml: Is a directory");
    check_refused(PARSE("--config=/dev/zero", "h"), "/dev/zero: is a megabyte or more");
    leave_scratch();
}

/* ---- what is printed --------------------------------------------------------------- */

static void check_width(const char *text, size_t width)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        CHECK(strcspn(line, "\n") <= width);
}

TEST(options_help_fits_a_terminal)
{
    struct parsed p = PARSE("--help", "--max-tasks=none");

    CHECK_INT(p.rc, OPTIONS_PRINTED);
    CHECK_STR(p.complaints, "");
    CHECK(strstr(p.out, "      --max-tasks N         fetch at most N pages") != NULL);
    CHECK(strstr(p.out, "  -f, --format FORMAT[:FILE]\n") != NULL);
    CHECK(strstr(p.out, "--print") == NULL);
    check_width(p.out, 80);
    finish(&p);
}

TEST(options_version_names_coil_and_curl)
{
    struct parsed p = PARSE("-V");

    CHECK_INT(p.rc, OPTIONS_PRINTED);
    CHECK(strncmp(p.out, "coil-crawl 0.", 13) == 0);
    CHECK(strstr(p.out, "libcurl/") != NULL);
    finish(&p);
}

TEST(options_completions_and_the_manual_are_printed)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    struct parsed p;

    for (size_t i = 0; i < 3; i++) {
        p = PARSE("--completions", shells[i]);
        CHECK_INT(p.rc, OPTIONS_PRINTED);
        CHECK(strstr(p.out, "external-per-host") != NULL);
        finish(&p);
    }
    p = PARSE("--print=man");
    CHECK(strstr(p.out, "\n.TH COIL-CRAWL 1 ") != NULL);
    finish(&p);
    p = PARSE("--print=manual-table");
    CHECK(strncmp(p.out, "| option | meaning | default |\n", 31) == 0);
    finish(&p);
}
