/*
 * site.c - see site.h. URLs belong to the same site if they have the same key:
 * "example.org:8080", or "example.org" if `lenient` is true.
 */
#include "site.h"

#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t host_length(struct whatwg_span whole)
{
    const char *bracket = memchr(whole.at, ']', whole.n);
    const char *colon;

    if (bracket != NULL)
        return (size_t)(bracket + 1 - whole.at);
    colon = memchr(whole.at, ':', whole.n);
    return colon != NULL ? (size_t)(colon - whole.at) : whole.n;
}

static bool is_in_numbers(struct whatwg_span host)
{
    return host.at[0] == '[' || strspn(host.at, "0123456789.") >= host.n;
}

static struct whatwg_span last_two_labels(struct whatwg_span host)
{
    size_t from = host.n;
    int dots = 0;

    if (is_in_numbers(host))
        return host;
    while (from > 0 && (host.at[from - 1] != '.' || ++dots < 2))
        from--;
    return (struct whatwg_span){host.at + from, host.n - from};
}

static struct whatwg_span without_www(struct whatwg_span host)
{
    if (host.n <= 4 || memcmp(host.at, "www.", 4) != 0)
        return host;
    return (struct whatwg_span){host.at + 4, host.n - 4};
}

/*
 * Return the key of a URL, which the caller frees, or NULL if memory runs out. A dot at
 * the end of the host is ignored.
 */
static char *key_of(const struct site *site, const char *url)
{
    struct whatwg_span whole = url_host_and_port(url),
                       host = {whole.at, host_length(whole)};
    struct whatwg_span port = {whole.at + host.n, whole.n - host.n};
    char *key = malloc(whole.n + 1);

    if (key == NULL)
        return NULL;
    if (host.n > 1 && host.at[host.n - 1] == '.')
        host.n--;
    host = site->lenient ? last_two_labels(host) : without_www(host);
    if (site->lenient)
        port.n = 0;
    memcpy(key, host.at, host.n);
    memcpy(key + host.n, port.at, port.n);
    key[host.n + port.n] = '\0';
    return key;
}

int site_add(struct site *site, const char *url)
{
    char *key = key_of(site, url);
    int rc;

    if (key == NULL)
        return -ENOMEM;
    if (table_get(&site->keys, key) != NULL) {
        free(key);
        return 0;
    }
    rc = table_add(&site->keys, key, key);
    if (rc < 0)
        free(key);
    return rc;
}

int site_has(const struct site *site, const char *url)
{
    char *key = key_of(site, url);
    bool has;

    if (key == NULL)
        return -ENOMEM;
    has = table_get(&site->keys, key) != NULL;
    free(key);
    return has;
}

void site_finish(struct site *site)
{
    for (size_t i = 0; i < site->keys.capacity; i++)
        free(site->keys.slots[i].value);
    table_finish(&site->keys);
}
