/*
 * coil/resolver.h - how names are looked up: name servers, engines, the cache.
 *
 *     coil_resolver_opts opts = {.servers = "192.0.2.53,[2001:db8::53]:5353",
 *                                .timeout_ns = COIL_MSEC(500)};
 *     rc = coil_resolver_configure(&opts);
 *
 * This is optional: coil_getaddrinfo() and coil_connect() work without, as resolv.conf(5)
 * and hosts(5) say. Each loop has a resolver of its own, made when the first name is
 * looked up, with one of two engines:
 *
 * "c-ares" asks the name servers itself, by sockets that the loop watches: any number of
 * names at a time, no thread. It reads /etc/hosts, and of resolv.conf the servers, search
 * domains and options; both again when they have changed, looking at most once a second.
 * Answers are kept as long as they say. It does not know of other sources of names (LDAP,
 * mDNS): where nsswitch.conf(5) names any, the other engine is chosen.
 *
 * "getaddrinfo" is the C library's getaddrinfo(3), on at most 8 threads of the dns lane.
 * Nothing is kept, as it does not tell how long that would be right.
 */
#ifndef COIL_RESOLVER_H
#define COIL_RESOLVER_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is 0 or NULL is left to the default. All text is copied. */
typedef struct coil_resolver_opts {
    /* NULL: what $COIL_RESOLVER says, else "c-ares" where coil was built with it. Where
       that names what there is not, look-ups fail as coil_resolver_configure(). */
    const char *engine;

    /* The rest is for c-ares alone. */

    /*
     * Instead of resolv.conf's: "192.0.2.1,192.0.2.2:5353,[::1]:53", port 53 if none. A
     * link-local address has a zone, there and here: "fe80::1%eth0", "[fe80::1%2]:53".
     */
    const char *servers;
    const char *hosts_file;       /* instead of /etc/hosts */
    const char *resolv_conf_file; /* instead of /etc/resolv.conf */
    /*
     * For a server's first answer, doubled with each round; and rounds over all servers.
     * Else what resolv.conf and $RES_OPTIONS say ("options timeout:5 attempts:2"; at most
     * 30 s and 5), else 5 s and 2.
     */
    int64_t timeout_ns;
    unsigned tries;
    size_t cache_entries; /* how many answers are kept at most, 256; latest used first */
    bool no_cache;        /* keep none; equal questions under way are still one */
} coil_resolver_opts;

/*
 * Configure the current loop's resolver anew; NULL: all as at first. What was kept is
 * forgotten; look-ups that are under way end as they began. Does not suspend.
 *
 * Fails with -EINVAL for an unknown engine, a malformed server, or options that the
 * engine has not; -EOPNOTSUPP for "c-ares" where coil was built without; -ENOMEM; nothing
 * is changed then.
 */
COIL_API int coil_resolver_configure(const coil_resolver_opts *opts);

/* Forget all answers that the current loop's resolver keeps. */
COIL_API void coil_resolver_flush(void);

/* The engine of the current loop's resolver: "c-ares", "getaddrinfo". */
COIL_API const char *coil_resolver_name(void);

#ifdef __cplusplus
}
#endif

#endif
