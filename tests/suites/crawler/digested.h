/*
 * digested.h - builds a digest from records without crawling, for tests of the reports
 * that are written from a digest.
 */
#ifndef TESTS_CRAWLER_DIGESTED_H
#define TESTS_CRAWLER_DIGESTED_H

#include "../../../crawler/files/out.h"
#include "../../../crawler/options/options.h"
#include "../../../crawler/report/digest.h"

struct digested {
    struct digest digest;
    struct options options; /* the crawl starts at http://h/ */
    struct record_sink sink;
    size_t targets, findings; /* number of records added so far */
};

void digested_init(struct digested *digested);
void digested_finish(struct digested *digested);

/* Add a link <a href>. `target` and `fragment` may be NULL. */
void digested_link(struct digested *digested, const char *page, unsigned line,
                   unsigned column, const char *text, const char *target,
                   const char *fragment);

void digested_verdict(struct digested *digested, const char *target, const char *fragment,
                      enum verdict verdict, enum reason reason, int status,
                      const char *message);

/* Add a target with the status 404. */
void digested_missing(struct digested *digested, const char *target);

void digested_redirect(struct digested *digested, const char *url, int status,
                       const char *target);
void digested_page(struct digested *digested, const char *url);

/*
 * Add the summary, which is the last record of a crawl, and sort the digest for the
 * reports.
 */
void digested_end(struct digested *digested, int exit_status);

/*
 * Write the report of a crawl that ended with exit status 2, and return its text. The
 * text is valid until the next call.
 */
const char *digested_report(struct digested *digested,
                            int (*write)(struct out *out, const struct digest *digest));

#endif
