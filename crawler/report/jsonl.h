/*
 * jsonl.h - the report for programs: schema 1 of docs/design/checker.md.
 */
#ifndef CRAWLER_JSONL_H
#define CRAWLER_JSONL_H

#include "../options/options.h"
#include "../files/out.h"
#include "../verdict/record.h"

#include <time.h>

/* A sink that writes a line for each record. `out` is borrowed. */
struct record_sink jsonl_sink(struct out *out);

/* The first line. `now` is in seconds since 1970. 0 or the writer's failure. */
int jsonl_start(struct out *out, const struct text_list *starts, time_t now);

#endif
