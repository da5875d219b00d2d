/*
 * url_dump.c - runs the URL parser for tests/suites/url/run.
 *
 * A line of input consists of the base, a space, and the text to resolve against the
 * base. Both are in hexadecimal, and the base may be "-" for none. A line of output is
 * "failure", or href, origin and the nine parts of the URL, separated by tabs, which a
 * URL cannot contain.
 */
#include "../../../crawler/base/text.h"
#include "../../../crawler/url/whatwg_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct text from_hex(const char *s, size_t n)
{
    struct text bytes = {0};

    for (size_t i = 0; i + 1 < n; i += 2) {
        char byte = (char)(hex_value(s[i]) * 16 + hex_value(s[i + 1]));
        text_add(&bytes, &byte, 1);
    }
    return bytes;
}

static void print_url(const struct whatwg_url *url)
{
    char *origin;

    if (whatwg_url_origin(url, &origin) < 0)
        exit(1);
    printf("%s\t%s", url->href, origin);
    free(origin);
    for (int part = WHATWG_PROTOCOL; part <= WHATWG_HASH; part++) {
        struct whatwg_span span = whatwg_url_part(url, (enum whatwg_part)part);
        printf("\t%.*s", (int)span.n, span.at);
    }
    putchar('\n');
}

/*
 * Resolve the text of an input line against its base. Like `new URL()`, this fails if the
 * base is invalid.
 */
static int resolve(const char *line, struct whatwg_url *url)
{
    size_t base_n = strcspn(line, " ");
    struct text base_text = from_hex(line, base_n);
    struct text input = from_hex(line + base_n + 1, strcspn(line + base_n + 1, "\n"));
    struct whatwg_url base = {0};
    bool has_base = line[0] != '-';
    int rc = 0;

    if (has_base)
        rc = whatwg_url_parse(base_text.at, base_text.n, NULL, &base);
    if (rc == 0)
        rc = whatwg_url_parse(input.at, input.n, has_base ? &base : NULL, url);
    whatwg_url_finish(&base);
    text_finish(&base_text);
    text_finish(&input);
    return rc;
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;

    while (getline(&line, &capacity, stdin) > 0) {
        struct whatwg_url url;
        if (resolve(line, &url) < 0) {
            puts("failure");
            continue;
        }
        print_url(&url);
        whatwg_url_finish(&url);
    }
    free(line);
    return 0;
}
