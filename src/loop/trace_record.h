/*
 * trace_record.h - the records of a trace: docs/design/trace.md. coil-ps includes this
 * file.
 *
 * A kind is never given a second meaning: new kinds are appended, and readers ignore
 * unknown ones. "Time" is the value of the trace's clock. A record without a time
 * belongs to the time of the record before it.
 */
#ifndef COIL_LOOP_TRACE_RECORD_H
#define COIL_LOOP_TRACE_RECORD_H

#include <stdint.h>

enum coil__trace_kind {
    /* The task `task` runs from now on, or the loop if it is 0. Word: the time. Value: see
       below. */
    COIL__TRACE_SWITCH = 1,
    /* The loop calls a callback. Word: the time. */
    COIL__TRACE_CALLBACK = 2,
    /* The loop polls. Word: the time. */
    COIL__TRACE_POLL = 3,
    /* The poll has ended. Word: the loop's clock, in ns. */
    COIL__TRACE_POLLED = 4,
    /* The task is about to wait. Word: the address of the text of the wait's kind. Value:
       the descriptor + 1, or 0. */
    COIL__TRACE_WAIT = 5,
    /* The task's wait is complete: the task is ready. */
    COIL__TRACE_WAKE = 6,
    /* A task was spawned. Word: the address of its function. */
    COIL__TRACE_SPAWN = 7,
    /* Eight bytes of the task's name. Value: their offset. */
    COIL__TRACE_NAME = 8,
    /* The task ends. Word: its result, as a signed number. */
    COIL__TRACE_END = 9,
    /* The cancellation of the task is requested. Word: the address of the code. */
    COIL__TRACE_CANCEL = 10,
    /* A callback of coil's is ready. Word: its address. */
    COIL__TRACE_READY = 11,
    /* The callback that runs is the one of an earlier READY. Word: its address. */
    COIL__TRACE_IS = 12,
    /* The callback calls this function of the program. Word: its address. */
    COIL__TRACE_CALLS = 13
};

/* Values of a SWITCH: a task is started eagerly, and the starter continues. */
enum { COIL__TRACE_STARTS = 1, COIL__TRACE_RETURNS = 2 };

#define COIL__TRACE_VALUE_MAX ((UINT32_C(1) << 24) - 1)

struct coil__trace_record {
    uint64_t word;
    uint32_t task;
    uint32_t kind_and_value; /* the kind in the lower 8 bits */
};

/* Two readings of both clocks. Times between them, and near them, lie on the line through
   both points. */
struct coil__trace_clock {
    uint64_t ticks1;
    int64_t ns1;
    uint64_t ticks2;
    int64_t ns2;
};

#endif
