/*
 * test_redis_address.c - crawler/shared/redis/redis_address.h: parsing Redis URLs.
 */
#include "../../../../../crawler/shared/redis/redis_address.h"
#include "../../../../harness/harness.h"

#include <errno.h>

static const char *or_none(const char *s)
{
    return s != NULL ? s : "-";
}

static void trace_address(const char *url)
{
    struct redis_address address;
    int rc = redis_address_parse(url, &address);

    if (rc == 0)
        test_trace("%s: %s %s %s %s %s %u%s\n", address.name, or_none(address.host),
                   or_none(address.port), or_none(address.path), or_none(address.user),
                   or_none(address.password), address.db, address.is_tls ? " tls" : "");
    else
        CHECK_INT(rc, -EINVAL);
    redis_address_finish(&address);
}

TEST(redis_address_has_a_port_and_a_database_unless_it_says_so)
{
    trace_address("redis://example.org");
    trace_address("redis://example.org/");
    trace_address("redis://example.org:6380/3");
    trace_address("rediss://[::1]:1/0");
    CHECK_TRACE("redis://example.org/0: example.org 6379 - - - 0\n"
                "redis://example.org/0: example.org 6379 - - - 0\n"
                "redis://example.org:6380/3: example.org 6380 - - - 3\n"
                "rediss://[::1]:1/0: ::1 1 - - - 0 tls\n");
}

TEST(redis_address_has_credentials_that_its_name_does_not_show)
{
    trace_address("redis://me:s%40cret@h");
    trace_address("redis://:secret@h/1");
    trace_address("redis://secret@h");
    trace_address("redis://me:a@b@h");
    CHECK_TRACE("redis://h/0: h 6379 - me s@cret 0\n"
                "redis://h/1: h 6379 - - secret 1\n"
                "redis://h/0: h 6379 - - secret 0\n"
                "redis://h/0: h 6379 - me a@b 0\n");
}

TEST(redis_address_of_a_local_socket_is_its_path)
{
    trace_address("unix:///run/redis.sock");
    trace_address("unix:///a%20b?db=2");
    CHECK_TRACE("/run/redis.sock: - - /run/redis.sock - - 0\n"
                "/a b: - - /a b - - 2\n");
}

TEST(redis_address_of_something_else_is_refused)
{
    static const char *const urls[] = {"",
                                       "http://h",
                                       "redis:h",
                                       "redis://",
                                       "redis:///1",
                                       "redis://h:",
                                       "redis://h/one",
                                       "redis://h/1/2",
                                       "redis://h/-1",
                                       "redis://[::1",
                                       "unix://",
                                       "unix:///a?to=1",
                                       "redis://[::1]x",
                                       "redis://h/65536",
                                       "redis://h:6379?password=x",
                                       "redis://h:80a/1"};

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        trace_address(urls[i]);
        CHECK_STR(test_trace_text(), "");
    }
}
