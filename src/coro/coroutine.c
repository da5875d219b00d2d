/*
 * coroutine.c - coroutines: functions that can be suspended and resumed later.
 *
 * A coroutine is a control block on top of a stack. To suspend a coroutine,
 * coil__switch() saves the callee-saved registers on that stack, and the stack pointer in
 * the control block. The rest of this file keeps track of the running coroutine:
 *
 *     create --> transfer/resume --> coro_main --> fn(arg) --> done, back to `caller`
 *                     ^                              |
 *                     +---- transfer/suspend <-------+
 *
 * There are two ways to switch. Generators and coil_coro use resume and suspend, which
 * work like call and return: resume stores the resuming coroutine in `caller`. The task
 * layer uses transfer, which does not record a caller. To suspend a task, the task layer
 * transfers away from the current coroutine, which may be a generator deep inside the
 * task, and later transfers back to it.
 *
 * A coroutine always runs on the thread that created it. So the compiler may keep the
 * address of a thread-local variable in a register across a switch.
 */
#include "coroutine.h"

#include "light.h"
#include "sanitizer.h"
#include "switch.h"

#include <coil/coro.h>

#include <signal.h>

COIL__THREAD_LOCAL struct coil__coro_thread coil__coro_thread = {
    .watch = &coil__exceptions_always};
static const char *label_root(const coil__coro *coro)
{
    (void)coro;
    return "the thread's own stack";
}

static const struct coil__coro_class root_class = {.label = label_root};
static COIL__THREAD_LOCAL coil__coro root = {.class = &root_class};
/* the coroutine that this thread left last, for ASan */
static COIL__THREAD_LOCAL coil__coro *previous;

coil__coro *coil__coro_enter_root(void)
{
    coil__coro_thread.running = &root;
    return &root;
}

/* ---- switching --------------------------------------------------------------------- */

bool coil__coro_in_handler(void)
{
    stack_t stack;

    return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

enum coil__coro_frames (*coil__coro_find_frames)(const coil__coro *coro);

struct search {
    const coil__coro *coro;
    enum coil__coro_frames found;
};

static void find_frames(void *arg)
{
    struct search *search = arg;

    search->found = coil__coro_find_frames(search->coro);
}

/*
 * Find out where the coroutine's frames are. The search needs a lot of stack space, so it
 * may run on a separate stack. During the search, the check for an overflow is disabled,
 * because switching to that stack would repeat the check.
 */
static enum coil__coro_frames find_frames_of(coil__coro *coro)
{
    struct search search = {coro, COIL__FRAMES_UNKNOWN};
    const char *limit = coro->stack.limit;
    int saved = errno;

    if (coil__coro_find_frames == NULL)
        return COIL__FRAMES_UNKNOWN;
    coro->stack.limit = NULL;
    coil__coro_call(COIL__FIND_FRAMES_BYTES, find_frames, &search);
    coro->stack.limit = limit;
    errno = saved;
    return search.found;
}

static void check_overflow(coil__coro *coro)
{
    enum coil__coro_frames frames = COIL__FRAMES_IN_SLOT;

    if (COIL__LIKELY(coil__stack_check(&coro->stack, coil__stack_pointer())))
        return;
    if (coil__coro_off_stack() && coil__coro_in_handler())
        coil__misuse("%s would be suspended in a signal handler, which must not wait",
                     coil__coro_label(coro));
    if (coil__stack_check(&coro->stack, coro->stack.low))
        frames = find_frames_of(coro);
    if (frames == COIL__FRAMES_ELSEWHERE)
        return;
    /* do not check again: the report itself may switch away from the coroutine */
    coro->stack.limit = NULL;
    coil__misuse("stack overflow in %s (%zu bytes)%s", coil__coro_label(coro),
                 coil__stack_bytes(&coro->stack),
                 frames == COIL__FRAMES_UNKNOWN
                     ? ", or it waits on a stack that is not coil's"
                     : "");
}

/*
 * True if a switch away from the coroutine needs no extra work. The comparison of the
 * stack pointer detects an overflow even if a large frame skipped the guard. The extra
 * work, which is rare, is done by a separate function in a tail call, so the fast path
 * needs no stack frame. (A frame would make a switch about 10 % slower.) A thread's first
 * switch always takes the slow path, because of the initial value of `watch`. The switch
 * must be a tail call too: see switch_x86_64.S.
 */
static inline bool is_ready_to_leave(const coil__coro *from)
{
    return COIL__LIKELY(coil__exceptions_clear(coil__coro_thread.watch) &&
                        coil__stack_pointer() >= from->stack.limit);
}

/*
 * Return the saved stack pointer of a coroutine that is about to run, and clear it. The
 * switch away from a coroutine stores the stack pointer last, so if an external tool
 * finds one, all registers are on the stack (outside.h).
 */
static inline void *take_sp(coil__coro *coro)
{
    void *sp = coro->sp;

    coro->sp = NULL;
    return sp;
}

static void *switch_with_sanitizer(coil__coro *from, coil__coro *to, void *value)
{
    previous = from;
    coil__san_leaving(from, to);
    coil__coro_thread.running = to;
    value = coil__switch(&from->sp, take_sp(to), value);
    coil__san_arrived(from, previous);
    return value;
}

/*
 * The exceptions of the suspended coroutine are saved in this function's frame, which is
 * on that coroutine's stack.
 */
COIL__NOINLINE void *coil__coro_transfer_with_care(coil__coro *to, void *value)
{
    coil__coro *from = coil__coro_current();
    struct coil__kept_exceptions kept;

    if (coil__stack_in_slot(&from->stack))
        check_overflow(from);
    coil__exceptions_leave(&kept);
    value = switch_with_sanitizer(from, to, value);
    coil__exceptions_return(&kept);
    return value;
}

COIL__ONE_LINE void *coil__coro_transfer(coil__coro *to, void *value)
{
    coil__coro *from = coil__coro_thread.running;

    if (!is_ready_to_leave(from))
        return coil__coro_transfer_with_care(to, value);
    coil__coro_thread.running = to;
    return coil__switch(&from->sp, take_sp(to), value);
}

COIL__ONE_LINE void coil__coro_transfer_alike(coil__coro *to)
{
    coil__coro *from = coil__coro_thread.running;

    if (is_ready_to_leave(from)) {
        coil__coro_thread.running = to;
        coil__switch_alike(&from->sp, take_sp(to));
    } else {
        coil__coro_transfer_with_care(to, NULL);
    }
}

void coil__coro_leave_for(coil__coro *to, bool begun)
{
    coil__coro_thread.running = to;
    if (begun)
        coil__switch_leave(take_sp(to));
    else
        coil__switch_begin(take_sp(to));
}

void coil__coro_check(void)
{
    coil__coro *here = coil__coro_current();

    if (coil__stack_in_slot(&here->stack))
        check_overflow(here);
}

static COIL__NOINLINE void *resume_with_care(coil__coro *coro, void *value)
{
    coro->caller = coil__coro_current();
    return coil__coro_transfer_with_care(coro, value);
}

COIL__ONE_LINE void *coil__coro_resume(coil__coro *coro, void *value)
{
    coil__coro *from = coil__coro_thread.running;

    if (!is_ready_to_leave(from))
        return resume_with_care(coro, value);
    coro->caller = from;
    coil__coro_thread.running = coro;
    return coil__switch(&from->sp, take_sp(coro), value);
}

COIL__ONE_LINE void *coil__coro_suspend(void *value)
{
    coil__coro *self = coil__coro_thread.running;
    coil__coro *caller = self->caller;

    self->caller = NULL;
    if (!is_ready_to_leave(self))
        return coil__coro_transfer_with_care(caller, value);
    coil__coro_thread.running = caller;
    return coil__switch(&self->sp, take_sp(caller), value);
}

/* ---- life -------------------------------------------------------------------------- */

/* Not inlined, because the local variables would occupy a cache line of each stack. */
static COIL__NOINLINE void report_arrival(coil__coro *coro)
{
    coil__san_arrived(coro, previous);
}

/* The outermost C function on a coroutine's stack. */
int coil__coro_main(void *arg)
{
    coil__coro *coro = arg;
    void *result;

    if (COIL__UNLIKELY(coil__san_present()))
        report_arrival(coro);
    result = coro->class->main(coro);
    coro->done = true;
    coil__coro_suspend(result);
    __builtin_unreachable();
}

void coil__coro_prepare(coil__coro *coro)
{
    coro->sp = coil__switch_prepare(coro->stack.high, coil__coro_main, coro, NULL);
}

int coil__coro_create(size_t control_bytes, size_t stack_bytes,
                      const struct coil__coro_class *class, void *arg, coil__coro **out)
{
    coil__coro *coro;
    int rc = coil__coro_take(control_bytes, stack_bytes, class, &coro);

    if (rc < 0)
        return rc;
    memset(&coro->stack + 1, 0, control_bytes - sizeof coro->stack);
    coro->class = class;
    coro->arg = arg;
    if (class->light)
        coil__light_touch(&coro->stack);
    coil__coro_prepare(coro);
    *out = coro;
    return 0;
}

void *coil__coro_reserve(coil__coro *coro, size_t n)
{
    coro->stack.high -= (n + 15) & ~(size_t)15;
    /* 256 more bytes for the coroutine's first frame */
    coil__valgrind_reserve(coro->stack.high - 256, 256 + n);
    if (coil__stack_is_light(&coro->stack))
        coil__light_touch(&coro->stack);
    else
        coil__coro_prepare(coro);
    return coro->stack.high;
}

void coil__coro_enter_directly(coil__coro *coro, int (*fn)(void *arg), void *arg,
                               void (*end)(int rc))
{
    if (COIL__UNLIKELY(coil__san_present()))
        coil__coro_prepare(coro);
    else
        coro->sp = coil__switch_prepare(coro->stack.high, fn, arg, end);
}

void coil__coro_destroy_unusual(coil__coro *coro)
{
    coil__san_destroyed(coro);
    coil__stack_release(&coro->stack);
}

COIL__NOINLINE size_t coil__coro_room(void)
{
    const coil__coro *coro = coil__coro_current();
    const char *here = __builtin_frame_address(0);

    if (coro == &root)
        return SIZE_MAX;
    return here > coro->stack.low && here < coro->stack.high
               ? (size_t)(here - coro->stack.low)
               : 0;
}

struct call {
    void (*fn)(void *);
    void *arg;
};

static void *make_call(coil__coro *coro)
{
    const struct call *call = coro->arg;

    call->fn(call->arg);
    return NULL;
}

static const char *label_coroutine(const coil__coro *coro)
{
    (void)coro;
    return "coroutine";
}

int coil__coro_call(size_t room_bytes, void (*fn)(void *), void *arg)
{
    static const struct coil__coro_class class = {.main = make_call,
                                                  .label = label_coroutine};
    struct call call = {fn, arg};
    coil__coro *coro;
    int rc;

    if (coil__coro_room() >= room_bytes) {
        fn(arg);
        return 0;
    }
    rc = coil__coro_create(sizeof *coro, room_bytes, &class, &call, &coro);
    if (rc < 0)
        return rc;
    coil__coro_resume(coro, NULL);
    coil__coro_destroy(coro);
    return 0;
}

/* ---- coil/coro.h ------------------------------------------------------------------- */

struct coil_coro {
    coil__coro coro;
    coil_coro_fn fn;
    const void *thread; /* the owning thread's coil__coro_thread; NULL once destroyed */
    bool begun;
};

static void *bare_main(coil__coro *coro)
{
    return COIL__CONTAINER(coro, coil_coro, coro)->fn(coro->arg);
}

static const struct coil__coro_class bare_class = {.main = bare_main,
                                                   .label = label_coroutine};

int coil_coro_create(coil_coro_fn fn, void *arg, const coil_coro_opts *opts,
                     coil_coro **out)
{
    COIL__REQUIRE(fn, "a function");
    COIL__REQUIRE(out, "an output pointer");
    coil__coro *created;
    coil_coro *coro;
    int rc = coil__coro_create(sizeof *coro, opts != NULL ? opts->stack_bytes : 0,
                               &bare_class, arg, &created);

    *out = NULL;
    if (rc < 0)
        return coil__failed(rc);
    coro = COIL__CONTAINER(created, coil_coro, coro);
    coro->fn = fn;
    coro->thread = &coil__coro_thread;
    *out = coro;
    return 0;
}

static void check_coroutine_thread(const coil_coro *coro, const char *caller)
{
    if (coro->thread == NULL)
        coil__misuse("%s: the coroutine was destroyed before", caller);
    if (coro->thread != &coil__coro_thread)
        coil__misuse("%s: the coroutine belongs to another thread", caller);
}

/*
 * The thread is checked only here, at the first resume, because a check at each resume
 * would slow down the switch.
 */
static COIL__NOINLINE void begin_coroutine(coil_coro *coro)
{
    check_coroutine_thread(coro, "coil_coro_resume");
    coro->begun = true;
}

void *coil_coro_resume(coil_coro *coro, void *value)
{
    COIL__REQUIRE(coro, "a coroutine");
    if (coro->coro.done)
        coil__misuse("coil_coro_resume: the coroutine is done");
    if (coro->coro.caller != NULL)
        coil__misuse("coil_coro_resume: the coroutine is running");
    if (COIL__UNLIKELY(!coro->begun))
        begin_coroutine(coro);
    /*
     * The switch must be a tail call; otherwise the processor would mispredict the return
     * from this function. So this function cannot trim the stack of a coroutine that has
     * ended: coil__coro_destroy() does.
     */
    return coil__coro_resume(&coro->coro, value);
}

void *coil_coro_suspend(void *value)
{
    if (coil__coro_thread.running == NULL ||
        coil__coro_thread.running->class != &bare_class)
        coil__misuse("coil_coro_suspend: no coroutine of coil_coro_create() runs");
    return coil__coro_suspend(value);
}

bool coil_coro_done(const coil_coro *coro)
{
    COIL__REQUIRE(coro, "a coroutine");
    if (coro->thread == NULL)
        coil__misuse("coil_coro_done: the coroutine was destroyed before");
    return coro->coro.done;
}

bool coil_coro_running(const coil_coro *coro)
{
    COIL__REQUIRE(coro, "a coroutine");
    if (coro->thread == NULL)
        coil__misuse("coil_coro_running: the coroutine was destroyed before");
    return coro->coro.caller != NULL;
}

void coil_coro_destroy(coil_coro *coro)
{
    if (coro == NULL)
        return;
    check_coroutine_thread(coro, "coil_coro_destroy");
    if (coro->begun && !coro->coro.done)
        coil__misuse("coil_coro_destroy: the coroutine has begun and is not done; its "
                     "frames would be lost");
    coro->thread = NULL;
    coil__coro_destroy(&coro->coro);
}
