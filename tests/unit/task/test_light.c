/*
 * test_light.c - light tasks, whose stacks are swapped out while they wait.
 * (docs/design/light-tasks.md)
 */
#include "../../../src/coro/light.h"
#include "../../../src/base/compiler.h"
#include "../../../src/task/light_task.h"
#include "../../harness/harness.h"

#include <coil.h>

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- where waits lie --------------------------------------------------------------- */

static struct {
    coil_lock lock, of_condition;
    coil_event event;
    coil_condition condition;
    coil_semaphore semaphore;
    coil_barrier barrier;
    coil_queue empty, full, joined;
} objects;

static void init_objects(void)
{
    int item = 1;

    coil_lock_init(&objects.lock);
    coil_lock_init(&objects.of_condition);
    coil_event_init(&objects.event);
    coil_condition_init(&objects.condition, &objects.of_condition);
    coil_semaphore_init(&objects.semaphore, 0);
    coil_barrier_init(&objects.barrier, 2);
    coil_queue_init(&objects.empty, sizeof item, 0);
    coil_queue_init(&objects.full, sizeof item, 1);
    coil_queue_init(&objects.joined, sizeof item, 0);
    CHECK_INT(coil_lock_acquire(&objects.lock), 0);
    CHECK_INT(coil_queue_put(&objects.full, &item), 0);
    CHECK_INT(coil_queue_put(&objects.joined, &item), 0);
}

static void finish_objects(void)
{
    coil_lock_finish(&objects.lock);
    coil_lock_finish(&objects.of_condition);
    coil_event_finish(&objects.event);
    coil_condition_finish(&objects.condition);
    coil_semaphore_finish(&objects.semaphore);
    coil_barrier_finish(&objects.barrier);
    coil_queue_finish(&objects.empty);
    coil_queue_finish(&objects.full);
    coil_queue_finish(&objects.joined);
}

static int wait_in_sleep(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

static int wait_in_park(void *arg)
{
    (void)arg;
    return coil_park();
}

static int wait_for_lock(void *arg)
{
    (void)arg;
    return coil_lock_acquire(&objects.lock);
}

static int wait_for_event(void *arg)
{
    (void)arg;
    return coil_event_wait(&objects.event);
}

static int wait_for_condition(void *arg)
{
    int rc = coil_lock_acquire(&objects.of_condition);

    (void)arg;
    if (rc == 0)
        rc = coil_condition_wait(&objects.condition);
    coil_lock_release(&objects.of_condition);
    return rc;
}

static int wait_for_semaphore(void *arg)
{
    (void)arg;
    return coil_semaphore_acquire(&objects.semaphore);
}

static int wait_for_barrier(void *arg)
{
    (void)arg;
    return coil_barrier_wait(&objects.barrier);
}

static int wait_to_get(void *arg)
{
    int item;

    (void)arg;
    return coil_queue_get(&objects.empty, &item);
}

static int wait_to_put(void *arg)
{
    int item = 2;

    (void)arg;
    return coil_queue_put(&objects.full, &item);
}

static int wait_to_join(void *arg)
{
    (void)arg;
    return coil_queue_join(&objects.joined);
}

static void pass_time(coil_task *task)
{
    (void)task;
    CHECK_INT(coil_sleep(COIL_SEC(2)), 0);
}

static void unpark(coil_task *task)
{
    CHECK_INT(coil_unpark(task, 0), 0);
}

static void release_lock(coil_task *task)
{
    (void)task;
    CHECK_INT(coil_lock_release(&objects.lock), 0);
}

static void set_event(coil_task *task)
{
    (void)task;
    coil_event_set(&objects.event);
}

static void notify(coil_task *task)
{
    (void)task;
    CHECK_INT(coil_lock_acquire(&objects.of_condition), 0);
    CHECK_INT(coil_condition_notify_all(&objects.condition), 0);
    CHECK_INT(coil_lock_release(&objects.of_condition), 0);
}

static void release_semaphore(coil_task *task)
{
    (void)task;
    coil_semaphore_release(&objects.semaphore);
}

static void come_to_barrier(coil_task *task)
{
    (void)task;
    CHECK(coil_barrier_wait(&objects.barrier) >= 0);
}

static void put_one(coil_task *task)
{
    int item = 3;

    (void)task;
    CHECK_INT(coil_queue_put(&objects.empty, &item), 0);
}

static void get_one(coil_task *task)
{
    int item;

    (void)task;
    CHECK_INT(coil_queue_get(&objects.full, &item), 0);
}

static void finish_item(coil_task *task)
{
    (void)task;
    CHECK_INT(coil_queue_task_done(&objects.joined), 0);
}

/*
 * Kinds of waits, each with a function that completes the wait. The data of these waits
 * must be in the control block, where other tasks can access it.
 */
static const struct {
    const char *what;
    coil_task_fn fn;
    void (*complete)(coil_task *task);
} in_room[] = {
    {"sleep", wait_in_sleep, pass_time},
    {"park", wait_in_park, unpark},
    {"lock", wait_for_lock, release_lock},
    {"event", wait_for_event, set_event},
    {"condition", wait_for_condition, notify},
    {"semaphore", wait_for_semaphore, release_semaphore},
    {"barrier", wait_for_barrier, come_to_barrier},
    {"queue.get", wait_to_get, put_one},
    {"queue.put", wait_to_put, get_one},
    {"queue.join", wait_to_join, finish_item},
};

enum { IN_ROOM = sizeof in_room / sizeof in_room[0] };

TASK_TEST(waits_that_others_complete_lie_in_the_control_block)
{
    coil_task *tasks[IN_ROOM];

    init_objects();
    for (size_t i = 0; i < IN_ROOM; i++)
        CHECK_INT(coil_spawn(in_room[i].fn, NULL, NULL, &tasks[i]), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_yield(), 0);
    for (size_t i = 0; i < IN_ROOM; i++) {
        const coil_task *task = tasks[i];

        CHECK(task->wait == &task->room.wait);
        CHECK_STR(coil__wait_describe(task->wait).what, in_room[i].what);
    }
    for (size_t i = 0; i < IN_ROOM; i++) {
        CHECK(coil_task_cancel(tasks[i], NULL));
        CHECK_INT(coil_task_await(tasks[i]), -ECANCELED);
        coil_task_release(tasks[i]);
    }
    finish_objects();
}

/*
 * Check the deadline of a sleeping task whose timer is due. The heap, in which deadlines
 * are stored, no longer contains this timer.
 */
static void look_at_sleeper(void *arg)
{
    const coil_task *task = *(coil_task **)arg;
    const struct coil__wait *wait = coil__task_waits(task);

    CHECK(wait != NULL);
    CHECK(coil__wait_describe(wait).deadline <= task->future.loop->clock_read);
    *(coil_task **)arg = NULL;
}

static int sleep_until(void *deadline)
{
    return coil_sleep_until(*(int64_t *)deadline);
}

/*
 * A timer is due at the same time as a sleep. The timer is called first, and checks the
 * sleep's deadline.
 */
TASK_TEST(a_sleep_that_is_due_has_a_deadline)
{
    int64_t deadline = coil_in(COIL_SEC(1));
    coil_task *task, *looked;
    coil_timer timer;

    coil_timer_init(&timer, look_at_sleeper, &looked);
    CHECK_INT(coil_timer_start(&timer, deadline), 0);
    CHECK_INT(coil_spawn(sleep_until, &deadline, NULL, &task), 0);
    looked = task;
    CHECK_INT(coil_yield(), 0);
    CHECK(coil__wait_describe(coil__task_waits(task)).deadline == deadline);
    CHECK_INT(coil_task_await(task), 0);
    CHECK(looked == NULL);
    coil_task_release(task);
}

/* ---- swapping out ------------------------------------------------------------------ */

/* Spawn a light task. Skips the test if light tasks are not available. */
static coil_task *spawn_light(coil_task_fn fn, void *arg)
{
    coil_task *task;

    CHECK_INT(coil_spawn(fn, arg, &(coil_spawn_opts){.light = COIL_LIGHT}, &task), 0);
    if (!coil__stack_is_light(&task->coro.stack)) {
        coil_task_cancel(task, NULL);
        test_join(task);
        test_skip(coil__light_off() != NULL ? coil__light_off() : "light tasks are off");
    }
    return task;
}

static int see_why(void *arg)
{
    *(const char **)arg = coil__light_off();
    return 0;
}

/*
 * Skip the test if light tasks are not available. Used if light tasks run in a child
 * process, in which a test cannot be skipped.
 */
static void need_light(void)
{
    const char *why = NULL;

    CHECK_INT(coil_run(see_why, &why, NULL), 0);
    if (why != NULL)
        test_skip(why);
}

static bool is_swapped_out(const coil_task *task)
{
    return task->coro.stack.state == COIL__LIGHT_STORED;
}

/* Spawn a light task, and swap its stack out when it waits. */
static coil_task *spawn_swapped_out(coil_task_fn fn, void *arg)
{
    coil_task *task = spawn_light(fn, arg);

    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK(is_swapped_out(task) || coil__task_swap_out(task));
    CHECK(is_swapped_out(task));
    return task;
}

TASK_TEST(a_task_that_is_swapped_out_goes_on_when_its_wait_completes)
{
    for (size_t i = 0; i < IN_ROOM; i++) {
        coil_task *task;

        init_objects();
        task = spawn_swapped_out(in_room[i].fn, NULL);
        CHECK_INT(coil__light_counts().stored, 1);
        in_room[i].complete(task);
        CHECK(test_join(task) >= 0);
        CHECK_INT(coil__light_counts().stored, 0);
        finish_objects();
    }
}

TASK_TEST(a_task_that_is_swapped_out_is_cancelled)
{
    for (size_t i = 0; i < IN_ROOM; i++) {
        coil_task *task;

        init_objects();
        task = spawn_swapped_out(in_room[i].fn, NULL);
        CHECK(coil_task_cancel(task, "enough"));
        /* a wait for a condition ends with a wait for its lock */
        CHECK(is_swapped_out(task) || i == 4);
        CHECK_INT(test_join(task), -ECANCELED);
        finish_objects();
    }
}

/* Check that the stack, registers and errno survive a wait. */
static int keep_everything(void *arg)
{
    volatile unsigned char pattern[300];
    volatile unsigned char *own = pattern;
    double third = 1.0;

    (void)arg;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (unsigned char)(i * 7);
    fesetround(FE_UPWARD);
    for (int round = 0; round < 5; round++) {
        errno = 1000 + round;
        third /= 3;
        CHECK_INT(coil_park(), round);
        CHECK_INT(errno, 1000 + round);
        CHECK_INT(fegetround(), FE_UPWARD);
        for (size_t i = 0; i < sizeof pattern; i++)
            CHECK_INT(own[i], (unsigned char)(i * 7));
    }
    fesetround(FE_TONEAREST);
    return third < 1;
}

TASK_TEST(frames_errno_and_rounding_survive_a_swap)
{
    coil_task *task;

    if (COIL__ASAN)
        test_skip("with ASan's red zones, the task uses more than 1 KiB of stack");
    task = spawn_swapped_out(keep_everything, NULL);
    for (int round = 0; round < 5; round++) {
        CHECK(is_swapped_out(task) || coil__task_swap_out(task));
        CHECK_INT(coil_unpark(task, round), 0);
        CHECK_INT(coil_yield(), 0);
        CHECK_INT(fegetround(), FE_TONEAREST);
    }
    CHECK_INT(test_join(task), 1);
}

static int add_up(void *arg)
{
    const int *numbers = arg;

    return numbers[0] + numbers[99];
}

TASK_TEST(arguments_of_a_task_that_has_not_begun_are_swapped_out)
{
    int numbers[100] = {[0] = 4, [99] = 5};
    coil_spawn_opts opts = {.light = COIL_LIGHT, .arg_bytes = sizeof numbers};
    coil_task *tasks[3];

    test_join(spawn_light(wait_in_sleep, NULL));
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_spawn(add_up, numbers, &opts, &tasks[i]), 0);
        CHECK(coil__task_swap_out(tasks[i]));
        CHECK(is_swapped_out(tasks[i]));
    }
    CHECK(coil_task_cancel(tasks[1], NULL));
    CHECK_INT(test_join(tasks[0]), 9);
    CHECK_INT(test_join(tasks[1]), -ECANCELED);
    CHECK_INT(test_join(tasks[2]), 9);
    CHECK_INT(coil__light_counts().stored_bytes, 0);
}

TASK_TEST(light_tasks_that_have_not_begun_take_no_page)
{
    enum { COUNT = 1000 };
    coil_task *tasks[COUNT];
    size_t before;

    test_join(spawn_light(wait_in_sleep, NULL));
    before = coil__light_counts().resident_bytes;
    for (int i = 0; i < COUNT; i++)
        tasks[i] = spawn_light(wait_in_sleep, NULL);
    CHECK_INT(coil__light_counts().resident_bytes, before);
    CHECK_INT(coil_yield(), 0);
    for (int i = 0; i < COUNT; i++)
        CHECK(is_swapped_out(tasks[i]) || coil__task_swap_out(tasks[i]));
    CHECK_INT(coil__light_counts().stored, COUNT);
    CHECK(coil__light_counts().resident_bytes <= before);
    CHECK(coil__light_counts().stored_bytes <= COUNT * (COIL__ASAN ? 1024 : 400));
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(test_join(tasks[i]), 0);
    CHECK_INT(coil__light_counts().stored_bytes, 0);
}

/* ---- what keeps a stack ------------------------------------------------------------ */

static int wait_for_child(void *arg)
{
    coil_task *child;
    int rc;

    (void)arg;
    coil_spawn(wait_in_sleep, NULL, NULL, &child);
    rc = coil_task_await(child);
    coil_task_release(child);
    return rc;
}

static int wait_in_group(void *arg)
{
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    return coil_group_exit(&group, coil_sleep(COIL_SEC(1)));
}

static int wait_under_deadline(void *arg)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(9)));

    (void)arg;
    return rc < 0 ? rc : coil_scope_exit(&scope, coil_sleep(COIL_SEC(1)));
}

static int wait_deep(void *arg)
{
    volatile char deep[2000];

    deep[0] = arg == NULL;
    return coil_sleep(COIL_SEC(1)) + (deep[0] != 1);
}

static int wait_for_several(void *arg)
{
    int item;

    (void)arg;
    return coil_queue_get_any((coil_queue *[]){&objects.empty}, 1, &item);
}

static void *sleep_in_generator(void *arg)
{
    (void)arg;
    coil_sleep(COIL_SEC(1));
    return NULL;
}

static int wait_in_generator(void *arg)
{
    coil_coro *coro;
    int rc = coil_coro_create(sleep_in_generator, arg, NULL, &coro);

    if (rc < 0)
        return rc;
    coil_coro_resume(coro, NULL);
    coil_coro_destroy(coro);
    return 0;
}

static int only_yield(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++)
        coil_yield();
    return 0;
}

TASK_TEST(stacks_that_others_point_to_are_not_swapped_out)
{
    static const coil_task_fn keeps[] = {
        wait_for_child,   wait_in_group,     wait_under_deadline, wait_deep,
        wait_for_several, wait_in_generator, only_yield,
    };

    init_objects();
    for (size_t i = 0; i < sizeof keeps / sizeof keeps[0]; i++) {
        coil_task *task = spawn_light(keeps[i], NULL);

        CHECK_INT(coil_yield(), 0);
        CHECK(!is_swapped_out(task));
        CHECK(!coil__task_swap_out(task));
        if (keeps[i] == wait_for_several)
            put_one(task);
        CHECK_INT(test_join(task), 0);
    }
    finish_objects();
}

static int wait_in_scope(void *arg)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, COIL_NEVER);

    (void)arg;
    return rc < 0 ? rc : coil_scope_exit(&scope, coil_sleep(COIL_SEC(1)));
}

static int wait_in_shield(void *arg)
{
    coil_scope scope;
    int rc = coil_scope_enter_shielded(&scope, COIL_NEVER);

    if (rc < 0)
        return rc;
    *(int *)arg = coil_sleep(COIL_SEC(1));
    coil_scope_exit(&scope, 0);
    return coil_sleep(COIL_SEC(1));
}

/* A shield on the stack must be able to record a request that it holds back. */
TASK_TEST(a_scope_without_a_deadline_keeps_no_stack)
{
    int inside = 1;
    coil_task *task;

    if (COIL__ASAN)
        test_skip("with ASan's red zones, the task uses more than 1 KiB of stack");
    task = spawn_swapped_out(wait_in_scope, NULL);
    CHECK_INT(test_join(task), 0);
    task = spawn_swapped_out(wait_in_shield, &inside);
    CHECK(coil_task_cancel(task, NULL));
    CHECK_INT(coil_task_cancelling(task), 1);
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_INT(inside, 0);
}

/* ---- strays ------------------------------------------------------------------------ */

static volatile int *volatile local;

static int lend_local(void *arg)
{
    volatile int number = 7;

    local = &number;
    (void)arg;
    coil_park();
    local = NULL;
    return number;
}

static void touch_local(void *arg)
{
    CHECK_INT(*local, 7);
    *local = *(int *)arg;
    CHECK_INT(*local, *(int *)arg);
}

static int in_signal;

static void on_signal(int signo)
{
    (void)signo;
    touch_local(&in_signal);
}

TASK_TEST(a_stack_that_another_task_touches_comes_back)
{
    int number = 8;
    coil_task *task = spawn_swapped_out(lend_local, NULL);

    touch_local(&number);
    CHECK(!is_swapped_out(task));
    CHECK_INT(coil_unpark(task, 0), 0);
    CHECK_INT(test_join(task), 8);
}

TASK_TEST(a_stack_that_is_touched_is_swapped_out_again)
{
    coil_task *task = spawn_swapped_out(lend_local, NULL);

    for (int i = 0; i < 3; i++) {
        CHECK_INT(*local, 7 + i);
        ++*local;
        CHECK(!is_swapped_out(task));
        CHECK(coil__task_swap_out(task));
    }
    CHECK_INT(coil_unpark(task, 0), 0);
    CHECK_INT(test_join(task), 10);
    CHECK_INT(coil__light_counts().stored, 0);
}

TASK_TEST(a_stack_that_a_callback_touches_comes_back)
{
    int number = 9;
    coil_task *task = spawn_swapped_out(lend_local, NULL);

    coil_call_soon(touch_local, &number, NULL);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_unpark(task, 0), 0);
    CHECK_INT(test_join(task), 9);
}

TASK_TEST(a_stack_that_a_signal_handler_touches_comes_back)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    coil_task *task = spawn_swapped_out(lend_local, NULL);

    in_signal = 10;
    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    raise(SIGUSR1);
    CHECK_INT(coil_unpark(task, 0), 0);
    CHECK_INT(test_join(task), 10);
}

TASK_TEST(a_system_call_finds_no_memory_there)
{
    coil_task *task = spawn_swapped_out(lend_local, NULL);
    int ends[2], number = 11;

    CHECK_INT(pipe(ends), 0);
    CHECK_INT(write(ends[1], &number, sizeof number), sizeof number);
    CHECK_INT(read(ends[0], (void *)local, sizeof number), -1);
    CHECK_INT(errno, EFAULT);
    close(ends[0]);
    close(ends[1]);
    CHECK_INT(coil_unpark(task, 0), 0);
    CHECK_INT(test_join(task), 7);
}

static void *touch_in_thread(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)*local;
}

static int let_thread_touch(void *arg)
{
    coil_task *task = spawn_swapped_out(lend_local, arg);
    pthread_t thread;

    coil_task_set_name(task, "lender");
    pthread_create(&thread, NULL, touch_in_thread, NULL);
    pthread_join(thread, NULL);
    return test_join(task);
}

static void run_and_let_thread_touch(void *arg)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    coil_run(let_thread_touch, arg, NULL);
}

TEST(a_stack_that_another_thread_touches_ends_the_program_with_a_sentence)
{
    need_light();
    test_dies_by_signal(run_and_let_thread_touch, NULL, SIGSEGV,
                        " touched the stack of lender, which is swapped out");
}

static volatile bool deep_enough; /* never */

static COIL__NOINLINE int recurse(int depth)
{
    char frame[512];

    memset(frame, depth, sizeof frame);
    __asm__ volatile("" : : "r"(frame) : "memory");
    return deep_enough ? 0 : recurse(depth + 1) + frame[3];
}

static int overflow(void *arg)
{
    return arg == NULL ? recurse(0) : 0;
}

/* Overflow a stack into the slot below it, whose task is swapped out. */
static int overflow_above_others(void *arg)
{
    coil_task *tasks[8];

    for (int i = 0; i < 8; i++)
        tasks[i] = spawn_swapped_out(wait_in_sleep, arg);
    coil_task_set_name(tasks[7], "sleeper");
    test_join(spawn_light(overflow, NULL));
    return 0;
}

static void run_overflow(void *arg)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    coil_run(overflow_above_others, arg, NULL);
}

static int read_nowhere(void *arg)
{
    return **(volatile int *volatile *)arg;
}

static void run_wild(void *arg)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    coil_run(read_nowhere, arg, &(coil_run_opts){.no_report = true});
}

TEST(overflows_and_wild_pointers_still_end_the_program)
{
    void *nowhere = (void *)16;

    need_light();
    test_dies_by_signal(run_overflow, NULL, SIGSEGV, "coil: stack overflow in task-");
    test_dies_by_signal(run_wild, &nowhere, SIGSEGV, "");
}

/* ---- limits on stacks -------------------------------------------------------------- */

TASK_TEST(stacks_beyond_the_cap_are_swapped_out)
{
    enum { COUNT = 100, PAGES = 16 };
    coil_task *tasks[COUNT];

    coil__light_limit(PAGES * 4096, 0);
    for (int i = 0; i < COUNT; i++)
        tasks[i] = spawn_light(wait_in_sleep, NULL);
    CHECK_INT(coil_yield(), 0);
    CHECK(coil__light_counts().resident_bytes <= (PAGES + PAGES / 8 + 1) * 4096);
    CHECK(coil__light_counts().stored >= COUNT - PAGES - PAGES / 8 - 1);
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(test_join(tasks[i]), 0);
        CHECK(coil__light_counts().resident_bytes <= 64 * 4096);
    }
}

/*
 * If all stacks are pinned in memory, coil must not search them repeatedly for one to
 * swap out.
 */
TASK_TEST(stacks_that_cannot_go_may_exceed_the_cap)
{
    enum { COUNT = 300 };
    coil_task *tasks[COUNT];

    coil__light_limit(16 * 4096, 0);
    for (int i = 0; i < COUNT; i++)
        tasks[i] = spawn_light(wait_under_deadline, NULL);
    CHECK_INT(coil_yield(), 0);
    CHECK(coil__light_counts().resident_bytes >= COUNT * 4096);
    CHECK_INT(coil__light_counts().stored, 0);
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(test_join(tasks[i]), 0);
}

static int sleep_for_hours(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(7200));
}

TASK_TEST(stacks_that_wait_for_an_age_are_swapped_out)
{
    coil_task *task;

    coil__light_limit(0, COIL_SEC(60));
    task = spawn_light(sleep_for_hours, NULL);
    CHECK_INT(coil_sleep(COIL_SEC(30)), 0);
    CHECK(!is_swapped_out(task) || coil__task_light_mode == COIL__LIGHT_ALWAYS);
    CHECK_INT(coil_sleep(COIL_SEC(40)), 0);
    CHECK_INT(coil_sleep(COIL_SEC(40)), 0);
    CHECK(is_swapped_out(task));
    CHECK_INT(test_join(task), 0);
}

/*
 * Swapped-out tasks that are restored together must run in the order in which they became
 * ready.
 */
static int note_turn(void *arg)
{
    int rc = coil_event_wait(&objects.event);

    test_trace("%d ", *(int *)arg);
    return rc;
}

TASK_TEST(tasks_that_come_back_together_keep_their_order)
{
    int numbers[40];
    coil_task *tasks[40];

    init_objects();
    for (int i = 0; i < 40; i++) {
        numbers[i] = i;
        tasks[i] = i % 7 == 3 ? spawn_light(note_turn, &numbers[i])
                              : spawn_swapped_out(note_turn, &numbers[i]);
    }
    CHECK_INT(coil_yield(), 0);
    coil_event_set(&objects.event);
    for (int i = 0; i < 40; i++)
        CHECK_INT(test_join(tasks[i]), 0);
    CHECK_TRACE(
        "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 "
        "28 29 30 31 32 33 34 35 36 37 38 39 ");
    finish_objects();
}

/* ---- options and numbers ----------------------------------------------------------- */

static int count_light(void *arg)
{
    coil_spawn_opts not_light = {.light = COIL_NOT_LIGHT};
    coil_task *tasks[3];
    coil_stats stats;

    (void)arg;
    CHECK_INT(coil_spawn(wait_in_sleep, NULL, NULL, &tasks[0]), 0);
    CHECK_INT(coil_spawn(wait_in_sleep, NULL, &not_light, &tasks[1]), 0);
    CHECK_INT(coil_spawn(wait_in_sleep, NULL, NULL, &tasks[2]), 0);
    CHECK_INT(coil_yield(), 0);
    coil__task_swap_out(tasks[2]);
    coil_stats_get(&stats);
    CHECK(stats.light_off == NULL);
    CHECK_INT(stats.light_stored, 1);
    CHECK(stats.light_stored_bytes > 0 &&
          stats.light_stored_bytes <= (COIL__ASAN ? 1024 : 512));
    if (coil__task_light_mode == COIL__LIGHT_CHOSEN) {
        CHECK_INT(stats.light_tasks, 2);
        CHECK_INT(stats.light_resident_bytes, 4096);
    }
    for (int i = 0; i < 3; i++)
        CHECK_INT(test_join(tasks[i]), 0);
    return 0;
}

TEST(all_tasks_of_a_run_are_light_if_it_says_so)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}, .light = true};

    need_light();
    if (coil__task_light_mode != COIL__LIGHT_CHOSEN)
        test_skip("all tasks are light and may be swapped out");
    CHECK_INT(coil_run(count_light, NULL, &opts), 0);
}

static int count_no_light(void *arg)
{
    coil_spawn_opts light = {.light = COIL_LIGHT};
    coil_stats stats;
    coil_task *task;

    (void)arg;
    CHECK_INT(coil_spawn(wait_in_sleep, NULL, &light, &task), 0);
    coil_stats_get(&stats);
    CHECK_INT(stats.light_tasks, 0);
    CHECK(stats.light_off != NULL);
    return test_join(task);
}

TEST(light_tasks_are_ordinary_where_sigsegv_is_not_coils)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}, .no_signals = true};

    CHECK_INT(coil_run(count_no_light, NULL, &opts), 0);
}

TEST(light_tasks_are_ordinary_without_guard_pages)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}};

    coil__stack_guard = COIL__GUARD_CHECK;
    CHECK_INT(coil_run(count_no_light, NULL, &opts), 0);
}

/* ---- the rest ---------------------------------------------------------------------- */

TASK_TEST(a_child_of_fork_has_its_copy)
{
    enum { COUNT = 64 };
    coil_task *tasks[COUNT], *lender = spawn_swapped_out(lend_local, NULL);
    int status;
    pid_t child;

    for (int i = 0; i < COUNT; i++)
        tasks[i] = i % 2 == 0 ? spawn_swapped_out(wait_in_sleep, NULL)
                              : spawn_light(wait_in_sleep, NULL);
    child = fork();
    if (child == 0)
        _exit(*local == 7 && is_swapped_out(tasks[0]) ? 0 : 1);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK(is_swapped_out(lender));
    CHECK_INT(coil_unpark(lender, 0), 0);
    CHECK_INT(test_join(lender), 7);
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(test_join(tasks[i]), 0);
}

static char *dump(size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);

    coil_dump(out);
    fclose(out);
    return text;
}

TASK_TEST(a_dump_is_the_same_and_leaves_them_swapped_out)
{
    coil_task *task = spawn_light(wait_in_scope, NULL);
    void *addresses[2][8];
    char *texts[2];
    int depths[2];
    size_t bytes;

    CHECK_INT(coil_yield(), 0);
    coil__task_swap_in(task);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(is_swapped_out(task), i);
        texts[i] = dump(&bytes);
        depths[i] = coil_task_backtrace(task, addresses[i], 8);
        CHECK_INT(is_swapped_out(task), i);
        coil__task_swap_out(task);
    }
    CHECK_STR(texts[1], texts[0]);
    CHECK_INT(depths[1], depths[0]);
    CHECK_INT(memcmp(addresses[1], addresses[0], (size_t)depths[0] * sizeof(void *)), 0);
    free(texts[0]);
    free(texts[1]);
    CHECK_INT(test_join(task), 0);
}

static int leave_swapped_out(void *arg)
{
    coil_task_release(spawn_swapped_out(wait_in_sleep, arg));
    return 0;
}

/* When a run ends, tasks that are swapped out must be restored and cancelled. */
TEST(tasks_that_are_swapped_out_at_the_end_of_a_run_are_cancelled)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}};

    need_light();
    CHECK_INT(coil_run(leave_swapped_out, NULL, &opts), 0);
    CHECK_INT(coil__light_used(), 0);
}

static void sleep_swapped_out_and_close(void *arg)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_spawn_opts light = {.name = "sleeper", .light = COIL_LIGHT};
    coil_task *task;
    coil_loop *loop;

    (void)arg;
    coil_loop_create(&opts, &loop);
    coil__overflow_install();
    coil_spawn(wait_in_scope, NULL, &light, &task);
    coil_loop_stop(loop);
    coil_loop_run_forever(loop);
    CHECK(coil__task_swap_out(task));
    coil_loop_close(loop);
    abort();
}

TEST(a_loop_that_closes_reports_a_task_that_is_swapped_out)
{
    need_light();
    test_dies(sleep_swapped_out_and_close, NULL,
              "Task was destroyed but it is pending! (task 'sleeper')");
}
