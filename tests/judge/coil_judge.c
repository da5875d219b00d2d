/*
 * coil_judge.c - runs the judge's programs on coil, prints their traces.
 *
 *     coil-judge [--skip-polls] BATCH > traces
 *
 * The counterpart of reference.py, instruction by instruction, on coil's public headers
 * alone. Each instruction is a function that returns an rc, as coil's own do. For those
 * that wait, a negative rc ends the body as an exception does in Python; for the others
 * (`goes_on` in the table) it is a word in the trace.
 */
#include "program.h"

#include <coil/condition.h>
#include <coil/event.h>
#include <coil/gather.h>
#include <coil/group.h>
#include <coil/lock.h>
#include <coil/queue.h>
#include <coil/run.h>
#include <coil/scope.h>
#include <coil/semaphore.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK COIL_MSEC(1)
#define WATCHDOG 1000 /* ticks */
#define ROUNDS 400

/* Words that an instruction leaves in the trace in place of an rc. */
#define ABSENT (-100000)
#define BUSY (-100001)

struct body {
    int number;
    int first, end; /* lines of the body: first up to, not including, end */
    coil_task *task;
    int result;
    coil_scope *scope; /* the innermost, or NULL */
    char detail[160];  /* what the instruction that ends now adds to its outcome */
};

static struct program program;

/* The objects of the program that runs, by number. */
static struct body bodies[MAX_NUMBER];
static coil_future *futures[MAX_NUMBER];
static coil_queue queues[MAX_NUMBER];
static coil_lock locks[MAX_NUMBER];
static coil_semaphore semaphores[MAX_NUMBER];
static coil_event events[MAX_NUMBER];
static coil_condition conditions[MAX_NUMBER];
static coil_group *groups[MAX_NUMBER]; /* those that are open */
static struct body *spawned[MAX_NUMBER];
static int body_count, future_count, queue_count, lock_count, spawned_count;

/* ---- the trace --------------------------------------------------------------------- */

static const struct {
    int rc;
    const char *name;
} names[] = {
    {-ECANCELED, "ECANCELED"},
    {-ETIMEDOUT, "ETIMEDOUT"},
    {-ESHUTDOWN, "ESHUTDOWN"},
    {-EALREADY, "EALREADY"},
    {-EINPROGRESS, "EINPROGRESS"},
    {-EINVAL, "EINVAL"},
    {-EPERM, "EPERM"},
    {-EAGAIN, "EAGAIN"},
    {-EIO, "EIO"},
    {-EPROTO, "EPROTO"},
    {-ENOENT, "ENOENT"},
    {-EPIPE, "EPIPE"},
    {-ENOMEM, "ENOMEM"},
    {ABSENT, "absent"},
    {BUSY, "busy"},
};

struct word {
    char text[16];
};

static struct word word_of(int rc)
{
    struct word word;

    snprintf(word.text, sizeof word.text, "%d", rc);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].rc == rc)
            snprintf(word.text, sizeof word.text, "%s", names[i].name);
    return word;
}

static int rc_of(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].rc;
    return -EINVAL;
}

__attribute__((format(printf, 2, 3))) static void trace(const char *who,
                                                        const char *format, ...)
{
    va_list args;

    printf("%lld %s ", (long long)(coil_now() / TICK), who);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static const char *name_of(const struct body *body)
{
    return coil_task_name(body->task);
}

__attribute__((format(printf, 2, 3))) static void add_detail(struct body *body,
                                                             const char *format, ...)
{
    size_t used = strlen(body->detail);
    va_list args;

    va_start(args, format);
    vsnprintf(body->detail + used, sizeof body->detail - used, format, args);
    va_end(args);
}

/* " [3 ECANCELED EINPROGRESS]" */
static void add_states(struct body *body, const int rcs[], size_t n)
{
    add_detail(body, " [");
    for (size_t i = 0; i < n; i++)
        add_detail(body, "%s%s", i > 0 ? " " : "", word_of(rcs[i]).text);
    add_detail(body, "]");
}

/* ---- what names stand for ---------------------------------------------------------- */

static int ticks(const char *word)
{
    return atoi(word);
}

static int64_t deadline_of(const char *word)
{
    return strcmp(word, "never") == 0 ? COIL_NEVER : coil_in(ticks(word) * TICK);
}

/* A future or a task that can be waited for, borrowed; NULL if there is none yet. */
static coil_future *future_of(const struct body *body, const char *name)
{
    struct body *other = &bodies[number_of(name)];

    if (name[0] == 'f')
        return futures[number_of(name)];
    return other->task == NULL || other == body ? NULL : coil_task_future(other->task);
}

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

/* ---- tasks ------------------------------------------------------------------------- */

static int run_block(struct body *body, int first, int end);

static int run_body(void *arg)
{
    struct body *body = arg;
    int rc;

    trace(name_of(body), "starts");
    rc = run_block(body, body->first, body->end);
    if (rc >= 0)
        rc = body->result;
    trace(name_of(body), "leaves %s", word_of(rc).text);
    return rc;
}

/* Start a task of the loop's own, or of a group. */
static int start(struct body *body, coil_group *group)
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
    return start(other, NULL);
}

static int do_child(struct body *body, const struct line *line)
{
    struct body *other = &bodies[number_of(line->words[1])];
    coil_group *group = groups[number_of(line->words[2])];

    (void)body;
    if (group == NULL || other->end == 0 || other->task != NULL)
        return ABSENT;
    return start(other, group);
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

/* ---- callbacks --------------------------------------------------------------------- */

/* What a callback will say, and who it will be. */
struct note {
    const char *who;
    char text[48];
};

static struct note *create_note(const char *who, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct note *create_note(const char *who, const char *format, ...)
{
    struct note *note = malloc(sizeof *note);
    va_list args;

    if (note == NULL)
        abort();
    note->who = who;
    va_start(args, format);
    vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
    return note;
}

static void say(void *arg)
{
    struct note *note = arg;

    trace(note->who, "%s", note->text);
    free(note);
}

static void say_state(coil_future *future, void *arg)
{
    struct note *note = arg;

    trace(note->who, "%s %s", note->text, word_of(coil_future_result(future)).text);
    free(note);
}

static int do_callback(struct body *body, const struct line *line)
{
    coil_future *future = future_of(body, line->words[1]);

    if (future == NULL)
        return ABSENT;
    return coil_future_add_callback(
        future, say_state,
        create_note("callback", "%s %s", name_of(body), line->words[1]));
}

static int do_soon(struct body *body, const struct line *line)
{
    (void)body;
    return coil_call_soon(say, create_note("soon", "%s", line->words[1]), NULL);
}

static int do_later(struct body *body, const struct line *line)
{
    (void)body;
    return coil_call_later(ticks(line->words[1]) * TICK, say,
                           create_note("later", "%s", line->words[2]), NULL);
}

/* ---- sync -------------------------------------------------------------------------- */

static int acquire(const char *name)
{
    int number = number_of(name);

    return name[0] == 'l' ? coil_lock_acquire(&locks[number])
                          : coil_semaphore_acquire(&semaphores[number]);
}

static int release(const char *name)
{
    int number = number_of(name);

    if (name[0] == 'l')
        return coil_lock_release(&locks[number]);
    coil_semaphore_release(&semaphores[number]);
    return 0;
}

static int do_acquire(struct body *body, const struct line *line)
{
    (void)body;
    return acquire(line->words[1]);
}

static int do_release(struct body *body, const struct line *line)
{
    (void)body;
    return release(line->words[1]);
}

static int do_ewait(struct body *body, const struct line *line)
{
    (void)body;
    return coil_event_wait(&events[number_of(line->words[1])]);
}

static int do_eset(struct body *body, const struct line *line)
{
    (void)body;
    coil_event_set(&events[number_of(line->words[1])]);
    return 0;
}

static int do_eclear(struct body *body, const struct line *line)
{
    (void)body;
    coil_event_clear(&events[number_of(line->words[1])]);
    return 0;
}

static int do_cwait(struct body *body, const struct line *line)
{
    (void)body;
    return coil_condition_wait(&conditions[number_of(line->words[1])]);
}

static int do_notify(struct body *body, const struct line *line)
{
    coil_condition *condition = &conditions[number_of(line->words[1])];

    (void)body;
    if (strcmp(line->words[2], "all") == 0)
        return coil_condition_notify_all(condition);
    return coil_condition_notify(condition, (size_t)atoi(line->words[2]));
}

/* ---- queues ------------------------------------------------------------------------ */

static coil_queue *queue_of(const struct line *line)
{
    return &queues[number_of(line->words[1])];
}

static int do_put(struct body *body, const struct line *line)
{
    int item = atoi(line->words[2]);

    (void)body;
    return coil_queue_put(queue_of(line), &item);
}

static int do_get(struct body *body, const struct line *line)
{
    int item, rc = coil_queue_get(queue_of(line), &item);

    (void)body;
    return rc < 0 ? rc : item;
}

static int do_put_nowait(struct body *body, const struct line *line)
{
    int item = atoi(line->words[2]);

    (void)body;
    return coil_queue_put_nowait(queue_of(line), &item);
}

static int do_get_nowait(struct body *body, const struct line *line)
{
    int item, rc = coil_queue_get_nowait(queue_of(line), &item);

    (void)body;
    return rc < 0 ? rc : item;
}

static int do_task_done(struct body *body, const struct line *line)
{
    (void)body;
    return coil_queue_task_done(queue_of(line));
}

static int do_join(struct body *body, const struct line *line)
{
    (void)body;
    return coil_queue_join(queue_of(line));
}

static int do_shutdown(struct body *body, const struct line *line)
{
    (void)body;
    coil_queue_shutdown(queue_of(line), strcmp(line->words[2], "now") == 0);
    return 0;
}

/* ---- blocks ------------------------------------------------------------------------ */

static int block_of(struct body *body, const struct line *line)
{
    return run_block(body, (int)(line - program.lines) + 1, line->handler);
}

static int handler_of(struct body *body, const struct line *line)
{
    return run_block(body, line->handler + 1, line->end);
}

/* Python's `try`. A caught cancellation is said to be caught before anything else. */
static int do_try(struct body *body, const struct line *line)
{
    const struct line *handler = &program.lines[line->handler];
    int rc = block_of(body, line);

    if (line_is(handler, "finally")) {
        int handler_rc = handler_of(body, line);

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
    int number = number_of(line->words[1]), rc;
    coil_group group;
    size_t count;

    if (groups[number] != NULL)
        return BUSY;
    coil_group_enter(&group);
    groups[number] = &group;
    rc = coil_group_exit(&group, block_of(body, line));
    groups[number] = NULL;
    count = coil_group_error_count(&group);
    body->detail[0] = '\0';
    add_detail(body, " [%zu: ", count);
    for (size_t i = 0; i < count && i < COIL_GROUP_ERRORS; i++)
        add_detail(body, "%s%s", i > 0 ? " " : "",
                   word_of(coil_group_error(&group, i)).text);
    add_detail(body, "]");
    return rc;
}

static int do_scope(struct body *body, const struct line *line)
{
    coil_scope scope, *outer = body->scope;
    int rc = coil_scope_enter(&scope, deadline_of(line->words[1]));

    if (rc < 0)
        return rc;
    body->scope = &scope;
    rc = block_of(body, line);
    body->scope = outer;
    rc = coil_scope_exit(&scope, rc);
    body->detail[0] = '\0';
    add_detail(body, "%s", coil_scope_expired(&scope) ? " expired" : "");
    return rc;
}

static int do_reschedule(struct body *body, const struct line *line)
{
    if (body->scope == NULL)
        return ABSENT;
    return coil_scope_set_deadline(body->scope, deadline_of(line->words[1]));
}

static int do_hold(struct body *body, const struct line *line)
{
    int rc = acquire(line->words[1]);

    if (rc < 0)
        return rc;
    rc = block_of(body, line);
    body->detail[0] = '\0';
    if (release(line->words[1]) < 0)
        add_detail(body, " EPERM");
    return rc;
}

/* ---- the interpreter --------------------------------------------------------------- */

static const struct instruction {
    const char *verb;
    int (*run)(struct body *body, const struct line *line);
    bool goes_on; /* whatever it returns */
} instructions[] = {
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
    {"callback", do_callback, true},
    {"soon", do_soon, true},
    {"later", do_later, true},
    {"acquire", do_acquire, false},
    {"release", do_release, true},
    {"ewait", do_ewait, false},
    {"eset", do_eset, true},
    {"eclear", do_eclear, true},
    {"cwait", do_cwait, false},
    {"notify", do_notify, true},
    {"put", do_put, false},
    {"get", do_get, false},
    {"put_nowait", do_put_nowait, true},
    {"get_nowait", do_get_nowait, true},
    {"task_done", do_task_done, true},
    {"join", do_join, false},
    {"shutdown", do_shutdown, true},
    {"try", do_try, false},
    {"group", do_group, false},
    {"scope", do_scope, false},
    {"reschedule", do_reschedule, true},
    {"hold", do_hold, false},
};

static const struct instruction *instruction_of(const struct line *line)
{
    for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++)
        if (line_is(line, instructions[i].verb))
            return &instructions[i];
    fprintf(stderr, "coil-judge: program %s: no such instruction: %s\n", program.name,
            line->text);
    exit(2);
}

/* -EPERM is never a failure of a program's: a condition whose lock is free says it. */
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

/* ---- the driver -------------------------------------------------------------------- */

static void declare(const struct line *line)
{
    int number = number_of(line->words[1]), i = (int)(line - program.lines);
    size_t size = line->word_count > 2 ? strtoul(line->words[2], NULL, 10) : 0;

    if (number < 0 || number >= MAX_NUMBER)
        exit(2);
    if (line_is(line, "task")) {
        bodies[number] =
            (struct body){.number = number, .first = i + 1, .end = line->end};
        body_count = number + 1;
    } else if (line_is(line, "future")) {
        if (coil_future_create(&futures[number]) < 0)
            abort();
        future_count = number + 1;
    } else if (line_is(line, "queue")) {
        coil_queue_init(&queues[number], sizeof(int), size);
        queue_count = number + 1;
    } else if (line_is(line, "lock")) {
        coil_lock_init(&locks[number]);
        lock_count = number + 1;
    } else if (line_is(line, "semaphore")) {
        coil_semaphore_init(&semaphores[number], size);
    } else if (line_is(line, "event")) {
        coil_event_init(&events[number]);
    } else if (line_is(line, "condition")) {
        coil_condition_init(&conditions[number], &locks[number_of(line->words[2])]);
    }
}

static void declare_all(void)
{
    memset(bodies, 0, sizeof bodies);
    memset(groups, 0, sizeof groups);
    memset(futures, 0, sizeof futures);
    memset(queues, 0, sizeof queues);
    memset(locks, 0, sizeof locks);
    body_count = future_count = queue_count = lock_count = spawned_count = 0;
    for (int i = 0; i < program.line_count; i = program.lines[i].end + 1)
        declare(&program.lines[i]);
}

/* Nobody comes on any more: cancel all, and unlock what is locked. False if all ended. */
static bool break_up(void)
{
    struct body *left[MAX_NUMBER];
    char text[MAX_NUMBER * 5] = "";
    int n = 0;

    for (int i = 0; i < spawned_count; i++) {
        if (coil_future_done(coil_task_future(spawned[i]->task)))
            continue;
        left[n++] = spawned[i];
        sprintf(text + strlen(text), " t%d", spawned[i]->number);
    }
    if (n == 0)
        return false;
    trace("driver", "cancels%s", text);
    for (int i = 0; i < n; i++)
        coil_task_cancel(left[i]->task, "driver");
    for (int i = 0; i < lock_count; i++)
        if (coil_lock_locked(&locks[i]))
            coil_lock_release(&locks[i]);
    return true;
}

/* How everything ended; and its end. */
static void close_up(void)
{
    char name[16];

    for (int i = 0; i < body_count; i++) {
        int rc = ABSENT;

        if (bodies[i].end == 0)
            continue;
        if (bodies[i].task != NULL)
            rc = coil_future_result(coil_task_future(bodies[i].task));
        snprintf(name, sizeof name, "t%d", i);
        trace(name, "ended %s", word_of(rc).text);
        coil_task_release(bodies[i].task);
    }
    for (int i = 0; i < future_count; i++) {
        if (futures[i] == NULL)
            continue;
        snprintf(name, sizeof name, "f%d", i);
        trace(name, "ended %s", word_of(coil_future_result(futures[i])).text);
        coil_future_cancel(futures[i], "driver");
        coil_future_release(futures[i]);
    }
    coil_yield(); /* for the callbacks of those futures */
    for (int i = 0; i < queue_count; i++)
        coil_queue_finish(&queues[i]);
}

static int drive(void *arg)
{
    (void)arg;
    declare_all();
    if (start(&bodies[0], NULL) < 0)
        abort();
    for (int i = 0; i < ROUNDS; i++) {
        coil_sleep(WATCHDOG * TICK);
        if (!break_up()) {
            close_up();
            return 0;
        }
    }
    trace("driver", "gives up");
    _exit(3); /* tasks that nothing can end: coil_run() would wait for them for ever */
}

int main(int argc, char **argv)
{
    bool skip = argc == 3 && strcmp(argv[1], "--skip-polls") == 0;
    coil_run_opts opts = {.loop = {.virtual_clock = true, .skip_polls = skip},
                          .no_signals = true};
    FILE *batch = argc == 2 + skip ? fopen(argv[argc - 1], "r") : NULL;

    if (batch == NULL) {
        fprintf(stderr, "usage: coil-judge [--skip-polls] BATCH\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* should it die, the trace so far tells why */
    while (program_read(batch, &program)) {
        int rc;

        printf("program %s\n", program.name);
        rc = coil_run(drive, NULL, &opts);
        if (rc < 0) {
            fprintf(stderr, "coil-judge: coil_run: %s\n", strerror(-rc));
            return 2;
        }
    }
    fclose(batch);
    return 0;
}
