/*
 * test_store.c - crawler/saved/store.h: a crawl in a file, used by one process at a time.
 */
#include "../../../../crawler/saved/store.h"
#include "../../../../crawler/saved/saved_urls.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/coil-store-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

static void remove_folder(void)
{
    static const char *const names[] = {"crawl.db", "recheck.db", "previous.db"};
    char path[128];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    CHECK_INT(rmdir(folder), 0);
}

static struct store *create(enum store_name name)
{
    const char *settings[] = {"--max-depth=3"}, *starts[] = {"http://h/", "http://i/"};
    struct store_setup setup = {.settings = {settings, 1},
                                .starts = {starts, 2},
                                .seed = UINT64_C(0xfedcba9876543210),
                                .time_s = 1234567890};
    struct store *store;
    char *message;

    CHECK_INT(store_create(folder, name, &setup, &store, &message), 0);
    return store;
}

static struct store *open_as(enum store_mode mode)
{
    struct store *store;
    char *message;

    CHECK_INT(store_open(folder, STORE_CRAWL, mode, &store, &message), 0);
    return store;
}

/*
 * Check the error and the message of a call, and free the message. The message is passed
 * by address, because C may evaluate this argument before the call that sets the message.
 */
static void check_refused(int rc, int expected, char **message, const char *words)
{
    CHECK_INT(rc, expected);
    CHECK(*message != NULL && strstr(*message, words) != NULL);
    free(*message);
}

static void write_some(struct store *store, bool is_finished)
{
    const uint64_t ids[] = {1, UINT64_MAX};
    const uint32_t first = store_last_url(store) + 1;
    const struct store_url urls[] = {{first, 0, "http://h/"},
                                     {first + 1, 11, "http://h/a#x"}};
    const struct store_page pages[] = {
        {.url = first,
         .flags = STORE_BODY,
         .status = 200,
         .tries = 2,
         .size = INT64_C(1) << 40,
         .bytes = 77,
         .content_type = "text/html",
         .etag = "\"1\"",
         .links = "abc",
         .links_n = 3,
         .ids = ids,
         .id_count = 2},
        {.url = first + 1, .rc = -ETIMEDOUT, .error = "late"},
        {.url = first + 1, .status = 200, .links = ""}};
    struct store_batch batch = {urls, 2, pages, 3, is_finished};

    CHECK_INT(store_write(store, &batch), 0);
}

TEST(store_tells_what_was_written)
{
    struct store *store;
    struct store_page page;
    const struct store_setup *setup;

    make_folder();
    store = create(STORE_CRAWL);
    write_some(store, true);
    store_close(store);
    store = open_as(STORE_READ);
    setup = store_setup(store);
    CHECK_STR(setup->settings.at[0], "--max-depth=3");
    CHECK_INT(setup->starts.count, 2);
    CHECK_STR(setup->starts.at[1], "http://i/");
    CHECK(setup->seed == UINT64_C(0xfedcba9876543210));
    CHECK(store_is_finished(store));
    CHECK_INT(store_last_url(store), 2);
    CHECK_INT(store_next_page(store, 0, &page), 1);
    CHECK_INT(page.url, 1);
    CHECK_INT(page.size, INT64_C(1) << 40);
    CHECK_STR(page.etag, "\"1\"");
    CHECK(page.error == NULL && page.location == NULL);
    CHECK_INT(page.links_n, 3);
    CHECK_INT(page.id_count, 2);
    CHECK(page.ids[1] == UINT64_MAX);
    CHECK_INT(store_next_page(store, 1, &page), 2);
    CHECK_INT(page.rc, -ETIMEDOUT);
    CHECK(page.links == NULL);
    CHECK_INT(store_next_page(store, 2, &page), 3);
    CHECK(page.links != NULL && page.links_n == 0); /* searched, without links */
    CHECK_INT(store_next_page(store, 3, &page), 0);
    store_close(store);
    remove_folder();
}

TEST(store_takes_numbers_that_are_given_and_counts_on_from_them)
{
    const struct store_url url = {1, 0, "http://h/"};
    const struct store_page pages[] = {{.url = 1, .number = INT64_C(1) << 60},
                                       {.url = 1}};
    struct store_batch batch = {
        .urls = &url, .url_count = 1, .pages = pages, .page_count = 2};
    struct store *store;
    struct store_page page;

    make_folder();
    store = create(STORE_CRAWL);
    CHECK_INT(store_last_page(store), 0);
    CHECK_INT(store_write(store, &batch), 0);
    CHECK_INT(store_last_page(store), (INT64_C(1) << 60) + 1);
    CHECK_INT(store_next_page(store, 0, &page), INT64_C(1) << 60);
    CHECK_INT(store_next_page(store, INT64_C(1) << 60, &page), (INT64_C(1) << 60) + 1);
    store_close(store);
    remove_folder();
}

TEST(store_has_one_writer_and_readers_beside_it)
{
    struct store *store, *reader, *other;
    struct store_page page;
    char *message;

    make_folder();
    store = create(STORE_CRAWL);
    check_refused(store_open(folder, STORE_CRAWL, STORE_WRITE, &other, &message), -EBUSY,
                  &message, "another coil-crawl is using");
    reader = open_as(STORE_READ);
    write_some(store, false);
    CHECK_INT(store_next_page(reader, 0, &page), 1);
    CHECK(!store_is_finished(reader));
    store_close(reader);
    store_close(store);
    store = open_as(STORE_WRITE);
    check_refused(
        store_create(folder, STORE_CRAWL, &(struct store_setup){0}, &other, &message),
        -EBUSY, &message, "another");
    write_some(store, true);
    store_close(store);
    remove_folder();
}

TEST(store_refuses_what_is_not_there_or_is_something_else)
{
    char path[128], *message;
    struct store *store;
    FILE *file;

    make_folder();
    check_refused(store_open(folder, STORE_CRAWL, STORE_READ, &store, &message), -ENOENT,
                  &message, "there is no saved crawl");
    snprintf(path, sizeof path, "%s/crawl.db", folder);
    file = fopen(path, "w");
    CHECK(file != NULL);
    for (int i = 0; i < 1000; i++)
        fputs("something else\n", file);
    fclose(file);
    check_refused(store_open(folder, STORE_CRAWL, STORE_READ, &store, &message), -EBADMSG,
                  &message, "crawl.db: ");
    unlink(path);
    store = create(STORE_CRAWL);
    write_some(store, true);
    store_close(store);
    check_refused(
        store_create(folder, STORE_CRAWL, &(struct store_setup){0}, &store, &message),
        -EEXIST, &message, "the folder already has a crawl");
    remove_folder();
}

TEST(store_that_is_replaced_is_found_between_the_renames_too)
{
    char from[128], to[128], *message;
    struct store *store;

    make_folder();
    store = create(STORE_CRAWL);
    write_some(store, true);
    store_close(store);
    store = create(STORE_RECHECK);
    write_some(store, true);
    store_close(store);
    snprintf(from, sizeof from, "%s/crawl.db", folder);
    snprintf(to, sizeof to, "%s/previous.db", folder);
    CHECK_INT(rename(from, to), 0); /* simulates a kill between two renames */
    store = open_as(STORE_READ);
    store_close(store);
    store = open_as(STORE_WRITE);
    store_close(store);
    CHECK_INT(access(from, F_OK), 0);
    store = create(STORE_RECHECK);
    write_some(store, true);
    store_close(store);
    CHECK_INT(store_replace(folder, &message), 0);
    store = open_as(STORE_READ);
    CHECK_INT(store_last_url(store), 2);
    store_close(store);
    remove_folder();
}

TEST(saved_urls_has_the_urls_and_refuses_others)
{
    const struct store_url bad = {3, 0, "file:///etc/passwd"};
    struct store_batch batch = {.urls = &bad, .url_count = 1};
    struct saved_urls book = {.count = 0};
    struct store *store;
    size_t at;

    make_folder();
    store = create(STORE_CRAWL);
    write_some(store, false);
    CHECK_INT(saved_urls_read(&book, store, NULL), 0);
    CHECK_STR(saved_urls_text(2, &at, &book), "http://h/a#x");
    CHECK_INT(at, 11);
    CHECK(saved_urls_text(0, &at, &book) == NULL &&
          saved_urls_text(3, &at, &book) == NULL);
    saved_urls_finish(&book);
    CHECK_INT(store_write(store, &batch), 0);
    CHECK_INT(saved_urls_read(&book, store, NULL), -EBADMSG);
    saved_urls_finish(&book);
    batch.url_count = 0;
    batch.is_finished = true;
    CHECK_INT(store_write(store, &batch), 0);
    store_close(store);
    remove_folder();
}
