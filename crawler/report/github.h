/*
 * github.h - annotations for GitHub, one for each link that makes the run fail. GitHub
 * shows the annotation next to the line that contains the link.
 */
#ifndef CRAWLER_GITHUB_H
#define CRAWLER_GITHUB_H

#include "../judge/reference.h"
#include "../options/options.h"
#include "../files/out.h"

/*
 * Write the annotations. If a target has more than REFERENCES_KEPT links, its last
 * annotation contains the number of the remaining links. Returns 0, the writer's error,
 * or -ENOMEM.
 */
int report_github(struct out *out, const struct options *options,
                  const struct targets *targets, const struct references *references);

#endif
