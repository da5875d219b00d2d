/*
 * test_freed.c - coil_free() frees all memory that coil allocates for the caller:
 * docs/decisions/0011-one-function-frees.md.
 *
 * In these tests each block of coil's allocator has a header before the caller's bytes.
 * So if a block is freed with another allocator, the program crashes or the block counts
 * as a leak. tests/unit/http/client.c tests coil_http_read_all() in the same way.
 */
#include "../../harness/harness.h"
#include "../os/children.h"

#include <coil.h>

#include <unistd.h>

static void *read_file(void)
{
    void *data = NULL;
    size_t n;

    CHECK_INT(coil_read_file("/proc/self/cmdline", 0, &data, &n), 0);
    return data;
}

static void *read_empty_file(void)
{
    void *data = NULL;
    size_t n = 1;

    CHECK_INT(coil_read_file("/dev/null", 0, &data, &n), 0);
    CHECK_INT(n, 0);
    return data;
}

static void *read_output(void)
{
    coil_output output = {0};
    coil_process *p = start_command("echo hello", &(coil_process_opts){.out = COIL_PIPE});

    CHECK_INT(coil_process_communicate(p, NULL, 0, &output, NULL, 0), 0);
    CHECK_STR(output.data, "hello\n");
    coil_process_destroy(p);
    return output.data;
}

static void *reallocate(void)
{
    char *block = coil_realloc(NULL, 3);

    CHECK(block != NULL);
    memcpy(block, "ab", 3);
    block = coil_realloc(block, 100000);
    CHECK(block != NULL);
    CHECK_STR(block, "ab");
    return coil_realloc(block, 0); /* frees nothing */
}

static void *(*const functions[])(void) = {read_file, read_empty_file, read_output,
                                           reallocate};

IO_TEST(coil_free_frees_whatever_coil_returns)
{
    coil_free(NULL);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *block = functions[i]();

        CHECK(block != NULL);
        coil_free(block);
    }
}

TEST(freed_realloc_bears_a_failing_allocation)
{
    char *block = coil_realloc(NULL, 10), *larger;

    CHECK(block != NULL);
    test_fail_allocation(1);
    larger = coil_realloc(block, 20);
    test_fail_allocation(0);
    CHECK_PTR(larger, NULL);
    coil_free(block);
}
