/*
 * test_memstream.c - tests that coil notices if open_memstream() runs out of memory at
 * the end: the last realloc() fails, and the text is NULL although fclose() returns 0.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_realloc(void *memory, size_t n);

static _Atomic bool fails;
static _Atomic int failures;

/*
 * Replace the C library's realloc() in this program. While `fails` is true, blocks cannot
 * grow.
 */
__attribute__((visibility("default"))) void *realloc(void *memory, size_t n)
{
    if (!fails || memory == NULL)
        return __libc_realloc(memory, n);
    failures++;
    return NULL;
}

TEST(memstream_may_leave_nothing)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    if (test_under_valgrind())
        test_skip("Valgrind has an allocator of its own");
    CHECK(fputs("text", file) >= 0);
    fails = true;
    CHECK_INT(fclose(file), 0);
    fails = false;
    CHECK(text == NULL);
    CHECK_INT(failures, 1);
}

static int stand_still(void *arg)
{
    int rc = coil_park();

    (void)arg;
    __asm__ volatile("" ::: "memory"); /* prevents a tail call: keeps this frame */
    return rc;
}

TASK_TEST(call_graph_without_memory)
{
    coil_task *task;
    FILE *out = fopen("/dev/null", "we");

    CHECK_INT(coil_spawn(stand_still, NULL, NULL, &task), 0);
    coil_yield();
    /* the first call allocates memory that is never freed, and must not fail */
    coil_print_call_graph(coil_task_future(task), out);
    fails = true;
    coil_print_call_graph(coil_task_future(task), out);
    fails = false;
    CHECK(failures > 0);
    fclose(out);
    coil_task_cancel(task, NULL);
    coil_task_await(task);
    coil_task_release(task);
}

#ifdef HAVE_HTTP
#include "../../../http/names.h"

TASK_TEST(http_names_without_memory)
{
    struct http_names names;
    struct http_name *name;

    coil__http_names_init(&names);
    name = coil__http_names_get(&names, "127.0.0.1", "80");
    CHECK(name != NULL);
    fails = true;
    CHECK_INT(coil__http_name_resolve(name, 0), -ENOMEM);
    fails = false;
    CHECK_PTR(name->entry, NULL);
    CHECK_INT(coil__http_name_resolve(name, 0), 0);
    CHECK_STR(name->entry, "+127.0.0.1:80:127.0.0.1");
    coil__http_name_release(name);
    coil__http_names_finish(&names);
}
#endif

#ifdef HAVE_CRAWLER
#include "../../../crawler/page/search.h"

static int ignore(const struct search_found *found, void *arg)
{
    (void)found;
    (void)arg;
    return 0;
}

/* Search a page with `count` links. Returns the result of the search. */
static int find_links(struct search *search, int count)
{
    int rc = 0;

    search_begin(search, "text/html; charset=utf-8");
    for (int i = 0; i < count && rc == 0; i++)
        rc = search_feed(search, "<a href='/one'>one</a>", 22);
    return rc == 0 ? search_end(search, "http://host/",
                                &(struct search_visitor){.visit = ignore})
                   : rc;
}

TASK_TEST(search_without_memory)
{
    struct search *search = search_create();

    CHECK_INT(find_links(search, 10), 0);
    fails = true;
    CHECK_INT(find_links(search, 1000), -ENOMEM);
    fails = false;
    CHECK(failures > 0);
    CHECK_INT(find_links(search, 1000), 0);
    search_destroy(search);
}
#endif
