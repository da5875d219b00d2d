/* judge.h - the verdict of an answer. */
#ifndef CRAWLER_JUDGE_H
#define CRAWLER_JUDGE_H

#include "../fetch/answer.h"
#include "../options/options.h"
#include "../verdict/verdict.h"

struct judgement {
    enum verdict verdict;
    enum reason reason;
};

/* The verdict of an answer that is not a redirect. A pure function. */
struct judgement judge_answer(const struct options *options, const char *url,
                              bool on_site, const struct answer *answer);

/* The same for a URL that was not fetched, since its host's robots.txt failed like this.
   A pure function. (RFC 9309, section 2.3.1.4) */
struct judgement judge_rules(const struct answer *failure);

/* The verdict of a chain of `count` redirects that ends well; `status` is that of the
   first. */
struct judgement judge_redirect(int status, unsigned count);

/* True if a target with this verdict fails the run. */
bool judge_fails(const struct options *options, enum verdict verdict);

#endif
