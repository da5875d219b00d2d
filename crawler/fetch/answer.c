/*
 * answer.c - see answer.h
 */
#include "answer.h"

#include "../base/text.h"
#include "../page/content_type.h"
#include "../url/url.h"

#include <coil/scope.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An unwanted body is read up to this size, so that the connection can be reused. */
#define DRAIN_BYTES ((size_t)128 * 1024)

/*
 * True if the server asks the client to prove that it is human. Cloudflare and AWS WAF
 * mark such answers with a header.
 */
static bool is_challenge(const coil_http_response *response)
{
    static const char *const headers[] = {"cf-mitigated", "x-amzn-waf-action"};

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        const char *value = coil_http_header(response, headers[i]);
        if (value != NULL &&
            (strcasecmp(value, "challenge") == 0 || strcasecmp(value, "captcha") == 0))
            return true;
    }
    return false;
}

#define TYPES_MAX 16 /* maximum number of Content-Type headers considered */

/*
 * Determine the content type as the Fetch standard defines it. Usually there is a single
 * header with a single type, which is used unchanged. Returns 0 or -ENOMEM.
 */
static int read_content_type(struct answer *answer)
{
    const char *values[TYPES_MAX];
    size_t count = 0;
    int rc;

    while (count < TYPES_MAX && (values[count] = coil_http_header_at(
                                     answer->response, "Content-Type", count)) != NULL)
        count++;
    if (count == 1 && content_type_is_single(values[0])) {
        answer->content_type = values[0];
        return 0;
    }
    free(answer->extracted_type);
    rc = content_type_extract(values, count, &answer->extracted_type);
    answer->content_type = answer->extracted_type;
    return rc;
}

static bool is_utf8(const char *s, size_t n)
{
    bool is_valid = true;

    for (size_t at = 0; at < n && is_valid;)
        at += text_utf8_length(s + at, n - at, &is_valid);
    return is_valid;
}

/*
 * Read the Location. If it is not valid UTF-8, percent-encode all bytes outside ASCII, as
 * browsers do. Old servers send paths in Latin-1, for example. Returns 0 or -ENOMEM.
 */
static int read_location(struct answer *answer)
{
    const char *location = coil_http_header(answer->response, "Location");
    struct text text = {0};

    answer->location = location;
    if (location == NULL || is_utf8(location, strlen(location)))
        return 0;
    text_add_encoded(&text, location, strlen(location), PERCENT_CONTROL);
    free(answer->encoded_location);
    answer->location = answer->encoded_location = text_take(&text);
    return answer->location != NULL ? 0 : -ENOMEM;
}

static bool says_nosniff(const coil_http_response *response)
{
    const char *value = coil_http_header(response, "X-Content-Type-Options");

    return value != NULL && strcasecmp(value, "nosniff") == 0;
}

static void measure(struct answer *answer)
{
    int64_t announced = coil_http_content_length(answer->response);

    answer->size = announced >= 0 ? announced : coil_http_body_bytes(answer->response);
    answer->received_bytes = coil_http_received_bytes(answer->response);
}

/* ---- the body, in the context of the transfer -------------------------------------- */

enum body_state { BODY_UNSEEN, BODY_WANTED, BODY_UNWANTED, BODY_CUT };

struct transfer {
    struct answer *answer;
    const struct request_params *params;
    enum body_state body;
    bool is_cut_at_limit; /* the body was wanted, but cut off at the limit */
    size_t total;
};

/* Returned by the body callback to end the transfer without an error. */
#define ENOUGH (-EOVERFLOW)

/* Read the headers, and find out whether the body is wanted. Returns 0 or -ENOMEM. */
static int look_at_headers(struct transfer *transfer, coil_http_response *response)
{
    struct answer *answer = transfer->answer;
    const struct body_reader *reader = transfer->params->reader;
    int rc;

    answer->response = response;
    rc = read_content_type(answer);
    if (rc == 0)
        rc = read_location(answer);
    answer->status = coil_http_status(response);
    answer->may_be_sniffed = answer->content_type == NULL && !says_nosniff(response);
    answer->retry_after = coil_http_header(response, "Retry-After");
    answer->is_challenge = is_challenge(response);
    answer->sets_cookie = coil_http_header(response, "Set-Cookie") != NULL;
    transfer->body = reader != NULL && reader->begin_body(answer, reader->arg)
                         ? BODY_WANTED
                         : BODY_UNWANTED;
    return rc;
}

/* Skip a piece of an unwanted body. Returns ENOUGH to cut the body off, otherwise 0. */
static int skip_body(struct transfer *transfer)
{
    const struct request_params *params = transfer->params;
    struct answer *answer = transfer->answer;

    answer->is_too_long = params->is_archived && transfer->total > params->body_limit;
    answer->is_cut = params->ends_after_headers ||
                     (!params->is_archived && transfer->total > DRAIN_BYTES);
    if (!answer->is_too_long && !answer->is_cut)
        return 0;
    transfer->body = BODY_CUT;
    return ENOUGH;
}

/* Pass a piece of the body to params->reader, up to the limit. */
static int on_body(coil_http_response *response, const char *bytes, size_t n, void *arg)
{
    struct transfer *transfer = arg;
    struct answer *answer = transfer->answer;
    const struct request_params *params = transfer->params;
    int rc = transfer->body == BODY_UNSEEN ? look_at_headers(transfer, response) : 0;
    size_t beyond;

    if (rc < 0)
        return rc;
    transfer->total += n;
    if (transfer->body != BODY_WANTED)
        return skip_body(transfer);
    answer->is_too_long = transfer->total > params->body_limit;
    beyond = answer->is_too_long ? transfer->total - params->body_limit : 0;
    if (beyond < n)
        rc = params->reader->feed_body(bytes, n - beyond, params->reader->arg);
    if (rc > 0) {
        transfer->body = BODY_UNWANTED;
        return skip_body(transfer);
    }
    if (rc < 0)
        snprintf(answer->error, sizeof answer->error, "searching it for links: %s",
                 strerror(-rc));
    if (rc < 0 || !answer->is_too_long)
        return rc;
    transfer->body = BODY_CUT;
    transfer->is_cut_at_limit = true;
    return ENOUGH;
}

/*
 * Remove credentials from a URL: libcurl would log in with them, but they may come from a
 * page or a redirect. Stores the new URL in *own, which the caller frees, or NULL if the
 * URL contains no credentials. Returns 0 or -ENOMEM.
 */
static int leave_out_credentials(const char *url, char **own)
{
    struct whatwg_span credentials = url_credentials(url);

    *own = NULL;
    if (credentials.n == 0)
        return 0;
    if (asprintf(own, "%.*s%s", (int)(credentials.at - url), url,
                 credentials.at + credentials.n + 1) >= 0)
        return 0;
    *own = NULL;
    return -ENOMEM;
}

/*
 * True if the status alone determines the verdict: the answer is a redirect or an error
 * page, whose body is not searched.
 */
static bool is_judged_by_status(int status)
{
    return status >= 300;
}

/*
 * Read the headers of an answer without a body, or with one that could not be decoded.
 * `rc` is the result of the request. Returns `rc`, or -ENOMEM.
 */
static int look_at_headers_only(struct transfer *transfer, int rc)
{
    struct answer *answer = transfer->answer;
    int headers_rc;

    if (transfer->body != BODY_UNSEEN || answer->response == NULL)
        return rc;
    if (rc < 0 && !is_judged_by_status(coil_http_status(answer->response)))
        return rc;
    headers_rc = look_at_headers(transfer, answer->response);
    return headers_rc < 0 ? headers_rc : rc;
}

static int send_request(struct answer *answer, coil_http_session *session,
                        const struct request_params *params)
{
    struct transfer transfer = {.answer = answer, .params = params};
    coil_http_request request = {.url = params->url,
                                 .method = params->headers_only ? "HEAD" : NULL,
                                 .headers = params->headers,
                                 .idle_timeout_ns = params->idle_ns,
                                 .on_body = on_body,
                                 .on_body_arg = &transfer,
                                 .on_wire = params->exchange != NULL ? warc_take : NULL,
                                 .on_wire_arg = params->exchange};
    char *own;
    int rc = leave_out_credentials(params->url, &own);

    if (own != NULL)
        request.url = own;
    if (rc == 0)
        rc = coil_http_get(session, &request, &answer->response);
    free(own);
    if (rc == ENOUGH && transfer.body == BODY_CUT)
        rc = 0;
    rc = look_at_headers_only(&transfer, rc);
    answer->has_body =
        rc == 0 && (transfer.body == BODY_WANTED || transfer.is_cut_at_limit);
    if (answer->response != NULL)
        measure(answer);
    return rc;
}

static void describe_lateness(struct answer *answer, int64_t ns, const char *what)
{
    snprintf(answer->error, sizeof answer->error, "%s within %g s", what,
             (double)ns / 1e9);
}

/* True if the TLS handshake failed, which only the error message shows. */
static bool is_about_tls(const struct answer *answer, const char *url)
{
    return answer->rc == -EPROTO && answer->status == 0 &&
           strncmp(url, "https:", 6) == 0 &&
           strstr(answer->error, "TLS handshake") != NULL;
}

/*
 * Return the error message: strerror() if the host cannot be reached or there is no
 * response, otherwise libcurl's message.
 */
static const char *message_of(const struct answer *answer)
{
    switch (answer->rc) {
    case -ECONNREFUSED:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
        return strerror(-answer->rc);
    default:
        return answer->response != NULL ? coil_http_error(answer->response)
                                        : strerror(-answer->rc);
    }
}

static void describe_failure(struct answer *answer, const struct request_params *params)
{
    if (answer->is_late)
        describe_lateness(answer, params->max_ns, "no whole answer");
    else if (answer->rc == -ETIMEDOUT)
        describe_lateness(answer, params->idle_ns, "no progress");
    else if (answer->error[0] == '\0')
        snprintf(answer->error, sizeof answer->error, "%s", message_of(answer));
    answer->is_tls = is_about_tls(answer, params->url);
}

/*
 * If only the body failed, and the status alone determines the verdict, forget the
 * failure. Browsers also follow such a redirect.
 */
static void forgive_body(struct answer *answer)
{
    if (!is_judged_by_status(answer->status) || answer->rc == -ECANCELED ||
        answer->rc == -ENOMEM)
        return;
    answer->body_rc = answer->rc;
    answer->rc = 0;
    answer->is_late = false;
}

int answer_get(struct answer *answer, coil_http_session *session,
               const struct request_params *params)
{
    coil_scope scope;
    int rc;

    *answer = (struct answer){.status = 0};
    rc = coil_scope_enter(&scope, coil_in(params->max_ns));
    if (rc < 0)
        return rc;
    rc = send_request(answer, session, params);
    answer->rc = coil_scope_exit(&scope, rc);
    answer->is_late = coil_scope_expired(&scope);
    if (answer->rc < 0)
        forgive_body(answer);
    if (answer->rc >= 0)
        return 0;
    describe_failure(answer, params);
    return answer->rc == -ECANCELED || answer->rc == -ENOMEM ? answer->rc : 0;
}

void answer_finish(struct answer *answer)
{
    coil_http_response_destroy(answer->response);
    free(answer->extracted_type);
    free(answer->encoded_location);
    *answer = (struct answer){.status = 0};
}

bool answer_is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}
