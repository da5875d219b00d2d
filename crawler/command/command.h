/*
 * command.h - the subcommands of coil-crawl, which return the exit status.
 *
 * Each subcommand is in a file command_NAME.c. The subcommands share the functions in
 * run.h, signals.h and notice.h.
 */
#ifndef CRAWLER_COMMAND_H
#define CRAWLER_COMMAND_H

#include "../options/options.h"

enum exit_status {
    STATUS_OK = 0,
    STATUS_FAILED = 1, /* memory ran out, or a file could not be written */
    STATUS_BROKEN = 2, /* there are findings */
    STATUS_USAGE = 3,
    STATUS_NOTHING = 4, /* nothing could be fetched */
    STATUS_INTERRUPTED = 6
};

/* `coil-crawl URL...`: crawl, and write reports. */
enum exit_status command_crawl(const struct options *options);

/* `coil-crawl resume`, `recheck` and `report`: use the saved crawl in options->state. */
enum exit_status command_saved(const struct options *options);

/* `coil-crawl URL... --frontier REDIS --crawl NAME`: fetch a part of a shared crawl. */
enum exit_status command_member(const struct options *options);

/* `coil-crawl collect`: save the results of a shared crawl, then report them. */
enum exit_status command_collect(const struct options *options);

enum exit_status command_diff(const struct options *options);
enum exit_status command_explain(const struct options *options);

#endif
