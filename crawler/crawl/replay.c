/*
 * replay.c - a crawl that is kept in a file, made again in memory.
 *
 * Pages are digested in the order in which they were written. That is not quite the order in which
 * they were met: what the first links of a long page lead to may be written before that page is. So a
 * page that nobody has asked for yet is put off, and looked at again once all others are through, for
 * as long as that helps. What is left then is what a page links to that was never written: it will
 * be asked for again.
 */
#include "replay.h"

#include "../base/array.h"

#include <coil/task.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_A_TURN 256 /* before others run, and a signal is heeded */

struct replay {
    struct crawler *crawler;
    struct store *store;
    struct saved_urls book;
    replay_function digest;
    void *arg;
    int64_t *put_off; /* numbers of pages */
    size_t put_off_count, put_off_capacity;
    unsigned turn;
};

static int put_off(struct replay *replay, int64_t number)
{
    if (replay->put_off_count == replay->put_off_capacity &&
        array_grow(&replay->put_off, &replay->put_off_capacity, sizeof *replay->put_off) <
            0)
        return -ENOMEM;
    replay->put_off[replay->put_off_count++] = number;
    return 0;
}

/* The target of a page, if it waits to be asked for. */
static struct target *waiting_target(const struct replay *replay,
                                     const struct store_page *page)
{
    const char *url = saved_urls_at(&replay->book, page->url);
    struct target *target =
        url != NULL ? targets_find(&replay->crawler->targets, url) : NULL;

    return target != NULL && target->state == TARGET_NOTED ? target : NULL;
}

/* Of a robots.txt that names sitemaps: nobody need point at it. */
static int take_sitemaps(struct replay *replay, const struct store_page *page)
{
    const char *url = saved_urls_at(&replay->book, page->url);
    struct target *rules;
    bool is_new;
    int rc;

    if (url == NULL)
        return -EBADMSG;
    rules = targets_get(&replay->crawler->targets, url, 0, &is_new);
    if (rules == NULL)
        return -ENOMEM;
    rc = replay->digest(replay->arg, rules, page, &replay->book);
    return rc < 0 ? rc : 1;
}

/* 1 if it was digested, 0 if it is put off. */
static int take_page(struct replay *replay, int64_t number, const struct store_page *page)
{
    struct target *target;
    int rc;

    cold_tend(replay->crawler->targets.all.cold);
    if (++replay->turn % PAGES_A_TURN == 0 && (rc = coil_yield()) < 0)
        return rc;
    if ((page->flags & STORE_SITEMAPS) != 0)
        return take_sitemaps(replay, page);
    target = waiting_target(replay, page);
    if (target == NULL)
        return put_off(replay, number);
    frontier_noted_is_done(&replay->crawler->frontier, target);
    rc = replay->digest(replay->arg, target, page, &replay->book);
    return rc < 0 ? rc : 1;
}

/* What went wrong with the file, in words. */
static int complain(const struct replay *replay, int rc, const char *words)
{
    if (rc == -ENOMEM || replay->crawler->result.complaint != NULL)
        return rc;
    replay->crawler->result.complaint = strdup(words);
    return replay->crawler->result.complaint != NULL ? rc : -ENOMEM;
}

static int take_all(struct replay *replay)
{
    struct store_page page;
    int64_t number = 0;
    int rc;

    while ((number = store_next_page(replay->store, number, &page)) > 0) {
        rc = take_page(replay, number, &page);
        if (rc < 0)
            return rc;
    }
    return number < 0 ? complain(replay, (int)number, store_message(replay->store)) : 0;
}

/* Returns how many of them were digested. */
static int take_put_off(struct replay *replay)
{
    size_t count = replay->put_off_count;
    struct store_page page;
    int digested = 0, rc;

    replay->put_off_count = 0;
    for (size_t i = 0; i < count;
         i++) { /* what is put off again takes a place that is free */
        int64_t number = replay->put_off[i];
        int64_t found = store_next_page(replay->store, number - 1, &page);

        if (found < 0)
            return complain(replay, (int)found, store_message(replay->store));
        rc = found == number ? take_page(replay, number, &page) : 0;
        if (rc < 0)
            return rc;
        digested += rc;
    }
    return digested;
}

/* The target that has a number in the file, if the crawl has met it. */
static void keep_number(const struct targets *targets, const char *url, uint32_t number)
{
    size_t n = strlen(url);
    struct unseen target;

    if (targets_find_unseen(targets, url, n, targets_expect(targets, url, n), &target))
        target.known->number = number;
}

/* The numbers that the file has for URLs count for what is written from now on. */
static void keep_numbers(const struct replay *replay)
{
    struct crawler *crawler = replay->crawler;

    if (crawler->saving.state == NULL ||
        state_store(crawler->saving.state) != replay->store)
        return;
    for (size_t i = 1; i < replay->book.count; i++) {
        const char *url = saved_urls_at(&replay->book, (uint32_t)i);

        cold_tend(crawler->targets.all.cold);
        if (url != NULL)
            keep_number(&crawler->targets, url, (uint32_t)i);
    }
}

/* Links name its URLs in no order, so that it is not cold. */
static int read_book(struct replay *replay)
{
    int rc = saved_urls_read(&replay->book, replay->store, NULL);

    return rc < 0 ? complain(replay, rc, store_message(replay->store)) : rc;
}

static int run(struct replay *replay)
{
    int rc = read_book(replay);

    if (rc == 0)
        rc = take_all(replay);
    while (rc == 0 && replay->put_off_count > 0 && (rc = take_put_off(replay)) > 0)
        rc = 0;
    if (rc == 0)
        keep_numbers(replay);
    return rc;
}

int replay(struct crawler *crawler, struct store *store, replay_function digest,
           void *arg)
{
    struct replay replay = {
        .crawler = crawler, .store = store, .digest = digest, .arg = arg};
    int rc = run(&replay);

    if (rc == -EBADMSG)
        rc = complain(&replay, rc, "the file of the crawl is damaged");
    saved_urls_finish(&replay.book);
    free(replay.put_off);
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
