/*
 * store.c - the file of a saved crawl: DIR/crawl.db, in SQLite's format.
 *
 * Invariants
 *   1. The URLs in the links of a page are written in the page's transaction, or in an
 *      earlier one.
 *   2. Only one process writes. It holds a lock (flock(2)) on the folder until it exits.
 *   3. One transaction creates all tables and the rows that every crawl has. So a file
 *      has all of these, or is empty.
 *   4. Each row has a checksum of its other columns, and the row of `crawl` has the
 *      number of rows in the other tables. So any damage is noticed. (SQLite
 *      itself does not have checksums.)
 *
 * The file uses a write-ahead log with synchronous=NORMAL: a commit appends to the log,
 * and does not wait for the disk. If the process is killed, no commit is lost. A power
 * failure can lose the last commits. Where to start reading: store_create(),
 * store_write().
 */
#include "store.h"

#include "../base/array.h"
#include "../base/hash.h"
#include "../base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION 0x636f696c /* "coil", for file(1) */
#define SCHEMA 2
/* the seed of all checksums; never change it */
#define SUM_SEED UINT64_C(0x636f696c2d737263)
#define DAMAGED_NAMED 10 /* how many damaged pages a message names */
#define BUSY_MS 10000    /* how long to wait for a lock that a reader holds */

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

static const char schema[] =
    "CREATE TABLE crawl(time INTEGER NOT NULL, seed INTEGER NOT NULL,"
    " texts INTEGER NOT NULL, finished INTEGER NOT NULL, urls INTEGER NOT NULL,"
    " pages INTEGER NOT NULL, sum INTEGER NOT NULL);"
    "CREATE TABLE setting(number INTEGER PRIMARY KEY, argument TEXT NOT NULL,"
    " sum INTEGER NOT NULL);"
    "CREATE TABLE start(number INTEGER PRIMARY KEY, url TEXT NOT NULL,"
    " sum INTEGER NOT NULL);"
    "CREATE TABLE url(id INTEGER PRIMARY KEY, fragment_at INTEGER NOT NULL,"
    " url TEXT NOT NULL, sum INTEGER NOT NULL);"
    "CREATE TABLE page(number INTEGER PRIMARY KEY, url INTEGER NOT NULL REFERENCES url,"
    " flags INTEGER NOT NULL, rc INTEGER NOT NULL, status INTEGER NOT NULL,"
    " problem INTEGER NOT NULL, line INTEGER NOT NULL, tries INTEGER NOT NULL,"
    " size INTEGER NOT NULL, bytes INTEGER NOT NULL, at INTEGER NOT NULL,"
    " duration INTEGER NOT NULL, time INTEGER NOT NULL,"
    " content_type TEXT, location TEXT, error TEXT, etag TEXT, modified TEXT,"
    " links BLOB, ids BLOB, sum INTEGER NOT NULL);" PRAGMA("application_id", APPLICATION)
        PRAGMA("user_version", SCHEMA);

struct store {
    char *path;
    int folder_fd; /* the folder, locked; -1 while reading */
    sqlite3 *db;
    sqlite3_stmt *prepared[STATEMENT_COUNT];
    struct store_setup setup;
    char **texts; /* the strings that `setup` points to */
    size_t text_count;
    uint32_t last_url;
    int64_t last_page, url_count, page_count;
    bool is_finished;
    char *message; /* NULL if memory ran out */
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

static void set_message(struct store *store, const char *words)
{
    free(store->message);
    if (asprintf(&store->message, "%s: %s", store->path, words) < 0)
        store->message = NULL;
}

/*
 * Record SQLite's last error. For I/O errors use the text of errno, which is more
 * specific.
 */
static int fail(struct store *store, int code)
{
    int rc = errno_of(store->db, code);

    set_message(store, rc == -EIO || (code & 0xff) == SQLITE_IOERR ||
                               (code & 0xff) == SQLITE_CANTOPEN
                           ? strerror(-rc)
                           : sqlite3_errstr(code));
    return rc;
}

static int fail_as(struct store *store, int rc, const char *words)
{
    set_message(store, words);
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

/* Implements record_sum(column, ...) for SQL. */
static void sum_record(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint64_t sum = SUM_SEED;

    for (int i = 0; i < count; i++)
        sum = sum_of(values[i], sum);
    sqlite3_result_int64(context, (int64_t)sum);
}

static int add_functions(struct store *store)
{
    int code =
        sqlite3_create_function_v2(store->db, "record_sum", -1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                                   NULL, sum_record, NULL, NULL, NULL);

    return code == SQLITE_OK ? 0 : fail(store, code);
}

/* ---- statements -------------------------------------------------------------------- */

static int prepare(struct store *store, enum statement which, sqlite3_stmt **out)
{
    int code = SQLITE_OK;

    if (store->prepared[which] == NULL)
        code =
            sqlite3_prepare_v3(store->db, statements[which], -1,
                               SQLITE_PREPARE_PERSISTENT, &store->prepared[which], NULL);
    *out = store->prepared[which];
    return code == SQLITE_OK ? 0 : fail(store, code);
}

/* Run a statement that returns no rows, with its parameters already bound. */
static int step(struct store *store, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);

    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : fail(store, code);
}

static int run(struct store *store, enum statement which)
{
    sqlite3_stmt *statement;
    int rc = prepare(store, which, &statement);

    return rc == 0 ? step(store, statement) : rc;
}

static int execute(struct store *store, const char *sql)
{
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? 0 : fail(store, code);
}

static int bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

/*
 * Commit the transaction if rc is 0. If rc or the commit fails, roll the transaction
 * back.
 */
static int end_transaction(struct store *store, int rc)
{
    if (rc == 0)
        rc = run(store, COMMIT);
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
    bind_text(statement, 3, url->url);
    return step(store, statement);
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
        bind_text(statement, at++, texts[i]);
    if (page->links == NULL)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_blob64(statement, at, page->links, page->links_n, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, at + 1, page->id_count > 0 ? page->ids : NULL,
                        page->id_count * sizeof *page->ids, SQLITE_STATIC);
    store->last_page = number;
    return step(store, statement);
}

static int add_all(struct store *store, const struct store_batch *batch)
{
    sqlite3_stmt *url, *page;
    int rc = prepare(store, ADD_URL, &url);

    if (rc == 0)
        rc = prepare(store, ADD_PAGE, &page);
    for (size_t i = 0; rc == 0 && i < batch->url_count; i++)
        rc = add_url(store, url, &batch->urls[i]);
    for (size_t i = 0; rc == 0 && i < batch->page_count; i++)
        rc = add_page(store, page, &batch->pages[i]);
    return rc;
}

static int write_counts(struct store *store, bool is_finished, int64_t urls,
                        int64_t pages)
{
    sqlite3_stmt *statement;
    int rc = prepare(store, COUNT, &statement);

    if (rc < 0)
        return rc;
    sqlite3_bind_int(statement, 1, is_finished);
    sqlite3_bind_int64(statement, 2, urls);
    sqlite3_bind_int64(statement, 3, pages);
    return step(store, statement);
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
    rc = run(store, BEGIN);
    if (rc < 0)
        return rc;
    rc = add_all(store, batch);
    if (rc == 0)
        rc = write_counts(store, batch->is_finished, urls, pages);
    rc = end_transaction(store, rc);
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

/* ---- input of the crawl ------------------------------------------------------------ */

static int write_texts(struct store *store, const char *sql,
                       const struct store_texts *texts)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    int rc = code == SQLITE_OK ? 0 : fail(store, code);

    for (size_t i = 0; rc == 0 && i < texts->count; i++) {
        sqlite3_bind_int64(statement, 1, (int64_t)i + 1);
        bind_text(statement, 2, texts->at[i]);
        rc = step(store, statement);
    }
    sqlite3_finalize(statement);
    return rc;
}

static int write_crawl(struct store *store, const struct store_setup *setup)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db,
                                  "INSERT INTO crawl VALUES (?1, ?2, ?3, 0, 0, 0,"
                                  " record_sum(?1, ?2, ?3, 0, 0, 0))",
                                  -1, &statement, NULL);
    int rc = code == SQLITE_OK ? 0 : fail(store, code);

    if (rc == 0) {
        sqlite3_bind_int64(statement, 1, setup->time_s);
        sqlite3_bind_int64(statement, 2, (int64_t)setup->seed);
        sqlite3_bind_int64(statement, 3,
                           (int64_t)(setup->settings.count + setup->starts.count));
        rc = step(store, statement);
    }
    sqlite3_finalize(statement);
    return rc;
}

/* Create the tables and the fixed rows. (Invariant 3) */
static int begin_crawl(struct store *store, const struct store_setup *setup)
{
    int rc = run(store, BEGIN);

    if (rc < 0)
        return rc;
    rc = execute(store, schema);
    if (rc == 0)
        rc = write_crawl(store, setup);
    if (rc == 0)
        rc = write_texts(store, "INSERT INTO setting VALUES (?1, ?2, record_sum(?1, ?2))",
                         &setup->settings);
    if (rc == 0)
        rc = write_texts(store, "INSERT INTO start VALUES (?1, ?2, record_sum(?1, ?2))",
                         &setup->starts);
    return end_transaction(store, rc);
}

static int keep_text(struct store *store, const unsigned char *text)
{
    char **longer = realloc(store->texts, (store->text_count + 1) * sizeof *longer);

    if (longer == NULL)
        return -ENOMEM;
    store->texts = longer;
    longer[store->text_count] = text != NULL ? strdup((const char *)text) : NULL;
    return longer[store->text_count] != NULL ? (store->text_count++, 0) : -ENOMEM;
}

static int read_texts(struct store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    int rc = code == SQLITE_OK ? 0 : fail(store, code);

    while (rc == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
        rc =
            sqlite3_column_int(statement, 1) != 0
                ? keep_text(store, sqlite3_column_text(statement, 0))
                : fail_as(
                      store, -EBADMSG,
                      "the file is damaged: options or start URLs of the crawl are lost");
    if (rc == -ENOMEM)
        set_message(store, strerror(ENOMEM));
    else if (rc == 0 && code != SQLITE_DONE)
        rc = fail(store, code);
    sqlite3_finalize(statement);
    return rc;
}

/* Read the first column of the first row of a query. */
static int read_number(struct store *store, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    int rc = 0;

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    else if (code == SQLITE_DONE)
        rc = fail_as(store, -EBADMSG,
                     "the file is damaged: rows that every crawl has are lost");
    else
        rc = fail(store, code);
    sqlite3_finalize(statement);
    return rc;
}

static int check_crawl(struct store *store)
{
    int64_t is_whole = 0;
    int rc =
        read_number(store,
                    "SELECT sum = record_sum(time, seed, texts, finished, urls, pages)"
                    " FROM crawl",
                    &is_whole);

    if (rc == 0 && !is_whole)
        rc = fail_as(store, -EBADMSG,
                     "the file is damaged: options or start URLs of the crawl are lost");
    return rc;
}

static int read_setup(struct store *store)
{
    int64_t seed = 0, finished = 0, last = 0, texts = 0;
    size_t settings = 0;
    int rc = check_crawl(store);

    if (rc == 0)
        rc = read_number(store, "SELECT seed FROM crawl", &seed);
    if (rc == 0)
        rc = read_number(store, "SELECT texts FROM crawl", &texts);
    if (rc == 0)
        rc = read_number(store, "SELECT urls FROM crawl", &store->url_count);
    if (rc == 0)
        rc = read_number(store, "SELECT pages FROM crawl", &store->page_count);
    if (rc == 0)
        rc = read_number(store, "SELECT time FROM crawl", &store->setup.time_s);
    if (rc == 0)
        rc = read_number(store, "SELECT finished FROM crawl", &finished);
    if (rc == 0)
        rc = read_number(store, "SELECT ifnull(max(id), 0) FROM url", &last);
    if (rc == 0)
        rc = read_number(store, "SELECT ifnull(max(number), 0) FROM page",
                         &store->last_page);
    if (rc == 0)
        rc = read_texts(store, "SELECT argument, sum = record_sum(number, argument)"
                               " FROM setting ORDER BY number");
    settings = store->text_count;
    if (rc == 0)
        rc = read_texts(store, "SELECT url, sum = record_sum(number, url)"
                               " FROM start ORDER BY number");
    if (rc == 0 && (int64_t)store->text_count != texts)
        return fail_as(
            store, -EBADMSG,
            "the file is damaged: options or start URLs of the crawl are lost");
    if (rc == 0 && (last < 0 || last > UINT32_MAX))
        return fail_as(store, -EBADMSG,
                       "the file is damaged: rows that every crawl has are lost");
    store->setup.seed = (uint64_t)seed;
    store->is_finished = finished != 0;
    store->last_url = (uint32_t)last;
    if (rc < 0 || store->texts == NULL)
        return rc;
    store->setup.settings = (struct store_texts){(const char **)store->texts, settings};
    store->setup.starts = (struct store_texts){(const char **)store->texts + settings,
                                               store->text_count - settings};
    return 0;
}

const struct store_setup *store_setup(const struct store *store)
{
    return &store->setup;
}

bool store_is_finished(const struct store *store)
{
    return store->is_finished;
}

uint32_t store_last_url(const struct store *store)
{
    return store->last_url;
}

int64_t store_last_page(struct store *store)
{
    int64_t last = 0;
    int rc = read_number(store, "SELECT ifnull(max(number), 0) FROM page", &last);

    return rc < 0 ? rc : last;
}

/* ---- opening ----------------------------------------------------------------------- */

static const char *const names[] = {
    [STORE_CRAWL] = "crawl.db",
    [STORE_RECHECK] = "recheck.db",
    [STORE_PREVIOUS] = "previous.db",
};

static bool path_exists(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0;
}

static bool has_file(const char *folder, enum store_name name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%s", folder, names[name]) < (int)sizeof path &&
           path_exists(path);
}

static bool is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static struct store *new_store(const char *folder, enum store_name name)
{
    struct store *store = calloc(1, sizeof *store);
    int n;

    if (store == NULL)
        return NULL;
    store->folder_fd = -1;
    n = is_file(folder) ? asprintf(&store->path, "%s", folder)
                        : asprintf(&store->path, "%s/%s", folder, names[name]);
    if (n >= 0)
        return store;
    free(store);
    return NULL;
}

/*
 * Lock the folder. (Invariant 2) On a file system without flock(2), only SQLite's locks
 * remain.
 */
static int lock_folder(struct store *store, const char *folder)
{
    store->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->folder_fd < 0) {
        int rc = -errno;
        return fail_as(store, rc, strerror(-rc));
    }
    if (flock(store->folder_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return fail_as(store, -EBUSY, "another coil-crawl is using this folder");
    return 0;
}

/*
 * Create the file with mode 0600 before SQLite would, because it may contain passwords.
 */
static int make_file(struct store *store)
{
    int fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), rc = -errno;

    if (fd < 0)
        return fail_as(store, rc, strerror(-rc));
    close(fd);
    return 0;
}

static int open_database(struct store *store, enum store_mode mode)
{
    int flags = SQLITE_OPEN_NOMUTEX |
                (mode == STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    int code = sqlite3_open_v2(store->path, &store->db, flags, NULL);

    if (code != SQLITE_OK)
        return fail(store, code);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    return add_functions(store);
}

/* Return 1 if the file contains a crawl, or 0 if it is empty. */
static int has_crawl(struct store *store)
{
    int64_t tables = 0, application = 0, version = 0;
    int rc = read_number(store, "SELECT count(*) FROM sqlite_master", &tables);

    if (rc == 0 && tables > 0)
        rc = read_number(store, "PRAGMA application_id", &application);
    if (rc == 0 && tables > 0)
        rc = read_number(store, "PRAGMA user_version", &version);
    if (rc < 0 || tables == 0)
        return rc;
    if (application != APPLICATION)
        return fail_as(store, -EBADMSG, "not a crawl saved by coil-crawl");
    if (version != SCHEMA)
        return fail_as(store, -EBADMSG, "saved by another version of coil-crawl");
    return 1;
}

static int use_log(struct store *store)
{
    return execute(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
}

static int create(struct store *store, const char *folder,
                  const struct store_setup *setup)
{
    int rc;

    if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
        rc = -errno;
        return fail_as(store, rc, strerror(-rc));
    }
    rc = lock_folder(store, folder);
    if (rc == 0)
        rc = make_file(store);
    if (rc == 0)
        rc = open_database(store, STORE_WRITE);
    if (rc == 0)
        rc = has_crawl(store);
    if (rc > 0)
        return fail_as(store, -EEXIST,
                       "the folder already has a crawl: use resume, recheck or report");
    if (rc == 0)
        rc = use_log(store);
    if (rc == 0)
        rc = begin_crawl(store, setup);
    return rc == 0 ? read_setup(store) : rc;
}

/*
 * Between the two renames of store_replace() crawl.db is missing. In that case a writer
 * does the second rename, and a reader reads recheck.db.
 */
static int find_file(struct store *store, const char *folder, enum store_mode mode)
{
    char *new;
    int rc = 0;

    if (path_exists(store->path))
        return 0;
    if (asprintf(&new, "%s/%s", folder, names[STORE_RECHECK]) < 0)
        return -ENOMEM;
    if (strcmp(store->path + strlen(folder) + 1, names[STORE_CRAWL]) != 0 ||
        !has_file(folder, STORE_PREVIOUS) || !path_exists(new))
        rc = fail_as(store, -ENOENT, "there is no saved crawl");
    else if (mode == STORE_WRITE && rename(new, store->path) < 0)
        rc = fail_as(store, -errno, strerror(errno));
    else if (mode == STORE_READ) {
        free(store->path);
        store->path = new;
        return 0;
    }
    free(new);
    return rc;
}

static int open_existing(struct store *store, const char *folder, enum store_mode mode)
{
    int rc = mode == STORE_WRITE && path_exists(folder) ? lock_folder(store, folder) : 0;

    if (rc == 0)
        rc = find_file(store, folder, mode);
    if (rc == 0)
        rc = open_database(store, mode);
    if (rc == 0)
        rc = has_crawl(store);
    if (rc == 0 && store->db != NULL)
        return fail_as(store, -ENOENT, "there is no saved crawl");
    if (rc > 0)
        rc = mode == STORE_WRITE ? use_log(store) : 0;
    return rc == 0 ? read_setup(store) : rc;
}

/* Give the store to the caller, or on failure its message. */
static int hand_over(struct store *store, int rc, struct store **out, char **message)
{
    *out = rc == 0 ? store : NULL;
    *message = NULL;
    if (rc == 0)
        return 0;
    *message = store->message;
    store->message = NULL;
    store_close(store);
    return rc;
}

int store_create(const char *folder, enum store_name name,
                 const struct store_setup *setup, struct store **out, char **message)
{
    struct store *store = new_store(folder, name);

    *out = NULL;
    *message = NULL;
    if (store == NULL)
        return -ENOMEM;
    return hand_over(store, create(store, folder, setup), out, message);
}

int store_open(const char *folder, enum store_name name, enum store_mode mode,
               struct store **out, char **message)
{
    struct store *store = new_store(folder, name);

    *out = NULL;
    *message = NULL;
    if (store == NULL)
        return -ENOMEM;
    return hand_over(store, open_existing(store, folder, mode), out, message);
}

/*
 * Merge the log of a finished crawl into its file, so that the file can be read in a
 * read-only folder. If another process reads it, the log remains until the next process
 * closes the file.
 */
static void end_log(struct store *store)
{
    if (store->is_finished && store->folder_fd >= 0)
        sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(store->prepared[i]);
    if (store->db != NULL)
        end_log(store);
    sqlite3_close(store->db);
    if (store->folder_fd >= 0)
        close(store->folder_fd);
    for (size_t i = 0; i < store->text_count; i++)
        free(store->texts[i]);
    free(store->texts);
    free(store->message);
    free(store->path);
    free(store);
}

#define COUNT_LOST_PAGES "SELECT pages - (SELECT count(*) FROM page) FROM crawl"
/* the column of NEXT_PAGE that is true if the checksum is right */
#define PAGE_IS_WHOLE 20

/* ---- reading ----------------------------------------------------------------------- */

static const char *text_at(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

/*
 * Move on to the next row. Rows of a damaged file may be out of order; without this check
 * the loop might never end.
 */
static int check_order(struct store *store, int64_t *last, int64_t number)
{
    if (number <= *last)
        return fail_as(store, -EBADMSG, "the file is damaged");
    *last = number;
    return 0;
}

/* Fail if a table lacks rows. `sql` computes how many are missing. */
static int check_count(struct store *store, const char *sql, const char *words)
{
    int64_t missing = 0;
    int rc = read_number(store, sql, &missing);

    return rc == 0 && missing != 0 ? fail_as(store, -EBADMSG, words) : rc;
}

static int damaged_url(struct store *store, int64_t id)
{
    char words[128];

    snprintf(words, sizeof words,
             "the file is damaged: the record of URL number %lld is lost; begin the "
             "crawl again",
             (long long)id);
    return fail_as(store, -EBADMSG, words);
}

static int visit_url(sqlite3_stmt *row, int (*visit)(void *arg, const struct store_url *),
                     void *arg)
{
    struct store_url url = {.id = (uint32_t)sqlite3_column_int64(row, 0),
                            .fragment_at = (uint32_t)sqlite3_column_int64(row, 1),
                            .url = text_at(row, 2)};

    return url.url != NULL ? visit(arg, &url) : -ENOMEM;
}

int store_each_url(struct store *store,
                   int (*visit)(void *arg, const struct store_url *url), void *arg)
{
    static const char sql[] =
        "SELECT id, fragment_at, url, sum = record_sum(id, fragment_at, url)"
        " FROM url ORDER BY id";
    sqlite3_stmt *statement = NULL;
    int64_t last = 0;
    int rc = check_count(store, "SELECT urls - (SELECT count(*) FROM url) FROM crawl",
                         "the file is damaged: records of URLs are lost; begin the crawl "
                         "again"),
        code;

    if (rc < 0)
        return rc;
    code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while (rc == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            rc = check_order(store, &last, sqlite3_column_int64(statement, 0));
            if (rc == 0 && sqlite3_column_int(statement, 3) == 0)
                rc = damaged_url(store, last);
            if (rc == 0) {
                rc = visit_url(statement, visit, arg);
                if (rc == -EBADMSG)
                    set_message(store, "the file is damaged: it has invalid URLs");
            }
        }
        if (rc != 0)
            code = SQLITE_DONE;
    }
    if (code != SQLITE_DONE)
        rc = fail(store, code);
    sqlite3_finalize(statement);
    return rc;
}

int store_each_validator(struct store *store,
                         int (*visit)(void *arg, int64_t number, const char *url),
                         void *arg)
{
    static const char sql[] =
        "SELECT number, url.url FROM page JOIN url ON url.id = page.url"
        " WHERE (etag IS NOT NULL OR modified IS NOT NULL) AND status = 200 AND rc = 0"
        " ORDER BY number";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL), rc = 0;

    if (code == SQLITE_OK) {
        while (rc == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
            rc = text_at(statement, 1) != NULL
                     ? visit(arg, sqlite3_column_int64(statement, 0),
                             text_at(statement, 1))
                     : -ENOMEM;
        if (rc != 0)
            code = SQLITE_DONE;
    }
    if (code != SQLITE_DONE)
        rc = fail(store, code);
    sqlite3_finalize(statement);
    return rc;
}

/* Read a column as an int; 0 if the file was changed and the value is out of range. */
static int int_at(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);

    return value < INT32_MIN || value > INT32_MAX ? 0 : (int)value;
}

/* Read a column in microseconds, and return nanoseconds. */
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
 * Return a copy of the URL that the caller frees. NULL without memory or if the id is
 * unknown.
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
    fail_as(store, -EBADMSG, words != NULL ? words : strerror(ENOMEM));
    free(words);
    return -EBADMSG;
}

int64_t store_next_page(struct store *store, int64_t after, struct store_page *page)
{
    sqlite3_stmt *statement;
    int rc = prepare(store, NEXT_PAGE, &statement), code;

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
        return fail(store, code);
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

/* Run SQLite's own check of the file's structure. Returns 0 if it finds no damage. */
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
        rc = fail(store, code);
    } else if (found == NULL || strcmp(found, "ok") != 0) {
        snprintf(words, sizeof words, "the file is damaged and cannot be used: %.150s",
                 found != NULL ? found : "");
        rc = fail_as(store, -EBADMSG, words);
    }
    sqlite3_finalize(statement);
    return rc;
}

/* The numbers of damaged pages, and a list of some of their URLs for the message. */
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

static int find_damage(struct store *store, struct damage *damage)
{
    static const char sql[] = "SELECT number, url FROM page WHERE sum IS NOT"
                              " record_sum(" PAGE_COLUMNS ") ORDER BY number";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL), rc = 0;

    if (code == SQLITE_OK)
        while (rc == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
            rc = note_damage(store, damage, sqlite3_column_int64(statement, 0),
                             sqlite3_column_int64(statement, 1));
    if (rc == 0 && code != SQLITE_DONE)
        rc = fail(store, code);
    sqlite3_finalize(statement);
    return rc;
}

static int drop_damage(struct store *store, const struct damage *damage, int64_t left)
{
    sqlite3_stmt *statement;
    int rc = run(store, BEGIN);

    if (rc < 0)
        return rc;
    rc = prepare(store, DROP_PAGE, &statement);
    for (size_t i = 0; rc == 0 && i < damage->count; i++) {
        sqlite3_bind_int64(statement, 1, damage->numbers[i]);
        rc = step(store, statement);
    }
    if (rc == 0)
        rc = write_counts(store, false, store->url_count, left);
    rc = end_transaction(store, rc);
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
        rc = read_number(store, COUNT_LOST_PAGES, &missing);
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

/* ---- files ------------------------------------------------------------------------- */

static int rename_file(const char *folder, enum store_name from, enum store_name to,
                       char **message)
{
    char *old = NULL, *new = NULL;
    int rc = 0;

    if (asprintf(&old, "%s/%s", folder, names[from]) < 0)
        return -ENOMEM;
    if (asprintf(&new, "%s/%s", folder, names[to]) < 0) {
        free(old);
        return -ENOMEM;
    }
    if (rename(old, new) < 0) {
        rc = -errno;
        if (asprintf(message, "%s: %s", old, strerror(errno)) < 0)
            *message = NULL;
    }
    free(old);
    free(new);
    return rc;
}

/*
 * Fail if the file has a write-ahead log. SQLite finds a log by the file's name, so after
 * a rename the log would be applied to the wrong file.
 */
static int check_log(const char *folder, enum store_name name, char **message)
{
    char *log;
    bool there;

    if (asprintf(&log, "%s/%s-wal", folder, names[name]) < 0)
        return -ENOMEM;
    there = path_exists(log);
    free(log);
    if (!there)
        return 0;
    if (asprintf(message,
                 "%s/%s: another process is reading it: run the recheck again later",
                 folder, names[name]) < 0)
        *message = NULL;
    return -EBUSY;
}

int store_mend(const char *folder, char **message)
{
    struct store *store;
    int rc;

    *message = NULL;
    if (has_file(folder, STORE_CRAWL) || !has_file(folder, STORE_PREVIOUS) ||
        !has_file(folder, STORE_RECHECK))
        return 0;
    /* find_file() does the second rename */
    rc = store_open(folder, STORE_CRAWL, STORE_WRITE, &store, message);
    if (rc == 0)
        store_close(store);
    return rc;
}

int store_replace(const char *folder, char **message)
{
    int rc;

    *message = NULL;
    rc = check_log(folder, STORE_CRAWL, message);
    if (rc == 0)
        rc = check_log(folder, STORE_RECHECK, message);
    if (rc == 0)
        rc = rename_file(folder, STORE_CRAWL, STORE_PREVIOUS, message);
    return rc == 0 ? rename_file(folder, STORE_RECHECK, STORE_CRAWL, message) : rc;
}
