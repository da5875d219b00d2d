/*
 * addrinfo.c - names into addresses.
 *
 * Numbers need no server and are answered at once. Anything else goes to getaddrinfo(3)
 * on a thread of the dns lane, since the C library may ask files, the network and
 * whatever nsswitch.conf(5) says, all of it blocking. A look-up that nobody waits for any
 * more is left to itself, so it has copies of all it needs.
 */
#include "../base/base.h"
#include "../base/fault.h"

#include <coil/addrinfo.h>
#include <coil/executor.h>

#include <string.h>

struct lookup {
    struct addrinfo hints;
    const char *host, *port; /* in `names`, or NULL */
    struct addrinfo *list;
    char names[];
};

static int errno_of(int eai, int error)
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
    case EAI_BADFLAGS:
    case EAI_SOCKTYPE:
    case EAI_OVERFLOW:
        return -EINVAL;
    default: /* EAI_SYSTEM. -ECANCELED is reserved for a look-up that is given up. */
        return error > 0 && error != ECANCELED ? -error : -EIO;
    }
}

static int call_getaddrinfo(const char *host, const char *port,
                            const struct addrinfo *hints, struct addrinfo **out)
{
    int eai = EAI_SYSTEM;

    if (!coil__call_fails(EIO, "getaddrinfo"))
        eai = getaddrinfo(host, port, hints, out);
    COIL__NO_JUMP();
    return eai;
}

static bool is_number(const char *text)
{
    return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* Returns 0, an error, or -EINPROGRESS if somebody has to be asked. */
static int look_up_number(const char *host, const char *port,
                          const struct addrinfo *hints, struct addrinfo **out)
{
    struct addrinfo numeric = hints != NULL ? *hints : (struct addrinfo){.ai_flags = 0};
    int eai;

    if (port != NULL && !is_number(port))
        return -EINPROGRESS;
    if (host != NULL)
        numeric.ai_flags |= AI_NUMERICHOST;
    numeric.ai_flags |= port != NULL ? AI_NUMERICSERV : 0;
    eai = call_getaddrinfo(host, port, &numeric, out);
    if (eai == EAI_NONAME && host != NULL &&
        !(hints != NULL && hints->ai_flags & AI_NUMERICHOST))
        return -EINPROGRESS;
    return errno_of(eai, errno);
}

static int look_up(void *arg)
{
    struct lookup *l = arg;
    int eai = call_getaddrinfo(l->host, l->port, &l->hints, &l->list);

    if (eai != 0)
        l->list = NULL;
    return errno_of(eai, errno);
}

/* Nobody wants to know any more; perhaps it was never begun. */
static void discard(void *arg)
{
    struct lookup *l = arg;

    if (l->list != NULL)
        freeaddrinfo(l->list);
    coil__free(l);
}

static const char *copy_name(char **to, const char *name)
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
    l->host = copy_name(&names, host);
    l->port = copy_name(&names, port);
    /* Without hints, what glibc takes instead. */
    l->hints = hints != NULL ? *hints
                             : (struct addrinfo){.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};
    l->list = NULL;
    return l;
}

int coil_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                     struct addrinfo **out)
{
    struct lookup *l;
    int rc = look_up_number(host, port, hints, out);

    if (rc != -EINPROGRESS)
        return rc;
    l = create_lookup(host, port, hints);
    if (l == NULL)
        return -ENOMEM;
    rc = coil_blocking_abandonable(COIL_LANE_DNS, look_up, l, discard);
    if (rc == -ECANCELED)
        return rc; /* the look-up is not ours any more */
    *out = l->list;
    coil__free(l);
    return rc;
}
