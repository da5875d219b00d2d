/*
 * descriptor.h - a loop's table of descriptors: how each one is used, and its waiters.
 *
 * A loop has one table, indexed by descriptor number. An entry has the fields that all
 * backends need and, in a union, those of the loop's backend.
 */
#ifndef COIL_LOOP_DESCRIPTOR_H
#define COIL_LOOP_DESCRIPTOR_H

#include "operation.h"

struct coil__runnable;

/*
 * The smallest number of a simulated socket (backend.h). No descriptor has such a large
 * number (fs.nr_open in proc(5)). Simulated sockets have a separate table.
 */
#define COIL__FIRST_SIMULATED 1000000000

enum coil__use {
    COIL__UNUSED,
    COIL__ATTACHED, /* used by operations, until detach() */
    COIL__BORROWED, /* used only by COIL__OP_POLL, until the last such operation ends */
    COIL__WATCHED   /* used by callbacks */
};

/* Two entries share a cache line. */
struct coil__descriptor {
    /* Per direction: the waiting operation, or the watcher, depending on `use`. */
    union {
        struct coil__op *ops[2];
        struct coil__runnable *watchers[2];
    };
    uint32_t use : 2;         /* enum coil__use */
    uint32_t lost : 7;        /* the errno that ended the connection, or 0 */
    uint32_t generation : 23; /* incremented after each use of this number */

    /* The fields of the loop's backend, initially 0. */
    union {
        struct {              /* readiness.c */
            uint8_t interest; /* the events that the poller waits for */
            uint8_t blocked;  /* directions known not to be ready */
            /* directions reported as ready although the call would block */
            uint8_t in_vain : 2;
            uint8_t paused : 2; /* directions that a timer retries */
            uint8_t drains : 2; /* enum coil__drains */
            bool unusual : 1;   /* COIL__FOUND_UNUSUAL was seen */
            bool always : 1;    /* always ready, so the poller refused it */
            uint32_t slot;      /* private to the poller */
        };
        struct { /* io_uring, attached or borrowed */
            bool is_socket : 1;
            bool receiving : 1;  /* a multishot receive is in the kernel */
            bool ending : 1;     /* a request to end the receive was sent */
            bool ended : 1;      /* `end` is the result after the queued bytes */
            bool more : 1;       /* make the call before polling: coil__uring_learn() */
            uint8_t type : 2;    /* enum coil__uring_type */
            uint8_t small_reads; /* small reads before a multishot receive */
            uint8_t called_off;  /* multishot receives cancelled by a large read */
            int16_t end;         /* 0 for the end of file, or the receive's error */
            uint16_t first, last, queued; /* buffers received ahead of a read */
        };
        struct {                /* io_uring, watched; by direction */
            uint8_t armed : 2;  /* the kernel has a poll or time-out */
            uint8_t to_arm : 2; /* polls that the next poll() submits */
            /* directions for which a time-out replaces the poll */
            uint8_t pauses : 2;
            uint8_t pause_count[2]; /* number of time-outs in a row */
            /* next descriptor in the list of watches to arm; -1: end */
            int next_to_arm;
        };
    };
};

_Static_assert(sizeof(struct coil__descriptor) <= 32, "see above");

struct coil__descriptors {
    struct coil__descriptor *entries; /* indexed by number */
    size_t count;
    struct coil__descriptor *simulated; /* indexed by number - COIL__FIRST_SIMULATED */
    size_t simulated_count;
};

void coil__descriptors_finish(struct coil__descriptors *all);

/*
 * Return the entry of a descriptor, or NULL if there is none yet. The entry may be
 * unused.
 */
static inline struct coil__descriptor *
coil__descriptor_find(const struct coil__descriptors *all, int fd)
{
    return (size_t)fd < all->count ? &all->entries[fd] : NULL;
}

/* Return the entry of a descriptor or a simulated socket, or NULL. */
struct coil__descriptor *coil__descriptor_find_any(const struct coil__descriptors *all,
                                                   int fd);

/*
 * Grow the table, if necessary, to contain the number. Growing may move all entries.
 * Returns 0 or -ENOMEM.
 */
int coil__descriptor_make_room(struct coil__descriptors *all, int fd);

/*
 * Find or create the entry of a descriptor, and check that the descriptor is free for
 * `use`. Creating an entry may move other entries. The caller then sets the entry's
 * `use`. Returns 0, -EBADF, -ENOMEM, or -EBUSY if the descriptor is attached or is in use
 * for another purpose.
 */
int coil__descriptor_claim(struct coil__descriptors *all, int fd, enum coil__use use,
                           struct coil__descriptor **out);

/*
 * Claim the descriptor of a COIL__OP_POLL. Also fails with -EBUSY if another operation is
 * already waiting in one of its directions.
 */
int coil__descriptor_claim_poll(struct coil__descriptors *all, const struct coil__op *op,
                                struct coil__descriptor **out);

/*
 * Return the result of an operation whose system call returned `result`, which is 0 or a
 * negative errno. If the connection was lost, both its reader and its writer fail with
 * the error that ended the connection.
 *
 * The kernel reports a reset or a time-out only to the first call. A later receive
 * returns 0, as it does after an orderly close. So the entry stores the error, and a
 * receive that would return 0 returns the stored error instead.
 */
ssize_t coil__descriptor_result(struct coil__descriptor *d, enum coil__op_kind kind,
                                ssize_t result);

/* Like coil__op_call(), but return the error that ended the connection if it was lost. */
static inline ssize_t coil__descriptor_call(struct coil__descriptor *d,
                                            const struct coil__op *op)
{
    ssize_t result = coil__op_call(op);

    if (COIL__LIKELY(result > 0 || result == -EINPROGRESS))
        return result;
    return coil__descriptor_result(d, op->kind, result);
}

/* Mark the descriptor as unused. Events with the old generation are now stale. */
void coil__descriptor_release(struct coil__descriptor *d);

/* True if no operation or watcher waits for the descriptor. */
static inline bool coil__descriptor_is_idle(const struct coil__descriptor *d)
{
    return d->ops[COIL__IN] == NULL && d->ops[COIL__OUT] == NULL; /* or watchers */
}

/* Store a COIL__OP_POLL in the entry, for each direction in which it waits. */
void coil__descriptor_enlist_poll(struct coil__descriptor *d, struct coil__op *op);

#endif
