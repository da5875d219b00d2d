/*
 * css_urls.c - prints the URLs of style sheets for tests/suites/crawl-sets/run.
 *
 * Reads one style sheet per line, in hexadecimal digits. For each style sheet, writes a
 * line of JSON: a list of [kind, text, line, column].
 */
#include "../../../crawler/base/ascii.h"
#include "../../../crawler/page/css/css.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_json(const char *s, size_t n)
{
    putchar('"');
    for (size_t i = 0; i < n; i++)
        if (s[i] == '"' || s[i] == '\\' || (unsigned char)s[i] < ' ')
            printf("\\u%04x", s[i]);
        else
            putchar(s[i]);
    putchar('"');
}

static int write_url(const struct css_url *url, void *arg)
{
    static const char *const kinds[CSS_KINDS] = {"url()", "@import", "image-set()"};
    char *text = malloc(3 * url->n);
    int *count = arg;

    if (text == NULL)
        return -1;
    printf("%s[\"%s\",", (*count)++ > 0 ? "," : "", kinds[url->kind]);
    write_json(text, css_decode(url->bytes, url->n, text));
    printf(",%u,%u]", url->place.line, url->place.column);
    free(text);
    return 0;
}

/* Decode the hexadecimal digits in place. Returns the number of bytes. */
static size_t read_hex(char *line)
{
    size_t n = 0;

    for (; hex_value(line[2 * n]) >= 0; n++)
        line[n] = (char)(hex_value(line[2 * n]) << 4 | hex_value(line[2 * n + 1]));
    return n;
}

static int find(char *line)
{
    size_t n = read_hex(line);
    int count = 0, rc;
    struct css css;

    css_init(&css, write_url, &count);
    putchar('[');
    rc = css_feed(&css, line, n / 2);
    if (rc == 0)
        rc = css_feed(&css, line + n / 2, n - n / 2);
    if (rc == 0)
        rc = css_end(&css);
    puts("]");
    css_finish(&css);
    return rc;
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    int rc = 0;

    while (rc == 0 && getline(&line, &capacity, stdin) > 0)
        rc = find(line);
    free(line);
    return rc != 0;
}
