/*
 * command_crawl.h - run a crawl in this process, and write its reports.
 */
#ifndef CRAWLER_COMMAND_CRAWL_H
#define CRAWLER_COMMAND_CRAWL_H

#include "../saved/saved_crawl.h"
#include "command.h"

/*
 * Crawl, and write reports. `saved` is an open saved crawl, which is closed, or all zero.
 */
enum exit_status command_crawl_with(const struct options *options,
                                    const struct saved_crawl *saved);

#endif
