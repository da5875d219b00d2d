/*
 * record.h - records, which a running crawl passes to its reports.
 *
 * docs/design/checker.md, "JSONL, schema 1", specifies when each kind of record is
 * passed.
 */
#ifndef CRAWLER_RECORD_H
#define CRAWLER_RECORD_H

#include "verdict.h"

#include <stddef.h>
#include <stdint.h>

/* Strings are valid only during the call. NULL becomes null in JSONL. */
struct record_page {
    const char *url, *content_type, *encoding;
    int status; /* 0 if the server did not answer, or if the page is a file */
    int64_t size;
    unsigned depth, tries;
    size_t links;
    bool searched;
};

struct record_link {
    const char *page, *text, *element, *attribute;
    size_t line, column; /* 0 if the link is in a header */
    const char *target;  /* without fragment; NULL if the text is not a URL */
    const char *fragment;
    bool is_known; /* the baseline contains the link; see record_verdict.is_known */
};

/*
 * The result of fetching a target once. A HEAD request that fails and the GET after it
 * count as one fetch.
 */
struct record_answer {
    const char *url;
    int status;                 /* 0 if the server did not answer */
    int64_t at_ns, duration_ns; /* time since the crawl began, and duration */
    int64_t bytes;              /* number of bytes received, before decompression */
    unsigned tries;             /* number of fetches of the target so far */
};

struct record_redirect {
    const char *url, *location;
    int status;
    const char *target; /* NULL if the location is not a URL */
};

struct record_verdict {
    const char *target; /* without fragment */
    const char *fragment;
    enum verdict verdict;
    enum reason reason;
    int status;
    const char *message;
    bool is_known; /* the baseline contains the verdict; not part of JSONL */
};

/*
 * The totals in every report. A page is a URL that was fetched and searched for links. A
 * link is a place in a page or its headers. A target is a start URL, or the URL of a
 * link, including its fragment.
 */
struct record_summary {
    size_t urls; /* number of URLs without fragments, including targets of redirects */
    size_t pages, links, targets;
    size_t verdicts[VERDICT_COUNT];      /* numbers of targets with each verdict */
    size_t verdict_urls[VERDICT_COUNT];  /* numbers of their URLs, without fragments */
    size_t verdict_links[VERDICT_COUNT]; /* numbers of links to these targets */
    size_t findings, finding_links; /* targets that fail the run, and links to them */
    int64_t bytes; /* size of all files and answers, even to retried requests */
    int64_t duration_ns;
    int exit_status;
};

/*
 * Receives records. Functions may be NULL, and must not suspend. The functions return 0,
 * or a negative errno, which ends the crawl.
 */
struct record_sink {
    int (*page)(void *arg, const struct record_page *page);
    int (*link)(void *arg, const struct record_link *link);
    int (*answer)(void *arg, const struct record_answer *answer);
    int (*redirect)(void *arg, const struct record_redirect *redirect);
    int (*verdict)(void *arg, const struct record_verdict *verdict);
    int (*summary)(void *arg, const struct record_summary *summary);
    void *arg;
};

struct record_sinks {
    const struct record_sink *at;
    size_t count;
};

/* Pass the record to all sinks, even if one fails. Returns 0, or the first error. */
int records_page(const struct record_sinks *sinks, const struct record_page *page);
int records_link(const struct record_sinks *sinks, const struct record_link *link);
int records_answer(const struct record_sinks *sinks, const struct record_answer *answer);
int records_redirect(const struct record_sinks *sinks,
                     const struct record_redirect *redirect);
int records_verdict(const struct record_sinks *sinks,
                    const struct record_verdict *verdict);
int records_summary(const struct record_sinks *sinks,
                    const struct record_summary *summary);

#endif
