/*
 * baseline.c - the findings of an earlier report.
 *
 * Its verdict records, but for those of targets that were well, are keys in a table:
 * "broken http://host/page#fragment". A target has no '#' of its own.
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
    bool failed; /* memory ran out */
};

static void add_piece(void *text, const char *piece, size_t n)
{
    text_add(text, piece, n);
}

/* As reports write it: with passwords masked, and U+FFFD for what is not UTF-8; however many. */
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

static char *make_key(const char *target, const char *fragment, enum verdict verdict)
{
    const char *word = verdict_word(verdict);
    struct text key = {0};

    text_add(&key, word, strlen(word));
    text_add(&key, " ", 1);
    add_as_reported(&key, target);
    text_add(&key, "#", fragment != NULL);
    if (fragment != NULL)
        add_as_reported(&key, fragment);
    return text_take(&key);
}

static void add_finding(struct baseline *baseline, const char *target,
                        const char *fragment, enum verdict verdict)
{
    char *key = make_key(target, fragment, verdict), *kept = NULL;

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

static const char *take_start(const json_t *record, const char *type)
{
    if (type == NULL || strcmp(type, "start") != 0)
        return "not the beginning of a report of coil-crawl";
    if (json_integer_value(json_object_get(record, "schema")) != 1)
        return "a report of another schema than 1";
    return NULL;
}

static const char *take_verdict(struct baseline *baseline, const json_t *record)
{
    const char *target = json_lines_string(record, "target");
    const char *word = json_lines_string(record, "verdict");
    enum verdict verdict = word != NULL ? verdict_of_word(word) : VERDICT_OPEN;

    if (target == NULL)
        return "a verdict without a target";
    if (verdict == VERDICT_OPEN)
        return "no such verdict";
    if (verdict != VERDICT_OK)
        add_finding(baseline, target, json_lines_string(record, "fragment"), verdict);
    return baseline->failed ? json_lines_no_memory : NULL;
}

static const char *take_record(const json_t *record, size_t line, void *arg)
{
    const char *type = json_lines_string(record, "type");

    if (line == 1)
        return take_start(record, type);
    if (type == NULL)
        return "a record without a type";
    return strcmp(type, "verdict") == 0 ? take_verdict(arg, record) : NULL;
}

int baseline_read(const char *path, struct baseline **out, char **message)
{
    struct baseline *baseline = calloc(1, sizeof *baseline);
    int rc = -ENOMEM;

    *out = NULL;
    *message = NULL;
    if (baseline != NULL)
        rc = json_lines_read(path, take_record, baseline, message);
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
    char *key = make_key(target, fragment, verdict);
    int has = key == NULL ? -ENOMEM : table_get(&baseline->findings, key) != NULL;

    free(key);
    return has;
}
