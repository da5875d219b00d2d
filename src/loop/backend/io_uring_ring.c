/*
 * io_uring_ring.c - the ring itself: what the kernel can do, setting it up, entering it.
 *
 * One system call a turn hands over what was queued and fetches what has happened. What
 * makes that cheap came with several kernels, so the flags are tried from best to least:
 * with DEFER_TASKRUN (6.1) completions are worked on only when we ask for them; with
 * COOP_TASKRUN (5.19) when we enter the kernel for whatever reason; without, whenever the
 * kernel likes. TASKRUN_FLAG tells in shared memory that there is something, so that a
 * busy loop need not enter in vain. 5.11 is needed at least (waiting with a time-out).
 *
 * The ring is small: since Linux 6.14 its pages count against RLIMIT_MEMLOCK again, and a
 * user may have many loops. A queue that is full is handed over at once, and completions
 * that do not fit are kept by the kernel (NODROP) until there is room.
 *
 * Mapping the ring into memory costs more than setting it up. Whether the kernel
 * lets us use one is found out without (coil__uring_open(), which decides for a backend);
 * it is mapped when somebody wants something of it (coil__uring_need()). A loop of timers
 * and posts never does: see io_uring_watch.c.
 */
#include "io_uring.h"

#include "../../base/fault.h"
#include "../../base/kernel.h"
#include "../../coro/sanitizer.h"
#include "../loop.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SQ_ENTRIES = 256, CQ_ENTRIES = 1024 };

/* ---- what there is ---------------------------------------------------------------- */

/* RWF_NOSIGNAL cannot be asked for: a kernel that has not got it refuses the first write
   with it. So does any kernel with this one. */
#define UNKNOWN_FLAG (1u << 30)

#define OPS_OF_5_11 ((UINT64_C(2) << IORING_OP_UNLINKAT) - 1)

static unsigned bits_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        unsigned bits;
    } names[] = {
        {"defer", COIL__URING_DEFER},         {"coop", COIL__URING_COOP},
        {"ring-fd", COIL__URING_RING_FD},     {"multishot", COIL__URING_MULTISHOT},
        {"no-signal", COIL__URING_NO_SIGNAL}, {"later-ops", COIL__URING_LATER_OPS},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0)
            return names[i].bits;
    return 0;
}

static int refuse_name(const char *name, size_t length)
{
    char message[160];

    snprintf(message, sizeof message,
             "COIL_IO_URING_WITHOUT=%.*s: there are defer, coop, ring-fd, "
             "multishot, no-signal and later-ops, with commas between them",
             length < 20 ? (int)length : 20, name);
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = -EINVAL});
    return -EINVAL;
}

/*
 * $COIL_IO_URING_WITHOUT names what is not to be used though the kernel has it: for tests
 * of the plain ways.
 */
static int read_mask(unsigned *mask)
{
    const char *list = getenv("COIL_IO_URING_WITHOUT");

    *mask = 0;
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        unsigned bits = bits_of(list, length);

        if (bits == 0)
            return refuse_name(list, length);
        *mask |= bits;
        list += length + (list[length] == ',');
    }
    return 0;
}

/* The operations that the kernel has, found out once. */
static int find_out_ops(struct coil__uring *u)
{
    static _Atomic uint64_t found;
    struct io_uring_probe *probe;

    u->known_ops = atomic_load_explicit(&found, memory_order_relaxed);
    if (u->known_ops != 0)
        return 0;
    probe = io_uring_get_probe_ring(&u->ring);
    if (probe == NULL)
        return -ENOSYS;
    for (int op = 0; op < 64; op++)
        if (io_uring_opcode_supported(probe, op))
            u->known_ops |= UINT64_C(1) << op;
    io_uring_free_probe(probe);
    atomic_store_explicit(&found, u->known_ops, memory_order_relaxed);
    return 0;
}

static bool knows(const struct coil__uring *u, int op)
{
    return (u->known_ops >> op & 1) != 0;
}

/* ---- opening and closing ---------------------------------------------------------- */

/* liburing returns its errors; as a system call would. */
static int as_call(int rc)
{
    if (rc >= 0)
        return rc;
    errno = -rc;
    return -1;
}

/* What a way of setting up says of the features that go with it. */
static const struct {
    unsigned flags, feature;
} setups[] = {
    {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
         IORING_SETUP_SUBMIT_ALL,
     COIL__URING_DEFER},
    {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
     COIL__URING_COOP},
    {0, 0},
};

enum { SETUPS = sizeof setups / sizeof setups[0] };

/*
 * liburing maps by system calls of its own, which ThreadSanitizer does not see: it takes
 * the memory for what lay there before, another thread's stacks, say.
 */
static void tell_sanitizer(const struct io_uring *ring, unsigned entries)
{
    coil__san_ignore(ring->sq.ring_ptr, ring->sq.ring_sz);
    coil__san_ignore(ring->cq.ring_ptr, ring->cq.ring_sz);
    coil__san_ignore(ring->sq.sqes, entries * sizeof *ring->sq.sqes);
}

static int set_up(struct coil__uring *u, unsigned flags)
{
    int fd;

    u->params = (struct io_uring_params){
        .flags = flags | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
        .cq_entries = CQ_ENTRIES,
    };
    fd = COIL__CALL(ENOSYS, as_call(io_uring_setup(SQ_ENTRIES, &u->params)));
    if (fd < 0)
        return -errno;
    u->ring.ring_fd = u->ring.enter_ring_fd = u->enter_fd = fd;
    u->enter_flags = IORING_ENTER_EXT_ARG;
    return 0;
}

static int set_up_best(struct coil__uring *u, unsigned without)
{
    const unsigned needed = IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE |
                            IORING_FEAT_RW_CUR_POS | IORING_FEAT_FAST_POLL |
                            IORING_FEAT_EXT_ARG;
    static _Atomic int best; /* what comes before it the kernel has refused */
    int first = atomic_load_explicit(&best, memory_order_relaxed), rc = -EINVAL;

    for (int i = first; i < SETUPS && rc == -EINVAL; i++) {
        if (setups[i].feature & without)
            continue;
        rc = set_up(u, setups[i].flags);
        if (rc == 0)
            u->features = (COIL__URING_ALL & ~(COIL__URING_DEFER | COIL__URING_COOP)) |
                          setups[i].feature;
        else if (rc == -EINVAL && without == 0)
            atomic_store_explicit(&best, i + 1, memory_order_relaxed);
    }
    if (rc == 0 && (u->params.features & needed) != needed) {
        close(u->ring.ring_fd);
        rc = -ENOSYS;
    }
    return rc;
}

/*
 * Entering by a registered number spares the kernel looking at the descriptor; and it
 * still works for a program that closes what it does not know.
 */
static void register_ring(struct coil__uring *u)
{
    if (coil__uring_has(u, COIL__URING_RING_FD) &&
        COIL__CALL(EINVAL, as_call(io_uring_register_ring_fd(&u->ring))) == 1) {
        u->enter_fd = u->ring.enter_ring_fd;
        u->enter_flags |= IORING_ENTER_REGISTERED_RING;
    }
}

/* A sandbox may let us set it up and no more. */
static int try_to_enter(struct coil__uring *u)
{
    struct io_uring_getevents_arg arg = {.ts = 0};
    int rc =
        COIL__CALL(EPERM, as_call(io_uring_enter2((unsigned)u->enter_fd, 0, 0,
                                                  IORING_ENTER_GETEVENTS | u->enter_flags,
                                                  (sigset_t *)&arg, sizeof arg)));

    return rc < 0 && errno != EINTR ? -errno : 0;
}

/*
 * Refused, one way or another: forbidden (a sandbox, a sysctl), not there, too much
 * locked memory. Out of descriptors is something else, which another backend would meet
 * too.
 */
static int as_missing(int rc)
{
    return rc == -EMFILE || rc == -ENFILE ? rc : -ENOSYS;
}

int coil__uring_open(struct coil__uring *u)
{
    unsigned without;
    int rc;

    if (coil__on_valgrind()) /* which knows little of what the kernel writes here */
        return -ENOSYS;
    rc = read_mask(&without);
    if (rc < 0)
        return rc;
    rc = set_up_best(u, without);
    if (rc < 0)
        return as_missing(rc);
    u->features &= ~(without & ~(unsigned)COIL__URING_NO_SIGNAL);
    u->quiet_flag = without & COIL__URING_NO_SIGNAL ? UNKNOWN_FLAG : RWF_NOSIGNAL;
    rc = find_out_ops(u);
    if (without & COIL__URING_LATER_OPS)
        u->known_ops &= OPS_OF_5_11;
    if (!knows(u, IORING_OP_SEND_ZC)) /* which came with the same kernel */
        u->features &= ~(unsigned)COIL__URING_MULTISHOT;
    if (rc == 0)
        rc = try_to_enter(u);
    if (rc < 0)
        close(u->ring.ring_fd);
    return rc < 0 ? as_missing(rc) : 0;
}

int coil__uring_map(struct coil__uring *u)
{
    int fd = u->ring.ring_fd;
    /* Still a ring? A program may have closed what it does not know, and opened more. */
    int rc = try_to_enter(u);

    if (rc < 0)
        return rc;
    if (COIL__CALL(ENOMEM, as_call(io_uring_queue_mmap(fd, &u->params, &u->ring))) < 0) {
        u->ring.ring_fd = u->ring.enter_ring_fd = fd;
        return -errno;
    }
    u->mapped = true;
    tell_sanitizer(&u->ring, u->params.sq_entries);
    io_uring_ring_dontfork(&u->ring);
    /* Entry i of the queue is entry i: said once. (liburing says it with each.) */
    for (unsigned i = 0; i < u->params.sq_entries; i++)
        u->ring.sq.array[i] = i;
    register_ring(u);
    return 0;
}

void coil__uring_close(struct coil__uring *u)
{
    if (u->mapped)
        io_uring_queue_exit(&u->ring);
    else
        close(u->ring.ring_fd);
}

int coil__uring_open_event_fd(struct coil__uring *u)
{
    int fd = COIL__CALL(EMFILE, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), rc;

    if (fd < 0)
        return -errno;
    rc = COIL__CALL(ENOMEM, as_call(io_uring_register_eventfd(&u->ring, fd)));
    if (rc < 0) {
        rc = -errno;
        close(fd);
        return rc;
    }
    u->event_fd = fd;
    return 0;
}

/* ---- entering --------------------------------------------------------------------- */

static unsigned queued(const struct coil__uring *u)
{
    return u->ring.sq.sqe_tail - io_uring_smp_load_acquire(u->ring.sq.khead);
}

static bool has_completions(const struct coil__uring *u)
{
    return *u->ring.cq.khead != io_uring_smp_load_acquire(u->ring.cq.ktail);
}

/* There is something to be had only by entering. */
static bool kernel_has_more(const struct coil__uring *u)
{
    return (IO_URING_READ_ONCE(*u->ring.sq.kflags) &
            (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

bool coil__uring_has_more(const struct coil__uring *u)
{
    return has_completions(u) || kernel_has_more(u);
}

static int call_enter(struct coil__uring *u, unsigned wait_for, int64_t timeout_ns)
{
    struct __kernel_timespec span;
    struct io_uring_getevents_arg arg = {.ts = 0};

    if (wait_for > 0 && timeout_ns != COIL_NEVER) {
        span.tv_sec = timeout_ns / COIL_SEC(1);
        span.tv_nsec = timeout_ns % COIL_SEC(1);
        arg.ts = (uintptr_t)&span;
    }
    io_uring_smp_store_release(u->ring.sq.ktail, u->ring.sq.sqe_tail);
    coil__uring_offer_buffers(u);
    return COIL__CALL(EINTR,
                      as_call(io_uring_enter2((unsigned)u->enter_fd, queued(u), wait_for,
                                              IORING_ENTER_GETEVENTS | u->enter_flags,
                                              (sigset_t *)&arg, sizeof arg)));
}

int coil__uring_enter(struct coil__uring *u, int64_t timeout_ns)
{
    bool waits = timeout_ns > 0 && !has_completions(u);

    if (!waits && queued(u) == 0 && !kernel_has_more(u))
        return 0;
    if (call_enter(u, waits, timeout_ns) >= 0)
        return 0;
    switch (errno) {
    case EINTR:
    case ETIME:
        return 0;
    case EAGAIN: /* no memory for the moment, or no room for completions: */
    case EBUSY:  /* both pass as what is there is worked on */
        return 0;
    default:
        return -errno;
    }
}

struct io_uring_sqe *coil__uring_entry(struct coil__uring *u)
{
    struct io_uring_sq *sq = &u->ring.sq;
    struct io_uring_sqe *entry;

    if (COIL__UNLIKELY(queued(u) >= sq->ring_entries)) {
        coil__uring_enter(u, 0);
        if (queued(u) >= sq->ring_entries)
            return NULL;
    }
    entry = &sq->sqes[sq->sqe_tail++ & sq->ring_mask];
    memset(entry, 0, sizeof *entry);
    entry->user_data = COIL__URING_NOTHING;
    return entry;
}
