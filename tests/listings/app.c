/*
 * app.c - the program that a document's compile line names without showing it.
 */
#include <coil.h>

static int app(void *arg)
{
    (void)arg;
    return coil_yield();
}

int main(void)
{
    return coil_run(app, NULL, NULL) < 0;
}
