/*
 * nss.c - the C library's getpwnam() and getpwnam_r() with a name service module that
 * queries a server (nss_module.c). getpwnam() holds a lock of the C library during the
 * query.
 */
#include "foreign.h"

#include <errno.h>
#include <nss.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

extern int __nss_configure_lookup(const char *database, const char *services);

static bool start(void)
{
    char port[12];

    snprintf(port, sizeof port, "%d", foreign_port);
    setenv("NSS_PORT", port, 1);
    return __nss_configure_lookup("passwd", "foreign") == 0;
}

static bool use(int number)
{
    struct passwd user, *found = NULL;
    char name[12], buffer[200];
    int rc = 0;

    snprintf(name, sizeof name, "n%d", number);
    if (number % 5 == 0)
        found = getpwnam(name);
    else
        rc = getpwnam_r(name, &user, buffer, sizeof buffer, &found);
    return (found != NULL && found->pw_uid == (uid_t)number) ||
           foreign_failed("%s: %d", name, rc);
}

const struct foreign foreign = {
    .name = "NSS modules",
    .tested = "`getpwnam()`, `getpwnam_r()` with a module that asks a server",
    .server = true,
    .start = start,
    .use = use};
