/*
 * io_uring_ring.h (internal) - the ring, and the state of the io_uring backend.
 *
 * The files of the backend form layers. From the bottom these are: ring, entry, op,
 * receive, watch, round, and io_uring.c, which explains how the backend works.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_RING_H
#define COIL_LOOP_BACKEND_IO_URING_RING_H

#include "backend.h"

#include <liburing.h>

/*
 * Features of the running kernel, with the Linux version that introduced each. Tests can
 * disable each feature.
 */
enum coil__uring_feature {
    COIL__URING_DEFER = 1 << 0, /* 6.1: task work runs only when events are fetched */
    /*
     * 5.19: task work does not interrupt the thread, but waits until it enters the kernel
     */
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
    COIL__URING_AHEAD = 1 << 1,     /* waits for the multishot receive to deliver bytes */
    COIL__URING_FILE = 1 << 2,      /* a file operation: the kernel uses its memory */
    COIL__URING_CANCELLED = 1 << 3,
    COIL__URING_DETACHED = 1 << 4, /* the descriptor is about to be closed */
    COIL__URING_IN_VAIN = 1 << 5,  /* a poll has ended although the call would block */
    /* a time-out replaces the operation's poll */
    COIL__URING_PAUSES = 1 << 6,
    COIL__URING_STAYS = 1 << 7, /* the operation's poll is a multishot poll */
    COIL__URING_DONE = 1 << 8,  /* op->result is set, but the poll has not ended yet */
    COIL__URING_PAUSED = 1 << 9 /* from this bit on: number of time-outs in a row */
};

/*
 * The user_data of a completion is the address of an operation, or one of these tags, in
 * some cases combined with a descriptor (coil__uring_data()).
 */
enum coil__uring_tag {
    COIL__URING_OP = 0,
    COIL__URING_WATCH_IN = 1, /* the poll of a watch, for reading or writing */
    COIL__URING_WATCH_OUT = 2,
    COIL__URING_RECEIVE = 3,
    COIL__URING_NOTHING = 4, /* ignore this completion */
    COIL__URING_CANCEL = 5,  /* a request to end an operation */
    /* a request to end the descriptor's multishot receive */
    COIL__URING_CALL_OFF = 6,
    /* a time-out, after which requests to end operations are repeated */
    COIL__URING_REMIND = 7,
    COIL__URING_TAGS = 7
};

enum coil__uring_remind {
    COIL__URING_REMIND_NOT,
    COIL__URING_REMIND_WANTED, /* the next round must submit the time-out */
    COIL__URING_REMIND_SOON    /* the time-out is in the kernel */
};

enum coil__uring_type { COIL__URING_TYPE_UNKNOWN, COIL__URING_STREAM, COIL__URING_OTHER };

struct coil__uring_buffer {
    uint16_t next;     /* the next one in a descriptor's queue, or the next spare one */
    uint16_t from, to; /* the unread part */
};

/* Buffers for multishot receives. The kernel chooses a buffer for each receive. */
struct coil__uring_buffers {
    struct io_uring_buf_ring *ring; /* NULL: not created yet */
    char *memory;
    struct coil__uring_buffer *state;
    uint16_t tail;
    unsigned free;    /* number of buffers without unread bytes: offered or spare */
    unsigned offered; /* number of buffers that are now offered to the kernel */
    unsigned offer;   /* number of buffers to be offered by the next round */
    unsigned spare;   /* head of the list of spare buffers; the last returned is first */
    bool ran_out;     /* the kernel has run out of buffers since the last round */
    bool failed;      /* could not be created: do not try again */
};

struct coil__uring {
    struct coil__backend backend;
    struct io_uring ring;
    struct io_uring_params params;
    bool mapped;          /* false: see coil__uring_need() */
    unsigned waits_alone; /* number of waits without the ring: see io_uring_watch.c */
    unsigned features;
    unsigned enter_flags;
    int enter_fd;
    int event_fd; /* the result of pollable(), or -1 */
    bool watched; /* there was a watch before */
    int first_to_arm;
    struct coil__list todo;   /* operations to cancel or to submit */
    struct coil__list ending; /* operations that the kernel has been requested to end */
    struct coil__list files;  /* operations on files that are in the kernel */
    enum coil__uring_remind remind;
    /*
     * 0, or the error with which the kernel refuses all calls: no more completions are
     * read
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
 * Set up the ring. Returns 0 or a negative errno: -ENOSYS if another backend should be
 * used.
 */
int coil__uring_open(struct coil__uring *u);
void coil__uring_close(struct coil__uring *u);
int coil__uring_map(struct coil__uring *u);

/*
 * Map the ring if it is not mapped yet. Must be called before anything is queued. Returns
 * 0 or a negative errno.
 */
static inline int coil__uring_need(struct coil__uring *u)
{
    return COIL__LIKELY(u->mapped) ? 0 : coil__uring_map(u);
}

/*
 * Return a new entry of the submission queue, with COIL__URING_NOTHING as user_data, and
 * 0 in all other members. Returns NULL if the queue is full and the kernel accepts no
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
 * Submit the queue, and wait for a completion for up to timeout_ns. Returns 0 or a
 * negative errno. A signal that interrupts the wait is not an error.
 */
int coil__uring_enter(struct coil__uring *u, int64_t timeout_ns);

/* True if there are completions, or if entering the kernel would produce some. */
bool coil__uring_has_more(const struct coil__uring *u);

/*
 * The first function creates u->event_fd, to which the kernel writes when there is a
 * completion. The second makes the kernel write again after an earlier write. Both return
 * 0 or a negative errno.
 */
int coil__uring_open_event_fd(struct coil__uring *u);
int coil__uring_renew_event_fd(struct coil__uring *u);

static inline bool coil__uring_has(const struct coil__uring *u, unsigned feature)
{
    return (u->features & feature) != 0;
}

#endif
