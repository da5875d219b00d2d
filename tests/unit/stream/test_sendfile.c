/*
 * test_sendfile.c - sending files to streams: whole files, parts of files, and files that
 * change during the call.
 */
#include "../socket/sockets.h"
#include "transfer.h"

#include "../../harness/harness.h"

#include <errno.h>
#include <sys/socket.h>
#include <pthread.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE ((size_t)3 * 1024 * 1024 + 12345)

/* Create an unnamed file with `size` bytes of the pattern. */
static int make_file(size_t size)
{
    char name[] = "/tmp/coil-sendfile-XXXXXX";
    int fd = mkostemp(name, O_CLOEXEC);
    unsigned char *bytes = malloc(size + 1);

    for (size_t i = 0; i < size; i++)
        bytes[i] = pattern_byte(i);
    unlink(name);
    CHECK_INT(pwrite(fd, bytes, size, 0), size);
    free(bytes);
    return fd;
}

struct receiving {
    coil_stream *stream;
    size_t from; /* offset in the file */
    size_t count, wrong;
};

static int receive_all(void *arg)
{
    struct receiving *r = arg;
    static unsigned char bytes[65536];
    ssize_t n;

    while ((n = coil_read(r->stream, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            r->wrong += bytes[i] != pattern_byte(r->from + r->count + (size_t)i);
        r->count += (size_t)n;
    }
    return (int)n;
}

static coil_task *start_receiving(struct receiving *r)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(receive_all, r, NULL, &task), 0);
    return task;
}

/*
 * Return true if coil_sendfile() calls sendfile(2) for a stream created by make_pair().
 * To find out, the test makes each system call fail in turn, until the failed call is
 * sendfile(2) or coil_sendfile() succeeds.
 */
static bool uses_sendfile(int make_pair(coil_stream *ends[2]), int fd)
{
    const char *name = "";

    for (uint64_t n = 1; name != NULL && strncmp(name, "sendfile", 8) != 0; n++) {
        coil_stream *ends[2];

        CHECK_INT(make_pair(ends), 0);
        coil_testing_fail_system_call(n, 0);
        coil_sendfile(ends[1], fd, &(int64_t){0}, 1000);
        name = coil_testing_failed();
        coil_testing_fail_system_call(0, 0);
        destroy_streams(ends);
    }
    return name != NULL;
}

static int tcp_pair(coil_stream *ends[2])
{
    make_stream_pair(ends);
    return 0;
}

/* A file is sent to sockets with sendfile(2), and to pipes through a buffer. */
IO_TEST(sendfile_makes_the_system_call)
{
    int fd = make_file(1000);
    char bytes[1000];

    /* reads the file into the page cache */
    CHECK_INT(pread(fd, bytes, sizeof bytes, 0), sizeof bytes);
    CHECK(uses_sendfile(tcp_pair, fd));
    CHECK(uses_sendfile(coil_stream_pair, fd));
    CHECK(!uses_sendfile(coil_pipe, fd));
    close(fd);
}

static void send_whole(coil_stream *from, coil_stream *to)
{
    struct receiving r = {.stream = to};
    coil_task *task = start_receiving(&r);
    int fd = make_file(SIZE);
    int64_t offset = 0;

    CHECK_INT(coil_sendfile(from, fd, &offset, SIZE_MAX), SIZE);
    CHECK_INT(offset, SIZE);
    CHECK_INT(coil_stream_write_transferred(from), SIZE);
    CHECK_INT(lseek(fd, 0, SEEK_CUR), 0);
    /* the offset is now at the end of the file */
    CHECK_INT(coil_sendfile(from, fd, &offset, SIZE_MAX), 0);
    coil_stream_destroy(from);
    finish(task);
    CHECK_INT(r.count, SIZE);
    CHECK_INT(r.wrong, 0);
    coil_stream_destroy(to);
    close(fd);
}

IO_TEST(sendfile_whole_to_tcp)
{
    coil_stream *ends[2];

    make_stream_pair(ends);
    send_whole(ends[0], ends[1]);
}

/* Make sendfile(2) fail with EIO in this process, which runs only this test. */
static void refuse_sendfile(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendfile, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        test_skip("no seccomp here");
}

/*
 * If coil_sendfile() did not use sendfile(2), but read and wrote the bytes itself, it
 * would not fail with EIO.
 */
IO_TEST(sendfile_copies_nothing_itself)
{
    int fd = make_file(SIZE);
    coil_stream *ends[2];
    int64_t offset = 0;

    make_stream_pair(ends);
    refuse_sendfile();
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, SIZE_MAX), -EIO);
    destroy_streams(ends);
    close(fd);
}

/* A memfd has no name, and all its pages are in the page cache. */
IO_TEST(sendfile_from_memory)
{
    int fd = memfd_create("bytes", MFD_CLOEXEC);
    coil_stream *ends[2];
    int64_t offset = 0;
    char bytes[6] = "";

    CHECK_INT(write(fd, "bytes", 5), 5);
    make_stream_pair(ends);
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, SIZE_MAX), 5);
    CHECK_INT(coil_read_exact(ends[1], bytes, 5), 5);
    CHECK_STR(bytes, "bytes");
    destroy_streams(ends);
    close(fd);
}

IO_TEST(sendfile_whole_to_a_local_socket)
{
    coil_stream *ends[2];

    CHECK_INT(coil_stream_pair(ends), 0);
    send_whole(ends[0], ends[1]);
}

IO_TEST(sendfile_whole_to_a_pipe)
{
    coil_stream *ends[2];

    CHECK_INT(coil_pipe(ends), 0);
    send_whole(ends[1], ends[0]);
}

IO_TEST(sendfile_part_between_other_writes)
{
    coil_stream *ends[2];
    struct receiving r = {.from = 1000};
    int fd = make_file(SIZE);
    int64_t offset = 1000;
    coil_task *task;
    char head[4];

    make_stream_pair(ends);
    r.stream = ends[1];
    CHECK_INT(coil_write(ends[0], "head", 4), 4);
    CHECK_INT(coil_read_exact(ends[1], head, 4), 4);
    task = start_receiving(&r);
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, 500000), 500000);
    CHECK_INT(offset, 501000);
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, 0), 0);
    /* Without an offset, coil_sendfile() uses the file's own position. */
    CHECK_INT(lseek(fd, offset, SEEK_SET), offset);
    CHECK_INT(coil_sendfile(ends[0], fd, NULL, 1234), 1234);
    CHECK_INT(lseek(fd, 0, SEEK_CUR), offset + 1234);
    coil_stream_destroy(ends[0]);
    finish(task);
    CHECK_INT(r.count, 501234);
    CHECK_INT(r.wrong, 0);
    coil_stream_destroy(ends[1]);
    close(fd);
}

IO_TEST(sendfile_from_behind_the_end_and_of_nothing)
{
    coil_stream *ends[2];
    int fd = make_file(10), empty = make_file(0);
    int64_t offset = 10;

    make_stream_pair(ends);
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, 5), 0);
    offset = INT64_MAX;
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, SIZE_MAX), 0);
    offset = 0;
    CHECK_INT(coil_sendfile(ends[0], empty, &offset, SIZE_MAX), 0);
    destroy_streams(ends);
    close(fd);
    close(empty);
}

IO_TEST(sendfile_of_what_is_no_file)
{
    coil_stream *ends[2];
    int pipes[2], fd = make_file(10);
    int64_t offset = 0;

    make_stream_pair(ends);
    CHECK_INT(pipe2(pipes, O_CLOEXEC), 0);
    CHECK_INT(coil_sendfile(ends[0], pipes[0], &offset, 5), -EINVAL);
    CHECK_INT(coil_sendfile(ends[0], -1, &offset, 5), -EBADF);
    offset = -1;
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, 5), -EINVAL);
    coil_stream_close(ends[0]);
    offset = 0;
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, 5), -EBADF);
    destroy_streams(ends);
    close(fd);
    close(pipes[0]);
    close(pipes[1]);
}

/* ---- while it goes on -------------------------------------------------------------- */

/*
 * Start a task that sends a file that is larger than all buffers, so that it has to wait.
 */
static coil_task *start_sending(struct sending *s, coil_stream *ends[2])
{
    coil_task *task = NULL;

    make_stream_pair(ends);
    *s = (struct sending){.stream = ends[0], .fd = make_file((size_t)24 << 20)};
    CHECK_INT(coil_spawn(do_sendfile, s, NULL, &task), 0);
    for (size_t before = 1; before != coil_stream_write_transferred(ends[0]);) {
        before = coil_stream_write_transferred(ends[0]);
        coil_sleep(COIL_MSEC(2));
    }
    CHECK(!s->ended);
    return task;
}

IO_TEST(sendfile_cancelled_tells_how_far_it_came)
{
    coil_stream *ends[2];
    struct sending s;
    coil_task *task = start_sending(&s, ends);
    struct receiving r = {.stream = ends[1]};

    CHECK_INT(coil_write(ends[0], "x", 1), -EBUSY);
    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(s.result, -ECANCELED);
    CHECK_INT(s.offset, coil_stream_write_transferred(ends[0]));
    coil_stream_destroy(ends[0]);
    CHECK_INT(receive_all(&r), 0);
    CHECK_INT(r.count, s.offset);
    CHECK_INT(r.wrong, 0);
    coil_stream_destroy(ends[1]);
    close(s.fd);
}

IO_TEST(sendfile_is_woken_by_close)
{
    coil_stream *ends[2];
    struct sending s;
    coil_task *task = start_sending(&s, ends);

    coil_stream_destroy(ends[0]);
    finish(task);
    CHECK_INT(s.result, -EBADF);
    coil_stream_destroy(ends[1]);
    close(s.fd);
}

/* If the peer disconnects, the call must return an error without raising SIGPIPE. */
IO_TEST(sendfile_to_a_peer_that_goes)
{
    coil_stream *ends[2];
    struct sending s;
    coil_task *task = start_sending(&s, ends);

    coil_stream_destroy(ends[1]);
    finish(task);
    CHECK(s.result == -EPIPE || s.result == -ECONNRESET);
    CHECK(coil_sendfile(ends[0], s.fd, &s.offset, 10) < 0);
    coil_stream_destroy(ends[0]);
    close(s.fd);
}

IO_TEST(sendfile_of_a_file_that_shrinks)
{
    coil_stream *ends[2];
    struct sending s;
    coil_task *task = start_sending(&s, ends);
    struct receiving r = {.stream = ends[1]};
    coil_task *reader;

    CHECK_INT(ftruncate(s.fd, 1000), 0);
    reader = start_receiving(&r);
    finish(task);
    CHECK(s.result > 1000 && s.result < (ssize_t)24 << 20);
    CHECK_INT(s.offset, s.result);
    coil_stream_destroy(ends[0]);
    finish(reader);
    /* bytes in flight may be zeros, the file's new contents */
    CHECK_INT(r.count, s.result);
    coil_stream_destroy(ends[1]);
    close(s.fd);
}

/*
 * Data that is not in the page cache must be read on a thread, because waiting for the
 * disk would block the loop.
 */
IO_TEST(sendfile_of_a_file_that_is_not_cached)
{
    coil_stream *ends[2];
    struct receiving r = {.from = 0};
    int fd = make_file(SIZE);
    int64_t offset = 0;
    coil_task *task;

    make_stream_pair(ends);
    r.stream = ends[1];
    task = start_receiving(&r);
    CHECK_INT(fdatasync(fd), 0);
    CHECK_INT(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    CHECK_INT(coil_sendfile(ends[0], fd, &offset, SIZE_MAX), SIZE);
    coil_stream_destroy(ends[0]);
    finish(task);
    CHECK_INT(r.count, SIZE);
    CHECK_INT(r.wrong, 0);
    coil_stream_destroy(ends[1]);
    close(fd);
}

/*
 * Return true if the page of byte `at` is in the page cache. Unlike reading the byte,
 * this check does not load the page.
 */
static bool is_in_cache(int fd, size_t at)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map = mmap(NULL, at + 1, PROT_READ, MAP_SHARED, fd, 0);
    unsigned char there = 0;

    CHECK_INT(mincore((char *)map + at / page * page, 1, &there), 0);
    CHECK_INT(munmap(map, at + 1), 0);
    return there & 1;
}

/*
 * Evict the file from the page cache, except for its first page. Returns false if the
 * last page is still in the cache.
 */
static bool cache_first_page(int fd, size_t size)
{
    char byte;

    CHECK_INT(fdatasync(fd), 0);
    CHECK_INT(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0); /* no read-ahead */
    CHECK_INT(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    CHECK_INT(pread(fd, &byte, 1, 0), 1);
    return is_in_cache(fd, 0) && !is_in_cache(fd, size - 1);
}

/*
 * Send the file, and make the n-th system call fail. Returns the name of that call, or
 * NULL if there were fewer calls or the page cache was not in the required state.
 */
static const char *nth_call(uint64_t n, int fd, size_t size)
{
    bool ready = false;
    const char *name = NULL;
    coil_stream *ends[2];

    make_stream_pair(ends);
    for (int tries = 0; !ready && tries < 100; tries++) {
        if (tries > 0)
            coil_sleep(COIL_MSEC(1));
        ready = cache_first_page(fd, size);
    }
    if (ready) {
        coil_testing_fail_system_call(n, 0);
        coil_sendfile(ends[0], fd, &(int64_t){0}, SIZE_MAX);
        name = coil_testing_failed();
        coil_testing_fail_system_call(0, 0);
    }
    destroy_streams(ends);
    return name;
}

/*
 * Return the name of the first system call after the probes of the page cache (preadv2).
 */
static const char *call_after_probes(int fd, size_t size)
{
    const char *name = "";

    for (uint64_t n = 1, probes = 0; name != NULL && probes < 3; n++) {
        name = nth_call(n, fd, size);
        if (name != NULL && strncmp(name, "preadv2", 7) == 0)
            probes++;
        else if (name != NULL && probes > 0)
            break;
    }
    return name;
}

/*
 * The requested count ends beyond the file, so coil must check whether the file's last
 * byte is in the page cache. The byte is not, so coil must read the data itself, because
 * sendfile(2) would wait for the disk. A probe may make the kernel load the page. In that
 * case coil calls sendfile(2), and the test is repeated.
 */
IO_TEST(sendfile_reads_a_last_piece_that_is_not_cached)
{
    enum { SMALL = 20000 };
    int fd = make_file(SMALL);
    const char *name = "sendfile";

    for (int i = 0; i < 20 && name != NULL && strncmp(name, "sendfile", 8) == 0; i++)
        name = call_after_probes(fd, SMALL);
    close(fd);
    if (name == NULL)
        test_skip("the page cache is not in the required state");
    CHECK(strncmp(name, "sendfile", 8) != 0);
}

/*
 * If a system call or an allocation fails, coil_sendfile() must return an error or the
 * usual result.
 */
IO_TEST(sendfile_with_each_call_and_allocation_failing)
{
    for (int kind = 0; kind < 2; kind++)
        for (int n = 1, failed = 1; failed && n < 200; n++) {
            int64_t offset = 0;
            coil_stream *ends[2];
            int fd = make_file(100000);
            char byte;
            ssize_t sent;

            make_stream_pair(ends);
            coil_testing_fail_system_call(kind == 0 ? (uint64_t)n : 0, 0);
            coil_testing_fail_allocation(kind == 0 ? 0 : (uint64_t)n);
            sent = coil_sendfile(ends[0], fd, &offset, 100000);
            failed = coil_testing_failed() != NULL;
            coil_testing_fail_system_call(0, 0);
            coil_testing_fail_allocation(0);
            CHECK(sent == 100000 || (sent < 0 && offset < 100000));
            CHECK_INT(coil_stream_write_transferred(ends[0]), offset);
            if (offset > 0)
                CHECK_INT(coil_read(ends[1], &byte, 1), 1);
            destroy_streams(ends);
            close(fd);
        }
}

static void *read_some_and_leave(void *arg)
{
    int *end = arg;
    char bytes[20000];

    for (int n = *end % 6; n > 0; n--)
        if (read(*end, bytes, sizeof bytes) < 0)
            break;
    close(*end);
    return NULL;
}

/*
 * If the peer disconnects during a call of sendfile(2), the call returns a count, but
 * also raises SIGPIPE, which coil must suppress.
 */
IO_TEST(sendfile_to_a_peer_that_leaves_meanwhile_raises_no_signal)
{
    int fd = make_file(600000);

    for (int i = 0; i < 500; i++) {
        int64_t offset = 0;
        coil_stream *stream;
        pthread_t peer;
        int fds[2];
        ssize_t sent;

        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
        CHECK_INT(pthread_create(&peer, NULL, read_some_and_leave, &fds[1]), 0);
        sent = coil_sendfile(stream, fd, &offset, 600000);
        CHECK(sent == -EPIPE || sent == -ECONNRESET);
        CHECK_INT(pthread_join(peer, NULL), 0);
        coil_stream_destroy(stream);
    }
    close(fd);
}
