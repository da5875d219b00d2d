/*
 * endpoint.c - a descriptor that tasks use.
 *
 * Invariants
 * 1. While fd is not -1 it is attached to the loop's backend; or it is detached, and loop
 *    is NULL.
 * 2. After every suspension fd may be -1, and its number another's: coil__endpoint_do()
 *    looks at it again before each operation, and the operation that waited was ended by
 *    the closing.
 * 3. A call that is in it may go through several operations. `busy` keeps others out
 *    between them, which the backend would not.
 */
#include "endpoint.h"

#include "socket.h"

#include "../os/op.h"
#include "../task/budget.h"

int coil__endpoint_open(struct coil__endpoint *endpoint, int fd, const char *caller)
{
    coil_loop *loop = coil__loop_require(caller);
    int rc = loop->backend->class->attach(loop->backend, fd);

    if (rc < 0)
        return rc;
    *endpoint = (struct coil__endpoint){.fd = fd, .references = 1};
    endpoint->loop = coil_loop_retain(loop);
    return 0;
}

int coil__endpoint_may_leave(const struct coil__endpoint *endpoint, const char *caller)
{
    if (endpoint->fd < 0 || endpoint->loop == NULL)
        return -EBADF;
    if (endpoint->loop != coil__loop_of_thread)
        coil__misuse("%s: it belongs to another loop than this thread's", caller);
    if (endpoint->busy[COIL__IN] || endpoint->busy[COIL__OUT])
        return -EBUSY;
    return coil__socket_is_simulated(endpoint->loop, endpoint->fd) ? -EOPNOTSUPP : 0;
}

void coil__endpoint_detach(struct coil__endpoint *endpoint)
{
    endpoint->loop->backend->class->detach(endpoint->loop->backend, endpoint->fd);
    coil_loop_release(endpoint->loop);
    endpoint->loop = NULL;
}

int coil__endpoint_attach(struct coil__endpoint *endpoint, const char *caller)
{
    coil_loop *loop = coil__loop_require(caller);
    int rc;

    if (endpoint->fd < 0)
        return -EBADF;
    if (endpoint->loop != NULL)
        return -EBUSY;
    rc = loop->backend->class->attach(loop->backend, endpoint->fd);
    if (rc == 0)
        endpoint->loop = coil_loop_retain(loop);
    return rc;
}

int coil__endpoint_close(struct coil__endpoint *endpoint)
{
    coil_loop *loop = endpoint->loop;
    int fd = endpoint->fd;

    if (fd < 0)
        return 0;
    endpoint->fd = -1;
    if (loop != NULL && loop == coil_loop_current())
        loop->backend->class->detach(loop->backend, fd);
    else if (loop != NULL && !loop->closing) /* closed, it has no backend any more */
        coil__misuse("a stream or listener is closed on another thread than its loop's");
    return coil__socket_close(loop, fd);
}

void coil__endpoint_release(struct coil__endpoint *endpoint)
{
    if (--endpoint->references > 0)
        return;
    coil__endpoint_close(endpoint);
    if (endpoint->finish != NULL)
        endpoint->finish(endpoint);
    if (endpoint->loop != NULL)
        coil_loop_release(endpoint->loop);
    coil__free(endpoint);
}

int coil__endpoint_enter(struct coil__endpoint *endpoint, enum coil__direction direction,
                         const char *caller)
{
    if (endpoint->fd < 0)
        return -EBADF;
    if (COIL__UNLIKELY(endpoint->loop != coil__loop_of_thread))
        coil__misuse("%s: it belongs to %s", caller,
                     endpoint->loop != NULL ? "another loop than this thread's"
                                            : "no loop: it is detached");
    if (endpoint->busy[direction])
        return -EBUSY;
    endpoint->busy[direction] = true;
    endpoint->references++;
    return 0;
}

void coil__endpoint_leave(struct coil__endpoint *endpoint, enum coil__direction direction)
{
    endpoint->busy[direction] = false;
    coil__endpoint_release(endpoint);
}

int coil__endpoint_spend(struct coil__endpoint *endpoint)
{
    int rc = coil__task_spend();

    if (rc < 0)
        return rc;
    return endpoint->fd < 0 ? -EBADF : 0;
}

ssize_t coil__endpoint_do(struct coil__endpoint *endpoint, struct coil__op *op)
{
    int rc = coil__endpoint_spend(endpoint);

    if (rc < 0)
        return rc;
    op->fd = endpoint->fd;
    op->hints[1] = endpoint;
    return coil__op_await(op);
}
