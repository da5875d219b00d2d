/*
 * page_links.c - prints the links that the crawler's search finds in files, for
 * tests/suites/crawl-sets/run.
 *
 * Reads one file name per line. For each file, writes a line of JSON: a list of [element,
 * attribute, reference, line, column, URL]. The URL is resolved as if the file were at
 * http://host/page, and is null if the reference is invalid.
 */
#include "../../../crawler/page/search.h"

#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A prime number, so that pieces end at arbitrary positions in the page. */
#define PIECE_BYTES 4093

static void write_json(const char *s)
{
    putchar('"');
    for (; *s != '\0'; s++)
        if (*s == '"' || *s == '\\' || (unsigned char)*s < ' ')
            printf("\\u%04x", *s);
        else
            putchar(*s);
    putchar('"');
}

/* Print the URL without its fragment. */
static void write_url(const struct url *url)
{
    if (url->fragment_at > 0)
        url->href[url->fragment_at - 1] = '\0';
    write_json(url->href);
}

static int write_found(const struct search_found *found, void *arg)
{
    const struct link *link = found->link;
    int *count = arg;

    if (found->kind == SEARCH_ID ||
        (found->kind == SEARCH_URL && found->url->kind != URL_WEB))
        return 0;
    printf("%s[\"%s\",\"%s\",", (*count)++ > 0 ? "," : "", link->element,
           link->attribute);
    write_json(link->reference);
    printf(",%u,%u,", link->place.line, link->place.column);
    if (found->kind == SEARCH_URL)
        write_url(found->url);
    else
        fputs("null", stdout);
    putchar(']');
    return 0;
}

static int search_file(struct search *search, FILE *file)
{
    char piece[PIECE_BYTES];
    int rc = 0, count = 0;
    size_t n;

    search_begin(search, NULL);
    while (rc == 0 && (n = fread(piece, 1, sizeof piece, file)) > 0)
        rc = search_feed(search, piece, n);
    putchar('[');
    if (rc == 0)
        rc = search_end(search, "http://host/page",
                        &(struct search_visitor){.visit = write_found, .arg = &count});
    puts("]");
    return rc;
}

static int search_files(void *arg)
{
    struct search *search = search_create();
    char name[4096];
    int rc = search != NULL ? 0 : -ENOMEM;

    (void)arg;
    while (rc == 0 && fgets(name, sizeof name, stdin) != NULL) {
        FILE *file;
        name[strcspn(name, "\n")] = '\0';
        file = fopen(name, "rb");
        rc = file != NULL ? search_file(search, file) : -errno;
        if (file != NULL)
            fclose(file);
    }
    search_destroy(search);
    return rc;
}

int main(void)
{
    return coil_run(search_files, NULL, NULL) < 0;
}
