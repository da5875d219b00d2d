/*
 * robots_txt.c - see robots_txt.h
 */
#include "robots_txt.h"

#include "retry.h"
#include "../scope/robots.h"
#include "../url/url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROBOTS_REDIRECTS 5
/* One byte more than is parsed, to see whether the last line is complete. */
#define READ_BYTES (ROBOTS_BYTES + 1)
/*
 * Limit of the body. Pieces of it are shorter than 128 KiB, so at least READ_BYTES are
 * received before the body is cut off.
 */
#define LONGEST_BYTES (READ_BYTES + (size_t)128 * 1024)
/* If a host is unreachable more often than this in a row, do not fetch its pages. */
#define UNREACHABLE_MAX 3
#define RULES_NS COIL_SEC(24 * 60 * 60) /* how long rules are valid */

static bool is_loopback(const char *origin)
{
    const char *host = url_host_and_port(origin).at;
    size_t n = strcspn(host, ":");

    return (n == strlen("localhost") && strncmp(host, "localhost", n) == 0) ||
           strncmp(host, "[::1]", 5) == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n);
}

/* The first READ_BYTES bytes of a robots.txt. */
struct rules_text {
    char *at;
    size_t n;
};

static bool expects_rules(const struct answer *answer, void *arg)
{
    (void)arg;
    return answer->status >= 200 && answer->status < 300;
}

static int store_rules(const char *bytes, size_t n, void *arg)
{
    struct rules_text *text = arg;
    size_t room = READ_BYTES - text->n;

    if (text->at == NULL)
        text->at = malloc(READ_BYTES);
    if (text->at == NULL)
        return -ENOMEM;
    n = n < room ? n : room;
    memcpy(text->at + text->n, bytes, n);
    text->n += n;
    return 0;
}

static int take_rules(const struct requester *requester, struct host *host,
                      const struct rules_text *text)
{
    int64_t delay_ns;

    host->robots.rules =
        robots_parse(text->at != NULL ? text->at : "", text->n, "coil-crawl");
    if (host->robots.rules == NULL)
        return -ENOMEM;
    delay_ns = robots_delay_ns(host->robots.rules) * requester->split;
    if (delay_ns > requester->options->delay_ns * requester->split &&
        !is_loopback(host->origin))
        host->pace.delay_ns = delay_ns;
    return 0;
}

/*
 * Resolve the location of a redirect, and store the result in *url. If it is not a URL
 * that can be fetched, store NULL, which means that everything on the host is allowed.
 */
static int resolve(const char *base, const char *location, char **url)
{
    int rc = url_resolve(base, location, url);

    return rc == -EINVAL || rc == -EPROTONOSUPPORT ? 0 : rc;
}

/*
 * Write the exchange to the archive. An error is not returned here, but when the next
 * page is written.
 */
static void write_to_warc(struct requester *requester, const char *url,
                          const struct answer *answer, struct warc_exchange *exchange)
{
    bool is_incomplete = answer->rc < 0 || answer->body_rc < 0;
    const char *truncated = is_incomplete         ? "disconnect"
                            : answer->is_too_long ? "length"
                                                  : NULL;

    if (requester->warc != NULL)
        warc_add(requester->warc, url, exchange, truncated);
    warc_exchange_finish(exchange);
}

/*
 * Parse the rules in an answer. If the answer is a redirect, only set *next to the new
 * URL.
 */
static int parse_or_resolve(const struct requester *requester, struct host *host,
                            const char *url, const struct answer *answer,
                            const struct rules_text *text, char **next)
{
    if (answer->rc < 0)
        return 0;
    if (answer_is_redirect(answer->status) && answer->location != NULL)
        return resolve(url, answer->location, next);
    if (expects_rules(answer, NULL))
        return take_rules(requester, host, text);
    return 0;
}

/*
 * Fetch *url once. Returns 0 if it is not a redirect. Otherwise, replaces *url with the
 * redirect's target, and returns 1. If an earlier redirect led to another host, the
 * user's headers are not sent, and --exclude-private applies.
 */
static int fetch_rules_once(struct requester *requester, struct host *host, char **url,
                            struct answer *answer)
{
    const struct options *options = requester->options;
    bool is_of_host = url_is_trusted_as(*url, host->origin);
    struct rules_text text = {NULL, 0};
    struct warc_exchange exchange = {.at_ns = 0};
    struct body_reader reader = {expects_rules, store_rules, &text};
    struct request_params params = {.url = *url,
                                    .headers = is_of_host ? host->headers : NULL,
                                    .is_archived = requester->warc != NULL,
                                    .idle_ns = options->timeout_ns,
                                    .max_ns = options->max_time_ns,
                                    .body_limit = LONGEST_BYTES,
                                    .reader = &reader,
                                    .exchange =
                                        requester->warc != NULL ? &exchange : NULL};
    char *next = NULL;
    int rc = answer_get(
        answer, requester->sessions[is_of_host ? FRONTIER_SITE : FRONTIER_EXTERNAL],
        &params);

    if (rc == 0)
        write_to_warc(requester, *url, answer, &exchange);
    else
        warc_exchange_finish(&exchange);
    if (rc == 0)
        rc = parse_or_resolve(requester, host, *url, answer, &text, &next);
    free(text.at);
    if (rc < 0 || next == NULL)
        return rc;
    free(*url);
    *url = next;
    return 1;
}

/*
 * Fetch the robots.txt, following redirects. After too many redirects, everything on the
 * host is allowed. Stores the last answer in *answer, and in *is_of_host whether the host
 * itself sent it.
 */
static int get_rules(struct requester *requester, struct host *host,
                     struct answer *answer, bool *is_of_host)
{
    struct whatwg_span origin = url_host_and_port(host->origin);
    char *url;
    int rc = 1;

    /* Omit credentials, because the user's login is sent as a header. */
    if (asprintf(&url, "%s//%.*s/robots.txt",
                 strncmp(host->origin, "https:", 6) == 0 ? "https:" : "http:",
                 (int)origin.n, origin.at) < 0)
        return -ENOMEM;
    for (unsigned i = 0; i <= ROBOTS_REDIRECTS && rc == 1; i++) {
        *is_of_host = url_same_origin(url, host->origin);
        answer_finish(answer);
        rc = fetch_rules_once(requester, host, &url, answer);
    }
    free(url);
    return rc < 0 ? rc : 0;
}

/* ---- the result -------------------------------------------------------------------- */

/*
 * True if the host cannot be reached. In that case, its pages are requested anyway, to
 * report the error for each of them. If the host answers such a request, robots.txt is
 * fetched again first.
 */
static bool is_unreachable(const struct answer *answer, bool is_of_host)
{
    return is_of_host && (answer->rc == -ENOENT || answer->rc == -ECONNREFUSED ||
                          answer->rc == -EHOSTUNREACH || answer->rc == -ENETUNREACH);
}

/* True if no page may be fetched after this answer. (RFC 9309, section 2.3.1.4) */
static bool is_failure(const struct host *host, const struct answer *answer)
{
    if (answer->rc < 0)
        return host->robots.unreachable_count == 0 ||
               host->robots.unreachable_count > UNREACHABLE_MAX;
    return answer->status >= 500;
}

static int save_failure(struct host *host, const struct answer *answer)
{
    struct answer *failure = malloc(sizeof *failure);

    if (failure == NULL)
        return -ENOMEM;
    *failure = (struct answer){.rc = answer->rc,
                               .status = answer->status,
                               .is_late = answer->is_late,
                               .is_tls = answer->is_tls};
    memcpy(failure->error, answer->error, sizeof failure->error);
    host->robots.failure = failure;
    return 0;
}

/*
 * Record that the host answered the request for robots.txt by asking the crawler to slow
 * down. Returns true if robots.txt must be fetched again later.
 */
static bool is_refused_again(struct requester *requester, struct host *host,
                             const struct answer *answer, const struct retry *retry)
{
    struct throttle_refusal refusal = {.sent_ns = host->robots.requested_ns,
                                       .now_ns = coil_now(),
                                       .retry_after_ns = retry->host_ns,
                                       .is_too_many = answer->status == 429,
                                       .is_rested = host->robots.is_rested,
                                       .page_refusals = host->robots.refusals,
                                       .max_tries = requester->options->max_tries};

    switch (frontier_refuse(host, NULL, &refusal)) {
    case THROTTLE_FAILURE:
    case THROTTLE_FINAL:
        return false;
    default:
        break;
    }
    host->robots.tries--;
    host->robots.refusals += host->robots.refusals < THROTTLE_PAGE_REFUSALS;
    host->robots.state = ROBOTS_WANTED;
    frontier_pause(host, refusal.now_ns + throttle_pause_ns(&refusal));
    return true;
}

/* Request the robots.txt again later, because this process lacked descriptors. */
static int request_again(struct host *host, int rc)
{
    host->robots.state = ROBOTS_WANTED;
    frontier_pause(host, coil_in(FRONTIER_LACK_NS));
    return rc;
}

static int conclude(struct requester *requester, struct host *host,
                    const struct answer *answer, bool is_of_host)
{
    struct retry retry = retry_after(answer, ++host->robots.tries, time(NULL));
    bool fails;

    if (retry.is_refusal && retry.again &&
        is_refused_again(requester, host, answer, &retry))
        return 0;
    host->robots.unreachable_count =
        is_unreachable(answer, is_of_host) ? host->robots.unreachable_count + 1 : 0;
    fails = is_failure(host, answer);
    if (fails && retry.again && host->robots.tries < requester->options->max_tries) {
        host->robots.state = ROBOTS_WANTED;
        frontier_pause(host, coil_in(retry.pause_ns));
        return 0;
    }
    host->robots.state = ROBOTS_KNOWN;
    host->robots.tries = host->robots.refusals = 0;
    host->robots.until_ns = coil_in(RULES_NS);
    return fails ? save_failure(host, answer) : 0;
}

int robots_txt_get(struct requester *requester, struct host *host)
{
    struct answer answer = {.rc = 0};
    bool is_of_host = true;
    int rc = request_find_headers(requester, host);

    if (rc < 0)
        return rc;
    robots_destroy(host->robots.rules);
    host->robots.rules = NULL;
    free(host->robots.failure);
    host->robots.failure = NULL;
    host->robots.is_rested = frontier_begin_request(host);
    host->robots.requested_ns = coil_now();
    rc = get_rules(requester, host, &answer, &is_of_host);
    if (rc == 0 && retry_is_lack(answer.rc))
        rc = request_again(host, answer.rc);
    else if (rc == 0)
        rc = conclude(requester, host, &answer, is_of_host);
    answer_finish(&answer);
    return rc;
}

int robots_txt_forbids(const struct host *host, const char *url, unsigned *line)
{
    int allows;

    *line = 0;
    if (host->robots.state != ROBOTS_KNOWN)
        return 0;
    if (host->robots.rules == NULL)
        return 0;
    allows = robots_allows(host->robots.rules, url + url_origin_length(url), line);
    return allows < 0 ? allows : !allows;
}
