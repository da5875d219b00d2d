/* alarm.c - alarms that send a signal to one thread: timer_create(2), SIGEV_THREAD_ID. */
#include "../../base/base.h"
#include "../../base/fault.h"
#include "../thread.h"

#include <signal.h>
#include <time.h>

bool coil__thread_alarm_create(struct coil__thread_alarm *alarm, int signo)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signo};
    timer_t timer;

    event._sigev_un._tid = coil__thread_id();
    if (COIL__CALL(EAGAIN, timer_create(CLOCK_MONOTONIC, &event, &timer)) != 0)
        return false;
    alarm->timer = timer;
    return true;
}

void coil__thread_alarm_set(const struct coil__thread_alarm *alarm, int64_t span_ns)
{
    struct itimerspec when = {
        .it_value = {.tv_sec = span_ns / COIL_SEC(1), .tv_nsec = span_ns % COIL_SEC(1)}};

    timer_settime(alarm->timer, 0, &when, NULL);
}

void coil__thread_alarm_destroy(const struct coil__thread_alarm *alarm)
{
    timer_delete(alarm->timer);
}
