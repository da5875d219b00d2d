/*
 * judged.c - see judged.h.
 */
#include "judged.h"

#include <stdarg.h>

#define MANY 32
#define MARKS 128

static struct judged_task *started[MANY];
static size_t started_count;

int trace_step(const char *what, int rc)
{
    trace("%s: %s", what, rc == ABSENT ? "absent" : outcome(rc));
    return rc;
}

/* ---- variables --------------------------------------------------------------------- */

coil_var v0 = COIL_VAR_INIT("v0", NULL), v1 = COIL_VAR_INIT("v1", NULL);

int set(coil_var *variable, int value)
{
    return coil_var_set(variable, (void *)(intptr_t)value, NULL);
}

int value_of(const coil_var *variable)
{
    return (int)(intptr_t)coil_var_get(variable);
}

static const char *bindings(void)
{
    static char text[32];
    int n = 0;

    text[0] = '\0';
    if (value_of(&v0) != 0)
        n = sprintf(text, " v0=%d", value_of(&v0));
    if (value_of(&v1) != 0)
        sprintf(text + n, " v1=%d", value_of(&v1));
    return text;
}

/* ---- tasks and futures ------------------------------------------------------------- */

static int live(void *arg)
{
    struct judged_task *task = arg;
    int rc;

    if (task->raced) {
        task->task = coil_task_retain(coil_task_current());
        coil_task_set_name(task->task, task->name);
        started[started_count++] = task;
    }
    trace("%s starts%s", task->name, bindings());
    rc = task->run();
    if (rc >= 0)
        rc = task->result;
    trace("%s leaves %s", task->name, outcome(rc));
    return rc;
}

/*
 * Start the task. The scenario holds a reference to the task until the end, even if a
 * group owns the task.
 */
static int start_by(struct judged_task *task, struct judged_group *group, bool eager)
{
    coil_spawn_opts opts = {.name = task->name, .eager = eager};
    int rc;

    if (task->task != NULL || task->raced || (group != NULL && !group->open))
        return ABSENT;
    if (group == NULL)
        rc = coil_spawn(live, task, &opts, &task->task);
    else
        rc = coil_group_spawn(&group->group, live, task, &opts, &task->task);
    if (rc < 0)
        return rc;
    if (group != NULL)
        coil_task_retain(task->task);
    started[started_count++] = task;
    return 0;
}

int start_task(struct judged_task *task, struct judged_group *group)
{
    return start_by(task, group, false);
}

int start_eagerly(struct judged_task *task, struct judged_group *group)
{
    return start_by(task, group, true);
}

int cancel(struct judged_task *task)
{
    return task->task != NULL ? coil_task_cancel(task->task, NULL) : ABSENT;
}

int unpark(struct judged_task *task, int value)
{
    return task->task != NULL ? coil_unpark(task->task, value) : ABSENT;
}

coil_future *future_of(const struct judged_task *task)
{
    return task->task != NULL ? coil_task_future(task->task) : NULL;
}

static size_t without_nulls(size_t n, coil_future *futures[])
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (futures[i] != NULL)
            futures[kept++] = futures[i];
    return kept;
}

static int trace_wait(const char *what, int rc, size_t n, const int rcs[])
{
    char states[MANY * 16] = "";

    for (size_t i = 0; i < n; i++)
        sprintf(states + strlen(states), "%s%s", i > 0 ? " " : "", outcome(rcs[i]));
    trace("%s: %s [%s]", what, outcome(rc), states);
    return rc;
}

int gather(const char *what, unsigned flags, size_t n, coil_future *futures[])
{
    int rcs[MANY] = {0}, rc;

    n = without_nulls(n, futures);
    rc = coil_gather(futures, n, flags, rcs);
    return trace_wait(what, rc, n, rcs);
}

int wait_for(const char *what, coil_wait_mode mode, int64_t deadline, size_t n,
             coil_future *futures[])
{
    int rcs[MANY], rc;

    n = without_nulls(n, futures);
    if (n == 0)
        return 0;
    rc = coil_wait(futures, n, mode, deadline);
    for (size_t i = 0; i < n; i++)
        rcs[i] = coil_future_result(futures[i]);
    return trace_wait(what, rc, n, rcs);
}

int as_completed(const char *what, int64_t deadline, size_t n, coil_future *futures[])
{
    coil_as_completed each;
    coil_future *future;
    int rc = coil_as_completed_init(&each, futures, without_nulls(n, futures), deadline);
    int count = 0;

    while (rc >= 0 && (rc = coil_as_completed_next(&each, &future)) > 0) {
        trace("gets %s", state(future));
        count++;
    }
    coil_as_completed_finish(&each);
    return trace_step(what, rc < 0 ? rc : count);
}

int race(const char *what, int64_t delay_ns, size_t n, struct judged_task *tasks[])
{
    coil_work works[MANY];
    int rcs[MANY] = {0}, rc;
    char states[MANY * 16] = "";
    size_t count = 0, winner;

    for (size_t i = 0; i < n; i++) {
        if (tasks[i]->task != NULL || tasks[i]->raced)
            continue;
        tasks[i]->raced = true;
        works[count++] = (coil_work){live, tasks[i]};
    }
    if (count == 0)
        return 0;
    rc = trace_step(what, coil_staggered_race(works, count, delay_ns, &winner, rcs));
    for (size_t i = 0; i < count && rcs[i] != -EINPROGRESS; i++)
        sprintf(states + strlen(states), "%s%s", i > 0 ? " " : "", outcome(rcs[i]));
    trace("raced: %s", states);
    return rc;
}

static void trace_callback(coil_future *future, void *name)
{
    trace("callback %s %s%s", (const char *)name, state(future), bindings());
}

/*
 * Return the same pointer for equal names, because removing a callback requires the
 * pointer with which it was added.
 */
static void *intern(const char *name)
{
    static const char *names[MARKS];
    size_t i = 0;

    while (names[i] != NULL && strcmp(names[i], name) != 0)
        i++;
    if (names[i] == NULL)
        names[i] = name;
    return (void *)names[i];
}

int add_callback(const char *name, coil_future *future)
{
    return coil_future_add_callback(future, trace_callback, intern(name));
}

int remove_callback(const char *name, coil_future *future)
{
    return coil_future_remove_callback(future, trace_callback, intern(name));
}

static coil_handle *handles[MARKS];

static void trace_mark(void *mark)
{
    trace("called %d%s", (int)(intptr_t)mark, bindings());
}

int call_soon(int mark)
{
    return coil_call_soon(trace_mark, (void *)(intptr_t)mark, &handles[mark]);
}

int call_later(int seconds, int mark)
{
    return coil_call_later(COIL_SEC(seconds), trace_mark, (void *)(intptr_t)mark,
                           &handles[mark]);
}

int call_at(int when, int mark)
{
    return coil_call_at(COIL_SEC(when), trace_mark, (void *)(intptr_t)mark,
                        &handles[mark]);
}

int cancel_call(int mark)
{
    if (handles[mark] == NULL)
        return ABSENT;
    coil_handle_cancel(handles[mark]);
    return 0;
}

static int mark_living(coil_task *task, void *arg)
{
    bool *living = arg;

    for (size_t i = 0; i < started_count; i++)
        living[atoi(started[i]->name + 1)] |= started[i]->task == task;
    return 0;
}

const char *living_tasks(void)
{
    static char names[MANY * 8];
    bool living[MANY] = {false};

    names[0] = '\0';
    coil_task_each(mark_living, living);
    for (int i = 0; i < MANY; i++)
        if (living[i])
            sprintf(names + strlen(names), "%st%d", names[0] != '\0' ? " " : "", i);
    return names;
}

/* ---- blocks ------------------------------------------------------------------------ */

void group_enter(struct judged_group *group)
{
    coil_group_enter(&group->group);
    group->open = true;
}

int group_exit(struct judged_group *group, int rc)
{
    char errors[COIL_GROUP_ERRORS * 16] = "";
    size_t count;

    rc = coil_group_exit(&group->group, rc);
    group->open = false;
    count = coil_group_error_count(&group->group);
    for (size_t i = 0; i < count && i < COIL_GROUP_ERRORS; i++)
        sprintf(errors + strlen(errors), "%s%s", i > 0 ? " " : "",
                outcome(coil_group_error(&group->group, i)));
    trace("group over: %zu failures %s", count, errors);
    return rc;
}

int group_cancel(struct judged_group *group)
{
    if (!group->open)
        return ABSENT;
    coil_group_cancel(&group->group, NULL);
    return 0;
}

int scope_exit(coil_scope *scope, int rc)
{
    rc = coil_scope_exit(scope, rc);
    trace("scope over: expired %d", coil_scope_expired(scope));
    return rc;
}

/* ---- sync -------------------------------------------------------------------------- */

static int is_set(void *event)
{
    return coil_event_is_set(event);
}

int wait_for_event(coil_condition *condition, coil_event *event)
{
    return coil_condition_wait_for(condition, is_set, event);
}

int barrier_state(const coil_barrier *barrier)
{
    return coil_barrier_broken(barrier) ? -EPIPE : (int)coil_barrier_waiting(barrier);
}

int put(coil_queue *queue, int item)
{
    return coil_queue_put(queue, &item);
}

int put_nowait(coil_queue *queue, int item)
{
    return coil_queue_put_nowait(queue, &item);
}

int get(coil_queue *queue)
{
    int item, rc = coil_queue_get(queue, &item);

    return rc < 0 ? rc : item;
}

int get_nowait(coil_queue *queue)
{
    int item, rc = coil_queue_get_nowait(queue, &item);

    return rc < 0 ? rc : item;
}

int compare_items(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* ---- the driver -------------------------------------------------------------------- */

/*
 * Sleep for 1000 s. Try again if the allocation of the timer fails, which happens only
 * once on a bad day.
 */
static void wait_a_while(void)
{
    while (coil_sleep(COIL_SEC(1000)) == -ENOMEM)
        ;
}

/*
 * Cancel the remaining tasks, and unlock all locks. Returns false if all tasks have
 * ended.
 */
static bool break_up(coil_lock *const locks[])
{
    struct judged_task *left[MANY];
    char names[MANY * 8] = "";
    size_t n = 0;

    for (size_t i = 0; i < started_count; i++) {
        if (coil_future_done(future_of(started[i])))
            continue;
        sprintf(names + strlen(names), " %s", started[i]->name);
        left[n++] = started[i];
    }
    if (n == 0)
        return false;
    trace("driver cancels%s", names);
    for (size_t i = 0; i < n; i++)
        cancel(left[i]);
    for (; *locks != NULL; locks++)
        if (coil_lock_locked(*locks))
            coil_lock_release(*locks);
    return true;
}

int drive(struct judged_task *const tasks[], coil_lock *const locks[],
          coil_future *const futures[])
{
    int rc = start_task(tasks[0], NULL);

    do
        wait_a_while();
    while (break_up(locks));
    for (; *tasks != NULL; tasks++) {
        coil_task *task = (*tasks)->task;

        trace("%s ended %s", (*tasks)->name,
              task != NULL ? state(coil_task_future(task)) : "absent");
        coil_task_release(task);
    }
    for (; *futures != NULL; futures++) {
        trace("future ended %s", state(*futures));
        coil_future_cancel(*futures, NULL);
    }
    coil_yield();
    for (int i = 0; i < MARKS; i++)
        coil_handle_release(handles[i]);
    return rc;
}
