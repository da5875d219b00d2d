/*
 * check_options.h - refuse combinations of options that exclude each other.
 */
#ifndef CRAWLER_CHECK_OPTIONS_H
#define CRAWLER_CHECK_OPTIONS_H

#include "../options/options.h"

#include <stdio.h>

/* Return 0. If options contradict each other, print a message to `complaints` and return
   -EINVAL. */
int check_options(const struct options *options, FILE *complaints);

#endif
