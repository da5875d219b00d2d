/*
 * test_stacks.c - backtraces of waiting tasks, made by another task.
 *
 * Functions are recognised by their addresses, so the tests need no symbols.
 */
#include "../../harness/harness.h"

#include "../../../src/coro/coroutine.h"
#include "../../../src/io/op.h"
#include "../../../src/task/task.h"
#include "../socket/sockets.h"

#include <coil.h>

#include <alloca.h>
#include <unwind.h>

#define MAX_FRAMES 64

static int stack_of(coil_task *task, void *frames[MAX_FRAMES])
{
    int n = coil_task_backtrace(task, frames, MAX_FRAMES);

    CHECK(n >= 0);
    return n;
}

static bool lies_in(void *address, void *function)
{
    return _Unwind_FindEnclosingFunction((char *)address - 1) == function;
}

/* Check that frame i is in the function. */
static void check_frame(void *const frames[], int n, int i, void *function)
{
    CHECK(i < n && lies_in(frames[i], function));
}

static int find(void *const frames[], int n, void *function)
{
    for (int i = 0; i < n; i++)
        if (lies_in(frames[i], function))
            return i;
    return -1;
}

/* ---- tasks ------------------------------------------------------------------------- */

/* Called through a pointer, because an optimiser could inline a direct call. */
static int (*volatile sleep_until)(int64_t) = coil_sleep_until;
static int (*volatile yield_from)(coil_gen *, void **) = coil_gen_yield_from;

static COIL__NOINLINE int innermost(void)
{
    int rc = sleep_until(coil_in(COIL_SEC(1)));

    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int compare_by_sleeping(const void *a, const void *b)
{
    int rc = innermost();

    __asm__ volatile("");
    return rc < 0 ? 0 : *(const int *)a - *(const int *)b;
}

static COIL__NOINLINE int sort(void *arg)
{
    qsort(arg, 2, sizeof(int), compare_by_sleeping);
    __asm__ volatile("");
    return 0;
}

TASK_TEST(backtrace_of_a_waiting_task_begins_where_it_waits_and_ends_with_its_body)
{
    int numbers[] = {2, 1};
    void *frames[MAX_FRAMES];
    coil_task *task;
    int n;

    CHECK_INT(coil_spawn(sort, numbers, NULL, &task), 0);
    CHECK_INT(coil_task_backtrace(task, frames, MAX_FRAMES), 0); /* not begun */
    coil_yield();
    n = stack_of(task, frames);
    check_frame(frames, n, 0, (void *)coil_sleep_until);
    check_frame(frames, n, 1, (void *)innermost);
    check_frame(frames, n, 2, (void *)compare_by_sleeping);
    check_frame(frames, n, n - 1, (void *)sort);
    CHECK_INT(coil_task_backtrace(task, frames, 1), 1);
    check_frame(frames, n, 0, (void *)coil_sleep_until);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_INT(coil_task_backtrace(task, frames, MAX_FRAMES), 0); /* ended */
    CHECK_INT(numbers[0], 1);
    coil_task_release(task);
}

static COIL__NOINLINE int read_a_byte(void *arg)
{
    char byte;
    ssize_t n = coil_read(arg, &byte, 1);

    __asm__ volatile("");
    return (int)n;
}

/*
 * As for any other wait, the backtrace omits the innermost frames, which belong to coil.
 */
IO_TEST(backtrace_of_a_task_that_reads_begins_in_the_stream)
{
    void *frames[MAX_FRAMES];
    coil_stream *ends[2];
    coil_task *task;
    int n;

    CHECK_INT(coil_stream_pair(ends), 0);
    CHECK_INT(coil_spawn(read_a_byte, ends[0], NULL, &task), 0);
    coil_yield();
    n = stack_of(task, frames);
    check_frame(frames, n, n - 1, (void *)read_a_byte);
    CHECK_INT(find(frames, n, (void *)coil__op_await), -1);
    CHECK_INT(find(frames, n, (void *)coil__task_switch_out), -1);
    CHECK_INT(coil_write(ends[1], "x", 1), 1);
    CHECK_INT(coil_task_await(task), 1);
    coil_task_release(task);
    destroy_streams(ends);
}

static COIL__NOINLINE int look_at_myself(void **frames)
{
    int n = stack_of(coil_task_current(), frames);

    __asm__ volatile("");
    return n;
}

static COIL__NOINLINE int look_at_myself_in_a_task(void *arg)
{
    int n = look_at_myself(arg);

    __asm__ volatile("");
    return n;
}

TASK_TEST(backtrace_of_oneself_begins_with_the_caller)
{
    void *frames[MAX_FRAMES];
    coil_task *task;
    int n;

    CHECK_INT(coil_spawn(look_at_myself_in_a_task, frames, NULL, &task), 0);
    n = coil_task_await(task);
    CHECK_INT(find(frames, n, (void *)look_at_myself) <= 1, 1);
    check_frame(frames, n, n - 1, (void *)look_at_myself_in_a_task);
    coil_task_release(task);
}

static COIL__NOINLINE int yield_once(void *arg)
{
    int rc = coil_yield();

    __asm__ volatile("");
    (void)arg;
    return rc;
}

TASK_TEST(backtrace_of_a_task_that_is_ready)
{
    void *frames[MAX_FRAMES];
    coil_task *task;
    int n;

    CHECK_INT(coil_spawn(yield_once, NULL, NULL, &task), 0);
    coil_yield();
    n = stack_of(task, frames);
    CHECK_INT(n, 2);
    check_frame(frames, n, 0, (void *)coil_yield);
    check_frame(frames, n, 1, (void *)yield_once);
    coil_task_await(task);
    coil_task_release(task);
}

/* ---- generators -------------------------------------------------------------------- */

static COIL__NOINLINE int inner_generator(coil_gen *gen, void *arg)
{
    int rc = innermost();

    (void)gen, (void)arg;
    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int outer_generator(coil_gen *gen, void *arg)
{
    int rc = yield_from(arg, NULL);

    (void)gen;
    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int drive(void *arg)
{
    int rc = coil_gen_next(arg, NULL);

    __asm__ volatile("");
    return rc;
}

TASK_TEST(backtrace_goes_through_generators_that_the_task_stands_in)
{
    void *frames[MAX_FRAMES];
    coil_gen *inner, *outer;
    coil_task *task;
    int n, i;

    coil_gen_create(inner_generator, NULL, NULL, &inner);
    coil_gen_create(outer_generator, inner, NULL, &outer);
    CHECK_INT(coil_spawn(drive, outer, NULL, &task), 0);
    coil_yield();
    n = stack_of(task, frames);
    i = find(frames, n, (void *)innermost);
    CHECK(i >= 0);
    check_frame(frames, n, i + 1, (void *)inner_generator);
    check_frame(frames, n, i + 2, (void *)coil_gen_yield_from);
    check_frame(frames, n, i + 3, (void *)outer_generator);
    check_frame(frames, n, n - 1, (void *)drive);
    CHECK_INT(coil_task_await(task), COIL_GEN_ENDED);
    coil_task_release(task);
    coil_gen_destroy(outer);
    coil_gen_destroy(inner);
}

static coil_task *driver;
static int frames_inside;

static int look_from_inside(coil_gen *gen, void *arg)
{
    (void)gen;
    frames_inside = stack_of(driver, arg);
    return 0;
}

static COIL__NOINLINE int drive_and_look(void *arg)
{
    coil_gen *gen;
    int rc;

    driver = coil_task_current();
    coil_gen_create(look_from_inside, arg, NULL, &gen);
    rc = coil_gen_next(gen, NULL);
    coil_gen_destroy(gen);
    return rc;
}

TASK_TEST(backtrace_of_oneself_from_inside_a_generator)
{
    void *frames[MAX_FRAMES];
    coil_task *task;

    CHECK_INT(coil_spawn(drive_and_look, frames, NULL, &task), 0);
    coil_task_await(task);
    check_frame(frames, frames_inside, frames_inside - 1, (void *)drive_and_look);
    CHECK(find(frames, frames_inside, (void *)look_from_inside) >= 0);
    coil_task_release(task);
}

/* ---- state that is not changed ----------------------------------------------------- */

static int append(void *arg)
{
    for (int i = 0; i < 3; i++) {
        test_trace("%s%d ", (char *)arg, i);
        errno = i;
        coil_yield();
        CHECK_INT(errno, i);
    }
    return 0;
}

static int look(coil_task *task, void *arg)
{
    void *frames[MAX_FRAMES];

    errno = 77;
    *(int *)arg += coil_task_backtrace(task, frames, MAX_FRAMES) > 0;
    CHECK_INT(errno, 77);
    return 0;
}

TASK_TEST(backtraces_change_neither_order_nor_errno)
{
    int looked = 0;

    coil_spawn(append, "a", NULL, NULL);
    coil_spawn(append, "b", NULL, NULL);
    for (int i = 0; i < 4; i++) {
        coil_task_each(look, &looked);
        coil_yield();
    }
    CHECK_INT(looked, 4 + 2 * 3);
    CHECK_TRACE("a0 b0 a1 b1 a2 b2 ");
}

static void look_in_a_callback(void *arg)
{
    int *looked = arg;

    coil_task_each(look, looked);
}

TASK_TEST(backtrace_from_a_callback)
{
    int looked = 0;

    coil_call_soon(look_in_a_callback, &looked, NULL);
    coil_yield();
    CHECK_INT(looked, 1);
}

/* Use up the task's stack, except for `bytes` bytes. */
#define LEAVE_ROOM(bytes)                                                                \
    do {                                                                                 \
        char *here = __builtin_frame_address(0), *low = coil__coro_current()->stack.low; \
        volatile char *filler = alloca((size_t)(here - low) - (bytes));                  \
        filler[0] = 0;                                                                   \
    } while (0)

static int look_with_little_room(void *arg)
{
    void *frames[4];

    LEAVE_ROOM(6000);
    return coil_task_backtrace(arg, frames, 4);
}

TASK_TEST(backtrace_needs_room_on_the_stack_of_who_looks)
{
    coil_task *task;

    if (COIL__ASAN || COIL__TSAN)
        test_skip("sanitizers make frames larger");
    CHECK_INT(coil_spawn(look_with_little_room, coil_task_current(), NULL, &task), 0);
    CHECK_INT(coil_task_await(task), -ENOSPC);
    coil_task_release(task);
}

static int wait_on_a_full_stack(void *arg)
{
    int rc;

    LEAVE_ROOM(2000);
    rc = coil_await(arg);
    __asm__ volatile("");
    return rc;
}

TASK_TEST(backtrace_needs_no_room_on_the_stack_it_looks_at)
{
    void *frames[MAX_FRAMES];
    coil_future *future;
    coil_task *task;
    int n;

    if (COIL__ASAN || COIL__TSAN)
        test_skip("sanitizers make frames larger");
    coil_future_create(&future);
    CHECK_INT(coil_spawn(wait_on_a_full_stack, future, NULL, &task), 0);
    coil_yield();
    n = stack_of(task, frames);
    check_frame(frames, n, n - 1, (void *)wait_on_a_full_stack);
    coil_future_set(future, 0, NULL, NULL);
    coil_task_await(task);
    coil_task_release(task);
    coil_future_release(future);
}
