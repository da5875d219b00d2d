/*
 * base.c - memory from the program's allocator, the clock, and aborting on misuse.
 */
#include "base.h"
#include "fault.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *realloc_from_libc(void *context, void *block, size_t size)
{
    (void)context;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return block != NULL ? realloc(block, size) : malloc(size);
}

static coil_allocator allocator = {realloc_from_libc, NULL};

void coil_set_allocator(const coil_allocator *replacement)
{
    static const coil_allocator libc = {realloc_from_libc, NULL};

    allocator = replacement != NULL ? *replacement : libc;
}

const struct coil__fault_hooks *_Atomic coil__fault_hooks;

/*
 * The slow path of coil__realloc(), used while a test counts allocations or makes one
 * fail.
 */
static COIL__NOINLINE void *realloc_counted(void *block, size_t size)
{
    void *moved;

    if (coil__faults()->allocation_fails())
        return NULL;
    moved = allocator.realloc(allocator.context, block, size);
    if (block == NULL && moved != NULL)
        coil__faults()->block_allocated();
    return moved;
}

void *coil__realloc(void *block, size_t size)
{
    if (coil__faults_are_counted())
        return realloc_counted(block, size);
    return allocator.realloc(allocator.context, block, size);
}

void *coil__alloc(size_t size)
{
    return coil__realloc(NULL, size);
}

void *coil__alloc_zeroed(size_t size)
{
    void *block = coil__alloc(size);

    if (block != NULL)
        memset(block, 0, size);
    return block;
}

void coil__free(void *block)
{
    if (block == NULL)
        return;
    if (coil__faults_are_counted())
        coil__faults()->block_freed();
    allocator.realloc(allocator.context, block, 0);
}

/* ---- objects that were freed in debug mode ----------------------------------------- */

#define KEPT_MAX 1024

/*
 * The last KEPT_MAX objects that were freed, whose memory is not reused yet. The struct
 * itself is allocated with calloc(3), not with the program's allocator.
 */
struct kept {
    size_t next;
    void *blocks[KEPT_MAX];
};

static COIL__THREAD_LOCAL struct kept *kept;

static void free_uncounted(void *block)
{
    if (block != NULL)
        allocator.realloc(allocator.context, block, 0);
}

/*
 * Free an object. In debug mode, the object's memory is kept until this thread has freed
 * KEPT_MAX other objects, but tests that count blocks count this block as freed at once.
 */
void coil__free_object(void *block)
{
    void **place;

    if (COIL__LIKELY(kept == NULL || block == NULL)) {
        coil__free(block);
        return;
    }
    if (coil__faults_are_counted())
        coil__faults()->block_freed();
    place = &kept->blocks[kept->next++ % KEPT_MAX];
    free_uncounted(*place);
    *place = block;
}

void coil__keep_freed_objects(bool on)
{
    struct kept *last = kept;

    if (on) {
        if (kept == NULL)
            kept = calloc(1, sizeof *kept);
        return;
    }
    kept = NULL;
    for (size_t i = 0; last != NULL && i < KEPT_MAX; i++)
        free_uncounted(last->blocks[i]);
    free(last);
}

void coil_free(void *block)
{
    coil__free(block);
}

void *coil_realloc(void *block, size_t size)
{
    /* a size of 0 would free the block */
    return coil__realloc(block, size > 0 ? size : 1);
}

int64_t coil__clock_monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return COIL_SEC(now.tv_sec) + now.tv_nsec;
}

int64_t coil__time_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? COIL_NEVER : INT64_MIN;
    return sum;
}

void (*_Atomic coil__failed_hook)(int);

void coil__note_failure(int rc)
{
    void (*hook)(int) = coil__failed_hook;

    if (hook != NULL)
        hook(rc);
}

const char *coil_version(void)
{
    return "0.1.0";
}

void (*_Atomic coil__misuse_report)(const char *, const void *);
void (*_Atomic coil__misuse_contain)(const char *, const void *);

/* ---- aborting ---------------------------------------------------------------------- */

/* How long exit(3) waits for another thread to finish its report, and then to abort. */
#define REPORT_MS 10000
#define ABORT_MS 1000

/*
 * The process in which a thread is reporting misuse and will then abort, or 0. A child
 * that is forked in the meantime does not have this thread. The child recognises this by
 * the id, which is not its own.
 */
static _Atomic pid_t aborting_process;
static atomic_bool abort_is_next; /* the report is complete */
static COIL__THREAD_LOCAL bool aborting;

static void print_misuse(const char *sentence, const void *from)
{
    void (*report)(const char *, const void *) = coil__misuse_report;
    bool again = aborting; /* the report itself has misused coil: do not print a stack */

    aborting = true;
    if (report == NULL || again)
        fprintf(stderr, "coil: %s\n", sentence);
    else
        report(sentence, from);
}

/*
 * Called by exit(3). If another thread is reporting misuse, which may take a second, wait
 * until it aborts: the process must end with SIGABRT even if main() returns in the
 * meantime. If the report takes longer than REPORT_MS, abort here. If the process has not
 * ended ABORT_MS after the report, a handler of SIGABRT has prevented the abort, and
 * exit(3) continues.
 */
COIL__AT_EXIT static void wait_for_abort(void)
{
    const struct timespec step = {.tv_nsec = COIL_MSEC(1)};

    if (atomic_load(&aborting_process) != getpid() || aborting)
        return;
    for (int i = 0; i < REPORT_MS && !atomic_load(&abort_is_next); i++)
        nanosleep(&step, NULL);
    if (!atomic_load(&abort_is_next))
        abort();
    for (int i = 0; i < ABORT_MS; i++)
        nanosleep(&step, NULL);
}

COIL__NOINLINE void coil__misuse(const char *format, ...)
{
    void (*contain)(const char *, const void *) = coil__misuse_contain;
    char sentence[512];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (contain != NULL)
        contain(sentence, COIL__CALLER());
    atomic_store(&abort_is_next, false);
    atomic_store(&aborting_process, getpid());
    print_misuse(sentence, COIL__CALLER());
    atomic_store(&abort_is_next, true);
    abort();
}

/* Not inlined, because the printed stack must begin with the caller of this function. */
COIL__NOINLINE void coil__misuse_null(const char *function, const char *argument)
{
    coil__misuse("%s() was called with %s that is NULL", function, argument);
}

/* Not inlined: see coil__misuse_null(). */
COIL__NOINLINE void coil__misuse_gone(const char *caller)
{
    coil__misuse("%s: the object was destroyed before", caller);
}
