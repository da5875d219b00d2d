/*
 * test_guest.c - guest loops. The host in these tests waits with poll(2).
 */
#include "guest.h"

#include "../../harness/harness.h"
#include "../socket/sockets.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

void for_each_guest(void (*test)(coil_loop *loop))
{
    static const char *const backends[] = {"io_uring", "epoll"};

    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        coil_runner *runner;
        int rc = coil_runner_create(
            &(coil_run_opts){.loop.backend = backends[i], .no_signals = true}, &runner);

        if (rc == -ENOSYS)
            continue;
        CHECK_INT(rc, 0);
        test(coil_runner_loop(runner));
        coil_runner_destroy(runner);
    }
}

/*
 * Act as the host until `*until` is true: wait, at most as long as the guest requests,
 * and step the guest. Returns the number of steps.
 */
static int drive(coil_loop *loop, const bool *until)
{
    int steps = 0;

    for (; !*until && steps < 10000; steps++) {
        struct pollfd ours = {.fd = coil_guest_fd(loop), .events = POLLIN};
        int64_t timeout = coil_guest_timeout(loop);
        struct timespec span = {timeout / COIL_SEC(1), timeout % COIL_SEC(1)};

        CHECK(ours.fd >= 0);
        CHECK(ppoll(&ours, 1, timeout == COIL_NEVER ? NULL : &span, NULL) >= 0);
        CHECK_INT(coil_guest_step(loop), 0);
    }
    CHECK(*until);
    return steps;
}

/* ---- turns ------------------------------------------------------------------------- */

static int busy_turns;

static void go_on(void *arg)
{
    bool *stop = arg;

    busy_turns++;
    if (!*stop)
        CHECK_INT(coil_call_soon(go_on, arg, NULL), 0);
}

static void one_turn_each(coil_loop *loop)
{
    bool stop = false;

    busy_turns = 0;
    CHECK_INT(coil_call_soon(go_on, &stop, NULL), 0);
    CHECK_INT(coil_guest_timeout(loop), 0);
    for (int i = 1; i <= 100; i++) {
        CHECK_INT(coil_guest_step(loop), 0);
        CHECK_INT(busy_turns, i);
    }
    stop = true;
    CHECK_INT(coil_guest_step(loop), 0);
    CHECK_INT(coil_guest_timeout(loop), COIL_NEVER);
    /* nothing is ready, so the step returns at once */
    CHECK_INT(coil_guest_step(loop), 0);
}

TEST(guest_step_is_one_turn_however_busy_it_is)
{
    for_each_guest(one_turn_each);
}

static int yields(void *arg)
{
    int *turns = arg;

    for (*turns = 0; *turns < 50; ++*turns)
        coil_yield();
    return 0;
}

static void one_turn_for_tasks_too(coil_loop *loop)
{
    int turns[2];

    CHECK_INT(coil_spawn(yields, &turns[0], NULL, NULL), 0);
    CHECK_INT(coil_spawn(yields, &turns[1], NULL, NULL), 0);
    for (int i = 0; i <= 50; i++) {
        CHECK_INT(coil_guest_step(loop), 0);
        CHECK_INT(turns[0], i);
        CHECK_INT(turns[1], i);
    }
}

TEST(guest_step_is_one_turn_for_tasks_that_yield)
{
    for_each_guest(one_turn_for_tasks_too);
}

/* ---- waiting ----------------------------------------------------------------------- */

static int sleeps(void *arg)
{
    bool *ended = arg;
    int rc = coil_sleep(COIL_MSEC(5));

    *ended = true;
    return rc;
}

static void waits_for_a_timer(coil_loop *loop)
{
    bool ended = false;
    int64_t before = coil_now(), timeout;

    CHECK_INT(coil_spawn(sleeps, &ended, NULL, NULL), 0);
    CHECK_INT(coil_guest_step(loop), 0);
    timeout = coil_guest_timeout(loop);
    CHECK(timeout >= 0 && timeout <= COIL_MSEC(5));
    /* the host waits instead of spinning */
    CHECK(drive(loop, &ended) < 20);
    CHECK(coil_now() - before >= COIL_MSEC(5));
}

TEST(guest_timeout_is_that_of_the_next_timer)
{
    for_each_guest(waits_for_a_timer);
}

struct conversation {
    coil_listener *listener;
    bool ended;
};

static int answer(void *arg)
{
    struct conversation *c = arg;
    coil_stream *stream;
    char buf[64];
    ssize_t n;

    CHECK_INT(coil_accept(c->listener, &stream), 0);
    while ((n = coil_read(stream, buf, sizeof buf)) > 0)
        CHECK_INT(coil_write(stream, buf, (size_t)n), n);
    coil_stream_destroy(stream);
    return 0;
}

static int ask(void *arg)
{
    struct conversation *c = arg;
    coil_stream *stream;
    char port[8], buf[64];

    snprintf(port, sizeof port, "%u", coil_listener_port(c->listener));
    CHECK_INT(coil_connect("127.0.0.1", port, &stream), 0);
    for (int i = 0; i < 50; i++) {
        CHECK_INT(coil_write(stream, "question", 8), 8);
        CHECK_INT(coil_read_exact(stream, buf, 8), 8);
    }
    coil_stream_destroy(stream);
    c->ended = true;
    return 0;
}

static int listen_and_talk(void *arg)
{
    struct conversation *c = arg;

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &c->listener), 0);
    CHECK_INT(coil_spawn(answer, c, NULL, NULL), 0);
    return ask(c);
}

static void talks(coil_loop *loop)
{
    struct conversation c = {.ended = false};

    CHECK_INT(coil_spawn(listen_and_talk, &c, NULL, NULL), 0);
    drive(loop, &c.ended);
    CHECK_INT(coil_guest_step(loop), 0);
    coil_listener_destroy(c.listener);
}

TEST(guest_descriptor_tells_of_io)
{
    for_each_guest(talks);
}

static void set_flag(void *arg)
{
    *(bool *)arg = true;
}

struct poster {
    coil_loop *loop;
    bool done;
};

static void *post_later(void *arg)
{
    struct poster *p = arg;

    usleep(2000);
    CHECK_INT(coil_post(p->loop, set_flag, &p->done), 0);
    coil_loop_release(p->loop);
    return NULL;
}

static void hears_posts(coil_loop *loop)
{
    struct poster p = {coil_loop_retain(loop), false};
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, post_later, &p), 0);
    CHECK(drive(loop, &p.done) < 20);
    pthread_join(thread, NULL);
}

TEST(guest_descriptor_tells_of_posts)
{
    for_each_guest(hears_posts);
}

/* A thread that posts repeatedly, each time after its previous post was handled. */
struct speaker {
    coil_loop *loop;
    int event; /* a descriptor to write to instead of posting, or -1 */
    _Atomic int heard;
    bool done;
};

enum { TIMES = 100 };

static void hear(void *arg)
{
    struct speaker *s = arg;
    uint64_t count;

    if (s->event >= 0)
        CHECK_INT(read(s->event, &count, sizeof count), sizeof count);
    s->done = ++s->heard == TIMES;
}

static void *speak(void *arg)
{
    const uint64_t one = 1;
    struct speaker *s = arg;

    for (int i = 0; i < TIMES; i++) {
        usleep((unsigned)(i * 37 % 500));
        if (s->event >= 0)
            CHECK_INT(write(s->event, &one, sizeof one), sizeof one);
        else
            CHECK_INT(coil_post(s->loop, hear, s), 0);
        while (s->heard == i)
            usleep(100);
    }
    coil_loop_release(s->loop);
    return NULL;
}

static void hears_each_post(coil_loop *loop)
{
    struct speaker s = {.loop = coil_loop_retain(loop), .event = -1};
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, speak, &s), 0);
    drive(loop, &s.done);
    pthread_join(thread, NULL);
}

TEST(guest_descriptor_tells_of_each_post)
{
    for_each_guest(hears_each_post);
}

/*
 * Regression test: if a loop ran before it became a guest, it counted as awake, so posts
 * did not write to its descriptor.
 */
static void hears_posts_after_a_run(coil_loop *loop)
{
    struct poster p = {coil_loop_retain(loop), false};
    pthread_t thread;

    coil_loop_stop(loop);
    CHECK_INT(coil_loop_run_forever(loop), 0);
    CHECK_INT(pthread_create(&thread, NULL, post_later, &p), 0);
    CHECK(drive(loop, &p.done) < 20);
    pthread_join(thread, NULL);
}

TEST(guest_descriptor_tells_of_posts_after_the_loop_ran_by_itself)
{
    for_each_guest(hears_posts_after_a_run);
}

static void hears_each_event(coil_loop *loop)
{
    struct speaker s = {.loop = coil_loop_retain(loop),
                        .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    pthread_t thread;

    CHECK_INT(coil_add_reader(s.event, hear, &s), 0);
    CHECK_INT(pthread_create(&thread, NULL, speak, &s), 0);
    drive(loop, &s.done);
    pthread_join(thread, NULL);
    CHECK_INT(coil_remove_reader(s.event), 1);
    close(s.event);
}

TEST(guest_descriptor_tells_of_each_event_of_a_reader)
{
    for_each_guest(hears_each_event);
}

/*
 * The reader of a descriptor that is always ready must be called, although no event wakes
 * the host.
 */
static void is_always_ready(coil_loop *loop)
{
    bool done = false;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    CHECK_INT(coil_add_reader(fd, set_flag, &done), 0);
    drive(loop, &done);
    CHECK_INT(coil_remove_reader(fd), 1);
    close(fd);
}

TEST(guest_reader_of_an_always_ready_descriptor_is_called)
{
    for_each_guest(is_always_ready);
}

static int works(void *arg)
{
    usleep(2000);
    return *(int *)arg;
}

static int waits_for_work(void *arg)
{
    int seven = 7;

    CHECK_INT(coil_blocking(COIL_LANE_CPU, works, &seven), 7);
    set_flag(arg);
    return 0;
}

static void waits_for_threads(coil_loop *loop)
{
    bool done = false;

    CHECK_INT(coil_spawn(waits_for_work, &done, NULL, NULL), 0);
    CHECK(drive(loop, &done) < 20);
}

TEST(guest_waits_for_blocking_work)
{
    for_each_guest(waits_for_threads);
}

/* ---- host and guest ---------------------------------------------------------------- */

static int awaits(void *arg)
{
    return coil_await(arg);
}

static void host_calls_in(coil_loop *loop)
{
    coil_future *future;
    coil_task *task;

    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_spawn(awaits, future, NULL, &task), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_guest_step(loop), 0);
    /* not a deadlock, because the host may complete the future */
    CHECK_INT(coil_guest_timeout(loop), COIL_NEVER);
    CHECK_INT(coil_future_set(future, 42, NULL, NULL), 0);
    CHECK_INT(coil_guest_timeout(loop), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_guest_step(loop), 0);
    CHECK_INT(coil_future_result(coil_task_future(task)), 42);
    coil_task_release(task);
    coil_future_release(future);
}

TEST(guest_takes_calls_of_the_host_between_steps)
{
    for_each_guest(host_calls_in);
}

static int step_result;

static void step_inside(void *arg)
{
    step_result = coil_guest_step(arg);
    coil_loop_stop(arg);
}

static void stops_and_refuses(coil_loop *loop)
{
    CHECK_INT(coil_call_soon(step_inside, loop, NULL), 0);
    CHECK_INT(coil_guest_step(loop), 1);
    CHECK_INT(step_result, -EBUSY);
    CHECK_INT(coil_guest_step(loop), 0);
    CHECK(!coil_loop_running(loop));
}

TEST(guest_step_says_stop_and_does_not_nest)
{
    for_each_guest(stops_and_refuses);
}

/* Sleep until this task is cancelled, which the runner does after the host has ended. */
static int waits_for_ever(void *arg)
{
    int rc = coil_sleep(COIL_NEVER / 2);

    set_flag(arg);
    return rc;
}

TEST(guest_is_closed_as_any_loop)
{
    coil_runner *runner;
    bool ended = false;

    CHECK_INT(coil_runner_create(&(coil_run_opts){.no_signals = true}, &runner), 0);
    CHECK_INT(coil_spawn(waits_for_ever, &ended, NULL, NULL), 0);
    CHECK_INT(coil_guest_step(coil_runner_loop(runner)), 0);
    CHECK(!ended);
    coil_runner_destroy(runner);
    CHECK(ended);
}

TEST(guest_needs_a_backend_with_a_descriptor)
{
    static const char *const backends[] = {"poll", "select"};
    coil_loop *loop;

    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_loop_create(&(coil_loop_opts){.backend = backends[i]}, &loop), 0);
        CHECK_INT(coil_guest_fd(loop), -EOPNOTSUPP);
        CHECK_INT(coil_guest_timeout(loop), COIL_NEVER);
        /* even without a descriptor, a host can step the loop from time to time */
        CHECK_INT(coil_guest_step(loop), 0);
        coil_loop_close(loop);
    }
    CHECK_INT(coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop), 0);
    CHECK_INT(coil_guest_fd(loop), -EOPNOTSUPP);
    CHECK_INT(coil_guest_step(loop), -EOPNOTSUPP);
    coil_loop_close(loop);
}
