/*
 * attempts.c - connects to a host by attempting its addresses one after another until one
 * accepts (Happy Eyeballs, RFC 8305).
 *
 *     questions -> addresses, by family -> attempts -> the winner's stream
 *
 * The attempts form a staggered race (task/staggered_race.c). Each attempt begins when
 * the previous attempt has failed, or `delay_ns` after it began. The first attempt begins
 * as soon as an IPv6 address is known. If only IPv4 addresses are known, it begins when
 * the IPv6 query is answered or 50 ms have passed. The attempts alternate between the
 * families. If addresses of both families are known at the start, the family with the
 * better address comes first. Later answers add their addresses to the running race.
 *
 * If all answers have arrived and contain only one address, the calling task connects to
 * it directly, without a race.
 *
 * If no address accepts, the first error that is specific to the host is returned. Errors
 * such as "no route" are returned only if all attempts failed with one, because many
 * machines have no route to any IPv6 address. The message lists each attempt. -ENOMEM
 * takes precedence over all other errors, because an address that could not be attempted
 * might have accepted.
 */
#include "attempts.h"

#include "../io/socket.h"
#include "../stream/stream.h"

#include "../task/budget.h"
#include "../task/staggered_race.h"

#include <coil/error.h>
#include <coil/scope.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define RESOLUTION_DELAY COIL_MSEC(50) /* RFC 8305, 3 */

struct coil__attempt {
    struct coil__list link; /* coil__attempts.begun */
    coil_address address;
    coil_stream *stream; /* NULL unless connected; NULL again once returned */
    int rc;
};

/* ---- addresses --------------------------------------------------------------------- */

static void wake(struct coil__attempts *all)
{
    if (all->waits)
        coil__wait_complete(&all->wait, 0);
}

static void v4_answered(struct coil__answer_listener *listener)
{
    wake(COIL__CONTAINER(listener, struct coil__attempts, sides[COIL__ASK_V4].listener));
}

static void v6_answered(struct coil__answer_listener *listener)
{
    wake(COIL__CONTAINER(listener, struct coil__attempts, sides[COIL__ASK_V6].listener));
}

static void timer_expired(struct coil__runnable *runnable)
{
    wake(COIL__CONTAINER(runnable, struct coil__attempts, timer.runnable));
}

void coil__attempts_init(struct coil__attempts *all, const char *host, const char *port)
{
    memset(all, 0, sizeof *all);
    all->given_host = host;
    all->given_port = port;
    all->host = host != NULL ? host : "this machine";
    all->port = port != NULL ? port : "0";
    all->loop = coil__loop_require("coil_connect");
    coil__timer_init(&all->timer, timer_expired);
    coil__list_init(&all->begun);
    all->until = COIL_NEVER;
    for (int i = 0; i < 2; i++)
        coil__list_init(&all->sides[i].listener.link);
    all->sides[COIL__ASK_V4].listener.answered = v4_answered;
    all->sides[COIL__ASK_V6].listener.answered = v6_answered;
    all->turn = COIL__ASK_V6;
}

static int add_addresses(struct coil__attempts_side *side, const coil_address addresses[],
                         size_t n)
{
    coil_address *all;

    if (n == 0)
        return 0;
    all = coil__realloc(side->addresses, (side->count + n) * sizeof *all);
    if (all == NULL)
        return coil__failed(-ENOMEM);
    memcpy(all + side->count, addresses, n * sizeof *all);
    side->addresses = all;
    side->count += n;
    return 0;
}

/* The first attempt will use the family of the list's first address. */
int coil__attempts_add_list(struct coil__attempts *all, const struct addrinfo *list)
{
    int rc = 0;

    all->turn = list->ai_family == AF_INET6 ? COIL__ASK_V6 : COIL__ASK_V4;
    for (; list != NULL && rc == 0; list = list->ai_next) {
        coil_address address = {.length = list->ai_addrlen};
        bool six = list->ai_family == AF_INET6;

        memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
        rc = add_addresses(&all->sides[six ? COIL__ASK_V6 : COIL__ASK_V4], &address, 1);
    }
    return rc;
}

int coil__attempts_ask(struct coil__attempts *all, struct coil__resolver *r, int family)
{
    static const enum coil__question_kind order[] = {COIL__ASK_V6, COIL__ASK_V4};
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        struct coil__attempts_side *side = &all->sides[order[i]];

        if (family == (order[i] == COIL__ASK_V6 ? AF_INET : AF_INET6))
            continue;
        rc = coil__question_ask(r, all->host, order[i], &side->question);
        if (rc < 0)
            break;
        side->open = true;
        if (side->question->answer.rc == -EINPROGRESS)
            coil__list_push(&side->question->listeners, &side->listener.link);
    }
    return rc;
}

/* If the family's query has been answered, take its addresses. */
static int collect_side(struct coil__attempts *all, struct coil__attempts_side *side)
{
    const struct coil__answer *answer;
    int rc;

    if (!side->open || side->question->answer.rc == -EINPROGRESS)
        return 0;
    side->open = false;
    answer = &side->question->answer;
    all->lacked_memory |= answer->rc == -ENOMEM;
    rc = add_addresses(side, answer->addresses, answer->count);
    for (size_t i = 0; i < side->count && rc == 0; i++)
        /* sin_port and sin6_port have the same offset. */
        side->addresses[i].v4.sin_port = all->port_number;
    if (rc == 0)
        coil__addresses_sort(all->loop, side->addresses, side->count);
    return rc;
}

/*
 * If addresses of both families are known before the first attempt, begin with the family
 * whose best address is preferred by RFC 6724.
 */
static void choose_family(struct coil__attempts *all)
{
    const struct coil__attempts_side *v4 = &all->sides[COIL__ASK_V4];
    const struct coil__attempts_side *v6 = &all->sides[COIL__ASK_V6];
    coil_address best[2];

    if (v4->count == 0 || v6->count == 0)
        return;
    best[0] = v6->addresses[0];
    best[1] = v4->addresses[0];
    coil__addresses_sort(all->loop, best, 2);
    all->turn = best[0].any.sa_family == AF_INET6 ? COIL__ASK_V6 : COIL__ASK_V4;
}

static bool has_question(const struct coil__attempts *all)
{
    return all->sides[0].open || all->sides[1].open;
}

static int collect_both(struct coil__attempts *all)
{
    bool asked = has_question(all);
    int rc = collect_side(all, &all->sides[COIL__ASK_V6]);

    if (rc == 0)
        rc = collect_side(all, &all->sides[COIL__ASK_V4]);
    if (rc == 0 && asked && coil__list_empty(&all->begun))
        choose_family(all);
    return rc;
}

static bool has_address(const struct coil__attempts_side *side)
{
    return side->next < side->count;
}

static const coil_address *next_address(struct coil__attempts *all)
{
    enum coil__question_kind kind = all->turn;
    struct coil__attempts_side *side;

    if (!has_address(&all->sides[kind]))
        kind = !kind;
    side = &all->sides[kind];
    all->turn = !kind;
    return &side->addresses[side->next++];
}

/* Return the number of addresses that are known but have not been attempted yet. */
static size_t addresses_left(const struct coil__attempts *all)
{
    const struct coil__attempts_side *sides = all->sides;

    return sides[0].count - sides[0].next + sides[1].count - sides[1].next;
}

/* Wait until a query is answered or the deadline `until` has passed. */
static int wait_for_answer(struct coil__attempts *all)
{
    static const struct coil__wait_class class = {
        .what = "connect", .deadline = COIL__WAIT_AT(struct coil__attempts, until)};
    int rc;

    coil__wait_init(&all->wait, &class);
    if (all->until != COIL_NEVER)
        coil__timer_start_reserved(all->loop, &all->timer, all->until);
    all->waits = true;
    rc = coil__wait_park(&all->wait);
    all->waits = false;
    coil__timer_stop(all->loop, &all->timer);
    return rc;
}

/*
 * Wait until there is an address to attempt. Returns 0, or -ENOENT if no more addresses
 * will follow.
 */
static int wait_for_address(struct coil__attempts *all)
{
    int rc;

    while ((rc = collect_both(all)) == 0 && addresses_left(all) == 0) {
        if (!has_question(all))
            return -ENOENT;
        rc = wait_for_answer(all);
        if (rc < 0)
            break;
    }
    return rc;
}

/*
 * Wait for the first address. If only IPv4 addresses are known, wait up to
 * RESOLUTION_DELAY longer for an IPv6 address.
 */
static int wait_for_first_address(struct coil__attempts *all)
{
    const struct coil__attempts_side *v6 = &all->sides[COIL__ASK_V6];
    int rc = wait_for_address(all);

    if (rc == 0 && !has_address(v6) && v6->open) {
        all->until = coil_in(RESOLUTION_DELAY);
        while (rc == 0 && v6->open && coil__loop_now(all->loop) < all->until) {
            rc = wait_for_answer(all);
            if (rc == 0)
                rc = collect_both(all);
        }
        all->until = COIL_NEVER;
    }
    return rc;
}

/* ---- attempts ---------------------------------------------------------------------- */

static int bind_and_connect(coil_loop *loop, int fd, const coil_address *to,
                            const coil_address *local, coil_stream **out)
{
    int yes = 1, rc;

    if (local != NULL) {
        coil__socket_set_option(loop, fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        rc = coil__socket_bind(loop, fd, &local->any, local->length);
        if (rc < 0) {
            coil__socket_close(loop, fd);
            return rc;
        }
    }
    rc = coil__stream_open_socket(fd, "coil_connect", out);
    if (rc < 0)
        return rc;
    rc = coil__stream_connect(*out, &to->any, to->length);
    if (rc < 0) {
        coil_stream_destroy(*out);
        *out = NULL;
    }
    return rc;
}

/*
 * True if the socket is connected to itself, because the kernel chose the destination
 * port as the socket's local port.
 */
static bool is_connected_to_itself(coil_loop *loop, int fd, const coil_address *to)
{
    coil_address own = {.length = sizeof own.storage}, peer = own;

    return coil__socket_name(loop, fd, &own.any, &own.length) == 0 &&
           coil_address_port(&own) == coil_address_port(to) &&
           coil__socket_peer(loop, fd, &peer.any, &peer.length) == 0 &&
           own.length == peer.length && memcmp(&own.any, &peer.any, own.length) == 0;
}

/* Reset the connection, so that a server can bind its port immediately. */
static void reset_stream(coil_stream *stream)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    coil__socket_set_option(stream->endpoint.loop, stream->endpoint.fd, SOL_SOCKET,
                            SO_LINGER, &at_once, sizeof at_once);
    coil_stream_destroy(stream);
}

#define SELF_CONNECTS 16

/*
 * Connect to an address. If the destination is a port of this machine that has no
 * listener but is in the kernel's range of local ports, TCP may connect the socket to
 * itself (RFC 9293, 3.5, simultaneous open). In that case try again, and after
 * SELF_CONNECTS tries fail as for any other port without a listener. But if the caller
 * chose the local port, such a connection is intended. (Go: net.Dial)
 */
int coil__attempt_connect(coil_loop *loop, const coil_address *to,
                          const coil_address *local, coil_stream **out)
{
    bool chosen = local != NULL && coil_address_port(local) != 0;
    int fd, rc;

    if (local != NULL && local->length == 0) /* no local address of this family */
        return coil__failed(-EADDRNOTAVAIL);
    for (int i = 0; i < SELF_CONNECTS; i++) {
        fd = coil__socket_open(loop, to->any.sa_family, SOCK_STREAM, 0);
        if (fd < 0)
            return fd;
        rc = bind_and_connect(loop, fd, to, local, out);
        if (rc < 0 || chosen || !is_connected_to_itself(loop, fd, to))
            return rc;
        reset_stream(*out);
        *out = NULL;
    }
    return coil__failed(-ECONNREFUSED);
}

static int connect_in_time(const struct coil__attempts *all, struct coil__attempt *a)
{
    bool six = a->address.any.sa_family == AF_INET6;
    const coil_address *local =
        all->binds ? &all->local[six ? COIL__ASK_V6 : COIL__ASK_V4] : NULL;
    coil_scope scope;
    int rc;

    if (all->timeout_ns == COIL_NEVER)
        return coil__attempt_connect(all->loop, &a->address, local, &a->stream);
    rc = coil_scope_enter(&scope, coil_in(all->timeout_ns));
    if (rc < 0)
        return rc;
    rc = coil__attempt_connect(all->loop, &a->address, local, &a->stream);
    return coil_scope_exit(&scope, rc);
}

/* Attempt the next address. */
static int attempt(struct coil__attempts *all)
{
    struct coil__attempt *a = coil__alloc_zeroed(sizeof *a);

    if (a == NULL)
        return coil__failed(-ENOMEM);
    a->address = *next_address(all);
    coil__list_push(&all->begun, &a->link);
    a->rc = connect_in_time(all, a);
    if (a->rc == 0 && all->winner == NULL)
        all->winner = a;
    return a->rc;
}

/* ---- the race ---------------------------------------------------------------------- */

static int next_attempt(void *arg, size_t i)
{
    (void)i;
    return wait_for_address(arg);
}

static int run_attempt(void *arg, size_t i)
{
    (void)i;
    return attempt(arg);
}

static bool expects_attempt(const void *arg, size_t i)
{
    (void)i;
    return addresses_left(arg) > 0 || has_question(arg);
}

static void attempt_ended(void *arg, size_t i, int rc)
{
    struct coil__attempts *all = arg;

    (void)i;
    if (rc == -ENOMEM)
        all->lacked_memory = true;
}

static int race_addresses(struct coil__attempts *all)
{
    const struct coil__race_works works = {.what = "connect",
                                           .arg = all,
                                           .next = next_attempt,
                                           .run = run_attempt,
                                           .expected = expects_attempt,
                                           .ended = attempt_ended};
    size_t winner;

    return coil__staggered_race(&works, all->delay_ns, &winner, COIL__CALLER());
}

/* ---- the result -------------------------------------------------------------------- */

static bool is_unspecific_error(int rc)
{
    return rc == -ENETUNREACH || rc == -EADDRNOTAVAIL || rc == -EAFNOSUPPORT ||
           rc == -EHOSTUNREACH;
}

void coil__attempt_write_host(const coil_address *address, char text[INET6_ADDRSTRLEN])
{
    bool six = address->any.sa_family == AF_INET6;

    inet_ntop(address->any.sa_family,
              six ? (const void *)&address->v6.sin6_addr : &address->v4.sin_addr, text,
              INET6_ADDRSTRLEN);
}

/*
 * Called if no address has accepted the connection: fail with the most informative error.
 */
static int fail_all_attempts(const struct coil__attempts *all)
{
    struct coil__question *questions[2];
    char text[512] = "", where[INET6_ADDRSTRLEN];
    size_t used = 0;
    int rc = 0;

    COIL__LIST_EACH (link, &all->begun) {
        const struct coil__attempt *a = COIL__CONTAINER(link, struct coil__attempt, link);

        if (rc == 0 || (is_unspecific_error(rc) && !is_unspecific_error(a->rc)))
            rc = a->rc;
        coil__attempt_write_host(&a->address, where);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s[%s]: %s",
                                     used > 0 ? "; " : "", where, strerror(-a->rc));
    }
    if (rc < 0)
        return coil_fail(rc, "connect to %s:%s %s", all->host, all->port, text);
    for (int i = 0; i < 2; i++)
        questions[i] = all->sides[i].question;
    return coil__addrinfo_fail(all->host, questions);
}

int coil__attempts_run(struct coil__attempts *all, coil_stream **out)
{
    int rc = coil__task_spend("coil_connect");

    if (rc == 0)
        rc = wait_for_first_address(all);
    if (rc < 0)
        return rc == -ENOENT ? fail_all_attempts(all) : rc;
    rc = addresses_left(all) == 1 && !has_question(all) ? attempt(all)
                                                        : race_addresses(all);
    if (all->winner != NULL) {
        *out = all->winner->stream;
        all->winner->stream = NULL;
        return 0;
    }
    if (rc == -ECANCELED || coil__list_empty(&all->begun))
        return rc;
    return all->lacked_memory ? coil__failed(-ENOMEM) : fail_all_attempts(all);
}

void coil__attempts_finish(struct coil__attempts *all)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&all->begun)) != NULL) {
        struct coil__attempt *a = COIL__CONTAINER(link, struct coil__attempt, link);

        coil_stream_destroy(a->stream); /* connected, but too late to win the race */
        coil__free(a);
    }
    for (int i = 0; i < 2; i++) {
        coil__list_remove(&all->sides[i].listener.link);
        coil__question_release(all->sides[i].question);
        coil__free(all->sides[i].addresses);
    }
}
