/*
 * libpq_select.c - makes SELECT queries with libpq, a blocking library: see client.h.
 *
 *     libpq_select coil|threads|async CONNINFO CONNECTIONS COUNT
 *
 * `async` is libpq's own asynchronous interface, with epoll.
 */
#include "client.h"

#include <libpq-fe.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { BATCH = 64 };

static const char query[] = "SELECT 42";

static void *open_connection(const char *server)
{
    PGconn *connection = PQconnectdb(server);

    if (PQstatus(connection) != CONNECTION_OK)
        client_stop(PQerrorMessage(connection));
    return connection;
}

/* Exit with a message if the result is an error. Free the result. */
static void check(PGconn *connection, PGresult *result)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK ||
        strcmp(PQgetvalue(result, 0, 0), "42") != 0)
        client_stop(PQerrorMessage(connection));
    PQclear(result);
}

static void request(void *connection)
{
    check(connection, PQexec(connection, query));
}

static void close_connection(void *connection)
{
    PQfinish(connection);
}

/* ---- libpq's asynchronous interface ------------------------------------------------ */

struct sender {
    PGconn *connection;
    int left; /* number of queries whose answers have not arrived */
};

/* A short query fits into the socket's buffer, so PQflush() has nothing left to send. */
static void send_query(struct sender *sender)
{
    if (PQsendQuery(sender->connection, query) != 1 || PQflush(sender->connection) != 0)
        client_stop(PQerrorMessage(sender->connection));
}

/*
 * Read the data that has arrived, and send the next query after each complete answer.
 * Returns 1 after the sender's last answer.
 */
static int receive(struct sender *sender)
{
    PGresult *result;

    if (PQconsumeInput(sender->connection) != 1)
        client_stop(PQerrorMessage(sender->connection));
    while (PQisBusy(sender->connection) == 0) {
        result = PQgetResult(sender->connection);
        if (result != NULL) {
            check(sender->connection, result);
            continue;
        }
        if (--sender->left == 0)
            return 1;
        send_query(sender);
        return 0;
    }
    return 0;
}

static void use_async(void **connections, int count, int requests)
{
    struct sender *senders = calloc((size_t)count, sizeof *senders);
    struct epoll_event events[BATCH];
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC), working = count;

    if (senders == NULL || epoll_fd < 0)
        client_stop("no epoll");
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &senders[i]};

        senders[i] = (struct sender){connections[i], requests};
        if (PQsetnonblocking(connections[i], 1) != 0 ||
            epoll_ctl(epoll_fd, EPOLL_CTL_ADD, PQsocket(connections[i]), &event) < 0)
            client_stop("no epoll");
        send_query(&senders[i]);
    }
    while (working > 0) {
        int n = epoll_wait(epoll_fd, events, BATCH, -1);

        for (int i = 0; i < n; i++)
            working -= receive(events[i].data.ptr);
    }
    close(epoll_fd);
    free(senders);
}

int main(int argc, char **argv)
{
    static const struct client libpq = {open_connection, request, close_connection,
                                        use_async};

    return client_main(&libpq, argc, argv);
}
