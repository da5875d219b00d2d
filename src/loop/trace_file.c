/*
 * trace_file.c - turns the records of a trace into Chrome's trace events.
 *
 * The records are read twice. The first pass collects the tasks: their names, their
 * functions, and the numbers of their steps. The second pass replays the records and
 * writes spans:
 *
 *     what the loop does     poll, a callback, a task: one span after another
 *     what a task does       runs -> waits (or is ready at once) -> is ready -> runs
 *
 * Each loop is represented as a process, whose track 0 shows the loop itself. The tasks
 * that ran most often have tracks of their own, numbered like the tasks. An arrow
 * connects the step that woke or spawned a task with the task's next step. Both ends of
 * an arrow are written together, when that next step ends.
 *
 * Format: "Trace Event Format", Google, 2016.
 */
#include "trace_file.h"

#include "../error/report.h"
#include "../error/symbol.h"
#include "loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRACKS_MAX 1000  /* more tracks make viewers slow */
#define TEXTS_MAX 4096   /* limits memory use if records are invalid (in a core file) */
#define READIES_MAX 4096 /* limits memory use, because some callbacks never run */
#define LATEST ((int64_t)1 << 61)
#define NAME_BYTES 32
#define TEXT_BYTES 40
#define PLACE_BYTES 128

enum state { UNKNOWN, RUNS, WAITS, IS_READY, HAS_ENDED };

struct task {
    uint32_t number;
    uint32_t steps; /* SWITCH records */
    char name[NAME_BYTES];
    uint64_t fn; /* 0: not known */
    bool has_track;
    enum state state, next; /* `next`: the state after the current step */
    int64_t since;          /* time at which the state began */
    int64_t result;         /* for HAS_ENDED */
    uint64_t what;          /* address of the text that describes the wait */
    uint32_t fd;            /* the descriptor + 1; 0: none */
    /* These describe the last wake-up, until the task runs. */
    bool is_woken, was_spawned;
    int64_t woken_at;
    bool has_waker;    /* a task or a callback of the program woke it */
    uint32_t waker;    /* the task's number; 0: a callback */
    int64_t waker_ran; /* time at which the waker ran */
    bool ends_arrow;   /* an arrow ends at the current step */
};

/* A text of the traced process, or the name and place of a function. */
struct text {
    uint64_t address;
    char text[PLACE_BYTES];
};

struct texts {
    struct text *items;
    size_t count, room;
};

/* A callback of coil's that a task has made ready. */
struct ready {
    uint64_t runnable;
    uint32_t task;
    int64_t at;
};

enum activity { NOTHING, IN_TASK, IN_CALLBACK, IN_POLL };

struct conversion {
    const struct coil__trace_copy *copy;
    struct coil__report report;
    FILE *out;
    bool follows;
    struct task *tasks; /* in the order of their first records */
    size_t task_count, task_room;
    uint32_t *slots; /* hash table: index + 1 */
    size_t slot_count;
    struct texts whats, places;
    struct ready *readies;
    size_t ready_count, ready_room;

    int64_t now;
    enum activity activity;
    int64_t since;        /* time at which the activity began */
    struct task *running; /* IN_TASK: the task */
    uint64_t called;      /* IN_CALLBACK: the program's function, or 0 */
    struct ready cause;   /* IN_CALLBACK: the task that made it ready, or 0 */
    uint32_t *woken;      /* IN_POLL: the tasks that it woke */
    size_t woken_count, woken_room;
    uint64_t arrows;
    bool failed; /* memory ran out */
};

/* ---- memory ------------------------------------------------------------------------ */

/*
 * Make room for one more item. If there is no memory, sets c->failed and returns false.
 */
static bool grow(struct conversion *c, void *items, size_t count, size_t *room,
                 size_t item_bytes)
{
    size_t wanted = *room < 64 ? 64 : *room * 2;
    void *grown;

    if (count < *room)
        return true;
    grown = coil__realloc(*(void **)items, wanted * item_bytes);
    if (grown == NULL) {
        c->failed = true;
        return false;
    }
    memcpy(items, &grown, sizeof grown);
    *room = wanted;
    return true;
}

/* ---- tasks ------------------------------------------------------------------------- */

static size_t slot_of(const struct conversion *c, uint32_t number)
{
    size_t slot = number * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (c->slot_count - 1);

    while (c->slots[slot] != 0 && c->tasks[c->slots[slot] - 1].number != number)
        slot = (slot + 1) & (c->slot_count - 1);
    return slot;
}

static bool grow_table(struct conversion *c)
{
    size_t wanted = c->slot_count == 0 ? 256 : c->slot_count * 2;
    uint32_t *slots = coil__alloc_zeroed(wanted * sizeof *slots);

    if (slots == NULL) {
        c->failed = true;
        return false;
    }
    coil__free(c->slots);
    c->slots = slots;
    c->slot_count = wanted;
    for (size_t i = 0; i < c->task_count; i++)
        c->slots[slot_of(c, c->tasks[i].number)] = (uint32_t)i + 1;
    return true;
}

/*
 * Return the task with this number. If there is none and `create` is true, create it.
 * Returns NULL if there is none, or no memory.
 */
static struct task *find_task(struct conversion *c, uint32_t number, bool create)
{
    size_t slot;

    if (c->task_count * 2 >= c->slot_count && (!create || !grow_table(c)))
        if (c->slot_count == 0)
            return NULL;
    slot = slot_of(c, number);
    if (c->slots[slot] != 0)
        return &c->tasks[c->slots[slot] - 1];
    if (!create || c->failed ||
        !grow(c, &c->tasks, c->task_count, &c->task_room, sizeof *c->tasks))
        return NULL;
    c->tasks[c->task_count] = (struct task){.number = number};
    snprintf(c->tasks[c->task_count].name, NAME_BYTES, "task-%u", (unsigned)number);
    c->slots[slot] = (uint32_t)++c->task_count;
    return &c->tasks[c->task_count - 1];
}

static void set_part_of_name(struct task *task, uint32_t at, uint64_t word)
{
    if (at >= NAME_BYTES || at % sizeof word != 0)
        return;
    memset(task->name + at, 0, NAME_BYTES - at);
    memcpy(task->name + at, &word, sizeof word);
    task->name[NAME_BYTES - 1] = '\0';
}

static enum coil__trace_kind kind_of(const struct coil__trace_record *record)
{
    return (enum coil__trace_kind)(record->kind_and_value & 0xff);
}

static uint32_t value_of(const struct coil__trace_record *record)
{
    return record->kind_and_value >> 8;
}

static bool is_about_task(const struct coil__trace_record *record)
{
    switch (kind_of(record)) {
    case COIL__TRACE_SWITCH:
    case COIL__TRACE_WAIT:
    case COIL__TRACE_WAKE:
    case COIL__TRACE_SPAWN:
    case COIL__TRACE_NAME:
    case COIL__TRACE_END:
    case COIL__TRACE_CANCEL:
        return record->task != 0;
    default:
        return false;
    }
}

/*
 * Set the name and function of a task that still exists, because the records about its
 * spawn may have been overwritten.
 */
static void name_task(void *arg, uint32_t number, const char *name, uint64_t fn)
{
    struct task *task = find_task(arg, number, false);

    if (task == NULL)
        return;
    snprintf(task->name, NAME_BYTES, "%s", name);
    task->fn = fn;
}

static int compare_steps(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Choose the tasks that have tracks: those with the most steps. */
static void choose_tracks(struct conversion *c)
{
    uint32_t *steps, least = 0;
    size_t left = TRACKS_MAX;

    if (c->task_count > TRACKS_MAX) {
        steps = coil__alloc(c->task_count * sizeof *steps);
        c->failed |= steps == NULL;
        if (c->failed)
            return;
        for (size_t i = 0; i < c->task_count; i++)
            steps[i] = c->tasks[i].steps;
        qsort(steps, c->task_count, sizeof *steps, compare_steps);
        least = steps[TRACKS_MAX - 1];
        coil__free(steps);
    }
    for (size_t i = 0; i < c->task_count; i++) {
        c->tasks[i].has_track = c->tasks[i].steps > least;
        left -= c->tasks[i].has_track;
    }
    for (size_t i = 0; i < c->task_count && left > 0; i++)
        if (c->tasks[i].steps == least) {
            c->tasks[i].has_track = true;
            left--;
        }
}

static void collect_tasks(struct conversion *c)
{
    for (size_t i = 0; i < c->copy->count && !c->failed; i++) {
        const struct coil__trace_record *record = &c->copy->records[i];
        struct task *task =
            is_about_task(record) ? find_task(c, record->task, true) : NULL;

        if (task == NULL)
            continue;
        task->steps += kind_of(record) == COIL__TRACE_SWITCH;
        if (kind_of(record) == COIL__TRACE_SPAWN)
            task->fn = record->word;
        if (kind_of(record) == COIL__TRACE_NAME)
            set_part_of_name(task, value_of(record), record->word);
    }
    if (!c->failed)
        c->copy->each_task(c->copy->arg, name_task, c);
    if (!c->failed)
        choose_tracks(c);
}

/* ---- texts ------------------------------------------------------------------------- */

/*
 * Find or create the entry for an address. Sets *is_new if the caller must fill in the
 * text. Returns NULL if there are too many texts, or no memory.
 */
static struct text *find_text(struct conversion *c, struct texts *texts, uint64_t address,
                              bool *is_new)
{
    *is_new = false;
    for (size_t i = 0; i < texts->count; i++)
        if (texts->items[i].address == address)
            return &texts->items[i];
    if (texts->count == TEXTS_MAX ||
        !grow(c, &texts->items, texts->count, &texts->room, sizeof *texts->items))
        return NULL;
    *is_new = true;
    texts->items[texts->count] = (struct text){.address = address};
    return &texts->items[texts->count++];
}

/* Return the text that names a kind of wait, such as "lock". */
static const char *what_of(struct conversion *c, uint64_t address)
{
    bool is_new;
    struct text *text = find_text(c, &c->whats, address, &is_new);

    if (text == NULL)
        return "";
    if (is_new && !c->copy->text(c->copy->arg, address, text->text, TEXT_BYTES))
        snprintf(text->text, TEXT_BYTES, "a wait");
    return text->text;
}

/* Return a function's name and place, such as "serve at server.c:12". */
static const char *place_of(struct conversion *c, uint64_t address)
{
    struct coil__report report;
    bool is_new;
    struct text *text = find_text(c, &c->places, address, &is_new);

    if (text == NULL)
        return "";
    if (is_new && coil__report_begin_text(&report, text->text, PLACE_BYTES)) {
        /* + 1, because the printer expects a return address */
        coil__symbol_print(&report, NULL, "%s", (const char *)(uintptr_t)address + 1);
        coil__report_end_text(&report);
    }
    return text->text;
}

/* ---- events ------------------------------------------------------------------------ */

/*
 * Add a time in microseconds, with three decimals, because rounded spans might overlap.
 */
static void put_micros(struct conversion *c, const char *key, int64_t ns)
{
    uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

    fprintf(c->out, ",\"%s\":%s%" PRIu64 ".%03u", key, ns < 0 ? "-" : "", n / 1000,
            (unsigned)(n % 1000));
}

/* Begin an event on a track. Track 0 is the loop. */
static void open_event(struct conversion *c, const char *phase, const char *name,
                       uint32_t track)
{
    if (c->follows)
        fputs(",\n", c->out);
    c->follows = true;
    c->report.follows = false;
    coil__report_open(&c->report, NULL, '{');
    coil__report_value(&c->report, "ph", "%s", phase);
    coil__report_value(&c->report, "name", "%s", name);
    coil__report_value(&c->report, "pid", "%zu", (size_t)c->copy->loop);
    coil__report_value(&c->report, "tid", "%zu", (size_t)track);
}

static void close_event(struct conversion *c)
{
    coil__report_close(&c->report, '}');
}

static void put_time(struct conversion *c, int64_t ns)
{
    put_micros(c, "ts", ns);
}

/* Begin a span. The caller may add arguments, and must call close_event(). */
static void open_span(struct conversion *c, const char *name, const char *category,
                      uint32_t track, int64_t begin, int64_t end)
{
    open_event(c, "X", name, track);
    coil__report_value(&c->report, "cat", "%s", category);
    put_time(c, begin);
    put_micros(c, "dur", end - begin);
}

static void put_span(struct conversion *c, const char *name, const char *category,
                     uint32_t track, int64_t begin, int64_t end)
{
    open_span(c, name, category, track, begin, end);
    close_event(c);
}

/* Begin the arguments of an event, or end them and the event. */
static void open_arguments(struct conversion *c)
{
    coil__report_open(&c->report, "args", '{');
}

static void close_arguments(struct conversion *c)
{
    coil__report_close(&c->report, '}');
    close_event(c);
}

static void put_end_of_arrow(struct conversion *c, const char *phase, const char *name,
                             uint32_t track, int64_t at)
{
    uint64_t id = (uint64_t)c->copy->loop << 32 | c->arrows;

    open_event(c, phase, name, track);
    coil__report_value(&c->report, "cat", "%s", "wake");
    coil__report_value(&c->report, "id", "%zu", (size_t)id);
    put_time(c, at);
    if (*phase == 'f')
        coil__report_value(&c->report, "bp", "%s", "e");
    close_event(c);
}

static uint32_t track_of(const struct task *task)
{
    return task != NULL && task->has_track ? task->number : 0;
}

/*
 * Viewers attach each end of an arrow to the span that contains this point in time. At
 * the moment when a span begins, another span may end, so the arrow's ends are 1 ns
 * later. This is not possible with a virtual clock, where spans have no duration.
 */
static void put_arrow(struct conversion *c, const struct task *task, int64_t begin)
{
    const char *name = task->was_spawned ? "spawn" : "wake";
    const struct task *waker = task->waker != 0 ? find_task(c, task->waker, false) : NULL;
    int64_t inside = c->now > begin ? 1 : 0;

    c->arrows++;
    put_end_of_arrow(c, "s", name, track_of(waker), task->waker_ran + inside);
    put_end_of_arrow(c, "f", name, track_of(task), begin + inside);
}

static void put_name(struct conversion *c, const char *kind, uint32_t track,
                     const char *name, const char *fn)
{
    open_event(c, "M", kind, track);
    open_arguments(c);
    if (*fn != '\0') {
        char both[NAME_BYTES + PLACE_BYTES + 4];

        snprintf(both, sizeof both, "%s: %s", name, fn);
        coil__report_value(&c->report, "name", "%s", both);
    } else {
        coil__report_value(&c->report, "name", "%s", name);
    }
    close_arguments(c);
}

/* Make viewers sort the tracks by their numbers. */
static void put_place_of_track(struct conversion *c, uint32_t track)
{
    open_event(c, "M", "thread_sort_index", track);
    open_arguments(c);
    coil__report_value(&c->report, "sort_index", "%zu", (size_t)track);
    close_arguments(c);
}

static void put_names(struct conversion *c)
{
    const struct coil__trace_copy *copy = c->copy;
    char name[96];

    snprintf(name, sizeof name, "loop %u (process %d, thread %d)", (unsigned)copy->loop,
             copy->pid, copy->thread);
    put_name(c, "process_name", 0, name, "");
    put_name(c, "thread_name", 0, "loop", "");
    put_place_of_track(c, 0);
    for (size_t i = 0; i < c->task_count; i++) {
        const struct task *task = &c->tasks[i];

        if (!task->has_track)
            continue;
        put_name(c, "thread_name", task->number, task->name,
                 task->fn != 0 ? place_of(c, task->fn) : "");
        put_place_of_track(c, task->number);
    }
}

/* ---- the replay -------------------------------------------------------------------- */

/*
 * Set the current time to the sum of `ns` and `more`. Earlier times are ignored, because
 * times come from two clocks, which may differ slightly. Absurd times are ignored, too.
 */
static void set_now(struct conversion *c, int64_t ns, double more)
{
    if (ns > LATEST || ns < -LATEST || !(more < (double)LATEST && more > -(double)LATEST))
        return;
    if (ns + (int64_t)more > c->now)
        c->now = ns + (int64_t)more;
}

/*
 * Set the current time to the time of a counter value, computed from the nearer of the
 * two clock readings, because rounding errors grow with the distance.
 */
static void set_ticks(struct conversion *c, uint64_t ticks)
{
    const struct coil__trace_clock *clock = &c->copy->clock;
    double since1 = (double)(int64_t)(ticks - clock->ticks1);
    double since2 = (double)(int64_t)(ticks - clock->ticks2);
    double between = (double)(int64_t)(clock->ticks2 - clock->ticks1), rate = 1;

    if (between > 0)
        rate = ((double)clock->ns2 - (double)clock->ns1) / between;
    if (since1 < -since2)
        set_now(c, clock->ns1, since1 * rate);
    else
        set_now(c, clock->ns2, since2 * rate);
}

/* Write the spans of a task's wait and of its time in the ready queue. Both end now. */
static void put_state(struct conversion *c, const struct task *task)
{
    int64_t end = task->state == WAITS && task->is_woken ? task->woken_at : c->now;

    if (!task->has_track)
        return;
    if (task->state == WAITS) {
        open_span(c, what_of(c, task->what), "wait", task->number, task->since, end);
        if (task->fd > 0) {
            open_arguments(c);
            coil__report_value(&c->report, "fd", "%zu", (size_t)task->fd - 1);
            coil__report_close(&c->report, '}');
        }
        close_event(c);
    }
    if (task->state == IS_READY || task->is_woken)
        put_span(c, "ready", "ready", task->number,
                 task->state == IS_READY ? task->since : task->woken_at, c->now);
}

/*
 * Write the spans of a task's step, which ends now, on the tracks of the loop and the
 * task.
 */
static void put_step(struct conversion *c, struct task *task)
{
    open_span(c, task->name, "step", 0, c->since, c->now);
    if (task->fn != 0) {
        open_arguments(c);
        coil__report_value(&c->report, "function", "%s", place_of(c, task->fn));
        coil__report_close(&c->report, '}');
    }
    close_event(c);
    if (task->has_track) {
        open_span(c, "runs", "step", task->number, c->since, c->now);
        if (task->next == HAS_ENDED) {
            open_arguments(c);
            coil__report_value(&c->report, "result", "%d", (int)task->result);
            coil__report_close(&c->report, '}');
        }
        close_event(c);
    }
    if (task->ends_arrow)
        put_arrow(c, task, c->since);
    task->ends_arrow = false;
    task->state = task->next;
    task->since = c->now;
    task->is_woken = false;
}

/* Write the span of the current activity, which ends now. */
static void end_activity(struct conversion *c)
{
    if (c->activity == IN_TASK)
        put_step(c, c->running);
    else if (c->activity == IN_CALLBACK)
        put_span(c, c->called != 0 ? place_of(c, c->called) : "callback", "callback", 0,
                 c->since, c->now);
    else if (c->activity == IN_POLL)
        put_span(c, "poll", "poll", 0, c->since, c->now);
    c->activity = NOTHING;
    c->running = NULL;
    c->called = 0;
    c->since = c->now;
}

static void begin_activity(struct conversion *c, enum activity activity)
{
    end_activity(c);
    c->activity = activity;
    c->cause = (struct ready){0};
}

static void begin_step(struct conversion *c, struct task *task)
{
    put_state(c, task);
    begin_activity(c, IN_TASK);
    c->running = task;
    task->ends_arrow = task->is_woken && task->has_waker;
    task->is_woken = false;
    task->state = RUNS;
    task->next = IS_READY; /* unless a COIL__TRACE_WAIT follows */
    task->since = c->now;
}

/* Note that the task becomes ready, and what woke it. */
static void wake(struct conversion *c, struct task *task, bool is_spawn)
{
    if (task->is_woken || task->state == RUNS)
        return;
    task->is_woken = true;
    task->was_spawned = is_spawn;
    task->woken_at = c->now;
    task->has_waker = c->activity == IN_TASK || c->cause.task != 0 || c->called != 0;
    task->waker = c->activity == IN_TASK ? c->running->number : c->cause.task;
    task->waker_ran = c->cause.task != 0 ? c->cause.at : c->now;
    if (c->activity == IN_POLL &&
        grow(c, &c->woken, c->woken_count, &c->woken_room, sizeof *c->woken))
        c->woken[c->woken_count++] = task->number;
}

/* Set the time at which a poll woke tasks to the end of the poll. */
static void end_poll(struct conversion *c)
{
    for (size_t i = 0; i < c->woken_count; i++) {
        struct task *task = find_task(c, c->woken[i], false);

        if (task != NULL && task->is_woken)
            task->woken_at = c->now;
    }
    c->woken_count = 0;
    if (c->activity == IN_POLL)
        begin_activity(c, NOTHING);
}

/*
 * Note which task has made a callback ready: the running task, or the task that made the
 * running callback ready.
 */
static void note_ready(struct conversion *c, uint64_t runnable)
{
    struct ready ready = {runnable, c->cause.task, c->cause.at};

    if (c->activity == IN_TASK)
        ready = (struct ready){runnable, c->running->number, c->now};
    for (size_t i = 0; i < c->ready_count; i++)
        if (c->readies[i].runnable == runnable) {
            c->readies[i] = ready;
            return;
        }
    if (ready.task != 0 &&
        grow(c, &c->readies, c->ready_count, &c->ready_room, sizeof *c->readies))
        c->readies[c->ready_count++] = ready;
}

static void take_ready(struct conversion *c, uint64_t runnable)
{
    for (size_t i = 0; i < c->ready_count; i++)
        if (c->readies[i].runnable == runnable) {
            c->cause = c->readies[i];
            c->readies[i] = c->readies[--c->ready_count];
            return;
        }
}

static void put_cancel(struct conversion *c, const struct task *task, uint64_t address)
{
    open_event(c, "i", "cancel", track_of(task));
    coil__report_value(&c->report, "s", "%s", "t");
    put_time(c, c->now);
    open_arguments(c);
    coil__report_value(&c->report, "task", "%s", task->name);
    if (address != 0)
        coil__report_value(&c->report, "by", "%s", place_of(c, address - 1));
    close_arguments(c);
}

static void begin_step_of(struct conversion *c, const struct coil__trace_record *record)
{
    struct task *task = find_task(c, record->task, false);

    set_ticks(c, record->word);
    if (task != NULL && record->task != 0)
        begin_step(c, task);
    else
        begin_activity(c,
                       value_of(record) == COIL__TRACE_RETURNS ? IN_CALLBACK : NOTHING);
}

/* Write an event for `lost` missing records. The states of all tasks are now unknown. */
static void put_loss(struct conversion *c, uint64_t lost)
{
    end_activity(c);
    for (size_t i = 0; i < c->task_count; i++) {
        c->tasks[i].state = UNKNOWN;
        c->tasks[i].is_woken = false;
    }
    c->ready_count = c->woken_count = 0;
    open_event(c, "i", "records were overwritten", 0);
    coil__report_value(&c->report, "s", "%s", "p");
    put_time(c, c->now);
    open_arguments(c);
    coil__report_value(&c->report, "records", "%zu", (size_t)lost);
    close_arguments(c);
}

static void replay_of_task(struct conversion *c, struct task *task,
                           const struct coil__trace_record *record)
{
    switch (kind_of(record)) {
    case COIL__TRACE_WAIT:
        task->next = WAITS;
        task->what = record->word;
        task->fd = value_of(record);
        break;
    case COIL__TRACE_SPAWN:
        task->state = IS_READY;
        task->since = c->now;
        wake(c, task, true);
        break;
    case COIL__TRACE_WAKE:
        wake(c, task, false);
        break;
    case COIL__TRACE_END:
        task->next = HAS_ENDED;
        task->result = (int64_t)record->word;
        break;
    case COIL__TRACE_CANCEL:
        put_cancel(c, task, record->word);
        break;
    default:
        break;
    }
}

static void replay(struct conversion *c, const struct coil__trace_record *record)
{
    struct task *task = is_about_task(record) ? find_task(c, record->task, false) : NULL;

    switch (kind_of(record)) {
    case COIL__TRACE_SWITCH:
        begin_step_of(c, record);
        break;
    case COIL__TRACE_CALLBACK:
        set_ticks(c, record->word);
        begin_activity(c, IN_CALLBACK);
        break;
    case COIL__TRACE_POLL:
        set_ticks(c, record->word);
        begin_activity(c, IN_POLL);
        break;
    case COIL__TRACE_POLLED:
        set_now(c, (int64_t)record->word, 0);
        end_poll(c);
        break;
    case COIL__TRACE_READY:
        note_ready(c, record->word);
        break;
    case COIL__TRACE_IS:
        take_ready(c, record->word);
        break;
    case COIL__TRACE_LOST:
        put_loss(c, record->word);
        break;
    case COIL__TRACE_CALLS:
        c->called = c->activity == IN_CALLBACK ? record->word : 0;
        break;
    default:
        if (task != NULL)
            replay_of_task(c, task, record);
    }
}

/* Set the current time to that of the first record with a time. */
static void set_beginning(struct conversion *c)
{
    c->now = INT64_MIN;
    for (size_t i = 0; i < c->copy->count && c->now == INT64_MIN; i++) {
        const struct coil__trace_record *record = &c->copy->records[i];
        enum coil__trace_kind kind = kind_of(record);

        if (kind == COIL__TRACE_POLLED)
            set_now(c, (int64_t)record->word, 0);
        else if (kind >= COIL__TRACE_SWITCH && kind <= COIL__TRACE_POLL)
            set_ticks(c, record->word);
    }
    if (c->now == INT64_MIN)
        c->now = 0;
}

static void replay_all(struct conversion *c)
{
    set_beginning(c);
    c->since = c->now;
    for (size_t i = 0; i < c->copy->count && !c->failed; i++)
        replay(c, &c->copy->records[i]);
    end_activity(c);
    for (size_t i = 0; i < c->task_count && !c->failed; i++)
        put_state(c, &c->tasks[i]);
}

int coil__trace_write_events(const struct coil__trace_copy *copy, FILE *out, bool follows)
{
    struct conversion c = {.copy = copy,
                           .report = {.out = out, .json = true},
                           .out = out,
                           .follows = follows};

    coil__symbols_begin();
    collect_tasks(&c);
    if (!c.failed) {
        put_names(&c);
        replay_all(&c);
    }
    coil__symbols_end();
    coil__free(c.tasks);
    coil__free(c.slots);
    coil__free(c.whats.items);
    coil__free(c.places.items);
    coil__free(c.readies);
    coil__free(c.woken);
    return c.failed ? -ENOMEM : 0;
}

/* ---- the file ---------------------------------------------------------------------- */

static const char file_begin[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
static const char file_end[] = "\n]}\n";

void coil__trace_begin_file(FILE *out)
{
    fputs(file_begin, out);
}

void coil__trace_end_file(FILE *out)
{
    fputs(file_end, out);
}

/* ---- the trace of this process ----------------------------------------------------- */

static bool copy_text(void *arg, uint64_t address, char *text, size_t size)
{
    (void)arg;
    snprintf(text, size, "%s", (const char *)(uintptr_t)address);
    return true;
}

static void each_task(void *arg, coil__trace_visit_task *visit, void *visit_arg)
{
    const struct coil__task_layer *tasks = coil__task_layer;

    if (tasks != NULL)
        tasks->each(arg, visit, visit_arg);
}

/* Copy the records, oldest first. Returns NULL if there is no memory. */
static struct coil__trace_record *copy_records(const struct coil__trace *trace,
                                               struct coil__trace_copy *copy)
{
    uint64_t count = trace->count;
    uint64_t first = count > trace->mask ? count - trace->mask - 1 : 0;
    struct coil__trace_record *records =
        coil__alloc((size_t)(count - first + 1) * sizeof *records);

    if (records == NULL)
        return NULL;
    if (first > 0)
        records[copy->count++] = (struct coil__trace_record){
            .word = first, .kind_and_value = COIL__TRACE_LOST};
    for (uint64_t i = first; i < count; i++)
        records[copy->count++] = trace->records[i & trace->mask];
    copy->records = records;
    return records;
}

static FILE *open_file(const char *path, bool append)
{
    FILE *out = fopen(path, append ? "r+e" : "we");

    if (out != NULL && append &&
        fseek(out, -(long)(sizeof file_end - 1), SEEK_END) != 0) {
        fclose(out);
        return NULL;
    }
    return out;
}

int coil__trace_write_file(coil_loop *loop, const char *path, bool append)
{
    const struct coil__trace *trace = loop->trace_kept;
    struct coil__trace_copy copy = {.clock = trace->clock,
                                    .loop = loop->number,
                                    .pid = loop->pid,
                                    .thread = loop->thread,
                                    .arg = loop,
                                    .text = copy_text,
                                    .each_task = each_task};
    struct coil__trace_record *records = copy_records(trace, &copy);
    FILE *out = records != NULL ? open_file(path, append) : NULL;
    int rc = records == NULL ? -ENOMEM : 0;

    if (rc == 0 && out == NULL)
        rc = errno > 0 ? -errno : -EIO;
    if (out != NULL) {
        if (!append)
            coil__trace_begin_file(out);
        rc = coil__trace_write_events(&copy, out, append);
        coil__trace_end_file(out);
        errno = 0;
        if ((fflush(out) != 0 || ferror(out)) && rc == 0)
            rc = errno > 0 ? -errno : -EIO;
        if (fclose(out) != 0 && rc == 0)
            rc = -errno;
    }
    coil__free(records);
    return rc;
}
