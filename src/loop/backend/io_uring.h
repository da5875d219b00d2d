/*
 * io_uring.h - what the files of the io_uring backend share. io_uring.c tells how it
 * works.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_H
#define COIL_LOOP_BACKEND_IO_URING_H

#include "../backend.h"

#include <liburing.h>

/* What the running kernel can do; each bit can be masked out by tests. */
enum coil__uring_feature {
    COIL__URING_DEFER = 1 << 0,   /* 6.1: task work when we ask for events, not before */
    COIL__URING_COOP = 1 << 1,    /* 5.19: task work when we enter, without interrupts */
    COIL__URING_RING_FD = 1 << 2, /* 5.18: the ring's own descriptor, registered */
    COIL__URING_MULTISHOT = 1 << 3, /* 6.0: receiving goes on, into buffers of the ring */
    COIL__URING_NO_SIGNAL = 1 << 4, /* 6.18: writing without SIGPIPE */
    COIL__URING_LATER_OPS = 1 << 5, /* operations that came after 5.11 */
    COIL__URING_ALL = (1 << 6) - 1
};

/* What a descriptor is used for; see backend.h. */
enum coil__uring_use {
    COIL__URING_UNUSED,
    COIL__URING_ATTACHED, /* by operations, until detach() */
    COIL__URING_BORROWED, /* by COIL__OP_POLL alone, until the last of them ends */
    COIL__URING_WATCHED   /* by callbacks */
};

/* What of an operation's is where: bits of op->backend_data. */
enum {
    COIL__URING_IN_KERNEL = 1 << 0, /* handed over, or in the queue to be */
    COIL__URING_AHEAD = 1 << 1,     /* waits for what the multishot receive brings */
    COIL__URING_POLLS = 1 << 2,     /* what is in the kernel is a poll for it */
    COIL__URING_BY_CALL = 1 << 3,   /* after the poll a system call of ours does it */
    COIL__URING_CANCELLED = 1 << 4,
    COIL__URING_DETACHED = 1 << 5, /* its descriptor is about to be closed */
    COIL__URING_FILE = 1 << 6,     /* needs no attached descriptor */
    COIL__URING_QUIET = 1 << 7     /* goes with RWF_NOSIGNAL */
};

/* What the kernel gives back with a completion: an operation's address, or these. */
enum coil__uring_tag {
    COIL__URING_OP = 0,
    COIL__URING_WATCH_IN = 1, /* and WATCH_OUT: of descriptor data >> 3 */
    COIL__URING_WATCH_OUT = 2,
    COIL__URING_RECEIVE = 3,
    COIL__URING_NOTHING = 4, /* nobody wants to know */
    COIL__URING_TAGS = 7
};

enum coil__uring_type { COIL__URING_TYPE_UNKNOWN, COIL__URING_STREAM, COIL__URING_OTHER };

/* Two of them to a line of the cache. */
struct coil__uring_fd {
    uint8_t use : 2;    /* enum coil__uring_use */
    uint8_t armed : 2;  /* watches that are in the kernel, by direction */
    uint8_t to_arm : 2; /* and that the next poll puts there */
    bool is_socket : 1;

    /* io_uring_receive.c */
    uint8_t type : 2;             /* enum coil__uring_type */
    bool receiving : 1;           /* a multishot receive is in the kernel */
    bool ending : 1;              /* and was asked to end */
    bool ended : 1;               /* `end` is the next result, when nothing is queued */
    uint8_t small_reads;          /* that had to wait, in a row */
    uint8_t called_off;           /* how often a multishot receive was for nothing */
    uint16_t first, last, queued; /* buffers that nobody has asked for yet */

    union {
        int32_t end;     /* attached: 0, or what the receive failed with */
        int next_to_arm; /* watched: descriptor, of those with to_arm; -1 */
    };
    /* By direction, whoever waits for it: operations or watchers, as it is used. */
    union {
        struct coil__op *ops[2];
        struct coil__runnable *watchers[2];
    };
};

struct coil__uring_buffer {
    uint16_t next;     /* queued, or spare */
    uint16_t from, to; /* what is left to be read of it */
};

/* Buffers that the kernel receives into, of its own choice. */
struct coil__uring_buffers {
    struct io_uring_buf_ring *ring; /* NULL: not there yet */
    char *memory;
    struct coil__uring_buffer *state;
    uint16_t tail;
    unsigned free;    /* that nobody reads from: offered to the kernel, or spare */
    unsigned offered; /* so many now, */
    unsigned offer;   /* and so many at the next round */
    unsigned spare;   /* the one that came back last, before the others */
    bool ran_out;     /* since the latest round */
    bool failed;      /* could not be had: do not try again */
};

struct coil__uring {
    struct coil__backend backend;
    struct io_uring ring;
    struct io_uring_params params;
    bool mapped;          /* else it is only a descriptor: coil__uring_need() */
    unsigned waits_alone; /* while it is not mapped: io_uring_watch.c */
    unsigned features;
    unsigned quiet_flag; /* RWF_NOSIGNAL; for tests, one that no kernel has */
    unsigned enter_flags;
    int enter_fd;
    int event_fd;                 /* for guests: pollable(); -1 */
    struct coil__uring_fd *table; /* by descriptor number */
    size_t table_size;
    int first_to_arm;
    struct coil__list todo;  /* operations: to be cancelled, or submitted again */
    struct coil__list files; /* operations on files that are in the kernel */
    struct coil__uring_buffers buffers;
    uint64_t known_ops; /* IORING_OP_... that this kernel has */
};

static inline struct coil__uring *coil__uring_of(struct coil__backend *backend)
{
    return COIL__CONTAINER(backend, struct coil__uring, backend);
}

static inline uint64_t coil__uring_data(int fd, enum coil__uring_tag tag)
{
    return (uint64_t)(unsigned)fd << 3 | tag;
}

static inline uintptr_t coil__uring_state(const struct coil__op *op)
{
    return (uintptr_t)op->backend_data;
}

static inline void coil__uring_set_state(struct coil__op *op, uintptr_t state)
{
    op->backend_data = (void *)state;
}

/* ---- the ring: io_uring_ring.c ---------------------------------------------------- */

/* 0, or a negative errno; -ENOSYS where the kernel has not got what is needed. */
int coil__uring_open(struct coil__uring *u);
void coil__uring_close(struct coil__uring *u);
int coil__uring_map(struct coil__uring *u);

/*
 * Said before anything is queued: the ring is to be mapped from now on. 0, or a negative
 * errno: no memory for it, most likely.
 */
static inline int coil__uring_need(struct coil__uring *u)
{
    return COIL__LIKELY(u->mapped) ? 0 : coil__uring_map(u);
}

/*
 * An entry to be filled in, all zero but for user_data, which is COIL__URING_NOTHING.
 * NULL if the queue is full and the kernel takes nothing now.
 */
struct io_uring_sqe *coil__uring_entry(struct coil__uring *u);

/*
 * Hand over what is queued, and wait until there is a completion or the time is up. 0 or
 * a negative errno; an interruption is 0.
 */
int coil__uring_enter(struct coil__uring *u, int64_t timeout_ns);

/* Something is there, or to be had by entering. */
bool coil__uring_has_more(const struct coil__uring *u);

/* u->event_fd, which the kernel writes to whenever there is more. */
int coil__uring_open_event_fd(struct coil__uring *u);

static inline bool coil__uring_has(const struct coil__uring *u, unsigned feature)
{
    return (u->features & feature) != 0;
}

/* ---- descriptors and completions: io_uring.c -------------------------------------- */

static inline struct coil__uring_fd *coil__uring_find(const struct coil__uring *u, int fd)
{
    return fd >= 0 && (size_t)fd < u->table_size ? &u->table[fd] : NULL;
}

/* As find, making room first. Returns 0, -EBADF or -ENOMEM. */
int coil__uring_find_or_grow(struct coil__uring *u, int fd, struct coil__uring_fd **out);

/* Hand over, wait for something to complete, and deal with all that has. */
int coil__uring_reap(struct coil__uring *u, int64_t timeout_ns);

/*
 * Wait a while for what was asked to end. Returns how often in a row that has failed;
 * with COIL__URING_FAILURES the kernel lets us in no more (a sandbox, made meanwhile),
 * and there is nothing to wait for.
 */
#define COIL__URING_FAILURES 3
int coil__uring_await_end(struct coil__uring *u, int failures);

/* Nobody uses it any more. */
void coil__uring_give_up(struct coil__uring_fd *d);

/* ---- an operation as an entry of the queue: io_uring_entry.c ----------------------- */

/* This kernel does it as the system call would. */
bool coil__uring_can(const struct coil__uring *u, const struct coil__op *op);

/* Fill in an entry for it, or for a poll for it (COIL__URING_POLLS). */
void coil__uring_prepare(struct coil__uring *u, struct io_uring_sqe *entry,
                         const struct coil__op *op);

/* An order to fail (base/fault.h) that strikes this operation: its errno, or 0. */
int coil__uring_struck(const struct coil__op *op);

/* ---- operations: io_uring_op.c ---------------------------------------------------- */

ssize_t coil__uring_submit(struct coil__backend *backend, struct coil__op *op);
void coil__uring_cancel(struct coil__backend *backend, struct coil__op *op);

/* Hand it over, once it is enlisted. -EINPROGRESS. */
ssize_t coil__uring_start(struct coil__uring *u, struct coil__op *op);

/* It waits, in the kernel or not: found at its descriptor, and counted. */
void coil__uring_enlist(struct coil__uring *u, struct coil__uring_fd *d,
                        struct coil__op *op, uintptr_t state);

/* It ends: it is nobody's any more, and complete() is called. */
void coil__uring_finish(struct coil__uring *u, struct coil__op *op, ssize_t result);

/* What the kernel said of an operation. */
void coil__uring_completed(struct coil__uring *u, struct coil__op *op, int result);

/* The next round submits it anew. */
void coil__uring_again(struct coil__uring *u, struct coil__op *op);

/* Queue what is on u->todo. */
void coil__uring_do(struct coil__uring *u);

/* The descriptor's operations are to end. True as long as one has not. */
bool coil__uring_end_ops(struct coil__uring *u, int fd, struct coil__uring_fd *d);

/* The kernel will never say how they ended. */
void coil__uring_finish_ops(struct coil__uring *u, struct coil__uring_fd *d);

/* All operations are to end, and nobody is told. True as long as one has not. */
bool coil__uring_abandon_ops(struct coil__uring *u);

/* ---- receiving: io_uring_receive.c ------------------------------------------------ */

/* COIL__OP_READ, RECV, RECVMSG: from what is queued, by a multishot receive, or plainly.
 */
ssize_t coil__uring_receive(struct coil__uring *u, struct coil__uring_fd *d,
                            struct coil__op *op);

/* What the kernel said of a descriptor's multishot receive. */
void coil__uring_received(struct coil__uring *u, int fd, int result, unsigned flags);

/* No multishot receive is begun on it any more. */
void coil__uring_receive_plainly(struct coil__uring_fd *d);

/* Ask a descriptor's multishot receive to end, if there is one. */
void coil__uring_call_off(struct coil__uring *u, int fd, struct coil__uring_fd *d);

size_t coil__uring_queued_bytes(const struct coil__uring *u,
                                const struct coil__uring_fd *d);

/* Forget what is queued. */
void coil__uring_drop_queued(struct coil__uring *u, struct coil__uring_fd *d);

/* The kernel may have buffers that were given back. */
void coil__uring_offer_buffers(struct coil__uring *u);

void coil__uring_free_buffers(struct coil__uring *u);

/* ---- watches: io_uring_watch.c ---------------------------------------------------- */

int coil__uring_watch(struct coil__backend *backend, int fd,
                      enum coil__direction direction, struct coil__runnable *runnable);

/* What the kernel said of a watch. */
void coil__uring_watched(struct coil__uring *u, int fd, enum coil__direction direction,
                         int result);

/* Queue the polls of all watches that are to be armed. */
void coil__uring_arm_watches(struct coil__uring *u);

/* Wait for the one watch that there is while the ring is not needed yet. */
int coil__uring_poll_alone(struct coil__uring *u, int64_t timeout_ns);

#endif
