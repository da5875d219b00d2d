/*
 * store_read.c - read the pages of a crawl, and delete records that are damaged.
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

/* ---- reading ----------------------------------------------------------------------- */

static const char *text_at(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

/*
 * Fail if the rows are not in order. Without this check, reading a damaged file might
 * never end.
 */
static int check_order(struct store *store, int64_t *last, int64_t number)
{
    if (number <= *last)
        return store_fail_as(store, -EBADMSG, "the file is damaged");
    *last = number;
    return 0;
}

/*
 * Fail with the message `words` if rows are missing from a table. `sql` counts the
 * missing rows.
 */
static int check_count(struct store *store, const char *sql, const char *words)
{
    int64_t missing = 0;
    int rc = store_read_number(store, sql, &missing);

    return rc == 0 && missing != 0 ? store_fail_as(store, -EBADMSG, words) : rc;
}

static int damaged_url(struct store *store, int64_t id)
{
    char words[128];

    snprintf(words, sizeof words,
             "the file is damaged: the record of URL number %lld is lost; begin the "
             "crawl again",
             (long long)id);
    return store_fail_as(store, -EBADMSG, words);
}

static int visit_url(sqlite3_stmt *row, int (*visit)(void *arg, const struct store_url *),
                     void *arg)
{
    struct store_url url = {.id = (uint32_t)sqlite3_column_int64(row, 0),
                            .fragment_at = (uint32_t)sqlite3_column_int64(row, 1),
                            .url = text_at(row, 2)};

    return url.url != NULL ? visit(arg, &url) : -ENOMEM;
}

struct url_visit {
    int (*function)(void *arg, const struct store_url *url);
    void *arg;
    int64_t last; /* id of the last URL */
};

static int visit_url_row(struct store *store, sqlite3_stmt *row, void *arg)
{
    struct url_visit *visit = arg;
    int rc = check_order(store, &visit->last, sqlite3_column_int64(row, 0));

    if (rc == 0 && sqlite3_column_int(row, 3) == 0)
        rc = damaged_url(store, visit->last);
    if (rc != 0)
        return rc;
    rc = visit_url(row, visit->function, visit->arg);
    if (rc == -EBADMSG)
        store_set_message(store, "the file is damaged: it has invalid URLs");
    return rc;
}

int store_each_url(struct store *store,
                   int (*visit)(void *arg, const struct store_url *url), void *arg)
{
    static const char sql[] =
        "SELECT id, fragment_at, url, sum = record_sum(id, fragment_at, url)"
        " FROM url ORDER BY id";
    struct url_visit visiting = {visit, arg, 0};
    int rc = check_count(store, "SELECT urls - (SELECT count(*) FROM url) FROM crawl",
                         "the file is damaged: records of URLs are lost; begin the crawl "
                         "again");

    return rc < 0 ? rc : store_each_row(store, sql, visit_url_row, &visiting);
}

struct validator_visit {
    int (*function)(void *arg, int64_t number, const char *url);
    void *arg;
};

static int visit_validator_row(struct store *store, sqlite3_stmt *row, void *arg)
{
    const struct validator_visit *visit = arg;
    const char *url = text_at(row, 1);

    (void)store;
    return url != NULL ? visit->function(visit->arg, sqlite3_column_int64(row, 0), url)
                       : -ENOMEM;
}

int store_each_validator(struct store *store,
                         int (*visit)(void *arg, int64_t number, const char *url),
                         void *arg)
{
    static const char sql[] =
        "SELECT number, url.url FROM page JOIN url ON url.id = page.url"
        " WHERE (etag IS NOT NULL OR modified IS NOT NULL) AND status = 200 AND rc = 0"
        " ORDER BY number";

    return store_each_row(store, sql, visit_validator_row,
                          &(struct validator_visit){visit, arg});
}

/*
 * Read a column as an int. Returns 0 if the value is out of range, because another
 * program has modified the file.
 */
static int int_at(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);

    return value < INT32_MIN || value > INT32_MAX ? 0 : (int)value;
}

/*
 * Read a column that is in microseconds. Returns nanoseconds, or 0 if the value is out of
 * range.
 */
static int64_t time_at(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);

    return value < 0 || value > INT64_MAX / 4000 ? 0 : value * 1000;
}

static void read_page(sqlite3_stmt *row, struct store_page *page)
{
    *page = (struct store_page){.url = (uint32_t)sqlite3_column_int64(row, 1),
                                .flags = (unsigned)int_at(row, 2),
                                .rc = int_at(row, 3),
                                .status = int_at(row, 4),
                                .problem = int_at(row, 5),
                                .line = (unsigned)int_at(row, 6),
                                .tries = (unsigned)int_at(row, 7),
                                .size = sqlite3_column_int64(row, 8),
                                .bytes = sqlite3_column_int64(row, 9),
                                .at_ns = time_at(row, 10),
                                .duration_ns = time_at(row, 11),
                                .time_s = sqlite3_column_int64(row, 12),
                                .content_type = text_at(row, 13),
                                .location = text_at(row, 14),
                                .error = text_at(row, 15),
                                .etag = text_at(row, 16),
                                .modified = text_at(row, 17)};
    page->links_n = (size_t)sqlite3_column_bytes(row, 18);
    page->links = sqlite3_column_type(row, 18) == SQLITE_NULL ? NULL
                  : page->links_n > 0 ? sqlite3_column_blob(row, 18)
                                      : "";
    page->ids = sqlite3_column_blob(row, 19);
    page->id_count = (size_t)sqlite3_column_bytes(row, 19) / sizeof *page->ids;
}

/*
 * Return a copy of the URL with this id, which the caller frees, or NULL if the id is
 * unknown or memory runs out.
 */
static char *url_of(struct store *store, int64_t id)
{
    static const char sql[] =
        "SELECT url FROM url WHERE id = ? AND sum = record_sum(id, fragment_at, url)";
    sqlite3_stmt *statement = NULL;
    char *url = NULL;

    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(statement, 1, id);
        if (sqlite3_step(statement) == SQLITE_ROW && text_at(statement, 0) != NULL)
            url = strdup(text_at(statement, 0));
    }
    sqlite3_finalize(statement);
    return url;
}

static int damaged_page(struct store *store, int64_t number, int64_t id)
{
    char *url = url_of(store, id), *words;

    if (asprintf(
            &words,
            "the file is damaged: the record of page %lld%s%s is lost; coil-crawl resume "
            "fetches it again",
            (long long)number, url != NULL ? ", " : "", url != NULL ? url : "") < 0)
        words = NULL;
    free(url);
    store_fail_as(store, -EBADMSG, words != NULL ? words : strerror(ENOMEM));
    free(words);
    return -EBADMSG;
}

int64_t store_next_page(struct store *store, int64_t after, struct store_page *page)
{
    sqlite3_stmt *statement;
    int rc = store_prepare(store, NEXT_PAGE, &statement), code;

    if (rc == 0 && after == 0)
        rc = check_count(store, COUNT_LOST_PAGES,
                         "the file is damaged: records of pages are lost; coil-crawl "
                         "resume fetches them again");
    if (rc < 0)
        return rc;
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, after);
    code = sqlite3_step(statement);
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement);
        return 0;
    }
    if (code != SQLITE_ROW) {
        sqlite3_reset(statement);
        return store_fail(store, code);
    }
    rc = check_order(store, &after, sqlite3_column_int64(statement, 0));
    if (rc == 0 && sqlite3_column_int(statement, PAGE_IS_WHOLE) == 0)
        rc = damaged_page(store, after, sqlite3_column_int64(statement, 1));
    if (rc < 0)
        return rc;
    read_page(statement, page);
    return after;
}

/* ---- repair ------------------------------------------------------------------------ */

/* Let SQLite check the structure of the file. Returns 0 if it is intact. */
static int check_structure(struct store *store)
{
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    const char *found = NULL;
    char words[256];
    int rc = 0;

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        found = text_at(statement, 0);
    if (code != SQLITE_ROW) {
        rc = store_fail(store, code);
    } else if (found == NULL || strcmp(found, "ok") != 0) {
        snprintf(words, sizeof words, "the file is damaged and cannot be used: %.150s",
                 found != NULL ? found : "");
        rc = store_fail_as(store, -EBADMSG, words);
    }
    sqlite3_finalize(statement);
    return rc;
}

/* The numbers of all damaged pages, and a message with the URLs of some of them. */
struct damage {
    int64_t *numbers;
    size_t count, capacity;
    struct text words;
};

static int note_damage(struct store *store, struct damage *damage, int64_t number,
                       int64_t id)
{
    char *url;

    if (damage->count == damage->capacity &&
        array_grow(&damage->numbers, &damage->capacity, sizeof *damage->numbers) < 0)
        return -ENOMEM;
    damage->numbers[damage->count++] = number;
    if (damage->count > DAMAGED_NAMED)
        return 0;
    url = url_of(store, id);
    if (url != NULL) {
        text_add(&damage->words, damage->words.n > 0 ? ", " : ": ", 2);
        text_add(&damage->words, url, strlen(url));
    }
    free(url);
    return damage->words.failed ? -ENOMEM : 0;
}

static int note_damaged_row(struct store *store, sqlite3_stmt *row, void *damage)
{
    return note_damage(store, damage, sqlite3_column_int64(row, 0),
                       sqlite3_column_int64(row, 1));
}

static int find_damage(struct store *store, struct damage *damage)
{
    static const char sql[] = "SELECT number, url FROM page WHERE sum IS NOT"
                              " record_sum(" PAGE_COLUMNS ") ORDER BY number";

    return store_each_row(store, sql, note_damaged_row, damage);
}

static int drop_damage(struct store *store, const struct damage *damage, int64_t left)
{
    sqlite3_stmt *statement;
    int rc = store_run(store, BEGIN);

    if (rc < 0)
        return rc;
    rc = store_prepare(store, DROP_PAGE, &statement);
    for (size_t i = 0; rc == 0 && i < damage->count; i++) {
        sqlite3_bind_int64(statement, 1, damage->numbers[i]);
        rc = store_step(store, statement);
    }
    if (rc == 0)
        rc = store_write_counts(store, false, store->url_count, left);
    rc = store_end_transaction(store, rc);
    if (rc < 0)
        return rc;
    store->page_count = left;
    store->is_finished = false;
    return 0;
}

static int report_damage(const struct store *store, struct damage *damage, int64_t lost,
                         char **notice)
{
    if (damage->count > DAMAGED_NAMED)
        text_print(&damage->words, " and %zu more", damage->count - DAMAGED_NAMED);
    text_add(&damage->words, "", 1);
    if (damage->words.failed ||
        asprintf(notice,
                 "%s: the file is damaged: %lld record%s of pages lost, which are "
                 "fetched again%s",
                 store->path, (long long)lost, lost == 1 ? "" : "s",
                 damage->words.at) < 0) {
        *notice = NULL;
        return -ENOMEM;
    }
    return 0;
}

int store_repair(struct store *store, char **notice)
{
    struct damage damage = {.count = 0};
    int64_t missing = 0;
    int rc = check_structure(store);

    *notice = NULL;
    if (rc == 0)
        rc = store_read_number(store, COUNT_LOST_PAGES, &missing);
    if (rc == 0)
        rc = find_damage(store, &damage);
    if (rc == 0 && (damage.count > 0 || missing != 0))
        rc = drop_damage(store, &damage,
                         store->page_count - missing - (int64_t)damage.count);
    if (rc == 0 && (damage.count > 0 || missing != 0))
        rc = report_damage(store, &damage, missing + (int64_t)damage.count, notice);
    free(damage.numbers);
    text_finish(&damage.words);
    return rc;
}
