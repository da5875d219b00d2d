/* light.c - compiles and runs the examples in docs/manual/light.md. */
#include "listings.h"

struct client {
    int number;
};

static int serve(void *client)
{
    ((struct client *)client)->number++;
    return coil_sleep(COIL_MSEC(1));
}

#include "light.md/light-tasks"

static struct client client;

static int app(void *arg)
{
    (void)arg;
    CHECK(spawn_light(&client) == 0 && coil_sleep(COIL_MSEC(10)) == 0);
    {
#include "light.md/where-it-is-not-possible"
    }
    return 0;
}

int main(void)
{
    int rc;

#include "light.md/light-tasks-2"
    CHECK(rc == 0 && client.number == 1);
    return 0;
}
