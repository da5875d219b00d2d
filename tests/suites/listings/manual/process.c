/* process.c - compiles and runs the examples in docs/manual/process.md. */
#include "listings.h"

#include "process.md/processes"

static int pipeline(const char *const *a, const char *const *b)
{
    coil_process *first = NULL, *second = NULL;
    int rc;

#include "process.md/starting"
    if (rc == 0)
        rc = coil_process_wait(second);
    coil_process_destroy(first);
    coil_process_destroy(second);
    return rc;
}

static int end(coil_process *p)
{
    int rc;

#include "process.md/the-end"
    return rc;
}

static int at_most(coil_process *p)
{
    coil_output output = {0};
    coil_scope s;
    int rc;

#include "process.md/the-end-2"
    coil_output_finish(&output);
    return rc;
}

static int limited(const char *const *argv)
{
    coil_process *p;
    int rc;

#include "process.md/limits"
    if (rc == 0)
        rc = coil_process_wait(p);
    coil_process_destroy(p);
    return rc;
}

static int at_a_terminal(const char *const *argv)
{
    coil_process *p;
    char buf[100];
    ssize_t n;
    int rc;

#include "process.md/terminals"
    coil_process_destroy(p);
    return rc;
}

static coil_process *sh(const char *command)
{
    const char *argv[] = {"sh", "-c", command, NULL};
    coil_process_opts opts = {.argv = argv, .out = COIL_PIPE, .new_group = true};
    coil_process *p;

    CHECK(coil_process_spawn(&opts, &p) == 0);
    return p;
}

static int app(void *arg)
{
    const char *a[] = {"echo", "hello", NULL}, *b[] = {"grep", "-q", "hello", NULL};
    coil_output small = {0};
    int rc = make_thumbnail("", 0, &small); // -ENOENT without convert(1)

    (void)arg;
    CHECK(rc == -ENOENT || rc >= 0);
    coil_output_finish(&small);
    CHECK(pipeline(a, b) == 0);
    CHECK(limited(a) == 0);
    CHECK(at_a_terminal(a) == 0);
    CHECK(end(sh("exec sleep 100")) == 128 + SIGTERM);
    CHECK(at_most(sh("echo hello")) == 0);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
