/*
 * crawler.h - the crawler as a library: set options, and receive records in a sink.
 *
 *     struct record_sink sink = {.page = on_page, .verdict = on_verdict, .arg = &mine};
 *     struct crawl *crawl;
 *     int rc = crawl_create(&sink, &crawl);
 *
 *     if (rc == 0)
 *         rc = crawl_set(crawl, "max-depth", "2");
 *     if (rc == 0)
 *         rc = crawl_add_start(crawl, "http://example.org/");
 *     if (rc == 0)
 *         rc = crawl_run(crawl);              // in a task
 *     if (rc < 0)
 *         fprintf(stderr, "%s\n", crawl_message(crawl));
 *
 *     crawl_destroy(crawl);
 *
 * Programs include only this header. The interface may still change, so the header is not
 * installed. Call curl_global_init() before the first crawl. docs/design/crawler.md
 * describes the implementation.
 */
#ifndef CRAWLER_CRAWLER_H
#define CRAWLER_CRAWLER_H

#include "verdict/record.h"

#include <coil/base.h>

struct crawl;

/*
 * Create a crawl that passes its records to the functions of `sink`, which is copied. The
 * caller must call crawl_destroy(). A crawl can run only once. Returns 0 or -ENOMEM.
 */
int crawl_create(const struct record_sink *sink, struct crawl **out);

/* NULL is accepted. */
void crawl_destroy(struct crawl *crawl);

/*
 * Set an option of coil-crawl, given by its long name without "--". `value` is NULL for
 * an option without a value. Errors in options are reported by crawl_run(). No
 * configuration file is read. Returns 0 or -ENOMEM.
 *
 * crawl_run() refuses the options that write files or share a crawl: state, frontier,
 * crawl, format, status, cache, baseline, warc. Only the command supports them.
 */
int crawl_set(struct crawl *crawl, const char *option, const char *value);

/*
 * Add a URL, a file or a folder at which the crawl starts. Returns 0 or -ENOMEM. Fails
 * with -EINVAL if coil-crawl would treat the start as an option or a command: if it
 * begins with "-", or contains neither ":" nor "/" nor ".". For example, write
 * "http://localhost/" instead of "localhost", and "./folder" instead of "folder".
 */
int crawl_add_start(struct crawl *crawl, const char *start);

/*
 * Run the crawl, calling the sink for each record. The last record is the summary. Pages
 * that cannot be fetched are reported in records and are not errors of this function.
 * Fails with -EINVAL if an option is invalid or the crawl has already run, with
 * -ECANCELED, with -ENOMEM, or with the error that a function of the sink returned.
 */
COIL_SUSPENDS int crawl_run(struct crawl *crawl);

/*
 * Return the error message of the crawl, or "". The message is valid until
 * crawl_destroy().
 */
const char *crawl_message(const struct crawl *crawl);

#endif
