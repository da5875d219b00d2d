/*
 * lease.h - the operations of one process, a "worker", in a shared crawl: lease URLs, and
 * complete or release them.
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
 * Each operation runs a script in Redis, and can be repeated after a failure. The
 * functions fail like redis_run(), and with -EPROTO if the reply of a script is invalid.
 * docs/design/many-machines.md explains the design.
 */
#ifndef CRAWLER_LEASE_H
#define CRAWLER_LEASE_H

#include "redis/redis.h"

/* Flags of an item. The values are the same as in scripts/common.lua. */
enum lease_flag {
    LEASE_SITEMAP = 1,
    /* the ids in the page are needed, even if it is on another site */
    LEASE_IDS = 2,
    LEASE_START = 4,
    LEASE_SINGLE = 8, /* an earlier lease was lost: lease the item alone */
    /* too many leases of it were lost: report an error instead of fetching it */
    LEASE_GIVEN_UP = 32
};

/* The class of a host or URL. Workers lease the URLs of each class separately. */
enum lease_class {
    LEASE_SITE,
    LEASE_EXTERNAL,
    /*
     * URLs that seem to be outside the site, all in the queue of one common host. Such
     * URLs are not leased before all start URLs are completed, when the site's origins
     * are known. The worker that leases such URLs moves each of them to its real class.
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
    int64_t number; /* number of the item within its lease */
    struct lease_url url;
    char *text;    /* url.url */
    bool is_known; /* used by the caller; false in a new item */
};

/* Initialize with zeroes. */
struct lease {
    char token[24]; /* "" once the lease has ended */
    char *host;     /* letter of the class, followed by the origin */
    /*
     * send no requests to the host for this time, because it asked another worker to wait
     */
    int64_t pause_ns;
    bool is_troubled, has_reported_sitemaps;
    bool is_lost;             /* the lease has expired or was released */
    struct lease_item *items; /* items not yet completed or released */
    size_t count, capacity;
};

/*
 * The version of a crawl's data in Redis. The crawl stores the version with which it
 * began, and processes with another version refuse to join it. Increment the version
 * whenever the keys, items or results change (scripts/common.lua, setup_text.h,
 * page_blob.h, link_blob.h), or the hashes of URLs.
 */
#define LEASES_FORMAT 1

/* The input of a crawl, which must be the same for all workers. */
struct leases_setup {
    const char *options; /* options and start URLs as one text */
    bool by_depth;
    /*
     * Limits; 0: no limit. max_bytes limits the total size of the results that are
     * waiting to be collected.
     */
    int64_t max_pages, max_bytes;
    unsigned split; /* maximum number of workers with leases of one host */
};

/* The state of one worker. */
struct leases {
    struct redis *redis;
    char key[80];    /* "coil:{NAME}" */
    char worker[33]; /* random */
    int64_t span_ns; /* duration of a lease */
    uint64_t calls;  /* number of calls of lease_complete() */
    int64_t format;  /* version of the crawl's data; 0 if the crawl does not store it */
    /* Seeds of this crawl: two for hashes of URLs, and one for hashes of ids. */
    uint64_t seeds[3];
    int64_t starts;  /* number of uncompleted start URLs; -1 if unknown */
    int64_t origins; /* number of origins added with leases_origin() */
};

#define LEASES_NAME_BYTES 64 /* maximum length of a crawl's name */

/*
 * True if the name consists of 1 to LEASES_NAME_BYTES letters, digits, '.', '_' and '-'.
 */
bool leases_is_name(const char *name);

/*
 * Begin a crawl, or join it if it exists. Returns 1 if the crawl is new, or 0 if it
 * already existed. Fails with -EEXIST if it was begun with other options, with -EINVAL if
 * the name is invalid, or with -EPROTONOSUPPORT if leases->format is not LEASES_FORMAT.
 */
COIL_SUSPENDS int leases_begin(struct leases *leases, struct redis *redis,
                               const char *name, const struct leases_setup *setup,
                               int64_t span_ns);

/*
 * Open an existing crawl to collect its results. Stores the options with which the crawl
 * was begun in *options, which the caller frees. Fails with -ENOENT if the crawl does not
 * exist, or with -EPROTONOSUPPORT like leases_begin().
 */
COIL_SUSPENDS int leases_join(struct leases *leases, struct redis *redis,
                              const char *name, char **options);

/* Write the message for -EPROTONOSUPPORT of leases_begin() or leases_join(). */
void leases_describe_format(const struct leases *leases, const char *name, char *words,
                            size_t n);

/* ---- links ------------------------------------------------------------------------- */

/*
 * Append a link to the arguments of leases_add() or lease_complete(). URLs other than
 * http: and https: are ignored.
 */
void leases_link(const struct leases *leases, struct redis_words *links,
                 const struct lease_url *url);

/* Append an origin that belongs to the site, because a start URL redirects to it. */
void leases_origin(struct redis_words *links, const char *url);

/*
 * Call visit() for each origin that any worker has added with leases_origin(). If visit()
 * returns a negative value, stop and return it.
 */
COIL_SUSPENDS int leases_origins(struct leases *leases,
                                 int (*visit)(void *arg, const char *origin), void *arg);

/* Enqueue the start URLs. From now on, the crawl is over when all URLs are completed. */
COIL_SUSPENDS int leases_add(struct leases *leases, const struct redis_words *links);

/* ---- leases ------------------------------------------------------------------------ */

/*
 * Lease up to `most` URLs of one host of the class. Returns 1, and a lease that the
 * caller owns, or 0 if no URL can be leased at present and the caller should try again
 * after *wait_ns. Fails with -ENODATA if the crawl is over, or with -ENOBUFS if results
 * must be collected first.
 */
COIL_SUSPENDS int leases_acquire(struct leases *leases, enum lease_class class,
                                 unsigned most, struct lease *lease, int64_t *wait_ns);

/* number of a result that belongs to no item: the sitemaps in the host's robots.txt */
#define LEASE_SITEMAPS 0

struct lease_result {
    int64_t number; /* lease_item.number, or LEASE_SITEMAPS */
    const void *bytes;
    size_t n; /* 0: complete the item without a result */
};

/* The items to complete, with their results. */
struct lease_done {
    const struct lease_result *results;
    size_t count;
    const struct redis_words *links; /* links, from these or other results, or NULL */
    unsigned more;                   /* maximum number of further items to lease */
    int64_t pause_ns;                /* send no requests to the host for this time */
    bool is_troubled;
};

/*
 * Complete items, removing them from lease->items, and lease up to done->more further
 * items of the host. Returns the number of results that Redis ignored because the item
 * was already completed or the lease was lost.
 */
COIL_SUSPENDS int lease_complete(struct leases *leases, struct lease *lease,
                                 const struct lease_done *done);

/*
 * Release item i, which can be leased again after delay_ns. The caller must first update
 * lease->items[i].url.tries.
 */
COIL_SUSPENDS int lease_release(struct leases *leases, struct lease *lease, size_t i,
                                int64_t delay_ns, int64_t pause_ns, bool is_troubled);

/*
 * End the lease, and release all its items unchanged, even those missing in lease->items
 * because a reply was lost. No worker sends requests to the host for pause_ns.
 */
COIL_SUSPENDS int lease_release_all(struct leases *leases, struct lease *lease,
                                    int64_t pause_ns, bool is_troubled);

/* A lease to renew. The token is a copy, because the lease may end during the call. */
struct lease_renewal {
    char token[sizeof((struct lease *)0)->token];
    bool is_lost; /* the lease no longer belongs to the worker */
};

/* Renew leases of this worker, and set is_lost for each of them. */
COIL_SUSPENDS int leases_renew(struct leases *leases, struct lease_renewal *renewals,
                               size_t count);

/*
 * End all leases of this worker, and release their items unchanged. This includes a lease
 * of which the worker does not know because it did not wait for the reply.
 */
COIL_SUSPENDS int leases_leave(struct leases *leases);

/*
 * End the expired leases of all workers, and enqueue released URLs whose delay is over.
 */
COIL_SUSPENDS int leases_reap(struct leases *leases);

/*
 * Free the memory of the lease, which remains in Redis until it expires. A zeroed struct
 * is accepted.
 */
void lease_finish(struct lease *lease);

/* ---- results ----------------------------------------------------------------------- */

/* Numbers of completed and of remaining URLs, as of the last call of leases_collect(). */
struct lease_progress {
    int64_t through, left;
};

/*
 * Visit about `most` of the results whose numbers are greater than `after`. Redis deletes
 * the results up to `after`, which must be 0 or the last number that was visited. Returns
 * the number of visited results. Fails with -ENODATA if no results are left and the crawl
 * is over, or with a negative value that visit() returned.
 */
COIL_SUSPENDS int leases_collect(struct leases *leases, int64_t after, unsigned most,
                                 int (*visit)(void *arg, int64_t number,
                                              const void *bytes, size_t n),
                                 void *arg, struct lease_progress *progress);

/*
 * Delete the data of a crawl that is over and was collected. For an hour, Redis remembers
 * that the crawl is over, so that late workers stop too.
 */
COIL_SUSPENDS int leases_forget(struct leases *leases);

#endif
