/*
 * lookup.c - getaddrinfo(3), getnameinfo(3), gethostbyname(3) and their relatives.
 *
 * Each function calls the C library's own function on a thread of the dns lane, so
 * answers and errors are the C library's. The thread uses a copy of the task's `_res`,
 * because the program may have set other servers or options there.
 *
 * When the task is cancelled, getaddrinfo() and getnameinfo() return at once and leave
 * the look-up to its thread. Both functions therefore work on copies of their arguments.
 * The other functions write to the caller's memory, so they wait until the thread has
 * finished.
 */
#include "resolving.h"

#include <coil/task.h>

#include <stdlib.h>
#include <string.h>

static int system_error(int rc)
{
    errno = -rc;
    return rc == -ENOMEM ? EAI_MEMORY : EAI_SYSTEM;
}

/* ---- getaddrinfo() ----------------------------------------------------------------- */

struct lookup {
    struct addrinfo hints, *list;
    bool hinted;
    const char *host, *service; /* point into `names`; `service` may be NULL */
    struct __res_state resolver;
    int eai, error;
    char names[];
};

static struct lookup *create_lookup(const char *host, const char *service,
                                    const struct addrinfo *hints)
{
    size_t host_bytes = strlen(host) + 1;
    size_t service_bytes = service != NULL ? strlen(service) + 1 : 0;
    struct lookup *l = calloc(1, sizeof *l + host_bytes + service_bytes);

    if (l == NULL)
        return NULL;
    if (!posix__copy_thread_resolver(&l->resolver)) {
        posix__free_resolver(&l->resolver);
        free(l);
        return NULL;
    }
    l->hinted = hints != NULL;
    if (hints != NULL)
        l->hints = *hints;
    l->host = memcpy(l->names, host, host_bytes);
    if (service != NULL)
        l->service = memcpy(l->names + host_bytes, service, service_bytes);
    return l;
}

static int look_up(void *arg)
{
    struct lookup *l = arg;
    struct __res_state own;

    posix__enter_resolver(&l->resolver, &own);
    l->eai =
        NEXT(getaddrinfo)(l->host, l->service, l->hinted ? &l->hints : NULL, &l->list);
    l->error = errno;
    posix__leave_resolver(&l->resolver, &own);
    if (l->eai != 0)
        l->list = NULL;
    return 0;
}

static void discard_lookup(void *arg)
{
    struct lookup *l = arg;

    if (l->list != NULL)
        freeaddrinfo(l->list);
    posix__free_resolver(&l->resolver);
    free(l);
}

static int look_up_in_task(const char *host, const char *service,
                           const struct addrinfo *hints, struct addrinfo **out)
{
    struct lookup *l = create_lookup(host, service, hints);
    int rc;

    if (l == NULL)
        return EAI_MEMORY;
    rc = posix__blocking_abandonable(COIL_LANE_DNS, look_up, l, discard_lookup);
    if (rc == -ECANCELED)
        return system_error(rc); /* discard_lookup() owns `l` now */
    if (rc < 0) {
        discard_lookup(l);
        return system_error(rc);
    }
    rc = l->eai;
    errno = l->error;
    if (rc == 0)
        *out = l->list;
    l->list = NULL;
    discard_lookup(l);
    return rc;
}

/* Parse a numeric address, which never waits. Returns EAI_NONAME for a name. */
static int look_up_number(const char *host, const char *service,
                          const struct addrinfo *hints, struct addrinfo **out)
{
    struct addrinfo numeric = {.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};

    if (hints != NULL)
        numeric = *hints;
    numeric.ai_flags |= AI_NUMERICHOST;
    return NEXT(getaddrinfo)(host, service, &numeric, out);
}

INTERPOSE int getaddrinfo(const char *restrict host, const char *restrict service,
                          const struct addrinfo *restrict hints,
                          struct addrinfo **restrict out)
{
    int eai, saved = errno;

    if (!IN_TASK() || host == NULL || !posix__may_wait())
        return NEXT(getaddrinfo)(host, service, hints, out);
    eai = look_up_number(host, service, hints, out);
    if (eai != EAI_NONAME || (hints != NULL && hints->ai_flags & AI_NUMERICHOST))
        return eai;
    errno = saved;
    return look_up_in_task(host, service, hints, out);
}

/* ---- getnameinfo() ----------------------------------------------------------------- */

struct naming {
    struct sockaddr_storage address;
    socklen_t address_bytes, host_bytes, service_bytes;
    unsigned flags;
    struct __res_state resolver;
    int eai, error;
    char host[NI_MAXHOST], service[NI_MAXSERV];
};

static int look_up_name(void *arg)
{
    struct naming *n = arg;
    struct __res_state own;

    posix__enter_resolver(&n->resolver, &own);
    n->eai =
        NEXT(getnameinfo)((struct sockaddr *)&n->address, n->address_bytes, n->host,
                          n->host_bytes, n->service, n->service_bytes, (int)n->flags);
    n->error = errno;
    posix__leave_resolver(&n->resolver, &own);
    return 0;
}

static void discard_naming(void *arg)
{
    struct naming *n = arg;

    posix__free_resolver(&n->resolver);
    free(n);
}

static socklen_t at_most(socklen_t n, size_t limit)
{
    return n < limit ? n : (socklen_t)limit;
}

static int name_in_task(struct naming *n, char *host, char *service)
{
    int rc = posix__blocking_abandonable(COIL_LANE_DNS, look_up_name, n, discard_naming);

    if (rc == -ECANCELED)
        return system_error(rc);
    if (rc < 0)
        n->eai = system_error(rc);
    else
        errno = n->error;
    if (n->eai == 0 && n->host_bytes > 0)
        strcpy(host, n->host);
    if (n->eai == 0 && n->service_bytes > 0)
        strcpy(service, n->service);
    rc = n->eai;
    discard_naming(n);
    return rc;
}

INTERPOSE int getnameinfo(const struct sockaddr *restrict address,
                          socklen_t address_bytes, char *restrict host,
                          socklen_t host_bytes, char *restrict service,
                          socklen_t service_bytes, int flags)
{
    struct naming *n;

    if (!IN_TASK() || host == NULL || host_bytes == 0 || flags & NI_NUMERICHOST ||
        address_bytes > sizeof n->address || !posix__may_wait())
        return NEXT(getnameinfo)(address, address_bytes, host, host_bytes, service,
                                 service_bytes, flags);
    n = calloc(1, sizeof *n);
    if (n == NULL)
        return EAI_MEMORY;
    if (!posix__copy_thread_resolver(&n->resolver)) {
        discard_naming(n);
        return EAI_MEMORY;
    }
    memcpy(&n->address, address, address_bytes);
    n->address_bytes = address_bytes;
    n->host_bytes = at_most(host_bytes, sizeof n->host);
    n->service_bytes = service != NULL ? at_most(service_bytes, sizeof n->service) : 0;
    n->flags = (unsigned)flags;
    return name_in_task(n, host, service);
}

/* ---- gethostbyname() and its relatives --------------------------------------------- */

/*
 * The arguments and results of any of the six functions. The struct is on the task's
 * stack and points to the caller's memory, so the task waits for the thread even if it is
 * cancelled.
 */
struct host_query {
    const char *name; /* NULL if an address is looked up */
    const void *address;
    socklen_t address_bytes;
    int family;
    struct hostent *entry, **out;
    char *buf;
    size_t buf_bytes;
    struct __res_state resolver;
    int rc, error, host_error;
};

static int ask_host(void *arg)
{
    struct host_query *q = arg;

    if (q->name == NULL)
        q->rc = NEXT(gethostbyaddr_r)(q->address, q->address_bytes, q->family, q->entry,
                                      q->buf, q->buf_bytes, q->out, &q->host_error);
    else if (q->family == AF_UNSPEC)
        q->rc = NEXT(gethostbyname_r)(q->name, q->entry, q->buf, q->buf_bytes, q->out,
                                      &q->host_error);
    else
        q->rc = NEXT(gethostbyname2_r)(q->name, q->family, q->entry, q->buf, q->buf_bytes,
                                       q->out, &q->host_error);
    q->error = errno;
    return 0;
}

static int ask_host_on_lane(void *arg)
{
    struct host_query *q = arg;
    struct __res_state own;

    posix__enter_resolver(&q->resolver, &own);
    ask_host(q);
    posix__leave_resolver(&q->resolver, &own);
    return 0;
}

static int ask_host_in_task(struct host_query *q)
{
    int rc = -ENOMEM;

    if (!posix__may_wait())
        return ask_host(q);
    if (posix__copy_thread_resolver(&q->resolver))
        rc = posix__blocking(COIL_LANE_DNS, ask_host_on_lane, q);
    posix__free_resolver(&q->resolver);
    return rc;
}

/*
 * Make the query on the dns lane, and set errno and *host_error. Returns 0 or an errno,
 * like gethostbyname_r(3).
 */
static int query_in_task(struct host_query *q, int *host_error)
{
    int rc = ask_host_in_task(q);

    if (rc < 0) {
        *q->out = NULL;
        *host_error = NETDB_INTERNAL;
        errno = -rc;
        return -rc;
    }
    *host_error = q->host_error;
    errno = q->error;
    return q->rc;
}

INTERPOSE int gethostbyname_r(const char *restrict host, struct hostent *restrict entry,
                              char *restrict buf, size_t buf_bytes,
                              struct hostent **restrict out, int *restrict host_error)
{
    struct host_query q = {.name = host,
                           .family = AF_UNSPEC,
                           .entry = entry,
                           .out = out,
                           .buf = buf,
                           .buf_bytes = buf_bytes};

    if (!IN_TASK())
        return NEXT(gethostbyname_r)(host, entry, buf, buf_bytes, out, host_error);
    return query_in_task(&q, host_error);
}

INTERPOSE int gethostbyname2_r(const char *restrict host, int family,
                               struct hostent *restrict entry, char *restrict buf,
                               size_t buf_bytes, struct hostent **restrict out,
                               int *restrict host_error)
{
    struct host_query q = {.name = host,
                           .family = family,
                           .entry = entry,
                           .out = out,
                           .buf = buf,
                           .buf_bytes = buf_bytes};

    if (!IN_TASK())
        return NEXT(gethostbyname2_r)(host, family, entry, buf, buf_bytes, out,
                                      host_error);
    return query_in_task(&q, host_error);
}

INTERPOSE int gethostbyaddr_r(const void *restrict address, socklen_t address_bytes,
                              int family, struct hostent *restrict entry,
                              char *restrict buf, size_t buf_bytes,
                              struct hostent **restrict out, int *restrict host_error)
{
    struct host_query q = {.address = address,
                           .address_bytes = address_bytes,
                           .family = family,
                           .entry = entry,
                           .out = out,
                           .buf = buf,
                           .buf_bytes = buf_bytes};

    if (!IN_TASK())
        return NEXT(gethostbyaddr_r)(address, address_bytes, family, entry, buf,
                                     buf_bytes, out, host_error);
    return query_in_task(&q, host_error);
}

/*
 * gethostbyname(), gethostbyname2() and gethostbyaddr() return memory of the library.
 * Each task has answers of its own. An answer is valid until the task's next call of the
 * same function, and is freed when the task ends.
 */
struct answer {
    struct hostent entry;
    char buf[8192];
};

enum { BY_NAME, BY_NAME2, BY_ADDRESS, ANSWERS };

struct answers {
    struct answers *next;
    const coil_task *task;
    struct answer *latest[ANSWERS];
};

static THREAD_LOCAL struct answers *all_answers;

static struct answers **find_answers(const coil_task *task)
{
    struct answers **link = &all_answers;

    while (*link != NULL && (*link)->task != task)
        link = &(*link)->next;
    return link;
}

static void forget_answers(void *task)
{
    struct answers **link = find_answers(task), *answers = *link;

    *link = answers->next;
    for (int i = 0; i < ANSWERS; i++)
        free(answers->latest[i]);
    free(answers);
}

/* Return the running task's answers, or NULL if memory ran out. */
static struct answers *answers_of_task(void)
{
    coil_task *task = coil_task_current();
    struct answers *answers = *find_answers(task);

    if (answers != NULL)
        return answers;
    answers = calloc(1, sizeof *answers);
    if (answers == NULL || coil_defer(forget_answers, task) < 0) {
        free(answers);
        return NULL;
    }
    answers->task = task;
    answers->next = all_answers;
    return all_answers = answers;
}

/* The arguments may point into the previous answer, so free it after the query. */
static struct hostent *answer_in_task(struct host_query *q, int function)
{
    struct answers *answers = answers_of_task();
    struct answer *answer = answers != NULL ? malloc(sizeof *answer) : NULL;
    struct hostent *found = NULL;
    int host_error = NETDB_INTERNAL;

    if (answer != NULL) {
        q->entry = &answer->entry;
        q->buf = answer->buf;
        q->buf_bytes = sizeof answer->buf;
        q->out = &found;
        if (query_in_task(q, &host_error) != 0)
            found = NULL;
        free(answers->latest[function]);
        answers->latest[function] = answer;
    }
    if (found == NULL)
        h_errno = host_error;
    return found;
}

INTERPOSE struct hostent *gethostbyname(const char *host)
{
    if (!IN_TASK())
        return NEXT(gethostbyname)(host);
    return answer_in_task(&(struct host_query){.name = host, .family = AF_UNSPEC},
                          BY_NAME);
}

INTERPOSE struct hostent *gethostbyname2(const char *host, int family)
{
    if (!IN_TASK())
        return NEXT(gethostbyname2)(host, family);
    return answer_in_task(&(struct host_query){.name = host, .family = family}, BY_NAME2);
}

INTERPOSE struct hostent *gethostbyaddr(const void *address, socklen_t bytes, int family)
{
    if (!IN_TASK())
        return NEXT(gethostbyaddr)(address, bytes, family);
    return answer_in_task(&(struct host_query){.address = address,
                                               .address_bytes = bytes,
                                               .family = family},
                          BY_ADDRESS);
}
