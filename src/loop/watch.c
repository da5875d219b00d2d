/*
 * watch.c - readers and writers: callbacks that are called while a descriptor is ready.
 *
 * A watcher is a runnable whose address is stored in the descriptor's entry
 * (descriptor.h). Each poll that finds the descriptor ready makes the watcher ready. A
 * watcher belongs either to another part of the library, or to a struct watch (defined
 * here), which calls a user's callback. Removing a watcher also removes it from the ready
 * queue.
 */
#include "../base/context.h"
#include "leak.h"
#include "loop.h"

struct watch {
    struct coil__runnable runnable;
    coil_callback fn;
    void *arg;
    struct coil__bindings *bindings; /* each call runs in a copy of this context */
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

static const struct coil__leak_kind leaked_watches[] = {
    [COIL__IN] = {"a reader", "descriptor", "removed"},
    [COIL__OUT] = {"a writer", "descriptor", "removed"},
};

static void free_watch(struct watch *watch)
{
    coil__list_remove(&watch->runnable.link);
    coil__leak_forget(watch);
    coil__bindings_release(watch->bindings);
    coil__free(watch);
}

/*
 * Return the struct watch to which the runnable belongs, or NULL if it belongs to another
 * part of the library, or is NULL.
 */
static struct watch *watch_of(struct coil__runnable *runnable)
{
    if (runnable == NULL || runnable->run != run_watch)
        return NULL;
    return COIL__CONTAINER(runnable, struct watch, runnable);
}

/* ---- watchers ---------------------------------------------------------------------- */

int coil__loop_watch(coil_loop *loop, int fd, enum coil__direction direction,
                     struct coil__runnable *runnable)
{
    struct coil__backend *backend = loop->backend;
    struct coil__runnable *before;
    struct coil__descriptor *d;
    int rc = coil__descriptor_claim(loop->descriptors, fd, COIL__WATCHED, &d);

    if (rc < 0)
        return coil__failed(rc);
    before = d->watchers[direction];
    d->use = COIL__WATCHED;
    d->watchers[direction] = runnable;
    rc = backend->class->watch(backend, fd, d, direction, before != NULL);
    if (rc < 0) {
        d->watchers[direction] = before;
        if (coil__descriptor_is_idle(d))
            coil__descriptor_release(d);
        return coil__failed(rc);
    }
    /* simulated sockets do not count, because timers produce their events */
    if (before == NULL)
        backend->in_use += fd < COIL__FIRST_SIMULATED;
    else if (before != runnable && watch_of(before) != NULL)
        free_watch(watch_of(before)); /* the descriptor was closed while it was watched */
    return 0;
}

void coil__loop_unwatch(coil_loop *loop, int fd, enum coil__direction direction,
                        struct coil__runnable *runnable)
{
    struct coil__descriptor *d = coil__descriptor_find_any(loop->descriptors, fd);

    coil__list_remove(&runnable->link);
    if (d == NULL || d->use != COIL__WATCHED || d->watchers[direction] != runnable)
        return;
    d->watchers[direction] = NULL;
    loop->backend->in_use -= fd < COIL__FIRST_SIMULATED;
    loop->backend->class->watch(loop->backend, fd, d, direction, false);
    if (coil__descriptor_is_idle(d))
        coil__descriptor_release(d);
}

void coil__watch_found(struct coil__runnable *runnable)
{
    /* An earlier poll may have made the watcher ready. */
    if (runnable != NULL && coil__list_empty(&runnable->link))
        coil__loop_add_ready(coil_loop_current(), runnable);
}

/* ---- readers and writers ----------------------------------------------------------- */

static struct watch *find_watch(const coil_loop *loop, int fd,
                                enum coil__direction direction)
{
    const struct coil__descriptor *d = coil__descriptor_find_any(loop->descriptors, fd);

    return d != NULL && d->use == COIL__WATCHED ? watch_of(d->watchers[direction]) : NULL;
}

/*
 * Replace the callback of a watch. The number may now belong to another descriptor, so
 * notify the backend again, and drop a pending call for the old descriptor.
 */
static int replace(coil_loop *loop, struct watch *watch, int fd,
                   enum coil__direction direction, coil_callback fn, void *arg)
{
    int rc = coil__loop_watch(loop, fd, direction, &watch->runnable);

    if (rc < 0)
        return rc;
    coil__list_remove(&watch->runnable.link);
    coil__bindings_release(watch->bindings);
    set_call(watch, fn, arg);
    return 0;
}

static int add(const char *caller, int fd, enum coil__direction direction,
               coil_callback fn, void *arg)
{
    coil_loop *loop = coil__loop_require(caller);
    struct watch *watch = find_watch(loop, fd, direction);
    int rc;

    if (watch != NULL)
        return replace(loop, watch, fd, direction, fn, arg);
    watch = coil__alloc(sizeof *watch);
    if (watch == NULL)
        return coil__failed(-ENOMEM);
    coil__runnable_init(&watch->runnable, run_watch);
    set_call(watch, fn, arg);
    rc = coil__loop_watch(loop, fd, direction, &watch->runnable);
    if (rc < 0) {
        free_watch(watch);
        return rc;
    }
    coil__leak_note(&leaked_watches[direction], watch, fd, NULL);
    return 0;
}

static int remove_watch(coil_loop *loop, int fd, enum coil__direction direction)
{
    struct watch *watch = find_watch(loop, fd, direction);

    if (watch == NULL)
        return 0;
    coil__loop_unwatch(loop, fd, direction, &watch->runnable);
    free_watch(watch);
    return 1;
}

/*
 * Remove a watch from the thread's loop or, in a child of fork(2), from the loop that the
 * thread had in the parent. Returns 1 if a watch was removed, otherwise 0.
 */
static int undo(const char *caller, int fd, enum coil__direction direction)
{
    int taken = remove_watch(coil__loop_to_undo(caller), fd, direction);

    if (taken == 0 && COIL__UNLIKELY(coil__loop_of_parent != NULL))
        taken = remove_watch(coil__loop_of_parent, fd, direction);
    return taken;
}

int coil_add_reader(int fd, coil_callback fn, void *arg)
{
    COIL__REQUIRE(fn, "a function");
    return add("coil_add_reader", fd, COIL__IN, fn, arg);
}

int coil_add_writer(int fd, coil_callback fn, void *arg)
{
    COIL__REQUIRE(fn, "a function");
    return add("coil_add_writer", fd, COIL__OUT, fn, arg);
}

int coil_remove_reader(int fd)
{
    return undo("coil_remove_reader", fd, COIL__IN);
}

int coil_remove_writer(int fd)
{
    return undo("coil_remove_writer", fd, COIL__OUT);
}

static void finish_watches(coil_loop *loop, int first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        remove_watch(loop, first + (int)i, COIL__IN);
        remove_watch(loop, first + (int)i, COIL__OUT);
    }
}

void coil__watches_finish(coil_loop *loop)
{
    finish_watches(loop, 0, loop->descriptors->count);
    finish_watches(loop, COIL__FIRST_SIMULATED, loop->descriptors->simulated_count);
}
