/*
 * check_options.h - refuse combinations of options that exclude each other.
 */
#ifndef CRAWLER_CHECK_OPTIONS_H
#define CRAWLER_CHECK_OPTIONS_H

#include "../options/options.h"

#include <stdio.h>

/* Return 0, or -EINVAL after a message to `complaints` if options contradict each
   other. */
int check_options(const struct options *options, FILE *complaints);

#endif
