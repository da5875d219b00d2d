/*
 * store.c - write the file of a saved crawl.
 *
 * Invariants
 *   1. The URLs in a page's links are written in the same transaction as the page, or in
 *      an earlier one.
 *   2. Only one process writes. Until it exits, it holds a lock on the folder (flock(2)).
 *   3. A single transaction creates all tables, and the rows that every crawl has. So a
 *      file is either empty or contains all of them.
 *   4. To detect damage, which SQLite does not do, each row contains a checksum of its
 *      other columns, and table `crawl` contains the number of rows in each other table.
 *
 * The file uses a write-ahead log with synchronous=NORMAL: a commit appends to the log
 * without waiting for the disk. So no commit is lost if the process is killed, but the
 * last commits may be lost after a power failure. Start reading at store_create() and
 * store_write().
 */
#include "store_inside.h"

#include "../base/array.h"
#include "../base/hash.h"
#include "../base/text.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const statements[STATEMENT_COUNT] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [ADD_URL] = "INSERT INTO url(id, fragment_at, url, sum)"
                " VALUES (?1, ?2, ?3, record_sum(?1, ?2, ?3))",
    [ADD_PAGE] = "INSERT INTO page(" PAGE_COLUMNS ", sum) VALUES (" PAGE_PARAMETERS
                 ", record_sum(" PAGE_PARAMETERS "))",
    [COUNT] = "UPDATE crawl SET finished = ?1, urls = ?2, pages = ?3,"
              " sum = record_sum(time, seed, texts, ?1, ?2, ?3)",
    [NEXT_PAGE] = "SELECT " PAGE_COLUMNS ", sum = record_sum(" PAGE_COLUMNS ")"
                  " FROM page WHERE number > ? ORDER BY number LIMIT 1",
    [DROP_PAGE] = "DELETE FROM page WHERE number = ?",
};

/* ---- failures ---------------------------------------------------------------------- */

static int errno_of(sqlite3 *db, int code)
{
    int error = db != NULL ? sqlite3_system_errno(db) : 0;

    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -EBADMSG;
    default:
        return error > 0 ? -error : -EIO;
    }
}

void store_set_message(struct store *store, const char *words)
{
    free(store->message);
    if (asprintf(&store->message, "%s: %s", store->path, words) < 0)
        store->message = NULL;
}

int store_fail(struct store *store, int code)
{
    int rc = errno_of(store->db, code);

    store_set_message(store, rc == -EIO || (code & 0xff) == SQLITE_IOERR ||
                                     (code & 0xff) == SQLITE_CANTOPEN
                                 ? strerror(-rc)
                                 : sqlite3_errstr(code));
    return rc;
}

int store_fail_as(struct store *store, int rc, const char *words)
{
    store_set_message(store, words);
    return rc;
}

const char *store_message(const struct store *store)
{
    return store->message != NULL ? store->message : strerror(ENOMEM);
}

/* ---- checksums --------------------------------------------------------------------- */

static uint64_t sum_of(sqlite3_value *value, uint64_t sum)
{
    int type = sqlite3_value_type(value);
    int64_t number;
    const void *bytes;

    if (type == SQLITE_INTEGER) {
        number = sqlite3_value_int64(value);
        return hash_bytes((const char *)&number, sizeof number, sum);
    }
    if (type == SQLITE_NULL)
        return hash_bytes("", 0, ~sum);
    bytes = type == SQLITE_TEXT ? (const void *)sqlite3_value_text(value)
                                : sqlite3_value_blob(value);
    return hash_bytes(bytes != NULL ? bytes : "", (size_t)sqlite3_value_bytes(value),
                      sum + (uint64_t)type);
}

/* Implement the SQL function record_sum(column, ...). */
static void sum_record(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint64_t sum = SUM_SEED;

    for (int i = 0; i < count; i++)
        sum = sum_of(values[i], sum);
    sqlite3_result_int64(context, (int64_t)sum);
}

int store_add_functions(struct store *store)
{
    int code =
        sqlite3_create_function_v2(store->db, "record_sum", -1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                                   NULL, sum_record, NULL, NULL, NULL);

    return code == SQLITE_OK ? 0 : store_fail(store, code);
}

/* ---- statements -------------------------------------------------------------------- */

int store_prepare(struct store *store, enum statement which, sqlite3_stmt **out)
{
    int code = SQLITE_OK;

    if (store->prepared[which] == NULL)
        code =
            sqlite3_prepare_v3(store->db, statements[which], -1,
                               SQLITE_PREPARE_PERSISTENT, &store->prepared[which], NULL);
    *out = store->prepared[which];
    return code == SQLITE_OK ? 0 : store_fail(store, code);
}

int store_step(struct store *store, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);

    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : store_fail(store, code);
}

int store_each_row(struct store *store, const char *sql,
                   int (*visit)(struct store *store, sqlite3_stmt *row, void *arg),
                   void *arg)
{
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &row, NULL), rc = 0;

    if (code == SQLITE_OK)
        while (rc == 0 && (code = sqlite3_step(row)) == SQLITE_ROW)
            rc = visit(store, row, arg);
    if (rc == 0 && code != SQLITE_DONE)
        rc = store_fail(store, code);
    sqlite3_finalize(row);
    return rc;
}

int store_run(struct store *store, enum statement which)
{
    sqlite3_stmt *statement;
    int rc = store_prepare(store, which, &statement);

    return rc == 0 ? store_step(store, statement) : rc;
}

int store_execute(struct store *store, const char *sql)
{
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? 0 : store_fail(store, code);
}

int store_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

int store_end_transaction(struct store *store, int rc)
{
    if (rc == 0)
        rc = store_run(store, COMMIT);
    if (rc < 0 && sqlite3_get_autocommit(store->db) == 0)
        sqlite3_exec(store->db, statements[ROLLBACK], NULL, NULL, NULL);
    return rc;
}

/* ---- writing ----------------------------------------------------------------------- */

static int add_url(struct store *store, sqlite3_stmt *statement,
                   const struct store_url *url)
{
    sqlite3_bind_int64(statement, 1, url->id);
    sqlite3_bind_int64(statement, 2, url->fragment_at);
    store_bind_text(statement, 3, url->url);
    return store_step(store, statement);
}

static int add_page(struct store *store, sqlite3_stmt *statement,
                    const struct store_page *page)
{
    const int64_t number = page->number > 0 ? page->number : store->last_page + 1;
    const int64_t numbers[] = {number,      page->url,          page->flags,
                               page->rc,    page->status,       page->problem,
                               page->line,  page->tries,        page->size,
                               page->bytes, page->at_ns / 1000, page->duration_ns / 1000,
                               page->time_s};
    const char *const texts[] = {page->content_type, page->location, page->error,
                                 page->etag, page->modified};
    int at = 1;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sqlite3_bind_int64(statement, at++, numbers[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        store_bind_text(statement, at++, texts[i]);
    if (page->links == NULL)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_blob64(statement, at, page->links, page->links_n, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, at + 1, page->id_count > 0 ? page->ids : NULL,
                        page->id_count * sizeof *page->ids, SQLITE_STATIC);
    store->last_page = number;
    return store_step(store, statement);
}

static int add_all(struct store *store, const struct store_batch *batch)
{
    sqlite3_stmt *url, *page;
    int rc = store_prepare(store, ADD_URL, &url);

    if (rc == 0)
        rc = store_prepare(store, ADD_PAGE, &page);
    for (size_t i = 0; rc == 0 && i < batch->url_count; i++)
        rc = add_url(store, url, &batch->urls[i]);
    for (size_t i = 0; rc == 0 && i < batch->page_count; i++)
        rc = add_page(store, page, &batch->pages[i]);
    return rc;
}

int store_write_counts(struct store *store, bool is_finished, int64_t urls, int64_t pages)
{
    sqlite3_stmt *statement;
    int rc = store_prepare(store, COUNT, &statement);

    if (rc < 0)
        return rc;
    sqlite3_bind_int(statement, 1, is_finished);
    sqlite3_bind_int64(statement, 2, urls);
    sqlite3_bind_int64(statement, 3, pages);
    return store_step(store, statement);
}

int store_write(struct store *store, const struct store_batch *batch)
{
    bool changes = batch->is_finished != store->is_finished;
    int64_t last_page = store->last_page;
    int64_t urls = store->url_count + (int64_t)batch->url_count;
    int64_t pages = store->page_count + (int64_t)batch->page_count;
    int rc;

    if (batch->url_count == 0 && batch->page_count == 0 && !changes)
        return 0;
    rc = store_run(store, BEGIN);
    if (rc < 0)
        return rc;
    rc = add_all(store, batch);
    if (rc == 0)
        rc = store_write_counts(store, batch->is_finished, urls, pages);
    rc = store_end_transaction(store, rc);
    if (rc < 0) {
        store->last_page = last_page;
        return rc;
    }
    store->url_count = urls;
    store->page_count = pages;
    store->is_finished = batch->is_finished;
    if (batch->url_count > 0)
        store->last_url = batch->urls[batch->url_count - 1].id;
    return 0;
}
