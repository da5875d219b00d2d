/* needs: coil-testing */
/* datagram.c - compiles and runs the examples in docs/manual/datagram.md. */
#include "simulated.h"

#include "datagram.md/datagrams"

static ssize_t receive_many(coil_datagram *d)
{
    static char buffers[32][100];
    ssize_t n;

#include "datagram.md/batches"
    CHECK(messages[0].received == 5 && memcmp(buffers[0], "hello", 5) == 0);
    return n;
}

static ssize_t answer(coil_datagram *d)
{
    coil_address from;
    char buf[100];
    ssize_t n;

#include "datagram.md/several-addresses"
    return n;
}

static int answer_one(void *arg)
{
    return (int)answer(arg);
}

static void ask_twice(void)
{
    coil_datagram *server, *client;
    coil_address to, from;
    coil_task *task;
    char buf[8];

    CHECK(coil_datagram_open("0.0.0.0", "7001", COIL_DATAGRAM_INFO, &server) == 0);
    CHECK(coil_datagram_open("127.0.0.1", "0", 0, &client) == 0);
    CHECK(coil_spawn(answer_one, server, NULL, &task) == 0);
    CHECK(coil_address_of_numbers("127.0.0.2", 7001, &to) == 0);
    CHECK(coil_send_to(client, "?", 1, &to.any, to.length) == 1);
    CHECK(coil_receive_from(client, buf, sizeof buf, &from) == 1);
    CHECK(from.v4.sin_addr.s_addr == to.v4.sin_addr.s_addr);
    CHECK(coil_task_await(task) == 1);
    coil_task_release(task);
    coil_datagram_destroy(server);
    coil_datagram_destroy(client);
}

static int app(void *arg)
{
    char port[] = "7000";
    coil_datagram *client;
    coil_task *task;

    (void)arg;
    CHECK(coil_spawn(echo, port, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    CHECK(coil_datagram_connect("127.0.0.1", port, &client) == 0);
    CHECK(coil_send(client, "hello", 5) >= 0);
    CHECK(receive_many(client) == 1);
    coil_datagram_destroy(client);
    coil_task_cancel(task, NULL);
    CHECK(coil_task_await(task) == -ECANCELED);
    coil_task_release(task);
    ask_twice();
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
