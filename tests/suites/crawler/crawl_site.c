/*
 * crawl_site.c - crawls a site, using only the header crawler.h. test_library.py
 * runs this program.
 *
 *     crawl-site [OPTION=VALUE]... START...
 *
 * Prints a line for each page and each verdict, and then the summary.
 */
#include "../../../crawler/crawler.h"

#include <coil/run.h>

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

static int print_page(void *arg, const struct record_page *page)
{
    (void)arg;
    printf("page %s %d %zu\n", page->url, page->status, page->links);
    return 0;
}

static int print_verdict(void *arg, const struct record_verdict *verdict)
{
    (void)arg;
    printf("verdict %s %s\n", verdict->target, verdict_word(verdict->verdict));
    return 0;
}

static int print_summary(void *arg, const struct record_summary *summary)
{
    (void)arg;
    printf("summary %zu %zu %zu\n", summary->pages, summary->links, summary->findings);
    return 0;
}

/*
 * Set an option: "max-depth=2" sets an option with a value, and "cookies=" sets an option
 * without a value. Other arguments are start URLs.
 */
static int add_argument(struct crawl *crawl, char *argument)
{
    char *sign = strchr(argument, '=');

    if (sign == NULL || strstr(argument, "://") != NULL)
        return crawl_add_start(crawl, argument);
    *sign = '\0';
    return crawl_set(crawl, argument, sign[1] != '\0' ? sign + 1 : NULL);
}

static int run_crawl(void *crawl)
{
    return crawl_run(crawl);
}

int main(int argc, char *argv[])
{
    struct record_sink sink = {
        .page = print_page, .verdict = print_verdict, .summary = print_summary};
    struct crawl *crawl;
    int rc;

    curl_global_init(CURL_GLOBAL_DEFAULT);
    rc = crawl_create(&sink, &crawl);
    for (int i = 1; i < argc && rc == 0; i++)
        rc = add_argument(crawl, argv[i]);
    if (rc == 0)
        rc = coil_run(run_crawl, crawl, &(coil_run_opts){.no_report = true});
    if (rc < 0 && crawl != NULL)
        printf("%s\n", crawl_message(crawl));
    crawl_destroy(crawl);
    curl_global_cleanup();
    return rc < 0;
}
