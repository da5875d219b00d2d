/*
 * test_failing_objects.c - like test_failing_calls.c, but for calls on objects that are
 * closed, shut down or failed, and for calls with invalid arguments.
 *
 * If the call runs a function of the user (coil_context_run(), a generator), the messages
 * of this function count as the call's own. If a non-blocking call returns -EAGAIN, this
 * is a result, not a failure.
 */
#include "../../harness/harness.h"

#include "failing.h"
#include "objects.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    coil_stream *stream, *open;
    coil_datagram *datagram;
    coil_file *file;
    coil_listener *listener, *served;
    coil_server *server;
    coil_queue queue, held;
    coil_lock lock, held_lock;
    coil_condition condition;
    coil_bounded_semaphore bounded;
    coil_future *failed;
    coil_promise *broken, *pending;
    coil_channel *channel;
    coil_loop *loop;
    coil_event event;
} thing;

static char bytes[16];
static const coil_task_hooks large_hook = {.state_bytes = COIL_HOOK_STATES_BYTES + 1};
static const coil_task_hooks *const large_hooks[] = {&large_hook, NULL};
static const coil_spawn_opts too_large = {.hooks = large_hooks};

static int fail(void *arg)
{
    (void)arg;
    return -EXDEV;
}

static int serve_nobody(coil_stream *stream, void *arg)
{
    (void)stream, (void)arg;
    return 0;
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* ---- datagrams --------------------------------------------------------------------- */

static ssize_t datagram_connect_nowhere(void)
{
    return coil_datagram_connect("127.0.0.1", "no such port", &(coil_datagram *){NULL});
}

static ssize_t datagram_connect_to_no_family(void)
{
    return coil_datagram_connect_address(&(coil_address){0}, &(coil_datagram *){NULL});
}

static ssize_t datagram_open_at_a_missing_path(void)
{
    return coil_datagram_open_unix("/proc/nonexistent/x", &(coil_datagram *){NULL});
}

static ssize_t datagram_connect_to_a_missing_path(void)
{
    return coil_datagram_connect_unix("/proc/nonexistent/x", &(coil_datagram *){NULL});
}

static ssize_t datagram_name_closed(void)
{
    return coil_datagram_name(thing.datagram, &(coil_address){0});
}

static ssize_t datagram_option_closed(void)
{
    return coil_datagram_set_option(thing.datagram, SOL_SOCKET, SO_BROADCAST, &(int){1},
                                    sizeof(int));
}

static ssize_t send_to_closed(void)
{
    return coil_send_to(thing.datagram, bytes, 1, NULL, 0);
}

static ssize_t receive_closed(void)
{
    return coil_receive(thing.datagram, bytes, 1);
}

static ssize_t receive_from_closed(void)
{
    return coil_receive_from(thing.datagram, bytes, 1, &(coil_address){0});
}

/* ---- files ------------------------------------------------------------------------- */

static ssize_t open_temporary_nowhere(void)
{
    return coil_file_open_temporary("/proc/nonexistent", &(coil_file *){NULL});
}

static ssize_t file_read_closed(void)
{
    return coil_file_read(thing.file, bytes, 1);
}

static ssize_t file_read_exact_closed(void)
{
    return coil_file_read_exact(thing.file, bytes, 1);
}

static ssize_t file_read_line_closed(void)
{
    return coil_file_read_line(thing.file, bytes, sizeof bytes);
}

static ssize_t file_sync_closed(void)
{
    return coil_file_sync(thing.file, false);
}

static ssize_t file_stat_closed(void)
{
    return coil_file_stat(thing.file, &(struct statx){0});
}

static ssize_t file_chmod_closed(void)
{
    return coil_file_chmod(thing.file, 0600);
}

/* ---- streams ----------------------------------------------------------------------- */

static ssize_t connect_port_refused(void)
{
    return coil_connect_port("127.0.0.1", 1, &(coil_stream *){NULL});
}

static ssize_t listen_port_nowhere(void)
{
    return coil_listen_port("192.0.2.1", 1, 0, &(coil_listener *){NULL});
}

static ssize_t listen_at_two_places(void)
{
    coil_listen_options opts = {.path = "/proc/nonexistent/x", .host = "127.0.0.1"};

    return coil_listen_opts(&opts, &(coil_listener *){NULL});
}

static ssize_t listen_all_nowhere(void)
{
    coil_listen_options opts = {.host = "192.0.2.1", .port = "1"};
    coil_listener *out[2];

    return coil_listen_all(&opts, out, 2);
}

static ssize_t accept_closed(void)
{
    return coil_accept(thing.listener, &(coil_stream *){NULL});
}

static ssize_t listener_name_closed(void)
{
    return coil_listener_name(thing.listener, &(coil_address){0});
}

static ssize_t copy_n_from_closed(void)
{
    return coil_copy_n(thing.stream, thing.open, 1);
}

static ssize_t attach_closed(void)
{
    return coil_stream_attach(thing.stream);
}

static ssize_t attach_attached(void)
{
    return coil_stream_attach(thing.open);
}

static ssize_t release_fd_closed(void)
{
    return coil_stream_release_fd(thing.stream);
}

static ssize_t server_add_while_stopping(void)
{
    return coil_server_add(thing.server, thing.listener);
}

static ssize_t tls_of_a_missing_file(void)
{
    coil_tls_opts opts = {.ca_file = "/proc/nonexistent"};

    return coil_tls_create(&opts, &(coil_tls *){NULL});
}

static ssize_t connect_tls_refused(void)
{
    return coil_connect_tls("127.0.0.1", "1", NULL, &(coil_stream *){NULL});
}

static ssize_t start_tls_closed(void)
{
    return coil_start_tls(thing.stream, NULL, "localhost");
}

static ssize_t accept_tls_without_certificate(void)
{
    return coil_accept_tls(thing.open, NULL);
}

/* ---- polling, watching, posting ---------------------------------------------------- */

static ssize_t poll_too_many(void)
{
    struct rlimit limit;
    struct pollfd *fds;
    nfds_t n;
    int rc;

    if (test_under_valgrind())
        return accept_closed(); /* Valgrind imposes a limit that poll(2) does not have */
    getrlimit(RLIMIT_NOFILE, &limit);
    n = (nfds_t)limit.rlim_cur + 1;
    fds = calloc(n, sizeof *fds);
    rc = coil_poll(fds, n, 0);
    free(fds);
    return rc;
}

static ssize_t watch_nothing_to_write(void)
{
    return coil_add_writer(-1, do_nothing, NULL);
}

static ssize_t watch_nothing_to_read(void)
{
    return coil_add_reader(-1, do_nothing, NULL);
}

static ssize_t wait_for_kill(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGKILL);
    return coil_signal_wait(&set, NULL);
}

static ssize_t handle_kill(void)
{
    return coil_add_signal_handler(SIGKILL, do_nothing, NULL);
}

static ssize_t remove_handler_of_no_signal(void)
{
    return coil_remove_signal_handler(1000);
}

static ssize_t post_to_closed(void)
{
    return coil_post(thing.loop, do_nothing, NULL);
}

static ssize_t spawn_in_closed(void)
{
    return coil_spawn_threadsafe(thing.loop, test_nothing, NULL, NULL, NULL);
}

/* ---- tasks ------------------------------------------------------------------------- */

static ssize_t shield_failed(void)
{
    return coil_shield(thing.failed);
}

static ssize_t gather_failed(void)
{
    int rc;

    return coil_gather((coil_future *[]){thing.failed}, 1, 0, &rc);
}

static ssize_t race_of_none(void)
{
    return coil_staggered_race(NULL, 0, 0, NULL, NULL);
}

static ssize_t race_of_failing(void)
{
    coil_work works[] = {{fail, NULL}};

    return coil_staggered_race(works, 1, 0, NULL, NULL);
}

static ssize_t wait_for_failed(void)
{
    return coil_wait_for(thing.failed, COIL_NEVER);
}

static ssize_t spawn_when_free_too_large(void)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn_when_free(&group, test_nothing, NULL, &too_large, NULL);
    coil_group_exit(&group, 0);
    return rc;
}

static ssize_t start(coil_task_fn fn)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_start(&group, fn, NULL, NULL, NULL);
    coil_group_exit(&group, 0);
    return rc;
}

static ssize_t start_failing(void)
{
    return start(fail);
}

static ssize_t start_ending(void)
{
    return start(test_nothing);
}

static ssize_t started_with_a_failure(void)
{
    return coil_group_started(-1);
}

static ssize_t large_coroutine(void)
{
    coil_coro_opts opts = {.stack_bytes = SIZE_MAX / 2};

    return coil_coro_create(test_coro_nothing, NULL, &opts, &(coil_coro *){NULL});
}

static ssize_t large_generator(void)
{
    coil_gen_opts opts = {.stack_bytes = SIZE_MAX / 2};

    return coil_gen_create(test_gen_nothing, NULL, &opts, &(coil_gen *){NULL});
}

static int fail_in_a_generator(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    return -EXDEV;
}

static ssize_t with_generator(int (*use)(coil_gen *gen))
{
    coil_gen *gen;
    int rc = coil_gen_create(fail_in_a_generator, NULL, NULL, &gen);

    if (rc < 0)
        return 0;
    rc = use(gen);
    coil_gen_destroy(gen);
    return rc;
}

static int send_to_fresh(coil_gen *gen)
{
    return coil_gen_send(gen, bytes, &(void *){NULL});
}

static int yield_from_outside(coil_gen *gen)
{
    return coil_gen_yield_from(gen, &(void *){NULL});
}

static ssize_t send_to_what_has_not_begun(void)
{
    return with_generator(send_to_fresh);
}

static ssize_t delegate_outside(void)
{
    return with_generator(yield_from_outside);
}

/* ---- locks, queues, channels, promises --------------------------------------------- */

static int say_no(void *arg)
{
    (void)arg;
    return 0;
}

static ssize_t wait_for_condition_without_the_lock(void)
{
    return coil_condition_wait_for(&thing.condition, say_no, NULL);
}

static ssize_t release_bounded_too_often(void)
{
    return coil_bounded_semaphore_release(&thing.bounded);
}

static ssize_t put_nowait_shut(void)
{
    return coil_queue_put_nowait(&thing.queue, bytes);
}

static ssize_t get_nowait_shut(void)
{
    return coil_queue_get_nowait(&thing.queue, bytes);
}

static ssize_t put_wait_shut(void)
{
    return coil_channel_put_wait(thing.channel, bytes, 0);
}

static ssize_t get_wait_shut(void)
{
    return coil_channel_get_wait(thing.channel, bytes, 0);
}

static ssize_t set_promise_twice(void)
{
    return coil_promise_set(thing.broken, 0, NULL, NULL);
}

static ssize_t await_broken_promise(void)
{
    return coil_promise_await(thing.broken);
}

static ssize_t block_for_broken_promise(void)
{
    return coil_promise_wait(thing.broken, COIL_NEVER);
}

static ssize_t block_for_pending_promise(void)
{
    return coil_promise_wait(thing.pending, 0);
}

static ssize_t kill_ended(void)
{
    const char *argv[] = {"true", NULL};
    coil_process *process;
    int rc = coil_process_spawn(&(coil_process_opts){.argv = argv}, &process);

    if (rc < 0)
        return rc; /* under Valgrind no processes can be started */
    coil_process_wait(process);
    rc = coil_process_kill(process, SIGTERM);
    coil_process_destroy(process);
    return rc;
}

/* ---- a deadline that has passed ---------------------------------------------------- */

static ssize_t in_no_time(int (*wait)(void))
{
    coil_scope scope;

    coil_scope_enter(&scope, coil_now());
    return coil_scope_exit(&scope, wait());
}

static int wait_for_event(void)
{
    return coil_event_wait(&thing.event);
}

static int acquire_lock(void)
{
    return coil_lock_acquire(&thing.held_lock);
}

static int join_queue(void)
{
    return coil_queue_join(&thing.held);
}

static int acquire_semaphore(void)
{
    coil_semaphore none;
    int rc;

    coil_semaphore_init(&none, 0);
    rc = coil_semaphore_acquire(&none);
    coil_semaphore_finish(&none);
    return rc;
}

static int await_pending_promise(void)
{
    return coil_promise_await(thing.pending);
}

static int park(void)
{
    return coil_park();
}

static int tick(void)
{
    coil_interval interval;

    coil_interval_init(&interval, COIL_SEC(100));
    return coil_interval_wait(&interval);
}

static int sleep_long(void)
{
    return coil_sleep_until(coil_now() + COIL_SEC(100));
}

#define IN_NO_TIME(call)                                                                 \
    static ssize_t call##_in_no_time(void)                                               \
    {                                                                                    \
        return in_no_time(call);                                                         \
    }

IN_NO_TIME(wait_for_event)
IN_NO_TIME(acquire_lock)
IN_NO_TIME(join_queue)
IN_NO_TIME(acquire_semaphore)
IN_NO_TIME(await_pending_promise)
IN_NO_TIME(park)
IN_NO_TIME(tick)
IN_NO_TIME(sleep_long)

/* ---- all of them ------------------------------------------------------------------- */

static const struct failing_call calls[] = {
    CALL(datagram_connect_nowhere),
    CALL(datagram_connect_to_no_family),
    CALL(datagram_open_at_a_missing_path),
    CALL(datagram_connect_to_a_missing_path),
    CALL(datagram_name_closed),
    CALL(datagram_option_closed),
    CALL(send_to_closed),
    CALL(receive_closed),
    CALL(receive_from_closed),
    CALL(open_temporary_nowhere),
    CALL(file_read_closed),
    CALL(file_read_exact_closed),
    CALL(file_read_line_closed),
    CALL(file_sync_closed),
    CALL(file_stat_closed),
    CALL(file_chmod_closed),
    CALL(connect_port_refused),
    CALL(listen_port_nowhere),
    CALL(listen_at_two_places),
    CALL(listen_all_nowhere),
    CALL(accept_closed),
    CALL(listener_name_closed),
    CALL(copy_n_from_closed),
    CALL(attach_closed),
    CALL(attach_attached),
    CALL(release_fd_closed),
    CALL(server_add_while_stopping),
    CALL(tls_of_a_missing_file),
    CALL(connect_tls_refused),
    CALL(start_tls_closed),
    CALL(accept_tls_without_certificate),
    CALL(poll_too_many),
    CALL(watch_nothing_to_write),
    CALL(watch_nothing_to_read),
    CALL(wait_for_kill),
    CALL(handle_kill),
    CALL(remove_handler_of_no_signal),
    CALL(post_to_closed),
    CALL(spawn_in_closed),
    CALL(shield_failed),
    CALL(gather_failed),
    CALL(race_of_none),
    CALL(race_of_failing),
    CALL(wait_for_failed),
    CALL(spawn_when_free_too_large),
    CALL(start_failing),
    CALL(start_ending),
    CALL(started_with_a_failure),
    CALL(large_coroutine),
    CALL(large_generator),
    CALL(send_to_what_has_not_begun),
    CALL(delegate_outside),
    CALL(wait_for_condition_without_the_lock),
    CALL(release_bounded_too_often),
    CALL(put_nowait_shut),
    CALL(get_nowait_shut),
    CALL(put_wait_shut),
    CALL(get_wait_shut),
    CALL(set_promise_twice),
    CALL(await_broken_promise),
    CALL(block_for_broken_promise),
    CALL(block_for_pending_promise),
    CALL(kill_ended),
    CALL(wait_for_event_in_no_time),
    CALL(acquire_lock_in_no_time),
    CALL(join_queue_in_no_time),
    CALL(acquire_semaphore_in_no_time),
    CALL(await_pending_promise_in_no_time),
    CALL(park_in_no_time),
    CALL(tick_in_no_time),
    CALL(sleep_long_in_no_time),
};

/* Create and close a loop on another thread. */
static void *make_closed_loop(void *arg)
{
    coil_loop **out = arg;

    CHECK_INT(coil_loop_create(NULL, out), 0);
    coil_loop_retain(*out);
    coil_loop_close(*out);
    return NULL;
}

static void make_streams(void)
{
    coil_stream *ends[2];

    CHECK_INT(coil_stream_pair(ends), 0);
    thing.open = ends[0];
    thing.stream = ends[1];
    coil_stream_close(thing.stream);
    CHECK_INT(coil_datagram_open("127.0.0.1", "0", 0, &thing.datagram), 0);
    coil_datagram_close(thing.datagram);
    CHECK_INT(coil_file_open("/etc/passwd", O_RDONLY, 0, &thing.file), 0);
    coil_file_close(thing.file);
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &thing.listener), 0);
    coil_listener_close(thing.listener);
    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &thing.served), 0);
    CHECK_INT(coil_server_create(thing.served, serve_nobody, NULL, NULL, &thing.server),
              0);
    CHECK_INT(coil_server_stop(thing.server), 0);
}

static void make_waits(void)
{
    int item = 0;

    coil_queue_init(&thing.queue, 1, 1);
    coil_queue_shutdown(&thing.queue, true);
    coil_queue_init(&thing.held, sizeof item, 1);
    coil_queue_put(&thing.held, &item);
    coil_lock_init(&thing.lock);
    coil_lock_init(&thing.held_lock);
    coil_lock_acquire(&thing.held_lock);
    coil_condition_init(&thing.condition, &thing.lock);
    coil_bounded_semaphore_init(&thing.bounded, 1);
    coil_event_init(&thing.event);
    CHECK_INT(coil_future_create(&thing.failed), 0);
    coil_future_set(thing.failed, -EIO, NULL, NULL);
    CHECK_INT(coil_promise_create(&thing.broken), 0);
    coil_promise_set(thing.broken, -EIO, NULL, NULL);
    CHECK_INT(coil_promise_create(&thing.pending), 0);
    CHECK_INT(coil_channel_create(1, 1, &thing.channel), 0);
    coil_channel_shutdown(thing.channel);
}

static void make_things(void)
{
    pthread_t thread;

    make_streams();
    make_waits();
    pthread_create(&thread, NULL, make_closed_loop, &thing.loop);
    pthread_join(thread, NULL);
}

static void drop_things(void)
{
    coil_stream_destroy(thing.open);
    coil_stream_destroy(thing.stream);
    coil_datagram_destroy(thing.datagram);
    coil_file_destroy(thing.file);
    coil_listener_destroy(thing.listener);
    coil_server_destroy(thing.server);
    coil_listener_destroy(thing.served);
    coil_queue_finish(&thing.queue);
    coil_queue_finish(&thing.held);
    coil_lock_finish(&thing.lock);
    coil_lock_release(&thing.held_lock);
    coil_lock_finish(&thing.held_lock);
    coil_bounded_semaphore_finish(&thing.bounded);
    coil_event_finish(&thing.event);
    coil_future_result(thing.failed);
    coil_future_release(thing.failed);
    coil_promise_release(thing.broken);
    coil_promise_release(thing.pending);
    coil_channel_release(thing.channel);
    coil_loop_release(thing.loop);
}

IO_TEST(a_call_on_what_is_closed_or_shut_is_not_described_by_an_older_failure)
{
    make_things();
    check_own_sentences(calls, sizeof calls / sizeof calls[0]);
    drop_things();
}

IO_TEST(a_call_on_what_is_closed_or_shut_leaves_the_last_error_its_own)
{
    make_things();
    check_last_errors(calls, sizeof calls / sizeof calls[0]);
    drop_things();
}

/* ---- while something fails --------------------------------------------------------- */

static ssize_t put_in_a_queue(void)
{
    coil_queue queue;
    int item = 0, rc;

    coil_queue_init(&queue, sizeof item, 0);
    rc = coil_queue_put(&queue, &item);
    coil_queue_finish(&queue);
    return rc;
}

static ssize_t put_in_a_channel(void)
{
    coil_channel *channel;
    int item = 0, rc = coil_channel_create(sizeof item, 0, &channel);

    for (int i = 0; i < 100 && rc == 0; i++)
        rc = coil_channel_put(channel, &item);
    coil_channel_release(channel);
    return rc;
}

static ssize_t look_up(void)
{
    struct addrinfo *list = NULL;
    int rc = coil_getaddrinfo("localhost", "80", NULL, &list);

    if (rc == 0)
        freeaddrinfo(list);
    return rc;
}

/* Connect to "localhost". The resolver does not query name servers for this name. */
static ssize_t connect_by_name(void)
{
    coil_stream *stream;
    int rc = coil_connect("localhost", "1", &stream);

    coil_stream_destroy(stream);
    return rc;
}

static ssize_t configure_the_resolver(void)
{
    return coil_resolver_configure(&(coil_resolver_opts){.servers = "127.0.0.1"});
}

static ssize_t add_and_remove_a_handler(void)
{
    int rc = coil_add_signal_handler(SIGUSR1, do_nothing, NULL);

    if (rc == 0)
        coil_remove_signal_handler(SIGUSR1);
    return rc;
}

static ssize_t watch_for_a_while(void)
{
    int ends[2], rc;

    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    rc = coil_add_reader(ends[0], do_nothing, NULL);
    if (rc == 0)
        coil_remove_reader(ends[0]);
    close(ends[0]);
    close(ends[1]);
    return rc;
}

static ssize_t block(void)
{
    return coil_blocking(COIL_LANE_CPU, test_nothing, NULL);
}

static ssize_t spawn_in_a_group(void)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, test_nothing, NULL, NULL, NULL);
    coil_group_exit(&group, 0);
    return rc;
}

static ssize_t race(void)
{
    coil_work works[] = {{test_nothing, NULL}};

    return coil_staggered_race(works, 1, 0, NULL, NULL);
}

static ssize_t post(void)
{
    return coil_post(coil_loop_current(), do_nothing, NULL);
}

static ssize_t defer_something(void)
{
    return coil_defer(do_nothing, NULL);
}

static ssize_t stat_something(void)
{
    return coil_stat("/etc/passwd", 0, &(struct statx){0});
}

/* Poll an empty pipe until the call times out. */
static ssize_t poll_a_pipe(void)
{
    struct pollfd in = {.events = POLLIN};
    int ends[2];
    ssize_t rc;

    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    in.fd = ends[0];
    rc = coil_poll(&in, 1, COIL_MSEC(1));
    close(ends[0]);
    close(ends[1]);
    return rc;
}

static ssize_t wait_for_a_pipe(void)
{
    int ends[2];
    ssize_t rc;

    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    rc = coil_wait_fd(ends[1], COIL_WRITABLE);
    close(ends[0]);
    close(ends[1]);
    return rc;
}

/*
 * Poll so many descriptors that coil uses an epoll set instead of one operation per
 * descriptor.
 */
static ssize_t poll_many(void)
{
    struct pollfd fds[8];
    int ends[2];
    ssize_t rc;

    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    for (int i = 0; i < 8; i++)
        fds[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    rc = coil_poll(fds, 8, COIL_MSEC(1));
    close(ends[0]);
    close(ends[1]);
    return rc;
}

static ssize_t talk_through_a_stream(void)
{
    coil_stream *ends[2];
    char line[16];
    ssize_t rc = coil_stream_pair(ends);

    if (rc == 0)
        rc = coil_write(ends[0], "hello\nyou\n", 10);
    if (rc >= 0)
        rc = coil_read_line(ends[1], line, sizeof line);
    if (rc >= 0)
        rc = coil_read_exact(ends[1], line, 4);
    if (rc >= 0)
        rc = coil_stream_shutdown_write(ends[0]);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return rc;
}

static ssize_t use_a_file(void)
{
    coil_file *file;
    ssize_t rc = coil_file_open_temporary(NULL, &file);

    if (rc == 0)
        rc = coil_file_write(file, "hello\n", 6);
    if (rc >= 0)
        rc = coil_file_sync(file, false);
    if (rc >= 0)
        rc = coil_file_seek(file, 0, SEEK_SET);
    if (rc >= 0)
        rc = coil_file_read_line(file, bytes, sizeof bytes);
    if (rc >= 0)
        rc = coil_file_truncate(file, 0);
    if (rc >= 0)
        rc = coil_file_close(file);
    coil_file_destroy(file);
    return rc;
}

static ssize_t list_a_folder(void)
{
    coil_directory *directory;
    coil_directory_entry entry;
    int rc = coil_directory_open("/", &directory);

    while (rc >= 0 && (rc = coil_directory_next(directory, &entry)) > 0)
        continue;
    coil_directory_destroy(directory);
    return rc;
}

static ssize_t communicate(void)
{
    const char *argv[] = {"cat", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE, .out = COIL_PIPE};
    coil_output out = {.data = NULL};
    coil_process *process;
    int rc = coil_process_spawn(&opts, &process);

    if (rc == 0)
        rc = coil_process_communicate(process, "hello", 5, &out, NULL, 0);
    coil_process_destroy(process);
    coil_output_finish(&out);
    return rc;
}

static ssize_t send_a_datagram(void)
{
    coil_datagram *datagram;
    coil_address name;
    ssize_t rc = coil_datagram_open("127.0.0.1", "0", 0, &datagram);

    if (rc == 0)
        rc = coil_datagram_name(datagram, &name);
    if (rc == 0)
        rc = coil_send_to(datagram, "hello", 5, &name.any, name.length);
    coil_datagram_destroy(datagram);
    return rc;
}

static ssize_t read_a_whole_file(void)
{
    void *data;
    size_t n;
    int rc = coil_read_file("/etc/passwd", 0, &data, &n);

    coil_free(data);
    return rc;
}

static ssize_t set_a_variable(void)
{
    static coil_var var = COIL_VAR_INIT("var", NULL);
    coil_var_token token;
    int rc = coil_var_set(&var, bytes, &token);

    return rc == 0 ? coil_var_reset(&var, &token) : rc;
}

static const struct failing_call working[] = {
    CALL(put_in_a_queue),
    CALL(put_in_a_channel),
    CALL(look_up),
    CALL(configure_the_resolver),
    CALL(look_up),
    CALL(connect_by_name),
    CALL(add_and_remove_a_handler),
    CALL(watch_for_a_while),
    CALL(block),
    CALL(spawn_in_a_group),
    CALL(race),
    CALL(post),
    CALL(defer_something),
    CALL(stat_something),
    CALL(poll_a_pipe),
    CALL(poll_many),
    CALL(wait_for_a_pipe),
    CALL(talk_through_a_stream),
    CALL(use_a_file),
    CALL(list_a_folder),
    CALL(communicate),
    CALL(send_a_datagram),
    CALL(read_a_whole_file),
    CALL(set_a_variable),
};

/* A stack size for which no slab has been mapped yet. */
static const size_t LARGE = (size_t)1 << 28;

static ssize_t large_stack_for_a_task(void)
{
    return coil_spawn(test_nothing, NULL, &(coil_spawn_opts){.stack_bytes = LARGE},
                      &(coil_task *){NULL});
}

static ssize_t large_stack_for_a_coroutine(void)
{
    return coil_coro_create(test_coro_nothing, NULL,
                            &(coil_coro_opts){.stack_bytes = LARGE},
                            &(coil_coro *){NULL});
}

static ssize_t large_stack_for_a_generator(void)
{
    return coil_gen_create(test_gen_nothing, NULL, &(coil_gen_opts){.stack_bytes = LARGE},
                           &(coil_gen *){NULL});
}

static const struct failing_call of_stacks[] = {
    CALL(large_stack_for_a_task),
    CALL(large_stack_for_a_coroutine),
    CALL(large_stack_for_a_generator),
};

TASK_TEST(a_stack_that_cannot_be_had_is_not_described_by_an_older_failure)
{
    struct rlimit usual, none;

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the tool needs too much address space");
    getrlimit(RLIMIT_AS, &usual);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = usual.rlim_max};
    for (size_t i = 0; i < sizeof of_stacks / sizeof of_stacks[0]; i++) {
        ssize_t rc;

        coil_fail(-ENOMEM, "an older failure");
        setrlimit(RLIMIT_AS, &none);
        rc = of_stacks[i].call();
        setrlimit(RLIMIT_AS, &usual);
        CHECK_INT(rc, -ENOMEM);
        CHECK(coil_last_error() == NULL);
    }
}

NET_TEST(an_object_that_cannot_be_made_is_not_described_by_an_older_failure)
{
    check_objects_that_fail();
}

IO_TEST(a_call_in_which_something_fails_is_not_described_by_an_older_failure)
{
    check_calls_that_fail(working, sizeof working / sizeof working[0]);
}
