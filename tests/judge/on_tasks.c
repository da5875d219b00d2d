/*
 * on_tasks.c - coil-judge's instructions on tasks, futures and callbacks.
 */
#include "judge.h"

#define MAX_MARK 128

/* Those of the names, from the `first` word on, that there are. */
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

int start_body(struct body *body, coil_group *group)
{
    char name[8];
    coil_spawn_opts opts = {.name = name};
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

static int do_spawn(struct body *body, const struct line *line)
{
    struct body *other = &bodies[number_of(line->words[1])];

    (void)body;
    if (other->end == 0 || other->task != NULL)
        return ABSENT;
    return start_body(other, NULL);
}

static int do_child(struct body *body, const struct line *line)
{
    struct body *other = &bodies[number_of(line->words[1])];
    coil_group *group = groups[number_of(line->words[2])];

    (void)body;
    if (group == NULL || other->end == 0 || other->task != NULL)
        return ABSENT;
    return start_body(other, group);
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

/* Who asked to be told of what. Asking twice is one note and two callbacks. */
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

    trace("callback", "%s %s %s", name_of(note->body), note->name,
          word_of(coil_future_result(future)).text);
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

/* What is to be called, by its mark. */
static struct call {
    const char *verb;
    int mark;
    coil_handle *handle;
} calls[MAX_MARK];

static void say_mark(void *arg)
{
    const struct call *call = arg;

    trace(call->verb, "%d", call->mark);
}

/* The last word is the mark of the call to come. */
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

static int add_task(coil_task *task, void *arg)
{
    struct body *body = arg;

    if (coil_task_name(task)[0] == 't')
        add_detail(body, "%s%s", body->detail[2] != '\0' ? " " : "",
                   coil_task_name(task));
    return 0;
}

static int do_tasks(struct body *body, const struct line *line)
{
    (void)line;
    add_detail(body, " [");
    coil_task_each(add_task, body);
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
