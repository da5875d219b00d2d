/*
 * If a signal handler calls a function that it must not call, the program aborts with a
 * message, provided that coil detects this. Functions that a handler may call work as
 * usual.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Objects of the interrupted loop. When the handler runs, tasks are waiting for the
 * event, the lock, the semaphore, the condition and both queues.
 */
static struct {
    coil_loop *loop;
    coil_task *task;
    coil_future *future;
    coil_promise *promise;
    coil_channel *channel;
    coil_handle *handle;
    coil_timer timer;
    coil_event event;
    coil_lock lock;
    coil_semaphore semaphore;
    coil_condition condition;
    coil_queue queue, used;
    coil_stream *ends[2];
    int fd;
} its;

static _Atomic pid_t waiting_thread;

static int nothing(void *arg)
{
    (void)arg;
    return 0;
}

static void call_nothing(void *arg)
{
    (void)arg;
}

/* ---- the calls --------------------------------------------------------------------- */

/* clang-format off */
static void spawn(void) { coil_spawn(nothing, NULL, NULL, NULL); }
static void spawn_threadsafe(void) { coil_spawn_threadsafe(its.loop, nothing, NULL, NULL, NULL); }
static void call_soon(void) { coil_call_soon(call_nothing, NULL, NULL); }
static void call_later(void) { coil_call_later(1, call_nothing, NULL, NULL); }
static void call_at(void) { coil_call_at(1, call_nothing, NULL, NULL); }
static void cancel_handle(void) { coil_handle_cancel(its.handle); }
static void start_timer(void) { coil_timer_start(&its.timer, 1); }
static void post(void) { coil_post(its.loop, call_nothing, NULL); }
static void set_event(void) { coil_event_set(&its.event); }
static void release_lock(void) { coil_lock_release(&its.lock); }
static void release_semaphore(void) { coil_semaphore_release(&its.semaphore); }
static void notify(void) { coil_condition_notify(&its.condition, 1); }
static void put(void) { coil_queue_put_nowait(&its.queue, &(char){1}); }
static void shut_queue(void) { coil_queue_shutdown(&its.used, true); }
static void cancel_task(void) { coil_task_cancel(its.task, NULL); }
static void release_task(void) { coil_task_release(its.task); }
static void unpark(void) { coil_unpark(its.task, 0); }
static void set_future(void) { coil_future_set(its.future, 0, NULL, NULL); }
static void create_future(void) { coil_future_create(&its.future); }
static void cancel_future(void) { coil_future_cancel(its.future, NULL); }
static void set_promise(void) { coil_promise_set(its.promise, 0, NULL, NULL); }
static void cancel_promise(void) { coil_promise_cancel(its.promise, NULL); }
static void put_into_channel(void) { coil_channel_put_nowait(its.channel, &(char){1}); }
static void put_and_wait(void) { coil_channel_put_wait(its.channel, &(char){1}, 0); }
static void shut_channel(void) { coil_channel_shutdown(its.channel); }
static void do_sleep(void) { coil_sleep(1); }
static void yield(void) { coil_yield(); }
static void await(void) { coil_task_await(its.task); }
static void write_stream(void) { coil_write(its.ends[0], "x", 1); }
static void destroy_stream(void) { coil_stream_destroy(its.ends[0]); }
static void add_reader(void) { coil_add_reader(its.fd, call_nothing, NULL); }
static void stop_loop(void) { coil_loop_stop(its.loop); }
static void create_loop(void) { coil_loop_create(NULL, &its.loop); }
static void run(void) { coil_run(nothing, NULL, NULL); }
/* clang-format on */

struct call {
    void (*make)(void);
    const char *named;
};

static const struct call that_make[] = {
    {spawn, "coil_spawn"},
    {spawn_threadsafe, "coil_spawn_threadsafe"},
    {call_soon, "coil_call_soon"},
    {call_later, "coil_call_later"},
    {call_at, "coil_call_at"},
    {cancel_handle, "coil_handle_cancel"},
    {start_timer, "coil_timer_start"},
    {post, "coil_post"},
    {create_future, "coil_future_create"},
    {create_loop, "coil_loop_create"},
    {run, "coil_run"},
    {NULL, NULL},
};

static const struct call that_wake[] = {
    {set_event, "coil_event_set"},
    {release_lock, "coil_lock_release"},
    {release_semaphore, "coil_semaphore_release"},
    {notify, "coil_condition_notify"},
    {put, "coil_queue_put_nowait"},
    {shut_queue, "coil_queue_shutdown"},
    {cancel_task, "coil_task_cancel"},
    {release_task, "coil_task_release"},
    {unpark, "coil_unpark"},
    {set_future, "coil_future_set"},
    {cancel_future, "coil_future_cancel"},
    {NULL, NULL},
};

/*
 * The functions of promises and channels may be called on any thread, so they acquire a
 * lock.
 */
static const struct call of_threads_and_streams[] = {
    {set_promise, "coil_promise_set"},
    {cancel_promise, "coil_promise_cancel"},
    {put_into_channel, "coil_channel_put"},
    {put_and_wait, "coil_channel_put_wait"},
    {shut_channel, "coil_channel_shutdown"},
    {do_sleep, "coil_sleep"},
    {yield, "coil_yield"},
    {await, "coil_await"},
    {write_stream, "coil_write"},
    {destroy_stream, "coil_stream_destroy"},
    {add_reader, "coil_add_reader"},
    {stop_loop, "coil_loop_stop"},
    {NULL, NULL},
};

/* ---- a loop that waits, and is interrupted ----------------------------------------- */

static const struct call *to_make;
static const char *backend;

static void make_call(int signo)
{
    (void)signo;
    to_make->make();
    fprintf(stderr, "%s was not seen\n", to_make->named);
    _exit(0);
}

static bool sleeps(pid_t thread)
{
    char path[64], line[512];
    const char *state = NULL;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fgets(line, sizeof line, file) != NULL)
        state = strrchr(line, ')');
    fclose(file);
    return state != NULL && state[2] == 'S';
}

/*
 * Send the signal to the loop's thread, as soon as that thread is sleeping in the kernel.
 */
static void *interrupt(void *arg)
{
    pid_t thread;

    while ((thread = atomic_load(&waiting_thread)) == 0 || !sleeps(thread))
        usleep(1000);
    syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
    return arg;
}

static int wait_for_event(void *arg)
{
    return coil_event_wait(arg);
}

static int wait_for_lock(void *arg)
{
    return coil_lock_acquire(arg);
}

static int wait_for_semaphore(void *arg)
{
    return coil_semaphore_acquire(arg);
}

static int wait_for_condition(void *arg)
{
    int rc = coil_lock_acquire(&its.lock);

    return rc < 0 ? rc : coil_condition_wait(arg);
}

static int wait_for_item(void *arg)
{
    char item;

    return coil_queue_get(arg, &item);
}

static void make_objects(void)
{
    int (*const waits[])(void *) = {wait_for_condition, wait_for_event,
                                    wait_for_lock,      wait_for_lock,
                                    wait_for_semaphore, wait_for_item};
    void *const of[] = {&its.condition, &its.event,     &its.lock,
                        &its.lock,      &its.semaphore, &its.queue};

    its.loop = coil_loop_current();
    coil_event_init(&its.event);
    coil_lock_init(&its.lock);
    coil_semaphore_init(&its.semaphore, 0);
    coil_condition_init(&its.condition, &its.lock);
    coil_queue_init(&its.queue, 1, 0);
    coil_queue_init(&its.used, 1, 0);
    coil_timer_init(&its.timer, call_nothing, NULL);
    CHECK_INT(coil_future_create(&its.future), 0);
    CHECK_INT(coil_promise_create(&its.promise), 0);
    CHECK_INT(coil_channel_create(1, 0, &its.channel), 0);
    CHECK_INT(coil_stream_pair(its.ends), 0);
    CHECK_INT(coil_call_later(COIL_SEC(60), call_nothing, NULL, &its.handle), 0);
    its.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    for (int i = 0; i < 6; i++)
        CHECK_INT(coil_spawn(waits[i], of[i], NULL, NULL), 0);
    CHECK_INT(coil_spawn(wait_for_item, &its.used, NULL, &its.task), 0);
    coil_yield();
    coil_yield();
}

static int wait_until_interrupted(void *arg)
{
    pthread_t thread;

    (void)arg;
    make_objects();
    signal(SIGUSR1, make_call);
    pthread_create(&thread, NULL, interrupt, NULL);
    atomic_store(&waiting_thread, (pid_t)syscall(SYS_gettid));
    return coil_sleep(COIL_SEC(15));
}

/* Runs in a child process. */
static void interrupt_wait_with(void *call)
{
    to_make = call;
    coil_run(wait_until_interrupted, NULL, &(coil_run_opts){.loop.backend = backend});
}

/*
 * Skip the test under tools that delay a signal handler until the system call has
 * returned, so that no handler runs during a wait.
 */
static void skip_where_handlers_come_late(void)
{
    if (COIL__TSAN)
        test_skip("ThreadSanitizer calls signal handlers after the wait");
}

static void check_all(const struct call *calls)
{
    skip_where_handlers_come_late();
    backend = coil_backend_name();
    for (const struct call *call = calls; call->make != NULL; call++) {
        char sentence[100];

        if (!test_has_turn((size_t)(call - calls)))
            continue;
        snprintf(sentence, sizeof sentence, "%s: a signal handler called it",
                 call->named);
        test_dies(interrupt_wait_with, (void *)call, sentence);
    }
}

IO_TEST(handler_that_interrupts_the_loops_wait_and_makes_something_stops_the_program)
{
    check_all(that_make);
}

IO_TEST(handler_that_interrupts_the_loops_wait_and_wakes_a_task_stops_the_program)
{
    check_all(that_wake);
}

IO_TEST(handler_that_interrupts_the_loops_wait_and_locks_or_waits_stops_the_program)
{
    check_all(of_threads_and_streams);
}

/* ---- on the alternate stack, while a task runs ------------------------------------- */

static const struct call in_a_task[] = {
    {spawn, "coil_spawn"},
    {spawn_threadsafe, "coil_spawn_threadsafe"},
    {call_soon, "coil_call_soon"},
    {call_later, "coil_call_later"},
    {start_timer, "coil_timer_start"},
    {post, "coil_post"},
    {cancel_task, "coil_task_cancel"},
    {set_future, "coil_future_set"},
    {set_promise, "coil_promise_set"},
    {cancel_promise, "coil_promise_cancel"},
    {put_into_channel, "coil_channel_put"},
    {NULL, NULL},
};

static int interrupt_task(void *arg)
{
    static _Alignas(16) char memory[1 << 18];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_handler = make_call, .sa_flags = SA_ONSTACK};

    (void)arg;
    make_objects();
    CHECK_INT(sigaltstack(&stack, NULL), 0);
    sigaction(SIGUSR1, &action, NULL);
    return raise(SIGUSR1);
}

static void interrupt_task_with(void *call)
{
    to_make = call;
    coil_run(interrupt_task, NULL,
             &(coil_run_opts){.loop = {.backend = backend, .debug = true}});
}

IO_TEST(handler_on_its_alternate_stack_stops_the_program_in_debug_mode)
{
    backend = coil_backend_name();
    for (const struct call *call = in_a_task; call->make != NULL; call++)
        test_dies(interrupt_task_with, (void *)call, call->named);
}

/* ---- on the task's own stack ------------------------------------------------------- */

static int interrupt_task_on_its_stack(void *arg)
{
    struct sigaction action = {.sa_handler = make_call};

    (void)arg;
    make_objects();
    sigaction(SIGUSR1, &action, NULL);
    return raise(SIGUSR1);
}

static void interrupt_on_its_stack_with(void *call)
{
    coil_run_opts opts = {.loop = {.backend = backend, .debug = true},
                          .stack_bytes = (size_t)256 * 1024};

    to_make = call;
    coil_run(interrupt_task_on_its_stack, NULL, &opts);
}

static void check_all_on_its_stack(const struct call *calls)
{
    char message[100];

    backend = coil_backend_name();
    for (const struct call *call = calls; call->make != NULL; call++) {
        snprintf(message, sizeof message, "%s: a signal handler called it", call->named);
        /* coil itself calls this function at the end of each task */
        if (strcmp(call->named, "coil_task_release") != 0)
            test_dies(interrupt_on_its_stack_with, (void *)call, message);
    }
}

IO_TEST(handler_on_the_tasks_stack_stops_the_program_in_debug_mode)
{
    check_all_on_its_stack(in_a_task);
}

IO_TEST(handler_on_the_tasks_stack_that_wakes_a_task_stops_the_program_in_debug_mode)
{
    check_all_on_its_stack(that_wake);
}

static void interrupted_call(int signo)
{
    (void)signo;
    coil_spawn(nothing, NULL, NULL, NULL);
}

static void raise_in_callback(void *arg)
{
    (void)arg;
    raise(SIGUSR1);
}

static int interrupt_a_callback(void *arg)
{
    struct sigaction action = {.sa_handler = interrupted_call};

    sigaction(SIGUSR1, &action, NULL);
    coil_call_soon(raise_in_callback, arg, NULL);
    return coil_sleep(COIL_MSEC(1));
}

static void run_interrupt_a_callback(void *arg)
{
    coil_run(interrupt_a_callback, arg, &(coil_run_opts){.loop.debug = true});
}

TEST(handler_that_interrupts_a_callback_stops_the_program_in_debug_mode)
{
    if (COIL__TSAN)
        test_skip("ThreadSanitizer reports the handler first");
    test_dies(run_interrupt_a_callback, NULL, "coil_spawn: a signal handler called it");
}

/*
 * The signal handler runs on an alternate stack in static memory, at a lower address than
 * the task's stack. If the handler waits, coil must not report a stack overflow.
 */
TEST(handler_on_its_alternate_stack_that_waits_is_no_stack_overflow)
{
    static const struct call waits = {do_sleep, "coil_sleep"};

    test_dies(interrupt_task_with, (void *)&waits,
              "suspended in a signal handler, which must not wait");
}

/* ---- allowed calls ----------------------------------------------------------------- */

static volatile sig_atomic_t handled;
static volatile pid_t forked;

static void write_to_eventfd(int signo)
{
    uint64_t one = 1;

    (void)signo;
    handled = write(its.fd, &one, sizeof one) == sizeof one;
}

static void start_interrupting(pthread_t *thread, void (*handler)(int))
{
    signal(SIGUSR1, handler);
    pthread_create(thread, NULL, interrupt, NULL);
    atomic_store(&waiting_thread, (pid_t)syscall(SYS_gettid));
}

IO_TEST(handler_may_wake_the_loop_by_writing_to_a_descriptor)
{
    pthread_t thread;

    its.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    start_interrupting(&thread, write_to_eventfd);
    CHECK_INT(coil_wait_fd(its.fd, COIL_READABLE), COIL_READABLE);
    CHECK(handled);
    CHECK(coil_loop_current() != NULL);
    pthread_join(thread, NULL);
    close(its.fd);
}

static void fork_a_child(int signo)
{
    (void)signo;
    forked = fork();
    if (forked == 0)
        _exit(coil_loop_current() == NULL && coil_run(nothing, NULL, NULL) == 0 ? 0 : 1);
    write_to_eventfd(signo);
}

IO_TEST(child_that_a_handler_forks_while_the_loop_waits_has_no_loop)
{
    pthread_t thread;
    int status = -1;

    skip_where_handlers_come_late();
    its.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    start_interrupting(&thread, fork_a_child);
    CHECK_INT(coil_wait_fd(its.fd, COIL_READABLE), COIL_READABLE);
    CHECK_INT(waitpid(forked, &status, 0), forked);
    CHECK_INT(status, 0);
    pthread_join(thread, NULL);
    close(its.fd);
}
