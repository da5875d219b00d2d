/* junit.h - findings as failed tests in JUnit XML, for GitLab and Jenkins. */
#ifndef CRAWLER_JUNIT_H
#define CRAWLER_JUNIT_H

#include "../files/out.h"
#include "digest.h"

/* Write the report. Returns 0, the writer's error, or -ENOMEM. */
int report_junit(struct out *out, const struct digest *digest);

#endif
