/*
 * test_adopt.c - creating streams from descriptors that other code has opened, releasing
 * the descriptors of streams, and moving streams between loops.
 */
#include "../socket/sockets.h"

#include "../../harness/harness.h"
#include "../../../src/base/compiler.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static bool blocks(int fd)
{
    return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* ---- pipes and pairs --------------------------------------------------------------- */

static void check_one_way(coil_stream *from, coil_stream *to)
{
    char buf[16] = "";

    CHECK_INT(coil_write(from, "hello", 5), 5);
    CHECK_INT(coil_read(to, buf, sizeof buf), 5);
    CHECK_STR(buf, "hello");
}

IO_TEST(pipe_of_streams)
{
    coil_stream *ends[2];
    char buf[16];

    CHECK_INT(coil_pipe(ends), 0);
    check_one_way(ends[1], ends[0]);
    CHECK(fcntl(coil_stream_fd(ends[0]), F_GETFD) & FD_CLOEXEC);
    coil_stream_destroy(ends[1]);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 0);
    coil_stream_destroy(ends[0]);

    CHECK_INT(coil_pipe(ends), 0);
    coil_stream_destroy(ends[0]);
    CHECK_INT(coil_write(ends[1], "x", 1), -EPIPE);
    coil_stream_destroy(ends[1]);
}

/* Shutting down the writing end of a pipe closes it. (asyncio: write_eof()) */
IO_TEST(pipe_whose_writer_says_that_nothing_more_comes)
{
    coil_stream *ends[2];
    char buf[16];

    CHECK_INT(coil_pipe(ends), 0);
    CHECK_INT(coil_write(ends[1], "last", 4), 4);
    CHECK_INT(coil_stream_shutdown_write(ends[1]), 0);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 4);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 0);
    CHECK_INT(coil_write(ends[1], "x", 1), -EBADF);
    CHECK_INT(coil_stream_shutdown_write(ends[1]), -EBADF);
    CHECK_INT(coil_stream_fd(ends[1]), -1);
    coil_stream_destroy(ends[1]);
    coil_stream_destroy(ends[0]);
}

static int write_page(void *stream)
{
    static const char page[65536];

    return (int)coil_write(stream, page, sizeof page);
}

IO_TEST(pipe_is_not_shut_down_while_a_task_writes)
{
    coil_stream *ends[2];
    coil_task *task;

    CHECK_INT(coil_pipe(ends), 0);
    CHECK_INT(coil_write(ends[1], "x", 1), 1);
    CHECK_INT(coil_spawn(write_page, ends[1], NULL, &task), 0);
    settle();
    CHECK_INT(coil_stream_shutdown_write(ends[1]), -EBUSY);
    coil_stream_destroy(ends[0]);
    CHECK_INT(coil_task_await(task), -EPIPE);
    coil_task_release(task);
    coil_stream_destroy(ends[1]);
}

IO_TEST(pair_of_streams)
{
    coil_stream *ends[2];
    char buf[16];

    CHECK_INT(coil_stream_pair(ends), 0);
    check_one_way(ends[0], ends[1]);
    check_one_way(ends[1], ends[0]);
    CHECK_INT(coil_stream_shutdown_write(ends[0]), 0);
    CHECK_INT(coil_read(ends[1], buf, sizeof buf), 0);
    check_one_way(ends[1], ends[0]);
    coil_stream_destroy(ends[1]);
    coil_stream_destroy(ends[0]);
}

IO_TEST(pipe_and_pair_without_descriptors_or_memory)
{
    coil_stream *ends[2];
    int before, rc;

    if (test_under_valgrind())
        test_skip("valgrind's socketpair(2) has a different limit");
    before = limit_descriptors(1);
    CHECK_INT(coil_pipe(ends), -EMFILE);
    CHECK_INT(coil_stream_pair(ends), -EMFILE);
    restore_descriptors(before);
    for (int n = 1; n <= 2; n++) {
        test_fail_allocation(n);
        CHECK_INT(coil_pipe(ends), -ENOMEM);
        test_fail_allocation(n);
        CHECK_INT(coil_stream_pair(ends), -ENOMEM);
    }
    test_fail_allocation(0);
    for (int n = 1; n < 20; n++) {
        coil_testing_fail_system_call((uint64_t)n, 0);
        rc = coil_pipe(ends);
        if (rc < 0)
            continue;
        destroy_streams(ends);
    }
    coil_testing_fail_system_call(0, 0);
}

/* ---- whose flag it is -------------------------------------------------------------- */

/* Duplicates of the descriptors act as another program's copies. */
IO_TEST(adopted_pipe_still_blocks_for_others)
{
    coil_stream *reader, *writer;
    int fds[2], in, out;

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    in = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
    out = fcntl(fds[1], F_DUPFD_CLOEXEC, 0);
    CHECK_INT(coil_stream_adopt(fds[0], &reader), 0);
    CHECK_INT(coil_stream_adopt(fds[1], &writer), 0);
    CHECK(blocks(in) && blocks(out));
    CHECK(!blocks(coil_stream_fd(reader)) && !blocks(coil_stream_fd(writer)));
    CHECK_INT(coil_stream_fd(reader), fds[0]);
    CHECK(fcntl(fds[0], F_GETFD) & FD_CLOEXEC);
    check_one_way(writer, reader);
    coil_stream_destroy(reader);
    coil_stream_destroy(writer);
    CHECK(blocks(in) && blocks(out));
    close(in);
    close(out);
}

/* Both descriptors refer to the same pipe, as in "prog 2>&1 | less". */
IO_TEST(adopted_twice_one_is_closed_and_the_other_never_blocks)
{
    coil_stream *first, *second;
    int fds[2];

    CHECK_INT(pipe2(fds, 0), 0);
    int again = dup(fds[1]);
    CHECK_INT(coil_stream_adopt(fds[1], &first), 0);
    CHECK_INT(coil_stream_adopt(again, &second), 0);
    CHECK_INT(fcntl(again, F_GETFD), 0);
    coil_stream_destroy(first);
    CHECK(!blocks(again));
    CHECK_INT(coil_write(second, "x", 1), 1);
    coil_stream_destroy(second);
    close(fds[0]);
}

static int open_terminal(int *master)
{
    int terminal;

    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0 || grantpt(*master) < 0 || unlockpt(*master) < 0 ||
        (terminal = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
        close(*master);
        test_skip("no pseudo-terminals here");
    }
    return terminal;
}

static void check_is_not_shut_down(coil_stream *stream)
{
    CHECK_INT(coil_stream_shutdown_write(stream), -ENOTSOCK);
    CHECK(strstr(coil_error_message(coil_last_error()), "write end of a pipe") != NULL);
    CHECK(coil_stream_fd(stream) >= 0);
}

IO_TEST(shutdown_write_is_refused_where_there_is_no_write_end_of_its_own)
{
    char path[64];
    coil_stream *ends[2], *both, *typed;
    int master, terminal = open_terminal(&master), fifo;

    CHECK_INT(coil_pipe(ends), 0);
    check_is_not_shut_down(ends[0]);
    CHECK_INT(coil_stream_adopt(terminal, &typed), 0);
    check_is_not_shut_down(typed);
    snprintf(path, sizeof path, "/tmp/coil-fifo-%d", (int)getpid());
    CHECK_INT(mkfifo(path, 0600), 0);
    fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    unlink(path);
    CHECK_INT(coil_stream_adopt(fifo, &both), 0);
    check_is_not_shut_down(both);
    destroy_streams(ends);
    coil_stream_destroy(typed);
    coil_stream_destroy(both);
    close(master);
}

IO_TEST(adopted_terminal_still_blocks_for_others)
{
    int master, terminal = open_terminal(&master);
    int shells = fcntl(terminal, F_DUPFD_CLOEXEC, 0);
    coil_stream *stream;
    char buf[16];

    CHECK_INT(coil_stream_adopt(terminal, &stream), 0);
    CHECK(blocks(shells));
    CHECK_INT(write(master, "typed\n", 6), 6);
    CHECK_INT(coil_read(stream, buf, sizeof buf), 6);
    CHECK_INT(coil_write(stream, "shown", 5), 5);
    coil_stream_destroy(stream);
    CHECK(blocks(shells));
    close(shells);
    close(master);
}

/*
 * coil must not reopen the master of a pseudo-terminal, because that would create another
 * terminal.
 */
IO_TEST(adopted_master_blocks_again_when_closed)
{
    int master, terminal = open_terminal(&master), number = -1;
    int others = fcntl(master, F_DUPFD_CLOEXEC, 0), same = -2;
    coil_stream *stream;

    CHECK_INT(ioctl(others, TIOCGPTN, &number), 0);
    CHECK_INT(coil_stream_adopt(master, &stream), 0);
    CHECK_INT(ioctl(coil_stream_fd(stream), TIOCGPTN, &same), 0);
    CHECK_INT(same, number);
    CHECK(!blocks(others));
    coil_stream_destroy(stream);
    CHECK(blocks(others));
    close(others);
    close(terminal);
}

IO_TEST(adopted_and_refused_still_blocks)
{
    coil_stream *stream;
    int fds[2];

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    for (int n = 1;; n++) {
        int rc;

        coil_testing_fail_system_call((uint64_t)n, 0);
        rc = coil_stream_adopt(fds[0], &stream);
        if (rc == 0) {
            bool all = coil_testing_failed() == NULL;

            coil_testing_fail_system_call(0, 0);
            CHECK_INT(coil_stream_release_fd(stream), fds[0]);
            CHECK(blocks(fds[0]));
            if (all)
                break;
        } else {
            CHECK(blocks(fds[0]));
        }
    }
    close(fds[0]);
    close(fds[1]);
}

/* ---- giving the descriptor up ------------------------------------------------------ */

IO_TEST(release_fd_gives_a_descriptor_that_blocks_as_before)
{
    coil_stream *stream;
    const void *data;
    int fds[2];
    char buf[16];

    make_tcp_pair(fds);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    CHECK(!blocks(fds[0]));
    CHECK_INT(write(fds[1], "bytes", 5), 5);
    CHECK_INT(coil_peek(stream, &data, 1), 5);
    CHECK_INT(coil_stream_release_fd(stream), -EBUSY);
    coil_stream_consume(stream, 5);
    CHECK_INT(coil_stream_release_fd(stream), fds[0]);
    CHECK(blocks(fds[0]));
    CHECK_INT(write(fds[1], "again", 5), 5);
    CHECK_INT(read(fds[0], buf, sizeof buf), 5);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    CHECK_INT(coil_stream_close(stream), 0);
    CHECK_INT(coil_stream_release_fd(stream), -EBADF);
    coil_stream_destroy(stream);
    close(fds[1]);
}

static int do_read(void *arg)
{
    char byte;

    return (int)coil_read(arg, &byte, 1);
}

IO_TEST(release_fd_and_detach_while_a_task_reads)
{
    coil_stream *stream;
    coil_task *task;
    int peer;

    stream = make_stream_and_peer(&peer);
    CHECK_INT(coil_spawn(do_read, stream, NULL, &task), 0);
    settle();
    CHECK_INT(coil_stream_release_fd(stream), -EBUSY);
    CHECK_INT(coil_stream_detach(stream), -EBUSY);
    CHECK_INT(coil_stream_attach(stream), -EBUSY);
    CHECK_INT(write(peer, "x", 1), 1);
    CHECK_INT(coil_task_await(task), 1);
    coil_task_release(task);
    CHECK_INT(coil_stream_detach(stream), 0);
    CHECK_INT(coil_stream_detach(stream), -EBADF);
    CHECK_INT(coil_stream_release_fd(stream), -EBADF);
    CHECK_INT(coil_stream_attach(stream), 0);
    close(coil_stream_release_fd(stream));
    close(peer);
}

/* ---- to another loop --------------------------------------------------------------- */

struct moved {
    coil_stream *stream;
    const char *backend;
    char line[64];
    ssize_t rc;
};

static int use_elsewhere(void *arg)
{
    struct moved *m = arg;

    m->rc = coil_stream_attach(m->stream);
    if (m->rc == 0)
        m->rc = coil_read_line(m->stream, m->line, sizeof m->line);
    if (m->rc > 0)
        m->rc = coil_write(m->stream, m->line, (size_t)m->rc);
    return m->rc >= 0 ? coil_stream_detach(m->stream) : (int)m->rc;
}

static void *run_elsewhere(void *arg)
{
    struct moved *m = arg;
    coil_run_opts opts = {.loop.backend = m->backend, .no_signals = true};
    int rc = coil_run(use_elsewhere, m, &opts);

    return rc < 0 ? "failed" : NULL;
}

/*
 * The first half of a line is read ahead on this loop, and the other half is received on
 * another loop.
 */
IO_TEST(detach_and_attach_in_another_thread)
{
    struct moved m = {.backend = coil_backend_name()};
    const void *data;
    void *failure;
    pthread_t thread;
    char buf[64] = "";
    int peer;

    m.stream = make_stream_and_peer(&peer);
    CHECK_INT(write(peer, "half a ", 7), 7);
    CHECK_INT(coil_peek(m.stream, &data, 7), 7);
    CHECK_INT(write(peer, "line", 4), 4);
    CHECK_INT(coil_stream_detach(m.stream), 0);
    CHECK_INT(write(peer, "\nmore", 5), 5);
    CHECK_INT(pthread_create(&thread, NULL, run_elsewhere, &m), 0);
    pthread_join(thread, &failure);
    CHECK(failure == NULL);
    CHECK_STR(m.line, "half a line");
    CHECK_INT(coil_stream_attach(m.stream), 0);
    CHECK_INT(coil_read(m.stream, buf, sizeof buf), 4);
    CHECK_STR(buf, "more");
    CHECK_INT(read(peer, buf, sizeof buf), 11);
    CHECK_INT(write(peer, "x", 1), 1);
    CHECK_INT(coil_read(m.stream, buf, sizeof buf), 1);
    coil_stream_destroy(m.stream);
    close(peer);
}

static void *destroy_elsewhere(void *arg)
{
    coil_stream_destroy(arg);
    return NULL;
}

IO_TEST(detached_stream_is_destroyed_anywhere)
{
    coil_stream *stream;
    pthread_t thread;
    int peer;
    char byte;

    stream = make_stream_and_peer(&peer);
    CHECK_INT(coil_stream_detach(stream), 0);
    CHECK_INT(pthread_create(&thread, NULL, destroy_elsewhere, stream), 0);
    pthread_join(thread, NULL);
    CHECK_INT(read(peer, &byte, 1), 0);
    close(peer);

    stream = make_stream_and_peer(&peer);
    CHECK_INT(coil_stream_detach(stream), 0);
    CHECK_INT(coil_stream_close(stream), 0);
    CHECK_INT(coil_stream_attach(stream), -EBADF);
    coil_stream_destroy(stream);
    close(peer);
}

static void read_detached(void *arg)
{
    char byte;

    coil_read(arg, &byte, 1);
}

IO_TEST(detached_stream_may_not_be_read)
{
    coil_stream *stream;
    int peer;

    stream = make_stream_and_peer(&peer);
    CHECK_INT(coil_stream_detach(stream), 0);
    test_dies(read_detached, stream, "the object is detached");
    coil_stream_destroy(stream);
    close(peer);
}

IO_TEST(attach_without_memory_leaves_it_detached)
{
    coil_stream *stream;
    int peer;

    stream = make_stream_and_peer(&peer);
    CHECK_INT(coil_stream_detach(stream), 0);
    coil_testing_fail_system_call(1, 0);
    if (coil_stream_attach(stream) < 0) {
        coil_testing_fail_system_call(0, 0);
        CHECK_INT(coil_stream_attach(stream), 0);
    }
    coil_testing_fail_system_call(0, 0);
    coil_stream_destroy(stream);
    close(peer);
}

/*
 * A socket that preserves message boundaries is refused, because a stream would truncate
 * its messages. (asyncio raises ValueError, "A Stream Socket was expected".)
 */
IO_TEST(adopt_refuses_sockets_of_messages)
{
    const int types[] = {SOCK_DGRAM, SOCK_SEQPACKET};
    coil_stream *stream;
    coil_datagram *datagram;
    int fds[2];

    for (int i = 0; i < 2; i++) {
        CHECK_INT(socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, fds), 0);
        CHECK_INT(coil_stream_adopt(fds[0], &stream), -EPROTOTYPE);
        CHECK(stream == NULL);
        CHECK((fcntl(fds[0], F_GETFL) & O_NONBLOCK) == 0);
        close(fds[0]);
        close(fds[1]);
    }
    fds[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), -EPROTOTYPE);
    CHECK_INT(coil_datagram_adopt(fds[0], &datagram), 0);
    coil_datagram_destroy(datagram);
}
