/*
 * reap.c - reaps children that outlive their loop.
 *
 * An open loop watches the handles of its children (os/process.c). When the loop closes,
 * a thread is started for each destroyed or detached child that is still running; it
 * sleeps until the child ends. Few children need a thread, because killed children
 * usually end at once. When the program ends, init(1) reaps the remaining children.
 */
#include "reap.h"

#include "../base/fault.h"
#include "../kernel/child.h"
#include "../kernel/thread.h"
#include "../loop/loop.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define MOMENT_MS 100
#define STACK_BYTES ((size_t)64 * 1024)

/* Count the thread as idle for deadlock.c, because a reaper never posts to a loop. */
static void count_thread(int change)
{
    atomic_fetch_add(&coil__pool_threads, (unsigned)change);
    atomic_fetch_add(&coil__pool_idle, (unsigned)change);
}

static void *reap(void *arg)
{
    int handle = (int)(intptr_t)arg;

    coil__thread_set_name("coil-reaper");
    coil__child_reap_apart(handle);
    close(handle);
    count_thread(-1);
    return NULL;
}

/*
 * Start a thread that reaps the child. The thread blocks all signals, so that signal
 * handlers run on the program's own threads.
 */
static bool start_reaper(int handle)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    bool started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    count_thread(1);
    started = !coil__call_fails(EAGAIN, "pthread_create") &&
              pthread_create(&thread, &attributes, reap, (void *)(intptr_t)handle) == 0;
    if (!started)
        count_thread(-1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void coil__reap_later(int handle, bool is_ending)
{
    struct pollfd ended = {.fd = handle, .events = POLLIN};
    int status;

    if (is_ending)
        poll(&ended, 1, MOMENT_MS);
    if (coil__child_reap(handle, &status) != -EAGAIN) {
        close(handle);
        return;
    }
    if (start_reaper(handle))
        return;
    close(handle);
    coil_call_exception_handler(&(coil_exception){
        .message = "No thread can be started to wait for a child: it may remain a zombie",
        .rc = -EAGAIN});
}
