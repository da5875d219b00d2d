/*
 * sarif.c - see sarif.h (OASIS, SARIF 2.1.0; docs.github.com, "SARIF support for code
 * scanning")
 *
 * A rule is a verdict with a reason. Its id, such as "broken-status", must never change.
 * The location of a result is the line and column of the link, or line 1 of the target if
 * no page links to it.
 *
 * Results in different runs are regarded as the same if their fingerprints are equal. A
 * fingerprint is computed from the page, the text of the link, its target, and a number
 * that distinguishes equal links on the same page. The fingerprint does not depend on the
 * line, or on the folder of the checkout.
 */
#include "sarif.h"

#include "escape.h"
#include "page_names.h"

#include <coil/run.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct view {
    struct out *out;
    const struct digest *digest;
    struct page_names names;
    uint64_t *prints;                       /* fingerprint of each row */
    int rules[VERDICT_COUNT][REASON_COUNT]; /* 1 + the index of each rule in use, or 0 */
    int rule_count;
    size_t results, left_out;
};

static bool is_reported(const struct digest_row *row)
{
    return row->finding->kind != FINDING_MOVED;
}

/* ---- strings ----------------------------------------------------------------------- */

/* Write `before`, then the string in quotes. */
static void put_string(struct view *view, const char *before, const char *text)
{
    out_print(view->out, "%s\"", before);
    escape_json(text, escape_to_out, view->out);
    out_put(view->out, "\"");
}

static void put_message(struct view *view, const char *before, const char *text)
{
    out_print(view->out, "%s{\"text\":\"", before);
    escape_sarif(text, escape_to_out, view->out);
    out_put(view->out, "\"}");
}

/* ---- rules ------------------------------------------------------------------------- */

/*
 * Return the id of a rule, such as "broken-status". With a slash instead of the hyphen,
 * the id would refer to a part of a rule "broken".
 */
static const char *id_of(enum verdict verdict, enum reason reason,
                         char to[DIGEST_RULE_BYTES])
{
    char *slash;

    digest_rule(verdict, reason, to);
    slash = strchr(to, '/');
    if (slash != NULL)
        *slash = '-';
    return to;
}

/* Convert "broken-status" to "BrokenStatus". */
static void make_name(const char *rule, char *to)
{
    bool is_first = true;

    for (; *rule != '\0'; rule++) {
        bool is_mark = *rule == '-';

        if (!is_mark)
            *to++ = is_first ? (char)toupper((unsigned char)*rule) : *rule;
        is_first = is_mark;
    }
    *to = '\0';
}

static void put_rule(struct view *view, enum verdict verdict, enum reason reason)
{
    const char *sentence = reason == REASON_STATUS ? "the answer has an error status"
                                                   : reason_sentence(reason);
    char rule[DIGEST_RULE_BYTES], name[DIGEST_RULE_BYTES], text[256];
    bool is_error = view->digest->options->fail_on[verdict];

    view->rules[verdict][reason] = ++view->rule_count;
    id_of(verdict, reason, rule);
    make_name(rule, name);
    snprintf(text, sizeof text, "%s%s%s.", verdict_traits(verdict)->rule,
             sentence[0] != '\0' ? ": " : "", sentence);
    out_put(view->out, view->rule_count > 1 ? ",\n" : "\n");
    put_string(view, "{\"id\":", rule);
    put_string(view, ",\"name\":", name);
    put_message(view, ",\"shortDescription\":", text);
    put_message(view, ",\"fullDescription\":", text);
    put_message(view, ",\"help\":",
                "Correct the link, or remove it. The manual of coil-crawl says what each "
                "verdict means.");
    out_print(view->out,
              ",\"defaultConfiguration\":{\"level\":\"%s\"},"
              "\"properties\":{\"tags\":[\"links\"],\"problem.severity\":\"%s\"}}",
              is_error ? "error" : "warning", is_error ? "error" : "warning");
}

static void put_rules(struct view *view)
{
    const struct digest *digest = view->digest;

    for (size_t i = 0; i < digest->row_count; i++) {
        const struct finding *finding = digest->rows[i].finding;

        if (is_reported(&digest->rows[i]) &&
            view->rules[finding->verdict][finding->reason] == 0)
            put_rule(view, finding->verdict, finding->reason);
    }
}

/* ---- fingerprints ------------------------------------------------------------------ */

/*
 * Hash a text and its NUL with FNV-1a. The hash function must never change, because
 * hashes in different runs are compared.
 */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    size_t n = strlen(text) + 1;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static const char *page_of(const struct digest_row *row)
{
    return row->link != NULL ? row->link->page->url : row->finding->target;
}

static uint64_t print_of(struct view *view, const struct digest_row *row, const char *uri,
                         const char *text)
{
    const struct finding *finding = row->finding;
    char *target = page_names_uri(&view->names, finding->target);
    char rule[DIGEST_RULE_BYTES];
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), uri);

    hash = hash_text(hash, text);
    if (target != NULL)
        hash = hash_text(hash, target);
    else
        out_fail(view->out, -ENOMEM);
    free(target);
    hash = hash_text(hash, finding->fragment != NULL ? finding->fragment : "");
    return hash_text(hash, id_of(finding->verdict, finding->reason, rule));
}

/*
 * Return the number of a row, from 1, among the rows of its page with the same
 * fingerprint.
 */
static unsigned number_of(const struct view *view, size_t row)
{
    const struct digest_row *rows = view->digest->rows;
    unsigned number = 1;

    for (size_t i = row; i-- > 0 && strcmp(page_of(&rows[i]), page_of(&rows[row])) == 0;)
        number += view->prints[i] == view->prints[row];
    return number;
}

/* ---- results ----------------------------------------------------------------------- */

static size_t count_characters(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

static void put_location(struct view *view, const struct digest_row *row, const char *uri,
                         const char *text)
{
    const struct digest_link *link = row->link;
    bool is_relative = strstr(uri, "://") == NULL;

    put_string(
        view,
        ",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":", uri);
    out_put(view->out, is_relative ? ",\"uriBaseId\":\"%SRCROOT%\"}" : "}");
    if (link != NULL && link->line > 0)
        out_print(view->out,
                  ",\"region\":{\"startLine\":%u,\"startColumn\":%u,\"endLine\":%u,"
                  "\"endColumn\":%zu}}}]",
                  link->line, link->column, link->line,
                  link->column + count_characters(text));
    else
        out_put(view->out, ",\"region\":{\"startLine\":1}}}]");
}

static void put_words(struct view *view, const struct finding *finding, const char *text)
{
    out_put(view->out, ",\"message\":{\"text\":\"");
    escape_sarif(text, escape_to_out, view->out);
    out_put(view->out, ": ");
    escape_sarif(digest_cause(finding), escape_to_out, view->out);
    if (finding->leads_to != NULL) {
        out_put(view->out, ", redirects to ");
        escape_sarif(finding->leads_to, escape_to_out, view->out);
    }
    out_put(view->out, "\"}");
}

static void put_properties(struct view *view, const struct finding *finding)
{
    put_string(view, ",\"properties\":{\"target\":", finding->target);
    if (finding->fragment != NULL)
        put_string(view, ",\"fragment\":", finding->fragment);
    if (finding->status > 0)
        out_print(view->out, ",\"status\":%d", finding->status);
    out_print(view->out, ",\"links\":%u}", finding->link_count);
}

static void put_result(struct view *view, size_t at, const char *uri, const char *text)
{
    const struct digest_row *row = &view->digest->rows[at];
    const struct finding *finding = row->finding;
    char rule[DIGEST_RULE_BYTES];

    view->prints[at] = print_of(view, row, uri, text);
    if (view->results == SARIF_RESULTS) {
        view->left_out++;
        return;
    }
    out_put(view->out, view->results++ > 0 ? ",\n" : "\n");
    put_string(view, "{\"ruleId\":", id_of(finding->verdict, finding->reason, rule));
    out_print(view->out, ",\"ruleIndex\":%d,\"level\":\"%s\"",
              view->rules[finding->verdict][finding->reason] - 1,
              finding->kind == FINDING_FAILS ? "error" : "warning");
    put_words(view, finding, text);
    put_location(view, row, uri, text);
    out_print(view->out,
              ",\"partialFingerprints\":{\"primaryLocationLineHash\":\"%016" PRIx64
              ":%u\"}",
              view->prints[at], number_of(view, at));
    put_properties(view, finding);
    out_put(view->out, "}");
}

static void put_results(struct view *view, enum finding_kind kind)
{
    const struct digest *digest = view->digest;

    for (size_t i = 0; i < digest->row_count && view->out->rc == 0; i++) {
        char *uri, *text;

        if (digest->rows[i].finding->kind != kind)
            continue;
        uri = page_names_uri(&view->names, page_of(&digest->rows[i]));
        text = digest_text(&digest->rows[i]);
        if (uri != NULL && text != NULL)
            put_result(view, i, uri, text);
        else
            out_fail(view->out, -ENOMEM);
        free(uri);
        free(text);
    }
}

/* ---- the run ----------------------------------------------------------------------- */

static void put_invocation(struct view *view)
{
    const struct digest *digest = view->digest;
    int status = digest->summary.exit_status;
    char begin[DIGEST_TIME_BYTES], end[DIGEST_TIME_BYTES];

    out_print(view->out,
              "\"invocations\":[{\"executionSuccessful\":%s,\"exitCode\":%d,"
              "\"startTimeUtc\":\"%s\",\"endTimeUtc\":\"%s\"",
              status == 0 || status == 2 ? "true" : "false", status,
              digest_time(digest, 0, begin),
              digest_time(digest, digest->summary.duration_ns, end));
    if (view->left_out + digest->unstored_counts[FINDING_FAILS] +
            digest->unstored_counts[FINDING_WARNS] >
        0)
        out_print(view->out,
                  ",\"toolExecutionNotifications\":[{\"level\":\"warning\",\"message\":"
                  "{\"text\":\"%zu more links are left out.\"}}]",
                  view->left_out + digest->unstored_counts[FINDING_FAILS] +
                      digest->unstored_counts[FINDING_WARNS]);
    out_put(view->out, "}]");
}

static void put_figures(struct view *view)
{
    const struct record_summary *summary = &view->digest->summary;

    out_print(view->out,
              ",\n\"properties\":{\"pages\":%zu,\"links\":%zu,\"targets\":%zu,"
              "\"brokenTargets\":%zu,\"brokenLinks\":%zu}",
              summary->pages, summary->links, summary->targets, summary->findings,
              summary->finding_links);
}

static void put_all(struct view *view)
{
    out_put(view->out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
                       "\"version\":\"2.1.0\",\"runs\":[{\n");
    out_print(view->out,
              "\"tool\":{\"driver\":{\"name\":\"coil-crawl\",\"version\":\"%s\","
              "\"semanticVersion\":\"%s\",\"rules\":[",
              coil_version(), coil_version());
    put_rules(view);
    out_put(view->out, "]}},\n\"columnKind\":\"unicodeCodePoints\",\n"
                       "\"originalUriBaseIds\":{\"%SRCROOT%\":{\"description\":"
                       "{\"text\":\"The working directory.\"}}},\n\"results\":[");
    put_results(view, FINDING_FAILS);
    put_results(view, FINDING_WARNS);
    out_put(view->out, "],\n");
    put_invocation(view);
    put_figures(view);
    out_put(view->out, "}]}\n");
}

int report_sarif(struct out *out, const struct digest *digest)
{
    struct view view = {.out = out, .digest = digest};
    int rc = page_names_init(&view.names);

    view.prints = calloc(digest->row_count + 1, sizeof *view.prints);
    if (rc == 0 && view.prints == NULL)
        rc = -ENOMEM;
    if (rc == 0)
        put_all(&view);
    free(view.prints);
    page_names_finish(&view.names);
    return rc < 0 ? rc : out->rc;
}
