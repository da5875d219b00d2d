/*
 * fuzz_url.c - checks that the parts of a parsed URL are in order, and that parsing the
 * result again does not change it.
 *
 * The first line of the input is a base, and the rest is a reference relative to the
 * base. If the input has only one line, this line is a URL without a base.
 */
#include "fuzz.h"

#include "../crawler/url/url.h"
#include "../crawler/url/whatwg_url.h"

static void check_order(const struct whatwg_url *url)
{
    const size_t at[] = {url->scheme_end,   url->username_at, url->username_end,
                         url->password_end, url->host_at,     url->host_end,
                         url->path_at,      url->query_at,    url->fragment_at,
                         url->length};

    CLAIM(strlen(url->href) == url->length);
    for (size_t i = 1; i < sizeof at / sizeof *at; i++)
        CLAIM(at[i - 1] <= at[i]);
    for (int part = WHATWG_PROTOCOL; part <= WHATWG_HASH; part++) {
        struct whatwg_span span = whatwg_url_part(url, (enum whatwg_part)part);

        CLAIM(span.n == 0 ||
              (span.at >= url->href && span.at + span.n <= url->href + url->length));
    }
}

static void check_again(const struct whatwg_url *url)
{
    struct whatwg_url again;

    CLAIM(whatwg_url_parse(url->href, url->length, NULL, &again) == 0);
    CLAIM(strcmp(url->href, again.href) == 0);
    CLAIM(url->host_at == again.host_at && url->host_end == again.host_end);
    CLAIM(url->port == again.port && url->path_at == again.path_at);
    CLAIM(url->query_at == again.query_at && url->fragment_at == again.fragment_at);
    whatwg_url_finish(&again);
}

static void check_origin(const struct whatwg_url *url)
{
    char *origin = NULL;

    CLAIM(whatwg_url_origin(url, &origin) == 0);
    CLAIM(origin != NULL);
    free(origin);
}

static void parse(const char *text, size_t n, const struct whatwg_url *base)
{
    struct whatwg_url url;

    if (whatwg_url_parse(text, n, base, &url) < 0)
        return;
    check_order(&url);
    check_again(&url);
    check_origin(&url);
    whatwg_url_finish(&url);
}

/* Check the normal form of http and https URLs in the crawler. */
static void resolve(const char *base, const char *reference)
{
    char *url = NULL, *again = NULL;

    if (url_resolve(base, reference, &url) < 0)
        return;
    CLAIM(url_resolve(NULL, url, &again) == 0);
    CLAIM(strcmp(url, again) == 0);
    CLAIM(url_origin_length(url) <= strlen(url));
    CLAIM(url_same_origin(url, again));
    free(again);
    free(url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line_end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t base_bytes = line_end != NULL ? (size_t)(line_end - data) : 0;
    size_t text_at = line_end != NULL ? base_bytes + 1 : 0;
    char *text = fuzz_text(data + text_at, size - text_at);
    struct whatwg_url base;
    bool has_base = line_end != NULL &&
                    whatwg_url_parse((const char *)data, base_bytes, NULL, &base) == 0;
    char *made = NULL;

    parse(text, size - text_at, has_base ? &base : NULL);
    if (has_base && url_resolve(NULL, base.href, &made) < 0)
        made = NULL;
    resolve(made, text);
    if (has_base)
        whatwg_url_finish(&base);
    free(made);
    free(text);
    return 0;
}
