/* context.c - compiles and runs the examples in include/coil/context.h. */
#include "listings.h"

static int served;

static int serve(void *client)
{
    (void)client;
    served++;
    return coil_yield();
}

static int app(void *client)
{
    char id[] = "r7";
    int rc;

#include "context.h/1"
    CHECK(served == 1 && coil_var_get(&request_id) == NULL); // it was reset
    return rc;
}

int main(void)
{
    RUN(app, NULL);
    return 0;
}
