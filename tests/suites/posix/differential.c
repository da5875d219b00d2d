/*
 * differential.c - see differential.h.
 */
#include "differential.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/un.h>
#include <time.h>

#include "../../../src/base/compiler.h"

#define STACK_BYTES ((size_t)512 * 1024)

static char *recorded;
static size_t recorded_bytes;
static FILE *writer;

void record(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(writer, format, args);
    va_end(args);
    fputc('\n', writer);
}

void record_result(const char *call, long result)
{
    int error = errno;

    if (result == -1)
        record("%s: %s", call, strerrorname_np(error));
    else
        record("%s: %ld", call, result);
}

bool may_call_wrongly(void)
{
    return !COIL__ASAN && !test_under_valgrind();
}

static int64_t milliseconds_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t milliseconds(void)
{
    return milliseconds_of(CLOCK_MONOTONIC);
}

struct timespec from_now(clockid_t clock, int ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000L;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool has_come(clockid_t clock, const struct timespec *t)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec > t->tv_sec ||
           (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

/* ---- both ways --------------------------------------------------------------------- */

static void *run_on_thread(void *scenario)
{
    ((void (*)(void))scenario)();
    return NULL;
}

static int run_in_task(void *scenario)
{
    ((void (*)(void))scenario)();
    return 0;
}

/* Finish the record, and return it. The caller frees it. */
static char *take_record(void)
{
    fclose(writer);
    return recorded;
}

static char *outside(void (*scenario)(void))
{
    pthread_t thread;

    writer = open_memstream(&recorded, &recorded_bytes);
    CHECK_INT(pthread_create(&thread, NULL, run_on_thread, (void *)scenario), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    return take_record();
}

/*
 * A task that runs every millisecond, and counts how often it runs, so that a test knows
 * whether another task was suspended.
 */
struct ticking {
    bool over;
    _Atomic int ticks;
};

static struct ticking *ticker_of_task;

/*
 * Return the time from which the kernel counts a socket's timeout.
 *
 * Linux rounds such a timeout up to ticks (CONFIG_HZ), adds one tick, and counts from the
 * latest tick that it has handled (schedule_timeout(), jiffies). If a virtual processor
 * was not scheduled for a while, the latest tick was long ago, and the wait is too short.
 * For example, with 250 ticks per second, a timeout of 30 ms ends 36 ms after the latest
 * tick. If that tick was 10 ms ago, the wait takes only 26 ms. Linux may be up to 5 ticks
 * late (MAX_STALLED_JIFFIES).
 *
 * So the result outside tasks is the time of the latest tick, which
 * CLOCK_MONOTONIC_COARSE returns. In a task, the result is the current time, because coil
 * counts from the call.
 */
int64_t from_latest_tick(void)
{
    return ticker_of_task != NULL ? milliseconds()
                                  : milliseconds_of(CLOCK_MONOTONIC_COARSE);
}

static int tick(void *arg)
{
    struct ticking *t = arg;

    while (!t->over) {
        coil_sleep(COIL_MSEC(1));
        t->ticks++;
    }
    return 0;
}

static char *inside(void (*scenario)(void), bool waits)
{
    struct ticking ticking = {.over = false};
    coil_task *ticker = start_task(tick, &ticking);

    ticker_of_task = &ticking;
    writer = open_memstream(&recorded, &recorded_bytes);
    finish_task(start_task(run_in_task, (void *)scenario));
    ticker_of_task = NULL;
    ticking.over = true;
    /*
     * Valgrind is so slow that a short timeout may pass before the call begins to wait.
     */
    if (waits && !test_under_valgrind())
        CHECK(ticking.ticks > 0);
    finish_task(ticker);
    return take_record();
}

void compare_in_and_out(void (*scenario)(void), bool waits)
{
    char *out = outside(scenario), *in = inside(scenario, waits);

    CHECK_STR(in, out);
    free(in);
    free(out);
}

/* ---- later ------------------------------------------------------------------------- */

struct later_call {
    pthread_t thread;
    pid_t waiter;
    struct ticking *ticking;
    int ticks, ms, arg;
    void (*fn)(int arg);
    struct later_call *next;
};

static struct later_call *later_calls;

/* Return true if the thread sleeps in the kernel or has ended. */
static bool sleeps(pid_t thread)
{
    char path[64], line[256] = "";
    const char *state;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    file = fopen(path, "re");
    if (file == NULL)
        return true; /* the thread has ended */
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    state = strrchr(line, ')');
    return state != NULL && state[1] == ' ' && state[2] == 'S';
}

/*
 * Wait until the caller of later() is waiting. If the caller is a task, it waits as soon
 * as another task runs. If the caller is a thread, it is assumed to wait once it has been
 * sleeping for a few milliseconds.
 */
static void wait_for_waiter(const struct later_call *call)
{
    int seen = 0;

    if (call->ticking != NULL)
        while (call->ticking->ticks < call->ticks + 2)
            usleep(1000);
    while (seen < 3) {
        usleep(1000);
        seen = sleeps(call->waiter) || call->ticking != NULL ? seen + 1 : 0;
    }
}

static void *do_later(void *arg)
{
    struct later_call *call = arg;

    wait_for_waiter(call);
    usleep((useconds_t)call->ms * (test_under_valgrind() ? 20000 : 1000));
    call->fn(call->arg);
    return NULL;
}

void later(int ms, void (*fn)(int arg), int arg)
{
    struct later_call *call = calloc(1, sizeof *call);

    *call = (struct later_call){.ms = ms, .fn = fn, .arg = arg, .next = later_calls};
    call->waiter = gettid();
    call->ticking = ticker_of_task;
    if (call->ticking != NULL)
        call->ticks = call->ticking->ticks;
    later_calls = call;
    CHECK_INT(pthread_create(&call->thread, NULL, do_later, call), 0);
}

void finish_later(void)
{
    while (later_calls != NULL) {
        struct later_call *call = later_calls;

        later_calls = call->next;
        CHECK_INT(pthread_join(call->thread, NULL), 0);
        free(call);
    }
}

void write_byte(int fd)
{
    CHECK_INT(write(fd, "x", 1), 1);
}

void close_fd(int fd)
{
    close(fd);
}

void read_slowly(int fd)
{
    char buf[60000];
    ssize_t n;
    size_t total = 0;

    while ((n = read(fd, buf, sizeof buf)) > 0) {
        total += (size_t)n;
        if (total < 500000)
            usleep(1000);
    }
}

/* ---- descriptors for the calls ----------------------------------------------------- */

void make_pipe(int ends[2])
{
    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
}

void make_unix(int ends[2], int type)
{
    CHECK_INT(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
}

int listen_tcp(struct sockaddr_storage *address, socklen_t *bytes, int backlog)
{
    struct sockaddr_in *in = (struct sockaddr_in *)address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *in = (struct sockaddr_in){.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *bytes = sizeof *in;
    CHECK_INT(bind(fd, (struct sockaddr *)in, *bytes), 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)in, bytes), 0);
    CHECK_INT(listen(fd, backlog), 0);
    return fd;
}

void make_tcp(int ends[2])
{
    struct sockaddr_storage address;
    socklen_t bytes;
    int listener = listen_tcp(&address, &bytes, 1);

    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(ends[0], (struct sockaddr *)&address, bytes), 0);
    ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(ends[1] >= 0);
    close(listener);
}

void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* ---- tasks ------------------------------------------------------------------------- */

coil_task *start_task(int (*fn)(void *arg), void *arg)
{
    coil_spawn_opts opts = {.stack_bytes = STACK_BYTES};
    coil_task *task;

    CHECK_INT(coil_spawn(fn, arg, &opts, &task), 0);
    return task;
}

void finish_task(coil_task *task)
{
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
}

void settle(void)
{
    CHECK_INT(coil_wait_all_blocked(), 0);
}
