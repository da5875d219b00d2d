/*
 * name_service.c - getpwnam(3), getgrnam(3), getservbyname(3) and their relatives.
 *
 * The C library calls a module of the name service, which may query a server: libnss_sss,
 * libnss_ldap, libnss_systemd. The calls of the module are interposed like those of any
 * library, so they suspend the task. But during the call most of these functions hold a
 * lock of the C library, and a second task that waited for that lock would block the
 * thread. So the second task waits for `service` instead. The functions that use the
 * caller's buffer (`_r`) hold no such lock.
 */
#include "waiting.h"

#include <grp.h>
#include <netdb.h>
#include <pwd.h>

/* Recursive, because a module may call another of these functions. */
static pthread_mutex_t service = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void forget_owner(void)
{
    service = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

/* In a child of fork(2) the owner may be a task of the parent. */
__attribute__((constructor)) static void forget_owner_after_fork(void)
{
    pthread_atfork(NULL, NULL, forget_owner);
}

/* Returns false if there is no memory to record the owner. */
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

/* ---- users and groups -------------------------------------------------------------- */

ONE_AT_A_TIME(struct passwd *, getpwnam, (const char *name), (name))
ONE_AT_A_TIME(struct passwd *, getpwuid, (uid_t user), (user))
ONE_AT_A_TIME(struct passwd *, getpwent, (void), ())
ONE_AT_A_TIME_VOID(setpwent, (void), ())
ONE_AT_A_TIME_VOID(endpwent, (void), ())
ONE_AT_A_TIME(struct group *, getgrnam, (const char *name), (name))
ONE_AT_A_TIME(struct group *, getgrgid, (gid_t group), (group))
ONE_AT_A_TIME(struct group *, getgrent, (void), ())
ONE_AT_A_TIME_VOID(setgrent, (void), ())
ONE_AT_A_TIME_VOID(endgrent, (void), ())

/* These two hold the lock of getpwent() and getgrent(). */
ONE_AT_A_TIME(int, getpwent_r,
              (struct passwd *restrict user, char *restrict buffer, size_t size,
               struct passwd **restrict found),
              (user, buffer, size, found))
ONE_AT_A_TIME(int, getgrent_r,
              (struct group *restrict group, char *restrict buffer, size_t size,
               struct group **restrict found),
              (group, buffer, size, found))

MANY(int, getpwnam_r,
     (const char *restrict name, struct passwd *restrict user, char *restrict buffer,
      size_t size, struct passwd **restrict found),
     (name, user, buffer, size, found))
MANY(int, getpwuid_r,
     (uid_t id, struct passwd *restrict user, char *restrict buffer, size_t size,
      struct passwd **restrict found),
     (id, user, buffer, size, found))
MANY(int, getgrnam_r,
     (const char *restrict name, struct group *restrict group, char *restrict buffer,
      size_t size, struct group **restrict found),
     (name, group, buffer, size, found))
MANY(int, getgrgid_r,
     (gid_t id, struct group *restrict group, char *restrict buffer, size_t size,
      struct group **restrict found),
     (id, group, buffer, size, found))
MANY(int, initgroups, (const char *user, gid_t group), (user, group))
MANY(int, getgrouplist, (const char *user, gid_t group, gid_t *groups, int *count),
     (user, group, groups, count))

/* ---- services and protocols -------------------------------------------------------- */

ONE_AT_A_TIME(struct servent *, getservbyname, (const char *name, const char *protocol),
              (name, protocol))
ONE_AT_A_TIME(struct servent *, getservbyport, (int port, const char *protocol),
              (port, protocol))
ONE_AT_A_TIME(struct servent *, getservent, (void), ())
ONE_AT_A_TIME_VOID(setservent, (int stay_open), (stay_open))
ONE_AT_A_TIME_VOID(endservent, (void), ())
ONE_AT_A_TIME(struct protoent *, getprotobyname, (const char *name), (name))
ONE_AT_A_TIME(struct protoent *, getprotobynumber, (int number), (number))
ONE_AT_A_TIME(struct protoent *, getprotoent, (void), ())
ONE_AT_A_TIME_VOID(setprotoent, (int stay_open), (stay_open))
ONE_AT_A_TIME_VOID(endprotoent, (void), ())
