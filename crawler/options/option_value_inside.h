/*
 * option_value_inside.h - declarations shared by the setters of options.
 */
#ifndef CRAWLER_OPTION_VALUE_INSIDE_H
#define CRAWLER_OPTION_VALUE_INSIDE_H

#include "option_row.h"

void *option_field_of(const struct option_source *source, const struct option_row *row);

#endif
