/* hooks.c - compiles and runs the examples in include/coil/hooks.h. */
#include "listings.h"

static int entered;

static void enter(void *memory, void *data)
{
    (void)memory;
    (void)data;
    entered++;
}

static const coil_task_hooks interpreter_hooks = {.enter = enter};

static int run_script(void *arg)
{
    (void)arg;
    return 0;
}

static int app(void *arg)
{
    (void)arg;
#include "hooks.h/1"
    return rc < 0 ? rc : coil_yield();
}

int main(void)
{
    RUN(app, NULL);
    CHECK(entered == 2);
    return 0;
}
