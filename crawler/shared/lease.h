/*
 * lease.h - what a worker does with a crawl that many share: it leases URLs, completes them, gives them back.
 *
 *     rc = leases_begin(&leases, redis, "NAME", &setup);
 *     if (rc >= 0)
 *         rc = leases_add(&leases, &starts);
 *     while ((rc = leases_acquire(&leases, LEASE_SITE, 16, &lease, &wait_ns)) >= 0) {
 *         if (rc == 0) {
 *             coil_sleep(wait_ns);
 *             continue;
 *         }
 *         while (lease.count > 0) {
 *             ... ask for lease.items[0].url ...
 *             rc = lease_complete(&leases, &lease, &done);
 *         }
 *     }                                            // -ENODATA: the crawl is over
 *
 * Each of them is one script; docs/design/many-machines.md says why they are so. All may be repeated when they
 * have failed. Functions fail as redis_run(), and with -EPROTO for a reply that no script of ours gives.
 */
#ifndef CRAWLER_LEASE_H
#define CRAWLER_LEASE_H

#include "redis/redis.h"

/* As in scripts/common.lua. */
enum lease_flag {
    LEASE_SITEMAP = 1,
    LEASE_IDS = 2, /* its ids are wanted, though it is of another site */
    LEASE_START = 4,
    LEASE_SINGLE = 8,   /* it is leased alone, since it was lost before */
    LEASE_GIVEN_UP = 32 /* it was lost too often: it is an error, and is not asked for */
};

/* Queues of a kind of hosts. */
enum lease_class {
    LEASE_SITE,
    LEASE_EXTERNAL,
    /* One host for all URLs that lead out of the site, it seems, and wait until all starts are through: then it is
       known what belongs to the site. Whoever leases them says which class they are of. */
    LEASE_HELD,
    LEASE_CLASSES
};

/* A URL in the frontier, without fragment. */
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
    bool is_known; /* for whoever has the lease; a new one is not */
};

/* Zeroes are none. */
struct lease {
    char token[24];   /* "": it is over */
    char *host;       /* a letter for the class, and the origin */
    int64_t pause_ns; /* so long nobody may ask the host, as others have learnt */
    bool is_troubled, has_told_sitemaps;
    bool is_lost;             /* somebody else has it by now */
    struct lease_item *items; /* that are neither completed nor given back */
    size_t count, capacity;
};

/* What a crawl is begun with; all workers must agree on it. */
struct leases_setup {
    const char *options; /* as one text */
    bool by_depth;
    int64_t max_pages, max_bytes; /* 0: no limit; of results that are not collected */
    unsigned split;               /* leases of a host at a time */
};

/* One worker's. */
struct leases {
    struct redis *redis;
    char key[80];      /* "coil:{NAME}" */
    char worker[33];   /* random */
    int64_t span_ns;   /* that a lease lasts */
    uint64_t seeds[3]; /* the crawl's: two for URLs, one for ids */
    /* As Redis has told last: */
    int64_t starts;  /* that are not through; -1: it has not told */
    int64_t origins; /* how many there are: leases_origins() */
};

#define LEASES_NAME_BYTES 64 /* the longest name of a crawl */

/* Letters, digits, '.', '_' and '-'. */
bool leases_is_name(const char *name);

/* Begin a crawl, or take part in one. 1 if it is new, 0 if it was there, -EEXIST if it was begun with
   other options, -EINVAL for what is no name. */
COIL_SUSPENDS int leases_begin(struct leases *leases, struct redis *redis,
                               const char *name, const struct leases_setup *setup,
                               int64_t span_ns);

/*
 * Know a crawl that is there, to collect it: -ENOENT if there is none. *options is what it was begun with, for
 * free().
 */
COIL_SUSPENDS int leases_join(struct leases *leases, struct redis *redis,
                              const char *name, char **options);

/* ---- links ------------------------------------------------------------------------- */

/* Words for a URL that was found; for leases_add() and lease_complete(). A URL that is none of the web is
   left out. */
void leases_link(const struct leases *leases, struct redis_words *links,
                 const struct lease_url *url);

/* The same of an origin that belongs to the site, since a start redirects there. */
void leases_origin(struct redis_words *links, const char *url);

/* Visit all such origins until visit() returns below 0, with that. */
COIL_SUSPENDS int leases_origins(struct leases *leases,
                                 int (*visit)(void *arg, const char *origin), void *arg);

/* Queue them, and begin: the crawl is over when nothing is left from now on. */
COIL_SUSPENDS int leases_add(struct leases *leases, const struct redis_words *links);

/* ---- leases ------------------------------------------------------------------------ */

/*
 * A host of the class, and up to `most` of its URLs. 1: *lease is the
 * caller's; 0: there is nothing for *wait_ns; -ENODATA: the crawl is over; -ENOBUFS: results
 * must be collected first.
 */
COIL_SUSPENDS int leases_acquire(struct leases *leases, enum lease_class class,
                                 unsigned most, struct lease *lease, int64_t *wait_ns);

#define LEASE_SITEMAPS 0 /* no item, but the sitemaps that the host's robots.txt names */

struct lease_result {
    int64_t number; /* of the item, or LEASE_SITEMAPS */
    const void *bytes;
    size_t n; /* 0: it is through, and nothing is kept of it */
};

/* What came of some items. */
struct lease_done {
    const struct lease_result *results;
    size_t count;
    const struct redis_words *links; /* that they, or others, have brought; or NULL */
    unsigned more;                   /* items that are wanted besides */
    int64_t pause_ns;                /* so long the host is to be left alone */
    bool is_troubled;
};

/* They go from lease->items, and more may come. Returns how many results were not taken: they were taken
   before, or the lease is lost. */
COIL_SUSPENDS int lease_complete(struct leases *leases, struct lease *lease,
                                 const struct lease_done *done);

/* One is to be given out again after a while, with the tries that lease->items[i] says. */
COIL_SUSPENDS int lease_release(struct leases *leases, struct lease *lease, size_t i,
                                int64_t delay_ns, int64_t pause_ns, bool is_troubled);

/* All are given back as they were; so is what the worker does not know of, since a reply has not reached it. For a
   lease that is not over though nothing of it is left. The host is to be left alone for pause_ns. */
COIL_SUSPENDS int lease_release_all(struct leases *leases, struct lease *lease,
                                    int64_t pause_ns, bool is_troubled);

/* A copy of its token, since the lease may end meanwhile. */
struct lease_renewal {
    char token[sizeof((struct lease *)0)->token];
    bool is_lost; /* it is not the worker's any more */
};

/* The worker is alive: its leases last longer. Sets is_lost of each. */
COIL_SUSPENDS int leases_renew(struct leases *leases, struct lease_renewal *renewals,
                               size_t count);

/* The worker ends: all that it has leased is given back as it was, also what an acquire has leased whose reply was
   not waited for. */
COIL_SUSPENDS int leases_leave(struct leases *leases);

/* Look after leases that have expired, and URLs that wait for their time. */
COIL_SUSPENDS int leases_reap(struct leases *leases);

/* Its memory; the lease itself expires. Zeroes are accepted. */
void lease_finish(struct lease *lease);

/* ---- results ----------------------------------------------------------------------- */

/* How far the crawl is, as leases_collect() has seen it. */
struct lease_progress {
    int64_t through, left;
};

/*
 * The next results behind the one of that number, about `most` of them, each visited with its number; those up
 * to it are forgotten, and their number must be of the last that one call has visited, or 0. Returns how many there
 * were; -ENODATA if there are none and the crawl is over; or what visit() has returned below 0.
 */
COIL_SUSPENDS int leases_collect(struct leases *leases, int64_t after, unsigned most,
                                 int (*visit)(void *arg, int64_t number,
                                              const void *bytes, size_t n),
                                 void *arg, struct lease_progress *progress);

/* The crawl is over, and all was collected: what it has in Redis goes, but for that it is over, which workers are
   told for another hour. */
COIL_SUSPENDS int leases_forget(struct leases *leases);

#endif
