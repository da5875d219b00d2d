/*
 * descriptor.c - the table of descriptors, which grows by doubling. The table is
 * allocated as zeroed memory, whose pages are not resident until they are used.
 */
#include "descriptor.h"

#include "../base/fault.h"

#include <coil/loop.h>

#include <fcntl.h>
#include <string.h>

enum { FIRST_COUNT = 64 };

void coil__descriptors_finish(struct coil__descriptors *all)
{
    coil__free(all->entries);
    coil__free(all->simulated);
}

struct coil__descriptor *coil__descriptor_find_any(const struct coil__descriptors *all,
                                                   int fd)
{
    size_t slot = (size_t)fd - COIL__FIRST_SIMULATED;

    if (fd >= COIL__FIRST_SIMULATED)
        return slot < all->simulated_count ? &all->simulated[slot] : NULL;
    return coil__descriptor_find(all, fd);
}

static int grow(struct coil__descriptor **entries, size_t *count, size_t slot)
{
    size_t larger = *count > 0 ? *count : FIRST_COUNT;
    struct coil__descriptor *moved;

    if (slot < *count)
        return 0;
    while (larger <= slot)
        larger *= 2;
    moved = coil__alloc_zeroed(larger * sizeof *moved);
    if (moved == NULL)
        return -ENOMEM;
    if (*count > 0)
        memcpy(moved, *entries, *count * sizeof *moved);
    coil__free(*entries);
    *entries = moved;
    *count = larger;
    return 0;
}

int coil__descriptor_make_room(struct coil__descriptors *all, int fd)
{
    if (fd >= COIL__FIRST_SIMULATED)
        return grow(&all->simulated, &all->simulated_count,
                    (size_t)fd - COIL__FIRST_SIMULATED);
    return grow(&all->entries, &all->count, (size_t)fd);
}

/*
 * Create the entry of an open descriptor. Fails with -EBADF if the number is not an open
 * descriptor. The entry of a simulated socket is created with the socket, not here.
 */
static int open_entry(struct coil__descriptors *all, int fd)
{
    if (fd < 0 || fd >= COIL__FIRST_SIMULATED)
        return -EBADF;
    if (COIL__CALL(EBADF, fcntl(fd, F_GETFD)) < 0)
        return -errno;
    return coil__descriptor_make_room(all, fd);
}

int coil__descriptor_claim(struct coil__descriptors *all, int fd, enum coil__use use,
                           struct coil__descriptor **out)
{
    int rc = coil__descriptor_find_any(all, fd) != NULL ? 0 : open_entry(all, fd);

    *out = coil__descriptor_find_any(all, fd);
    if (rc < 0 || (*out)->use == COIL__UNUSED)
        return rc;
    return (*out)->use == use && use != COIL__ATTACHED ? 0 : -EBUSY;
}

int coil__descriptor_claim_poll(struct coil__descriptors *all, const struct coil__op *op,
                                struct coil__descriptor **out)
{
    int rc = coil__descriptor_claim(all, op->fd, COIL__BORROWED, out);

    if (rc < 0)
        return rc;
    if ((op->events & COIL_READABLE && (*out)->ops[COIL__IN] != NULL) ||
        (op->events & COIL_WRITABLE && (*out)->ops[COIL__OUT] != NULL))
        return -EBUSY;
    return 0;
}

static bool is_of_stream_socket(enum coil__op_kind kind)
{
    return kind == COIL__OP_RECV || kind == COIL__OP_SEND || kind == COIL__OP_SENDMSG ||
           kind == COIL__OP_SENDFILE;
}

/*
 * True if the error means that the connection was lost. EPIPE does not count, because a
 * read still returns 0 if the peer closed in an orderly way.
 */
static bool ends_connection(int error)
{
    switch (error) {
    case ECONNRESET:
    case ECONNABORTED:
    case ETIMEDOUT:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
        return true;
    default:
        return false;
    }
}

ssize_t coil__descriptor_result(struct coil__descriptor *d, enum coil__op_kind kind,
                                ssize_t result)
{
    if (result == 0 && kind == COIL__OP_RECV)
        return -(ssize_t)d->lost;
    if (is_of_stream_socket(kind) && ends_connection((int)-result))
        d->lost = (uint32_t)-result;
    return result;
}

void coil__descriptor_release(struct coil__descriptor *d)
{
    uint32_t generation = d->generation + 1;

    memset(d, 0, sizeof *d);
    d->generation = generation & (UINT32_MAX >> 9);
}

void coil__descriptor_enlist_poll(struct coil__descriptor *d, struct coil__op *op)
{
    if (op->events & COIL_READABLE)
        d->ops[COIL__IN] = op;
    if (op->events & COIL_WRITABLE)
        d->ops[COIL__OUT] = op;
}
