/*
 * throttle.c - adapt the rate of requests to a host that limits that rate.
 *
 *     no limit -- refused --> 128/s -- refused --> 64/s -- ... --> 1/4 per second
 *         ^                    |  ^                 |
 *         '-- above 256/s -----'  '--- answered ----'
 *
 * A refusal with 429 or with Retry-After halves the rate. A 503 without Retry-After may
 * concern a single page, so the rate is halved only if two of the last ten answers are
 * refusals. Refusals of requests that were sent before the last cut do not halve the rate
 * again.
 *
 * While the host answers, the rate grows each second by a tenth of its value before the
 * last cut, so it returns to that value after about five seconds. An answer adds at most
 * 7 %, so at low rates, ten answers double the rate. If the host refuses nothing for a
 * long time, the growth per second doubles.
 *
 * Refusals do not count as tries of a page. Instead, the refused page is tested: its host
 * gets no requests during a "rest" (at least a second, and the time in Retry-After), and
 * then one request for this page. If the host refuses the test but answers the request
 * for the next page, the tested page itself is the reason, and its next refusal is final.
 * A page's eighth refusal is also final, if its host answers other pages. If the host
 * answers the test, it evidently limits the rate. From then on, a page is tested only
 * after its second refusal.
 *
 * A host is given up if it has refused all requests for PATIENCE_NS, including requests
 * after several rests. SHORT_PATIENCE_NS applies to hosts outside the site, to 503
 * without Retry-After, and to hosts that have never answered, because their refusals may
 * be permanent. Once a host has been given up on, the rate is no longer limited, but a
 * page that it refuses is not tried again.
 *
 * If three tests in a row show that the page itself is the reason, refusals are probably
 * unrelated to the rate. In that case, the limit is lifted, and refusals without
 * Retry-After are treated as ordinary failures until ten answers in a row are refusals.
 */
#include "throttle.h"

#include <coil/timer.h>

#define FIRST_RATE 128.0 /* requests per second; most crawls are slower */
#define LEAST_RATE 0.25
#define GROWTH_OF_RATE 0.1 /* per second */
#define GROWTH_PER_ANSWER 0.07
/*
 * The growth doubles after FASTER_NS without a refusal that cut the rate, if at least
 * FASTER_COUNT answers arrived in that time.
 */
#define FASTER_NS COIL_SEC(10)
#define FASTER_COUNT 50
#define BUCKET_SECONDS 0.05
#define RECENT 10       /* number of answers in throttle->recent */
#define MANY_REFUSALS 2 /* number of recent refusals after which the rate is cut */
#define PROVEN_ENOUGH 3 /* number of proofs in a row after which the limit is lifted */
#define REST_NS COIL_SEC(1)
#define PATIENCE_NS COIL_SEC(24)
#define SHORT_PATIENCE_NS COIL_SEC(6)
#define LONGEST_REST_NS COIL_SEC(8) /* the longest rest, unless Retry-After is longer */
#define RESTS_OF_RATE 4 /* a rest lasts as long as 4 requests at the current rate */
#define FIRST_PAUSE_NS COIL_MSEC(200)
#define LAST_DOUBLING 5 /* a page's pause doubles at most 5 times, to 6.4 s */

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

/*
 * Raise the rate after an answer. The steps add up to `growth` per second, but each is at
 * most GROWTH_PER_ANSWER of the rate.
 */
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

/* Return true if the refusal is certainly due to the rate. */
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
        lift_limit(throttle); /* the host answers although the rate was unlimited */
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

/*
 * Return true if the page itself is the reason for its refusals: a test or eight refusals
 * have shown this, and the host recently answered requests for other pages.
 */
static bool is_of_the_page(const struct throttle *throttle,
                           const struct throttle_refusal *refusal)
{
    return refusal->page_refusals >= THROTTLE_PAGE_REFUSALS &&
           throttle->answered_ns != 0 &&
           refusal->sent_ns - throttle->answered_ns < PATIENCE_NS;
}

/*
 * If all recent answers are refusals, no longer assume that refusals are unrelated to the
 * rate.
 */
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

/*
 * Return true if the page must be tested: if it was refused before, or with Retry-After.
 * Otherwise, its first refusal does not lead to a test if an earlier test has already
 * shown that the host limits the rate, because tests take time.
 */
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
        return THROTTLE_AGAIN; /* so that another page is requested next */
    return is_to_be_tested(throttle, refusal) ? THROTTLE_TEST : THROTTLE_AGAIN;
}
