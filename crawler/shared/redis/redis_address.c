/* redis_address.c - see redis_address.h */
#include "redis_address.h"

#include "../../base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take_prefix(const char **at, const char *prefix)
{
    size_t n = strlen(prefix);

    if (strncmp(*at, prefix, n) != 0)
        return false;
    *at += n;
    return true;
}

static int copy_decoded(char **out, const char *s, size_t n)
{
    struct text text = {0};

    text_add_decoded(&text, s, n);
    *out = text_take(&text);
    return *out != NULL ? 0 : -ENOMEM;
}

static int read_db(struct redis_address *address, const char *s)
{
    char *end;
    unsigned long db;

    if (*s == '\0')
        return 0;
    errno = 0;
    db = strtoul(s, &end, 10);
    if (*s < '0' || *s > '9' || *end != '\0' || errno != 0 || db > 65535)
        return -EINVAL;
    address->db = (unsigned)db;
    return 0;
}

/* Read "user:password", ":password" or "password", as redis-cli(1) accepts them. */
static int read_credentials(struct redis_address *address, const char *s, size_t n)
{
    const char *colon = memchr(s, ':', n);
    const char *password = colon != NULL ? colon + 1 : s;
    int rc = copy_decoded(&address->password, password, (size_t)(s + n - password));

    if (rc == 0 && colon != NULL && colon > s)
        rc = copy_decoded(&address->user, s, (size_t)(colon - s));
    return rc;
}

/* Read "host", "host:port" or "[::1]:port". */
static int read_host(struct redis_address *address, const char *s, size_t n)
{
    const char *end = s + n;
    const char *bracket = n > 0 && *s == '[' ? memchr(s, ']', n) : NULL;
    const char *host_end = bracket != NULL ? bracket : memchr(s, ':', n);
    const char *colon = bracket != NULL ? bracket + 1 : host_end;

    if (n > 0 && *s == '[' && bracket == NULL)
        return -EINVAL;
    if (host_end == NULL)
        host_end = colon = end;
    s += bracket != NULL;
    if (host_end == s || (colon < end && (*colon != ':' || colon + 1 == end)))
        return -EINVAL;
    if (colon < end && strspn(colon + 1, "0123456789") < (size_t)(end - colon - 1))
        return -EINVAL;
    address->host = strndup(s, (size_t)(host_end - s));
    address->port =
        colon < end ? strndup(colon + 1, (size_t)(end - colon - 1)) : strdup("6379");
    return address->host != NULL && address->port != NULL ? 0 : -ENOMEM;
}

static int read_web(struct redis_address *address, const char *s)
{
    size_t n = strcspn(s, "/");
    const char *at = memrchr(s, '@', n);
    int rc = 0;

    if (at != NULL) {
        rc = read_credentials(address, s, (size_t)(at - s));
        n -= (size_t)(at + 1 - s);
        s = at + 1;
    }
    if (rc == 0)
        rc = read_host(address, s, n);
    if (rc == 0)
        rc = read_db(address, s + n + (s[n] == '/'));
    if (rc == 0 &&
        asprintf(&address->name, "%s://%.*s/%u", address->is_tls ? "rediss" : "redis",
                 (int)n, s, address->db) < 0) {
        address->name = NULL;
        rc = -ENOMEM;
    }
    return rc;
}

static int read_local(struct redis_address *address, const char *s)
{
    size_t n = strcspn(s, "?");
    const char *rest = s + n;
    int rc;

    if (n == 0 || (*rest == '?' && !take_prefix(&rest, "?db=")))
        return -EINVAL;
    rc = copy_decoded(&address->path, s, n);
    if (rc == 0)
        rc = read_db(address, rest);
    if (rc < 0)
        return rc;
    address->name = strdup(address->path);
    return address->name != NULL ? 0 : -ENOMEM;
}

int redis_address_parse(const char *url, struct redis_address *out)
{
    *out = (struct redis_address){.db = 0};
    if (take_prefix(&url, "unix://"))
        return read_local(out, url);
    out->is_tls = take_prefix(&url, "rediss://");
    if (!out->is_tls && !take_prefix(&url, "redis://"))
        return -EINVAL;
    return read_web(out, url);
}

void redis_address_finish(struct redis_address *address)
{
    free(address->name);
    free(address->host);
    free(address->port);
    free(address->path);
    free(address->user);
    free(address->password);
    *address = (struct redis_address){.db = 0};
}
