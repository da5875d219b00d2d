/*
 * enqueue.h - decide whether to fetch a new target. A target that is not fetched is "left
 * out", and gets a verdict at once. A target on another host is "held" until all start
 * URLs are fetched.
 */
#ifndef CRAWLER_ENQUEUE_H
#define CRAWLER_ENQUEUE_H

#include "../files/cache.h"
#include "../frontier/frontier.h"
#include "../judge/verdicts.h"
#include "../scope/site.h"
#include "../scope/trap.h"
#include "../shared/shared.h"

/*
 * The held targets. If a start URL redirects to another host, that host may belong to the
 * site, so targets on other hosts are held until all start URLs are fetched.
 */
struct undecided {
    struct target *first, **end;
    size_t starts_open; /* number of start URLs (and their redirects) not yet fetched */
};

/* The data on which these decisions depend. All pointers are borrowed. */
struct enqueuer {
    const struct options *options;
    struct targets *targets;
    struct frontier *frontier;
    struct verdicts *verdicts;
    struct shared *shared; /* the shared crawl that this process takes part in; or NULL */
    struct cache *cache;   /* external targets that were OK recently; or NULL */
    struct site site;      /* the site, defined by all start URLs */
    struct traps traps;
    struct undecided undecided;
    size_t page_count; /* number of enqueued pages, limited by --max-pages */
    int64_t begin_s;   /* time(2) at the start of the crawl, or of its first saved run */
    bool is_offline;   /* fetch nothing over the network */
};

/* Free the members. A zeroed struct is accepted. */
void enqueuer_finish(struct enqueuer *enqueuer);

/*
 * Decide whether to fetch a page. Call this when a link to the page is found, until
 * target_is_decided() is true. `from` is the URL of the linking page, or NULL. Returns 0,
 * or fails like verdicts_settle().
 */
int enqueue_page(struct enqueuer *enqueuer, struct target *page, const char *from);

/* Return why the page is excluded, REASON_NONE if it is not excluded, or -ENOMEM.
   page->kind must be set. */
int enqueue_reason(struct enqueuer *enqueuer, const struct target *page,
                   const char *from);

/*
 * Handle a new target with a fragment: if an option excludes it, leave it out; otherwise
 * it gets its verdict once its page has been searched. Returns 0, or fails like
 * verdicts_settle().
 */
int enqueue_fragment(struct enqueuer *enqueuer, struct target *target);

/*
 * Enqueue a file or folder that the user named, or that a local file links to. If the
 * user did not name it, and --exclude applies to it, leave it out.
 */
int enqueue_file(struct enqueuer *enqueuer, struct target *file);

/* Enqueue a start URL, even if a rule excludes it. */
int enqueue_start(struct enqueuer *enqueuer, struct target *page);

/*
 * Remove a target from the held targets, if it is one. Called when this process of a
 * shared crawl has leased the target.
 */
void enqueue_leased(struct enqueuer *enqueuer, struct target *page);

/*
 * Enqueue or leave out all held targets. Call this after all start URLs were fetched,
 * when all hosts of the site are known.
 */
int enqueue_held(struct enqueuer *enqueuer);

/*
 * Lower the depth of a page to `depth`, if its depth is greater, because a shorter path
 * to the page was found. If the page is still queued, it is fetched earlier. If it was
 * too deep until now, it is enqueued.
 */
int enqueue_at_depth(struct enqueuer *enqueuer, struct target *page, unsigned depth);

/*
 * Make the crawl store the ids of a page and of the pages it redirects to, even on other
 * sites. Pages on other sites that were already fetched without ids are fetched again.
 */
void enqueue_want_ids(struct enqueuer *enqueuer, struct target *page);

/*
 * Give a target the verdict that its text was not found on the page, or leave it out if
 * an option excludes it.
 */
int enqueue_text(struct enqueuer *enqueuer, struct target *target);

/*
 * Lower page->hops to `hops`, if it is greater, because a shorter chain of redirects
 * leads to the page. Pages of the chain that exceeded --max-redirects until now are
 * enqueued.
 */
int enqueue_nearer(struct enqueuer *enqueuer, struct target *page, unsigned hops);

#endif
