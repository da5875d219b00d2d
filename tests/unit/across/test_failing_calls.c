/*
 * test_failing_calls.c - a call that fails has its own message or none, but never the
 * message of an older failure.
 */
#include "../../harness/harness.h"
#include "failing.h"
#include "objects.h"

#include <coil.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
    coil_stream *ends[2], *closed;
    coil_datagram *datagram;
    coil_file *file;
    coil_queue queue;
    coil_lock lock;
    coil_condition condition;
    coil_barrier barrier;
    coil_future *done, *failed;
    coil_channel *channel;
    coil_address address;
    int nothing; /* a number that is not an open descriptor */
} thing;

static char bytes[16];

static ssize_t read_closed(void)
{
    return coil_read(thing.closed, bytes, 1);
}

static ssize_t read_exact_closed(void)
{
    return coil_read_exact(thing.closed, bytes, 1);
}

static ssize_t write_closed(void)
{
    return coil_write(thing.closed, bytes, 1);
}

static ssize_t peek_closed(void)
{
    const void *peeked;

    return coil_peek(thing.closed, &peeked, 1);
}

static ssize_t read_line_closed(void)
{
    return coil_read_line(thing.closed, bytes, sizeof bytes);
}

static ssize_t write_broken(void)
{
    return coil_write(thing.ends[0], bytes, 1); /* the other end is closed */
}

static ssize_t set_limit_closed(void)
{
    return coil_stream_set_limit(thing.ends[0], 0);
}

static ssize_t detach_closed(void)
{
    return coil_stream_detach(thing.closed);
}

static ssize_t peer_closed(void)
{
    coil_address peer;

    return coil_stream_peer(thing.closed, &peer);
}

static ssize_t adopt_nothing(void)
{
    coil_stream *stream;

    return coil_stream_adopt(thing.nothing, &stream);
}

static ssize_t adopt_no_listener(void)
{
    coil_listener *listener;

    return coil_listener_adopt(coil_stream_fd(thing.ends[0]), &listener);
}

static ssize_t adopt_no_datagram(void)
{
    coil_datagram *datagram;

    return coil_datagram_adopt(coil_stream_fd(thing.ends[0]), &datagram);
}

static ssize_t listen_nowhere(void)
{
    coil_listener *listener;

    return coil_listen("192.0.2.1", "0", 0, &listener);
}

static ssize_t listen_on_a_missing_path(void)
{
    coil_listener *listener;

    return coil_listen_unix("/proc/nonexistent/socket", 0, &listener);
}

static ssize_t connect_to_a_missing_path(void)
{
    coil_stream *stream;

    return coil_connect_unix("/proc/nonexistent/socket", &stream);
}

static ssize_t send_to_nobody(void)
{
    return coil_send(thing.datagram, bytes, 1);
}

static ssize_t join_no_group(void)
{
    return coil_datagram_join(thing.datagram, "10.0.0.1", NULL);
}

static ssize_t wait_for_nothing(void)
{
    return coil_wait_fd(thing.nothing, COIL_READABLE);
}

static ssize_t wait_for_no_event(void)
{
    return coil_wait_fd(0, 0);
}

static void never(void *arg)
{
    (void)arg;
}

static ssize_t watch_nothing(void)
{
    return coil_add_reader(-1, never, NULL);
}

static ssize_t open_missing(void)
{
    coil_file *file;

    return coil_file_open("/proc/nonexistent", O_RDONLY, 0, &file);
}

static ssize_t file_adopt_nothing(void)
{
    coil_file *file;

    return coil_file_adopt(thing.nothing, &file);
}

static ssize_t write_read_only(void)
{
    return coil_file_write(thing.file, bytes, 1);
}

static ssize_t read_before_the_beginning(void)
{
    return coil_file_pread(thing.file, bytes, 1, -5);
}

static ssize_t truncate_read_only(void)
{
    return coil_file_truncate(thing.file, 1);
}

static ssize_t make_temporary_without_x(void)
{
    char name[] = "/tmp/coil";
    coil_file *file;

    return coil_mkstemp(name, &file);
}

static ssize_t stat_missing(void)
{
    struct statx st;

    return coil_stat("/proc/nonexistent", 0, &st);
}

static ssize_t rename_missing(void)
{
    return coil_rename("/proc/nonexistent", "/proc/nonexistent2", 0);
}

static ssize_t unlink_missing(void)
{
    return coil_unlink("/proc/nonexistent");
}

static ssize_t rmdir_missing(void)
{
    return coil_rmdir("/proc/nonexistent");
}

static ssize_t mkdir_existing(void)
{
    return coil_mkdir("/tmp", 0700);
}

static ssize_t link_missing(void)
{
    return coil_link("/proc/nonexistent", "/proc/nonexistent2");
}

static ssize_t symlink_existing(void)
{
    return coil_symlink("x", "/tmp");
}

static ssize_t readlink_missing(void)
{
    return coil_readlink("/proc/nonexistent", bytes, sizeof bytes);
}

static ssize_t read_file_missing(void)
{
    void *data;
    size_t n;

    return coil_read_file("/proc/nonexistent", 0, &data, &n);
}

static ssize_t write_file_nowhere(void)
{
    return coil_write_file("/proc/nonexistent/file", bytes, 1, 0600, 0);
}

static ssize_t copy_missing(void)
{
    return coil_copy_file("/proc/nonexistent", "/proc/nonexistent2", NULL);
}

static ssize_t open_directory_missing(void)
{
    coil_directory *directory;

    return coil_directory_open("/proc/nonexistent", &directory);
}

static ssize_t spawn_missing(void)
{
    const char *const argv[] = {"/proc/nonexistent", NULL};
    coil_process *process;

    return coil_process_spawn(&(coil_process_opts){.argv = argv}, &process);
}

static ssize_t spawn_nothing(void)
{
    const char *const argv[] = {NULL};
    coil_process *process;

    return coil_process_spawn(&(coil_process_opts){.argv = argv}, &process);
}

static int fail_on_thread(void *arg)
{
    (void)arg;
    return -EXDEV;
}

static ssize_t block(void)
{
    return coil_blocking(COIL_LANE_CPU, fail_on_thread, NULL);
}

static ssize_t set_bad_limit(void)
{
    return coil_executor_set_limit(COIL_LANE_CPU, 0);
}

static ssize_t put_shut(void)
{
    return coil_queue_put(&thing.queue, bytes);
}

static ssize_t get_shut(void)
{
    return coil_queue_get(&thing.queue, bytes);
}

static ssize_t finish_too_often(void)
{
    return coil_queue_task_done(&thing.queue);
}

static ssize_t release_free(void)
{
    return coil_lock_release(&thing.lock);
}

static ssize_t wait_without_the_lock(void)
{
    return coil_condition_wait(&thing.condition);
}

static ssize_t notify_without_the_lock(void)
{
    return coil_condition_notify_all(&thing.condition);
}

static ssize_t wait_for_nobody(void)
{
    return coil_barrier_wait(&thing.barrier);
}

static ssize_t time_out(void)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_MSEC(1)));

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_sleep(COIL_SEC(60)));
}

static ssize_t set_twice(void)
{
    return coil_future_set(thing.done, 0, NULL, NULL);
}

static ssize_t await_failed(void)
{
    coil_future *future;
    int rc = coil_future_create(&future);

    if (rc < 0)
        return rc;
    coil_future_set(future, -EPROTO, NULL, NULL);
    rc = coil_await(future);
    coil_future_release(future);
    return rc;
}

static int fail_plainly(void *arg)
{
    (void)arg;
    return -EPROTO;
}

static ssize_t spawn_with_too_much(void)
{
    return coil_spawn(fail_plainly, bytes, &(coil_spawn_opts){.arg_bytes = 1 << 20},
                      NULL);
}

static ssize_t await_failed_task(void)
{
    coil_task *task;
    int rc = coil_spawn(fail_plainly, NULL, NULL, &task);

    if (rc < 0)
        return rc;
    rc = coil_task_await(task);
    coil_task_release(task);
    return rc;
}

static ssize_t leave_failed_group(void)
{
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, fail_plainly, NULL, NULL, NULL);
    return coil_group_exit(&group, 0);
}

static ssize_t wait_in_vain(void)
{
    coil_task *task;
    int rc = coil_spawn(fail_plainly, NULL, NULL, &task);

    if (rc < 0)
        return rc;
    rc = coil_wait_for(coil_task_future(task), coil_now());
    coil_task_release(task);
    return rc == -EPROTO || rc == -ETIMEDOUT ? -ETIMEDOUT : rc;
}

static ssize_t wait_for_no_signal(void)
{
    return coil_add_signal_handler(12345, never, NULL);
}

static ssize_t open_no_loop(void)
{
    coil_loop *loop;

    return coil_loop_create(NULL, &loop);
}

static ssize_t mkdtemp_without_x(void)
{
    return coil_mkdtemp(bytes);
}

static ssize_t address_of_words(void)
{
    return coil_address_of_numbers("words", 1, &thing.address);
}

static ssize_t address_of_no_path(void)
{
    return coil_address_of_path("", &thing.address);
}

static ssize_t connect_to_no_family(void)
{
    return coil_connect_address(&(coil_address){0}, &(coil_stream *){NULL});
}

static ssize_t listen_at_no_family(void)
{
    return coil_listen_address(&(coil_address){0}, 1, &(coil_listener *){NULL});
}

static ssize_t name_no_address(void)
{
    return coil_getnameinfo((const struct sockaddr *)bytes, 1, bytes, sizeof bytes, NULL,
                            0, 0);
}

static ssize_t peer_of_unconnected(void)
{
    return coil_datagram_peer(thing.datagram, &thing.address);
}

static ssize_t leave_no_group(void)
{
    return coil_datagram_leave(thing.datagram, "127.0.0.1", NULL);
}

static ssize_t send_batch_of_less_than_none(void)
{
    return coil_send_batch(thing.datagram, NULL, -1);
}

static ssize_t receive_batch_of_none(void)
{
    return coil_receive_batch(thing.datagram, NULL, 0);
}

static ssize_t read_until_closed(void)
{
    return coil_read_until(thing.closed, "x", 1, bytes, sizeof bytes);
}

static ssize_t copy_from_closed(void)
{
    return coil_copy(thing.closed, thing.ends[0]);
}

static ssize_t sendfile_of_nothing(void)
{
    return coil_sendfile(thing.ends[0], thing.nothing, NULL, 1);
}

static ssize_t seek_nowhere(void)
{
    return coil_file_seek(thing.file, -1, SEEK_SET);
}

static ssize_t allocate_read_only(void)
{
    return coil_file_allocate(thing.file, 0, 0, 1);
}

static ssize_t pread_exact_behind_the_end(void)
{
    return coil_file_pread_exact(thing.file, bytes, 1, COIL_SEC(1000));
}

static ssize_t yield_outside(void)
{
    return coil_gen_yield(NULL, NULL);
}

static ssize_t put_into_shut_channel(void)
{
    return coil_channel_put(thing.channel, bytes);
}

static ssize_t get_from_shut_channel(void)
{
    return coil_channel_get(thing.channel, bytes);
}

static ssize_t put_nowait_into_shut_channel(void)
{
    return coil_channel_put_nowait(thing.channel, bytes);
}

static ssize_t get_nowait_from_shut_channel(void)
{
    return coil_channel_get_nowait(thing.channel, bytes);
}

static ssize_t credentials_of_closed(void)
{
    pid_t pid;
    uid_t uid;
    gid_t gid;

    return coil_stream_credentials(thing.closed, &pid, &uid, &gid);
}

static ssize_t certificate_of_plain(void)
{
    return coil_tls_peer_certificate(thing.ends[0], bytes, sizeof bytes);
}

static ssize_t stop_tls_of_plain(void)
{
    return coil_tls_stop(thing.ends[0]);
}

static ssize_t resolver_of_no_engine(void)
{
    return coil_resolver_configure(&(coil_resolver_opts){.engine = "none"});
}

static ssize_t result_of_failed(void)
{
    return coil_future_result(thing.failed);
}

/* A hook whose state is too large. */
static const coil_task_hooks large_hook = {.state_bytes = COIL_HOOK_STATES_BYTES + 1};
static const coil_task_hooks *const large_hooks[] = {&large_hook, NULL};

static ssize_t unpark_nobody(void)
{
    return coil_unpark(coil_task_current(), 0);
}

static ssize_t set_error_twice(void)
{
    return coil_future_set_error(thing.done, -EIO, "%s", "too late");
}

static ssize_t spawn_with_large_hooks(void)
{
    return coil_spawn(test_nothing, NULL, &(coil_spawn_opts){.hooks = large_hooks}, NULL);
}

static ssize_t create_channel_of_no_room(void)
{
    return coil_channel_create(0, 1, &(coil_channel *){NULL});
}

static ssize_t get_from_none(void)
{
    return coil_queue_get_any(NULL, 0, bytes);
}

static ssize_t get_from_shut_ones(void)
{
    return coil_queue_get_any((coil_queue *[]){&thing.queue, &thing.queue}, 2, bytes);
}

static ssize_t writev_closed(void)
{
    return coil_writev(thing.closed, &(struct iovec){bytes, 1}, 1);
}

static ssize_t shut_down_closed(void)
{
    return coil_stream_shutdown_write(thing.closed);
}

static ssize_t name_closed(void)
{
    coil_address name;

    return coil_stream_name(thing.closed, &name);
}

static ssize_t no_delay_closed(void)
{
    return coil_stream_set_no_delay(thing.closed, true);
}

static ssize_t keep_alive_closed(void)
{
    return coil_stream_set_keep_alive(thing.closed, true);
}

static ssize_t pwrite_read_only(void)
{
    return coil_file_pwrite(thing.file, bytes, 1, 0);
}

static ssize_t wait_for_none(void)
{
    return coil_wait(NULL, 0, COIL_WAIT_ALL, COIL_NEVER);
}

static ssize_t connect_to_no_port(void)
{
    return coil_connect("127.0.0.1", "no such port", &(coil_stream *){NULL});
}

static ssize_t run_too_many_threads(void)
{
    return coil_run_threads(1 << 30, test_nothing, NULL, NULL);
}

static ssize_t address_in_no_zone(void)
{
    return coil_address_of_numbers("fe80::1%nowhere", 1, &thing.address);
}

static ssize_t configure_no_time(void)
{
    return coil_resolver_configure(&(coil_resolver_opts){.timeout_ns = -1});
}

static ssize_t connect_with_no_delay(void)
{
    coil_connect_options opts = {.attempt_delay_ns = 1};

    return coil_connect_opts("127.0.0.1", "1", &opts, &(coil_stream *){NULL});
}

static ssize_t connect_from_words(void)
{
    coil_connect_options opts = {.local_host = "words"};

    return coil_connect_opts("127.0.0.1", "1", &opts, &(coil_stream *){NULL});
}

static ssize_t open_datagram_with_unknown_flags(void)
{
    coil_datagram *datagram;

    coil_address_of_numbers("127.0.0.1", 0, &thing.address);
    return coil_datagram_open_address(&thing.address, 1u << 31, &datagram);
}

static ssize_t send_batch_too_large(void)
{
    static char large[70000];
    coil_message messages[2] = {{.data = large, .size = sizeof large},
                                {.data = large, .size = sizeof large}};

    coil_address_of_numbers("127.0.0.1", 9, &messages[0].address);
    messages[1].address = messages[0].address;
    return coil_send_batch(thing.datagram, messages, 2);
}

static ssize_t spawn_on_no_descriptor(void)
{
    const char *argv[] = {"true", NULL};
    coil_process *process;

    return coil_process_spawn(&(coil_process_opts){.argv = argv, .in = -77}, &process);
}

static ssize_t communicate_too_much(void)
{
    coil_process_opts opts = {.out = COIL_PIPE};
    coil_output output = {.data = NULL};
    coil_process *process;
    int rc = coil_process_shell("echo 12345", &opts, &process);

    if (rc < 0)
        return rc; /* under Valgrind no processes can be started */
    rc = coil_process_communicate(process, NULL, 0, &output, NULL, 2);
    coil_process_destroy(process);
    coil_output_finish(&output);
    return rc;
}

static ssize_t kill_group_by_no_signal(void)
{
    const char *argv[] = {"cat", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE, .new_group = true};
    coil_process *process;
    int rc = coil_process_spawn(&opts, &process);

    if (rc < 0)
        return rc; /* under Valgrind no processes can be started */
    rc = coil_process_kill_group(process, 1000);
    coil_process_destroy(process);
    return rc;
}

static int fail_on_a_thread(void *arg)
{
    (void)arg;
    return -EXDEV;
}

static ssize_t block_and_fail(void)
{
    return coil_blocking_abandonable(COIL_LANE_CPU, fail_on_a_thread, NULL, NULL);
}

static ssize_t result_of_pending(void)
{
    coil_future *future;
    int rc = coil_future_create(&future);

    if (rc < 0)
        return rc;
    rc = coil_future_result(future);
    coil_future_release(future);
    return rc;
}

static ssize_t result_of_promise(int rc)
{
    coil_promise *promise;

    CHECK_INT(coil_promise_create(&promise), 0);
    if (rc < 0)
        coil_promise_set(promise, rc, NULL, NULL);
    rc = coil_promise_result(promise);
    coil_promise_release(promise);
    return rc;
}

static ssize_t result_of_pending_promise(void)
{
    return result_of_promise(0);
}

static ssize_t result_of_failed_promise(void)
{
    return result_of_promise(-EIO);
}

static ssize_t status_of_running(void)
{
    const char *argv[] = {"cat", NULL};
    coil_process_opts opts = {.argv = argv, .in = COIL_PIPE};
    coil_process *process;
    int rc = coil_process_spawn(&opts, &process);

    if (rc < 0)
        return rc; /* under Valgrind no processes can be started */
    rc = coil_process_status(process);
    coil_process_destroy(process);
    return rc;
}

static const struct failing_call calls[] = {
    CALL(result_of_failed_promise),
    CALL(read_closed),
    CALL(address_in_no_zone),
    CALL(configure_no_time),
    CALL(connect_with_no_delay),
    CALL(connect_from_words),
    CALL(open_datagram_with_unknown_flags),
    CALL(send_batch_too_large),
    CALL(spawn_on_no_descriptor),
    CALL(communicate_too_much),
    CALL(kill_group_by_no_signal),
    CALL(block_and_fail),
    CALL(read_exact_closed),
    CALL(write_closed),
    CALL(peek_closed),
    CALL(read_line_closed),
    CALL(write_broken),
    CALL(set_limit_closed),
    CALL(detach_closed),
    CALL(peer_closed),
    CALL(adopt_nothing),
    CALL(adopt_no_listener),
    CALL(adopt_no_datagram),
    CALL(listen_nowhere),
    CALL(listen_on_a_missing_path),
    CALL(send_to_nobody),
    CALL(join_no_group),
    CALL(wait_for_nothing),
    CALL(wait_for_no_event),
    CALL(watch_nothing),
    CALL(open_missing),
    CALL(file_adopt_nothing),
    CALL(write_read_only),
    CALL(truncate_read_only),
    CALL(make_temporary_without_x),
    CALL(stat_missing),
    CALL(rename_missing),
    CALL(unlink_missing),
    CALL(rmdir_missing),
    CALL(mkdir_existing),
    CALL(link_missing),
    CALL(symlink_existing),
    CALL(readlink_missing),
    CALL(read_file_missing),
    CALL(write_file_nowhere),
    CALL(copy_missing),
    CALL(open_directory_missing),
    CALL(spawn_missing),
    CALL(spawn_nothing),
    CALL(block),
    CALL(set_bad_limit),
    CALL(put_shut),
    CALL(get_shut),
    CALL(finish_too_often),
    CALL(release_free),
    CALL(wait_without_the_lock),
    CALL(notify_without_the_lock),
    CALL(wait_for_nobody),
    CALL(time_out),
    CALL(set_twice),
    CALL(await_failed),
    CALL(spawn_with_too_much),
    CALL(await_failed_task),
    CALL(leave_failed_group),
    CALL(wait_in_vain),
    CALL(wait_for_no_signal),
    CALL(open_no_loop),
    CALL(connect_to_a_missing_path),
    CALL(read_before_the_beginning),
    CALL(mkdtemp_without_x),
    CALL(address_of_words),
    CALL(address_of_no_path),
    CALL(connect_to_no_family),
    CALL(listen_at_no_family),
    CALL(name_no_address),
    CALL(peer_of_unconnected),
    CALL(leave_no_group),
    CALL(send_batch_of_less_than_none),
    CALL(receive_batch_of_none),
    CALL(read_until_closed),
    CALL(copy_from_closed),
    CALL(sendfile_of_nothing),
    CALL(seek_nowhere),
    CALL(allocate_read_only),
    CALL(pread_exact_behind_the_end),
    CALL(yield_outside),
    CALL(put_into_shut_channel),
    CALL(get_from_shut_channel),
    CALL(put_nowait_into_shut_channel),
    CALL(get_nowait_from_shut_channel),
    CALL(credentials_of_closed),
    CALL(certificate_of_plain),
    CALL(stop_tls_of_plain),
    CALL(resolver_of_no_engine),
    CALL(result_of_failed),
    CALL(unpark_nobody),
    CALL(set_error_twice),
    CALL(spawn_with_large_hooks),
    CALL(create_channel_of_no_room),
    CALL(get_from_none),
    CALL(get_from_shut_ones),
    CALL(writev_closed),
    CALL(shut_down_closed),
    CALL(name_closed),
    CALL(no_delay_closed),
    CALL(keep_alive_closed),
    CALL(pwrite_read_only),
    CALL(wait_for_none),
    CALL(connect_to_no_port),
    CALL(run_too_many_threads),
};

/* Calls that return -EINPROGRESS, which a task must not return. */
static const struct failing_call pending[] = {
    CALL(result_of_pending),
    CALL(result_of_pending_promise),
    CALL(status_of_running),
};

static void make_things(void)
{
    coil_stream *pair[2];

    CHECK_INT(coil_stream_pair(thing.ends), 0);
    CHECK_INT(coil_stream_pair(pair), 0);
    coil_stream_destroy(thing.ends[1]);
    thing.closed = pair[0];
    coil_stream_close(thing.closed);
    coil_stream_destroy(pair[1]);
    CHECK_INT(coil_datagram_open("127.0.0.1", "0", 0, &thing.datagram), 0);
    CHECK_INT(coil_file_open("/etc/passwd", O_RDONLY, 0, &thing.file), 0);
    coil_queue_init(&thing.queue, 1, 1);
    coil_queue_shutdown(&thing.queue, true);
    coil_lock_init(&thing.lock);
    coil_condition_init(&thing.condition, &thing.lock);
    coil_barrier_init(&thing.barrier, 0);
    CHECK_INT(coil_future_create(&thing.done), 0);
    coil_future_set(thing.done, 0, NULL, NULL);
    CHECK_INT(coil_future_create(&thing.failed), 0);
    coil_future_set(thing.failed, -EIO, NULL, NULL);
    CHECK_INT(coil_channel_create(1, 1, &thing.channel), 0);
    coil_channel_shutdown(thing.channel);
    thing.nothing = dup(0);
    close(thing.nothing);
}

static void drop_things(void)
{
    coil_stream_destroy(thing.ends[0]);
    coil_stream_destroy(thing.closed);
    coil_datagram_destroy(thing.datagram);
    coil_file_destroy(thing.file);
    coil_queue_finish(&thing.queue);
    coil_lock_finish(&thing.lock);
    coil_future_release(thing.done);
    coil_future_result(thing.failed);
    coil_future_release(thing.failed);
    coil_channel_release(thing.channel);
}

IO_TEST(a_call_that_fails_is_not_described_by_an_older_failure)
{
    make_things();
    check_own_sentences(calls, sizeof calls / sizeof calls[0]);
    drop_things();
}

/* After a failed call, an older failure with another rc must not be the last error. */
IO_TEST(a_call_that_fails_differently_leaves_the_error_to_the_body)
{
    make_things();
    check_last_errors(calls, sizeof calls / sizeof calls[0]);
    check_last_errors(pending, sizeof pending / sizeof pending[0]);
    drop_things();
}

/*
 * Fail, and clean up with another failure. The task's error must have the message of the
 * failure whose rc the task returns.
 */
static int fail_then_clean_up(void *arg)
{
    int rc = coil_fail(-EDOM, "the reason");

    (void)arg;
    read_closed();
    coil_sleep(COIL_MSEC(1));
    return rc;
}

IO_TEST(what_fails_while_cleaning_up_does_not_take_the_sentence_away)
{
    coil_task *task;

    make_things();
    CHECK_INT(coil_spawn(fail_then_clean_up, NULL, NULL, &task), 0);
    CHECK_INT(coil_task_await(task), -EDOM);
    CHECK_STR(coil_error_message(coil_future_error(coil_task_future(task))),
              "the reason");
    coil_task_release(task);
    drop_things();
}

static void check_sentence(ssize_t (*call)(void), const char *expected)
{
    CHECK(call() < 0);
    CHECK(coil_last_error() != NULL);
    if (coil_last_error() != NULL)
        CHECK_STR(coil_error_message(coil_last_error()), expected);
}

IO_TEST(files_listeners_and_adopting_have_sentences)
{
    char number[64];

    make_things();
    check_sentence(open_missing, "cannot open '/proc/nonexistent'");
    check_sentence(stat_missing, "cannot read the attributes of '/proc/nonexistent'");
    check_sentence(rename_missing,
                   "cannot rename '/proc/nonexistent' to '/proc/nonexistent2'");
    check_sentence(mkdir_existing, "cannot make directory '/tmp'");
    check_sentence(read_file_missing, "cannot open '/proc/nonexistent'");
    check_sentence(write_file_nowhere, "cannot open '/proc/nonexistent/file'");
    check_sentence(copy_missing,
                   "cannot copy '/proc/nonexistent' to '/proc/nonexistent2'");
    check_sentence(open_directory_missing, "cannot open '/proc/nonexistent'");
    check_sentence(listen_nowhere, "cannot listen on 192.0.2.1, port 0");
    snprintf(number, sizeof number, "cannot adopt descriptor %d as a stream",
             thing.nothing);
    check_sentence(adopt_nothing, number);
    drop_things();
}
