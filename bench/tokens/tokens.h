/*
 * tokens.h - functions that both programs share: loading pages into memory, and measuring
 * the rate of processing them.
 */
#ifndef BENCH_TOKENS_H
#define BENCH_TOKENS_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS 1.0 /* the minimum processor time of a measurement */

struct page {
    char *html;
    size_t n;
};

static struct page *pages;
static size_t page_count, page_bytes;

static int add_page(const char *path, const struct stat *status, int type,
                    struct FTW *ftw)
{
    size_t n = (size_t)status->st_size, name_n = strlen(path);
    FILE *file;

    (void)ftw;
    if (type != FTW_F || name_n < 5 || strcmp(path + name_n - 5, ".html") != 0)
        return 0;
    pages = realloc(pages, (page_count + 1) * sizeof *pages);
    file = fopen(path, "rb");
    if (pages == NULL || file == NULL)
        return -1;
    pages[page_count] = (struct page){malloc(n + 1), n};
    if (pages[page_count].html == NULL || fread(pages[page_count].html, 1, n, file) != n)
        return -1;
    fclose(file);
    page_bytes += n;
    page_count++;
    return 0;
}

/*
 * Print the rate in megabytes (1,000,000 bytes) a second, and the number of links in all
 * pages.
 */
static int measure(const char *folder, size_t (*count_links)(const struct page *))
{
    size_t links = 0;
    double seconds;
    clock_t begin;
    int rounds = 0;

    if (nftw(folder, add_page, 16, FTW_PHYS) != 0 || page_count == 0) {
        fprintf(stderr, "%s: no pages\n", folder);
        return 1;
    }
    begin = clock();
    do {
        links = 0;
        for (size_t i = 0; i < page_count; i++)
            links += count_links(&pages[i]);
        rounds++;
        seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    } while (seconds < SECONDS);
    printf("%.1f %zu\n", (double)page_bytes * rounds / seconds / 1e6, links);
    return 0;
}

#endif
