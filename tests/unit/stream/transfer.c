/* transfer.c - see transfer.h. */
#include "transfer.h"

#include "../../harness/harness.h"
#include "../socket/sockets.h"

static int end_transfer(struct transfer *t, ssize_t result)
{
    t->result = result;
    t->ended = true;
    return 0;
}

int transfer_read(void *arg)
{
    struct transfer *t = arg;

    return end_transfer(t, coil_read(t->stream, t->buf, t->n));
}

int transfer_read_exact(void *arg)
{
    struct transfer *t = arg;

    return end_transfer(t, coil_read_exact(t->stream, t->buf, t->n));
}

int transfer_write(void *arg)
{
    struct transfer *t = arg;

    return end_transfer(t, coil_write(t->stream, t->buf, t->n));
}

coil_task *transfer_start(coil_task_fn fn, struct transfer *transfer)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(fn, transfer, NULL, &task), 0);
    settle();
    return task;
}

int do_sendfile(void *arg)
{
    struct sending *s = arg;

    s->result = coil_sendfile(s->stream, s->fd, &s->offset, SIZE_MAX);
    s->ended = true;
    return 0;
}

int do_copy(void *arg)
{
    struct copying *c = arg;

    c->result = coil_copy(c->from, c->to);
    return 0;
}
