/*
 * endless_site.c - serves a site with too many pages for a disk. Each page is generated
 * on request, with the same content each time.
 *
 *     endless_site PAGES
 *
 * The program prints its port. After each tenth of the pages, it prints the number of
 * pages requested so far, and the seconds since the first request.
 *
 * Each page links to its children, so all pages can be reached. Each page also links to
 * its neighbours, to hubs (pages to which all pages link), and to random pages, mostly
 * early ones. A few of the links lead to fragments: of the page itself, of a hub, or of a
 * neighbour. One in a thousand random links leads to a missing page.
 */
#include <coil.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HUBS 20
#define CHILDREN 5
#define CROSS_FRAGMENTS 2 /* percent */
#define PAGE_BYTES 16384
#define FILLING_BYTES 3000

struct site {
    uint64_t pages, asked;
    double begin;
    coil_listener *listener;
    coil_group group;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- pages ------------------------------------------------------------------------- */

/*
 * Return the next random number (splitmix64). Each page has its own sequence, seeded with
 * the page's number.
 */
static uint64_t roll(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct page {
    char bytes[PAGE_BYTES];
    size_t n;
    uint64_t dice;
};

static void put_link(struct page *page, uint64_t to, const char *fragment)
{
    page->n += (size_t)snprintf(
        page->bytes + page->n, sizeof page->bytes - page->n,
        "<p><a href=\"/section-%llu/a-page-of-this-site-%llu.html%s\">page %llu</a>\n",
        (unsigned long long)(to % 97), (unsigned long long)to, fragment,
        (unsigned long long)to);
}

/* Choose a page at random. The product of two numbers below 1 favours early pages. */
static uint64_t anywhere(struct page *page, uint64_t pages)
{
    uint64_t one = roll(&page->dice) >> 32, other = roll(&page->dice) >> 32;

    return (uint64_t)((double)pages * ((double)one / 4294967296.0) *
                      ((double)other / 4294967296.0));
}

static void put_links(struct page *page, uint64_t number, uint64_t pages)
{
    for (uint64_t i = 1; i <= CHILDREN && number * CHILDREN + i < pages; i++)
        put_link(page, number * CHILDREN + i, "");
    for (unsigned i = 0; i < 3; i++)
        put_link(page, roll(&page->dice) % HUBS, "");
    put_link(page, number, "#top");
    put_link(page, roll(&page->dice) % HUBS, "#top");
    for (unsigned i = 1; i <= 2 && number + i < pages; i++)
        put_link(page, number + i,
                 roll(&page->dice) % 100 < CROSS_FRAGMENTS ? "#top" : "");
    for (uint64_t left = roll(&page->dice) % 30; left > 0; left--) {
        bool is_gone = roll(&page->dice) % 1000 == 0;
        put_link(page, anywhere(page, pages) + (is_gone ? pages : 0), "");
    }
}

static void make(struct page *page, uint64_t number, uint64_t pages)
{
    static const char words[] =
        "loop task future queue group stream timer socket buffer ";

    page->dice = number;
    page->n = (size_t)sprintf(page->bytes, "<!DOCTYPE html>\n<title>Page %llu</title>\n",
                              (unsigned long long)number);
    put_links(page, number, pages);
    while (page->n < FILLING_BYTES) {
        memcpy(page->bytes + page->n, words, sizeof words - 1);
        page->n += sizeof words - 1;
    }
}

/* ---- answers ----------------------------------------------------------------------- */

static void count(struct site *site)
{
    uint64_t tenth = site->pages / 10;

    if (site->asked++ == 0)
        site->begin = now();
    if (tenth > 0 && site->asked % tenth == 0) {
        printf("%llu %.6f\n", (unsigned long long)site->asked, now() - site->begin);
        fflush(stdout);
    }
}

/*
 * Parse "GET /section-1/a-page-of-this-site-123.html HTTP/1.1", or "GET / ...". Returns
 * false for a missing page.
 */
static bool find(const struct site *site, const char *request, uint64_t *number)
{
    unsigned long long section, found = 0;

    if (strncmp(request, "GET / ", 6) != 0 &&
        sscanf(request, "GET /section-%llu/a-page-of-this-site-%llu.html ", &section,
               &found) != 2)
        return false;
    *number = found;
    return found < site->pages;
}

static int answer(struct site *site, coil_stream *stream, const char *request)
{
    static const char gone[] =
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nContent-Type: text/html\r\n\r\n";
    char head[128];
    struct page page;
    uint64_t number;
    ssize_t rc;

    if (!find(site, request, &number))
        return (int)coil_write(stream, gone, sizeof gone - 1);
    count(site);
    make(&page, number, site->pages);
    rc = coil_write(stream, head,
                    (size_t)sprintf(head,
                                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                                    "Content-Length: %zu\r\n\r\n",
                                    page.n));
    return rc < 0 ? (int)rc : (int)coil_write(stream, page.bytes, page.n);
}

static void serve_requests(struct site *site, coil_stream *stream)
{
    char request[4096];
    size_t have = 0;

    for (;;) {
        char *end;
        ssize_t n = coil_read(stream, request + have, sizeof request - 1 - have);
        if (n <= 0)
            return;
        have += (size_t)n;
        request[have] = '\0';
        end = strstr(request, "\r\n\r\n");
        if (end == NULL)
            continue;
        if (answer(site, stream, request) < 0)
            return;
        have = 0; /* the crawler sends one request at a time */
    }
}

static int serve(void *arg)
{
    struct site *site = arg;
    coil_stream *stream;
    int rc = coil_accept(site->listener, &stream);

    if (rc < 0)
        return rc;
    rc = coil_group_spawn(&site->group, serve, site, NULL, NULL);
    serve_requests(site, stream);
    coil_stream_destroy(stream);
    return rc;
}

static int run(void *arg)
{
    struct site *site = arg;
    int rc = coil_listen("127.0.0.1", "0", 0, &site->listener);

    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(site->listener));
    fflush(stdout);
    coil_group_enter(&site->group);
    rc = coil_group_spawn(&site->group, serve, site, NULL, NULL);
    rc = coil_group_exit(&site->group, rc);
    coil_listener_destroy(site->listener);
    return rc;
}

int main(int argc, char *argv[])
{
    struct site site = {.pages = argc == 2 ? strtoull(argv[1], NULL, 10) : 0};

    if (site.pages == 0) {
        fprintf(stderr, "usage: %s PAGES\n", argv[0]);
        return 3;
    }
    return coil_run(run, &site, NULL) < 0;
}
