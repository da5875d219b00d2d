/*
 * option_value_inside.h - what the setters of options have in common.
 */
#ifndef CRAWLER_OPTION_VALUE_INSIDE_H
#define CRAWLER_OPTION_VALUE_INSIDE_H

#include "option_row.h"

void *option_field_of(const struct option_source *source, const struct option_row *row);

#endif
