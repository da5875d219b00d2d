/*
 * test_stats.c - the loop's counters.
 */
#include "../../harness/harness.h"

#include "../socket/sockets.h"

#include <coil.h>

static int do_nothing(void *arg)
{
    (void)arg;
    return 0;
}

TASK_TEST(stats_count_turns_runs_tasks_and_timers)
{
    coil_stats before, after;
    coil_task *task;

    coil_stats_get(&before);
    CHECK_INT(before.tasks, 1);
    CHECK_INT(before.timers, 0);
    for (int i = 0; i < 1000; i++)
        coil_yield();
    coil_stats_get(&after);
    CHECK_INT(after.turns - before.turns, 1000);
    CHECK_INT(after.runs - before.runs, 1000);
    coil_spawn(do_nothing, NULL, NULL, &task);
    coil_stats_get(&after);
    CHECK_INT(after.tasks, 2);
    CHECK_INT(after.spawned - before.spawned, 1);
    coil_task_await(task);
    coil_task_release(task);
    coil_stats_get(&after);
    CHECK_INT(after.tasks, 1);
}

static int read_one(void *arg)
{
    char c;

    return (int)coil_read(arg, &c, 1);
}

/*
 * The ends are not TCP sockets, because on all other descriptors every backend tries to
 * read or write before it waits.
 */
IO_TEST(stats_tell_how_many_operations_had_to_wait)
{
    coil_stats before, after;
    coil_stream *ends[2];
    coil_task *reader;
    char c = 'x';

    make_stream_pair(ends);
    coil_stats_get(&before);
    CHECK_INT(coil_write(ends[0], &c, 1), 1);
    settle();
    CHECK_INT(coil_read(ends[1], &c, 1), 1);
    coil_stats_get(&after);
    CHECK_INT(after.operations - before.operations, 2);
    CHECK_INT(after.operations_waited - before.operations_waited, 0);
    coil_spawn(read_one, ends[1], NULL, &reader);
    settle();
    CHECK_INT(coil_write(ends[0], &c, 1), 1);
    coil_task_await(reader);
    coil_task_release(reader);
    coil_stats_get(&after);
    CHECK_INT(after.operations - before.operations, 4);
    CHECK_INT(after.operations_waited - before.operations_waited, 1);
    CHECK(after.polls > 0);
    destroy_streams(ends);
}
