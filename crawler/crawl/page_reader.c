/* page_reader.c - see page_reader.h */
#include "page_reader.h"

#include <string.h>
#include <strings.h>

static bool is_of_type(const char *content_type, const char *type)
{
    size_t n = strlen(type);

    return content_type != NULL && strncasecmp(content_type, type, n) == 0 &&
           strchr("; \t", content_type[n]) != NULL;
}

/* True for both names of the type of XML. (RFC 7303, 9.2) */
static bool is_xml(const char *content_type)
{
    return is_of_type(content_type, "application/xml") ||
           is_of_type(content_type, "text/xml");
}

static bool is_feed(const char *content_type)
{
    return is_of_type(content_type, "application/rss+xml") ||
           is_of_type(content_type, "application/atom+xml");
}

static bool is_html(const char *content_type)
{
    return is_of_type(content_type, "text/html") ||
           is_of_type(content_type, "application/xhtml+xml") || is_xml(content_type);
}

bool page_is_named_as_sitemap(const struct target *page, const char *content_type)
{
    return page->is_sitemap ||
           (page->is_start && (is_xml(content_type) || is_feed(content_type)));
}

/*
 * True for a start URL that is plain text or Markdown. Such a page is searched for URLs
 * or Markdown links.
 */
static bool is_text_of_start(const struct target *page, const char *content_type)
{
    return page->is_start && (is_of_type(content_type, "text/plain") ||
                              is_of_type(content_type, "text/markdown"));
}

/* True if a body of this content type is searched. On other sites, only HTML is searched,
   because only its ids are needed. */
static bool is_searched(const struct visit *visit, const char *content_type,
                        bool is_named)
{
    const struct options *options = visit->crawler->options;

    if (is_html(content_type))
        return true;
    if (visit->page->kind != TARGET_SITE)
        return false;
    return is_named || is_feed(content_type) ||
           is_text_of_start(visit->page, content_type) ||
           (!options->no_css && is_of_type(content_type, "text/css"));
}

static void expect_sitemap(struct visit *visit, const char *content_type, bool is_named)
{
    struct search *search = visit->pages->search;

    if (is_named || (!is_feed(content_type) && !visit->crawler->options->no_sitemaps))
        search_expect_sitemap(search, is_named,
                              is_html(content_type) ||
                                  (content_type == NULL && !is_named));
    else
        search_expect_feed(search);
}

static bool begin_page_search(const struct answer *answer, void *arg)
{
    struct visit *visit = arg;
    const char *content_type = answer->content_type;
    bool is_named = page_is_named_as_sitemap(visit->page, content_type);

    if (answer->status < 200 || answer->status >= 300 ||
        (!answer->may_be_sniffed && !is_searched(visit, content_type, is_named)))
        return false;
    search_begin(visit->pages->search, content_type);
    if (visit->page->kind == TARGET_SITE &&
        (is_named || is_xml(content_type) || is_feed(content_type) ||
         content_type == NULL))
        expect_sitemap(visit, content_type, is_named);
    if (content_type == NULL)
        search_expect_unknown(visit->pages->search, visit->page->is_start);
    if (text_checks_want(&visit->crawler->texts, visit->page))
        search_want_text(visit->pages->search);
    return true;
}

static int feed_page_search(const char *bytes, size_t n, void *arg)
{
    struct search *search = ((struct visit *)arg)->pages->search;
    int rc = search_feed(search, bytes, n);

    return rc == 0 && search_is_ignored(search) ? 1 : rc;
}

struct body_reader page_reader(struct visit *visit)
{
    return (struct body_reader){begin_page_search, feed_page_search, visit};
}
