/*
 * sqlite.c - SQLite's busy timeout: all tasks write to one database, to which only one
 * task at a time can write.
 */
#include "foreign.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sqlite3 *writer;

static sqlite3 *open_database(void)
{
    char path[300];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/database", getenv("FOREIGN_FOLDER"));
    if (sqlite3_open(path, &db) != SQLITE_OK)
        return NULL;
    sqlite3_busy_timeout(db, 120000);
    return db;
}

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           foreign_failed("%s: %s", sql, sqlite3_errmsg(db));
}

static bool start(void)
{
    writer = open_database();
    return writer != NULL && run(writer, "create table t (x)") &&
           run(writer, "begin immediate") && run(writer, "insert into t values (-1)");
}

static bool use(int number)
{
    sqlite3 *db = open_database();
    char sql[100];
    bool right;

    snprintf(sql, sizeof sql, "insert into t values (%d)", number);
    right = db != NULL && run(db, sql);
    sqlite3_close(db);
    return right;
}

static bool let_them_write(void)
{
    while (foreign_begun < FOREIGN_USES)
        usleep(1000);
    usleep(50000);
    return run(writer, "commit");
}

static int count(void *rows, int columns, char **values, char **names)
{
    (void)columns, (void)names;
    *(int *)rows = atoi(values[0]);
    return 0;
}

static bool stop(void)
{
    int rows = 0;

    sqlite3_exec(writer, "select count(*) from t", count, &rows, NULL);
    sqlite3_close(writer);
    return rows == FOREIGN_USES + 1;
}

const struct foreign foreign = {.name = "SQLite",
                                .tested = "the busy time-out, twenty writers of one file",
                                .start = start,
                                .use = use,
                                .other_side = let_them_write,
                                .stop = stop};
