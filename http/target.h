/*
 * target.h - the parts of a URL that say who is to be asked.
 */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include <coil/base.h>

struct http_target {
    char *scheme, *host, *port; /* the host in lower case, IDNA's xn-- or brackets */
};

/*
 * Fails with -EINVAL (not an http or https URL), -EMSGSIZE (longer than libcurl takes) or
 * -ENOMEM, and a static sentence in *why, which may be NULL. Finish the target in any
 * case.
 */
int coil__http_target_parse(struct http_target *target, const char *url,
                            const char **why);

/* The same for a proxy, which may lack its scheme or port. */
int coil__http_target_parse_proxy(struct http_target *target, const char *proxy,
                                  const char **why);

void coil__http_target_finish(struct http_target *target);

/* 1 if two URLs have scheme, host and port in common, 0 if not or one is no URL of HTTP's, or
   -ENOMEM. */
int coil__http_same_origin(const char *a, const char *b);

/*
 * Resolve `reference` against `base`; *out is for free(3). Fails with -EINVAL or -ENOMEM,
 * and a static sentence in *why.
 */
int coil__http_resolve(const char *base, const char *reference, char **out,
                       const char **why);

#endif
