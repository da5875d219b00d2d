/*
 * store.h - the file of a saved crawl: DIR/crawl.db, in SQLite's format.
 *
 *     rc = store_create(DIR, STORE_CRAWL, &setup, &store, &message);   // or store_open()
 *     rc = store_write(store, &batch);                                 // one transaction
 *     ...
 *     store_close(store);
 *
 * docs/design/state.md explains the schema. The functions block the thread. Any thread
 * may call them, but only one at a time. After an error, they return a negative errno,
 * and store_message() returns a message that names the file.
 */
#ifndef CRAWLER_STORE_H
#define CRAWLER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* The files in the folder of a saved crawl. */
enum store_name {
    STORE_CRAWL,   /* crawl.db: the crawl that `report` and `resume` use */
    STORE_RECHECK, /* recheck.db: a recheck; replaces crawl.db when finished */
    STORE_PREVIOUS /* previous.db: the crawl that the last recheck replaced */
};

enum store_mode {
    /*
     * Another process may write the crawl at the same time. Each read sees the commits
     * made before it began.
     */
    STORE_READ,
    STORE_WRITE /* fails with -EBUSY if another process is writing */
};

struct store_texts {
    const char **at;
    size_t count;
};

/* The input of a crawl. */
struct store_setup {
    struct store_texts settings; /* options as on the command line: "--max-depth=3" */
    struct store_texts starts;   /* URLs */
    uint64_t seed;               /* seed for hashes of ids: hash_bytes() */
    int64_t time_s;
};

/* A URL found by the crawl. Ids begin at 1. */
struct store_url {
    uint32_t id;
    uint32_t fragment_at; /* offset of the fragment, or 0 */
    const char *url;
};

enum store_flag {
    /*
     * The URL was not requested, because line `line` of robots.txt forbids it, or because
     * robots.txt could not be fetched (see `rc` and `status`).
     */
    STORE_ROBOTS = 1,
    STORE_LATE = 2, /* the whole request took too long */
    STORE_TLS = 4,
    STORE_TOO_LONG = 8,
    STORE_CHALLENGE = 16,
    STORE_BODY = 32,       /* has_body: `links` and `ids` are complete */
    STORE_WANTED_IDS = 64, /* the ids were needed, even if the page is on another site */
    STORE_SEARCHED = 128,  /* the body was searched for links */
    STORE_HAS_IDS = 256,
    /* not a page, but a robots.txt: `links` contains the sitemaps listed there */
    STORE_SITEMAPS = 512,
    STORE_SETS_COOKIE = 1024,
    STORE_REOPENS = 2048, /* the redirect closes a loop that is fetched again */
};

/*
 * The result of a request for a URL. Missing texts are NULL. The struct has many members,
 * because each is a column of the table of pages.
 */
struct store_page {
    /*
     * When writing: a number greater than all earlier ones, or 0 for the next number. Not
     * set when reading.
     */
    int64_t number;
    uint32_t url; /* id of the requested URL */
    unsigned flags;
    /*
     * `rc` is 0, or the negative errno of the request. `problem` is 0, or the negative
     * errno because of which the body was not searched.
     */
    int rc, status, problem;
    unsigned line, tries;
    int64_t size;
    int64_t bytes; /* bytes received since the previous page was added */
    /*
     * at_ns is the time since the crawl began, without the time between runs. Both are
     * stored in microseconds.
     */
    int64_t at_ns, duration_ns;
    int64_t time_s;
    const char *content_type, *location;
    /* why the request failed, or what is wrong with the answer */
    const char *error;
    const char *etag, *modified; /* validators: ETag, Last-Modified */
    /* links in the format of link_blob.h; NULL if the page was not searched */
    const void *links;
    size_t links_n;
    const uint64_t *ids;
    size_t id_count;
};

struct store_batch {
    const struct store_url *urls;
    size_t url_count;
    const struct store_page *pages;
    size_t page_count;
    bool is_finished; /* no URL remains to be fetched */
};

/* Create the folder of a crawl, unless it exists. Returns 0 or a negative errno. */
int store_make_folder(const char *folder);

/*
 * Create the file of a new crawl, and its folder if necessary. Fails with -EEXIST if the
 * folder already contains a crawl, or with -EBUSY if another process is using the folder.
 * After a failure, *message is a message that the caller frees, or NULL if memory ran
 * out.
 */
int store_create(const char *folder, enum store_name name,
                 const struct store_setup *setup, struct store **out, char **message);

/*
 * Open an existing crawl. For STORE_READ, `folder` may also be the path of the file.
 * Fails with -ENOENT if the folder does not contain a crawl, with -EBUSY if another
 * process is using it, or with -EBADMSG if the file was not written by coil-crawl.
 */
int store_open(const char *folder, enum store_name name, enum store_mode mode,
               struct store **out, char **message);

/* NULL is allowed. */
void store_close(struct store *store);

/* Return the message of the last failure, for example "DIR/crawl.db: database or disk is
   full". */
const char *store_message(const struct store *store);

/*
 * Write a batch in one transaction. If this fails, nothing is written. A power failure
 * may lose the last transactions, but never a part of a transaction.
 */
int store_write(struct store *store, const struct store_batch *batch);

/* ---- reading ----------------------------------------------------------------------- */

/* Return the input of the crawl, which the store owns. */
const struct store_setup *store_setup(const struct store *store);

/* True if all URLs of the crawl were fetched. */
bool store_is_finished(const struct store *store);

/* Return the highest URL id, or 0 if there are no URLs. */
uint32_t store_last_url(const struct store *store);

/* Return the highest page number, 0 if there are no pages, or a negative errno. */
int64_t store_last_page(struct store *store);

/*
 * Call visit() for each URL in the order of ids, until visit() returns nonzero. Returns
 * the last value that visit() returned, or an error of the file.
 */
int store_each_url(struct store *store,
                   int (*visit)(void *arg, const struct store_url *url), void *arg);

/*
 * Read the first page whose number is greater than `after`. Returns the number of the
 * page, 0 after the last page, or a negative errno. *page is valid until the next call on
 * the store.
 */
int64_t store_next_page(struct store *store, int64_t after, struct store_page *page);

/* Call visit() with the number and URL of each page that has an ETag or Last-Modified. */
int store_each_validator(struct store *store,
                         int (*visit)(void *arg, int64_t number, const char *url),
                         void *arg);

/* ---- damage ------------------------------------------------------------------------ */

/*
 * Check a crawl that is open for writing, and delete the records of damaged pages, which
 * will be fetched again. Call this before reading. If pages were deleted or are missing,
 * *notice is set to a message that the caller frees, otherwise to NULL. If anything else
 * is damaged, the function fails with -EBADMSG, and store_message() describes the damage.
 * All other functions fail with -EBADMSG if they find damage.
 */
int store_repair(struct store *store, char **notice);

/* ---- files ------------------------------------------------------------------------- */

/*
 * Rename crawl.db to previous.db, and recheck.db to crawl.db. Both files must be closed.
 * Fails with -EBUSY if a process is reading one of them, or with an error of rename(2).
 * Sets *message like store_open().
 *
 * If the process is killed between the two renames, the next store_open() with
 * STORE_WRITE does the second one. Until then, store_open() with STORE_READ opens
 * recheck.db.
 */
int store_replace(const char *folder, char **message);

/*
 * Complete an interrupted store_replace(). Call this before reading crawl.db for a new
 * recheck. Fails like store_open().
 */
int store_finish_replace(const char *folder, char **message);

#endif
