/*
 * bodies.c - runs the bodies of a program's tasks, line by line.
 *
 * Each instruction of reference.py is implemented here as a function that returns an rc,
 * with coil's public headers only. If the function returns a negative rc, the task ends,
 * as an exception in Python would end it. If the tables mark the instruction with
 * `goes_on`, the task continues instead, and the trace shows the rc as a word.
 */
#include "judge.h"

static int run_block(struct body *body, int first, int end);

/* ---- blocks ------------------------------------------------------------------------ */

int run_inside(struct body *body, const struct line *line)
{
    return run_block(body, (int)(line - program.lines) + 1, line->handler);
}

static int handler_of(struct body *body, const struct line *line)
{
    return run_block(body, line->handler + 1, line->end);
}

/*
 * Run a `try` block and its handler. A cancellation is marked as caught before its
 * handler runs, or before a `cleanup` (a `finally` that may wait).
 */
static int do_try(struct body *body, const struct line *line)
{
    const struct line *handler = &program.lines[line->handler];
    int rc = run_inside(body, line);

    if (line_is(handler, "finally") || line_is(handler, "cleanup")) {
        int handler_rc;

        if (line_is(handler, "cleanup"))
            coil_cancel_caught();
        handler_rc = handler_of(body, line);

        rc = handler_rc < 0 ? handler_rc : rc;
    } else if (rc < 0 &&
               (rc == -ECANCELED) == (strcmp(handler->words[1], "cancelled") == 0)) {
        if (rc == -ECANCELED)
            coil_cancel_caught();
        trace(name_of(body), "caught %s", word_of(rc).text);
        rc = handler_of(body, line);
    }
    body->detail[0] = '\0';
    return rc;
}

static int do_group(struct body *body, const struct line *line)
{
    /* static, because instructions may cancel a group that has ended */
    static coil_group memory[MAX_NUMBER];
    int number = number_of(line->words[1]), rc;
    coil_group *group = &memory[number];
    size_t count;

    if (groups[number] != NULL)
        return BUSY;
    coil_group_enter(group);
    groups[number] = known_groups[number] = group;
    rc = coil_group_exit(group, run_inside(body, line));
    groups[number] = NULL;
    count = coil_group_error_count(group);
    body->detail[0] = '\0';
    add_detail(body, " [%zu: ", count);
    for (size_t i = 0; i < count && i < COIL_GROUP_ERRORS; i++)
        add_detail(body, "%s%s", i > 0 ? " " : "",
                   word_of(coil_group_error(group, i)).text);
    add_detail(body, "]");
    return rc;
}

static int scope(struct body *body, const struct line *line, int64_t deadline)
{
    coil_scope scope, *outer = body->scope;
    int rc = coil_scope_enter(&scope, deadline);

    if (rc < 0)
        return rc;
    body->scope = &scope;
    rc = run_inside(body, line);
    body->scope = outer;
    rc = coil_scope_exit(&scope, rc);
    body->detail[0] = '\0';
    add_detail(body, "%s", coil_scope_expired(&scope) ? " expired" : "");
    return rc;
}

static int do_scope(struct body *body, const struct line *line)
{
    return scope(body, line, deadline_of(line->words[1]));
}

static int do_scope_at(struct body *body, const struct line *line)
{
    return scope(body, line, ticks(line->words[1]) * TICK);
}

static int do_hold(struct body *body, const struct line *line)
{
    int rc = sync_acquire(line->words[1]);

    if (rc < 0)
        return rc;
    rc = run_inside(body, line);
    body->detail[0] = '\0';
    if (sync_release(line->words[1]) < 0)
        add_detail(body, " EPERM");
    return rc;
}

static const struct instruction block_instructions[] = {
    {"try", do_try, false},     {"group", do_group, false},
    {"scope", do_scope, false}, {"scope_at", do_scope_at, false},
    {"hold", do_hold, false},   {0},
};

/* ---- lines ------------------------------------------------------------------------- */

static const struct instruction *instruction_of(const struct line *line)
{
    const struct instruction *const tables[] = {task_instructions, sync_instructions,
                                                block_instructions};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct instruction *known = tables[i]; known->verb != NULL; known++)
            if (line_is(line, known->verb))
                return known;
    fprintf(stderr, "coil-judge: program %s: no such instruction: %s\n", program.name,
            line->text);
    exit(2);
}

/*
 * Return true if this rc of the instruction ends the body. -EPERM, which means that the
 * lock of a condition is not held, never ends the body.
 */
static bool ends_body(const struct instruction *instruction, int rc)
{
    return rc < 0 && !instruction->goes_on && rc > ABSENT && rc != -EPERM;
}

static int run_block(struct body *body, int first, int end)
{
    for (int i = first; i < end; i = program.lines[i].end + 1) {
        const struct line *line = &program.lines[i];
        const struct instruction *instruction = instruction_of(line);
        int rc;

        trace(name_of(body), "%s", line->text);
        body->detail[0] = '\0';
        rc = instruction->run(body, line);
        trace(name_of(body), "%s: %s%s", line->text, word_of(rc).text, body->detail);
        if (ends_body(instruction, rc))
            return rc;
    }
    return 0;
}

/*
 * Register the current task, which a race has spawned, as the task that runs this body.
 */
static void adopt(struct body *body)
{
    char name[8];

    snprintf(name, sizeof name, "t%d", body->number);
    body->task = coil_task_retain(coil_task_current());
    coil_task_set_name(body->task, name);
    spawned[spawned_count++] = body;
}

int run_body(void *arg)
{
    struct body *body = arg;
    int rc;

    if (body->task == NULL)
        adopt(body);
    trace(name_of(body), "starts%s", bindings());
    rc = run_block(body, body->first, body->end);
    if (rc >= 0)
        rc = body->result;
    trace(name_of(body), "leaves %s", word_of(rc).text);
    return rc;
}
