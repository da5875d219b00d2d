/*
 * fuzz_http_target.c - checks the functions that parse the server part of a URL and
 * resolve the target of a redirect.
 *
 * The first line of the input is a URL or a proxy. The second line is a reference that is
 * resolved against the URL.
 */
#include "fuzz.h"

#include "../http/target.h"

typedef int (*parse_fn)(struct http_target *target, const char *url, const char **why);

static void parse(parse_fn parse_it, const char *url)
{
    struct http_target target;
    const char *why = NULL;
    int rc = parse_it(&target, url, &why);

    CLAIM(rc == 0 || rc == -EINVAL || rc == -ENOMEM || rc == -EMSGSIZE);
    CLAIM(rc == 0 || why != NULL);
    if (rc == 0)
        CLAIM(target.scheme != NULL && target.host != NULL && target.port != NULL);
    coil__http_target_finish(&target);
}

/*
 * Check that a failure to resolve has a reason, and that a valid resolved URL has the
 * same origin as itself.
 */
static void resolve(const char *base, const char *reference)
{
    struct http_target target;
    const char *why = NULL;
    char *url = NULL;

    (void)coil__http_same_origin(base, reference);
    if (coil__http_resolve(base, reference, &url, &why) < 0) {
        CLAIM(why != NULL);
        return;
    }
    if (coil__http_target_parse(&target, url, NULL) == 0)
        CLAIM(coil__http_same_origin(url, url));
    coil__http_target_finish(&target);
    free(url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *base = fuzz_text(data, size), *reference = strchr(base, '\n');

    if (reference != NULL)
        *reference++ = '\0';
    parse(coil__http_target_parse, base);
    parse(coil__http_target_parse_proxy, base);
    if (reference != NULL)
        resolve(base, reference);
    free(base);
    return 0;
}
