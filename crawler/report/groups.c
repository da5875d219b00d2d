/*
 * groups.c - find a small set of pages and targets that covers all broken links.
 *
 * Pages and broken targets are the vertices of a graph, and links are its edges. The
 * result is a vertex cover found by a greedy algorithm: repeatedly take the vertex with
 * the most ungrouped links from a heap, so that the group that explains the most links
 * comes first. The number of ungrouped links of a vertex can only decrease. If a vertex
 * taken from the heap was inserted with an outdated number, it is inserted again with the
 * current one.
 *
 * A link whose page was not stored (reference.h) can only be in the group of its target.
 */
#include "groups.h"

#include "../base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Minimum number of targets in a folder, broken for the same reason, that form one group.
 */
#define FOLDER_TARGETS 3

struct finding {
    const struct target *target;
    uint64_t hidden;
    uint32_t first, count; /* range of the finding's links in `all` */
};

struct heap_entry {
    uint64_t weight;
    uint32_t vertex; /* number of a page, or number of pages + number of a finding */
};

/*
 * The graph of pages and findings. The struct has many members, because each array of the
 * graph needs its count.
 */
struct graph {
    const struct targets *targets;
    struct arena *copies;
    struct finding *findings;
    size_t finding_count;
    struct broken_link *all;
    size_t link_count, link_capacity;
    const struct target **pages;
    /* index of each page's first link in page_links, and the end of the last page */
    uint32_t *page_first;
    uint32_t *page_links; /* indexes into `all` */
    size_t page_count;
    /*
     * Maps the index of a target to 1 + the number of its finding, and later to 1 + its
     * number as a page.
     */
    uint32_t *numbers;
    struct heap_entry *heap;
    size_t heap_count;
};

bool is_broken_alike(const struct target *a, const struct target *b)
{
    if (a->verdict != b->verdict || a->reason != b->reason || a->status != b->status)
        return false;
    if (a->message == NULL || b->message == NULL)
        return a->message == b->message;
    return strcmp(a->message, b->message) == 0;
}

size_t folder_length(const char *url)
{
    const char *authority = strstr(url, "://");
    size_t from = authority != NULL ? (size_t)(authority + 3 - url) : 0;
    size_t end = from + strcspn(url + from, "?#");
    const char *slash = memrchr(url + from, '/', end - from);

    return slash != NULL ? (size_t)(slash - url) + 1 : from;
}

/* ---- broken links ------------------------------------------------------------------ */

/*
 * Return the target's page if it is broken for the same reason, otherwise the target
 * itself.
 */
static const struct target *whole_of(const struct target *target)
{
    const struct target *page = target->page;

    return page->verdict == target->verdict && page->reason == target->reason ? page
                                                                              : target;
}

static const struct target *copy_of(struct arena *copies, const struct target *target)
{
    struct target *copy = arena_alloc(copies, sizeof *copy);
    const char *url = arena_text(copies, target->url, target->url_n);

    if (copy == NULL || url == NULL)
        return NULL;
    *copy = *target;
    copy->url = url;
    return copy;
}

/* Return the finding of a target, creating it if necessary. Returns NULL if memory runs
   out. */
static struct finding *finding_of(struct graph *graph, const struct target *target)
{
    uint32_t *number = &graph->numbers[target->index];

    if (*number == 0) {
        const struct target *copy = copy_of(graph->copies, target);

        if (copy == NULL)
            return NULL;
        graph->findings[graph->finding_count] = (struct finding){.target = copy};
        *number = (uint32_t)++graph->finding_count;
    }
    return &graph->findings[*number - 1];
}

static int add_link(struct graph *graph, struct finding *finding,
                    const struct reference *reference)
{
    if (graph->link_count == graph->link_capacity &&
        array_grow(&graph->all, &graph->link_capacity, sizeof *graph->all) < 0)
        return -ENOMEM;
    graph->all[graph->link_count++] =
        (struct broken_link){.target = finding->target,
                             .first = *reference,
                             .page = reference->page->index,
                             .count = 1,
                             .finding = (uint32_t)(finding - graph->findings)};
    return 0;
}

static int add_target(struct graph *graph, const struct references *references,
                      const struct target *target)
{
    struct finding *finding = finding_of(graph, whole_of(target));
    const struct reference *reference = references_of(references, graph->targets, target);
    uint64_t kept = 0, count = targets_known(graph->targets, target)->reference_count;
    int rc = 0;

    if (finding == NULL)
        return -ENOMEM;
    for (; reference != NULL && rc == 0;
         reference = references_at(references, reference->before)) {
        if (reference_is_reported(reference, target))
            rc = add_link(graph, finding, reference);
        kept++;
    }
    finding->hidden += target->is_known ? 0 : count - kept;
    return rc;
}

static bool is_reported(const struct graph *graph, const struct target *target,
                        const bool *verdicts)
{
    return target->is_wanted && verdicts[target->verdict] &&
           (!target->is_known || targets_known(graph->targets, target)->has_new);
}

static int collect_links(struct graph *graph, const struct references *references,
                         const bool *verdicts)
{
    size_t count = graph->targets->count, reported = 0;
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        reported += is_reported(graph, targets_at(graph->targets, i), verdicts);
    graph->numbers = calloc(count + 1, sizeof *graph->numbers);
    graph->findings = calloc(reported + 1, sizeof *graph->findings);
    if (graph->numbers == NULL || graph->findings == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count && rc == 0; i++)
        if (is_reported(graph, targets_at(graph->targets, i), verdicts))
            rc = add_target(graph, references, targets_at(graph->targets, i));
    return rc;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_links(const void *a, const void *b)
{
    const struct broken_link *one = a, *other = b;
    const struct reference *m = &one->first, *n = &other->first;
    int order = compare(one->finding, other->finding);

    if (order == 0)
        order = compare(one->page, other->page);
    if (order == 0)
        order = compare(m->line, n->line);
    return order != 0 ? order : compare(m->column, n->column);
}

/*
 * Merge the links from each page to the same target, and set the range of each finding.
 */
static void merge_links(struct graph *graph)
{
    size_t n = 0;

    if (graph->link_count > 0)
        qsort(graph->all, graph->link_count, sizeof *graph->all, compare_links);
    for (size_t i = 0; i < graph->link_count; i++) {
        struct broken_link *link = &graph->all[i];
        if (n > 0 && graph->all[n - 1].finding == link->finding &&
            graph->all[n - 1].page == link->page)
            graph->all[n - 1].count++;
        else
            graph->all[n++] = *link;
    }
    graph->link_count = n;
    for (size_t i = 0; i < n; i++) {
        struct finding *finding = &graph->findings[graph->all[i].finding];
        if (finding->count++ == 0)
            finding->first = (uint32_t)i;
    }
}

/* Number the pages, and list the links of each page. */
static int list_pages(struct graph *graph)
{
    size_t n = graph->link_count;
    uint32_t sum = 0;

    memset(graph->numbers, 0, graph->targets->count * sizeof *graph->numbers);
    graph->pages = calloc(n + 1, sizeof *graph->pages);
    graph->page_first = calloc(n + 2, sizeof *graph->page_first);
    graph->page_links = calloc(n + 1, sizeof *graph->page_links);
    if (graph->pages == NULL || graph->page_first == NULL || graph->page_links == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct target *page = graph->all[i].first.page;
        uint32_t *number = &graph->numbers[graph->all[i].page];
        if (*number == 0) {
            graph->pages[graph->page_count] = page;
            *number = (uint32_t)++graph->page_count;
        }
        graph->page_first[*number]++; /* number of links, for now */
    }
    for (size_t i = 0; i <= graph->page_count; i++) {
        sum += graph->page_first[i];
        graph->page_first[i] = sum;
    }
    for (size_t i = n; i-- > 0;) {
        uint32_t number = graph->numbers[graph->all[i].page];
        graph->page_links[--graph->page_first[number]] = (uint32_t)i;
    }
    /*
     * Element n + 1 is now the index of the first link of page n. Move all elements down
     * by one.
     */
    memmove(graph->page_first, graph->page_first + 1,
            (graph->page_count + 1) * sizeof *graph->page_first);
    graph->page_first[graph->page_count] = (uint32_t)n;
    return 0;
}

/* ---- the cover --------------------------------------------------------------------- */

static uint64_t page_weight(const struct graph *graph, uint32_t page)
{
    uint64_t weight = 0;

    for (uint32_t i = graph->page_first[page]; i < graph->page_first[page + 1]; i++) {
        const struct broken_link *link = &graph->all[graph->page_links[i]];
        weight += !link->is_grouped;
    }
    return weight;
}

static uint64_t finding_weight(const struct graph *graph, uint32_t number)
{
    const struct finding *finding = &graph->findings[number];
    uint64_t weight = finding->hidden;

    for (uint32_t i = finding->first; i < finding->first + finding->count; i++)
        weight += !graph->all[i].is_grouped;
    return weight;
}

static uint64_t weight_of(const struct graph *graph, uint32_t vertex)
{
    if (vertex < graph->page_count)
        return page_weight(graph, vertex);
    return finding_weight(graph, vertex - (uint32_t)graph->page_count);
}

static bool is_before(const struct heap_entry *a, const struct heap_entry *b)
{
    return a->weight != b->weight ? a->weight > b->weight : a->vertex < b->vertex;
}

static void push_vertex(struct graph *graph, struct heap_entry entry)
{
    size_t i = graph->heap_count++;

    while (i > 0 && is_before(&entry, &graph->heap[(i - 1) / 2])) {
        graph->heap[i] = graph->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    graph->heap[i] = entry;
}

static struct heap_entry pop_vertex(struct graph *graph)
{
    struct heap_entry top = graph->heap[0], last = graph->heap[--graph->heap_count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < graph->heap_count) {
        if (child + 1 < graph->heap_count &&
            is_before(&graph->heap[child + 1], &graph->heap[child]))
            child++;
        if (!is_before(&graph->heap[child], &last))
            break;
        graph->heap[i] = graph->heap[child];
        i = child;
    }
    graph->heap[i] = last;
    return top;
}

static void take_link(struct groups *groups, struct group *group,
                      struct broken_link *link)
{
    groups->links[group->first + group->count++] = link;
    group->link_count += link->count;
    group->new_link_count += link->is_grouped ? 0 : link->count;
    link->is_grouped = true;
}

static void make_group(struct groups *groups, struct graph *graph, uint32_t vertex,
                       size_t *taken)
{
    struct group *group = &groups->at[groups->count++];

    *group = (struct group){.kind = GROUP_PAGE, .first = *taken};
    if (vertex < graph->page_count) {
        group->about = graph->pages[vertex];
        group->index = graph->all[graph->page_links[graph->page_first[vertex]]].page;
        for (uint32_t i = graph->page_first[vertex]; i < graph->page_first[vertex + 1];
             i++) {
            struct broken_link *link = &graph->all[graph->page_links[i]];
            if (!link->is_grouped)
                take_link(groups, group, link);
        }
        group->targets = group->count;
    } else {
        struct finding *finding = &graph->findings[vertex - graph->page_count];
        group->kind = GROUP_TARGET;
        group->about = finding->target;
        group->index = finding->target->index;
        group->targets = 1;
        group->hidden_count = group->link_count = group->new_link_count = finding->hidden;
        finding->hidden = 0;
        for (uint32_t i = finding->first; i < finding->first + finding->count; i++)
            take_link(groups, group, &graph->all[i]);
    }
    *taken += group->count;
}

/* True for a start URL to which no page links. Such a URL forms its own group. */
static bool is_alone(const struct finding *finding)
{
    return finding->count == 0 && finding->hidden == 0;
}

static int cover_links(struct groups *groups, struct graph *graph)
{
    size_t vertices = graph->page_count + graph->finding_count, taken = 0;

    graph->heap = malloc((vertices + 1) * sizeof *graph->heap);
    groups->at = calloc(vertices + 1, sizeof *groups->at);
    /* A link is in at most two groups: its page's and its target's. */
    groups->links = calloc(2 * graph->link_count + 1, sizeof(struct broken_link *));
    if (graph->heap == NULL || groups->at == NULL || groups->links == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < graph->finding_count; i++)
        if (is_alone(&graph->findings[i]))
            make_group(groups, graph, (uint32_t)(graph->page_count + i), &taken);
    for (uint32_t i = 0; i < vertices; i++)
        if (weight_of(graph, i) > 0)
            push_vertex(graph, (struct heap_entry){weight_of(graph, i), i});
    while (graph->heap_count > 0) {
        struct heap_entry top = pop_vertex(graph);
        uint64_t weight = weight_of(graph, top.vertex);

        if (weight == top.weight)
            make_group(groups, graph, top.vertex, &taken);
        else if (weight > 0)
            push_vertex(graph, (struct heap_entry){weight, top.vertex});
    }
    return 0;
}

/* ---- folders ----------------------------------------------------------------------- */

static bool is_same_folder(const struct group *a, const struct group *b)
{
    size_t n = folder_length(a->about->url);

    return n == folder_length(b->about->url) &&
           memcmp(a->about->url, b->about->url, n) == 0 &&
           is_broken_alike(a->about, b->about);
}

/*
 * Sort groups of kind GROUP_TARGET by folder, by reason, and in order of discovery. All
 * other groups come first.
 */
static int compare_folders(const void *a, const void *b)
{
    const struct group *one = a, *other = b;
    int order = compare(one->kind == GROUP_TARGET, other->kind == GROUP_TARGET);
    size_t n, m;

    if (order != 0 || one->kind != GROUP_TARGET)
        return order != 0 ? order : compare(one->first, other->first);
    n = folder_length(one->about->url);
    m = folder_length(other->about->url);
    order = memcmp(one->about->url, other->about->url, n < m ? n : m);
    if (order == 0)
        order = compare(n, m);
    if (order == 0)
        order = compare(one->about->verdict, other->about->verdict);
    if (order == 0)
        order = compare(one->about->reason, other->about->reason);
    if (order == 0)
        order = compare((uint64_t)one->about->status, (uint64_t)other->about->status);
    if (order == 0 && one->about->message != NULL && other->about->message != NULL)
        order = strcmp(one->about->message, other->about->message);
    return order != 0 ? order : compare(one->index, other->index);
}

/* Append a group that consists of `count` adjacent groups. */
static void join_groups(struct groups *groups, const struct group *from, size_t count,
                        struct broken_link **links, size_t *taken)
{
    struct group *group = &groups->at[groups->count++];
    struct group joined = {.kind = count > 1 ? GROUP_FOLDER : from->kind,
                           .about = from->about,
                           .index = from->index,
                           .first = *taken};

    for (size_t i = 0; i < count; i++) {
        memcpy(links + *taken, groups->links + from[i].first,
               from[i].count * sizeof *links);
        *taken += from[i].count;
        joined.count += from[i].count;
        joined.targets += from[i].targets;
        joined.link_count += from[i].link_count;
        joined.hidden_count += from[i].hidden_count;
        joined.new_link_count += from[i].new_link_count;
    }
    *group = joined;
}

static int join_folders(struct groups *groups, size_t link_count)
{
    struct broken_link **links = calloc(2 * link_count + 1, sizeof *links);
    struct group *all = groups->at;
    size_t count = groups->count, taken = 0, same;

    groups->at = calloc(count + 1, sizeof *groups->at);
    if (links == NULL || groups->at == NULL) {
        free(links);
        free(all);
        return -ENOMEM;
    }
    groups->count = 0;
    qsort(all, count, sizeof *all, compare_folders);
    for (size_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count && all[i].kind == GROUP_TARGET &&
                       all[i + same].kind == GROUP_TARGET &&
                       is_same_folder(&all[i], &all[i + same]);)
            same++;
        if (same < FOLDER_TARGETS)
            same = 1;
        join_groups(groups, &all[i], same, links, &taken);
    }
    free(groups->links);
    free(all);
    groups->links = links;
    return 0;
}

/* ---- whole ------------------------------------------------------------------------- */

static int compare_groups(const void *a, const void *b)
{
    const struct group *one = a, *other = b;
    int order = compare(one->link_count == 1, other->link_count == 1);

    if (order == 0)
        order = compare(other->link_count, one->link_count);
    return order != 0 ? order : compare(one->index, other->index);
}

/* Sort the links of a group by page and position. */
static int compare_places(const void *a, const void *b)
{
    const struct broken_link *one = *(struct broken_link *const *)a;
    const struct broken_link *other = *(struct broken_link *const *)b;
    int order = compare(one->page, other->page);

    if (order == 0)
        order = compare(one->first.line, other->first.line);
    return order != 0 ? order : compare(one->first.column, other->first.column);
}

int groups_make(struct groups *groups, const struct targets *targets,
                const struct references *references, const bool *verdicts,
                bool with_folders)
{
    struct graph graph = {.targets = targets, .copies = &groups->copies};
    int rc;

    *groups = (struct groups){0};
    rc = collect_links(&graph, references, verdicts);
    if (rc == 0) {
        merge_links(&graph);
        rc = list_pages(&graph);
    }
    if (rc == 0)
        rc = cover_links(groups, &graph);
    if (rc == 0 && with_folders)
        rc = join_folders(groups, graph.link_count);
    groups->all = graph.all;
    for (size_t i = 0; rc == 0 && i < groups->count; i++)
        qsort(groups->links + groups->at[i].first, groups->at[i].count,
              sizeof *groups->links, compare_places);
    if (rc == 0)
        qsort(groups->at, groups->count, sizeof *groups->at, compare_groups);
    else
        groups_finish(groups);
    free(graph.findings);
    free(graph.pages);
    free(graph.page_first);
    free(graph.page_links);
    free(graph.numbers);
    free(graph.heap);
    return rc;
}

void groups_finish(struct groups *groups)
{
    free(groups->at);
    free(groups->links);
    free(groups->all);
    arena_finish(&groups->copies);
    *groups = (struct groups){0};
}
