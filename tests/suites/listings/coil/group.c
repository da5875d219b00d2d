/* group.c - compiles and runs the examples in include/coil/group.h. */
#include "listings.h"

static int fetched;

static int fetch(void *url)
{
    (void)url;
    fetched++;
    return coil_yield();
}

static int talk(coil_stream *stream, void *arg)
{
    (void)arg;
    return (int)coil_write(stream, "hello", 5);
}

#include "group.h/3"

static int app(void *arg)
{
    char left[] = "left", right[] = "right";
    char *urls[20] = {left, right};
    int i, rc, count = 20;

    (void)arg;
#include "group.h/1"
    CHECK(rc == 0 && fetched == 2);
#include "group.h/2"
    CHECK(rc == 0 && fetched == 22);

    coil_group_enter(&g);
    CHECK(coil_group_start(&g, server, NULL, NULL, NULL) > 0);
    coil_group_cancel(&g, NULL);
    CHECK(coil_group_exit(&g, 0) == 0);
    return 0;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
