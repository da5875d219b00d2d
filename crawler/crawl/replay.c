/*
 * replay.c - see replay.h
 *
 * Pages are processed in the order in which they were saved. A page can only be processed
 * after a page that links to it. However, while a long page was being searched, linked
 * pages may have been saved before it. So a page to which no link is known yet is
 * postponed. The postponed pages are tried again until none of them can be processed. The
 * remaining ones are dropped, because no saved page links to them. Dropped pages are
 * fetched again when a link to them is found.
 */
#include "replay.h"

#include "../base/array.h"
#include "process.h"

#include <coil/task.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_A_TURN 256 /* number of pages after which other tasks may run */

struct replay {
    struct crawler *crawler;
    struct store *store;
    struct saved_urls urls;
    struct page_search *pages;
    int64_t *postponed; /* numbers of the postponed pages */
    size_t postponed_count, postponed_capacity;
    unsigned turn;
};

/* ---- one page ---------------------------------------------------------------------- */

/* Report the sitemaps of a host, and mark them as reported. */
static int process_sitemaps(struct visit *visit)
{
    struct target *rules = visit->page;
    struct host *host =
        frontier_host(&visit->crawler->frontier, rules->url, FRONTIER_SITE);

    if (host == NULL)
        return -ENOMEM;
    host->robots.has_reported_sitemaps = true;
    return page_search_replay(visit->pages, rules, &visit->saved, &visit->found);
}

/*
 * Process a saved answer as if it had just arrived. The file contains only the last
 * answer for each page, and the number of tries.
 */
static int process_saved_answer(struct visit *visit)
{
    struct crawler *crawler = visit->crawler;
    struct target *page = visit->page;
    const struct store_page *saved = visit->saved.page;
    struct answer answer;
    int rc;

    replay_answer(saved, &answer);
    answer.received_bytes = saved->bytes;
    page->tries = (uint8_t)(saved->tries < UINT8_MAX ? saved->tries : UINT8_MAX);
    crawler->verdicts.summary.bytes += saved->bytes;
    visit->request.wants_body = (saved->flags & STORE_WANTED_IDS) != 0;
    visit->request.begin_ns = crawler->result.begin_ns + saved->at_ns;
    visit->request.duration_ns = saved->duration_ns;
    if (crawler->saving.earlier_ns < saved->at_ns + saved->duration_ns)
        crawler->saving.earlier_ns = saved->at_ns + saved->duration_ns;
    rc = report_answer(visit, &answer);
    return rc == 0 ? process_answer(visit, &answer) : rc;
}

static int process_forbidden(struct crawler *crawler, struct target *page,
                             const struct store_page *saved)
{
    struct answer failure;

    if (saved->rc == 0 && saved->status == 0)
        return forbid_page(crawler, page, saved->line);
    replay_answer(saved, &failure);
    return fail_page(crawler, page, &failure);
}

static int process_saved(struct replay *replay, struct target *page,
                         const struct store_page *saved)
{
    struct visit visit = {.crawler = replay->crawler,
                          .pages = replay->pages,
                          .page = page,
                          .saved = {saved, &replay->urls}};

    if ((saved->flags & STORE_ROBOTS) != 0)
        return process_forbidden(replay->crawler, page, saved);
    return (saved->flags & STORE_SITEMAPS) != 0 ? process_sitemaps(&visit)
                                                : process_saved_answer(&visit);
}

/* ---- all pages --------------------------------------------------------------------- */

static int postpone(struct replay *replay, int64_t number)
{
    if (replay->postponed_count == replay->postponed_capacity &&
        array_grow(&replay->postponed, &replay->postponed_capacity,
                   sizeof *replay->postponed) < 0)
        return -ENOMEM;
    replay->postponed[replay->postponed_count++] = number;
    return 0;
}

/*
 * Return the target of a page if it is still waiting for its saved answer (TARGET_NOTED),
 * else NULL.
 */
static struct target *waiting_target(const struct replay *replay,
                                     const struct store_page *page)
{
    const char *url = saved_urls_at(&replay->urls, page->url);
    struct target *target =
        url != NULL ? targets_find(&replay->crawler->targets, url) : NULL;

    return target != NULL && target->state == TARGET_NOTED ? target : NULL;
}

/*
 * Process the sitemaps listed in a robots.txt. Its target usually has to be created,
 * because pages rarely link to robots.txt.
 */
static int replay_sitemaps(struct replay *replay, const struct store_page *page)
{
    const char *url = saved_urls_at(&replay->urls, page->url);
    struct target *rules;
    bool is_new;
    int rc;

    if (url == NULL)
        return -EBADMSG;
    rules = targets_get(&replay->crawler->targets, url, 0, &is_new);
    if (rules == NULL)
        return -ENOMEM;
    rc = process_saved(replay, rules, page);
    return rc < 0 ? rc : 1;
}

/*
 * Process or postpone a page. Returns 1 if it was processed, 0 if it was postponed, or a
 * negative error.
 */
static int replay_page(struct replay *replay, int64_t number,
                       const struct store_page *page)
{
    struct target *target;
    int rc;

    cold_tend(replay->crawler->targets.all.cold);
    if (++replay->turn % PAGES_A_TURN == 0 && (rc = coil_yield()) < 0)
        return rc;
    if ((page->flags & STORE_SITEMAPS) != 0)
        return replay_sitemaps(replay, page);
    target = waiting_target(replay, page);
    if (target == NULL)
        return postpone(replay, number);
    frontier_noted_is_done(&replay->crawler->frontier, target);
    rc = process_saved(replay, target, page);
    return rc < 0 ? rc : 1;
}

/* Store the error message `words`, unless `rc` is -ENOMEM or a message is already stored.
   Returns `rc`. */
static int set_complaint(const struct replay *replay, int rc, const char *words)
{
    if (rc == -ENOMEM || replay->crawler->result.complaint != NULL)
        return rc;
    replay->crawler->result.complaint = strdup(words);
    return replay->crawler->result.complaint != NULL ? rc : -ENOMEM;
}

static int replay_all(struct replay *replay)
{
    struct store_page page;
    int64_t number = 0;
    int rc;

    while ((number = store_next_page(replay->store, number, &page)) > 0) {
        rc = replay_page(replay, number, &page);
        if (rc < 0)
            return rc;
    }
    return number < 0 ? set_complaint(replay, (int)number, store_message(replay->store))
                      : 0;
}

/*
 * Try all postponed pages again. Returns the number of pages that were processed, or a
 * negative error.
 */
static int replay_postponed(struct replay *replay)
{
    size_t count = replay->postponed_count;
    struct store_page page;
    int processed = 0, rc;

    replay->postponed_count = 0;
    for (size_t i = 0; i < count; i++) { /* postpone() overwrites entries before i */
        int64_t number = replay->postponed[i];
        int64_t found = store_next_page(replay->store, number - 1, &page);

        if (found < 0)
            return set_complaint(replay, (int)found, store_message(replay->store));
        rc = found == number ? replay_page(replay, number, &page) : 0;
        if (rc < 0)
            return rc;
        processed += rc;
    }
    return processed;
}

/* If the URL has a target, store in it the number of the URL in the crawl's file. */
static void store_number(const struct targets *targets, const char *url, uint32_t number)
{
    size_t n = strlen(url);
    struct unseen target;

    if (targets_find_unseen(targets, url, n, targets_expect(targets, url, n), &target))
        target.known->number = number;
}

/*
 * Store the numbers of all URLs in their targets, because the pages saved from now on
 * must use the same numbers.
 */
static void store_numbers(const struct replay *replay)
{
    struct crawler *crawler = replay->crawler;

    if (crawler->saving.state == NULL ||
        state_store(crawler->saving.state) != replay->store)
        return;
    for (size_t i = 1; i < replay->urls.count; i++) {
        const char *url = saved_urls_at(&replay->urls, (uint32_t)i);

        cold_tend(crawler->targets.all.cold);
        if (url != NULL)
            store_number(&crawler->targets, url, (uint32_t)i);
    }
}

/* Read all URLs into memory, because links refer to them in random order. */
static int read_urls(struct replay *replay)
{
    int rc = saved_urls_read(&replay->urls, replay->store, NULL);

    return rc < 0 ? set_complaint(replay, rc, store_message(replay->store)) : rc;
}

static int run_replay(struct replay *replay)
{
    int rc = read_urls(replay);

    if (rc == 0)
        rc = replay_all(replay);
    while (rc == 0 && replay->postponed_count > 0 && (rc = replay_postponed(replay)) > 0)
        rc = 0;
    if (rc == 0)
        store_numbers(replay);
    return rc;
}

static int replay_store(struct crawler *crawler, struct store *store,
                        struct page_search *pages)
{
    struct replay replay = {.crawler = crawler, .store = store, .pages = pages};
    int rc = run_replay(&replay);

    if (rc == -EBADMSG)
        rc = set_complaint(&replay, rc, "the file of the crawl is damaged");
    saved_urls_finish(&replay.urls);
    free(replay.postponed);
    return rc;
}

int replay(struct crawler *crawler)
{
    struct page_search pages;
    int rc = page_search_init(&pages, crawler);

    pages.is_replay = true; /* replayed pages are not saved again */
    if (rc == 0)
        rc = replay_store(crawler, crawler->saving.earlier, &pages);
    page_search_finish(&pages);
    crawler->saving.bytes = crawler->verdicts.summary.bytes;
    crawler->result.begin_ns -= crawler->saving.earlier_ns;
    return rc;
}

void replay_answer(const struct store_page *page, struct answer *answer)
{
    *answer = (struct answer){.rc = page->rc < 0 ? page->rc : 0,
                              .status = page->status,
                              .content_type = page->content_type,
                              .location = page->location,
                              .is_challenge = (page->flags & STORE_CHALLENGE) != 0,
                              .sets_cookie = (page->flags & STORE_SETS_COOKIE) != 0,
                              .is_late = (page->flags & STORE_LATE) != 0,
                              .is_tls = (page->flags & STORE_TLS) != 0,
                              .is_too_long = (page->flags & STORE_TOO_LONG) != 0,
                              .has_body = (page->flags & STORE_BODY) != 0,
                              .size = page->size};
    if (page->error != NULL)
        snprintf(answer->error, sizeof answer->error, "%s", page->error);
}
