/* queue.c - compiles and runs the examples in docs/manual/queue.md. */
#include "listings.h"

struct job {
    int number;
};

struct frame {
    int number;
};

static int made, done;

static bool next_job(struct job *job)
{
    job->number = made;
    return made++ < 500;
}

static void work(const struct job *job)
{
    CHECK(job->number == done);
    done++;
}

#include "queue.md/between-tasks"

static int served;

static void serve(const int *order)
{
    served += *order;
}

static int take_from_any(void)
{
    static coil_queue stops = COIL_QUEUE_INIT(sizeof(int), 0);
    static coil_queue orders = COIL_QUEUE_INIT(sizeof(int), 0);
    union {
        int order;
    } item = {100};
    int rc;

    CHECK(coil_queue_put(&orders, &item) == 0);
#include "queue.md/waiting-for-several-queues"
    return rc;
}

static struct frame film[20];
static size_t taken, shown;

static struct frame *next_frame(void)
{
    return taken < 20 ? &film[taken++] : NULL;
}

static void show(struct frame *frame)
{
    CHECK(frame == &film[shown]);
    shown++;
}

#include "queue.md/between-threads"

#include <pthread.h>

static int app(void *arg)
{
    coil_channel *frames;
    pthread_t thread;

    (void)arg;
    CHECK(process_all() == 0 && done == 500);
    CHECK(take_from_any() == 1 && served == 100);
    CHECK(coil_channel_create(sizeof(struct frame *), 16, &frames) == 0);
    CHECK(pthread_create(&thread, NULL, camera, coil_channel_retain(frames)) == 0);
    CHECK(screen(frames) == 0 && shown == 20);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
