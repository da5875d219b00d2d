/*
 * target.c - a program with tasks of all kinds, which coil-ps inspects.
 *
 *     target dump     print coil_dump() from a callback, then stay as it is
 *     target busy     tasks that yield at random depths, and come and go
 *     target crowd    1,000 tasks that sleep in one place, and one in another
 *     target deadlock two tasks that await each other's locks
 *     target fork     a child of fork(2) without a loop of its own
 *     target loops    a loop on each of two threads
 *     target spin     a task that does not wait
 *     target spins    such a task on each of two threads
 *     target returns  a task that calls a small function again and again
 *     target signals  count the signals that a child sends, and print the number
 *     target light    light tasks that are swapped out
 *     target jobs     an executor with one thread, which has two jobs
 *     target ticks    a task that sleeps for 1 ms again and again
 *     target twice    loops of this copy of coil, and of libcoil.so
 *     target other    a loop of libcoil.so only
 *     target sparse   terabytes of reserved memory with a few used pages
 *     target mapped   a large mapped file in the current folder, with a few changed pages
 *     target late     two adjacent mappings, each with a few used pages
 *
 * The program prints "ready" and its process id as soon as coil-ps may inspect it.
 */
#include <coil.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static coil_lock lock = COIL_LOCK_INIT, other = COIL_LOCK_INIT;
static coil_event event = COIL_EVENT_INIT;

static void must(int rc)
{
    if (rc < 0)
        abort();
}

static void say_ready(pid_t pid)
{
    printf("ready %d\n", (int)pid);
    fflush(stdout);
}

static int sleep_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1000));
}

static void spawn(coil_task_fn fn, void *arg, const char *name)
{
    coil_spawn_opts opts = {.name = name};

    must(coil_spawn(fn, arg, &opts, NULL));
}

/* ---- kinds of waits ---------------------------------------------------------------- */

static int hold_lock(void *arg)
{
    (void)arg;
    return coil_lock_acquire(&lock) < 0 ? -1 : coil_sleep(COIL_SEC(1000));
}

static int want_lock(void *arg)
{
    (void)arg;
    return coil_lock_acquire(&lock);
}

static int want_event(void *arg)
{
    (void)arg;
    return coil_event_wait(&event);
}

static int inner_generator(coil_gen *self, void *arg)
{
    (void)self, (void)arg;
    return coil_sleep(COIL_SEC(1000));
}

static int outer_generator(coil_gen *self, void *arg)
{
    coil_gen *inner;

    (void)self, (void)arg;
    return coil_gen_create(inner_generator, NULL, NULL, &inner) < 0
               ? -1
               : coil_gen_yield_from(inner, NULL);
}

static int use_generator(void *arg)
{
    coil_gen *outer;
    void *value;

    (void)arg;
    return coil_gen_create(outer_generator, NULL, NULL, &outer) < 0
               ? -1
               : coil_gen_next(outer, &value);
}

static int await_task(void *arg)
{
    return coil_task_await(arg);
}

static int read_pipe(void *arg)
{
    int ends[2];

    (void)arg;
    return pipe(ends) < 0 ? -1 : coil_wait_fd(ends[0], COIL_READABLE);
}

static int own_group(void *arg)
{
    coil_group outer, inner;

    (void)arg;
    coil_group_enter(&outer);
    must(coil_group_spawn(&outer, sleep_long, NULL, NULL, NULL));
    coil_group_enter(&inner);
    must(coil_group_spawn(&inner, sleep_long, NULL, NULL, NULL));
    must(coil_group_spawn(&inner, want_event, NULL, NULL, NULL));
    return coil_group_exit(&outer, coil_group_exit(&inner, 0));
}

static int gather_tasks(void *arg)
{
    coil_future *futures[3];

    (void)arg;
    for (int i = 0; i < 3; i++) {
        coil_task *task;

        if (coil_spawn(sleep_long, NULL, NULL, &task) < 0)
            return -1;
        futures[i] = coil_task_future(task);
    }
    return coil_gather(futures, 3, 0, NULL);
}

static int wait_some_time(void *arg)
{
    coil_task *task;
    coil_future *future;

    (void)arg;
    if (coil_spawn(sleep_long, NULL, NULL, &task) < 0)
        return -1;
    future = coil_task_future(task);
    return coil_wait(&future, 1, COIL_WAIT_ALL, coil_in(COIL_SEC(500)));
}

static int never_begin(void *arg)
{
    (void)arg;
    return 0;
}

static void dump_now(void *arg)
{
    (void)arg;
    coil_dump(stderr);
    fflush(stderr);
    spawn(never_begin, NULL, "not begun");
    say_ready(getpid());
    for (;;)
        pause();
}

static int run_dump(void *arg)
{
    coil_task *awaited;

    (void)arg;
    spawn(hold_lock, NULL, "holder");
    spawn(want_lock, NULL, "wants the lock");
    spawn(want_lock, NULL, "the name of this task is long");
    spawn(use_generator, NULL, "generators");
    spawn(read_pipe, NULL, NULL);
    if (coil_spawn(sleep_long, NULL, NULL, &awaited) < 0)
        return -1;
    spawn(await_task, awaited, "awaits");
    spawn(own_group, NULL, "owner");
    spawn(gather_tasks, NULL, "gathers");
    spawn(wait_some_time, NULL, "waits");
    for (int i = 0; i < 5; i++)
        coil_yield();
    if (coil_call_soon(dump_now, NULL, NULL) < 0)
        return -1;
    return coil_sleep(COIL_SEC(1000));
}

/* ---- a busy program ---------------------------------------------------------------- */

static int yield_at(int depth)
{
    volatile char room[200];
    int rc;

    room[0] = (char)depth;
    rc = depth > 0 ? yield_at(depth - 1) : coil_yield();
    return rc + (room[0] != (char)depth);
}

static int be_busy(void *arg)
{
    (void)arg;
    for (;;)
        if (yield_at(rand() % 8) < 0)
            return -1;
}

static int end_soon(void *arg)
{
    (void)arg;
    return yield_at(3);
}

static int run_busy(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        spawn(be_busy, NULL, NULL);
    say_ready(getpid());
    for (;;) {
        coil_group group;

        coil_group_enter(&group);
        for (int i = 0; i < 20; i++)
            must(coil_group_spawn(&group, end_soon, NULL, NULL, NULL));
        if (coil_group_exit(&group, 0) < 0)
            return -1;
    }
}

/* ---- other programs ---------------------------------------------------------------- */

static int run_crowd(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++)
        spawn(sleep_long, NULL, NULL);
    spawn(want_event, NULL, "alone");
    coil_yield();
    say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

static int take_both(void *arg)
{
    coil_lock *first = arg, *second = arg == &lock ? &other : &lock;

    return coil_lock_acquire(first) < 0 || coil_yield() < 0 ? -1
                                                            : coil_lock_acquire(second);
}

static int run_deadlock(void *arg)
{
    (void)arg;
    spawn(take_both, &lock, "left");
    spawn(take_both, &other, "right");
    for (int i = 0; i < 5; i++)
        coil_yield();
    say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

static int run_fork(void *arg)
{
    (void)arg;
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        say_ready(getpid());
        for (;;)
            pause();
    }
    return coil_sleep(COIL_SEC(1000));
}

static int run_member(void *arg)
{
    static _Atomic int ready;

    (void)arg;
    spawn(sleep_long, NULL, "of a thread");
    coil_yield();
    if (++ready == 2)
        say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

static volatile int spinning = 1;

static int spin(void *arg)
{
    (void)arg;
    say_ready(getpid());
    while (spinning)
        ;
    return 0;
}

static int run_spinning_member(void *arg)
{
    static _Atomic int ready;

    (void)arg;
    if (++ready == 2)
        say_ready(getpid());
    while (spinning)
        ;
    return 0;
}

static int count_up(volatile int *n)
{
    return *n = *n + 1;
}

/*
 * The frame of this function is found through a register that the function restores just
 * before it returns.
 */
__attribute__((noipa)) static int return_often(volatile int *n)
{
    return count_up(n) == 0 ? -1 : 1;
}

static int call_often(volatile int *n)
{
    while (spinning)
        return_often(n);
    return *n;
}

static int run_returns(void *arg)
{
    volatile int n = 0;

    (void)arg;
    say_ready(getpid());
    return call_often(&n) + n;
}

#define SIGNALS 20000

static volatile sig_atomic_t received;

static void count_signal(int number)
{
    (void)number;
    received++;
}

/* Send SIGNALS signals. From SIGRTMIN on, signals are queued, so none must be lost. */
static void send_signals(pid_t to)
{
    for (int i = 0; i < SIGNALS; i++) {
        while (sigqueue(to, SIGRTMIN, (union sigval){0}) < 0)
            usleep(1000);
        usleep(1);
    }
}

static int run_signals(void *arg)
{
    const struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    pid_t self = getpid();

    (void)arg;
    sigaction(SIGRTMIN, &action, NULL);
    say_ready(self);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        send_signals(self);
        _exit(0);
    }
    for (int i = 0; i < 2000 && received < SIGNALS; i++)
        coil_sleep(COIL_MSEC(10));
    printf("received %d of %d\n", (int)received, SIGNALS);
    fflush(stdout);
    return coil_sleep(COIL_SEC(1000));
}

static int sleep_in_thread(void *arg)
{
    (void)arg;
    sleep(1000);
    return 0;
}

static coil_lane lane;

static int wait_for_job(void *arg)
{
    (void)arg;
    return coil_blocking(lane, sleep_in_thread, NULL);
}

static int run_jobs(void *arg)
{
    (void)arg;
    must(coil_executor_create("jobs", 1, &lane));
    spawn(wait_for_job, NULL, "first job");
    spawn(wait_for_job, NULL, "second job");
    coil_sleep(COIL_MSEC(100)); /* the thread takes the first job */
    say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

static int run_ticks(void *arg)
{
    (void)arg;
    say_ready(getpid());
    while (coil_sleep(COIL_MSEC(1)) == 0)
        ;
    return -1;
}

/* ---- two copies of coil ------------------------------------------------------------ */

static int (*other_run)(coil_task_fn fn, void *arg, const void *opts);
static int (*other_sleep)(int64_t ns);
static _Atomic int begun;

static int sleep_in_other(void *arg)
{
    begun = 1;
    return other_sleep((int64_t)(intptr_t)arg);
}

static void *run_other(void *arg)
{
    other_run(sleep_in_other, (void *)(intptr_t)COIL_SEC(1000), NULL);
    return arg;
}

static void begin_other(void)
{
    void *library = dlopen("libcoil.so", RTLD_NOW | RTLD_LOCAL);
    pthread_t thread;

    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&other_run = dlsym(library, "coil_run");
    *(void **)&other_sleep = dlsym(library, "coil_sleep");
    pthread_create(&thread, NULL, run_other, NULL);
    while (begun == 0)
        usleep(1000);
}

static int run_twice(void *arg)
{
    (void)arg;
    begin_other();
    say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

static void stay(void)
{
    begin_other();
    say_ready(getpid());
    for (;;)
        pause();
}

static int run_light(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++)
        if (coil_spawn(sleep_long, NULL,
                       &(coil_spawn_opts){.light = COIL_LIGHT, .name = "light"},
                       NULL) < 0)
            return -1;
    for (int i = 0; i < 5; i++) /* a stack is swapped out after one second */
        coil_sleep(COIL_MSEC(500));
    say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

/* Reserve memory, and write to the first page, to one in the middle, and to the last. */
static void use_few_pages(const char *name, size_t bytes, int advice)
{
    const size_t at[] = {0, bytes / 3, bytes - 4096};
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED || madvise(memory, bytes, advice) < 0)
        abort();
    for (size_t i = 0; i < 3; i++)
        snprintf(memory + at[i] / 4096 * 4096, 64, "page %zu of the %s memory", i, name);
}

static int run_sparse(void *arg)
{
    (void)arg;
    use_few_pages("saved", (size_t)256 << 30, MADV_NORMAL);
    use_few_pages("excluded", (size_t)8 << 40, MADV_DONTDUMP);
    say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

#define PAGE ((size_t)4096)

/* Map a file, privately and shared. Change pages 3, 5 and the last page of the former. */
static int run_mapped(void *arg)
{
    const size_t bytes = (size_t)900 << 20;
    int fd = open("mapped", O_RDWR | O_CREAT | O_EXCL, 0600);
    char *memory;

    (void)arg;
    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
        abort();
    for (size_t i = 0; i < 6; i++)
        if (pwrite(fd, "of the file", 12, (off_t)(i * PAGE)) != 12)
            abort();
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED ||
        mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
        abort();
    strcpy(memory + 3 * PAGE, "changed 3");
    strcpy(memory + 5 * PAGE, "changed 5");
    strcpy(memory + bytes - PAGE, "the last page");
    say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

/* A mapping of 301 pages, of which pages 0 and 10 are used, before one of 99 pages. */
static int run_late(void *arg)
{
    char *memory = mmap(NULL, 402 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *first = memory + PAGE, *second = first + 301 * PAGE;

    (void)arg;
    if (memory == MAP_FAILED || mprotect(first, 400 * PAGE, PROT_READ | PROT_WRITE) < 0 ||
        madvise(first, 400 * PAGE, MADV_NOHUGEPAGE) < 0)
        abort();
    strcpy(first, "early");
    strcpy(first + 10 * PAGE, "late");
    strcpy(second + 50 * PAGE, "of the second mapping");
    if (mprotect(second, 99 * PAGE, PROT_READ) < 0)
        abort();
    say_ready(getpid());
    return coil_sleep(COIL_SEC(1000));
}

int main(int argc, char *argv[])
{
    static const struct {
        const char *name;
        coil_task_fn fn;
    } modes[] = {
        {"dump", run_dump},         {"busy", run_busy},       {"crowd", run_crowd},
        {"deadlock", run_deadlock}, {"fork", run_fork},       {"spin", spin},
        {"light", run_light},       {"signals", run_signals}, {"returns", run_returns},
        {"jobs", run_jobs},         {"ticks", run_ticks},     {"twice", run_twice},
        {"sparse", run_sparse},     {"mapped", run_mapped},   {"late", run_late}};

    if (argc != 2)
        return 2;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (strcmp(argv[1], "loops") == 0)
        return coil_run_threads(2, run_member, NULL, NULL) != 0;
    if (strcmp(argv[1], "other") == 0)
        stay();
    if (strcmp(argv[1], "spins") == 0)
        return coil_run_threads(2, run_spinning_member, NULL, NULL) != 0;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            return coil_run(modes[i].fn, NULL, NULL) != 0;
    return 2;
}
