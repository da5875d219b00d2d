/*
 * enqueue.c - see enqueue.h
 */
#include "enqueue.h"

#include "../url/url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int accept_page(struct enqueuer *enqueuer, struct target *page,
                       enum frontier_class class)
{
    page->host = frontier_host(enqueuer->frontier, page->url, class);
    if (page->host == NULL)
        return -ENOMEM;
    frontier_add(enqueuer->frontier, page);
    return 0;
}

/*
 * Return 1 if a pattern of the option matches the URL, 0 if not, or -ENOMEM. If matching
 * takes too long, return `if_slow`, and print a notice once for each pattern.
 */
static int match_patterns(const struct pattern_list *list, const char *option,
                          const char *url, int if_slow)
{
    size_t which;
    int rc = patterns_match(list, url, &which);

    if (rc != -ETIMEDOUT)
        return rc;
    if (pattern_is_news(list, which))
        fprintf(
            stderr,
            "coil-crawl: %s: \"%s\" takes too long for some URLs, which are left out\n",
            option, pattern_text(list, which));
    return if_slow;
}

/*
 * Return 1 if --exclude matches the URL and --include does not, otherwise 0 or -ENOMEM.
 * If matching takes too long, assume that --exclude matches, and that --include does not.
 */
static int is_excluded(const struct options *options, const char *url)
{
    int rc = match_patterns(&options->exclude, "--exclude", url, 1);

    if (rc <= 0)
        return rc;
    rc = match_patterns(&options->include, "--include", url, 0);
    return rc < 0 ? rc : rc == 0;
}

static bool is_known(const char *url, void *targets)
{
    return targets_find(targets, url) != NULL;
}

static enum reason trap_of(struct enqueuer *enqueuer, const struct target *page,
                           const char *from)
{
    const struct options *options = enqueuer->options;

    if (!options->trap_repeat_off && trap_repeats(page->url))
        return REASON_TRAP_REPEAT;
    if (!options->trap_session_off &&
        trap_session(&enqueuer->traps, page->url, is_known, enqueuer->targets))
        return REASON_TRAP_SESSION;
    if (!options->trap_calendar_off && from != NULL &&
        trap_calendar(from, page->url, enqueuer->begin_s))
        return REASON_TRAP_CALENDAR;
    return REASON_NONE;
}

/*
 * True for the URL that Cloudflare substitutes for "mailto:" links. A script on the page
 * decodes the address from the fragment or from an attribute, and restores the link. A
 * request for the URL itself returns 404.
 */
static bool hides_mail(const char *url)
{
    static const char path[] = "/cdn-cgi/l/email-protection";
    const char *host = strstr(url, "://");
    const char *at = host != NULL ? strchr(host + 3, '/') : NULL;

    return at != NULL && strcmp(at, path) == 0;
}

/*
 * True if --max-pages pages are enqueued. Always false in a shared crawl, where Redis
 * counts the pages.
 */
static bool has_enough_pages(const struct enqueuer *enqueuer)
{
    size_t max_pages = enqueuer->options->max_pages;

    return max_pages > 0 && enqueuer->shared == NULL && enqueuer->page_count >= max_pages;
}

static bool is_cached(const struct enqueuer *enqueuer, const struct target *page)
{
    return enqueuer->cache != NULL && enqueuer->options->fragments != FRAGMENTS_ALL &&
           cache_has(enqueuer->cache, page->url);
}

int enqueue_reason(struct enqueuer *enqueuer, const struct target *page, const char *from)
{
    const struct options *options = enqueuer->options;
    bool is_external = page->kind == TARGET_EXTERNAL;
    int excluded;

    if (strlen(page->url) > options->max_url_bytes)
        return REASON_LENGTH;
    excluded = is_excluded(options, page->url);
    if (excluded != 0)
        return excluded > 0 ? REASON_EXCLUDED : excluded;
    if (hides_mail(page->url))
        return REASON_MAIL;
    if (!is_external && has_enough_pages(enqueuer))
        return REASON_PAGES;
    if (is_external && options->external == EXTERNAL_SKIP)
        return REASON_EXTERNAL;
    if (enqueuer->is_offline)
        return REASON_OFFLINE;
    return is_external ? REASON_NONE : (int)trap_of(enqueuer, page, from);
}

static int leave_out(struct enqueuer *enqueuer, struct target *page, enum reason reason)
{
    enum verdict verdict = reason == REASON_OFFLINE ? VERDICT_UNCHECKED : VERDICT_SKIPPED;

    if (page->page == page)
        target_set_state(page, TARGET_LEFT_OUT);
    return verdicts_settle(enqueuer->verdicts, page, (struct judgement){verdict, reason},
                           NULL);
}

static int enqueue_external(struct enqueuer *enqueuer, struct target *page)
{
    int reason = enqueue_reason(enqueuer, page, NULL);

    if (reason != REASON_NONE)
        return reason < 0 ? reason : leave_out(enqueuer, page, (enum reason)reason);
    if (is_cached(enqueuer, page)) {
        target_set_state(page, TARGET_LEFT_OUT);
        return verdicts_settle(enqueuer->verdicts, page,
                               (struct judgement){VERDICT_OK, REASON_NONE},
                               "was OK recently (--cache)");
    }
    return accept_page(enqueuer, page, FRONTIER_EXTERNAL);
}

static void hold_page(struct enqueuer *enqueuer, struct target *page)
{
    target_set_state(page, TARGET_HELD);
    page->link = NULL;
    *enqueuer->undecided.end = page;
    enqueuer->undecided.end = &page->link;
    if (enqueuer->shared != NULL)
        shared_hold(enqueuer->shared, page);
}

static void release_held_page(struct enqueuer *enqueuer, struct target *page)
{
    struct target **at = &enqueuer->undecided.first;

    while (*at != page)
        at = &(*at)->link;
    *at = page->link;
    if (*at == NULL)
        enqueuer->undecided.end = at;
    target_set_state(page, TARGET_MET);
}

void enqueue_leased(struct enqueuer *enqueuer, struct target *page)
{
    if (page->state == TARGET_HELD)
        release_held_page(enqueuer, page);
}

int enqueue_file(struct enqueuer *enqueuer, struct target *file)
{
    int excluded = file->is_start ? 0 : is_excluded(enqueuer->options, file->url);

    file->kind = TARGET_FILE;
    if (excluded != 0)
        return excluded < 0 ? excluded : leave_out(enqueuer, file, REASON_EXCLUDED);
    return accept_page(enqueuer, file, FRONTIER_SITE);
}

/*
 * Enqueue a page that is not on the site. If some start URLs are not fetched yet, hold
 * the page: one of them may redirect to the page's host, which then belongs to the site.
 */
static int enqueue_outside(struct enqueuer *enqueuer, struct target *page)
{
    if (enqueuer->undecided.starts_open == 0)
        return enqueue_external(enqueuer, page);
    hold_page(enqueuer, page);
    return 0;
}

int enqueue_page(struct enqueuer *enqueuer, struct target *page, const char *from)
{
    int inside, reason;

    if (strncmp(page->url, "file:", 5) == 0)
        return enqueue_file(enqueuer, page);
    inside = site_has(&enqueuer->site, page->url);
    if (inside < 0)
        return inside;
    page->kind = inside ? TARGET_SITE : TARGET_EXTERNAL;
    if (!inside)
        return enqueue_outside(enqueuer, page);
    reason = enqueue_reason(enqueuer, page, from);
    if (reason == REASON_TRAP_CALENDAR) {
        target_set_state(page, TARGET_CALENDAR);
        return 0;
    }
    if (reason != REASON_NONE)
        return reason < 0 ? reason : leave_out(enqueuer, page, (enum reason)reason);
    if (page->depth > enqueuer->options->max_depth) {
        target_set_state(page, TARGET_TOO_DEEP);
        return 0;
    }
    enqueuer->page_count += !page->is_sitemap;
    return accept_page(enqueuer, page, FRONTIER_SITE);
}

int enqueue_start(struct enqueuer *enqueuer, struct target *page)
{
    if (page->state == TARGET_HELD)
        release_held_page(enqueuer, page);
    page->kind = TARGET_SITE;
    page->is_start = true;
    if (enqueuer->is_offline)
        return leave_out(enqueuer, page, REASON_OFFLINE);
    enqueuer->undecided.starts_open +=
        enqueuer->shared == NULL; /* Redis counts the start URLs of a shared crawl */
    enqueuer->page_count++;
    return accept_page(enqueuer, page, FRONTIER_SITE);
}

int enqueue_held(struct enqueuer *enqueuer)
{
    int rc = 0;

    while (enqueuer->undecided.first != NULL && rc == 0) {
        struct target *page = enqueuer->undecided.first;
        release_held_page(enqueuer, page);
        rc = enqueue_page(enqueuer, page, NULL);
    }
    return rc;
}

int enqueue_at_depth(struct enqueuer *enqueuer, struct target *page, unsigned depth)
{
    if (depth >= page->depth)
        return 0;
    page->depth = (uint16_t)depth;
    if (target_was_accepted(page))
        frontier_add(enqueuer->frontier, page);
    else if (page->state == TARGET_TOO_DEEP && page->verdict == VERDICT_OPEN)
        return enqueue_page(enqueuer, page, NULL);
    return 0;
}

/*
 * Send the page to Redis again, this time with a request for its ids, because another
 * process of the shared crawl may have fetched the page without storing them.
 */
static void send_again(struct enqueuer *enqueuer, struct target *page)
{
    if (page->state == TARGET_HELD)
        shared_hold(enqueuer->shared, page);
    else if (page->kind == TARGET_EXTERNAL && target_was_queued(page))
        frontier_add_again(enqueuer->frontier, page);
}

void enqueue_want_ids(struct enqueuer *enqueuer, struct target *page)
{
    while (page != NULL && !page->wants_body) {
        page->wants_body = true;
        if (enqueuer->shared != NULL)
            send_again(enqueuer, page);
        else if (page->kind != TARGET_SITE && page->state == TARGET_DONE &&
                 !target_is_searched(page) && page->next == NULL &&
                 page->verdict == VERDICT_OK) {
            page->refetch = REFETCH_IDS;
            frontier_add_again(enqueuer->frontier, page);
        }
        page = page->next;
    }
}

int enqueue_fragment(struct enqueuer *enqueuer, struct target *target)
{
    int excluded = is_excluded(enqueuer->options, target->url);

    if (excluded != 0)
        return excluded < 0 ? excluded : leave_out(enqueuer, target, REASON_EXCLUDED);
    if (enqueuer->options->fragments == FRAGMENTS_ALL ||
        target->page->kind == TARGET_FILE)
        enqueue_want_ids(enqueuer, target->page);
    return verdicts_await_page(enqueuer->verdicts, target);
}

int enqueue_text(struct enqueuer *enqueuer, struct target *target)
{
    int excluded = is_excluded(enqueuer->options, target->url);

    if (excluded != 0)
        return excluded < 0 ? excluded : leave_out(enqueuer, target, REASON_EXCLUDED);
    return verdicts_settle(enqueuer->verdicts, target,
                           (struct judgement){VERDICT_TEXT, REASON_NO_SUCH_TEXT}, NULL);
}

int enqueue_nearer(struct enqueuer *enqueuer, struct target *page, unsigned hops)
{
    int rc = 0;

    while (rc == 0 && page != NULL && page->hops > hops) {
        page->hops = (uint8_t)hops++;
        if (!target_is_decided(page) && page->hops <= enqueuer->options->max_redirects)
            rc = enqueue_page(enqueuer, page, NULL);
        page = page->next;
    }
    return rc;
}

void enqueuer_finish(struct enqueuer *enqueuer)
{
    site_finish(&enqueuer->site);
    traps_finish(&enqueuer->traps);
}
