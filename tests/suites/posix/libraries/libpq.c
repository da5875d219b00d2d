/* libpq.c - PostgreSQL's client, which uses non-blocking sockets and waits in poll(). */
#include "library.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

static void *open_client(const char *server)
{
    PGconn *connection = PQconnectdb(server);

    if (PQstatus(connection) == CONNECTION_OK)
        return connection;
    fprintf(stderr, "libpq: %s", PQerrorMessage(connection));
    PQfinish(connection);
    return NULL;
}

static bool call(void *handle)
{
    PGresult *result = PQexec(handle, "select 6 * 7 from pg_sleep(" WAIT_S ")");
    bool right = PQresultStatus(result) == PGRES_TUPLES_OK &&
                 strcmp(PQgetvalue(result, 0, 0), "42") == 0;

    PQclear(result);
    return right;
}

static void close_client(void *handle)
{
    PQfinish(handle);
}

__attribute__((constructor)) static void add(void)
{
    static struct library libpq = {.name = "libpq",
                                   .version = VERSION_OF_LIBPQ,
                                   .tested = "queries",
                                   .server = "POSTGRES_SERVER",
                                   .open = open_client,
                                   .call = call,
                                   .close = close_client};

    library_register(&libpq);
}
