/*
 * github.c - see github.h (docs.github.com, "Workflow commands for GitHub Actions")
 *
 *     ::error file=docs/a.md,line=12,col=9,title=broken link::b.md: no such file
 *
 * If the link is on a web page instead of a file, the message contains the URL of the
 * page. Percent signs and newlines are encoded, and so are colons and commas in
 * properties.
 */
#include "github.h"

#include "../files/local.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct view {
    struct out *out;
    const struct targets *targets;
    const struct references *references;
    /* the working directory, which is removed from paths; NULL if it was deleted */
    char *folder;
};

/* ---- texts ------------------------------------------------------------------------- */

/* Write n bytes of text, with the characters in `encoded` percent-encoded. */
static void put_encoded(struct out *out, const char *text, size_t n, const char *encoded)
{
    const char *end = text + n;

    while (text < end) {
        const char *at = text;

        while (at < end && strchr(encoded, *at) == NULL)
            at++;
        out_put_plain(out, text, (size_t)(at - text));
        if (at < end)
            out_print(out, "%%%02X", (unsigned char)*at);
        text = at + 1;
    }
}

static void put_piece_of_property(void *out, const char *piece, size_t n)
{
    put_encoded(out, piece, n, "%\r\n:,");
}

static void put_piece_of_message(void *out, const char *piece, size_t n)
{
    put_encoded(out, piece, n, "%\r\n");
}

static void put_property(struct view *view, const char *text)
{
    url_put_masked(text, put_piece_of_property, view->out);
}

static void put_text(struct view *view, const char *text)
{
    url_put_masked(text, put_piece_of_message, view->out);
}

/* Write the path of a file relative to the working directory. */
static void put_path(struct view *view, const char *url)
{
    size_t n = view->folder != NULL ? strlen(view->folder) : 0;
    char *path;
    int rc = local_path(url, &path);

    if (rc == -ENOMEM)
        out_fail(view->out, rc);
    else if (rc < 0)
        put_property(view, url);
    else if (n > 0 && strncmp(path, view->folder, n) == 0 && path[n] == '/')
        put_property(view, path + n + 1);
    else
        put_property(view, path);
    free(path);
}

/* ---- annotations ------------------------------------------------------------------- */

/*
 * Write "title=broken link::b.md: no such file". `text` is the link as written on the
 * page.
 */
static void put_finding(struct view *view, const struct target *target, const char *text)
{
    char status[TARGET_CAUSE_BYTES];
    const char *cause = target_cause(target, status);

    out_print(view->out,
              "title=%s::", verdict_traits((enum verdict)target->verdict)->title);
    put_text(view, text);
    out_put(view->out, ": ");
    put_text(view, cause != NULL ? cause : verdict_word((enum verdict)target->verdict));
}

static void put_reference(struct view *view, const struct target *target,
                          const struct reference *reference)
{
    const struct target *page = reference->page;
    bool is_file = page->kind == TARGET_FILE;

    out_put(view->out, "::error ");
    if (is_file) {
        out_put(view->out, "file=");
        put_path(view, page->url);
        if (reference->column > 0)
            out_print(view->out, ",line=%u,col=%u", reference->line, reference->column);
        out_put(view->out, ",");
    }
    put_finding(view, target, reference_text(reference));
    if (!is_file) {
        out_put(view->out, " (on ");
        put_text(view, page->url);
        if (reference->column == 0)
            out_put(view->out, ":header");
        else
            out_print(view->out, ":%u:%u", reference->line, reference->column);
        out_put(view->out, ")");
    }
    out_put(view->out, "\n");
}

/*
 * Write an annotation without a place: for a start URL to which no page links, or with
 * the number of links whose places were not stored.
 */
static void put_without_place(struct view *view, const struct target *target,
                              size_t links)
{
    out_put(view->out, "::error ");
    put_finding(view, target, target->url);
    if (links > 0)
        out_print(view->out, " (%zu more %s)", links, links == 1 ? "link" : "links");
    out_put(view->out, "\n");
}

static size_t count_kept(const struct view *view, const struct target *target)
{
    const struct reference *reference =
        references_of(view->references, view->targets, target);
    size_t n = 0;

    for (; reference != NULL;
         reference = references_at(view->references, reference->before))
        n += reference_is_reported(reference, target);
    return n;
}

/* Write an annotation for each link to the target, in order of discovery. */
static void put_target(struct view *view, const struct target *target)
{
    const struct reference *reference =
        references_of(view->references, view->targets, target);
    size_t n = count_kept(view, target),
           count = targets_known(view->targets, target)->reference_count;
    uint32_t *kept = calloc(n + 1, sizeof *kept), at;

    if (kept == NULL) {
        out_fail(view->out, -ENOMEM);
        return;
    }
    at = targets_known(view->targets, target)->references;
    for (size_t i = n; i > 0; at = reference->before) {
        reference = references_at(view->references, at);
        if (reference_is_reported(reference, target))
            kept[--i] = at;
    }
    for (size_t i = 0; i < n; i++)
        put_reference(view, target, references_at(view->references, kept[i]));
    free(kept);
    if (!target->is_known && (n == 0 || count > n))
        put_without_place(view, target, count - n);
}

int report_github(struct out *out, const struct options *options,
                  const struct targets *targets, const struct references *references)
{
    struct view view = {out, targets, references, getcwd(NULL, 0)};

    if (view.folder == NULL && errno == ENOMEM)
        return -ENOMEM;
    for (size_t i = 0; i < targets->count; i++) {
        const struct target *target = targets_at(targets, i);

        if (target->is_wanted && options->fail_on[target->verdict])
            put_target(&view, target);
    }
    free(view.folder);
    return out->rc;
}
