/*
 * search.c - determines the names to query for one host, using the search list of
 * resolv.conf(5).
 *
 * The order is that of the C library's res_search(3). If a name ends with a dot or is in
 * .onion (RFC 7686), only the name itself is queried. A name with fewer than `dots` dots
 * is first queried in each domain, and then unchanged. A name with at least `dots` dots
 * is first queried unchanged. The domain "." means the unchanged name, because
 * systemd-resolved writes "search ." for an empty list.
 *
 * ares_search() is not used, because c-ares 1.18 joins "name" and "." to "name..", and
 * fails.
 */
#include "resolver.h"

#include <stdio.h>
#include <string.h>

static unsigned dots_in(const char *host)
{
    unsigned n = 0;

    for (; *host != '\0'; host++)
        n += *host == '.';
    return n;
}

static bool is_absolute(const char *host)
{
    size_t n = strlen(host);

    return (n > 0 && host[n - 1] == '.') || coil__host_is_in(host, "onion");
}

static void copy_host(const char *host, char *name)
{
    size_t n = strnlen(host, COIL__SEARCH_NAME - 1);

    memcpy(name, host, n);
    name[n] = '\0';
}

bool coil__search_name(const struct coil__resolv_conf *conf, const char *host,
                       unsigned step, char *name)
{
    static const char blanks[] = " \t\n";
    bool absolute = is_absolute(host), itself = absolute || dots_in(host) >= conf->dots;
    const char *domain = conf->domains != NULL && !absolute ? conf->domains : "";
    unsigned n = itself;

    copy_host(host, name);
    if (itself && step == 0)
        return true;
    for (size_t length; *(domain += strspn(domain, blanks)) != '\0'; domain += length) {
        domain += *domain == '.';
        length = strcspn(domain, blanks);
        if (length == 0 && itself)
            continue;
        itself = itself || length == 0;
        if (n++ < step)
            continue;
        if (length > 0)
            snprintf(name, COIL__SEARCH_NAME, "%s.%.*s", host, (int)length, domain);
        return true;
    }
    return !itself && n == step;
}
