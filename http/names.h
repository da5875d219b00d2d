/*
 * names.h - hosts looked up for libcurl, which would start a thread for each.
 */
#ifndef HTTP_NAMES_H
#define HTTP_NAMES_H

#include <coil/base.h>
#include <coil/lock.h>

#include <stddef.h>
#include <sys/queue.h>

struct http_name {
    TAILQ_ENTRY(http_name) link; /* http_names.by_use */
    char *host, *port;
    bool numeric; /* an address and no name: libcurl needs no help */
    char *entry;  /* "+host:port:address,address" for CURLOPT_RESOLVE, if rc is 0 */
    unsigned version, given; /* of entry, from 1 on; the one that libcurl has */
    char *origin; /* the beginning of a URL that leads here: "http://host:80"; or NULL */
    size_t origin_bytes;
    coil_lock lock; /* held while it is looked up */
    size_t user_count;
    int64_t expires;
    int rc;
};

struct http_names {
    TAILQ_HEAD(http_by_use, http_name) by_use; /* latest first */
    size_t count;
};

void coil__http_names_init(struct http_names *names);

/* None may be in use. */
void coil__http_names_finish(struct http_names *names);

/* A host and port; to be released. NULL for want of memory. */
struct http_name *coil__http_names_get(struct http_names *names, const char *host,
                                       const char *port);

/* The host and port of a URL, if they are known from one like it; to be released. */
struct http_name *coil__http_names_known(struct http_names *names, const char *url);

/* Remember for coil__http_names_known() that a valid http URL leads to a name. */
void coil__http_name_leads(struct http_name *name, const char *url);

/* NULL is accepted. */
void coil__http_name_release(struct http_name *name);

/*
 * Look it up, unless name->entry is fresh. Suspends. Fails as coil_getaddrinfo(), and with
 * -ETIMEDOUT after timeout_ns, unless that is 0.
 */
int coil__http_name_resolve(struct http_name *name, int64_t timeout_ns);

#endif
