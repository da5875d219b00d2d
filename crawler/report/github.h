/*
 * github.h - annotations: a line for each link that fails the run, which GitHub shows beside the
 * line of the file where the link stands.
 */
#ifndef CRAWLER_GITHUB_H
#define CRAWLER_GITHUB_H

#include "../judge/reference.h"
#include "../options/options.h"
#include "../files/out.h"

/* Of a target with more than REFERENCES_KEPT links the last annotation counts the others. 0, the
   writer's failure, or -ENOMEM. */
int report_github(struct out *out, const struct options *options,
                  const struct targets *targets, const struct references *references);

#endif
