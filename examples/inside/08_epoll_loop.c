/*
 * 08_epoll_loop.c - an event loop on epoll(7): futures, tasks, timers, descriptors.
 *
 * This is the loop in the article on Python's coroutines (document S1 in docs/seeds.md).
 * A coroutine yields the future that it waits for, and its task adds itself as the
 * future's callback. Anything can complete a future: here a timer, an event on a
 * descriptor, or the end of another task. Waiting for a descriptor is an ordinary
 * function: wait_fd(). The program corrects mistakes in the article: connect() and send()
 * do not block. The clock is monotonic. The loop polls in every round, even while tasks
 * are ready. A descriptor is unregistered before its callback is called, because the
 * callback may register it again.
 *
 * To try: remove the wait before recv() in coroutine(). recv() then finds no bytes.
 */
#include "toy_gen.h"
#include "toy_time.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX 64

/* [future] */
struct future {
    bool done;
    void *result;
    struct task *waiter; // the callback: continues this task
};

struct task {
    struct future future; // first member: a task is the future of its result
    struct gen *gen;
    struct future *awaited;
};
/* [end] */

static int epoll;
static struct task *ready[MAX]; // task_list in the article
static int ready_count, io_count, timer_count;
static struct timer {
    double deadline;
    struct future *future;
} timers[MAX]; // sorted by deadline

static void future_set(struct future *future, void *result)
{
    future->done = true;
    future->result = result;
    if (future->waiter != NULL)
        ready[ready_count++] = future->waiter;
}

// NOLINTBEGIN(clang-analyzer-core.StackAddressEscape): await() returns when it is done
/* [await] */
static void *await(struct future *future)
{
    return future->done ? future->result : gen_yield(future);
}

static void wait_fd(int fd, unsigned events)
{
    struct future future = {.done = false};
    struct epoll_event event = {.events = events | EPOLLONESHOT, .data.ptr = &future};

    if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) < 0 &&
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        return; // a regular file is always ready
    io_count++;
    await(&future);
}

static void loop_sleep(double duration)
{
    struct future future = {.done = false};
    double deadline = now() + duration;
    int at = timer_count++;

    for (; at > 0 && timers[at - 1].deadline > deadline; at--)
        timers[at] = timers[at - 1];
    timers[at] = (struct timer){deadline, &future};
    await(&future);
}
/* [end] */

/* [step] */
static void task_step(struct task *task)
{
    void *yielded, *result = task->awaited ? task->awaited->result : NULL;

    if (!gen_send(task->gen, result, &yielded)) {
        gen_free(task->gen);
        future_set(&task->future, yielded); // the task completes its own future
    } else if ((task->awaited = yielded) != NULL) {
        task->awaited->waiter = task;
    } else {
        ready[ready_count++] = task; // a bare yield: continue in the next turn
    }
}
/* [end] */

static void task_begin(struct task *task, void *(*body)(void *), void *arg)
{
    *task = (struct task){.gen = gen_new(body, arg)};
    ready[ready_count++] = task;
}

/* [run] */
static void run_timers(void)
{
    int due = 0;

    while (due < timer_count && timers[due].deadline <= now())
        future_set(timers[due++].future, NULL);
    timer_count -= due;
    memmove(timers, &timers[due], (size_t)timer_count * sizeof *timers);
}

static int poll_timeout_ms(void)
{
    double left = 10; // the longest wait

    if (timer_count > 0 && timers[0].deadline - now() < left)
        left = timers[0].deadline - now();
    return left < 0 || ready_count > 0 ? 0 : (int)(left * 1000) + 1;
}

static void run(void)
{
    while (ready_count + timer_count + io_count > 0) {
        struct epoll_event events[MAX];
        int n = epoll_wait(epoll, events, MAX, poll_timeout_ms());

        for (int i = 0; i < n; i++) {
            io_count--;
            future_set(events[i].data.ptr, NULL);
        }
        run_timers();
        // only the tasks that are ready now
        for (int todo = ready_count; todo > 0; todo--) {
            struct task *task = ready[0];
            memmove(ready, ready + 1, (size_t)--ready_count * sizeof *ready);
            task_step(task);
        }
    }
}
/* [end] */

static struct sockaddr_in address = {.sin_family = AF_INET};
static int listener;

/* A local server. The article uses a public server. */
static void *server(void *arg)
{
    for (int i = 0; i < 3; i++) {
        char request[100];
        wait_fd(listener, EPOLLIN);
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        wait_fd(fd, EPOLLIN);
        if (recv(fd, request, sizeof request, 0) > 0)
            send(fd, "HTTP/1.0 200 OK\r\n", 17, MSG_NOSIGNAL);
        close(fd);
    }
    return arg;
}

static void *coroutine2(void *name)
{
    printf("%s-2 A\n", (char *)name);
    loop_sleep(0.03);
    printf("%s-2 Over\n", (char *)name);
    return "its result";
}

/* [coroutine] */
static void *coroutine(void *name)
{
    char data[1024];
    struct task task;

    gen_yield(NULL);
    printf("%s A\n", (char *)name);
    loop_sleep(0.03);
    printf("%s B\n", (char *)name);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)connect(fd, (struct sockaddr *)&address, sizeof address); // EINPROGRESS
    wait_fd(fd, EPOLLOUT);
    send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL);
    wait_fd(fd, EPOLLIN);
    ssize_t n = recv(fd, data, sizeof data, 0);
    printf("%s got %.*s\n", (char *)name, n > 2 ? (int)n - 2 : 0, data);
    close(fd);
    task_begin(&task, coroutine2, name);
    printf("%s Over, with %s\n", (char *)name, (char *)await(&task.future));
    return NULL;
}
/* [end] */

int main(void)
{
    struct task tasks[4];
    socklen_t length = sizeof address;

    epoll = epoll_create1(0);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, length) < 0 ||
        listen(listener, 8) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0)
        return 1;
    for (int i = 0; i < 3; i++)
        task_begin(&tasks[i], coroutine, (char *[]){"1", "2", "3"}[i]);
    task_begin(&tasks[3], server, NULL);
    run();
    return 0;
}
// NOLINTEND(clang-analyzer-core.StackAddressEscape)
