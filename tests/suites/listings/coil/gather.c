/* gather.c - compiles and runs the examples in include/coil/gather.h. */
#include "listings.h"

static int value_of(void *arg)
{
    return arg == NULL ? 1 : 2;
}

static int read_all(void *file)
{
    return value_of(file);
}

static struct count {
    coil_awaitable base;
} count = {{value_of}};

static int used;

static void use(int value)
{
    used += value;
}

static int app(void *arg)
{
    coil_task *a, *b, *task, *other;
    void *file = arg;
    coil_awaitable *awaitable = &count.base;
    int rc;

    CHECK(coil_spawn(value_of, NULL, NULL, &a) == 0);
    CHECK(coil_spawn(value_of, &rc, NULL, &b) == 0);
    {
#include "gather.h/1"
        CHECK(rc == 0 && rcs[0] == 1 && rcs[1] == 2);
    }
#include "gather.h/2"
    CHECK(rc == 0);
    {
        coil_future *futures[] = {coil_task_future(task), coil_task_future(other)};
        size_t n = 2;
#include "gather.h/3"
        CHECK(rc == 0 && used == 3);
    }
    coil_task_release(a);
    coil_task_release(b);
    coil_task_release(task);
    coil_task_release(other);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
