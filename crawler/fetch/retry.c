/*
 * retry.c - decide which answers are worth another try, and when.
 *
 * The pause of a Retry-After is obeyed if it is not too long. Otherwise this answer is
 * reported.
 */
#include "retry.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_PAUSE_NS COIL_MSEC(200)
#define LONGEST_PAUSE_NS COIL_SEC(30)
#define LONGEST_OBEYED_NS                                                                \
    COIL_SEC(60) /* of a Retry-After; what limits by the minute asks for that */
#define LONGEST_S 1000000000 /* that a header is believed */

static int64_t seconds_of(const char *header)
{
    char *end;
    long seconds = strtol(header, &end, 10);

    if (end == header || end[strspn(end, " \t")] != '\0' || seconds < 0)
        return -1;
    return seconds;
}

/* Parse a date in one of HTTP's three forms, of which two are obsolete; -1 if it is not
   a date. (RFC 9110, section 5.6.7) */
static int64_t time_of(const char *header)
{
    static const char *const forms[] = {
        "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm date = {0};
        if (strptime(header, forms[i], &date) != NULL)
            return timegm(&date);
    }
    return -1;
}

int64_t retry_after_header(const char *header, int64_t now)
{
    int64_t seconds = seconds_of(header);

    if (seconds < 0)
        seconds = time_of(header) - now;
    if (seconds < 0)
        return 0;
    return COIL_SEC(seconds < LONGEST_S ? seconds : LONGEST_S);
}

/* The network may do better next time. */
static bool is_passing_failure(int rc)
{
    switch (rc) {
    case -ETIMEDOUT:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
    case -ENODATA:
    case -EMFILE:
    case -ENFILE:
    case -EAGAIN: /* of a name */
        return true;
    default:
        return false;
    }
}

/* 429 and 503 ask to slow down, as 500, 502 and 504 do if they say for how long. */
static bool is_refusal(int status, int64_t retry_after_ns)
{
    return status == 429 || status == 503 || retry_after_ns > 0;
}

/* Too many requests, or trouble inside the server or behind it; 501 and 505 are final. */
static bool is_passing_status(int status)
{
    return status == 429 || status == 500 || (status >= 502 && status <= 504);
}

static int64_t pause_before(unsigned tries)
{
    unsigned doublings = tries - 1 < 8 ? tries - 1 : 8;
    int64_t pause_ns = FIRST_PAUSE_NS << doublings;

    return pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
}

struct retry retry_after(const struct answer *answer, unsigned tries, int64_t now)
{
    struct retry retry = {.pause_ns = pause_before(tries)};

    if (answer->rc < 0) {
        retry.again = is_passing_failure(answer->rc) && !answer->is_late;
        return retry;
    }
    retry.again = is_passing_status(answer->status) && !answer->is_challenge;
    if (retry.again && answer->retry_after != NULL)
        retry.host_ns = retry_after_header(answer->retry_after, now);
    retry.is_refusal = retry.again && is_refusal(answer->status, retry.host_ns);
    if (retry.host_ns > LONGEST_OBEYED_NS)
        retry = (struct retry){.is_refusal = true};
    return retry;
}
