/*
 * explain.c - what becomes of a URL, and why; by the same functions as in a crawl.
 */
#include "explain.h"

#include "crawler.h"
#include "place.h"
#include "request.h"
#include "rules.h"
#include "../url/url.h"

#include <errno.h>
#include <string.h>
#include <stdarg.h>

/* A line of the answer: a word, and what is to be said of it. */
static void say(FILE *out, const char *about, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(FILE *out, const char *about, const char *format, ...)
{
    va_list arguments;

    fprintf(out, "  %-11s ", about);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
}

static void say_filter(FILE *out, const struct regex_list *list, const char *option,
                       const char *url)
{
    for (size_t i = 0; i < list->count; i++)
        if (regexec(&list->at[i], url, 0, NULL, 0) == 0)
            say(out, "filter", "%s '%s' matches", option, list->texts[i]);
}

/* `line` of robots.txt says so; 0: none does. */
static void say_rules(FILE *out, const struct host *host, bool forbids, unsigned line)
{
    if (host->robots != ROBOTS_KNOWN)
        say(out, "robots.txt", "is not asked for");
    else if (host->forbids_all)
        say(out, "robots.txt", "could not be had, which forbids everything");
    else if (host->rules == NULL)
        say(out, "robots.txt", "there is none");
    else if (line > 0)
        say(out, "robots.txt", "line %u %s it", line, forbids ? "forbids" : "allows");
    else
        say(out, "robots.txt", "has no rule for it, which allows it");
}

static void say_pace(FILE *out, const struct options *options, const struct host *host)
{
    if (host->delay_ns > 0)
        say(out, "delay", "%g s between two requests", (double)host->delay_ns / 1e9);
    else
        say(out, "delay", "none");
    if (host->headers != NULL && host->headers[0] != NULL)
        say(out, "headers", "yours are sent");
    else if (options->headers.count + options->host_header_count > 0)
        say(out, "headers", "yours are for other hosts");
}

static const char *outcome(const struct target *page, const struct options *options,
                           bool forbidden)
{
    if (forbidden)
        return "left out: skipped, robots";
    if (page->kind == TARGET_SITE)
        return "fetched, and searched for links if it is HTML";
    return options->external == EXTERNAL_HEAD
               ? "checked by HEAD, then by GET if that fails"
               : "checked by GET";
}

static int say_of_host(struct crawler *crawler, struct target *page, FILE *out)
{
    bool on_site = page->kind == TARGET_SITE;
    struct host *host = frontier_host(&crawler->frontier, page->url,
                                      on_site ? FRONTIER_SITE : FRONTIER_EXTERNAL);
    unsigned line;
    int forbids, rc = host == NULL ? -ENOMEM : request_find_headers(crawler, host);

    if (rc == 0 && host->robots == ROBOTS_WANTED)
        rc = rules_get(crawler, host);
    if (rc < 0)
        return rc;
    forbids = rules_forbid(host, page->url, &line);
    if (forbids < 0)
        return forbids;
    say_rules(out, host, forbids > 0, line);
    say_pace(out, crawler->options, host);
    say(out, "so it is", "%s", outcome(page, crawler->options, forbids > 0));
    return 0;
}

static int say_of_page(struct crawler *crawler, struct target *page, FILE *out)
{
    const struct options *options = crawler->options;
    int inside = site_has(&crawler->site, page->url), reason;

    if (inside < 0)
        return inside;
    page->kind = inside ? TARGET_SITE : TARGET_EXTERNAL;
    say(out, "site", inside ? "yes, it belongs to the site" : "no, it leaves the site");
    say_filter(out, &options->exclude, "--exclude", page->url);
    say_filter(out, &options->include, "--include", page->url);
    reason = place_reason(crawler, page, NULL);
    if (reason == REASON_NONE)
        return say_of_host(crawler, page, out);
    if (reason > 0)
        say(out, "so it is", "left out: %s, %s",
            reason == REASON_OFFLINE ? "unchecked" : "skipped",
            reason_word((enum reason)reason));
    return reason < 0 ? reason : 0;
}

static int explain_url(struct crawler *crawler, const char *url, FILE *out)
{
    bool is_new;
    struct target *page = targets_get(&crawler->targets, url, 0, &is_new);
    int rc;

    if (page == NULL)
        return -ENOMEM;
    url_print(out, url);
    fputc('\n', out);
    rc = crawler_open(crawler);
    if (rc == 0)
        rc = say_of_page(crawler, page, out);
    crawler_close(crawler);
    return rc;
}

int explain(void *arg)
{
    const struct explanation *explanation = arg;
    struct options options = *explanation->options;
    const char *url = options.starts.at[0];
    struct crawler crawler;
    int rc;

    if (strstr(url, "://") == NULL) {
        fprintf(explanation->out,
                "%s\n  a file or folder of this machine, whose links are checked\n", url);
        return 0;
    }
    if (options.starts.count > 1) { /* what the site is, others say */
        options.starts.at++;
        options.starts.count--;
    }
    rc = crawler_init(&crawler, &options, NULL, 0);
    if (rc == 0)
        rc = explain_url(&crawler, url, explanation->out);
    crawler_finish(&crawler);
    return rc;
}
