/* guest.c - compiles and runs the examples in include/coil/guest.h. */
#include "listings.h"

static int app(void *state)
{
    int rc = coil_sleep(COIL_MSEC(10));

    *(int *)state = 1;
    coil_loop_stop(coil_loop_current());
    return rc;
}

/* Do what the host's event loop does, for a host that polls only coil's descriptor. */
static void poll_with_the_others(struct pollfd *guest, int64_t timeout)
{
    int64_t ms = (timeout + COIL_MSEC(1) - 1) / COIL_MSEC(1);

    CHECK(poll(guest, 1, timeout == COIL_NEVER ? -1 : (int)ms) >= 0);
}

int main(void)
{
    coil_loop *loop;
    int rc, state = 0;

#include "guest.h/1"
    CHECK(rc == 1 && state == 1);
    coil_loop_close(loop);
    return 0;
}
