/*
 * endpoint.c - a descriptor that tasks use: its life cycle, and the calls on it.
 *
 * Invariants
 * 1. While fd is not -1, it is either attached to the loop's backend, or detached and
 *    `loop` is NULL.
 * 2. After a suspension fd may be -1, and its old number may belong to another file. So
 *    coil__endpoint_do() reads fd before each operation, and closing the endpoint ends
 *    the waiting operations.
 * 3. A call may consist of several operations. `busy` prevents another call in the same
 *    direction from starting an operation between them.
 */
#include "endpoint.h"

#include "../io/socket.h"

#include "../loop/leak.h"
#include "../io/op.h"
#include "../task/budget.h"
#include "../task/task.h"

int coil__endpoint_open(struct coil__endpoint *endpoint, int fd, const char *caller)
{
    coil_loop *loop = coil__loop_require(caller);
    int rc = loop->backend->class->attach(loop->backend, fd);

    if (rc < 0)
        return coil__failed(rc);
    *endpoint = (struct coil__endpoint){.fd = fd, .references = 1};
    endpoint->loop = coil_loop_retain(loop);
    return 0;
}

void coil__endpoint_check(const struct coil__endpoint *endpoint, const char *caller)
{
    if (COIL__UNLIKELY(endpoint->references == 0))
        coil__misuse_gone(caller);
}

/* Abort because `caller` was called on the wrong thread or loop. */
COIL__NORETURN static void refuse(const struct coil__endpoint *endpoint,
                                  const char *caller)
{
    coil__loop_check_handler(caller);
    if (endpoint->loop == NULL)
        coil__misuse("%s: the object is detached from its loop: attach it first", caller);
    if (coil__loop_is_parents(endpoint->loop))
        coil__fork_misuse(caller);
    coil__misuse("%s: the object belongs to another loop than this thread's", caller);
}

int coil__endpoint_may_leave(const struct coil__endpoint *endpoint, const char *caller)
{
    if (endpoint->fd < 0 || endpoint->loop == NULL)
        return coil__failed(-EBADF);
    if (endpoint->loop != coil__loop_of_thread)
        refuse(endpoint, caller);
    if (endpoint->busy[COIL__IN] || endpoint->busy[COIL__OUT])
        return coil__failed(-EBUSY);
    if (coil__socket_is_simulated(endpoint->loop, endpoint->fd))
        return coil__failed(-EOPNOTSUPP);
    return 0;
}

void coil__endpoint_detach(struct coil__endpoint *endpoint)
{
    coil_loop *loop = endpoint->loop;

    coil__leak_forget(endpoint); /* another loop may attach the endpoint */
    endpoint->lost = coil__descriptor_find(loop->descriptors, endpoint->fd)->lost;
    loop->backend->class->detach(loop->backend, endpoint->fd);
    coil_loop_release(endpoint->loop);
    endpoint->loop = NULL;
}

int coil__endpoint_attach(struct coil__endpoint *endpoint, const char *caller)
{
    coil_loop *loop = coil__loop_require(caller);
    int rc;

    if (endpoint->fd < 0)
        return coil__failed(-EBADF);
    if (endpoint->loop != NULL)
        return coil__failed(-EBUSY);
    rc = loop->backend->class->attach(loop->backend, endpoint->fd);
    if (rc < 0)
        return coil__failed(rc);
    endpoint->loop = coil_loop_retain(loop);
    coil__descriptor_find(loop->descriptors, endpoint->fd)->lost = endpoint->lost;
    return 0;
}

int coil__endpoint_close(struct coil__endpoint *endpoint, const char *caller)
{
    coil_loop *loop = endpoint->loop;
    int fd = endpoint->fd;

    if (fd < 0)
        return 0;
    endpoint->fd = -1;
    if (loop != NULL && loop == coil_loop_current())
        loop->backend->class->detach(loop->backend, fd);
    else if (loop != NULL && !loop->closing && /* a closed loop has no backend */
             !coil__loop_is_parents(loop)) {   /* the parent's backend keeps its copy */
        coil__loop_check_handler(caller);
        coil__misuse("%s: the object belongs to another loop than this thread's", caller);
    }
    return coil__socket_close(loop, fd);
}

void coil__endpoint_destroy(struct coil__endpoint *endpoint, const char *caller)
{
    if (endpoint->destroyed)
        coil__misuse_gone(caller);
    endpoint->destroyed = true;
    coil__endpoint_release(endpoint);
}

void coil__endpoint_release(struct coil__endpoint *endpoint)
{
    if (--endpoint->references > 0)
        return;
    coil__leak_forget(endpoint);
    coil__endpoint_close(endpoint, "the end of the last call in it");
    if (endpoint->finish != NULL)
        endpoint->finish(endpoint);
    if (endpoint->loop != NULL)
        coil_loop_release(endpoint->loop);
    coil__free_object(endpoint);
}

int coil__endpoint_enter(struct coil__endpoint *endpoint, enum coil__direction direction,
                         const char *caller)
{
    if (COIL__UNLIKELY(endpoint->references == 0))
        coil__endpoint_check(endpoint, caller);
    if (endpoint->fd < 0)
        return coil__failed(-EBADF);
    if (COIL__UNLIKELY(endpoint->loop != coil__loop_of_thread))
        refuse(endpoint, caller);
    coil__task_require(caller);
    if (endpoint->busy[direction])
        return coil__failed(-EBUSY);
    endpoint->busy[direction] = true;
    endpoint->references++;
    return 0;
}

void coil__endpoint_leave(struct coil__endpoint *endpoint, enum coil__direction direction)
{
    endpoint->busy[direction] = false;
    if (COIL__LIKELY(endpoint->references > 1))
        endpoint->references--;
    else
        coil__endpoint_release(endpoint);
}

int coil__endpoint_spend(struct coil__endpoint *endpoint)
{
    int rc = coil__task_spend("a call that does I/O");

    if (rc < 0)
        return rc;
    return endpoint->fd < 0 ? coil__failed(-EBADF) : 0;
}

int coil__endpoint_begin(struct coil__endpoint *endpoint)
{
    int rc = coil__endpoint_spend(endpoint);

    if (rc == 0)
        endpoint->operations++;
    return rc;
}

bool coil__endpoint_was_used(const struct coil__endpoint *endpoint, unsigned operations)
{
    return endpoint->fd >= 0 && endpoint->operations != operations;
}

/*
 * Perform the operation, but fail with -ETIMEDOUT if the endpoint is idle for idle_ns. If
 * another operation was begun meanwhile, the endpoint was not idle, so begin this
 * operation again with a new time limit.
 */
static COIL__NOINLINE ssize_t await_until_idle(struct coil__endpoint *endpoint,
                                               const struct coil__op *op)
{
    unsigned operations;
    coil_scope scope;
    ssize_t result;

    do {
        struct coil__op attempt = *op;

        operations = endpoint->operations;
        result = coil_scope_enter(&scope, coil_in(endpoint->idle_ns));
        if (result < 0)
            return result;
        result = coil_scope_exit_count(&scope, coil__op_await(&attempt));
    } while (result == -ETIMEDOUT && coil_scope_expired(&scope) &&
             coil__endpoint_was_used(endpoint, operations));
    return result;
}

ssize_t coil__endpoint_do(struct coil__endpoint *endpoint, struct coil__op *op)
{
    int rc = coil__task_spend("a call that does I/O");

    if (rc < 0)
        return rc;
    if (endpoint->fd < 0)
        return coil__failed(-EBADF);
    endpoint->operations++;
    op->fd = endpoint->fd;
    op->hints[1] = endpoint;
    if (COIL__UNLIKELY(endpoint->idle_ns > 0))
        return await_until_idle(endpoint, op);
    return coil__op_await(op);
}
