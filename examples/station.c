/*
 * station.c - a thread reads a thermometer, tasks report at a fixed rate: a channel, which
 * threads and tasks share, an interval, and one wait for two queues.
 */
#include <coil.h>

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define READINGS 5

static coil_queue readings = COIL_QUEUE_INIT(sizeof(int), 0);
static coil_queue ticks = COIL_QUEUE_INIT(sizeof(int), 0);

static void *measure(void *channel)
{
    for (int celsius = 20; celsius < 20 + READINGS; celsius++) {
        usleep(2000); // the thermometer takes its time
        coil_channel_put_wait(channel, &celsius, COIL_NEVER);
    }
    coil_channel_shutdown(channel);
    coil_channel_release(channel);
    return NULL;
}

static int collect(void *channel)
{
    int celsius;

    while (coil_channel_get(channel, &celsius) == 0)
        coil_queue_put(&readings, &celsius);
    return 0; // -ESHUTDOWN: that was the last
}

static int tick(void *interval)
{
    int due;

    while ((due = coil_interval_wait(interval)) > 0)
        coil_queue_put(&ticks, &due);
    return due; // cancelled
}

static int app(void *arg)
{
    coil_queue *both[] = {&readings, &ticks}; // if both have an item, the first one's
    int item, celsius = 0, count = 0;
    coil_interval interval;
    coil_channel *channel;
    coil_group group;
    pthread_t thread;
    int rc = coil_channel_create(sizeof(int), 4, &channel);

    (void)arg;
    if (rc < 0)
        return rc;
    coil_interval_init(&interval, COIL_MSEC(20));
    pthread_create(&thread, NULL, measure, coil_channel_retain(channel));
    coil_group_enter(&group);
    coil_group_spawn(&group, collect, channel, NULL, NULL);
    coil_group_spawn(&group, tick, &interval, NULL, NULL);
    do { // until a tick comes after the last reading
        rc = coil_queue_get_any(both, 2, &item);
        if (rc == 0)
            celsius = item, count++;
    } while (rc == 0 || (rc == 1 && count < READINGS));
    printf("%d readings, now %d degrees\n", count, celsius);
    coil_group_cancel(&group, "that was the report");
    rc = coil_group_exit(&group, rc < 0 ? rc : 0);
    pthread_join(thread, NULL);
    coil_channel_release(channel);
    return rc;
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
