/* enqueue.h - decide whether a new target is enqueued, held or left out. */
#ifndef CRAWLER_ENQUEUE_H
#define CRAWLER_ENQUEUE_H

#include "../files/cache.h"
#include "../frontier/frontier.h"
#include "../judge/verdicts.h"
#include "../scope/site.h"
#include "../scope/trap.h"
#include "../shared/shared.h"

/* Targets on other hosts. They are held until all starts are fetched, because a redirect
   of a start may add such a host to the site. */
struct undecided {
    struct target *first, **end;
    size_t starts_open; /* number of starts, including redirected ones, not yet fetched */
};

/* Decides whether new targets are fetched. All pointers are borrowed. */
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
    size_t page_count; /* number of accepted pages; --max-pages limits it */
    int64_t begin_s;   /* time(2) at the start of the crawl, or of its first saved run */
    bool is_offline;   /* nothing is fetched over the network */
};

/* Free the members. The struct may be zeroed. */
void enqueuer_finish(struct enqueuer *enqueuer);

/* Called when the first link to a page is found: decide whether to fetch the page. `from`
   is the URL of the linking page, or NULL. Returns 0, or fails like verdicts_settle(). */
int enqueue_page(struct enqueuer *enqueuer, struct target *page, const char *from);

/* Return why the page is excluded, REASON_NONE if it is not excluded, or -ENOMEM.
   page->kind must be set. */
int enqueue_reason(struct enqueuer *enqueuer, const struct target *page,
                   const char *from);

/* Decide whether to check a new target with a fragment. If an option excludes the target,
   leave it out. Otherwise settle it once its page has been searched. Returns 0, or fails
   like verdicts_settle(). */
int enqueue_fragment(struct enqueuer *enqueuer, struct target *target);

/* Enqueue a file or folder that is a start or the target of a link in a local file. A
   target that --exclude or --include rules out is left out. */
int enqueue_file(struct enqueuer *enqueuer, struct target *file);

/* Enqueue a start, even if a rule excludes it. */
int enqueue_start(struct enqueuer *enqueuer, struct target *page);

/* Remove a target from the held targets, because this process of a shared crawl has
   leased it. */
void enqueue_leased(struct enqueuer *enqueuer, struct target *page);

/* Enqueue or leave out all held targets. Call this after all starts were fetched: only
   then is it known which hosts belong to the site. */
int enqueue_held(struct enqueuer *enqueuer);

/* Record that a path of `depth` links leads to a page that was already enqueued or left
   out. If the path is shorter than all known ones, lower the page's depth. The page then
   moves forward in the queue, or is enqueued now if it was too deep before. */
int enqueue_at_depth(struct enqueuer *enqueuer, struct target *page, unsigned depth);

/* Request the ids of a page and of the targets of its redirects, even if the page is on
   another site. If such a page was already fetched without ids, fetch it again. */
void enqueue_want_ids(struct enqueuer *enqueuer, struct target *page);

/* Settle the verdict of a target whose linked text is missing from its page, unless an
   option excludes the target. */
int enqueue_text(struct enqueuer *enqueuer, struct target *target);

/* Record that a chain of only `hops` redirects leads to the page. If all known chains
   were longer, follow the redirects of the page that exceeded --max-redirects before. */
int enqueue_nearer(struct enqueuer *enqueuer, struct target *page, unsigned hops);

#endif
