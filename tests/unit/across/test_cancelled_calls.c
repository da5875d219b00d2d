/*
 * test_cancelled_calls.c - calls made by a task with a pending or delivered cancellation.
 *
 * A call that can complete at once returns its result; a call that would have to wait
 * fails with -ECANCELED. Each call is tested on each backend.
 */
#include "../../harness/harness.h"

#include "../socket/sockets.h"

#include <coil.h>
#include <coil/debug.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The arguments of the calls, created by the begin() functions in the table. */
static coil_stream *ends[2]; /* calls are made on ends[0] */
static int raw;              /* an additional descriptor */
static coil_listener *listener;
static coil_datagram *datagrams[2];
static coil_queue queue;
static coil_channel *channel;
static coil_lock lock;
static coil_semaphore semaphore;
static coil_event event;
static coil_condition condition;
static coil_barrier barrier;
static coil_future *futures[2];
static coil_promise *promise;
static coil_file *file;
static coil_as_completed completed;

static char bytes[64];

/* ---- streams ----------------------------------------------------------------------- */

static void begin_read(bool ready)
{
    CHECK_INT(coil_stream_pair(ends), 0);
    if (ready)
        CHECK_INT(coil_write(ends[1], "line\n", 5), 5);
}

/* After these small reads, the io_uring backend receives data ahead of the next read. */
static void begin_read_again(bool ready)
{
    CHECK_INT(coil_stream_pair(ends), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(coil_write(ends[1], "x", 1), 1);
        CHECK_INT(coil_read(ends[0], bytes, sizeof bytes), 1);
    }
    if (ready)
        CHECK_INT(coil_write(ends[1], "line\n", 5), 5);
}

/*
 * Fill the stream's buffer with the first part of a line, and, if `ready`, send the rest.
 */
static void begin_read_buffered(bool ready)
{
    const void *data;

    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_write(ends[1], "li", 2), 2);
    CHECK_INT(coil_peek(ends[0], &data, 1), 2);
    if (ready)
        CHECK_INT(coil_write(ends[1], "ne\n", 3), 3);
}

static void begin_read_pipe(bool ready)
{
    CHECK_INT(coil_pipe(ends), 0);
    if (ready)
        CHECK_INT(coil_write(ends[1], "line\n", 5), 5);
}

static void fill(int fd)
{
    static char much[65536];

    while (send(fd, much, sizeof much, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        ;
}

static void begin_write(bool ready)
{
    CHECK_INT(coil_stream_pair(ends), 0);
    raw = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (!ready)
        fill(coil_stream_fd(ends[0]));
}

/*
 * Write to the stream until a write would have to wait. If `ready`, read all bytes at the
 * other end, so that there is room again.
 */
static void begin_write_again(bool ready)
{
    static char much[65536];

    begin_write(false);
    if (!ready)
        return;
    while (recv(coil_stream_fd(ends[1]), much, sizeof much, MSG_DONTWAIT) > 0)
        ;
}

static void end_streams(void)
{
    destroy_streams(ends);
    if (raw > 0)
        close(raw);
    raw = 0;
}

static int call_read(void)
{
    return (int)coil_read(ends[0], bytes, sizeof bytes);
}

static int call_read_much(void)
{
    static char much[65536];

    return (int)coil_read(ends[0], much, sizeof much);
}

static int call_read_exact(void)
{
    return (int)coil_read_exact(ends[0], bytes, 5);
}

static int call_read_line(void)
{
    return (int)coil_read_line(ends[0], bytes, sizeof bytes);
}

static int call_read_until(void)
{
    return (int)coil_read_until(ends[0], "e", 1, bytes, sizeof bytes);
}

static int call_peek(void)
{
    const void *data;

    return (int)coil_peek(ends[0], &data, 4);
}

static int call_wait_readable(void)
{
    return coil_stream_wait_readable(ends[0]);
}

static int call_copy_n(void)
{
    return (int)coil_copy_n(ends[0], ends[0], 5);
}

static int call_write(void)
{
    return (int)coil_write(ends[0], "x", 1);
}

static int call_writev(void)
{
    return (int)coil_writev(ends[0], &(struct iovec){bytes, 1}, 1);
}

static int call_sendfile(void)
{
    return (int)coil_sendfile(ends[0], raw, NULL, 10);
}

/* ---- other descriptors ------------------------------------------------------------- */

static void begin_accept(bool ready)
{
    coil_address name;

    CHECK_INT(coil_listen("127.0.0.1", "0", 4, &listener), 0);
    CHECK_INT(coil_listener_name(listener, &name), 0);
    raw = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (ready)
        CHECK_INT(connect(raw, (struct sockaddr *)&name.storage, name.length), 0);
}

static int call_accept(void)
{
    coil_stream *stream;
    int rc = coil_accept(listener, &stream);

    coil_stream_destroy(stream);
    return rc;
}

static void end_accept(void)
{
    coil_listener_destroy(listener);
    close(raw);
    raw = 0;
}

static int descriptors[2];

static void begin_descriptors(bool ready)
{
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors), 0);
    if (ready)
        CHECK_INT(write(descriptors[1], "x", 1), 1);
}

static int call_wait_fd(void)
{
    return coil_wait_fd(descriptors[0], COIL_READABLE);
}

static int call_poll(void)
{
    return coil_poll(&(struct pollfd){.fd = descriptors[0], .events = POLLIN}, 1,
                     COIL_SEC(9));
}

static int call_poll_retry(void)
{
    return coil_poll_retry(descriptors[0], POLLIN, COIL_SEC(9));
}

static void end_descriptors(void)
{
    close(descriptors[0]);
    close(descriptors[1]);
}

static void begin_datagrams(bool ready)
{
    int fds[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(coil_datagram_adopt(fds[i], &datagrams[i]), 0);
    if (ready)
        CHECK_INT(coil_send(datagrams[1], "x", 1), 1);
}

static void begin_datagrams_out(bool ready)
{
    begin_datagrams(false);
    if (!ready)
        while (send(coil_datagram_fd(datagrams[0]), "x", 1, MSG_DONTWAIT) == 1)
            ;
}

static int call_receive(void)
{
    return (int)coil_receive(datagrams[0], bytes, sizeof bytes);
}

static int call_receive_batch(void)
{
    return coil_receive_batch(datagrams[0], &(coil_message){.data = bytes, .size = 8}, 1);
}

static int call_send(void)
{
    return (int)coil_send(datagrams[0], "x", 1);
}

static int call_send_batch(void)
{
    return coil_send_batch(datagrams[0], &(coil_message){.data = bytes, .size = 1}, 1);
}

static void end_datagrams(void)
{
    coil_datagram_destroy(datagrams[0]);
    coil_datagram_destroy(datagrams[1]);
}

/* ---- between tasks ----------------------------------------------------------------- */

static int item = 7;

static void begin_get(bool ready)
{
    queue = (coil_queue)COIL_QUEUE_INIT(sizeof item, 1);
    if (ready)
        CHECK_INT(coil_queue_put_nowait(&queue, &item), 0);
}

static void begin_put(bool ready)
{
    begin_get(!ready);
}

static int call_get(void)
{
    return coil_queue_get(&queue, &item);
}

static int call_get_any(void)
{
    coil_queue *queues[] = {&queue};

    return coil_queue_get_any(queues, 1, &item);
}

static int call_put(void)
{
    return coil_queue_put(&queue, &item);
}

static int call_join(void)
{
    return coil_queue_join(&queue);
}

static void end_queue(void)
{
    coil_queue_finish(&queue);
}

static void begin_channel_get(bool ready)
{
    CHECK_INT(coil_channel_create(sizeof item, 1, &channel), 0);
    if (ready)
        CHECK_INT(coil_channel_put_nowait(channel, &item), 0);
}

static void begin_channel_put(bool ready)
{
    begin_channel_get(!ready);
}

static int call_channel_get(void)
{
    return coil_channel_get(channel, &item);
}

static int call_channel_put(void)
{
    return coil_channel_put(channel, &item);
}

static void end_channel(void)
{
    coil_channel_release(channel);
}

static void begin_locks(bool ready)
{
    lock = (coil_lock)COIL_LOCK_INIT;
    semaphore = (coil_semaphore)COIL_SEMAPHORE_INIT(1);
    event = (coil_event)COIL_EVENT_INIT;
    condition = (coil_condition)COIL_CONDITION_INIT(&lock);
    coil_barrier_init(&barrier, ready ? 1 : 2);
    if (ready) {
        coil_event_set(&event);
    } else {
        CHECK_INT(coil_lock_acquire(&lock), 0);
        CHECK_INT(coil_semaphore_acquire(&semaphore), 0);
    }
}

static int call_lock(void)
{
    int rc = coil_lock_acquire(&lock);

    if (rc == 0)
        coil_lock_release(&lock);
    return rc;
}

static int call_semaphore(void)
{
    return coil_semaphore_acquire(&semaphore);
}

static int call_event(void)
{
    return coil_event_wait(&event);
}

static int call_barrier(void)
{
    return coil_barrier_wait(&barrier);
}

static int call_condition(void)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait(&condition);
    coil_lock_release(&lock);
    return rc;
}

static void end_locks(void)
{
    if (coil_lock_locked(&lock))
        coil_lock_release(&lock);
}

static void begin_futures(bool ready)
{
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_future_create(&futures[i]), 0);
        if (ready)
            CHECK_INT(coil_future_set(futures[i], 3, NULL, NULL), 0);
    }
    CHECK_INT(coil_promise_create(&promise), 0);
    if (ready)
        CHECK_INT(coil_promise_set(promise, 3, NULL, NULL), 0);
    CHECK_INT(coil_as_completed_init(&completed, futures, 2, COIL_NEVER), 0);
    coil_yield();
}

static int call_await(void)
{
    return coil_await(futures[0]);
}

static int call_shield(void)
{
    return coil_shield(futures[0]);
}

static int call_gather(void)
{
    return coil_gather(futures, 2, 0, NULL);
}

static int call_wait_for(void)
{
    return coil_wait_for(futures[0], coil_in(COIL_SEC(9)));
}

static int call_as_completed(void)
{
    coil_future *next;

    return coil_as_completed_next(&completed, &next);
}

static int call_wait(void)
{
    return coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
}

static int call_promise(void)
{
    return coil_promise_await(promise);
}

static void end_futures(void)
{
    coil_as_completed_finish(&completed);
    for (int i = 0; i < 2; i++)
        coil_future_release(futures[i]);
    coil_promise_release(promise);
}

/* ---- calls that always wait -------------------------------------------------------- */

static void begin_nothing(bool ready)
{
    (void)ready;
}

static void end_nothing(void)
{
}

static int call_sleep(void)
{
    return coil_sleep(1);
}

static int call_sleep_for_no_time(void)
{
    return coil_sleep(0);
}

static int call_park(void)
{
    return coil_park();
}

static int jobs;

static int count_job(void *arg)
{
    (void)arg;
    return ++jobs;
}

static int call_blocking(void)
{
    return coil_blocking(COIL_LANE_FILE, count_job, NULL);
}

static void discard_nothing(void *arg)
{
    *(int *)arg += 1;
}

static int call_abandonable(void)
{
    int discarded = 0;
    int rc =
        coil_blocking_abandonable(COIL_LANE_FILE, count_job, &discarded, discard_nothing);

    CHECK_INT(discarded, rc == -ECANCELED);
    return rc;
}

static void begin_file(bool ready)
{
    (void)ready;
    CHECK_INT(coil_file_open("/proc/self/exe", O_RDONLY, 0, &file), 0);
}

static int call_file_pread(void)
{
    return (int)coil_file_pread(file, bytes, 1, 0);
}

static int call_file_stat(void)
{
    struct statx about;

    return coil_file_stat(file, &about);
}

static int call_stat(void)
{
    struct statx about;

    return coil_stat("/", 0, &about);
}

static void end_file(void)
{
    coil_file_destroy(file);
}

/* ---- the table --------------------------------------------------------------------- */

static const struct row {
    const char *name;
    void (*begin)(bool ready);
    int (*call)(void);
    void (*end)(void);
    bool waits; /* waits even if `ready` was passed to begin() */
} rows[] = {
    {"read", begin_read, call_read, end_streams, false},
    {"read much", begin_read, call_read_much, end_streams, false},
    {"read_exact", begin_read, call_read_exact, end_streams, false},
    {"read_line", begin_read, call_read_line, end_streams, false},
    {"read_until", begin_read, call_read_until, end_streams, false},
    {"peek", begin_read, call_peek, end_streams, false},
    {"wait_readable", begin_read, call_wait_readable, end_streams, false},
    {"copy_n", begin_read, call_copy_n, end_streams, false},
    {"read again", begin_read_again, call_read, end_streams, false},
    {"read much again", begin_read_again, call_read_much, end_streams, false},
    {"read_line again", begin_read_again, call_read_line, end_streams, false},
    {"wait_readable again", begin_read_again, call_wait_readable, end_streams, false},
    {"read_exact, buffered", begin_read_buffered, call_read_exact, end_streams, false},
    {"read_line, buffered", begin_read_buffered, call_read_line, end_streams, false},
    {"peek, buffered", begin_read_buffered, call_peek, end_streams, false},
    {"read a pipe", begin_read_pipe, call_read, end_streams, false},
    {"wait_readable of a pipe", begin_read_pipe, call_wait_readable, end_streams, false},
    {"write", begin_write, call_write, end_streams, false},
    {"writev", begin_write, call_writev, end_streams, false},
    {"sendfile", begin_write, call_sendfile, end_streams, false},
    {"write again", begin_write_again, call_write, end_streams, false},
    {"accept", begin_accept, call_accept, end_accept, false},
    {"wait_fd", begin_descriptors, call_wait_fd, end_descriptors, false},
    {"poll", begin_descriptors, call_poll, end_descriptors, false},
    {"poll_retry", begin_descriptors, call_poll_retry, end_descriptors, false},
    {"receive", begin_datagrams, call_receive, end_datagrams, false},
    {"receive_batch", begin_datagrams, call_receive_batch, end_datagrams, false},
    {"send", begin_datagrams_out, call_send, end_datagrams, false},
    {"send_batch", begin_datagrams_out, call_send_batch, end_datagrams, false},
    {"queue_get", begin_get, call_get, end_queue, false},
    {"queue_get_any", begin_get, call_get_any, end_queue, false},
    {"queue_put", begin_put, call_put, end_queue, false},
    {"queue_join", begin_put, call_join, end_queue, false},
    {"channel_get", begin_channel_get, call_channel_get, end_channel, false},
    {"channel_put", begin_channel_put, call_channel_put, end_channel, false},
    {"lock_acquire", begin_locks, call_lock, end_locks, false},
    {"semaphore_acquire", begin_locks, call_semaphore, end_locks, false},
    {"event_wait", begin_locks, call_event, end_locks, false},
    {"barrier_wait", begin_locks, call_barrier, end_locks, false},
    {"condition_wait", begin_locks, call_condition, end_locks, true},
    {"await", begin_futures, call_await, end_futures, false},
    {"shield", begin_futures, call_shield, end_futures, false},
    {"gather", begin_futures, call_gather, end_futures, false},
    {"wait_for", begin_futures, call_wait_for, end_futures, false},
    {"as_completed_next", begin_futures, call_as_completed, end_futures, false},
    {"wait", begin_futures, call_wait, end_futures, true},
    {"promise_await", begin_futures, call_promise, end_futures, true},
    {"yield", begin_nothing, coil_yield, end_nothing, true},
    {"sleep", begin_nothing, call_sleep, end_nothing, true},
    {"sleep(0)", begin_nothing, call_sleep_for_no_time, end_nothing, true},
    {"park", begin_nothing, call_park, end_nothing, true},
    {"blocking", begin_nothing, call_blocking, end_nothing, true},
    {"blocking_abandonable", begin_nothing, call_abandonable, end_nothing, true},
    {"file_pread", begin_file, call_file_pread, end_file, true},
    {"file_stat", begin_file, call_file_stat, end_file, true},
    {"stat", begin_nothing, call_stat, end_nothing, true},
};

#define ROWS (sizeof rows / sizeof rows[0])

struct attempt {
    const struct row *row;
    bool ready, delivered;
};

static int cancel_and_call(void *arg)
{
    const struct attempt *a = arg;
    bool refused = a->row->waits || !a->ready;
    int rc;

    coil_task_cancel(coil_task_current(), NULL);
    if (a->delivered)
        CHECK_INT(coil_yield(), -ECANCELED);
    rc = a->row->call();
    if (refused ? rc != -ECANCELED : rc < 0)
        printf("    %s, %s, %s: %d\n", a->row->name, a->ready ? "ready" : "not ready",
               a->delivered ? "delivered" : "pending", rc);
    CHECK(refused ? rc == -ECANCELED : rc >= 0);
    CHECK_INT(coil_yield(), -ECANCELED); /* fails until the cancellation is caught */
    coil_cancel_caught();
    CHECK_INT(coil_yield(), 0);
    return 0;
}

IO_TEST(cancelled_task_is_refused_where_it_would_wait_and_there_alone)
{
    for (size_t i = 0; i < ROWS; i++)
        for (int j = 0; j < 4; j++) {
            struct attempt a = {&rows[i], j / 2 > 0, j % 2 > 0};

            a.row->begin(a.ready);
            CHECK_INT(test_join(test_spawn(cancel_and_call, &a)), 0);
            a.row->end();
        }
    CHECK_INT(jobs, 0);
}

/* ---- a cancellation that comes too late -------------------------------------------- */

static void make_stream_readable(void)
{
    CHECK_INT(write(coil_stream_fd(ends[1]), "line\n", 5), 5);
}

static void make_connection(void)
{
    coil_address name;

    CHECK_INT(coil_listener_name(listener, &name), 0);
    CHECK_INT(connect(raw, (struct sockaddr *)&name.storage, name.length), 0);
}

static void make_descriptor_readable(void)
{
    CHECK_INT(write(descriptors[1], "x", 1), 1);
}

static void make_datagram(void)
{
    CHECK_INT(write(coil_datagram_fd(datagrams[1]), "x", 1), 1);
}

static const struct late_row {
    void (*begin)(bool ready);
    int (*call)(void);
    void (*make_ready)(void);
    void (*end)(void);
} late_rows[] = {
    {begin_read, call_read, make_stream_readable, end_streams},
    {begin_read, call_read_line, make_stream_readable, end_streams},
    {begin_read, call_wait_readable, make_stream_readable, end_streams},
    {begin_read_again, call_read, make_stream_readable, end_streams},
    {begin_read_again, call_wait_readable, make_stream_readable, end_streams},
    {begin_accept, call_accept, make_connection, end_accept},
    {begin_descriptors, call_wait_fd, make_descriptor_readable, end_descriptors},
    {begin_datagrams, call_receive, make_datagram, end_datagrams},
};

static coil_stream *others[2];
static bool was_late;

static int call_and_echo(void *arg)
{
    const struct late_row *row = arg;
    char byte;

    CHECK(row->call() >= 0);
    was_late = coil_task_cancelling(coil_task_current()) > 0;
    for (int i = 0; i < 10; i++) {
        CHECK_INT(coil_write(others[0], "x", 1), 1);
        CHECK_INT(coil_read(others[1], &byte, 1), 1);
    }
    CHECK_INT(coil_read(others[1], &byte, 1), -ECANCELED);
    return -ECANCELED;
}

static void cancel_it(void *task)
{
    coil_task_cancel(task, NULL);
}

IO_TEST(cancellation_that_comes_too_late_refuses_nothing_that_need_not_wait)
{
    coil_set_debug(true); /* in debug mode each turn polls */
    CHECK_INT(coil_stream_pair(others), 0);
    for (size_t i = 0; i < sizeof late_rows / sizeof late_rows[0]; i++) {
        const struct late_row *row = &late_rows[i];
        coil_task *task;

        row->begin(false);
        task = test_spawn(call_and_echo, (void *)row);
        settle();
        row->make_ready();
        CHECK_INT(coil_call_soon(cancel_it, task, NULL), 0);
        CHECK_INT(test_join(task), -ECANCELED);
        CHECK(was_late);
        row->end();
    }
    destroy_streams(others);
    coil_set_debug(false);
}

/* ---- without end ------------------------------------------------------------------- */

/*
 * Repeat a call until it fails. In a cancelled task, even a call that never has to wait
 * must fail at some point.
 */
static int call_without_end(void *arg)
{
    const struct row *row = arg;
    int rc;

    do
        rc = row->call();
    while (rc >= 0);
    return rc;
}

IO_TEST(cancelled_task_that_never_has_to_wait_is_refused_in_the_end)
{
    static const struct row endless[] = {
        {"wait_fd", begin_descriptors, call_wait_fd, end_descriptors, false},
        {"poll", begin_descriptors, call_poll, end_descriptors, false},
        {"poll_retry", begin_descriptors, call_poll_retry, end_descriptors, false},
        {"peek", begin_read, call_peek, end_streams, false},
        {"file_pread", begin_file, call_file_pread, end_file, true},
        {"blocking", begin_nothing, call_blocking, end_nothing, true},
    };

    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        coil_task *task;

        endless[i].begin(true);
        task = test_spawn(call_without_end, (void *)&endless[i]);
        coil_sleep(COIL_MSEC(1));
        coil_task_cancel(task, NULL);
        CHECK_INT(test_join(task), -ECANCELED);
        endless[i].end();
    }
}
