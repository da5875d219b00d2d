/*
 * io_uring_none.c - replaces the io_uring backend in a build without liburing.
 */
#include "backend.h"

static int create(struct coil__backend **out)
{
    (void)out;
    return -ENOSYS;
}

const struct coil__backend_class coil__backend_io_uring = {
    .name = "io_uring",
    .create = create,
};
