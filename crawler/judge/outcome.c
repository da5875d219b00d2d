/* outcome.c - see outcome.h */
#include "outcome.h"

#include "../page/feed/sitemap.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * True if the page must be a valid sitemap. Of a sitemap on another site, only its
 * existence is checked.
 */
static bool must_be_sitemap(const struct target *page)
{
    return page->is_sitemap && page->kind != TARGET_EXTERNAL;
}

static bool is_unsearched_start(const struct target *page)
{
    bool is_answer = page->kind != TARGET_FILE;

    return page->is_start && !target_is_searched(page) &&
           (!is_answer || (page->status >= 200 && page->status < 300));
}

/*
 * True for a start URL that was searched as plain text. A file of unknown type counts as
 * text unless it is HTML.
 */
static bool is_text_start(const struct target *page, const char *type)
{
    return page->is_start && target_is_searched(page) && !target_has_ids(page) &&
           !page->is_sitemap &&
           (type != NULL ? strncasecmp(type, "text/plain", strlen("text/plain")) == 0
                         : page->kind == TARGET_FILE);
}

static void describe_limit(const struct target *page, size_t limit, char *message,
                           size_t room)
{
    snprintf(message, room, "searched only in part: it is longer than %zu bytes%s", limit,
             page->is_sitemap ? "" : " (--max-body-size)");
}

/* Return true if the page is malformed, and was not merely cut off at a limit. */
static bool has_fault(const struct outcome *outcome)
{
    return outcome->flaw != NULL && outcome->limit == 0 &&
           !sitemap_is_beyond_limit(outcome->flaw);
}

static void describe(const struct target *page, const struct outcome *outcome,
                     char *message, size_t room)
{
    const char *type = outcome->content_type;

    message[0] = '\0';
    if (outcome->problem < 0)
        snprintf(message, room, "not searched: %s", strerror(-outcome->problem));
    else if (outcome->limit > 0 && (target_is_searched(page) || must_be_sitemap(page)))
        describe_limit(page, outcome->limit, message, room);
    else if (must_be_sitemap(page) && has_fault(outcome))
        snprintf(message, room, "malformed: %s", outcome->flaw);
    else if (outcome->flaw != NULL)
        snprintf(message, room, "not searched to its end: %s", outcome->flaw);
    else if (must_be_sitemap(page) && !target_is_searched(page))
        snprintf(message, room, "not searched: it is not a sitemap");
    else if (must_be_sitemap(page) && target_has_ids(page))
        snprintf(message, room, "not a sitemap, but an HTML page");
    else if (is_unsearched_start(page) && type != NULL)
        snprintf(message, room, "not searched for links: its type is %.100s", type);
    else if (is_unsearched_start(page))
        snprintf(message, room, "not searched for links: its type is unknown");
    else if (is_text_start(page, type))
        snprintf(message, room, "searched for URLs only, as plain text");
}

/*
 * True if the verdict on the page is `error`. A start URL that is an XML file must be
 * well-formed, but need not be a sitemap.
 */
static bool is_page_error(const struct target *page, const struct outcome *outcome)
{
    if (must_be_sitemap(page))
        return outcome->problem < 0 || has_fault(outcome) || !target_is_searched(page) ||
               target_has_ids(page);
    return outcome->is_named_as_sitemap && target_is_searched(page) && has_fault(outcome);
}

struct judgement outcome_judge(const struct target *page, const struct outcome *outcome,
                               char *message, size_t room)
{
    describe(page, outcome, message, room);
    return is_page_error(page, outcome)
               ? (struct judgement){VERDICT_ERROR, REASON_UNREADABLE}
               : (struct judgement){VERDICT_OK, REASON_NONE};
}
