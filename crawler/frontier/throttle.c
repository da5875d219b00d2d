/*
 * throttle.c - adapt the rate of requests to a host that limits that rate.
 *
 *     no limit -- refused --> 128/s -- refused --> 64/s -- ... --> 1/4 per second
 *         ^                    |  ^                 |
 *         '-- above 256/s -----'  '--- answered ----'
 *
 * A refusal with 429 or with Retry-After halves the rate. A 503 without Retry-After may
 * concern a single page, so it halves the rate only if two of the last ten answers are
 * refusals. Only answers to requests after the last cut count, because earlier requests
 * were sent at another rate.
 *
 * Each second in which the host answers adds a tenth of the rate before the last cut, so
 * that rate is reached again after about five seconds. At low rates, each answer adds 7 %
 * instead, so ten answers double the rate. If the host refuses nothing for a long time,
 * the growth doubles.
 *
 * Refusals do not use up a page's tries. Instead, a refused page is tested: its host gets
 * no requests for at least a second or for the time of Retry-After, and then one request
 * for this page. If the host refuses this request but answers the next page, the page
 * itself is the reason, and its next refusal is final. The eighth refusal of a page is
 * also final if its host answers other pages. If the host answers a test, it evidently
 * limits the rate. After that, a page is tested only if it is refused twice.
 *
 * A host is given up if it has refused all requests for PATIENCE_NS, even after several
 * rests without requests. The time is shorter for hosts outside the site. It is also
 * shorter for 503 without Retry-After and for hosts that have never answered, because
 * these refusals may be permanent. A host that was given up gets one request for each
 * page, and the rate is no longer limited.
 *
 * Refusals may be unrelated to the rate. If three pages in a row were themselves the
 * reason for their refusals, the limit is lifted, and refusals without Retry-After are
 * treated as ordinary failures until ten answers in a row are refusals.
 */
#include "throttle.h"

#include <coil/timer.h>

#define FIRST_RATE 128.0 /* per second; most crawls are slower */
#define LEAST_RATE 0.25
#define GROWTH_OF_RATE 0.1 /* per second */
#define GROWTH_PER_ANSWER 0.07
/* The growth doubles after FASTER_NS without a cut if at least FASTER_COUNT answers
   arrived in that time. */
#define FASTER_NS COIL_SEC(10)
#define FASTER_COUNT 50
#define BUCKET_SECONDS 0.05
#define RECENT 10       /* number of recent answers that are stored */
#define MANY_REFUSALS 2 /* this many recent refusals are a reason to cut the rate */
#define PROVEN_ENOUGH 3 /* this many pages in a row were the reason for their refusals */
#define REST_NS COIL_SEC(1)
#define PATIENCE_NS COIL_SEC(24)
#define SHORT_PATIENCE_NS COIL_SEC(6)
#define LONGEST_REST_NS COIL_SEC(8) /* maximum, unless Retry-After is longer */
#define RESTS_OF_RATE 4 /* a rest is as long as 4 requests at the current rate */
#define FIRST_PAUSE_NS COIL_MSEC(200)
#define LAST_DOUBLING 5 /* the pause of a page doubles at most 5 times, to 6.4 s */

/* ---- the bucket -------------------------------------------------------------------- */

static double tokens_at(const struct throttle *throttle, int64_t now)
{
    double depth = throttle->rate * BUCKET_SECONDS;
    double tokens =
        throttle->tokens + throttle->rate * ((double)(now - throttle->filled_ns) / 1e9);

    depth = depth > 1 ? depth : 1;
    return tokens < depth ? tokens : depth;
}

static void fill_bucket(struct throttle *throttle, int64_t now)
{
    throttle->tokens = tokens_at(throttle, now);
    throttle->filled_ns = now;
}

int64_t throttle_due(const struct throttle *throttle, int64_t now)
{
    double missing;

    if (throttle->rate == 0 || throttle->is_given_up)
        return now;
    missing = 1 - tokens_at(throttle, now);
    return missing > 0 ? now + (int64_t)(missing / throttle->rate * 1e9) : now;
}

void throttle_spend(struct throttle *throttle, int64_t now)
{
    if (throttle->rate == 0)
        return;
    fill_bucket(throttle, now);
    throttle->tokens -= 1;
}

/* ---- the rate ---------------------------------------------------------------------- */

static unsigned recent_refusals(const struct throttle *throttle)
{
    return (unsigned)__builtin_popcount(throttle->recent);
}

static void note_answer(struct throttle *throttle, bool is_refusal)
{
    throttle->recent =
        (uint16_t)((throttle->recent << 1 | is_refusal) & ((1 << RECENT) - 1));
    throttle->recent_count += throttle->recent_count < RECENT;
}

static void forget_answers(struct throttle *throttle)
{
    throttle->recent = 0;
    throttle->recent_count = 0;
}

static void lift_limit(struct throttle *throttle)
{
    throttle->rate = 0;
    forget_answers(throttle);
}

/* Raise the rate after an answer, so that it grows by `growth` per second. At low rates,
   it grows by GROWTH_PER_ANSWER, so that ten answers double the rate. */
static void grow_rate(struct throttle *throttle, int64_t now)
{
    double by = throttle->growth / throttle->rate;
    double most = throttle->rate * GROWTH_PER_ANSWER;

    fill_bucket(throttle, now);
    throttle->grown_count += throttle->grown_count < UINT8_MAX;
    if (throttle->grown_count >= FASTER_COUNT && now - throttle->grown_ns >= FASTER_NS) {
        throttle->growth *= 2;
        throttle->grown_ns = now;
        throttle->grown_count = 0;
    }
    throttle->rate += by < most ? by : most;
    if (throttle->rate > 2 * FIRST_RATE)
        lift_limit(throttle);
}

/* Return true if the refusal concerns the rate, not the page. */
static bool is_explicit(const struct throttle_refusal *refusal)
{
    return refusal->is_too_many || refusal->retry_after_ns > 0;
}

static void cut_rate(struct throttle *throttle, const struct throttle_refusal *refusal)
{
    double before = throttle->rate > 0 ? throttle->rate : 2 * FIRST_RATE;

    throttle->growth = before * GROWTH_OF_RATE;
    throttle->grown_ns = refusal->now_ns;
    throttle->grown_count = 0;
    throttle->rate = before / 2;
    if (throttle->rate < LEAST_RATE)
        throttle->rate = LEAST_RATE;
    throttle->tokens = 0;
    throttle->filled_ns = throttle->cut_ns = refusal->now_ns;
    forget_answers(throttle);
}

/* ---- answers ----------------------------------------------------------------------- */

int64_t throttle_rest_ns(const struct throttle *throttle)
{
    int64_t rest_ns = REST_NS;

    if (throttle->rate > 0)
        rest_ns = (int64_t)(RESTS_OF_RATE * 1e9 / throttle->rate);
    rest_ns = rest_ns < REST_NS           ? REST_NS
              : rest_ns < LONGEST_REST_NS ? rest_ns
                                          : LONGEST_REST_NS;
    return rest_ns > throttle->asked_for_ns ? rest_ns : throttle->asked_for_ns;
}

void throttle_accept(struct throttle *throttle, int64_t now)
{
    if (throttle->is_given_up)
        lift_limit(throttle); /* the host answers even without a limit */
    note_answer(throttle, false);
    throttle->answered_ns = now;
    throttle->first_ns = throttle->asked_for_ns = 0;
    throttle->rested = 0;
    throttle->is_given_up = false;
    if (throttle->rate > 0)
        grow_rate(throttle, now);
}

void throttle_prove(struct throttle *throttle)
{
    throttle->is_limit = false;
    if (++throttle->proven < PROVEN_ENOUGH || throttle->is_unrelated)
        return;
    throttle->is_unrelated = true;
    lift_limit(throttle);
}

void throttle_disprove(struct throttle *throttle)
{
    throttle->proven = 0;
    throttle->is_limit = true;
}

int64_t throttle_pause_ns(const struct throttle_refusal *refusal)
{
    unsigned doublings =
        refusal->page_refusals < LAST_DOUBLING ? refusal->page_refusals : LAST_DOUBLING;

    return refusal->retry_after_ns > 0 ? refusal->retry_after_ns
                                       : FIRST_PAUSE_NS << doublings;
}

/* Record the refusal in the history of its host. */
static void note_refusal(struct throttle *throttle,
                         const struct throttle_refusal *refusal)
{
    int64_t rest_ns = throttle->asked_for_ns > 0 ? throttle->asked_for_ns : REST_NS;

    if (throttle->first_ns == 0)
        throttle->first_ns = refusal->now_ns;
    else if (refusal->sent_ns - throttle->last_ns >= rest_ns &&
             throttle->rested < UINT8_MAX)
        throttle->rested++;
    throttle->last_ns = refusal->now_ns;
    throttle->asked_for_ns = refusal->retry_after_ns;
    note_answer(throttle, true);
}

static bool has_refused_for_long(const struct throttle *throttle,
                                 const struct throttle_refusal *refusal)
{
    unsigned rests = refusal->max_tries > 2 ? refusal->max_tries - 1 : 1;
    bool is_patient =
        throttle->answered_ns != 0 && is_explicit(refusal) && !refusal->is_external;

    return throttle->rested >= rests &&
           refusal->now_ns - throttle->first_ns >=
               (is_patient ? PATIENCE_NS : SHORT_PATIENCE_NS);
}

/* Return true if the page itself is the reason for its refusals: a test or many refusals
   have shown this, and the host answers other pages. */
static bool is_of_the_page(const struct throttle *throttle,
                           const struct throttle_refusal *refusal)
{
    return refusal->page_refusals >= THROTTLE_PAGE_REFUSALS &&
           throttle->answered_ns != 0 &&
           refusal->sent_ns - throttle->answered_ns < PATIENCE_NS;
}

/* If all recent answers are refusals, no longer assume that they are unrelated to the
   rate. */
static void doubt_unrelated(struct throttle *throttle)
{
    if (recent_refusals(throttle) < RECENT)
        return;
    throttle->is_unrelated = false;
    throttle->proven = 0;
    forget_answers(throttle);
}

bool throttle_is_test(const struct throttle_refusal *refusal)
{
    return refusal->page_refusals > 0;
}

/* Return true if the page must be tested. Once a test has shown that the host limits the
   rate, the first refusal of a page no longer leads to a test, which would take time and
   show little. */
static bool is_to_be_tested(const struct throttle *throttle,
                            const struct throttle_refusal *refusal)
{
    return refusal->page_refusals > 0 || refusal->retry_after_ns > 0 ||
           (throttle->rate > 0 && !throttle->is_limit);
}

static bool is_reason_to_cut(const struct throttle *throttle,
                             const struct throttle_refusal *refusal)
{
    unsigned enough = is_explicit(refusal) ? 1 : MANY_REFUSALS;

    return recent_refusals(throttle) >= enough && refusal->sent_ns >= throttle->cut_ns &&
           !(refusal->is_rested && throttle_is_test(refusal));
}

enum throttle_advice throttle_refuse(struct throttle *throttle,
                                     const struct throttle_refusal *refusal)
{
    note_refusal(throttle, refusal);
    if (throttle->is_unrelated)
        doubt_unrelated(throttle);
    if (throttle->is_unrelated && refusal->retry_after_ns == 0)
        return THROTTLE_FAILURE;
    if (is_reason_to_cut(throttle, refusal))
        cut_rate(throttle, refusal);
    throttle->is_given_up =
        throttle->is_given_up || has_refused_for_long(throttle, refusal);
    if (throttle->is_given_up || is_of_the_page(throttle, refusal))
        return THROTTLE_FINAL;
    if (refusal->is_rested && throttle_is_test(refusal))
        return THROTTLE_AGAIN; /* the next request is for another page */
    return is_to_be_tested(throttle, refusal) ? THROTTLE_TEST : THROTTLE_AGAIN;
}
