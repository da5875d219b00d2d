/*
 * coil_ps.c - the program coil-ps, which prints the tasks of another program.
 *
 *     coil-ps [OPTION...] PID|CORE
 *
 * coil-ps reads the memory of the process from outside, normally while the process runs.
 * snapshot.c explains how. docs/manual/ps.md describes the options.
 */
#include "freeze.h"
#include "options.h"
#include "ring.h"
#include "save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WATCH_LINES 20

static void fail(const char *text)
{
    fprintf(stderr, "coil-ps: %s\n", text);
    exit(1);
}

static void take(const struct options *o, struct inspected *inspected,
                 struct snapshot snapshots[TABLES_MAX], struct taken *taken)
{
    char why[300];

    if (!take_snapshots(inspected, &o->how, snapshots, taken, why, sizeof why))
        fail(why);
}

static void free_snapshots(const struct inspected *inspected, struct snapshot *snapshots)
{
    for (size_t i = 0; i < inspected->table_count; i++)
        snapshot_free(&snapshots[i]);
}

/* Print the busiest tasks at regular intervals. */
static void watch(const struct options *o, struct inspected *inspected)
{
    struct snapshot before[TABLES_MAX], now[TABLES_MAX];
    int64_t begun = monotonic_ns(), elapsed;
    struct taken taken;
    size_t loops = 1;

    take(o, inspected, before, &taken);
    while (loops > 0 && fflush(stdout) == 0) {
        sleep_ns(o->watch_ns);
        elapsed = monotonic_ns() - begun;
        begun += elapsed;
        take(o, inspected, now, &taken);
        if (isatty(STDOUT_FILENO))
            fputs("\033[H\033[2J", stdout);
        loops = 0;
        for (size_t i = 0; i < inspected->table_count; i++) {
            unwinder_use_table(&inspected->unwinder, &inspected->tables[i]);
            tree_print_top(&now[i], &before[i], (double)elapsed / 1e9,
                           &inspected->unwinder, &o->filter, WATCH_LINES, stdout);
            loops += now[i].loop_count;
        }
        free_snapshots(inspected, before);
        memcpy(before, now, sizeof before);
    }
    free_snapshots(inspected, before);
}

static void show(const struct options *o, struct inspected *inspected)
{
    struct snapshot snapshots[TABLES_MAX];
    struct taken taken;

    take(o, inspected, snapshots, &taken);
    for (size_t i = 0; i < inspected->table_count; i++) {
        unwinder_use_table(&inspected->unwinder, &inspected->tables[i]);
        if (o->json)
            tree_print_json(&snapshots[i], &inspected->unwinder, &o->filter, stdout);
        else
            tree_print(&snapshots[i], &inspected->unwinder, &o->filter, o->tree_max,
                       stdout);
    }
    if (taken.pauses > 1)
        tree_print_pauses(taken.pauses, taken.longest_ns, taken.span_ns, stdout);
    free_snapshots(inspected, snapshots);
}

static void trace(const struct options *o, struct inspected *inspected)
{
    const struct tracing tracing = {
        .image = inspected->image,
        .tables = inspected->tables,
        .table_count = inspected->table_count,
        .pid = o->pid,
        .duration_ns = o->trace_ns,
        .options = {.pid = o->pid == 0 ? 0 : frozen_id_inside(o->pid, o->pid),
                    .limit_ns = o->how.limit_ns},
        .path = o->output};
    FILE *out = o->output != NULL ? fopen(o->output, "we") : stdout;
    char why[300];

    if (out == NULL) {
        fprintf(stderr, "coil-ps: %s: %s\n", o->output, strerror(errno));
        exit(1);
    }
    unwinder_use_table(&inspected->unwinder, &inspected->tables[0]);
    if (!ring_trace(&tracing, out, why, sizeof why))
        fail(why);
    if (out != stdout && (ferror(out) != 0 || fclose(out) != 0)) {
        fprintf(stderr, "coil-ps: %s: %s\n", o->output, strerror(errno));
        exit(1);
    }
}

static void inspect(const struct options *o, struct inspected *inspected)
{
    char why[300];

    *inspected = (struct inspected){.pid = o->pid};
    inspected->image = o->core != NULL
                           ? image_of_core(o->core, o->program, why, sizeof why)
                           : image_of_process(o->pid, why, sizeof why);
    if (inspected->image == NULL)
        fail(why);
    image_begin(inspected->image, o->how.limit_ns);
    /* For a trace, find modules without loops too, because loops may be created later. */
    inspected->table_count =
        table_find(inspected->image, !o->trace, inspected->tables, why, sizeof why);
    if (inspected->table_count == 0)
        fail(inspected->image->budget.cut != NULL ? inspected->image->budget.cut : why);
    if (!unwinder_open(&inspected->unwinder, inspected->image, o->pid, o->core, why,
                       sizeof why))
        fail(why);
}

static int save(const struct options *o)
{
    struct saved saved;
    char why[300];

    if (!save_core(o->pid, o->save, &saved, why, sizeof why))
        fail(why);
    printf("coil: saved %.1f MiB; the process was stopped for %.0f ms\n",
           (double)saved.bytes / (1 << 20), (double)saved.stopped_ns / 1e6);
    return fflush(stdout) != 0;
}

int main(int argc, char *argv[])
{
    static struct inspected inspected;
    struct options options;

    parse_options(&options, argc, argv);
    if (!options.debuginfod)
        unsetenv("DEBUGINFOD_URLS"); /* libdw would wait for debuginfod's servers */
    inspect(&options, &inspected);
    if (options.save != NULL)
        return save(&options);
    if (options.trace)
        trace(&options, &inspected);
    else if (options.watch_ns > 0)
        watch(&options, &inspected);
    else
        show(&options, &inspected);
    unwinder_close(&inspected.unwinder);
    for (size_t i = 0; i < inspected.table_count; i++)
        table_free(&inspected.tables[i]);
    image_close(inspected.image);
    return ferror(stdout) != 0 || fflush(stdout) != 0;
}
