/*
 * glib.c - tests GLib's locks, which are implemented with futexes: tasks and GLib's
 * threads acquire each lock, and hold it while they wait. Also tests what GLib stores per
 * thread: the default main context, and the flag that is set while a log message is
 * written.
 */
#include "foreign.h"

#include <glib.h>
#include <unistd.h>

#define THREADS 2

static GMutex mutex;
static GRecMutex recursive;
static GRWLock rwlock;
static GCond cond;
static GOnce once = G_ONCE_INIT;
static GAsyncQueue *queue;
static GThread *threads[THREADS];
static int in_mutex, in_recursive, writers, readers, inits, arrived;
static gboolean may_go;

/* ---- held over a wait -------------------------------------------------------------- */

static bool hold_mutex(void)
{
    bool alone;

    g_mutex_lock(&mutex);
    alone = in_mutex++ == 0;
    usleep(300);
    alone = --in_mutex == 0 && alone;
    g_mutex_unlock(&mutex);
    return alone || foreign_failed("two in a mutex");
}

static bool hold_recursive(void)
{
    bool alone;

    g_rec_mutex_lock(&recursive);
    g_rec_mutex_lock(&recursive);
    alone = in_recursive++ == 0;
    usleep(300);
    alone = --in_recursive == 0 && alone;
    g_rec_mutex_unlock(&recursive);
    g_rec_mutex_unlock(&recursive);
    return alone || foreign_failed("two in a recursive mutex");
}

static bool hold_rwlock(int number)
{
    bool right;

    if (number % 4 == 0) {
        g_rw_lock_writer_lock(&rwlock);
        right = readers == 0 && writers++ == 0;
        usleep(300);
        right = --writers == 0 && readers == 0 && right;
        g_rw_lock_writer_unlock(&rwlock);
    } else {
        g_rw_lock_reader_lock(&rwlock);
        g_atomic_int_inc(&readers);
        usleep(300);
        right = writers == 0;
        g_atomic_int_add(&readers, -1);
        g_rw_lock_reader_unlock(&rwlock);
    }
    return right || foreign_failed("a writer beside another, or beside a reader");
}

static gpointer initialize(gpointer unused)
{
    (void)unused;
    usleep(2000);
    inits++;
    return &inits;
}

static bool initialize_once(void)
{
    static gsize slow;

    if (g_once_init_enter(&slow)) {
        usleep(2000);
        inits++;
        g_once_init_leave(&slow, 1);
    }
    g_once(&once, initialize, NULL);
    return inits == 2 || foreign_failed("initialized %d times, not twice", inits);
}

/* ---- conditions and queues --------------------------------------------------------- */

static bool wait_in_time(void)
{
    gint64 until = g_get_monotonic_time() + 3000;
    GCond nobody_signals;
    gboolean woken = TRUE;

    g_cond_init(&nobody_signals);
    g_mutex_lock(&mutex);
    while (woken && g_get_monotonic_time() < until)
        woken = g_cond_wait_until(&nobody_signals, &mutex, until);
    g_mutex_unlock(&mutex);
    g_cond_clear(&nobody_signals);
    return g_get_monotonic_time() >= until || foreign_failed("a wait ended too early");
}

static bool wait_for_broadcast(void)
{
    g_mutex_lock(&mutex);
    arrived++;
    while (!may_go)
        g_cond_wait(&cond, &mutex);
    g_mutex_unlock(&mutex);
    return true;
}

static bool pop(int number)
{
    guint64 long_time = 100 * (guint64)G_USEC_PER_SEC;
    gpointer item = number % 2 == 0 ? g_async_queue_pop(queue)
                                    : g_async_queue_timeout_pop(queue, long_time);

    return item != NULL || foreign_failed("nothing came out of the queue");
}

/* ---- what GLib keeps for each thread ------------------------------------------------ */

static gboolean quit(gpointer loop)
{
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

/* Run a GLib main loop in a task, until a timeout of GLib stops it. */
static bool run_main_loop(void)
{
    GMainContext *context = g_main_context_new();
    GMainLoop *loop = g_main_loop_new(context, FALSE);
    GSource *timeout = g_timeout_source_new(2);
    bool right;

    g_main_context_push_thread_default(context);
    usleep(300);
    g_source_set_callback(timeout, quit, loop, NULL);
    g_source_attach(timeout, g_main_context_get_thread_default());
    g_main_loop_run(loop);
    right = g_main_context_get_thread_default() == context && g_main_depth() == 0;
    g_main_context_pop_thread_default(context);
    g_source_unref(timeout);
    g_main_loop_unref(loop);
    g_main_context_unref(context);
    return right || foreign_failed("another task's main context");
}

/*
 * Wait while GLib writes a log message, and count messages that GLib considers recursive,
 * because it believes that the thread is already writing another one.
 */
static void log_slowly(const gchar *domain, GLogLevelFlags level, const gchar *text,
                       gpointer recursions)
{
    (void)domain, (void)text;
    usleep(300);
    if (level & G_LOG_FLAG_RECURSION)
        g_atomic_int_inc((gint *)recursions);
}

static gint recursions;

static bool log_something(void)
{
    g_log("coil", G_LOG_LEVEL_MESSAGE, "hello");
    return recursions == 0 || foreign_failed("a message was taken for a recursive one");
}

/* ---- tasks and threads ------------------------------------------------------------- */

static gpointer use_on_thread(gpointer unused)
{
    bool right = true;

    for (int i = 0; i < 20; i++)
        right = hold_mutex() && hold_rwlock(i) && right;
    g_async_queue_push(queue, queue);
    return right ? unused : NULL;
}

static bool start(void)
{
    queue = g_async_queue_new();
    g_log_set_handler("coil", G_LOG_LEVEL_MESSAGE | G_LOG_FLAG_RECURSION, log_slowly,
                      &recursions);
    for (int i = 0; i < THREADS; i++)
        threads[i] = g_thread_new(NULL, use_on_thread, queue);
    return true;
}

static bool use(int number)
{
    return hold_mutex() && hold_rwlock(number) && hold_recursive() && initialize_once() &&
           wait_in_time() && pop(number) && run_main_loop() && log_something() &&
           wait_for_broadcast();
}

/*
 * Push the items that the threads do not push, wait for all tasks, and broadcast the
 * condition.
 */
static bool other_side(void)
{
    bool right = true;

    for (int i = 0; i < FOREIGN_USES - THREADS; i++) {
        usleep(200);
        g_async_queue_push(queue, queue);
    }
    for (int i = 0; i < THREADS; i++)
        right = g_thread_join(threads[i]) != NULL && right;
    while (arrived < FOREIGN_USES)
        usleep(500);
    g_mutex_lock(&mutex);
    may_go = TRUE;
    g_cond_broadcast(&cond);
    g_mutex_unlock(&mutex);
    return right;
}

static bool stop(void)
{
    bool empty = g_async_queue_length(queue) == 0;

    g_async_queue_unref(queue);
    return empty;
}

const struct foreign foreign = {.name = "GLib",
                                .tested = "locks, conditions, queues, `GOnce`, main "
                                          "loops and log messages, alongside threads",
                                .thread_keys = true,
                                .start = start,
                                .use = use,
                                .other_side = other_side,
                                .stop = stop};
