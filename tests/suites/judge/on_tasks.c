/*
 * on_tasks.c - coil-judge's instructions on tasks, futures and callbacks.
 */
#include "judge.h"

#define MAX_MARK 128

/*
 * Store the tasks and futures named by the words of the line from `first` on, and return
 * their number. Tasks and futures that do not exist are omitted.
 */
static size_t several_of(const struct body *body, const struct line *line, int first,
                         coil_future *several[LINE_MAX_WORDS])
{
    size_t n = 0;

    for (int i = first; i < line->word_count; i++) {
        several[n] = future_of(body, line->words[i]);
        n += several[n] != NULL;
    }
    return n;
}

int start_body(struct body *body, coil_group *group, bool eager)
{
    char name[8];
    coil_spawn_opts opts = {.name = name, .eager = eager};
    int rc;

    snprintf(name, sizeof name, "t%d", body->number);
    if (group == NULL) {
        rc = coil_spawn(run_body, body, &opts, &body->task);
    } else {
        rc = coil_group_spawn(group, run_body, body, &opts, &body->task);
        if (rc == 0)
            coil_task_retain(body->task);
    }
    if (rc == 0)
        spawned[spawned_count++] = body;
    return rc;
}

/* Return true if the program contains this task, and it has not been started. */
static bool can_start(const struct body *body)
{
    return body->end > 0 && body->task == NULL && !body->raced;
}

static int spawn(const struct line *line, bool eager)
{
    struct body *other = &bodies[number_of(line->words[1])];

    if (!can_start(other))
        return ABSENT;
    return start_body(other, NULL, eager);
}

static int do_spawn(struct body *body, const struct line *line)
{
    (void)body;
    return spawn(line, false);
}

static int do_eager(struct body *body, const struct line *line)
{
    (void)body;
    return spawn(line, true);
}

static int child(const struct line *line, bool eager)
{
    struct body *other = &bodies[number_of(line->words[1])];
    coil_group *group = groups[number_of(line->words[2])];

    if (group == NULL || !can_start(other))
        return ABSENT;
    return start_body(other, group, eager);
}

static int do_child(struct body *body, const struct line *line)
{
    (void)body;
    return child(line, false);
}

static int do_eager_child(struct body *body, const struct line *line)
{
    (void)body;
    return child(line, true);
}

static int do_group_cancel(struct body *body, const struct line *line)
{
    coil_group *group = known_groups[number_of(line->words[1])];

    (void)body;
    if (group == NULL)
        return ABSENT;
    coil_group_cancel(group, "another");
    return 0;
}

static int do_sleep(struct body *body, const struct line *line)
{
    (void)body;
    return coil_sleep(ticks(line->words[1]) * TICK);
}

static int do_yield(struct body *body, const struct line *line)
{
    (void)body, (void)line;
    return coil_yield();
}

static int do_result(struct body *body, const struct line *line)
{
    body->result = atoi(line->words[1]);
    return 0;
}

static int do_fail(struct body *body, const struct line *line)
{
    (void)body;
    return rc_of(line->words[1]);
}

static int do_await(struct body *body, const struct line *line)
{
    coil_future *future = future_of(body, line->words[1]);

    return future == NULL ? ABSENT : coil_await(future);
}

static int do_shield(struct body *body, const struct line *line)
{
    coil_future *future = future_of(body, line->words[1]);

    return future == NULL ? ABSENT : coil_shield(future);
}

static int do_set(struct body *body, const struct line *line)
{
    (void)body;
    return coil_future_set(futures[number_of(line->words[1])], atoi(line->words[2]), NULL,
                           NULL);
}

static int do_break(struct body *body, const struct line *line)
{
    (void)body;
    return coil_future_set(futures[number_of(line->words[1])], rc_of(line->words[2]),
                           NULL, NULL);
}

static int do_cancel(struct body *body, const struct line *line)
{
    coil_future *future = future_of(body, line->words[1]);

    if (line->words[1][0] == 't' && number_of(line->words[1]) == body->number)
        return coil_task_cancel(body->task, "itself");
    return future == NULL ? ABSENT : coil_future_cancel(future, "another");
}

static int do_uncancel(struct body *body, const struct line *line)
{
    (void)body, (void)line;
    return coil_uncancel();
}

static int do_cancelling(struct body *body, const struct line *line)
{
    (void)line;
    return coil_task_cancelling(body->task);
}

/* ---- many -------------------------------------------------------------------------- */

static int gather(struct body *body, const struct line *line, unsigned flags)
{
    coil_future *several[LINE_MAX_WORDS];
    size_t n = several_of(body, line, 1, several);
    int rcs[LINE_MAX_WORDS], rc = coil_gather(several, n, flags, rcs);

    add_states(body, rcs, n);
    return rc;
}

static int do_gather(struct body *body, const struct line *line)
{
    return gather(body, line, 0);
}

static int do_gather_all(struct body *body, const struct line *line)
{
    return gather(body, line, COIL_GATHER_ALL);
}

static int do_wait(struct body *body, const struct line *line)
{
    coil_future *several[LINE_MAX_WORDS];
    size_t n = several_of(body, line, 3, several);
    int rcs[LINE_MAX_WORDS], rc;
    coil_wait_mode mode = line->words[1][0] == 'a'   ? COIL_WAIT_ALL
                          : line->words[1][0] == 'f' ? COIL_WAIT_FIRST
                                                     : COIL_WAIT_FIRST_EXCEPTION;

    if (n == 0)
        return ABSENT;
    rc = coil_wait(several, n, mode, deadline_of(line->words[2]));
    for (size_t i = 0; i < n; i++)
        rcs[i] = coil_future_result(several[i]);
    add_states(body, rcs, n);
    return rc;
}

static int do_wait_for(struct body *body, const struct line *line)
{
    coil_future *future = future_of(body, line->words[2]);

    return future == NULL ? ABSENT : coil_wait_for(future, deadline_of(line->words[1]));
}

/*
 * Print a line of the trace for each future when it completes. Returns the number of
 * futures, or a negative error.
 */
static int do_as_completed(struct body *body, const struct line *line)
{
    coil_future *several[LINE_MAX_WORDS], *future;
    size_t n = several_of(body, line, 2, several);
    coil_as_completed each;
    int rc = coil_as_completed_init(&each, several, n, deadline_of(line->words[1]));
    int count = 0;

    while (rc >= 0 && (rc = coil_as_completed_next(&each, &future)) > 0) {
        trace(name_of(body), "gets %s", word_of(coil_future_result(future)).text);
        count++;
    }
    coil_as_completed_finish(&each);
    return rc < 0 ? rc : count;
}

/*
 * Run a staggered race of those tasks that have not been started. The race spawns these
 * tasks, and owns them.
 */
static int do_race(struct body *body, const struct line *line)
{
    const char *delay = line->words[1];
    int64_t delay_ns = strcmp(delay, "never") == 0 ? COIL_NEVER : ticks(delay) * TICK;
    coil_work works[LINE_MAX_WORDS];
    int rcs[LINE_MAX_WORDS], rc;
    size_t n = 0, winner;

    for (int i = 2; i < line->word_count; i++) {
        struct body *other = &bodies[number_of(line->words[i])];

        if (!can_start(other))
            continue;
        other->raced = true;
        works[n++] = (coil_work){run_body, other};
    }
    if (n == 0)
        return ABSENT;
    rc = coil_staggered_race(works, n, delay_ns, &winner, rcs);
    add_states(body, rcs, n);
    return rc;
}

/* ---- variables --------------------------------------------------------------------- */

static coil_var variables[] = {COIL_VAR_INIT("v0", NULL), COIL_VAR_INIT("v1", NULL)};

static coil_var *variable_of(const struct line *line)
{
    return &variables[number_of(line->words[1]) % 2];
}

static int do_setvar(struct body *body, const struct line *line)
{
    (void)body;
    return coil_var_set(variable_of(line), (void *)(intptr_t)atoi(line->words[2]), NULL);
}

static int do_getvar(struct body *body, const struct line *line)
{
    (void)body;
    return (int)(intptr_t)coil_var_get(variable_of(line));
}

static int do_bind(struct body *body, const struct line *line)
{
    coil_var_token token;
    int rc =
        coil_var_set(variable_of(line), (void *)(intptr_t)atoi(line->words[2]), &token);

    if (rc < 0)
        return rc;
    rc = run_inside(body, line);
    coil_var_reset(variable_of(line), &token);
    body->detail[0] = '\0';
    return rc;
}

const char *bindings(void)
{
    static char text[32];

    text[0] = '\0';
    for (int i = 0; i < 2; i++)
        if (coil_var_get(&variables[i]) != NULL)
            sprintf(text + strlen(text), " v%d=%d", i,
                    (int)(intptr_t)coil_var_get(&variables[i]));
    return text;
}

/* ---- parking ----------------------------------------------------------------------- */

static int do_park(struct body *body, const struct line *line)
{
    (void)body, (void)line;
    return coil_park();
}

static int do_unpark(struct body *body, const struct line *line)
{
    const struct body *other = &bodies[number_of(line->words[1])];

    (void)body;
    return other->task == NULL ? ABSENT : coil_unpark(other->task, atoi(line->words[2]));
}

/* ---- callbacks --------------------------------------------------------------------- */

/*
 * The callbacks that were added. A callback that was added twice is stored once, but
 * called twice.
 */
static struct note {
    const struct body *body;
    const char *name;
} notes[MAX_NUMBER][2][MAX_NUMBER];

static struct note *note_of(const struct body *body, const char *name)
{
    struct note *note = &notes[body->number][name[0] == 't'][number_of(name)];

    *note = (struct note){body, name};
    return note;
}

static void say_state(coil_future *future, void *arg)
{
    struct note *note = arg;

    /*
     * Print the body's number instead of the task's name, because the task may no longer
     * exist.
     */
    trace("callback", "t%d %s %s%s", note->body->number, note->name,
          word_of(coil_future_result(future)).text, bindings());
}

static int do_callback(struct body *body, const struct line *line)
{
    coil_future *future = future_of(body, line->words[1]);

    if (future == NULL)
        return ABSENT;
    return coil_future_add_callback(future, say_state, note_of(body, line->words[1]));
}

static int do_uncallback(struct body *body, const struct line *line)
{
    coil_future *future = future_of(body, line->words[1]);

    if (future == NULL)
        return ABSENT;
    return coil_future_remove_callback(future, say_state, note_of(body, line->words[1]));
}

/* The calls that were scheduled, indexed by their marks. */
static struct call {
    const char *verb;
    int mark;
    coil_handle *handle;
} calls[MAX_MARK];

static void say_mark(void *arg)
{
    const struct call *call = arg;

    trace(call->verb, "%d%s", call->mark, bindings());
}

/* Return the scheduled call whose mark is the last word of the line. */
static struct call *call_of(const struct line *line)
{
    int mark = atoi(line->words[line->word_count - 1]);

    if (mark < 0 || mark >= MAX_MARK)
        exit(2);
    return &calls[mark];
}

static struct call *new_call(const struct line *line)
{
    struct call *call = call_of(line);

    coil_handle_release(call->handle);
    *call = (struct call){line->words[0], (int)(call - calls), NULL};
    return call;
}

static int do_soon(struct body *body, const struct line *line)
{
    struct call *call = new_call(line);

    (void)body;
    return coil_call_soon(say_mark, call, &call->handle);
}

static int do_later(struct body *body, const struct line *line)
{
    struct call *call = new_call(line);

    (void)body;
    return coil_call_later(ticks(line->words[1]) * TICK, say_mark, call, &call->handle);
}

static int do_at(struct body *body, const struct line *line)
{
    struct call *call = new_call(line);

    (void)body;
    return coil_call_at(ticks(line->words[1]) * TICK, say_mark, call, &call->handle);
}

static int do_unschedule(struct body *body, const struct line *line)
{
    struct call *call = call_of(line);

    (void)body;
    if (call->handle == NULL)
        return ABSENT;
    coil_handle_cancel(call->handle);
    return 0;
}

void tasks_finish(void)
{
    for (int i = 0; i < MAX_MARK; i++)
        coil_handle_release(calls[i].handle);
    memset(calls, 0, sizeof calls);
}

/* ---- introspection ----------------------------------------------------------------- */

/*
 * Mark the task in `living` if it belongs to the program. A task of a race belongs to the
 * program only once the task has begun.
 */
static int mark_living(coil_task *task, void *arg)
{
    bool *living = arg;

    for (int i = 0; i < body_count; i++)
        living[i] |= bodies[i].task == task;
    return 0;
}

static int do_tasks(struct body *body, const struct line *line)
{
    bool living[MAX_NUMBER] = {false};
    const char *between = "";

    (void)line;
    coil_task_each(mark_living, living);
    add_detail(body, " [");
    for (int i = 0; i < body_count; i++) {
        if (!living[i])
            continue;
        add_detail(body, "%st%d", between, i);
        between = " ";
    }
    add_detail(body, "]");
    return 0;
}

static int do_reschedule(struct body *body, const struct line *line)
{
    if (body->scope == NULL)
        return ABSENT;
    return coil_scope_set_deadline(body->scope, deadline_of(line->words[1]));
}

const struct instruction task_instructions[] = {
    {"spawn", do_spawn, true},
    {"child", do_child, true},
    {"eager", do_eager, true},
    {"eager_child", do_eager_child, true},
    {"gcancel", do_group_cancel, true},
    {"wait_for", do_wait_for, false},
    {"as_completed", do_as_completed, false},
    {"race", do_race, false},
    {"setvar", do_setvar, true},
    {"getvar", do_getvar, true},
    {"bind", do_bind, false},
    {"sleep", do_sleep, false},
    {"yield", do_yield, false},
    {"result", do_result, true},
    {"fail", do_fail, false},
    {"await", do_await, false},
    {"shield", do_shield, false},
    {"set", do_set, true},
    {"break", do_break, true},
    {"cancel", do_cancel, true},
    {"uncancel", do_uncancel, true},
    {"cancelling", do_cancelling, true},
    {"gather", do_gather, false},
    {"gather_all", do_gather_all, false},
    {"wait", do_wait, false},
    {"park", do_park, false},
    {"unpark", do_unpark, true},
    {"callback", do_callback, true},
    {"uncallback", do_uncallback, true},
    {"soon", do_soon, true},
    {"later", do_later, true},
    {"at", do_at, true},
    {"unschedule", do_unschedule, true},
    {"tasks", do_tasks, true},
    {"reschedule", do_reschedule, true},
    {0},
};
