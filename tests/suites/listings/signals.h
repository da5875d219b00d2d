/*
 * signals.h - sends a signal to this process as soon as coil has installed a handler for
 * it.
 */
#ifndef LISTINGS_SIGNALS_H
#define LISTINGS_SIGNALS_H

#include "listings.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *signals_send(void *arg)
{
    int signo = *(const int *)arg;
    struct sigaction now;

    do {
        usleep(1000);
        CHECK(sigaction(signo, NULL, &now) == 0);
    } while (now.sa_handler == SIG_DFL);
    kill(getpid(), signo);
    return NULL;
}

/* `signo` must be static, because a thread that is never joined reads it. */
static inline void send_when_handled(const int *signo)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, signals_send, (void *)signo) == 0);
    pthread_detach(thread);
}

#endif
