/*
 * take.c - takes snapshots of a process while it runs, or while it is stopped.
 *
 * RUNNING. Each task is copied until the copy is consistent, and its stack is unwound at
 * once.
 *
 * STOPPED. After prefetch.c has read ahead, the process is stopped, everything is copied,
 * and the process continues. Only then are the stacks unwound.
 *
 * IN PAUSES. Like STOPPED, but without reading ahead. Whenever a pause has lasted long
 * enough, the process continues for a while.
 */
#include "take.h"

#include "freeze.h"
#include "prefetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOPS_MAX 4096

struct taking {
    struct inspected *inspected;
    const struct how_to_take *how;
    struct taken *taken;
    struct frozen *threads;
    size_t thread_count;
    struct image *image; /* the process's image, or prefetch.c's image of it */
    int64_t begun, first;
    int error;
};

int64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void sleep_ns(int64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}

/* Return the process's PID in its own namespace; 0 for a core. */
static int inner_pid(int pid)
{
    return pid == 0 ? 0 : frozen_id_inside(pid, pid);
}

/* ---- stopping ---------------------------------------------------------------------- */

static void find_threads(struct taking *t, const struct table *table)
{
    struct image *image = t->inspected->image;

    for (uint32_t i = 0; i < table->loop_count && t->thread_count < LOOPS_MAX; i++) {
        int *thread = &t->threads[t->thread_count].thread;
        uint64_t loop = 0;

        if (image_read(image, table->loops + i * sizeof loop, &loop, sizeof loop) &&
            loop != 0 && table->has[COIL__AT_LOOP_THREAD] &&
            image_read(image, loop + table->values[COIL__AT_LOOP_THREAD], thread,
                       sizeof *thread))
            t->thread_count++;
    }
}

/* Stop the threads of the loops. */
static bool stop(struct taking *t)
{
    struct image *image = t->inspected->image;

    t->thread_count = 0;
    for (size_t i = 0; i < t->inspected->table_count; i++)
        find_threads(t, &t->inspected->tables[i]);
    t->thread_count = frozen_find(t->inspected->pid, t->threads, t->thread_count);
    t->begun = monotonic_ns();
    if (!freeze(t->threads, t->thread_count)) {
        t->error = errno;
        return false;
    }
    if (t->taken->pauses++ == 0)
        t->first = t->begun;
    image->frozen = t->threads;
    image->frozen_count = t->thread_count;
    image->is_constant = true;
    return true;
}

static void resume(struct taking *t)
{
    struct image *image = t->inspected->image;
    int64_t now;

    thaw(t->threads, t->thread_count);
    now = monotonic_ns();
    image->frozen_count = 0;
    image->is_constant = false;
    if (now - t->begun > t->taken->longest_ns)
        t->taken->longest_ns = now - t->begun;
    t->taken->span_ns = now - t->first;
}

/*
 * If the process has been stopped for long enough, let it run for a while, and return
 * true.
 */
static bool let_process_run(void *arg)
{
    struct taking *t = arg;

    /*
     * a quarter of the pause is reserved for reading one more task and resuming the
     * threads
     */
    if (t->error != 0 || monotonic_ns() - t->begun < t->how->pause_ns / 4 * 3)
        return false;
    resume(t);
    sleep_ns(t->how->pause_ns);
    if (!stop(t))
        image_end(t->image, "the process cannot be stopped");
    return true;
}

/* ---- snapshots --------------------------------------------------------------------- */

static bool take_each(struct taking *t, struct snapshot_options *options,
                      struct snapshot *snapshots)
{
    bool ok = true;

    for (size_t i = 0; i < t->inspected->table_count; i++) {
        unwinder_use_table(&t->inspected->unwinder, &t->inspected->tables[i]);
        ok = snapshot_take(t->image, &t->inspected->tables[i], options, &snapshots[i]) &&
             ok;
    }
    return ok;
}

static bool take_each_again(const struct taking *t, struct snapshot *snapshots)
{
    bool ok = true;

    for (size_t i = 0; i < t->inspected->table_count; i++)
        ok = snapshot_take_again(&snapshots[i]) && ok;
    return ok;
}

static bool finish_each(struct taking *t, struct snapshot *snapshots)
{
    bool ok = true;

    for (size_t i = 0; i < t->inspected->table_count; i++) {
        unwinder_use_table(&t->inspected->unwinder, &t->inspected->tables[i]);
        ok = snapshot_finish(&snapshots[i]) && ok;
    }
    return ok;
}

/* Read everything once while the process runs, and again while it is stopped. */
static bool take_stopped(struct taking *t, struct snapshot_options *options,
                         struct snapshot *snapshots)
{
    bool ok;

    t->image = prefetch_open(t->inspected->image);
    if (t->image == NULL || !take_each(t, options, snapshots) ||
        !prefetch_prepare(t->image) || !stop(t))
        return false;
    prefetch_refresh(t->image);
    options->monotonic = t->begun;
    options->unwinds_later = true;
    ok = take_each_again(t, snapshots);
    resume(t);
    options->on_stack = unwinder_stack;
    return finish_each(t, snapshots) && ok;
}

static bool take_in_pauses(struct taking *t, struct snapshot_options *options,
                           struct snapshot *snapshots)
{
    bool ok;

    options->unwinds_later = true;
    options->on_stack = unwinder_stack;
    options->after_task = let_process_run;
    options->after_task_arg = t;
    if (!stop(t))
        return false;
    ok = take_each(t, options, snapshots);
    resume(t);
    return finish_each(t, snapshots) && ok && t->error == 0;
}

static bool take(struct taking *t, struct snapshot_options *options,
                 struct snapshot *snapshots)
{
    if (t->inspected->pid != 0 && t->how->pause_ns > 0)
        return take_in_pauses(t, options, snapshots);
    if (t->inspected->pid != 0 && t->how->stop)
        return take_stopped(t, options, snapshots);
    options->on_stack = unwinder_stack;
    return take_each(t, options, snapshots) && finish_each(t, snapshots);
}

static void explain(const struct taking *t, char *why, size_t size)
{
    if (t->error == 0)
        snprintf(why, size, "out of memory");
    else
        snprintf(why, size, "process %d cannot be stopped: %s", t->inspected->pid,
                 t->error == EPERM
                     ? "a debugger has stopped it, or CAP_SYS_PTRACE is missing"
                     : strerror(t->error));
}

bool take_snapshots(struct inspected *inspected, const struct how_to_take *how,
                    struct snapshot snapshots[TABLES_MAX], struct taken *taken, char *why,
                    size_t size)
{
    struct snapshot_options options = {.pid = inner_pid(inspected->pid),
                                       .limit_ns = how->limit_ns,
                                       .on_stack_arg = &inspected->unwinder};
    struct taking t = {
        .inspected = inspected, .how = how, .taken = taken, .image = inspected->image};
    bool ok;

    *taken = (struct taken){0};
    memset(snapshots, 0, inspected->table_count * sizeof *snapshots);
    if (inspected->pid != 0) {
        options.monotonic = monotonic_ns();
        inspected->image->bytes = process_memory_bytes(inspected->pid);
    }
    t.threads = calloc(LOOPS_MAX, sizeof *t.threads);
    image_begin(inspected->image, how->limit_ns);
    ok = t.threads != NULL && take(&t, &options, snapshots);
    free(t.threads);
    if (t.image != inspected->image)
        image_close(t.image);
    if (!ok)
        explain(&t, why, size);
    for (size_t i = 0; i < inspected->table_count; i++) {
        snapshots[i].options = NULL;
        if (!ok)
            snapshot_free(&snapshots[i]);
    }
    return ok;
}
