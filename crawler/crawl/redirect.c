/*
 * redirect.c - handle pages that redirect.
 *
 * Each URL in a chain of redirects is a separate target, and is fetched only once, even
 * if it is in several chains. target->hops, the number of redirects that lead to a
 * target, is used to limit the length of chains.
 */
#include "redirect.h"

#include "../judge/redirect_fragment.h"
#include "../url/url.h"
#include "enqueue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 256

/*
 * Enqueue the target of a redirect. If `page` is a start URL and the hosts are related,
 * the target becomes a start URL too, and its host becomes part of the site. For example,
 * http://example.org/ often redirects to https://www.example.org:8443/.
 */
static int enqueue_next(struct enqueuer *enqueuer, const struct target *page,
                        struct target *next)
{
    unsigned hops = page->hops + 1U; /* page->hops is at most 251 */
    bool is_near = hops <= enqueuer->options->max_redirects;
    int rc;

    next->is_sitemap |= page->is_sitemap;
    if (page->is_start && is_near && url_sibling_hosts(page->url, next->url)) {
        rc = site_add(&enqueuer->site, next->url);
        if (enqueuer->shared != NULL)
            shared_add_origin(enqueuer->shared, next->url);
        if (rc < 0 || target_was_accepted(next))
            return rc;
        next->hops = (uint8_t)hops;
        next->depth = page->depth;
        targets_remember(enqueuer->targets, next); /* hops may have increased */
        return enqueue_start(enqueuer, next);
    }
    if (target_is_decided(next)) {
        rc = enqueue_at_depth(enqueuer, next, page->depth);
        return rc == 0 && next->hops > hops ? enqueue_nearer(enqueuer, next, hops) : rc;
    }
    if (next->hops == 0 || page->depth < next->depth)
        next->depth = page->depth;
    if (next->hops == 0 || hops < next->hops)
        next->hops = (uint8_t)hops;
    return is_near ? enqueue_page(enqueuer, next, NULL) : 0;
}

/*
 * True if page->next may be fetched again. In a replay, return `reopens`, the decision of
 * the earlier run.
 */
static bool may_refetch(const struct enqueuer *enqueuer, const struct target *page,
                        bool reopens)
{
    if (enqueuer->frontier->notes_only)
        return reopens;
    return enqueuer->options->cookies && page->next->refetch != REFETCH_COOKIE;
}

/*
 * If the redirect closes a loop, and a page of the loop sets a cookie, enqueue page->next
 * again and return true: with the cookie, the server may not redirect any more.
 */
static bool refetches_loop(struct enqueuer *enqueuer, struct target *page, bool *reopens)
{
    struct target *next = page->next;

    *reopens = may_refetch(enqueuer, page, *reopens) &&
               verdicts_reopen_loop(enqueuer->verdicts, page);
    if (!*reopens)
        return false;
    next->refetch = REFETCH_COOKIE;
    enqueuer->undecided.starts_open += next->is_start;
    frontier_add_again(enqueuer->frontier, next);
    return true;
}

static int follow_to_web(struct enqueuer *enqueuer, struct target *page, struct url *url,
                         const char *location, bool *reopens)
{
    struct record_redirect record = {page->url, location, page->status, NULL};
    struct target *next;
    bool is_new;
    int rc;

    if (url->fragment_at > 0)
        url->href[url->fragment_at - 1] = '\0';
    if (redirect_set_fragment(enqueuer->verdicts, page,
                              url->fragment_at > 0 ? url->href + url->fragment_at
                                                   : NULL) < 0)
        return -ENOMEM;
    next = targets_get(enqueuer->targets, url->href, 0, &is_new);
    if (next == NULL)
        return -ENOMEM;
    record.target = next->url;
    rc = records_redirect(&enqueuer->verdicts->sinks, &record);
    if (rc == 0)
        rc = enqueue_next(enqueuer, page, next);
    if (rc < 0)
        return rc;
    page->next = next;
    if (page->wants_body || (redirect_wanted_fragment(enqueuer->verdicts, page) != NULL &&
                             enqueuer->options->fragments == FRAGMENTS_ALL))
        enqueue_want_ids(enqueuer, next);
    if (refetches_loop(enqueuer, page, reopens) && page == next)
        return 0;
    rc = verdicts_await_next(enqueuer->verdicts, page);
    if (rc == 0 && !target_is_decided(next))
        rc = verdicts_give_up(enqueuer->verdicts, next);
    return rc;
}

/* Report a redirect to a URL whose scheme is not followed, such as "mailto:". */
static int report_other_scheme(struct enqueuer *enqueuer, const struct target *page,
                               struct url *url, const char *location)
{
    struct record_redirect record = {page->url, location, page->status, url->href};

    if (url->fragment_at > 0)
        url->href[url->fragment_at - 1] = '\0';
    return records_redirect(&enqueuer->verdicts->sinks, &record);
}

static int fail_redirect(struct enqueuer *enqueuer, struct target *page,
                         enum reason reason, const char *location)
{
    char message[MESSAGE_BYTES];

    if (reason == REASON_REDIRECT_SCHEME)
        snprintf(message, sizeof message, "redirects to another scheme: %s", location);
    else if (location != NULL)
        snprintf(message, sizeof message, "redirects to an invalid URL: %s", location);
    else
        snprintf(message, sizeof message, "redirects to nowhere: %d without a Location",
                 page->status);
    return verdicts_settle(enqueuer->verdicts, page,
                           (struct judgement){VERDICT_BROKEN, reason}, message);
}

/* Give the page the verdict "broken", because its Location is missing or is not a URL. */
static int fail_without_location(struct enqueuer *enqueuer, struct target *page,
                                 const char *location)
{
    struct record_redirect record = {page->url, location, page->status, NULL};
    int rc = records_redirect(&enqueuer->verdicts->sinks, &record);

    return rc < 0 ? rc : fail_redirect(enqueuer, page, REASON_REDIRECT_NOWHERE, location);
}

int redirect_follow(struct enqueuer *enqueuer, struct target *page, const char *location,
                    bool *reopens)
{
    struct whatwg_url base = {0};
    struct url url = {.kind = URL_OTHER};
    int rc;

    if (location == NULL)
        return fail_without_location(enqueuer, page, NULL);
    rc = whatwg_url_parse(page->url, strlen(page->url), NULL, &base);
    if (rc == 0)
        rc = url_parse(&base, location, &url);
    whatwg_url_finish(&base);
    if (rc == -EINVAL)
        return fail_without_location(enqueuer, page, location);
    if (rc == 0 && url.kind == URL_WEB)
        rc = follow_to_web(enqueuer, page, &url, location, reopens);
    else if (rc == 0)
        rc = report_other_scheme(enqueuer, page, &url, location);
    if (rc == 0 && url.kind != URL_WEB)
        rc = fail_redirect(enqueuer, page, REASON_REDIRECT_SCHEME, location);
    free(url.href);
    return rc;
}
