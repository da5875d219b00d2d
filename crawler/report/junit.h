/*
 * junit.h - the findings as tests that fail: JUnit XML, as GitLab and Jenkins read it.
 */
#ifndef CRAWLER_JUNIT_H
#define CRAWLER_JUNIT_H

#include "../files/out.h"
#include "digest.h"

/* 0, the writer's failure, or -ENOMEM. */
int report_junit(struct out *out, const struct digest *digest);

#endif
