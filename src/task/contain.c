/*
 * contain.c - makes misuse of coil end the calling function instead of the program.
 *
 * coil__contain() calls a function in the running task, inside a region called a
 * containment. If the function misuses coil, coil__misuse() calls contain_misuse(), which
 * does the following while still on the function's stack:
 *
 *     create an error with the message; close the scopes and groups; call longjmp(3)
 *
 * The groups are closed before the jump, because their children may use the frames that
 * the jump discards. If the function returns with a scope or a group open,
 * coil__contain() must close it although the function's frame is gone. So all scopes and
 * groups that are entered inside a containment are on the heap (scope.c, group.c).
 *
 * Misuse is contained only if coil's state is known to be intact. The program still
 * aborts if the task is beginning a wait, is running a generator or a signal handler, or
 * must not wait because coil is calling one of the program's functions. Locks, memory and
 * descriptors that the misusing function owns are not released.
 */
#include "failure.h"
#include "task.h"

#include <setjmp.h>

#define ROOM_OF_FRAMES 4096

struct containment {
    struct coil__region region;
    jmp_buf entry;
};

/* Return the innermost containment of the running task, or NULL. */
static struct containment *find_containment(const coil_task *task)
{
    struct coil__region *region = task->regions;

    while (region != NULL && region->kind != COIL__CONTAINMENT)
        region = region->outer;
    return region != NULL ? COIL__CONTAINER(region, struct containment, region) : NULL;
}

/* True if all regions opened inside `c` are on the heap and can therefore be closed. */
static bool are_all_on_heap(const coil_task *task, const struct containment *c)
{
    const struct coil__region *region = task->regions;

    while (region != &c->region && region->on_heap)
        region = region->outer;
    return region == &c->region;
}

static void close_regions(coil_task *task, const struct containment *c)
{
    struct coil__failure_kept kept;

    coil__failure_keep(&kept);
    while (task->regions != &c->region) {
        struct coil__region *region = task->regions;

        task->regions = region->outer;
        if (region->kind == COIL__SCOPE)
            coil__scope_abandon(region);
        else
            coil__group_abandon(region);
    }
    coil__failure_put_back(&kept);
}

static bool can_be_contained(const coil_task *task)
{
    return task != NULL && task->contained && task->wait == NULL &&
           coil__coro_current() == &task->coro && !coil__coro_off_stack() &&
           coil__scheduler.no_suspend.outer == NULL;
}

static void contain_misuse(const char *sentence, const void *from)
{
    coil_task *task = coil__scheduler.current;
    struct containment *c;

    (void)from;
    if (!can_be_contained(task))
        return;
    c = find_containment(task);
    if (c == NULL || !are_all_on_heap(task, c))
        return;
    task->contained = false; /* from here on, misuse aborts the program */
    coil_fail(-COIL_EFAILED, "%s", sentence);
    close_regions(task, c);
    longjmp(c->entry, 1);
}

/*
 * Close the regions that the function left open when it returned. The children of its
 * groups may use its frames until they have ended, so the array `frames` protects that
 * part of the stack from being overwritten.
 */
static COIL__NOINLINE int close_forgotten(coil_task *task, const struct containment *c)
{
    char frames[ROOM_OF_FRAMES], open[200], *unused = frames;

    COIL__FORGET(unused);
    if (!are_all_on_heap(task, c))
        return 0;
    task->contained = false;
    coil_fail(-COIL_EFAILED, "it returned with %s",
              coil__region_describe(&c->region.inner, open, sizeof open));
    close_regions(task, c);
    return -COIL_EFAILED;
}

static COIL__NOINLINE int call(struct containment *c, int (*fn)(void *arg), void *arg)
{
    return setjmp(c->entry) == 0 ? fn(arg) : -COIL_EFAILED;
}

int coil__contain(int (*fn)(void *arg), void *arg)
{
    coil_task *task = coil__task_require("coil__contain");
    struct containment c;
    int rc;

    coil__misuse_contain = contain_misuse;
    coil__region_enter(task, &c.region, COIL__CONTAINMENT, NULL);
    task->contained = true;
    rc = call(&c, fn, arg);
    if (task->regions != &c.region)
        rc = close_forgotten(task, &c);
    task->contained = false;
    if (task->regions == &c.region)
        task->regions = c.region.outer;
    return rc;
}
