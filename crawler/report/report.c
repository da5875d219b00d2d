/*
 * report.c - see report.h
 *
 * The groups with the most broken links come first (groups.c), because fixing them helps
 * most. Places are written as "page:line:column", as in compiler messages. The totals
 * come last, where they are visible on a terminal. Without -v, groups that do not fit on
 * the screen are only counted.
 *
 *     /search  404 Not Found                                          a target
 *         758 links: /index.html:42:28, /about.html:42:28, ...
 *     /tclsqlite.html  2 links, no element has this id                a page
 *         275:14  #preupdate
 *         630:22  lang.html#conflict
 *     /fts3.html:2809:11  fileformat.html#x  no element has this id   a single link
 *
 *            866 ok
 *            427 broken     404 Not Found
 *             31 fragment   no element has this id
 */
#include "report_inside.h"

#include "groups.h"
#include "../base/array.h"
#include "../files/local.h"
#include "../url/url.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- lines ------------------------------------------------------------------------- */

void report_put(struct view *view, const char *format, ...)
{
    char text[256];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        return;
    out_put(view->out, text);
    view->column += strlen(text);
}

void report_set_color(struct view *view, enum color color)
{
    static const char *const codes[] = {
        [PLAIN] = "\x1b[0m",  [BOLD] = "\x1b[1m",    [RED] = "\x1b[31m",
        [GREEN] = "\x1b[32m", [YELLOW] = "\x1b[33m", [DIM] = "\x1b[2m",
    };

    if (view->has_color)
        out_put(view->out, codes[color]);
}

void report_end_line(struct view *view)
{
    out_put(view->out, "\n");
    view->column = 0;
    if (view->lines_left > 0)
        view->lines_left--;
}

const char *report_format_number(uint64_t value, char *to)
{
    char digits[24];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *end = to;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *end++ = ',';
        *end++ = digits[i];
    }
    *end = '\0';
    return to;
}

void report_put_amount(struct view *view, uint64_t n, const char *one, const char *many)
{
    char digits[32];

    report_put(view, "%s %s", report_format_number(n, digits), n == 1 ? one : many);
}

/* ---- URLs -------------------------------------------------------------------------- */

/* Return the approximate number of terminal columns of a UTF-8 text. */
static size_t columns_of(const char *text, size_t n)
{
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

void report_put_shortened(struct view *view, const char *text, size_t longest)
{
    size_t n = strlen(text), head = longest / 2, tail = longest / 2 - 3;
    bool is_cut = !view->is_all && n > longest;
    char *copy;

    if (!is_cut) {
        view->column += columns_of(text, n);
        out_put_url(view->out, text);
        return;
    }
    while (head > 0 && (text[head] & 0xc0) == 0x80)
        head--;
    while (tail > 0 && (text[n - tail] & 0xc0) == 0x80)
        tail--;
    /*
     * A truncated password might not be recognised and masked, so do not write the URL.
     */
    if (url_password(text).n > 0)
        copy = strdup("a URL with a password");
    else if (asprintf(&copy, "%.*s...%s", (int)head, text, text + n - tail) < 0)
        copy = NULL;
    if (copy == NULL) {
        out_fail(view->out, -ENOMEM);
        return;
    }
    view->column += columns_of(copy, strlen(copy));
    out_put_url(view->out, copy);
    free(copy);
}

void report_put_text(struct view *view, const char *text)
{
    report_put_shortened(view, text, LONGEST_URL);
}

const char *report_short_url(const struct view *view, const char *url)
{
    size_t n = view->origin_length, m = view->folder_length;

    if (n > 0 && strncmp(url, view->origin, n) == 0 && url[n] == '/')
        return url + n;
    if (m > 0 && strncmp(url, view->folder, m) == 0 && url[m] == '/' &&
        url[m + 1] != '\0')
        return url + m + 1;
    return strncmp(url, "file://", 7) == 0 ? url + 7 : url;
}

void report_put_short(struct view *view, const char *url, size_t n)
{
    const char *text = report_short_url(view, url);
    char *copy = strndup(text, n - (size_t)(text - url));

    if (copy == NULL) {
        out_fail(view->out, -ENOMEM);
        return;
    }
    if (strncmp(url, "file://", 7) == 0)
        copy[url_decode(copy, strlen(copy))] = '\0';
    report_put_text(view, copy);
    free(copy);
}

void report_put_url(struct view *view, const struct target *target)
{
    report_put_short(view, target->url, strlen(target->url));
}

void report_put_whole(struct view *view, const struct target *start)
{
    struct view whole = *view;

    whole.origin_length = 0;
    report_put_url(&whole, start);
    view->column = whole.column;
}

void report_put_position(struct view *view, const struct reference *reference)
{
    if (reference->column == 0)
        report_put(view, "header");
    else
        report_put(view, "%u:%u", reference->line, reference->column);
}

void report_put_place(struct view *view, const struct reference *reference)
{
    report_put_url(view, reference->page);
    report_put(view, ":");
    report_put_position(view, reference);
}

/* ---- whole ------------------------------------------------------------------------- */

static bool wants_color(enum color_mode mode, int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    if (mode != COLOR_AUTO)
        return mode == COLOR_ALWAYS;
    return (no_color == NULL || no_color[0] == '\0') && isatty(fd) &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

/* Set view->origin to the origin that all start URLs share, or to "". */
static void find_origin(struct view *view, const struct text_list *starts)
{
    view->origin = "";
    for (size_t i = 0; i < starts->count; i++)
        if (strstr(starts->at[i], "://") == NULL ||
            !url_same_origin(starts->at[0], starts->at[i]))
            return;
    if (starts->count == 0)
        return;
    view->origin = starts->at[0];
    view->origin_length = url_origin_length(view->origin);
}

/*
 * Set view->folder to the working directory, or to NULL if it was deleted: in that case,
 * paths are written as absolute paths.
 */
static void find_folder(struct view *view)
{
    char *path = getcwd(NULL, 0);

    view->folder = path != NULL ? local_url(path) : NULL;
    if (path == NULL ? errno == ENOMEM : view->folder == NULL)
        out_fail(view->out, -ENOMEM);
    free(path);
    view->folder_length = view->folder != NULL ? strlen(view->folder) : 0;
    if (view->folder_length > 0 && view->folder[view->folder_length - 1] == '/')
        view->folder_length--;
}

static struct view view_of(struct out *out, const struct options *options)
{
    struct view view = {.out = out,
                        .width = SCREEN_WIDTH,
                        .lines_left = SCREEN_LINES - TOTAL_LINES,
                        .is_all = options->verbosity > 0,
                        .has_color = wants_color(options->color, out->fd)};
    struct winsize size;

    if (ioctl(out->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        view.width = size.ws_col > 40 ? size.ws_col : 40;
        view.lines_left =
            size.ws_row > 2 * TOTAL_LINES ? size.ws_row - TOTAL_LINES : TOTAL_LINES;
    }
    find_origin(&view, &options->starts);
    find_folder(&view);
    return view;
}

/* Choose the verdicts to list first: all bad ones, and others that make the run fail. */
static void choose_broken(const struct options *options, bool *verdicts)
{
    for (int i = 0; i < VERDICT_COUNT; i++)
        verdicts[i] =
            options->fail_on[i] || verdict_traits((enum verdict)i)->tone == TONE_BAD;
    verdicts[VERDICT_OPEN] = verdicts[VERDICT_OK] = false;
}

/*
 * Write the lists that -v (`verbosity` 1) or -vv (2) adds, except those for verdicts that
 * are already listed (`is_listed[verdict]`).
 */
static int put_lists(struct view *view, const struct targets *targets,
                     const struct references *references, unsigned verbosity,
                     const bool *is_listed)
{
    int rc = 0;

    for (int i = 0; i < VERDICT_COUNT && rc == 0; i++) {
        const struct verdict_traits *traits = verdict_traits((enum verdict)i);
        bool verdicts[VERDICT_COUNT] = {false};

        verdicts[i] = true;
        if (traits->list != NULL && traits->verbosity == verbosity && !is_listed[i])
            rc = report_put_groups(view, targets, references, verdicts, traits->list);
    }
    return rc;
}

/* Return the lowest verbosity at which all lists are written. */
static unsigned highest_verbosity(void)
{
    unsigned highest = 0;

    for (int i = 0; i < VERDICT_COUNT; i++)
        if (verdict_traits((enum verdict)i)->verbosity > highest)
            highest = verdict_traits((enum verdict)i)->verbosity;
    return highest;
}

/* Write the lists for other verdicts that -v or -vv adds. */
static int put_others(struct view *view, const struct options *options,
                      const struct targets *targets, const struct references *references,
                      const bool *is_listed)
{
    unsigned highest = highest_verbosity();
    int rc = 0;

    for (unsigned level = 1; level <= options->verbosity && level <= highest && rc == 0;
         level++)
        rc = put_lists(view, targets, references, level, is_listed);
    return rc;
}

/* ---- pages not searched ------------------------------------------------------------ */

/* True for a page or file that is OK, but was not searched completely. */
static bool is_unsearched(const struct target *target)
{
    return target->verdict == VERDICT_OK && target->message != NULL &&
           target->page == target &&
           (target->kind == TARGET_SITE || target->kind == TARGET_FILE);
}

static int compare_urls(const void *a, const void *b)
{
    return strcmp((*(const struct target *const *)a)->url,
                  (*(const struct target *const *)b)->url);
}

/*
 * Store the unsearched targets, sorted by URL, in *all, and their number in *count. The
 * caller frees *all. Returns 0 or -ENOMEM.
 */
static int find_unsearched(const struct targets *targets, const struct target ***all,
                           size_t *count)
{
    size_t capacity = 0;

    for (size_t i = 0; i < targets->count; i++) {
        const struct target *target = targets_at(targets, i);

        if (!is_unsearched(target))
            continue;
        if (*count == capacity && array_grow(all, &capacity, sizeof **all) < 0)
            return -ENOMEM;
        (*all)[(*count)++] = target;
    }
    if (*count > 0)
        qsort(*all, *count, sizeof **all, compare_urls);
    return 0;
}

/* Print the number of unsearched pages or, with -v, a line for each page. */
static int put_unsearched(struct view *view, const struct targets *targets)
{
    const struct target **all = NULL;
    size_t count = 0;
    int rc = find_unsearched(targets, &all, &count);

    if (rc == 0 && count > 0 && !view->is_all) {
        report_put_amount(view, count, "page was", "pages were");
        report_put(view, " not searched, or only in part: -v lists %s",
                   count == 1 ? "it" : "them");
        report_end_line(view);
    }
    for (size_t i = 0; rc == 0 && view->is_all && i < count; i++) {
        report_put_url(view, all[i]);
        report_put(view, "  ");
        report_put_shortened(view, all[i]->message, LONGEST_MESSAGE);
        report_end_line(view);
    }
    free(all);
    return rc;
}

int report_text(struct out *out, const struct options *options,
                const struct targets *targets, const struct references *references,
                const struct record_summary *summary)
{
    struct view view = view_of(out, options);
    bool verdicts[VERDICT_COUNT];
    size_t lines = view.lines_left;
    int rc;

    choose_broken(options, verdicts);
    rc = report_put_groups(&view, targets, references, verdicts, NULL);
    if (rc == 0)
        rc = put_others(&view, options, targets, references, verdicts);
    if (rc == 0)
        rc = put_unsearched(&view, targets);
    if (rc == 0 && !options->quiet)
        rc = report_put_totals(&view, targets, summary, view.lines_left < lines);
    free(view.folder);
    return rc;
}
