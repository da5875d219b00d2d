#include "../../crawler/attempt.h"
#include "../harness/harness.h"

/* 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples. */
#define THEN 784111777

TEST(attempt_retry_after_in_seconds)
{
    CHECK_INT(attempt_retry_after("0", THEN), 0);
    CHECK_INT(attempt_retry_after("120", THEN), COIL_SEC(120));
    CHECK_INT(attempt_retry_after(" 7 ", THEN), COIL_SEC(7));
    CHECK_INT(attempt_retry_after("99999999999999999999999", THEN), COIL_SEC(1000000000));
}

TEST(attempt_retry_after_a_date)
{
    CHECK_INT(attempt_retry_after("Sun, 06 Nov 1994 08:49:47 GMT", THEN), COIL_SEC(10));
    CHECK_INT(attempt_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", THEN), 0);
    CHECK_INT(attempt_retry_after("Sun, 06 Nov 1994 08:49:27 GMT", THEN), 0);
}

TEST(attempt_retry_after_nonsense)
{
    CHECK_INT(attempt_retry_after("", THEN), 0);
    CHECK_INT(attempt_retry_after("-5", THEN), 0);
    CHECK_INT(attempt_retry_after("soon", THEN), 0);
    CHECK_INT(attempt_retry_after("5 minutes", THEN), 0);
}
