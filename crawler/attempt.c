/*
 * attempt.c - what is worth another try, and when.
 *
 * The pauses double, from 0.2 s. A server that says when to come back is obeyed, unless
 * that takes too long: then what it said this time is what is reported. The worker sits
 * the pause out. So a server that can take no more is asked by fewer and fewer workers,
 * which is what it needs.
 */
#include "attempt.h"

#include <coil/scope.h>
#include <coil/task.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_PAUSE_NS COIL_MSEC(200)
#define LONGEST_PAUSE_NS COIL_SEC(30)

static int64_t seconds_of(const char *header)
{
    char *end;
    long seconds = strtol(header, &end, 10);

    if (end == header || end[strspn(end, " \t")] != '\0' || seconds < 0)
        return -1;
    return seconds < 1000000000 ? seconds : 1000000000;
}

int64_t attempt_retry_after(const char *header, int64_t now)
{
    struct tm date = {0};
    int64_t seconds = seconds_of(header);

    if (seconds >= 0)
        return COIL_SEC(seconds);
    if (strptime(header, "%a, %d %b %Y %H:%M:%S GMT", &date) == NULL)
        return 0;
    seconds = (int64_t)timegm(&date) - now;
    if (seconds < 0)
        return 0;
    return COIL_SEC(seconds < 1000000000 ? seconds : 1000000000);
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

/* Too many requests, or trouble inside the server or behind it; 501 and 505 are final. */
static bool is_passing_status(int status)
{
    return status == 429 || status == 500 || (status >= 502 && status <= 504);
}

static int try_once(const struct attempt_options *options, coil_http_session *session,
                    const char *url, struct answer *answer)
{
    coil_scope scope;
    int rc;

    *answer = (struct answer){.status = 0};
    rc = coil_scope_enter(&scope, coil_in(options->timeout_ns));
    if (rc < 0)
        return rc;
    rc = answer_get(answer, session, url, options->body_limit, options->wanted);
    rc = coil_scope_exit(&scope, rc);
    if (rc == -ETIMEDOUT)
        snprintf(answer->error, sizeof answer->error, "no answer within %g s",
                 (double)options->timeout_ns / 1e9);
    return rc;
}

/* How long to wait before the next try; below 0 if there should be none. */
static int64_t pause_after(const struct answer *answer, int rc, int64_t pause_ns)
{
    int64_t asked_ns = 0;

    if (rc < 0)
        return is_passing_failure(rc) ? pause_ns : -1;
    if (!is_passing_status(answer->status))
        return -1;
    if (answer->retry_after != NULL)
        asked_ns = attempt_retry_after(answer->retry_after, time(NULL));
    if (asked_ns > LONGEST_PAUSE_NS)
        return -1;
    return asked_ns > pause_ns ? asked_ns : pause_ns;
}

static int64_t longer(int64_t pause_ns)
{
    return pause_ns < LONGEST_PAUSE_NS / 2 ? 2 * pause_ns : LONGEST_PAUSE_NS;
}

int attempt_get(const struct attempt_options *options, coil_http_session *session,
                const char *url, struct answer *answer, unsigned *tries)
{
    int64_t usual_ns = FIRST_PAUSE_NS;

    for (*tries = 1;; ++*tries, usual_ns = longer(usual_ns)) {
        int rc = try_once(options, session, url, answer);
        int64_t pause_ns = pause_after(answer, rc, usual_ns);
        if (pause_ns < 0 || *tries >= options->max_tries)
            return rc;
        answer_finish(answer);
        rc = coil_sleep(pause_ns);
        if (rc < 0)
            return rc;
    }
}
