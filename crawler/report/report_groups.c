/*
 * report_groups.c - write the broken links in the text report, in groups.
 */
#include "report_inside.h"

#include "groups.h"
#include "../base/array.h"
#include "../files/local.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* ---- why --------------------------------------------------------------------------- */

void report_put_status(struct view *view, int status)
{
    const char *name = status_name(status);

    report_put(view, "%d%s%s", status, name[0] != '\0' ? " " : "", name);
}

/* Write why the target is broken, and the URL at the end of its redirects. */
static void put_cause(struct view *view, const struct target *target)
{
    char status[TARGET_CAUSE_BYTES];
    const char *cause = target_cause(target, status);
    const struct target *first = target;

    report_set_color(view, RED);
    report_put_shortened(
        view, cause != NULL ? cause : verdict_word((enum verdict)target->verdict),
        LONGEST_MESSAGE);
    report_set_color(view, PLAIN);
    if (target->next == NULL || target->reason == REASON_REDIRECT_CIRCLE)
        return;
    for (int i = 0; i < LONGEST_CHAIN && target->next != NULL; i++) {
        target = target->next;
        if (target == first) /* a redirect loop */
            return;
    }
    report_put(view, ", redirects to ");
    report_put_url(view, target);
}

/* ---- groups ------------------------------------------------------------------------ */

bool report_has_room(const struct view *view, size_t n)
{
    return view->is_all || view->column + n + 5 < view->width;
}

static size_t place_columns(const struct view *view, const struct reference *reference)
{
    size_t n = strlen(report_short_url(view, reference->page->url));

    return (n < LONGEST_URL ? n : LONGEST_URL) + 14;
}

/* Write the text of the link, without its fragment if the whole page is broken. */
static void put_link(struct view *view, const struct broken_link *link)
{
    const char *text = reference_text(&link->first);
    size_t n = link->target->fragment_at == 0 ? strcspn(text, "#") : strlen(text);

    report_put_text(view, n > 0 ? strndupa(text, n) : text);
    if (link->count > 1) {
        report_put(view, " (");
        report_put_amount(view, link->count, "link", "links");
        report_put(view, ")");
    }
}

/* Write the place of the first link on each page. */
static void put_pages(struct view *view, struct broken_link *const *links, size_t count,
                      bool is_more)
{
    size_t listed = 0;

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && links[i]->page == links[i - 1]->page)
            continue;
        if (listed > 0 && !report_has_room(view, place_columns(view, &links[i]->first))) {
            is_more = true;
            break;
        }
        report_put(view, "%s", listed++ > 0 ? ", " : " ");
        report_put_place(view, &links[i]->first);
    }
    report_put(view, "%s", is_more ? ", ..." : "");
}

static void put_places(struct view *view, const struct groups *groups,
                       const struct group *group)
{
    struct broken_link *const *links = groups->links + group->first;

    report_put(view, "    ");
    report_put_amount(view, group->link_count, "link:", "links:");
    if (!view->is_all)
        put_pages(view, links, group->count, group->hidden_count > 0);
    report_end_line(view);
    for (size_t i = 0; i < group->count && view->is_all; i++) {
        report_put(view, "        ");
        report_put_place(view, &links[i]->first);
        report_put(view, "  ");
        put_link(view, links[i]);
        report_end_line(view);
    }
    if (view->is_all && group->hidden_count > 0) {
        report_put(view, "        and ");
        report_put_amount(view, group->hidden_count, "more", "more");
        report_put(view, " on these pages");
        report_end_line(view);
    }
}

static void put_target_group(struct view *view, const struct groups *groups,
                             const struct group *group)
{
    report_set_color(view, BOLD);
    if (group->about->is_start)
        report_put_whole(view, group->about);
    else
        report_put_url(view, group->about);
    report_set_color(view, PLAIN);
    report_put(view, "  ");
    put_cause(view, group->about);
    if (group->count == 0 && group->link_count > 0) {
        report_put(view, " (");
        report_put_amount(view, group->link_count, "link", "links");
        report_put(view, ")");
    }
    report_end_line(view);
    if (group->count > 0)
        put_places(view, groups, group);
}

/*
 * Write the number of targets: as "targets" if fragments are missing, or as "URLs" if
 * whole pages are broken.
 */
static void put_count_of(struct view *view, size_t count, const struct target *first)
{
    if (first->fragment_at > 0)
        report_put_amount(view, count, "target", "targets");
    else
        report_put_amount(view, count, "URL", "URLs");
}

/* Write the names of the targets relative to their folder, each name once. */
static void put_names(struct view *view, struct broken_link *const *links, size_t count)
{
    size_t folder = folder_length(links[0]->target->url), listed = 0;

    for (size_t i = 0; i < count; i++) {
        const char *name = links[i]->target->url + folder;
        bool is_repeated = false;

        for (size_t j = 0; j < i && !is_repeated; j++)
            is_repeated = links[j]->target == links[i]->target;
        if (is_repeated)
            continue;
        if (listed > 0 && !report_has_room(view, strlen(name) + 2)) {
            report_put(view, ", ...");
            return;
        }
        report_put(view, "%s", listed++ > 0 ? ", " : "");
        report_put_text(view, name[0] != '\0' ? name : "./");
    }
}

static void put_folder(struct view *view, const struct target *target)
{
    size_t n = folder_length(target->url);

    if (report_short_url(view, target->url) >= target->url + n)
        report_put(view, "./");
    else
        report_put_short(view, target->url, n);
}

static void put_folder_group(struct view *view, const struct groups *groups,
                             const struct group *group)
{
    report_set_color(view, BOLD);
    put_folder(view, group->about);
    report_set_color(view, PLAIN);
    report_put(view, "  ");
    put_count_of(view, group->targets, group->about);
    report_put(view, ", ");
    put_cause(view, group->about);
    report_end_line(view);
    report_put(view, "    ");
    put_names(view, groups->links + group->first, group->count);
    report_end_line(view);
    put_places(view, groups, group);
}

/* Write "12:9 ../a.html (3 links)". */
static void put_item(struct view *view, const struct broken_link *link, bool with_cause)
{
    report_put(view, "    ");
    report_put_position(view, &link->first);
    report_put(view, "%*s", view->column < 12 ? (int)(12 - view->column) : 2, "");
    put_link(view, link);
    if (with_cause) {
        report_put(view, "  ");
        put_cause(view, link->target);
    }
    report_end_line(view);
}

/* Write "12:9 matrix/: 267 URLs: a.html, b.html, ...". */
static void put_cluster(struct view *view, struct broken_link *const *links, size_t count,
                        bool with_cause)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += links[i]->count;
    report_put(view, "    ");
    report_put_position(view, &links[0]->first);
    report_put(view, "%*s", view->column < 12 ? (int)(12 - view->column) : 2, "");
    put_folder(view, links[0]->target);
    report_put(view, "  ");
    if (sum > count) {
        report_put_amount(view, sum, "link", "links");
        report_put(view, " to ");
    }
    put_count_of(view, count, links[0]->target);
    if (with_cause) {
        report_put(view, ", ");
        put_cause(view, links[0]->target);
    }
    report_put(view, ": ");
    put_names(view, links, count);
    report_end_line(view);
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
 * Reorder links so that links to the same folder are adjacent. Folders are in the order
 * of their first links on the page. After LISTED_ITEMS folders, the remaining links are
 * not reordered.
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
            report_put(view, "    and ");
            report_put_amount(view, count - i, "more", "more");
            report_end_line(view);
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
    report_set_color(view, BOLD);
    report_put_url(view, group->about);
    report_set_color(view, PLAIN);
    report_put(view, "  ");
    report_put_amount(view, group->link_count, "link", "links");
    if (is_alike) {
        report_put(view, ", ");
        put_cause(view, links[0]->target);
    }
    report_end_line(view);
    put_items(view, links, group->count, !is_alike);
}

/* Write "page:12:9 text why". */
static void put_single(struct view *view, const struct broken_link *link)
{
    report_set_color(view, BOLD);
    report_put_place(view, &link->first);
    report_set_color(view, PLAIN);
    report_put(view, "  ");
    put_link(view, link);
    report_put(view, "  ");
    put_cause(view, link->target);
    report_end_line(view);
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

/* Return the maximum number of lines of a group. */
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
        links += groups->at[i].new_link_count;
    report_set_color(view, DIM);
    report_put(view, "and ");
    report_put_amount(view, links, "more link", "more links");
    report_put(view, "; -v shows all");
    report_set_color(view, PLAIN);
    report_end_line(view);
}

int report_put_groups(struct view *view, const struct targets *targets,
                      const struct references *references, const bool *verdicts,
                      const char *title)
{
    struct groups groups;
    int rc = groups_make(&groups, targets, references, verdicts, !view->is_all);

    if (rc < 0)
        return rc;
    if (title != NULL && groups.count > 0) {
        report_put(view, "\n%s:", title);
        report_end_line(view);
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
