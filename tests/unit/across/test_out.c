/*
 * Functions that return an object through `out` set it to NULL whenever they fail.
 */
#include "../../harness/harness.h"
#include "objects.h"

#include <coil.h>
#include <coil/testing.h>

#include <fcntl.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The initial value of `out`, which would crash if it were used or freed. */
#define STALE ((void *)8)

/*
 * Calls with one invalid argument. Calls with valid arguments, which fail only if a
 * resource is not available, are in objects.c.
 */
struct call {
    const char *name;
    int (*refuse)(void **out);
};

static const char *const BAD_PORT = "no such port";
static const char *const NOWHERE = "/proc/nonexistent/nothing";
static const coil_spawn_opts too_large = {.arg_bytes = 1 << 20};
static coil_address no_address; /* has no address family */

#define REFUSE(name, call)                                                               \
    static int refuse_##name(void **out)                                                 \
    {                                                                                    \
        return call;                                                                     \
    }
#define OUT ((void *)out)

/* ---- tasks, futures, callbacks, coroutines ----------------------------------------- */

REFUSE(spawn, coil_spawn(test_nothing, "", &too_large, OUT))
REFUSE(spawn_threadsafe,
       coil_spawn_threadsafe(coil_loop_current(), test_nothing, "", &too_large, OUT))
REFUSE(channel, coil_channel_create(0, 1, OUT))
REFUSE(coro, coil_coro_create(test_coro_nothing, NULL,
                              &(coil_coro_opts){.stack_bytes = SIZE_MAX / 2}, OUT))
REFUSE(gen, coil_gen_create(test_gen_nothing, NULL,
                            &(coil_gen_opts){.stack_bytes = SIZE_MAX / 2}, OUT))
REFUSE(loop, coil_loop_create(NULL, OUT))
REFUSE(runner, coil_runner_create(NULL, OUT))

typedef int (*group_call)(coil_group *, coil_task_fn, void *, const coil_spawn_opts *,
                          coil_task **);

static int refuse_in_group(group_call call, void **out)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = call(&group, test_nothing, "", &too_large, OUT);
    coil_group_exit(&group, 0);
    return rc;
}

REFUSE(group_spawn, refuse_in_group(coil_group_spawn, out))
REFUSE(group_start, refuse_in_group(coil_group_start, out))
REFUSE(group_spawn_when_free, refuse_in_group(coil_group_spawn_when_free, out))

/* The child ends without calling coil_group_started(). */
static int refuse_group_start_late(void **out)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_start(&group, test_nothing, NULL, NULL, OUT);
    coil_group_exit(&group, 0);
    return rc;
}

/* ---- streams, listeners, datagrams ------------------------------------------------- */

static int listen_without_address(void **out)
{
    return coil_listen_address(&no_address, 1, OUT);
}

static int accept_from_closed(void **out)
{
    coil_listener *closed;
    int rc = coil_listen_port("127.0.0.1", 0, 1, &closed);

    if (rc < 0)
        return rc;
    coil_listener_close(closed);
    rc = coil_accept(closed, OUT);
    coil_listener_destroy(closed);
    return rc;
}

static int refuse_listen_all(void **out)
{
    coil_listener *all[4] = {STALE, STALE, STALE, STALE};
    int rc = coil_listen_all(
        &(coil_listen_options){.host = "localhost", .port = BAD_PORT}, all, 4);

    for (int i = 0; i < 4; i++)
        CHECK_PTR(all[i], NULL);
    *out = all[0];
    return rc;
}

REFUSE(listen, coil_listen("127.0.0.1", BAD_PORT, 1, OUT))
REFUSE(listen_port, coil_listen_port("nobody.invalid.", 0, 1, OUT))
REFUSE(listen_unix, coil_listen_unix(NOWHERE, 1, OUT))
REFUSE(listener_adopt, coil_listener_adopt(-1, OUT))
REFUSE(connect, coil_connect("127.0.0.1", BAD_PORT, OUT))
REFUSE(connect_opts, coil_connect_opts("127.0.0.1", BAD_PORT, NULL, OUT))
REFUSE(connect_address, coil_connect_address(&no_address, OUT))
REFUSE(connect_unix, coil_connect_unix(NOWHERE, OUT))
REFUSE(connect_tls, coil_connect_tls("127.0.0.1", BAD_PORT, NULL, OUT))
REFUSE(stream_adopt, coil_stream_adopt(-1, OUT))
REFUSE(tls, coil_tls_create(&(coil_tls_opts){.ca_file = NOWHERE}, OUT))
REFUSE(datagram_open, coil_datagram_open("127.0.0.1", "0", ~0u, OUT))
REFUSE(datagram_open_address, coil_datagram_open_address(&no_address, 0, OUT))
REFUSE(datagram_open_unix, coil_datagram_open_unix(NOWHERE, OUT))
REFUSE(datagram_connect, coil_datagram_connect("127.0.0.1", BAD_PORT, OUT))
REFUSE(datagram_connect_address, coil_datagram_connect_address(&no_address, OUT))
REFUSE(datagram_connect_unix, coil_datagram_connect_unix(NOWHERE, OUT))
REFUSE(datagram_adopt, coil_datagram_adopt(-1, OUT))
REFUSE(getaddrinfo, coil_getaddrinfo("127.0.0.1", BAD_PORT, NULL, OUT))

/* ---- files and processes ----------------------------------------------------------- */

static int make_with_bad_pattern(void **out)
{
    char name[] = "/proc/nonexistent/no pattern";

    return coil_mkstemp(name, OUT);
}

static int read_nothing(void **out)
{
    size_t n;

    return coil_read_file(NOWHERE, 0, out, &n);
}

static int spawn_nothing(void **out)
{
    const char *argv[] = {NOWHERE, NULL};

    return coil_process_spawn(&(coil_process_opts){.argv = argv}, OUT);
}

REFUSE(file_open, coil_file_open(NOWHERE, O_RDONLY, 0, OUT))
REFUSE(file_adopt, coil_file_adopt(-1, OUT))
REFUSE(file_open_temporary, coil_file_open_temporary(NOWHERE, OUT))
REFUSE(directory_open, coil_directory_open(NOWHERE, OUT))
REFUSE(process_shell, coil_process_shell(NULL, NULL, OUT))
REFUSE(process_of_nothing, coil_process_spawn(&(coil_process_opts){.argv = NULL}, OUT))

/* ---- the table --------------------------------------------------------------------- */

static const struct call calls[] = {
    {"coil_spawn", refuse_spawn},
    {"coil_spawn_threadsafe", refuse_spawn_threadsafe},
    {"coil_group_spawn", refuse_group_spawn},
    {"coil_group_start", refuse_group_start},
    {"coil_group_start, late", refuse_group_start_late},
    {"coil_group_spawn_when_free", refuse_group_spawn_when_free},
    {"coil_channel_create", refuse_channel},
    {"coil_coro_create", refuse_coro},
    {"coil_gen_create", refuse_gen},
    {"coil_loop_create", refuse_loop},
    {"coil_runner_create", refuse_runner},
    {"coil_listen", refuse_listen},
    {"coil_listen_port", refuse_listen_port},
    {"coil_listen_address", listen_without_address},
    {"coil_listen_unix", refuse_listen_unix},
    {"coil_listen_all", refuse_listen_all},
    {"coil_listener_adopt", refuse_listener_adopt},
    {"coil_accept", accept_from_closed},
    {"coil_connect", refuse_connect},
    {"coil_connect_opts", refuse_connect_opts},
    {"coil_connect_address", refuse_connect_address},
    {"coil_connect_unix", refuse_connect_unix},
    {"coil_connect_tls", refuse_connect_tls},
    {"coil_stream_adopt", refuse_stream_adopt},
    {"coil_tls_create", refuse_tls},
    {"coil_datagram_open", refuse_datagram_open},
    {"coil_datagram_open_address", refuse_datagram_open_address},
    {"coil_datagram_open_unix", refuse_datagram_open_unix},
    {"coil_datagram_connect", refuse_datagram_connect},
    {"coil_datagram_connect_address", refuse_datagram_connect_address},
    {"coil_datagram_connect_unix", refuse_datagram_connect_unix},
    {"coil_datagram_adopt", refuse_datagram_adopt},
    {"coil_getaddrinfo", refuse_getaddrinfo},
    {"coil_file_open", refuse_file_open},
    {"coil_file_adopt", refuse_file_adopt},
    {"coil_file_open_temporary", refuse_file_open_temporary},
    {"coil_mkstemp", make_with_bad_pattern},
    {"coil_read_file", read_nothing},
    {"coil_directory_open", refuse_directory_open},
    {"coil_process_spawn", spawn_nothing},
    {"coil_process_spawn, no argv", refuse_process_of_nothing},
    {"coil_process_shell", refuse_process_shell},
};

#define CALL_COUNT (sizeof calls / sizeof calls[0])

static void check_failed(const char *call, int rc, const void *out)
{
    if (rc >= 0)
        fprintf(stderr, "%s did not fail\n", call);
    if (out != NULL)
        fprintf(stderr, "%s failed with %d and left %p\n", call, rc, out);
    CHECK(rc < 0 && out == NULL);
}

IO_TEST(out_is_null_after_a_bad_argument)
{
    for (size_t i = 0; i < CALL_COUNT; i++) {
        void *out = STALE;
        int rc = calls[i].refuse(&out);

        check_failed(calls[i].name, rc, out);
    }
}

/*
 * Make each allocation in the call fail in turn, until the call succeeds. Returns the
 * number of failed calls.
 */
static uint64_t fail_each_allocation(const struct test_object *object)
{
    for (uint64_t nth = 1;; nth++) {
        const char *failed;
        void *out = STALE;
        int rc;

        coil_testing_fail_allocation(nth);
        rc = object->make(&out);
        failed = coil_testing_failed();
        coil_testing_fail_allocation(0);
        if (rc >= 0) {
            CHECK(out != NULL && out != STALE);
            object->destroy(out);
        } else {
            check_failed(object->call, rc, out);
        }
        coil_yield();
        if (failed == NULL)
            return nth - 1;
    }
}

IO_TEST(out_is_null_after_a_failed_allocation)
{
    size_t without_failure = 0;

    for (size_t i = 0; i < test_object_count; i++) {
        CHECK_INT(coil_listen_port("127.0.0.1", 0, 128, &test_listener), 0);
        without_failure += fail_each_allocation(&test_objects[i]) == 0;
        coil_listener_destroy(test_listener);
    }
    /*
     * Up to four calls do not allocate: tasks, coroutines and generators are stored on
     * their own stacks, and a build without TLS cannot create a TLS context.
     */
    CHECK(without_failure <= 4);
}

/* The promise is created before the loop refuses the task. */
static void spawn_on_closed_loop(void)
{
    coil_promise *promise = STALE;
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    coil_loop_retain(loop);
    coil_loop_close(loop);
    CHECK_INT(coil_spawn_threadsafe(loop, test_nothing, NULL, NULL, &promise),
              -ESHUTDOWN);
    CHECK_PTR(promise, NULL);
    coil_loop_release(loop);
}

TEST(out_is_null_where_a_closed_loop_refuses_a_task)
{
    spawn_on_closed_loop();
}

TEST(out_is_null_where_no_loop_can_be_made)
{
    const coil_loop_opts none = {.backend = "no such backend"};
    coil_runner *runner = STALE;
    coil_loop *loop = STALE;

    CHECK_INT(coil_loop_create(&none, &loop), -EINVAL);
    CHECK_PTR(loop, NULL);
    CHECK(coil_runner_create(&(coil_run_opts){.loop = none}, &runner) < 0);
    CHECK_PTR(runner, NULL);
}

TASK_TEST(as_completed_gives_null_behind_the_last)
{
    coil_future *future = STALE;
    coil_as_completed each;

    CHECK_INT(coil_as_completed_init(&each, NULL, 0, COIL_NEVER), 0);
    CHECK_INT(coil_as_completed_next(&each, &future), 0);
    CHECK_PTR(future, NULL);
    coil_as_completed_finish(&each);
}

TEST(out_is_minus_one_if_no_executor_can_be_created)
{
    coil_lane lane = COIL_LANE_FILE;

    CHECK(coil_executor_create("threads", 1u << 20, &lane) < 0);
    CHECK_INT((int)lane, -1);
}
