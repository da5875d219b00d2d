/*
 * wait_fd.c - waits until a descriptor of any kind is readable or writable.
 */
#include "../io/op.h"
#include "../task/budget.h"

#include <coil/stream.h>

int coil_wait_fd(int fd, unsigned events)
{
    int rc;

    if (events == 0 || (events & ~(COIL_READABLE | COIL_WRITABLE)) != 0)
        return coil__failed(-EINVAL);
    rc = coil__task_spend("coil_wait_fd");
    if (rc < 0)
        return rc;
    return (int)coil__op_await(
        &(struct coil__op){.kind = COIL__OP_POLL, .fd = fd, .events = events});
}
