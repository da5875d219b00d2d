/*
 * check_options.h - refuse options that cannot be combined.
 */
#ifndef CRAWLER_CHECK_OPTIONS_H
#define CRAWLER_CHECK_OPTIONS_H

#include "../options/options.h"

#include <stdio.h>

/* Return 0. If options contradict each other, print a message to `complaints` and return
   -EINVAL. */
int check_options(const struct options *options, FILE *complaints);

#endif
