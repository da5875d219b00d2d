/*
 * io_uring_ring.h (internal) - the ring, and the state of the io_uring backend.
 *
 * The files of the backend are layers, from the bottom: ring, entry, op, receive, watch,
 * round, and io_uring.c, which explains how the backend works. Each file uses only the
 * files below it.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_RING_H
#define COIL_LOOP_BACKEND_IO_URING_RING_H

#include "backend.h"

#include <liburing.h>

/* Features of the running kernel. Tests can mask out each feature. */
enum coil__uring_feature {
    COIL__URING_DEFER = 1 << 0, /* 6.1: task work runs only when coil fetches events */
    /* 5.19: task work runs when coil enters the kernel, and causes no interrupts */
    COIL__URING_COOP = 1 << 1,
    COIL__URING_RING_FD = 1 << 2, /* 5.18: the ring's own descriptor can be registered */
    COIL__URING_MULTISHOT = 1 << 3, /* 6.0: multishot receives into buffers of the ring;
                                     * and, since 5.13, multishot polls */
    COIL__URING_LATER_OPS = 1 << 4, /* operations added after 5.11 */
    COIL__URING_ALL = (1 << 5) - 1
};

/* The state of an operation: bits of op->backend_data. */
enum {
    COIL__URING_IN_KERNEL = 1 << 0, /* submitted, or queued for submission */
    COIL__URING_AHEAD = 1 << 1,     /* waits for bytes of the multishot receive */
    COIL__URING_FILE = 1 << 2,      /* a file operation: the kernel uses its memory */
    COIL__URING_CANCELLED = 1 << 3,
    COIL__URING_DETACHED = 1 << 4, /* the descriptor is about to be closed */
    COIL__URING_IN_VAIN = 1 << 5,  /* a poll has ended, but the call would block */
    /* the kernel has a time-out for the operation, not a poll */
    COIL__URING_PAUSES = 1 << 6,
    COIL__URING_STAYS = 1 << 7, /* the kernel has a multishot poll for the operation */
    COIL__URING_DONE = 1 << 8,  /* op->result is set; only the poll has to end */
    COIL__URING_PAUSED = 1 << 9 /* this bit and up: number of pauses in a row */
};

/* The user_data of a completion is the address of an operation, or one of these tags. */
enum coil__uring_tag {
    COIL__URING_OP = 0,
    COIL__URING_WATCH_IN = 1, /* WATCH_IN, WATCH_OUT: poll of descriptor data >> 3 */
    COIL__URING_WATCH_OUT = 2,
    COIL__URING_RECEIVE = 3,
    COIL__URING_NOTHING = 4, /* ignore this completion */
    COIL__URING_CANCEL = 5,  /* the request to end an operation */
    /* the request to end the receive of descriptor user_data >> 3 */
    COIL__URING_CALL_OFF = 6,
    /* the time-out after which requests to end operations are repeated */
    COIL__URING_REMIND = 7,
    COIL__URING_TAGS = 7
};

enum coil__uring_remind {
    COIL__URING_REMIND_NOT,
    COIL__URING_REMIND_WANTED, /* submit a time-out in the next round */
    COIL__URING_REMIND_SOON    /* a time-out is in the kernel */
};

enum coil__uring_type { COIL__URING_TYPE_UNKNOWN, COIL__URING_STREAM, COIL__URING_OTHER };

struct coil__uring_buffer {
    uint16_t next;     /* the next buffer of its queue, or the next spare buffer */
    uint16_t from, to; /* the unread part */
};

/* Buffers for multishot receives; the kernel chooses one for each receive. */
struct coil__uring_buffers {
    struct io_uring_buf_ring *ring; /* NULL: not created yet */
    char *memory;
    struct coil__uring_buffer *state;
    uint16_t tail;
    unsigned free;    /* buffers without unread bytes: offered, or spare */
    unsigned offered; /* buffers offered to the kernel now */
    unsigned offer;   /* buffers to offer at the next round */
    unsigned spare;   /* head of the list of spare buffers, the last returned first */
    bool ran_out;     /* the kernel has run out of buffers since the last round */
    bool failed;      /* could not be created: do not try again */
};

struct coil__uring {
    struct coil__backend backend;
    struct io_uring ring;
    struct io_uring_params params;
    bool mapped;          /* false: only the descriptor exists: see coil__uring_need() */
    unsigned waits_alone; /* waits while the ring is not mapped: io_uring_watch.c */
    unsigned features;
    unsigned enter_flags;
    int enter_fd;
    int event_fd; /* pollable() for guest mode, or -1 */
    bool watched; /* a watch was started before */
    int first_to_arm;
    struct coil__list todo;   /* operations to cancel, or to submit again */
    struct coil__list ending; /* operations that the kernel was requested to end */
    struct coil__list files;  /* operations on files that are in the kernel */
    enum coil__uring_remind remind;
    /*
     * the error if the kernel refuses to be entered (no more completions are read), or 0
     */
    int dead;
    struct coil__uring_buffers buffers;
    uint64_t known_ops; /* a bit for each IORING_OP_... of this kernel */
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

/*
 * Set up the ring. Returns 0, or a negative errno; -ENOSYS if the kernel lacks a required
 * feature.
 */
int coil__uring_open(struct coil__uring *u);
void coil__uring_close(struct coil__uring *u);
int coil__uring_map(struct coil__uring *u);

/*
 * Map the ring if it is not mapped yet. Must be called before anything is queued. Returns
 * 0 or a negative errno, most likely -ENOMEM.
 */
static inline int coil__uring_need(struct coil__uring *u)
{
    return COIL__LIKELY(u->mapped) ? 0 : coil__uring_map(u);
}

/*
 * Return a free entry of the submission queue, all zero except user_data, which is
 * COIL__URING_NOTHING. Returns NULL if the queue is full and the kernel accepts no
 * entries now.
 */
struct io_uring_sqe *coil__uring_entry(struct coil__uring *u);

/* Convert liburing's return value to that of a system call: -1, and errno. */
static inline int coil__uring_as_call(int rc)
{
    if (rc >= 0)
        return rc;
    errno = -rc;
    return -1;
}

/*
 * Submit the queue, and wait until there is a completion or the time is up. Returns 0 or
 * a negative errno. If a signal interrupts the wait, return 0.
 */
int coil__uring_enter(struct coil__uring *u, int64_t timeout_ns);

/* True if there are completions, or if entering the kernel would produce some. */
bool coil__uring_has_more(const struct coil__uring *u);

/*
 * coil__uring_open_event_fd() creates u->event_fd, to which the kernel writes when there
 * is a completion. coil__uring_renew_event_fd() makes the kernel write again after an
 * earlier write. Both return 0 or a negative errno.
 */
int coil__uring_open_event_fd(struct coil__uring *u);
int coil__uring_renew_event_fd(struct coil__uring *u);

static inline bool coil__uring_has(const struct coil__uring *u, unsigned feature)
{
    return (u->features & feature) != 0;
}

#endif
