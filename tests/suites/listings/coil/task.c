/* needs: coil-testing */
/* task.c - compiles and runs the examples in include/coil/task.h. */
#include "simulated.h"

#include "task.h/1"

static int app(void *arg)
{
    (void)arg;
#include "task.h/2"
    return rc;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
