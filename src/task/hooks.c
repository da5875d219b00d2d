/*
 * hooks.c - calls a task's hooks when the task is entered and left.
 *
 * The states of the hooks are at the top of the task's stack, in the same order as the
 * hooks. The hooks are called on that stack, before and after the switch: see task.c.
 */
#include "hooks.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>

static size_t room_for(const coil_task_hooks *hooks)
{
    return (hooks->state_bytes + 15) & ~(size_t)15;
}

int coil__hooks_set(coil_task *task, const coil_task_hooks *const *hooks)
{
    size_t bytes = 0;

    if (hooks == NULL || hooks[0] == NULL)
        return 0;
    for (size_t i = 0; hooks[i] != NULL; i++) {
        if (hooks[i]->state_bytes > COIL_HOOK_STATES_BYTES)
            return coil__failed(-EINVAL);
        bytes += room_for(hooks[i]);
        if (bytes > COIL_HOOK_STATES_BYTES)
            return coil__failed(-EINVAL);
    }
    bytes += sizeof *task->hooks;
    task->hooks = coil__coro_reserve(&task->coro, bytes);
    memset(task->hooks, 0, bytes);
    task->hooks->hooks = hooks;
    coil__scheduler.has_hooks = true;
    coil__scheduler.careful = true;
    return 0;
}

/* Call a hook of the running task. The hook must not wait. */
static void call_hook(void (*fn)(void *, void *), char *state, void *data)
{
    struct coil__no_suspend region;
    int saved = errno;

    if (fn == NULL)
        return;
    coil__no_suspend_enter(&region, "one of its coil_task_hooks is called");
    fn(state, data);
    coil__no_suspend_exit(&region);
    errno = saved;
}

void coil__hooks_enter(coil_task *task)
{
    const coil_task_hooks *const *hooks = task->hooks->hooks;
    char *state = task->hooks->states;

    for (size_t i = 0; hooks[i] != NULL; i++) {
        call_hook(hooks[i]->enter, state, hooks[i]->data);
        state += room_for(hooks[i]);
    }
}

static void leave_hooks(coil_task *task, bool for_good)
{
    const coil_task_hooks *const *all = task->hooks->hooks;
    char *state = task->hooks->states;
    size_t count = 0;

    while (all[count] != NULL)
        state += room_for(all[count++]);
    while (count-- > 0) {
        const coil_task_hooks *hooks = all[count];

        state -= room_for(hooks);
        call_hook(for_good && hooks->end != NULL ? hooks->end : hooks->leave, state,
                  hooks->data);
    }
}

void coil__hooks_leave(coil_task *task)
{
    leave_hooks(task, false);
}

void coil__hooks_end(coil_task *task)
{
    leave_hooks(task, true);
}

/* ---- uselocale(3) ------------------------------------------------------------------ */

struct locales {
    locale_t own, of_thread; /* `own` is 0 until the task has run */
};

static void enter_locale(void *state, void *data)
{
    struct locales *locales = state;

    (void)data;
    locales->of_thread = uselocale(locales->own);
}

static void leave_locale(void *state, void *data)
{
    struct locales *locales = state;

    (void)data;
    locales->own = uselocale(locales->of_thread);
}

const coil_task_hooks *coil_hooks_locale(void)
{
    static const coil_task_hooks hooks = {.state_bytes = sizeof(struct locales),
                                          .enter = enter_locale,
                                          .leave = leave_locale};

    return &hooks;
}

/* ---- the signal mask --------------------------------------------------------------- */

struct masks {
    bool has_own; /* false before the task has run */
    sigset_t own, of_thread;
};

static void enter_mask(void *state, void *data)
{
    struct masks *masks = state;

    (void)data;
    pthread_sigmask(SIG_SETMASK, masks->has_own ? &masks->own : NULL, &masks->of_thread);
    masks->has_own = true;
}

static void leave_mask(void *state, void *data)
{
    struct masks *masks = state;

    (void)data;
    pthread_sigmask(SIG_SETMASK, &masks->of_thread, &masks->own);
}

const coil_task_hooks *coil_hooks_signal_mask(void)
{
    static const coil_task_hooks hooks = {
        .state_bytes = sizeof(struct masks), .enter = enter_mask, .leave = leave_mask};

    return &hooks;
}

/* ---- pthread_setcancelstate(3) ----------------------------------------------------- */

struct cancel_states {
    bool has_own;    /* false before the task has run */
    int state, type; /* of the task if it is suspended, otherwise of the thread */
};

static void exchange_cancel_state(struct cancel_states *c)
{
    int state, type;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcanceltype(c->type, &type);
    pthread_setcancelstate(c->state, NULL);
    c->state = state;
    c->type = type;
}

static void enter_cancel_state(void *state, void *data)
{
    struct cancel_states *c = state;

    (void)data;
    if (!c->has_own) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c->state);
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &c->type);
        pthread_setcanceltype(c->type, NULL);
        pthread_setcancelstate(c->state, NULL);
    } else
        exchange_cancel_state(c);
    c->has_own = true;
}

static void leave_cancel_state(void *state, void *data)
{
    (void)data;
    exchange_cancel_state(state);
}

const coil_task_hooks *coil_hooks_cancel_state(void)
{
    static const coil_task_hooks hooks = {.state_bytes = sizeof(struct cancel_states),
                                          .enter = enter_cancel_state,
                                          .leave = leave_cancel_state};

    return &hooks;
}
