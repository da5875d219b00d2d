/*
 * rules.c - asking a host for its robots.txt, and heeding it. (RFC 9309)
 */
#include "rules.h"

#include "judge.h"
#include "request.h"
#include "../scope/robots.h"
#include "../url/url.h"

#include <coil/scope.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROBOTS_REDIRECTS 5
#define READ_BYTES                                                                       \
    (ROBOTS_BYTES + 1) /* the last tells whether the line before it goes on */
#define DESERTED_ENOUGH                                                                  \
    3 /* then nobody is a failure, too: it may be a redirect to there */
#define RULES_NS COIL_SEC(24 * 60 * 60) /* so long they are believed */

static bool is_loopback(const char *origin)
{
    const char *host = url_host_and_port(origin).at;
    size_t n = strcspn(host, ":");

    return (n == strlen("localhost") && strncmp(host, "localhost", n) == 0) ||
           strncmp(host, "[::1]", 5) == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n);
}

/* What the answer says: rules, or all or nothing. (RFC 9309, section 2.3.1) */
static int take_rules(const struct crawler *crawler, struct host *host,
                      coil_http_response *response)
{
    char *text = malloc(READ_BYTES);
    size_t n = 0;
    ssize_t got = 0;
    int64_t delay_ns;

    if (text == NULL)
        return -ENOMEM;
    while (n < READ_BYTES &&
           (got = coil_http_read(response, text + n, READ_BYTES - n)) > 0)
        n += (size_t)got;
    if (got < 0) {
        free(text);
        return (int)got;
    }
    host->rules = robots_parse(text, n, "coil-crawl");
    free(text);
    if (host->rules == NULL)
        return -ENOMEM;
    delay_ns = robots_delay_ns(host->rules) * crawler_split(crawler);
    if (delay_ns > crawler->frontier.options.delay_ns && !is_loopback(host->origin))
        host->delay_ns = delay_ns;
    return 0;
}

/* NULL for what cannot be asked: then there are no rules. */
static int resolve(const char *base, const char *location, char **url)
{
    int rc = url_resolve(base, location, url);

    return rc == -EINVAL || rc == -EPROTONOSUPPORT ? 0 : rc;
}

/* The body, too, where nobody has read it. Returns rc; a failure to write is told by the next page. */
static int keep(struct warc *warc, const char *url, coil_http_response *response,
                struct warc_exchange *exchange, int rc)
{
    const char *truncated = rc < 0 ? "disconnect" : NULL;

    if (rc == 0 && coil_http_discard(response, READ_BYTES) < 0)
        truncated = "disconnect";
    if (rc != -ECANCELED && rc != -ENOMEM)
        warc_add(warc, url, exchange, truncated);
    return rc;
}

/* One question; *url is replaced by where the answer sends one. 1 if it does. The user's
   headers are for this host alone, and --exclude-private is for all others. */
static int ask(struct crawler *crawler, struct host *host, char **url)
{
    bool is_of_host = url_is_trusted_as(*url, host->origin);
    coil_http_request request = {.url = *url,
                                 .headers = is_of_host ? host->headers : NULL,
                                 .idle_timeout_ns = crawler->options->timeout_ns};
    struct warc_exchange exchange = {.at_ns = 0};
    coil_http_response *response;
    const char *location;
    char *next = NULL;
    int rc, status;

    if (crawler->warc != NULL) {
        request.on_wire = warc_take;
        request.on_wire_arg = &exchange;
    }
    rc = coil_http_get(crawler->sessions[is_of_host ? FRONTIER_SITE : FRONTIER_EXTERNAL],
                       &request, &response);
    status = rc == 0 ? coil_http_status(response) : 0;
    location = rc == 0 && judge_is_redirect(status)
                   ? coil_http_header(response, "Location")
                   : NULL;
    if (location != NULL)
        rc = resolve(*url, location, &next);
    else if (rc == 0 && status >= 200 && status < 300)
        rc = take_rules(crawler, host, response);
    else if (rc == 0)
        host->forbids_all = status >= 500;
    if (crawler->warc != NULL)
        rc = keep(crawler->warc, *url, response, &exchange, rc);
    coil_http_response_destroy(response);
    warc_exchange_finish(&exchange);
    if (next == NULL)
        return rc;
    free(*url);
    *url = next;
    return 1;
}

static int get_rules(struct crawler *crawler, struct host *host)
{
    char *url;
    int rc = 1;

    if (asprintf(&url, "%s/robots.txt", host->origin) < 0)
        return -ENOMEM;
    for (unsigned i = 0; i <= ROBOTS_REDIRECTS && rc == 1; i++)
        rc = ask(crawler, host, &url);
    free(url);
    return rc < 0 ? rc : 0; /* too many redirects: as if it were not there */
}

/* Nobody there to ask: the pages will tell, and once one is answered the rules are asked for first.
   Any other failure forbids. */
static bool is_nobody_there(int rc)
{
    return rc == -ENOENT || rc == -ECONNREFUSED || rc == -EHOSTUNREACH ||
           rc == -ENETUNREACH;
}

int rules_get(struct crawler *crawler, struct host *host)
{
    coil_scope scope;
    int rc = request_find_headers(crawler, host);

    if (rc == 0)
        rc = coil_scope_enter(&scope, coil_in(crawler->options->max_time_ns));
    if (rc < 0)
        return rc;
    robots_destroy(host->rules);
    host->rules = NULL;
    host->forbids_all = false;
    rc = coil_scope_exit(&scope, get_rules(crawler, host));
    if (rc == -ECANCELED || rc == -ENOMEM)
        return rc;
    host->deserted = is_nobody_there(rc) ? host->deserted + 1 : 0;
    host->forbids_all =
        host->forbids_all ||
        (rc < 0 && (host->deserted == 0 || host->deserted > DESERTED_ENOUGH));
    host->robots = ROBOTS_KNOWN;
    host->rules_until_ns = coil_in(RULES_NS);
    return 0;
}

int rules_forbid(const struct host *host, const char *url, unsigned *line)
{
    int allows;

    *line = 0;
    if (host->robots != ROBOTS_KNOWN)
        return 0;
    if (host->forbids_all || host->rules == NULL)
        return host->forbids_all;
    allows = robots_allows(host->rules, url + url_origin_length(url), line);
    return allows < 0 ? allows : !allows;
}
