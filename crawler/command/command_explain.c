/*
 * command_explain.c - coil-crawl explain URL: print whether a crawl would fetch a URL,
 * and why.
 *
 * The command calls the same functions as a crawl, so that its decisions are the same.
 */
#include "../crawl/crawl.h"
#include "../crawl/enqueue.h"
#include "../fetch/request.h"
#include "../fetch/robots_txt.h"
#include "../judge/verdicts.h"
#include "../url/url.h"
#include "notice.h"
#include "run.h"

#include <coil/task.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct explanation {
    const struct options *options;
    FILE *out;
};

/* Print a line that consists of a keyword and a text. */
static void print_line(FILE *out, const char *about, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_line(FILE *out, const char *about, const char *format, ...)
{
    va_list arguments;

    fprintf(out, "  %-11s ", about);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
}

static void print_filters(FILE *out, const struct pattern_list *list, const char *option,
                          const struct target *target)
{
    for (size_t i = 0; i < list->count; i++) {
        int rc = pattern_matches(list, i, target->page->url);
        bool is_of_page = rc != 0 || target->page == target;

        if (!is_of_page)
            rc = pattern_matches(list, i, target->url);
        if (rc != 0 && rc != -ENOMEM)
            print_line(out, "filter", "%s '%s' %s%s", option, pattern_text(list, i),
                       rc > 0 ? "matches" : "takes too long",
                       is_of_page ? "" : " the fragment");
    }
}

/*
 * Print whether robots.txt forbids the URL. `line` is the line number of the rule that
 * applies, or 0.
 */
static void print_rules(FILE *out, const struct host *host, bool forbids, unsigned line)
{
    if (host->robots.state != ROBOTS_KNOWN)
        print_line(out, "robots.txt", "is not fetched");
    else if (host->robots.failure != NULL && host->robots.failure->rc < 0)
        print_line(out, "robots.txt", "cannot be fetched, so nothing else is fetched: %s",
                   host->robots.failure->error);
    else if (host->robots.failure != NULL)
        print_line(out, "robots.txt", "%d %s, so nothing else is fetched",
                   host->robots.failure->status,
                   status_name(host->robots.failure->status));
    else if (host->robots.rules == NULL)
        print_line(out, "robots.txt", "there is none");
    else if (line > 0)
        print_line(out, "robots.txt", "line %u %s it", line,
                   forbids ? "forbids" : "allows");
    else
        print_line(out, "robots.txt", "has no rule for it, which allows it");
}

static void print_delay(FILE *out, const struct options *options, const struct host *host)
{
    if (host->pace.delay_ns > 0)
        print_line(out, "delay", "%g s between two requests",
                   (double)host->pace.delay_ns / 1e9);
    else
        print_line(out, "delay", "none");
    if (host->headers != NULL && host->headers[0] != NULL)
        print_line(out, "headers", "yours are sent");
    else if (options->headers.count + options->host_header_count > 0)
        print_line(out, "headers", "yours are for other hosts");
}

static const char *describe_method(const struct target *page,
                                   const struct options *options)
{
    if (page->kind == TARGET_SITE)
        return "fetched, and searched for links if it is HTML";
    return options->external == EXTERNAL_HEAD
               ? "checked by HEAD, then by GET if that fails"
               : "checked by GET";
}

static int explain_host(struct crawler *crawler, const struct target *page, FILE *out)
{
    struct host *host = page->host;
    unsigned line;
    int forbids, rc = request_find_headers(&crawler->requester, host);

    while (rc == 0 && host->robots.state == ROBOTS_WANTED) {
        rc = coil_sleep_until(host->pace.next_ns);
        if (rc == 0)
            rc = robots_txt_get(&crawler->requester, host);
    }
    if (rc < 0)
        return rc;
    forbids = robots_txt_forbids(host, page->url, &line);
    if (forbids < 0)
        return forbids;
    print_rules(out, host, forbids > 0, line);
    print_delay(out, crawler->options, host);
    if (forbids == 0 && host->robots.failure == NULL)
        print_line(out, "so it is", "%s", describe_method(page, crawler->options));
    return 0;
}

static int explain_site(struct crawler *crawler, const struct target *target, FILE *out)
{
    int inside = site_has(&crawler->enqueuer.site, target->page->url);

    if (inside < 0)
        return inside;
    print_line(out, "site",
               inside ? "yes, it belongs to the site" : "no, it leaves the site");
    print_filters(out, &crawler->options->exclude, "--exclude", target);
    print_filters(out, &crawler->options->include, "--include", target);
    return 0;
}

/* ---- the result -------------------------------------------------------------------- */

struct outcome {
    const struct target *target;
    FILE *out;
};

static int print_redirect(void *arg, const struct record_redirect *redirect)
{
    FILE *out = ((struct outcome *)arg)->out;

    fprintf(out, "  %-11s %d to ", "redirect", redirect->status);
    url_print(out, redirect->target != NULL     ? redirect->target
                   : redirect->location != NULL ? redirect->location
                                                : "nowhere");
    fputc('\n', out);
    return 0;
}

/*
 * Print the verdict if it is the one on the explained target, not one on a target to
 * which it redirects.
 */
static int print_verdict(void *arg, const struct record_verdict *verdict)
{
    const struct outcome *outcome = arg;
    const struct target *target = outcome->target;
    FILE *out = outcome->out;

    if (strcmp(verdict->target, target->page->url) != 0 ||
        (verdict->fragment != NULL) != (target->fragment_at > 0))
        return 0;
    fprintf(out, "  %-11s %s", "verdict", verdict_word(verdict->verdict));
    if (verdict->reason != REASON_NONE)
        fprintf(out, ", %s", reason_word(verdict->reason));
    if (verdict->message != NULL) {
        fputs(": ", out);
        url_print(out, verdict->message);
    }
    fputc('\n', out);
    return 0;
}

static int fetch_and_explain(struct crawler *crawler, struct target *target, FILE *out)
{
    struct target *page = target->page;
    int rc = explain_site(crawler, target, out);

    target->is_wanted = true;
    if (rc == 0)
        rc = enqueue_page(&crawler->enqueuer, page, NULL);
    if (rc == 0 && target != page)
        rc = enqueue_fragment(&crawler->enqueuer, target);
    if (rc == 0 && page->host != NULL)
        rc = explain_host(crawler, page, out);
    if (rc == 0)
        rc = crawler_fetch(crawler);
    return rc;
}

static int explain_url(struct crawler *crawler, struct outcome *outcome, const char *url)
{
    const char *sign = strchr(url, '#');
    bool is_new;
    struct target *target = targets_get(
        &crawler->targets, url, sign != NULL ? (size_t)(sign - url) + 1 : 0, &is_new);
    int rc;

    if (target == NULL)
        return -ENOMEM;
    outcome->target = target;
    url_print(outcome->out, url);
    fputc('\n', outcome->out);
    rc = crawler_open(crawler);
    if (rc == 0)
        rc = fetch_and_explain(crawler, target, outcome->out);
    crawler_close(crawler);
    return rc;
}

/*
 * Explain the first start URL. The site is defined by the other start URLs, or by the
 * first one if there are no others.
 */
static int crawl_for(const struct explanation *explanation, struct options *options,
                     const char *page)
{
    struct outcome outcome = {NULL, explanation->out};
    struct record_sink sink = {
        .redirect = print_redirect, .verdict = print_verdict, .arg = &outcome};
    const char *url = options->starts.at[0];
    struct crawler crawler;
    int rc;

    if (options->starts.count > 1) {
        options->starts.at++;
        options->starts.count--;
    } else {
        options->starts.at = &page;
    }
    rc = crawler_init(&crawler, options, NULL, &sink, 1);
    if (rc == 0)
        rc = explain_url(&crawler, &outcome, url);
    crawler_finish(&crawler);
    return rc;
}

static int explain(void *arg)
{
    const struct explanation *explanation = arg;
    struct options options = *explanation->options;
    const char *url = options.starts.at[0];
    char *page;
    int rc;

    if (strstr(url, "://") == NULL) {
        fprintf(explanation->out,
                "%s\n  a file or folder of this machine, whose links are checked\n", url);
        return 0;
    }
    page = strndup(url, strcspn(url, "#"));
    if (page == NULL)
        return -ENOMEM;
    rc = crawl_for(explanation, &options, page);
    free(page);
    return rc;
}

enum exit_status command_explain(const struct options *options)
{
    struct explanation explanation = {options, stdout};
    int rc = run_in_loop(options, explain, &explanation);

    if (rc == -EINTR) {
        notice_end(STATUS_INTERRUPTED, rc, NULL);
        return STATUS_INTERRUPTED;
    }
    if (rc < 0)
        notice_end(STATUS_FAILED, rc, NULL);
    return rc == 0 && fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILED;
}
