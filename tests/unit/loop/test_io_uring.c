/*
 * test_io_uring.c - cases that exist only with io_uring: kernels that forbid it, full
 * queues, exhausted buffers, bytes that are received ahead of reads, and cancelling
 * requests in each state.
 *
 * Most tests are RING_TESTs, which run once per variant of the backend. A variant ignores
 * some features of the kernel, so that tests on a new kernel also cover the code for
 * older kernels.
 */
#include "../../harness/harness.h"

#include "../socket/sockets.h"
#include "../../../src/loop/loop.h"
#include "../../../src/io/op.h"

#include <coil.h>
#include <coil/testing.h>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a loop on a ring -------------------------------------------------------------- */

static const coil_run_opts on_ring = {.loop = {.backend = "io_uring"},
                                      .no_signals = true};

static void run_on_ring(coil_task_fn fn)
{
    int rc = coil_run(fn, NULL, &on_ring);

    if (rc == -ENOSYS)
        test_skip("no io_uring here");
    CHECK_INT(rc, 0);
}

static void on_each_way(coil_task_fn fn)
{
    static const char *const ways[] = {"", "defer", "defer,coop", "multishot",
                                       "defer,coop,ring-fd,multishot,later-ops"};

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        setenv("COIL_IO_URING_WITHOUT", ways[i], 1);
        run_on_ring(fn);
    }
    unsetenv("COIL_IO_URING_WITHOUT");
}

/* Define a test that runs in a task, once per variant of the backend. */
#define RING_TEST(name)                                                                  \
    static void name##_body(void);                                                       \
    static int name##_in_a_task(void *arg)                                               \
    {                                                                                    \
        (void)arg;                                                                       \
        name##_body();                                                                   \
        return 0;                                                                        \
    }                                                                                    \
    TEST(name)                                                                           \
    {                                                                                    \
        on_each_way(name##_in_a_task);                                                   \
    }                                                                                    \
    static void name##_body(void)

static int end_at_once(void *arg)
{
    (void)arg;
    return 0;
}

static void misspell_and_abort(void *value)
{
    coil_loop *loop;

    setenv("COIL_IO_URING_WITHOUT", value, 1);
    CHECK_INT(coil_loop_create(&on_ring.loop, &loop), -EINVAL);
    unsetenv("COIL_BACKEND");
    CHECK_INT(coil_loop_create(NULL, &loop), -EINVAL);
    abort();
}

TEST(ring_without_a_misspelt_feature_is_refused)
{
    static char value[] = "defer,nonsense,coop";

    run_on_ring(end_at_once); /* skips the test without io_uring */
    test_dies(misspell_and_abort, value,
              "coil: COIL_IO_URING_WITHOUT=nonsense: must be a comma-separated list "
              "of defer, coop, ring-fd, multishot and later-ops: Invalid argument\n");
}

/* ---- kernels that refuse ----------------------------------------------------------- */

static void install_filter(struct sock_filter *filter, size_t n)
{
    struct sock_fprog program = {(unsigned short)n, filter};

    CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        test_skip("no seccomp here");
}

/*
 * Make the system calls from `first` to `last` fail with `error` from now on, in this
 * process and its children.
 */
static void forbid(int first, int last, int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (unsigned)first, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (unsigned)last, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    install_filter(filter, sizeof filter / sizeof filter[0]);
}

static int say_backend(void *arg)
{
    coil_stream *ends[2];
    char byte;

    (void)arg;
    make_stream_pair(ends);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    CHECK_INT(coil_read(ends[1], &byte, 1), 1);
    destroy_streams(ends);
    test_trace("%s", coil_backend_name());
    return 0;
}

static void expect_epoll(void)
{
    coil_run_opts opts = {.no_signals = true};
    coil_loop *loop;

    unsetenv("COIL_BACKEND");
    CHECK_INT(coil_run(say_backend, NULL, &opts), 0);
    CHECK_TRACE("epoll");
    CHECK_INT(coil_loop_create(&on_ring.loop, &loop), -ENOSYS);
    setenv("COIL_BACKEND", "io_uring", 1);
    CHECK_INT(coil_loop_create(NULL, &loop), -ENOSYS);
}

TEST(ring_that_is_forbidden_is_replaced_by_epoll)
{
    forbid(SYS_io_uring_setup, SYS_io_uring_register, EPERM);
    expect_epoll();
}

TEST(ring_that_the_kernel_lacks_is_replaced_by_epoll)
{
    forbid(SYS_io_uring_setup, SYS_io_uring_setup, ENOSYS);
    expect_epoll();
}

TEST(ring_that_may_not_be_entered_is_replaced_by_epoll)
{
    forbid(SYS_io_uring_enter, SYS_io_uring_enter, EPERM);
    expect_epoll();
}

/*
 * Without io_uring_register(2), coil cannot detect the kernel's features, and uses epoll.
 */
TEST(ring_without_registration_is_replaced_by_epoll)
{
    forbid(SYS_io_uring_register, SYS_io_uring_register, EPERM);
    expect_epoll();
}

/* Make io_uring_register(2) with the opcode `what` fail with `error` from now on. */
static void forbid_to_register(unsigned what, int error)
{
    enum { ARG = offsetof(struct seccomp_data, args[1]) }; /* the lower half */
    /* set if the ring is identified by its registered number */
    const unsigned by_number = 1u << 31;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_register, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~by_number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };

    install_filter(filter, sizeof filter / sizeof filter[0]);
}

TEST(ring_whose_features_are_unknown_is_replaced_by_epoll)
{
    forbid_to_register(IORING_REGISTER_PROBE, EINVAL);
    expect_epoll();
}

/*
 * Exchange single bytes between two streams. Such small reads use the ring's own buffers.
 */
static int read_and_answer(void *arg)
{
    coil_stream *ends[2];
    char byte;

    (void)arg;
    make_stream_pair(ends);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(coil_write(ends[0], "x", 1), 1);
        CHECK_INT(coil_read(ends[1], &byte, 1), 1);
        CHECK_INT(coil_write(ends[1], &byte, 1), 1);
        CHECK_INT(coil_read(ends[0], &byte, 1), 1);
    }
    destroy_streams(ends);
    return 0;
}

TEST(ring_that_gets_no_number_is_entered_by_its_descriptor)
{
    forbid_to_register(IORING_REGISTER_RING_FDS, EPERM);
    run_on_ring(read_and_answer);
}

TEST(ring_that_gets_no_buffers_reads_into_those_of_its_readers)
{
    forbid_to_register(IORING_REGISTER_PBUF_RING, ENOSYS);
    run_on_ring(read_and_answer);
}

/* Only guest mode fails if the ring cannot notify an eventfd. */
TEST(ring_that_cannot_notify_an_eventfd_refuses_guest_mode)
{
    coil_loop *loop;

    forbid_to_register(IORING_REGISTER_EVENTFD, EPERM);
    run_on_ring(read_and_answer);
    CHECK_INT(coil_loop_create(&on_ring.loop, &loop), 0);
    CHECK_INT(coil_guest_fd(loop), -EPERM);
    coil_loop_close(loop);
}

/*
 * Drop CAP_IPC_LOCK, which root has, because the kernel does not limit the locked memory
 * of a process with this capability.
 */
static void drop_ipc_lock(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};

    if (syscall(SYS_capget, &header, data) < 0)
        test_skip("no capabilities here");
    data[0].effective &= ~(1u << CAP_IPC_LOCK);
    data[0].permitted &= ~(1u << CAP_IPC_LOCK);
    CHECK_INT(syscall(SYS_capset, &header, data), 0);
}

static void with_locked_memory(rlim_t bytes)
{
    struct rlimit limit;
    coil_run_opts opts = {.no_signals = true};

    CHECK_INT(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if (bytes > limit.rlim_max) /* only root can raise the hard limit */
        bytes = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = bytes;
    CHECK_INT(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    CHECK_INT(coil_run(say_backend, NULL, &opts), 0);
    CHECK(strcmp(test_trace_text(), "io_uring") == 0 ||
          strcmp(test_trace_text(), "epoll") == 0);
    test_trace_clear();
}

TEST(ring_with_little_locked_memory)
{
    unsetenv("COIL_BACKEND");
    with_locked_memory(8 << 20);
    drop_ipc_lock();
    with_locked_memory(64 << 10);
    with_locked_memory(4096);
    with_locked_memory(0);
}

/* ---- queues that are full ---------------------------------------------------------- */

enum { CROWD = 2500 };

static int wait_for_event(void *arg)
{
    uint64_t count;
    int fd = *(int *)arg;

    int rc = coil_wait_fd(fd, COIL_READABLE);

    if (rc < 0)
        return rc;
    CHECK_INT(rc, COIL_READABLE);
    CHECK_INT(read(fd, &count, sizeof count), sizeof count);
    return 0;
}

/*
 * In one turn, submit more requests than fit into the submission queue. All of them
 * complete at once, so they do not fit into the completion queue either.
 */
RING_TEST(ring_of_thousands_that_are_submitted_and_complete_at_once)
{
    static int fds[CROWD];
    const uint64_t one = 1;
    coil_group g;

    coil_group_enter(&g);
    for (int i = 0; i < CROWD; i++) {
        fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (fds[i] < 0)
            test_skip("the limit of descriptors is too low");
        CHECK_INT(coil_group_spawn(&g, wait_for_event, &fds[i], NULL, NULL), 0);
    }
    settle();
    for (int i = 0; i < CROWD; i++)
        CHECK_INT(write(fds[i], &one, sizeof one), sizeof one);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
}

RING_TEST(ring_of_thousands_that_are_cancelled)
{
    static int fds[CROWD];
    coil_group g;

    coil_group_enter(&g);
    for (int i = 0; i < CROWD; i++) {
        fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (fds[i] < 0)
            test_skip("the limit of descriptors is too low");
        coil_group_spawn(&g, wait_for_event, &fds[i], NULL, NULL);
    }
    settle();
    coil_group_cancel(&g, NULL);
    coil_group_exit(&g, 0);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
}

/* ---- bytes that came unasked ------------------------------------------------------- */

/*
 * Make reads that have to wait: after two of them, the ring receives bytes ahead of
 * reads.
 */
static void receive_ahead(coil_stream *stream, int peer)
{
    char byte;

    for (int i = 0; i < 3; i++) {
        CHECK_INT(write(peer, "-", 1), 1);
        CHECK_INT(coil_read(stream, &byte, 1), 1);
    }
}

static ssize_t was_read; /* set by read_two() */

static int read_two(void *arg)
{
    char bytes[2];

    was_read = coil_read(arg, bytes, sizeof bytes);
    return (int)was_read;
}

/*
 * A cancelled read takes no bytes, whether they arrive before or after the cancellation.
 */
RING_TEST(ring_keeps_what_a_cancelled_read_did_not_take)
{
    coil_stream *stream;
    coil_task *reader;
    char bytes[8];
    int peer;

    for (int when = 0; when < 8; when++) {
        stream = make_stream_and_peer(&peer);
        if (when & 1)
            receive_ahead(stream, peer);
        CHECK_INT(coil_spawn(read_two, stream, NULL, &reader), 0);
        if (when & 2)
            settle();
        else
            coil_yield(); /* the request is in the queue, not yet in the kernel */
        if (when & 4)
            CHECK_INT(write(peer, "abc", 3), 3);
        coil_task_cancel(reader, NULL);
        CHECK_INT(coil_task_await(reader), -ECANCELED);
        if (was_read == 2) { /* the read completed before it was cancelled */
            CHECK_INT(coil_read_exact(stream, bytes, 1), 1);
            CHECK_INT(bytes[0], 'c');
        } else {
            CHECK_INT(was_read, -ECANCELED);
        }
        if (was_read < 0 && (when & 4)) {
            CHECK_INT(coil_read_exact(stream, bytes, 3), 3);
            CHECK(memcmp(bytes, "abc", 3) == 0);
        }
        coil_task_release(reader);
        CHECK_INT(write(peer, "z", 1), 1);
        CHECK_INT(coil_read(stream, bytes, sizeof bytes), 1);
        CHECK_INT(bytes[0], 'z');
        close(peer);
        coil_stream_destroy(stream);
    }
}

/*
 * While no task reads, the writer must be stopped by full buffers. In the end, all bytes
 * must arrive.
 */
RING_TEST(ring_lets_a_fast_writer_feel_a_slow_reader)
{
    enum { MOST = 4 << 20 };
    static char page[4096];
    size_t written = 0, got = 0;
    coil_stream *stream;
    char byte;
    ssize_t n;
    int peer, small = 16384;

    stream = make_stream_and_peer(&peer);
    receive_ahead(stream, peer);
    setsockopt(peer, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    setsockopt(coil_stream_fd(stream), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    fcntl(peer, F_SETFL, O_NONBLOCK);
    for (int idle = 0; idle < 20 && written < MOST;) {
        for (size_t i = 0; i < sizeof page; i++)
            page[i] = (char)pattern_byte(written + i);
        n = write(peer, page, sizeof page);
        idle = n > 0 ? 0 : idle + 1;
        written += n > 0 ? (size_t)n : 0;
        settle();
    }
    CHECK(written < MOST / 4);
    shutdown(peer, SHUT_WR);
    while ((n = coil_read(stream, &byte, 1)) == 1)
        if (byte != (char)pattern_byte(got++)) {
            CHECK_INT(got, 0);
            break;
        }
    CHECK_INT(n, 0);
    CHECK_INT(got, written);
    close(peer);
    coil_stream_destroy(stream);
}

/* ---- sending at once --------------------------------------------------------------- */

static size_t sends_that_waited(void)
{
    coil_stats stats;

    coil_stats_get(&stats);
    return (size_t)stats.operations_waited;
}

static int write_much(void *stream)
{
    static char page[65536];
    ssize_t n = 0;

    for (size_t written = 0; n >= 0 && written < 64 << 20; written += sizeof page)
        n = coil_write(stream, page, sizeof page);
    return (int)n;
}

/*
 * As long as the socket's buffer has room, bytes are sent with a system call. The rest is
 * sent later, and the wait can be cancelled.
 */
RING_TEST(ring_sends_at_once_while_there_is_room)
{
    const struct iovec parts[] = {{"de", 2}, {"f", 1}};
    size_t before = sends_that_waited();
    char back[7] = "";
    coil_stream *stream;
    coil_task *writer;
    int peer;

    stream = make_stream_and_peer(&peer);
    CHECK_INT(coil_write(stream, "ab", 2), 2);
    CHECK_INT(coil_write(stream, "c", 1), 1);
    CHECK_INT(coil_writev(stream, parts, 2), 3);
    CHECK_INT(sends_that_waited() - before, 0);
    CHECK_INT(recv(peer, back, 6, MSG_WAITALL), 6);
    CHECK_STR(back, "abcdef");
    CHECK_INT(coil_spawn(write_much, stream, NULL, &writer), 0);
    while (sends_that_waited() == before)
        settle();
    coil_task_cancel(writer, NULL);
    CHECK_INT(coil_task_await(writer), -ECANCELED);
    coil_task_release(writer);
    coil_stream_destroy(stream);
    close(peer);
}

/* There are more connections with unread bytes than the ring has buffers. */
RING_TEST(ring_whose_buffers_run_out)
{
    enum { PAIRS = 300, MESSAGES = 6, BYTES = 1500 };
    static struct {
        coil_stream *stream;
        int peer;
    } pairs[PAIRS];
    static char message[BYTES], back[BYTES];
    struct rlimit limit;

    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < 2 * PAIRS + 50)
        test_skip("the limit of descriptors is too low");
    for (int i = 0; i < PAIRS; i++) {
        pairs[i].stream = make_stream_and_peer(&pairs[i].peer);
        receive_ahead(pairs[i].stream, pairs[i].peer);
    }
    for (int m = 0; m < MESSAGES; m++) {
        for (int i = 0; i < PAIRS; i++) {
            memset(message, m * 16 + i % 16, sizeof message);
            CHECK_INT(write(pairs[i].peer, message, sizeof message), sizeof message);
        }
        settle();
    }
    for (int i = 0; i < PAIRS; i++) {
        for (int m = 0; m < MESSAGES; m++) {
            memset(message, m * 16 + i % 16, sizeof message);
            CHECK_INT(coil_read_exact(pairs[i].stream, back, sizeof back), sizeof back);
            CHECK(memcmp(back, message, sizeof back) == 0);
        }
        receive_ahead(pairs[i].stream, pairs[i].peer);
        coil_stream_destroy(pairs[i].stream);
        close(pairs[i].peer);
    }
}

/* The bytes that arrived before the end of the stream or a reset are read first. */
RING_TEST(ring_ends_a_stream_behind_its_bytes)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    coil_stream *stream;
    char bytes[64];
    int peer;

    stream = make_stream_and_peer(&peer);
    receive_ahead(stream, peer);
    CHECK_INT(write(peer, "last", 4), 4);
    close(peer);
    settle();
    CHECK_INT(coil_read(stream, bytes, 2), 2);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 2);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 0);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 0);
    coil_stream_destroy(stream);

    stream = make_stream_and_peer(&peer);
    receive_ahead(stream, peer);
    CHECK_INT(write(peer, "last", 4), 4);
    settle();
    setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(peer);
    settle();
    /* the kernel may have dropped the bytes */
    if (coil_read(stream, bytes, sizeof bytes) == 4)
        CHECK_INT(coil_read(stream, bytes, sizeof bytes), -ECONNRESET);
    coil_stream_destroy(stream);
}

static ssize_t receive_with(coil_stream *stream, void *buf, size_t n, int flags)
{
    return coil__op_await(&(struct coil__op){.kind = COIL__OP_RECV,
                                             .fd = coil_stream_fd(stream),
                                             .buf = buf,
                                             .len = n,
                                             .flags = flags});
}

/*
 * Peeks, large reads and recvmsg(2) return the bytes that were received ahead, in order.
 */
RING_TEST(ring_returns_bytes_received_ahead_to_all_kinds_of_reads)
{
    static char large[100000];
    struct iovec parts[2] = {{large, 2}, {large + 2, sizeof large - 2}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    coil_stream *stream;
    char bytes[64];
    int peer;

    stream = make_stream_and_peer(&peer);
    receive_ahead(stream, peer);
    CHECK_INT(write(peer, "abcdef", 6), 6);
    settle();
    CHECK_INT(receive_with(stream, bytes, 3, MSG_PEEK), 3);
    CHECK_INT(receive_with(stream, bytes, sizeof bytes, MSG_PEEK), 6);
    CHECK_INT(coil_read(stream, bytes, 1), 1);
    CHECK_INT(coil__op_await(&(struct coil__op){.kind = COIL__OP_RECVMSG,
                                                .fd = coil_stream_fd(stream),
                                                .buf = &message}),
              5);
    CHECK(memcmp(large, "bcdef", 5) == 0);
    for (int i = 0; i < 10; i++) { /* mix large reads and small reads */
        receive_ahead(stream, peer);
        CHECK_INT(write(peer, large, 50000), 50000);
        CHECK_INT(coil_read_exact(stream, large, 50000), 50000);
    }
    CHECK_INT(write(peer, "xyz", 3), 3);
    CHECK_INT(receive_with(stream, bytes, 3, MSG_WAITALL), 3);
    close(peer);
    coil_stream_destroy(stream);
}

static int do_wait_readable(void *arg)
{
    return coil_stream_wait_readable(arg);
}

/*
 * The first waits for readability use a poll; later ones wait until bytes were received
 * ahead. Some waits are cancelled. Every wait must end.
 */
RING_TEST(ring_waits_until_a_stream_is_readable)
{
    coil_stream *stream;
    int peer;
    char bytes[8];

    stream = make_stream_and_peer(&peer);
    for (int i = 0; i < 8; i++) {
        coil_task *task = test_spawn(do_wait_readable, stream);

        settle();
        if (i % 2 == 1) {
            coil_task_cancel(task, NULL);
            CHECK_INT(test_join(task), -ECANCELED);
            task = test_spawn(do_wait_readable, stream);
            settle();
        }
        CHECK_INT(write(peer, "abc", 3), 3);
        CHECK_INT(test_join(task), 0);
        CHECK_INT(coil_stream_wait_readable(stream), 0);
        CHECK_INT(coil_read(stream, bytes, 2), 2);
        CHECK_INT(coil_stream_wait_readable(stream), 0);
        CHECK_INT(coil_read(stream, bytes, sizeof bytes), 1);
        CHECK_INT(bytes[0], 'c');
    }
    coil_stream_destroy(stream);
    close(peer);
}

/*
 * If a packet is larger than the reader's buffer, the rest of the packet is discarded:
 * recv(2).
 */
RING_TEST(ring_keeps_packets_apart)
{
    struct coil__backend *backend = coil_loop_current()->backend;
    char bytes[64];
    int fds[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    CHECK_INT(backend->class->attach(backend, fds[0]), 0);
    for (int i = 0; i < 10; i++) {
        struct coil__op op = {
            .kind = COIL__OP_RECV, .fd = fds[0], .buf = bytes, .len = 2};

        CHECK_INT(send(fds[1], "abcdef", 6, 0), 6);
        CHECK_INT(coil__op_await(&op), 2);
        CHECK_INT(bytes[0], 'a');
    }
    backend->class->detach(backend, fds[0]);
    close(fds[0]);
    close(fds[1]);
}

/* Bytes that were received ahead for a stream move with the stream. */
RING_TEST(ring_keeps_bytes_received_ahead_for_a_stream_that_moves)
{
    struct coil__backend *backend = coil_loop_current()->backend;
    coil_stream *stream;
    char bytes[64];
    size_t ahead;
    int peer, error;

    stream = make_stream_and_peer(&peer);
    receive_ahead(stream, peer);
    CHECK_INT(write(peer, "abc", 3), 3);
    settle();
    ahead = backend->class->settle(backend, coil_stream_fd(stream), &error);
    CHECK(ahead == 0 || ahead == 3);
    CHECK_INT(write(peer, "def", 3), 3);
    settle();
    CHECK_INT(backend->class->settle(backend, coil_stream_fd(stream), &error), ahead);
    CHECK_INT(coil_read_exact(stream, bytes, 6), 6);
    CHECK(memcmp(bytes, "abcdef", 6) == 0);
    CHECK_INT(backend->class->settle(backend, 1 << 20, &error), 0);
    close(peer);
    coil_stream_destroy(stream);
}

/*
 * If the ring has received a reset before the stream moves, the next loop must report a
 * reset, not a normal end.
 */
RING_TEST(ring_moves_a_reset_behind_its_bytes)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    coil_stream *stream;
    char bytes[64];
    int peer;

    stream = make_stream_and_peer(&peer);
    receive_ahead(stream, peer);
    CHECK_INT(write(peer, "last", 4), 4);
    settle();
    setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(peer);
    settle();
    CHECK_INT(coil_stream_detach(stream), 0);
    CHECK_INT(coil_stream_attach(stream), 0);
    /* moved to the third loop while the bytes are unread */
    CHECK_INT(coil_stream_detach(stream), 0);
    CHECK_INT(coil_stream_attach(stream), 0);
    if (coil_read(stream, bytes, sizeof bytes) == 4)
        CHECK_INT(coil_read(stream, bytes, sizeof bytes), -ECONNRESET);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), -ECONNRESET);
    coil_stream_destroy(stream);
}

/* ---- calls that fail --------------------------------------------------------------- */

/*
 * Stop injecting failures. Returns true if the injected failure has occurred, which means
 * that there may be more calls to test.
 */
static bool struck(void)
{
    bool failed = coil_testing_failed() != NULL;

    coil_testing_fail_system_call(0, 0);
    coil_testing_fail_allocation(0);
    return failed;
}

/*
 * Detach and reattach a stream while a system call or allocation fails. No byte must be
 * lost. Returns false if there were fewer calls or allocations.
 */
static bool move_with(uint64_t call, int error, uint64_t allocation)
{
    coil_stream *stream;
    char bytes[64] = "";
    bool failed;
    int peer, rc;

    stream = make_stream_and_peer(&peer);
    receive_ahead(stream, peer);
    CHECK_INT(write(peer, "abc", 3), 3);
    settle();
    coil_testing_fail_system_call(call, error);
    coil_testing_fail_allocation(allocation);
    rc = coil_stream_detach(stream);
    if (rc == 0)
        rc = coil_stream_attach(stream);
    failed = struck();
    if (rc < 0) { /* the stream is on its old loop, or detached */
        rc = coil_stream_attach(stream);
        CHECK(rc == 0 || rc == -EBUSY);
    }
    CHECK_INT(write(peer, "def", 3), 3);
    CHECK_INT(coil_read_exact(stream, bytes, 6), 6);
    CHECK_STR(bytes, "abcdef");
    CHECK_INT(coil_stream_detach(stream), 0);
    CHECK_INT(coil_stream_attach(stream), 0);
    close(peer);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 0);
    coil_stream_destroy(stream);
    return failed;
}

RING_TEST(ring_moves_a_stream_whatever_fails)
{
    static const int errors[] = {0, EAGAIN, EBUSY, ENOMEM};
    bool more;

    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        more = true;
        for (uint64_t nth = 1; more && nth < 50; nth++)
            more = move_with(nth, errors[i], 0);
        CHECK(!more);
    }
    more = true;
    for (uint64_t nth = 1; more && nth < 50; nth++)
        more = move_with(0, 0, nth);
    CHECK(!more);
}

static int read_large(void *arg)
{
    static char large[100000];

    return (int)coil_read(arg, large, sizeof large);
}

static int read_small(void *arg)
{
    char bytes[64];

    return (int)coil_read(arg, bytes, sizeof bytes);
}

/*
 * Close a stream while a reader is waiting and a system call fails. Even so, the read and
 * the connection must end.
 */
static bool close_with(uint64_t call, int error, coil_task_fn reader)
{
    coil_stream *stream;
    coil_task *task;
    bool failed;
    char byte;
    int peer;

    stream = make_stream_and_peer(&peer);
    receive_ahead(stream, peer);
    CHECK_INT(coil_spawn(reader, stream, NULL, &task), 0);
    settle();
    coil_testing_fail_system_call(call, error);
    coil_stream_destroy(stream);
    failed = struck();
    CHECK_INT(coil_task_await(task), -EBADF);
    coil_task_release(task);
    CHECK_INT(read(peer, &byte, 1), 0); /* the connection has ended */
    close(peer);
    return failed;
}

RING_TEST(ring_closes_a_stream_whatever_fails)
{
    static const int errors[] = {0, EAGAIN, EBUSY, ENOMEM};
    bool more;

    for (size_t i = 0; i < 2 * sizeof errors / sizeof errors[0]; i++) {
        more = true;
        for (uint64_t nth = 1; more && nth < 50; nth++)
            more = close_with(nth, errors[i / 2], i % 2 == 0 ? read_small : read_large);
        CHECK(!more);
    }
}

/* ---- descriptors that do not wait by themselves ------------------------------------ */

static int read_eight(void *arg)
{
    uint64_t count;

    return (int)coil_read(arg, &count, sizeof count);
}

RING_TEST(ring_polls_for_what_does_not_wait)
{
    const uint64_t one = 1;
    coil_stream *stream;
    coil_task *task;
    int fd = eventfd(0, EFD_CLOEXEC), fds[2];

    CHECK_INT(coil_stream_adopt(fd, &stream), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_spawn(read_eight, stream, NULL, &task), 0);
        settle();
        if (i == 1)
            coil_task_cancel(task, NULL);
        else
            CHECK_INT(write(fd, &one, sizeof one), sizeof one);
        CHECK_INT(coil_task_await(task), i == 1 ? -ECANCELED : 8);
        coil_task_release(task);
    }
    coil_stream_destroy(stream);

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0); /* nobody reads */
    close(fds[0]);
    signal(SIGPIPE, SIG_DFL);
    CHECK_INT(coil_stream_adopt(fds[1], &stream), 0);
    CHECK_INT(coil_write(stream, "x", 1), -EPIPE);
    coil_stream_destroy(stream);
}

enum { WRITERS = 8 };

static int write_one(void *arg)
{
    return (int)coil_write(arg, "x", 1);
}

/*
 * All first writes are submitted in the same turn, before the kernel has refused any of
 * them.
 */
RING_TEST(ring_whose_first_writes_go_together)
{
    coil_stream *streams[WRITERS + 1];
    int fds[WRITERS + 1][2];
    coil_task *tasks[WRITERS + 1];

    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i <= WRITERS; i++) {
        CHECK_INT(pipe2(fds[i], O_CLOEXEC), 0);
        CHECK_INT(coil_stream_adopt(fds[i][1], &streams[i]), 0);
        CHECK_INT(coil_spawn(write_one, streams[i], NULL, &tasks[i]), 0);
    }
    close(fds[WRITERS][0]); /* this pipe has no reader */
    for (int i = 0; i <= WRITERS; i++) {
        CHECK_INT(coil_task_await(tasks[i]), i < WRITERS ? 1 : -EPIPE);
        coil_task_release(tasks[i]);
        coil_stream_destroy(streams[i]);
        if (i < WRITERS)
            close(fds[i][0]);
    }
}

/*
 * poll(2) always reports an unconnected sender as writable, even if the receiver's queue
 * is full. Even so, the loop must not spin.
 */
RING_TEST(ring_waits_for_a_full_queue_that_is_not_its_peers)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_name = &name,
                             .msg_namelen = sizeof(sa_family_t),
                             .msg_iov = &part,
                             .msg_iovlen = 1};
    struct coil__backend *backend = coil_loop_current()->backend;
    struct coil__op op = {.kind = COIL__OP_SENDMSG, .buf = &message};
    socklen_t length = sizeof name;
    int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    uint64_t before;
    coil_scope scope;
    coil_stats stats;
    char byte;

    CHECK_INT(bind(to, (struct sockaddr *)&name, sizeof(sa_family_t)), 0);
    CHECK_INT(getsockname(to, (struct sockaddr *)&name, &length), 0);
    message.msg_namelen = length;
    while (sendmsg(from, &message, 0) == 1)
        ;
    op.fd = from;
    CHECK_INT(backend->class->attach(backend, from), 0);
    coil_stats_get(&stats);
    before = stats.polls;
    coil_scope_enter(&scope, coil_in(COIL_MSEC(50)));
    CHECK_INT(coil_scope_exit(&scope, (int)coil__op_await(&op)), -ETIMEDOUT);
    coil_stats_get(&stats);
    CHECK(stats.polls - before < 200); /* the loop does not spin */

    CHECK_INT(read(to, &byte, 1), 1);
    CHECK_INT(coil__op_await(&op), 1);
    backend->class->detach(backend, from);
    close(from);
    close(to);
}

enum { SIXTEEN_MEGABYTES = 16 << 20 };

static int write_sixteen_megabytes(void *stream)
{
    return (int)coil_write(stream, test_memory(SIXTEEN_MEGABYTES), SIXTEEN_MEGABYTES);
}

/*
 * The peer has shut down its sending side, so the ring's polls end immediately. Even so,
 * the loop must not spin.
 */
RING_TEST(ring_waits_asleep_for_room_at_a_half_closed_peer)
{
    coil_stats before, after;
    coil_stream *ends[2];
    coil_task *task;

    make_stream_pair(ends);
    CHECK_INT(coil_stream_shutdown_write(ends[1]), 0);
    CHECK_INT(coil_spawn(write_sixteen_megabytes, ends[0], NULL, &task), 0);
    coil_sleep(COIL_MSEC(20));
    coil_stats_get(&before);
    coil_sleep(COIL_MSEC(100));
    coil_stats_get(&after);
    CHECK(after.polls - before.polls < 50);
    CHECK_INT(coil_read_exact(ends[1], test_memory(SIXTEEN_MEGABYTES), SIXTEEN_MEGABYTES),
              SIXTEEN_MEGABYTES);
    CHECK_INT(coil_task_await(task), SIXTEEN_MEGABYTES);
    coil_task_release(task);
    destroy_streams(ends);
}

/* ---- a kernel that lets us in no more ---------------------------------------------- */

static void note_completion(struct coil__op *op)
{
    *(bool *)op->owner = true;
}

/*
 * Detach a descriptor after entering a sandbox that forbids io_uring. The process cannot
 * leave the sandbox, so this must be the last step of a test.
 */
static void detach_while_shut_out(bool ahead)
{
    coil_loop *loop;
    const struct coil__backend_class *class;
    bool completed = false;
    char bytes[8] = "";
    struct coil__op op = {
        .kind = COIL__OP_RECV, .buf = bytes, .len = sizeof bytes, .owner = &completed};
    int fds[2], rc = coil_loop_create(&on_ring.loop, &loop);

    if (rc == -ENOSYS)
        test_skip("no io_uring here");
    class = loop->backend->class;
    make_tcp_pair(fds);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    CHECK_INT(class->attach(loop->backend, fds[0]), 0);
    op.complete = note_completion;
    op.fd = fds[0];
    for (int i = 0; ahead && i < 3; i++) {
        completed = false;
        CHECK_INT(class->submit(loop->backend, &op), -EINPROGRESS);
        CHECK_INT(write(fds[1], "-", 1), 1);
        while (!completed)
            CHECK_INT(class->poll(loop->backend, COIL_MSEC(100)), 0);
    }
    completed = false;
    bytes[0] = '\0';
    CHECK_INT(class->submit(loop->backend, &op), -EINPROGRESS);
    CHECK_INT(class->poll(loop->backend, 0), 0);
    forbid(SYS_io_uring_enter, SYS_io_uring_enter, EPERM);
    class->detach(loop->backend, fds[0]);
    CHECK(completed);
    CHECK_INT(op.result, -EBADF);
    CHECK_INT(write(fds[1], "late", 4), 4);
    CHECK_INT(class->poll(loop->backend, 0), -EPERM);
    CHECK_INT(bytes[0], '\0'); /* the kernel has written nothing */
    close(fds[0]);
    close(fds[1]);
    coil_loop_close(loop);
}

TEST(ring_that_is_shut_out_completes_what_the_kernel_does_not_touch)
{
    /*
     * Without these features, the kernel completes the request without io_uring_enter(2).
     */
    setenv("COIL_IO_URING_WITHOUT", "defer,coop", 1);
    detach_while_shut_out(false);
}

TEST(ring_that_is_shut_out_completes_what_it_receives_ahead)
{
    detach_while_shut_out(true);
}

static int pread_of_a_terminal(void *arg)
{
    static char bytes[8];
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    (void)arg;
    if (fd < 0)
        return -errno;
    return (int)coil__op_await(&(struct coil__op){
        .kind = COIL__OP_PREAD, .fd = fd, .buf = bytes, .len = sizeof bytes});
}

static int leaves_a_file_in_the_kernel(void *arg)
{
    (void)arg;
    CHECK_INT(coil_spawn(pread_of_a_terminal, NULL, NULL, NULL), 0);
    settle();
    forbid(SYS_io_uring_enter, SYS_io_uring_enter, EPERM);
    return 0;
}

static void run_into_the_sandbox(void *arg)
{
    coil_run(leaves_a_file_in_the_kernel, arg, &on_ring);
    _exit(0);
}

/* The program must abort, because the kernel might write to memory that is reused. */
TEST(ring_that_is_shut_out_with_a_file_in_the_kernel_stops_the_program)
{
    run_on_ring(end_at_once); /* skips the test without io_uring */
    test_dies(run_into_the_sandbox, NULL,
              "the kernel is still working on a file, and would write to freed memory");
}

/* ---- files ------------------------------------------------------------------------- */

static ssize_t file_op(struct coil__op op)
{
    return coil__op_await(&op);
}

static int file_ops(void *arg)
{
    char path[] = "/tmp/coil-ring-XXXXXX", other[64], bytes[8] = "";
    struct statx about;
    ssize_t fd;

    (void)arg;
    CHECK(mkdtemp(path) != NULL);
    snprintf(other, sizeof other, "%s/a", path);
    fd = file_op((struct coil__op){.kind = COIL__OP_OPEN,
                                   .fd = AT_FDCWD,
                                   .path = other,
                                   .flags = O_RDWR | O_CREAT,
                                   .mode = 0600});
    CHECK(fd >= 0);
    CHECK(fcntl((int)fd, F_GETFD) & FD_CLOEXEC);
    CHECK_INT(file_op((struct coil__op){
                  .kind = COIL__OP_PWRITE, .fd = (int)fd, .buf = "hello", .len = 5}),
              5);
    CHECK_INT(file_op((struct coil__op){.kind = COIL__OP_FSYNC, .fd = (int)fd}), 0);
    CHECK_INT(file_op((struct coil__op){.kind = COIL__OP_PREAD,
                                        .fd = (int)fd,
                                        .buf = bytes,
                                        .len = sizeof bytes,
                                        .offset = 1}),
              4);
    CHECK_STR(bytes, "ello");
    CHECK_INT(
        file_op((struct coil__op){
            .kind = COIL__OP_PREAD, .fd = (int)fd, .buf = bytes, .len = 1, .offset = -1}),
        -EOPNOTSUPP);
    CHECK_INT(file_op((struct coil__op){.kind = COIL__OP_STATX,
                                        .fd = AT_FDCWD,
                                        .path = other,
                                        .mode = STATX_SIZE,
                                        .buf = &about}),
              0);
    CHECK_INT(about.stx_size, 5);
    CHECK_INT(file_op((struct coil__op){.kind = COIL__OP_CLOSE, .fd = (int)fd}), 0);
    CHECK_INT(
        file_op((struct coil__op){.kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = path}),
        -EISDIR);
    CHECK_INT(file_op((struct coil__op){
                  .kind = COIL__OP_UNLINK, .fd = AT_FDCWD, .path = other}),
              0);
    CHECK_INT(rmdir(path), 0);
    return 0;
}

TEST(ring_does_files)
{
    on_each_way(file_ops);
}

static int open_to_read(void *path)
{
    return (int)file_op((struct coil__op){
        .kind = COIL__OP_OPEN, .fd = AT_FDCWD, .path = path, .flags = O_RDONLY});
}

/*
 * Cancel an operation that opens a FIFO without a writer: a worker thread of the kernel
 * waits until it is interrupted.
 */
RING_TEST(ring_ends_the_opening_of_a_fifo)
{
    char path[] = "/tmp/coil-ring-XXXXXX", fifo[64];
    coil_task *opening;

    CHECK(mkdtemp(path) != NULL);
    snprintf(fifo, sizeof fifo, "%s/fifo", path);
    CHECK_INT(mkfifo(fifo, 0600), 0);
    CHECK_INT(coil_spawn(open_to_read, fifo, NULL, &opening), 0);
    coil_sleep(COIL_MSEC(20));
    coil_task_cancel(opening, NULL);
    CHECK_INT(coil_task_await(opening), -ECANCELED);
    coil_task_release(opening);
    CHECK_INT(unlink(fifo), 0);
    CHECK_INT(rmdir(path), 0);
}

static int sleep_an_hour(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(3600));
}

static int file_ops_at_once(void *arg)
{
    coil_task *sleeper;

    CHECK_INT(coil_spawn(sleep_an_hour, NULL, NULL, &sleeper), 0);
    file_ops(arg);
    CHECK_INT(coil_now(), 0);
    coil_task_cancel(sleeper, NULL);
    coil_task_release(sleeper);
    return 0;
}

/*
 * The virtual clock must not advance while the kernel's worker threads perform
 * operations.
 */
TEST(ring_that_does_files_holds_a_virtual_clock)
{
    coil_run_opts opts = on_ring;
    int rc;

    opts.loop.virtual_clock = true;
    rc = coil_run(file_ops_at_once, NULL, &opts);
    if (rc == -ENOSYS)
        test_skip("no io_uring here");
    CHECK_INT(rc, 0);
}

static int wait_for_ever(void *arg)
{
    (void)arg;
    return coil_park();
}

static void stay_silent(const coil_exception *exception, void *arg)
{
    (void)exception, (void)arg;
}

/*
 * The kernel's worker threads are threads of this process, but they never post, so a
 * deadlock must still be detected.
 */
TEST(ring_with_idle_workers_does_not_hide_a_deadlock)
{
    coil_loop *loop;
    coil_task *task;
    int rc;

    if (COIL__TSAN)
        test_skip("TSan's own thread might post");
    rc = coil_loop_create(&on_ring.loop, &loop);
    if (rc == -ENOSYS)
        test_skip("no io_uring here");
    coil_set_exception_handler(stay_silent, NULL);
    CHECK_INT(coil_spawn(file_ops, NULL, NULL, &task), 0);
    CHECK_INT(coil_run_until_complete(coil_task_future(task)), 0);
    coil_task_release(task);
    CHECK_INT(coil_spawn(wait_for_ever, NULL, NULL, &task), 0);
    CHECK_INT(coil_loop_run_forever(loop), -EDEADLK);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_run_until_complete(coil_task_future(task)), -ECANCELED);
    coil_task_release(task);
    coil_loop_close(loop);
}

/* ---- forks, and loops that end ----------------------------------------------------- */

static int child_has_its_own(void)
{
    int rc = coil_run(say_backend, NULL, &on_ring);

    return rc == 0 && strcmp(test_trace_text(), "io_uring") == 0 ? 0 : 1;
}

RING_TEST(ring_stays_with_the_parent)
{
    char bytes[8];
    int peer, status = -1;
    coil_stream *stream = make_stream_and_peer(&peer);
    coil_task *reader;
    pid_t child;

    receive_ahead(stream, peer);
    CHECK_INT(coil_spawn(read_two, stream, NULL, &reader), 0);
    settle();
    fflush(NULL);
    child = fork();
    if (child == 0)
        _exit(child_has_its_own());
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(write(peer, "ab", 2), 2);
    CHECK_INT(coil_task_await(reader), 2);
    coil_task_release(reader);
    CHECK_INT(write(peer, "c", 1), 1);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 1);
    close(peer);
    coil_stream_destroy(stream);
}

struct left_behind {
    struct coil__op op;
    char bytes[8];
    int fds[2];
    bool ended;
};

static void end_left_behind(struct coil__op *op)
{
    COIL__CONTAINER(op, struct left_behind, op)->ended = true;
}

/* Return a loop with a read that is still in the kernel. */
static coil_loop *leave_behind(struct left_behind *l)
{
    struct coil__backend *backend;
    coil_loop *loop;

    if (coil_loop_create(&on_ring.loop, &loop) == -ENOSYS)
        test_skip("no io_uring here");
    backend = loop->backend;
    make_tcp_pair(l->fds);
    fcntl(l->fds[0], F_SETFL, O_NONBLOCK);
    CHECK_INT(backend->class->attach(backend, l->fds[0]), 0);
    l->op = (struct coil__op){.kind = COIL__OP_RECV,
                              .fd = l->fds[0],
                              .buf = l->bytes,
                              .len = sizeof l->bytes,
                              .complete = end_left_behind};
    l->ended = false;
    CHECK_INT(backend->class->submit(backend, &l->op), -EINPROGRESS);
    CHECK_INT(backend->class->poll(backend, 0), 0);
    return loop;
}

/*
 * When a loop is closed, it cancels its requests, so that the kernel does not write to
 * freed memory.
 */
TEST(ring_cancels_its_requests_when_the_loop_closes)
{
    struct left_behind l;
    coil_loop *loop = leave_behind(&l);

    coil_loop_close(loop);
    CHECK(!l.ended);
    CHECK_INT(write(l.fds[1], "x", 1), 1);
    CHECK_INT(recv(l.fds[0], l.bytes, sizeof l.bytes, 0), 1);
    close(l.fds[0]);
    close(l.fds[1]);
}

/* The program enters a sandbox after it has created a loop. */
TEST(ring_that_is_forbidden_later_ends_its_operations)
{
    struct left_behind l;
    coil_loop *loop = leave_behind(&l);

    forbid(SYS_io_uring_enter, SYS_io_uring_enter, EPERM);
    CHECK_INT(loop->backend->class->poll(loop->backend, COIL_SEC(10)), -EPERM);
    loop->backend->class->detach(loop->backend, l.fds[0]);
    CHECK(l.ended);
    CHECK_INT(l.op.result, -EBADF);
    coil_loop_close(loop);
    close(l.fds[0]);
    close(l.fds[1]);
}

/* ---- a ring that nobody needs ------------------------------------------------------ */

static bool ring_is_mapped(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;
    char line[512];

    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL)
        found = found || strstr(line, "[io_uring]") != NULL;
    fclose(maps);
    return found;
}

static int say_seven(void *arg)
{
    (void)arg;
    return 7;
}

RING_TEST(ring_is_mapped_for_the_first_operation)
{
    int fds[2];

    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, say_seven, NULL), 7);
    CHECK(!ring_is_mapped());
    make_tcp_pair(fds);
    coil_testing_fail_system_call(2, 0);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), -ENOMEM);
    CHECK(strstr(coil_testing_failed(), "mmap") != NULL);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(write(fds[1], "x", 1), 1);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), COIL_READABLE);
    CHECK(ring_is_mapped());
    CHECK_INT(coil_blocking(COIL_LANE_CPU, say_seven, NULL), 7);
    close(fds[0]);
    close(fds[1]);
}

/*
 * Sleep until the loop waits with its ring, and then sleep once more. The ring's timeouts
 * are more precise than those of ppoll(2).
 */
static int sleep_until_mapped(void *arg)
{
    (void)arg;
    while (!ring_is_mapped())
        CHECK_INT(coil_sleep(COIL_USEC(10)), 0);
    return coil_sleep(COIL_USEC(10));
}

TEST(ring_is_mapped_after_several_waits)
{
    on_each_way(sleep_until_mapped);
}
