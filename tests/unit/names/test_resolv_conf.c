/*
 * test_resolv_conf.c - parsing the timeout, the number of tries and the search list in
 * resolv.conf.
 */
#include "../../harness/harness.h"

#include "../../../src/names/resolver.h"

#include <unistd.h>

static struct coil__resolv_conf read_text(const char *text)
{
    char path[] = "/tmp/coil-resolv-XXXXXX";
    int fd = mkstemp(path);
    struct coil__resolv_conf conf;

    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    CHECK_INT(coil__resolv_conf_read(path, &conf), 0);
    unlink(path);
    return conf;
}

/* Return the timeout and the number of tries, such as "5 s, 2 times". */
static const char *times_of(const char *text)
{
    static char times[32];
    struct coil__resolv_conf conf = read_text(text);

    snprintf(times, sizeof times, "%lld s, %u times",
             (long long)(conf.timeout_ns / COIL_SEC(1)), conf.tries);
    coil__resolv_conf_finish(&conf);
    return times;
}

/* Return the names that are queried for a host, such as "host.one.test host". */
static const char *names_for(const char *host, const char *text)
{
    static char names[8192];
    struct coil__resolv_conf conf = read_text(text);
    char name[COIL__SEARCH_NAME];
    size_t used = 0;

    for (unsigned i = 0; coil__search_name(&conf, host, i, name); i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i > 0 ? " " : "", name);
    coil__resolv_conf_finish(&conf);
    return names;
}

TEST(resolv_conf_options)
{
    CHECK_STR(times_of("nameserver 192.0.2.1\noptions timeout:1 attempts:3\n"),
              "1 s, 3 times");
    CHECK_STR(times_of("options\ttimeout:7\nsearch one.test\noptions rotate attempts:4"),
              "7 s, 4 times");
    CHECK_STR(times_of("options timeout:1\noptions timeout:2\n"), "2 s, 2 times");
}

TEST(resolv_conf_without_them)
{
    CHECK_STR(times_of(""), "5 s, 2 times");
    CHECK_STR(
        times_of("#options timeout:1\n; options timeout:1\noptionstimeout:1\n"
                 "options ndots:1 timeout timeout: timeout:x timeout:-1 xtimeout:1"),
        "5 s, 2 times");
}

TEST(resolv_conf_options_have_bounds)
{
    CHECK_STR(times_of("options timeout:31 attempts:6"), "30 s, 5 times");
    CHECK_STR(times_of("options timeout:99999999999999999999999 attempts:4294967297"),
              "30 s, 5 times");
    CHECK_STR(times_of("options timeout:0 attempts:0"), "1 s, 1 times");
}

TEST(resolv_conf_of_the_environment_goes_first)
{
    setenv("RES_OPTIONS", "debug timeout:3", 1);
    CHECK_STR(times_of("options timeout:1 attempts:4"), "3 s, 4 times");
}

TEST(resolv_conf_that_cannot_be_read)
{
    struct coil__resolv_conf conf;

    CHECK_INT(coil__resolv_conf_read("/no/such/file", &conf), 0);
    CHECK_INT(conf.timeout_ns, COIL_SEC(5));
    CHECK_INT(conf.tries, 2);
    coil__resolv_conf_finish(&conf);
}

/* ---- the search list: res_search(3) ------------------------------------------------ */

TEST(resolv_conf_search_list)
{
    static const char two[] = "search one.test\ttwo.test. # mine\n";

    CHECK_STR(names_for("h", two), "h.one.test h.two.test. h");
    CHECK_STR(names_for("a.b", two), "a.b a.b.one.test a.b.two.test.");
    CHECK_STR(names_for("h.", two), "h.");
    CHECK_STR(names_for("a.b.", two), "a.b.");
    CHECK_STR(names_for("x.onion", two), "x.onion");
    CHECK_STR(names_for("h", "search .one.test\n"), "h.one.test h");
}

TEST(resolv_conf_searches_the_root)
{
    CHECK_STR(names_for("h", "search .\n"), "h");
    CHECK_STR(names_for("a.b", "search .\n"), "a.b");
    CHECK_STR(names_for("h", "domain .\n"), "h");
    CHECK_STR(names_for("h", "search . one.test\n"), "h h.one.test");
    CHECK_STR(names_for("h", "search one.test . two.test .\n"),
              "h.one.test h h.two.test");
    CHECK_STR(names_for("a.b", "search . one.test\n"), "a.b a.b.one.test");
    CHECK_STR(names_for("a.b", "search . one.test\noptions ndots:2"), "a.b a.b.one.test");
}

TEST(resolv_conf_ndots)
{
    CHECK_STR(names_for("h", "search x\noptions ndots:0\n"), "h h.x");
    CHECK_STR(names_for("a.b", "search x\noptions ndots:2\n"), "a.b.x a.b");
    CHECK_STR(names_for("a.b.c", "options rotate ndots:2\nsearch x"), "a.b.c a.b.c.x");
    CHECK_STR(names_for("a.b", "search x\noptions ndots:-1 ndots:y\n"), "a.b a.b.x");
    CHECK_STR(names_for("1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16",
                        "search x\noptions ndots:99\n"),
              "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16 "
              "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.x");
}

TEST(resolv_conf_last_list_counts)
{
    CHECK_STR(names_for("h", "domain one.test two.test\n"), "h.one.test h");
    CHECK_STR(names_for("h", "search a b\ndomain c\n"), "h.c h");
    CHECK_STR(names_for("h", "domain c\nsearch a b\n"), "h.a h.b h");
    CHECK_STR(names_for("h", "search a\nsearch\nsearch \t\ndomain \n"), "h.a h");
    CHECK_STR(names_for("h", "search a\nsearching b\n search c\n#search d\n"), "h.a h");
    setenv("LOCALDOMAIN", "e f", 1);
    CHECK_STR(names_for("h", "search a\n"), "h.e h.f h");
    setenv("LOCALDOMAIN", ".", 1);
    setenv("RES_OPTIONS", "ndots:3", 1);
    CHECK_STR(names_for("a.b", "search a\n"), "a.b");
}

/* Search lists with dozens of domains exist. */
TEST(resolv_conf_long_search_list)
{
    char text[4096] = "search", host[600], name[COIL__SEARCH_NAME];
    size_t used = strlen(text);
    struct coil__resolv_conf conf;
    unsigned count = 0;

    for (int i = 0; i < 200; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " domain%03d.test", i);
    strcat(text, " last\n");
    CHECK(strstr(names_for("h", text), " h.domain199.test h.last h") != NULL);
    memset(host, 'x', sizeof host - 1);
    host[sizeof host - 1] = '\0';
    conf = read_text(text);
    for (; coil__search_name(&conf, host, count, name); count++)
        /* the name is truncated, but still too long to be valid */
        CHECK_INT(strlen(name), sizeof name - 1);
    CHECK_INT(count, 202);
    coil__resolv_conf_finish(&conf);
}
