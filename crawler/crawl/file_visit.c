/*
 * file_visit.c - check a local file.
 *
 * A file is searched for links if the user named it, or a folder that contains it.
 * Any other linked file is only read, to check that it exists and is readable. If a link
 * to such a file has a fragment, the file is searched for ids.
 */
#include "file_visit.h"

#include "../fetch/retry.h"
#include "../judge/outcome.h"
#include "../judge/verdicts.h"
#include "../page/feed/sitemap.h"
#include "enqueue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- visiting ---------------------------------------------------------------------- */

struct visiting {
    struct page_search *pages;
    struct target *page;
    struct local_file file;
    struct page_findings found;
    int failure;  /* 0, or a negative errno if the file could not be read */
    size_t limit; /* 0, or the size at which the search of a larger file was cut off */
    char message[256];
};

static int feed_search(const char *bytes, size_t n, void *search)
{
    return search_feed(search, bytes, n);
}

/* Finish the search of a file that was read completely or up to the limit. */
static int end_search(struct visiting *visiting)
{
    struct crawler *crawler = visiting->pages->crawler;
    char *base = visiting->file.kind == LOCAL_PIPE
                     ? local_url("./")
                     : local_base(&crawler->local, visiting->file.url);
    int rc = -ENOMEM;

    if (base != NULL)
        rc = page_search_end(visiting->pages, visiting->page,
                             &(struct page_source){.base = base,
                                                   .has_body = true,
                                                   .is_cut = visiting->limit > 0},
                             &visiting->found);
    free(base);
    return rc;
}

static bool is_of_the_crawl(int rc)
{
    return rc == -ECANCELED || rc == -ENOMEM;
}

/*
 * Read the file. Only errors that must end the crawl are returned. Any other error is
 * stored in visiting->failure and determines the file's verdict.
 */
static int read_file(struct visiting *visiting, size_t limit,
                     int (*take)(const char *bytes, size_t n, void *arg))
{
    int rc = local_read(&visiting->file, limit, take, visiting->pages->search);

    if (is_of_the_crawl(rc))
        return rc;
    visiting->failure = rc < 0 ? rc : 0;
    return 0;
}

/* True for an XML file that the user named. */
static bool is_xml_start(const struct visiting *visiting)
{
    return visiting->page->is_start && visiting->file.content_type != NULL &&
           strcmp(visiting->file.content_type, "application/xml") == 0;
}

/*
 * True if the file's name has no suffix, as in "README" or the name of a pipe, so that
 * the content may be plain text. False for "notes.rst".
 */
static bool is_text_by_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    return name[0] != '\0' && strchr(name + 1, '.') == NULL;
}

static int search_file(struct visiting *visiting)
{
    const struct local_file *file = &visiting->file;
    struct search *search = visiting->pages->search;
    size_t limit = visiting->pages->crawler->options->max_body_bytes;
    int rc;

    search_begin(search, file->content_type);
    if (visiting->page->is_sitemap || is_xml_start(visiting)) {
        search_expect_sitemap(search, true, local_is_page(file->content_type));
        limit = limit < SITEMAP_BYTES ? SITEMAP_BYTES : limit;
    } else if (file->content_type == NULL) {
        search_expect_unknown(search, is_text_by_name(file->path));
    }
    if (text_checks_want(&visiting->pages->crawler->texts, visiting->page))
        search_want_text(search);
    rc = read_file(visiting, limit, feed_search);
    if (visiting->failure == -EFBIG) {
        visiting->failure = 0;
        visiting->limit = limit;
    }
    return rc == 0 && visiting->failure == 0 ? end_search(visiting) : rc;
}

static bool is_to_be_searched(const struct visiting *visiting)
{
    const struct target *page = visiting->page;
    const char *content_type = visiting->file.content_type;

    if (visiting->file.kind == LOCAL_PIPE)
        return page->is_start;
    if (visiting->file.kind != LOCAL_FILE)
        return false;
    if (page->is_sitemap || is_xml_start(visiting))
        return true;
    if (page->is_start && (content_type == NULL || local_is_text(content_type)))
        return true;
    if (local_is_sheet(content_type))
        return page->is_start && !visiting->pages->crawler->options->no_css;
    return local_is_page(content_type) && (page->is_start || page->wants_body);
}

static int report_page(const struct visiting *visiting)
{
    struct crawler *crawler = visiting->pages->crawler;
    const struct target *page = visiting->page;
    struct record_page record = {.url = page->url,
                                 .content_type = visiting->file.content_type,
                                 .size = visiting->file.size,
                                 .depth = page->depth,
                                 .tries = page->tries,
                                 .links = visiting->found.links,
                                 .searched = target_is_searched(page)};

    crawler->verdicts.summary.pages += target_is_searched(page);
    crawler->verdicts.summary.bytes += visiting->file.size;
    crawler->result.fetched_count++;
    return records_page(&crawler->verdicts.sinks, &record);
}

static struct judgement judge_file(struct visiting *visiting)
{
    switch (visiting->failure) {
    case 0:
        return outcome_judge(
            visiting->page,
            &(struct outcome){.content_type = visiting->file.content_type,
                              .problem = visiting->found.problem,
                              .flaw = target_is_searched(visiting->page)
                                          ? search_problem(visiting->pages->search)
                                          : NULL,
                              .limit = visiting->limit,
                              .is_named_as_sitemap = is_xml_start(visiting)},
            visiting->message, sizeof visiting->message);
    case -ENOENT:
    case -ENOTDIR:
        return (struct judgement){VERDICT_BROKEN, REASON_NO_SUCH_FILE};
    default:
        return (struct judgement){VERDICT_ERROR, REASON_UNREADABLE};
    }
}

static int settle_file(struct visiting *visiting, bool had_ids)
{
    struct crawler *crawler = visiting->pages->crawler;
    struct target *page = visiting->page;
    struct judgement judgement;

    if (page->refetch == REFETCH_IDS) {
        page->refetch = REFETCH_NONE;
        return verdicts_recheck(&crawler->verdicts, page);
    }
    if (page->wants_body && !had_ids && !target_is_searched(page) &&
        visiting->failure == 0) {
        page->refetch = REFETCH_IDS; /* a link to an id was found in the meantime */
        frontier_add_again(&crawler->frontier, page);
    }
    judgement = judge_file(visiting);
    if (judgement.verdict == VERDICT_OK)
        text_checks_refetch(&crawler->texts, page);
    return verdicts_settle(&crawler->verdicts, page, judgement,
                           visiting->failure < 0 && visiting->message[0] == '\0'
                               ? strerror(-visiting->failure)
                               : visiting->message);
}

static int read_or_search(struct visiting *visiting)
{
    const struct target *page = visiting->page;

    if (is_to_be_searched(visiting))
        return search_file(visiting);
    if (visiting->file.kind == LOCAL_FILE && page->refetch != REFETCH_IDS)
        return read_file(visiting, 0, NULL);
    return 0;
}

static bool is_worth_a_retry(const struct visiting *visiting, int64_t *pause_ns)
{
    const struct crawler *crawler = visiting->pages->crawler;
    struct answer answer = {.rc = visiting->failure};
    struct retry retry = retry_after(&answer, visiting->page->tries, 0);

    *pause_ns = retry.pause_ns;
    return visiting->failure < 0 && retry.again &&
           visiting->page->tries < crawler->options->max_tries;
}

static bool lacks_index(const struct crawler *crawler, const struct local_file *file)
{
    return file->kind == LOCAL_FOLDER && !local_allows_folders(&crawler->local);
}

static int fail_without_index(struct visiting *visiting)
{
    snprintf(visiting->message, sizeof visiting->message,
             "the folder has no index file: --index-files");
    return -ENOENT;
}

int file_visit(struct page_search *pages, struct target *page, int64_t *pause_ns)
{
    struct visiting visiting = {.pages = pages, .page = page};
    bool had_ids = page->wants_body;
    int rc = local_find(&pages->crawler->local, page->url, &visiting.file);

    if (rc == 0 && lacks_index(pages->crawler, &visiting.file))
        rc = fail_without_index(&visiting);
    page->tries += page->tries < UINT8_MAX;
    if (rc == 0)
        rc = read_or_search(&visiting);
    else if (!is_of_the_crawl(rc))
        visiting.failure = rc;
    if (retry_is_lack(visiting.failure))
        rc = visiting.failure;
    else if (visiting.failure < 0)
        rc = is_worth_a_retry(&visiting, pause_ns);
    if (rc == 0)
        target_set_state(page, TARGET_DONE);
    if (rc == 0 && page->is_start && page->refetch != REFETCH_IDS &&
        visiting.failure == 0)
        rc = report_page(&visiting);
    if (rc == 0)
        rc = settle_file(&visiting, had_ids);
    search_cancel(pages->search);
    local_file_finish(&visiting.file);
    return rc;
}
