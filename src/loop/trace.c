/*
 * trace.c - starts and stops the trace of a loop, and records what the loop does.
 *
 * A trace is started by coil_trace_start(), by the environment variable COIL_TRACE, or by
 * a tool. The trace is one mapping: a struct coil__trace, followed by the ring of
 * records. Only the loop's thread starts and stops the trace, and writes records.
 *
 * Reading the clock takes longer than writing the rest of a record, so only the four
 * kinds of records that begin or end a span contain a time, which is usually the value of
 * the processor's counter. The struct contains two readings of both the counter and
 * CLOCK_MONOTONIC, from which a reader converts times to nanoseconds. The second reading
 * is updated after polls.
 */
#include "loop.h"
#include "trace_file.h"

#include "../coro/outside.h"
#include "../kernel/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES_MIN ((size_t)4096)
#define BYTES_MAX ((size_t)1 << 30)
#define FIRST_SPAN COIL_USEC(20) /* minimum time between both readings */
#define READ_CLOCKS_EVERY COIL_MSEC(10)

COIL__OUTSIDE(COIL__OUTSIDE_AT(COIL__AT_LOOP_TRACE, coil_loop, trace),
              COIL__OUTSIDE_AT(COIL__AT_TRACE_COUNT, struct coil__trace, count),
              COIL__OUTSIDE_AT(COIL__AT_TRACE_MASK, struct coil__trace, mask),
              COIL__OUTSIDE_AT(COIL__AT_TRACE_CLOCK, struct coil__trace, clock),
              COIL__OUTSIDE_AT(COIL__AT_TRACE_RECORDS, struct coil__trace, records),
              COIL__OUTSIDE_SIZE(COIL__TRACE_RECORD_BYTES, struct coil__trace_record));

_Static_assert(sizeof(struct coil__trace_record) == 16, "docs/design/trace.md");

/* ---- the clock --------------------------------------------------------------------- */

uint64_t coil__trace_time_slowly(const struct coil__trace *trace)
{
    return (uint64_t)(trace->virtual_now != NULL ? *trace->virtual_now
                                                 : coil__clock_monotonic());
}

/* Take or update the second reading of both clocks. */
static void read_clocks(struct coil__trace *trace)
{
    trace->clock.ticks2 = coil__ticks();
    trace->clock.ns2 = coil__clock_monotonic();
}

static void begin_clock(struct coil__trace *trace, const coil_loop *loop)
{
    trace->virtual_now = loop->virtual_clock ? &loop->virtual_now : NULL;
    trace->has_ticks = !loop->virtual_clock && coil__has_steady_ticks();
    trace->clock = (struct coil__trace_clock){0, 0, 1, 1};
    if (!trace->has_ticks)
        return;
    trace->clock.ticks1 = coil__ticks();
    trace->clock.ns1 = coil__clock_monotonic();
    do
        read_clocks(trace);
    while (trace->clock.ns2 - trace->clock.ns1 < FIRST_SPAN);
}

/* ---- starting and stopping --------------------------------------------------------- */

/* Set loop->trace, and notify the task layer, which has its own copy of this pointer. */
static void set_trace(coil_loop *loop, struct coil__trace *trace)
{
    const struct coil__task_layer *tasks = coil__task_layer;

    loop->trace = trace;
    if (tasks != NULL)
        tasks->traced(loop);
}

static void free_trace(coil_loop *loop)
{
    struct coil__trace *trace = loop->trace_kept;

    set_trace(loop, NULL);
    loop->trace_kept = NULL;
    if (trace != NULL)
        munmap(trace, trace->bytes);
}

/*
 * Return the size of the mapping. The size of the ring is `bytes`, rounded up to a power
 * of two.
 */
static size_t mapping_for(size_t bytes)
{
    size_t size = BYTES_MIN;

    while (size < bytes)
        size *= 2;
    return sizeof(struct coil__trace) + size;
}

static int start(coil_loop *loop, size_t bytes)
{
    size_t mapped = mapping_for(bytes == 0 ? COIL_TRACE_BYTES : bytes);
    struct coil__trace *trace;

    if (loop->trace != NULL)
        return -EALREADY;
    if (bytes > BYTES_MAX)
        return -EINVAL;
    free_trace(loop);
    trace = coil__memory_map(mapped);
    if (trace == NULL)
        return -ENOMEM;
    trace->bytes = mapped;
    trace->mask = (mapped - sizeof *trace) / sizeof trace->records[0] - 1;
    begin_clock(trace, loop);
    loop->trace_kept = trace;
    set_trace(loop, trace);
    return 0;
}

int coil_trace_start(size_t bytes)
{
    coil_loop *loop = coil__loop_require("coil_trace_start");
    int rc = start(loop, bytes);

    return rc < 0 ? coil__failed(rc) : 0;
}

void coil_trace_stop(void)
{
    coil_loop *loop = coil__loop_require("coil_trace_stop");
    struct coil__trace *trace = loop->trace;

    if (trace == NULL)
        return;
    coil__trace_put_now(trace, COIL__TRACE_SWITCH, 0, 0);
    if (trace->has_ticks)
        read_clocks(trace);
    set_trace(loop, NULL);
}

int coil_trace_write(const char *path)
{
    COIL__REQUIRE(path, "a path");
    coil_loop *loop = coil__loop_require("coil_trace_write");
    int rc =
        loop->trace_kept != NULL ? coil__trace_write_file(loop, path, false) : -ENOENT;

    return rc < 0 ? coil__failed(rc) : 0;
}

/* ---- COIL_TRACE -------------------------------------------------------------------- */

#define PATH_BYTES 4096

/* The file of COIL_TRACE, which is shared by all loops of this copy of coil. */
static struct {
    pthread_mutex_t lock;
    pid_t first;   /* the process that created the first traced loop */
    pid_t written; /* the last process that wrote the file: its next write appends */
    unsigned copy; /* the number of this copy of coil, from 1 */
} shared_file = {.lock = PTHREAD_MUTEX_INITIALIZER};

/*
 * Parse "FILE" or "FILE,SIZE". The size may end with K, M or G. Returns false if the size
 * is invalid.
 */
static bool parse_environment(const char *value, size_t *length, size_t *bytes)
{
    const char *comma = strrchr(value, ',');
    char *end;
    unsigned long long n;

    *length = strlen(value);
    *bytes = 0;
    if (comma == NULL)
        return true;
    *length = (size_t)(comma - value);
    n = strtoull(comma + 1, &end, 10);
    for (const char *unit = "KMG"; *end != '\0' && *unit != '\0'; unit++) {
        n = n > BYTES_MAX ? n : n * 1024;
        if (*end == *unit) {
            end++;
            break;
        }
    }
    *bytes = (size_t)n;
    return comma[1] >= '0' && comma[1] <= '9' && *end == '\0' && n > 0 && n <= BYTES_MAX;
}

static void report_environment(const char *value, const char *what)
{
    static atomic_bool reported;
    char message[256];

    if (atomic_exchange(&reported, true))
        return;
    snprintf(message, sizeof message, "COIL_TRACE=%.100s: %s", value, what);
    coil_call_exception_handler(&(coil_exception){.message = message});
}

void coil__trace_begin(coil_loop *loop)
{
    const char *value = getenv("COIL_TRACE");
    size_t length, bytes;
    unsigned copy;

    if (value == NULL || *value == '\0')
        return;
    if (!parse_environment(value, &length, &bytes) || length == 0) {
        report_environment(value, "must be FILE or FILE,SIZE, such as trace.json,4M");
        return;
    }
    if (start(loop, bytes) < 0) {
        report_environment(value, "not enough memory for the trace");
        return;
    }
    loop->trace->by_environment = true;
    copy = coil__outside_position() + 1;
    pthread_mutex_lock(&shared_file.lock);
    if (shared_file.first == 0) {
        shared_file.first = loop->pid;
        shared_file.copy = copy;
    }
    pthread_mutex_unlock(&shared_file.lock);
}

/*
 * Expand the path in COIL_TRACE: %p is replaced with the process id. If there is no %p,
 * the id of a child of fork(2) is appended. Each copy of coil has a file of its own,
 * because it cannot know whether another copy has begun the file.
 */
static bool expand_path(char path[PATH_BYTES], pid_t pid)
{
    const char *value = getenv("COIL_TRACE");
    size_t length, bytes, n = 0;
    bool has_id = false;

    if (value == NULL || !parse_environment(value, &length, &bytes))
        return false;
    for (size_t i = 0; i < length && n < PATH_BYTES - 64; i++)
        if (value[i] == '%' && i + 1 < length && value[i + 1] == 'p') {
            n += (size_t)snprintf(path + n, 32, "%d", (int)pid);
            has_id = true;
            i++;
        } else {
            path[n++] = value[i];
        }
    path[n] = '\0';
    if (!has_id && pid != shared_file.first)
        n += (size_t)snprintf(path + n, 32, ".%d", (int)pid);
    if (shared_file.copy > 1)
        snprintf(path + n, 32, ".copy%u", shared_file.copy);
    return true;
}

static void write_shared_file(coil_loop *loop)
{
    char *path = coil__alloc(PATH_BYTES);
    int rc = -ENOMEM;

    pthread_mutex_lock(&shared_file.lock);
    if (path != NULL && expand_path(path, loop->pid)) {
        rc = coil__trace_write_file(loop, path, shared_file.written == loop->pid);
        shared_file.written = rc < 0 ? shared_file.written : loop->pid;
    }
    pthread_mutex_unlock(&shared_file.lock);
    if (rc < 0)
        report_environment(path != NULL ? path : "", strerror(-rc));
    coil__free(path);
}

void coil__trace_end(coil_loop *loop)
{
    if (loop->trace_kept != NULL && loop->trace_kept->by_environment)
        write_shared_file(loop);
    free_trace(loop);
}

/* Write the trace of a loop that is still open. Called by exit(3). */
COIL__AT_EXIT static void write_at_exit(void)
{
    coil_loop *loop = coil__loop_of_thread;

    if (loop != NULL && loop->trace_kept != NULL && loop->trace_kept->by_environment &&
        !coil__loop_is_parents(loop))
        write_shared_file(loop);
}

void coil__trace_forked(coil_loop *loop)
{
    loop->trace = loop->trace_kept = NULL;
}

/* ---- what the loop does ------------------------------------------------------------ */

void coil__trace_run(coil_loop *loop, struct coil__runnable *runnable)
{
    const struct coil__task_layer *tasks = coil__task_layer;
    uint64_t now = coil__trace_time(loop->trace);
    uint32_t task = tasks != NULL ? tasks->number(runnable) : 0;

    if (task != 0) {
        coil__trace_put(loop->trace, COIL__TRACE_SWITCH, now, task, 0);
    } else {
        coil__trace_put(loop->trace, COIL__TRACE_CALLBACK, now, 0, 0);
        coil__trace_put(loop->trace, COIL__TRACE_IS, (uintptr_t)runnable, 0, 0);
    }
    runnable->run(runnable);
}

/* True while a tool requests a trace of this process. Removes an expired request. */
static bool is_requested_now(void)
{
    int64_t until = atomic_load_explicit(&coil__debug.trace_until, memory_order_relaxed);

    if (until == 0 || coil__clock_monotonic() < until)
        return until != 0;
    atomic_compare_exchange_strong(&coil__debug.trace_until, &until, 0);
    return false;
}

static void follow_request(coil_loop *loop)
{
    bool wanted = is_requested_now();

    if (wanted && loop->trace == NULL && start(loop, 0) == 0)
        loop->trace->by_request = true;
    else if (!wanted && loop->trace != NULL && loop->trace->by_request)
        free_trace(loop);
}

void coil__trace_polled(coil_loop *loop)
{
    struct coil__trace *trace = loop->trace;

    if (trace != NULL)
        coil__trace_put(trace, COIL__TRACE_POLLED, (uint64_t)loop->clock_read, 0, 0);
    if (trace != NULL && trace->has_ticks &&
        loop->clock_read - trace->clock.ns2 > READ_CLOCKS_EVERY)
        read_clocks(trace);
    if (coil__trace_is_requested() || (trace != NULL && trace->by_request))
        follow_request(loop);
}

void coil__trace_turned(coil_loop *loop)
{
    coil__trace_put_now(loop->trace, COIL__TRACE_SWITCH, 0, 0);
}
