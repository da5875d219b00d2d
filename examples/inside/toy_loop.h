/*
 * toy_loop.h - a toy version of asyncio's Future, Task and loop, for 09_future_task.c and
 * crawl/3_futures.c.
 *
 * The names are the same as in asyncio's source. A completed future does not call its
 * callback, but puts a handle for it into the ready queue. A task is a future, and its
 * step is such a callback. A turn runs the handles that are ready at its beginning.
 * Handles that become ready during a turn run in the next turn. Timers that are due run
 * in the order of their times. (asyncio keeps them in a heap; here the list is
 * sorted.) The toy does not use coil.
 */
#ifndef TOY_LOOP_H
#define TOY_LOOP_H

#include "toy_gen.h"
#include "toy_time.h"

#include <poll.h>
#include <string.h>

#define LOOP_MAX 1024

/* [future] */
enum future_state { PENDING, CANCELLED, FINISHED };

struct future {
    enum future_state state;
    int error; // a negative errno on failure; in asyncio, an exception
    void *result;
    void (*callback)(struct future *future, void *arg); // in asyncio, a list
    void *callback_arg;
};
/* [end] */

/* [handle] */
struct handle {
    void (*fn)(void *arg);
    void *arg;
    double when; // for a timer: `scheduled` is sorted by this time
    int fd;      // the descriptor of a reader or writer
    short events;
    bool cancelled;
};

static struct {
    struct handle *ready[LOOP_MAX], *scheduled[LOOP_MAX], *watched[LOOP_MAX];
    int ready_count, scheduled_count, watched_count;
    int tasks; // the number of tasks that have not ended
    bool stopping;
} loop;
/* [end] */

/* Insert a copy after the handles with the same time or an earlier time. */
static inline struct handle *loop_add(struct handle **list, int *n, struct handle handle)
{
    struct handle *added = malloc(sizeof *added);
    int at = *n;

    if (added == NULL || *n == LOOP_MAX) {
        fprintf(stderr, "the toy is too small\n");
        exit(1);
    }
    *added = handle;
    for (; at > 0 && list[at - 1]->when > handle.when; at--)
        list[at] = list[at - 1];
    (*n)++;
    return list[at] = added;
}

static inline struct handle *loop_take(struct handle **list, int *n, int at)
{
    struct handle *taken = list[at];
    memmove(&list[at], &list[at + 1], (size_t)(--*n - at) * sizeof *list);
    return taken;
}

/* [call_soon] */
static inline struct handle *call_soon(void (*fn)(void *arg), void *arg)
{
    return loop_add(loop.ready, &loop.ready_count, (struct handle){.fn = fn, .arg = arg});
}

static inline struct handle *call_later(double delay, void (*fn)(void *arg), void *arg)
{
    return loop_add(loop.scheduled, &loop.scheduled_count,
                    (struct handle){.fn = fn, .arg = arg, .when = now() + delay});
}
/* [end] */

static inline void watch(int fd, short events, void (*fn)(void *arg), void *arg)
{
    loop_add(loop.watched, &loop.watched_count,
             (struct handle){.fn = fn, .arg = arg, .fd = fd, .events = events});
}

/* [set_result] */
static inline void future_run_callback(void *arg)
{
    struct future *future = arg;
    future->callback(future, future->callback_arg);
}

static inline void future_end(struct future *future, enum future_state state, int error,
                              void *result)
{
    if (future->state != PENDING)
        return;
    future->state = state;
    future->error = error;
    future->result = result;
    if (future->callback != NULL)
        call_soon(future_run_callback, future); // runs in the next turn, not here
}

static inline void future_add_done_callback(struct future *future,
                                            void (*fn)(struct future *, void *),
                                            void *arg)
{
    future->callback = fn;
    future->callback_arg = arg;
    if (future->state != PENDING)
        call_soon(future_run_callback, future);
}

static inline void future_set_result(void *future) // also used as a handle's function
{
    future_end(future, FINISHED, 0, NULL);
}

static inline void future_set_error(struct future *future, int error)
{
    future_end(future, FINISHED, error, NULL);
}

static inline void future_cancel(void *future) // also used as a handle's function
{
    future_end(future, CANCELLED, 0, NULL);
}

/* Await the future in a task. Returns its result, immediately if the future is done. */
static inline void *await(struct future *future)
{
    return future->state == PENDING ? gen_yield(future) : future->result;
}
/* [end] */

/* [task] */
struct task {
    struct future future; // first member: a task is a future
    struct gen *gen;
};

static inline void task_step_soon(void *task);

static inline void task_step(struct future *woken_by, void *arg)
{
    struct task *task = arg;
    void *yielded, *result = woken_by != NULL ? woken_by->result : NULL;

    if (!gen_send(task->gen, result, &yielded)) { // Python: StopIteration
        gen_free(task->gen);
        loop.tasks--;
        future_end(&task->future, FINISHED, 0, yielded);
    } else if (yielded == NULL) { // a bare yield: continue in the next turn
        call_soon(task_step_soon, task);
    } else { // the yielded future
        future_add_done_callback(yielded, task_step, task);
    }
}

static inline void task_step_soon(void *task)
{
    task_step(NULL, task);
}

static inline void task_begin(struct task *task, void *(*body)(void *arg), void *arg)
{
    *task = (struct task){.gen = gen_new(body, arg)};
    loop.tasks++;
    call_soon(task_step_soon, task); // the task does not run yet
}
/* [end] */

/* [run_once] */
static inline void run_once(void)
{
    struct pollfd fds[LOOP_MAX];
    double timeout = loop.watched_count > 0 ? 3600 : 0;

    if (loop.scheduled_count > 0)
        timeout = loop.scheduled[0]->when - now();
    if (loop.ready_count > 0 || loop.stopping || timeout < 0)
        timeout = 0;
    for (int i = 0; i < loop.watched_count; i++)
        fds[i] = (struct pollfd){loop.watched[i]->fd, loop.watched[i]->events, 0};
    poll(fds, (nfds_t)loop.watched_count, timeout > 0 ? (int)(timeout * 1000) + 1 : 0);

    for (int i = loop.watched_count - 1; i >= 0; i--) // asyncio: _process_events()
        if (fds[i].revents != 0)
            loop.ready[loop.ready_count++] =
                loop_take(loop.watched, &loop.watched_count, i);
    for (double end = now(); // all timers that are due, the earliest first
         loop.scheduled_count > 0 && loop.scheduled[0]->when <= end;)
        loop.ready[loop.ready_count++] =
            loop_take(loop.scheduled, &loop.scheduled_count, 0);
    for (int todo = loop.ready_count; todo > 0; todo--) {
        struct handle *handle = loop_take(loop.ready, &loop.ready_count, 0);
        if (!handle->cancelled)
            handle->fn(handle->arg);
        free(handle);
    }
}
/* [end] */

/* [run_until_complete] */
static inline void loop_stop(struct future *future, void *arg)
{
    (void)future, (void)arg;
    loop.stopping = true; // the loop still finishes this turn
}

static inline void run_until_complete(struct future *future)
{
    future_add_done_callback(future, loop_stop, NULL);
    for (loop.stopping = false; !loop.stopping;)
        run_once();
}
/* [end] */

#endif
