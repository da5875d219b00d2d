/*
 * command_saved.h - the options of a saved crawl.
 */
#ifndef CRAWLER_COMMAND_SAVED_H
#define CRAWLER_COMMAND_SAVED_H

#include "../saved/saved_crawl.h"
#include "command.h"

/* Restore the options of the saved crawl, and override them with the options of this
   command, `now`. Fails like options_restore(). */
int command_saved_options(struct options *options, const struct options *now,
                          const struct saved_crawl *saved);

#endif
