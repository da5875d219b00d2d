/*
 * test_collector.c - crawler/saved/collector.h: the collector writes the results of other
 * processes into a crawl's file.
 */
#include "../../../../crawler/saved/collector.h"
#include "../../../../crawler/saved/link_blob.h"
#include "../../../../crawler/saved/page_blob.h"
#include "../../../../crawler/saved/saved_urls.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_URL_BYTES 40

static char folder[64];

static struct store *create_store(void)
{
    const char *starts[] = {"http://h/"};
    struct store_setup setup = {.starts = {starts, 1}, .seed = 1, .time_s = 1};
    struct store *store;
    char *message;

    snprintf(folder, sizeof folder, "/tmp/coil-collector-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    CHECK_INT(store_create(folder, STORE_CRAWL, &setup, &store, &message), 0);
    return store;
}

static struct store *open_store(enum store_mode mode)
{
    struct store *store;
    char *message;

    CHECK_INT(store_open(folder, STORE_CRAWL, mode, &store, &message), 0);
    return store;
}

/* Remove the database, and the log files that SQLite leaves if a crawl is unfinished. */
static void remove_folder(void)
{
    static const char *const names[] = {"crawl.db", "crawl.db-wal", "crawl.db-shm"};
    char path[128];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    CHECK_INT(rmdir(folder), 0);
}

static struct collector *create_collector(struct store *store)
{
    struct collector *collector;

    CHECK_INT(collector_create(store, MAX_URL_BYTES, &collector), 0);
    return collector;
}

/* Add a link with its full URL, as workers do. */
static void add_link(struct link_blob *links, const char *url, enum url_kind kind,
                     const char *reference)
{
    struct link link = {.kind = LINK_OTHER,
                        .reference = reference,
                        .element = "a",
                        .attribute = "href",
                        .place = {1, 1}};
    struct url parsed = {.kind = kind, .href = (char *)url, .n = strlen(url)};
    const char *sign = strchr(url, '#');

    parsed.fragment_at = sign != NULL ? (size_t)(sign + 1 - url) : 0;
    link_blob_add(links, &(struct search_found){SEARCH_URL, &link, &parsed, 0}, 0, url,
                  parsed.n);
}

static void add_page(struct collector *collector, int64_t number, const char *url,
                     const struct link_blob *links, int expected)
{
    struct store_page page = {.status = 200, .time_s = 5};
    struct text bytes = {0};

    if (links != NULL) {
        page.flags = STORE_BODY;
        page.links = links->bytes.at;
        page.links_n = links->bytes.n;
    }
    page_blob_write(&bytes, &page, url, 0);
    CHECK_INT(collector_add(collector, number, bytes.at, bytes.n), expected);
    text_finish(&bytes);
}

static int trace_link(const struct search_found *found, void *arg)
{
    (void)arg;
    test_trace(" %s=%s/%zu", found->link->reference, found->url->href,
               found->url->fragment_at);
    return 0;
}

/* Write every saved page and its links to the trace. */
static void trace_store(void)
{
    struct store *store = open_store(STORE_READ);
    struct saved_urls book = {.count = 0};
    struct link_blob_reader reader = {saved_urls_text, trace_link, &book};
    struct store_page page;
    int64_t number = 0;

    CHECK_INT(saved_urls_read(&book, store, NULL), 0);
    while ((number = store_next_page(store, number, &page)) > 0) {
        test_trace("%lld %s %d:", (long long)number, saved_urls_at(&book, page.url),
                   (int)page.time_s);
        if (page.links != NULL)
            CHECK_INT(link_blob_read(page.links, page.links_n, &reader), 0);
        test_trace("\n");
    }
    CHECK_INT(number, 0);
    test_trace("%u%s\n", store_last_url(store),
               store_is_finished(store) ? " finished" : "");
    saved_urls_finish(&book);
    store_close(store);
}

TASK_TEST(collector_gives_urls_numbers_and_keeps_the_pages)
{
    struct collector *collector = create_collector(create_store());
    struct link_blob links = {.place_count = 0};

    link_blob_begin(&links);
    add_link(&links, "http://h/b", URL_WEB, "b");
    add_link(&links, "http://h/b#x", URL_WEB, "#x");
    add_link(&links, "mailto:a@b", URL_OTHER, "mailto:a@b");
    add_link(&links, "http://h/a-url-of-more-than-forty-bytes-in-all", URL_WEB, "long");
    CHECK_INT(collector_last(collector), 0);
    add_page(collector, 1000, "http://h/", &links, 0);
    add_page(collector, 2000, "http://h/b", NULL, 0);
    CHECK_INT(collector_last(collector), 2000);
    CHECK_INT(collector_finish(collector, true), 0);
    collector_destroy(collector);
    trace_store();
    CHECK_TRACE(
        "1000 http://h/ 5: b=http://h/b/0 #x=http://h/b#x/11 mailto:a@b=mailto:a@b/0 "
        "long=http://h/a-url-of-more-than-forty-bytes-in-all/0\n"
        "2000 http://h/b 5:\n"
        "3 finished\n");
    link_blob_finish(&links);
    remove_folder();
}

TASK_TEST(collector_goes_on_where_its_file_ends)
{
    struct collector *collector = create_collector(create_store());

    add_page(collector, 10, "http://h/", NULL, 0);
    CHECK_INT(collector_save(collector), 0);
    add_page(collector, 20, "http://h/lost", NULL, 0);
    collector_destroy(collector); /* without collector_save(): simulates a kill */
    collector = create_collector(open_store(STORE_WRITE));
    CHECK_INT(collector_last(collector), 10);
    add_page(collector, 10, "http://h/old", NULL, -EBADMSG);
    add_page(collector, 20, "http://h/a", NULL, 0);
    add_page(collector, 21, "http://h/", NULL, 0);
    CHECK_INT(collector_finish(collector, false), 0);
    collector_destroy(collector);
    trace_store();
    CHECK_TRACE("10 http://h/ 5:\n20 http://h/a 5:\n21 http://h/ 5:\n2\n");
    remove_folder();
}

TASK_TEST(collector_refuses_what_is_no_answer)
{
    struct collector *collector = create_collector(create_store());
    struct link_blob links = {.place_count = 0};

    CHECK_INT(collector_add(collector, 1, "x", 1), -EBADMSG);
    CHECK_INT(collector_add(collector, 1, "", 0), -EBADMSG);
    add_page(collector, 1, "file:///etc/passwd", NULL, -EBADMSG);
    text_add(&links.bytes, "nonsense", 8);
    add_page(collector, 1, "http://h/", &links, -EBADMSG);
    CHECK_INT(collector_last(collector), 0);
    CHECK_INT(collector_finish(collector, false), 0);
    collector_destroy(collector);
    link_blob_finish(&links);
    remove_folder();
}
