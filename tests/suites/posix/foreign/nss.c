/*
 * nss.c - tests the C library's name service functions, with a module that queries a
 * server (nss_module.c). Two tasks call each function at the same time, and a third task
 * is the server. Most of these functions hold a lock of the C library during the query.
 */
#include "foreign.h"

#include <coil.h>

#include <aliases.h>
#include <errno.h>
#include <grp.h>
#include <gshadow.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <nss.h>
#include <pwd.h>
#include <shadow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int __nss_configure_lookup(const char *database, const char *services);

static const char *const databases[] = {"passwd",   "group",     "shadow", "gshadow",
                                        "services", "protocols", "rpc",    "hosts",
                                        "networks", "aliases",   "ethers", "netgroup"};

/* ---- the server -------------------------------------------------------------------- */

static coil_listener *listener;
static coil_task *server;

static int answer(coil_stream *client, void *unused)
{
    (void)unused;
    coil_sleep(COIL_MSEC(1)); /* time in which the other tasks make their calls */
    return (int)coil_write(client, "x", 1);
}

static int serve(void *unused)
{
    return coil_serve(listener, answer, unused, NULL);
}

static bool start(void)
{
    char port[12];
    bool started = coil_listen("127.0.0.1", "0", 0, &listener) == 0 &&
                   coil_spawn(serve, NULL, NULL, &server) == 0;

    if (!started)
        return false;
    snprintf(port, sizeof port, "%d", coil_listener_port(listener));
    setenv("NSS_PORT", port, 1);
    for (size_t i = 0; i < sizeof databases / sizeof databases[0]; i++)
        if (__nss_configure_lookup(databases[i], "foreign") < 0)
            return false;
    return true;
}

static bool stop(void)
{
    coil_task_cancel(server, NULL);
    coil_task_await(server);
    coil_task_release(server);
    coil_listener_destroy(listener);
    return true;
}

/* ---- users ------------------------------------------------------------------------- */

static bool find_user(const char *name, int number)
{
    const struct passwd *found = getpwnam(name);

    return found != NULL && found->pw_uid == (uid_t)number;
}

static bool find_user_in_buffer(const char *name, int number)
{
    struct passwd user, *found = NULL;
    char buffer[200];
    int rc = getpwnam_r(name, &user, buffer, sizeof buffer, &found);

    return (found != NULL && found->pw_uid == (uid_t)number) ||
           foreign_failed("%s: %d", name, rc);
}

/* ---- the other databases ----------------------------------------------------------- */

static bool is_name(const char *found, const char *name)
{
    return strcmp(found, name) == 0;
}

#define SEARCH(type, function, arguments, member)                                        \
    static bool use_##function(const char *name, int number)                             \
    {                                                                                    \
        const struct type *entry = function arguments;                                   \
                                                                                         \
        (void)number;                                                                    \
        return entry != NULL && is_name(entry->member, name);                            \
    }

SEARCH(group, getgrnam, (name), gr_name)
SEARCH(spwd, getspnam, (name), sp_namp)
SEARCH(sgrp, getsgnam, (name), sg_namp)
SEARCH(servent, getservbyname, (name, NULL), s_name)
SEARCH(protoent, getprotobyname, (name), p_name)
SEARCH(rpcent, getrpcbyname, (name), r_name)
SEARCH(netent, getnetbyname, (name), n_name)
SEARCH(aliasent, getaliasbyname, (name), alias_name)

#define WALK(type, noun, stay_open, member)                                              \
    static bool use_get##noun##ent(const char *name, int number)                         \
    {                                                                                    \
        const struct type *entry;                                                        \
                                                                                         \
        (void)name;                                                                      \
        (void)number;                                                                    \
        set##noun##ent(stay_open);                                                       \
        entry = get##noun##ent();                                                        \
        if (entry == NULL || !is_name(entry->member, "n0"))                              \
            return false;                                                                \
        end##noun##ent();                                                                \
        return true;                                                                     \
    }

WALK(passwd, pw, , pw_name)
WALK(group, gr, , gr_name)
WALK(spwd, sp, , sp_namp)
WALK(sgrp, sg, , sg_namp)
WALK(servent, serv, 0, s_name)
WALK(protoent, proto, 0, p_name)
WALK(rpcent, rpc, 0, r_name)
WALK(hostent, host, 0, h_name)
WALK(netent, net, 0, n_name)
WALK(aliasent, alias, , alias_name)

static bool use_ether_hostton(const char *name, int number)
{
    struct ether_addr address;

    (void)number;
    return ether_hostton(name, &address) == 0;
}

static bool use_getnetgrent(const char *name, int number)
{
    char *host = NULL, *user, *domain;
    bool found;

    (void)number;
    if (!setnetgrent(name))
        return false;
    found = getnetgrent(&host, &user, &domain) && is_name(host, "n0");
    endnetgrent();
    return found;
}

static bool use_innetgr(const char *name, int number)
{
    (void)number;
    return innetgr(name, "n0", NULL, NULL);
}

/* ---- all functions ----------------------------------------------------------------- */

static const struct function {
    const char *name;
    bool (*use)(const char *name, int number);
} functions[] = {{"getpwnam", find_user},
                 {"getpwnam_r", find_user_in_buffer},
                 {"getgrnam", use_getgrnam},
                 {"getspnam", use_getspnam},
                 {"getsgnam", use_getsgnam},
                 {"getservbyname", use_getservbyname},
                 {"getprotobyname", use_getprotobyname},
                 {"getrpcbyname", use_getrpcbyname},
                 {"getnetbyname", use_getnetbyname},
                 {"getaliasbyname", use_getaliasbyname},
                 {"getpwent", use_getpwent},
                 {"getgrent", use_getgrent},
                 {"getspent", use_getspent},
                 {"getsgent", use_getsgent},
                 {"getservent", use_getservent},
                 {"getprotoent", use_getprotoent},
                 {"getrpcent", use_getrpcent},
                 {"gethostent", use_gethostent},
                 {"getnetent", use_getnetent},
                 {"getaliasent", use_getaliasent},
                 {"ether_hostton", use_ether_hostton},
                 {"getnetgrent", use_getnetgrent},
                 {"innetgr", use_innetgr}};

static bool use_function(const struct function *function, int number)
{
    char name[16];

    snprintf(name, sizeof name, "n%d", number);
    return function->use(name, number) ||
           foreign_failed("%s(%s): %m", function->name, name);
}

/* Call each function at the same time as another task, which also runs use_all(). */
static bool use_all(int number)
{
    static size_t arrived;
    bool found = true;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        arrived++;
        while (arrived < 2 * (i + 1))
            coil_yield();
        found = use_function(&functions[i], number) && found;
    }
    return found;
}

static bool use(int number)
{
    return number < 2 ? use_all(number) : use_function(&functions[number % 2], number);
}

const struct foreign foreign = {
    .name = "NSS modules",
    .tested = "`getpwnam()` and similar calls, with a module that queries a server",
    .start = start,
    .use = use,
    .stop = stop};
