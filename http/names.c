/*
 * names.c - cache answers of coil_getaddrinfo() in the format of CURLOPT_RESOLVE.
 *
 * Each name has a lock. The first task that needs the name looks it up, while other tasks
 * wait for the lock and then use the answer. If the first task is cancelled, the next one
 * looks up the name. Failures are cached, too, but only for a second. So if a hundred
 * tasks need a name that does not exist, only one of them sends a query.
 */
#include "names.h"

#include <coil/addrinfo.h>
#include <coil/scope.h>

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How long an answer is cached. coil_getaddrinfo() does not return the real lifetime
 * (TTL), so libcurl's default is used.
 */
#define KEEP_ANSWER_NS COIL_SEC(60)
#define KEEP_FAILURE_NS COIL_SEC(1)
#define KEEP_COUNT 256

void coil__http_names_init(struct http_names *names)
{
    TAILQ_INIT(&names->by_use);
    names->count = 0;
}

/* Free an entry that is not in any list. */
static void destroy(struct http_name *name)
{
    coil_lock_finish(&name->lock);
    free(name->entry);
    free(name->origin);
    free(name->host);
    free(name->port);
    free(name);
}

void coil__http_names_finish(struct http_names *names)
{
    struct http_name *name = TAILQ_FIRST(&names->by_use), *next;

    for (; name != NULL; name = next) {
        next = TAILQ_NEXT(name, link);
        destroy(name);
    }
    coil__http_names_init(names);
}

static void forget_name(struct http_names *names, struct http_name *name)
{
    TAILQ_REMOVE(&names->by_use, name, link);
    names->count--;
    destroy(name);
}

static void forget_old(struct http_names *names)
{
    struct http_name *name = TAILQ_LAST(&names->by_use, http_by_use);

    while (name != NULL && names->count >= KEEP_COUNT) {
        struct http_name *newer = TAILQ_PREV(name, http_by_use, link);
        if (name->user_count == 0)
            forget_name(names, name);
        name = newer;
    }
}

static struct http_name *create_name(struct http_names *names, const char *host,
                                     const char *port)
{
    struct http_name *name = calloc(1, sizeof *name);

    if (name == NULL)
        return NULL;
    coil_lock_init(&name->lock);
    name->expires = INT64_MIN;
    name->host = strdup(host);
    name->port = strdup(port);
    name->numeric = host[0] == '[' || inet_pton(AF_INET, host, &(struct in_addr){0}) == 1;
    if (name->host == NULL || name->port == NULL) {
        destroy(name);
        return NULL;
    }
    TAILQ_INSERT_HEAD(&names->by_use, name, link);
    names->count++;
    return name;
}

static struct http_name *use_name(struct http_names *names, struct http_name *name)
{
    if (name != TAILQ_FIRST(&names->by_use)) {
        TAILQ_REMOVE(&names->by_use, name, link);
        TAILQ_INSERT_HEAD(&names->by_use, name, link);
    }
    name->user_count++;
    return name;
}

struct http_name *coil__http_names_get(struct http_names *names, const char *host,
                                       const char *port)
{
    struct http_name *name;

    TAILQ_FOREACH(name, &names->by_use, link)
    {
        if (strcmp(name->host, host) == 0 && strcmp(name->port, port) == 0)
            return use_name(names, name);
    }
    forget_old(names);
    name = create_name(names, host, port);
    return name != NULL ? use_name(names, name) : NULL;
}

void coil__http_name_release(struct http_name *name)
{
    if (name != NULL)
        name->user_count--;
}

/* ---- known URLs -------------------------------------------------------------------- */

/*
 * Return the length of "http://host:80" at the beginning of a URL, or 0 if the URL has
 * another form.
 */
static size_t origin_of(const char *url)
{
    const char *host = strstr(url, "://");

    if (host == NULL)
        return 0;
    host += strlen("://");
    return (size_t)(host - url) + strcspn(host, "/?#");
}

/* True if the origin has no user name, escapes or upper-case letters. */
static bool is_plain(const char *origin, size_t n)
{
    size_t scheme = strncmp(origin, "https://", 8) == 0  ? 8
                    : strncmp(origin, "http://", 7) == 0 ? 7
                                                         : n;

    return n > scheme && strspn(origin + scheme, "abcdefghijklmnopqrstuvwxyz"
                                                 "0123456789.-:") >= n - scheme;
}

struct http_name *coil__http_names_known(struct http_names *names, const char *url)
{
    struct http_name *name;
    size_t n = origin_of(url);

    TAILQ_FOREACH(name, &names->by_use, link)
    {
        if (name->origin_bytes == n && n > 0 && memcmp(name->origin, url, n) == 0)
            return use_name(names, name);
    }
    return NULL;
}

void coil__http_name_set_origin(struct http_name *name, const char *url)
{
    size_t n = origin_of(url);

    if (name->origin != NULL || !is_plain(url, n))
        return;
    name->origin = strndup(url, n);
    name->origin_bytes = name->origin != NULL ? n : 0;
}

/* ---- lookups ----------------------------------------------------------------------- */

/*
 * Print the addresses as "address,address", with IPv6 addresses in brackets, in the order
 * in which libcurl will try them. Addresses with a zone, such as "fe80::1%eth0", are
 * skipped, because libcurl would reject the whole entry. Returns the number of addresses.
 */
static size_t print_addresses(const struct addrinfo *list, FILE *to)
{
    size_t count = 0;
    const char *separator = "";
    char text[NI_MAXHOST];

    for (; list != NULL; list = list->ai_next) {
        bool six = list->ai_family == AF_INET6;
        if (getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL, 0,
                        NI_NUMERICHOST) != 0 ||
            strchr(text, '%') != NULL)
            continue;
        fprintf(to, six ? "%s[%s]" : "%s%s", separator, text);
        separator = ",";
        count++;
    }
    return count;
}

/*
 * Set the entry of a name. The leading "+" makes libcurl drop the entry when it times out
 * in libcurl's cache.
 */
static int print_entry(struct http_name *name, const struct addrinfo *list)
{
    char *entry = NULL;
    size_t n, count;
    FILE *text = open_memstream(&entry, &n);
    bool complete;

    if (text == NULL)
        return -ENOMEM;
    fprintf(text, "+%s:%s:", name->host, name->port);
    count = print_addresses(list, text);
    complete = !ferror(text);
    /*
     * If memory runs out, fclose(3) on an open_memstream(3) may return success and set
     * `entry` to NULL.
     */
    if (fclose(text) != 0 || !complete || entry == NULL) {
        free(entry);
        return -ENOMEM;
    }
    if (count == 0) {
        free(entry);
        return -EADDRNOTAVAIL;
    }
    free(name->entry);
    name->entry = entry;
    name->version++;
    return 0;
}

static int renew(struct http_name *name)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    int rc = coil_getaddrinfo(name->host, name->port, &hints, &list);

    if (rc == 0) {
        rc = print_entry(name, list);
        freeaddrinfo(list);
    }
    if (rc == -ECANCELED || rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE)
        return rc; /* do not cache a cancellation, or a lack in this process */
    name->rc = rc;
    name->expires = coil_in(rc == 0 ? KEEP_ANSWER_NS : KEEP_FAILURE_NS);
    return rc;
}

static bool is_fresh(const struct http_name *name)
{
    return name->expires > coil_now();
}

/*
 * Look up the name. If another task is already looking it up, wait for that task's
 * answer.
 */
static int refresh_name(struct http_name *name)
{
    int rc = coil_lock_acquire(&name->lock);

    if (rc < 0)
        return rc;
    rc = is_fresh(name) ? name->rc : renew(name);
    coil_lock_release(&name->lock);
    return rc;
}

static int refresh_within(struct http_name *name, int64_t timeout_ns)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(timeout_ns));

    return rc < 0 ? rc : coil_scope_exit(&scope, refresh_name(name));
}

int coil__http_name_resolve(struct http_name *name, int64_t timeout_ns)
{
    if (is_fresh(name))
        return name->rc;
    return timeout_ns > 0 ? refresh_within(name, timeout_ns) : refresh_name(name);
}
