/*
 * check_options.h - refuse combinations of options that exclude each other.
 */
#ifndef CRAWLER_CHECK_OPTIONS_H
#define CRAWLER_CHECK_OPTIONS_H

#include "../options/options.h"

#include <stdio.h>

/* Returns 0. Prints a message to `complaints` and returns -EINVAL if options contradict
   each other. */
int check_options(const struct options *options, FILE *complaints);

#endif
