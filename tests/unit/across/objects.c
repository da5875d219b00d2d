/*
 * objects.c - see objects.h.
 */
#include "objects.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

coil_listener *test_listener;

int test_nothing(void *arg)
{
    (void)arg;
    return 0;
}

void test_call_nothing(void *arg)
{
    (void)arg;
}

void *test_coro_nothing(void *arg)
{
    return arg;
}

int test_gen_nothing(coil_gen *gen, void *arg)
{
    (void)gen;
    (void)arg;
    return 0;
}

static int serve_nobody(coil_stream *stream, void *arg)
{
    (void)stream;
    (void)arg;
    return 0;
}

int test_make_pair(int (*make)(coil_stream *ends[2]), void **out)
{
    coil_stream *ends[2] = {*out, *out};
    int rc = make(ends);

    if (rc < 0)
        CHECK_PTR(ends[1], NULL);
    else
        coil_stream_destroy(ends[1]);
    *out = ends[0];
    return rc;
}

#define OUT ((void *)out)

#define MAKE(name, call)                                                                 \
    static int make_##name(void **out)                                                   \
    {                                                                                    \
        return call;                                                                     \
    }

#define DO(name, call)                                                                   \
    static void name(void *object)                                                       \
    {                                                                                    \
        call;                                                                            \
    }

/* ---- tasks, futures, callbacks, coroutines ----------------------------------------- */

MAKE(task, coil_spawn(test_nothing, NULL, NULL, OUT))
MAKE(threadsafe,
     coil_spawn_threadsafe(coil_loop_current(), test_nothing, NULL, NULL, OUT))
MAKE(future, coil_future_create(OUT))
MAKE(promise, coil_promise_create(OUT))
MAKE(channel, coil_channel_create(8, 1, OUT))
MAKE(call_soon, coil_call_soon(test_call_nothing, NULL, OUT))
MAKE(call_later, coil_call_later(COIL_SEC(9), test_call_nothing, NULL, OUT))
MAKE(call_at, coil_call_at(coil_in(COIL_SEC(9)), test_call_nothing, NULL, OUT))
MAKE(coro, coil_coro_create(test_coro_nothing, NULL, NULL, OUT))
MAKE(gen, coil_gen_create(test_gen_nothing, NULL, NULL, OUT))

static int make_context(void **out)
{
    *out = coil_context_copy();
    return *out != NULL ? 0 : -ENOMEM;
}

/* Release the last reference to a task, after its end. */
static void release_task(void *task)
{
    if (coil_future_get_state(coil_task_future(task)) == COIL_PENDING)
        coil_task_await(task);
    coil_task_release(task);
}

/*
 * Release the last reference to a handle. The loop drops its own reference when the
 * handle is cancelled.
 */
static void release_handle(void *handle)
{
    if (!coil_handle_cancelled(handle))
        coil_handle_cancel(handle);
    coil_handle_release(handle);
}

DO(release_future, coil_future_release(object))
DO(release_promise, coil_promise_release(object))
DO(release_channel, coil_channel_release(object))
DO(release_context, coil_context_release(object))
DO(destroy_coro, coil_coro_destroy(object))
DO(destroy_gen, coil_gen_destroy(object))
DO(cancel_task, coil_task_cancel(object, NULL))
DO(set_future, coil_future_set(object, 0, NULL, NULL))
DO(retain_promise, coil_promise_retain(object))
DO(put, coil_channel_put_nowait(object, &(char[8]){0}))
DO(retain_context, coil_context_retain(object))
DO(resume_coro, coil_coro_resume(object, NULL))

/* ---- streams, listeners, datagrams, files, processes ------------------------------- */

MAKE(listen, coil_listen("127.0.0.1", "0", 1, OUT))
MAKE(listen_port, coil_listen_port("127.0.0.1", 0, 1, OUT))
MAKE(connect_port, coil_connect_port("127.0.0.1", coil_listener_port(test_listener), OUT))
MAKE(stream_pair, test_make_pair(coil_stream_pair, out))
MAKE(pipe, test_make_pair(coil_pipe, out))
MAKE(datagram_open, coil_datagram_open("127.0.0.1", "0", 0, OUT))
MAKE(datagram_connect, coil_datagram_connect("127.0.0.1", "9", OUT))
MAKE(tls, coil_tls_create(NULL, OUT))
MAKE(server, coil_server_create(test_listener, serve_nobody, NULL, NULL, OUT))
MAKE(file_open, coil_file_open("/dev/null", O_RDONLY, 0, OUT))
MAKE(file_open_temporary, coil_file_open_temporary("/tmp", OUT))
MAKE(directory_open, coil_directory_open("/", OUT))
MAKE(watch, coil_watch_create(OUT))
MAKE(process, coil_process_shell("exec sleep 20", NULL, OUT))

DO(destroy_listener, coil_listener_destroy(object))
DO(destroy_stream, coil_stream_destroy(object))
DO(destroy_datagram, coil_datagram_destroy(object))
DO(release_tls, coil_tls_release(object))
DO(destroy_server, coil_server_destroy(object))
DO(destroy_file, coil_file_destroy(object))
DO(destroy_directory, coil_directory_destroy(object))
DO(destroy_watch, coil_watch_destroy(object))
DO(destroy_process, coil_process_destroy(object))
DO(accept_one, coil_accept(object, &(coil_stream *){NULL}))
DO(write_stream, coil_write(object, "x", 1))
DO(send_datagram, coil_send(object, "x", 1))
DO(retain_tls, coil_tls_retain(object))
DO(stop_server, coil_server_stop(object))
DO(sync_file, coil_file_sync(object, false))
DO(remove_path, coil_watch_remove(object, "/"))
DO(next_entry, coil_directory_next(object, &(coil_directory_entry){.name = NULL}))

/* ---- the table --------------------------------------------------------------------- */

#define STREAM                                                                           \
    destroy_stream, "coil_stream_destroy: the object was destroyed before",              \
        write_stream, "coil_write: the object was destroyed before"
#define LISTENER                                                                         \
    destroy_listener, "coil_listener_destroy: the object was destroyed before",          \
        accept_one, "coil_accept: the object was destroyed before"
#define DATAGRAM                                                                         \
    destroy_datagram, "coil_datagram_destroy: the object was destroyed before",          \
        send_datagram, "coil_send: the object was destroyed before"
#define PROMISE                                                                          \
    release_promise, "coil_promise_release: the last reference", retain_promise,         \
        "coil_promise_retain: the last reference"
#define HANDLE release_handle, "coil_handle_cancelled: the last reference", NULL, NULL
#define FILE_ROW                                                                         \
    destroy_file, "coil_file_destroy: the object was destroyed before", sync_file,       \
        "coil_file_sync: the object was destroyed before"

const struct test_object test_objects[] = {
    {"coil_spawn", make_task, release_task, "coil_task_future: the last reference",
     cancel_task, "coil_task_cancel: the last reference"},
    {"coil_spawn_threadsafe", make_threadsafe, release_promise,
     /* the promise's task has another reference */
     ": the last reference to this promise", NULL, NULL},
    {"coil_future_create", make_future, release_future,
     "coil_future_release: the last reference", set_future,
     "coil_future_set: the last reference"},
    {"coil_promise_create", make_promise, PROMISE},
    {"coil_channel_create", make_channel, release_channel,
     "coil_channel_release: the object was destroyed before", put,
     "coil_channel_put: the object was destroyed before"},
    {"coil_context_copy", make_context, release_context,
     "coil_context_release: the object was destroyed before", retain_context,
     "coil_context_retain: the object was destroyed before"},
    {"coil_call_soon", make_call_soon, HANDLE},
    {"coil_call_later", make_call_later, HANDLE},
    {"coil_call_at", make_call_at, HANDLE},
    {"coil_coro_create", make_coro, destroy_coro, "the coroutine was destroyed before",
     resume_coro, "the coroutine was destroyed before"},
    {"coil_gen_create", make_gen, destroy_gen, "the generator was destroyed before", NULL,
     NULL},
    {"coil_listen", make_listen, LISTENER},
    {"coil_listen_port", make_listen_port, LISTENER},
    {"coil_connect_port", make_connect_port, STREAM},
    {"coil_stream_pair", make_stream_pair, STREAM},
    {"coil_pipe", make_pipe, STREAM},
    {"coil_tls_create", make_tls, release_tls,
     "coil_tls_release: the object was destroyed before", retain_tls,
     "coil_tls_retain: the object was destroyed before"},
    {"coil_datagram_open", make_datagram_open, DATAGRAM},
    {"coil_datagram_connect", make_datagram_connect, DATAGRAM},
    {"coil_server_create", make_server, destroy_server,
     "coil_server_destroy: the object was destroyed before", stop_server,
     "coil_server_stop: the object was destroyed before"},
    {"coil_file_open", make_file_open, FILE_ROW},
    {"coil_file_open_temporary", make_file_open_temporary, FILE_ROW},
    {"coil_directory_open", make_directory_open, destroy_directory,
     "coil_directory_destroy: the object was destroyed before", next_entry,
     "coil_directory_next: the object was destroyed before"},
    {"coil_watch_create", make_watch, destroy_watch,
     "coil_watch_destroy: the object was destroyed before", remove_path,
     "coil_watch_remove: the object was destroyed before"},
    {"coil_process_shell", make_process, destroy_process,
     "the process was destroyed or detached before", NULL, NULL},
};

const size_t test_object_count = sizeof test_objects / sizeof test_objects[0];
