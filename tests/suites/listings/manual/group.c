/* group.c - compiles and runs the examples in docs/manual/group.md. */
#include "listings.h"

static int talk(coil_stream *stream, void *arg)
{
    (void)arg;
    return (int)coil_write(stream, "hello", 5);
}

#include "group.md/starting-a-task-and-waiting-until-it-is-ready"

static int fetched, at_once;

static int fetch(void *url)
{
    int rc;

    (void)url;
    fetched++;
    CHECK(++at_once <= 10);
    rc = coil_yield();
    at_once--;
    return rc;
}

static int app(void *arg)
{
    int left, right, *urls[30] = {NULL}, rc;
    size_t count = 30;

    (void)arg;
#include "group.md/groups"
    CHECK(rc == 0 && fetched == 2);
#include "group.md/a-limit-of-tasks-at-once"
    CHECK(rc == 0 && fetched == 32);
    coil_group_enter(&g);
    CHECK(start_server(&g) == 0);
    coil_group_cancel(&g, NULL);
    CHECK(coil_group_exit(&g, 0) == 0);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
