/* future.c - compiles and runs the examples in include/coil/future.h. */
#include "listings.h"

static int producer(void *future)
{
    return coil_future_set(future, 42, NULL, NULL);
}

#include "future.h/2"

static int app(void *arg)
{
    struct countdown three = {{countdown_await}, 3};

    (void)arg;
#include "future.h/1"
    CHECK(rc == 42);
    CHECK(coil_awaitable_await(&three.awaitable) == 0 && three.ticks == -1);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
