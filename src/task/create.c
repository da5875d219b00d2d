/*
 * create.c - creates tasks.
 *
 * Nearly every task takes the fast path, create_plainly(): its slot comes from the free
 * list of the thread's stacks, and only a few members of its control block are set
 * (block.h). create_with_care() handles all other cases.
 */
#include "light_task.h"
#include "block.h"
#include "failure.h"
#include "hooks.h"
#include "scheduler.h"
#include "step.h"
#include "trace_task.h"

#include "../base/probe.h"
#include "../coro/light.h"
#include "../coro/switch.h"
#include "../loop/leak.h"

#include <string.h>

/* ---- control blocks ---------------------------------------------------------------- */

static COIL__NOINLINE bool can_be_light(void)
{
    coil__light_tasks_set_up();
    return coil__light_off() == NULL;
}

/* True if the options or the loop request a light task, and stacks can be swapped out
   on this platform. */
static inline bool is_light(const coil_loop *loop, const coil_spawn_opts *opts)
{
    enum coil_light light = opts != NULL ? opts->light : COIL_LIGHT_AS_RUN;

    if (COIL__LIKELY(light == COIL_LIGHT_AS_RUN && !loop->light_tasks))
        return false;
    return light != COIL_NOT_LIGHT && can_be_light();
}

static inline int take_block(const coil_spawn_opts *opts, coil_loop *loop,
                             coil_task **out)
{
    const struct coil__coro_class *class = COIL__UNLIKELY(is_light(loop, opts))
                                               ? &coil__task_light_class
                                               : &coil__task_class;
    size_t stack_bytes = opts != NULL ? opts->stack_bytes : 0;
    coil__coro *coro;
    coil_task *task;
    int rc = coil__coro_take(sizeof *task, stack_bytes, class, &coro);

    if (COIL__UNLIKELY(rc < 0))
        return rc;
    task = COIL__CONTAINER(coro, coil_task, coro);
    if (COIL__UNLIKELY(coro->class != class)) {
        coil__block_write(task, class);
        coil__block_init(task, loop);
    } else {
        coil__block_init(task, loop);
        coil__block_check(task, loop);
    }
    *out = task;
    return 0;
}

/* ---- creating ---------------------------------------------------------------------- */

static inline void enlist(coil_task *task)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    const coil_task *spawner = scheduler->current;

    coil__list_push(&scheduler->tasks, &task->link);
    task->coro.number = (uint32_t)++scheduler->spawned;
    task->spawned_by = spawner != NULL ? spawner->coro.number : 0;
    COIL__PROBE2(task_spawn, task->coro.number, task->fn);
}

/*
 * The fast path: create a task if no options, hooks, contexts, traces or sanitizers are
 * used, debug mode is off, and a slot is free. Otherwise return NULL, so that the caller
 * uses create_with_care().
 */
static inline coil_task *create_plainly(coil_task_fn fn, void *arg)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil_loop *loop = coil__loop_of_thread;
    struct coil__stack *stack = coil__stack_slab->free;
    coil_task *task =
        stack != NULL ? COIL__CONTAINER(stack, coil_task, coro.stack) : NULL;

    if (COIL__UNLIKELY(stack == NULL || task->coro.class != &coil__task_class ||
                       loop == NULL || scheduler->hooked != loop || loop->debug ||
                       scheduler->careful || loop->light_tasks ||
                       coil__context_is_used() || !coil__timers_have_room(&loop->timers)))
        return NULL;
    coil__stack_acquire_usual();
    loop->timers.reserved++;
    coil__block_init(task, loop);
    coil__block_check(task, loop);
    task->fn = fn;
    task->coro.arg = arg;
    task->coro.sp = coil__switch_prepare(stack->high, fn, arg, coil__task_body_returned);
    coil__name_set_number(&task->name, scheduler->spawned + 1);
    enlist(task);
    return task;
}

/* A task inherits its spawner's hooks unless the options contain others. */
static const coil_task_hooks *const *hooks_for(const coil_spawn_opts *opts)
{
    const coil_task *spawner = coil__scheduler.current;

    if (opts->hooks != NULL)
        return opts->hooks;
    return spawner != NULL && spawner->hooks != NULL ? spawner->hooks->hooks : NULL;
}

/* Apply the options and the inherited hooks. */
static COIL__NOINLINE int apply_opts(coil_task *task, const coil_spawn_opts *opts)
{
    const coil_task_hooks *const *hooks = hooks_for(opts);
    int rc;

    if (hooks != NULL && (rc = coil__hooks_set(task, hooks)) < 0)
        return rc;
    task->hold_cancel = opts->hold_cancel;
    if (opts->arg_bytes > 0) {
        void *arg = coil__coro_reserve(&task->coro, opts->arg_bytes);

        memcpy(arg, task->coro.arg, opts->arg_bytes);
        task->coro.arg = arg;
    }
    if (opts->context != NULL)
        task->context.entered = coil_context_retain(opts->context);
    if (opts->name != NULL)
        coil__name_set(&task->name, opts->name);
    return 0;
}

static COIL__NOINLINE int create_with_care(coil_task_fn fn, void *arg,
                                           const coil_spawn_opts *opts, coil_task **out)
{
    static const coil_spawn_opts defaults;
    coil_loop *loop = coil__loop_require("coil_spawn");
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil_task *task;
    int rc;

    if (COIL__UNLIKELY(loop->debug)) /* this check takes 1 % of a spawn's time */
        coil__loop_check_stack("coil_spawn");
    if (opts != NULL && opts->arg_bytes > COIL__ARG_BYTES_MAX)
        return coil__failed(-EINVAL);
    coil__scheduler_attach(loop);
    rc = coil__timer_reserve(&loop->timers); /* for the timer of the task's waits */
    if (COIL__UNLIKELY(rc < 0))
        return rc;
    rc = take_block(opts, loop, &task);
    if (COIL__UNLIKELY(rc < 0)) {
        coil__timer_unreserve(&loop->timers);
        return coil__failed(rc);
    }
    if (COIL__UNLIKELY(loop->debug))
        task->marks |= COIL__TASK_DEBUGGED;
    task->fn = fn;
    task->coro.arg = arg;
    coil__name_set_number(&task->name, scheduler->spawned + 1);
    if (COIL__UNLIKELY(opts != NULL || scheduler->has_hooks)) {
        rc = apply_opts(task, opts != NULL ? opts : &defaults);
        if (COIL__UNLIKELY(rc < 0)) {
            coil__timer_unreserve(&loop->timers);
            task->coro.class = NULL;
            coil__coro_destroy(&task->coro);
            return rc;
        }
    }
    if (COIL__LIKELY(!coil__stack_is_light(&task->coro.stack)))
        coil__task_prepare_frames(task);
    else
        task->step.run = coil__task_light_step;
    if (COIL__LIKELY(task->context.entered == NULL))
        task->context.own = coil__context_capture();
    enlist(task);
    if (COIL__UNLIKELY(scheduler->trace != NULL))
        coil__trace_spawned(task);
    *out = task;
    return 0;
}

COIL__NO_CANARY int coil__task_create(coil_task_fn fn, void *arg,
                                      const coil_spawn_opts *opts, coil_task **out)
{
    coil_task *task = opts == NULL ? create_plainly(fn, arg) : NULL;

    if (COIL__UNLIKELY(task == NULL))
        return create_with_care(fn, arg, opts, out);
    *out = task;
    return 0;
}

/* ---- spawning ---------------------------------------------------------------------- */

COIL__NO_CANARY COIL__NOINLINE int
coil_spawn(coil_task_fn fn, void *arg, const coil_spawn_opts *opts, coil_task **out)
{
    COIL__REQUIRE(fn, "a function");
    static const struct coil__leak_kind kind = {"a task", NULL, "released"};
    coil_task *task;
    int rc = coil__task_create(fn, arg, opts, &task);

    if (COIL__UNLIKELY(rc < 0)) {
        if (out != NULL)
            *out = NULL;
        return rc;
    }
    task->spawned_at = COIL__CALLER();
    if (out != NULL) {
        if (COIL__UNLIKELY(task->future.loop->debug))
            coil__leak_add(&kind, &task->future, 0, coil_task_name(task));
        coil__future_retain(&task->future);
        *out = task;
    }
    coil__task_start(task, opts != NULL && opts->eager);
    return 0;
}
