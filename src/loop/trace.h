/*
 * trace.h - the trace of a loop: a ring of records of what the loop and its tasks do.
 *
 * While a loop is not traced, its `trace` is NULL, so code that writes records only has
 * to test that pointer. Tools read the ring of another process while its loop writes to
 * it. docs/design/trace.md describes the format and the costs.
 */
#ifndef COIL_LOOP_TRACE_H
#define COIL_LOOP_TRACE_H

#include "../base/base.h"
#include "../coro/outside.h"

#include "runnable.h"
#include "trace_record.h"

#include <coil/trace.h>

#include <stdatomic.h>

struct coil__trace {
    _Atomic uint64_t count;     /* records written so far */
    uint64_t mask;              /* the number of records in the ring, minus 1 */
    const int64_t *virtual_now; /* the loop's virtual clock, or NULL */
    /* times are values of coil__ticks() if true, otherwise nanoseconds */
    bool has_ticks;
    bool by_request;     /* started by a tool: see coil__debug.trace_until */
    bool by_environment; /* started because of COIL_TRACE */
    struct coil__trace_clock clock;
    size_t bytes; /* size of the mapping: this struct and the records */
    _Alignas(64) struct coil__trace_record records[];
};

uint64_t coil__trace_time_slowly(const struct coil__trace *trace);

static inline uint64_t coil__trace_time(const struct coil__trace *trace)
{
    return COIL__LIKELY(trace->has_ticks) ? coil__ticks()
                                          : coil__trace_time_slowly(trace);
}

/* Write a record. */
static inline void coil__trace_put(struct coil__trace *trace, enum coil__trace_kind kind,
                                   uint64_t word, uint32_t task, uint32_t value)
{
    uint64_t n = atomic_load_explicit(&trace->count, memory_order_relaxed);
    struct coil__trace_record *record = &trace->records[n & trace->mask];

    record->word = word;
    record->task = task;
    record->kind_and_value = (uint32_t)kind | value << 8;
    atomic_store_explicit(&trace->count, n + 1, memory_order_release);
}

/* Write a record with the current time. */
static inline void coil__trace_put_now(struct coil__trace *trace,
                                       enum coil__trace_kind kind, uint32_t task,
                                       uint32_t value)
{
    coil__trace_put(trace, kind, coil__trace_time(trace), task, value);
}

/* ---- for the loop ------------------------------------------------------------------ */

/* Start tracing a new loop if COIL_TRACE requests it. */
void coil__trace_begin(coil_loop *loop);

/*
 * Called when the loop closes: write the file if COIL_TRACE started the trace, and free
 * the trace.
 */
void coil__trace_end(coil_loop *loop);

/* Stop the inherited trace in a child of fork(2). Async-signal-safe. */
void coil__trace_forked(coil_loop *loop);

/* Run a runnable, and record the run in the trace. The loop must be traced. */
void coil__trace_run(coil_loop *loop, struct coil__runnable *runnable);

/*
 * Record the end of a poll, and start or stop a trace that a tool requests. Called after
 * a poll if the loop is traced, or if there may be such a request.
 */
void coil__trace_polled(coil_loop *loop);

/*
 * Record that no task is running any more, so that the last step does not seem to
 * continue. Called at the end of a turn after which the loop may return to its caller,
 * because it is stopping or is a guest.
 */
void coil__trace_turned(coil_loop *loop);

static inline bool coil__trace_is_requested(void)
{
    return atomic_load_explicit(&coil__debug.trace_until, memory_order_relaxed) != 0;
}

#endif
