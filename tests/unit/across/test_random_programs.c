/*
 * test_random_programs.c - random programs on a network with all kinds of faults.
 *
 * See random_program.c. Each run uses a few hundred seeds. `coil-tests -n 1000` uses
 * more.
 */
#include "random_program.h"
#include "random_tls.h"

#include "../../harness/harness.h"

#include <coil.h>

#include <string.h>

struct log {
    char *text;
    size_t size;
    int complaints;
};

static struct log run_once(uint64_t seed, uint64_t failing)
{
    struct log log = {0};
    FILE *file = open_memstream(&log.text, &log.size);
    int64_t blocks = coil_testing_blocks();

    log.complaints = run_random_program(seed, failing, file);
    fclose(file);
    CHECK_INT(coil_testing_blocks(), blocks);
    return log;
}

/* Print the first line in which the two logs differ. */
static void print_difference(const char *a, const char *b)
{
    size_t same = 0, line = 0;

    for (; a[same] != '\0' && a[same] == b[same]; same++)
        if (a[same] == '\n')
            line = same + 1;
    printf("once:  %.*s\nagain: %.*s\n", (int)strcspn(a + line, "\n"), a + line,
           (int)strcspn(b + line, "\n"), b + line);
}

TEST(random_programs_on_a_simulated_network)
{
    uint64_t seed = test_first_seed(), end = seed + (uint64_t)test_seed_count(300);

    random_tls_begin();
    for (bool failed = false; seed < end && !failed; seed++) {
        struct log once = run_once(seed, 0), again = run_once(seed, 0);

        failed = once.complaints > 0 || strcmp(once.text, again.text) != 0;
        CHECK_INT(once.complaints, 0);
        if (strcmp(once.text, again.text) != 0)
            print_difference(once.text, again.text);
        CHECK(strcmp(once.text, again.text) == 0);
        if (failed)
            test_seed_failed(seed, "random_programs_on_a_simulated_network");
        if (failed && getenv("COIL_TEST_SEED") != NULL)
            fputs(once.text, stdout);
        free(once.text);
        free(again.text);
    }
    random_tls_end();
}

/* In each program one allocation fails, each time another one. */
TEST(random_programs_without_memory)
{
    uint64_t seed = test_first_seed(), end = seed + (uint64_t)test_seed_count(300);

    random_tls_begin();
    for (bool failed = false; seed < end && !failed; seed++) {
        struct log log = run_once(seed, 1 + seed * 7919 % 200);

        failed = log.complaints > 0;
        CHECK_INT(log.complaints, 0);
        if (failed)
            test_seed_failed(seed, "random_programs_without_memory");
        if (failed && getenv("COIL_TEST_SEED") != NULL)
            fputs(log.text, stdout);
        free(log.text);
    }
    coil_testing_fail_allocation(0);
    random_tls_end();
}
