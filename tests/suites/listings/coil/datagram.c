/* needs: coil-testing */
/* datagram.c - compiles and runs the examples in include/coil/datagram.h. */
#include "simulated.h"

static int echo(void *arg)
{
    char buf[100];
    ssize_t rc;

    (void)arg;
#include "datagram.h/1"
    return (int)rc;
}

static int answer_one(void *arg)
{
    coil_datagram *d = arg;
    coil_address from;
    char buf[100];
    ssize_t n;

#include "datagram.h/2"
    return (int)n;
}

static void ask_at_another_address(void)
{
    coil_datagram *server, *client;
    coil_address to, from;
    coil_task *task;
    char buf[8];

    CHECK(coil_datagram_open("0.0.0.0", "7001", 0, &server) == 0);
    CHECK(coil_datagram_open("127.0.0.1", "0", 0, &client) == 0);
    CHECK(coil_spawn(answer_one, server, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
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
    coil_datagram *client;
    coil_task *task;
    char buf[100];

    CHECK(coil_spawn(echo, arg, NULL, &task) == 0);
    CHECK(coil_yield() == 0);
    CHECK(coil_datagram_connect("127.0.0.1", "5353", &client) == 0);
    CHECK(coil_send(client, "hello", 5) >= 0);
    CHECK(coil_receive(client, buf, sizeof buf) == 5 && memcmp(buf, "hello", 5) == 0);
    coil_datagram_destroy(client);
    coil_task_cancel(task, NULL);
    CHECK(coil_task_await(task) == -ECANCELED);
    coil_task_release(task);
    ask_at_another_address();
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
