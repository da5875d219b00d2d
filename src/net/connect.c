/*
 * connect.c - to a host and a port: where to, and how.
 *
 * One address is connected to as it stands. Several, or a name whose IPv6 and IPv4
 * addresses are asked for by the loop's resolver, are a race (race.c), which begins while
 * answers are still to come.
 */
#include "race.h"
#include "socket.h"
#include "stream.h"

#include <coil/connect.h>
#include <coil/error.h>

#include <string.h>

#define ATTEMPT_DELAY COIL_MSEC(250) /* RFC 8305, 5 and 8 */
#define SHORTEST_DELAY COIL_MSEC(10)
#define LONGEST_DELAY COIL_SEC(2)

/* ---- options ---------------------------------------------------------------------- */

static int take_delay(struct coil__race *race, int64_t delay_ns)
{
    race->delay_ns = delay_ns != 0 ? delay_ns : ATTEMPT_DELAY;
    if (race->delay_ns == COIL_NEVER)
        return 0;
    return race->delay_ns < SHORTEST_DELAY || race->delay_ns > LONGEST_DELAY ? -EINVAL
                                                                             : 0;
}

/* A port alone is bound to any address, of the family of each attempt. */
static int take_local(struct coil__race *race, const coil_connect_options *opts)
{
    struct addrinfo hints = {.ai_family = opts->family,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *list;
    int rc;

    if (opts->local_host == NULL && opts->local_port == NULL)
        return 0;
    rc = coil__call_getaddrinfo(opts->local_host, opts->local_port, &hints, &list);
    if (rc != 0)
        return rc == EAI_MEMORY ? -ENOMEM : -EINVAL;
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        enum coil__question_kind kind =
            a->ai_family == AF_INET6 ? COIL__ASK_V6 : COIL__ASK_V4;

        race->local[kind].length = a->ai_addrlen;
        memcpy(&race->local[kind].storage, a->ai_addr, a->ai_addrlen);
    }
    freeaddrinfo(list);
    race->binds = true;
    return 0;
}

static int take_options(struct coil__race *race, const coil_connect_options *opts)
{
    int rc = take_delay(race, opts->attempt_delay_ns);

    if (opts->family != AF_UNSPEC && opts->family != AF_INET && opts->family != AF_INET6)
        return -EAFNOSUPPORT;
    if (opts->attempt_timeout_ns < 0)
        return -EINVAL;
    race->timeout_ns =
        opts->attempt_timeout_ns != 0 ? opts->attempt_timeout_ns : COIL_NEVER;
    return rc == 0 ? take_local(race, opts) : rc;
}

/* ---- one address ------------------------------------------------------------------ */

static int connect_to(const struct coil__race *race, const struct addrinfo *address,
                      coil_stream **out)
{
    coil_loop *loop = coil__loop_require("coil_connect");
    int fd = coil__socket_open(loop, address->ai_family, address->ai_socktype,
                               address->ai_protocol);
    coil_address where = {.length = address->ai_addrlen};
    char text[INET6_ADDRSTRLEN];
    coil_stream *stream;
    int rc;

    if (fd < 0)
        return fd;
    rc = coil__stream_open_socket(fd, "coil_connect", &stream);
    if (rc < 0)
        return rc;
    rc = coil__stream_connect(stream, address->ai_addr, address->ai_addrlen);
    if (rc == 0) {
        *out = stream;
        return 0;
    }
    coil_stream_destroy(stream);
    if (rc == -ECANCELED)
        return rc;
    memcpy(&where.storage, address->ai_addr, address->ai_addrlen);
    coil__race_write_host(&where, text);
    return coil_fail(rc, "connect to %s:%s [%s]: %s", race->host, race->port, text,
                     strerror(-rc));
}

static int connect_to_list(struct coil__race *race, const struct addrinfo *list,
                           coil_stream **out)
{
    int rc;

    if (list->ai_next == NULL && !race->binds && race->timeout_ns == COIL_NEVER)
        return connect_to(race, list, out);
    rc = coil__race_add_list(race, list);
    return rc == 0 ? coil__race_run(race, out) : rc;
}

/* ---- the whole -------------------------------------------------------------------- */

/* The port comes first, as it may need a thread's help; then both questions are asked. */
static int connect_by_questions(struct coil__race *race, struct coil__resolver *r,
                                const struct addrinfo *hints, coil_stream **out)
{
    struct addrinfo *template;
    int rc = coil__addrinfo_of_port(race->port, hints, &template);

    if (rc < 0)
        return coil_fail(rc, "connect to %s: there is no service '%s'", race->host,
                         race->port);
    race->port_number =
        ((const struct sockaddr_in *)(const void *)template->ai_addr)->sin_port;
    freeaddrinfo(template);
    rc = coil__resolver_prepare(r);
    if (rc == 0)
        rc = coil__race_ask(race, r, hints->ai_family);
    return rc == 0 ? coil__race_run(race, out) : rc;
}

static int connect_by_list(struct coil__race *race, const struct addrinfo *hints,
                           coil_stream **out)
{
    struct addrinfo *list;
    int rc = coil_getaddrinfo(race->given_host, race->given_port, hints, &list);

    if (rc < 0)
        return rc;
    rc = connect_to_list(race, list, out);
    freeaddrinfo(list);
    return rc;
}

static int connect_as_told(struct coil__race *race, const struct addrinfo *hints,
                           coil_stream **out)
{
    struct coil__resolver *r;
    struct addrinfo *list;
    int rc = coil__addrinfo_of_numbers(race->given_host, race->given_port, hints, &list);

    if (rc == 0) {
        rc = connect_to_list(race, list, out);
        freeaddrinfo(list);
        return rc;
    }
    if (rc == -EINPROGRESS && coil__resolver_get(&r) == 0 &&
        coil__addrinfo_suits_channel(r, race->given_host, race->given_port, hints))
        return connect_by_questions(race, r, hints, out);
    return connect_by_list(race, hints, out);
}

int coil_connect_opts(const char *host, const char *port,
                      const coil_connect_options *opts, coil_stream **out)
{
    static const coil_connect_options none = {.family = AF_UNSPEC};
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct coil__race race;
    int rc;

    coil__race_init(&race, host, port);
    if (opts == NULL)
        opts = &none;
    hints.ai_family = opts->family;
    rc = take_options(&race, opts);
    if (rc == 0)
        rc = connect_as_told(&race, &hints, out);
    coil__race_finish(&race);
    return rc;
}

int coil_connect(const char *host, const char *port, coil_stream **out)
{
    return coil_connect_opts(host, port, NULL, out);
}
