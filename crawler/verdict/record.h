/*
 * record.h - the records of a crawl, which reports receive one by one.
 *
 * docs/design/checker.md, "JSONL, schema 1", says when each record comes.
 */
#ifndef CRAWLER_RECORD_H
#define CRAWLER_RECORD_H

#include "verdict.h"

#include <stddef.h>
#include <stdint.h>

/* Strings are borrowed for the call, and NULL where a record's member is null. */
struct record_page {
    const char *url, *content_type, *encoding;
    int status; /* 0: no answer, or a file */
    int64_t size;
    unsigned depth, tries;
    size_t links;
    bool searched;
};

struct record_link {
    const char *page, *text, *element, *attribute;
    size_t line, column; /* 0: it is in a header */
    const char *target;  /* without fragment; NULL where the text is no URL */
    const char *fragment;
    bool is_known; /* the baseline has it; told as record_verdict.is_known is */
};

/* The answer to a request for a target. HEAD, and the GET after it, are one answer. */
struct record_answer {
    const char *url;
    int status;                 /* 0: no answer */
    int64_t at_ns, duration_ns; /* since the crawl began, and from then on */
    int64_t bytes;              /* as they came over the wire */
    unsigned tries;             /* requests for the target so far */
};

struct record_redirect {
    const char *url, *location;
    int status;
    const char *target; /* NULL if it is no URL */
};

struct record_verdict {
    const char *target; /* without fragment */
    const char *fragment;
    enum verdict verdict;
    enum reason reason;
    int status;
    const char *message;
    bool is_known; /* the baseline has it; not part of JSONL */
};

/*
 * The figures of every report. A page was fetched and searched for links. A link is one
 * place on a page, or in its headers. A target is what links lead to: a URL with its
 * fragment; and each start.
 */
struct record_summary {
    size_t
        urls; /* without their fragments, those among them that only redirects lead to */
    size_t pages, links, targets;
    size_t verdicts[VERDICT_COUNT];      /* targets */
    size_t verdict_urls[VERDICT_COUNT];  /* of these targets, without their fragments */
    size_t verdict_links[VERDICT_COUNT]; /* links to them */
    size_t findings, finding_links; /* targets that fail the run, and links to them */
    int64_t bytes; /* of all answers, those to be tried again among them; and of files */
    int64_t duration_ns;
    int exit_status;
};

/* A sink of records. A function may be NULL. None may suspend. Each returns 0, or a
   negative errno, which ends the crawl. */
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

/* Tell all of them, even if one fails. 0, or what the first that fails returns. */
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
