/*
 * coil/resolver.h - configure name lookups: name servers, engines, the cache.
 *
 *     coil_resolver_opts opts = {.servers = "192.0.2.53,[2001:db8::53]:5353",
 *                                .timeout_ns = COIL_MSEC(500)};
 *     rc = coil_resolver_configure(&opts);
 *
 * Configuration is optional: by default coil_getaddrinfo() and coil_connect() follow
 * resolv.conf(5) and hosts(5). Each loop has its own resolver, which is created at the
 * first lookup. There are two engines:
 *
 * "c-ares" queries the name servers itself, through sockets that the loop watches. This
 * engine looks up any number of names at the same time, without threads. It reads
 * /etc/hosts, and resolv.conf for the servers, search domains and options, and checks at
 * most once a second whether these files have changed. Answers are cached for their TTL.
 * The engine does not support other sources of names (LDAP, mDNS): if nsswitch.conf(5)
 * lists such a source, coil uses the engine "getaddrinfo".
 *
 * "getaddrinfo" calls the C library's getaddrinfo(3) on at most 8 threads of the dns
 * lane. This engine does not cache answers, because the C library does not return the
 * TTL.
 */
#ifndef COIL_RESOLVER_H
#define COIL_RESOLVER_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Members that are 0 or NULL select the defaults. All strings are copied. */
typedef struct coil_resolver_opts {
    /*
     * NULL means $COIL_RESOLVER if set, else "c-ares" if coil was built with it. If
     * $COIL_RESOLVER names an unavailable engine, lookups fail like
     * coil_resolver_configure().
     */
    const char *engine;

    /* The other members are for c-ares only. */

    /*
     * Name servers, used instead of the servers in resolv.conf:
     * "192.0.2.1,192.0.2.2:5353,[::1]:53". The default port is 53. A link-local address
     * needs a zone, here and in resolv.conf: "fe80::1%eth0", "[fe80::1%2]:53".
     */
    const char *servers;
    const char *hosts_file;       /* used instead of /etc/hosts */
    const char *resolv_conf_file; /* used instead of /etc/resolv.conf */
    /*
     * timeout_ns is the timeout for a server's answer in the first round; it doubles in
     * each further round. `tries` is the number of rounds over all servers. The defaults
     * are the `timeout` and `attempts` options of resolv.conf or $RES_OPTIONS, capped at
     * 30 s and 5 rounds. Without these options, they are 5 s and 2 rounds.
     */
    int64_t timeout_ns;
    unsigned tries;
    /*
     * The maximum number of cached answers, by default 256. The least recently used
     * answer is dropped first.
     */
    size_t cache_entries;
    bool no_cache; /* do not cache; concurrent identical lookups are still combined */
} coil_resolver_opts;

/*
 * Configure the current loop's resolver; NULL restores the defaults. Does not suspend.
 *
 * The cache is emptied. Lookups in progress complete with the old configuration. Fails
 * with -EINVAL for an unknown engine, a malformed server, or options that the engine does
 * not support. Also fails with -EOPNOTSUPP for "c-ares" if coil was built without it,
 * -EMFILE or -ENFILE if nsswitch.conf could not be opened, or -ENOMEM. After a failure,
 * the old configuration remains.
 */
COIL_API int coil_resolver_configure(const coil_resolver_opts *opts);

/* Empty the cache of the current loop's resolver. */
COIL_API void coil_resolver_flush(void);

/* Return the engine of the current loop's resolver: "c-ares" or "getaddrinfo". */
COIL_API const char *coil_resolver_name(void);

#ifdef __cplusplus
}
#endif

#endif
