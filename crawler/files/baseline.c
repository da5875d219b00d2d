/*
 * baseline.c - see baseline.h
 *
 * A table contains three kinds of keys:
 *   - each verdict that is not "ok": "broken http://host/page#fragment". (The member
 *     `target` does not include the fragment, so the '#' always begins the fragment.)
 *   - the target of each such verdict: " http://..."
 *   - each link to such a target: "http://host/page http://host/target#fragment"
 *
 * Keys of different kinds cannot be equal, because URLs do not contain spaces. The report
 * is read twice, because a link may precede the verdict of its target.
 */
#include "baseline.h"

#include "../base/arena.h"
#include "json_lines.h"
#include "../base/table.h"
#include "../base/text.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct baseline {
    struct table findings;
    struct arena texts;
    bool has_links; /* the report has link records */
    bool failed;    /* memory ran out */
};

static void add_piece(void *text, const char *piece, size_t n)
{
    text_add(text, piece, n);
}

/*
 * Append a text in the form that it has in reports: with passwords masked, and with
 * U+FFFD instead of invalid UTF-8.
 */
static void add_as_reported(struct text *key, const char *s)
{
    struct text masked = {0}, valid = {0};

    url_put_masked(s, add_piece, &masked);
    text_add_utf8(&valid, masked.at, masked.n, "");
    for (size_t i = 0; i < valid.n; i++) {
        text_add(key, valid.at + i, 1);
        while (valid.n - i > 5 &&
               memcmp(valid.at + i, "\xef\xbf\xbd\xef\xbf\xbd", 6) == 0)
            i += 3;
    }
    key->failed = key->failed || masked.failed || valid.failed;
    text_finish(&masked);
    text_finish(&valid);
}

/*
 * Return a key for a target, which the caller frees. `before` is a verdict, the page that
 * contains a link, or "".
 */
static char *make_key(const char *before, const char *target, const char *fragment)
{
    struct text key = {0};

    add_as_reported(&key, before);
    text_add(&key, " ", 1);
    add_as_reported(&key, target);
    text_add(&key, "#", fragment != NULL);
    if (fragment != NULL)
        add_as_reported(&key, fragment);
    return text_take(&key);
}

static void add_key(struct baseline *baseline, const char *before, const char *target,
                    const char *fragment)
{
    char *key = make_key(before, target, fragment), *kept = NULL;

    if (key != NULL && table_get(&baseline->findings, key) != NULL) {
        free(key);
        return;
    }
    if (key != NULL)
        kept = arena_text(&baseline->texts, key, strlen(key));
    if (kept == NULL || table_add(&baseline->findings, kept, kept) < 0)
        baseline->failed = true;
    free(key);
}

static const char *check_head(const json_t *record, const char *type)
{
    if (type == NULL || strcmp(type, "start") != 0)
        return "not the first line of a report by coil-crawl";
    if (json_integer_value(json_object_get(record, "schema")) != 1)
        return "the schema of the report is not 1";
    return NULL;
}

static const char *add_verdict(struct baseline *baseline, const json_t *record)
{
    const char *target = json_lines_string(record, "target");
    const char *word = json_lines_string(record, "verdict");
    enum verdict verdict = word != NULL ? verdict_of_word(word) : VERDICT_OPEN;

    if (target == NULL)
        return "a verdict without a target";
    if (verdict == VERDICT_OPEN)
        return "unknown verdict";
    if (verdict != VERDICT_OK) {
        add_key(baseline, word, target, json_lines_string(record, "fragment"));
        add_key(baseline, "", target, json_lines_string(record, "fragment"));
    }
    return baseline->failed ? json_lines_no_memory : NULL;
}

static const char *read_record(const json_t *record, size_t line, void *arg)
{
    const char *type = json_lines_string(record, "type");

    if (line == 1)
        return check_head(record, type);
    if (type == NULL)
        return "a record without a type";
    return strcmp(type, "verdict") == 0 ? add_verdict(arg, record) : NULL;
}

/* Return 1 if the table has the key, 0 if not, or -ENOMEM. */
static int has_key(const struct baseline *baseline, const char *before,
                   const char *target, const char *fragment)
{
    char *key = make_key(before, target, fragment);
    int has = key == NULL ? -ENOMEM : table_get(&baseline->findings, key) != NULL;

    free(key);
    return has;
}

/*
 * Add the key of a link if the first pass has found a verdict on its target. If the link
 * is not a valid URL, its text is the target.
 */
static const char *add_link(const json_t *record, size_t line, void *arg)
{
    struct baseline *baseline = arg;
    const char *type = json_lines_string(record, "type");
    const char *page = json_lines_string(record, "page");
    const char *target = json_lines_string(record, "target");
    const char *fragment = json_lines_string(record, "fragment");

    (void)line;
    if (type == NULL || strcmp(type, "link") != 0)
        return NULL;
    if (target == NULL)
        target = json_lines_string(record, "text");
    if (page == NULL || target == NULL)
        return "a link without a page or a target";
    baseline->has_links = true;
    switch (has_key(baseline, "", target, fragment)) {
    case 0:
        return NULL;
    case 1:
        add_key(baseline, page, target, fragment);
        return baseline->failed ? json_lines_no_memory : NULL;
    default:
        return json_lines_no_memory;
    }
}

int baseline_read(const char *path, struct baseline **out, char **message)
{
    struct baseline *baseline = calloc(1, sizeof *baseline);
    int rc = -ENOMEM;

    *out = NULL;
    *message = NULL;
    if (baseline != NULL)
        rc = json_lines_read(path, read_record, baseline, message);
    if (rc == 0)
        rc = json_lines_read(path, add_link, baseline, message);
    if (rc < 0) {
        baseline_destroy(baseline);
        return rc;
    }
    *out = baseline;
    return 0;
}

void baseline_destroy(struct baseline *baseline)
{
    if (baseline == NULL)
        return;
    table_finish(&baseline->findings);
    arena_finish(&baseline->texts);
    free(baseline);
}

int baseline_has(const struct baseline *baseline, const char *target,
                 const char *fragment, enum verdict verdict)
{
    return has_key(baseline, verdict_word(verdict), target, fragment);
}

int baseline_has_link(const struct baseline *baseline, const char *page,
                      const char *target, const char *fragment)
{
    int is_finding = baseline->has_links ? has_key(baseline, "", target, fragment) : 0;

    return is_finding > 0   ? has_key(baseline, page, target, fragment)
           : is_finding < 0 ? is_finding
                            : 1;
}
