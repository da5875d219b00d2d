#include "../../../../../crawler/page/markdown/markdown.h"
#include "../../../../../crawler/page/markdown/markdown_mask.h"
#include "../../../../../crawler/url/url.h"
#include "../../../../harness/harness.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <dirent.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

static int read_and_visit(const char *text, size_t n, bool wants_ids,
                          links_visit_function visit, void *arg)
{
    struct markdown *markdown;
    int rc = markdown_read(text, n, (struct markdown_options){.wants_ids = wants_ids},
                           &markdown);

    if (rc == 0)
        rc = markdown_visit(markdown, visit, arg);
    markdown_destroy(markdown);
    return rc;
}

static int trace_link(const struct link *link, void *arg)
{
    (void)arg;
    test_trace("%u:%u %s%s=%s\n", link->place.line, link->place.column,
               link->kind == LINK_ID ? "#" : "", link->element, link->reference);
    return 0;
}

static void check_rendering(const char *text, size_t n);

static void find(const char *text)
{
    if (strncmp(text, "---", 3) != 0)
        check_rendering(text, strlen(text));
    CHECK_INT(read_and_visit(text, strlen(text), true, trace_link, NULL), 0);
}

TEST(markdown_links_and_images)
{
    find("A [b](c.md) ![d](e.png \"t\") [f](<g h> 'i')\n[j]( k ) "
         "[l](m(n)o)\n[p](q\\)&amp;r)"
         " [s]() [t](\n  u)\n");
    CHECK_TRACE("1:7 a=c.md\n1:18 img=e.png\n1:34 a=g h\n2:6 a=k\n2:14 a=m(n)o\n"
                "3:5 a=q)&r\n3:20 a=\n4:3 a=u\n");
}

TEST(markdown_places_are_where_urls_stand)
{
    find("[![a](b)](c) [d](b)\n\n> x [e](f\n> \"g\") <http://h/> www.i.com me@j.k\n");
    CHECK_TRACE("1:7 img=b\n1:11 a=c\n1:18 a=b\n3:9 a=f\n4:9 a=http://h/\n"
                "4:20 a=http://www.i.com\n4:30 a=mailto:me@j.k\n");
    find("b.c is [b](a/b)\nand ca [ca](./ca)\n");
    CHECK_TRACE("1:12 a=a/b\n2:13 a=./ca\n");
    find("`[a](b)` [a](b) \\[a](b) [http://c/](http://c/) \u00e4\u00f6 [d](e)\n");
    CHECK_TRACE("1:14 a=b\n1:37 a=http://c/\n1:55 a=e\n");
}

TEST(markdown_references_stand_at_their_definitions)
{
    find("[a] [b][a] [c][d] [no]\n\n[A]: /x 'y'\n  [d]: <z>\n[unused]: w\n");
    CHECK_TRACE("3:6 a=/x\n3:6 a=/x\n4:9 a=z\n");
}

TEST(markdown_of_lists_and_tables)
{
    find("- [a](b)\n  - c\n\n    [d](e)\n\n| [f](g) | h |\n|---|---|\n| `[i](j)` | "
         "~~[k](l)~~ |\n");
    CHECK_TRACE("1:7 a=b\n4:9 a=e\n6:7 a=g\n8:20 a=l\n");
}

TEST(markdown_code_has_no_links)
{
    find("```\n[a](b)\n```\n\n    [c](d)\n\n``[e](f)`` \\[g\\](h)\n<!-- [i](j) <a "
         "href=k> -->\n");
    CHECK_TRACE("");
}

TEST(markdown_raw_html_is_searched_where_it_stands)
{
    find("a <a href=\"b\">c</a> <img\n  src='d'> `<a href=e>` \\<a href=f> <a href=e>\n\n"
         "<div id=g>\n<a name=h></a> [no](i)\n</div>\n\n"
         "> <p>\n> <a href=\"j\">\n> </p>\n\n- k\n\n  <a\n   href=l>\n");
    CHECK_TRACE(
        "1:12 a=b\n2:8 img=d\n2:45 a=e\n4:9 #div=g\n5:9 #a=h\n9:12 a=j\n15:9 a=l\n");
}

TEST(markdown_raw_html_may_be_indented)
{
    find("<div>\n\n  <img src=a>\n\n</div>\n\n-\t<p>\n\t<a href=b>\n\n1. a\n\n\t  <a\n\t "
         " href=c>\n");
    CHECK_TRACE("3:12 img=a\n8:10 a=b\n13:9 a=c\n");
}

TEST(markdown_comments_end)
{
    find("<!-- a\n<a href=b>\n-->\n\n<a href=c>\n\n> <!--\n> x\n> -->\n> <a href=d>\n\n"
         "<!-- y --> <a href=e>\n\n<?php\n\n?>\n<a href=f>");
    CHECK_TRACE("5:9 a=c\n10:11 a=d\n12:20 a=e\n17:9 a=f\n");
}

TEST(markdown_filtered_tags_are_text)
{
    find("<script>\n</script>\n\n<title>a <a href=b>\n\n<iframe src=c></iframe> <base "
         "href=d> "
         "<a href=e>\n\n<textareas><a href=f>");
    CHECK_TRACE("4:18 a=b\n6:47 a=e\n8:20 a=f\n");
}

TEST(markdown_ids_of_headings)
{
    find("# The `coil_run()` call\n\nA\n=\n\n## [Link](x) *and* more ##\n\n# A\n\n"
         "# ![alt](y) Img <a name=z></a>\n\n# \n\n> ### In quotes\n");
    CHECK_TRACE("1:1 #h1=the-coil_run-call\n3:1 #h1=a\n6:1 #h2=link-and-more\n6:11 a=x\n"
                "8:1 #h1=a-1\n10:1 #h1=-img-\n10:10 img=y\n10:25 #a=z\n"
                "14:3 #h3=in-quotes\n");
}

TEST(markdown_ids_of_headings_in_raw_html)
{
    find("<h2 align=\"center\">Install &amp; run</h2>\n\n# Install\n\n<h3>Install</h3> "
         "<H1>\n  <b>In</b>side\n</H1>\n\nText <h4>*in* `line` ![alt](y)</h4> more\n\n"
         "<h1>\n\nBetween *tags*\n\n</h1>\n\n<!-- <h1>no</h1> -->\n\n"
         "# a <h2>b</h2> c\n\n<h5>open\n\n# Next\n\n<h6>last");
    CHECK_TRACE("1:1 #h2=install--run\n3:1 #h1=install\n5:1 #h3=install-1\n"
                "5:1 #h1=--inside\n9:1 #h4=in-line-\n9:29 img=y\n"
                "11:1 #h1=between-tags\n19:1 #h1=a-b-c\n21:1 #h5=open\n23:1 #h1=next\n"
                "25:1 #h6=last\n");
}

TEST(markdown_ids_that_headings_name)
{
    find("# A title {#My_id}\n\nB {#b .class k=v} \n-\n\n## {#}\n\n## C {.d}\n\n"
         "## `{#e}` f\n\n## {#g}\n\n# }\n");
    CHECK_TRACE("1:1 #h1=a-title-my_id\n1:1 #h1=My_id\n3:1 #h2=b-b-class-kv\n"
                "3:1 #h2=b\n8:1 #h2=c-d\n10:1 #h2=e-f\n12:1 #h2=g\n12:1 #h2=g\n"
                "14:1 #h1=-1\n");
}

/*
 * GitHub renders text between dollar signs as a formula, in which links do not count.
 * Prices and shell variables are not formulas.
 */
TEST(markdown_formulas_have_no_links)
{
    struct markdown *markdown;
    static const char text[] =
        "The transform $\\mathcal{L}[f](s)$ and\n\n$$X(z) = Z [x](z)$$\n\n$$\n[h](u)\n\n"
        "<a href=v>\n$$\n\nIt costs $5, [see](a.md), or $6. `$x` [b](b.md) `y$`\n\n"
        "# Of $O(n)$ [c](c.md)\n\n```math\n[d](e)\n```\n\n```sh\n$ x\n```\n\n"
        "[f](f.md)$ $g\n\n| $a$ | [i](i.md) $[j](k)$ |\n|-|-|\n\n$`[l](m)`$ "
        "\\$[n](n.md)\\$ "
        "[$o$](p.md), $http://q/$: [r](/$s) [t](/$u)\n\n- $$\n  [w](x)\n  $$\n\n$$ "
        "[y](y.md)\n";

    CHECK_INT(markdown_read(text, strlen(text),
                            (struct markdown_options){.wants_ids = true}, &markdown),
              0);
    CHECK_INT(markdown_visit(markdown, trace_link, NULL), 0);
    CHECK_TRACE("11:20 a=a.md\n11:43 a=b.md\n13:1 #h1=of-on-c\n13:17 a=c.md\n"
                "23:5 a=f.md\n25:13 a=i.md\n28:18 a=n.md\n28:32 a=p.md\n"
                "28:56 a=/$s\n28:65 a=/$u\n34:8 a=y.md\n");
    markdown_destroy(markdown);
}

/*
 * In MDX, components are parsed as raw HTML. Comments, imports, exports and expressions
 * are ignored.
 */
TEST(markdown_of_mdx)
{
    struct markdown *markdown;
    static const char text[] =
        "import {A} from './a.js'\nexport const b = '[b](b.md)'\n\n# Title\n\n"
        "[c](c.md) {/* [d](d.md)\n\n[e](e.md) */} <Card href=\"x\"><a "
        "href={url}>f</a></Card>\n\n"
        "<img src=\"g.png\" alt={x}/> export [h](h.md)\n\n`{/*` [i](i.md) {/* "
        "[j](j.md)\n";

    CHECK_INT(markdown_read(text, strlen(text),
                            (struct markdown_options){.wants_ids = true, .is_mdx = true},
                            &markdown),
              0);
    CHECK_INT(markdown_visit(markdown, trace_link, NULL), 0);
    CHECK_TRACE("4:1 #h1=title\n6:5 a=c.md\n10:11 img=g.png\n10:39 a=h.md\n12:11 a=i.md\n"
                "12:25 a=j.md\n");
    markdown_destroy(markdown);
}

TEST(markdown_formulas_take_time_in_proportion)
{
    static const char *const pieces[] = {"$a ",  "$$",  "$$ ", "`` $",
                                         "$$\n", "{/*", "\\",  "- $$\n\n"};
    size_t n = 1 << 20;
    char *text = malloc(n);
    clock_t begin = clock();

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t length = strlen(pieces[i]);
        char *copy;

        for (size_t at = 0; at < n; at++)
            text[at] = pieces[i][at % length];
        CHECK_INT(markdown_mask(text, n, true, &copy), 0);
        free(copy);
    }
    CHECK((clock() - begin) / CLOCKS_PER_SEC < 10);
    free(text);
}

TEST(markdown_footnotes)
{
    find("a[^n] [b](c)\n\n[^n]: Foot [d](e)\n\n[f](g)\n");
    CHECK_TRACE("1:11 a=c\n3:1 #li=fn-n\n3:1 #li=fnref-n\n3:16 a=e\n5:5 a=g\n");
}

TEST(markdown_front_matter_is_skipped)
{
    find("---\ntitle: [a](b)\n---\n[c](d)\n");
    CHECK_TRACE("4:5 a=d\n");
    find("---\r\nx: y\r\n...\r\n# E\r\n");
    CHECK_TRACE("4:1 #h1=e\n");
    find("---\n[a](b)\n");
    CHECK_TRACE("2:5 a=b\n");
    find("\xef\xbb\xbf[a](b)\r[c](d)\r\n[e](f)");
    CHECK_TRACE("1:6 a=b\n2:5 a=d\n3:5 a=f\n");
}

TEST(markdown_without_ids)
{
    static const char text[] = "# A\n\n<a id=b href=c>";

    CHECK_INT(read_and_visit(text, sizeof text - 1, false, trace_link, NULL), 0);
    CHECK_TRACE("3:14 a=c\n");
}

static int stop_at_second(const struct link *link, void *arg)
{
    int *count = arg;

    (void)link;
    return ++*count == 2 ? 42 : 0;
}

TEST(markdown_visit_ends_when_it_is_told)
{
    int count = 0;

    CHECK_INT(read_and_visit("<a> <b> <c>\n\n[a](b) [c](d) [e](f)", 33, true,
                             stop_at_second, &count),
              42);
    CHECK_INT(count, 2);
}

TEST(markdown_of_any_bytes)
{
    static const char text[] =
        "a\0b [c\xff](d\xc3) <a href=\"\xe2\x82\">\n\n# \xf0\x9f\n\n[e](f";

    CHECK_INT(read_and_visit(text, sizeof text - 1, true, trace_link, NULL), 0);
    CHECK_INT(read_and_visit("", 0, true, trace_link, NULL), 0);
    CHECK_INT(read_and_visit(text, MARKDOWN_BYTES + 1, true, trace_link, NULL),
              -EMSGSIZE);
}

/* ---- the documents of this repository ---------------------------------------------- */

struct document {
    char path[400];
    char *text;
    size_t n;
};

struct fragment {
    const char *id;
    bool found;
};

static bool read_document(struct document *document)
{
    FILE *file = fopen(document->path, "r");

    document->text = NULL;
    document->n = 0;
    if (file == NULL)
        return false;
    document->text = malloc(1 << 20);
    document->n = fread(document->text, 1, 1 << 20, file);
    fclose(file);
    return true;
}

static int find_id(const struct link *link, void *arg)
{
    struct fragment *fragment = arg;

    fragment->found = fragment->found || (link->kind == LINK_ID &&
                                          strcmp(link->reference, fragment->id) == 0);
    return 0;
}

/* Check a link such as "../a.md#b": the file and the id must exist. */
static int check_link(const struct link *link, void *arg)
{
    const struct document *from = arg;
    size_t n = strcspn(link->reference, "#");
    struct fragment fragment = {link->reference + n + (link->reference[n] != '\0'),
                                false};
    struct document to;

    if (link->kind == LINK_ID || strstr(link->reference, ":") != NULL)
        return 0;
    if (n == 0)
        snprintf(to.path, sizeof to.path, "%s", from->path);
    else
        snprintf(to.path, sizeof to.path, "%.*s/%.*s",
                 (int)(strrchr(from->path, '/') - from->path), from->path, (int)n,
                 link->reference);
    if (!read_document(&to))
        printf("%s:%u: %s: no such file\n", from->path, link->place.line,
               link->reference);
    CHECK(to.text != NULL);
    fragment.found = fragment.id[0] == '\0';
    CHECK_INT(read_and_visit(to.text, to.n, true, find_id, &fragment), 0);
    if (!fragment.found)
        printf("%s:%u: %s: no such id\n", from->path, link->place.line, link->reference);
    CHECK(fragment.found);
    free(to.text);
    return 0;
}

/* Check that the text contains the URL at the position of the link. */
static int check_place(const struct link *link, void *arg)
{
    const struct document *document = arg;
    const char *at = document->text;

    if (link->kind == LINK_ID)
        return 0;
    for (uint32_t line = 1; line < link->place.line; line++)
        at = strchr(at, '\n') + 1;
    for (uint32_t column = 1; column < link->place.column; column++)
        do
            at++;
        while ((*at & 0xc0) == 0x80);
    if (strncmp(at, link->reference, strlen(link->reference)) != 0)
        printf("%s:%u:%u: %s\n", document->path, link->place.line, link->place.column,
               link->reference);
    CHECK(strncmp(at, link->reference, strlen(link->reference)) == 0);
    return 0;
}

struct references {
    char *at[5000];
    size_t count;
};

static int add_reference(const struct link *link, void *arg)
{
    struct references *references = arg;
    char *text;

    if (link->kind != LINK_OTHER || strncmp(link->reference, "#fn", 3) == 0)
        return 0;
    CHECK(references->count < 5000);
    text = strdup(link->reference);
    text[url_decode(text, strlen(text))] = '\0';
    references->at[references->count++] = text;
    return 0;
}

/* Add the links in the HTML that cmark-gfm generates from the text. */
static void add_rendered(const char *text, size_t n, struct references *references)
{
    static const char *const names[] = {"table", "strikethrough", "autolink",
                                        "tagfilter"};
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_FOOTNOTES);
    struct links links;
    cmark_node *document;
    char *html;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cmark_parser_attach_syntax_extension(parser,
                                             cmark_find_syntax_extension(names[i]));
    cmark_parser_feed(parser, text, n);
    document = cmark_parser_finish(parser);
    html = cmark_render_html(document, CMARK_OPT_UNSAFE,
                             cmark_parser_get_syntax_extensions(parser));
    links_init(&links);
    CHECK_INT(links_feed(&links, html, strlen(html)), 0);
    CHECK_INT(links_end(&links), 0);
    CHECK_INT(links_visit(&links, false, add_reference, references), 0);
    links_finish(&links);
    free(html);
    cmark_node_free(document);
    cmark_parser_free(parser);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_rendering(const char *text, size_t n)
{
    struct references *ours = calloc(1, sizeof *ours),
                      *rendered = calloc(1, sizeof *ours);

    CHECK_INT(read_and_visit(text, n, false, add_reference, ours), 0);
    add_rendered(text, n, rendered);
    qsort(ours->at, ours->count, sizeof *ours->at, compare_texts);
    qsort(rendered->at, rendered->count, sizeof *rendered->at, compare_texts);
    CHECK_INT(ours->count, rendered->count);
    for (size_t i = 0; i < ours->count; i++) {
        CHECK_STR(ours->at[i], rendered->at[i]);
        free(ours->at[i]);
        free(rendered->at[i]);
    }
    free(ours);
    free(rendered);
}

static void check_document(const char *path, int *count)
{
    struct document document;
    size_t n = strlen(path);

    if (n < 3 || strcmp(path + n - 3, ".md") != 0)
        return;
    snprintf(document.path, sizeof document.path, "%s", path);
    CHECK(read_document(&document));
    document.text[document.n] = '\0';
    CHECK_INT(read_and_visit(document.text, document.n, true, check_link, &document), 0);
    CHECK_INT(read_and_visit(document.text, document.n, true, check_place, &document), 0);
    check_rendering(document.text, document.n);
    free(document.text);
    ++*count;
}

static void check_folder(const char *path, int *count)
{
    DIR *folder = opendir(path);
    char below[400];

    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        if (entry->d_type == DT_DIR)
            check_folder(below, count);
        else
            check_document(below, count);
    }
    closedir(folder);
}

/*
 * Set `path` to the path of a file of the repository. This program is tests/coil-tests in
 * the build folder, which is usually inside the repository.
 */
static void make_path(char *path, size_t size, const char *name)
{
    char program[300] = "";

    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    *strrchr(program, '/') = '\0';
    snprintf(path, size, "%s/../../%s", program, name);
}

TEST(markdown_of_this_repository_has_no_broken_links)
{
    static const char *const names[] = {"README.md", "CONTRIBUTING.md", "fuzz/README.md"};
    char path[400];
    int count = 0;

    make_path(path, sizeof path, "docs");
    if (access(path, R_OK) < 0)
        test_skip("the repository is not in the folder above the build's");
    check_folder(path, &count);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make_path(path, sizeof path, names[i]);
        check_document(path, &count);
    }
    CHECK(count > 20);
}

static int count_link(const struct link *link, void *arg)
{
    size_t *count = arg;

    *count += link->kind == LINK_OTHER;
    return 0;
}

/*
 * Return the CPU time in seconds for parsing a text of n bytes, which consists of
 * `before`, copies of `piece`, and `behind`.
 */
static double seconds_for(const char *before, const char *piece, const char *behind,
                          size_t n)
{
    size_t piece_n = strlen(piece), at = strlen(before), count = 0;
    char *text = malloc(at + n + strlen(behind) + 1);
    struct timespec begin, end;

    memcpy(text, before, at);
    for (size_t i = 0; i + piece_n <= n; i += piece_n, at += piece_n)
        memcpy(text + at, piece, piece_n);
    memcpy(text + at, behind, strlen(behind));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    CHECK_INT(read_and_visit(text, at + strlen(behind), true, count_link, &count), 0);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    free(text);
    return (double)(end.tv_sec - begin.tv_sec) +
           1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

/*
 * Texts for which a parser may have to backtrack. A text that is 16 times as long may
 * take up to 128 times as long; with quadratic time, the factor would be 256. Factors of
 * up to 70 were measured, because libcmark-gfm needs less time per byte for shorter
 * texts.
 */
TEST(markdown_takes_linear_time)
{
    static const struct {
        const char *before, *piece, *behind;
    } rows[] = {{"", "[a](b) ", ""},
                {"", "[a][b] ", "\n\n[b]: /c\n"},
                {"", "[a](", ""},
                {"", "<a href=b> ", ""},
                {"", "`a` ", ""},
                {"", "`\na` ", ""},
                {"", "www.a.b ", ""},
                {"", "](", ""},
                {"", "# a\n", ""},
                {"", "[a]: b\n", ""},
                {"", "> ", ""},
                {"", "<http://a> ", ""},
                {"", "[a]:<\n", ">"},
                {"", "[a]:\\\n", ""},
                {"[a]: b\n\n", "[a]](", ""},
                {"[a]: b\n\n", "[a]](<", ">"},
                {"# ", "*a _b ", ""}};

    if (test_under_valgrind())
        test_skip("it would take minutes there");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *before = rows[i].before, *behind = rows[i].behind;
        size_t n = (size_t)test_many(test_in_soak() ? 25000 : 12500);
        double few = seconds_for(before, rows[i].piece, behind, n);
        double many = seconds_for(before, rows[i].piece, behind, 16 * n);

        if (many > 128 * few + 0.2)
            printf("\"%s\": %.3f s, then %.3f s\n", rows[i].piece, few, many);
        CHECK(many <= 128 * few + 0.2);
    }
}
