/* needs: coil-testing */
/*
 * guide.c - compiles and runs the examples in docs/guide.md.
 */
#include "listings.h"

struct job {
    int number;
};

struct image {
    int width;
};

static int talk(coil_stream *stream);
static int resize(void *image);
static void work(const struct job *job);

#include "guide.md/several-tasks-at-once"
#include "guide.md/errors-and-cancellation-among-them"
#include "guide.md/deadlines"
#include "guide.md/work-for-several-workers"
#include "guide.md/code-that-blocks"

#define main echo_main
#define app echo_app
#include "guide.md/a-server-that-stops-cleanly"
#undef app
#undef main

#include "signals.h"
#include "simulated.h"

static int done;

static int talk(coil_stream *stream)
{
    char line[6];

    return (int)coil_read_exact(stream, line, sizeof line);
}

static int resize(void *image)
{
    ((struct image *)image)->width /= 2;
    return 0;
}

static void work(const struct job *job)
{
    CHECK(job->number == done);
    done++;
}

static int silent(coil_stream *stream, void *arg)
{
    char byte;

    (void)arg;
    return (int)coil_read(stream, &byte, 1);
}

static int connect_and_talk(void *arg)
{
    struct host echoing, waiting;
    coil_stream *stream;
    char line[6];

    (void)arg;
    use_known_hosts();
    open_host(&echoing, "7", echo, NULL);
    CHECK(ask("example.org", line) == 0 && memcmp(line, "hello\n", 6) == 0);
    close_host(&echoing);

    open_host(&waiting, "9", silent, NULL);
    CHECK(coil_connect("example.org", "9", &stream) == 0);
    CHECK(talk_for_two_seconds(stream) == -ETIMEDOUT);
    coil_stream_destroy(stream);
    close_host(&waiting);
    return 0;
}

static int share_work(void *arg)
{
    coil_queue queue;
    coil_task *task;

    (void)arg;
    coil_queue_init(&queue, sizeof(struct job), 100);
    CHECK(coil_spawn(worker, &queue, NULL, &task) == 0);
    CHECK(produce(&queue) == 0);
    CHECK(coil_task_await(task) == 0);
    coil_task_release(task);
    coil_queue_finish(&queue);
    CHECK(done == 1000);
    return 0;
}

static int resize_one(void *arg)
{
    struct image image = {.width = 64};

    (void)arg;
    CHECK(resize_on_a_thread(&image) == 0 && image.width == 32);
    return 0;
}

int main(void)
{
    static const int sigterm = SIGTERM;
    int numbers[] = {1, 2};

    RUN(print_sum, numbers);
    RUN(share_work, NULL);
    RUN(resize_one, NULL);
    RUN_SIMULATED(connect_and_talk, NULL);
    send_when_handled(&sigterm); // echo_main() also runs on the simulated network
    return echo_main();
}
