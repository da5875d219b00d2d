/*
 * retry.c - see retry.h
 *
 * The crawler obeys Retry-After. If it would have to wait too long, it does not try
 * again, and the answer is final.
 */
#include "retry.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_PAUSE_NS COIL_MSEC(200)
#define LONGEST_PAUSE_NS COIL_SEC(30)
/*
 * The longest Retry-After after which a request is tried again. Servers that limit the
 * requests per minute send at most 60 s.
 */
#define LONGEST_OBEYED_NS COIL_SEC(60)
#define LONGEST_S 1000000000 /* limit of a delay, to prevent overflow */

static int64_t parse_seconds(const char *header)
{
    char *end;
    long seconds = strtol(header, &end, 10);

    if (end == header || end[strspn(end, " \t")] != '\0' || seconds < 0)
        return -1;
    return seconds;
}

/*
 * Parse a date in one of the three formats of HTTP. Returns the seconds since 1970, or -1
 * if the header is not a date. (RFC 9110, section 5.6.7)
 */
static int64_t parse_date(const char *header)
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
    int64_t seconds = parse_seconds(header);

    if (seconds < 0)
        seconds = parse_date(header) - now;
    if (seconds < 0)
        return 0;
    return COIL_SEC(seconds < LONGEST_S ? seconds : LONGEST_S);
}

bool retry_is_lack(int rc)
{
    return rc == -EMFILE || rc == -ENFILE || rc == -ENOBUFS;
}

/* True if the error of a request may be temporary. */
static bool is_temporary_failure(int rc)
{
    switch (rc) {
    case -ETIMEDOUT:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
    case -ENODATA:
    case -EAGAIN: /* temporary failure in name resolution */
        return true;
    default:
        return false;
    }
}

/*
 * True if an answer with a temporary status asks the crawler to slow down: its status is
 * 429 or 503, or it has a Retry-After header.
 */
static bool is_refusal(int status, int64_t retry_after_ns)
{
    return status == 429 || status == 503 || retry_after_ns > 0;
}

/*
 * True for statuses that may be temporary: the request came too slowly (408) or too early
 * (425), there were too many requests (429), or the server or a server behind it failed.
 * Cloudflare sends 520 to 524 instead of 502 and 504. 501 and 505 are permanent.
 */
static bool is_temporary_status(int status)
{
    return status == 408 || status == 425 || status == 429 || status == 500 ||
           (status >= 502 && status <= 504) || (status >= 520 && status <= 524);
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
        retry.again = is_temporary_failure(answer->rc) && !answer->is_late;
        return retry;
    }
    retry.again = is_temporary_status(answer->status) && !answer->is_challenge;
    if (retry.again && answer->retry_after != NULL)
        retry.host_ns = retry_after_header(answer->retry_after, now);
    retry.is_refusal = retry.again && is_refusal(answer->status, retry.host_ns);
    if (retry.host_ns > LONGEST_OBEYED_NS)
        retry = (struct retry){.is_refusal = true};
    return retry;
}
