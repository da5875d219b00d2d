/*
 * report.c - the text report.
 *
 * A reader wants to know what to fix. So the groups with the most broken links come first
 * (groups.c). Places have the format of compilers, "page:line:column". The totals come
 * last, where the reader of a terminal looks. Groups that do not fit on a screen are only
 * counted; -v prints them.
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
#include "report.h"

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

#define SCREEN_LINES 30 /* if the terminal does not report its size */
#define TOTAL_LINES 9   /* lines of a screen reserved for the totals */
#define SCREEN_WIDTH 100
#define LISTED_ITEMS 5      /* of a group, without -v */
#define LONGEST_URL 60      /* without -v */
#define LONGEST_MESSAGE 160 /* without -v */
#define LONGEST_CHAIN 250   /* of redirects: --max-redirect */
#define CLUSTER_LINKS 3     /* this many links into one folder become one item */

enum color { PLAIN, BOLD, RED, GREEN, YELLOW, DIM };

struct view {
    struct out *out;
    /* common to all start URLs, and removed from URLs; "" if they have several */
    const char *origin;
    size_t origin_length;
    /* URL of the working directory, which is removed from URLs of files; or NULL */
    char *folder;
    size_t folder_length;
    size_t width;
    size_t lines_left; /* for broken links */
    size_t column;
    bool is_all; /* -v */
    bool has_color;
};

/* ---- lines ------------------------------------------------------------------------- */

static void put(struct view *view, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct view *view, const char *format, ...)
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

static void set_color(struct view *view, enum color color)
{
    static const char *const codes[] = {
        [PLAIN] = "\x1b[0m",  [BOLD] = "\x1b[1m",    [RED] = "\x1b[31m",
        [GREEN] = "\x1b[32m", [YELLOW] = "\x1b[33m", [DIM] = "\x1b[2m",
    };

    if (view->has_color)
        out_put(view->out, codes[color]);
}

static void end_line(struct view *view)
{
    out_put(view->out, "\n");
    view->column = 0;
    if (view->lines_left > 0)
        view->lines_left--;
}

/* Format a number as "6,957". */
static const char *format_number(uint64_t value, char *to)
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

static void put_amount(struct view *view, uint64_t n, const char *one, const char *many)
{
    char digits[32];

    put(view, "%s %s", format_number(n, digits), n == 1 ? one : many);
}

/* ---- URLs -------------------------------------------------------------------------- */

/* Return the approximate number of columns of UTF-8 text. */
static size_t columns_of(const char *text, size_t n)
{
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

/* Write untrusted text. If it is longer than `longest` bytes, write its beginning and its
   end. */
static void put_shortened(struct view *view, const char *text, size_t longest)
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
    /* A shortened password could not be recognised and masked any more. */
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

static void put_text(struct view *view, const char *text)
{
    put_shortened(view, text, LONGEST_URL);
}

/* Return the URL without the origin of the site, or without the working directory. */
static const char *short_url(const struct view *view, const char *url)
{
    size_t n = view->origin_length, m = view->folder_length;

    if (n > 0 && strncmp(url, view->origin, n) == 0 && url[n] == '/')
        return url + n;
    if (m > 0 && strncmp(url, view->folder, m) == 0 && url[m] == '/' &&
        url[m + 1] != '\0')
        return url + m + 1;
    return strncmp(url, "file://", 7) == 0 ? url + 7 : url;
}

/*
 * Write the first n bytes of a URL. The URL of a file is written as a path, without
 * encoding.
 */
static void put_short(struct view *view, const char *url, size_t n)
{
    const char *text = short_url(view, url);
    char *copy = strndup(text, n - (size_t)(text - url));

    if (copy == NULL) {
        out_fail(view->out, -ENOMEM);
        return;
    }
    if (strncmp(url, "file://", 7) == 0)
        copy[url_decode(copy, strlen(copy))] = '\0';
    put_text(view, copy);
    free(copy);
}

static void put_url(struct view *view, const struct target *target)
{
    put_short(view, target->url, strlen(target->url));
}

/* Write a start URL unshortened, as the user gave it. */
static void put_whole(struct view *view, const struct target *start)
{
    struct view whole = *view;

    whole.origin_length = 0;
    put_url(&whole, start);
    view->column = whole.column;
}

/* Write "12:9", or "header". */
static void put_position(struct view *view, const struct reference *reference)
{
    if (reference->column == 0)
        put(view, "header");
    else
        put(view, "%u:%u", reference->line, reference->column);
}

static void put_place(struct view *view, const struct reference *reference)
{
    put_url(view, reference->page);
    put(view, ":");
    put_position(view, reference);
}

/* ---- why --------------------------------------------------------------------------- */

static void put_status(struct view *view, int status)
{
    const char *name = status_name(status);

    put(view, "%d%s%s", status, name[0] != '\0' ? " " : "", name);
}

/* Write the reason, and the end of redirects. */
static void put_cause(struct view *view, const struct target *target)
{
    char status[TARGET_CAUSE_BYTES];
    const char *cause = target_cause(target, status);
    const struct target *first = target;

    set_color(view, RED);
    put_shortened(view,
                  cause != NULL ? cause : verdict_word((enum verdict)target->verdict),
                  LONGEST_MESSAGE);
    set_color(view, PLAIN);
    if (target->next == NULL || target->reason == REASON_REDIRECT_CIRCLE)
        return;
    for (int i = 0; i < LONGEST_CHAIN && target->next != NULL; i++) {
        target = target->next;
        if (target == first) /* a redirect loop, which --cookies might break */
            return;
    }
    put(view, ", redirects to ");
    put_url(view, target);
}

/* ---- groups ------------------------------------------------------------------------ */

/* True if a part of n columns and a hint that there is more still fit on the line. */
static bool has_room(const struct view *view, size_t n)
{
    return view->is_all || view->column + n + 5 < view->width;
}

static size_t place_columns(const struct view *view, const struct reference *reference)
{
    size_t n = strlen(short_url(view, reference->page->url));

    return (n < LONGEST_URL ? n : LONGEST_URL) + 14;
}

/*
 * Write the link as on the page, without its fragment unless the fragment is what is
 * broken.
 */
static void put_link(struct view *view, const struct broken_link *link)
{
    const char *text = reference_text(&link->first);
    size_t n = link->target->fragment_at == 0 ? strcspn(text, "#") : strlen(text);

    put_text(view, n > 0 ? strndupa(text, n) : text);
    if (link->count > 1) {
        put(view, " (");
        put_amount(view, link->count, "link", "links");
        put(view, ")");
    }
}

/* Write the first place on each page. */
static void put_pages(struct view *view, struct broken_link *const *links, size_t count,
                      bool is_more)
{
    size_t listed = 0;

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && links[i]->page == links[i - 1]->page)
            continue;
        if (listed > 0 && !has_room(view, place_columns(view, &links[i]->first))) {
            is_more = true;
            break;
        }
        put(view, "%s", listed++ > 0 ? ", " : " ");
        put_place(view, &links[i]->first);
    }
    put(view, "%s", is_more ? ", ..." : "");
}

static void put_places(struct view *view, const struct groups *groups,
                       const struct group *group)
{
    struct broken_link *const *links = groups->links + group->first;

    put(view, "    ");
    put_amount(view, group->link_count, "link:", "links:");
    if (!view->is_all)
        put_pages(view, links, group->count, group->hidden_count > 0);
    end_line(view);
    for (size_t i = 0; i < group->count && view->is_all; i++) {
        put(view, "        ");
        put_place(view, &links[i]->first);
        put(view, "  ");
        put_link(view, links[i]);
        end_line(view);
    }
    if (view->is_all && group->hidden_count > 0) {
        put(view, "        and ");
        put_amount(view, group->hidden_count, "more", "more");
        put(view, " on these pages");
        end_line(view);
    }
}

static void put_target_group(struct view *view, const struct groups *groups,
                             const struct group *group)
{
    set_color(view, BOLD);
    if (group->about->is_start)
        put_whole(view, group->about);
    else
        put_url(view, group->about);
    set_color(view, PLAIN);
    put(view, "  ");
    put_cause(view, group->about);
    if (group->count == 0 && group->link_count > 0) {
        put(view, " (");
        put_amount(view, group->link_count, "link", "links");
        put(view, ")");
    }
    end_line(view);
    if (group->count > 0)
        put_places(view, groups, group);
}

/*
 * Write the number of targets. A missing fragment is a "target". A target that is broken
 * itself is a "URL", whatever fragments the links have.
 */
static void put_count_of(struct view *view, size_t count, const struct target *first)
{
    if (first->fragment_at > 0)
        put_amount(view, count, "target", "targets");
    else
        put_amount(view, count, "URL", "URLs");
}

/* Write the names, within their folder, of the different targets of some links. */
static void put_names(struct view *view, struct broken_link *const *links, size_t count)
{
    size_t folder = folder_length(links[0]->target->url), listed = 0;

    for (size_t i = 0; i < count; i++) {
        const char *name = links[i]->target->url + folder;
        bool is_told = false;

        for (size_t j = 0; j < i && !is_told; j++)
            is_told = links[j]->target == links[i]->target;
        if (is_told)
            continue;
        if (listed > 0 && !has_room(view, strlen(name) + 2)) {
            put(view, ", ...");
            return;
        }
        put(view, "%s", listed++ > 0 ? ", " : "");
        put_text(view, name[0] != '\0' ? name : "./");
    }
}

static void put_folder(struct view *view, const struct target *target)
{
    size_t n = folder_length(target->url);

    if (short_url(view, target->url) >= target->url + n)
        put(view, "./");
    else
        put_short(view, target->url, n);
}

static void put_folder_group(struct view *view, const struct groups *groups,
                             const struct group *group)
{
    set_color(view, BOLD);
    put_folder(view, group->about);
    set_color(view, PLAIN);
    put(view, "  ");
    put_count_of(view, group->targets, group->about);
    put(view, ", ");
    put_cause(view, group->about);
    end_line(view);
    put(view, "    ");
    put_names(view, groups->links + group->first, group->count);
    end_line(view);
    put_places(view, groups, group);
}

/* Write "12:9 ../a.html (3 links)". */
static void put_item(struct view *view, const struct broken_link *link, bool with_cause)
{
    put(view, "    ");
    put_position(view, &link->first);
    put(view, "%*s", view->column < 12 ? (int)(12 - view->column) : 2, "");
    put_link(view, link);
    if (with_cause) {
        put(view, "  ");
        put_cause(view, link->target);
    }
    end_line(view);
}

/* Write "12:9 matrix/: 267 URLs: a.html, b.html, ...". */
static void put_cluster(struct view *view, struct broken_link *const *links, size_t count,
                        bool with_cause)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += links[i]->count;
    put(view, "    ");
    put_position(view, &links[0]->first);
    put(view, "%*s", view->column < 12 ? (int)(12 - view->column) : 2, "");
    put_folder(view, links[0]->target);
    put(view, "  ");
    if (sum > count) {
        put_amount(view, sum, "link", "links");
        put(view, " to ");
    }
    put_count_of(view, count, links[0]->target);
    if (with_cause) {
        put(view, ", ");
        put_cause(view, links[0]->target);
    }
    put(view, ": ");
    put_names(view, links, count);
    end_line(view);
}

static bool is_one_cluster(const struct broken_link *a, const struct broken_link *b)
{
    size_t n = folder_length(a->target->url);

    return n == folder_length(b->target->url) &&
           memcmp(a->target->url, b->target->url, n) == 0 &&
           is_broken_alike(a->target, b->target) && a->target->next == NULL &&
           b->target->next == NULL;
}

/*
 * Sort links so that those to the same folder are adjacent, in the order of folders on
 * the page. Only the folders that are listed are sorted.
 */
static void cluster_links(struct view *view, struct broken_link **links, size_t count)
{
    struct broken_link **others = malloc(count * sizeof *others);

    if (others == NULL) {
        out_fail(view->out, -ENOMEM);
        return;
    }
    for (size_t begin = 0, folder = 0; begin < count && folder < LISTED_ITEMS; folder++) {
        struct broken_link *first = links[begin];
        size_t other_count = 0;

        for (size_t i = begin; i < count; i++)
            if (links[i] == first || is_one_cluster(first, links[i]))
                links[begin++] = links[i];
            else
                others[other_count++] = links[i];
        memcpy(links + begin, others, other_count * sizeof *others);
    }
    free(others);
}

static size_t cluster_size(const struct view *view, struct broken_link *const *links,
                           size_t count)
{
    size_t n = 1;

    while (n < count && is_one_cluster(links[0], links[n]))
        n++;
    return n >= CLUSTER_LINKS && !view->is_all ? n : 1;
}

static void put_items(struct view *view, struct broken_link **links, size_t count,
                      bool with_cause)
{
    size_t limit = view->is_all ? count : LISTED_ITEMS, listed = 0, n;

    if (!view->is_all && count > limit)
        cluster_links(view, links, count);
    else
        limit = count;
    for (size_t i = 0; i < count; i += n) {
        if (listed++ == limit) {
            put(view, "    and ");
            put_amount(view, count - i, "more", "more");
            end_line(view);
            return;
        }
        n = count > LISTED_ITEMS ? cluster_size(view, links + i, count - i) : 1;
        if (n > 1)
            put_cluster(view, links + i, n, with_cause);
        else
            put_item(view, links[i], with_cause);
    }
}

static void put_page_group(struct view *view, const struct groups *groups,
                           const struct group *group)
{
    struct broken_link **links = groups->links + group->first;
    bool is_alike = true;

    for (size_t i = 1; i < group->count; i++)
        is_alike &= is_broken_alike(links[0]->target, links[i]->target) &&
                    links[i]->target->next == NULL;
    is_alike &= links[0]->target->next == NULL;
    set_color(view, BOLD);
    put_url(view, group->about);
    set_color(view, PLAIN);
    put(view, "  ");
    put_amount(view, group->link_count, "link", "links");
    if (is_alike) {
        put(view, ", ");
        put_cause(view, links[0]->target);
    }
    end_line(view);
    put_items(view, links, group->count, !is_alike);
}

/* Write "page:12:9 text why". */
static void put_single(struct view *view, const struct broken_link *link)
{
    set_color(view, BOLD);
    put_place(view, &link->first);
    set_color(view, PLAIN);
    put(view, "  ");
    put_link(view, link);
    put(view, "  ");
    put_cause(view, link->target);
    end_line(view);
}

static void put_group(struct view *view, const struct groups *groups,
                      const struct group *group)
{
    if (group->kind == GROUP_FOLDER)
        put_folder_group(view, groups, group);
    else if (group->count == 1 && group->hidden_count == 0)
        put_single(view, groups->links[group->first]);
    else if (group->kind == GROUP_TARGET)
        put_target_group(view, groups, group);
    else
        put_page_group(view, groups, group);
}

/* Return the number of lines that a group takes at most. */
static size_t lines_of(const struct group *group)
{
    if (group->kind == GROUP_FOLDER)
        return 3;
    if (group->kind == GROUP_TARGET)
        return 2;
    return group->count == 1              ? 1
           : group->count <= LISTED_ITEMS ? group->count + 1
                                          : LISTED_ITEMS + 2;
}

static void put_rest(struct view *view, const struct groups *groups, size_t from)
{
    uint64_t links = 0;

    for (size_t i = from; i < groups->count; i++)
        links += groups->at[i].untold_count;
    set_color(view, DIM);
    put(view, "and ");
    put_amount(view, links, "more link", "more links");
    put(view, "; -v shows all");
    set_color(view, PLAIN);
    end_line(view);
}

static int put_groups(struct view *view, const struct targets *targets,
                      const struct references *references, const bool *verdicts,
                      const char *title)
{
    struct groups groups;
    int rc = groups_make(&groups, targets, references, verdicts, !view->is_all);

    if (rc < 0)
        return rc;
    if (title != NULL && groups.count > 0) {
        put(view, "\n%s:", title);
        end_line(view);
    }
    for (size_t i = 0; i < groups.count; i++) {
        if (!view->is_all && i > 0 && view->lines_left < lines_of(&groups.at[i]) + 1) {
            put_rest(view, &groups, i);
            break;
        }
        cold_tend(targets->all.cold);
        put_group(view, &groups, &groups.at[i]);
    }
    groups_finish(&groups);
    return view->out->rc;
}

/* ---- totals ------------------------------------------------------------------------ */

/* The number of targets with the same verdict and reason. */
struct total {
    enum verdict verdict;
    enum reason reason;
    int status;
    size_t count;
};

struct totals {
    struct total *at;
    size_t count, capacity;
    size_t known; /* findings in the baseline */
};

static int count_one(struct totals *totals, struct total one)
{
    bool has_status = one.reason == REASON_STATUS;

    one.status = has_status ? one.status : 0;
    for (size_t i = 0; i < totals->count; i++) {
        struct total *total = &totals->at[i];
        if (total->verdict == one.verdict && total->reason == one.reason &&
            total->status == one.status) {
            total->count++;
            return 0;
        }
    }
    if (totals->count == totals->capacity &&
        array_grow(&totals->at, &totals->capacity, sizeof *totals->at) < 0)
        return -ENOMEM;
    one.count = 1;
    totals->at[totals->count++] = one;
    return 0;
}

static int count_targets(struct totals *totals, const struct targets *targets)
{
    int rc = 0;

    for (size_t i = 0; i < targets->count && rc == 0; i++) {
        const struct target *target = targets_at(targets, i);

        if (!target->is_wanted || target->verdict == VERDICT_OPEN)
            continue;
        totals->known += target->is_known && !targets_known(targets, target)->has_new;
        rc = count_one(totals,
                       (struct total){(enum verdict)target->verdict,
                                      (enum reason)target->reason, target->status, 0});
    }
    return rc;
}

static int compare_totals(const void *a, const void *b)
{
    const struct total *one = a, *other = b;

    if (one->verdict != other->verdict)
        return one->verdict < other->verdict ? -1 : 1;
    return (one->count < other->count) - (one->count > other->count);
}

static void put_total_cause(struct view *view, const struct total *total)
{
    bool is_word = total->verdict == VERDICT_SKIPPED ||
                   total->verdict == VERDICT_UNCHECKED ||
                   total->verdict == VERDICT_REDIRECT;

    if (total->reason == REASON_STATUS && total->status > 0)
        put_status(view, total->status);
    else
        put(view, "%s",
            is_word ? reason_word(total->reason) : reason_sentence(total->reason));
}

static enum color color_of(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_OK:
        return GREEN;
    case VERDICT_BROKEN:
    case VERDICT_FRAGMENT:
    case VERDICT_ERROR:
    case VERDICT_TIMEOUT:
        return RED;
    case VERDICT_TEXT:
    case VERDICT_BLOCKED:
        return YELLOW;
    default:
        return PLAIN;
    }
}

/*
 * Write the line of one verdict: "437 broken 404 Not Found 430, 500 Internal Server Error
 * 7  (220 URLs, 1,204 links)".
 */
static void put_total(struct view *view, const struct total *totals, size_t count,
                      const struct record_summary *summary)
{
    size_t urls = summary->verdict_urls[totals[0].verdict];
    size_t links = summary->verdict_links[totals[0].verdict];
    const char *word = verdict_word(totals[0].verdict);
    char digits[32];
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += totals[i].count;
    set_color(view, color_of(totals[0].verdict));
    put(view, "%9s %s", format_number(sum, digits), word);
    set_color(view, PLAIN);
    if (totals[0].reason != REASON_NONE)
        put(view, "%*s", (int)(strlen("unchecked") - strlen(word)), "");
    for (size_t i = 0; i < count && totals[i].reason != REASON_NONE; i++) {
        if (i > 0 && !has_room(view, 34)) {
            put(view, ", ...");
            break;
        }
        put(view, "%s", i > 0 ? ", " : "  ");
        put_total_cause(view, &totals[i]);
        if (count > 1)
            put(view, " %s", format_number(totals[i].count, digits));
    }
    put(view, "%s", links > 0 ? "  (" : "");
    if (links > 0 && urls != sum)
        put_amount(view, urls, "URL, ", "URLs, ");
    if (links > 0)
        put_amount(view, links, "link)", "links)");
    end_line(view);
}

static void put_bytes(struct view *view, int64_t bytes)
{
    if (bytes < 10000)
        put(view, "%lld bytes", (long long)bytes);
    else if (bytes < 1000000)
        put(view, "%.1f kB", (double)bytes / 1e3);
    else
        put(view, "%.1f MB", (double)bytes / 1e6);
}

static int put_totals(struct view *view, const struct targets *targets,
                      const struct record_summary *summary, bool after_groups)
{
    struct totals totals = {0};
    int rc = count_targets(&totals, targets);
    size_t n;

    if (rc == 0 && totals.count > 0)
        qsort(totals.at, totals.count, sizeof *totals.at, compare_totals);
    if (after_groups)
        end_line(view);
    for (size_t i = 0; rc == 0 && i < totals.count; i += n) {
        for (n = 1;
             i + n < totals.count && totals.at[i + n].verdict == totals.at[i].verdict;)
            n++;
        put_total(view, &totals.at[i], n, summary);
    }
    free(totals.at);
    if (totals.known > 0) {
        put_amount(view, totals.known, "finding is", "findings are");
        put(view, " in the baseline");
        end_line(view);
    }
    put_amount(view, summary->pages, "page, ", "pages, ");
    put_amount(view, summary->links, "link, ", "links, ");
    put_amount(view, summary->targets, "target, ", "targets, ");
    put_bytes(view, summary->bytes);
    put(view, " in %.2f s", (double)summary->duration_ns / 1e9);
    end_line(view);
    return rc < 0 ? rc : view->out->rc;
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

/* Find the origin that all start URLs have in common. */
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

/* Find the working directory. If it was deleted, paths are absolute. */
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

/*
 * Choose the verdicts that are listed: those that make the run fail, and those that are
 * broken.
 */
static void choose_broken(const struct options *options, bool *verdicts)
{
    memcpy(verdicts, options->fail_on, VERDICT_COUNT * sizeof *verdicts);
    verdicts[VERDICT_BROKEN] = verdicts[VERDICT_FRAGMENT] = true;
    verdicts[VERDICT_ERROR] = verdicts[VERDICT_TIMEOUT] = true;
    verdicts[VERDICT_OPEN] = verdicts[VERDICT_OK] = false;
}

/* Write the other verdicts, depending on -v and -vv. */
static int put_others(struct view *view, const struct options *options,
                      const struct targets *targets, const struct references *references,
                      const bool *told)
{
    static const struct {
        enum verdict verdict;
        unsigned verbosity;
        const char *title;
    } others[] = {{VERDICT_TEXT, 1, "Texts that are not on their pages"},
                  {VERDICT_BLOCKED, 1, "Blocked, although a human may get there"},
                  {VERDICT_REDIRECT, 2, "Redirects"},
                  {VERDICT_SKIPPED, 2, "Skipped"},
                  {VERDICT_UNCHECKED, 2, "Unchecked"}};
    int rc = 0;

    for (size_t i = 0; i < sizeof others / sizeof others[0] && rc == 0; i++) {
        bool verdicts[VERDICT_COUNT] = {false};

        if (told[others[i].verdict] || options->verbosity < others[i].verbosity)
            continue;
        verdicts[others[i].verdict] = true;
        rc = put_groups(view, targets, references, verdicts, others[i].title);
    }
    return rc;
}

/* ---- pages not searched ------------------------------------------------------------ */

/* True for a page or file that is OK, but was not or only partly searched. */
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
 * Set *all, which the caller frees, and *count, in order of URLs. Returns 0 or -ENOMEM.
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

/* With -v print a line for each page, otherwise only their number. */
static int put_unsearched(struct view *view, const struct targets *targets)
{
    const struct target **all = NULL;
    size_t count = 0;
    int rc = find_unsearched(targets, &all, &count);

    if (rc == 0 && count > 0 && !view->is_all) {
        put_amount(view, count, "page was", "pages were");
        put(view, " not searched, or only in part: -v lists %s",
            count == 1 ? "it" : "them");
        end_line(view);
    }
    for (size_t i = 0; rc == 0 && view->is_all && i < count; i++) {
        put_url(view, all[i]);
        put(view, "  ");
        put_shortened(view, all[i]->message, LONGEST_MESSAGE);
        end_line(view);
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
    rc = put_groups(&view, targets, references, verdicts, NULL);
    if (rc == 0)
        rc = put_others(&view, options, targets, references, verdicts);
    if (rc == 0)
        rc = put_unsearched(&view, targets);
    if (rc == 0 && !options->quiet)
        rc = put_totals(&view, targets, summary, view.lines_left < lines);
    free(view.folder);
    return rc;
}
