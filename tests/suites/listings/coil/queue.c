/* queue.c - compiles and runs the examples in include/coil/queue.h. */
#include "listings.h"

struct job {
    int number;
};

static int done;

static void work(const struct job *job)
{
    done += job->number;
}

static int produce(coil_queue *queue)
{
    struct job job = {1};
    int rc;
#define q (*queue)
#include "queue.h/2"
    return rc;
}

static int worker(void *queue)
{
    struct job job;
    int rc;
#undef q
#define q (*(coil_queue *)queue)
#include "queue.h/3"
    return rc == -ESHUTDOWN ? 0 : rc;
}
#undef q

static void serve(const int *order)
{
    done += *order;
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
#include "queue.h/5"
    return rc;
}

static int app(void *arg)
{
    coil_task *task;
    int rc;
#include "queue.h/1"

    (void)arg;
    CHECK(coil_spawn(worker, &q, NULL, &task) == 0);
    CHECK(produce(&q) == 0);
#include "queue.h/4"
    CHECK(rc == 0 && coil_task_await(task) == 0 && done == 1);
    coil_task_release(task);
    coil_queue_finish(&q);
    CHECK(take_from_any() == 1 && done == 101);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
