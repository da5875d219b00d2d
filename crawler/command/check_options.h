/*
 * check_options.h - combinations of options that exclude each other.
 */
#ifndef CRAWLER_CHECK_OPTIONS_H
#define CRAWLER_CHECK_OPTIONS_H

#include "../options/options.h"

/* 0, or -EINVAL after a message. */
int check_options(const struct options *options);

#endif
