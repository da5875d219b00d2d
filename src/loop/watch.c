/*
 * watch.c - readers and writers: callbacks for descriptors that are ready.
 *
 * The backend makes a watch's runnable ready in every poll that finds the descriptor so;
 * here it only gets its callback. A table by descriptor, grown as needed, holds the two
 * watches of each; a watch that is removed while it is ready is taken out of the ready
 * queue with it.
 */
#include "../base/context.h"
#include "loop.h"

#include <string.h>

struct watch {
    struct coil__runnable runnable;
    coil_callback fn;
    void *arg;
    struct coil__bindings *bindings; /* each call runs in a copy of that context */
};

/* Watches never move: the ready queue links to them. */
struct coil__watch_table {
    size_t count;
    struct watch *watches[][2];
};

static void run_watch(struct coil__runnable *runnable)
{
    struct watch *watch = COIL__CONTAINER(runnable, struct watch, runnable);
    struct coil__context_slot slot, *outer;

    outer = coil__context_enter(&slot, coil__bindings_retain(watch->bindings));
    coil__loop_calls(coil__loop_of_thread, (const void *)watch->fn, NULL);
    watch->fn(watch->arg);
    coil__context_leave(&slot, outer);
}

static void set_call(struct watch *watch, coil_callback fn, void *arg)
{
    watch->fn = fn;
    watch->arg = arg;
    watch->bindings = coil__context_capture();
}

static void free_watch(struct watch *watch)
{
    coil__bindings_release(watch->bindings);
    coil__free(watch);
}

static int make_room(coil_loop *loop, int fd)
{
    struct coil__watch_table *table = loop->watches;
    size_t old = table != NULL ? table->count : 0;
    size_t count = old > 0 ? old : 64;

    while (count <= (size_t)fd)
        count *= 2;
    if (count == old)
        return 0;
    table = coil__realloc(table, sizeof *table + count * sizeof table->watches[0]);
    if (table == NULL)
        return -ENOMEM;
    memset(table->watches[old], 0, (count - old) * sizeof table->watches[0]);
    table->count = count;
    loop->watches = table;
    return 0;
}

static struct watch *find(coil_loop *loop, int fd, enum coil__direction direction)
{
    struct coil__watch_table *table = loop->watches;

    if (table == NULL || fd < 0 || (size_t)fd >= table->count)
        return NULL;
    return table->watches[fd][direction];
}

static int add(const char *caller, int fd, enum coil__direction direction,
               coil_callback fn, void *arg)
{
    coil_loop *loop = coil__loop_require(caller);
    struct watch *watch = find(loop, fd, direction);
    int rc;

    if (watch != NULL) {
        /* What the old one was to be called for, the new one is not. */
        coil__list_remove(&watch->runnable.link);
        coil__bindings_release(watch->bindings);
        set_call(watch, fn, arg);
        return 0;
    }
    if (fd < 0)
        return -EBADF;
    rc = make_room(loop, fd);
    if (rc < 0)
        return rc;
    watch = coil__alloc(sizeof *watch);
    if (watch == NULL)
        return -ENOMEM;
    coil__runnable_init(&watch->runnable, run_watch);
    set_call(watch, fn, arg);
    rc = loop->backend->class->watch(loop->backend, fd, direction, &watch->runnable);
    if (rc < 0) {
        free_watch(watch);
        return rc;
    }
    loop->watches->watches[fd][direction] = watch;
    return 0;
}

static int take_away(const char *caller, int fd, enum coil__direction direction)
{
    coil_loop *loop = coil__loop_require(caller);
    struct watch *watch = find(loop, fd, direction);

    if (watch == NULL)
        return 0;
    loop->backend->class->watch(loop->backend, fd, direction, NULL);
    loop->watches->watches[fd][direction] = NULL;
    coil__list_remove(&watch->runnable.link);
    free_watch(watch);
    return 1;
}

int coil_add_reader(int fd, coil_callback fn, void *arg)
{
    return add("coil_add_reader", fd, COIL__IN, fn, arg);
}

int coil_add_writer(int fd, coil_callback fn, void *arg)
{
    return add("coil_add_writer", fd, COIL__OUT, fn, arg);
}

int coil_remove_reader(int fd)
{
    return take_away("coil_remove_reader", fd, COIL__IN);
}

int coil_remove_writer(int fd)
{
    return take_away("coil_remove_writer", fd, COIL__OUT);
}

void coil__watches_finish(coil_loop *loop)
{
    struct coil__watch_table *table = loop->watches;

    for (size_t fd = 0; table != NULL && fd < table->count; fd++) {
        take_away("coil_loop_close", (int)fd, COIL__IN);
        take_away("coil_loop_close", (int)fd, COIL__OUT);
    }
    coil__free(table);
    loop->watches = NULL;
}
