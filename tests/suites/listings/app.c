/*
 * app.c - the program in a document's compile command that the document does not show.
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
