#include "../../../../crawler/files/cache.h"
#include "../../../harness/harness.h"
#include "../../../unit/os/places.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START "{\"type\":\"cache\",\"schema\":1}\n"
#define DAY_NS INT64_C(86400000000000)

static struct cache *open_at(const char *path, int64_t now_s)
{
    struct cache *cache = NULL;
    char *message = NULL;

    CHECK_INT(cache_open(path, now_s, DAY_NS, &cache, &message), 0);
    CHECK_PTR(message, NULL);
    return cache;
}

static void write_and_destroy(struct cache *cache)
{
    char *message;

    CHECK_INT(cache_write(cache, &message), 0);
    cache_destroy(cache);
}

static void keeps(void)
{
    struct cache *cache = open_at("a", 1000000);

    CHECK(!cache_has(cache, "http://h/"));
    CHECK_INT(cache_add(cache, "http://h/", 1000000), 0);
    CHECK_INT(cache_add(cache, "http://h/\"\xc3\xa4", 1000005), 0);
    CHECK_INT(cache_add(cache, "http://u:p@h/", 1000005), 0);
    CHECK(cache_has(cache, "http://h/"));
    write_and_destroy(cache);
    check_file("a", START "{\"target\":\"http://h/\",\"time\":1000000}\n"
                          "{\"target\":\"http://h/\\\"\xc3\xa4\",\"time\":1000005}\n");
    cache = open_at("a", 1086402);
    CHECK(!cache_has(cache, "http://h/"));
    CHECK(cache_has(cache, "http://h/\"\xc3\xa4"));
    write_and_destroy(cache);
    check_file("a", START "{\"target\":\"http://h/\\\"\xc3\xa4\",\"time\":1000005}\n");
    CHECK_INT(count_names(), 1);
}

TEST(cache_keeps_what_is_younger_than_its_age)
{
    in_each_place(keeps);
}

static void keeps_time(void)
{
    struct cache *cache;

    put_file("a",
             START "{\"target\":\"b\",\"time\":5}\n{\"target\":\"c\",\"time\":99}\n");
    cache = open_at("a", 10);
    CHECK(!cache_has(cache, "c"));
    CHECK_INT(cache_add(cache, "d", 10), 0);
    write_and_destroy(cache);
    check_file("a",
               START "{\"target\":\"b\",\"time\":5}\n{\"target\":\"d\",\"time\":10}\n");
}

TEST(cache_entries_keep_their_time_and_none_is_from_later)
{
    in_a_place(keeps_time);
}

static void brings_up_to_date(void)
{
    struct cache *cache;

    put_file("a", START "{\"target\":\"b\",\"time\":5}\n{\"target\":\"c\",\"time\":6}\n");
    cache = open_at("a", 10);
    cache_drop(cache, "b");
    CHECK(!cache_has(cache, "b"));
    cache_drop(cache, "c");
    CHECK_INT(cache_add(cache, "c", 10), 0);
    CHECK(cache_has(cache, "c"));
    cache_drop(cache, "d");
    write_and_destroy(cache);
    check_file("a", START "{\"target\":\"c\",\"time\":10}\n");
}

TEST(cache_is_brought_up_to_date)
{
    in_a_place(brings_up_to_date);
}

static void unchanged(void)
{
    struct stat before, after;

    put_file("a", START "{\"target\":\"b\",\"time\":5}\n");
    CHECK_INT(stat("a", &before), 0);
    write_and_destroy(open_at("a", 10));
    CHECK_INT(stat("a", &after), 0);
    CHECK_INT(before.st_ino, after.st_ino);
    /* An empty file, such as mktemp(1) creates, is accepted as an empty cache. */
    put_file("a", "");
    write_and_destroy(open_at("a", 10));
    check_file("a", START);
}

TEST(cache_is_written_if_something_changed)
{
    in_a_place(unchanged);
}

static void refuses(void)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"hello\n", "a:1: '[' or '{' expected near 'hello'"},
        {"{\"type\":\"start\",\"schema\":1}\n", "a:1: not a cache written by coil-crawl"},
        {"{\"type\":\"cache\",\"schema\":2}\n", "a:1: the schema of the cache is not 1"},
        {START "{\"target\":\"a\"}\n", "a:2: not an entry of a cache"},
        {START "{\"target\":\"a\",\"time\":\"5\"}\n", "a:2: not an entry of a cache"},
        {START "{\"target\":\"a\",\"time\":5}", "a:2: the line is cut off"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cache *cache;
        char *message;
        put_file("a", rows[i].text);
        CHECK_INT(cache_open("a", 10, DAY_NS, &cache, &message), -EINVAL);
        CHECK_STR(message, rows[i].message);
        CHECK_PTR(cache, NULL);
        check_file("a", rows[i].text);
        free(message);
    }
}

TEST(cache_that_is_none_is_refused_and_stays)
{
    in_a_place(refuses);
}

static void keeps_link(void)
{
    struct cache *cache;
    struct stat st;
    char *message;

    put_file("real", "");
    CHECK_INT(symlink("real", "a"), 0);
    cache = open_at("a", 10);
    CHECK_INT(cache_add(cache, "b", 10), 0);
    write_and_destroy(cache);
    CHECK_INT(lstat("a", &st), 0);
    CHECK(S_ISLNK(st.st_mode));
    check_file("real", START "{\"target\":\"b\",\"time\":10}\n");
    cache = open_at("nowhere/a", 10);
    CHECK_INT(cache_write(cache, &message), -ENOENT);
    CHECK_STR(message, "nowhere/a: No such file or directory");
    free(message);
    cache_destroy(cache);
}

TEST(cache_behind_a_symbolic_link_or_in_no_directory)
{
    in_a_place(keeps_link);
}

static void write_often(int process)
{
    for (int i = 0; i < 50; i++) {
        struct cache *cache = open_at("a", 1000);
        char url[100];
        snprintf(url, sizeof url, "http://h/%d/%d", process, i);
        CHECK_INT(cache_add(cache, url, 1000), 0);
        write_and_destroy(cache);
    }
}

/*
 * Two processes write and read the cache at the same time. Each must always read a
 * complete file: a mixture of two files would be refused.
 */
static void two_at_once(void)
{
    pid_t child = fork();
    int status;

    write_often(child == 0);
    if (child == 0)
        _exit(0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    cache_destroy(open_at("a", 1000));
    CHECK_INT(count_names(), 1);
}

TEST(cache_of_two_processes_at_once_is_whole)
{
    in_a_place(two_at_once);
}
