/*
 * libmariadb.c - MariaDB Connector/C, which uses blocking sockets and poll() for
 * timeouts.
 */
#include "foreign.h"

#include <errmsg.h>
#include <mysql.h>
#include <stdio.h>
#include <string.h>

static bool start(void)
{
    return mysql_library_init(0, NULL, NULL) == 0;
}

static bool ask(MYSQL *db, int number)
{
    char question[100], expected[20];
    MYSQL_RES *result;
    MYSQL_ROW row;
    bool right;

    snprintf(question, sizeof question, "select %d * 7 from (select sleep(0.1)) as t",
             number);
    snprintf(expected, sizeof expected, "%d", number * 7);
    if (mysql_query(db, question) != 0)
        return foreign_failed("%s", mysql_error(db));
    result = mysql_store_result(db);
    row = result != NULL ? mysql_fetch_row(result) : NULL;
    right = row != NULL && strcmp(row[0], expected) == 0;
    mysql_free_result(result);
    return right;
}

static MYSQL *connect_for(unsigned seconds)
{
    MYSQL *db = mysql_init(NULL);
    unsigned long_time = 120;

    mysql_options(db, MYSQL_OPT_CONNECT_TIMEOUT, &long_time);
    mysql_options(db, MYSQL_OPT_READ_TIMEOUT, &seconds);
    if (mysql_real_connect(db, "127.0.0.1", "root", NULL, NULL, (unsigned)foreign_port,
                           NULL, 0) != NULL)
        return db;
    foreign_failed("%s", mysql_error(db));
    mysql_close(db);
    return NULL;
}

static bool ask_twice(int number)
{
    MYSQL *db = connect_for(120);
    bool right = db != NULL && ask(db, number) && ask(db, number + 1);

    mysql_close(db);
    return right;
}

/*
 * Wait for a response that never arrives, until the connector's own timeout ends the
 * wait.
 */
static bool give_up(void)
{
    MYSQL *db = connect_for(1);
    bool right = db != NULL &&
                 mysql_query(db, "select 1 * 7 from (select sleep(600)) as t") != 0 &&
                 mysql_errno(db) == CR_SERVER_LOST;

    if (db != NULL && !right)
        foreign_failed("no time-out: %s", mysql_error(db));
    mysql_close(db);
    return right;
}

static bool use(int number)
{
    return ask_twice(number) && give_up();
}

static bool stop(void)
{
    mysql_library_end();
    return true;
}

const struct foreign foreign = {.name = "libmariadb",
                                .tested = "queries, time-outs",
                                .server = true,
                                .start = start,
                                .use = use,
                                .stop = stop};
