/* broadcast.c - compiles and runs the examples in docs/manual/broadcast.md. */
#include "listings.h"

struct line {
    size_t length;
    char text[32];
};

struct config {
    int limit;
};

static int applied;

static void apply(int *limit, const struct config *mine)
{
    *limit = mine->limit;
    applied++;
}

#include "broadcast.md/each-item-to-each-receiver"
#include "broadcast.md/the-latest-value"

static int app(void *arg)
{
    struct config next = {20};
    struct line line = {6, "hello\n"};
    coil_stream *ends[2];
    coil_task *task, *follower;
    char text[8];
    int limit = 0;

    (void)arg;
    CHECK(coil_stream_pair(ends) == 0);
    CHECK(coil_spawn(forward, ends[0], NULL, &task) == 0);
    CHECK(coil_spawn(follow_config, &limit, NULL, &follower) == 0);
    CHECK(coil_yield() == 0);
    CHECK(limit == 10);
    CHECK(coil_broadcast_send(&chat, &line) == 0);
    CHECK(coil_latest_set(&latest, &next) == 0);
    coil_broadcast_shutdown(&chat);
    coil_latest_shutdown(&latest);
    CHECK(coil_task_await(task) == 0);
    CHECK(coil_task_await(follower) == 0);
    CHECK(limit == 20 && applied == 2);
    CHECK(coil_read_line(ends[1], text, sizeof text) == 5);
    coil_task_release(task);
    coil_task_release(follower);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    coil_broadcast_finish(&chat);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
