/*
 * diff.c - see diff.h
 *
 *     broken since:
 *       http://h/gone  404 Not Found (was ok)
 *           on http://h/
 *     fixed:
 *       http://h/x#y  no element has this id
 *     no longer linked:
 *       http://h/old  404 Not Found
 *
 *           1 broken since, 1 fixed, 1 no longer linked, 12 still broken
 *
 * For each target, the report lists the pages that link to it in the later crawl or, if
 * it is no longer linked, in the earlier crawl.
 *
 * Each crawl is read twice: first for its verdicts, then for its links. Only links to
 * targets that have changed are stored.
 */
#include "diff.h"

#include "../base/array.h"
#include "../base/text.h"
#include "../url/url.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_IN_TEXT 10 /* maximum number of pages listed per target in the text */

/* The kinds of changes, in the order of the report. */
enum change { BROKEN, MENDED, UNLINKED, STILL, NO_CHANGE };

struct diff_verdict {
    struct diff_verdict *next; /* in order of arrival, after sort_verdicts() by key */
    const char *key;
    const char *target, *fragment, *message;
    enum verdict verdict;
    enum reason reason;
    int status;
    enum change change;
    const char **pages; /* pages that link to the target, if its verdict has changed */
    size_t page_count, page_capacity;
};

/* ---- input ------------------------------------------------------------------------- */

static const char *copy_text(struct diff_side *side, const char *text)
{
    return text != NULL ? arena_text(&side->arena, text, strlen(text)) : NULL;
}

/* Return "URL#fragment", which the caller frees, or NULL if memory runs out. */
static char *make_key(const char *target, const char *fragment)
{
    char *key;

    return asprintf(&key, "%s%s%s", target, fragment != NULL ? "#" : "",
                    fragment != NULL ? fragment : "") >= 0
               ? key
               : NULL;
}

static const char *copy_key(struct diff_side *side, const char *target,
                            const char *fragment)
{
    char *key = make_key(target, fragment);
    const char *kept = copy_text(side, key);

    free(key);
    return kept;
}

static void append_verdict(struct diff_side *side, struct diff_verdict *verdict)
{
    verdict->next = NULL;
    if (side->last != NULL)
        side->last->next = verdict;
    else
        side->first = verdict;
    side->last = verdict;
    side->count++;
}

static int add_verdict(void *arg, const struct record_verdict *record)
{
    struct diff_side *side = arg;
    struct diff_verdict *verdict = arena_alloc(&side->arena, sizeof *verdict);

    if (verdict == NULL)
        return -ENOMEM;
    *verdict =
        (struct diff_verdict){.key = copy_key(side, record->target, record->fragment),
                              .target = copy_text(side, record->target),
                              .fragment = copy_text(side, record->fragment),
                              .message = copy_text(side, record->message),
                              .verdict = record->verdict,
                              .reason = record->reason,
                              .status = record->status,
                              .change = NO_CHANGE};
    if (verdict->key == NULL || verdict->target == NULL ||
        (record->fragment != NULL && verdict->fragment == NULL) ||
        (record->message != NULL && verdict->message == NULL))
        return -ENOMEM;
    if (table_get(&side->verdicts, verdict->key) != NULL)
        return 0;
    if (table_add(&side->verdicts, verdict->key, verdict) < 0)
        return -ENOMEM;
    append_verdict(side, verdict);
    return 0;
}

/*
 * Record that the page links to the target. Usually the previous link is on the same
 * page, so both share a copy of the page's URL.
 */
static int add_page(struct diff_side *side, struct diff_verdict *verdict,
                    const char *page)
{
    if (side->page == NULL || strcmp(side->page, page) != 0)
        side->page = copy_text(side, page);
    if (side->page == NULL)
        return -ENOMEM;
    if (verdict->page_count > 0 && verdict->pages[verdict->page_count - 1] == side->page)
        return 0;
    if (verdict->page_count == verdict->page_capacity &&
        array_grow(&verdict->pages, &verdict->page_capacity, sizeof(const char *)) < 0)
        return -ENOMEM;
    verdict->pages[verdict->page_count++] = side->page;
    return 0;
}

static int add_link(void *arg, const struct record_link *record)
{
    struct diff_side *side = arg;
    char *key = make_key(record->target != NULL ? record->target : record->text,
                         record->fragment);
    struct diff_verdict *verdict = key != NULL ? table_get(&side->verdicts, key) : NULL;
    bool failed = key == NULL;

    free(key);
    if (failed)
        return -ENOMEM;
    if (verdict == NULL || verdict->change == NO_CHANGE)
        return 0;
    return add_page(side, verdict, record->page);
}

struct record_sink diff_sink(struct diff_side *side)
{
    return (struct record_sink){.verdict = add_verdict, .arg = side};
}

struct record_sink diff_links_sink(struct diff_side *side)
{
    return (struct record_sink){.link = add_link, .arg = side};
}

static void finish_side(struct diff_side *side)
{
    for (struct diff_verdict *verdict = side->first; verdict != NULL;
         verdict = verdict->next)
        free(verdict->pages);
    table_finish(&side->verdicts);
    arena_finish(&side->arena);
}

void diff_finish(struct diff *diff)
{
    finish_side(&diff->earlier);
    finish_side(&diff->later);
    *diff = (struct diff){.still = 0};
}

/* ---- comparing --------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(struct diff_verdict *const *)a)->key,
                  (*(struct diff_verdict *const *)b)->key);
}

/* Sort the verdicts of a crawl by key, for the comparison. Returns 0 or -ENOMEM. */
static int sort_verdicts(struct diff_side *side)
{
    size_t count = side->count, n = 0;
    struct diff_verdict **all = malloc((count + 1) * sizeof *all);

    if (all == NULL)
        return -ENOMEM;
    for (struct diff_verdict *verdict = side->first; verdict != NULL;
         verdict = verdict->next)
        all[n++] = verdict;
    qsort(all, count, sizeof *all, compare_keys);
    side->first = side->last = NULL;
    side->count = 0;
    for (size_t i = 0; i < count; i++)
        append_verdict(side, all[i]);
    free(all);
    return 0;
}

static const struct diff_verdict *find_other(const struct diff_side *side,
                                             const struct diff_verdict *verdict)
{
    return table_get(&side->verdicts, verdict->key);
}

static enum change change_of(const bool *fail_on, const struct diff_verdict *was,
                             const struct diff_verdict *now)
{
    bool was_bad = was != NULL && fail_on[was->verdict];
    bool is_bad = now != NULL && fail_on[now->verdict];

    if (was_bad)
        return is_bad ? STILL : now != NULL ? MENDED : UNLINKED;
    return is_bad ? BROKEN : NO_CHANGE;
}

int diff_compare(struct diff *diff, const bool fail_on[VERDICT_COUNT])
{
    size_t counts[NO_CHANGE + 1] = {0};

    if (sort_verdicts(&diff->earlier) < 0 || sort_verdicts(&diff->later) < 0)
        return -ENOMEM;
    for (struct diff_verdict *now = diff->later.first; now != NULL; now = now->next) {
        now->change = change_of(fail_on, find_other(&diff->earlier, now), now);
        counts[now->change]++;
    }
    for (struct diff_verdict *was = diff->earlier.first; was != NULL; was = was->next)
        if (find_other(&diff->later, was) == NULL) {
            was->change = change_of(fail_on, was, NULL);
            counts[was->change]++;
        }
    diff->broken = counts[BROKEN];
    diff->mended = counts[MENDED];
    diff->unlinked = counts[UNLINKED];
    diff->still = counts[STILL];
    return 0;
}

/* ---- writing ----------------------------------------------------------------------- */

static const char *const change_words[] = {
    [BROKEN] = "broken", [MENDED] = "mended", [UNLINKED] = "unlinked", [STILL] = "still"};

static void put_key(struct out *out, const struct diff_verdict *verdict)
{
    out_put_url(out, verdict->target);
    if (verdict->fragment == NULL)
        return;
    out_put(out, "#");
    out_put_url(out, verdict->fragment);
}

static void put_cause(struct out *out, const struct diff_verdict *verdict)
{
    if (verdict->message != NULL)
        out_put_url(out, verdict->message);
    else
        out_put(out, verdict_word(verdict->verdict));
}

static int compare_pages(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sort the pages and remove duplicates. */
static void sort_pages(struct diff_verdict *verdict)
{
    size_t n = 0;

    if (verdict->page_count == 0)
        return;
    qsort(verdict->pages, verdict->page_count, sizeof(const char *), compare_pages);
    for (size_t i = 1; i < verdict->page_count; i++)
        if (strcmp(verdict->pages[n], verdict->pages[i]) != 0)
            verdict->pages[++n] = verdict->pages[i];
    verdict->page_count = n + 1;
}

static void put_pages(struct out *out, const struct diff_verdict *verdict)
{
    size_t count = verdict->page_count;
    size_t listed = count > PAGES_IN_TEXT ? PAGES_IN_TEXT : count;

    for (size_t i = 0; i < listed; i++) {
        out_put(out, "    on ");
        out_put_url(out, verdict->pages[i]);
        out_put(out, "\n");
    }
    if (count > listed)
        out_print(out, "    and %zu more page%s\n", count - listed,
                  count - listed > 1 ? "s" : "");
}

/*
 * Write one change. `was` is the earlier verdict, and `now` the later one. One of them
 * may be NULL. `one` is `now`, or `was` if `now` is NULL.
 */
static void put_text(struct out *out, const struct diff_verdict *one,
                     const struct diff_verdict *was, const struct diff_verdict *now)
{
    out_put(out, "  ");
    put_key(out, one);
    out_put(out, "  ");
    put_cause(out, one->change == BROKEN ? now : was);
    if (one->change == BROKEN && was != NULL)
        out_print(out, " (was %s)", verdict_word(was->verdict));
    else if (one->change == BROKEN)
        out_put(out, " (is new)");
    out_put(out, "\n");
    put_pages(out, one);
}

/*
 * Return a JSON string, or null for NULL. If the text is not valid UTF-8, non-ASCII bytes
 * are omitted.
 */
static json_t *text_of(const char *text)
{
    json_t *string = text != NULL ? json_string(text) : json_null();
    char *ascii, *to;

    if (string != NULL || text == NULL)
        return string;
    ascii = to = strdup(text);
    if (ascii == NULL)
        return NULL;
    for (; *text != '\0'; text++)
        if ((*text & 0x80) == 0)
            *to++ = *text;
    *to = '\0';
    string = json_string(ascii);
    free(ascii);
    return string;
}

static void put_masked(void *to, const char *piece, size_t n)
{
    text_add(to, piece, n);
}

/* Return a JSON string, with passwords in URLs masked. */
static json_t *url_of(const char *url)
{
    struct text masked = {0};
    json_t *string;
    char *text;

    if (url == NULL)
        return json_null();
    url_put_masked(url, put_masked, &masked);
    text = text_take(&masked);
    string = text != NULL ? text_of(text) : NULL;
    free(text);
    return string;
}

static json_t *object_of(const struct diff_verdict *verdict)
{
    return json_pack("{s:s, s:s?, s:o, s:o}", "verdict", verdict_word(verdict->verdict),
                     "reason", reason_word(verdict->reason), "status",
                     verdict->status > 0 ? json_integer(verdict->status) : json_null(),
                     "message", url_of(verdict->message));
}

static json_t *pages_of(const struct diff_verdict *verdict)
{
    json_t *pages = json_array();

    for (size_t i = 0; pages != NULL && i < verdict->page_count; i++)
        if (json_array_append_new(pages, url_of(verdict->pages[i])) < 0) {
            json_decref(pages);
            pages = NULL;
        }
    return pages;
}

static int put_json(struct out *out, const struct diff_verdict *one,
                    const struct diff_verdict *was, const struct diff_verdict *now)
{
    json_t *line = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "type", "diff", "change",
        change_words[one->change], "target", url_of(one->target), "fragment",
        text_of(one->fragment), "was", was != NULL ? object_of(was) : json_null(), "now",
        now != NULL ? object_of(now) : json_null(), "pages", pages_of(one));
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

    json_decref(line);
    if (text == NULL)
        return -ENOMEM;
    out_put(out, text);
    out_put(out, "\n");
    free(text);
    return 0;
}

static int put_changes(struct diff *diff, enum change change, struct out *out,
                       bool is_jsonl)
{
    static const char *const heads[] = {[BROKEN] = "broken since:\n",
                                        [MENDED] = "fixed:\n",
                                        [UNLINKED] = "no longer linked:\n"};
    bool is_old = change == UNLINKED, is_first = true;
    struct diff_verdict *one = is_old ? diff->earlier.first : diff->later.first;
    int rc = 0;

    for (; one != NULL && rc == 0; one = one->next) {
        const struct diff_verdict *was = is_old ? one : find_other(&diff->earlier, one);
        const struct diff_verdict *now = is_old ? NULL : one;

        if (one->change != change)
            continue;
        sort_pages(one);
        if (is_jsonl) {
            rc = put_json(out, one, was, now);
            continue;
        }
        if (is_first)
            out_put(out, heads[change]);
        is_first = false;
        put_text(out, one, was, now);
    }
    return rc;
}

int diff_write(struct diff *diff, struct out *out, bool is_jsonl)
{
    enum change last = is_jsonl ? STILL : UNLINKED;

    for (int change = BROKEN; change <= (int)last; change++) {
        int rc = put_changes(diff, (enum change)change, out, is_jsonl);

        if (rc < 0)
            return rc;
    }
    if (!is_jsonl)
        out_print(out,
                  "%s      %zu broken since, %zu fixed, %zu no longer linked, %zu still "
                  "broken\n",
                  diff->broken + diff->mended + diff->unlinked > 0 ? "\n" : "",
                  diff->broken, diff->mended, diff->unlinked, diff->still);
    return out->rc;
}
