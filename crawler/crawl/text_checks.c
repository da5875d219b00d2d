/* text_checks.c - see text_checks.h */
#include "text_checks.h"

#include "../base/array.h"
#include "../page/page_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Limits that protect against hostile sites. Only the first CHECKS_MAX links to texts of
 * a page are checked. Once KEPT_BYTES_MAX bytes of text are stored, further texts are
 * searched but not stored.
 */
#define CHECKS_MAX 256 /* per page */
#define KEPT_BYTES_MAX ((size_t)64 << 20)

struct text_check {
    const struct target *from;
    const char *reference, *directive; /* interned */
    uint32_t line, column;
};

struct text_page {
    struct target *page;
    struct text_check *checks;
    size_t count, capacity;
    char *text;         /* text of the page; NULL if not received or not stored */
    bool was_asked_for; /* the page's text was received, or requested again */
};

const char *text_checks_directive(const char *reference)
{
    const char *sign = strchr(reference, '#');
    const char *directive = sign != NULL ? strstr(sign, ":~:") : NULL;

    return directive != NULL && strstr(directive, "text=") != NULL ? directive + 3 : NULL;
}

/*
 * True if links to texts of the page are checked. On other sites, this requires
 * --fragments=all.
 */
static bool are_checked(const struct text_checks *checks, const struct target *page)
{
    const struct options *options = checks->enqueuer->options;

    if (checks->is_off || options->fragments == FRAGMENTS_NONE)
        return false;
    return page->kind == TARGET_SITE || page->kind == TARGET_FILE ||
           (page->kind == TARGET_EXTERNAL && options->fragments == FRAGMENTS_ALL);
}

static struct text_page *find_page(const struct text_checks *checks,
                                   const struct target *page)
{
    return checks->count > 0 ? table_get(&checks->pages, page->url) : NULL;
}

/*
 * Return the entry of a page, creating it if necessary. Returns NULL if memory runs out.
 */
static struct text_page *get_page(struct text_checks *checks, struct target *page)
{
    struct text_page *known =
        checks->count > 0 ? table_get(&checks->pages, page->url) : NULL;

    if (known != NULL)
        return known;
    if (checks->count == checks->capacity &&
        array_grow(&checks->all, &checks->capacity, sizeof *checks->all) < 0)
        return NULL;
    known = calloc(1, sizeof *known);
    if (known == NULL)
        return NULL;
    known->page = page;
    checks->all[checks->count++] = known;
    return table_add(&checks->pages, page->url, known) == 0 ? known : NULL;
}

/* ---- one text ---------------------------------------------------------------------- */

/* Return the page's URL with the directive, such as "http://h/p#:~:text=...", in the form
   that browsers write. *fragment_at is the offset after the '#'. */
static char *url_of(const struct target *page, const char *directive, size_t *fragment_at)
{
    struct text url = {0};

    text_add(&url, page->url, strlen(page->url));
    text_add(&url, "#", 1);
    *fragment_at = url.n;
    text_add(&url, ":~:", 3);
    text_add_encoded(&url, directive, strlen(directive), PERCENT_FRAGMENT);
    return text_take(&url);
}

static int report_missing(struct text_checks *checks, const struct target *page,
                          const struct text_check *check)
{
    /*
     * A baseline contains links without their text directives. So the link is treated as
     * known, and only the target with the missing text can be new.
     */
    struct reference_place place = {.page = check->from,
                                    .text = check->reference,
                                    .line = check->line,
                                    .column = check->column,
                                    .is_known = true};
    size_t fragment_at;
    char *url = url_of(page, check->directive, &fragment_at);
    struct target *target;
    bool is_new;
    int rc;

    if (url == NULL)
        return -ENOMEM;
    target = targets_get(checks->enqueuer->targets, url, fragment_at, &is_new);
    free(url);
    if (target == NULL)
        return -ENOMEM;
    target->status = page->status;
    rc = references_add(&checks->enqueuer->verdicts->references,
                        checks->enqueuer->targets, target, &place);
    if (rc == 0)
        rc = verdicts_want(checks->enqueuer->verdicts, target);
    if (rc == 0 && is_new)
        rc = enqueue_text(checks->enqueuer, target);
    return rc;
}

static int search_text(struct text_checks *checks, const struct text_page *page,
                       const struct text_check *check)
{
    int rc = page_text_has(page->text, check->directive);

    return rc != 0 ? (rc < 0 ? rc : 0) : report_missing(checks, page->page, check);
}

/* ---- links ------------------------------------------------------------------------- */

static struct target *end_of_chain(struct target *page)
{
    for (unsigned steps = 0; page->next != NULL && steps < UINT8_MAX; steps++)
        page = page->next;
    return page;
}

/*
 * If the page was searched, but its text was not stored, enqueue the page again, at most
 * once.
 */
static void refetch_for_text(struct text_checks *checks, struct text_page *page)
{
    struct target *target = page->page;

    if (page->was_asked_for || page->text != NULL || target->content != CONTENT_IDS ||
        target->refetch == REFETCH_IDS || target->verdict != VERDICT_OK)
        return;
    page->was_asked_for = true;
    target->refetch = REFETCH_IDS;
    frontier_add_again(checks->enqueuer->frontier, target);
}

static int add_check(struct text_checks *checks, struct text_page *page,
                     const struct text_check *check)
{
    if (page->count >= CHECKS_MAX)
        return 0;
    if (page->count == page->capacity &&
        array_grow(&page->checks, &page->capacity, sizeof *page->checks) < 0)
        return -ENOMEM;
    page->checks[page->count++] = *check;
    return page->text != NULL ? search_text(checks, page, check) : 0;
}

int text_checks_add(struct text_checks *checks, const struct target *from,
                    const struct link *link, struct target *page, const char *directive)
{
    struct target *end = end_of_chain(page);
    struct text_check check = {.from = from,
                               .reference = link->reference,
                               .line = link->place.line == 0 ? 1 : link->place.line,
                               .column = link->place.column};
    struct text_page *wanted;
    int rc;

    if (!are_checked(checks, end))
        return 0;
    check.reference = targets_intern(checks->enqueuer->targets, link->reference,
                                     strlen(link->reference));
    check.directive =
        targets_intern(checks->enqueuer->targets, directive, strlen(directive));
    wanted = get_page(checks, end);
    if (check.reference == NULL || check.directive == NULL || wanted == NULL)
        return -ENOMEM;
    rc = add_check(checks, wanted, &check);
    if (rc == 0 && end->kind != TARGET_SITE)
        enqueue_want_ids(checks->enqueuer, end);
    if (rc == 0)
        refetch_for_text(checks, wanted);
    return rc;
}

/* ---- pages ------------------------------------------------------------------------- */

bool text_checks_want(const struct text_checks *checks, const struct target *page)
{
    const struct text_page *wanted = find_page(checks, page);

    return wanted != NULL && wanted->text == NULL;
}

int text_checks_take(struct text_checks *checks, const struct target *page, char *text)
{
    struct text_page *wanted = text != NULL ? find_page(checks, page) : NULL;
    size_t n = text != NULL ? strlen(text) : 0;
    int rc = 0;

    if (wanted == NULL || wanted->text != NULL) {
        free(text);
        return 0;
    }
    wanted->text = text;
    wanted->was_asked_for = true;
    for (size_t i = 0; i < wanted->count && rc == 0; i++)
        rc = search_text(checks, wanted, &wanted->checks[i]);
    checks->kept_bytes += n;
    if (checks->kept_bytes > KEPT_BYTES_MAX) {
        checks->kept_bytes -= n;
        free(text);
        wanted->text = NULL;
    }
    return rc;
}

void text_checks_refetch(struct text_checks *checks, struct target *page)
{
    struct text_page *wanted = find_page(checks, page);

    if (wanted == NULL || wanted->was_asked_for || page->refetch == REFETCH_IDS ||
        page->content != CONTENT_IDS)
        return;
    wanted->was_asked_for = true;
    page->refetch = REFETCH_IDS;
    frontier_add_again(checks->enqueuer->frontier, page);
}

int text_checks_redirect(struct text_checks *checks, struct target *page)
{
    struct text_page *wanted = find_page(checks, page), *next;
    int rc = 0;

    if (wanted == NULL || wanted->count == 0 || page->next == NULL)
        return 0;
    if (!are_checked(checks, end_of_chain(page)))
        return 0;
    next = get_page(checks, end_of_chain(page));
    if (next == NULL)
        return -ENOMEM;
    if (next == wanted)
        return 0;
    for (size_t i = 0; i < wanted->count && rc == 0; i++)
        rc = add_check(checks, next, &wanted->checks[i]);
    wanted->count = 0;
    if (rc == 0)
        refetch_for_text(checks, next);
    return rc;
}

void text_checks_finish(struct text_checks *checks)
{
    for (size_t i = 0; i < checks->count; i++) {
        free(checks->all[i]->checks);
        free(checks->all[i]->text);
        free(checks->all[i]);
    }
    free(checks->all);
    table_finish(&checks->pages);
    *checks = (struct text_checks){.count = 0};
}
