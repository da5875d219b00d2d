/* needs: coil python3-embed */
/* hooks.c - compiles and runs the examples in docs/manual/hooks.md. */
#include "listings.h"

static int run_script(void *script);

#include "hooks.md/hooks-make-a-library-s-thread-local-state-task-local"

static int ran;

static int run_script(void *script)
{
    ran += PyRun_SimpleString(script) == 0;
    return 0;
}

static int app(void *arg)
{
    (void)arg;
    CHECK(spawn_script("print('a')") == 0 && spawn_script("print('b')") == 0);
    return coil_sleep(COIL_MSEC(10));
}

int main(void)
{
    PyThreadState *main_thread;

    Py_Initialize();
    main_thread = PyEval_SaveThread();
    RUN(app, NULL);
    PyEval_RestoreThread(main_thread);
    CHECK(ran == 2 && Py_FinalizeEx() == 0);
    return 0;
}
