/*
 * store.h - the file in which a crawl is kept: DIR/crawl.db, SQLite.
 *
 *     rc = store_create(DIR, STORE_CRAWL, &setup, &store, &message);   // or store_open()
 *     rc = store_write(store, &batch);                                 // one transaction
 *     ...
 *     store_close(store);
 *
 * docs/design/state.md has the schema, and why it is so. Calls nothing of coil: all of it blocks,
 * on any thread, one at a time. Functions that fail return a negative errno, and store_message()
 * is a sentence about it that names the file.
 */
#ifndef CRAWLER_STORE_H
#define CRAWLER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* The files of a folder. */
enum store_name {
    STORE_CRAWL,   /* crawl.db: what is reported, and gone on with */
    STORE_RECHECK, /* recheck.db: takes its place when it is done */
    STORE_PREVIOUS /* previous.db: what crawl.db was before that */
};

enum store_mode {
    STORE_READ, /* beside a crawl that goes on: what it has written until then */
    STORE_WRITE /* by one process at a time */
};

struct store_texts {
    const char **at;
    size_t count;
};

/* What a crawl is begun with. */
struct store_setup {
    struct store_texts settings; /* options, as on the command line: "--max-depth=3" */
    struct store_texts starts;   /* URLs */
    uint64_t seed;               /* of the hashes of ids: hash_bytes() */
    int64_t time_s;
};

/* A URL that was met for the first time. Ids count from 1. */
struct store_url {
    uint32_t id;
    uint32_t fragment_at; /* as in struct target */
    const char *url;
};

enum store_flag {
    STORE_ROBOTS =
        1,          /* it was not asked for: robots.txt is against it, in `line`; or could
                         not be fetched, for `rc` or with `status` */
    STORE_LATE = 2, /* as in struct answer */
    STORE_TLS = 4,
    STORE_TOO_LONG = 8,
    STORE_CHALLENGE = 16,
    STORE_BODY = 32,       /* has_body: links and ids are all there are */
    STORE_WANTED_IDS = 64, /* the ids of a page of another site were asked for */
    STORE_SEARCHED = 128,  /* as in struct target */
    STORE_HAS_IDS = 256,
    STORE_SITEMAPS =
        512, /* no page, but the sitemaps that this robots.txt names, as links */
    STORE_SETS_COOKIE = 1024,
    STORE_REOPENS = 2048, /* as in struct target */
};

/* What came of asking for a URL. Texts are NULL where there is none. */
struct store_page {
    int64_t number; /* above those before it; 0: the next. Not set when it is read */
    uint32_t url;   /* its id */
    unsigned flags;
    int rc, status,
        problem; /* below 0: why there is no answer; why it was not searched */
    unsigned line, tries;
    int64_t size;
    int64_t bytes; /* received since the page before this one was written */
    int64_t at_ns,
        duration_ns; /* since the crawl began, runs alone; kept to the microsecond */
    int64_t time_s;
    const char *content_type, *location;
    const char *error; /* why there is no answer; of one, what was wrong with it */
    const char *etag, *modified; /* validators: ETag, Last-Modified */
    const void *links;           /* link_blob.h; NULL: it was not searched */
    size_t links_n;
    const uint64_t *ids;
    size_t id_count;
};

struct store_batch {
    const struct store_url *urls;
    size_t url_count;
    const struct store_page *pages;
    size_t page_count;
    bool is_finished; /* nothing is left to be asked for */
};

/*
 * Begin a crawl in a folder, which is made if it is not there. -EEXIST: it has one; -EBUSY: another
 * process is at work in it. On failure *message is a sentence for free(), or NULL without memory.
 */
int store_create(const char *folder, enum store_name name,
                 const struct store_setup *setup, struct store **out, char **message);

/* Open what is there; to read it, `folder` may be such a file itself. -ENOENT: there is none; -EBUSY;
   -EBADMSG: it is none of ours. */
int store_open(const char *folder, enum store_name name, enum store_mode mode,
               struct store **out, char **message);

/* NULL is accepted. */
void store_close(struct store *store);

/* A sentence about the last failure: "DIR/crawl.db: database or disk is full". */
const char *store_message(const struct store *store);

/* All or nothing; the disk has it unless the power fails, and what it has is whole in any case. */
int store_write(struct store *store, const struct store_batch *batch);

/* ---- reading ----------------------------------------------------------------------- */

/* What it was begun with; it belongs to the store. */
const struct store_setup *store_setup(const struct store *store);

/* Nothing was left when it ended. */
bool store_is_finished(const struct store *store);

/* The highest id of a URL; 0: there is none. */
uint32_t store_last_url(const struct store *store);

/* The highest number of a page; 0: there is none. Below 0 as the others. */
int64_t store_last_page(struct store *store);

/* Call visit() for each, by id, until it returns other than 0; return that. */
int store_each_url(struct store *store,
                   int (*visit)(void *arg, const struct store_url *url), void *arg);

/*
 * The page behind `after`, in the order in which they were written; 0 begins. Returns its number,
 * which is above 0; 0 at the end; or below. *page lasts until the next call on the store.
 */
int64_t store_next_page(struct store *store, int64_t after, struct store_page *page);

/* Call visit() for each page that has a validator, with its number and its URL. */
int store_each_validator(struct store *store,
                         int (*visit)(void *arg, int64_t number, const char *url),
                         void *arg);

/* ---- damage ------------------------------------------------------------------------ */

/*
 * Look for damage in a crawl that is open to be written, before it is read. Records of
 * pages that are damaged or missing are deleted, so that these pages are fetched again.
 * *notice names them then, and is for free(); else it is NULL. -EBADMSG: something else
 * is damaged, which store_message() names. The other functions fail with -EBADMSG where
 * they meet damage.
 */
int store_repair(struct store *store, char **notice);

/* ---- files ------------------------------------------------------------------------- */

/* recheck.db becomes crawl.db, and that previous.db; both are closed. -EBUSY: somebody reads one of
   them; else as rename(2); with *message as store_open(). What cuts it short is mended when crawl.db
   is opened to be written; who opens it to be read reads recheck.db until then. */
int store_replace(const char *folder, char **message);

/* Mend what has cut it short, before crawl.db is read and recheck.db written. As store_open(). */
int store_mend(const char *folder, char **message);

#endif
