/*
 * channel.c - checks the report of a deadlock: two tasks of one thread use a channel of
 * Rust's standard library, which does not wake the receiver because it is on the sender's
 * own thread. The report must name the library. Ends with `N passed, N failed`.
 */
#include <coil.h>
#include <coil/posix.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WATCHDOG_S 60

void *channel_create(void);
int channel_receive(void *channel);
void channel_send(void *channel, int value);

static char message[400];

static void note_message(const coil_exception *exception, void *unused)
{
    (void)unused;
    if (message[0] == '\0')
        snprintf(message, sizeof message, "%s", exception->message);
}

static int receive(void *channel)
{
    return channel_receive(channel);
}

static int app(void *unused)
{
    const coil_task_hooks *hooks[] = {
        coil_hooks_thread_locals((const void *)channel_create), NULL};
    coil_spawn_opts opts = {.stack_bytes = 1 << 20, .hooks = hooks};
    void *channel = channel_create();
    coil_task *task;
    int rc;

    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    rc = coil_spawn(receive, channel, &opts, &task);
    if (rc < 0)
        return rc;
    coil_sleep(COIL_MSEC(1)); /* the receiver waits */
    channel_send(channel, 1);
    return coil_task_await(task);
}

int main(void)
{
    int rc, failed;

    alarm(WATCHDOG_S);
    rc = coil_run(app, NULL, NULL);
    failed = rc != -EDEADLK || strstr(message, "libforeign-park.so") == NULL ||
             strstr(message, "docs/manual/posix.md") == NULL;
    if (failed)
        printf("FAIL channel: %d, %s\n", rc, message);
    printf("%d passed, %d failed\n", !failed, failed);
    fflush(stdout);
    _exit(failed); /* no cleanup, because the tasks are still waiting */
}
