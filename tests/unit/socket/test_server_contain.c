/*
 * test_server_contain.c - a server that contains misuse: a mistake in a handler ends its
 * connection, but not the program.
 */
#include "sockets.h"

#include "../../harness/harness.h"

#include <string.h>

static struct {
    int count, rc;
    char text[400];
} report;

static void keep_report(const coil_exception *exception, void *arg)
{
    (void)arg;
    report.count++;
    report.rc = exception->rc;
    snprintf(report.text, sizeof report.text, "%s: %s", exception->message,
             exception->error != NULL ? coil_error_message(exception->error) : "");
}

static int nap(void *arg)
{
    int rc = coil_sleep(COIL_SEC(60));

    test_trace("%s%s ", (const char *)arg, rc == -ECANCELED ? "!" : "-");
    return rc;
}

static int read_in_scope(coil_stream *stream)
{
    coil_scope s;
    char c;

    if (coil_scope_enter(&s, coil_in(COIL_SEC(60))) < 0)
        return -1;
    if (coil_read(stream, &c, 1) <= 0)
        return 0; /* the mistake */
    return coil_scope_exit(&s, c);
}

static int spawn_in_group(const char *name)
{
    coil_group g;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, (void *)name, NULL, NULL);
    coil_yield();
    return 0; /* the mistake */
}

/* Overwrite stack memory that earlier calls have used. */
static int scribble(void)
{
    volatile char bytes[2000];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)0xa5;
    return bytes[7] == 1;
}

static int handle(coil_stream *stream, void *arg)
{
    coil_scope s;
    coil_group g;
    char order;

    (void)arg;
    if (coil_read(stream, &order, 1) != 1)
        return 0;
    switch (order) {
    case 's': /* return without leaving a scope when the peer disconnects */
        coil_write(stream, "s", 1);
        return read_in_scope(stream) + scribble();
    case 'g': /* leave groups and scopes open */
        coil_group_enter(&g);
        CHECK_INT(coil_scope_enter_shielded(&s, COIL_NEVER), 0);
        return spawn_in_group("a") + spawn_in_group("b") + scribble();
    case 'n':
        return (int)coil_read(NULL, &order, 1);
    case 'd': /* fail deep inside, while a group has a child */
        coil_group_enter(&g);
        coil_group_spawn(&g, nap, "c", NULL, NULL);
        coil_yield();
        return coil_scope_exit(&s, 0) + coil_lock_acquire(NULL);
    default:
        return (int)coil_write(stream, &order, 1);
    }
}

struct place {
    coil_listener *listener;
    coil_server *server;
    char port[8];
};

static struct place start_server(bool contain, int64_t idle_ns)
{
    coil_server_opts opts = {.contain_misuse = contain, .idle_ns = idle_ns};
    struct place p = {NULL, NULL, ""};

    memset(&report, 0, sizeof report);
    coil_set_exception_handler(keep_report, NULL);
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &p.listener), 0);
    snprintf(p.port, sizeof p.port, "%u", coil_listener_port(p.listener));
    CHECK_INT(coil_server_create(p.listener, handle, NULL, &opts, &p.server), 0);
    return p;
}

static void stop_server(struct place *p)
{
    CHECK_INT(coil_server_stop(p->server), 0);
    coil_server_destroy(p->server);
    coil_listener_destroy(p->listener);
}

static void give_order(struct place *p, char order)
{
    coil_stream *stream = NULL;
    char answer;

    CHECK_INT(coil_connect("127.0.0.1", p->port, &stream), 0);
    coil_write(stream, &order, 1);
    if (order == 's')
        CHECK_INT(coil_read(stream, &answer, 1), 1);
    if (order != 's')
        coil_read(stream, &answer, 1);
    coil_stream_destroy(stream);
    while (coil_server_connections(p->server) > 0)
        coil_sleep(COIL_MSEC(1));
}

static void check_order(struct place *p, char order, const char *message)
{
    int before = report.count;

    give_order(p, order);
    CHECK_INT(report.count, before + 1);
    CHECK_INT(report.rc, -COIL_EFAILED);
    CHECK(strstr(report.text, "in the handler of a connection") != NULL);
    CHECK(strstr(report.text, message) != NULL);
    give_order(p, 'x');
    CHECK_INT(report.count, before + 1);
}

NET_TEST(server_contains_a_scope_left_open)
{
    struct place p = start_server(true, 0);

    check_order(&p, 's', "it returned with a scope open, entered at");
    stop_server(&p);
}

NET_TEST(server_contains_groups_left_open)
{
    struct place p = start_server(true, COIL_SEC(30));

    check_order(&p, 'g', "it returned with a group open, entered at");
    CHECK_TRACE("b! a! ");
    stop_server(&p);
}

NET_TEST(server_contains_a_misuse)
{
    struct place p = start_server(true, 0);

    check_order(&p, 'n', "coil_read() was called with a stream that is NULL");
    check_order(&p, 'd', "coil_scope_exit: the scope was never given to");
    CHECK_TRACE("c! ");
    stop_server(&p);
}

static int make_mistake(void *arg)
{
    struct place p = start_server(false, 0);

    (void)arg;
    give_order(&p, 's');
    stop_server(&p);
    return 0;
}

static void run_mistake(void *arg)
{
    coil_run(make_mistake, arg, NULL);
}

TEST(server_contains_misuse_only_on_request)
{
    test_dies(run_mistake, NULL, "has ended with a scope open");
}

/* Misuse outside of a handler aborts the program, even while a server contains misuse. */
static void read_nothing(void *arg)
{
    char c;

    (void)arg;
    coil_read(NULL, &c, 1);
}

IO_TEST(server_contains_no_misuse_of_another_task)
{
    struct place p = start_server(true, 0);

    give_order(&p, 'x');
    test_dies(read_nothing, NULL, "coil_read() was called with a stream that is NULL");
    stop_server(&p);
}

/* Entering a scope fails if it has to be allocated separately and there is no memory. */
IO_TEST(server_contains_without_memory)
{
    struct place p = start_server(true, 0);

    for (int n = 1; n < 12; n++) {
        coil_stream *stream = NULL;
        char answer;

        CHECK_INT(coil_connect("127.0.0.1", p.port, &stream), 0);
        coil_write(stream, "s", 1);
        test_fail_allocation(n);
        coil_read(stream, &answer, 1);
        test_fail_allocation(0);
        coil_stream_destroy(stream);
        while (coil_server_connections(p.server) > 0)
            coil_sleep(COIL_MSEC(1));
    }
    give_order(&p, 'x');
    stop_server(&p);
}
