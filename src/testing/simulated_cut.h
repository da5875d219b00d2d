/*
 * simulated_cut.h (internal) - hosts of the simulated network that are temporarily
 * unreachable.
 */
#ifndef COIL_TESTING_SIMULATED_CUT_H
#define COIL_TESTING_SIMULATED_CUT_H

#include "simulated_address.h"

struct coil__sim_cut {
    struct in6_addr host;
    int64_t until;
};

/*
 * Cut the host off for for_ns, or reconnect it if for_ns is not positive. The caller must
 * then call coil__sim_flow_reschedule(), because the arrival of delayed packets may
 * change. Fails with -EINVAL or -ENOMEM.
 */
int coil__sim_cut(struct coil__sim *sim, const char *address, int64_t for_ns);

/*
 * Return the time until which at least one of the two hosts is cut off, or a past time if
 * both are reachable.
 */
int64_t coil__sim_cut_until(struct coil__sim *sim, const struct in6_addr *a,
                            const struct in6_addr *b);

/*
 * Cut the host off with a probability of opts.cut_ppm in a million. Called for each
 * packet that is sent to the host.
 */
void coil__sim_perhaps_cut(struct coil__sim *sim, const struct in6_addr *host);

#endif
