/*
 * verdicts.c - see verdicts.h
 *
 * Each target has a list `waiting` of the targets whose verdicts depend on its own. When
 * a target is settled, this list is moved to verdicts->due, and the targets in it are
 * settled one after another. The list avoids deep recursion for long chains.
 */
#include "verdicts.h"

#include "fragment.h"
#include "redirect_fragment.h"
#include "../base/text.h"
#include "../url/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE_MESSAGE "a redirect loop that waits for a cookie: --cookies"
#define LIMIT_MESSAGE "too many redirects, one of which sets a cookie: --cookies"

/*
 * Return false in a process of a shared crawl, because verdicts are determined after
 * `collect`.
 */
static bool may_judge(const struct verdicts *verdicts)
{
    return !verdicts->are_collected;
}

static bool is_settled(const struct target *target)
{
    return target->verdict != VERDICT_OPEN;
}

static struct judgement judgement_of(const struct target *target)
{
    return (struct judgement){target->verdict, target->reason};
}

static bool is_unreported(const struct target *target)
{
    return target->verdict == VERDICT_OK || target->verdict == VERDICT_REDIRECT;
}

/* ---- reports ----------------------------------------------------------------------- */

/* Return a decoded copy of the target's fragment, or NULL if memory runs out. */
static char *copy_fragment(const struct target *target)
{
    char *fragment = strdup(target->url + target->fragment_at);

    if (fragment != NULL)
        fragment[url_decode(fragment, strlen(fragment))] = '\0';
    return fragment;
}

/*
 * Count the target's verdict, and report it. If `text` is not NULL, report `text` and
 * `fragment` as its URL, because target->url may be truncated.
 */
static int report_verdict(struct verdicts *verdicts, struct target *target,
                          const char *text, const char *fragment)
{
    struct baseline *baseline = verdicts->baseline;
    bool has_own = text == NULL && target->fragment_at > 0;
    char *own = has_own ? copy_fragment(target) : NULL;
    char cause[TARGET_CAUSE_BYTES];
    struct record_verdict record = {.target = text != NULL ? text : target->page->url,
                                    .fragment = has_own ? own : fragment,
                                    .verdict = target->verdict,
                                    .reason = target->reason,
                                    .status = target->status};
    int rc = 0;

    if (has_own && own == NULL)
        return -ENOMEM;
    if (baseline != NULL)
        rc = baseline_has(baseline, record.target, record.fragment, record.verdict);
    if (rc >= 0) {
        verdicts->summary.verdicts[target->verdict]++;
        target->is_known = record.is_known = rc > 0;
        if (!references_are_needed(&verdicts->references, target))
            references_drop(&verdicts->references, verdicts->targets, target);
        record.message =
            target->verdict == VERDICT_OK ? target->message : target_cause(target, cause);
        rc = records_verdict(&verdicts->sinks, &record);
    }
    free(own);
    return rc;
}

int verdicts_want(struct verdicts *verdicts, struct target *target)
{
    if (target->is_wanted)
        return 0;
    target->is_wanted = true;
    return is_settled(target) ? report_verdict(verdicts, target, NULL, NULL) : 0;
}

/* ---- waiting ----------------------------------------------------------------------- */

static void await_target(struct target *target, struct target *other)
{
    target->link = other->waiting;
    other->waiting = target;
}

static void stop_waiting(struct target *target, struct target *other)
{
    struct target **at = &other->waiting;

    while (*at != NULL && *at != target)
        at = &(*at)->link;
    if (*at == target)
        *at = target->link;
    target->link = NULL;
}

/*
 * Move the targets that wait for `target` to `due`, in the order in which they began to
 * wait.
 */
static void release_waiting(struct verdicts *verdicts, struct target *target)
{
    while (target->waiting != NULL) {
        struct target *waiter = target->waiting;
        target->waiting = waiter->link;
        waiter->link = verdicts->due;
        verdicts->due = waiter;
    }
}

static bool chain_sets_cookie(const struct target *target)
{
    for (unsigned steps = 0; target != NULL && steps < UINT8_MAX; steps++) {
        if (target->sets_cookie)
            return true;
        target = target->next;
    }
    return false;
}

static int set_verdict(struct verdicts *verdicts, struct target *target,
                       struct judgement judgement)
{
    if (judgement.reason == REASON_REDIRECT_LIMIT && !verdicts->options->cookies &&
        chain_sets_cookie(target))
        target->message = LIMIT_MESSAGE;
    target->verdict = judgement.verdict;
    target->reason = judgement.reason;
    release_waiting(verdicts, target);
    return target->is_wanted ? report_verdict(verdicts, target, NULL, NULL) : 0;
}

/* Set the verdict of a target, and copy the status and message of another target. */
static int set_verdict_of(struct verdicts *verdicts, struct target *target,
                          const struct target *other, struct judgement judgement)
{
    target->status = other->status;
    target->message = other->message;
    return set_verdict(verdicts, target, judgement);
}

/* ---- fragments --------------------------------------------------------------------- */

static struct target *end_of_chain(struct target *target)
{
    unsigned steps = 0;

    while (target->next != NULL && steps++ < UINT8_MAX)
        target = target->next;
    return target;
}

/*
 * Return true if a redirect of the chain has its own fragment, which replaces that of the
 * link, and is checked as part of the redirect.
 */
static bool changes_fragment(const struct verdicts *verdicts, const struct target *target)
{
    unsigned steps = 0;

    for (; target->next != NULL && steps++ < UINT8_MAX; target = target->next)
        if (redirect_fragment(verdicts, target) != NULL)
            return true;
    return false;
}

/*
 * Settle a target with a fragment. Its page must be settled, and so must `end`, the page
 * to which its redirects lead.
 */
static int settle_fragment(struct verdicts *verdicts, struct target *target,
                           const struct target *end)
{
    const struct target *page = target->page;
    const char *fragment = target->url + target->fragment_at;
    struct judgement judgement = judgement_of(page);
    int has = 1;

    if (!is_unreported(page) || changes_fragment(verdicts, page) ||
        strcasecmp(fragment, "top") == 0)
        return set_verdict_of(verdicts, target, page,
                              judgement); /* "#top" exists on every page */
    if (!target_has_ids(end))
        judgement = (struct judgement){VERDICT_UNCHECKED, end->kind == TARGET_EXTERNAL
                                                              ? REASON_EXTERNAL_FRAGMENT
                                                              : REASON_NOT_SEARCHED};
    else
        has = fragment_is_on(verdicts->targets, end, fragment);
    if (has < 0)
        return has;
    if (has == 0)
        judgement = fragment_is_route(end, fragment)
                        ? (struct judgement){VERDICT_UNCHECKED, REASON_ROUTE}
                        : (struct judgement){VERDICT_FRAGMENT, REASON_NO_SUCH_ID};
    return set_verdict_of(verdicts, target, page, judgement);
}

int verdicts_await_page(struct verdicts *verdicts, struct target *target)
{
    struct target *page = target->page, *end = end_of_chain(page);

    if (!may_judge(verdicts))
        return 0;
    if (is_settled(page) && end->refetch != REFETCH_IDS)
        return settle_fragment(verdicts, target, end);
    await_target(target, is_settled(page) ? end : page);
    return 0;
}

/* ---- redirects --------------------------------------------------------------------- */

/*
 * Return the verdict on a redirect, derived from the verdict on the next target in its
 * chain. Set target->chain to the number of redirects up to the end of the chain.
 */
static struct judgement judge_chain(const struct verdicts *verdicts,
                                    struct target *target)
{
    const struct target *next = target->next;

    target->chain = next->chain < UINT8_MAX ? next->chain + 1 : UINT8_MAX;
    if (target->chain > verdicts->options->max_redirects)
        return (struct judgement){VERDICT_BROKEN, REASON_REDIRECT_LIMIT};
    if (!is_unreported(next))
        return judgement_of(next);
    return judge_redirect(target->status, target->chain);
}

/*
 * Return 1 if the redirect's fragment refers to an element that the last page of the
 * chain does not have, otherwise 0 or -ENOMEM. Also return 0 if the fragment is not
 * checked, because the ids of the page are unknown or a later redirect has its own
 * fragment.
 */
static int lacks_place(const struct verdicts *verdicts, const struct target *target,
                       const struct target *end)
{
    const char *fragment = redirect_wanted_fragment(verdicts, target);
    int has;

    if (fragment == NULL || *fragment == '\0' || strcasecmp(fragment, "top") == 0 ||
        changes_fragment(verdicts, target->next) || !target_has_ids(end) ||
        fragment_is_route(end, fragment))
        return 0;
    has = fragment_is_on(verdicts->targets, end, fragment);
    return has < 0 ? has : has == 0;
}

/*
 * Settle a redirect whose fragment does not exist on the last page. The message says that
 * the fault is in the redirect, not in the link.
 */
static int settle_without_place(struct verdicts *verdicts, struct target *target)
{
    struct text words = {0};

    text_print(&words, "no element has the id that the redirect names: #%.200s",
               redirect_wanted_fragment(verdicts, target));
    if (words.failed)
        return -ENOMEM;
    target->message = targets_intern(verdicts->targets, words.at, words.n);
    text_finish(&words);
    if (target->message == NULL)
        return -ENOMEM;
    return set_verdict(verdicts, target,
                       (struct judgement){VERDICT_FRAGMENT, REASON_NO_SUCH_ID});
}

static int settle_redirect(struct verdicts *verdicts, struct target *target)
{
    struct judgement judgement = judge_chain(verdicts, target);
    struct target *end = end_of_chain(target);
    int lacks;

    if (judgement.verdict == VERDICT_REDIRECT && end->refetch == REFETCH_IDS) {
        await_target(target, end); /* until the ids of `end` are known */
        return 0;
    }
    lacks =
        judgement.verdict == VERDICT_REDIRECT ? lacks_place(verdicts, target, end) : 0;
    if (lacks != 0)
        return lacks < 0 ? lacks : settle_without_place(verdicts, target);
    if (judgement.verdict == VERDICT_REDIRECT ||
        judgement.reason == REASON_REDIRECT_LIMIT)
        return set_verdict(verdicts, target, judgement);
    return set_verdict_of(verdicts, target, target->next, judgement);
}

static int judge_due(struct verdicts *verdicts)
{
    int rc = 0;

    while (verdicts->due != NULL && rc == 0) {
        struct target *target = verdicts->due;
        verdicts->due = target->link;
        target->link = NULL;
        if (is_settled(target))
            continue; /* already settled, because of a loop or the limit */
        if (target->page != target)
            rc = verdicts_await_page(verdicts, target);
        else
            rc = settle_redirect(verdicts, target);
    }
    return rc;
}

static bool loop_sets_cookie(const struct target *target, unsigned length)
{
    for (; length > 0; length--, target = target->next)
        if (target->sets_cookie)
            return true;
    return false;
}

static bool loop_is_external(const struct target *target, unsigned length)
{
    for (; length > 0; length--, target = target->next)
        if (target->kind != TARGET_EXTERNAL)
            return false;
    return true;
}

/*
 * Return true if the redirect loop might end if its cookie were sent, but this crawl does
 * not send cookies.
 */
static bool waits_for_cookie(const struct verdicts *verdicts, const struct target *target,
                             unsigned length)
{
    return !verdicts->options->cookies && loop_sets_cookie(target, length);
}

/*
 * Settle all targets of a redirect loop, and set their chain length to the length of the
 * loop. Targets that lead into the loop have longer chains. So lengths do not depend on
 * the order of requests.
 */
static int settle_loop(struct verdicts *verdicts, struct target *target, unsigned length)
{
    bool waits = waits_for_cookie(verdicts, target, length);
    struct judgement judgement =
        waits && loop_is_external(target, length)
            ? (struct judgement){VERDICT_BLOCKED, REASON_CHALLENGE}
            : (struct judgement){VERDICT_BROKEN, REASON_REDIRECT_CIRCLE};
    struct target *member = target;
    int rc = 0;

    for (unsigned i = 0; i < length && rc == 0; i++) {
        struct target *next = member->next;
        member->chain = (uint8_t)length;
        if (waits && !is_settled(member))
            member->message = COOKIE_MESSAGE;
        if (!is_settled(member))
            rc = set_verdict(verdicts, member, judgement);
        member = next;
    }
    return rc == 0 ? judge_due(verdicts) : rc;
}

/*
 * Return the number of redirects in the loop that contains `target`, or 0 if there is no
 * such loop, or if it is longer than --max-redirects.
 */
static unsigned loop_length(const struct verdicts *verdicts, const struct target *target)
{
    const struct target *at = target->next;

    for (unsigned n = 1; n <= verdicts->options->max_redirects && at != NULL; n++) {
        if (at == target)
            return n;
        at = at->next;
    }
    return 0;
}

bool verdicts_reopen_loop(const struct verdicts *verdicts, struct target *target)
{
    unsigned length = loop_length(verdicts, target);
    struct target *next = target->next;

    if (!may_judge(verdicts) || length == 0 || is_settled(next) ||
        !loop_sets_cookie(target, length))
        return false;
    if (next != target)
        stop_waiting(next, next->next);
    next->next = NULL;
    return true;
}

/* Return true if the known part of the chain is longer than allowed. */
static bool is_too_long(const struct verdicts *verdicts, const struct target *target)
{
    unsigned length = 0;

    while (target->next != NULL && length <= verdicts->options->max_redirects) {
        target = target->next;
        length++;
    }
    return length > verdicts->options->max_redirects;
}

int verdicts_await_next(struct verdicts *verdicts, struct target *target)
{
    struct target *next = target->next;
    unsigned in_loop = loop_length(verdicts, target);

    if (!may_judge(verdicts))
        return 0;
    if (in_loop > 0)
        return settle_loop(verdicts, target, in_loop);
    if (is_settled(next)) {
        target->link = verdicts->due;
        verdicts->due = target;
        return judge_due(verdicts);
    }
    if (is_too_long(verdicts, target))
        return verdicts_settle(verdicts, target,
                               (struct judgement){VERDICT_BROKEN, REASON_REDIRECT_LIMIT},
                               NULL);
    await_target(target, next);
    return 0;
}

/*
 * Settle the targets that wait for `target`, directly or indirectly, if they are more
 * than --max-redirects redirects away from a page that is not fetched. For the directly
 * waiting targets, this distance is `distance`.
 */
static int give_up_from(struct verdicts *verdicts, struct target *target,
                        unsigned distance)
{
    struct target *waiter = target->waiting, *next;
    int rc = 0;

    for (; waiter != NULL && rc == 0; waiter = next) {
        next = waiter->link;
        if (waiter->page != waiter || is_settled(waiter))
            continue;
        if (distance > verdicts->options->max_redirects)
            rc = set_verdict(verdicts, waiter,
                             (struct judgement){VERDICT_BROKEN, REASON_REDIRECT_LIMIT});
        else
            rc = give_up_from(verdicts, waiter, distance + 1);
    }
    return rc;
}

int verdicts_give_up(struct verdicts *verdicts, struct target *next)
{
    int rc = may_judge(verdicts) ? give_up_from(verdicts, next, 1) : 0;

    return rc == 0 ? judge_due(verdicts) : rc;
}

/* ---- all targets ------------------------------------------------------------------- */

int verdicts_settle(struct verdicts *verdicts, struct target *target,
                    struct judgement judgement, const char *message)
{
    int rc = 0;

    if (!may_judge(verdicts))
        return 0;
    if (message != NULL && *message != '\0') {
        target->message = targets_intern(verdicts->targets, message, strlen(message));
        if (target->message == NULL)
            return -ENOMEM;
    }
    if (!is_settled(target))
        rc = set_verdict(verdicts, target, judgement);
    return rc == 0 ? judge_due(verdicts) : rc;
}

int verdicts_settle_text(struct verdicts *verdicts, struct target *target,
                         struct judgement judgement, const char *text,
                         const char *fragment)
{
    target->kind = target->page->kind = TARGET_TEXT;
    if (!target_is_decided(target))
        target_set_state(target, TARGET_LEFT_OUT);
    target->is_wanted = true;
    target->verdict = judgement.verdict;
    target->reason = judgement.reason;
    return report_verdict(verdicts, target, text, fragment);
}

int verdicts_recheck(struct verdicts *verdicts, struct target *page)
{
    if (may_judge(verdicts))
        release_waiting(verdicts, page);
    return judge_due(verdicts);
}

/*
 * Return the verdict on a target that was not fetched or not answered: `judgement`,
 * unless a more specific verdict applies.
 */
static struct judgement judge_rest(const struct verdicts *verdicts,
                                   const struct target *target,
                                   struct judgement judgement)
{
    if (target->hops > verdicts->options->max_redirects)
        return (struct judgement){VERDICT_UNCHECKED, REASON_REDIRECT_LIMIT};
    if (!target_is_decided(target))
        return (struct judgement){VERDICT_SKIPPED, target->state == TARGET_CALENDAR
                                                       ? REASON_TRAP_CALENDAR
                                                       : REASON_NOFOLLOW};
    if (target->kind == TARGET_SITE && target->depth > verdicts->options->max_depth)
        return (struct judgement){VERDICT_SKIPPED, REASON_DEPTH};
    return judgement;
}

int verdicts_end(struct verdicts *verdicts, struct judgement judgement)
{
    int rc = 0, its;

    if (!may_judge(verdicts))
        return 0;
    for (size_t i = 0; i < verdicts->targets->count; i++) {
        struct target *target = targets_at(verdicts->targets, i);
        if (is_settled(target) || target->page != target || target->next != NULL)
            continue;
        its = verdicts_settle(verdicts, target, judge_rest(verdicts, target, judgement),
                              NULL);
        rc = rc == 0 ? its : rc;
    }
    for (size_t i = 0; i < verdicts->targets->count; i++) {
        its =
            verdicts_settle(verdicts, targets_at(verdicts->targets, i), judgement, NULL);
        rc = rc == 0 ? its : rc;
    }
    return rc;
}

void verdicts_finish(struct verdicts *verdicts)
{
    references_finish(&verdicts->references);
    table_finish(&verdicts->redirects);
}
