/*
 * test_resolv_conf.c - how long and how often to ask, as the file says.
 */
#include "../harness/harness.h"

#include "../../src/names/resolver.h"

#include <unistd.h>

/* "5 s, 2 times" */
static const char *times_of(const char *text)
{
    static char times[32];
    char path[] = "/tmp/coil-resolv-XXXXXX";
    int fd = mkstemp(path);
    int64_t timeout_ns;
    unsigned tries;

    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    coil__resolv_conf_read(path, &timeout_ns, &tries);
    unlink(path);
    snprintf(times, sizeof times, "%lld s, %u times",
             (long long)(timeout_ns / COIL_SEC(1)), tries);
    return times;
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
    int64_t timeout_ns;
    unsigned tries;

    coil__resolv_conf_read("/no/such/file", &timeout_ns, &tries);
    CHECK_INT(timeout_ns, COIL_SEC(5));
    CHECK_INT(tries, 2);
}
