/*
 * resolver.h (internal) - the parts of a loop's resolver.
 *
 *   addrinfo.c, connect.c    what tasks call
 *        |        \
 *        |     resolver_lane.c     getaddrinfo(3) on a thread
 *   resolver.c                     the loop's: options, engine, what it has open
 *        |
 *   question.c                     one name, one family: asked, answered, kept
 *        |            \
 *     hosts.c     channel_cares.c  (or channel_none.c) asks the name servers
 *                       |
 *                 resolv_conf.c    how long, how often
 */
#ifndef COIL_NET_RESOLVER_H
#define COIL_NET_RESOLVER_H

#include "../loop/loop.h"

#include <coil/address.h>
#include <coil/addrinfo.h>
#include <coil/resolver.h>

struct coil__channel;
struct coil__hosts;

/* ---- questions -------------------------------------------------------------------- */

enum coil__question_kind {
    COIL__ASK_V4, /* its IPv4 addresses */
    COIL__ASK_V6  /* its IPv6 addresses */
};

/* What came of it. */
struct coil__answer {
    int rc;                  /* 0; -EINPROGRESS; -ENOENT: there is none; or what failed */
    int64_t ttl_ns;          /* so long it is right */
    const char *why;         /* of a failure: a phrase, static */
    char *name;              /* the host's proper one; coil__alloc()ed or NULL */
    coil_address *addresses; /* without port; coil__alloc()ed or NULL */
    size_t count;
};

/* Counted references: of the table, of the channel that asks, and of who looks. */
struct coil__question {
    struct coil__list in_table; /* resolver.table[] */
    struct coil__list in_use;   /* resolver.by_use, once answered; channel.line before */
    struct coil__list listeners;
    struct coil__resolver *resolver;
    struct coil__channel *channel; /* while it is asked */
    unsigned references;
    enum coil__question_kind kind;
    bool asked; /* of name servers; else it was answered here */
    struct coil__answer answer;
    int64_t expires;
    char host[]; /* in small letters */
};

/* Who wants to know when it is answered; taken out of its list before the call. */
struct coil__listener {
    struct coil__list link;
    void (*answered)(struct coil__listener *listener);
};

/*
 * Ask, unless it is known or being asked already. *out is a reference; answered if
 * answer.rc is not -EINPROGRESS. 0 or -ENOMEM.
 */
int coil__question_ask(struct coil__resolver *resolver, const char *host,
                       enum coil__question_kind kind, struct coil__question **out);
void coil__question_release(struct coil__question *question);

/* The channel's: here is the answer, whose memory is the question's now. */
void coil__question_answer(struct coil__question *question,
                           const struct coil__answer *answer);

/* Does anybody want to know? */
bool coil__question_wanted(const struct coil__question *question);

/* Forget what is known. */
void coil__questions_forget(struct coil__resolver *resolver);

/* ---- the resolver ----------------------------------------------------------------- */

#define COIL__QUESTION_BUCKETS 256

struct coil__resolver_settings {
    bool uses_channel;                             /* c-ares; else the dns lane */
    char *servers, *hosts_file, *resolv_conf_file; /* or NULL */
    int64_t timeout_ns;                            /* 0: as resolv.conf says */
    unsigned tries;                                /* the same */
    size_t cache_entries;
};

struct coil__resolver {
    coil_loop *loop;
    struct coil__close_hook hook;
    struct coil__resolver_settings settings;
    struct coil__list table[COIL__QUESTION_BUCKETS];
    struct coil__list by_use; /* answered ones, the latest used last */
    size_t kept;
    struct coil__channel *channel; /* what new questions go to; NULL until the first */
    struct coil__list retired;     /* channels that finish what they were asked */
    struct coil__hosts *hosts;     /* hosts.c; NULL until it is read */
    struct timespec resolv_conf_changed;
    int64_t looked_at_files; /* when; COIL_NEVER: not yet */
};

/* This loop's, created if need be: 0 or -ENOMEM. */
int coil__resolver_get(struct coil__resolver **out);

/*
 * Look whether files have changed, if that was not done just now; then there is a channel
 * to ask. 0, -ENOMEM, or what the channel could not be opened with.
 */
int coil__resolver_prepare(struct coil__resolver *resolver);

/* ---- whom it asks ----------------------------------------------------------------- */

/* NULL where coil was built without. */
extern const char *const coil__channel_engine;

/* Is this a list of servers? 0, -EINVAL, -ENOMEM. */
int coil__channel_check_servers(const char *servers);

int coil__channel_open(struct coil__resolver *resolver, struct coil__channel **out);

/* It finishes what it was asked, and is gone then. NULL is accepted. */
void coil__channel_retire(struct coil__channel *channel);

/* At once; what it was asked is not answered any more. */
void coil__channel_destroy(struct coil__channel *channel);
void coil__channels_destroy_retired(struct coil__resolver *resolver);

/* Takes a reference; perhaps answered before this returns. */
void coil__channel_ask(struct coil__channel *channel, struct coil__question *question);

/* Its servers, for sentences: "192.0.2.1:53, ...". */
const char *coil__channel_servers(const struct coil__channel *channel);

/* ---- resolv.conf(5) --------------------------------------------------------------- */

#define COIL__RESOLV_CONF_FILE "/etc/resolv.conf"

/*
 * What the file's options and $RES_OPTIONS say of `timeout` and `attempts`, within the
 * bounds that the C library has; where they do not, or the file cannot be read, 5 s
 * and 2.
 */
void coil__resolv_conf_read(const char *path, int64_t *timeout_ns, unsigned *tries);

/* ---- hosts(5) --------------------------------------------------------------------- */

/*
 * What the file says of a name, in small letters: 0 or -ENOMEM; answer->rc -EINPROGRESS:
 * nothing. Of a host that is there with addresses of the other family alone: -ENOENT.
 */
int coil__hosts_find(struct coil__hosts *hosts, const char *host,
                     enum coil__question_kind kind, struct coil__answer *answer);

/* Read it if it is not as it was read before. *hosts is NULL at first. */
int coil__hosts_refresh(struct coil__hosts **hosts, const char *path);
void coil__hosts_destroy(struct coil__hosts *hosts);

/* ---- and the rest ----------------------------------------------------------------- */

/* Best first, by RFC 6724. Equal ones stay in their order. */
void coil__addresses_sort(coil_loop *loop, coil_address addresses[], size_t count);

/* getaddrinfo(3) and getnameinfo(3) in the dns lane. Numbers take no thread. */
int coil__lane_look_up(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **out);
int coil__lane_look_up_name(const coil_address *address, char *host, size_t host_size,
                            char *service, size_t service_size, int flags);

/* What getaddrinfo(3) and getnameinfo(3) return as a negative errno. */
int coil__errno_of_eai(int eai, int error);
int coil__call_getaddrinfo(const char *host, const char *port,
                           const struct addrinfo *hints, struct addrinfo **out);

/*
 * Numbers, and what is wrong in any case: 0, an error, or -EINPROGRESS if somebody has to
 * be asked.
 */
int coil__addrinfo_of_numbers(const char *host, const char *port,
                              const struct addrinfo *hints, struct addrinfo **out);

/*
 * As for coil_getaddrinfo() one address without the address: an entry for each kind of
 * socket, with the port. Suspends for services by name.
 */
int coil__addrinfo_of_port(const char *port, const struct addrinfo *hints,
                           struct addrinfo **out);

/* Can the channel answer that, or does it take getaddrinfo(3)? */
bool coil__addrinfo_suits_channel(const struct coil__resolver *resolver, const char *host,
                                  const char *port, const struct addrinfo *hints);

/* Fail with a sentence on what came of both questions, either of which may be NULL. */
int coil__addrinfo_fail(const char *host, struct coil__question *const questions[2]);

#endif
