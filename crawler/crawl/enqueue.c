/*
 * enqueue.c - what becomes of a target: asked for, or left out, and by which rule.
 */
#include "enqueue.h"

#include "member.h"
#include "../url/url.h"
#include "verdicts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int ask_for(struct crawler *crawler, struct target *page,
                   enum frontier_class class)
{
    page->host = frontier_host(&crawler->frontier, page->url, class);
    if (page->host == NULL)
        return -ENOMEM;
    frontier_add(&crawler->frontier, page);
    return 0;
}

/* 1 if a pattern of the option matches, 0 or -ENOMEM. One that takes too long is taken to say
   `if_slow`, and is named once. */
static int matches(const struct pattern_list *list, const char *option, const char *url,
                   int if_slow)
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

/* In doubt it is. */
static int is_excluded(const struct options *options, const char *url)
{
    int rc = matches(&options->exclude, "--exclude", url, 1);

    if (rc <= 0)
        return rc;
    rc = matches(&options->include, "--include", url, 0);
    return rc < 0 ? rc : rc == 0;
}

static bool is_known(const char *url, void *targets)
{
    return targets_find(targets, url) != NULL;
}

static enum reason trap_of(struct crawler *crawler, const struct target *page,
                           const char *from)
{
    const struct options *options = crawler->options;

    if (!options->trap_repeat_off && trap_repeats(page->url))
        return REASON_TRAP_REPEAT;
    if (!options->trap_session_off &&
        trap_session(&crawler->traps, page->url, is_known, &crawler->targets))
        return REASON_TRAP_SESSION;
    if (!options->trap_calendar_off && from != NULL &&
        trap_calendar(from, page->url, crawler->begin_s))
        return REASON_TRAP_CALENDAR;
    return REASON_NONE;
}

/*
 * Cloudflare puts this in the place of "mailto:", and the address, encoded, in the fragment or an
 * attribute. Its script puts that back; to others than browsers the URL is a 404.
 */
static bool hides_mail(const char *url)
{
    static const char path[] = "/cdn-cgi/l/email-protection";
    const char *host = strstr(url, "://");
    const char *at = host != NULL ? strchr(host + 3, '/') : NULL;

    return at != NULL && strcmp(at, path) == 0;
}

/* REASON_NONE for what is to be fetched; below 0 without memory. */
static int reason_against(const struct crawler *crawler, const struct target *page)
{
    const struct options *options = crawler->options;
    int excluded;

    if (strlen(page->url) > options->max_url_bytes)
        return REASON_LENGTH;
    excluded = is_excluded(options, page->url);
    if (excluded != 0)
        return excluded > 0 ? REASON_EXCLUDED : excluded;
    if (hides_mail(page->url))
        return REASON_MAIL;
    if (page->kind == TARGET_EXTERNAL || crawler->member != NULL)
        return REASON_NONE; /* of all that a shared crawl asks for, pages are counted where it is queued */
    return options->max_pages > 0 && crawler->page_count >= options->max_pages
               ? REASON_PAGES
               : REASON_NONE;
}

static bool is_cached(const struct crawler *crawler, const struct target *page)
{
    return crawler->cache != NULL && crawler->options->fragments != FRAGMENTS_ALL &&
           cache_has(crawler->cache, page->url);
}

/* A crawl that is only told asks nothing in any case. */
static bool is_offline(const struct crawler *crawler)
{
    return crawler->options->offline && !crawler->is_only_told;
}

static enum reason reason_of_mode(const struct crawler *crawler,
                                  const struct target *page)
{
    if (page->kind == TARGET_EXTERNAL && crawler->options->external == EXTERNAL_SKIP)
        return REASON_EXTERNAL;
    return is_offline(crawler) ? REASON_OFFLINE : REASON_NONE;
}

int enqueue_reason(struct crawler *crawler, const struct target *page, const char *from)
{
    int reason = reason_against(crawler, page);

    if (reason == REASON_NONE)
        reason = (int)reason_of_mode(crawler, page);
    if (reason == REASON_NONE && page->kind != TARGET_EXTERNAL)
        reason = (int)trap_of(crawler, page, from);
    return reason;
}

static int leave_out(struct crawler *crawler, struct target *page, enum reason reason)
{
    enum verdict verdict = reason == REASON_OFFLINE ? VERDICT_UNCHECKED : VERDICT_SKIPPED;

    if (page->page == page)
        target_set_state(page, TARGET_LEFT_OUT);
    return verdicts_settle(crawler, page, (struct judgement){verdict, reason}, NULL);
}

static int place_on_site(struct crawler *crawler, struct target *page, const char *from)
{
    int reason = enqueue_reason(crawler, page, from);

    if (reason == REASON_TRAP_CALENDAR) {
        target_set_state(page, TARGET_CALENDAR);
        return 0;
    }
    if (reason != REASON_NONE)
        return reason < 0 ? reason : leave_out(crawler, page, (enum reason)reason);
    if (page->depth > crawler->options->max_depth) {
        target_set_state(page, TARGET_TOO_DEEP);
        return 0;
    }
    crawler->page_count += !page->is_sitemap;
    return ask_for(crawler, page, FRONTIER_SITE);
}

static int place_external(struct crawler *crawler, struct target *page)
{
    int reason = enqueue_reason(crawler, page, NULL);

    if (reason != REASON_NONE)
        return reason < 0 ? reason : leave_out(crawler, page, (enum reason)reason);
    if (is_cached(crawler, page)) {
        target_set_state(page, TARGET_LEFT_OUT);
        return verdicts_settle(crawler, page, (struct judgement){VERDICT_OK, REASON_NONE},
                               "was well not long ago");
    }
    return ask_for(crawler, page, FRONTIER_EXTERNAL);
}

static void hold(struct crawler *crawler, struct target *page)
{
    target_set_state(page, TARGET_HELD);
    page->link = NULL;
    *crawler->held_end = page;
    crawler->held_end = &page->link;
    if (crawler->member != NULL)
        shared_hold(&crawler->member->shared, page);
}

static void unhold(struct crawler *crawler, struct target *page)
{
    struct target **at = &crawler->held;

    while (*at != page)
        at = &(*at)->link;
    *at = page->link;
    if (*at == NULL)
        crawler->held_end = at;
    target_set_state(page, TARGET_MET);
}

void enqueue_leased(struct crawler *crawler, struct target *page)
{
    if (page->state == TARGET_HELD)
        unhold(crawler, page);
}

int enqueue_file(struct crawler *crawler, struct target *file)
{
    int excluded = file->is_start ? 0 : is_excluded(crawler->options, file->url);

    file->kind = TARGET_FILE;
    if (excluded != 0)
        return excluded < 0 ? excluded : leave_out(crawler, file, REASON_EXCLUDED);
    return ask_for(crawler, file, FRONTIER_SITE);
}

int enqueue_page(struct crawler *crawler, struct target *page, const char *from)
{
    int inside;

    if (strncmp(page->url, "file:", 5) == 0)
        return enqueue_file(crawler, page);
    inside = site_has(&crawler->site, page->url);
    if (inside < 0)
        return inside;
    page->kind = inside ? TARGET_SITE : TARGET_EXTERNAL;
    if (inside)
        return place_on_site(crawler, page, from);
    if (crawler->starts_open == 0)
        return place_external(crawler, page);
    hold(crawler, page);
    return 0;
}

int enqueue_start(struct crawler *crawler, struct target *page)
{
    if (page->state == TARGET_HELD)
        unhold(crawler, page);
    page->kind = TARGET_SITE;
    page->is_start = true;
    if (is_offline(crawler))
        return leave_out(crawler, page, REASON_OFFLINE);
    crawler->starts_open +=
        crawler->member == NULL; /* those of all are counted elsewhere */
    crawler->page_count++;
    return ask_for(crawler, page, FRONTIER_SITE);
}

int enqueue_held(struct crawler *crawler)
{
    int rc = 0;

    while (crawler->held != NULL && rc == 0) {
        struct target *page = crawler->held;
        unhold(crawler, page);
        rc = enqueue_page(crawler, page, NULL);
    }
    return rc;
}

int enqueue_at_depth(struct crawler *crawler, struct target *page, unsigned depth)
{
    if (depth >= page->depth)
        return 0;
    page->depth = (uint16_t)depth;
    if (target_was_accepted(page))
        frontier_add(&crawler->frontier, page);
    else if (page->state == TARGET_TOO_DEEP && page->verdict == VERDICT_OPEN)
        return place_on_site(crawler, page, NULL);
    return 0;
}

/* Who shares a crawl does not know whether somebody has asked for it without them. */
static void hand_up_again(struct crawler *crawler, struct target *page)
{
    if (page->state == TARGET_HELD)
        shared_hold(&crawler->member->shared, page);
    else if (page->kind == TARGET_EXTERNAL && target_was_queued(page))
        frontier_add_again(&crawler->frontier, page);
}

void enqueue_want_ids(struct crawler *crawler, struct target *page)
{
    while (page != NULL && !page->wants_body) {
        page->wants_body = true;
        if (crawler->member != NULL)
            hand_up_again(crawler, page);
        else if (page->kind != TARGET_SITE && page->state == TARGET_DONE &&
                 !target_is_searched(page) && page->next == NULL &&
                 page->verdict == VERDICT_OK) {
            page->refetch = REFETCH_IDS;
            frontier_add_again(&crawler->frontier, page);
        }
        page = page->next;
    }
}

int enqueue_fragment(struct crawler *crawler, struct target *target)
{
    int excluded = is_excluded(crawler->options, target->url);

    if (excluded != 0)
        return excluded < 0 ? excluded : leave_out(crawler, target, REASON_EXCLUDED);
    if (crawler->options->fragments == FRAGMENTS_ALL || target->page->kind == TARGET_FILE)
        enqueue_want_ids(crawler, target->page);
    return verdicts_await_page(crawler, target);
}

int enqueue_text(struct crawler *crawler, struct target *target)
{
    int excluded = is_excluded(crawler->options, target->url);

    if (excluded != 0)
        return excluded < 0 ? excluded : leave_out(crawler, target, REASON_EXCLUDED);
    return verdicts_settle(crawler, target,
                           (struct judgement){VERDICT_TEXT, REASON_NO_SUCH_TEXT}, NULL);
}

int enqueue_nearer(struct crawler *crawler, struct target *page, unsigned hops)
{
    int rc = 0;

    while (rc == 0 && page != NULL && page->hops > hops) {
        page->hops = (uint8_t)hops++;
        if (!target_is_decided(page) && page->hops <= crawler->options->max_redirects)
            rc = enqueue_page(crawler, page, NULL);
        page = page->next;
    }
    return rc;
}
