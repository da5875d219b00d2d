#include "../../../../crawler/fetch/retry.h"
#include "../../../harness/harness.h"

#include <errno.h>

/* 06 Nov 1994 08:49:37 GMT, the date in the examples of RFC 9110, in Unix time. */
#define THEN 784111777

TEST(retry_after_header_in_seconds)
{
    CHECK_INT(retry_after_header("0", THEN), 0);
    CHECK_INT(retry_after_header("120", THEN), COIL_SEC(120));
    CHECK_INT(retry_after_header(" 7 ", THEN), COIL_SEC(7));
    CHECK_INT(retry_after_header("99999999999999999999999", THEN), COIL_SEC(1000000000));
}

TEST(retry_after_header_a_date)
{
    CHECK_INT(retry_after_header("Sun, 06 Nov 1994 08:49:47 GMT", THEN), COIL_SEC(10));
    CHECK_INT(retry_after_header("Sun, 06 Nov 1994 08:49:37 GMT", THEN), 0);
    CHECK_INT(retry_after_header("Sun, 06 Nov 1994 08:49:27 GMT", THEN), 0);
}

TEST(retry_after_header_a_date_of_old)
{
    CHECK_INT(retry_after_header("Sunday, 06-Nov-94 08:49:47 GMT", THEN), COIL_SEC(10));
    CHECK_INT(retry_after_header("Sun Nov  6 08:49:47 1994", THEN), COIL_SEC(10));
    CHECK_INT(retry_after_header("Sun Nov 16 08:49:37 1994", THEN),
              COIL_SEC(10 * 24 * 3600));
}

TEST(retry_after_header_a_date_far_away)
{
    CHECK_INT(retry_after_header("Fri, 31 Dec 9999 23:59:59 GMT", THEN),
              COIL_SEC(1000000000));
    CHECK_INT(retry_after_header("Thu, 01 Jan 0001 00:00:00 GMT", THEN), 0);
}

TEST(retry_after_header_nonsense)
{
    CHECK_INT(retry_after_header("", THEN), 0);
    CHECK_INT(retry_after_header("-5", THEN), 0);
    CHECK_INT(retry_after_header("soon", THEN), 0);
    CHECK_INT(retry_after_header("5 minutes", THEN), 0);
}

static struct retry retry_of(struct answer answer, unsigned tries)
{
    return retry_after(&answer, tries, THEN);
}

TEST(retry_of_statuses)
{
    for (int status = 200; status < 600; status++) {
        struct retry retry = retry_of((struct answer){.status = status}, 1);
        CHECK_INT(retry.again, status == 408 || status == 425 || status == 429 ||
                                   status == 500 || (status >= 502 && status <= 504) ||
                                   (status >= 520 && status <= 524));
        CHECK_INT(retry.host_ns, 0);
    }
}

TEST(retry_of_failures)
{
    static const int passing[] = {-ETIMEDOUT,   -ECONNREFUSED, -ECONNRESET, -EHOSTUNREACH,
                                  -ENETUNREACH, -ENODATA,      -EAGAIN};
    static const int final[] = {-ENOENT, -EPROTO,   -EKEYREJECTED,
                                -EACCES, -EMSGSIZE, -EBADMSG};

    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        CHECK(retry_of((struct answer){.rc = passing[i]}, 1).again);
    for (size_t i = 0; i < sizeof final / sizeof final[0]; i++)
        CHECK(!retry_of((struct answer){.rc = final[i]}, 1).again);
    CHECK(!retry_of((struct answer){.rc = -ETIMEDOUT, .is_late = true}, 1).again);
}

/* No route to the host is not a lack: other hosts may be reachable. */
TEST(retry_lack_is_not_a_failure_of_the_page)
{
    static const int lacks[] = {-EMFILE, -ENFILE, -ENOBUFS};
    static const int others[] = {0, -ENETUNREACH, -EHOSTUNREACH, -ETIMEDOUT, -ENOENT};

    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        CHECK(retry_is_lack(lacks[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(!retry_is_lack(others[i]));
}

TEST(retry_pauses_double_up_to_half_a_minute)
{
    static const int64_t pauses_ms[] = {200,  400,   800,   1600,  3200,
                                        6400, 12800, 25600, 30000, 30000};

    for (unsigned tries = 1; tries <= 10; tries++)
        CHECK_INT(retry_of((struct answer){.status = 500}, tries).pause_ns,
                  COIL_MSEC(pauses_ms[tries - 1]));
    CHECK_INT(retry_of((struct answer){.status = 500}, 255).pause_ns, COIL_SEC(30));
}

TEST(retry_obeys_the_server_for_a_minute)
{
    struct retry retry = retry_of((struct answer){.status = 503, .retry_after = "60"}, 1);

    CHECK(retry.again);
    CHECK_INT(retry.host_ns, COIL_SEC(60));
    retry = retry_of((struct answer){.status = 503, .retry_after = "61"}, 1);
    CHECK(!retry.again);
    CHECK_INT(retry.host_ns, 0);
    retry = retry_of((struct answer){.status = 200, .retry_after = "3"}, 1);
    CHECK(!retry.again);
    CHECK_INT(retry.host_ns, 0);
}

TEST(retry_of_a_challenge_would_get_the_same)
{
    CHECK(!retry_of((struct answer){.status = 503, .is_challenge = true}, 1).again);
}
