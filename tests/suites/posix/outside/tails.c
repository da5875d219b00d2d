/*
 * tails.c - tests tail calls: if a call is the last statement of a function that coil has
 * called, the compiler turns it into a jump, so that it returns directly into libcoil.
 * The call must still suspend the task. Every kind of function is tested with every kind
 * of call.
 *
 * Each call waits until another task cancels the caller or releases the lock, which that
 * task can do only if the call does not block the thread.
 *
 * Hooks and callbacks must not suspend. So their last statements are short calls, which
 * libcoil-posix passes to the C library.
 *
 *     tails          all of them; prints those that blocked the thread
 */
#define _GNU_SOURCE
#include "tails.h"

/* ---- the kinds of functions -------------------------------------------------------- */

#define FORMS(name, call)                                                                \
    static int name##_int(void *arg)                                                     \
    {                                                                                    \
        (void)arg;                                                                       \
        return (int)(call);                                                              \
    }                                                                                    \
    static void name##_void(void *arg)                                                   \
    {                                                                                    \
        (void)arg;                                                                       \
        call;                                                                            \
    }                                                                                    \
    static int name##_gen(coil_gen *gen, void *arg)                                      \
    {                                                                                    \
        (void)gen;                                                                       \
        (void)arg;                                                                       \
        return (int)(call);                                                              \
    }                                                                                    \
    static int name##_handler(coil_stream *peer, void *arg)                              \
    {                                                                                    \
        (void)peer;                                                                      \
        (void)arg;                                                                       \
        return (int)(call);                                                              \
    }
CALLS(FORMS)

/* Define functions of all kinds, including those that must not suspend. */
#define MORE_FORMS(name, call)                                                           \
    FORMS(name, call)                                                                    \
    static int name##_compare(const void *a, const void *b)                              \
    {                                                                                    \
        (void)a;                                                                         \
        (void)b;                                                                         \
        return (int)(call);                                                              \
    }                                                                                    \
    static void name##_hook(void *state, void *data)                                     \
    {                                                                                    \
        (void)state;                                                                     \
        (void)data;                                                                      \
        call;                                                                            \
    }                                                                                    \
    static void name##_done(coil_future *future, void *arg)                              \
    {                                                                                    \
        (void)future;                                                                    \
        (void)arg;                                                                       \
        call;                                                                            \
    }

/* Calls that end soon, even if they block the thread. */
static const struct timespec moment = {0, 1000000};
/* clang-format off */
#define SHORT_CALLS(X)                                                                   \
    X(short_usleep, usleep(1000))                                                        \
    X(short_nanosleep, nanosleep(&moment, NULL))                                         \
    X(short_poll, poll(&polled, 1, 1))                                                   \
    X(short_ppoll, ppoll(&polled, 1, &moment, NULL))                                     \
    X(short_write, write(quiet[0], &byte, 1))                                            \
    X(short_mutex_lock, pthread_mutex_lock(&recursive))                                 \
    X(short_sem_post, sem_post(&semaphore))
/* clang-format on */
SHORT_CALLS(MORE_FORMS)

struct forms {
    const char *name;
    int (*as_int)(void *arg);
    void (*as_void)(void *arg);
    int (*as_gen)(coil_gen *gen, void *arg);
    int (*as_handler)(coil_stream *stream, void *arg);
    int (*as_compare)(const void *a, const void *b);
    void (*as_hook)(void *state, void *data);
    void (*as_done)(coil_future *future, void *arg);
};

#define ENTRY(name, call)                                                                \
    {#name, name##_int, name##_void, name##_gen, name##_handler, NULL, NULL, NULL},
#define MORE_ENTRY(name, call)                                                           \
    {#name,          name##_int,     name##_void, name##_gen,                            \
     name##_handler, name##_compare, name##_hook, name##_done},
static const struct forms all_forms[] = {CALLS(ENTRY)};
static const struct forms short_forms[] = {SHORT_CALLS(MORE_ENTRY)};

static int in_body(const struct forms *f)
{
    begin();
    return f->as_int(NULL);
}

/* Run the function as a task, so that libcoil is its caller. */
static int spawn_and_await(const struct forms *f, const coil_spawn_opts *opts)
{
    coil_task *task = NULL;
    int rc = coil_spawn(f->as_int, NULL, opts, &task);

    if (rc < 0)
        return rc;
    begin_in(task);
    rc = coil_task_await(task);
    coil_task_release(task);
    return rc;
}

static int in_task(const struct forms *f)
{
    return spawn_and_await(f, NULL);
}

static int in_eager_task(const struct forms *f)
{
    return spawn_and_await(f, &(coil_spawn_opts){.eager = true});
}

static int in_group(const struct forms *f)
{
    coil_group group;
    coil_task *task = NULL;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, f->as_int, NULL, NULL, &task);
    begin_in(task);
    return coil_group_exit(&group, rc);
}

static int in_generator(const struct forms *f)
{
    coil_gen *gen;
    void *value;
    int rc = coil_gen_create(f->as_gen, NULL, NULL, &gen);

    if (rc < 0)
        return rc;
    begin();
    rc = coil_gen_next(gen, &value);
    coil_gen_destroy(gen);
    return rc;
}

static int in_defer(const struct forms *f)
{
    begin();
    return coil_defer(f->as_void, NULL);
}

static int in_context(const struct forms *f)
{
    coil_context *context = coil_context_copy();
    int rc;

    if (context == NULL)
        return -ENOMEM;
    begin();
    rc = coil_context_run(context, f->as_int, NULL);
    coil_context_release(context);
    return rc;
}

static int in_awaitable(const struct forms *f)
{
    coil_awaitable awaitable = {.await = f->as_int};

    begin();
    return coil_awaitable_await(&awaitable);
}

static int in_condition(const struct forms *f)
{
    coil_lock lock = COIL_LOCK_INIT;
    coil_condition condition = COIL_CONDITION_INIT(&lock);
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    begin();
    rc = coil_condition_wait_for(&condition, f->as_int, NULL);
    coil_lock_release(&lock);
    return rc;
}

static int in_race(const struct forms *f)
{
    coil_work work = {f->as_int, NULL};

    begin();
    return coil_staggered_race(&work, 1, 0, NULL, NULL);
}

static int in_started_task(const struct forms *f)
{
    coil_group group;
    coil_task *task = NULL;
    int rc;

    coil_group_enter(&group);
    begin();
    rc = coil_group_start(&group, f->as_int, NULL, NULL, &task);
    return coil_group_exit(&group, rc);
}

/*
 * Run the function in a task that is spawned as if from another thread. Wait for the
 * task's promise: if this wait is cancelled, so is the task.
 */
static int in_task_from_another_thread(const struct forms *f)
{
    coil_promise *promise;
    int rc = coil_spawn_threadsafe(coil_loop_current(), f->as_int, NULL, NULL, &promise);

    if (rc < 0)
        return rc;
    begin();
    rc = coil_promise_await(promise);
    coil_promise_release(promise);
    return rc;
}

/* Run the function in a server's handler, which is cancelled when the server stops. */
static int in_handler(const struct forms *f)
{
    coil_listener *server;
    coil_stream *client;
    char port[20];
    int rc = coil_listen("127.0.0.1", "0", 0, &server);

    if (rc < 0)
        return rc;
    snprintf(port, sizeof port, "%d", coil_listener_port(server));
    rc = coil_connect("127.0.0.1", port, &client);
    begin();
    if (rc == 0)
        rc = coil_serve(server, f->as_handler, NULL, NULL);
    coil_stream_destroy(client);
    coil_listener_destroy(server);
    return rc;
}

struct kind {
    const char *name;
    int (*fn)(const struct forms *f);
};

static const struct kind kinds[] = {
    {"a call", in_body},
    {"a task", in_task},
    {"an eager task", in_eager_task},
    {"a group's task", in_group},
    {"a generator", in_generator},
    {"a deferred function", in_defer},
    {"a context's function", in_context},
    {"an awaitable", in_awaitable},
    {"a condition's predicate", in_condition},
    {"a race's work", in_race},
    {"a started task", in_started_task},
    {"a task from another thread", in_task_from_another_thread},
    {"a server's handler", in_handler},
};

/* ---- where nothing may be suspended ------------------------------------------------ */

static int wait_once(void *unused)
{
    (void)unused;
    coil_yield();
    return 0;
}

static int with_hooks(const coil_task_hooks *hooks)
{
    const coil_task_hooks *const all[] = {hooks, NULL};
    coil_task *task;
    int rc = coil_spawn(wait_once, NULL, &(coil_spawn_opts){.hooks = all}, &task);

    if (rc < 0)
        return rc;
    rc = coil_task_await(task);
    coil_task_release(task);
    begin();
    return rc;
}

static int in_enter(const struct forms *f)
{
    return with_hooks(&(coil_task_hooks){.enter = f->as_hook});
}

static int in_leave(const struct forms *f)
{
    return with_hooks(&(coil_task_hooks){.leave = f->as_hook});
}

static int in_end(const struct forms *f)
{
    return with_hooks(&(coil_task_hooks){.end = f->as_hook});
}

static int in_callback(const struct forms *f)
{
    int rc = coil_call_soon(f->as_void, NULL, NULL);

    begin();
    return rc < 0 ? rc : coil_sleep(COIL_MSEC(1));
}

static int in_post(const struct forms *f)
{
    int rc = coil_post(coil_loop_current(), f->as_void, NULL);

    begin();
    return rc < 0 ? rc : coil_sleep(COIL_MSEC(1));
}

static int in_timer(const struct forms *f)
{
    coil_timer timer;
    int rc;

    coil_timer_init(&timer, f->as_void, NULL);
    rc = coil_timer_start(&timer, 0);
    coil_sleep(COIL_MSEC(1));
    begin();
    return rc;
}

static int in_done_callback(const struct forms *f)
{
    coil_future *future;
    int rc = coil_future_create(&future);

    if (rc < 0)
        return rc;
    rc = coil_future_add_callback(future, f->as_done, NULL);
    coil_future_set(future, 0, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    coil_future_release(future);
    begin();
    return rc;
}

static int in_compare(const struct forms *f)
{
    coil_queue queue = COIL_QUEUE_INIT_PRIORITY(sizeof(int), 0, f->as_compare);
    int item = 1;

    coil_queue_put_nowait(&queue, &item);
    coil_queue_put_nowait(&queue, &item);
    coil_queue_finish(&queue);
    begin();
    return 0;
}

static int in_destroy(const struct forms *f)
{
    coil_future *future;
    int rc = coil_future_create(&future);

    if (rc < 0)
        return rc;
    coil_future_set(future, 0, &byte, f->as_void);
    coil_future_release(future);
    begin();
    return 0;
}

static int in_promise(const struct forms *f)
{
    coil_promise *promise;
    int rc = coil_promise_create(&promise);

    if (rc < 0)
        return rc;
    coil_promise_set(promise, 0, &byte, f->as_void);
    coil_promise_release(promise);
    begin();
    return 0;
}

static int in_job(const struct forms *f)
{
    int rc = coil_blocking(COIL_LANE_CPU, f->as_int, NULL);

    begin();
    return rc;
}

static const struct kind kinds_that_stay[] = {
    {"a hook that enters", in_enter},
    {"a hook that leaves", in_leave},
    {"a hook that ends", in_end},
    {"a callback", in_callback},
    {"a posted callback", in_post},
    {"a timer", in_timer},
    {"a done callback", in_done_callback},
    {"a job on a thread", in_job},
    {"a compare function", in_compare},
    {"a value's destroy function", in_destroy},
    {"a promise's destroy function", in_promise},
};

/* ---- one of each ------------------------------------------------------------------- */

struct pair {
    const struct kind *kind;
    const struct forms *forms;
};

static int run_kind(void *arg)
{
    const struct pair *p = arg;

    return p->kind->fn(p->forms);
}

static void report(const void *arg, int status)
{
    const struct pair *p = arg;

    printf("%s that ends in %s(): status %d\n", p->kind->name, p->forms->name, status);
}

/* Test every kind of function with this call. Returns the number of failures. */
static int run_kinds(const struct kind *some_kinds, int kind_count,
                     const struct forms *forms)
{
    struct pair pairs[20];

    for (int k = 0; k < kind_count; k++)
        pairs[k] = (struct pair){&some_kinds[k], forms};
    return run_alone(
        (struct work){run_kind, (char *)pairs, sizeof *pairs, kind_count, NULL}, report);
}

static int run_all(const struct kind *some_kinds, int kind_count,
                   const struct forms *some_forms, int form_count)
{
    int wrong = 0;

    for (int i = 0; i < form_count; i++)
        wrong += run_kinds(some_kinds, kind_count, &some_forms[i]);
    printf("%d pairs, %d wrong\n", kind_count * form_count, wrong);
    return wrong;
}

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void)
{
    int wrong;

    if (!coil_posix_active())
        puts("libcoil-posix is not active");
    prepare_queues();
    wrong = run_all(kinds, COUNT(kinds), all_forms, COUNT(all_forms));
    wrong +=
        run_all(kinds_that_stay, COUNT(kinds_that_stay), short_forms, COUNT(short_forms));
    remove_queues();
    return wrong > 0;
}
