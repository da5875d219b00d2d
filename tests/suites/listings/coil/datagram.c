/* needs: coil-testing */
/* datagram.c - the program around the listing of include/coil/datagram.h. */
#include "simulated.h"

static int echo(void *arg)
{
    char buf[100];
    ssize_t rc;

    (void)arg;
#include "datagram.h/1"
    return (int)rc;
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
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
