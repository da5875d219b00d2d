/*
 * watch.c - readers and writers: callbacks for descriptors that are ready.
 *
 * The backend makes a watch's runnable ready in every poll that finds the descriptor so;
 * here it only gets its callback. A table by descriptor, grown as needed, holds the two
 * watches of each; a watch that is removed while it is ready is taken out of the ready
 * queue with it. The numbers of simulated sockets begin high up: they have a table of
 * their own.
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

/* Its table, and in *slot its place in it, whether the table goes that far or not. */
static struct coil__watch_table **table_of(coil_loop *loop, int fd, size_t *slot)
{
    bool simulated = fd >= COIL__FIRST_SIMULATED;

    *slot = (size_t)fd - (simulated ? COIL__FIRST_SIMULATED : 0);
    return &loop->watches[simulated];
}

/* The place of one that there may be yet; NULL: no memory. */
static struct watch **make_room(coil_loop *loop, int fd, enum coil__direction direction)
{
    size_t slot;
    struct coil__watch_table **place = table_of(loop, fd, &slot), *table = *place;
    size_t old = table != NULL ? table->count : 0;
    size_t count = old > 0 ? old : 64;

    while (count <= slot)
        count *= 2;
    if (count == old)
        return &table->watches[slot][direction];
    table = coil__realloc(table, sizeof *table + count * sizeof table->watches[0]);
    if (table == NULL)
        return NULL;
    memset(table->watches[old], 0, (count - old) * sizeof table->watches[0]);
    table->count = count;
    *place = table;
    return &table->watches[slot][direction];
}

static struct watch **find(coil_loop *loop, int fd, enum coil__direction direction)
{
    size_t slot;
    struct coil__watch_table *table = *table_of(loop, fd, &slot);

    if (table == NULL || fd < 0 || slot >= table->count)
        return NULL;
    return &table->watches[slot][direction];
}

static int add(const char *caller, int fd, enum coil__direction direction,
               coil_callback fn, void *arg)
{
    coil_loop *loop = coil__loop_require(caller);
    struct watch **place = find(loop, fd, direction), *watch;
    int rc;

    if (place != NULL && *place != NULL) {
        /* What the old one was to be called for, the new one is not. */
        coil__list_remove(&(*place)->runnable.link);
        coil__bindings_release((*place)->bindings);
        set_call(*place, fn, arg);
        return 0;
    }
    if (fd < 0)
        return -EBADF;
    place = make_room(loop, fd, direction);
    watch = place != NULL ? coil__alloc(sizeof *watch) : NULL;
    if (watch == NULL)
        return -ENOMEM;
    coil__runnable_init(&watch->runnable, run_watch);
    set_call(watch, fn, arg);
    rc = loop->backend->class->watch(loop->backend, fd, direction, &watch->runnable);
    if (rc < 0) {
        free_watch(watch);
        return rc;
    }
    *place = watch;
    return 0;
}

static int take_away(const char *caller, int fd, enum coil__direction direction)
{
    coil_loop *loop = coil__loop_require(caller);
    struct watch **place = find(loop, fd, direction), *watch;

    if (place == NULL || *place == NULL)
        return 0;
    watch = *place;
    loop->backend->class->watch(loop->backend, fd, direction, NULL);
    *place = NULL;
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

static void finish_table(struct coil__watch_table **place, int first)
{
    for (size_t i = 0; *place != NULL && i < (*place)->count; i++) {
        take_away("coil_loop_close", first + (int)i, COIL__IN);
        take_away("coil_loop_close", first + (int)i, COIL__OUT);
    }
    coil__free(*place);
    *place = NULL;
}

void coil__watches_finish(coil_loop *loop)
{
    finish_table(&loop->watches[0], 0);
    finish_table(&loop->watches[1], COIL__FIRST_SIMULATED);
}
