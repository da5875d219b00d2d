/*
 * judge.h - derive the verdict on a URL from the server's answer.
 */
#ifndef CRAWLER_JUDGE_H
#define CRAWLER_JUDGE_H

#include "../fetch/answer.h"
#include "../options/options.h"
#include "../verdict/verdict.h"

struct judgement {
    enum verdict verdict;
    enum reason reason;
};

/*
 * Return the verdict on the answer for this URL. If the answer is a redirect that is
 * followed, the verdict is not final. A pure function.
 */
struct judgement judge_answer(const struct options *options, const char *url,
                              bool on_site, const struct answer *answer);

/*
 * Return the verdict on a URL that was not fetched because its host's robots.txt could
 * not be fetched. `failure` is the answer to the request for robots.txt. A pure function.
 * (RFC 9309, section 2.3.1.4)
 */
struct judgement judge_rules(const struct answer *failure);

/*
 * Return the verdict on a chain of `count` redirects to a working page. `status` is the
 * status of the first redirect.
 */
struct judgement judge_redirect(int status, unsigned count);

/* Return true if a target with this verdict fails the run. */
bool judge_fails(const struct options *options, enum verdict verdict);

#endif
