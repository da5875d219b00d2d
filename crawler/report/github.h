/*
 * github.h - annotations for GitHub, one for each link that makes the run fail. GitHub
 * shows each annotation next to the line with the link.
 */
#ifndef CRAWLER_GITHUB_H
#define CRAWLER_GITHUB_H

#include "../judge/reference.h"
#include "../options/options.h"
#include "../files/out.h"

/*
 * Write the annotations. If some links to a target were not stored, its last annotation
 * contains their number. Returns 0, the writer's error, or -ENOMEM.
 */
int report_github(struct out *out, const struct options *options,
                  const struct targets *targets, const struct references *references);

#endif
