/*
 * resolver.h (internal) - the parts of a loop's resolver.
 *
 *   addrinfo.c, connect.c    the functions that tasks call
 *        |        \
 *        |     resolver_lane.c     getaddrinfo(3) on a thread
 *   resolver.c                     the loop's resolver: options, engine, channels
 *        |
 *   question.c                     a name and a family: query, answer, caching
 *        |            \
 *     hosts.c     channel_cares.c  (or channel_none.c) queries the name servers
 *                       |
 *                 resolv_conf.c    time-out, number of tries
 *                 search.c         the names to query, in order
 *                 zones.c          servers with a zone
 *   config_file.c                  opens the files that resolver.c to zones.c read
 */
#ifndef COIL_NAMES_RESOLVER_H
#define COIL_NAMES_RESOLVER_H

#include "../loop/loop.h"

#include <coil/address.h>
#include <coil/addrinfo.h>
#include <coil/resolver.h>

#include <stdio.h>

struct coil__channel;
struct coil__hosts;

/* ---- questions --------------------------------------------------------------------- */

enum coil__question_kind {
    COIL__ASK_V4, /* its IPv4 addresses */
    COIL__ASK_V6  /* its IPv6 addresses */
};

/* The answer to a question. */
struct coil__answer {
    /*
     * 0, -EINPROGRESS, -ENOENT if the name or address does not exist, or another error
     */
    int rc;
    int64_t ttl_ns;          /* time to live */
    const char *why;         /* reason of a failure: a static string */
    coil_address *addresses; /* without ports; from coil__answer_reserve(), or NULL */
    size_t count;
    const char *name; /* canonical name, in the same memory as the addresses; or NULL */
    void *room;       /* memory for a short answer, which is in the question; or NULL */
    size_t room_bytes;
};

/*
 * Reserve memory for n addresses and, after them, for a copy of the name. The memory is
 * the answer's room if it suffices. Returns 0 or -ENOMEM.
 */
int coil__answer_reserve(struct coil__answer *answer, size_t n, const char *name);

/* Free the addresses and the name. */
void coil__answer_finish(struct coil__answer *answer);

/* The progress of a question's search: see channel_cares.c. */
struct coil__search_state {
    unsigned step;        /* number of names queried so far */
    int status;           /* the failure with the highest rank; a status of c-ares */
    int64_t ttl_ns;       /* the shortest time to live of a negative answer */
    bool began_with_host; /* the first name was the host itself */
};

/*
 * A question, which is referenced by the table, by the channel that sends its queries,
 * and by each user.
 */
struct coil__question {
    struct coil__list in_table; /* resolver.table[] */
    /* in channel.line, in resolver.by_use (if answered), or in .spare (if released) */
    struct coil__list in_use;
    struct coil__list listeners;
    struct coil__resolver *resolver;
    struct coil__channel *channel; /* while a query is in progress */
    unsigned references;
    uint32_t hash; /* of the kind and the host */
    enum coil__question_kind kind;
    bool asked;    /* name servers were queried for this question */
    bool is_small; /* the question and its answer's room have SMALL_BYTES */
    struct coil__answer answer;
    struct coil__search_state search;
    int64_t expires;
    char host[]; /* lower case */
};

/*
 * Called once, when the question is answered and the listener was removed from its list.
 */
struct coil__answer_listener {
    struct coil__list link;
    void (*answered)(struct coil__answer_listener *listener);
};

/*
 * Look up a name and a kind of address: start a query, unless the answer is known or a
 * query is already in progress. *out is set to a reference to the question. If answer.rc
 * is not -EINPROGRESS, the question is already answered. Returns 0 or -ENOMEM.
 */
int coil__question_ask(struct coil__resolver *resolver, const char *host,
                       enum coil__question_kind kind, struct coil__question **out);
void coil__question_release(struct coil__question *question);

/*
 * Store the answer, and call the listeners. The question takes ownership of the answer's
 * memory.
 */
void coil__question_answer(struct coil__question *question,
                           const struct coil__answer *answer);

/* Convert an ASCII letter to lower case. DNS ignores the case of no others (RFC 4343). */
static inline unsigned char coil__ascii_lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* True if the host is the domain or one of its subdomains. A trailing dot is ignored. */
bool coil__host_is_in(const char *host, const char *domain);

/* Forget all answers. */
void coil__questions_forget(struct coil__resolver *resolver);

/* Free the memory of released questions, which is kept for new questions. */
void coil__questions_trim(struct coil__resolver *resolver);

/* ---- the resolver ------------------------------------------------------------------ */

#define COIL__QUESTION_BUCKETS 256

struct coil__resolver_settings {
    /* true if the engine is c-ares; false for getaddrinfo(3) in the dns lane */
    bool uses_channel;
    char *servers, *hosts_file, *resolv_conf_file; /* or NULL */
    int64_t timeout_ns;                            /* 0: as in resolv.conf */
    unsigned tries;                                /* 0: as in resolv.conf */
    size_t cache_entries;
};

struct coil__resolver {
    coil_loop *loop;
    struct coil__close_hook hook;
    struct coil__resolver_settings settings;
    struct coil__list table[COIL__QUESTION_BUCKETS];
    struct coil__list by_use; /* answered questions, most recently used last */
    size_t kept;
    struct coil__list spare; /* released questions, whose memory is reused */
    size_t spare_count;
    /* the channel for new questions; NULL before the first question */
    struct coil__channel *channel;
    struct coil__list retired; /* replaced channels with questions in progress */
    struct coil__hosts *hosts; /* NULL until the hosts file is read */
    struct timespec resolv_conf_changed;
    int64_t looked_at_files; /* time of the last check; COIL_NEVER before the first */
};

/*
 * Get the resolver of the current loop, and create it if necessary. Returns 0, -ENOMEM, or
 * an error with a message.
 */
int coil__resolver_get(struct coil__resolver **out, const char *caller);

/*
 * Check whether the files have changed, at most once a second. If the engine is c-ares
 * and no channel is open, open one. Returns 0, -ENOMEM, or the error of reading a file or
 * opening the channel.
 */
int coil__resolver_prepare(struct coil__resolver *resolver);

/* ---- channels ---------------------------------------------------------------------- */

/* The name of the engine, or NULL if coil was built without c-ares. */
extern const char *const coil__channel_engine;

/* Check a list of servers. Returns 0, -EINVAL or -ENOMEM. */
int coil__channel_check_servers(const char *servers);

int coil__channel_open(struct coil__resolver *resolver, struct coil__channel **out);

/*
 * Retire the channel: send it no new questions, and destroy it once its questions in
 * progress are answered. NULL is accepted.
 */
void coil__channel_retire(struct coil__channel *channel);

/* Destroy the channel immediately. Questions in progress stay unanswered. */
void coil__channel_destroy(struct coil__channel *channel);
void coil__channels_destroy_retired(struct coil__resolver *resolver);

/*
 * Query the name servers. Takes a reference to the question, which may be answered before
 * this function returns.
 */
void coil__channel_ask(struct coil__channel *channel, struct coil__question *question);

/* Return the channel's servers, for messages: "192.0.2.1:53, ...". */
const char *coil__channel_servers(const struct coil__channel *channel);

/* ---- files ------------------------------------------------------------------------- */

/*
 * Open a file for reading. If there is no such file, or the program must not read it, the
 * result is 0, and *out is NULL. Otherwise fails like open(2).
 */
int coil__config_file_open(const char *path, FILE **out);

/*
 * Close the file, which may be NULL, immediately after its last read. Returns `rc`, or the
 * error of that read if `rc` is 0.
 */
int coil__config_file_close(FILE *file, int rc);

/* ---- resolv.conf(5) ---------------------------------------------------------------- */

#define COIL__RESOLV_CONF_FILE "/etc/resolv.conf"

struct coil__resolv_conf {
    int64_t timeout_ns; /* "options timeout"; default 5 s */
    unsigned tries;     /* "options attempts"; default 2 */
    unsigned dots;      /* "options ndots"; default 1 */
    char *domains;      /* from "search" or "domain", separated by blanks; or NULL */
};

/*
 * Read the file, $RES_OPTIONS and $LOCALDOMAIN, with the limits of the C library. Without
 * a file, the defaults apply. Returns 0, -ENOMEM, or the error of open(2) or read(2).
 */
int coil__resolv_conf_read(const char *path, struct coil__resolv_conf *conf);
void coil__resolv_conf_finish(struct coil__resolv_conf *conf);

/*
 * The size of a buffer for a name. Valid names have at most 253 bytes. A name that is
 * truncated to fit the buffer is still too long to be valid.
 */
#define COIL__SEARCH_NAME 512

/*
 * Write to `name`, which has COIL__SEARCH_NAME bytes, the name to query for `host` in
 * step `step`, counted from 0. Returns false if there are no more names.
 */
bool coil__search_name(const struct coil__resolv_conf *conf, const char *host,
                       unsigned step, char *name);

/* ---- hosts(5) ---------------------------------------------------------------------- */

/*
 * Look up a name, which must be in lower case. Returns 0 or -ENOMEM. answer->rc stays
 * -EINPROGRESS if the file does not have the name, and is -ENOENT if the file has only
 * addresses of the other family.
 */
int coil__hosts_find(struct coil__hosts *hosts, const char *host,
                     enum coil__question_kind kind, struct coil__answer *answer);

/*
 * Read the file if its size or time has changed, or if *hosts is NULL, as it is at first.
 * Returns 0, -ENOMEM, or the error of open(2) or read(2). In case of an error, *hosts does
 * not change.
 */
int coil__hosts_refresh(struct coil__hosts **hosts, const char *path);
void coil__hosts_destroy(struct coil__hosts *hosts);

/* ---- other functions --------------------------------------------------------------- */

/* Sort the addresses by RFC 6724, best first. Equal addresses keep their order. */
void coil__addresses_sort(coil_loop *loop, coil_address addresses[], size_t count);

/* Call getaddrinfo(3) or getnameinfo(3) in the dns lane. */
int coil__lane_look_up(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **out);
int coil__lane_look_up_name(const coil_address *address, char *host, size_t host_size,
                            char *service, size_t service_size, int flags);

/* Convert a result of getaddrinfo(3) or getnameinfo(3) to a negative errno. */
int coil__errno_of_eai(int eai, int error);

/* Call getaddrinfo(3). If the result is EAI_SYSTEM, errno is the error. */
int coil__call_getaddrinfo(const char *host, const char *port,
                           const struct addrinfo *hints, struct addrinfo **out);

/*
 * Check a port that a user has passed as text. Fails with -EINVAL and a message unless it
 * is a number from 0 to 65535, a possible service name, or NULL.
 */
int coil__port_check(const char *port);

/* True if the number at the beginning of the text is at most 65535. */
bool coil__port_in_range(const char *digits);

/*
 * Convert numeric hosts and ports, and reject invalid hints. Returns 0, an error, or
 * -EINPROGRESS if the host or the service is a name that must be looked up.
 */
int coil__addrinfo_of_numbers(const char *host, const char *port,
                              const struct addrinfo *hints, struct addrinfo **out);

/*
 * The template of a look-up's result: one entry for each kind of socket. Only the ports,
 * kinds and protocols of the entries are used.
 */
struct coil__addrinfo_template {
    struct addrinfo *entries; /* `entry`, or a list from getaddrinfo(3) */
    struct addrinfo entry;
    struct sockaddr_in address; /* of `entry` */
};

/* Suspends if `port` is a service name. If it fails, there is nothing to finish. */
int coil__addrinfo_template_init(struct coil__addrinfo_template *template,
                                 const char *port, const struct addrinfo *hints);
void coil__addrinfo_template_finish(struct coil__addrinfo_template *template);

/* True if coil can resolve this name with its own DNS queries, without getaddrinfo(3). */
bool coil__addrinfo_suits_questions(const struct coil__resolver *resolver,
                                    const char *host, const char *port,
                                    const struct addrinfo *hints);

/*
 * Fail with a message about the answers to the two questions. Either question may be
 * NULL.
 */
int coil__addrinfo_fail(const char *host, struct coil__question *const questions[2]);

#endif
