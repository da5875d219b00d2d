/*
 * pages.h - the parts that the five crawlers share: the pages found so far, and their
 * links.
 *
 * pages[] is both the chapter's seen_urls and its queue: new pages are appended, and
 * never move. This file uses no lock, and none of its functions wait. The crawlers differ
 * only in how they wait.
 */
#ifndef PAGES_H
#define PAGES_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define PAGES_MAX 256
#define CHUNK 4096

struct page {
    char url[64];
    char *response;
    size_t n;
};

static struct page pages[PAGES_MAX];
static int page_count;
static struct sockaddr_in server = {.sin_family = AF_INET};

/* Parse the arguments: the server's numeric address, and its port. The root is page 0. */
static inline void pages_begin(int argc, char **argv)
{
    if (argc != 3 || inet_pton(AF_INET, argv[1], &server.sin_addr) != 1) {
        fprintf(stderr, "usage: %s ADDRESS PORT\n", argv[0]);
        exit(2);
    }
    server.sin_port = htons((unsigned short)atoi(argv[2]));
    pages[page_count++].url[0] = '/';
}

static inline size_t page_request(const struct page *page, char *request, size_t size)
{
    return (size_t)snprintf(request, size, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n",
                            page->url);
}

static inline void page_append(struct page *page, const char *chunk, size_t n)
{
    char *grown = realloc(page->response, page->n + n + 1);

    if (grown == NULL)
        exit(1);
    page->response = grown;
    memcpy(page->response + page->n, chunk, n);
    page->n += n;
    page->response[page->n] = '\0';
}

/* [links] */
/*
 * Append the link if it is new. Nothing may run between the check and the append, or
 * there is a race.
 */
static inline bool page_add(const char *url, size_t n)
{
    if (n >= sizeof pages->url || page_count == PAGES_MAX)
        return false;
    for (int i = 0; i < page_count; i++)
        if (strlen(pages[i].url) == n && strncmp(pages[i].url, url, n) == 0)
            return false;
    memcpy(pages[page_count++].url, url, n);
    return true;
}

/* Call found(page) for each new link of a page. */
static inline void page_links(const struct page *page, void (*found)(struct page *page))
{
    const char *at = page->response ? page->response : "";

    while ((at = strstr(at, "href=\"/")) != NULL) {
        at += strlen("href=\"");
        if (page_add(at, strcspn(at, "\"")))
            found(&pages[page_count - 1]);
    }
}
/* [end] */

static inline int page_compare(const void *a, const void *b)
{
    return strcmp(((const struct page *)a)->url, ((const struct page *)b)->url);
}

/* Print the pages, sorted by name, each with the length of its body. */
static inline void pages_print(void)
{
    qsort(pages, (size_t)page_count, sizeof *pages, page_compare);
    for (int i = 0; i < page_count; i++) {
        const char *head_end =
            pages[i].response ? strstr(pages[i].response, "\r\n\r\n") : NULL;
        printf("%s %zu\n", pages[i].url, head_end ? strlen(head_end + 4) : 0);
        free(pages[i].response);
    }
    fprintf(stderr, "%.3f s of processor time\n", (double)clock() / CLOCKS_PER_SEC);
}

#endif
