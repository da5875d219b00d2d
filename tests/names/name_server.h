/*
 * name_server.h - a name server on loopback that answers as a test tells it.
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
 * It runs on a thread of its own, by UDP and TCP on the same port, and knows what it is
 * asked for in any mixture of small and large letters. A name that no rule has does not
 * exist.
 */
#ifndef TESTS_NET_NAME_SERVER_H
#define TESTS_NET_NAME_SERVER_H

#include <coil/resolver.h>

#include <pthread.h>
#include <stdatomic.h>

enum { NAME_FORMAT_ERROR = 1, NAME_SERVFAIL = 2, NAME_NXDOMAIN = 3, NAME_REFUSED = 5 };

/* Several with the same name and type: several addresses in one answer, and how it is
   answered stands in the first. */
struct name_rule {
    const char *name;
    int type;            /* 'A', '6' (AAAA), or 0: both, which has no addresses */
    const char *address; /* NULL: there is none of this type */
    const char *cname;   /* the name is another's alias, and it has the address */
    unsigned ttl;
    unsigned rcode;
    int soa_minimum; /* of an answer that says no: in its SOA record; 0: it has none */
    unsigned delay_ms;
    bool held;       /* answered once name_server_release() has been called; by UDP */
    unsigned drops;  /* the first so many questions are lost */
    bool truncated;  /* by UDP, so that it must be asked by TCP */
    bool silent;     /* never answered */
    unsigned filler; /* so many addresses more, to make it long */
    bool asks_back;  /* what it sends says that it is a question, not an answer */
};

struct name_server {
    const struct name_rule *rules;
    size_t rule_count;
    int udp, tcp, orders[2]; /* a pipe; a byte is an order */
    unsigned port;
    pthread_t thread;
    _Atomic unsigned questions, tcp_questions;
    unsigned dropped[16]; /* by rule */
    bool released;        /* the thread's */
};

void name_server_start(struct name_server *server, const struct name_rule *rules,
                       size_t n);
void name_server_stop(struct name_server *server);

/* Answer what is held, and from now on at once. */
void name_server_release(struct name_server *server);

/* Configure the loop's resolver to ask it, and it alone, without a hosts file, with
   c-ares; the test is skipped where coil has none. `opts` has the rest, or is NULL. */
void name_server_use(const struct name_server *server, const coil_resolver_opts *opts);

/* The same, for tests in which it may fail: what coil_resolver_configure() returned. */
int name_server_try(const struct name_server *server, const coil_resolver_opts *opts);

#endif
