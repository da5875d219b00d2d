/*
 * race.c - several addresses, the first that connects. (RFC 8305, Happy Eyeballs)
 *
 *     questions --- addresses, by family --> start_next() --> attempts --> the winner
 *
 * An attempt is a socket and an operation of the backend's, connect; it needs no task.
 * The task that connects waits for whatever comes next: an attempt that has ended, an
 * answer, or the timer. Then it looks at everything anew, in run(): that is slower than
 * to know what has happened, and cannot forget anything; there are few attempts.
 *
 * A stream that is destroyed ends its operation before that returns (backend.h, detach).
 * So who is done, has failed or is cancelled destroys the attempts, and nothing is left.
 *
 * WHEN THE NEXT BEGINS. The first: as soon as there is an IPv6 address, or an IPv4
 * address and IPv6's are known or 50 ms late. Then: when the latest has failed, or
 * `delay_ns` after it was begun. The families take turns; the better one, if that is
 * known, begins.
 *
 * WHAT A FAILURE RETURNS. The first that says something of the host: that there is no way
 * to an address, as for all of IPv6 on many a machine, is told only if all are so. The
 * sentence names each.
 */
#include "race.h"

#include "socket.h"
#include "stream.h"

#include "../task/budget.h"

#include <coil/error.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define RESOLUTION_DELAY COIL_MSEC(50) /* RFC 8305, 3 */

struct attempt {
    struct coil__list link; /* race.attempts, in the order begun */
    struct coil__race *race;
    struct coil__op op;
    coil_address address;
    coil_stream *stream; /* NULL: closed, or taken */
    int64_t deadline;
    bool running;
    bool seen; /* that it has failed */
    int rc;    /* once it is not running */
};

static void wake(struct coil__race *race)
{
    if (race->waits)
        coil__wait_complete(&race->wait, 0);
}

/* ---- addresses -------------------------------------------------------------------- */

static void v4_answered(struct coil__listener *listener)
{
    wake(COIL__CONTAINER(listener, struct coil__race, sides[COIL__ASK_V4].listener));
}

static void v6_answered(struct coil__listener *listener)
{
    wake(COIL__CONTAINER(listener, struct coil__race, sides[COIL__ASK_V6].listener));
}

static void timer_rang(struct coil__runnable *runnable)
{
    wake(COIL__CONTAINER(runnable, struct coil__race, timer.runnable));
}

void coil__race_init(struct coil__race *race, const char *host, const char *port)
{
    memset(race, 0, sizeof *race);
    race->given_host = host;
    race->given_port = port;
    race->host = host != NULL ? host : "this machine";
    race->port = port != NULL ? port : "0";
    race->loop = coil__loop_require("coil_connect");
    coil__timer_init(&race->timer, timer_rang);
    coil__list_init(&race->attempts);
    for (int i = 0; i < 2; i++)
        coil__list_init(&race->sides[i].listener.link);
    race->sides[COIL__ASK_V4].listener.answered = v4_answered;
    race->sides[COIL__ASK_V6].listener.answered = v6_answered;
    race->turn = COIL__ASK_V6;
    race->resolve_until = COIL_NEVER;
    race->next_at = INT64_MIN;
}

static int add(struct coil__race_side *side, const coil_address addresses[], size_t n)
{
    coil_address *all;

    if (n == 0)
        return 0;
    all = coil__realloc(side->addresses, (side->count + n) * sizeof *all);
    if (all == NULL)
        return -ENOMEM;
    memcpy(all + side->count, addresses, n * sizeof *all);
    side->addresses = all;
    side->count += n;
    return 0;
}

/* Sorted as they are. */
int coil__race_add_list(struct coil__race *race, const struct addrinfo *list)
{
    int rc = 0;

    race->turn = list->ai_family == AF_INET6 ? COIL__ASK_V6 : COIL__ASK_V4;
    for (; list != NULL && rc == 0; list = list->ai_next) {
        coil_address address = {.length = list->ai_addrlen};
        bool six = list->ai_family == AF_INET6;

        memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
        rc = add(&race->sides[six ? COIL__ASK_V6 : COIL__ASK_V4], &address, 1);
    }
    return rc;
}

int coil__race_ask(struct coil__race *race, struct coil__resolver *r, int family)
{
    static const enum coil__question_kind order[] = {COIL__ASK_V6, COIL__ASK_V4};
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        struct coil__race_side *side = &race->sides[order[i]];

        if (family == (order[i] == COIL__ASK_V6 ? AF_INET : AF_INET6))
            continue;
        rc = coil__question_ask(r, race->host, order[i], &side->question);
        if (rc < 0)
            break;
        side->open = true;
        if (side->question->answer.rc == -EINPROGRESS)
            coil__list_push(&side->question->listeners, &side->listener.link);
    }
    return rc;
}

static bool has_answer(const struct coil__race_side *side)
{
    return side->open && side->question->answer.rc != -EINPROGRESS;
}

/* What was answered since. */
static int collect(struct coil__race *race, struct coil__race_side *side)
{
    const struct coil__answer *answer;
    int rc;

    if (!has_answer(side))
        return 0;
    side->open = false;
    answer = &side->question->answer;
    rc = add(side, answer->addresses, answer->count);
    for (size_t i = 0; i < side->count && rc == 0; i++)
        /* In both families it lies at the same place. */
        side->addresses[i].v4.sin_port = race->port_number;
    if (rc == 0)
        coil__addresses_sort(race->loop, side->addresses, side->count);
    return rc;
}

/* Both came before anything was begun: does RFC 6724 begin with IPv4? */
static void choose_family(struct coil__race *race)
{
    const struct coil__race_side *v4 = &race->sides[COIL__ASK_V4];
    const struct coil__race_side *v6 = &race->sides[COIL__ASK_V6];
    coil_address best[2];

    if (v4->count == 0 || v6->count == 0)
        return;
    best[0] = v6->addresses[0];
    best[1] = v4->addresses[0];
    coil__addresses_sort(race->loop, best, 2);
    race->turn = best[0].any.sa_family == AF_INET6 ? COIL__ASK_V6 : COIL__ASK_V4;
}

static int collect_both(struct coil__race *race)
{
    bool asked = race->sides[0].open || race->sides[1].open;
    int rc = collect(race, &race->sides[COIL__ASK_V6]);

    if (rc == 0)
        rc = collect(race, &race->sides[COIL__ASK_V4]);
    if (rc == 0 && asked && !race->begun)
        choose_family(race);
    return rc;
}

static bool has_address(const struct coil__race_side *side)
{
    return side->next < side->count;
}

static const coil_address *next_address(struct coil__race *race)
{
    enum coil__question_kind kind = race->turn;
    struct coil__race_side *side;

    if (!has_address(&race->sides[kind]))
        kind = !kind;
    side = &race->sides[kind];
    race->turn = !kind;
    return &side->addresses[side->next++];
}

/* ---- attempts --------------------------------------------------------------------- */

static void end_attempt(struct attempt *a, int rc)
{
    if (a->running)
        a->race->running--;
    a->running = false;
    a->rc = rc;
}

static void connected_or_failed(struct coil__op *op)
{
    struct attempt *a = op->owner;

    if (!a->running)
        return;
    end_attempt(a, (int)op->result);
    wake(a->race);
}

/* The local address that goes with it; false if none does. */
static int bind_attempt(struct attempt *a, int fd)
{
    const struct coil__race *race = a->race;
    bool six = a->address.any.sa_family == AF_INET6;
    const coil_address *local = &race->local[six ? COIL__ASK_V6 : COIL__ASK_V4];
    int yes = 1;

    if (!race->binds)
        return 0;
    if (local->length == 0)
        return -EADDRNOTAVAIL;
    coil__socket_set_option(race->loop, fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return coil__socket_bind(race->loop, fd, &local->any, local->length);
}

static int open_attempt(struct attempt *a)
{
    coil_loop *loop = a->race->loop;
    int fd = coil__socket_open(loop, a->address.any.sa_family, SOCK_STREAM, 0);
    int rc = fd < 0 ? fd : bind_attempt(a, fd);

    if (fd >= 0 && rc < 0)
        coil__socket_close(loop, fd);
    return rc < 0 ? rc : coil__stream_open_socket(fd, "coil_connect", &a->stream);
}

/* Returns -EINPROGRESS, or what has come of it at once. */
static int begin_attempt(struct attempt *a)
{
    struct coil__backend *backend = a->race->loop->backend;
    int rc = open_attempt(a);

    if (rc < 0)
        return rc;
    a->op = (struct coil__op){.kind = COIL__OP_CONNECT,
                              .fd = coil_stream_fd(a->stream),
                              .addr = &a->address.any,
                              .addrlen = &a->address.length,
                              .complete = connected_or_failed,
                              .owner = a};
    a->race->loop->operations++;
    return (int)backend->class->submit(backend, &a->op);
}

static int start_next(struct coil__race *race, int64_t now)
{
    struct attempt *a = coil__alloc_zeroed(sizeof *a);
    int rc;

    if (a == NULL)
        return -ENOMEM;
    a->race = race;
    a->address = *next_address(race);
    a->deadline = coil__time_add(now, race->timeout_ns);
    coil__list_push(&race->attempts, &a->link);
    a->running = true;
    race->running++;
    race->begun = true;
    race->next_at = coil__time_add(now, race->delay_ns);
    rc = begin_attempt(a);
    if (rc != -EINPROGRESS)
        end_attempt(a, rc);
    return 0;
}

static struct attempt *attempt_of(struct coil__list *link)
{
    return COIL__CONTAINER(link, struct attempt, link);
}

/* Those that have taken too long. */
static void end_late(struct coil__race *race, int64_t now)
{
    COIL__LIST_EACH (link, &race->attempts)
        if (attempt_of(link)->running && attempt_of(link)->deadline <= now)
            end_attempt(attempt_of(link), -ETIMEDOUT);
}

/* Close those that have failed. Returns one that has connected, or NULL. */
static struct attempt *look_at_attempts(struct coil__race *race)
{
    COIL__LIST_EACH (link, &race->attempts) {
        struct attempt *a = attempt_of(link);

        if (a->running || a->seen)
            continue;
        if (a->rc == 0)
            return a;
        a->seen = true;
        coil_stream_destroy(a->stream);
        a->stream = NULL;
        if (link->next == &race->attempts)
            race->next_at = INT64_MIN; /* the latest has failed */
    }
    return NULL;
}

/* ---- the race --------------------------------------------------------------------- */

/* What to do now. */
static bool may_begin(const struct coil__race *race, int64_t now)
{
    const struct coil__race_side *v6 = &race->sides[COIL__ASK_V6];

    if (!has_address(v6) && !has_address(&race->sides[COIL__ASK_V4]))
        return false;
    if (!race->begun)
        return has_address(v6) || !v6->open || now >= race->resolve_until;
    return race->running == 0 || now >= race->next_at;
}

/* IPv4's addresses are there: they wait for IPv6's, but not long. */
static void wait_for_v6(struct coil__race *race, int64_t now)
{
    if (!race->begun && race->resolve_until == COIL_NEVER &&
        has_address(&race->sides[COIL__ASK_V4]))
        race->resolve_until = coil__time_add(now, RESOLUTION_DELAY);
}

/* Until when nothing is to be done, if nothing happens. */
static int64_t next_deadline(const struct coil__race *race)
{
    bool more = has_address(&race->sides[COIL__ASK_V4]) ||
                has_address(&race->sides[COIL__ASK_V6]);
    int64_t deadline = COIL_NEVER;

    if (more)
        deadline = race->begun ? race->next_at : race->resolve_until;
    COIL__LIST_EACH (link, &race->attempts)
        if (attempt_of(link)->running && attempt_of(link)->deadline < deadline)
            deadline = attempt_of(link)->deadline;
    return deadline;
}

static bool is_over(const struct coil__race *race)
{
    for (int i = 0; i < 2; i++)
        if (race->sides[i].open || has_address(&race->sides[i]))
            return false;
    return race->running == 0;
}

static void describe(const struct coil__wait *wait, struct coil__waited *out)
{
    out->deadline = next_deadline(COIL__CONTAINER(wait, const struct coil__race, wait));
}

/* Until something happens. What has connected meanwhile is not lost to a cancellation. */
static int wait_for_something(struct coil__race *race)
{
    static const struct coil__wait_class class = {.what = "connect",
                                                  .describe = describe};
    int64_t deadline = next_deadline(race);
    int rc = 0;

    coil__wait_init(&race->wait, &class);
    race->wait.keeps_result = true;
    if (deadline != COIL_NEVER)
        rc = coil__timer_start(race->loop, &race->timer, deadline);
    if (rc < 0)
        return rc;
    race->loop->operations_waited++;
    race->waits = true;
    rc = coil__wait_park(&race->wait);
    race->waits = false;
    coil__timer_stop(race->loop, &race->timer);
    return rc;
}

static int run(struct coil__race *race, struct attempt **winner)
{
    int rc = 0;

    *winner = NULL;
    while (rc == 0) {
        int64_t now = coil__loop_now(race->loop);

        end_late(race, now);
        *winner = look_at_attempts(race);
        if (*winner != NULL)
            break;
        rc = collect_both(race);
        if (rc < 0)
            break;
        wait_for_v6(race, now);
        if (may_begin(race, now))
            rc = start_next(race, now);
        else if (is_over(race))
            break;
        else
            rc = wait_for_something(race);
    }
    return rc;
}

/* ---- what came of it -------------------------------------------------------------- */

static bool says_nothing_of_the_host(int rc)
{
    return rc == -ENETUNREACH || rc == -EADDRNOTAVAIL || rc == -EAFNOSUPPORT ||
           rc == -EHOSTUNREACH;
}

void coil__race_write_host(const coil_address *address, char text[INET6_ADDRSTRLEN])
{
    bool six = address->any.sa_family == AF_INET6;

    inet_ntop(address->any.sa_family,
              six ? (const void *)&address->v6.sin6_addr : &address->v4.sin_addr, text,
              INET6_ADDRSTRLEN);
}

static int fail(struct coil__race *race)
{
    struct coil__question *questions[2];
    char text[512] = "", where[INET6_ADDRSTRLEN];
    size_t used = 0;
    int rc = 0;

    COIL__LIST_EACH (link, &race->attempts) {
        const struct attempt *a = attempt_of(link);

        if (rc == 0 || (says_nothing_of_the_host(rc) && !says_nothing_of_the_host(a->rc)))
            rc = a->rc;
        coil__race_write_host(&a->address, where);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s[%s]: %s",
                                     used > 0 ? "; " : "", where, strerror(-a->rc));
    }
    if (rc < 0)
        return coil_fail(rc, "connect to %s:%s %s", race->host, race->port, text);
    for (int i = 0; i < 2; i++)
        questions[i] = race->sides[i].question;
    return coil__addrinfo_fail(race->host, questions);
}

int coil__race_run(struct coil__race *race, coil_stream **out)
{
    struct attempt *winner = NULL;
    int rc = coil__task_spend();

    if (rc == 0)
        rc = run(race, &winner);
    if (rc < 0)
        return rc;
    if (winner == NULL)
        return fail(race);
    *out = winner->stream;
    winner->stream = NULL;
    return 0;
}

void coil__race_finish(struct coil__race *race)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&race->attempts)) != NULL) {
        struct attempt *a = attempt_of(link);

        a->running = false;
        coil_stream_destroy(a->stream);
        coil__free(a);
    }
    for (int i = 0; i < 2; i++) {
        coil__list_remove(&race->sides[i].listener.link);
        coil__question_release(race->sides[i].question);
        coil__free(race->sides[i].addresses);
    }
}
