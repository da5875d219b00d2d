/*
 * resolving.c - res_query(3) and its relatives.
 *
 * Each function calls the C library's own function on a thread of the dns lane.
 *
 * A resolver state contains the servers and options. A call uses either the caller's
 * state or the thread's `_res`. Several tasks may use one state at the same time, so the
 * lane's thread gets a copy. The state has pointers to the servers' addresses, which the
 * C library changes, so the addresses are also copied. All other memory of the state is
 * shared and only read. Therefore res_nclose() is never called for the copy, and
 * RES_STAYOPEN is cleared in it. RES_NORELOAD is set: if the C library read resolv.conf
 * again, it would release memory that the states share.
 *
 * When the task is cancelled, the call returns at once and leaves the query to its
 * thread. A query therefore has copies of all arguments, and its own memory for the
 * answer.
 */
#include "resolving.h"

#include <netinet/in.h>
#include <resolv.h>
#include <string.h>

struct question;
typedef int ask_fn(struct question *q);

/* The arguments of any of the functions. An argument that a function lacks is NULL. */
struct arguments {
    const char *name, *domain;
    const unsigned char *message;
    int message_bytes, class, type;
    unsigned char *answer;
    int answer_bytes;
};

struct question {
    ask_fn *ask;
    struct __res_state state;
    struct arguments with; /* copies, in `room` */
    int length, error, host_error;
    unsigned char room[];
};

static int ask_query(struct question *q)
{
    struct arguments *a = &q->with;

    return NEXT(res_nquery)(&q->state, a->name, a->class, a->type, a->answer,
                            a->answer_bytes);
}

static int ask_search(struct question *q)
{
    struct arguments *a = &q->with;

    return NEXT(res_nsearch)(&q->state, a->name, a->class, a->type, a->answer,
                             a->answer_bytes);
}

static int ask_in_domain(struct question *q)
{
    struct arguments *a = &q->with;

    return NEXT(res_nquerydomain)(&q->state, a->name, a->domain, a->class, a->type,
                                  a->answer, a->answer_bytes);
}

static int ask_message(struct question *q)
{
    struct arguments *a = &q->with;

    return NEXT(res_nsend)(&q->state, a->message, a->message_bytes, a->answer,
                           a->answer_bytes);
}

bool posix__copy_resolver(struct __res_state *to, const struct __res_state *from)
{
    bool complete = true;

    *to = *from;
    to->options &= ~(unsigned long)RES_STAYOPEN;
    to->options |= RES_NORELOAD;
    to->_vcsock = -1;
    to->_flags = 0;
    for (int i = 0; i < MAXNS; i++) {
        struct sockaddr_in6 **address = &to->_u._ext.nsaddrs[i];

        to->_u._ext.nssocks[i] = -1;
        if (*address == NULL)
            continue;
        *address = malloc(sizeof **address);
        if (*address != NULL)
            **address = *from->_u._ext.nsaddrs[i];
        else
            complete = false;
    }
    return complete;
}

void posix__free_resolver(struct __res_state *copy)
{
    for (int i = 0; i < MAXNS; i++)
        free(copy->_u._ext.nsaddrs[i]);
}

/*
 * Look up a numeric address first, because before each look-up, the C library initialises
 * `_res` and checks whether resolv.conf has changed. For a numeric address the C library
 * does nothing else.
 */
bool posix__copy_thread_resolver(struct __res_state *to)
{
    struct hostent entry, *found;
    char buf[512];
    int host_error;

    NEXT(gethostbyname_r)("127.0.0.1", &entry, buf, sizeof buf, &found, &host_error);
    return posix__copy_resolver(to, &_res);
}

void posix__enter_resolver(const struct __res_state *copy, struct __res_state *own)
{
    *own = _res;
    _res = *copy;
}

void posix__leave_resolver(struct __res_state *copy, const struct __res_state *own)
{
    *copy = _res;
    _res = *own;
}

static void free_question(void *question)
{
    struct question *q = question;

    posix__free_resolver(&q->state);
    free(q);
}

/* Copy an argument to *room, the unused part of the question's memory. */
static unsigned char *copy_argument(unsigned char **room, const void *from, size_t bytes)
{
    unsigned char *copy = *room;

    if (from == NULL)
        return NULL;
    memcpy(copy, from, bytes);
    *room += bytes;
    return copy;
}

static size_t bytes_of(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static struct question *create_question(ask_fn *ask, const struct __res_state *state,
                                        const struct arguments *a)
{
    size_t bytes = bytes_of(a->name) + bytes_of(a->domain) + (size_t)a->message_bytes +
                   (size_t)a->answer_bytes;
    struct question *q = calloc(1, sizeof *q + bytes);
    unsigned char *room;

    if (q == NULL)
        return NULL;
    q->ask = ask;
    q->with = *a;
    room = q->room;
    if (!posix__copy_resolver(&q->state, state)) {
        free_question(q);
        return NULL;
    }
    q->with.name = (char *)copy_argument(&room, a->name, bytes_of(a->name));
    q->with.domain = (char *)copy_argument(&room, a->domain, bytes_of(a->domain));
    q->with.message = copy_argument(&room, a->message, (size_t)a->message_bytes);
    q->with.answer = room;
    return q;
}

static int ask_on_lane(void *arg)
{
    struct question *q = arg;

    h_errno = 0;
    q->length = q->ask(q);
    q->error = errno;
    q->host_error = h_errno;
    return 0;
}

/* Return the length of the whole answer, even if only a part of it fits into `answer`. */
static int take_answer(const struct question *q, struct __res_state *state,
                       unsigned char *answer)
{
    int room = q->with.answer_bytes, copied = q->length < room ? q->length : room;

    if (copied > 0)
        memcpy(answer, q->with.answer, (size_t)copied);
    state->res_h_errno = q->state.res_h_errno;
    h_errno = q->host_error;
    errno = q->error;
    return q->length;
}

static int fail_query(int error)
{
    h_errno = NETDB_INTERNAL;
    errno = error;
    return -1;
}

static int ask_in_task(ask_fn *ask, struct __res_state *state, const struct arguments *a)
{
    struct question *q;
    int rc;

    if (!(state->options & RES_INIT) && res_ninit(state) < 0)
        return fail_query(errno);
    q = create_question(ask, state, a);
    if (q == NULL)
        return fail_query(ENOMEM);
    rc = posix__blocking_abandonable(COIL_LANE_DNS, ask_on_lane, q, free_question);
    if (rc == -ECANCELED)
        return fail_query(ECANCELED); /* free_question() owns `q` now */
    rc = rc < 0 ? fail_query(-rc) : take_answer(q, state, a->answer);
    free_question(q);
    return rc;
}

/* ---- the interposed functions ------------------------------------------------------ */

/*
 * True if the query may run on a thread of the lane. False if an argument is invalid, or
 * if the caller must not suspend. In that case the caller calls the C library's function
 * directly.
 */
static bool may_ask(const struct arguments *a)
{
    return (a->name != NULL || a->message != NULL) && a->message_bytes >= 0 &&
           a->answer != NULL && a->answer_bytes >= 0 && posix__may_wait();
}

static struct arguments of_name(const char *name, int class, int type,
                                unsigned char *answer, int bytes)
{
    return (struct arguments){.name = name,
                              .class = class,
                              .type = type,
                              .answer = answer,
                              .answer_bytes = bytes};
}

static struct arguments of_message(const unsigned char *message, int message_bytes,
                                   unsigned char *answer, int bytes)
{
    return (struct arguments){.message = message,
                              .message_bytes = message_bytes,
                              .answer = answer,
                              .answer_bytes = bytes};
}

INTERPOSE int res_query(const char *name, int class, int type, unsigned char *answer,
                        int bytes)
{
    struct arguments a = of_name(name, class, type, answer, bytes);

    if (!IN_TASK() || !may_ask(&a))
        return NEXT(res_query)(name, class, type, answer, bytes);
    return ask_in_task(ask_query, &_res, &a);
}

INTERPOSE int res_nquery(res_state state, const char *name, int class, int type,
                         unsigned char *answer, int bytes)
{
    struct arguments a = of_name(name, class, type, answer, bytes);

    if (!IN_TASK() || !may_ask(&a))
        return NEXT(res_nquery)(state, name, class, type, answer, bytes);
    return ask_in_task(ask_query, state, &a);
}

INTERPOSE int res_search(const char *name, int class, int type, unsigned char *answer,
                         int bytes)
{
    struct arguments a = of_name(name, class, type, answer, bytes);

    if (!IN_TASK() || !may_ask(&a))
        return NEXT(res_search)(name, class, type, answer, bytes);
    return ask_in_task(ask_search, &_res, &a);
}

INTERPOSE int res_nsearch(res_state state, const char *name, int class, int type,
                          unsigned char *answer, int bytes)
{
    struct arguments a = of_name(name, class, type, answer, bytes);

    if (!IN_TASK() || !may_ask(&a))
        return NEXT(res_nsearch)(state, name, class, type, answer, bytes);
    return ask_in_task(ask_search, state, &a);
}

INTERPOSE int res_querydomain(const char *name, const char *domain, int class, int type,
                              unsigned char *answer, int bytes)
{
    struct arguments a = of_name(name, class, type, answer, bytes);

    a.domain = domain;
    if (!IN_TASK() || !may_ask(&a))
        return NEXT(res_querydomain)(name, domain, class, type, answer, bytes);
    return ask_in_task(ask_in_domain, &_res, &a);
}

INTERPOSE int res_nquerydomain(res_state state, const char *name, const char *domain,
                               int class, int type, unsigned char *answer, int bytes)
{
    struct arguments a = of_name(name, class, type, answer, bytes);

    a.domain = domain;
    if (!IN_TASK() || !may_ask(&a))
        return NEXT(res_nquerydomain)(state, name, domain, class, type, answer, bytes);
    return ask_in_task(ask_in_domain, state, &a);
}

INTERPOSE int res_send(const unsigned char *message, int message_bytes,
                       unsigned char *answer, int bytes)
{
    struct arguments a = of_message(message, message_bytes, answer, bytes);

    if (!IN_TASK() || !may_ask(&a))
        return NEXT(res_send)(message, message_bytes, answer, bytes);
    return ask_in_task(ask_message, &_res, &a);
}

INTERPOSE int res_nsend(res_state state, const unsigned char *message, int message_bytes,
                        unsigned char *answer, int bytes)
{
    struct arguments a = of_message(message, message_bytes, answer, bytes);

    if (!IN_TASK() || !may_ask(&a))
        return NEXT(res_nsend)(state, message, message_bytes, answer, bytes);
    return ask_in_task(ask_message, state, &a);
}
