/*
 * target.h - the parts of a URL that say who is to be asked.
 */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include <coil/base.h>

struct http_target {
    char *scheme, *host, *port; /* the host in lower case, IDNA's xn-- or brackets */
};

/* -EINVAL (not an http or https URL), -ENOMEM. In any case finish the target. */
int coil__http_target_parse(struct http_target *target, const char *url);

/* The same for a proxy, which may lack its scheme or port. */
int coil__http_target_parse_proxy(struct http_target *target, const char *proxy);

void coil__http_target_finish(struct http_target *target);

/* Do two URLs have scheme, host and port in common? */
bool coil__http_same_origin(const char *a, const char *b);

/* *out is where `reference`, found at `base`, leads; for free(3). -EINVAL, -ENOMEM. */
int coil__http_resolve(const char *base, const char *reference, char **out);

#endif
