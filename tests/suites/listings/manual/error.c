/* error.c - compiles and runs the examples in docs/manual/error.md. */
#include "listings.h"

static int app(void *arg);
static void log_line(FILE *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#include "error.md/errors-and-tracebacks"
#define main listing_main
#include "error.md/errors-and-tracebacks-4"
#undef main
#include "error.md/unhandled-failures"
#include "error.md/errors-and-tracebacks-3"

static int serve(void *arg)
{
    (void)arg;
    return port_of("http");
}

static int await_and_print(coil_task *server)
{
    int rc;

#include "error.md/errors-and-tracebacks-2"
    return rc;
}

#include <stdarg.h>

static int logged;

static void log_line(FILE *log, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vfprintf(log, format, list);
    va_end(list);
    logged++;
}

static int app(void *arg)
{
    coil_task *server;
    int rc;

    CHECK(coil_spawn(serve, arg, NULL, &server) == 0);
    rc = await_and_print(server);
    CHECK(rc == -EINVAL);
    coil_task_release(server);
    CHECK(prepare("slow") == -COIL_EFAILED);

    coil_set_exception_handler(log_it, stdout);
    CHECK(coil_spawn(serve, arg, NULL, NULL) == 0);
    CHECK(coil_yield() == 0 && coil_yield() == 0 && logged == 1);
    return rc;
}

int main(void)
{
    CHECK(listing_main() == 1); // app() fails, so main() exits with 1
    return 0;
}
