/* pool.c - three workers take jobs from a queue that holds at most four. */
#include <stdio.h>
#include <uv.h>

enum { WORKERS = 3, JOBS = 20, ROOM = 4 };

struct worker {
    uv_timer_t timer;
    int job; /* 0: idle */
};

static struct worker workers[WORKERS];
static int queue[ROOM], first, count, next_job = 1, sum;

static void on_done(uv_timer_t *timer);

/* The producer continues when the queue has room. */
static void produce(void)
{
    while (next_job <= JOBS && count < ROOM)
        queue[(first + count++) % ROOM] = next_job++;
}

static void assign(void)
{
    produce();
    for (int i = 0; i < WORKERS && count > 0; i++)
        if (workers[i].job == 0) {
            workers[i].job = queue[first];
            first = (first + 1) % ROOM;
            count--;
            uv_timer_start(&workers[i].timer, on_done, 10, 0);
            produce();
        }
}

static void on_done(uv_timer_t *timer)
{
    struct worker *worker = timer->data;

    sum += worker->job * worker->job;
    worker->job = 0;
    assign();
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();

    for (int i = 0; i < WORKERS; i++) {
        uv_timer_init(loop, &workers[i].timer);
        workers[i].timer.data = &workers[i];
    }
    assign();
    uv_run(loop, UV_RUN_DEFAULT); /* returns when no timer is active */
    printf("%d\n", sum);
    return 0;
}
