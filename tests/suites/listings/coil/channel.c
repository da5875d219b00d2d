/* channel.c - compiles and runs the examples in include/coil/channel.h. */
#include "listings.h"

struct frame {
    int number;
};

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

#include "channel.h/1"

static coil_channel *create(void)
{
    coil_channel *frames;
    int rc;

#include "channel.h/2"
    CHECK(rc == 0);
    return frames;
}

#include <pthread.h>

static int app(void *arg)
{
    coil_channel *frames = create();
    pthread_t thread;

    (void)arg;
    CHECK(pthread_create(&thread, NULL, camera, coil_channel_retain(frames)) == 0);
    CHECK(screen(frames) == -ESHUTDOWN);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    CHECK(shown == 20);
    return 0;
}
