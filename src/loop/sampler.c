/*
 * sampler.c - in debug mode, samples the stack of a loop that is blocked in a step.
 *
 * A second thread watches the clock. If a step takes longer than it should, that thread
 * copies the innermost part of the loop's stack and unwinds the copy, in which it has
 * replaced pointers into the stack with pointers into the copy. So the loop may continue,
 * and even unmap the stack, while the copy is unwound.
 *
 *     stack   sp | innermost part | outer frames           | nearest library above
 *     copy       | words          | zeros, for WINDOW bytes
 *
 * The zeros after the copied words represent the rest of the stack: if a frame extends
 * beyond the copied part, the unwinder reads a return address of 0 and stops.
 *
 * If the loop's thread is sleeping in a system call, its stack pointer is read from the
 * kernel. The thread gets no signal, because a signal would make sleep(3) and poll(2)
 * return early, which would change the program's behaviour. A running thread gets SIGURG,
 * which is ignored by default, and the signal handler makes the copy.
 *
 * The second thread exists only in debug mode, from the first step until the loop closes.
 * The sampler's memory does not come from the allocator of coil_set_allocator(): see
 * leak.c.
 */
#include "sampler.h"

#include "../coro/sanitizer.h"
#include "../base/fault.h"
#include "../coro/coroutine.h"
#include "../coro/switch.h"
#include "../error/backtrace.h"
#include "../error/symbol.h"
#include "../kernel/memory.h"
#include "../kernel/registers.h"
#include "../kernel/thread.h"

#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK_INTERVAL COIL_MSEC(10)
#define REPORT_AFTER COIL_SEC(1)
#define COPY_WITHIN COIL_MSEC(200) /* time limit for the signal handler */

#define STACK_WORDS 2048                 /* number of words to copy */
#define WINDOW ((size_t)8 * 1024 * 1024) /* the usual RLIMIT_STACK */
#define COPY_BYTES (2 * WINDOW)

/*
 * coil__switch() leaves these words on top of a suspended stack: the callee-saved
 * registers, and the address at which to continue. The constants below are the number of
 * words and the indexes of two of them.
 */
#if defined(__x86_64__)
enum { SAVED_WORDS = 8, SAVED_FRAME = 6, SAVED_PC = 7 };
#else
enum { SAVED_WORDS = 22, SAVED_FRAME = 10, SAVED_PC = 11 };
#endif

/*
 * A copy of a stack, laid out like a suspended stack, in a mapping of COPY_BYTES. The
 * words are followed by zeros. Registers with unknown contents are made to point to the
 * zeros, so the unwinder stops if it uses such a register.
 */
struct stack_copy {
    uintptr_t pc, sp, frame;
    size_t count;     /* number of copied words */
    uintptr_t extent; /* upper limit of the distance from sp to the stack's end */
    uintptr_t words[SAVED_WORDS + STACK_WORDS];
};

_Static_assert(sizeof(struct stack_copy) + WINDOW < COPY_BYTES, "room for zeros");

struct coil__sampler {
    pthread_t thread;
    pid_t process; /* the process that started the sampler */
    pid_t sampled; /* the loop's thread */
    int memory;    /* descriptor for reading the process's memory without faults */
    pthread_mutex_t lock;
    pthread_cond_t closed;
    bool closing;

    /* The current step and its samples. Guarded by `lock`. */
    uint64_t step; /* 0 between steps */
    uint64_t steps;
    int64_t began, deadline;
    char task[32];
    const void *spawned_at;
    struct coil__sample sample;
    bool sampled_already, is_reported;

    struct stack_copy *copy;
};

/* ---- the signal handler ------------------------------------------------------------ */

/* Held by a sampler's thread while it waits for the signal handler's copy. */
static pthread_mutex_t request_lock = PTHREAD_MUTEX_INITIALIZER;
static struct coil__sampler *_Atomic requester;
static _Atomic int request;
enum { NO_REQUEST, REQUESTED, COPYING, COPIED };

static bool change_request(int from, int to)
{
    return atomic_compare_exchange_strong(&request, &from, to);
}

static void copy_stack(struct stack_copy *copy, int memory)
{
    ssize_t n = coil__memory_read(memory, copy->words + SAVED_WORDS, copy->sp,
                                  STACK_WORDS * sizeof(uintptr_t));

    copy->count = n > 0 ? (size_t)n / sizeof(uintptr_t) : 0;
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
    struct coil__sampler *s = requester;
    int saved = errno;

    (void)signo, (void)info;
    if (s != NULL && coil__thread_id() == s->sampled &&
        change_request(REQUESTED, COPYING)) {
        const struct coil__registers registers = coil__registers_of(context);

        s->copy->pc = registers.pc;
        s->copy->sp = registers.sp;
        s->copy->frame = registers.frame;
        copy_stack(s->copy, s->memory);
        request = COPIED;
    }
    errno = saved;
}

/* ---- copying the stack ------------------------------------------------------------- */

static bool copy_sleeping_stack(struct coil__sampler *s)
{
    uintptr_t sp, pc;

    if (!coil__thread_sleeps_at(s->sampled, &s->copy->sp, &s->copy->pc))
        return false;
    s->copy->frame = 0;
    copy_stack(s->copy, s->memory);
    return coil__thread_sleeps_at(s->sampled, &sp, &pc) && sp == s->copy->sp &&
           pc == s->copy->pc;
}

/*
 * Wait until the signal handler has written the copy. Returns false if the handler has
 * not begun to write it within COPY_WITHIN.
 */
static bool wait_for_copy(void)
{
    int64_t until = coil__clock_monotonic() + COPY_WITHIN;

    while (request != COPIED) {
        if (coil__clock_monotonic() >= until && change_request(REQUESTED, NO_REQUEST))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = COIL_MSEC(1)}, NULL);
    }
    return true;
}

/*
 * Send the running thread SIGURG, whose handler copies the thread's stack. The signal is
 * sent only if the default action of SIGURG is in effect, because a signal that arrives
 * late must be ignored.
 */
static bool copy_running_stack(struct coil__sampler *s)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct sigaction previous;
    bool got = false;

    pthread_mutex_lock(&request_lock);
    if (sigaction(SIGURG, NULL, &previous) == 0 && previous.sa_handler == SIG_DFL &&
        sigaction(SIGURG, &action, NULL) == 0) {
        requester = s;
        request = REQUESTED;
        got = coil__thread_signal(s->sampled, SIGURG) && wait_for_copy();
        request = NO_REQUEST;
        requester = NULL;
        sigaction(SIGURG, &previous, NULL);
    }
    pthread_mutex_unlock(&request_lock);
    return got;
}

/* ---- unwinding the copy ------------------------------------------------------------ */

/*
 * Reduce `extent` if this library is above the stack, because the stack ends below the
 * nearest library.
 */
static int end_below_library(struct dl_phdr_info *library, size_t size, void *arg)
{
    struct stack_copy *copy = arg;

    (void)size;
    for (size_t i = 0; i < library->dlpi_phnum; i++) {
        uintptr_t offset = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr - copy->sp;

        if (library->dlpi_phdr[i].p_type == PT_LOAD && offset < copy->extent)
            copy->extent = offset;
    }
    return 0;
}

/*
 * Translate a pointer into the stack to a pointer into the copy or the zeros after it.
 * Other words are returned unchanged.
 */
static uintptr_t moved_pointer(const struct stack_copy *copy, uintptr_t word)
{
    const uintptr_t *first = copy->words + SAVED_WORDS;
    uintptr_t offset = word - copy->sp;

    return offset < copy->extent ? (uintptr_t)first + offset : word;
}

static void unwind(struct stack_copy *copy, struct coil__sample *sample)
{
    uintptr_t *first = copy->words + SAVED_WORDS;
    /* there is no main function at which the unwinder would stop */
    static const struct coil__coro_class copied = {.main = NULL};
    coil__coro coro = {.sp = copy->words, .class = &copied};

    copy->extent = WINDOW;
    dl_iterate_phdr(end_below_library, copy);
    for (size_t i = 0; i < copy->count; i++)
        first[i] = moved_pointer(copy, first[i]);
    memset(first + copy->count, 0, (STACK_WORDS - copy->count) * sizeof *first);
    for (size_t i = 0; i < SAVED_WORDS; i++)
        copy->words[i] = (uintptr_t)(first + STACK_WORDS);
    if (moved_pointer(copy, copy->frame) != copy->frame)
        copy->words[SAVED_FRAME] = moved_pointer(copy, copy->frame);
    /* + 1, because the unwinder expects a return address */
    copy->words[SAVED_PC] = copy->pc + 1;
    sample->count =
        coil__backtrace_suspended(&coro, sample->frames, COIL__SAMPLE_MAX, NULL);
}

static void take_sample(struct coil__sampler *s)
{
    s->sample.count = 0;
    if (copy_sleeping_stack(s) || copy_running_stack(s))
        unwind(s->copy, &s->sample);
}

/* ---- the thread -------------------------------------------------------------------- */

struct blocked_step {
    char task[32];
    const void *spawned_at;
    double seconds;
    struct coil__sample sample;
};

/*
 * Print a report to stderr, because the blocked loop cannot call its exception handler.
 */
static void print_blocked_step(const struct blocked_step *blocked)
{
    struct coil__report report;

    coil__report_begin(&report, stderr, "slow");
    coil__report_words(&report, "coil: Executing ");
    if (blocked->task[0] != '\0')
        coil__report_value(&report, "task", "task '%s'", blocked->task);
    else
        coil__report_words(&report, "a callback");
    coil__symbol_print(&report, "spawned_by", ", spawned by %s,", blocked->spawned_at);
    coil__report_value(&report, "seconds", " has taken %.3f seconds so far",
                       blocked->seconds);
    coil__sample_print(&report, &blocked->sample);
    coil__report_words(&report, "\n");
    coil__report_end(&report);
}

/*
 * Sample the current step if a sample is due. Returns true if the caller must print
 * *blocked after releasing the lock.
 */
static bool sample_if_due(struct coil__sampler *s, struct blocked_step *blocked)
{
    int64_t now = coil__clock_monotonic();

    if (s->step == 0 || now < s->deadline || s->is_reported)
        return false;
    if (!s->sampled_already)
        take_sample(s);
    s->sampled_already = true;
    if (now - s->began < REPORT_AFTER || now < s->deadline)
        return false;
    take_sample(s); /* take a new sample, of the current position */
    s->is_reported = true;
    memcpy(blocked->task, s->task, sizeof blocked->task);
    blocked->spawned_at = s->spawned_at;
    blocked->seconds = (double)(now - s->began) / (double)COIL_SEC(1);
    blocked->sample = s->sample;
    return true;
}

static void wait_for_interval(struct coil__sampler *s)
{
    int64_t until = coil__clock_monotonic() + CHECK_INTERVAL;
    struct timespec when = {.tv_sec = until / COIL_SEC(1),
                            .tv_nsec = until % COIL_SEC(1)};

    pthread_cond_clockwait(&s->closed, &s->lock, CLOCK_MONOTONIC, &when);
}

static void *watch(void *arg)
{
    struct coil__sampler *s = arg;
    struct blocked_step blocked;

    coil__thread_set_name("coil-sampler");
    pthread_mutex_lock(&s->lock);
    while (!s->closing) {
        if (sample_if_due(s, &blocked)) {
            pthread_mutex_unlock(&s->lock);
            print_blocked_step(&blocked);
            pthread_mutex_lock(&s->lock);
        } else
            wait_for_interval(s);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- called by the loop ------------------------------------------------------------ */

static int start_thread(struct coil__sampler *s)
{
    sigset_t all, before;
    int error;

    if (coil__call_fails(EAGAIN, "pthread_create"))
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&s->thread, NULL, watch, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

static void destroy(struct coil__sampler *s)
{
    if (s->memory >= 0)
        close(s->memory);
    munmap(s->copy, COPY_BYTES);
    pthread_cond_destroy(&s->closed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static struct coil__sampler *create(pid_t sampled)
{
    struct coil__sampler *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->copy = coil__memory_map(COPY_BYTES);
    if (s->copy == NULL) {
        free(s);
        return NULL;
    }
    s->sampled = sampled;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->closed, NULL);
    s->memory = coil__memory_open();
    if (s->memory < 0) {
        destroy(s);
        return NULL;
    }
    return s;
}

/*
 * If the loop's thread exits without closing its loop, because a task called
 * pthread_exit(3), the sampler's thread must exit, too. Otherwise the process would
 * continue to run, and SIGTERM could not end it, because the sampler's thread blocks all
 * signals.
 */
static pthread_key_t at_end_of_thread;

static void stop_at_end_of_thread(void *sampler)
{
    struct coil__sampler *s = sampler;

    if (s->process == getpid())
        coil__sampler_stop(s);
}

static void create_key(void)
{
    pthread_key_create(&at_end_of_thread, stop_at_end_of_thread);
}

/*
 * Returns NULL under Valgrind, where the kernel would report a position in Valgrind's own
 * code.
 */
struct coil__sampler *coil__sampler_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct coil__sampler *s;

    if (coil__on_valgrind())
        return NULL;
    s = create(coil__thread_id());
    if (s == NULL)
        return NULL;
    pthread_once(&once, create_key);
    s->process = getpid();
    if (start_thread(s) < 0) {
        destroy(s);
        return NULL;
    }
    pthread_setspecific(at_end_of_thread, s);
    coil__pool_threads++; /* the sampler never posts: see deadlock.c */
    coil__pool_idle++;
    return s;
}

void coil__sampler_stop(struct coil__sampler *s)
{
    if (s == NULL)
        return;
    pthread_setspecific(at_end_of_thread, NULL);
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_signal(&s->closed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    coil__pool_idle--;
    coil__pool_threads--;
    destroy(s);
}

void coil__sampler_begin(struct coil__sampler *s, const char *task,
                         const void *spawned_at, int64_t began, int64_t limit)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->step = ++s->steps;
    s->began = began;
    s->deadline = coil__time_add(began, limit);
    snprintf(s->task, sizeof s->task, "%s", task);
    s->spawned_at = spawned_at;
    s->sampled_already = s->is_reported = false;
    s->sample.count = 0;
    pthread_mutex_unlock(&s->lock);
}

void coil__sampler_end(struct coil__sampler *s, struct coil__sample *sample)
{
    sample->count = 0;
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->step = 0;
    *sample = s->sample;
    pthread_mutex_unlock(&s->lock);
}

void coil__sample_sleeper(pid_t thread, struct coil__sample *sample)
{
    struct coil__sampler *s = create(thread);

    sample->count = 0;
    if (s == NULL)
        return;
    if (copy_sleeping_stack(s))
        unwind(s->copy, sample);
    destroy(s);
}

void coil__sample_print(struct coil__report *report, const struct coil__sample *sample)
{
    if (sample->count == 0)
        return;
    coil__report_words(report, ", in ");
    coil__symbol_print_place(report, "in", sample->frames, sample->count);
}
