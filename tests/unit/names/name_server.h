/*
 * name_server.h - a name server on loopback with answers defined by a test.
 *
 *     static const struct name_rule rules[] = {
 *         {"one.test", 'A', .address = "192.0.2.1", .ttl = 60},
 *         {"slow.test", 'A', .address = "192.0.2.2", .held = true},
 *         {"broken.test", 0, .rcode = 2},
 *     };
 *     struct name_server server;
 *     name_server_start(&server, rules, 3);
 *     name_server_use(&server, &(coil_resolver_opts){.timeout_ns = COIL_MSEC(100)});
 *     ...
 *     name_server_stop(&server);
 *
 * The server runs on its own thread, serves UDP and TCP on the same port, and ignores the
 * case of letters in names. A name without a rule does not exist.
 */
#ifndef TESTS_NET_NAME_SERVER_H
#define TESTS_NET_NAME_SERVER_H

#include <coil/resolver.h>

#include <pthread.h>
#include <stdatomic.h>

enum { NAME_FORMAT_ERROR = 1, NAME_SERVFAIL = 2, NAME_NXDOMAIN = 3, NAME_REFUSED = 5 };

/*
 * If several rules have the same name and type, the answer contains all their addresses.
 * The options of the answer are those of the first of these rules.
 */
struct name_rule {
    const char *name;
    int type;            /* 'A', '6' (AAAA), or 0: both types, no address */
    const char *address; /* NULL: the name has no address of this type */
    const char *cname;   /* not NULL: `name` is an alias of the name in this member */
    unsigned ttl;
    unsigned rcode;
    int soa_minimum; /* minimum in the SOA record of a negative answer; 0: no record */
    unsigned delay_ms;
    bool held;       /* answer UDP queries only after name_server_release() */
    unsigned drops;  /* number of queries to ignore before answering */
    bool truncated;  /* truncate the answer over UDP, so that TCP must be used */
    bool silent;     /* never answered */
    unsigned filler; /* number of additional addresses, to make the answer long */
    bool asks_back;  /* the header of the answer marks it as a query */
};

struct name_server {
    const struct name_rule *rules;
    size_t rule_count;
    int udp, tcp, orders[2]; /* orders: a pipe for commands of one byte */
    unsigned port;
    pthread_t thread;
    _Atomic unsigned questions, tcp_questions;
    unsigned dropped[16]; /* by rule */
    bool released;        /* used only by the server's thread */
};

void name_server_start(struct name_server *server, const struct name_rule *rules,
                       size_t n);
void name_server_stop(struct name_server *server);

/* Answer all held queries, and from now on answer queries at once. */
void name_server_release(struct name_server *server);

/*
 * Configure the loop's resolver to use c-ares with only this server and no hosts file.
 * Other options are taken from `opts`, unless it is NULL. Skips the test if coil was
 * built without c-ares.
 */
void name_server_use(const struct name_server *server, const coil_resolver_opts *opts);

/* Like name_server_use(), but return the result of coil_resolver_configure(). */
int name_server_try(const struct name_server *server, const coil_resolver_opts *opts);

#endif
