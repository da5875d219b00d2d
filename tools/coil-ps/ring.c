/*
 * ring.c - traces the loops of a process from outside, or reads their traces in a core.
 *
 * A process is traced while coil__debug.trace_until is in the future. Each loop then has
 * a ring, which this file reads every 5 ms, without a lock. Records that may have been
 * overwritten during a read are discarded and counted. The image is not trusted.
 */
#include "ring.h"

#include "../../src/coro/outside.h"
#include "../../src/loop/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#define READ_EVERY_NS INT64_C(5000000)
#define READ_LIMIT_NS INT64_C(10000000000)
#define LOOPS_MAX 256
#define RING_RECORDS_MAX (UINT64_C(1) << 26)
#define RECORDS_MAX ((size_t)1 << 19) /* maximum number per loop: about 120 MB of JSON */
#define KINDS_MAX 256
#define MARGIN 64         /* number of records that the loop may be overwriting */
#define BYTES_OF_TABLE 72 /* size of coil__debug up to the end of `trace_until` */
#define TRACE_UNTIL_AT 64

struct ring {
    size_t copy;          /* index of the copy of coil that the loop belongs to */
    uint64_t loop, trace; /* addresses */
    uint32_t number;
    int pid, thread;
    uint64_t next; /* number of the first record that was not read yet */
    struct coil__trace_clock clock;
    struct coil__trace_record *records;
    size_t count, room;
};

/*
 * A kind of wait. The text that names the kind is read while the process is traced,
 * because the process may have ended when the trace is written.
 */
struct kind {
    uint64_t address;
    char text[40];
};

struct reader {
    const struct tracing *tracing;
    bool is_traced[TABLES_MAX]; /* for each copy of coil; false: it is too old */
    struct kind kinds[KINDS_MAX];
    size_t kind_count;
    struct ring *rings;
    size_t ring_count;
    /*
     * For each copy of coil, snapshots taken before and after tracing. `before` is unused
     * for a core.
     */
    struct snapshot before[TABLES_MAX], after[TABLES_MAX];
    bool is_full;        /* RECORDS_MAX were read */
    bool has_more_loops; /* than LOOPS_MAX, counting the loops that were closed */
    bool failed;         /* memory ran out */
};

/* ---- reading ----------------------------------------------------------------------- */

static bool read_bytes(const struct reader *r, uint64_t address, void *to, size_t bytes)
{
    return address != 0 && image_read(r->tracing->image, address, to, bytes);
}

/* Read a member of an object that belongs to a copy of coil. */
static bool read_member(const struct reader *r, size_t copy, uint64_t object,
                        enum coil__outside_key key, void *to, size_t bytes)
{
    const struct table *table = &r->tracing->tables[copy];

    return table->has[key] && read_bytes(r, object + table->values[key], to, bytes);
}

/* Find or create the ring of a loop. A later loop may have the same address. */
static struct ring *find_ring(struct reader *r, size_t copy, uint64_t loop)
{
    struct ring *ring;
    uint32_t number;

    if (!read_member(r, copy, loop, COIL__AT_LOOP_NUMBER, &number, sizeof number))
        return NULL;
    for (size_t i = 0; i < r->ring_count; i++)
        if (r->rings[i].loop == loop && r->rings[i].number == number &&
            r->rings[i].copy == copy)
            return &r->rings[i];
    if (r->ring_count == LOOPS_MAX) {
        r->has_more_loops = true;
        return NULL;
    }
    ring = &r->rings[r->ring_count];
    *ring = (struct ring){.copy = copy, .loop = loop, .number = number};
    if (!read_member(r, copy, loop, COIL__AT_LOOP_PID, &ring->pid, sizeof ring->pid) ||
        !read_member(r, copy, loop, COIL__AT_LOOP_THREAD, &ring->thread,
                     sizeof ring->thread))
        return NULL;
    r->ring_count++;
    return ring;
}

/* Allocate memory for more records. */
static bool reserve(struct reader *r, struct ring *ring, size_t more)
{
    size_t room = ring->room > 0 ? ring->room : 4096;
    struct coil__trace_record *records;

    if (ring->count + more > RECORDS_MAX) {
        r->is_full = true;
        return false;
    }
    while (room < ring->count + more)
        room *= 2;
    if (room == ring->room)
        return true;
    records = realloc(ring->records, room * sizeof *records);
    r->failed |= records == NULL;
    if (records == NULL)
        return false;
    ring->records = records;
    ring->room = room;
    return true;
}

/* Copy the records from `first` up to `end`, in two parts if they wrap around. */
static bool copy_records(struct reader *r, struct ring *ring, uint64_t first,
                         uint64_t end, uint64_t mask)
{
    const struct table *table = &r->tracing->tables[ring->copy];
    uint64_t records = ring->trace + table->values[COIL__AT_TRACE_RECORDS];
    struct coil__trace_record *to = ring->records + ring->count;

    while (first < end) {
        uint64_t at = first & mask, n = mask + 1 - at;

        if (n > end - first)
            n = end - first;
        if (!read_bytes(r, records + at * sizeof *to, to, (size_t)n * sizeof *to))
            return false;
        to += n;
        first += n;
    }
    return true;
}

/*
 * Return the number of the oldest record that cannot have been overwritten when the loop
 * has written `count` records.
 */
static uint64_t oldest(uint64_t count, uint64_t mask)
{
    return count + MARGIN > mask ? count + MARGIN - mask : 0;
}

static void read_kinds(struct reader *r, const struct coil__trace_record *records,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_known = (records[i].kind_and_value & 0xff) != COIL__TRACE_WAIT ||
                        r->kind_count == KINDS_MAX;

        for (size_t k = 0; k < r->kind_count && !is_known; k++)
            is_known = r->kinds[k].address == records[i].word;
        if (is_known)
            continue;
        r->kinds[r->kind_count].address = records[i].word;
        r->kind_count +=
            image_read_text(r->tracing->image, records[i].word,
                            r->kinds[r->kind_count].text, sizeof r->kinds[0].text);
    }
}

/* Append a copy of the records from `first` up to `end`. */
static void take_records(struct reader *r, struct ring *ring, uint64_t first,
                         uint64_t end, uint64_t mask)
{
    struct coil__trace_record *loss;
    uint64_t count, whole;

    /* one more record may be needed, to store the number of lost records */
    if (!reserve(r, ring, (size_t)(end - first) + 1))
        return;
    loss = ring->records + ring->count++;
    if (!copy_records(r, ring, first, end, mask) ||
        !read_member(r, ring->copy, ring->trace, COIL__AT_TRACE_COUNT, &count,
                     sizeof count)) {
        ring->count--;
        return;
    }
    whole = oldest(count, mask);
    whole = whole < first ? first : whole > end ? end : whole;
    *loss = (struct coil__trace_record){.word = whole - ring->next,
                                        .kind_and_value = COIL__TRACE_LOST};
    if (loss->word == 0)
        ring->count--;
    memmove(ring->records + ring->count, loss + 1 + (whole - first),
            (size_t)(end - whole) * sizeof *loss);
    read_kinds(r, ring->records + ring->count, (size_t)(end - whole));
    ring->count += (size_t)(end - whole);
    ring->next = end;
}

/* Read the records that the loop has written since the last call. */
static void read_ring(struct reader *r, struct ring *ring)
{
    uint64_t trace = 0, count, mask, first;
    size_t copy = ring->copy;

    if (!read_member(r, copy, ring->loop, COIL__AT_LOOP_TRACE, &trace, sizeof trace) ||
        !read_member(r, copy, trace, COIL__AT_TRACE_COUNT, &count, sizeof count) ||
        !read_member(r, copy, trace, COIL__AT_TRACE_MASK, &mask, sizeof mask) ||
        (mask & (mask + 1)) != 0 || mask < MARGIN || mask >= RING_RECORDS_MAX)
        return;
    if (trace != ring->trace || count < ring->next)
        ring->next = 0;
    ring->trace = trace;
    read_member(r, copy, trace, COIL__AT_TRACE_CLOCK, &ring->clock, sizeof ring->clock);
    first = oldest(count, mask);
    if (first < ring->next)
        first = ring->next;
    if (ring->count == 0 && count - first >= RECORDS_MAX)
        first = count - RECORDS_MAX + 1;
    if (first < count)
        take_records(r, ring, first, count, mask);
}

static void read_rings_of_copy(struct reader *r, size_t copy)
{
    const struct table *table = &r->tracing->tables[copy];

    for (uint32_t i = 0; i < table->loop_count; i++) {
        uint64_t loop = 0;
        struct ring *ring =
            read_bytes(r, table->loops + i * sizeof loop, &loop, sizeof loop) && loop != 0
                ? find_ring(r, copy, loop)
                : NULL;

        if (ring != NULL)
            read_ring(r, ring);
    }
}

/* Read the rings of all loops, in each copy of coil that can be traced. */
static void read_rings(struct reader *r)
{
    image_begin(r->tracing->image, READ_LIMIT_NS);
    for (size_t i = 0; i < r->tracing->table_count; i++)
        if (r->is_traced[i])
            read_rings_of_copy(r, i);
}

/* ---- tracing a process ------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signo)
{
    (void)signo;
    interrupted = 1;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* True if the process has not unloaded this copy of coil meanwhile. */
static bool is_loaded(const struct reader *r, const struct table *table)
{
    char cookie[sizeof COIL__OUTSIDE_COOKIE];

    return read_bytes(r, table->address, cookie, sizeof cookie) &&
           memcmp(cookie, COIL__OUTSIDE_COOKIE, sizeof cookie) == 0;
}

/* Make the loops of all copies of coil trace themselves until this time. Returns false
   with an errno if no copy could be reached. */
static bool request(const struct reader *r, int64_t until)
{
    struct iovec local = {&until, sizeof until};
    bool ok = false;

    errno = ESRCH;
    for (size_t i = 0; i < r->tracing->table_count; i++) {
        uint64_t address = r->tracing->tables[i].address + TRACE_UNTIL_AT;
        struct iovec remote = {(void *)(uintptr_t)address, sizeof until};

        if (r->is_traced[i] && is_loaded(r, &r->tracing->tables[i]))
            ok |= process_vm_writev(r->tracing->pid, &local, 1, &remote, 1, 0) ==
                  (ssize_t)sizeof until;
    }
    return ok;
}

static void wait_until(int64_t time)
{
    struct timespec t = {(time_t)(time / 1000000000), (long)(time % 1000000000)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* True until the process has ended or has unloaded all copies that are traced. */
static bool is_open(const struct reader *r)
{
    for (size_t i = 0; i < r->tracing->table_count; i++)
        if (r->is_traced[i] && is_loaded(r, &r->tracing->tables[i]))
            return true;
    return false;
}

static bool trace_process(struct reader *r, char *why, size_t size)
{
    struct sigaction action = {.sa_handler = on_interrupt}, previous;
    int64_t end = now_ns() + r->tracing->duration_ns;

    if (!request(r, end)) {
        snprintf(why, size, "process %d cannot be traced: %s", r->tracing->pid,
                 strerror(errno));
        request(r, 0);
        return false;
    }
    sigaction(SIGINT, &action, &previous);
    while (!interrupted && !r->is_full && !r->failed && now_ns() < end && is_open(r)) {
        int64_t next = now_ns() + READ_EVERY_NS;

        wait_until(next < end ? next : end);
        read_rings(r);
    }
    request(r, 0);
    sigaction(SIGINT, &previous, NULL);
    if (r->is_full)
        fprintf(stderr, "coil-ps: the trace ends %.3f s early: a loop has %zu records\n",
                (double)(end - now_ns()) / 1e9, RECORDS_MAX);
    if (r->has_more_loops)
        fprintf(stderr, "coil-ps: only the first %d loops are in the trace\n", LOOPS_MAX);
    return true;
}

/* ---- writing ----------------------------------------------------------------------- */

struct source {
    const struct reader *reader;
    const struct ring *ring;
};

static bool copy_text(void *arg, uint64_t address, char *text, size_t size)
{
    const struct source *source = arg;
    const struct reader *r = source->reader;

    for (size_t k = 0; k < r->kind_count; k++)
        if (r->kinds[k].address == address) {
            snprintf(text, size, "%s", r->kinds[k].text);
            return true;
        }
    return false;
}

static void visit_tasks(const struct snapshot *snapshot, uint32_t loop,
                        coil__trace_visit_task *visit, void *arg)
{
    for (size_t i = 0; i < snapshot->task_count; i++) {
        const struct task *task = &snapshot->tasks[i];

        if (snapshot->loops[task->loop].number == loop)
            visit(arg, task->number, task->name, task->fn);
    }
}

static void each_task(void *arg, coil__trace_visit_task *visit, void *visit_arg)
{
    const struct source *source = arg;
    const struct ring *ring = source->ring;

    visit_tasks(&source->reader->before[ring->copy], ring->number, visit, visit_arg);
    visit_tasks(&source->reader->after[ring->copy], ring->number, visit, visit_arg);
}

static bool write_rings(const struct reader *r, FILE *out)
{
    struct coil__trace_writer writer;
    int rc = 0;

    if (!coil__trace_begin_file(&writer, out, r->tracing->path, false))
        return false;
    for (size_t i = 0; i < r->ring_count && rc == 0; i++) {
        const struct ring *ring = &r->rings[i];
        struct source source = {r, ring};
        struct coil__trace_copy copy = {.records = ring->records,
                                        .count = ring->count,
                                        .clock = ring->clock,
                                        .id = (uint32_t)i + 1,
                                        .loop = ring->number,
                                        .pid = ring->pid,
                                        .thread = ring->thread,
                                        .arg = &source,
                                        .text = copy_text,
                                        .each_task = each_task};

        if (ring->count > 0)
            rc = coil__trace_write_events(&writer, &copy);
    }
    coil__trace_end_file(&writer);
    return rc == 0;
}

static size_t count_records(const struct reader *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->ring_count; i++)
        n += r->rings[i].count;
    return n;
}

/* Take snapshots of the existing tasks, for their names. */
static bool read_names(const struct reader *r, struct snapshot *snapshots)
{
    const struct tracing *tracing = r->tracing;

    for (size_t i = 0; i < tracing->table_count; i++)
        if (r->is_traced[i] && !snapshot_take(tracing->image, &tracing->tables[i],
                                              &tracing->options, &snapshots[i]))
            return false;
    return true;
}

static bool collect(struct reader *r, char *why, size_t size)
{
    if (r->tracing->pid == 0) {
        read_rings(r);
        return true;
    }
    return read_names(r, r->before) && trace_process(r, why, size);
}

static bool can_be_traced(struct image *image, const struct table *table)
{
    uint32_t bytes = 0;

    return image_read(image, table->address + 12, &bytes, sizeof bytes) &&
           bytes >= BYTES_OF_TABLE && table->has[COIL__AT_LOOP_TRACE] &&
           table->has[COIL__AT_TRACE_RECORDS] &&
           table->values[COIL__TRACE_RECORD_BYTES] == sizeof(struct coil__trace_record);
}

/* Set is_traced. Returns false if no copy of coil can be traced. */
static bool choose_copies(struct reader *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->tracing->table_count; i++)
        if (can_be_traced(r->tracing->image, &r->tracing->tables[i])) {
            r->is_traced[i] = true;
            n++;
        }
    if (n > 0 && n < r->tracing->table_count)
        fprintf(stderr, "coil-ps: %zu of %zu copies of coil are too old to be traced\n",
                r->tracing->table_count - n, r->tracing->table_count);
    return n > 0;
}

bool ring_trace(const struct tracing *tracing, FILE *out, char *why, size_t size)
{
    static struct reader r;
    bool ok = false;

    r = (struct reader){.tracing = tracing, .rings = calloc(LOOPS_MAX, sizeof *r.rings)};
    snprintf(why, size, "out of memory");
    if (!choose_copies(&r))
        snprintf(why, size, "the coil of this program is too old to be traced");
    else if (r.rings != NULL && collect(&r, why, size) && !r.failed &&
             read_names(&r, r.after)) {
        ok = count_records(&r) > 0 && write_rings(&r, out);
        if (count_records(&r) == 0)
            snprintf(why, size, "%s",
                     tracing->pid != 0
                         ? "there are no records: no loop has polled meanwhile"
                         : "there is no trace in this core");
    }
    for (size_t i = 0; i < tracing->table_count; i++) {
        snapshot_free(&r.before[i]);
        snapshot_free(&r.after[i]);
    }
    for (size_t i = 0; i < r.ring_count; i++)
        free(r.rings[i].records);
    free(r.rings);
    return ok;
}
