/*
 * resolver_lane.c - calls the C library's getaddrinfo(3) and getnameinfo(3) on a thread.
 *
 * These functions block: they may read files, use the network, or do anything else that
 * nsswitch.conf(5) specifies. If the task is cancelled, its look-up continues on the
 * thread, so the look-up has copies of all arguments.
 */
#include "resolver.h"

#include "../base/fault.h"

#include <coil/executor.h>

#include <string.h>

int coil__errno_of_eai(int eai, int error)
{
    switch (eai) {
    case 0:
        return 0;
    case EAI_NONAME:
    case EAI_SERVICE:
    case EAI_NODATA:
        return -ENOENT;
    case EAI_AGAIN:
        return -EAGAIN;
    case EAI_FAIL:
        return -EIO;
    case EAI_FAMILY:
    case EAI_ADDRFAMILY:
        return -EAFNOSUPPORT;
    case EAI_MEMORY:
        return -ENOMEM;
    case EAI_OVERFLOW:
        return -EMSGSIZE;
    case EAI_BADFLAGS:
    case EAI_SOCKTYPE:
        return -EINVAL;
    default: /* such as EAI_SYSTEM; -ECANCELED would mean a cancelled look-up */
        return error > 0 && error != ECANCELED ? -error : -EIO;
    }
}

/*
 * glibc reports "no such name" or "no such service" if it could not open hosts(5),
 * services(5) or a socket, because descriptors or memory ran out. Return EAI_SYSTEM in
 * that case. errno must have been 0 before the call that returned `eai`.
 */
static int eai_of_shortage(int eai)
{
    bool is_shortage = errno == EMFILE || errno == ENFILE || errno == ENOMEM;

    return is_shortage && eai != 0 && eai != EAI_MEMORY ? EAI_SYSTEM : eai;
}

int coil__call_getaddrinfo(const char *host, const char *port,
                           const struct addrinfo *hints, struct addrinfo **out)
{
    if (coil__call_fails(EIO, "getaddrinfo"))
        return EAI_SYSTEM;
    errno = 0;
    return eai_of_shortage(getaddrinfo(host, port, hints, out));
}

/* ---- names into addresses ---------------------------------------------------------- */

struct lookup {
    struct addrinfo hints;
    const char *host, *port; /* in `names`, or NULL */
    struct addrinfo *list;
    char names[];
};

static int run_getaddrinfo(void *arg)
{
    struct lookup *l = arg;
    int eai = coil__call_getaddrinfo(l->host, l->port, &l->hints, &l->list);

    if (eai != 0)
        l->list = NULL;
    return coil__errno_of_eai(eai, errno);
}

/* Called if the task was cancelled: free the look-up and its result, if there is one. */
static void discard(void *arg)
{
    struct lookup *l = arg;

    if (l->list != NULL)
        freeaddrinfo(l->list);
    coil__free(l);
}

static const char *append_name(char **to, const char *name)
{
    char *copy = *to;

    if (name == NULL)
        return NULL;
    *to = stpcpy(copy, name) + 1;
    return copy;
}

static struct lookup *create_lookup(const char *host, const char *port,
                                    const struct addrinfo *hints)
{
    size_t host_bytes = host != NULL ? strlen(host) + 1 : 0;
    size_t port_bytes = port != NULL ? strlen(port) + 1 : 0;
    struct lookup *l = coil__alloc(sizeof *l + host_bytes + port_bytes);
    char *names;

    if (l == NULL)
        return NULL;
    names = l->names;
    l->host = append_name(&names, host);
    l->port = append_name(&names, port);
    /* If there are no hints, use glibc's defaults. */
    l->hints = hints != NULL ? *hints
                             : (struct addrinfo){.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};
    l->list = NULL;
    return l;
}

int coil__lane_look_up(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **out)
{
    struct lookup *l = create_lookup(host, port, hints);
    int rc;

    if (l == NULL)
        return -ENOMEM;
    rc = coil_blocking_abandonable(COIL_LANE_DNS, run_getaddrinfo, l, discard);
    if (rc == -ECANCELED)
        return rc; /* `l` now belongs to the thread */
    *out = l->list;
    coil__free(l);
    return rc;
}

/* ---- addresses into names ---------------------------------------------------------- */

struct naming {
    coil_address address;
    int flags;
    bool wants_host, wants_service;
    char host[NI_MAXHOST], service[NI_MAXSERV];
};

static int call_getnameinfo(struct naming *n)
{
    if (coil__call_fails(EIO, "getnameinfo"))
        return EAI_SYSTEM;
    errno = 0;
    return eai_of_shortage(getnameinfo(
        &n->address.any, n->address.length, n->wants_host ? n->host : NULL,
        n->wants_host ? sizeof n->host : 0, n->wants_service ? n->service : NULL,
        n->wants_service ? sizeof n->service : 0, n->flags));
}

static int run_getnameinfo(void *arg)
{
    int eai = call_getnameinfo(arg);

    return coil__errno_of_eai(eai, errno);
}

static int copy_out(char *to, size_t size, const char *text)
{
    size_t n = strlen(text) + 1;

    if (n > size)
        return -EMSGSIZE;
    memcpy(to, text, n);
    return 0;
}

int coil__lane_look_up_name(const coil_address *address, char *host, size_t host_size,
                            char *service, size_t service_size, int flags)
{
    struct naming *n = coil__alloc_zeroed(sizeof *n);
    bool is_known;
    int rc;

    if (n == NULL)
        return -ENOMEM;
    n->address = *address;
    n->flags = flags;
    n->wants_host = host_size > 0;
    n->wants_service = service_size > 0;
    is_known = (!n->wants_host || flags & NI_NUMERICHOST) &&
               (!n->wants_service || flags & NI_NUMERICSERV);
    if (is_known)
        rc = run_getnameinfo(n);
    else
        rc = coil_blocking_abandonable(COIL_LANE_DNS, run_getnameinfo, n, coil__free);
    if (rc == -ECANCELED)
        return rc; /* `n` now belongs to the thread */
    if (rc == 0 && n->wants_host)
        rc = copy_out(host, host_size, n->host);
    if (rc == 0 && n->wants_service)
        rc = copy_out(service, service_size, n->service);
    coil__free(n);
    return rc;
}
