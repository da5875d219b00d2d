/*
 * test_progress.c - crawler/report/progress.h: the progress line in terminals of
 * different widths.
 */
#include "../../../../crawler/report/progress.h"
#include "../../../harness/harness.h"

static void check_line(const struct progress *progress, size_t width,
                       const char *expected)
{
    char line[256];

    CHECK_INT(progress_line(progress, line, sizeof line, width), strlen(expected));
    CHECK_STR(line, expected);
}

TEST(progress_fits_any_width)
{
    const struct progress progress = {.known = 758, .done = 640, .bad = 12, .rate = 59};
    char line[256];

    check_line(&progress, 200, "640 of 758, 12 bad, 59/s, 2 s left");
    check_line(&progress, 33, "640 of 758, 12 bad, 59/s");
    check_line(&progress, 20, "640 of 758, 12 bad");
    check_line(&progress, 10, "640 of 758");
    check_line(&progress, 9, "640");
    check_line(&progress, 2, "");
    check_line(&progress, 0, "");
    for (size_t width = 0; width < 300; width++)
        CHECK(progress_line(&progress, line, sizeof line, width) <= width);
}

TEST(progress_leaves_out_what_is_not_known)
{
    check_line(&(struct progress){.known = 1}, 80, "0 of 1");
    check_line(&(struct progress){.known = 900, .done = 100, .rate = 10}, 80,
               "100 of 900, 10/s"); /* no estimate, because too few targets are done */
    check_line(&(struct progress){.known = 9000, .done = 5000, .rate = 10}, 80,
               "5000 of 9000, 10/s, 7 min left");
    check_line(&(struct progress){.known = 9000, .done = 5000, .rate = 0.2}, 80,
               "5000 of 9000, 6 h left");
    check_line(&(struct progress){.known = 9, .done = 9, .rate = 3}, 80, "9 of 9, 3/s");
}

TEST(progress_rate_is_a_mean_of_late)
{
    struct progress progress = {0};

    progress_update(&progress, 100, 0, 0, COIL_SEC(1));
    CHECK(progress.rate == 0);
    progress_update(&progress, 100, 7, 1, COIL_SEC(1) + COIL_MSEC(100));
    CHECK(progress.rate == 0 && progress.done == 7 && progress.bad == 1);
    progress_update(&progress, 100, 10, 0, COIL_SEC(2));
    CHECK(progress.rate > 9.9 && progress.rate < 10.1);
    progress_update(&progress, 100, 40, 0, COIL_SEC(3)); /* 30 in the last second */
    CHECK(progress.rate > 15.9 && progress.rate < 16.1);
    progress_update(&progress, 100, 40, 0, COIL_SEC(4));
    CHECK(progress.rate < 12);
}
