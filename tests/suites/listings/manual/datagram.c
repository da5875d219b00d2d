/* needs: coil-testing */
/* datagram.c - the program around the listings of docs/manual/datagram.md. */
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
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
