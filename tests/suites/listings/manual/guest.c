/* needs: coil glib-2.0 */
/* guest.c - compiles and runs the examples in docs/manual/guest.md. */
#include "listings.h"

#include "guest.md/in-glib"

static int state;

static int app(void *arg)
{
    (void)arg;
    state = coil_sleep(COIL_MSEC(10)) == 0;
    coil_loop_stop(coil_loop_current());
    return 0;
}

static void run_host(coil_loop *loop)
{
    GMainLoop *main_loop = g_main_loop_new(NULL, FALSE);

    attach(loop, main_loop);
    CHECK(coil_spawn(app, NULL, NULL, NULL) == 0);
    g_main_loop_run(main_loop);
    g_main_loop_unref(main_loop);
}

static int run(void)
{
#include "guest.md/between-the-steps"
    return 0;
}

int main(void)
{
    CHECK(run() == 0 && state == 1);
    return 0;
}
