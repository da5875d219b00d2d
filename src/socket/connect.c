/*
 * connect.c - coil_connect() and its options: finds the addresses of a host and connects.
 *
 * Numeric hosts are converted without a query. If the loop's resolver queries name
 * servers itself, there are separate queries for IPv6 and IPv4, and the first attempt to
 * connect may begin before both are answered. Otherwise coil_getaddrinfo() returns all
 * addresses at once. attempts.c makes the attempts.
 */
#include "../names/address.h"
#include "attempts.h"
#include "../io/socket.h"
#include "../stream/stream.h"
#include "../task/task.h"

#include <coil/connect.h>
#include <coil/error.h>

#include <stdio.h>
#include <string.h>

#define ATTEMPT_DELAY COIL_MSEC(250) /* RFC 8305, 5 and 8 */
#define SHORTEST_DELAY COIL_MSEC(10)
#define LONGEST_DELAY COIL_SEC(2)

/* ---- options ----------------------------------------------------------------------- */

static int take_delay(struct coil__attempts *all, int64_t delay_ns)
{
    all->delay_ns = delay_ns != 0 ? delay_ns : ATTEMPT_DELAY;
    if (all->delay_ns == COIL_NEVER)
        return 0;
    if (all->delay_ns < SHORTEST_DELAY || all->delay_ns > LONGEST_DELAY)
        return coil__failed(-EINVAL);
    return 0;
}

/*
 * Convert the local address and port. If only a port is given, each attempt is bound to
 * the wildcard address of its family.
 */
static int take_local(struct coil__attempts *all, const coil_connect_options *opts)
{
    struct addrinfo hints = {.ai_family = opts->family,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *list;
    int rc;

    if (opts->local_host == NULL && opts->local_port == NULL)
        return 0;
    rc = coil__port_check(opts->local_port);
    if (rc < 0)
        return rc;
    rc = coil__call_getaddrinfo(opts->local_host, opts->local_port, &hints, &list);
    if (rc != 0)
        return coil__failed(rc == EAI_MEMORY ? -ENOMEM : -EINVAL);
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        enum coil__question_kind kind =
            a->ai_family == AF_INET6 ? COIL__ASK_V6 : COIL__ASK_V4;

        all->local[kind].length = a->ai_addrlen;
        memcpy(&all->local[kind].storage, a->ai_addr, a->ai_addrlen);
    }
    freeaddrinfo(list);
    all->binds = true;
    return 0;
}

static int take_options(struct coil__attempts *all, const coil_connect_options *opts)
{
    int rc = take_delay(all, opts->attempt_delay_ns);

    if (opts->family != AF_UNSPEC && opts->family != AF_INET && opts->family != AF_INET6)
        return coil__failed(-EAFNOSUPPORT);
    if (opts->attempt_timeout_ns < 0)
        return coil__failed(-EINVAL);
    all->timeout_ns =
        opts->attempt_timeout_ns != 0 ? opts->attempt_timeout_ns : COIL_NEVER;
    return rc == 0 ? take_local(all, opts) : rc;
}

/* ---- coil_connect() ---------------------------------------------------------------- */

/*
 * Connect with separate queries for IPv6 and IPv4. The port is converted before the
 * queries start, because converting a service name needs a thread.
 */
static int connect_by_questions(struct coil__attempts *all, struct coil__resolver *r,
                                const struct addrinfo *hints, coil_stream **out)
{
    struct coil__addrinfo_template template;
    int rc = coil__addrinfo_template_init(&template, all->port, hints);

    if (rc < 0)
        return coil_fail(rc, "connect to %s: the service '%s' is unknown", all->host,
                         all->port);
    all->port_number =
        ((const struct sockaddr_in *)(const void *)template.entries->ai_addr)->sin_port;
    coil__addrinfo_template_finish(&template);
    rc = coil__resolver_prepare(r);
    if (rc == 0)
        rc = coil__attempts_ask(all, r, hints->ai_family);
    return rc == 0 ? coil__attempts_run(all, out) : coil__failed(rc);
}

static int connect_to_list(struct coil__attempts *all, struct addrinfo *list,
                           coil_stream **out)
{
    int rc = coil__attempts_add_list(all, list);

    freeaddrinfo(list);
    return rc == 0 ? coil__attempts_run(all, out) : rc;
}

static int look_up_and_connect(struct coil__attempts *all, const struct addrinfo *hints,
                               coil_stream **out)
{
    struct coil__resolver *r;
    struct addrinfo *list;
    int rc = coil__addrinfo_of_numbers(all->given_host, all->given_port, hints, &list);

    if (rc == 0)
        return connect_to_list(all, list, out);
    if (rc == -EINPROGRESS && coil__resolver_get(&r, "coil_connect") == 0 &&
        coil__addrinfo_suits_questions(r, all->given_host, all->given_port, hints))
        return connect_by_questions(all, r, hints, out);
    rc = coil_getaddrinfo(all->given_host, all->given_port, hints, &list);
    return rc == 0 ? connect_to_list(all, list, out) : rc;
}

int coil_connect_opts(const char *host, const char *port,
                      const coil_connect_options *opts, coil_stream **out)
{
    COIL__REQUIRE(out, "an output pointer");
    static const coil_connect_options none = {.family = AF_UNSPEC};
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct coil__attempts all;
    int rc;

    *out = NULL;
    coil__attempts_init(&all, host, port);
    if (opts == NULL)
        opts = &none;
    hints.ai_family = opts->family;
    rc = coil__port_check(port);
    if (rc == 0)
        rc = take_options(&all, opts);
    if (rc == 0)
        rc = look_up_and_connect(&all, &hints, out);
    coil__attempts_finish(&all);
    return rc;
}

int coil_connect(const char *host, const char *port, coil_stream **out)
{
    COIL__REQUIRE(out, "an output pointer");
    return coil_connect_opts(host, port, NULL, out);
}

int coil_connect_port(const char *host, uint16_t port, coil_stream **out)
{
    COIL__REQUIRE(out, "an output pointer");
    char text[8];

    snprintf(text, sizeof text, "%u", port);
    return coil_connect_opts(host, text, NULL, out);
}

int coil_connect_address(const coil_address *to, coil_stream **out)
{
    COIL__REQUIRE(to, "an address");
    COIL__REQUIRE(out, "an output pointer");
    int rc = coil__address_check(to);
    char text[COIL_ADDRESS_TEXT];

    *out = NULL;
    coil__task_require("coil_connect_address");
    if (rc == 0 && to->any.sa_family == AF_UNIX)
        rc = coil__connect_local(to, out);
    else if (rc == 0)
        rc = coil__attempt_connect(coil__loop_require("coil_connect"), to, NULL, out);
    if (rc == 0 || rc == -ECANCELED)
        return rc;
    return coil_fail(rc, "connect to '%s': %s",
                     coil_address_format(to, text, sizeof text), strerror(-rc));
}
