/*
 * station.c - a thread reads a thermometer, and tasks report at a fixed rate. The program
 * uses a channel between a thread and tasks, an interval, and a wait for two queues.
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
    for (int celsius = 20, rc = 0; rc == 0 && celsius < 20 + READINGS; celsius++) {
        usleep(2000); // reading the thermometer takes time
        rc = coil_channel_put_wait(channel, &celsius, COIL_NEVER);
    }
    coil_channel_shutdown(channel);
    return NULL;
}

static int collect(void *channel)
{
    int celsius;

    while (coil_channel_get(channel, &celsius) == 0)
        coil_queue_put(&readings, &celsius);
    return 0; // -ESHUTDOWN: there are no more readings
}

static int tick(void *interval)
{
    int due;

    while ((due = coil_interval_wait(interval)) > 0)
        coil_queue_put(&ticks, &due);
    return due; // cancelled
}

static int report(void *channel)
{
    // if both have an item, the first queue is served
    coil_queue *both[] = {&readings, &ticks};
    int item, celsius = 0, count = 0, rc;
    coil_interval interval;
    coil_group group;

    coil_interval_init(&interval, COIL_MSEC(20));
    coil_group_enter(&group);
    if ((rc = coil_group_spawn(&group, collect, channel, NULL, NULL)) == 0)
        rc = coil_group_spawn(&group, tick, &interval, NULL, NULL);
    while (rc >= 0 && (rc = coil_queue_get_any(both, 2, &item)) >= 0)
        if (rc == 0)
            celsius = item, count++;
        else if (count == READINGS) // the tick came after the last reading
            break;
    printf("%d readings, now %d degrees\n", count, celsius);
    coil_group_cancel(&group, "that was the report");
    return coil_group_exit(&group, rc < 0 ? rc : 0);
}

int main(void)
{
    coil_channel *channel = NULL;
    pthread_t thread;
    int rc = coil_channel_create(sizeof(int), 4, &channel);

    if (rc == 0 && (rc = -pthread_create(&thread, NULL, measure, channel)) == 0) {
        rc = coil_run(report, channel, NULL);
        coil_channel_shutdown(channel); // otherwise the thread may wait forever for room
        pthread_join(thread, NULL);
    }
    coil_channel_release(channel);
    return rc < 0;
}
