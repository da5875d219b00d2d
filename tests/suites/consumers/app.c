/*
 * app.c - a user's program in C.
 */
#include <coil.h>

#include <stdio.h>

static int app(void *arg)
{
    int rc = coil_sleep(COIL_MSEC(1));

    if (rc < 0)
        return rc;
    printf("coil %s %s\n", coil_version(), (const char *)arg);
    return 0;
}

int main(void)
{
    static char word[] = "slept";

    return coil_run(app, word, NULL) < 0;
}
