/*
 * 5_chapter.c - the complete last crawler of "A Web Crawler With asyncio Coroutines",
 * with the report of the chapter's repository.
 *
 * The queue has one entry for each URL, with the number of redirects that it may still
 * follow. All workers start immediately. A worker takes a URL, fetches it, and adds its
 * new links to the queue. When task_done() has been called for every entry, join()
 * returns, and crawl() cancels the workers. The report has a line for each URL, in
 * alphabetical order.
 *
 *     5_chapter [--max_redirect N] [--max_tries N] [--max_tasks N] [--select] URL...
 *
 * The program corrects mistakes in the chapter: a relative Location is joined with the
 * URL, the start URLs are in the set of seen URLs, and task_done() is also called after a
 * failure.
 *
 * To try: set max_redirect to 0. /foo and /bar are not followed, and only /31 leads to
 * /63.
 */
#include <coil.h>
#include <coil/http.h>

#include <curl/curl.h> // curl_url(): urljoin and urldefrag of Python
#include <getopt.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Contains the data of the chapter's queue entries, and of the FetchStatistic in its
 * repository.
 */
struct page {
    char *url;
    int redirects_left;
    bool is_done;
    char *next_url;            // the target of the page's redirect
    const struct page *parent; // the page whose links were counted last
    int status;                // 0: all tries failed
    char error[128];
    char content_type[64], encoding[32];
    size_t size;
    int num_urls, num_new_urls;
};

static void *seen_urls; // a tree of pages, sorted by URL: tsearch(3)
static coil_queue queue = COIL_QUEUE_INIT(sizeof(struct page *), 0);
static coil_http_session *session;
static char **roots;
static int max_redirect = 10, max_tries = 4, max_tasks = 10;
static int done_count;

static void *not_null(void *memory)
{
    if (memory == NULL) {
        perror("5_chapter");
        exit(1);
    }
    return memory;
}

/* ---- URLs -------------------------------------------------------------------------- */

static int page_compare(const void *a, const void *b)
{
    return strcmp(((const struct page *)a)->url, ((const struct page *)b)->url);
}

/* [add] */
/* Return the page of a URL, and whether it is new. Does not wait, so needs no lock. */
static struct page *add_url(char *url, int redirects_left, bool *is_new)
{
    struct page *page = not_null(calloc(1, sizeof *page));

    *page = (struct page){.url = url, .redirects_left = redirects_left};
    struct page *seen =
        *(struct page **)not_null(tsearch(page, &seen_urls, page_compare));
    *is_new = seen == page;
    if (!*is_new) {
        curl_free(url);
        free(page);
    } else if (coil_queue_put_nowait(&queue, &page) < 0) {
        not_null(NULL);
    }
    return seen;
}
/* [end] */

/*
 * Return the absolute URL of a link on a page, without its fragment; NULL if it is
 * malformed. Without a link, return the page's own URL, with http:// in front if it has
 * no scheme.
 */
static char *join_url(const char *base, const char *link)
{
    CURLU *parts = not_null(curl_url());
    char *joined = NULL;

    if (curl_url_set(parts, CURLUPART_URL, base, CURLU_GUESS_SCHEME) == CURLUE_OK &&
        (link == NULL || curl_url_set(parts, CURLUPART_URL, link, 0) == CURLUE_OK) &&
        curl_url_set(parts, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK)
        curl_url_get(parts, CURLUPART_URL, &joined, 0);
    curl_url_cleanup(parts);
    return joined;
}

/* Copy the host of an http or https URL, without "www."; "" for other URLs. */
static void copy_host(const char *url, char host[256])
{
    CURLU *parts = not_null(curl_url());
    char *name = NULL;

    host[0] = '\0';
    if (strncasecmp(url, "http", 4) == 0 &&
        curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &name, 0) == CURLUE_OK)
        snprintf(host, 256, "%s", strncasecmp(name, "www.", 4) == 0 ? name + 4 : name);
    curl_free(name);
    curl_url_cleanup(parts);
}

static bool url_allowed(const char *url)
{
    char host[256], root_host[256];

    copy_host(url, host);
    for (char **root = roots; *root != NULL; root++) {
        copy_host(*root, root_host);
        if (host[0] != '\0' && strcasecmp(host, root_host) == 0)
            return true;
    }
    return false;
}

/* ---- one page ---------------------------------------------------------------------- */

static void add_link(struct page *page, char *url)
{
    bool is_new;

    if (url == NULL || !url_allowed(url)) {
        curl_free(url);
        return;
    }
    struct page *linked = add_url(url, max_redirect, &is_new);
    if (linked->parent != page) // each link of a page counts once
        page->num_urls++;
    page->num_new_urls += is_new;
    linked->parent = page;
}

static void parse_links(struct page *page, const char *body)
{
    while ((body = strcasestr(body, "href=")) != NULL) {
        body += strlen("href=");
        if (*body != '"' && *body != '\'')
            continue;
        char *link = not_null(strndup(body + 1, strcspn(body + 1, " \t\r\n\"'<>")));
        add_link(page, join_url(page->url, link));
        free(link);
    }
}

static bool is_redirect(int status)
{
    return status == 300 || status == 301 || status == 302 || status == 303 ||
           status == 307 || status == 308;
}

static void follow_redirect(struct page *page, const char *location)
{
    page->next_url = location != NULL ? join_url(page->url, location) : NULL;
    if (page->next_url == NULL) {
        snprintf(page->error, sizeof page->error, "redirect without a Location");
        return;
    }
    struct page key = {.url = page->next_url};
    bool is_new = tfind(&key, &seen_urls, page_compare) == NULL;
    if (is_new && page->redirects_left == 0)
        fprintf(stderr, "redirect limit reached for %s\n", page->next_url);
    else if (is_new)
        add_url(not_null(join_url(page->next_url, NULL)), page->redirects_left - 1,
                &is_new);
}

static int read_page(struct page *page, coil_http_response *response)
{
    const char *type = coil_http_header(response, "Content-Type");
    char *body;
    int rc = coil_http_read_all(response, &body, &page->size);

    if (rc < 0)
        return rc;
    type = type != NULL ? type : "None";
    snprintf(page->content_type, sizeof page->content_type, "%.*s",
             (int)strcspn(type, "; "), type);
    const char *charset = strcasestr(type, "charset=");
    snprintf(page->encoding, sizeof page->encoding, "%s",
             charset != NULL ? charset + strlen("charset=") : "utf-8");
    if (page->status == 200 && (strcasecmp(page->content_type, "text/html") == 0 ||
                                strcasecmp(page->content_type, "application/xml") == 0))
        parse_links(page, body);
    coil_free(body);
    return 0;
}

/* [fetch] */
/* Fails only if the task was cancelled: other failures are in the page's error. */
static int fetch(struct page *page)
{
    coil_http_request request = {.url = page->url}; // we follow redirects ourselves
    coil_http_response *response = NULL;
    int rc = -1;

    for (int tries = 0; tries < max_tries && rc < 0 && rc != -ECANCELED; tries++) {
        coil_http_response_destroy(response);
        rc = coil_http_get(session, &request, &response);
    }
    if (rc == 0) {
        page->status = coil_http_status(response);
        if (is_redirect(page->status)) {
            follow_redirect(page, coil_http_header(response, "Location"));
            rc = coil_http_discard(response, 65536); // to reuse the connection
        } else {
            rc = read_page(page, response);
        }
    }
    if (rc < 0)
        snprintf(page->error, sizeof page->error, "%s", coil_http_error(response));
    page->is_done = rc != -ECANCELED;
    done_count += page->is_done;
    coil_http_response_destroy(response); // in every case
    return rc == -ECANCELED ? rc : 0;
}
/* [end] */

/* [work] */
static int work(void *arg)
{
    struct page *page;
    int rc;

    (void)arg;
    while ((rc = coil_queue_get(&queue, &page)) == 0 && (rc = fetch(page)) == 0)
        coil_queue_task_done(&queue);
    return rc; // -ECANCELED: no URL is left, or the user has pressed Ctrl-C
}

static int crawl(void *arg)
{
    coil_group workers;
    bool is_new;
    int rc = coil_http_session_create(NULL, &session);

    (void)arg;
    if (rc < 0)
        return rc;
    for (char **root = roots; *root != NULL; root++) {
        *root = not_null(join_url(*root, NULL));
        add_url(not_null(join_url(*root, NULL)), max_redirect, &is_new);
    }
    coil_group_enter(&workers);
    for (int i = 0; i < max_tasks && rc == 0; i++)
        rc = coil_group_spawn(&workers, work, NULL, NULL, NULL);
    if (rc == 0)
        rc = coil_queue_join(&queue);
    coil_group_cancel(&workers, "all pages are fetched");
    rc = coil_group_exit(&workers, rc);
    coil_http_session_destroy(session);
    return rc;
}
/* [end] */

/* ---- the report -------------------------------------------------------------------- */

static struct {
    const char *name;
    size_t count, bytes;
} kinds[] = {
    {"error", 0, 0}, {"fail", 0, 0}, {"html", 0, 0}, {"other", 0, 0}, {"redirect", 0, 0}};

enum { ERROR, FAIL, HTML, OTHER, REDIRECT, KINDS };

static int kind_of(const struct page *page)
{
    if (page->next_url != NULL)
        return REDIRECT;
    if (page->error[0] != '\0')
        return FAIL;
    if (page->status != 200)
        return ERROR;
    return strcasecmp(page->content_type, "text/html") == 0 ? HTML : OTHER;
}

static void report_page(const void *node, VISIT visit, int depth)
{
    const struct page *page = *(struct page *const *)node;

    (void)depth;
    if ((visit != postorder && visit != leaf) || !page->is_done)
        return; // tsearch(3): "postorder" is the visit between the two children
    int kind = kind_of(page);
    kinds[kind].count++;
    kinds[kind].bytes += page->size;
    printf("%s ", page->url);
    if (kind == FAIL)
        printf("error %s\n", page->error);
    else if (kind == REDIRECT)
        printf("%d redirect %s\n", page->status, page->next_url);
    else if (kind == HTML)
        printf("%d %s %s %zu %d/%d\n", page->status, page->content_type, page->encoding,
               page->size, page->num_new_urls, page->num_urls);
    else
        printf("%d %s %s %zu\n", page->status, page->content_type, page->encoding,
               page->size);
}

static void report(double seconds)
{
    printf("*** Report ***\n");
    twalk(seen_urls, report_page);
    printf("Finished %d urls in %.3f secs (max_tasks=%d) (%.3f urls/sec/task)\n",
           done_count, seconds, max_tasks, done_count / seconds / max_tasks);
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].count > 0)
            printf("%10zu %s\n%10zu %s_bytes\n", kinds[i].count, kinds[i].name,
                   kinds[i].bytes, kinds[i].name);
    printf("Todo: %zu\nDone: %d\n", coil_queue_count(&queue), done_count);
}

static void free_page(void *node)
{
    struct page *page = node;

    curl_free(page->url);
    curl_free(page->next_url);
    free(page);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"max_redirect", required_argument, NULL, 'r'},
        {"max_tries", required_argument, NULL, 't'},
        {"max_tasks", required_argument, NULL, 'n'},
        {"select", no_argument, NULL, 's'},
        {0}};
    coil_run_opts opts = {0};
    int letter;

    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (letter == 's')
            opts.loop.backend = "select"; // as SelectorEventLoop does
        else if (letter == '?')
            return 2;
        else
            *(letter == 'r'   ? &max_redirect
              : letter == 't' ? &max_tries
                              : &max_tasks) = atoi(optarg);
    }
    roots = argv + optind;
    if (*roots == NULL) {
        fprintf(stderr, "usage: 5_chapter [OPTION...] URL...\n");
        return 2;
    }
    int64_t begin = coil_now();
    int rc = coil_run(crawl, NULL, &opts);
    report((double)(coil_now() - begin) / 1e9); // after Ctrl-C, too
    coil_queue_finish(&queue);
    tdestroy(seen_urls, free_page);
    return rc < 0;
}
