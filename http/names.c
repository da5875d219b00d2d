/*
 * names.c - the answers of coil_getaddrinfo() in the words of CURLOPT_RESOLVE, kept.
 *
 * Each name has a lock. The first task that wants it looks it up, the others wait for
 * the lock and find the answer; should the first be cancelled, the second looks it up.
 * Failures are kept too, for a moment: of a hundred tasks that want a name that does not
 * exist, one has to ask.
 */
#include "names.h"

#include <coil/addrinfo.h>
#include <coil/lock.h>

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As long as libcurl keeps its own; names do not tell their time to live here. */
#define KEEP_ANSWER_NS COIL_SEC(60)
#define KEEP_FAILURE_NS COIL_SEC(1)
#define KEEP_COUNT 256

struct http_name {
    TAILQ_ENTRY(http_name) link; /* http_names.by_use */
    coil_lock lock;              /* held while it is looked up */
    size_t user_count;
    int64_t expires;
    int rc;
    char *entry; /* if rc is 0 */
    char *host, *port;
};

void coil__http_names_init(struct http_names *names)
{
    TAILQ_INIT(&names->by_use);
    names->count = 0;
}

/* One that is in no list. */
static void destroy(struct http_name *name)
{
    coil_lock_finish(&name->lock);
    free(name->entry);
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

static void forget(struct http_names *names, struct http_name *name)
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
            forget(names, name);
        name = newer;
    }
}

static struct http_name *create(struct http_names *names, const char *host,
                                const char *port)
{
    struct http_name *name = calloc(1, sizeof *name);

    if (name == NULL)
        return NULL;
    coil_lock_init(&name->lock);
    name->expires = INT64_MIN;
    name->host = strdup(host);
    name->port = strdup(port);
    if (name->host == NULL || name->port == NULL) {
        destroy(name);
        return NULL;
    }
    TAILQ_INSERT_HEAD(&names->by_use, name, link);
    names->count++;
    return name;
}

static struct http_name *find_or_create(struct http_names *names, const char *host,
                                        const char *port)
{
    struct http_name *name;

    TAILQ_FOREACH(name, &names->by_use, link)
    {
        if (strcmp(name->host, host) != 0 || strcmp(name->port, port) != 0)
            continue;
        TAILQ_REMOVE(&names->by_use, name, link);
        TAILQ_INSERT_HEAD(&names->by_use, name, link);
        return name;
    }
    forget_old(names);
    return create(names, host, port);
}

/* "address,address", IPv6 in brackets; libcurl tries them in this order. */
static void print_addresses(const struct addrinfo *list, FILE *to)
{
    const char *separator = "";
    char text[INET6_ADDRSTRLEN];

    for (; list != NULL; list = list->ai_next) {
        bool six = list->ai_family == AF_INET6;
        if (getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        fprintf(to, six ? "%s[%s]" : "%s%s", separator, text);
        separator = ",";
    }
}

/* With a plus libcurl forgets it in time. */
static int print_entry(struct http_name *name, const struct addrinfo *list)
{
    char *entry = NULL;
    size_t n;
    FILE *text = open_memstream(&entry, &n);
    bool complete;

    if (text == NULL)
        return -ENOMEM;
    fprintf(text, "+%s:%s:", name->host, name->port);
    print_addresses(list, text);
    complete = !ferror(text);
    if (fclose(text) != 0 || !complete) {
        free(entry);
        return -ENOMEM;
    }
    free(name->entry);
    name->entry = entry;
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
    if (rc == -ECANCELED || rc == -ENOMEM)
        return rc; /* says nothing about the name */
    name->rc = rc;
    name->expires = coil_in(rc == 0 ? KEEP_ANSWER_NS : KEEP_FAILURE_NS);
    return rc;
}

static int append(struct curl_slist **entries, const char *entry)
{
    struct curl_slist *longer = curl_slist_append(*entries, entry);

    if (longer == NULL)
        return -ENOMEM;
    *entries = longer;
    return 0;
}

int coil__http_names_look_up(struct http_names *names, const char *host, const char *port,
                             struct curl_slist **entries)
{
    struct http_name *name = find_or_create(names, host, port);
    int rc;

    if (name == NULL)
        return -ENOMEM;
    name->user_count++;
    rc = coil_lock_acquire(&name->lock);
    if (rc == 0) {
        rc = name->expires > coil_now() ? name->rc : renew(name);
        if (rc == 0)
            rc = append(entries, name->entry);
        coil_lock_release(&name->lock);
    }
    name->user_count--;
    return rc;
}
