/*
 * network.c - the public functions for the simulated network, which simulated.c
 * implements.
 */
#include "simulated.h"

coil_network_opts coil_network_calm(uint64_t seed)
{
    coil_network_opts opts = {.seed = seed};

    opts.latency_ns[1] = COIL_MSEC(2);
    opts.short_ppm = 200000;
    opts.late_ppm = 100000;
    return opts;
}

coil_network_opts coil_network_hostile(uint64_t seed)
{
    coil_network_opts opts = {.seed = seed};

    opts.latency_ns[1] = COIL_MSEC(40);
    opts.send_buffer_bytes = opts.receive_buffer_bytes = 4096;
    opts.segment_bytes = 536;
    opts.short_ppm = opts.late_ppm = 400000;
    opts.refuse_ppm = opts.accept_abort_ppm = opts.accept_limit_ppm = 50000;
    opts.reset_ppm = 2000;
    opts.cut_ppm = 2000;
    opts.cut_ns[0] = COIL_MSEC(100);
    opts.cut_ns[1] = COIL_SEC(20);
    opts.loss_ppm = opts.duplicate_ppm = 50000;
    return opts;
}

void coil_testing_network(const coil_network_opts *opts)
{
    coil__testing_begin();
    coil__sim_want(opts);
}

int coil_network_cut(const char *address, int64_t for_ns)
{
    coil_loop *loop;
    struct coil__sim *sim;
    int rc;

    coil__testing_begin();
    loop = coil__inside->loop_require("coil_network_cut");
    if (loop->backend->class != &coil__backend_simulated)
        return coil__inside->failed(-ENOTSUP);
    sim = coil__sim_of(loop->backend);
    rc = coil__sim_cut(sim, address, for_ns);
    if (rc == 0)
        coil__sim_flow_reschedule(sim);
    return rc;
}
