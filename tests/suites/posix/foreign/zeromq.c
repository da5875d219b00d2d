/*
 * zeromq.c - ZeroMQ: tasks send requests to one socket, and another task of the same
 * thread answers them. After that, tasks are cancelled while they wait inside ZeroMQ.
 * These tasks have the option hold_cancel, because ZeroMQ aborts if a system call fails
 * with an unexpected errno such as ECANCELED.
 */
#include "foreign.h"

#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define ROUNDS 3

static void *context, *server;
static char address[100];

static bool start(void)
{
    size_t bytes = sizeof address;

    context = zmq_ctx_new();
    server = zmq_socket(context, ZMQ_REP);
    return zmq_bind(server, "tcp://127.0.0.1:*") == 0 &&
           zmq_getsockopt(server, ZMQ_LAST_ENDPOINT, address, &bytes) == 0;
}

static bool answer(void)
{
    while (foreign_begun < FOREIGN_USES)
        usleep(1000);
    usleep(10000); /* now all requests are waiting */
    for (int i = 0; i < FOREIGN_USES * ROUNDS; i++) {
        char text[20] = "";

        if (zmq_recv(server, text, sizeof text - 1, 0) < 0)
            return foreign_failed("%s", zmq_strerror(zmq_errno()));
        snprintf(text, sizeof text, "%d", atoi(text) * 7);
        if (zmq_send(server, text, strlen(text), 0) < 0)
            return false;
    }
    return true;
}

static bool ask(void *socket, int number)
{
    char text[20] = "";

    snprintf(text, sizeof text, "%d", number);
    if (zmq_send(socket, text, strlen(text), 0) < 0)
        return false;
    memset(text, 0, sizeof text);
    return zmq_recv(socket, text, sizeof text - 1, 0) > 0 && atoi(text) == number * 7;
}

static bool use(int number)
{
    void *socket = zmq_socket(context, ZMQ_REQ);
    bool right = zmq_connect(socket, address) == 0;

    for (int i = 0; i < ROUNDS && right; i++)
        right = ask(socket, number + i);
    zmq_close(socket);
    return right;
}

/* ---- cancelled inside it ----------------------------------------------------------- */

#define STACK_BYTES ((size_t)1024 * 1024)

/*
 * A task that receives a message from `socket`. `peer` is the other end of that socket.
 */
struct receiver {
    void *socket, *peer;
    coil_task *task;
    int received, error; /* results of zmq_recv() and zmq_errno() */
    bool ended;
};

static int receive(void *arg)
{
    struct receiver *r = arg;
    char byte;

    r->received = zmq_recv(r->socket, &byte, 1, 0);
    r->error = zmq_errno();
    r->ended = true;
    zmq_close(r->socket);
    return coil_sleep(0);
}

static bool begin_receiver(struct receiver *r, void *of, int number)
{
    coil_spawn_opts opts = {.stack_bytes = STACK_BYTES, .hold_cancel = true};
    char name[40];

    snprintf(name, sizeof name, "inproc://receiver-%d", number);
    *r = (struct receiver){.socket = zmq_socket(of, ZMQ_PAIR),
                           .peer = zmq_socket(of, ZMQ_PAIR)};
    return zmq_bind(r->socket, name) == 0 && zmq_connect(r->peer, name) == 0 &&
           coil_spawn(receive, r, &opts, &r->task) == 0;
}

/* Cancel all tasks, and check that they are still waiting inside ZeroMQ. */
static bool cancel_all(struct receiver *all)
{
    coil_wait_all_blocked();
    for (int i = 0; i < FOREIGN_USES; i++)
        coil_task_cancel(all[i].task, NULL);
    coil_wait_all_blocked();
    for (int i = 0; i < FOREIGN_USES; i++)
        if (all[i].ended)
            return foreign_failed("a receiver has ended: %s", zmq_strerror(all[i].error));
    return true;
}

/* Check the result of zmq_recv(), and that the task got its cancellation afterwards. */
static bool end_receiver(struct receiver *r, int received)
{
    int rc = coil_task_await(r->task);

    coil_task_release(r->task);
    zmq_close(r->peer);
    if (rc != -ECANCELED || r->received != received)
        return foreign_failed("a receiver returned %d, and zmq_recv() %d (%s)", rc,
                              r->received, zmq_strerror(r->error));
    return true;
}

/*
 * Cancel receivers that wait inside ZeroMQ. After that, half of them get a message, and
 * the others end when the context is terminated.
 */
static bool cancel_receivers(void)
{
    struct receiver all[FOREIGN_USES];
    void *of = zmq_ctx_new();
    bool right = true;

    for (int i = 0; i < FOREIGN_USES; i++)
        if (!begin_receiver(&all[i], of, i))
            return foreign_failed("no receiver: %s", zmq_strerror(zmq_errno()));
    right = cancel_all(all);
    for (int i = 0; i < FOREIGN_USES / 2; i++) {
        right = zmq_send(all[i].peer, "x", 1, 0) == 1 && right;
        right = end_receiver(&all[i], 1) && right;
    }
    right = zmq_ctx_shutdown(of) == 0 && right;
    for (int i = FOREIGN_USES / 2; i < FOREIGN_USES; i++)
        right = end_receiver(&all[i], -1) && all[i].error == ETERM && right;
    return zmq_ctx_term(of) == 0 && right;
}

static bool stop(void)
{
    bool right = cancel_receivers();

    zmq_close(server);
    return zmq_ctx_term(context) == 0 && right;
}

const struct foreign foreign = {.name = "ZeroMQ",
                                .option = "with `hold_cancel`, if it is cancelled",
                                .tested = "requests and replies; cancellation",
                                .start = start,
                                .use = use,
                                .other_side = answer,
                                .stop = stop};
