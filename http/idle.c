/*
 * idle.c - end requests that make no progress for too long.
 *
 * When a transfer makes progress, only the time is recorded. Each session has a single
 * timer. When the timer is due, the session checks all transfers for which a task is
 * waiting. Transfers that have made no progress for too long fail, and the timer is set
 * to the earliest time at which another transfer could fail. So the timer fires about
 * once per idle timeout, even if there are many transfers.
 *
 * A transfer that is waiting for a free connection is not idle, because libcurl has not
 * begun it yet.
 */
#include "idle.h"

#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>

/*
 * Return the time at which the transfer last made progress. With HTTP/2, bytes on the
 * connection may belong to another transfer, so after the headers only the bytes of the
 * transfer's own body count.
 */
static int64_t last_progress(const coil_http_response *response)
{
    int64_t event;

    if (coil_http_version(response) >= 20)
        return response->progress;
    event = coil__http_socket_last_event(&response->session->sockets, response->fd);
    return event > response->progress ? event : response->progress;
}

static int64_t add_time(int64_t time, int64_t span)
{
    return time < COIL_NEVER - span ? time + span : COIL_NEVER;
}

static const char *stalled_phase(const coil_http_response *response)
{
    bool tls = strncasecmp(response->url, "https:", 6) == 0;
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    curl_off_t encrypted = 0;

    if (response->has_headers)
        return "of the body";
    if (getpeername(response->fd, (struct sockaddr *)&peer, &length) != 0)
        return "while connecting";
    curl_easy_getinfo(response->easy, CURLINFO_APPCONNECT_TIME_T, &encrypted);
    return tls && encrypted == 0 ? "during the TLS handshake" : "of the response";
}

static void fail_idle(coil_http_response *response)
{
    snprintf(response->error, sizeof response->error, "received nothing %s for %g s",
             stalled_phase(response), (double)response->idle_timeout_ns / 1e9);
    response->explained = true;
    coil__http_fail(response, -ETIMEDOUT);
}

/*
 * Fail the transfer if it has been idle for too long. Otherwise return the time at which
 * it will have to fail if it makes no progress before then.
 */
static int64_t check_progress(coil_http_response *response, int64_t now)
{
    int64_t due;

    if (response->idle_timeout_ns == 0 || response->waiter == NULL || response->done)
        return COIL_NEVER;
    if (!response->begun)
        return add_time(now, response->idle_timeout_ns);
    due = add_time(last_progress(response), response->idle_timeout_ns);
    if (due > now)
        return due;
    fail_idle(response);
    return COIL_NEVER;
}

static int set_timer(coil_http_session *session, int64_t due)
{
    int rc = coil_timer_start(&session->idle_timer, due);

    if (rc == 0)
        session->idle_due = due;
    return rc;
}

static void on_timer(void *arg)
{
    coil_http_session *session = arg;
    int64_t now = coil_now(), earliest = COIL_NEVER, due;
    coil_http_response *response;
    int rc = 0;

    LIST_FOREACH(response, &session->running, link)
    {
        due = check_progress(response, now);
        earliest = due < earliest ? due : earliest;
    }
    if (earliest < COIL_NEVER)
        rc = set_timer(session, earliest);
    if (rc < 0)
        coil__http_fail_all(session, rc);
}

void coil__http_idle_init(coil_http_session *session)
{
    coil_timer_init(&session->idle_timer, on_timer, session);
}

int coil__http_idle_begin(coil_http_response *response)
{
    coil_http_session *session = response->session;
    int64_t due;

    if (response->idle_timeout_ns == 0)
        return 0;
    response->progress = coil_now();
    due = add_time(response->progress, response->idle_timeout_ns);
    if (coil_timer_started(&session->idle_timer) && session->idle_due <= due)
        return 0;
    return set_timer(session, due);
}

void coil__http_idle_note(coil_http_response *response)
{
    if (response->idle_timeout_ns > 0)
        response->progress = coil_now();
}

void coil__http_idle_finish(coil_http_session *session)
{
    coil_timer_stop(&session->idle_timer);
}
