/*
 * message_queues.c - POSIX message queues, mq_receive(3) and its relatives.
 *
 * On Linux, message queues are descriptors that can be polled. A call whose time-out has
 * already passed transfers a message if possible, and otherwise fails at once with
 * ETIMEDOUT. Such a call therefore serves as a non-blocking attempt. If the queue is
 * non-blocking, the call fails with EAGAIN instead.
 */
#include "waiting.h"

#include <mqueue.h>

/*
 * Wait after a failed attempt, if necessary. Returns true if the caller should try again.
 */
static bool wait_to_retry(mqd_t queue, short events, const struct posix__until *until)
{
    struct pollfd fd = {.fd = queue, .events = events};
    int saved = errno;

    if (errno != ETIMEDOUT || posix__left_until(until) == 0 ||
        posix__poll(&fd, 1, posix__left_until(until)) < 0)
        return false;
    errno = saved;
    return true;
}

static ssize_t receive(mqd_t queue, char *to, size_t room, unsigned *priority,
                       const struct timespec *time)
{
    static const struct timespec passed;
    struct posix__until until = {CLOCK_REALTIME, time};
    int saved = errno;
    ssize_t n;

    posix__fairly();
    do
        n = NEXT(mq_timedreceive)(queue, to, room, priority, &passed);
    while (n < 0 && wait_to_retry(queue, POLLIN, &until));
    if (n >= 0)
        errno = saved;
    return n;
}

static int send_message(mqd_t queue, const char *message, size_t bytes, unsigned priority,
                        const struct timespec *time)
{
    static const struct timespec passed;
    struct posix__until until = {CLOCK_REALTIME, time};
    int saved = errno, rc;

    posix__fairly();
    do
        rc = NEXT(mq_timedsend)(queue, message, bytes, priority, &passed);
    while (rc < 0 && wait_to_retry(queue, POLLOUT, &until));
    if (rc == 0)
        errno = saved;
    return rc;
}

INTERPOSE ssize_t mq_receive(mqd_t queue, char *to, size_t room, unsigned *priority)
{
    if (!IN_TASK())
        return NEXT(mq_receive)(queue, to, room, priority);
    return receive(queue, to, room, priority, NULL);
}

INTERPOSE ssize_t mq_timedreceive(mqd_t queue, char *restrict to, size_t room,
                                  unsigned *restrict priority,
                                  const struct timespec *restrict time)
{
    if (!IN_TASK() || !posix__is_span(time))
        return NEXT(mq_timedreceive)(queue, to, room, priority, time);
    return receive(queue, to, room, priority, time);
}

INTERPOSE int mq_send(mqd_t queue, const char *message, size_t bytes, unsigned priority)
{
    if (!IN_TASK())
        return NEXT(mq_send)(queue, message, bytes, priority);
    return send_message(queue, message, bytes, priority, NULL);
}

INTERPOSE int mq_timedsend(mqd_t queue, const char *message, size_t bytes,
                           unsigned priority, const struct timespec *time)
{
    if (!IN_TASK() || !posix__is_span(time))
        return NEXT(mq_timedsend)(queue, message, bytes, priority, time);
    return send_message(queue, message, bytes, priority, time);
}
