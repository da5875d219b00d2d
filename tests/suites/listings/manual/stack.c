/* stack.c - compiles and runs the examples in docs/manual/stack.md. */
#include "listings.h"

struct client {
    int handled;
};

static int handle(void *client)
{
    ((struct client *)client)->handled = 1;
    return coil_yield();
}

#include "stack.md/measuring-the-use"

static int app(void *arg)
{
    struct client client = {0};

    (void)arg;
    CHECK(print_stack_use(&client) == 0 && client.handled);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
