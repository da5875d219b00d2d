/*
 * coil_judge.c - runs the judge's programs on coil, and prints their traces.
 *
 *     coil-judge [--skip-polls] BATCH > traces
 *
 * This program is the counterpart of reference.py. judge.h lists the files.
 */
#include "judge.h"

#include <unistd.h>

#define WATCHDOG 1000 /* ticks */
#define ROUNDS 400

struct program program;
struct body bodies[MAX_NUMBER];
coil_future *futures[MAX_NUMBER];
coil_group *groups[MAX_NUMBER], *known_groups[MAX_NUMBER];
struct body *spawned[MAX_NUMBER];
int body_count, future_count, spawned_count;

/* ---- what names stand for ---------------------------------------------------------- */

int ticks(const char *word)
{
    return atoi(word);
}

int64_t deadline_of(const char *word)
{
    return strcmp(word, "never") == 0 ? COIL_NEVER : coil_in(ticks(word) * TICK);
}

coil_future *future_of(const struct body *body, const char *name)
{
    struct body *other = &bodies[number_of(name)];

    if (name[0] == 'f')
        return futures[number_of(name)];
    return other->task == NULL || other == body ? NULL : coil_task_future(other->task);
}

/* ---- the driver -------------------------------------------------------------------- */

static void declare(const struct line *line)
{
    int number = number_of(line->words[1]), i = (int)(line - program.lines);

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
    } else if (!sync_declare(line)) {
        fprintf(stderr, "coil-judge: no such object: %s\n", line->text);
        exit(2);
    }
}

static void declare_all(void)
{
    memset(bodies, 0, sizeof bodies);
    memset(groups, 0, sizeof groups);
    memset(known_groups, 0, sizeof known_groups);
    memset(futures, 0, sizeof futures);
    body_count = future_count = spawned_count = 0;
    sync_forget();
    for (int i = 0; i < program.line_count; i = program.lines[i].end + 1)
        declare(&program.lines[i]);
}

/*
 * Cancel the remaining tasks, and unlock all locks. Returns false if all tasks have
 * ended.
 */
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
    sync_unlock();
    return true;
}

/*
 * Print the last lines of the trace, which show how each task and each future ended. Then
 * release all objects.
 */
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
    coil_yield(); /* run the callbacks of the cancelled futures */
    tasks_finish();
    sync_finish();
}

static int drive(void *arg)
{
    (void)arg;
    declare_all();
    if (start_body(&bodies[0], NULL, false) < 0)
        abort();
    for (int i = 0; i < ROUNDS; i++) {
        coil_sleep(WATCHDOG * TICK);
        if (!break_up()) {
            close_up();
            return 0;
        }
    }
    trace("driver", "gives up");
    _exit(3); /* coil_run() would wait forever for tasks that cannot end */
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
    /* line buffering keeps the trace complete if the process crashes */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
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
