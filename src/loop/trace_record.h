/*
 * trace_record.h - the records of a trace (docs/design/trace.md). Also used by coil-ps.
 *
 * The numbers of the kinds never change: new kinds are appended, and readers ignore
 * unknown kinds. "Time" means the value of the trace's clock. If a record contains no
 * time, its time is that of the latest record that does.
 */
#ifndef COIL_LOOP_TRACE_RECORD_H
#define COIL_LOOP_TRACE_RECORD_H

#include <stdint.h>

enum coil__trace_kind {
    /*
     * The task with the number `task` starts to run. If `task` is 0, the loop starts to
     * run. Word: the time. Value: 0, or one of the values below.
     */
    COIL__TRACE_SWITCH = 1,
    /* The loop calls a callback. Word: the time. */
    COIL__TRACE_CALLBACK = 2,
    /* The loop polls. Word: the time. */
    COIL__TRACE_POLL = 3,
    /* The poll has ended. Word: the loop's clock, in ns. */
    COIL__TRACE_POLLED = 4,
    /*
     * The task is about to wait. Word: the address of a text that names the kind of wait.
     * Value: the awaited descriptor + 1, or 0.
     */
    COIL__TRACE_WAIT = 5,
    /* The task's wait has ended: the task is ready. */
    COIL__TRACE_WAKE = 6,
    /* A task was spawned. Word: the address of its function. */
    COIL__TRACE_SPAWN = 7,
    /*
     * A part of the task's name. Word: eight bytes of the name. Value: the offset of
     * these bytes.
     */
    COIL__TRACE_NAME = 8,
    /* The task ends. Word: its result, a signed number. */
    COIL__TRACE_END = 9,
    /* The task's cancellation is requested. Word: the return address of the request. */
    COIL__TRACE_CANCEL = 10,
    /* One of coil's callbacks is ready. Word: the address of its runnable. */
    COIL__TRACE_READY = 11,
    /*
     * Identifies the callback that runs now. Word: the address of its runnable, as in an
     * earlier COIL__TRACE_READY.
     */
    COIL__TRACE_IS = 12,
    /*
     * The running callback calls a function of the program. Word: the address of that
     * function.
     */
    COIL__TRACE_CALLS = 13,
    /*
     * Records are missing here. Used only in copies. Word: the number of missing records.
     */
    COIL__TRACE_LOST = 14
};

/* Values of COIL__TRACE_SWITCH: a new task starts eagerly; its spawner continues. */
enum { COIL__TRACE_STARTS = 1, COIL__TRACE_RETURNS = 2 };

#define COIL__TRACE_VALUE_MAX ((UINT32_C(1) << 24) - 1)

struct coil__trace_record {
    uint64_t word;
    uint32_t task;
    uint32_t kind_and_value; /* the kind in the lower 8 bits */
};

/*
 * Two readings of both clocks. Other times are computed from these readings, assuming a
 * constant rate.
 */
struct coil__trace_clock {
    uint64_t ticks1;
    int64_t ns1;
    uint64_t ticks2;
    int64_t ns2;
};

#endif
