/* target.h - the parts of a URL that identify the server. */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include <coil/base.h>

struct http_target {
    char *scheme, *host, *port; /* the host is lower-case punycode, or in brackets */
};

/*
 * Parse a URL. Fails with -EINVAL (not an http or https URL), -EMSGSIZE (longer than
 * libcurl's limit) or -ENOMEM, and sets *why to a static message. `why` may be NULL. Call
 * coil__http_target_finish() even after a failure.
 */
int coil__http_target_parse(struct http_target *target, const char *url,
                            const char **why);

/* Parse the URL of a proxy, which may lack a scheme or a port. */
int coil__http_target_parse_proxy(struct http_target *target, const char *proxy,
                                  const char **why);

void coil__http_target_finish(struct http_target *target);

/*
 * Return 1 if two URLs have the same scheme, host and port, and 0 if they differ or if
 * one of them is not an http or https URL. Fails with -ENOMEM.
 */
int coil__http_same_origin(const char *a, const char *b);

/*
 * Resolve `reference` relative to `base`. The caller frees *out with free(3). Fails with
 * -EINVAL or -ENOMEM, and sets *why to a static message.
 */
int coil__http_resolve(const char *base, const char *reference, char **out,
                       const char **why);

#endif
