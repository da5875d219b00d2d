/* debug.c - compiles and runs the examples in docs/manual/debug.md. */
#include "listings.h"

struct table {
    const char *url;
};

static bool table_has(const struct table *table, const char *url)
{
    return table->url != NULL && strcmp(table->url, url) == 0;
}

static void table_add(struct table *table, const char *url)
{
    table->url = url;
}

static int app(void *arg)
{
    struct table table = {NULL}, *seen = &table;
    const char *url = "http://example.org/";

    (void)arg;
#include "debug.md/code-that-must-not-wait"
    CHECK(seen->url == url);
    return coil_yield();
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
