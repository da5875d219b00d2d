/*
 * digest_order.c - make the rows of a digest, sort them, and format their parts.
 */
#include "digest_inside.h"

#include "../base/array.h"
#include "../base/hash.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/*
 * Compare rows only by their contents, so that their order does not depend on the order
 * in which answers arrived.
 */
static int compare_rows(const void *a, const void *b)
{
    const struct digest_row *one = a, *other = b;
    const struct digest_link *m = one->link, *n = other->link;
    int order = compare(m != NULL, n != NULL);

    if (order == 0 && m != NULL && m->page != n->page)
        order = strcmp(m->page->url, n->page->url);
    if (order == 0 && m != NULL)
        order = compare(m->line, n->line);
    if (order == 0 && m != NULL)
        order = compare(m->column, n->column);
    if (order == 0)
        order = strcmp(one->finding->target, other->finding->target);
    return order;
}

static int compare_totals(const void *a, const void *b)
{
    const struct digest_total *one = a, *other = b;
    int order = compare(one->verdict, other->verdict);

    if (order == 0)
        order = compare(other->count, one->count);
    if (order == 0)
        order = compare(one->reason, other->reason);
    return order != 0 ? order : compare((uint64_t)one->status, (uint64_t)other->status);
}

/*
 * Return the number of rows of a finding: one for each stored link, or one for a start
 * URL without links. A redirect that is not permanent has no row, nor has a finding in
 * the baseline without stored links.
 */
static size_t count_rows(const struct digest *digest, const struct finding *finding)
{
    size_t n = 0;

    if (finding->kind == FINDING_MOVED && finding->leads_to == NULL)
        return 0;
    for (uint32_t at = finding->links; at > 0; at = digest->links[at].before)
        n++;
    return n > 0 || finding->is_known ? n : 1;
}

static void add_row(struct digest *digest, const struct finding *finding,
                    const struct digest_link *link)
{
    digest->rows[digest->row_count++] = (struct digest_row){finding, link};
    digest->kind_counts[finding->kind]++;
}

static void add_rows(struct digest *digest, const struct finding *finding)
{
    size_t n = count_rows(digest, finding);

    if (n == 0)
        return;
    if (finding->links == 0)
        add_row(digest, finding, NULL);
    else
        digest->unstored_counts[finding->kind] += finding->link_count - n;
    for (uint32_t at = finding->links; at > 0; at = digest->links[at].before)
        add_row(digest, finding, &digest->links[at]);
}

int digest_arrange(struct digest *digest)
{
    size_t count = 0;

    for (size_t i = 0; i < digest->finding_count; i++) {
        struct finding *finding = &digest->findings[i];

        finding->leads_to = digest_end_of_chain(digest, finding->target,
                                                finding->verdict == VERDICT_REDIRECT);
        count += count_rows(digest, finding);
        digest->known_count += finding->is_known && finding->links == 0;
    }
    digest->rows = calloc(count + 1, sizeof *digest->rows);
    if (digest->rows == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < digest->finding_count; i++)
        add_rows(digest, &digest->findings[i]);
    if (count > 0)
        qsort(digest->rows, count, sizeof *digest->rows, compare_rows);
    if (digest->total_count > 0)
        qsort(digest->totals, digest->total_count, sizeof *digest->totals,
              compare_totals);
    speed_arrange(&digest->speed);
    return 0;
}

/* ---- selection --------------------------------------------------------------------- */

char *digest_text(const struct digest_row *row)
{
    const struct finding *finding = row->finding;
    const char *fragment = finding->fragment != NULL ? finding->fragment : "";
    const char *sign = finding->fragment != NULL ? "#" : "";
    size_t n = strlen(finding->target), m = strlen(sign) + strlen(fragment);
    char *text;

    if (row->link != NULL && row->link->text != NULL)
        return strdup(row->link->text);
    if (row->link != NULL && row->link->text_n <= n + m)
        n = n + m - row->link->text_n; /* the part of the URL before the link's text */
    else
        n = 0;
    return asprintf(&text, "%s%s%s", finding->target + n, sign, fragment) >= 0 ? text
                                                                               : NULL;
}

const char *digest_cause(const struct finding *finding)
{
    return finding->message != NULL ? finding->message : verdict_word(finding->verdict);
}

const char *digest_total_cause(const struct digest_total *total,
                               char to[DIGEST_CAUSE_BYTES])
{
    const char *name = status_name(total->status);

    if (total->status == 0)
        return reason_sentence(total->reason);
    snprintf(to, DIGEST_CAUSE_BYTES, "%d%s%s", total->status, name[0] != '\0' ? " " : "",
             name);
    return to;
}

const char *digest_rule(enum verdict verdict, enum reason reason,
                        char to[DIGEST_RULE_BYTES])
{
    const char *word = reason_word(reason);

    snprintf(to, DIGEST_RULE_BYTES, "%s%s%s", verdict_word(verdict),
             word != NULL ? "/" : "", word != NULL ? word : "");
    return to;
}

const char *digest_place(const struct digest_link *link, char to[DIGEST_PLACE_BYTES])
{
    if (link->line == 0)
        return "header";
    snprintf(to, DIGEST_PLACE_BYTES, "%u:%u", link->line, link->column);
    return to;
}

const char *digest_time(const struct digest *digest, int64_t after_ns,
                        char to[DIGEST_TIME_BYTES])
{
    time_t when = digest->begin + (time_t)(after_ns / 1000000000);
    struct tm utc;

    to[0] = '\0';
    if (gmtime_r(&when, &utc) != NULL)
        strftime(to, DIGEST_TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return to;
}

void digest_finish(struct digest *digest)
{
    /* Unused links own neither a page nor a text. */
    for (uint32_t at = digest->unused_links; at > 0; at = digest->links[at].before)
        digest->links[at].page = NULL;
    for (size_t i = 1; i <= digest->link_count; i++)
        if (digest->links[i].page != NULL) {
            digest_release_page(digest->links[i].page);
            free(digest->links[i].text);
        }
    for (size_t i = 0; i < digest->open_count; i++)
        digest_release_page(digest->open[i]);
    free(digest->open);
    free(digest->links);
    free(digest->slots);
    free(digest->rows);
    free(digest->totals);
    free(digest->findings);
    free(digest->words);
    table_finish(&digest->word_numbers);
    table_finish(&digest->messages);
    table_finish(&digest->redirects);
    arena_finish(&digest->arena);
    speed_finish(&digest->speed);
    *digest = (struct digest){0};
}
