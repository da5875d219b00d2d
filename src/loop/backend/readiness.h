/*
 * readiness.h - completions made of readiness: what epoll, poll and select share.
 *
 * A poller knows how to tell the kernel what to look for, and how to wait; readiness.c
 * knows everything else. A poller's backend begins with a struct coil__readiness.
 */
#ifndef COIL_LOOP_BACKEND_READINESS_H
#define COIL_LOOP_BACKEND_READINESS_H

#include "../backend.h"

/* What to look for, and what was found. */
enum {
    COIL__FOR_IN = 1u << COIL__IN,
    COIL__FOR_OUT = 1u << COIL__OUT,
    COIL__FOR_BOTH = COIL__FOR_IN | COIL__FOR_OUT,
    /* To look for: report changes only, each once. Pollers with `edges` know it. */
    COIL__FOR_EDGES = 4,
    /* Found: a hang-up of either side, an error, urgent data. It goes with the direction
       that it makes ready. */
    COIL__FOUND_UNUSUAL = 8
};

/* What a descriptor is used for; see backend.h. */
enum coil__use {
    COIL__UNUSED,
    COIL__ATTACHED, /* by operations, until detach() */
    COIL__BORROWED, /* by COIL__OP_POLL alone, until the last of them ends */
    COIL__WATCHED   /* by callbacks */
};

/* What the kernel knows how to drain; see may_guess(). */
enum coil__drains { COIL__DRAINS_UNKNOWN, COIL__DRAINS_NO, COIL__DRAINS_YES };

/* Two of them to a line of the cache. */
struct coil__descriptor {
    uint8_t use : 4;     /* enum coil__use */
    uint8_t drains : 4;  /* enum coil__drains */
    uint8_t interest;    /* what the poller looks for now */
    uint8_t blocked;     /* directions known not to be ready */
    bool unusual;        /* COIL__FOUND_UNUSUAL was seen */
    uint32_t generation; /* counts the uses of this number */
    size_t slot;         /* the poller's own */
    /* By direction, whoever waits for it: operations or watchers, as it is used. */
    union {
        struct coil__op *ops[2];
        struct coil__runnable *watchers[2];
    };
};

struct coil__poller {
    /*
     * It can report edges: then a descriptor used by operations is told to it once, and
     * else only while an operation waits.
     */
    bool edges;
    /*
     * Look for `interest` from now on instead of descriptor->interest; 0: not at all,
     * which always works. -EPERM, -EBADF, -EINVAL, -ENOMEM.
     */
    int (*set_interest)(struct coil__backend *backend, int fd,
                        const struct coil__descriptor *descriptor, unsigned interest,
                        size_t *slot);
};

struct coil__readiness {
    struct coil__backend backend;
    const struct coil__poller *poller;
    struct coil__descriptor *table; /* by descriptor number */
    size_t table_size;
};

void coil__readiness_init(struct coil__readiness *readiness,
                          const struct coil__backend_class *class,
                          const struct coil__poller *poller);
void coil__readiness_finish(struct coil__readiness *readiness);

/* The members of a backend's class. */
int coil__readiness_attach(struct coil__backend *backend, int fd);
void coil__readiness_detach(struct coil__backend *backend, int fd);
ssize_t coil__readiness_submit(struct coil__backend *backend, struct coil__op *op);
void coil__readiness_cancel(struct coil__backend *backend, struct coil__op *op);
int coil__readiness_watch(struct coil__backend *backend, int fd,
                          enum coil__direction direction,
                          struct coil__runnable *runnable);

/* ---- for pollers, while they poll ------------------------------------------------- */

/* `found` has happened on fd: perform the operations that wait, make watchers ready. */
void coil__readiness_found(struct coil__backend *backend, int fd, unsigned found);

/* fd's turn comes next, or after that: have what its operation needs fetched. */
void coil__readiness_next(struct coil__backend *backend, int fd);
void coil__readiness_soon(struct coil__backend *backend, int fd);

/*
 * fd is no descriptor any more: its owner closed it behind our back. Stop looking for it,
 * end its operations with -EBADF, and make its watchers ready once, so that they see.
 */
void coil__readiness_gone(struct coil__backend *backend, int fd);

/* The present generation of fd, for pollers whose events may be old. */
uint32_t coil__readiness_generation(struct coil__backend *backend, int fd);

/* The time as ppoll() and pselect() want it; NULL for COIL_NEVER. */
struct timespec *coil__readiness_timespec(int64_t timeout_ns, struct timespec *buffer);

#endif
