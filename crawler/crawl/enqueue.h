/* enqueue.h - decide whether a new target is enqueued, held or left out. */
#ifndef CRAWLER_ENQUEUE_H
#define CRAWLER_ENQUEUE_H

#include "../files/cache.h"
#include "../frontier/frontier.h"
#include "../judge/verdicts.h"
#include "../scope/site.h"
#include "../scope/trap.h"
#include "../shared/shared.h"

/* Targets that seem to be on other sites, but are held because a start may still redirect
   to such a site. */
struct undecided {
    struct target *first, **end;
    size_t starts_open; /* starts, and targets of their redirects, that are not fetched */
};

/* Decides about new targets. The pointers are borrowed. */
struct enqueuer {
    const struct options *options;
    struct targets *targets;
    struct frontier *frontier;
    struct verdicts *verdicts;
    struct shared *shared; /* the shared crawl that this process takes part in; or NULL */
    struct cache *cache;   /* external targets that were OK recently; or NULL */
    struct site site;      /* the site, defined by all starts */
    struct traps traps;
    struct undecided undecided;
    size_t page_count; /* number of accepted pages, limited by --max-pages */
    int64_t begin_s;   /* time(2) at the beginning of the first run of a saved crawl */
    bool is_offline;   /* nothing is fetched over the network */
};

/* Free the members. The struct may be zeroed. */
void enqueuer_finish(struct enqueuer *enqueuer);

/* Decide whether to fetch a web page, when the first link to it is found. `from` is the
   URL of the linking page, or NULL. Returns 0, or fails like verdicts_settle(). */
int enqueue_page(struct enqueuer *enqueuer, struct target *page, const char *from);

/* Return the rule that excludes the page, REASON_NONE if it is not excluded, or -ENOMEM.
   page->kind must be set. */
int enqueue_reason(struct enqueuer *enqueuer, const struct target *page,
                   const char *from);

/* Decide whether to check a new target with a fragment: leave it out, or search its page
   for the id. Returns 0, or fails like verdicts_settle(). */
int enqueue_fragment(struct enqueuer *enqueuer, struct target *target);

/* Decide whether to read a file or folder that is a start or the target of a link in a
   local file. */
int enqueue_file(struct enqueuer *enqueuer, struct target *file);

/* Enqueue a start, even if a rule excludes it. */
int enqueue_start(struct enqueuer *enqueuer, struct target *page);

/* Stop holding a target, because this process has leased it in a shared crawl. */
void enqueue_leased(struct enqueuer *enqueuer, struct target *page);

/* Enqueue or leave out all held targets. Call this when all starts are fetched, because
   the site is known from then on. */
int enqueue_held(struct enqueuer *enqueuer);

/* Record that a path of `depth` links leads to a page that was enqueued or left out
   before. If the path is shorter than all known ones, lower the page's depth and enqueue
   it again. */
int enqueue_at_depth(struct enqueuer *enqueuer, struct target *page, unsigned depth);

/* Make sure that the ids of a page, and of the targets of its redirects, are fetched,
   even if the page is on another site. */
void enqueue_want_ids(struct enqueuer *enqueuer, struct target *page);

/* Settle the verdict of a target whose linked text is missing from its page, unless an
   option excludes the target. */
int enqueue_text(struct enqueuer *enqueuer, struct target *target);

/* Record that a chain of only `hops` redirects leads to the page. If this chain is
   shorter than the known ones, follow redirects of the page that were beyond
   --max-redirects. */
int enqueue_nearer(struct enqueuer *enqueuer, struct target *page, unsigned hops);

#endif
