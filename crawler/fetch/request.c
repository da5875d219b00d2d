/*
 * request.c - see request.h
 */
#include "request.h"

#include "../page/feed/sitemap.h"
#include "../scope/private_address.h"
#include "../url/url.h"

#include <coil/task.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static bool is_trusted_as_start(const struct requester *requester, const char *origin)
{
    for (size_t i = 0; i < requester->options->starts.count; i++)
        if (strstr(requester->options->starts.at[i], "://") != NULL &&
            url_is_trusted_as(origin, requester->options->starts.at[i]))
            return true;
    return false;
}

static bool is_authorized(const char *const *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncasecmp(headers[i], "Authorization:", 14) == 0)
            return true;
    return false;
}

static bool has_same_credentials(const char *a, const char *b)
{
    struct whatwg_span x = url_credentials(a), y = url_credentials(b);

    return x.n == y.n && memcmp(x.at, y.at, x.n) == 0;
}

/*
 * Return the header with the login of a start URL on this host, or NULL. If several start
 * URLs have a login, prefer that of one with the same credentials as `origin`.
 * Credentials in links do not come from the user, so answer.c removes them.
 */
static const char *find_login(const struct options *options, const char *origin)
{
    const char *header = NULL;

    for (size_t i = 0; i < options->login_count; i++) {
        const struct login *login = &options->logins[i];

        if (!url_is_trusted_as(origin, login->start))
            continue;
        if (has_same_credentials(origin, login->start))
            return login->header;
        if (header == NULL)
            header = login->header;
    }
    return header;
}

static bool has_same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, ":");

    return n == strcspn(b, ":") && strncasecmp(a, b, n) == 0;
}

/*
 * True if --header-for sets a header of this name for the host. Servers may refuse a
 * request with two headers such as Authorization.
 */
static bool is_replaced(const struct options *options, const struct host *host,
                        const char *header)
{
    for (size_t i = 0; i < options->host_header_count; i++) {
        const struct host_header *its = &options->host_headers[i];
        if (url_has_host(host->origin, its->host.name, its->host.port) &&
            has_same_name(its->header, header))
            return true;
    }
    return false;
}

/*
 * Return the headers to send with all requests to this host, or NULL if memory runs out.
 */
static const char *const *make_headers(const struct requester *requester,
                                       const struct host *host)
{
    const struct options *options = requester->options;
    size_t n = 0;
    const char *login = find_login(options, host->origin);
    const char **headers =
        calloc(options->headers.count + options->host_header_count + 2, sizeof *headers);

    if (headers == NULL)
        return NULL;
    if (is_trusted_as_start(requester, host->origin))
        for (size_t i = 0; i < options->headers.count; i++)
            if (!is_replaced(options, host, options->headers.at[i]))
                headers[n++] = options->headers.at[i];
    for (size_t i = 0; i < options->host_header_count; i++) {
        const struct host_header *its = &options->host_headers[i];
        if (url_has_host(host->origin, its->host.name, its->host.port))
            headers[n++] = its->header;
    }
    if (login != NULL && !is_authorized(headers, n))
        headers[n++] = login;
    return headers;
}

int request_find_headers(const struct requester *requester, struct host *host)
{
    if (host->has_headers || requester->options->headers.count +
                                     requester->options->host_header_count +
                                     requester->options->login_count ==
                                 0)
        return 0;
    host->headers = make_headers(requester, host);
    host->has_headers = host->headers != NULL;
    return host->has_headers ? 0 : -ENOMEM;
}

size_t request_body_limit(const struct options *options, const struct target *page)
{
    return page->is_sitemap && options->max_body_bytes < SITEMAP_BYTES
               ? SITEMAP_BYTES
               : options->max_body_bytes;
}

static struct request_params params_of(const struct requester *requester,
                                       const struct target *page,
                                       const char *const *headers,
                                       const struct body_reader *reader)
{
    const struct options *options = requester->options;
    bool on_site = page->kind == TARGET_SITE;

    return (struct request_params){.url = page->url,
                                   .headers =
                                       headers != NULL ? headers : page->host->headers,
                                   .headers_only = !on_site && !page->wants_body &&
                                                   options->external == EXTERNAL_HEAD,
                                   .ends_after_headers = !on_site && !page->wants_body,
                                   .is_archived = requester->warc != NULL,
                                   .idle_ns = options->timeout_ns,
                                   .max_ns = options->max_time_ns,
                                   .body_limit = request_body_limit(options, page),
                                   .reader = on_site || page->wants_body ? reader : NULL};
}

/*
 * Return true if GET should be tried after HEAD failed, because many servers do not
 * support HEAD or answer it incorrectly. Return false if the server could not be reached,
 * or asks the crawler to slow down.
 */
static bool is_worth_a_get(const struct answer *answer)
{
    switch (answer->rc) {
    case 0:
        return answer->status >= 400 && answer->status != 429 &&
               (answer->status != 503 || answer->retry_after == NULL);
    case -ECONNRESET:
    case -EPROTO:
    case -ENODATA:
    case -ETIMEDOUT:
    case -EMSGSIZE:
        return !answer->is_late;
    default:
        return false;
    }
}

/*
 * Return the value of WARC-Truncated, the reason why the body is incomplete, or NULL if
 * it is complete.
 */
static const char *truncation_of(const struct answer *answer)
{
    if (answer->is_too_long)
        return "length";
    if (answer->rc == -ETIMEDOUT || answer->body_rc == -ETIMEDOUT)
        return "time";
    if (answer->rc < 0 || answer->body_rc < 0)
        return "disconnect";
    return answer->is_cut ? "unspecified" : NULL;
}

/* Write the exchange to the archive. Called before the answer is reported. */
static int archive_exchange(struct requester *requester,
                            const struct request_params *params,
                            const struct answer *answer)
{
    int rc =
        warc_add(requester->warc, params->url, params->exchange, truncation_of(answer));

    warc_exchange_finish(params->exchange);
    return rc;
}

/* Wait until the host may get another request for the same page. Returns the duration of
   the wait in nanoseconds, or -ECANCELED. */
static int64_t wait_for_turn(struct host *host)
{
    int64_t began = coil_now();
    int rc;

    if (frontier_spacing_ns(host) == 0)
        return 0;
    rc = coil_sleep_until(frontier_take_turn(host));
    return rc < 0 ? rc : coil_now() - began;
}

/*
 * Send GET after HEAD failed. *answer, the answer to HEAD, is replaced with the new
 * answer.
 */
static int get_after_head(struct requester *requester, struct host *host,
                          struct request_params *params, struct answer *answer)
{
    int64_t received_bytes = answer->received_bytes;
    int64_t paused_ns;
    int rc;

    answer_finish(answer);
    paused_ns = wait_for_turn(host);
    if (paused_ns < 0)
        return (int)paused_ns;
    params->headers_only = false;
    rc = answer_get(answer, requester->sessions[host->class], params);
    answer->received_bytes += received_bytes;
    answer->paused_ns = paused_ns;
    return rc;
}

int request_answer(struct requester *requester, const struct target *page,
                   const char *const *headers, const struct body_reader *reader,
                   struct answer *answer)
{
    struct request_params params = params_of(requester, page, headers, reader);
    struct warc_exchange exchange = {.at_ns = 0};
    bool is_archived = requester->warc != NULL;
    int rc;

    params.exchange = is_archived ? &exchange : NULL;
    rc = answer_get(answer, requester->sessions[page->host->class], &params);
    if (rc == 0 && is_archived)
        rc = archive_exchange(requester, &params, answer);
    if (rc == 0 && params.headers_only && is_worth_a_get(answer)) {
        rc = get_after_head(requester, page->host, &params, answer);
        if (rc == 0 && is_archived)
            rc = archive_exchange(requester, &params, answer);
    }
    warc_exchange_finish(&exchange);
    return rc;
}

/* ---- descriptors ------------------------------------------------------------------- */

/*
 * Number of descriptors for everything except connections: libcurl (4), DNS, local files,
 * --status.
 */
#define OTHER_DESCRIPTORS 8

static rlim_t count_descriptors(rlim_t limit)
{
    rlim_t count = 0;

    for (int fd = 0; (rlim_t)fd < limit; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/*
 * Each connection needs a descriptor, even while it is idle, so each class gets half of
 * the descriptors. Usually there are more than enough.
 */
unsigned request_count_tasks(const struct options *options)
{
    unsigned tasks = options->max_tasks;
    struct rlimit limit;
    rlim_t used;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 3 >= tasks)
        return tasks;
    used = count_descriptors(limit.rlim_cur) + OTHER_DESCRIPTORS;
    if (used + 2 >= limit.rlim_cur)
        return 1;
    return (limit.rlim_cur - used) / 2 < tasks ? (unsigned)(limit.rlim_cur - used) / 2
                                               : tasks;
}

/* ---- sessions ---------------------------------------------------------------------- */

/*
 * Return false for private addresses, so that a page cannot make the crawler access the
 * user's own network.
 */
static bool allows_address(const struct sockaddr *address, void *arg)
{
    (void)arg;
    return !is_private_address(address);
}

int requester_open(struct requester *requester)
{
    const struct options *options = requester->options;
    coil_http_session_opts opts = {.user_agent = options->user_agent,
                                   .proxy = options->proxy,
                                   .ca_file = options->ca_file,
                                   .insecure = options->insecure,
                                   .cookies = options->cookies,
                                   .max_connections = requester->max_tasks};
    int rc = coil_http_session_create(&opts, &requester->sessions[FRONTIER_SITE]);

    if (rc < 0)
        return rc;
    if (options->exclude_private)
        opts.allows_address = allows_address;
    return coil_http_session_create(&opts, &requester->sessions[FRONTIER_EXTERNAL]);
}

void requester_close(struct requester *requester)
{
    for (int class = 0; class < FRONTIER_CLASSES; class ++) {
        coil_http_session_destroy(requester->sessions[class]);
        requester->sessions[class] = NULL;
    }
}

int requester_close_idle(struct requester *requester)
{
    if (requester->options->cookies) /* a new session would not have them */
        return 0;
    requester_close(requester);
    return requester_open(requester);
}
