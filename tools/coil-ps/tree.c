/*
 * tree.c - prints a snapshot: as a tree, in groups, as a list of the busiest tasks, or as
 * JSON.
 *
 * The tree has the same wording as that of coil_dump() in src/debug/dump.c. Both files
 * use the same functions to format reports, look up symbols and choose frames.
 */
#include "tree.h"

#include "../../src/error/report.h"
#include "../../src/error/symbol.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 40 /* COIL__PRINT_DEPTH */
#define GROUPS_MAX 50
#define CYCLES_MAX 20
#define CYCLE_NAMES_MAX 50

struct printing {
    const struct snapshot *snapshot;
    const struct loop *loop;
    struct unwinder *unwinder;
    const struct filter *filter;
    struct coil__report report;
    unsigned char *marks; /* a bit mask for each task */
    int depth;
};

enum { AWAITED = 1, PRINTED = 2 };

/* ---- a task ------------------------------------------------------------------------ */

/* Subtract without signed overflow, because the times may have any value. */
static int64_t difference(int64_t later, int64_t earlier)
{
    return (int64_t)((uint64_t)later - (uint64_t)earlier);
}

/*
 * Return the difference in seconds, but 0 if it is negative: a wait may have begun just
 * after the clock was read.
 */
static double seconds(int64_t later, int64_t earlier)
{
    int64_t span = difference(later, earlier);

    return span > 0 ? (double)span / 1e9 : 0;
}

/* Find the task with this number by binary search: the list is sorted by number. */
static const struct task *find_number(const struct printing *p, uint32_t number)
{
    const struct task *tasks = p->snapshot->tasks + p->loop->tasks;
    size_t low = 0, high = p->loop->task_count;

    while (number != 0 && low < high) {
        size_t middle = (low + high) / 2;

        if (tasks[middle].number == number)
            return &tasks[middle];
        if (tasks[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void print_owner(struct printing *p, const struct task *task)
{
    const struct task *owner = find_number(p, task->lock_owner);

    if (owner != NULL)
        coil__report_value(&p->report, "held_by", ", held by %s", owner->name);
    else if (task->lock_owner != 0)
        coil__report_value(&p->report, "held_by", ", held by %s",
                           "a task that has ended");
}

static void print_wait(struct printing *p, const struct task *task)
{
    struct coil__report *report = &p->report;
    int64_t now = p->loop->now;

    coil__report_value(report, "seconds", "waits %.1f s", seconds(now, task->since));
    coil__report_value(report, "waits", ": %s", task->what);
    if (task->first_pending != NONE)
        coil__report_value(report, "awaits", " %s",
                           p->snapshot->tasks[task->first_pending].name);
    else if (task->future != 0)
        coil__report_value(report, "future", " %p", (void *)(uintptr_t)task->future);
    if (task->object != 0)
        coil__report_value(report, "object", " %p", (void *)(uintptr_t)task->object);
    if (task->fd >= 0)
        coil__report_value(report, "descriptor", " of descriptor %d", task->fd);
    if (task->deadline != INT64_MAX)
        coil__report_value(report, "seconds_to_go", ", %.1f s to go",
                           task->deadline > now ? seconds(task->deadline, now) : 0);
    print_owner(p, task);
    if (task->job_thread != 0)
        coil__report_value(report, "thread", ", done by thread %d",
                           (int)task->job_thread);
    else if (task->is_job && report->json)
        coil__report_value(report, "thread", "%d", 0);
    else if (task->is_job)
        coil__report_words(report, ", not begun by a thread");
    if (task->is_stored)
        coil__report_value(report, "stored_bytes", ", %zu bytes swapped out",
                           (size_t)task->stored_bytes);
}

static void print_state(struct printing *p, const struct task *task)
{
    static const char *const states[] = {
        [TASK_IS_READY] = "is ready",
        [TASK_RUNS] = "runs",
        [TASK_HAS_STARTED_ANOTHER] = "has started another",
        [TASK_HAS_ENDED] = "has ended",
        [TASK_CHANGES] = "is running",
        [TASK_IS_INCOMPLETE] = "has a stack that cannot be read"};

    if (task->state == TASK_WAITS)
        print_wait(p, task);
    else if (task->state == TASK_HAS_NOT_BEGUN) /* fn + 1: printing subtracts 1 */
        coil__symbol_print(&p->report, "body", "has not begun: %s",
                           (const void *)(uintptr_t)(task->fn + 1));
    else
        coil__report_value(&p->report, "state", "%s", states[task->state]);
}

static void print_stack(struct printing *p, uint32_t stack, bool waits,
                        const char *margin)
{
    void *addresses[64];
    const struct stack *s;
    size_t n;

    if (stack == NONE)
        return;
    s = &p->unwinder->stacks[stack];
    n = s->count < 64 ? s->count : 64;
    for (size_t i = 0; i < n; i++)
        addresses[i] = (void *)(uintptr_t)s->addresses[i];
    if (waits)
        coil__symbol_print_waiting(&p->report, margin, addresses, n);
    else
        coil__symbol_print_stack(&p->report, margin, addresses, n);
}

static bool stood_still(const struct task *task)
{
    return task->state == TASK_WAITS || task->state == TASK_IS_READY;
}

static bool is_wanted(const struct printing *p, const struct task *task)
{
    const struct filter *f = p->filter;

    if (f->waits != NULL && (task->state != TASK_WAITS || task->what == NULL ||
                             strncmp(task->what, f->waits, strlen(f->waits)) != 0))
        return false;
    if (f->older_ns > 0 && (task->state != TASK_WAITS ||
                            difference(p->loop->now, task->since) < f->older_ns))
        return false;
    return f->function == NULL ||
           unwinder_has_function(p->unwinder, task->stack, f->function);
}

static bool filters(const struct filter *f)
{
    return f->waits != NULL || f->function != NULL || f->older_ns > 0;
}

/* ---- the tree ---------------------------------------------------------------------- */

static void print_task(struct printing *p, uint32_t index)
{
    const struct task *task = &p->snapshot->tasks[index];
    struct coil__report *report = &p->report;
    char margin[2 * DEPTH_MAX + 8];

    if (p->marks[index] & PRINTED || p->depth == DEPTH_MAX)
        return;
    p->marks[index] |= PRINTED;
    snprintf(margin, sizeof margin, "%*s", 2 * p->depth + 6, "");
    coil__report_words(report, "%.*s- %s ", 2 * p->depth, margin, task->name);
    print_state(p, task);
    coil__report_words(report, "\n");
    print_stack(p, task->stack, stood_still(task), margin);
    if (task->spawned_at != 0)
        coil__report_words(report, "%.*s", 2 * p->depth + 4, margin);
    coil__symbol_print(report, "spawned_by", "spawned by %s\n",
                       (const void *)(uintptr_t)task->spawned_at);
    p->depth++;
    for (uint32_t i = 0; i < task->edge_count; i++)
        print_task(p, p->snapshot->edges[task->edges + i] & ~EDGE_IS_MEMBER);
    p->depth--;
}

/* Print the tasks that lack the mark `but_marked`, each with the tasks below it. */
static void print_tasks(struct printing *p, unsigned but_marked)
{
    for (size_t i = 0; i < p->loop->task_count; i++) {
        uint32_t index = (uint32_t)(p->loop->tasks + i);

        if (p->snapshot->tasks[index].state != TASK_HAS_ENDED &&
            (p->marks[index] & but_marked) == 0)
            print_task(p, index);
    }
}

static void mark_awaited(struct printing *p)
{
    for (size_t i = 0; i < p->loop->task_count; i++) {
        const struct task *task = &p->snapshot->tasks[p->loop->tasks + i];

        for (uint32_t e = 0; e < task->edge_count; e++)
            p->marks[p->snapshot->edges[task->edges + e] & ~EDGE_IS_MEMBER] |= AWAITED;
    }
}

static size_t count_tasks(const struct printing *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->loop->task_count; i++)
        n += p->snapshot->tasks[p->loop->tasks + i].state != TASK_HAS_ENDED;
    return n;
}

/* ---- tasks with the same stack ----------------------------------------------------- */

struct group {
    uint32_t stack;
    enum task_state state;
    const char *what;
    size_t count;
    uint32_t oldest; /* index of the task that has waited longest */
};

static int compare_members(const void *a, const void *b)
{
    const struct group *left = a, *right = b;

    if (left->stack != right->stack)
        return left->stack < right->stack ? -1 : 1;
    if (left->state != right->state)
        return left->state < right->state ? -1 : 1;
    if (left->what != right->what)
        return left->what < right->what ? -1 : 1;
    return (left->oldest > right->oldest) - (left->oldest < right->oldest);
}

static int compare_counts(const void *a, const void *b)
{
    const struct group *left = a, *right = b;

    return (left->count < right->count) - (left->count > right->count);
}

/*
 * Merge adjacent groups with the same stack, state and wait. Returns the number of
 * groups.
 */
static size_t merge(const struct snapshot *s, struct group *groups, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        struct group *last = count > 0 ? &groups[count - 1] : NULL;

        if (last == NULL || last->stack != groups[i].stack ||
            last->state != groups[i].state || last->what != groups[i].what) {
            groups[count++] = groups[i];
            continue;
        }
        last->count++;
        if (s->tasks[groups[i].oldest].since < s->tasks[last->oldest].since)
            last->oldest = groups[i].oldest;
    }
    return count;
}

static void print_group(struct printing *p, const struct group *group)
{
    const struct task *oldest = &p->snapshot->tasks[group->oldest];

    coil__report_words(&p->report, "- %zu task%s%s ", group->count,
                       group->count == 1 ? "" : "s",
                       group->count == 1 ? ":" : ", the oldest:");
    coil__report_words(&p->report, "%s ", oldest->name);
    print_state(p, oldest);
    coil__report_words(&p->report, "\n");
    print_stack(p, group->stack, stood_still(oldest), "      ");
    if (oldest->spawned_at != 0)
        coil__report_words(&p->report, "    ");
    coil__symbol_print(&p->report, "spawned_by", "spawned by %s\n",
                       (const void *)(uintptr_t)oldest->spawned_at);
}

static void print_groups(struct printing *p)
{
    struct group *groups = calloc(p->loop->task_count, sizeof *groups);
    size_t n = 0, count;

    for (size_t i = 0; groups != NULL && i < p->loop->task_count; i++) {
        uint32_t index = (uint32_t)(p->loop->tasks + i);
        const struct task *task = &p->snapshot->tasks[index];

        if (task->state != TASK_HAS_ENDED && is_wanted(p, task))
            groups[n++] = (struct group){task->stack, task->state, task->what, 1, index};
    }
    if (n == 0) {
        free(groups);
        return;
    }
    qsort(groups, n, sizeof *groups, compare_members);
    count = merge(p->snapshot, groups, n);
    qsort(groups, count, sizeof *groups, compare_counts);
    for (size_t i = 0; i < count && i < GROUPS_MAX; i++)
        print_group(p, &groups[i]);
    if (count > GROUPS_MAX)
        coil__report_words(&p->report, "- %zu more kinds of tasks\n", count - GROUPS_MAX);
    free(groups);
}

/* ---- cycles of waits --------------------------------------------------------------- */

/*
 * Return the next task for which `task` waits, or NONE. *step is the position in the
 * task's list of edges. After the last edge, the holder of the lock is returned.
 */
static uint32_t next_awaited(const struct printing *p, const struct task *task,
                             uint32_t *step)
{
    const struct task *owner;

    while (task->state == TASK_WAITS && *step < task->edge_count) {
        uint32_t edge = p->snapshot->edges[task->edges + (*step)++];

        if ((edge & EDGE_IS_MEMBER) == 0)
            return edge;
    }
    if ((*step)++ != task->edge_count || task->state != TASK_WAITS)
        return NONE;
    owner = find_number(p, task->lock_owner);
    return owner != NULL ? (uint32_t)(owner - p->snapshot->tasks) : NONE;
}

struct visit {
    uint32_t task, step;
};

static void print_cycle(struct printing *p, const struct visit *path, size_t from,
                        size_t depth)
{
    size_t n = depth + 1 - from, shown = n < CYCLE_NAMES_MAX ? n : CYCLE_NAMES_MAX;

    coil__report_words(&p->report, "deadlock:");
    for (size_t i = from; i < from + shown; i++)
        coil__report_words(&p->report, " %s waits for",
                           p->snapshot->tasks[path[i].task].name);
    if (n > shown)
        coil__report_words(&p->report, " ... %zu more, then", n - shown);
    coil__report_words(&p->report, " %s\n", p->snapshot->tasks[path[from].task].name);
}

/*
 * Find cycles by a depth-first search, without recursion. A task's `place` is 0 until the
 * search reaches the task, then its index on the path plus 1, and finally UINT32_MAX.
 */
static void print_cycles(struct printing *p)
{
    size_t n = p->snapshot->task_count, depth;
    struct visit *path = calloc(n + 1, sizeof *path);
    uint32_t *place = calloc(n + 1, sizeof *place);
    size_t cycles = 0;

    for (size_t i = 0; path != NULL && place != NULL && i < p->loop->task_count; i++) {
        depth = 0;
        path[0] = (struct visit){(uint32_t)(p->loop->tasks + i), 0};
        if (place[path[0].task] != 0)
            continue;
        place[path[0].task] = 1;
        for (;;) {
            struct visit *v = &path[depth];
            uint32_t next = next_awaited(p, &p->snapshot->tasks[v->task], &v->step);

            if (next != NONE && place[next] == 0) {
                path[++depth] = (struct visit){next, 0};
                place[next] = (uint32_t)depth + 1;
            } else if (next != NONE && place[next] != UINT32_MAX) {
                if (cycles++ < CYCLES_MAX)
                    print_cycle(p, path, place[next] - 1, depth);
            } else if (next == NONE && v->step > p->snapshot->tasks[v->task].edge_count) {
                place[v->task] = UINT32_MAX;
                if (depth-- == 0)
                    break;
            } else if (next == NONE) {
                v->step = p->snapshot->tasks[v->task].edge_count + 1;
            }
        }
    }
    if (cycles > CYCLES_MAX)
        coil__report_words(&p->report, "deadlock: %zu more cycles\n",
                           cycles - CYCLES_MAX);
    free(path);
    free(place);
}

/* ---- a loop ------------------------------------------------------------------------ */

static void print_heading(struct printing *p, size_t n)
{
    coil__report_words(&p->report, "coil: %zu task%s", n, n == 1 ? "" : "s");
    if (p->snapshot->loop_count > 1)
        coil__report_words(&p->report, " of loop %u in thread %d", p->loop->number,
                           p->loop->thread);
    if (p->loop->partial != NULL)
        coil__report_words(&p->report, ", and more: %s", p->loop->partial);
    coil__report_words(&p->report, "\n");
}

void tree_print(const struct snapshot *snapshot, struct unwinder *unwinder,
                const struct filter *filter, size_t tree_max, FILE *out)
{
    struct printing p = {.snapshot = snapshot, .unwinder = unwinder, .filter = filter};

    p.marks = calloc(snapshot->task_count + 1, 1);
    if (p.marks == NULL)
        return;
    coil__report_begin(&p.report, out, "tasks");
    for (size_t i = 0; i < snapshot->loop_count; i++) {
        size_t n;

        p.loop = &snapshot->loops[i];
        n = count_tasks(&p);
        print_heading(&p, n);
        if (n > 0)
            print_cycles(&p);
        if (n > tree_max || filters(filter)) {
            print_groups(&p);
            continue;
        }
        mark_awaited(&p);
        print_tasks(&p, AWAITED);
        print_tasks(&p, PRINTED);
    }
    if (snapshot->loop_count == 0 && snapshot->cut == NULL)
        coil__report_words(&p.report, "coil: no loop is open\n");
    if (snapshot->inherited > 0)
        coil__report_words(&p.report,
                           "coil: %zu loop%s of the parent, inherited by fork(2), does "
                           "not run here\n",
                           snapshot->inherited, snapshot->inherited == 1 ? "" : "s");
    if (snapshot->cut != NULL)
        coil__report_words(&p.report, "coil: incomplete: %s\n", snapshot->cut);
    coil__report_end(&p.report);
    free(p.marks);
}

/* ---- the busiest tasks ------------------------------------------------------------- */

struct line {
    uint32_t task;
    uint16_t steps;
    int64_t since;
};

static int compare_lines(const void *a, const void *b)
{
    const struct line *left = a, *right = b;

    if (left->steps != right->steps)
        return left->steps > right->steps ? -1 : 1;
    return (left->since > right->since) - (left->since < right->since);
}

/*
 * Return how many steps a task has made since `before`. The tasks of both snapshots are
 * sorted by number.
 */
static uint16_t count_steps(const struct snapshot *before, size_t *at,
                            const struct task *task)
{
    const struct task *tasks = before->tasks;

    while (*at < before->task_count &&
           (tasks[*at].loop < task->loop ||
            (tasks[*at].loop == task->loop && tasks[*at].number < task->number)))
        (*at)++;
    if (*at < before->task_count && tasks[*at].address == task->address &&
        tasks[*at].number == task->number)
        return (uint16_t)(task->steps - tasks[*at].steps);
    return task->steps;
}

void tree_print_top(const struct snapshot *snapshot, const struct snapshot *before,
                    double seconds_between, struct unwinder *unwinder,
                    const struct filter *filter, size_t lines, FILE *out)
{
    struct printing p = {.snapshot = snapshot, .unwinder = unwinder, .filter = filter};
    struct line *all = calloc(snapshot->task_count + 1, sizeof *all);
    size_t n = 0, at = 0;

    for (size_t i = 0; all != NULL && i < snapshot->task_count; i++) {
        const struct task *task = &snapshot->tasks[i];
        uint16_t steps = count_steps(before, &at, task);

        p.loop = &snapshot->loops[task->loop];
        if (task->state != TASK_HAS_ENDED && is_wanted(&p, task))
            all[n++] = (struct line){(uint32_t)i, steps,
                                     task->state == TASK_WAITS ? task->since : INT64_MAX};
    }
    if (n > 0)
        qsort(all, n, sizeof *all, compare_lines);
    coil__report_begin(&p.report, out, "tasks");
    coil__report_words(&p.report, "coil: %zu task%s", n, n == 1 ? "" : "s");
    if (snapshot->cut != NULL)
        coil__report_words(&p.report, ", and more: %s", snapshot->cut);
    coil__report_words(&p.report, "\n");
    for (size_t i = 0; i < n && i < lines; i++) {
        const struct task *task = &snapshot->tasks[all[i].task];

        p.loop = &snapshot->loops[task->loop];
        coil__report_words(&p.report, "%8.0f steps/s  %s ",
                           all[i].steps / seconds_between, task->name);
        print_state(&p, task);
        coil__report_words(&p.report, "\n");
    }
    coil__report_end(&p.report);
    free(all);
}

/* ---- JSON -------------------------------------------------------------------------- */

static void print_json_edges(struct printing *p, const struct task *task)
{
    coil__report_open(&p->report, "tasks", '[');
    for (uint32_t i = 0; i < task->edge_count; i++) {
        uint32_t edge = p->snapshot->edges[task->edges + i] & ~EDGE_IS_MEMBER;

        coil__report_value(&p->report, NULL, "%u", p->snapshot->tasks[edge].number);
    }
    coil__report_close(&p->report, ']');
}

static void print_json_task(struct printing *p, const struct task *task, FILE *out)
{
    coil__report_begin(&p->report, out, "task");
    coil__report_value(&p->report, "loop", "%u", p->loop->number);
    coil__report_value(&p->report, "number", "%u", task->number);
    coil__report_value(&p->report, "name", "%s", task->name);
    print_state(p, task);
    coil__report_value(&p->report, "steps", "%u", (unsigned)task->steps);
    coil__report_value(&p->report, "cancelling", "%u", task->cancelling);
    print_stack(p, task->stack, stood_still(task), "");
    coil__symbol_print(&p->report, "spawned_by", "%s",
                       (const void *)(uintptr_t)task->spawned_at);
    coil__report_value(&p->report, "spawner", "%u", task->spawned_by);
    print_json_edges(p, task);
    coil__report_end(&p->report);
}

void tree_print_json(const struct snapshot *snapshot, struct unwinder *unwinder,
                     const struct filter *filter, FILE *out)
{
    struct printing p = {.snapshot = snapshot, .unwinder = unwinder, .filter = filter};

    coil__report_choose("json");
    for (size_t i = 0; i < snapshot->loop_count; i++) {
        p.loop = &snapshot->loops[i];
        for (size_t k = 0; k < p.loop->task_count; k++) {
            const struct task *task = &snapshot->tasks[p.loop->tasks + k];

            if (task->state != TASK_HAS_ENDED && is_wanted(&p, task))
                print_json_task(&p, task, out);
        }
    }
    if (snapshot->cut != NULL) {
        coil__report_begin(&p.report, out, "incomplete");
        coil__report_value(&p.report, "reason", "%s", snapshot->cut);
        coil__report_end(&p.report);
    }
}

void tree_print_pauses(unsigned pauses, int64_t longest_ns, int64_t span_ns, FILE *out)
{
    struct coil__report report;

    coil__report_begin(&report, out, "pauses");
    coil__report_value(&report, "pauses", "coil: read in %u pauses", pauses);
    coil__report_value(&report, "longest_ms", " of at most %.1f ms",
                       (double)longest_ns / 1e6);
    coil__report_value(&report, "span_ms", ", within %.0f ms\n", (double)span_ns / 1e6);
    coil__report_end(&report);
}
