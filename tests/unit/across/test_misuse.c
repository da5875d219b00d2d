/*
 * The program aborts with a message if it uses an object after releasing the last
 * reference, releases an object twice, or uses an object on a thread other than that of
 * the object's loop.
 */
#include "../../harness/harness.h"
#include "objects.h"

#include <coil.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Return true if the test runs under a tool that reports accesses to freed memory. */
static bool freed_memory_is_watched(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return test_under_valgrind();
#endif
}

/* ---- destroyed, or released for the last time, before ------------------------------ */

/* Use an object after it was released, in a child process with its own loop. */
static const struct test_object *kind;
static bool is_used;
static const char *backend;

static int misuse_what_has_gone(void *arg)
{
    void *object;
    int rc = coil_listen_port("127.0.0.1", 0, 1, &test_listener);

    (void)arg;
    if (rc == 0)
        rc = kind->make(&object);
    if (rc < 0)
        return rc;
    kind->destroy(object);
    if (is_used)
        kind->use(object);
    else
        kind->destroy(object);
    return 0;
}

static void run_on_backend(void *task)
{
    int (*const *fn)(void *) = task;

    coil_run(*fn, NULL, &(coil_run_opts){.loop.backend = backend});
}

/*
 * Check that `fn` aborts with this message. The call runs in a child process, with a loop
 * on the test's backend.
 */
static void check_dies_in_task(int (*fn)(void *), const char *sentence)
{
    backend = coil_backend_name();
    test_dies(run_on_backend, &fn, sentence);
}

static void skip_where_freed_memory_is_watched(void)
{
    if (freed_memory_is_watched())
        test_skip("the sanitizer reports the use of freed memory");
}

IO_TEST(object_destroyed_twice_stops_the_program)
{
    skip_where_freed_memory_is_watched();
    is_used = false;
    for (size_t i = 0; i < test_object_count; i++) {
        kind = &test_objects[i];
        if (test_has_turn(i))
            check_dies_in_task(misuse_what_has_gone, kind->again);
    }
}

IO_TEST(object_used_after_it_was_destroyed_stops_the_program)
{
    skip_where_freed_memory_is_watched();
    is_used = true;
    for (size_t i = 0; i < test_object_count; i++) {
        kind = &test_objects[i];
        if (kind->use != NULL && test_has_turn(i))
            check_dies_in_task(misuse_what_has_gone, kind->used);
    }
}

static int await_released_task(void *arg)
{
    coil_task *task;

    (void)arg;
    coil_spawn(test_nothing, NULL, NULL, &task);
    coil_task_await(task);
    coil_task_release(task);
    return coil_task_await(task);
}

static int retain_released_future(void *arg)
{
    coil_future *future;

    (void)arg;
    coil_future_create(&future);
    coil_future_release(future);
    coil_future_retain(future);
    return 0;
}

static int close_destroyed_file(void *arg)
{
    coil_file *file;

    (void)arg;
    coil_file_open("/dev/null", O_RDONLY, 0, &file);
    coil_file_destroy(file);
    return coil_file_close(file);
}

static int kill_destroyed_process(void *arg)
{
    coil_process *process;

    (void)arg;
    coil_process_shell(":", NULL, &process);
    coil_process_wait(process);
    coil_process_destroy(process);
    return coil_process_kill(process, SIGTERM);
}

static int release_error_twice(void *arg)
{
    coil_error *error;

    (void)arg;
    coil_fail(-EINVAL, "no reason");
    error = coil_error_retain(coil_last_error());
    coil_fail(-ENOENT, "another one");
    coil_error_release(error);
    coil_error_release(error);
    return 0;
}

IO_TEST(call_on_what_was_released_before_stops_the_program)
{
    skip_where_freed_memory_is_watched();
    check_dies_in_task(await_released_task, "coil_await: the last reference");
    check_dies_in_task(retain_released_future, "coil_future_retain: the last reference");
    check_dies_in_task(close_destroyed_file,
                       "coil_file_close: the object was destroyed before");
    check_dies_in_task(kill_destroyed_process,
                       "coil_process_kill: the object was destroyed");
    check_dies_in_task(release_error_twice,
                       "coil_error_release: the object was destroyed");
}

static void close_loop_twice(void *arg)
{
    coil_loop *loop;

    (void)arg;
    coil_loop_create(NULL, &loop);
    coil_loop_close(loop);
    coil_loop_close(loop);
}

static void release_closed_loop(void *arg)
{
    coil_loop *loop;

    (void)arg;
    coil_loop_create(NULL, &loop);
    coil_loop_close(loop);
    coil_loop_release(loop);
}

static void destroy_runner_twice(void *arg)
{
    coil_runner *runner;

    (void)arg;
    coil_runner_create(NULL, &runner);
    coil_runner_destroy(runner);
    coil_runner_destroy(runner);
}

static void run_destroyed_runner(void *arg)
{
    coil_runner *runner;

    coil_runner_create(NULL, &runner);
    coil_runner_destroy(runner);
    coil_runner_run(runner, test_nothing, arg);
}

static void destroy_executor_twice(void *arg)
{
    coil_lane lane;

    (void)arg;
    coil_executor_create("once", 1, &lane);
    coil_executor_destroy(lane);
    coil_executor_destroy(lane);
}

TEST(loop_runner_or_executor_destroyed_twice_stops_the_program)
{
    skip_where_freed_memory_is_watched();
    test_dies(close_loop_twice, NULL,
              "coil_loop_close: the loop belongs to another thread");
    test_dies(release_closed_loop, NULL,
              "coil_loop_release: the object was destroyed before");
    test_dies(destroy_runner_twice, NULL,
              "coil_runner_destroy: the object was destroyed");
    test_dies(run_destroyed_runner, NULL, "coil_runner_run: the object was destroyed");
    test_dies(destroy_executor_twice, NULL,
              "was not created by the program, or was destroyed");
}

/*
 * Return a future whose last reference was released. free(3) does not overwrite its
 * reference count, so coil can detect a second release.
 */
static coil_future *released_future(void)
{
    coil_future *future;

    coil_future_create(&future);
    coil_future_set(future, 7, NULL, NULL);
    coil_future_release(future);
    return future;
}

static int release_future_twice(void *arg)
{
    (void)arg;
    coil_future_release(released_future());
    return 0;
}

static int await_released_future(void *arg)
{
    (void)arg;
    return coil_await(released_future());
}

static int ask_released_future(void *arg)
{
    (void)arg;
    return coil_future_done(released_future());
}

IO_TEST(call_on_a_released_future_names_the_function)
{
    skip_where_freed_memory_is_watched();
    check_dies_in_task(release_future_twice, "coil_future_release: the last reference");
    check_dies_in_task(await_released_future, "coil_await: the last reference");
    check_dies_in_task(ask_released_future, "coil_future_done: the last reference");
}

/* ---- debug mode: freed memory is not reused at once -------------------------------- */

static int misuse_in_debug_mode(void *fn)
{
    return ((coil_task_fn)(uintptr_t)fn)(NULL);
}

static void run_in_debug_mode(void *fn)
{
    coil_run(misuse_in_debug_mode, fn, &(coil_run_opts){.loop.debug = true});
}

/* In debug mode, new objects of the same kind do not get the memory of the freed one. */
static int use_future_whose_memory_is_wanted(void *arg)
{
    coil_future *gone, *others[8];

    (void)arg;
    coil_future_create(&gone);
    coil_future_set(gone, 1, NULL, NULL);
    coil_future_release(gone);
    for (int i = 0; i < 8; i++)
        coil_future_create(&others[i]);
    return coil_await(gone);
}

static int use_task_whose_stack_is_wanted(void *arg)
{
    coil_task *gone, *other;

    coil_spawn(test_nothing, arg, NULL, &gone);
    coil_task_await(gone);
    coil_task_release(gone);
    for (int i = 0; i < 8; i++) {
        coil_spawn(test_nothing, arg, NULL, &other);
        coil_task_await(other);
        coil_task_release(other);
    }
    return coil_task_await(gone);
}

static int use_stream_whose_memory_is_wanted(void *arg)
{
    coil_stream *ends[2], *others[2];
    char byte;

    (void)arg;
    coil_stream_pair(ends);
    coil_stream_destroy(ends[0]);
    coil_stream_pair(others);
    return (int)coil_read(ends[0], &byte, 1);
}

static int ask_stream_that_is_gone(void *arg)
{
    coil_stream *ends[2];

    (void)arg;
    coil_stream_pair(ends);
    coil_stream_destroy(ends[0]);
    return coil_stream_fd(ends[0]);
}

static int cancel_handle_that_is_gone(void *arg)
{
    coil_handle *handle;

    coil_call_soon(test_call_nothing, arg, &handle);
    coil_handle_cancel(handle);
    coil_handle_release(handle);
    coil_call_soon(test_call_nothing, arg, NULL);
    coil_handle_cancel(handle);
    return 0;
}

static int ask_process_that_is_gone(void *arg)
{
    coil_process *process;

    (void)arg;
    coil_process_shell(":", NULL, &process);
    coil_process_wait(process);
    coil_process_destroy(process);
    return coil_process_status(process);
}

static int ask_promise_that_is_gone(void *arg)
{
    coil_promise *promise;

    (void)arg;
    coil_promise_create(&promise);
    coil_promise_release(promise);
    return coil_promise_done(promise);
}

TEST(object_that_is_gone_is_recognised_in_debug_mode_though_its_memory_is_wanted)
{
    static const struct {
        coil_task_fn make;
        const char *message;
    } calls[] = {
        {use_future_whose_memory_is_wanted, "coil_await: the last reference"},
        {use_task_whose_stack_is_wanted, "coil_await: the last reference"},
        {use_stream_whose_memory_is_wanted, "coil_read: the object was destroyed before"},
        {ask_stream_that_is_gone, "coil_stream_fd: the object was destroyed before"},
        {cancel_handle_that_is_gone, "coil_handle_cancel: the last reference"},
        {ask_process_that_is_gone,
         "coil_process_status: the object was destroyed before"},
        {ask_promise_that_is_gone, "coil_promise_done: the last reference"},
    };

    skip_where_freed_memory_is_watched();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        test_dies(run_in_debug_mode, (void *)(uintptr_t)calls[i].make, calls[i].message);
}

/*
 * Free so many objects that coil must also free the memory of the first ones. The harness
 * checks that no memory is leaked.
 */
static int free_many(void *arg)
{
    for (int i = 0; i < 3000; i++) {
        coil_future *future;
        coil_task *task;

        coil_future_create(&future);
        coil_future_release(future);
        coil_spawn(test_nothing, arg, NULL, &task);
        CHECK_INT(coil_task_await(task), 0);
        coil_task_release(task);
    }
    return 0;
}

TEST(memory_that_debug_mode_keeps_is_bounded)
{
    size_t before = test_blocks_held();

    CHECK_INT(coil_run(free_many, NULL, &(coil_run_opts){.loop.debug = true}), 0);
    CHECK_INT(test_blocks_held(), before);
}

/* ---- never initialised ------------------------------------------------------------- */

static coil_group never_entered;
static coil_scope scope_never_entered;
static coil_condition condition_of_zeroes;

#define CALL(name, call)                                                                 \
    static void name(void *arg)                                                          \
    {                                                                                    \
        (void)arg;                                                                       \
        call;                                                                            \
    }

/* clang-format off */
CALL(spawn_into_it, coil_group_spawn(&never_entered, test_nothing, NULL, NULL, NULL))
CALL(start_in_it, coil_group_start(&never_entered, test_nothing, NULL, NULL, NULL))
CALL(spawn_later,
     coil_group_spawn_when_free(&never_entered, test_nothing, NULL, NULL, NULL))
CALL(cancel_it, coil_group_cancel(&never_entered, NULL))
CALL(limit_it, coil_group_set_limit(&never_entered, 1))
CALL(exit_it, coil_group_exit(&never_entered, 0))
CALL(ask_it, coil_group_error(&never_entered, 0))
CALL(count_it, coil_group_error_count(&never_entered))
CALL(exit_scope, coil_scope_exit(&scope_never_entered, 0))
CALL(move_scope, coil_scope_set_deadline(&scope_never_entered, 1))
CALL(ask_scope, coil_scope_expired(&scope_never_entered))
CALL(ask_deadline, coil_scope_deadline(&scope_never_entered))
CALL(wait_for_zeroes, coil_condition_wait(&condition_of_zeroes))
CALL(notify_zeroes, coil_condition_notify_all(&condition_of_zeroes))
/* clang-format on */

TASK_TEST(group_or_scope_that_was_never_entered_stops_the_program)
{
    static const struct {
        void (*make)(void *);
        const char *message;
    } calls[] = {
        {spawn_into_it, "coil: coil_group_spawn: the group was never given to"},
        {start_in_it, "coil: coil_group_start: the group was never given to"},
        {spawn_later, "coil: coil_group_spawn_when_free: the group was never given to"},
        {cancel_it, "coil: coil_group_cancel: the group was never given to"},
        {limit_it, "coil: coil_group_set_limit: the group was never given to"},
        {exit_it, "coil: coil_group_exit: the group was never given to"},
        {ask_it, "coil: coil_group_error: the group was never given to"},
        {count_it, "coil: coil_group_error_count: the group was never given to"},
        {exit_scope, "coil: coil_scope_exit: the scope was never given to"},
        {move_scope, "coil: coil_scope_set_deadline: the scope was never given to"},
        {ask_scope, "coil: coil_scope_expired: the scope was never given to"},
        {ask_deadline, "coil: coil_scope_deadline: the scope was never given to"},
        {wait_for_zeroes, "coil: coil_condition_wait: the condition was never given"},
        {notify_zeroes, "coil: coil_condition_notify_all: the condition was never"},
    };

    /* first with memory full of zeros, and then with other bytes */
    for (int fill = 0; fill < 2; fill++) {
        memset(&never_entered, fill, sizeof never_entered);
        memset(&scope_never_entered, fill, sizeof scope_never_entered);
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
            test_dies(calls[i].make, NULL, calls[i].message);
    }
}

static void spawn_into_a_copy(void *arg)
{
    coil_group group, copy;

    coil_group_enter(&group);
    copy = group;
    coil_group_spawn(&copy, test_nothing, arg, NULL, NULL);
}

TASK_TEST(group_that_was_copied_stops_the_program)
{
    test_dies(
        spawn_into_a_copy, NULL,
        "coil_group_spawn: the group was never given to coil_group_enter(), or is a "
        "copy");
}

/* ---- destroyed while a call uses it and so keeps the memory ------------------------ */

static int read_for_ever(void *stream)
{
    char byte;

    return (int)coil_read(stream, &byte, 1);
}

static int destroy_stream_in_use_twice(void *arg)
{
    coil_stream *ends[2];

    (void)arg;
    coil_stream_pair(ends);
    coil_spawn(read_for_ever, ends[0], NULL, NULL);
    coil_yield();
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[0]);
    return 0;
}

static int read_fifo(void *file)
{
    char byte;

    return (int)coil_file_read(file, &byte, 1);
}

static int destroy_file_in_use_twice(void *arg)
{
    coil_file *file;
    int fds[2];

    (void)arg;
    if (pipe(fds) < 0 || coil_file_adopt(fds[0], &file) < 0)
        return -1;
    coil_spawn(read_fifo, file, NULL, NULL);
    coil_yield();
    coil_file_destroy(file);
    coil_file_destroy(file);
    return 0;
}

IO_TEST(object_destroyed_twice_while_a_call_is_in_it_stops_the_program)
{
    check_dies_in_task(destroy_stream_in_use_twice, "the object was destroyed before");
    check_dies_in_task(destroy_file_in_use_twice,
                       "coil_file_destroy: the object was destroyed");
}

/*
 * Finishing an object in the caller's memory twice is harmless, because the first call
 * leaves an empty object.
 */
TASK_TEST(objects_in_the_callers_memory_may_be_finished_twice)
{
    coil_queue queue = COIL_QUEUE_INIT(1, 0);
    coil_event event = COIL_EVENT_INIT;
    coil_lock lock = COIL_LOCK_INIT;
    coil_output output = {.data = NULL};
    coil_as_completed each;
    coil_semaphore semaphore;
    coil_barrier barrier;

    coil_semaphore_init(&semaphore, 1);
    coil_barrier_init(&barrier, 2);
    CHECK_INT(coil_queue_put_nowait(&queue, &(char){1}), 0);
    CHECK_INT(coil_as_completed_init(&each, NULL, 0, COIL_NEVER), 0);
    for (int i = 0; i < 2; i++) {
        coil_queue_finish(&queue);
        coil_event_finish(&event);
        coil_lock_finish(&lock);
        coil_semaphore_finish(&semaphore);
        coil_barrier_finish(&barrier);
        coil_output_finish(&output);
        coil_as_completed_finish(&each);
    }
}

/* ---- on another thread ------------------------------------------------------------- */

struct call {
    void *(*make)(void *object);
    void *object;
};

static void call_on_thread(void *arg)
{
    const struct call *call = arg;
    pthread_t thread;

    pthread_create(&thread, NULL, call->make, call->object);
    pthread_join(thread, NULL);
}

static void *release_future(void *future)
{
    coil_future_release(future);
    return NULL;
}

static void *retain_future(void *future)
{
    return coil_future_retain(future);
}

static void *set_future(void *future)
{
    coil_future_set(future, 0, NULL, NULL);
    return NULL;
}

static void *cancel_future(void *future)
{
    coil_future_cancel(future, NULL);
    return NULL;
}

static void *cancel_task(void *task)
{
    coil_task_cancel(task, NULL);
    return NULL;
}

static void *unpark_task(void *task)
{
    coil_unpark(task, 0);
    return NULL;
}

static void *resume_coro(void *coro)
{
    return coil_coro_resume(coro, NULL);
}

static void *destroy_coro(void *coro)
{
    coil_coro_destroy(coro);
    return NULL;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

#define FOREIGN "this thread does not run the loop"

TASK_TEST(future_used_by_another_thread_stops_the_program)
{
    coil_future *future;

    CHECK_INT(coil_future_create(&future), 0);
    test_dies(call_on_thread, (&(struct call){release_future, future}), FOREIGN);
    test_dies(call_on_thread, (&(struct call){retain_future, future}), FOREIGN);
    coil_future_set(future, 0, NULL, NULL);
    test_dies(call_on_thread, (&(struct call){set_future, future}), FOREIGN);
    test_dies(call_on_thread, (&(struct call){cancel_future, future}), FOREIGN);
    coil_future_release(future);
}

TASK_TEST(task_used_by_another_thread_stops_the_program)
{
    coil_task *task;

    CHECK_INT(coil_spawn(test_nothing, NULL, NULL, &task), 0);
    CHECK_INT(coil_task_await(task), 0);
    test_dies(call_on_thread, (&(struct call){cancel_task, task}), FOREIGN);
    test_dies(call_on_thread, (&(struct call){unpark_task, task}), FOREIGN);
    coil_task_release(task);
}

TASK_TEST(coroutine_used_by_another_thread_stops_the_program)
{
    coil_coro *coro;

    CHECK_INT(coil_coro_create(test_coro_nothing, NULL, NULL, &coro), 0);
    test_dies(call_on_thread, (&(struct call){resume_coro, coro}),
              "belongs to another thread");
    test_dies(call_on_thread, (&(struct call){destroy_coro, coro}),
              "belongs to another thread");
    coil_coro_destroy(coro);
}

/* ---- objects that no task waits for any more --------------------------------------- */

static struct waited {
    coil_event event;
    coil_lock lock;
    coil_semaphore semaphore;
    coil_condition condition;
    coil_queue queue;
} waited;

static int let_all_go(void *arg)
{
    (void)arg;
    coil_event_set(&waited.event);
    coil_semaphore_release(&waited.semaphore);
    coil_queue_put_nowait(&waited.queue, &(char){1});
    coil_lock_release(&waited.lock);
    return 0;
}

static int give_one(void *arg)
{
    if (*(const int *)arg == 0)
        coil_event_set(&waited.event);
    else if (*(const int *)arg == 1)
        coil_semaphore_release(&waited.semaphore);
    else
        coil_queue_put_nowait(&waited.queue, &(char){1});
    return 0;
}

static int notify(void *arg)
{
    (void)arg;
    coil_lock_acquire(&waited.lock);
    coil_condition_notify(&waited.condition, 1);
    coil_lock_release(&waited.lock);
    return 0;
}

static void wait_for_each(void)
{
    char item;

    coil_event_init(&waited.event);
    coil_lock_init(&waited.lock);
    coil_semaphore_init(&waited.semaphore, 0);
    coil_condition_init(&waited.condition, &waited.lock);
    coil_queue_init(&waited.queue, 1, 0);
    CHECK_INT(coil_lock_acquire(&waited.lock), 0);
    CHECK_INT(coil_spawn(let_all_go, NULL, NULL, NULL), 0);
    CHECK_INT(coil_lock_acquire(&waited.lock), 0);
    CHECK_INT(coil_semaphore_acquire(&waited.semaphore), 0);
    CHECK_INT(coil_queue_get(&waited.queue, &item), 0);
    coil_event_clear(&waited.event);
    /* each task wakes this one through a different object */
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_spawn(give_one, &i, NULL, NULL), 0);
        if (i == 0)
            CHECK_INT(coil_event_wait(&waited.event), 0);
        else if (i == 1)
            CHECK_INT(coil_semaphore_acquire(&waited.semaphore), 0);
        else
            CHECK_INT(coil_queue_get(&waited.queue, &item), 0);
    }
    CHECK_INT(coil_spawn(notify, NULL, NULL, NULL), 0);
    CHECK_INT(coil_condition_wait(&waited.condition), 0);
    coil_lock_release(&waited.lock);
}

static void *set_event(void *arg)
{
    coil_event_set(&waited.event);
    return arg;
}

static void *clear_event(void *arg)
{
    coil_event_clear(&waited.event);
    return arg;
}

static void *acquire_lock(void *arg)
{
    coil_lock_acquire(&waited.lock);
    return arg;
}

static void *release_lock(void *arg)
{
    coil_lock_release(&waited.lock);
    return arg;
}

static void *release_semaphore(void *arg)
{
    coil_semaphore_release(&waited.semaphore);
    return arg;
}

static void *notify_condition(void *arg)
{
    coil_condition_notify(&waited.condition, 1);
    return arg;
}

static void *get_item(void *arg)
{
    char item;

    coil_queue_get_nowait(&waited.queue, &item);
    return arg;
}

TASK_TEST(lock_or_queue_used_by_another_thread_where_nobody_waits_stops_the_program)
{
    static const struct {
        void *(*make)(void *);
        const char *sentence;
    } calls[] = {
        {set_event, "coil_event_set: this thread does not run the loop"},
        {clear_event, "coil_event_clear: this thread does not run the loop"},
        {acquire_lock, "coil_lock_acquire: this thread does not run the loop"},
        {release_lock, "coil_lock_release: this thread does not run the loop"},
        {release_semaphore, "coil_semaphore_release: this thread does not run the loop"},
        {notify_condition, "coil_condition_notify: this thread does not run the loop"},
        {get_item, "coil_queue_get_nowait: this thread does not run the loop"},
    };

    wait_for_each();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        test_dies(call_on_thread, (&(struct call){calls[i].make, NULL}),
                  calls[i].sentence);
    coil_queue_finish(&waited.queue);
}

/* ---- debug mode: objects without waiters so far ------------------------------------ */

static coil_event event_of_zeroes;
static coil_queue queue_of_initialiser = COIL_QUEUE_INIT(1, 0);
static coil_lock lock_of_initialiser = COIL_LOCK_INIT;
static coil_barrier barrier;

static void *put_item(void *arg)
{
    coil_queue_put_nowait(&waited.queue, &(char){1});
    return arg;
}

static void *put_into_initialised(void *arg)
{
    coil_queue_put(&queue_of_initialiser, &(char){1});
    return arg;
}

static void *get_from_initialised(void *arg)
{
    char item;

    coil_queue_get(&queue_of_initialiser, &item);
    return arg;
}

static void *set_event_of_zeroes(void *arg)
{
    coil_event_set(&event_of_zeroes);
    return arg;
}

static void *acquire_initialised(void *arg)
{
    coil_lock_acquire(&lock_of_initialiser);
    return arg;
}

static void *abort_barrier(void *arg)
{
    coil_barrier_abort(&barrier);
    return arg;
}

/*
 * Initialise or use each object in a task, but do not leave any task waiting for an
 * object.
 */
static int use_each_and_call(void *call)
{
    char item;

    coil_event_init(&waited.event);
    coil_lock_init(&waited.lock);
    coil_semaphore_init(&waited.semaphore, 1);
    coil_condition_init(&waited.condition, &waited.lock);
    coil_queue_init(&waited.queue, 1, 0);
    coil_barrier_init(&barrier, 2);
    coil_event_clear(&event_of_zeroes);
    coil_lock_acquire(&lock_of_initialiser);
    coil_lock_release(&lock_of_initialiser);
    for (int i = 0; i < 3; i++)
        coil_queue_put(&queue_of_initialiser, &(char){1});
    coil_queue_get(&queue_of_initialiser, &item);
    call_on_thread(call);
    return 0;
}

static void use_each_in_debug_mode(void *call)
{
    coil_run(use_each_and_call, call, &(coil_run_opts){.loop.debug = true});
}

TEST(lock_or_queue_used_by_another_thread_stops_the_program_in_debug_mode)
{
    static const struct {
        void *(*make)(void *);
        const char *sentence;
    } calls[] = {
        {set_event, "coil_event_set: this thread does not run the loop"},
        {clear_event, "coil_event_clear: this thread does not run the loop"},
        {acquire_lock, "coil_lock_acquire: this thread does not run the loop"},
        {release_lock, "coil_lock_release: this thread does not run the loop"},
        {release_semaphore, "coil_semaphore_release: this thread does not run the loop"},
        {notify_condition, "coil_condition_notify: this thread does not run the loop"},
        {get_item, "coil_queue_get_nowait: this thread does not run the loop"},
        {put_item, "coil_queue_put_nowait: this thread does not run the loop"},
        {put_into_initialised, "coil_queue_put: this thread does not run the loop"},
        {get_from_initialised, "coil_queue_get: this thread does not run the loop"},
        {set_event_of_zeroes, "coil_event_set: this thread does not run the loop"},
        {acquire_initialised, "coil_lock_acquire: this thread does not run the loop"},
        {abort_barrier, "coil_barrier_abort: this thread does not run the loop"},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        test_dies(use_each_in_debug_mode, (&(struct call){calls[i].make, NULL}),
                  calls[i].sentence);
}

static int put_null(void *queue)
{
    return coil_queue_put(queue, NULL);
}

static int get_into_null(void *queue)
{
    coil_queue_put(queue, &(char){1});
    return coil_queue_get(queue, NULL);
}

static int use_queue_with_null(void *fn)
{
    coil_queue queue;

    coil_queue_init_lifo(&queue, 1, 0);
    return ((coil_task_fn)(uintptr_t)fn)(&queue);
}

static void use_queue_with_null_in_debug_mode(void *fn)
{
    coil_run(use_queue_with_null, fn, &(coil_run_opts){.loop.debug = true});
}

TEST(item_that_is_null_stops_the_program_in_debug_mode)
{
    test_dies(use_queue_with_null_in_debug_mode, (void *)(uintptr_t)put_null,
              "coil_queue_put() was called with an item that is NULL");
    test_dies(use_queue_with_null_in_debug_mode, (void *)(uintptr_t)get_into_null,
              "coil_queue_get() was called with an item that is NULL");
}

/* Use a queue of each order, twice: with debug mode and without it. */
static int use_queues_in_each_order(void *arg)
{
    coil_queue queues[3];

    coil_queue_init(&queues[0], sizeof(int), 0);
    coil_queue_init_lifo(&queues[1], sizeof(int), 0);
    coil_queue_init_priority(&queues[2], sizeof(int), 0, compare_ints);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            for (int item = 2; item < 4; item++)
                CHECK_INT(coil_queue_put(&queues[i], &item), 0);
            CHECK_INT(coil_queue_put_nowait(&queues[i], &(int){1}), 0);
        }
        for (int i = 0; i < 3; i++)
            for (int n = 0, item; n < 3; n++) {
                CHECK_INT(coil_queue_get(&queues[i], &item), 0);
                test_trace("%d", item);
            }
        CHECK_TRACE("231132123");
        coil_set_debug(false);
    }
    for (int i = 0; i < 3; i++)
        coil_queue_finish(&queues[i]);
    return (void)arg, 0;
}

TEST(queues_keep_their_order_in_debug_mode)
{
    CHECK_INT(
        coil_run(use_queues_in_each_order, NULL, &(coil_run_opts){.loop.debug = true}),
        0);
}

/* ---- from a thread that has another loop ------------------------------------------- */

static bool in_debug_mode;

static struct {
    coil_group group;
    coil_scope scope;
    coil_timer timer;
    coil_handle *later, *soon;
} first_loops;

/* clang-format off */
static void cancel_group(void) { coil_group_cancel(&first_loops.group, NULL); }
static void limit_group(void) { coil_group_set_limit(&first_loops.group, 1); }
static void spawn_into_group(void)
{
    coil_group_spawn(&first_loops.group, test_nothing, NULL, NULL, NULL);
}
static void spawn_when_free(void)
{
    coil_group_spawn_when_free(&first_loops.group, test_nothing, NULL, NULL, NULL);
}
static void set_deadline(void) { coil_scope_set_deadline(&first_loops.scope, 1); }
static void start_timer(void) { coil_timer_start(&first_loops.timer, COIL_NEVER); }
static void stop_timer(void) { coil_timer_stop(&first_loops.timer); }
static void cancel_later(void) { coil_handle_cancel(first_loops.later); }
static void cancel_soon(void) { coil_handle_cancel(first_loops.soon); }
/* clang-format on */

static int misuse_here(void *call)
{
    coil_timer many[8];

    /*
     * Start so many timers on this loop that positions in the first loop's heap are valid
     * here, too.
     */
    for (int i = 0; i < 8; i++) {
        coil_timer_init(&many[i], test_call_nothing, NULL);
        coil_timer_start(&many[i], coil_in(COIL_SEC(60) + i));
    }
    (*(void (**)(void))call)();
    return 0;
}

static void *run_with_second_loop(void *call)
{
    coil_run(misuse_here, call, NULL);
    return NULL;
}

static int wait_for_ever(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(600));
}

/*
 * Use timers, a scope and a group of a first loop, and then make the call on another
 * thread, with a second loop. Runs in a child process.
 */
static int misuse_from_second_loop(void *call)
{
    coil_timer_init(&first_loops.timer, test_call_nothing, NULL);
    CHECK_INT(coil_timer_start(&first_loops.timer, coil_in(COIL_SEC(60))), 0);
    CHECK_INT(coil_call_later(COIL_SEC(60), test_call_nothing, NULL, &first_loops.later),
              0);
    CHECK_INT(coil_call_soon(test_call_nothing, NULL, &first_loops.soon), 0);
    CHECK_INT(coil_scope_enter(&first_loops.scope, COIL_NEVER), 0);
    coil_group_enter(&first_loops.group);
    coil_group_set_limit(&first_loops.group, 1);
    if (*(void (**)(void))call == spawn_when_free)
        coil_group_spawn(&first_loops.group, wait_for_ever, NULL, NULL, NULL);
    call_on_thread(&(struct call){run_with_second_loop, call});
    _exit(0);
}

static void misuse_first_loop(void *call)
{
    coil_run(misuse_from_second_loop, call,
             &(coil_run_opts){.loop.debug = in_debug_mode});
}

TEST(group_scope_timer_or_handle_of_another_loop_stops_the_program)
{
    static const struct {
        void (*make)(void);
        const char *sentence;
    } calls[] = {
        {cancel_group, "coil_group_cancel: this thread does not run the loop"},
        {limit_group, "coil_group_set_limit: this thread does not run the loop"},
        {spawn_into_group, "coil_group_spawn: this thread does not run the loop"},
        {spawn_when_free,
         "coil_group_spawn_when_free: this thread does not run the loop"},
        {set_deadline, "coil_scope_set_deadline: this thread does not run the loop"},
        {start_timer, "coil_timer_start: the timer belongs to another thread's loop"},
        {stop_timer, "coil_timer_stop: the timer belongs to another thread's loop"},
        {cancel_later, "coil_handle_cancel: the timer belongs to another thread's loop"},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        test_dies(misuse_first_loop, (void *)&calls[i].make, calls[i].sentence);
}

TEST(ready_handle_of_another_loop_stops_the_program_in_debug_mode)
{
    static void (*const cancel)(void) = cancel_soon;

    in_debug_mode = true;
    test_dies(misuse_first_loop, (void *)&cancel,
              "coil_handle_cancel: the timer belongs to another thread's loop");
}

/* ---- allowed calls ----------------------------------------------------------------- */

static int create_future(void *out)
{
    return coil_future_create(out);
}

TEST(future_of_a_closed_loop_may_be_released_on_any_thread)
{
    coil_future *future = NULL;
    pthread_t thread;

    CHECK_INT(coil_run(create_future, &future, NULL), 0);
    pthread_create(&thread, NULL, release_future, future);
    pthread_join(thread, NULL);
}

static int wait_for_event(void *arg)
{
    int rc = coil_spawn(let_all_go, arg, NULL, NULL);

    return rc < 0 ? rc : coil_event_wait(&waited.event);
}

TEST(event_of_a_closed_loop_may_be_used_anywhere)
{
    coil_queue_init(&waited.queue, 1, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_run(wait_for_event, NULL, NULL), 0);
        call_on_thread(&(struct call){clear_event, NULL});
    }
    coil_queue_finish(&waited.queue);
}

struct left {
    const coil_loop *loop; /* closed */
    coil_future *future;
    bool at_its_address; /* the next loop has the same address */
};

static int leave_things_behind(void *arg)
{
    struct left *left = arg;
    int rc = wait_for_event(NULL);

    left->loop = coil_loop_current();
    return rc < 0 ? rc : coil_future_create(&left->future);
}

static int use_on_another_thread(void *arg)
{
    struct left *left = arg;
    pthread_t thread;

    left->at_its_address = coil_loop_current() == left->loop;
    call_on_thread(&(struct call){clear_event, NULL});
    pthread_create(&thread, NULL, release_future, left->future);
    pthread_join(thread, NULL);
    return 0;
}

TEST(what_a_closed_loop_leaves_is_not_the_next_ones_at_its_address)
{
    struct left left = {.at_its_address = false};

    coil_queue_init(&waited.queue, 1, 0);
    for (int i = 0; i < 10 && !left.at_its_address; i++) {
        CHECK_INT(coil_run(leave_things_behind, &left, NULL), 0);
        CHECK_INT(coil_run(use_on_another_thread, &left, NULL), 0);
    }
    coil_queue_finish(&waited.queue);
    if (!left.at_its_address)
        test_skip("no loop was allocated at the address of a closed one");
}
