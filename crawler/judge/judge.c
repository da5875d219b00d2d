/*
 * judge.c - see judge.h
 */
#include "judge.h"

#include "../url/url.h"

#include <errno.h>

/*
 * Return true if an --accept option allows the status. If of_host is true, consider only
 * options that name the URL's host, otherwise only options for all hosts.
 */
static bool is_accepted(const struct options *options, const char *url, int status,
                        bool of_host)
{
    for (size_t i = 0; i < options->accept_count; i++) {
        const struct status_range *range = &options->accept[i];
        const struct host_name *host = &range->host;

        if (status < range->first || status > range->last ||
            of_host != (host->name != NULL))
            continue;
        if (!of_host || url_has_host(url, host->name, host->port) ||
            url_is_below_host(url, host->name, host->port))
            return true;
    }
    return false;
}

/*
 * True for statuses that some servers send to programs, although a browser can open the
 * page. LinkedIn sends 999.
 */
static bool is_refusal(int status)
{
    switch (status) {
    case 401:
    case 403:
    case 407:
    case 429:
    case 451:
    case 999:
        return true;
    default:
        return false;
    }
}

static struct judgement judge_failure(const struct answer *answer)
{
    switch (answer->rc) {
    case -ETIMEDOUT:
        return (struct judgement){VERDICT_TIMEOUT,
                                  answer->is_late ? REASON_MAX_TIME : REASON_NO_PROGRESS};
    case -EKEYREJECTED:
        return (struct judgement){VERDICT_ERROR, REASON_TLS};
    case -EPROTO:
    case -EMSGSIZE:
    case -EBADMSG:
        return (struct judgement){VERDICT_ERROR,
                                  answer->is_tls ? REASON_TLS : REASON_PROTOCOL};
    case -EACCES:
        return (struct judgement){VERDICT_SKIPPED, REASON_PRIVATE};
    default:
        return (struct judgement){VERDICT_ERROR, REASON_NETWORK};
    }
}

struct judgement judge_answer(const struct options *options, const char *url,
                              bool on_site, const struct answer *answer)
{
    if (answer->rc < 0)
        return judge_failure(answer);
    /* An --accept option that names the host overrides the check for challenges. */
    if (is_accepted(options, url, answer->status, true))
        return (struct judgement){VERDICT_OK, REASON_NONE};
    if (!on_site && answer->is_challenge)
        return (struct judgement){VERDICT_BLOCKED, REASON_CHALLENGE};
    /* By default, --accept allows 200 to 299. */
    if (is_accepted(options, url, answer->status, false))
        return (struct judgement){VERDICT_OK, REASON_NONE};
    if (!on_site && is_refusal(answer->status))
        return (struct judgement){VERDICT_BLOCKED, REASON_STATUS};
    if (answer->status >= 300 && answer->status < 400)
        return (struct judgement){VERDICT_OK, REASON_NONE};
    return (struct judgement){VERDICT_BROKEN, REASON_STATUS};
}

struct judgement judge_rules(const struct answer *failure)
{
    struct judgement judgement = {VERDICT_ERROR, REASON_STATUS};

    if (failure->rc < 0)
        judgement = judge_failure(failure);
    if (judgement.verdict ==
        VERDICT_SKIPPED) /* robots.txt redirects to a private address */
        judgement = (struct judgement){VERDICT_ERROR, REASON_NETWORK};
    return judgement;
}

struct judgement judge_redirect(int status, unsigned count)
{
    enum reason reason = count > 1                        ? REASON_CHAIN
                         : status == 301 || status == 308 ? REASON_PERMANENT
                                                          : REASON_TEMPORARY;

    return (struct judgement){VERDICT_REDIRECT, reason};
}

bool judge_fails(const struct options *options, enum verdict verdict)
{
    return options->fail_on[verdict];
}
