#include "../../../../crawler/files/local.h"
#include "../../../harness/harness.h"
#include "../../../unit/os/places.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *index_names[] = {"index.html", "README.md"};
static struct options options;

static void set_options(void)
{
    options = (struct options){.index_files = {.at = index_names, .count = 2}};
}

/* ---- URLs -------------------------------------------------------------------------- */

TEST(local_urls_of_paths_and_back)
{
    static const char *const rows[][2] = {
        {"/a/b.html", "file:///a/b.html"},
        {"/a b/\xc3\xa4.html", "file:///a%20b/%C3%A4.html"},
        {"/a%20b?c#d", "file:///a%2520b%3Fc%23d"},
        {"/a\\b|c", "file:///a%5Cb|c"},
        {"/\xff", "file:///%FF"},
        {"/", "file:///"},
        {"/a/", "file:///a/"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *url = local_url(rows[i][0]), *path;
        CHECK_STR(url, rows[i][1]);
        CHECK_INT(local_path(url, &path), 0);
        CHECK_STR(path, rows[i][0]);
        free(path);
        free(url);
    }
}

static void relative(void)
{
    char *folder = getcwd(NULL, 0), *url = local_url("x/../y/./z.html"), *path;

    CHECK_INT(local_path(url, &path), 0);
    CHECK(strncmp(path, folder, strlen(folder)) == 0);
    CHECK_STR(path + strlen(folder), "/y/z.html");
    free(folder);
    free(path);
    free(url);
}

TEST(local_url_of_a_relative_path)
{
    in_a_place(relative);
}

TEST(local_paths_that_none_can_be)
{
    static const char *const urls[] = {"file://host/a", "http://h/a", "file:///a%2fb",
                                       "file:///..%2F..%2Fetc/passwd", "file:///a%00"};
    char *path;

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        CHECK_INT(local_path(urls[i], &path), -ENOENT);
        CHECK_PTR(path, NULL);
    }
    CHECK_INT(local_path("file:///a%2", &path), 0);
    CHECK_STR(path, "/a%2");
    free(path);
    CHECK_INT(local_path("file:///a?b=%2f#c%00", &path), 0);
    CHECK_STR(path, "/a");
    free(path);
}

/* Resolve a link on the page docs/a.html below the root. */
static char *rebased(const char *root, const char *base_url, const char *reference)
{
    struct local local = {
        .options = &options, .root_url = (char *)root, .base_url = (char *)base_url};
    struct whatwg_url base;
    struct url url;
    char page[200], *text;

    snprintf(page, sizeof page, "%sdocs/a.html", root);
    text = local_base(&local, page);
    CHECK_INT(whatwg_url_parse(text, strlen(text), NULL, &base), 0);
    free(text);
    if (url_parse(&base, reference, &url) < 0)
        url.href = NULL;
    whatwg_url_finish(&base);
    CHECK_INT(local_rebase(&local, reference, &url), 0);
    return url.href;
}

TEST(local_links_on_a_page_in_the_root_folder)
{
    static const char *const rows[][2] = {
        {"b.html", "file:///r/docs/b.html"},
        {"../b.html#c", "file:///r/b.html#c"},
        {"../../b.html", "file:///b.html"},
        {"#c", "file:///r/docs/a.html#c"},
        {"?c", "file:///r/docs/a.html?c"},
        {"/b.html?c#d", "file:///r/b.html?c#d"},
        {"  /b.html", "file:///r/b.html"},
        {"\\b.html", "file:///r/b.html"},
        {"/", "file:///r/"},
        {"/../../b", "file:///r/b"},
        {"/%2e%2e/b", "file:///r/b"},
        {"//h/b", "https://h/b"},
        {"//h:8443/b", "https://h:8443/b"},
        {" //u:p@h:1/b", "https://u:p@h:1/b"},
        {"\\\\h:1\\b", "https://h:1/b"},
        {"http://h/b", "http://h/b"},
        {"file:///b", "file:///b"},
        {"mailto:b", "mailto:b"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *url = rebased("file:///r/", NULL, rows[i][0]);
        CHECK_STR(url, rows[i][1]);
        free(url);
    }
}

TEST(local_links_where_the_root_will_be_served)
{
    static const char *const rows[][2] = {
        {"b.html", "file:///r/docs/b.html"},
        {"../b.html", "file:///r/b.html"},
        {"../../b.html", "http://h/b.html"},
        {"/b.html", "http://h/b.html"},
        {"/x/b.html#c", "file:///r/b.html#c"},
        {"/x", "file:///r/"},
        {"/x?c", "file:///r/?c"},
        {"/xy", "http://h/xy"},
        {"//h/x/b", "file:///r/b"},
        {"http://h/x/docs/", "file:///r/docs/"},
        {"https://h/x/b", "https://h/x/b"},
        {"#c", "file:///r/docs/a.html#c"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *url = rebased("file:///r/", "http://h/x/", rows[i][0]);
        CHECK_STR(url, rows[i][1]);
        free(url);
    }
}

static void check_root(const char *root_dir, const char *start, const char *root)
{
    struct local local;
    char *url = local_url(root);

    set_options();
    options.root_dir = root_dir;
    options.base_url = "http://h/x";
    CHECK_INT(local_init(&local, &options, start), 0);
    CHECK_STR(local.root_url, url);
    CHECK_STR(local.base_url, "http://h/x/");
    local_finish(&local);
    free(url);
}

static void find_roots(void)
{
    struct local local;

    CHECK_INT(mkdir("a", 0777), 0);
    put_file("a/b.md", "");
    check_root(NULL, "a", "a/");
    check_root(NULL, "a/", "a/");
    check_root(NULL, "a/b.md", "a/");
    check_root(".", "a/b.md", "./");
    options.root_dir = "nowhere";
    CHECK_INT(local_init(&local, &options, "a"), -ENOENT);
    CHECK_PTR(local.root_url, NULL);
}

TEST(local_root_is_the_folder_that_is_checked)
{
    in_a_place(find_roots);
}

/* ---- files ------------------------------------------------------------------------- */

/*
 * Call local_find() for a path such as "a.html" in the working directory, and compare the
 * URL or the error.
 */
static void check_found(const char *path, const char *expected)
{
    struct local local = {.options = &options};
    struct local_file file;
    char *root = local_url("./"), url[500];
    int rc;

    snprintf(url, sizeof url, "%s%s", root, path);
    rc = local_find(&local, url, &file);
    if (rc < 0)
        test_trace("%s", strerror(-rc));
    else
        test_trace("%s %s%s%s", file.url + strlen(root),
                   file.kind == LOCAL_FILE     ? ""
                   : file.kind == LOCAL_FOLDER ? "(folder)"
                                               : "(other)",
                   file.content_type != NULL ? file.content_type : "-",
                   file.size > 0 && file.kind == LOCAL_FILE ? " full" : "");
    CHECK_TRACE(expected);
    local_file_finish(&file);
    free(root);
}

static void make_site(void)
{
    CHECK_INT(mkdir("d", 0777), 0);
    CHECK_INT(mkdir("empty", 0777), 0);
    CHECK_INT(mkdir("both", 0777), 0);
    put_file("a.html", "x");
    put_file("a b.md", "");
    put_file("both.html", "");
    put_file("d/README.md", "");
    put_file("d/index.html.md", "");
    CHECK_INT(symlink("loop", "loop"), 0);
    CHECK_INT(symlink("a.html", "link.html"), 0);
    CHECK_INT(symlink("nowhere", "dangling.html"), 0);
    CHECK_INT(mkfifo("fifo.html", 0666), 0);
}

static void find_files(void)
{
    make_site();
    set_options();
    check_found("a.html", "a.html text/html full");
    check_found("a.html?b#c", "a.html text/html full");
    check_found("a%20b.md", "a%20b.md text/markdown");
    check_found("link.html", "link.html text/html full");
    check_found("a", "No such file or directory");
    check_found("a.html/", "No such file or directory");
    check_found("a.html/b", "No such file or directory");
    check_found("dangling.html", "No such file or directory");
    check_found("d", "d/README.md text/markdown");
    check_found("d/", "d/README.md text/markdown");
    check_found("empty", "empty (folder)-");
    check_found("both", "both (folder)-");
    check_found("loop", "Too many levels of symbolic links");
    check_found("fifo.html", "fifo.html (other)text/html");
    put_file("d/index.html", "");
    check_found("d/", "d/index.html text/html");
}

IO_TEST(local_files_are_found)
{
    in_a_place(find_files);
}

static void find_clean_urls(void)
{
    make_site();
    set_options();
    options.clean_urls = true;
    check_found("a", "a.html text/html full");
    check_found("a.html", "a.html text/html full");
    check_found("a/", "No such file or directory");
    check_found("both", "both.html text/html");
    check_found("both/", "both/ (folder)-");
    check_found("d", "d/README.md text/markdown");
    check_found("fifo", "No such file or directory");
    check_found("empty", "empty (folder)-");
}

IO_TEST(local_files_have_clean_urls)
{
    in_a_place(find_clean_urls);
}

static void find_very_long(void)
{
    char name[400], url[500];

    set_options();
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    check_found(name, "No such file or directory");
    snprintf(url, sizeof url, "%s/b", name);
    check_found(url, "No such file or directory");
}

IO_TEST(local_names_that_are_too_long_are_of_no_file)
{
    in_a_place(find_very_long);
}

static int add_up(const char *bytes, size_t n, void *arg)
{
    size_t *total = arg;

    CHECK(bytes[n - 1] == 'x');
    *total += n;
    return *total > 150000 ? -EMLINK : 0;
}

static struct local_file file_at(const char *path)
{
    return (struct local_file){.path = (char *)path};
}

static void read_files(void)
{
    struct local_file file = file_at("a");
    char *text = malloc(100001);
    size_t total = 0;

    memset(text, 'x', 100000);
    text[100000] = '\0';
    put_file("a", text);
    CHECK_INT(local_read(&file, 0, add_up, &total), 0);
    CHECK_INT(total, 100000);
    CHECK_INT(local_read(&file, 0, add_up, &total), -EMLINK);
    total = 0;
    CHECK_INT(local_read(&file, 100000, add_up, &total), 0);
    total = 0;
    CHECK_INT(local_read(&file, 99999, add_up, &total), -EFBIG);
    CHECK_INT(local_read(&file, 1, NULL, NULL), 0);
    put_file("b", "");
    file = file_at("b");
    CHECK_INT(local_read(&file, 1, add_up, &total), 0);
    file = file_at("nowhere");
    CHECK_INT(local_read(&file, 0, add_up, &total), -ENOENT);
    free(text);
}

IO_TEST(local_files_are_read_in_pieces)
{
    in_a_place(read_files);
}

static int read_pipe(void *arg)
{
    struct local_file file = {.path = (char *)"pipe", .kind = LOCAL_PIPE};

    return local_read(&file, 0, add_up, arg);
}

/* Start to read the pipe, and let the task wait. */
static coil_task *start_reading(size_t *total)
{
    coil_task *task = test_spawn(read_pipe, total);

    *total = 0;
    CHECK_INT(coil_sleep(COIL_MSEC(20)), 0);
    CHECK(!coil_future_done(coil_task_future(task)));
    return task;
}

static void read_pipes(void)
{
    size_t total;
    coil_task *task;
    int writer;

    CHECK_INT(mkfifo("pipe", 0666), 0);
    task = start_reading(&total); /* there is no writer */
    coil_task_cancel(task, "test");
    CHECK_INT(test_join(task), -ECANCELED);
    task = start_reading(&total);
    writer = open("pipe", O_WRONLY | O_CLOEXEC);
    CHECK(writer >= 0);
    CHECK_INT(coil_sleep(COIL_MSEC(20)), 0);
    CHECK(!coil_future_done(coil_task_future(task)));
    CHECK_INT(write(writer, "xxxxx", 5), 5);
    CHECK_INT(coil_sleep(COIL_MSEC(20)), 0);
    CHECK_INT(total, 5);
    CHECK_INT(write(writer, "xxxxx", 5), 5);
    close(writer);
    CHECK_INT(test_join(task), 0);
    CHECK_INT(total, 10);
}

IO_TEST(local_read_of_a_pipe_waits_for_writers_and_can_be_cancelled)
{
    in_a_place(read_pipes);
}

static void read_others(void)
{
    struct local_file file = file_at("fifo");
    size_t total = 0;

    CHECK_INT(mkfifo("fifo", 0666), 0);
    CHECK_INT(local_read(&file, 0, add_up, &total), -ENXIO);
    CHECK_INT(local_read(&file, 0, NULL, NULL), -ENXIO);
    file = file_at("/dev/zero");
    CHECK_INT(local_read(&file, 0, add_up, &total), -ENXIO);
    file = file_at(".");
    CHECK_INT(local_read(&file, 0, add_up, &total), -ENXIO);
    put_file("secret", "x");
    CHECK_INT(chmod("secret", 0), 0);
    file = file_at("secret");
    if (geteuid() != 0)
        CHECK_INT(local_read(&file, 0, add_up, &total), -EACCES);
    CHECK_INT(total, 0);
}

IO_TEST(local_read_of_what_is_no_file_does_not_wait)
{
    in_a_place(read_others);
}

/* ---- walking ----------------------------------------------------------------------- */

static int trace_path(const char *path, int rc, void *arg)
{
    (void)arg;
    test_trace("%s%s ", path, rc < 0 ? "!" : "");
    return 0;
}

static void walk(void)
{
    static const char *const folders[] = {"s",   "s/b",  "s/.git", "s/node_modules",
                                          "s/c", "s/b/d"};
    static const char *const files[] = {
        "s/z.html",     "s/a.HTM",       "s/c.xhtml",    "s/m.md",
        "s/n.markdown", "s/b/e.html",    "s/b/d/f.html", "s/.hidden.html",
        "s/t.txt",      "s/.git/x.html", "s/html",       "s/node_modules/x.md"};

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        CHECK_INT(mkdir(folders[i], 0777), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put_file(files[i], "");
    CHECK_INT(symlink("..", "s/b/up.html"), 0);
    CHECK_INT(symlink("../m.md", "s/b/link.md"), 0);
    CHECK_INT(symlink("nowhere", "s/b/dangling.md"), 0);
    CHECK_INT(mkfifo("s/fifo.html", 0666), 0);
    CHECK_INT(local_walk("s", trace_path, NULL), 0);
    CHECK_TRACE(
        "s/a.HTM s/b/d/f.html s/b/e.html s/b/link.md s/c.xhtml s/m.md s/n.markdown "
        "s/z.html ");
    CHECK_INT(local_walk("s/.git/", trace_path, NULL), 0);
    CHECK_TRACE("s/.git/x.html ");
    CHECK_INT(local_walk("nowhere", trace_path, NULL), 0);
    CHECK_TRACE("nowhere/! ");
}

IO_TEST(local_walk_visits_pages_in_order)
{
    in_a_place(walk);
}

static int stop_at_b(const char *path, int rc, void *arg)
{
    trace_path(path, rc, arg);
    return strstr(path, "b.md") != NULL ? 7 : 0;
}

static void walk_and_stop(void)
{
    put_file("a.md", "");
    put_file("b.md", "");
    put_file("c.md", "");
    CHECK_INT(local_walk(".", stop_at_b, NULL), 7);
    CHECK_TRACE("./a.md ./b.md ");
}

IO_TEST(local_walk_ends_when_it_is_told)
{
    in_a_place(walk_and_stop);
}
