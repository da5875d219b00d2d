/*
 * io_uring_ring.c - detects the kernel's features, and sets up, maps and enters the ring.
 *
 * One system call per turn submits the queue and fetches completions. The flags that make
 * this call cheap came with different kernel versions, so they are tried from best to
 * worst. With DEFER_TASKRUN (Linux 6.1) the kernel processes completions only when coil
 * fetches them. With COOP_TASKRUN (5.19) the kernel processes them whenever the thread
 * enters the kernel, and without these flags at any time. TASKRUN_FLAG makes the kernel
 * set a flag in shared memory while completions wait to be processed, so a busy loop does
 * not enter the kernel needlessly. Linux 5.11 is the minimum, because older kernels
 * cannot wait with a time-out.
 *
 * The ring is small, because since Linux 6.14 its pages again count against
 * RLIMIT_MEMLOCK, which limits all loops of a user. A full queue is submitted
 * immediately. The kernel keeps completions that do not fit into the ring until there is
 * room (NODROP).
 *
 * Mapping the ring into memory takes longer than setting it up. So coil__uring_open()
 * only sets it up, which shows whether the kernel allows a ring, and coil__uring_need()
 * maps it when it is first used. Until then, a loop that has only timers and posts waits
 * without the ring: see io_uring_watch.c.
 */
#include "io_uring_ring.h"

#include "../../base/fault.h"
#include "../../kernel/linux/constants.h"
#include "../../coro/sanitizer.h"
#include "../loop.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SQ_ENTRIES = 256, CQ_ENTRIES = 1024 };

/* ---- features ---------------------------------------------------------------------- */

#define OPS_OF_5_11 ((UINT64_C(2) << IORING_OP_UNLINKAT) - 1)

static unsigned bits_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        unsigned bits;
    } names[] = {
        {"defer", COIL__URING_DEFER},         {"coop", COIL__URING_COOP},
        {"ring-fd", COIL__URING_RING_FD},     {"multishot", COIL__URING_MULTISHOT},
        {"later-ops", COIL__URING_LATER_OPS},
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
             "COIL_IO_URING_WITHOUT=%.*s: must be a comma-separated list "
             "of defer, coop, ring-fd, multishot and later-ops",
             length < 20 ? (int)length : 20, name);
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = -EINVAL});
    return -EINVAL;
}

/*
 * Read the environment variable COIL_IO_URING_WITHOUT, with which tests cover the code
 * for older kernels: it lists features that are not used even if the kernel has them.
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

/* Set u->known_ops. The kernel is queried once per process. */
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

static bool supports_op(const struct coil__uring *u, int op)
{
    return (u->known_ops >> op & 1) != 0;
}

/* ---- opening and closing ----------------------------------------------------------- */

/* The sets of set-up flags, best first, and the feature that each set provides. */
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
 * Make ThreadSanitizer ignore the ring's memory. Without this function, ThreadSanitizer
 * could mistake the memory for another thread's stack, because it does not see the system
 * calls with which liburing maps memory.
 */
static void describe_memory_to_tsan(const struct io_uring *ring, unsigned entries)
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
    fd = COIL__CALL(ENOSYS, coil__uring_as_call(io_uring_setup(SQ_ENTRIES, &u->params)));
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
    static _Atomic int best; /* index: the kernel refused all `setups` before it */
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
 * Register the ring's descriptor, so that the kernel need not look it up on each call,
 * and the ring stays usable even if the program closes all descriptors that it did not
 * open.
 */
static void register_ring(struct coil__uring *u)
{
    if (coil__uring_has(u, COIL__URING_RING_FD) &&
        COIL__CALL(EINVAL, coil__uring_as_call(io_uring_register_ring_fd(&u->ring))) ==
            1) {
        u->enter_fd = u->ring.enter_ring_fd;
        u->enter_flags |= IORING_ENTER_REGISTERED_RING;
    }
}

/*
 * Check that the kernel allows entering the ring: a sandbox may allow only setting it up.
 */
static int try_to_enter(struct coil__uring *u)
{
    struct io_uring_getevents_arg arg = {.ts = 0};
    int rc = COIL__CALL(
        EPERM, coil__uring_as_call(io_uring_enter2(
                   (unsigned)u->enter_fd, 0, 0, IORING_ENTER_GETEVENTS | u->enter_flags,
                   (sigset_t *)&arg, sizeof arg)));

    return rc < 0 && errno != EINTR ? -errno : 0;
}

/*
 * Convert an error to -ENOSYS, so that another backend is chosen. The kernel may lack the
 * ring, a sandbox or a sysctl may forbid it, or the limit of locked memory may be
 * reached. If no descriptors are left, the error is unchanged, because another backend
 * would fail, too.
 */
static int as_missing(int rc)
{
    return rc == -EMFILE || rc == -ENFILE ? rc : -ENOSYS;
}

int coil__uring_open(struct coil__uring *u)
{
    unsigned without;
    int rc;

    if (coil__on_valgrind()) /* Valgrind does not track the kernel's writes to the ring */
        return -ENOSYS;
    rc = read_mask(&without);
    if (rc < 0)
        return rc;
    rc = set_up_best(u, without);
    if (rc < 0)
        return as_missing(rc);
    u->features &= ~without;
    rc = find_out_ops(u);
    if (without & COIL__URING_LATER_OPS)
        u->known_ops &= OPS_OF_5_11;
    /* multishot receives and SEND_ZC both came with Linux 6.0 */
    if (!supports_op(u, IORING_OP_SEND_ZC))
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
    /*
     * Check that this is still the descriptor of a ring: the program may have closed all
     * descriptors, and opened others with the same numbers.
     */
    int rc = try_to_enter(u);

    if (rc < 0)
        return rc;
    if (COIL__CALL(ENOMEM, coil__uring_as_call(
                               io_uring_queue_mmap(fd, &u->params, &u->ring))) < 0) {
        u->ring.ring_fd = u->ring.enter_ring_fd = fd;
        return -errno;
    }
    u->mapped = true;
    u->backend.waits_exactly = true;
    describe_memory_to_tsan(&u->ring, u->params.sq_entries);
    io_uring_ring_dontfork(&u->ring);
    /*
     * Slot i of the submission array always refers to entry i, so it is set only once.
     * (liburing sets the slot for each submission.)
     */
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
    rc = COIL__CALL(ENOMEM, coil__uring_as_call(io_uring_register_eventfd(&u->ring, fd)));
    if (rc < 0) {
        rc = -errno;
        close(fd);
        return rc;
    }
    u->event_fd = fd;
    return 0;
}

/*
 * If there is a completion while a thread writes to another eventfd, as a post does, the
 * kernel delays its write to this eventfd. There is only one such delayed write per
 * registration (seen with Linux 6.18), so the registration is renewed after each write.
 */
int coil__uring_renew_event_fd(struct coil__uring *u)
{
    static const uint64_t one = 1;
    int rc;

    io_uring_unregister_eventfd(&u->ring);
    if (COIL__CALL(ENOMEM, coil__uring_as_call(
                               io_uring_register_eventfd(&u->ring, u->event_fd))) == 0)
        return 0;
    rc = -errno;
    if (write(u->event_fd, &one, sizeof one) < 0)
        return -errno;
    return rc;
}

/* ---- entering the kernel ----------------------------------------------------------- */

static unsigned queued_entries(const struct coil__uring *u)
{
    return u->ring.sq.sqe_tail - io_uring_smp_load_acquire(u->ring.sq.khead);
}

static bool has_completions(const struct coil__uring *u)
{
    return *u->ring.cq.khead != io_uring_smp_load_acquire(u->ring.cq.ktail);
}

/* True if entering the kernel would produce completions. */
static bool kernel_has_more(const struct coil__uring *u)
{
    return (IO_URING_READ_ONCE(*u->ring.sq.kflags) &
            (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

bool coil__uring_has_more(const struct coil__uring *u)
{
    return has_completions(u) || kernel_has_more(u);
}

int coil__uring_enter(struct coil__uring *u, int64_t timeout_ns)
{
    bool waits = timeout_ns > 0 && !has_completions(u);
    struct __kernel_timespec span;
    struct io_uring_getevents_arg arg = {.ts = 0};
    int rc;

    if (!waits && queued_entries(u) == 0 && !kernel_has_more(u))
        return 0;
    if (waits && timeout_ns != COIL_NEVER) {
        span.tv_sec = timeout_ns / COIL_SEC(1);
        span.tv_nsec = timeout_ns % COIL_SEC(1);
        arg.ts = (uintptr_t)&span;
    }
    io_uring_smp_store_release(u->ring.sq.ktail, u->ring.sq.sqe_tail);
    coil__loop_enter_kernel();
    rc = COIL__CALL(EINTR, coil__uring_as_call(io_uring_enter2(
                               (unsigned)u->enter_fd, queued_entries(u), waits,
                               IORING_ENTER_GETEVENTS | u->enter_flags, (sigset_t *)&arg,
                               sizeof arg)));
    coil__loop_leave_kernel();
    /*
     * EAGAIN and EBUSY mean that there is no memory at the moment, or no room for
     * completions. The loop can continue by handling the current completions.
     */
    if (rc >= 0 || errno == EINTR || errno == ETIME || errno == EAGAIN || errno == EBUSY)
        return 0;
    return -errno;
}

struct io_uring_sqe *coil__uring_entry(struct coil__uring *u)
{
    struct io_uring_sq *sq = &u->ring.sq;
    struct io_uring_sqe *entry;

    if (COIL__UNLIKELY(queued_entries(u) >= sq->ring_entries)) {
        coil__uring_enter(u, 0);
        if (queued_entries(u) >= sq->ring_entries)
            return NULL;
    }
    entry = &sq->sqes[sq->sqe_tail++ & sq->ring_mask];
    memset(entry, 0, sizeof *entry);
    entry->user_data = COIL__URING_NOTHING;
    return entry;
}
