/*
 * test_tls_streams.c - TLS with other kinds of streams and calls: local sockets, files,
 * vectors, other threads, and bytes that arrive with the end of the handshake.
 */
#include "certificates.h"
#include "../socket/sockets.h"
#include "../stream/transfer.h"

#include "../../harness/harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct ends {
    struct certificates files;
    coil_tls *server_tls, *client_tls;
    coil_stream *client, *server;
};

static struct ends *make_contexts(void)
{
    struct ends *e = calloc(1, sizeof *e);

    certificates_make(&e->files);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.certificate_file = e->files.server},
                              &e->server_tls),
              0);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = e->files.root}, &e->client_tls),
              0);
    return e;
}

static int accept_it(void *arg)
{
    struct ends *e = arg;

    return coil_accept_tls(e->server, e->server_tls);
}

/* Perform the handshake on two connected streams, and return both ends. */
static struct ends *speak_tls(coil_stream *streams[2])
{
    struct ends *e = make_contexts();
    coil_task *task;

    e->client = streams[0];
    e->server = streams[1];
    CHECK_INT(coil_spawn(accept_it, e, NULL, &task), 0);
    CHECK_INT(coil_start_tls(e->client, e->client_tls, "localhost"), 0);
    finish(task);
    return e;
}

static void close_ends(struct ends *e)
{
    coil_stream_destroy(e->client);
    coil_stream_destroy(e->server);
    coil_tls_release(e->server_tls);
    coil_tls_release(e->client_tls);
    certificates_remove(&e->files);
    free(e);
}

struct receiving {
    coil_stream *stream;
    size_t count, wrong;
};

static int receive_all(void *arg)
{
    struct receiving *r = arg;
    unsigned char bytes[4096];
    ssize_t n;

    while ((n = coil_read(r->stream, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < n; i++)
            r->wrong += bytes[i] != pattern_byte(r->count++);
    return (int)n;
}

static unsigned char *make_pattern(size_t size)
{
    unsigned char *bytes = malloc(size);

    for (size_t i = 0; i < size; i++)
        bytes[i] = pattern_byte(i);
    return bytes;
}

/* Shut down the client's writing side, and check the bytes that the peer has received. */
static void check_received(struct ends *e, coil_task *task, struct receiving *r,
                           size_t size)
{
    CHECK_INT(coil_stream_shutdown_write(e->client), 0);
    finish(task);
    CHECK_INT(r->count, size);
    CHECK_INT(r->wrong, 0);
}

IO_TEST(tls_over_a_local_socket)
{
    size_t size = 1024 * 1024;
    unsigned char *bytes = make_pattern(size);
    coil_stream *streams[2];
    coil_task *task;

    CHECK_INT(coil_stream_pair(streams), 0);
    struct ends *e = speak_tls(streams);
    struct receiving r = {.stream = e->server};
    CHECK_INT(coil_spawn(receive_all, &r, NULL, &task), 0);
    CHECK_INT(coil_write(e->client, bytes, size), size);
    check_received(e, task, &r, size);
    CHECK_INT(coil_write(e->server, "thanks", 6), 6);
    CHECK_INT(coil_read(e->client, bytes, size), 6);
    close_ends(e);
    free(bytes);
}

NET_TEST(tls_writes_parts)
{
    size_t size = 300000;
    unsigned char *bytes = make_pattern(size);
    struct iovec parts[] = {{bytes, 1},
                            {bytes + 1, 0},
                            {bytes + 1, 70000},
                            {bytes + 70001, size - 70002},
                            {bytes + size - 1, 1}};
    coil_stream *streams[2];
    coil_task *task;

    connect_streams(streams);
    struct ends *e = speak_tls(streams);
    struct receiving r = {.stream = e->server};
    CHECK_INT(coil_spawn(receive_all, &r, NULL, &task), 0);
    CHECK_INT(coil_writev(e->client, parts, 5), size);
    CHECK_INT(coil_stream_write_transferred(e->client), size);
    check_received(e, task, &r, size);
    close_ends(e);
    free(bytes);
}

/* Files can be sent between other writes, and from an offset. */
IO_TEST(tls_sends_parts_of_files_between_writes)
{
    size_t size = 500000;
    unsigned char *bytes = make_pattern(size);
    int fd = memfd_create("file", MFD_CLOEXEC);
    int64_t offset = 1000;
    coil_stream *streams[2];
    coil_task *task;

    CHECK_INT(pwrite(fd, bytes, size, 0), size);
    make_stream_pair(streams);
    struct ends *e = speak_tls(streams);
    struct receiving r = {.stream = e->server};
    CHECK_INT(coil_spawn(receive_all, &r, NULL, &task), 0);
    CHECK_INT(coil_write(e->client, bytes, 1000), 1000);
    CHECK_INT(coil_sendfile(e->client, fd, &offset, 399000), 399000);
    CHECK_INT(offset, 400000);
    CHECK_INT(coil_write(e->client, bytes + 400000, 50000), 50000);
    offset = 450000;
    CHECK_INT(coil_sendfile(e->client, fd, &offset, SIZE_MAX), 50000);
    CHECK_INT(coil_sendfile(e->client, fd, &offset, SIZE_MAX), 0);
    check_received(e, task, &r, size);
    close_ends(e);
    close(fd);
    free(bytes);
}

static int sends_much(void *arg)
{
    struct ends *e = arg;
    char bytes[4096] = "";
    ssize_t n = 0;

    /*
     * Write until there is an error, which must happen soon, because the kernel's buffers
     * hold only a few megabytes.
     */
    for (int i = 0; i < 100000 && n >= 0; i++)
        n = coil_write(e->client, bytes, sizeof bytes);
    return (int)n;
}

/*
 * A write must end if the peer disconnects while the writer is waiting, or before it
 * writes.
 */
NET_TEST(tls_writing_to_a_peer_that_left_ends)
{
    coil_stream *streams[2];
    coil_task *task;
    int rc;

    connect_streams(streams);
    struct ends *e = speak_tls(streams);
    CHECK_INT(coil_spawn(sends_much, e, NULL, &task), 0);
    settle();
    coil_stream_destroy(e->server);
    e->server = NULL;
    rc = coil_task_await(task);
    coil_task_release(task);
    CHECK(rc == -EPIPE || rc == -ECONNRESET);
    CHECK(coil_write(e->client, "x", 1) < 0);
    close_ends(e);
}

/* ---- given up and taken up again --------------------------------------------------- */

struct interrupted {
    coil_stream *stream;
    int fd;
    unsigned char *bytes;
    size_t size;
    int64_t offset;
    ssize_t result;
};

static int send_file(void *arg)
{
    struct interrupted *s = arg;

    s->result = coil_sendfile(s->stream, s->fd, &s->offset, SIZE_MAX);
    return 0;
}

static int send_parts(void *arg)
{
    struct interrupted *s = arg;
    size_t from = (size_t)s->offset, middle = from + (s->size - from) / 3;
    struct iovec parts[] = {{s->bytes + from, middle - from},
                            {s->bytes + middle, s->size - middle}};

    s->result = coil_writev(s->stream, parts, 2);
    s->offset += (int64_t)coil_stream_write_transferred(s->stream);
    return 0;
}

/* Cancel a call, and check that a second call sends the remaining bytes. */
static void check_taken_up_again(int (*send)(void *))
{
    size_t size = (size_t)12 * 1024 * 1024;
    coil_stream *streams[2];
    const void *data;
    coil_task *task;

    make_stream_pair(streams);
    struct ends *e = speak_tls(streams);
    struct receiving r = {.stream = e->server};
    struct interrupted s = {.stream = e->client,
                            .fd = memfd_create("file", MFD_CLOEXEC),
                            .bytes = make_pattern(size),
                            .size = size};

    CHECK_INT(pwrite(s.fd, s.bytes, size, 0), size);
    CHECK_INT(coil_spawn(send, &s, NULL, &task), 0);
    CHECK(coil_peek(e->server, &data, 1) > 0);
    settle();
    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(s.result, -ECANCELED);
    CHECK(s.offset > 0 && s.offset < (int64_t)size);
    CHECK_INT(s.offset, coil_stream_write_transferred(e->client));
    CHECK_INT(coil_spawn(receive_all, &r, NULL, &task), 0);
    size_t rest = size - (size_t)s.offset;
    send(&s);
    CHECK_INT(s.result, rest);
    CHECK_INT(s.offset, size);
    check_received(e, task, &r, size);
    CHECK(coil_stream_at_end(e->server));
    close_ends(e);
    close(s.fd);
    free(s.bytes);
}

/*
 * Cancel a copy. The bytes that TLS has accepted must still be sent, and all other bytes
 * must remain in the source.
 */
IO_TEST(tls_copy_that_is_cancelled_loses_no_byte)
{
    size_t size = (size_t)6 * 1024 * 1024, done;
    coil_stream *streams[2], *source[2];
    coil_task *receiver, *sender, *copier;
    const void *data;

    make_stream_pair(streams);
    make_stream_pair(source);
    struct ends *e = speak_tls(streams);
    struct receiving r = {.stream = e->server};
    struct copying c = {.from = source[1], .to = e->client};
    struct interrupted s = {
        .stream = source[0], .bytes = make_pattern(size), .size = size};

    CHECK_INT(coil_spawn(send_parts, &s, NULL, &sender), 0);
    CHECK_INT(coil_spawn(do_copy, &c, NULL, &copier), 0);
    CHECK(coil_peek(e->server, &data, 1) > 0);
    settle();
    coil_task_cancel(copier, NULL);
    finish(copier);
    CHECK_INT(c.result, -ECANCELED);
    done = coil_stream_write_transferred(e->client);
    CHECK(done > 0 && done < size);
    CHECK_INT(coil_stream_read_transferred(source[1]), done);
    CHECK_INT(coil_spawn(receive_all, &r, NULL, &receiver), 0);
    CHECK_INT(coil_copy_n(source[1], e->client, size - done), size - done);
    finish(sender);
    check_received(e, receiver, &r, size);
    close_ends(e);
    destroy_streams(source);
    free(s.bytes);
}

IO_TEST(tls_sending_a_file_is_continued_where_it_was)
{
    check_taken_up_again(send_file);
}

IO_TEST(tls_writing_parts_is_continued_where_it_was)
{
    check_taken_up_again(send_parts);
}

/* ---- bytes that come with the handshake's last ------------------------------------- */

/*
 * A relay that passes on the client's first record, and holds back the others until the
 * client has sent everything, so that the last handshake message, a line and the end of
 * the stream arrive together.
 */
struct between {
    coil_stream *near, *far; /* the streams to the client and to the server */
};

/* Read a record from the stream, append it to `bytes`, and return its type. */
static int read_record(coil_stream *from, unsigned char *bytes, size_t *size)
{
    unsigned char *head = bytes + *size;
    size_t n;

    CHECK_INT(coil_read_exact(from, head, 5), 5);
    n = (size_t)(head[3] << 8 | head[4]);
    CHECK_INT(coil_read_exact(from, head + 5, n), n);
    *size += 5 + n;
    return head[0];
}

/*
 * Hold back the client's three encrypted records: its Finished message, its line, and its
 * close_notify.
 */
static int hold_back(void *arg)
{
    struct between *b = arg;
    unsigned char bytes[8192];
    size_t size = 0;

    CHECK_INT(read_record(b->near, bytes, &size), 22);
    CHECK_INT(coil_write(b->far, bytes, size), size);
    size = 0;
    for (int encrypted = 0; encrypted < 3;)
        encrypted += read_record(b->near, bytes, &size) == 23;
    CHECK_INT(coil_write(b->far, bytes, size), size);
    return 0;
}

static int hand_back(void *arg)
{
    struct between *b = arg;
    char bytes[4096];
    ssize_t n;

    while ((n = coil_read(b->far, bytes, sizeof bytes)) > 0)
        CHECK_INT(coil_write(b->near, bytes, (size_t)n), n);
    return (int)n;
}

static int answer_line(void *arg)
{
    struct ends *e = arg;
    char line[32] = "";

    CHECK_INT(coil_accept_tls(e->server, e->server_tls), 0);
    CHECK_INT(coil_read_line(e->server, line, sizeof line), 8);
    CHECK_STR(line, "question");
    CHECK_INT(coil_read(e->server, line, sizeof line), 0);
    CHECK_INT(coil_write(e->server, "answer\n", 7), 7);
    return coil_stream_shutdown_write(e->server);
}

NET_TEST(tls_first_bytes_come_with_the_handshakes_last)
{
    coil_stream *near[2], *far[2];
    coil_task *tasks[3];
    char line[32] = "";

    connect_streams(near);
    connect_streams(far);
    struct between b = {.near = near[1], .far = far[0]};
    struct ends *e = make_contexts();
    e->client = near[0];
    e->server = far[1];
    CHECK_INT(coil_spawn(hold_back, &b, NULL, &tasks[0]), 0);
    CHECK_INT(coil_spawn(hand_back, &b, NULL, &tasks[1]), 0);
    CHECK_INT(coil_spawn(answer_line, e, NULL, &tasks[2]), 0);
    CHECK_INT(coil_start_tls(e->client, e->client_tls, "localhost"), 0);
    CHECK_STR(coil_tls_version(e->client), "TLSv1.3");
    CHECK_INT(coil_write(e->client, "question\n", 9), 9);
    CHECK_INT(coil_stream_shutdown_write(e->client), 0);
    CHECK_INT(coil_read_line(e->client, line, sizeof line), 6);
    CHECK_STR(line, "answer");
    CHECK_INT(coil_read(e->client, line, sizeof line), 0);
    finish(tasks[0]);
    finish(tasks[2]);
    close_ends(e);
    finish(tasks[1]);
    coil_stream_destroy(b.near);
    coil_stream_destroy(b.far);
}

/* ---- to another thread ------------------------------------------------------------- */

struct moved {
    coil_stream *stream;
    const char *backend;
    char line[32];
};

static int use_elsewhere(void *arg)
{
    struct moved *m = arg;

    CHECK_INT(coil_stream_attach(m->stream), 0);
    CHECK_INT(coil_read_line(m->stream, m->line, sizeof m->line), 8);
    CHECK_INT(coil_write(m->stream, "answer\n", 7), 7);
    return coil_stream_detach(m->stream);
}

static void *run_elsewhere(void *arg)
{
    struct moved *m = arg;
    coil_run_opts opts = {.loop.backend = m->backend, .no_signals = true};

    return coil_run(use_elsewhere, m, &opts) < 0 ? "failed" : NULL;
}

/* Half of a line is decrypted on this thread, and the other half on another thread. */
IO_TEST(tls_stream_moves_to_another_thread)
{
    struct moved m = {.backend = coil_backend_name()};
    coil_stream *streams[2];
    const void *data;
    void *failure;
    pthread_t thread;
    char line[32] = "";

    make_stream_pair(streams);
    struct ends *e = speak_tls(streams);
    m.stream = e->server;
    CHECK_INT(coil_stream_release_fd(e->server), -EOPNOTSUPP);
    CHECK_INT(coil_write(e->client, "ques", 4), 4);
    CHECK_INT(coil_peek(e->server, &data, 4), 4);
    CHECK_INT(coil_stream_detach(e->server), 0);
    CHECK_INT(coil_write(e->client, "tion\nmore\n", 10), 10);
    CHECK_INT(pthread_create(&thread, NULL, run_elsewhere, &m), 0);
    pthread_join(thread, &failure);
    CHECK_PTR(failure, NULL);
    CHECK_STR(m.line, "question");
    CHECK_INT(coil_stream_attach(e->server), 0);
    CHECK_INT(coil_read_line(e->server, line, sizeof line), 4);
    CHECK_STR(line, "more");
    CHECK_INT(coil_read_line(e->client, line, sizeof line), 6);
    CHECK_STR(line, "answer");
    CHECK_STR(coil_tls_version(e->server), coil_tls_version(e->client));
    close_ends(e);
}

/*
 * The child must not send a close_notify, because the connection belongs to the parent.
 */
IO_TEST(tls_stream_destroyed_by_a_forked_child_goes_on_in_the_parent)
{
    coil_stream *streams[2];
    char bytes[8];
    int status = -1;
    pid_t child;

    connect_streams(streams);
    struct ends *e = speak_tls(streams);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        coil_stream_destroy(e->client);
        coil_stream_destroy(e->server);
        coil_tls_release(e->client_tls);
        _exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(coil_write(e->client, "hello", 5), 5);
    CHECK_INT(coil_read(e->server, bytes, sizeof bytes), 5);
    CHECK_INT(coil_write(e->server, "and back", 8), 8);
    CHECK_INT(coil_read_exact(e->client, bytes, 8), 8);
    close_ends(e);
}

/* ---- waiting until a stream is readable -------------------------------------------- */

struct waiting {
    coil_stream *stream;
    int rc;
    bool ended;
};

static int wait_readable(void *arg)
{
    struct waiting *w = arg;

    w->rc = coil_stream_wait_readable(w->stream);
    w->ended = true;
    return w->rc == -ECANCELED ? w->rc : 0;
}

static coil_task *start_waiting(struct waiting *w, coil_stream *stream)
{
    coil_task *task;

    *w = (struct waiting){.stream = stream};
    CHECK_INT(coil_spawn(wait_readable, w, NULL, &task), 0);
    settle();
    return task;
}

/*
 * A TLS stream is readable if there are decrypted bytes. Session tickets that arrive must
 * not make the stream readable.
 */
NET_TEST(tls_is_readable_when_there_are_decrypted_bytes)
{
    coil_stream *streams[2];
    struct waiting w;
    char buf[16];

    connect_streams(streams);
    struct ends *e = speak_tls(streams);
    for (int i = 0; i < 4; i++) {
        coil_task *task = start_waiting(&w, e->client);

        CHECK(!w.ended);
        CHECK_INT(coil_stream_wait_readable(e->client), -EBUSY);
        CHECK_INT(coil_write(e->server, "hello", 5), 5);
        finish(task);
        CHECK_INT(w.rc, 0);
        CHECK_INT(coil_read(e->client, buf, 2), 2);
        CHECK_INT(coil_stream_wait_readable(e->client), 0); /* the rest of the record */
        CHECK_INT(coil_read_exact(e->client, buf + 2, 3), 3);
        CHECK(memcmp(buf, "hello", 5) == 0);
    }
    close_ends(e);
}

NET_TEST(tls_wait_that_is_cancelled_or_closed_loses_nothing)
{
    coil_stream *streams[2];
    coil_scope scope;
    struct waiting w;
    char buf[16];

    connect_streams(streams);
    struct ends *e = speak_tls(streams);
    CHECK_INT(coil_scope_enter(&scope, coil_in(COIL_MSEC(20))), 0);
    CHECK_INT(coil_scope_exit(&scope, coil_stream_wait_readable(e->client)), -ETIMEDOUT);
    coil_task *task = start_waiting(&w, e->client);
    coil_task_cancel(task, NULL);
    finish_cancelled(task);
    CHECK_INT(w.rc, -ECANCELED);
    CHECK_INT(coil_write(e->server, "all", 3), 3);
    CHECK_INT(coil_read_exact(e->client, buf, 3), 3);
    task = start_waiting(&w, e->client);
    coil_stream_close(e->client);
    finish(task);
    CHECK_INT(w.rc, -EBADF);
    close_ends(e);
}

NET_TEST(tls_is_readable_at_the_end)
{
    coil_stream *streams[2];
    struct waiting w;
    char byte;

    connect_streams(streams);
    struct ends *e = speak_tls(streams);
    coil_task *task = start_waiting(&w, e->client);
    CHECK_INT(coil_stream_shutdown_write(e->server), 0);
    finish(task);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_read(e->client, &byte, 1), 0);
        CHECK_INT(coil_stream_wait_readable(e->client), 0);
    }
    CHECK_INT(coil_write(e->client, "x", 1), 1);
    CHECK_INT(coil_stream_wait_readable(e->server), 0);
    CHECK_INT(coil_read(e->server, &byte, 1), 1);
    close_ends(e);
}

IO_TEST(tls_that_is_cut_off_is_readable_and_the_read_says_so)
{
    coil_stream *streams[2];
    struct waiting w;
    char byte;

    make_stream_pair(streams);
    struct ends *e = speak_tls(streams);
    coil_task *task = start_waiting(&w, e->client);
    shutdown(coil_stream_fd(e->server), SHUT_WR); /* without close_notify */
    finish(task);
    CHECK_INT(w.rc, 0);
    CHECK_INT(coil_stream_wait_readable(e->client), 0);
    CHECK_INT(coil_read(e->client, &byte, 1), -ECONNABORTED);
    close_ends(e);
}

/* A reset must end the wait for readability, and the read must return the error. */
IO_TEST(tls_that_is_reset_is_readable_and_the_read_says_so)
{
    /* connect(2) to AF_UNSPEC resets the connection */
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    coil_stream *streams[2];
    struct waiting w;
    char byte;

    make_stream_pair(streams);
    struct ends *e = speak_tls(streams);
    coil_task *task = start_waiting(&w, e->client);
    CHECK_INT(connect(coil_stream_fd(e->server), &nobody, sizeof nobody), 0);
    finish(task);
    CHECK_INT(w.rc, 0);
    CHECK_INT(coil_stream_wait_readable(e->client), 0);
    CHECK_INT(coil_read(e->client, &byte, 1), -ECONNRESET);
    close_ends(e);
}

static int reads_a_byte(void *arg)
{
    struct ends *e = arg;
    char byte;

    return (int)coil_read(e->client, &byte, 1);
}

/*
 * The reader and the writer must both get an error, whichever of them gets the reset
 * first.
 */
IO_TEST(tls_that_is_reset_fails_its_reader_and_its_writer)
{
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};

    for (int writer_first = 0; writer_first < 2; writer_first++) {
        coil_stream *streams[2];
        coil_task *tasks[2];
        int rc;

        make_stream_pair(streams);
        struct ends *e = speak_tls(streams);
        CHECK_INT(
            coil_spawn(writer_first ? sends_much : reads_a_byte, e, NULL, &tasks[0]), 0);
        CHECK_INT(
            coil_spawn(writer_first ? reads_a_byte : sends_much, e, NULL, &tasks[1]), 0);
        settle();
        CHECK_INT(connect(coil_stream_fd(e->server), &nobody, sizeof nobody), 0);
        CHECK_INT(coil_task_await(tasks[writer_first]), -ECONNRESET);
        rc = coil_task_await(tasks[!writer_first]);
        CHECK(rc == -EPIPE || rc == -ECONNRESET);
        CHECK_INT(reads_a_byte(e), -ECONNRESET);
        coil_task_release(tasks[0]);
        coil_task_release(tasks[1]);
        close_ends(e);
    }
}
