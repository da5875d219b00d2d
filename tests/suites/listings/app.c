/*
 * app.c - a program that a document compiles in a command, but does not show.
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
