/*
 * response.c - a request from its sending to the last byte of its answer.
 *
 *     prepared --start--> RUNNING --on_header--> has_headers --end--> done
 *                                       |   ^
 *                        buffer full:   v   |  coil_http_read() has emptied it
 *                                      paused
 *
 * libcurl pushes, the caller pulls. Between them is a buffer of fixed size: what libcurl
 * receives is copied there until it is full, then the transfer is paused, and the peer
 * waits in TCP. A response that nobody reads costs that buffer and no time.
 *
 * Invariants
 *   1. At most one task waits (`waiter`): the one in coil_http_get() until there are
 *      headers, later the one in coil_http_read().
 *   2. A failure is told after the bytes that came before it, and from then on each time.
 *   3. Whatever way a transfer ends, coil__http_stop() takes it from libcurl, once.
 *
 * Where to start reading: coil_http_get(), send_step(), coil_http_read().
 */
#include "failure.h"
#include "request.h"
#include "session.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

/* libcurl hands over at most 16 KiB at a time, which must fit into an empty one. */
#define BUFFER_BYTES ((size_t)64 * 1024)
_Static_assert(BUFFER_BYTES >= CURL_MAX_WRITE_SIZE, "a chunk must fit");

/* The body of a redirect is worth reading up to here, to keep the connection. */
#define REDIRECT_BYTES ((size_t)16 * 1024)

/* ---- called by libcurl ------------------------------------------------------------- */

/*
 * CURLOPT_HEADERFUNCTION. An empty line ends the headers, of an interim response (1xx)
 * too. Trailers come by here as well, when all is long known.
 */
static size_t on_header(char *line, size_t one, size_t n, void *arg)
{
    coil_http_response *response = arg;
    long status = 0;

    (void)one;
    if (n > 2 || (line[0] != '\r' && line[0] != '\n'))
        return n;
    curl_easy_getinfo(response->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200) {
        response->has_headers = true;
        coil__http_wake(response);
    }
    return n;
}

static size_t refuse(coil_http_response *response, int rc)
{
    response->failure = rc;
    return 0;
}

/* Make room for n bytes, if there is enough. */
static bool make_room(coil_http_response *response, size_t n)
{
    size_t held = response->end - response->begin;

    if (BUFFER_BYTES - held < n)
        return false;
    if (BUFFER_BYTES - response->end < n) {
        memmove(response->buffer, response->buffer + response->begin, held);
        response->begin = 0;
        response->end = held;
    }
    return true;
}

/* CURLOPT_WRITEFUNCTION: anything but n or PAUSE ends the transfer. */
static size_t on_body(char *bytes, size_t one, size_t n, void *arg)
{
    coil_http_response *response = arg;
    size_t limit = response->body_limit;

    (void)one;
    if (limit > 0 && n > limit - response->body_bytes)
        return refuse(response, -EMSGSIZE);
    if (response->buffer == NULL)
        response->buffer = malloc(BUFFER_BYTES);
    if (response->buffer == NULL)
        return refuse(response, -ENOMEM);
    if (!make_room(response, n)) {
        response->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    memcpy(response->buffer + response->end, bytes, n);
    response->end += n;
    response->body_bytes += n;
    coil__http_wake(response);
    return n;
}

/* ---- sending ----------------------------------------------------------------------- */

/* Suspend until something happens to the response. */
static int wait_for_news(coil_http_response *response)
{
    int rc;

    response->waiter = coil_task_current();
    rc = coil_park();
    response->waiter = NULL;
    return rc;
}

/* Make it as if nothing had been sent. */
static void rewind_response(coil_http_response *response)
{
    coil__http_stop(response);
    curl_easy_cleanup(response->easy);
    curl_slist_free_all(response->headers);
    response->easy = NULL;
    response->headers = NULL;
    response->begin = response->end = response->body_bytes = 0;
    response->code = CURLE_OK;
    response->failure = response->socket_errno = 0;
    response->has_headers = response->paused = response->done = false;
    response->name_wanted = response->given_up = false;
    response->error[0] = '\0';
}

static void forget_names(coil_http_response *response)
{
    curl_slist_free_all(response->addresses);
    response->addresses = NULL;
    response->may_resolve = false;
}

/* Hand it to libcurl and wait for the headers, or the end if that comes first. */
static int perform(coil_http_response *response, const coil_http_request *request,
                   const struct http_step *step)
{
    int rc = coil__http_prepare(response, request, step);

    if (rc < 0)
        return rc;
    curl_easy_setopt(response->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(response->easy, CURLOPT_HEADERDATA, response);
    curl_easy_setopt(response->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(response->easy, CURLOPT_WRITEDATA, response);
    rc = coil__http_start(response);
    while (rc == 0 && !response->has_headers && !response->done)
        rc = wait_for_news(response);
    if (rc == 0 && !response->has_headers)
        rc = coil__http_outcome(response);
    return rc;
}

static int send_step(coil_http_response *response, const coil_http_request *request,
                     const struct http_step *step)
{
    struct http_target target;
    int rc = coil__http_target_parse(&target, response->url);

    coil__http_target_finish(&target);
    if (rc == 0)
        rc = coil__http_look_up(response, false);
    if (rc == 0)
        rc = perform(response, request, step);
    if (!response->name_wanted || rc == -ECANCELED)
        return rc;
    rewind_response(response);
    rc = coil__http_look_up(response, true);
    return rc == 0 ? perform(response, request, step) : rc;
}

/* ---- redirects --------------------------------------------------------------------- */

static bool is_redirect(const coil_http_response *response)
{
    int status = coil_http_status(response);

    return (status == 301 || status == 302 || status == 303 || status == 307 ||
            status == 308) &&
           coil_http_header(response, "Location") != NULL;
}

/* A redirect is worth following even if its body, which nobody wants, is broken. */
static int pass_over_body(coil_http_response *response)
{
    int rc = coil_http_discard(response, REDIRECT_BYTES);

    return rc == -ECANCELED || rc == -ESHUTDOWN ? rc : 0;
}

static int turn_to_next(coil_http_response *response, const coil_http_request *request,
                        struct http_step *step)
{
    int status = coil_http_status(response), rc;
    char *url = NULL;

    if (response->redirects >= request->max_redirects)
        return -ELOOP;
    rc = coil__http_resolve(response->url, coil_http_header(response, "Location"), &url);
    if (rc == 0)
        rc = pass_over_body(response);
    if (rc < 0) {
        free(url);
        return rc == -EINVAL ? -EPROTO : rc;
    }
    *step =
        coil__http_next_step(*step, status, coil__http_same_origin(response->url, url));
    rewind_response(response);
    forget_names(response);
    free(response->url);
    response->url = url;
    response->redirects++;
    return 0;
}

/* ---- requests ---------------------------------------------------------------------- */

static coil_http_response *create(coil_http_session *session,
                                  const coil_http_request *request)
{
    coil_http_response *response = calloc(1, sizeof *response);

    if (response == NULL)
        return NULL;
    response->session = session;
    coil__http_session_hold(session);
    response->body_limit = request->body_limit;
    response->url = strdup(request->url != NULL ? request->url : "");
    if (response->url != NULL)
        return response;
    coil_http_response_destroy(response);
    return NULL;
}

int coil_http_get(coil_http_session *session, const coil_http_request *request,
                  coil_http_response **out)
{
    coil_http_response *response = *out = create(session, request);
    struct http_step step = coil__http_first_step(request);
    int rc;

    if (response == NULL)
        return -ENOMEM;
    rc = coil__http_request_check(request);
    if (rc == 0)
        rc = send_step(response, request, &step);
    while (rc == 0 && request->max_redirects > 0 && is_redirect(response)) {
        rc = turn_to_next(response, request, &step);
        if (rc == 0)
            rc = send_step(response, request, &step);
    }
    return rc < 0 ? coil__http_give_up(response, rc) : 0;
}

void coil_http_response_destroy(coil_http_response *response)
{
    if (response == NULL)
        return;
    rewind_response(response);
    forget_names(response);
    coil__http_session_drop(response->session);
    free(response->buffer);
    free(response->url);
    free(response);
}

/* ---- the body ---------------------------------------------------------------------- */

/* The buffer is empty: have libcurl fill it. It may begin to before this returns. */
static void resume(coil_http_response *response)
{
    CURLcode code;

    response->paused = false;
    code = curl_easy_pause(response->easy, CURLPAUSE_CONT);
    if (code == CURLE_OK || response->done)
        return;
    response->code = code;
    response->done = true;
}

/* Returns 1 if there is some of the body, 0 at its end, or what it failed with. */
static int wait_for_body(coil_http_response *response)
{
    int rc = 0;

    while (response->begin == response->end && rc == 0) {
        if (response->done)
            break;
        if (response->paused)
            resume(response);
        else
            rc = wait_for_news(response);
    }
    if (response->begin < response->end && rc == 0)
        return 1;
    if (rc == 0)
        rc = coil__http_outcome(response);
    return rc < 0 ? coil__http_give_up(response, rc) : 0;
}

static int wait_alone_for_body(coil_http_response *response)
{
    int rc;

    if (response->reading)
        return -EBUSY;
    response->reading = true;
    rc = wait_for_body(response);
    response->reading = false;
    return rc;
}

ssize_t coil_http_read(coil_http_response *response, void *buf, size_t n)
{
    size_t held;
    int rc = n > 0 ? wait_alone_for_body(response) : 0;

    if (rc <= 0)
        return rc;
    held = response->end - response->begin;
    if (n > held)
        n = held;
    memcpy(buf, response->buffer + response->begin, n);
    response->begin += n;
    return (ssize_t)n;
}

int coil_http_read_all(coil_http_response *response, char **body, size_t *n)
{
    size_t capacity = 0, used = 0;
    char *bytes = NULL;
    ssize_t got = 1;

    *body = NULL;
    *n = 0;
    while (got > 0) {
        if (capacity - used < 2) {
            char *longer = realloc(bytes, capacity = capacity > 0 ? 2 * capacity : 8192);
            if (longer == NULL) {
                got = -ENOMEM;
                break;
            }
            bytes = longer;
        }
        got = coil_http_read(response, bytes + used, capacity - used - 1);
        used += got > 0 ? (size_t)got : 0;
    }
    if (got < 0) {
        free(bytes);
        return (int)got;
    }
    bytes[used] = '\0';
    *body = bytes;
    *n = used;
    return 0;
}

int coil_http_discard(coil_http_response *response, size_t n)
{
    int64_t announced = coil_http_content_length(response);
    size_t forgotten = 0;
    int rc = 1;

    while (rc > 0 && forgotten <= n && (announced < 0 || (uint64_t)announced <= n)) {
        rc = wait_alone_for_body(response);
        forgotten += response->end - response->begin;
        response->begin = response->end;
    }
    if (rc <= 0)
        return rc;
    coil__http_stop(response);
    response->begin = response->end;
    response->done = true;
    return 0;
}

/* ---- what there is to know --------------------------------------------------------- */

int coil_http_status(const coil_http_response *response)
{
    long status = 0;

    if (response->easy != NULL && response->has_headers)
        curl_easy_getinfo(response->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

int coil_http_version(const coil_http_response *response)
{
    long version = 0;

    if (response->easy != NULL && response->has_headers)
        curl_easy_getinfo(response->easy, CURLINFO_HTTP_VERSION, &version);
    switch (version) {
    case CURL_HTTP_VERSION_1_0:
        return 10;
    case CURL_HTTP_VERSION_1_1:
        return 11;
    case CURL_HTTP_VERSION_2_0:
        return 20;
    default:
        return 0;
    }
}

const char *coil_http_header_at(const coil_http_response *response, const char *name,
                                size_t index)
{
    struct curl_header *header;

    if (response->easy == NULL || !response->has_headers ||
        curl_easy_header(response->easy, name, index, CURLH_HEADER, -1, &header) !=
            CURLHE_OK)
        return NULL;
    return header->value;
}

const char *coil_http_header(const coil_http_response *response, const char *name)
{
    return coil_http_header_at(response, name, 0);
}

int64_t coil_http_content_length(const coil_http_response *response)
{
    curl_off_t announced = -1;

    if (response->easy != NULL && response->has_headers)
        curl_easy_getinfo(response->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    return announced;
}

int64_t coil_http_body_bytes(const coil_http_response *response)
{
    curl_off_t bytes = 0;

    if (response->easy != NULL)
        curl_easy_getinfo(response->easy, CURLINFO_SIZE_DOWNLOAD_T, &bytes);
    return bytes;
}

int64_t coil_http_received_bytes(const coil_http_response *response)
{
    long headers = 0;

    if (response->easy != NULL)
        curl_easy_getinfo(response->easy, CURLINFO_HEADER_SIZE, &headers);
    return coil_http_body_bytes(response) + headers;
}

const char *coil_http_url(const coil_http_response *response)
{
    return response->url;
}

unsigned coil_http_redirect_count(const coil_http_response *response)
{
    return response->redirects;
}

const char *coil_http_error(const coil_http_response *response)
{
    if (response == NULL)
        return strerror(ENOMEM);
    return response->failure < 0 ? response->error : "";
}
