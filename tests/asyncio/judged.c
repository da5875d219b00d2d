/*
 * judged.c - see judged.h.
 */
#include "judged.h"

#include <stdarg.h>

#define MANY 32
#define MARKS 128

static struct judged_task *started[MANY];
static size_t started_count;

int told(const char *what, int rc)
{
    trace("%s: %s", what, rc == ABSENT ? "absent" : outcome(rc));
    return rc;
}

/* ---- tasks and futures --------------------------------------------------------------
 */

static int live(void *arg)
{
    struct judged_task *task = arg;
    int rc;

    trace("%s starts", task->name);
    rc = task->run();
    if (rc >= 0)
        rc = task->result;
    trace("%s leaves %s", task->name, outcome(rc));
    return rc;
}

/* We hold it until the end, whoever it belongs to. */
int start_task(struct judged_task *task, struct judged_group *group)
{
    coil_spawn_opts opts = {.name = task->name};
    int rc;

    if (task->task != NULL || (group != NULL && !group->open))
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

static int told_of(const char *what, int rc, size_t n, const int rcs[])
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
    return told_of(what, rc, n, rcs);
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
    return told_of(what, rc, n, rcs);
}

static void say_state(coil_future *future, void *name)
{
    trace("callback %s %s", (const char *)name, state(future));
}

/* The same pointer for the same name: callbacks are removed by it. */
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
    return coil_future_add_callback(future, say_state, intern(name));
}

int remove_callback(const char *name, coil_future *future)
{
    return coil_future_remove_callback(future, say_state, intern(name));
}

static coil_handle *handles[MARKS];

static void say_mark(void *mark)
{
    trace("called %d", (int)(intptr_t)mark);
}

int call_soon(int mark)
{
    return coil_call_soon(say_mark, (void *)(intptr_t)mark, &handles[mark]);
}

int call_later(int seconds, int mark)
{
    return coil_call_later(COIL_SEC(seconds), say_mark, (void *)(intptr_t)mark,
                           &handles[mark]);
}

int call_at(int when, int mark)
{
    return coil_call_at(COIL_SEC(when), say_mark, (void *)(intptr_t)mark, &handles[mark]);
}

int cancel_call(int mark)
{
    if (handles[mark] == NULL)
        return ABSENT;
    coil_handle_cancel(handles[mark]);
    return 0;
}

static int add_name(coil_task *task, void *arg)
{
    char *names = arg;

    if (coil_task_name(task)[0] == 't')
        sprintf(names + strlen(names), "%s%s", *names != '\0' ? " " : "",
                coil_task_name(task));
    return 0;
}

const char *living_tasks(void)
{
    static char names[MANY * 8];

    names[0] = '\0';
    coil_task_each(add_name, names);
    return names;
}

/* ---- blocks -------------------------------------------------------------------------
 */

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

int scope_exit(coil_scope *scope, int rc)
{
    rc = coil_scope_exit(scope, rc);
    trace("scope over: expired %d", coil_scope_expired(scope));
    return rc;
}

/* ---- sync ---------------------------------------------------------------------------
 */

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

/* ---- the driver ---------------------------------------------------------------------
 */

/* A timer may fail for want of memory, and then works. */
static void wait_a_while(void)
{
    while (coil_sleep(COIL_SEC(1000)) == -ENOMEM)
        ;
}

/* False if all have ended. */
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
