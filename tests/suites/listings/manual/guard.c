/* needs: coil-testing */
/* guard.c - compiles and runs the examples in docs/manual/guard.md. */
#include "simulated.h"

struct state {
    coil_lock lock;
    bool is_saved;
    int saves;
};

static int save(struct state *state)
{
    state->saves++;
    return coil_yield();
}

#include "guard.md/blocks"
#include "guard.md/guards"
#include "guard.md/handles"

static int app(void *arg)
{
    struct state state = {.lock = COIL_LOCK_INIT};
    coil_listener *listener;
    coil_stream *ends[2], *in, *out;
    char line[16];

    (void)arg;
    CHECK(coil_stream_pair(ends) == 0);
    CHECK(ask(ends[0], line, sizeof line) == -ETIMEDOUT);
    CHECK(coil_write(ends[1], "Ada\n", 4) == 4);
    CHECK(ask(ends[0], line, sizeof line) == 0);
    CHECK(strcmp(line, "Ada") == 0);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);

    CHECK(save_once(&state) == 0 && save_once(&state) == 0);
    CHECK(state.saves == 1 && !coil_lock_locked(&state.lock));

    CHECK(coil_listen("localhost", "7001", 0, &listener) == 0);
    CHECK(open_both(&in, &out) == -ECONNREFUSED);
    coil_listener_destroy(listener);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
