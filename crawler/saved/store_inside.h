/*
 * store_inside.h - declarations shared by the source files of the store.
 *
 * store.c writes the file, store_read.c reads and repairs it, and store_open.c creates,
 * opens and replaces it.
 */
#ifndef CRAWLER_STORE_INSIDE_H
#define CRAWLER_STORE_INSIDE_H

#include "store.h"

#include <sqlite3.h>

#define APPLICATION 0x636f696c /* "coil", for file(1) */
#define SCHEMA 2
/* seed of all checksums; must never change */
#define SUM_SEED UINT64_C(0x636f696c2d737263)
#define DAMAGED_NAMED 10 /* maximum number of damaged pages named in a message */
#define BUSY_MS 10000    /* maximum wait for a lock held by another process */

#define TEXT(name) #name
#define PRAGMA(name, value) "PRAGMA " name "=" TEXT(value) ";"

enum statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    ADD_URL,
    ADD_PAGE,
    COUNT,
    NEXT_PAGE,
    DROP_PAGE,
    STATEMENT_COUNT
};

#define PAGE_COLUMNS                                                                     \
    "number, url, flags, rc, status, problem, line, tries, size, bytes, at, duration,"   \
    " time, content_type, location, error, etag, modified, links, ids"
#define PAGE_PARAMETERS                                                                  \
    "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"   \
    " ?19, ?20"

/*
 * An open store. The struct has many members, because it contains the connection, the
 * input of the crawl, and the counts of both tables.
 */
struct store {
    char *path;
    int folder_fd; /* descriptor of the locked folder; -1 if the store only reads */
    sqlite3 *db;
    sqlite3_stmt *prepared[STATEMENT_COUNT];
    struct store_setup setup;
    char **texts; /* the strings in `setup` */
    size_t text_count;
    uint32_t last_url;
    int64_t last_page, url_count, page_count;
    bool is_finished;
    char *message; /* message of the last failure, or NULL if memory ran out */
};

#define COUNT_LOST_PAGES "SELECT pages - (SELECT count(*) FROM page) FROM crawl"
/* column of NEXT_PAGE that is true if the checksum matches */
#define PAGE_IS_WHOLE 20

void store_set_message(struct store *store, const char *words);

/*
 * Store the message of SQLite's last error, and return the error as a negative errno. For
 * an I/O error, store the message of the errno, which is more specific.
 */
int store_fail(struct store *store, int code);

int store_fail_as(struct store *store, int rc, const char *words);

int store_add_functions(struct store *store);

int store_prepare(struct store *store, enum statement which, sqlite3_stmt **out);

/* Run a statement without results, whose parameters were bound. */
int store_step(struct store *store, sqlite3_stmt *statement);

/*
 * Run a query, and call visit() for each row until it returns nonzero. Returns the last
 * value that visit() returned, or SQLite's error as a negative errno.
 */
int store_each_row(struct store *store, const char *sql,
                   int (*visit)(struct store *store, sqlite3_stmt *row, void *arg),
                   void *arg);

int store_run(struct store *store, enum statement which);

int store_execute(struct store *store, const char *sql);

int store_bind_text(sqlite3_stmt *statement, int at, const char *text);

/*
 * Commit the transaction if `rc` is 0. Roll it back if `rc` is an error or the commit
 * fails. Returns `rc`, or the error of the commit.
 */
int store_end_transaction(struct store *store, int rc);

int store_write_counts(struct store *store, bool is_finished, int64_t urls,
                       int64_t pages);

/* Read the first column of the first row of a query. */
int store_read_number(struct store *store, const char *sql, int64_t *out);

#endif
