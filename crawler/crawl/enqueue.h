/*
 * enqueue.h - what becomes of a target: asked for, or left out, and by which rule.
 */
#ifndef CRAWLER_ENQUEUE_H
#define CRAWLER_ENQUEUE_H

#include "../files/cache.h"
#include "../frontier/frontier.h"
#include "../judge/verdicts.h"
#include "../scope/site.h"
#include "../scope/trap.h"
#include "../shared/shared.h"

/* Targets that seem to be on other sites, while a start may still redirect there. */
struct undecided {
    struct target *first, **end;
    size_t starts_open; /* starts, and targets of their redirects, that are not fetched */
};

/* Decides about new targets. Borrows the pointers. */
struct enqueuer {
    const struct options *options;
    struct targets *targets;
    struct frontier *frontier;
    struct verdicts *verdicts;
    struct shared *shared; /* the shared crawl that this process takes part in; or NULL */
    struct cache *cache;   /* external targets that were OK lately; or NULL */
    struct site site;      /* all starts */
    struct traps traps;
    struct undecided undecided;
    size_t page_count; /* accepted pages: --max-pages */
    int64_t begin_s;   /* of a saved crawl, when its first run began; time(2) */
    bool is_offline;   /* nothing is fetched over the network */
};

/* Zeroes are accepted. */
void enqueuer_finish(struct enqueuer *enqueuer);

/* A web page that was met for the first time: it is asked for, or settled. `from` is the
   URL of the page that links to it; NULL if no page does. 0, or as verdicts_settle(). */
int enqueue_page(struct enqueuer *enqueuer, struct target *page, const char *from);

/* The rule against asking for a page whose kind is known, REASON_NONE if there is none, or
   -ENOMEM. */
int enqueue_reason(struct enqueuer *enqueuer, const struct target *page,
                   const char *from);

/* A place of a page, which was met for the first time: it is left out, or its page has to be searched
   for it. 0, or as verdicts_settle(). */
int enqueue_fragment(struct enqueuer *enqueuer, struct target *target);

/* A file or folder that a link of a local file points at, or that was named: is_start. */
int enqueue_file(struct enqueuer *enqueuer, struct target *file);

/* A start, whatever the rules say. */
int enqueue_start(struct enqueuer *enqueuer, struct target *page);

/* The target was leased, by a crawl that is shared: it is not held any more. */
void enqueue_leased(struct enqueuer *enqueuer, struct target *page);

/* All starts are known, and so is what belongs to the site: what was held is placed. */
int enqueue_held(struct enqueuer *enqueuer);

/* There is a way of so many links to a page that was placed before: the shortest counts. */
int enqueue_at_depth(struct enqueuer *enqueuer, struct target *page, unsigned depth);

/* Its ids are asked for, or those of where it redirects to, although it may be of another site. */
void enqueue_want_ids(struct enqueuer *enqueuer, struct target *page);

/* A text of a page that is missing: it gets its verdict, unless --exclude leaves it out. */
int enqueue_text(struct enqueuer *enqueuer, struct target *target);

/* It is reached by fewer redirects than was known: go on where its chain was given up. */
int enqueue_nearer(struct enqueuer *enqueuer, struct target *page, unsigned hops);

#endif
