/*
 * test_region.c - which requests cancel which waits if scopes, shields and groups are
 * nested at random.
 *
 * A task enters and leaves regions, and waits in between, while another task cancels it
 * from time to time. Three properties must hold:
 *
 * 1. A wait inside a shield fails only because of a request of the shield or of a region
 *    inside it.
 * 2. In the end, the number of remaining requests is the number of requests that the
 *    other task has made.
 * 3. After the last region, a wait fails with -ECANCELED if requests remain, and
 *    otherwise succeeds.
 *
 * As in asyncio, the third property does not hold for a scope that is opened while a
 * request is in flight, and expires in the turn in which the request is delivered: the
 * scope mistakes the request for its own. To avoid this case, the task waits after each
 * region.
 */
#include "../../harness/harness.h"

#include <coil.h>

enum { DEEPEST = 6, PROGRAMS = 1000 };

struct region {
    enum { SCOPE, SHIELD, GROUP } kind;
    coil_scope scope;
    coil_group group;
    bool child_failed;
};

struct program {
    uint64_t state;
    struct region open[DEEPEST];
    int depth;
    int steps;
    int wrong;
};

static unsigned below(struct program *p, unsigned n)
{
    p->state = p->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(p->state >> 33) % n;
}

static int innermost_shield(const struct program *p)
{
    int i = p->depth - 1;

    while (i >= 0 && p->open[i].kind != SHIELD)
        i--;
    return i;
}

/* Return true if a region inside the shield has cancelled the task. */
static bool asked_inside(const struct program *p, int shield)
{
    for (int i = shield; i < p->depth; i++)
        if (p->open[i].kind == GROUP ? p->open[i].child_failed
                                     : coil_scope_expired(&p->open[i].scope))
            return true;
    return false;
}

static void wait_a_little(struct program *p)
{
    int shield = innermost_shield(p), rc = coil_sleep(below(p, 3));

    if (rc < 0 && shield >= 0 && !asked_inside(p, shield))
        p->wrong++;
}

static int fail_later(void *arg)
{
    struct region *region = arg;
    int rc = coil_sleep(3);

    if (rc < 0)
        return rc;
    region->child_failed = true;
    return -EIO;
}

static void enter(struct program *p)
{
    struct region *region = &p->open[p->depth];
    int64_t deadline = below(p, 2) == 0 ? COIL_NEVER : coil_in(below(p, 8));

    *region = (struct region){.kind = below(p, 3)};
    p->depth++;
    if (region->kind == SCOPE) {
        CHECK_INT(coil_scope_enter(&region->scope, deadline), 0);
    } else if (region->kind == SHIELD) {
        CHECK_INT(coil_scope_enter_shielded(&region->scope, deadline), 0);
    } else {
        coil_group_enter(&region->group);
        if (below(p, 2) == 0)
            CHECK_INT(coil_group_spawn(&region->group, fail_later, region, NULL, NULL),
                      0);
    }
}

static void leave(struct program *p)
{
    struct region *region = &p->open[p->depth - 1];
    int rc = below(p, 2) == 0 ? 0 : -ECANCELED;

    if (region->kind == GROUP)
        coil_group_exit(&region->group, rc);
    else
        coil_scope_exit(&region->scope, rc);
    p->depth--;
    coil_yield();
}

static int run_program(void *arg)
{
    struct program *p = arg;
    int rc;

    while (p->steps-- > 0) {
        unsigned step = below(p, 4);

        if (step == 0 && p->depth < DEEPEST)
            enter(p);
        else if (step == 1 && p->depth > 0)
            leave(p);
        else
            wait_a_little(p);
    }
    while (p->depth > 0)
        leave(p);
    rc = coil_yield();
    if ((rc == -ECANCELED) != (coil_task_cancelling(coil_task_current()) > 0))
        p->wrong++;
    return 0;
}

TASK_TEST(requests_cancel_the_right_waits_in_nested_regions)
{
    for (int i = 0; i < PROGRAMS; i++) {
        struct program p = {.state = (uint64_t)i, .steps = 40}, driver = p;
        int requests = 0;
        coil_task *task;

        CHECK_INT(coil_spawn(run_program, &p, NULL, &task), 0);
        /* let the task begin: a task that is cancelled earlier never does */
        coil_yield();
        for (unsigned n = below(&driver, 3); n > 0; n--) {
            coil_sleep(below(&driver, 20));
            requests += coil_task_cancel(task, NULL);
        }
        coil_task_await(task);
        CHECK_INT(p.wrong, 0);
        CHECK_INT(coil_task_cancelling(task), requests);
        coil_task_release(task);
    }
}

/* ---- objects of bindings ----------------------------------------------------------- */

TASK_TEST(region_bound_finds_the_objects_from_the_inside_out)
{
    coil_scope outer, without, inner;
    int first, second;

    CHECK_PTR(coil_region_bound(NULL), NULL);
    coil_scope_enter(&outer, COIL_NEVER);
    coil_region_bind(&first);
    coil_scope_enter(&without, COIL_NEVER);
    coil_scope_enter(&inner, COIL_NEVER);
    coil_region_bind(&second);
    CHECK_PTR(coil_region_bound(NULL), &second);
    CHECK_PTR(coil_region_bound(&second), &first);
    CHECK_PTR(coil_region_bound(&first), NULL);
    coil_scope_exit(&inner, 0);
    CHECK_PTR(coil_region_bound(NULL), &first);
    coil_scope_exit(&without, 0);
    coil_scope_exit(&outer, 0);
    CHECK_PTR(coil_region_bound(NULL), NULL);
}
