/*
 * name_service.c - getpwnam(3), getgrnam(3), getservbyname(3) and their relatives.
 *
 * The C library calls a module of the name service, such as libnss_sss, libnss_ldap or
 * libnss_systemd, which may query a server. The calls of the module are interposed like
 * those of any library, so they suspend the task. But during the call, most of these
 * functions hold a lock of the C library, and a second task that waited for this lock
 * would block the thread. Therefore such a second task waits for the mutex `service`
 * instead.
 *
 * A lock is held by functions that return the C library's own memory, and by functions
 * that walk through a database, even if they use the caller's buffer. Functions that
 * search for one entry and use the caller's buffer (`_r`) do not hold a lock. (glibc:
 * nss/getXXbyYY.c, getXXent.c, getXXent_r.c, fgetXXent.c and getnetgrent_r.c)
 */
#include "waiting.h"

#include <aliases.h>
#include <grp.h>
#include <gshadow.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <shadow.h>

/* Recursive, because a module may call another of these functions. */
static pthread_mutex_t service = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void forget_owner(void)
{
    service = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

/* In a child of fork(2), the recorded owner may be a task of the parent. */
__attribute__((constructor)) static void forget_owner_after_fork(void)
{
    pthread_atfork(NULL, NULL, forget_owner);
}

/* Lock `service`. Returns false if memory for recording the owner ran out. */
static bool enter(void)
{
    posix__fairly();
    return pthread_mutex_lock(&service) == 0;
}

static void leave(void)
{
    int saved = errno;

    pthread_mutex_unlock(&service);
    errno = saved;
}

#define ONE_AT_A_TIME(type, name, parameters, arguments)                                 \
    INTERPOSE type name parameters                                                       \
    {                                                                                    \
        bool entered = IN_TASK() && enter();                                             \
        type result = NEXT(name) arguments;                                              \
                                                                                         \
        if (entered)                                                                     \
            leave();                                                                     \
        return result;                                                                   \
    }

#define ONE_AT_A_TIME_VOID(name, parameters, arguments)                                  \
    INTERPOSE void name parameters                                                       \
    {                                                                                    \
        bool entered = IN_TASK() && enter();                                             \
                                                                                         \
        NEXT(name) arguments;                                                            \
        if (entered)                                                                     \
            leave();                                                                     \
    }

#define MANY(type, name, parameters, arguments)                                          \
    INTERPOSE type name parameters                                                       \
    {                                                                                    \
        if (IN_TASK())                                                                   \
            posix__fairly();                                                             \
        return NEXT(name) arguments;                                                     \
    }

/* The parameters that follow the key if a function uses the caller's buffer. */
#define BUFFER(type)                                                                     \
    struct type *restrict entry, char *restrict buffer, size_t size,                     \
        struct type **restrict found
#define BUFFER_AND_ERROR(type) BUFFER(type), int *restrict error
#define TO_BUFFER entry, buffer, size, found

/* ---- users and groups -------------------------------------------------------------- */

ONE_AT_A_TIME(struct passwd *, getpwnam, (const char *name), (name))
ONE_AT_A_TIME(struct passwd *, getpwuid, (uid_t user), (user))
ONE_AT_A_TIME(struct passwd *, getpwent, (void), ())
ONE_AT_A_TIME(int, getpwent_r, (BUFFER(passwd)), (TO_BUFFER))
ONE_AT_A_TIME_VOID(setpwent, (void), ())
ONE_AT_A_TIME_VOID(endpwent, (void), ())
ONE_AT_A_TIME(struct passwd *, fgetpwent, (FILE * file), (file))
MANY(int, getpwnam_r, (const char *restrict name, BUFFER(passwd)), (name, TO_BUFFER))
MANY(int, getpwuid_r, (uid_t user, BUFFER(passwd)), (user, TO_BUFFER))

ONE_AT_A_TIME(struct group *, getgrnam, (const char *name), (name))
ONE_AT_A_TIME(struct group *, getgrgid, (gid_t group), (group))
ONE_AT_A_TIME(struct group *, getgrent, (void), ())
ONE_AT_A_TIME(int, getgrent_r, (BUFFER(group)), (TO_BUFFER))
ONE_AT_A_TIME_VOID(setgrent, (void), ())
ONE_AT_A_TIME_VOID(endgrent, (void), ())
ONE_AT_A_TIME(struct group *, fgetgrent, (FILE * file), (file))
MANY(int, getgrnam_r, (const char *restrict name, BUFFER(group)), (name, TO_BUFFER))
MANY(int, getgrgid_r, (gid_t group, BUFFER(group)), (group, TO_BUFFER))

MANY(int, initgroups, (const char *user, gid_t group), (user, group))
MANY(int, getgrouplist, (const char *user, gid_t group, gid_t *groups, int *count),
     (user, group, groups, count))

ONE_AT_A_TIME(struct spwd *, getspnam, (const char *name), (name))
ONE_AT_A_TIME(struct spwd *, getspent, (void), ())
ONE_AT_A_TIME(int, getspent_r, (BUFFER(spwd)), (TO_BUFFER))
ONE_AT_A_TIME_VOID(setspent, (void), ())
ONE_AT_A_TIME_VOID(endspent, (void), ())
ONE_AT_A_TIME(struct spwd *, fgetspent, (FILE * file), (file))
MANY(int, getspnam_r, (const char *restrict name, BUFFER(spwd)), (name, TO_BUFFER))

ONE_AT_A_TIME(struct sgrp *, getsgnam, (const char *name), (name))
ONE_AT_A_TIME(struct sgrp *, getsgent, (void), ())
ONE_AT_A_TIME(int, getsgent_r, (BUFFER(sgrp)), (TO_BUFFER))
ONE_AT_A_TIME_VOID(setsgent, (void), ())
ONE_AT_A_TIME_VOID(endsgent, (void), ())
ONE_AT_A_TIME(struct sgrp *, fgetsgent, (FILE * file), (file))
MANY(int, getsgnam_r, (const char *restrict name, BUFFER(sgrp)), (name, TO_BUFFER))

/* ---- services, protocols and programs of RPC --------------------------------------- */

ONE_AT_A_TIME(struct servent *, getservbyname, (const char *name, const char *protocol),
              (name, protocol))
ONE_AT_A_TIME(struct servent *, getservbyport, (int port, const char *protocol),
              (port, protocol))
ONE_AT_A_TIME(struct servent *, getservent, (void), ())
ONE_AT_A_TIME(int, getservent_r, (BUFFER(servent)), (TO_BUFFER))
ONE_AT_A_TIME_VOID(setservent, (int stay_open), (stay_open))
ONE_AT_A_TIME_VOID(endservent, (void), ())
MANY(int, getservbyname_r,
     (const char *restrict name, const char *restrict protocol, BUFFER(servent)),
     (name, protocol, TO_BUFFER))
MANY(int, getservbyport_r, (int port, const char *restrict protocol, BUFFER(servent)),
     (port, protocol, TO_BUFFER))

ONE_AT_A_TIME(struct protoent *, getprotobyname, (const char *name), (name))
ONE_AT_A_TIME(struct protoent *, getprotobynumber, (int number), (number))
ONE_AT_A_TIME(struct protoent *, getprotoent, (void), ())
ONE_AT_A_TIME(int, getprotoent_r, (BUFFER(protoent)), (TO_BUFFER))
ONE_AT_A_TIME_VOID(setprotoent, (int stay_open), (stay_open))
ONE_AT_A_TIME_VOID(endprotoent, (void), ())
MANY(int, getprotobyname_r, (const char *restrict name, BUFFER(protoent)),
     (name, TO_BUFFER))
MANY(int, getprotobynumber_r, (int number, BUFFER(protoent)), (number, TO_BUFFER))

ONE_AT_A_TIME(struct rpcent *, getrpcbyname, (const char *name), (name))
ONE_AT_A_TIME(struct rpcent *, getrpcbynumber, (int number), (number))
ONE_AT_A_TIME(struct rpcent *, getrpcent, (void), ())
ONE_AT_A_TIME(int, getrpcent_r, (BUFFER(rpcent)), (TO_BUFFER))
ONE_AT_A_TIME_VOID(setrpcent, (int stay_open), (stay_open))
ONE_AT_A_TIME_VOID(endrpcent, (void), ())
MANY(int, getrpcbyname_r, (const char *restrict name, BUFFER(rpcent)), (name, TO_BUFFER))
MANY(int, getrpcbynumber_r, (int number, BUFFER(rpcent)), (number, TO_BUFFER))

/* ---- hosts and networks ------------------------------------------------------------ */

ONE_AT_A_TIME(struct hostent *, gethostent, (void), ())
ONE_AT_A_TIME(int, gethostent_r, (BUFFER_AND_ERROR(hostent)), (TO_BUFFER, error))
ONE_AT_A_TIME_VOID(sethostent, (int stay_open), (stay_open))
ONE_AT_A_TIME_VOID(endhostent, (void), ())

ONE_AT_A_TIME(struct netent *, getnetbyname, (const char *name), (name))
ONE_AT_A_TIME(struct netent *, getnetbyaddr, (uint32_t net, int type), (net, type))
ONE_AT_A_TIME(struct netent *, getnetent, (void), ())
ONE_AT_A_TIME(int, getnetent_r, (BUFFER_AND_ERROR(netent)), (TO_BUFFER, error))
ONE_AT_A_TIME_VOID(setnetent, (int stay_open), (stay_open))
ONE_AT_A_TIME_VOID(endnetent, (void), ())
MANY(int, getnetbyname_r, (const char *restrict name, BUFFER_AND_ERROR(netent)),
     (name, TO_BUFFER, error))
MANY(int, getnetbyaddr_r, (uint32_t net, int type, BUFFER_AND_ERROR(netent)),
     (net, type, TO_BUFFER, error))

MANY(int, ether_hostton, (const char *name, struct ether_addr *address), (name, address))
MANY(int, ether_ntohost, (char *name, const struct ether_addr *address), (name, address))

/* ---- mail aliases and groups of hosts and users ------------------------------------ */

ONE_AT_A_TIME(struct aliasent *, getaliasbyname, (const char *name), (name))
ONE_AT_A_TIME(struct aliasent *, getaliasent, (void), ())
ONE_AT_A_TIME(int, getaliasent_r, (BUFFER(aliasent)), (TO_BUFFER))
ONE_AT_A_TIME_VOID(setaliasent, (void), ())
ONE_AT_A_TIME_VOID(endaliasent, (void), ())
MANY(int, getaliasbyname_r, (const char *restrict name, BUFFER(aliasent)),
     (name, TO_BUFFER))

ONE_AT_A_TIME(int, setnetgrent, (const char *group), (group))
ONE_AT_A_TIME_VOID(endnetgrent, (void), ())
ONE_AT_A_TIME(int, getnetgrent,
              (char **restrict host, char **restrict user, char **restrict domain),
              (host, user, domain))
ONE_AT_A_TIME(int, getnetgrent_r,
              (char **restrict host, char **restrict user, char **restrict domain,
               char *restrict buffer, size_t size),
              (host, user, domain, buffer, size))
MANY(int, innetgr,
     (const char *group, const char *host, const char *user, const char *domain),
     (group, host, user, domain))
