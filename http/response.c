/*
 * response.c - send a request, and receive its response up to the last byte.
 *
 *     prepared --start--> RUNNING --on_header--> has_headers --end--> done
 *                                       |   ^
 *                        buffer full:   v   |  coil_http_read() has emptied it
 *                                      paused
 *
 * libcurl pushes data, but the caller pulls it, so received data is copied to a buffer of
 * fixed size between the two. While the buffer is full, the transfer is paused, and TCP
 * flow control stops the peer. A response that no task reads takes memory, but no
 * processor time.
 *
 * A request with on_body does not use a buffer, and is never paused. on_body receives the
 * bytes in libcurl's memory, and the task waits in coil_http_get() until the body ends.
 * Only the body of a redirect is copied to the buffer, and then dropped.
 *
 * Invariants
 * 1. At most one task waits (`waiter`): first the task in coil_http_get(), later the task
 *    in coil_http_read().
 * 2. After a failure, reads first return the bytes that arrived before it; then every
 *    call returns the failure.
 * 3. However a transfer ends, coil__http_stop() removes it from libcurl exactly once.
 *
 * Start reading at coil_http_get(), send_step() and coil_http_read().
 */
#include "body.h"
#include "coding.h"
#include "failure.h"
#include "easy.h"
#include "idle.h"
#include "request.h"
#include "session.h"
#include "target.h"

#include <coil/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* libcurl passes at most 16 KiB at a time, which must fit into an empty buffer. */
_Static_assert(BUFFER_BYTES >= CURL_MAX_WRITE_SIZE, "a chunk must fit");

/*
 * The body of a redirect is read up to this size, so that the connection can be reused.
 */
#define REDIRECT_BYTES ((size_t)16 * 1024)

static bool is_redirect(const coil_http_response *response)
{
    int status = coil_http_status(response);

    return (status == 301 || status == 302 || status == 303 || status == 307 ||
            status == 308) &&
           coil_http_header(response, "Location") != NULL;
}

/* Return true if the body is passed to the request's on_body. */
static bool goes_to_on_body(const coil_http_response *response)
{
    return response->on_body != NULL && !response->redirected;
}

/* ---- the set of header names ------------------------------------------------------- */

#define BEGINNING ((size_t)4)

/*
 * Return the bit of a header's name in response->header_names, computed from a
 * case-insensitive hash of the first four letters. Because libcurl's search examines all
 * headers, and most headers that programs look up are missing, coil_http_header() tests
 * this bit first.
 */
static uint64_t bit_of_name(const char *name)
{
    uint32_t letters;

    memcpy(&letters, name, BEGINNING);
    return UINT64_C(1) << (((letters | 0x20202020u) * 2654435761u) >> 26);
}

static bool may_have_header(const coil_http_response *response, const char *name)
{
    return strnlen(name, BEGINNING) < BEGINNING ||
           (response->header_names & bit_of_name(name)) != 0;
}

/* ---- lengths ----------------------------------------------------------------------- */

static size_t refuse_response(coil_http_response *response, int rc)
{
    response->failure = rc;
    return 0;
}

/*
 * True if every number in `value`, the value of a Content-Length, consists of the first n
 * digits of `length`.
 */
static bool repeats_length(const char *value, const char *length, size_t n)
{
    for (; *value != '\0'; value += strspn(value, ", \t")) {
        if (strspn(value, "0123456789") != n || memcmp(value, length, n) != 0)
            return false;
        value += n;
    }
    return true;
}

/*
 * True if the headers contain different or malformed lengths. libcurl accepts such
 * headers, but it is not clear where the body ends and the next response begins. (RFC
 * 9112, 6.3)
 */
static bool lengths_differ(const coil_http_response *response)
{
    const char *length = coil_http_header(response, "Content-Length"), *value = length;
    size_t n = length != NULL ? strspn(length, "0123456789") : 0;

    for (size_t i = 1; value != NULL; i++) {
        if (n == 0 || !repeats_length(value, length, n))
            return true;
        value = coil_http_header_at(response, "Content-Length", i);
    }
    return false;
}

/*
 * Record a Content-Length. If there is more than one such line, or its value contains
 * anything but digits, set lengths_doubtful, so that lengths_differ() is called later.
 */
static void note_length(coil_http_response *response, const char *line)
{
    line += strlen("content-length:");
    line += strspn(line, " \t");
    line += strspn(line, "0123456789");
    if (response->has_length || (*line != '\r' && *line != '\n'))
        response->lengths_doubtful = true;
    response->has_length = true;
}

/* Record whether the line is a Content-Length or a Content-Encoding. */
static void note_header(coil_http_response *response, const char *line)
{
    if ((line[0] | 0x20) != 'c')
        return;
    if (strncasecmp(line, "content-length:", strlen("content-length:")) == 0)
        note_length(response, line);
    else if (strncasecmp(line, "content-encoding", strlen("content-encoding")) == 0)
        response->has_coding = true;
}

/* ---- content codings --------------------------------------------------------------- */

static bool has_unknown_coding(const coil_http_response *response)
{
    const char *name;

    for (size_t i = 0;
         (name = coil_http_header_at(response, "Content-Encoding", i)) != NULL; i++)
        for (name += strspn(name, ", \t"); *name != '\0'; name += strspn(name, ", \t")) {
            size_t n = strcspn(name, ", \t");
            if (!coil__http_can_decode(name, n))
                return true;
            name += n;
        }
    return false;
}

/*
 * If the body has an unknown coding, such as "Content-Encoding: utf-8", do not decode it,
 * as in browsers. (Fetch: handle content codings) Otherwise libcurl would fail at the
 * first byte of the body. libcurl reads the option only then, so it can still be set
 * here.
 */
static void leave_unknown_coding(coil_http_response *response)
{
    if (!response->has_coding || response->handle->is_not_decoded ||
        !has_unknown_coding(response))
        return;
    response->handle->is_raw = true;
    curl_easy_setopt(response->easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
}

/* ---- called by libcurl ------------------------------------------------------------- */

/*
 * CURLOPT_HEADERFUNCTION. An empty line ends the headers, including those of an interim
 * response (1xx). libcurl also passes trailers to this function, after the body.
 */
static size_t on_header(char *line, size_t one, size_t n, void *arg)
{
    coil_http_response *response = ((struct http_easy *)arg)->response;
    long status = 0;

    (void)one;
    if (n > 2 || (line[0] != '\r' && line[0] != '\n')) {
        if (n >= BEGINNING)
            response->header_names |= bit_of_name(line);
        note_header(response, line);
        return n;
    }
    curl_easy_getinfo(response->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status == 101) /* "Switching Protocols", which no request asks for */
        return refuse_response(response, -EPROTO);
    if (status < 200)
        return n;
    response->has_headers = true;
    if (response->lengths_doubtful && lengths_differ(response)) {
        response->has_headers = false;
        return refuse_response(response, -EPROTO);
    }
    leave_unknown_coding(response);
    response->redirected = response->max_redirects > 0 && is_redirect(response);
    if (!goes_to_on_body(response))
        coil__http_wake(response);
    return n;
}

/*
 * Make room for n more bytes at the end of the buffer. Returns false if the bytes do not
 * fit.
 */
static bool make_room_for_body(coil_http_response *response, size_t n)
{
    size_t held = response->end - response->begin;

    if (BUFFER_BYTES - held < n)
        return false;
    if (BUFFER_BYTES - response->end < n) {
        memmove(response->buffer->bytes, response->buffer->bytes + response->begin, held);
        response->begin = 0;
        response->end = held;
    }
    return true;
}

/*
 * Record that on_body has failed. If on_body called coil_fail(), its error becomes the
 * cause of the request's failure. That error belongs to the thread rather than to a task,
 * because on_body runs in a callback of the loop.
 */
static void note_on_body_failed(coil_http_response *response, int rc)
{
    coil_error *said = coil_last_error();

    response->on_body_failed = true;
    if (said != NULL && coil_error_rc(said) == rc)
        response->on_body_error = coil_error_retain(said);
    coil_clear_error();
}

/* Pass a piece of the body to on_body. */
static size_t pass_to_on_body(coil_http_response *response, const char *bytes, size_t n)
{
    int rc = response->failure;

    if (rc == 0) {
        coil_clear_error();
        rc = response->on_body(response, bytes, n, response->on_body_arg);
        if (rc < 0)
            note_on_body_failed(response, rc);
    }
    return rc < 0 ? refuse_response(response, rc) : n;
}

/* Store a piece of the body for coil_http_read(). */
static size_t store_body(coil_http_response *response, const char *bytes, size_t n)
{
    if (response->buffer == NULL)
        response->buffer = coil__http_buffer_take(response->session);
    if (response->buffer == NULL)
        return refuse_response(response, -ENOMEM);
    if (!make_room_for_body(response, n)) {
        response->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    memcpy(response->buffer->bytes + response->end, bytes, n);
    response->end += n;
    coil__http_wake(response);
    return n;
}

/* CURLOPT_WRITEFUNCTION. A result other than n and CURL_WRITEFUNC_PAUSE ends the
   transfer. */
static size_t on_bytes(char *bytes, size_t one, size_t n, void *arg)
{
    coil_http_response *response = ((struct http_easy *)arg)->response;
    size_t limit = response->body_limit, taken;

    (void)one;
    coil__http_idle_note(response);
    if (limit > 0 && n > limit - response->body_bytes)
        return refuse_response(response, -EMSGSIZE);
    taken = goes_to_on_body(response) ? pass_to_on_body(response, bytes, n)
                                      : store_body(response, bytes, n);
    response->body_bytes += taken == n ? n : 0;
    return taken;
}

void coil__http_response_apply(struct http_easy *handle)
{
    curl_easy_setopt(handle->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(handle->easy, CURLOPT_HEADERDATA, handle);
    curl_easy_setopt(handle->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(handle->easy, CURLOPT_WRITEDATA, handle);
}

/* ---- sending ----------------------------------------------------------------------- */

/* Suspend until coil__http_wake() is called for the response. */
static int wait_for_wake(coil_http_response *response)
{
    int rc = coil__http_idle_begin(response);

    if (rc < 0)
        return rc;
    response->waiter = coil_task_current();
    rc = coil_park();
    response->waiter = NULL;
    return rc;
}

/* Reset the response for another request. */
static void rewind_response(coil_http_response *response)
{
    coil__http_stop(response);
    coil__http_easy_give_back(response);
    curl_slist_free_all(response->headers);
    response->headers = NULL;
    free(response->cookies);
    response->cookies = NULL;
    response->begin = response->end = response->body_bytes = 0;
    response->code = CURLE_OK;
    response->failure = response->socket_errno = 0;
    response->has_headers = response->paused = response->done = false;
    response->name_wanted = response->given_up = response->url_is_valid = false;
    response->begun = response->explained = response->redirected = false;
    response->had_socket = false;
    response->on_body_failed = response->has_coding = false;
    response->has_length = response->lengths_doubtful = false;
    coil_error_release(response->on_body_error);
    response->on_body_error = NULL;
    response->header_names = 0;
    response->fd = CURL_SOCKET_BAD;
    response->error[0] = '\0';
}

static void forget_names(coil_http_response *response)
{
    curl_slist_free_all(response->addresses);
    coil__http_name_release(response->name);
    response->addresses = NULL;
    response->name = NULL;
    response->may_resolve = response->trusted = false;
}

/* True if coil_http_get() may return: the headers have arrived or, for on_body, the
   transfer has ended. */
static bool is_answered(const coil_http_response *response)
{
    return response->done || (response->has_headers && !goes_to_on_body(response));
}

/* Start the transfer, and wait until is_answered() is true. */
static int perform(coil_http_response *response, const coil_http_request *request,
                   const struct http_step *step)
{
    int rc = coil__http_prepare(response, request, step);

    if (rc < 0)
        return rc;
    rc = coil__http_start(response);
    while (rc == 0 && !is_answered(response))
        rc = wait_for_wake(response);
    if (rc == 0 && (!response->has_headers || goes_to_on_body(response)))
        rc = coil__http_outcome(response);
    return rc;
}

/*
 * Send the request. If libcurl lacks an address, look it up and send the request again.
 * libcurl lacks an address if it has dropped the name from its cache, or if it needs the
 * address of the host in spite of a proxy.
 */
static int send_step(coil_http_response *response, const coil_http_request *request,
                     const struct http_step *step)
{
    bool all = false, directly = false, had_all;
    int rc;

    for (;;) {
        rc = coil__http_look_up(response, directly, all);
        if (rc == 0)
            rc = perform(response, request, step);
        if (!response->name_wanted || rc == -ECANCELED || directly)
            break;
        had_all = !response->trusted;
        rewind_response(response);
        forget_names(response);
        directly = had_all;
        all = true;
    }
    if (response->has_headers && response->addresses != NULL)
        response->name->given = response->name_version;
    if (rc == -EINVAL && response->code == CURLE_URL_MALFORMAT)
        coil__http_check_url(response); /* sets the message */
    return rc;
}

/* ---- redirects --------------------------------------------------------------------- */

/*
 * Skip the body of a redirect. If receiving the body fails, the redirect is still
 * followed, unless the task was cancelled or the session was destroyed.
 */
static int skip_redirect_body(coil_http_response *response)
{
    int rc;

    response->skipping_body = true;
    rc = coil_http_discard(response, REDIRECT_BYTES);
    response->skipping_body = false;
    return rc == -ECANCELED || rc == -ESHUTDOWN ? rc : 0;
}

static int follow_redirect(coil_http_response *response, struct http_step *step)
{
    int status = coil_http_status(response), same_origin = 0, rc;
    const char *why;
    char *url = NULL;

    if (response->redirects >= response->max_redirects)
        return -ELOOP;
    rc = coil__http_resolve(response->url, coil_http_header(response, "Location"), &url,
                            &why);
    if (rc == -EINVAL) {
        snprintf(response->error, sizeof response->error,
                 "the redirect's Location is not a URL: %s", why);
        return -EPROTO;
    }
    if (rc == 0)
        rc = same_origin = coil__http_same_origin(response->url, url);
    if (rc >= 0)
        rc = skip_redirect_body(response);
    if (rc < 0) {
        free(url);
        return rc;
    }
    *step = coil__http_next_step(*step, status, same_origin > 0);
    rewind_response(response);
    forget_names(response);
    free(response->url);
    response->url = url;
    response->redirects++;
    return 0;
}

/* ---- requests ---------------------------------------------------------------------- */

static coil_http_response *create_response(coil_http_session *session,
                                           const coil_http_request *request)
{
    coil_http_response *response = calloc(1, sizeof *response);

    if (response == NULL)
        return NULL;
    response->session = session;
    coil__http_session_hold(session);
    response->body_limit = request->body_limit;
    response->on_body = request->on_body;
    response->on_body_arg = request->on_body_arg;
    response->on_wire = request->on_wire;
    response->on_wire_arg = request->on_wire_arg;
    response->max_redirects = request->max_redirects;
    response->idle_timeout_ns =
        request->idle_timeout_ns > 0 ? request->idle_timeout_ns : 0;
    response->fd = CURL_SOCKET_BAD;
    response->url = strdup(request->url != NULL ? request->url : "");
    if (response->url != NULL)
        return response;
    coil_http_response_destroy(response);
    return NULL;
}

int coil_http_get(coil_http_session *session, const coil_http_request *request,
                  coil_http_response **out)
{
    COIL__HTTP_REQUIRE(session, "a session");
    COIL__HTTP_REQUIRE(request, "a request");
    COIL__HTTP_REQUIRE(out, "an output pointer");
    struct http_step step = coil__http_first_step(request);
    coil_http_response *response;
    int rc;

    if (session->destroyed)
        coil__http_gone("coil_http_get");
    coil__http_check_outside(session, "coil_http_get");
    response = *out = create_response(session, request);
    if (response == NULL)
        return coil_fail(-ENOMEM, "no memory for an HTTP response");
    rc = coil__http_request_check(response, request);
    if (rc == 0)
        rc = send_step(response, request, &step);
    while (rc == 0 && response->redirected) {
        rc = follow_redirect(response, &step);
        if (rc == 0)
            rc = send_step(response, request, &step);
    }
    return rc < 0 ? coil__http_give_up(response, rc) : 0;
}

void coil_http_response_destroy(coil_http_response *response)
{
    if (response == NULL)
        return;
    if (response->destroyed)
        coil__http_gone("coil_http_response_destroy");
    if (coil__http_is_parents(response->session))
        return;
    coil__http_check_outside(response->session, "coil_http_response_destroy");
    response->destroyed = true;
    rewind_response(response);
    forget_names(response);
    coil__http_buffer_give_back(response->session, response->buffer);
    coil__http_session_drop(response->session);
    free(response->url);
    free(response);
}

/* ---- the body ---------------------------------------------------------------------- */

/*
 * Resume a paused transfer when the buffer is empty. libcurl may call the callbacks
 * before this function returns.
 */
static void resume(coil_http_response *response)
{
    CURLcode code;

    response->paused = false;
    response->session->inside = true;
    code = curl_easy_pause(response->easy, CURLPAUSE_CONT);
    response->session->inside = false;
    if (code == CURLE_OK || response->done)
        return;
    response->code = code;
    response->done = true;
}

/*
 * Wait until bytes of the body are available, and return 1. Returns 0 at the end of the
 * body, or a negative errno.
 */
static int wait_for_body(coil_http_response *response)
{
    int rc = 0;

    while (response->begin == response->end && rc == 0) {
        if (response->done)
            break;
        if (response->paused)
            resume(response);
        else
            rc = wait_for_wake(response);
    }
    if (response->begin < response->end && rc == 0)
        return 1;
    if (rc == 0)
        rc = coil__http_outcome(response);
    return rc < 0 ? coil__http_give_up(response, rc) : 0;
}

/* Return -EBUSY if another task is reading the body, else 0. */
static int check_no_reader(const coil_http_response *response)
{
    return response->reading
               ? coil_fail(-EBUSY, "another task is reading this response's body")
               : 0;
}

static int wait_alone_for_body(coil_http_response *response)
{
    int rc = check_no_reader(response);

    if (rc < 0)
        return rc;
    response->reading = true;
    rc = wait_for_body(response);
    response->reading = false;
    return rc;
}

ssize_t coil_http_read(coil_http_response *response, void *buf, size_t n)
{
    COIL__HTTP_REQUIRE(response, "a response");
    if (n > 0)
        COIL__HTTP_REQUIRE(buf, "a buffer");
    size_t held;
    int rc = n > 0 ? wait_alone_for_body(response) : 0;

    if (rc <= 0)
        return rc;
    held = response->end - response->begin;
    if (n > held)
        n = held;
    memcpy(buf, response->buffer->bytes + response->begin, n);
    response->begin += n;
    return (ssize_t)n;
}

int coil_http_read_all(coil_http_response *response, char **body, size_t *n)
{
    COIL__HTTP_REQUIRE(response, "a response");
    COIL__HTTP_REQUIRE(body, "an output pointer");
    COIL__HTTP_REQUIRE(n, "an output pointer");
    size_t capacity = 0, used = 0;
    char *bytes = NULL;
    ssize_t got = 1;

    *body = NULL;
    *n = 0;
    while (got > 0) {
        if (capacity - used < 2) {
            char *longer =
                coil_realloc(bytes, capacity = capacity > 0 ? 2 * capacity : 8192);
            if (longer == NULL) {
                got = coil_fail(-ENOMEM, "no memory for a body of more than %zu bytes",
                                used);
                break;
            }
            bytes = longer;
        }
        got = coil_http_read(response, bytes + used, capacity - used - 1);
        used += got > 0 ? (size_t)got : 0;
    }
    if (got < 0) {
        coil_free(bytes);
        return (int)got;
    }
    bytes[used] = '\0';
    *body = bytes;
    *n = used;
    return 0;
}

int coil_http_discard(coil_http_response *response, size_t n)
{
    COIL__HTTP_REQUIRE(response, "a response");
    int64_t announced = coil_http_content_length(response);
    bool is_short = announced < 0 || (uint64_t)announced <= n || response->done;
    size_t forgotten = 0;
    int rc = check_no_reader(response);

    if (rc < 0)
        return rc;
    rc = 1;
    while (rc > 0 && forgotten <= n && is_short) {
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

/* ---- properties of a response ------------------------------------------------------ */

int coil_http_status(const coil_http_response *response)
{
    COIL__HTTP_REQUIRE(response, "a response");
    long status = 0;

    if (response->easy != NULL && response->has_headers)
        curl_easy_getinfo(response->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

int coil_http_version(const coil_http_response *response)
{
    COIL__HTTP_REQUIRE(response, "a response");
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
    COIL__HTTP_REQUIRE(response, "a response");
    COIL__HTTP_REQUIRE(name, "a name");
    struct curl_header *header;

    if (response->easy == NULL || !response->has_headers ||
        !may_have_header(response, name) ||
        curl_easy_header(response->easy, name, index, CURLH_HEADER, -1, &header) !=
            CURLHE_OK)
        return NULL;
    /*
     * If the first line of a folded header is empty, libcurl 7.88 leaves the line break
     * before the value. (RFC 9112, 5.2)
     */
    if (header->value[0] == '\r' || header->value[0] == '\n')
        return header->value + strspn(header->value, "\r\n \t");
    return header->value;
}

const char *coil_http_header(const coil_http_response *response, const char *name)
{
    COIL__HTTP_REQUIRE(response, "a response");
    COIL__HTTP_REQUIRE(name, "a name");
    return coil_http_header_at(response, name, 0);
}

int64_t coil_http_content_length(const coil_http_response *response)
{
    COIL__HTTP_REQUIRE(response, "a response");
    curl_off_t announced = -1;

    if (response->easy != NULL && response->has_headers)
        curl_easy_getinfo(response->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    return announced;
}

int64_t coil_http_body_bytes(const coil_http_response *response)
{
    COIL__HTTP_REQUIRE(response, "a response");
    curl_off_t bytes = 0;

    if (response->easy != NULL)
        curl_easy_getinfo(response->easy, CURLINFO_SIZE_DOWNLOAD_T, &bytes);
    return bytes;
}

int64_t coil_http_received_bytes(const coil_http_response *response)
{
    COIL__HTTP_REQUIRE(response, "a response");
    long headers = 0;

    if (response->easy != NULL)
        curl_easy_getinfo(response->easy, CURLINFO_HEADER_SIZE, &headers);
    return coil_http_body_bytes(response) + headers;
}

const char *coil_http_url(const coil_http_response *response)
{
    COIL__HTTP_REQUIRE(response, "a response");
    return response->url;
}

unsigned coil_http_redirect_count(const coil_http_response *response)
{
    COIL__HTTP_REQUIRE(response, "a response");
    return response->redirects;
}

const char *coil_http_error(const coil_http_response *response)
{
    if (response == NULL)
        return strerror(ENOMEM);
    return response->failure < 0 ? response->error : "";
}
