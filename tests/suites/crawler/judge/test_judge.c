#include "../../../../crawler/judge/judge.h"
#include "../../../harness/harness.h"

#include <errno.h>

static void check(struct judgement judgement, enum verdict verdict, enum reason reason)
{
    CHECK_INT(judgement.verdict, verdict);
    CHECK_INT(judgement.reason, reason);
}

TEST(judge_statuses)
{
    static const struct {
        int status;
        enum verdict on_site, elsewhere;
    } rows[] = {
        {200, VERDICT_OK, VERDICT_OK},          {204, VERDICT_OK, VERDICT_OK},
        {206, VERDICT_OK, VERDICT_OK},          {300, VERDICT_OK, VERDICT_OK},
        {304, VERDICT_OK, VERDICT_OK},          {400, VERDICT_BROKEN, VERDICT_BROKEN},
        {401, VERDICT_BROKEN, VERDICT_BLOCKED}, {403, VERDICT_BROKEN, VERDICT_BLOCKED},
        {404, VERDICT_BROKEN, VERDICT_BROKEN},  {405, VERDICT_BROKEN, VERDICT_BROKEN},
        {407, VERDICT_BROKEN, VERDICT_BLOCKED}, {410, VERDICT_BROKEN, VERDICT_BROKEN},
        {429, VERDICT_BROKEN, VERDICT_BLOCKED}, {451, VERDICT_BROKEN, VERDICT_BLOCKED},
        {500, VERDICT_BROKEN, VERDICT_BROKEN},  {503, VERDICT_BROKEN, VERDICT_BROKEN},
        {999, VERDICT_BROKEN, VERDICT_BLOCKED},
    };
    struct options options;

    CHECK_INT(options_init(&options), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct answer answer = {.status = rows[i].status};
        check(judge_answer(&options, "http://h/", true, &answer), rows[i].on_site,
              rows[i].on_site == VERDICT_OK ? REASON_NONE : REASON_STATUS);
        check(judge_answer(&options, "http://h/", false, &answer), rows[i].elsewhere,
              rows[i].elsewhere == VERDICT_OK ? REASON_NONE : REASON_STATUS);
    }
    options_finish(&options);
}

TEST(judge_accepts_what_the_user_accepts)
{
    struct status_range ranges[] = {{.first = 200, .last = 200},
                                    {.first = 403, .last = 404}};
    struct options options = {.accept = ranges, .accept_count = 2};
    struct answer answer = {.status = 404};

    check(judge_answer(&options, "http://h/", true, &answer), VERDICT_OK, REASON_NONE);
    answer.status = 403;
    check(judge_answer(&options, "http://h/", false, &answer), VERDICT_OK, REASON_NONE);
    answer.status = 201;
    check(judge_answer(&options, "http://h/", true, &answer), VERDICT_BROKEN,
          REASON_STATUS);
    answer.status = 405;
    check(judge_answer(&options, "http://h/", true, &answer), VERDICT_BROKEN,
          REASON_STATUS);
}

TEST(judge_accepts_of_a_host_what_is_said_of_it)
{
    struct status_range ranges[] = {
        {200, 299, {NULL, 0}}, {403, 403, {"b.example", 0}}, {404, 404, {"c", 8080}}};
    struct options options = {.accept = ranges, .accept_count = 3};
    static const struct {
        const char *url;
        int status;
        enum verdict verdict;
    } rows[] = {
        {"http://b.example/x", 403, VERDICT_OK},
        {"https://u:p@b.example:8443/x", 403, VERDICT_OK},
        {"http://www.b.example/x", 403, VERDICT_OK},
        {"http://b.example/x", 200, VERDICT_OK},
        {"http://b.example/x", 404, VERDICT_BROKEN},
        {"http://ab.example/x", 403, VERDICT_BLOCKED},
        {"http://b.example.org/x", 403, VERDICT_BLOCKED},
        {"http://c:8080/x", 404, VERDICT_OK},
        {"http://c/x", 404, VERDICT_BROKEN},
    };
    struct answer challenge = {.status = 403, .is_challenge = true};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct answer answer = {.status = rows[i].status};
        CHECK_INT(judge_answer(&options, rows[i].url, false, &answer).verdict,
                  rows[i].verdict);
    }
    check(judge_answer(&options, "http://b.example/", false, &challenge), VERDICT_OK,
          REASON_NONE);
    check(judge_answer(&options, "http://b.example/", true, &challenge), VERDICT_OK,
          REASON_NONE);
}

TEST(judge_challenges_are_of_other_sites)
{
    struct status_range range = {.first = 200, .last = 299};
    struct options options = {.accept = &range, .accept_count = 1};
    struct answer answer = {.status = 200, .is_challenge = true};

    check(judge_answer(&options, "http://h/", false, &answer), VERDICT_BLOCKED,
          REASON_CHALLENGE);
    check(judge_answer(&options, "http://h/", true, &answer), VERDICT_OK, REASON_NONE);
    answer.status = 503;
    check(judge_answer(&options, "http://h/", false, &answer), VERDICT_BLOCKED,
          REASON_CHALLENGE);
    check(judge_answer(&options, "http://h/", true, &answer), VERDICT_BROKEN,
          REASON_STATUS);
}

TEST(judge_failures_of_robots_txt)
{
    struct answer answer = {.status = 503};

    check(judge_rules(&answer), VERDICT_ERROR, REASON_STATUS);
    answer = (struct answer){.rc = -EKEYREJECTED};
    check(judge_rules(&answer), VERDICT_ERROR, REASON_TLS);
    answer = (struct answer){.rc = -ETIMEDOUT, .is_late = true};
    check(judge_rules(&answer), VERDICT_TIMEOUT, REASON_MAX_TIME);
    answer = (struct answer){.rc = -EACCES}; /* a redirect to a private address */
    check(judge_rules(&answer), VERDICT_ERROR, REASON_NETWORK);
}

TEST(judge_failures)
{
    static const struct {
        int rc;
        bool is_late;
        enum verdict verdict;
        enum reason reason;
    } rows[] = {
        {-ETIMEDOUT, false, VERDICT_TIMEOUT, REASON_NO_PROGRESS},
        {-ETIMEDOUT, true, VERDICT_TIMEOUT, REASON_MAX_TIME},
        {-EKEYREJECTED, false, VERDICT_ERROR, REASON_TLS},
        {-EPROTO, false, VERDICT_ERROR, REASON_PROTOCOL},
        {-EMSGSIZE, false, VERDICT_ERROR, REASON_PROTOCOL},
        {-ENODATA, false, VERDICT_ERROR, REASON_NETWORK},
        {-EBADMSG, false, VERDICT_ERROR, REASON_PROTOCOL},
        {-EACCES, false, VERDICT_SKIPPED, REASON_PRIVATE},
        {-ENOENT, false, VERDICT_ERROR, REASON_NETWORK},
        {-ECONNREFUSED, false, VERDICT_ERROR, REASON_NETWORK},
        {-ECONNRESET, false, VERDICT_ERROR, REASON_NETWORK},
        {-EHOSTUNREACH, false, VERDICT_ERROR, REASON_NETWORK},
    };
    struct options options = {.accept_count = 0};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int on_site = 0; on_site < 2; on_site++) {
            struct answer answer = {.rc = rows[i].rc,
                                    .is_late = rows[i].is_late,
                                    .status = 200,
                                    .is_challenge = true};
            check(judge_answer(&options, "http://h/", on_site, &answer), rows[i].verdict,
                  rows[i].reason);
        }
}

TEST(judge_protocol_failures_behind_tls_are_of_tls)
{
    struct options options = {.accept_count = 0};
    struct answer answer = {.rc = -EPROTO, .is_tls = true};

    check(judge_answer(&options, "http://h/", true, &answer), VERDICT_ERROR, REASON_TLS);
    answer.rc = -ECONNRESET;
    check(judge_answer(&options, "http://h/", true, &answer), VERDICT_ERROR,
          REASON_NETWORK);
}

TEST(judge_redirects)
{
    for (int status = 200; status < 400; status++)
        CHECK_INT(answer_is_redirect(status), status == 301 || status == 302 ||
                                                  status == 303 || status == 307 ||
                                                  status == 308);
    check(judge_redirect(301, 1), VERDICT_REDIRECT, REASON_PERMANENT);
    check(judge_redirect(308, 1), VERDICT_REDIRECT, REASON_PERMANENT);
    check(judge_redirect(302, 1), VERDICT_REDIRECT, REASON_TEMPORARY);
    check(judge_redirect(303, 1), VERDICT_REDIRECT, REASON_TEMPORARY);
    check(judge_redirect(307, 1), VERDICT_REDIRECT, REASON_TEMPORARY);
    check(judge_redirect(301, 2), VERDICT_REDIRECT, REASON_CHAIN);
}

TEST(judge_what_fails_by_default)
{
    struct options options;

    CHECK_INT(options_init(&options), 0);
    for (enum verdict verdict = VERDICT_OK; verdict < VERDICT_COUNT; verdict++)
        CHECK_INT(judge_fails(&options, verdict),
                  verdict == VERDICT_BROKEN || verdict == VERDICT_FRAGMENT ||
                      verdict == VERDICT_ERROR || verdict == VERDICT_TIMEOUT);
    options_finish(&options);
}
