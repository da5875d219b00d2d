/*
 * diff.c - what broke between two crawls, and what was mended.
 *
 *     broken since:
 *       http://h/gone  404 Not Found (was ok)
 *     mended:
 *       http://h/x#y  no element has this id
 *     no longer linked:
 *       http://h/old  404 Not Found
 *
 *           1 broken since, 1 mended, 1 no longer linked, 12 still broken
 */
#include "diff.h"

#include "../base/text.h"
#include "../url/url.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diff_verdict {
    struct diff_verdict
        *next; /* in the order in which they became known, then of their keys */
    const char *key;
    const char *target, *fragment, *message;
    enum verdict verdict;
    enum reason reason;
    int status;
};

/* ---- taking them ------------------------------------------------------------------- */

static const char *keep(struct diff_side *side, const char *text)
{
    return text != NULL ? arena_text(&side->arena, text, strlen(text)) : NULL;
}

static const char *keep_key(struct diff_side *side, const char *target,
                            const char *fragment)
{
    char *key;
    const char *kept;

    if (asprintf(&key, "%s%s%s", target, fragment != NULL ? "#" : "",
                 fragment != NULL ? fragment : "") < 0)
        return NULL;
    kept = keep(side, key);
    free(key);
    return kept;
}

static void append(struct diff_side *side, struct diff_verdict *verdict)
{
    verdict->next = NULL;
    if (side->last != NULL)
        side->last->next = verdict;
    else
        side->first = verdict;
    side->last = verdict;
    side->count++;
}

static int take_verdict(void *arg, const struct record_verdict *record)
{
    struct diff_side *side = arg;
    struct diff_verdict *verdict = arena_alloc(&side->arena, sizeof *verdict);

    if (verdict == NULL)
        return -ENOMEM;
    *verdict =
        (struct diff_verdict){.key = keep_key(side, record->target, record->fragment),
                              .target = keep(side, record->target),
                              .fragment = keep(side, record->fragment),
                              .message = keep(side, record->message),
                              .verdict = record->verdict,
                              .reason = record->reason,
                              .status = record->status};
    if (verdict->key == NULL || verdict->target == NULL ||
        (record->fragment != NULL && verdict->fragment == NULL) ||
        (record->message != NULL && verdict->message == NULL))
        return -ENOMEM;
    if (table_get(&side->verdicts, verdict->key) != NULL)
        return 0;
    if (table_add(&side->verdicts, verdict->key, verdict) < 0)
        return -ENOMEM;
    append(side, verdict);
    return 0;
}

struct record_sink diff_sink(struct diff_side *side)
{
    return (struct record_sink){.verdict = take_verdict, .arg = side};
}

void diff_finish(struct diff *diff)
{
    table_finish(&diff->earlier.verdicts);
    table_finish(&diff->later.verdicts);
    arena_finish(&diff->earlier.arena);
    arena_finish(&diff->later.arena);
    *diff = (struct diff){.still = 0};
}

/* ---- comparing --------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(struct diff_verdict *const *)a)->key,
                  (*(struct diff_verdict *const *)b)->key);
}

/* Which page was answered first says nothing. 0 or -ENOMEM. */
static int sort(struct diff_side *side)
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
        append(side, all[i]);
    free(all);
    return 0;
}

enum change { BROKEN, MENDED, UNLINKED, STILL, CHANGE_COUNT };

static const char *const change_words[] = {
    [BROKEN] = "broken", [MENDED] = "mended", [UNLINKED] = "unlinked", [STILL] = "still"};

struct writing {
    struct diff *diff;
    const bool *fail_on;
    struct out *out;
    bool is_jsonl;
    enum change wanted;
    size_t count; /* of them, so far */
};

static const struct diff_verdict *other(const struct diff_side *side,
                                        const struct diff_verdict *verdict)
{
    return table_get(&side->verdicts, verdict->key);
}

static bool is_bad(const struct writing *writing, const struct diff_verdict *verdict)
{
    return verdict != NULL && writing->fail_on[verdict->verdict];
}

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

static void put_text(const struct writing *writing, const struct diff_verdict *was,
                     const struct diff_verdict *now)
{
    static const char *const heads[] = {[BROKEN] = "broken since:\n",
                                        [MENDED] = "mended:\n",
                                        [UNLINKED] = "no longer linked:\n"};
    struct out *out = writing->out;

    if (writing->count == 0)
        out_put(out, heads[writing->wanted]);
    out_put(out, "  ");
    put_key(out, now != NULL ? now : was);
    out_put(out, "  ");
    put_cause(out, writing->wanted == BROKEN ? now : was);
    if (writing->wanted == BROKEN && was != NULL)
        out_print(out, " (was %s)", verdict_word(was->verdict));
    else if (writing->wanted == BROKEN)
        out_put(out, " (is new)");
    out_put(out, "\n");
}

/* A text that is no UTF-8 is told without what is not. */
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

/* Of any text: passwords of URLs in it are masked. */
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

static int put_json(const struct writing *writing, const struct diff_verdict *was,
                    const struct diff_verdict *now)
{
    const struct diff_verdict *one = now != NULL ? now : was;
    json_t *line = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "type", "diff", "change",
                             change_words[writing->wanted], "target", url_of(one->target),
                             "fragment", text_of(one->fragment), "was",
                             was != NULL ? object_of(was) : json_null(), "now",
                             now != NULL ? object_of(now) : json_null());
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

    json_decref(line);
    if (text == NULL)
        return -ENOMEM;
    out_put(writing->out, text);
    out_put(writing->out, "\n");
    free(text);
    return 0;
}

static enum change change_of(const struct writing *writing,
                             const struct diff_verdict *was,
                             const struct diff_verdict *now)
{
    if (is_bad(writing, was))
        return is_bad(writing, now) ? STILL : now != NULL ? MENDED : UNLINKED;
    return is_bad(writing, now) ? BROKEN : CHANGE_COUNT;
}

static int put_change(struct writing *writing, const struct diff_verdict *was,
                      const struct diff_verdict *now)
{
    int rc = 0;

    if (change_of(writing, was, now) != writing->wanted)
        return 0;
    if (writing->is_jsonl)
        rc = put_json(writing, was, now);
    else if (writing->wanted != STILL)
        put_text(writing, was, now);
    writing->count++;
    return rc;
}

static int put_changes(struct writing *writing)
{
    const struct diff *diff = writing->diff;
    int rc = 0;

    if (writing->wanted == UNLINKED) {
        for (const struct diff_verdict *was = diff->earlier.first; was != NULL && rc == 0;
             was = was->next)
            rc = put_change(writing, was, other(&diff->later, was));
        return rc;
    }
    for (const struct diff_verdict *now = diff->later.first; now != NULL && rc == 0;
         now = now->next)
        rc = put_change(writing, other(&diff->earlier, now), now);
    return rc;
}

int diff_write(struct diff *diff, const bool fail_on[VERDICT_COUNT], struct out *out,
               bool is_jsonl)
{
    size_t *counts[] = {&diff->broken, &diff->mended, &diff->unlinked, &diff->still};

    if (sort(&diff->earlier) < 0 || sort(&diff->later) < 0)
        return -ENOMEM;
    for (int change = 0; change < CHANGE_COUNT; change++) {
        struct writing writing = {diff, fail_on, out, is_jsonl, (enum change)change, 0};
        int rc = put_changes(&writing);

        if (rc < 0)
            return rc;
        *counts[change] = writing.count;
    }
    if (!is_jsonl)
        out_print(out,
                  "%s      %zu broken since, %zu mended, %zu no longer linked, %zu still "
                  "broken\n",
                  diff->broken + diff->mended + diff->unlinked > 0 ? "\n" : "",
                  diff->broken, diff->mended, diff->unlinked, diff->still);
    return out->rc;
}
