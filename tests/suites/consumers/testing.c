/*
 * testing.c - a user's test with a virtual clock, a simulated network and injected
 * failures.
 */
#include <coil.h>

#include <errno.h>
#include <stdio.h>

static coil_sequencer order = COIL_SEQUENCER_INIT;

static int greet(void *listener)
{
    coil_stream *peer;
    int rc = coil_accept(listener, &peer);

    if (rc < 0)
        return rc;
    rc = coil_sleep(COIL_SEC(3600));
    if (rc == 0)
        rc = coil_write(peer, "hello\n", 6) < 0 ? -EIO : 0;
    coil_stream_close(peer);
    return rc < 0 ? rc : coil_sequencer_wait(&order, 1);
}

static int talk(void *arg)
{
    coil_listener *listener;
    coil_stream *stream;
    coil_task *greeter;
    char word[16] = "";
    int rc = coil_listen("192.0.2.1", "80", 0, &listener);

    (void)arg;
    if (rc == 0)
        rc = coil_spawn(greet, listener, NULL, &greeter);
    if (rc == 0)
        rc = coil_wait_all_blocked();
    if (rc == 0)
        rc = coil_connect("192.0.2.1", "80", &stream);
    if (rc < 0)
        return rc;
    rc = coil_read_line(stream, word, sizeof word) < 0 ? -EIO : 0;
    coil_stream_close(stream);
    if (rc == 0)
        rc = coil_sequencer_wait(&order, 0);
    if (rc == 0)
        rc = coil_task_await(greeter);
    coil_task_release(greeter);
    coil_listener_close(listener);
    printf("%.5s on %s after %lld s\n", word, coil_backend_name(),
           (long long)(coil_now() / COIL_SEC(1)));
    return rc;
}

static int nothing(void *arg)
{
    (void)arg;
    return 0;
}

int main(void)
{
    coil_network_opts opts = {.seed = 1};

    coil_testing_network(&opts);
    coil_testing_shuffle(7);
    if (coil_testing_run(talk, NULL) < 0)
        return 1;
    coil_testing_fail_allocation(1);
    if (coil_testing_run(nothing, NULL) != -ENOMEM || coil_testing_failed() == NULL)
        return 2;
    return coil_testing_allocations() == 0;
}
