/* names.h - look up hosts for libcurl, which itself would start a thread per lookup. */
#ifndef HTTP_NAMES_H
#define HTTP_NAMES_H

#include <coil/base.h>
#include <coil/lock.h>

#include <stddef.h>
#include <sys/queue.h>

struct http_name {
    TAILQ_ENTRY(http_name) link; /* http_names.by_use */
    char *host, *port;
    bool numeric; /* the host is a numeric address, which libcurl can parse itself */
    char *entry;  /* "+host:port:address,address" for CURLOPT_RESOLVE, if rc is 0 */
    /* version number of `entry`, counted from 1, and the version that libcurl has */
    unsigned version, given;
    /* beginning of URLs with this host and port, such as "http://host:80", or NULL */
    char *origin;
    size_t origin_bytes;
    coil_lock lock; /* held during the lookup */
    size_t user_count;
    int64_t expires;
    int rc;
};

struct http_names {
    TAILQ_HEAD(http_by_use, http_name) by_use; /* the most recently used entry first */
    size_t count;
};

void coil__http_names_init(struct http_names *names);

/* Free all entries. No entry may be in use. */
void coil__http_names_finish(struct http_names *names);

/* Return the entry of a host and port, which the caller must release. Returns NULL if
   memory runs out. */
struct http_name *coil__http_names_get(struct http_names *names, const char *host,
                                       const char *port);

/*
 * Return the entry of a URL's host and port without parsing the URL, or NULL if no URL
 * with the same beginning was parsed before. The caller must release the entry.
 */
struct http_name *coil__http_names_known(struct http_names *names, const char *url);

/*
 * Store the beginning of `url`, a valid URL with the host and port of this entry, so that
 * coil__http_names_known() finds the entry for such URLs.
 */
void coil__http_name_set_origin(struct http_name *name, const char *url);

/* Release an entry. `name` may be NULL. */
void coil__http_name_release(struct http_name *name);

/*
 * Look up the name, unless name->entry is fresh. Suspends. Fails like coil_getaddrinfo(),
 * or with -ETIMEDOUT after timeout_ns unless timeout_ns is 0.
 */
int coil__http_name_resolve(struct http_name *name, int64_t timeout_ns);

#endif
