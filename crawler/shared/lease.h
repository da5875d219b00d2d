/*
 * lease.h - the operations of a worker of a shared crawl: it leases URLs, completes or
 * releases them.
 *
 *     rc = leases_begin(&leases, redis, "NAME", &setup, span_ns);
 *     if (rc >= 0)
 *         rc = leases_add(&leases, &starts);
 *     while ((rc = leases_acquire(&leases, LEASE_SITE, 16, &lease, &wait_ns)) >= 0) {
 *         if (rc == 0) {
 *             coil_sleep(wait_ns);
 *             continue;
 *         }
 *         while (lease.count > 0) {
 *             ... fetch lease.items[0].url ...
 *             rc = lease_complete(&leases, &lease, &done);
 *         }
 *     }     // -ENODATA: the crawl is over
 *
 * Each operation is one script in Redis. docs/design/many-machines.md explains the
 * design. After a failure, each operation can be repeated. The functions fail as
 * redis_run() does, and with -EPROTO if Redis returns a reply that the scripts never
 * return.
 */
#ifndef CRAWLER_LEASE_H
#define CRAWLER_LEASE_H

#include "redis/redis.h"

/* The values are those of scripts/common.lua. */
enum lease_flag {
    LEASE_SITEMAP = 1,
    /* the page's element ids are needed, although the page belongs to another site */
    LEASE_IDS = 2,
    LEASE_START = 4,
    LEASE_SINGLE = 8,   /* leased alone, because it was lost before */
    LEASE_GIVEN_UP = 32 /* Lost too often: report it as an error, and do not fetch it. */
};

/* The queues. Each host is in one of them. */
enum lease_class {
    LEASE_SITE,
    LEASE_EXTERNAL,
    /*
     * URLs that seem to be outside the site. They wait under one common host until all
     * start URLs are completed, because only then it is known what belongs to the site. A
     * worker that leases them decides for each which of the other classes it belongs to.
     */
    LEASE_HELD,
    LEASE_CLASSES
};

/* A URL in the frontier, without its fragment. */
struct lease_url {
    const char *url;
    enum lease_class class;
    unsigned flags;
    unsigned tries, losses, hops, depth;
};

struct lease_item {
    int64_t number; /* within the lease */
    struct lease_url url;
    char *text;    /* url.url */
    bool is_known; /* free for the caller; false in a new item */
};

/* Initialize with zeroes. */
struct lease {
    char token[24]; /* "": the lease has ended */
    char *host;     /* a letter for the class, and then the origin */
    /* do not contact the host for this time: it told another worker to wait */
    int64_t pause_ns;
    bool is_troubled, has_told_sitemaps;
    bool is_lost;             /* another worker has the lease now */
    struct lease_item *items; /* not yet completed or released */
    size_t count, capacity;
};

/* The input of a crawl. It must be equal for all workers. */
struct leases_setup {
    const char *options; /* as one text */
    bool by_depth;
    /* 0: no limit. max_bytes limits the results that wait to be collected. */
    int64_t max_pages, max_bytes;
    unsigned split; /* how many workers may lease URLs of one host at the same time */
};

/* The state of one worker. */
struct leases {
    struct redis *redis;
    char key[80];    /* "coil:{NAME}" */
    char worker[33]; /* random */
    int64_t span_ns; /* the duration of a lease */
    /* seeds of the crawl: two for hashes of URLs, one for hashes of ids */
    uint64_t seeds[3];
    /* The last values that Redis returned: */
    int64_t starts;  /* start URLs that are not completed yet; -1: not known yet */
    int64_t origins; /* how many origins leases_origins() would visit */
};

#define LEASES_NAME_BYTES 64 /* the longest name of a crawl */

/*
 * True for a name of letters, digits, '.', '_' and '-', and of at most LEASES_NAME_BYTES.
 */
bool leases_is_name(const char *name);

/*
 * Begin a crawl, or take part in one that exists. Returns 1 if the crawl is new, and 0 if
 * it existed. Fails with -EEXIST if it was begun with other options, or -EINVAL if the
 * name is not valid.
 */
COIL_SUSPENDS int leases_begin(struct leases *leases, struct redis *redis,
                               const char *name, const struct leases_setup *setup,
                               int64_t span_ns);

/*
 * Open an existing crawl to collect its results. *options is the text that the crawl was
 * begun with; the caller frees it. Fails with -ENOENT if the crawl does not exist.
 */
COIL_SUSPENDS int leases_join(struct leases *leases, struct redis *redis,
                              const char *name, char **options);

/* ---- links ------------------------------------------------------------------------- */

/*
 * Append a link to the arguments of leases_add() or lease_complete(). URLs other than
 * http: and https: are ignored.
 */
void leases_link(const struct leases *leases, struct redis_words *links,
                 const struct lease_url *url);

/*
 * Append an origin that belongs to the site, because a start URL redirects to it.
 */
void leases_origin(struct redis_words *links, const char *url);

/*
 * Call visit() for all origins from leases_origin(), of all workers. If visit() returns
 * a negative value, stop and return it.
 */
COIL_SUSPENDS int leases_origins(struct leases *leases,
                                 int (*visit)(void *arg, const char *origin), void *arg);

/*
 * Enqueue the start URLs and begin the crawl. From now on the crawl is over once no URL
 * is left.
 */
COIL_SUSPENDS int leases_add(struct leases *leases, const struct redis_words *links);

/* ---- leases ------------------------------------------------------------------------ */

/*
 * Lease up to `most` URLs of one host of the class. Returns 1 with a lease that the
 * caller owns, or 0 if there is no work for at least *wait_ns. Fails with -ENODATA if the
 * crawl is over, and with -ENOBUFS if results must be collected first.
 */
COIL_SUSPENDS int leases_acquire(struct leases *leases, enum lease_class class,
                                 unsigned most, struct lease *lease, int64_t *wait_ns);

/* not an item, but the sitemaps that the host's robots.txt names */
#define LEASE_SITEMAPS 0

struct lease_result {
    int64_t number; /* number of the item, or LEASE_SITEMAPS */
    const void *bytes;
    size_t n; /* 0: the item is completed without a result */
};

/* The results of some items. */
struct lease_done {
    const struct lease_result *results;
    size_t count;
    const struct redis_words *links; /* links in these results or in others; or NULL */
    unsigned more;    /* how many further items to lease from the same host */
    int64_t pause_ns; /* do not contact the host for this time */
    bool is_troubled;
};

/*
 * Complete the items. Removes them from lease->items; further items may be added.
 * Returns how many results were ignored, because the item was completed before or the
 * lease was lost.
 */
COIL_SUSPENDS int lease_complete(struct leases *leases, struct lease *lease,
                                 const struct lease_done *done);

/*
 * Release an item, which will be leased again after delay_ns. lease->items[i] has the new
 * number of tries.
 */
COIL_SUSPENDS int lease_release(struct leases *leases, struct lease *lease, size_t i,
                                int64_t delay_ns, int64_t pause_ns, bool is_troubled);

/*
 * Release all items unchanged. This includes items that the worker does not know, because
 * a reply was lost. It ends a lease that Redis keeps open although lease->items is empty.
 * No worker will contact the host for pause_ns.
 */
COIL_SUSPENDS int lease_release_all(struct leases *leases, struct lease *lease,
                                    int64_t pause_ns, bool is_troubled);

/* Contains a copy of the token, because the lease may end in the meantime. */
struct lease_renewal {
    char token[sizeof((struct lease *)0)->token];
    bool is_lost; /* the lease does not belong to the worker any more */
};

/* Extend the leases of this worker. Sets is_lost in each renewal. */
COIL_SUSPENDS int leases_renew(struct leases *leases, struct lease_renewal *renewals,
                               size_t count);

/*
 * End this worker: release all its leases unchanged. This includes a lease whose reply
 * the worker did not wait for.
 */
COIL_SUSPENDS int leases_leave(struct leases *leases);

/* End leases that have expired, and enqueue URLs whose delay is over. */
COIL_SUSPENDS int leases_reap(struct leases *leases);

/*
 * Free the memory of the lease. In Redis the lease itself expires. A lease of zeroes is
 * allowed.
 */
void lease_finish(struct lease *lease);

/* ---- results ----------------------------------------------------------------------- */

/*
 * The numbers of completed and remaining URLs when leases_collect() returned.
 */
struct lease_progress {
    int64_t through, left;
};

/*
 * Visit the next results after number `after`, about `most` of them. Redis deletes the
 * results up to `after`. So `after` must be the last number that a previous call visited,
 * or 0. Returns how many results were visited. Fails with -ENODATA if there are none and
 * the crawl is over, or with the negative value of visit().
 */
COIL_SUSPENDS int leases_collect(struct leases *leases, int64_t after, unsigned most,
                                 int (*visit)(void *arg, int64_t number,
                                              const void *bytes, size_t n),
                                 void *arg, struct lease_progress *progress);

/*
 * Delete the data of a crawl that is over and collected. Redis stores only the
 * fact that the crawl is over, for another hour, so that late workers learn of it.
 */
COIL_SUSPENDS int leases_forget(struct leases *leases);

#endif
