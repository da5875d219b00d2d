/*
 * target.h - targets, the URLs of a crawl.
 *
 * A target is a URL with its fragment, if any. Its `page` is the target of the same URL
 * without the fragment, or the target itself if it has no fragment. Targets are stored in
 * the order in which they were found, and live as long as the crawl.
 *
 * Most links lead to a known target, and only its number of links has to be increased.
 * Increasing this number does not require the target itself, but only its `struct known`:
 * 32 bytes that are always in memory, while the target and its URL may be on disk
 * (cold.h).
 */
#ifndef CRAWLER_TARGET_H
#define CRAWLER_TARGET_H

#include "../base/arena.h"
#include "../base/blocks.h"
#include "../verdict/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;

enum target_kind {
    TARGET_SITE,     /* fetched for its content, and searched for links */
    TARGET_EXTERNAL, /* fetched only to check that it exists */
    TARGET_FILE,     /* a local file */
    /* the text of a link that is not a URL, or whose scheme is not followed */
    TARGET_TEXT
};

/*
 * The state of a target in the crawl, and what may happen next. docs/design/crawler.md
 * has a diagram of the transitions.
 */
enum target_state {
    TARGET_MET,      /* found; whether to fetch it is decided at the next link to it */
    TARGET_CALENDAR, /* in an endless calendar; decided again at the next link */
    TARGET_HELD,     /* not on the site so far; decided when all start URLs are fetched */
    TARGET_TOO_DEEP, /* beyond --max-depth; decided again if a shorter path is found */
    TARGET_LEFT_OUT, /* excluded, or known from the cache; never fetched */
    TARGET_ACCEPTED, /* in the frontier; queued when the crawl reaches its depth */
    TARGET_QUEUED,   /* in its host's queue, taken by a worker, or waiting for a retry */
    TARGET_NOTED,    /* queued after the replay, unless its answer was saved */
    TARGET_DONE,     /* answered, or forbidden by robots.txt */
    TARGET_STATES
};

/* Why a finished target is fetched again. */
enum target_refetch {
    REFETCH_NONE,
    REFETCH_COOKIE, /* its redirect loop has set a cookie; happens at most once */
    REFETCH_IDS     /* for its ids or text only; the verdict does not change */
};

/* What a page was searched for. */
enum target_content {
    CONTENT_NONE,    /* the page was not searched */
    CONTENT_LINKS,   /* only links, as in a style sheet */
    CONTENT_IDS,     /* links and ids */
    CONTENT_MARKDOWN /* links and ids; fragments also match ids in lower case */
};

/*
 * The state of one URL. There may be millions of targets, so small members are bit
 * fields. The struct has many members, because nested structs would need more bytes.
 */
struct target {
    const char *url; /* the encoded URL with its fragment, or the text of a link */
    struct target *page;
    struct target *next;    /* the target of its redirect */
    struct target *link;    /* next target in a host's queue or a list */
    struct target *waiting; /* first target that waits for the verdict of this one */
    struct host *host;      /* set before frontier_add() */
    const char *message;    /* explains the verdict to human readers; or NULL */
    const uint64_t *ids;    /* sorted hashes of the ids, if target_has_ids() */
    uint32_t id_count;
    uint32_t index;           /* number in order of discovery, from 0 */
    uint32_t first_reference; /* reference.h */
    uint32_t url_n;           /* length of `url` */
    uint32_t fragment_at;     /* offset in `url` after the '#', or 0 */
    int16_t status;           /* HTTP status; 0: no answer */
    uint16_t depth;           /* number of links on the shortest path from a start URL */
    uint8_t hops;             /* least number of redirects from a link to this target */
    uint8_t chain;            /* number of redirects that it leads to, once known */
    uint8_t tries;            /* number of requests so far */
    uint8_t reason;           /* enum reason */
    uint8_t verdict : 4;      /* enum verdict */
    uint8_t state : 4;        /* enum target_state: target_set_state() */
    uint8_t kind : 2;         /* enum target_kind */
    uint8_t content : 2;      /* enum target_content */
    uint8_t refetch : 2;      /* enum target_refetch */
    uint8_t refusals : 3;     /* number of refusals, up to THROTTLE_PAGE_REFUSALS */
    bool is_start : 1;    /* a start URL, or a page of the site to which one redirects */
    bool is_sitemap : 1;  /* named as a sitemap by robots.txt, a sitemap or the user */
    bool is_wanted : 1;   /* a link leads to it, so its verdict is reported */
    bool is_known : 1;    /* the baseline has its verdict, so it does not fail the run */
    bool wants_body : 1;  /* the ids in the page are needed, even on another site */
    bool sets_cookie : 1; /* its answer set a cookie */
};

#define TARGET_CAUSE_BYTES 64 /* "431 Request Header Fields Too Large" */

/*
 * The part of a target that most links need. URLs with equal keys are regarded as equal:
 * an attacker does not know the seeds, and so cannot construct two such URLs. Some
 * members are copied from the target by targets_remember(). An outdated copy does no
 * harm, because each of these members changes in one direction only: for example, the
 * depth never increases.
 */
struct known {
    uint64_t key[2];          /* two hashes of the URL with different seeds */
    uint32_t reference_count; /* number of links to the target, stored or not */
    uint32_t references;      /* index of the last stored link: reference.h */
    uint32_t number;          /* number in the file of the saved crawl; or 0 */
    uint16_t depth;           /* copy of target->depth, which may have decreased */
    bool is_wanted : 1;       /* copy of target->is_wanted */
    bool is_near : 1;         /* target_is_decided(), and target->hops is 0 */
    bool is_unreported : 1;   /* no report lists links to it: references_drop() */
    bool has_new : 1;         /* at least one link to it is not in the baseline */
    uint8_t counted : 5;      /* bit mask of verdicts counted for this page: summary.c */
};

/* The result of a lookup that does not access the struct target, which may be on disk. */
struct unseen {
    struct target *target;
    struct known *known;
    const char *url;
    size_t url_n;
};

struct targets {
    struct blocks all;   /* struct target, in order of discovery */
    struct blocks known; /* struct known, in the same order */
    size_t count;
    uint32_t *slots; /* the hash table: target.c */
    size_t capacity;
    uint64_t seeds[2], id_seed;
    struct arena arena; /* memory for texts and ids */
    struct text_slot *texts;
    size_t text_count, text_capacity; /* 0 or a power of two */
};

/* Change the state of a target. In debug builds, abort if the transition is not
   allowed. */
void target_set_state(struct target *target, enum target_state state);

/* Return true if the crawl has decided whether to fetch the target. */
static inline bool target_is_decided(const struct target *target)
{
    return target->state > TARGET_CALENDAR;
}

/* Return true if the target is or was in the frontier. */
static inline bool target_was_accepted(const struct target *target)
{
    return target->state >= TARGET_ACCEPTED;
}

/* Return true if the target is or was in the queue of its host. */
static inline bool target_was_queued(const struct target *target)
{
    return target->state > TARGET_ACCEPTED;
}

static inline bool target_is_searched(const struct target *target)
{
    return target->content != CONTENT_NONE;
}

static inline bool target_has_ids(const struct target *target)
{
    return target->content >= CONTENT_IDS;
}

/*
 * Initialize an empty table. Targets, texts and ids are stored in `cold`, which must
 * outlive them, or on the heap if `cold` is NULL.
 */
void targets_init(struct targets *targets, struct cold *cold);

/*
 * Set the seed for hashes of ids. Call this before the first id is hashed. A saved crawl
 * contains hashes of ids, so all of its runs need the same seed.
 */
void targets_set_id_seed(struct targets *targets, uint64_t seed);

/* Free the members. A zeroed struct is accepted. */
void targets_finish(struct targets *targets);

/*
 * Return the target of this URL, creating it and its page if necessary. `fragment_at` is
 * the offset of the fragment, after the '#', or 0. Stores in *is_new whether the target
 * was created. A new target has VERDICT_OPEN. Returns NULL if memory runs out.
 */
struct target *targets_get(struct targets *targets, const char *url, size_t fragment_at,
                           bool *is_new);

/*
 * The three steps of targets_get(). A caller that knows the next few URLs can interleave
 * them to avoid cache misses. targets_expect() returns the hash of a URL of length n, and
 * prefetches its slot. targets_expect_soon() prefetches the struct known.
 * targets_get_hashed() returns the target, like targets_get().
 */
uint64_t targets_expect(const struct targets *targets, const char *url, size_t n);
void targets_expect_soon(const struct targets *targets, uint64_t hash);
struct target *targets_get_hashed(struct targets *targets, const char *url, size_t n,
                                  uint64_t hash, size_t fragment_at, bool *is_new);

/*
 * Return the target of a URL, which may have a fragment, or NULL if it is unknown. This
 * function does not access the struct target.
 */
struct target *targets_find(const struct targets *targets, const char *url);

/*
 * Find the target of a URL without accessing the struct target. `hash` is the result of
 * targets_expect() for this URL. Returns true and fills in *unseen if the target exists.
 */
bool targets_find_unseen(const struct targets *targets, const char *url, size_t n,
                         uint64_t hash, struct unseen *unseen);

/* Return the struct known of a target. */
struct known *targets_known(const struct targets *targets, const struct target *target);

/* Update the struct known of a target and of its page. */
void targets_remember(const struct targets *targets, const struct target *target);

/*
 * Return the target with this index. The call may move other targets to disk, so even a
 * loop over all targets needs little memory.
 */
struct target *targets_at(const struct targets *targets, size_t index);

/*
 * Return a copy of the text that lives as long as the targets, or NULL if memory runs
 * out. Equal texts share a copy, except for some texts that are stored on disk.
 */
const char *targets_intern(struct targets *targets, const char *text, size_t n);

/*
 * The ids of a page are stored as hashes. targets_hash_id() returns the hash of an id.
 * targets_keep_ids() sorts n hashes and copies them to the page, and returns 0 or
 * -ENOMEM. target_has_id() returns true if the page has an id with this hash.
 */
uint64_t targets_hash_id(const struct targets *targets, const char *id, size_t n);
int targets_keep_ids(struct targets *targets, struct target *page, uint64_t *hashes,
                     size_t n);
bool target_has_id(const struct target *page, uint64_t hash);

/*
 * Return an explanation of the target's verdict for human readers: its message, a text
 * for its reason such as "no such file", or its status such as "404 Not Found", which is
 * stored in `to`. Returns NULL if there is no explanation.
 */
const char *target_cause(const struct target *target, char to[TARGET_CAUSE_BYTES]);

#endif
