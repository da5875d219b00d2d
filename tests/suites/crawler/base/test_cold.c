#include "../../../../crawler/base/cold.h"
#include "../../../harness/harness.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define PIECE ((size_t)64 * 1024)
#define MIB ((size_t)1024 * 1024)

/* Return the number of bytes of mapped files that are resident in memory. */
static size_t mapped_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long shared = 0;

    CHECK(file != NULL && fscanf(file, "%*u %*u %lu", &shared) == 1);
    fclose(file);
    return shared * (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Allocate `count` pieces and write to them. Returns the maximal growth of
 * mapped_bytes().
 */
static size_t fill(struct cold *cold, char **pieces, size_t count)
{
    size_t before = mapped_bytes(), most = 0;

    for (size_t i = 0; i < count; i++) {
        pieces[i] = cold_take(cold, PIECE);
        CHECK(pieces[i] != NULL && pieces[i][0] == 0 && pieces[i][PIECE - 1] == 0);
        memset(pieces[i], (int)(i % 100) + 1, PIECE);
        for (int j = 0; j < 64; j++)
            cold_tend(cold);
        if (mapped_bytes() > before + most)
            most = mapped_bytes() - before;
    }
    return most;
}

static void check(char **pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pieces[i][0] != (char)(i % 100 + 1) || pieces[i][PIECE - 1] != pieces[i][0])
            CHECK_INT(pieces[i][0], i % 100 + 1);
}

TEST(cold_memory_leaves_the_process_and_comes_back)
{
    enum { COUNT = 1024 };
    static char *pieces[COUNT];
    struct cold *cold = cold_create(".");

    CHECK(fill(cold, pieces, COUNT) < COLD_BUDGET_BYTES + 4 * MIB);
    check(pieces, COUNT);
    cold_destroy(cold);
}

TEST(cold_memory_is_aligned_and_as_large_as_is_asked_for)
{
    struct cold *cold = cold_create(".");
    char *one = cold_take(cold, 1), *large = cold_take(cold, 5 * MIB),
         *after = cold_take(cold, 100);

    CHECK_INT((uintptr_t)one % 64 + (uintptr_t)large % 64 + (uintptr_t)after % 64, 0);
    memset(large, 'x', 5 * MIB);
    CHECK_INT(*one + *after, 0);
    CHECK_PTR(cold_take(cold, SIZE_MAX), NULL);
    cold_destroy(cold);
    cold_destroy(NULL);
    cold_tend(NULL);
}

TEST(cold_memory_that_has_no_file_is_memory)
{
    static char *pieces[300];
    struct cold *cold = cold_create("/is/not/there");

    fill(cold, pieces, 300);
    check(pieces, 300);
    cold_destroy(cold);
    cold = cold_create(NULL);
    CHECK(cold_take(cold, 1) != NULL);
    cold_destroy(cold);
}

/*
 * When the disk is full, memory that is already in the file can still be released, and
 * new memory stays in RAM.
 */
TEST(cold_memory_goes_on_in_memory_once_the_disk_is_full)
{
    static char *pieces[600];
    struct rlimit limit = {4 * MIB, 4 * MIB};
    struct cold *cold = cold_create(".");

    /*
     * A limit of the file size simulates a full disk. Ignore SIGXFSZ, which the kernel
     * sends at the limit.
     */
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fill(cold, pieces, 600);
    check(pieces, 600);
    cold_destroy(cold);
}
