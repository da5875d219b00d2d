/*
 * simulated_cut.c - hosts of the simulated network that are temporarily unreachable.
 *
 * A cut is an entry in an array: a host, and the time until which no packet can reach or
 * leave it. The array is searched when a packet arrives. Expired entries are reused.
 */
#include "simulated_cut.h"

#include <arpa/inet.h>
#include <string.h>

static struct coil__sim_cut *cut_of(struct coil__sim *sim, const struct in6_addr *host)
{
    for (size_t i = 0; i < sim->cut_count; i++)
        if (coil__sim_host_equal(&sim->cuts[i].host, host))
            return &sim->cuts[i];
    return NULL;
}

/*
 * Return the host's cut, or, if there is none, an entry that can be used for it: an
 * expired one if possible, otherwise a new one. Returns NULL if memory ran out.
 */
static struct coil__sim_cut *cut_for(struct coil__sim *sim, const struct in6_addr *host)
{
    struct coil__sim_cut *cut = cut_of(sim, host);
    struct coil__sim_cut *cuts;

    for (size_t i = 0; i < sim->cut_count && cut == NULL; i++)
        if (sim->cuts[i].until <= coil__sim_now())
            cut = &sim->cuts[i];
    if (cut == NULL) {
        cuts = coil__inside->realloc(sim->cuts, (sim->cut_count + 1) * sizeof *cuts);
        if (cuts == NULL)
            return NULL;
        sim->cuts = cuts;
        cut = &cuts[sim->cut_count++];
        cut->until = INT64_MIN;
    }
    cut->host = *host;
    return cut;
}

static int read_host(const char *text, struct in6_addr *out)
{
    char v4[sizeof "::ffff:" + INET_ADDRSTRLEN];

    if (inet_pton(AF_INET6, text, out) == 1)
        return 0;
    if (strlen(text) >= INET_ADDRSTRLEN)
        return -EINVAL;
    snprintf(v4, sizeof v4, "::ffff:%s", text);
    return inet_pton(AF_INET6, v4, out) == 1 ? 0 : -EINVAL;
}

int coil__sim_cut(struct coil__sim *sim, const char *address, int64_t for_ns)
{
    struct in6_addr host;
    struct coil__sim_cut *cut;

    if (read_host(address, &host) < 0)
        return -EINVAL;
    cut = for_ns > 0 ? cut_for(sim, &host) : cut_of(sim, &host);
    if (cut == NULL)
        return for_ns > 0 ? -ENOMEM : 0;
    cut->until = for_ns > 0 ? coil__inside->time_add(coil__sim_now(), for_ns) : 0;
    return 0;
}

int64_t coil__sim_cut_until(struct coil__sim *sim, const struct in6_addr *a,
                            const struct in6_addr *b)
{
    int64_t until = INT64_MIN;

    for (size_t i = 0; i < sim->cut_count; i++)
        if (sim->cuts[i].until > until && (coil__sim_host_equal(&sim->cuts[i].host, a) ||
                                           coil__sim_host_equal(&sim->cuts[i].host, b)))
            until = sim->cuts[i].until;
    return until;
}

void coil__sim_perhaps_cut(struct coil__sim *sim, const struct in6_addr *host)
{
    struct coil__sim_cut *cut;
    int64_t until;

    if (!coil__sim_chance(sim, sim->opts.cut_ppm))
        return;
    until =
        coil__inside->time_add(coil__sim_now(), coil__sim_between(sim, sim->opts.cut_ns));
    cut = cut_for(sim, host);
    /* if memory ran out, the host is not cut off */
    if (cut != NULL && cut->until < until)
        cut->until = until;
}
