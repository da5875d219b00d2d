/*
 * target.h - what the crawl knows of one URL, and all of them together.
 *
 * A target is a URL with its fragment, if it has one. The one without is its page; a
 * target without a fragment is its own page. Targets lie in blocks, in the order in
 * which they were met, and live as long as the crawl.
 *
 * Most links of a site lead to what is known already, and change nothing but a count. For these there
 * is `struct known`, 32 bytes that are always in memory: the target itself, and its text, may be cold
 * (cold.h), and are not looked at.
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
    TARGET_EXTERNAL, /* asked whether it is there */
    TARGET_FILE,     /* a local file */
    TARGET_TEXT /* a link's text that is no URL, or of a scheme that is not followed */
};

struct target {
    const char *url; /* with the fragment, as in a URL; or the text */
    struct target *page;
    struct target *next;    /* where it redirects to */
    struct target *link;    /* in its host's queue, or in what it waits for */
    struct target *waiting; /* the first whose verdict waits for this one's */
    struct host *host;      /* where it is asked for */
    const char *message;    /* a sentence for humans, or NULL */
    const uint64_t *ids;    /* of a page that was searched, hashed and sorted */
    uint32_t id_count;
    uint32_t index;           /* among all targets, from 0 */
    uint32_t first_reference; /* reference.h */
    uint32_t url_n;           /* the length of `url` */
    uint32_t fragment_at; /* where it begins in `url`, behind the '#'; 0: there is none */
    int16_t status;       /* of HTTP; 0: there was no answer */
    uint16_t depth;       /* links from the start, on the shortest way known */
    uint8_t kind : 2;     /* enum target_kind */
    uint8_t
        refusals : 3; /* among its tries; THROTTLE_PAGE_REFUSALS at most are counted */
    bool sets_cookie : 1; /* its answer does */
    bool reopens : 1; /* its redirect closes a circle, so that the next is asked again */
    bool is_asked_again : 1;
    uint8_t verdict : 4;        /* enum verdict */
    bool is_step : 1;           /* of a calendar, and no other link leads to it so far */
    uint8_t reason;             /* enum reason */
    uint8_t hops;               /* redirects on the way from the nearest link to it */
    uint8_t chain;              /* redirects from it to the end, where that is known */
    uint8_t tries;              /* how often it was asked for */
    bool is_start : 1;          /* or where a start redirects to, on the same site */
    bool is_held : 1;           /* until it is known what belongs to the site */
    bool is_placed : 1;         /* it is known what becomes of it */
    bool next_has_fragment : 1; /* the redirect names a place there */
    bool is_reasked : 1;        /* it is asked once more, for its ids */
    bool is_asked : 1;          /* the frontier has it, or had it */
    bool is_given : 1;          /* it is, or was, in its host's queue */
    bool is_fetched : 1;        /* its answer is known */
    bool is_sitemap : 1;        /* somebody says so: search_expect_sitemap() */
    bool is_searched : 1;       /* its links are known */
    bool has_ids : 1;           /* and its ids, of which a style sheet has none */
    bool is_markdown : 1;       /* and they are looked for in lower case, too */
    bool is_wanted : 1;         /* somebody points at it: its verdict is told */
    bool is_known : 1;   /* the baseline has its verdict: it does not fail the run */
    bool wants_body : 1; /* its ids are asked for, although it is of another site */
    bool is_noted : 1;   /* the frontier is to have it, once a replay is over */
};

#define TARGET_CAUSE_BYTES 64 /* "431 Request Header Fields Too Large" */

/*
 * What a link to the target needs. Two URLs with one key are one: nobody who does not know the seeds can
 * make them. What targets_remember() writes can only become better for the target, so that it holds
 * even while the target knows more: a depth that is less, say.
 */
struct known {
    uint64_t key[2];          /* two hashes of the URL, of a seed each */
    uint32_t reference_count; /* of all */
    uint32_t references;      /* the last of them: reference.h */
    uint32_t number;          /* in the crawl's file; 0: it has none */
    uint16_t depth;           /* the target's, or more */
    bool is_wanted : 1;       /* as the target is */
    bool is_near : 1;         /* the target is placed, and hops are 0 */
    bool is_well : 1;    /* no report gives the places of its links: references_drop() */
    bool has_new : 1;    /* links to it that the baseline lacks */
    uint8_t counted : 5; /* of a page, at the end: its URL is among the summary's */
};

/* A target that was found by its URL, and is not looked at. */
struct unseen {
    struct target *target;
    struct known *known;
    const char *url;
    size_t url_n;
};

struct targets {
    struct blocks all;   /* of struct target, in the order in which they were met */
    struct blocks known; /* of struct known, the same */
    size_t count;
    uint32_t *slots; /* target.c */
    size_t capacity;
    uint64_t seeds[2], id_seed;
    struct arena arena; /* of texts and ids */
    struct text_slot *texts;
    size_t text_count, text_capacity; /* 0 or a power of two */
};

/* None. What is not looked at often goes to `cold`, which must outlive them; NULL: to the heap. */
void targets_init(struct targets *targets, struct cold *cold);

/* The seed of the hashes of ids, before the first of them: those that a file keeps must be made alike
   by the next run. */
void targets_set_id_seed(struct targets *targets, uint64_t seed);

/* Zeroes are accepted. */
void targets_finish(struct targets *targets);

/*
 * The target of this URL, whose fragment begins at `fragment_at`, behind the '#', or 0.
 * A new one is an open verdict and zeroes; *is_new says so. Its page is found or
 * made as well. NULL without memory.
 */
struct target *targets_get(struct targets *targets, const char *url, size_t fragment_at,
                           bool *is_new);

/*
 * The same in steps, for who knows some links ahead which targets he will need: the hash of a
 * URL, whose slot is fetched into the cache; then what is known of the target, too; then as
 * targets_get(), which is fast now. `n` is the URL's length.
 */
uint64_t targets_expect(const struct targets *targets, const char *url, size_t n);
void targets_expect_soon(const struct targets *targets, uint64_t hash);
struct target *targets_get_hashed(struct targets *targets, const char *url, size_t n,
                                  uint64_t hash, size_t fragment_at, bool *is_new);

/* The target of that URL and fragment, or NULL. It is not looked at. */
struct target *targets_find(const struct targets *targets, const char *url);

/* The target of that URL, whose hash targets_expect() has returned. False if it is not there. */
bool targets_find_unseen(const struct targets *targets, const char *url, size_t n,
                         uint64_t hash, struct unseen *unseen);

/* What is known of a target. */
struct known *targets_known(const struct targets *targets, const struct target *target);

/* What `struct known` has of the target and its page is as they are now. */
void targets_remember(const struct targets *targets, const struct target *target);

/* The index-th that was met. Who goes through all of them by this has only some of them in memory. */
struct target *targets_at(const struct targets *targets, size_t index);

/* A text that lives as long as the targets, once for all equal ones; if it is cold, once for most of
   them. NULL without memory. */
const char *targets_intern(struct targets *targets, const char *text, size_t n);

/*
 * What a searched page has, as hashes: n of them, which are sorted and kept. 0 or -ENOMEM.
 * And whether it is among them; `id` as in HTML.
 */
uint64_t targets_hash_id(const struct targets *targets, const char *id, size_t n);
int targets_keep_ids(struct targets *targets, struct target *page, uint64_t *hashes,
                     size_t n);
bool target_has_id(const struct target *page, uint64_t hash);

/* Why it has its verdict, for humans: its message, "no such file", or "404 Not Found", which is
   written to `to`; NULL where the verdict says it. */
const char *target_cause(const struct target *target, char to[TARGET_CAUSE_BYTES]);

#endif
