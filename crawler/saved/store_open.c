/*
 * store_open.c - create, open and replace the file of a crawl.
 */
#include "store_inside.h"

#include "../base/array.h"
#include "../base/hash.h"
#include "../base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- input of the crawl ------------------------------------------------------------ */

static int write_texts(struct store *store, const char *sql,
                       const struct store_texts *texts)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    int rc = code == SQLITE_OK ? 0 : store_fail(store, code);

    for (size_t i = 0; rc == 0 && i < texts->count; i++) {
        sqlite3_bind_int64(statement, 1, (int64_t)i + 1);
        store_bind_text(statement, 2, texts->at[i]);
        rc = store_step(store, statement);
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
    int rc = code == SQLITE_OK ? 0 : store_fail(store, code);

    if (rc == 0) {
        sqlite3_bind_int64(statement, 1, setup->time_s);
        sqlite3_bind_int64(statement, 2, (int64_t)setup->seed);
        sqlite3_bind_int64(statement, 3,
                           (int64_t)(setup->settings.count + setup->starts.count));
        rc = store_step(store, statement);
    }
    sqlite3_finalize(statement);
    return rc;
}

/* Create the tables, and the rows that every crawl has. (Invariant 3) */
static int begin_crawl(struct store *store, const struct store_setup *setup)
{
    int rc = store_run(store, BEGIN);

    if (rc < 0)
        return rc;
    rc = store_execute(store, schema);
    if (rc == 0)
        rc = write_crawl(store, setup);
    if (rc == 0)
        rc = write_texts(store, "INSERT INTO setting VALUES (?1, ?2, record_sum(?1, ?2))",
                         &setup->settings);
    if (rc == 0)
        rc = write_texts(store, "INSERT INTO start VALUES (?1, ?2, record_sum(?1, ?2))",
                         &setup->starts);
    return store_end_transaction(store, rc);
}

static int add_text(struct store *store, const unsigned char *text)
{
    char **longer = realloc(store->texts, (store->text_count + 1) * sizeof *longer);

    if (longer == NULL)
        return -ENOMEM;
    store->texts = longer;
    longer[store->text_count] = text != NULL ? strdup((const char *)text) : NULL;
    return longer[store->text_count] != NULL ? (store->text_count++, 0) : -ENOMEM;
}

static int fail_without_options(struct store *store)
{
    return store_fail_as(
        store, -EBADMSG,
        "the file is damaged: options or start URLs of the crawl are lost");
}

static int read_text(struct store *store, sqlite3_stmt *row, void *arg)
{
    int rc;

    (void)arg;
    if (sqlite3_column_int(row, 1) == 0)
        return fail_without_options(store);
    rc = add_text(store, sqlite3_column_text(row, 0));
    if (rc == -ENOMEM)
        store_set_message(store, strerror(ENOMEM));
    return rc;
}

static int read_texts(struct store *store, const char *sql)
{
    return store_each_row(store, sql, read_text, NULL);
}

int store_read_number(struct store *store, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    int rc = 0;

    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    else if (code == SQLITE_DONE)
        rc = store_fail_as(store, -EBADMSG,
                           "the file is damaged: rows that every crawl has are lost");
    else
        rc = store_fail(store, code);
    sqlite3_finalize(statement);
    return rc;
}

static int check_crawl(struct store *store)
{
    int64_t is_whole = 0;
    int rc = store_read_number(
        store,
        "SELECT sum = record_sum(time, seed, texts, finished, urls, pages)"
        " FROM crawl",
        &is_whole);

    return rc == 0 && !is_whole ? fail_without_options(store) : rc;
}

static int read_numbers(struct store *store, int64_t *texts)
{
    int64_t seed = 0, finished = 0, last = 0;
    const struct {
        const char *sql;
        int64_t *out;
    } numbers[] = {
        {"SELECT seed FROM crawl", &seed},
        {"SELECT texts FROM crawl", texts},
        {"SELECT urls FROM crawl", &store->url_count},
        {"SELECT pages FROM crawl", &store->page_count},
        {"SELECT time FROM crawl", &store->setup.time_s},
        {"SELECT finished FROM crawl", &finished},
        {"SELECT ifnull(max(id), 0) FROM url", &last},
        {"SELECT ifnull(max(number), 0) FROM page", &store->last_page},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        int rc = store_read_number(store, numbers[i].sql, numbers[i].out);

        if (rc < 0)
            return rc;
    }
    if (last < 0 || last > UINT32_MAX)
        return store_fail_as(store, -EBADMSG,
                             "the file is damaged: rows that every crawl has are lost");
    store->setup.seed = (uint64_t)seed;
    store->is_finished = finished != 0;
    store->last_url = (uint32_t)last;
    return 0;
}

static int read_setup(struct store *store)
{
    int64_t texts = 0;
    size_t settings;
    int rc = check_crawl(store);

    if (rc == 0)
        rc = read_numbers(store, &texts);
    if (rc == 0)
        rc = read_texts(store, "SELECT argument, sum = record_sum(number, argument)"
                               " FROM setting ORDER BY number");
    if (rc < 0)
        return rc;
    settings = store->text_count;
    rc = read_texts(store, "SELECT url, sum = record_sum(number, url)"
                           " FROM start ORDER BY number");
    if (rc == 0 && (int64_t)store->text_count != texts)
        return fail_without_options(store);
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
    int rc = store_read_number(store, "SELECT ifnull(max(number), 0) FROM page", &last);

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
 * Lock the folder (invariant 2). If the file system does not support flock(2), the file
 * is only protected by SQLite's locks.
 */
static int lock_folder(struct store *store, const char *folder)
{
    store->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->folder_fd < 0) {
        int rc = -errno;
        return store_fail_as(store, rc, strerror(-rc));
    }
    if (flock(store->folder_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return store_fail_as(store, -EBUSY, "another coil-crawl is using this folder");
    return 0;
}

/*
 * Create the file. The file may contain passwords, so its mode must be 0600; SQLite would
 * use another mode.
 */
static int make_file(struct store *store)
{
    int fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), rc = -errno;

    if (fd < 0)
        return store_fail_as(store, rc, strerror(-rc));
    close(fd);
    return 0;
}

static int open_database(struct store *store, enum store_mode mode)
{
    int flags = SQLITE_OPEN_NOMUTEX |
                (mode == STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    int code = sqlite3_open_v2(store->path, &store->db, flags, NULL);

    if (code != SQLITE_OK)
        return store_fail(store, code);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    return store_add_functions(store);
}

static int fail_because_of_schema(struct store *store, int64_t version)
{
    char words[192];

    snprintf(words, sizeof words,
             "saved by %s version of coil-crawl: the file has schema %" PRId64
             ", but this version needs schema %d; use the version that saved it, or "
             "crawl again into another folder",
             version < SCHEMA ? "an older" : "a newer", version, SCHEMA);
    return store_fail_as(store, -EBADMSG, words);
}

/* Return 1 if the file contains a crawl, 0 if it is empty, or a negative error. */
static int has_crawl(struct store *store)
{
    int64_t tables = 0, application = 0, version = 0;
    int rc = store_read_number(store, "SELECT count(*) FROM sqlite_master", &tables);

    if (rc == 0 && tables > 0)
        rc = store_read_number(store, "PRAGMA application_id", &application);
    if (rc == 0 && tables > 0)
        rc = store_read_number(store, "PRAGMA user_version", &version);
    if (rc < 0 || tables == 0)
        return rc;
    if (application != APPLICATION)
        return store_fail_as(store, -EBADMSG, "not a crawl saved by coil-crawl");
    if (version != SCHEMA)
        return fail_because_of_schema(store, version);
    return 1;
}

static int use_log(struct store *store)
{
    return store_execute(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
}

int store_make_folder(const char *folder)
{
    return mkdir(folder, 0777) < 0 && errno != EEXIST ? -errno : 0;
}

static int create(struct store *store, const char *folder,
                  const struct store_setup *setup)
{
    int rc = store_make_folder(folder);

    if (rc < 0)
        return store_fail_as(store, rc, strerror(-rc));
    rc = lock_folder(store, folder);
    if (rc == 0)
        rc = make_file(store);
    if (rc == 0)
        rc = open_database(store, STORE_WRITE);
    if (rc < 0)
        return rc;
    rc = has_crawl(store);
    if (rc > 0)
        return store_fail_as(
            store, -EEXIST,
            "the folder already has a crawl: use resume, recheck or report");
    if (rc == 0)
        rc = use_log(store);
    if (rc == 0)
        rc = begin_crawl(store, setup);
    return rc == 0 ? read_setup(store) : rc;
}

/*
 * Find the file to open. If crawl.db is missing because store_replace() was interrupted
 * between its two renames, a writer does the second rename, and a reader opens
 * recheck.db.
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
        rc = store_fail_as(store, -ENOENT, "there is no saved crawl");
    else if (mode == STORE_WRITE && rename(new, store->path) < 0)
        rc = store_fail_as(store, -errno, strerror(errno));
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
        return store_fail_as(store, -ENOENT, "there is no saved crawl");
    if (rc > 0)
        rc = mode == STORE_WRITE ? use_log(store) : 0;
    return rc == 0 ? read_setup(store) : rc;
}

/*
 * Set *out to the store. If `rc` is an error, destroy the store instead, and set *message
 * to its message. Returns `rc`.
 */
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
 * read-only folder. Merging fails if another process is reading the file. In that case,
 * the log remains until the file is opened for writing and closed again.
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
 * Fail if the file has a write-ahead log. Such a file must not be renamed: SQLite finds a
 * log by its name, and would apply it to the wrong file.
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

int store_finish_replace(const char *folder, char **message)
{
    struct store *store;
    int rc;

    *message = NULL;
    if (has_file(folder, STORE_CRAWL) || !has_file(folder, STORE_PREVIOUS) ||
        !has_file(folder, STORE_RECHECK))
        return 0;
    /* store_open() calls find_file(), which does the second rename */
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
