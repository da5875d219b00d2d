/*
 * test_memory.c - pages for stacks, and reading memory that may be unmapped.
 */
#include "../../harness/harness.h"

#include "../../../src/kernel/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TEST(memory_is_zero_when_it_is_mapped_and_when_it_was_discarded)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = coil__memory_map(2 * page);

    CHECK(memory != NULL && memory[0] == 0 && memory[2 * page - 1] == 0);
    coil__memory_keep_pages_small(memory, 2 * page);
    memset(memory, 1, 2 * page);
    CHECK(coil__memory_discard(memory, page));
    CHECK(memory[0] == 0 && memory[page] == 1);
    munmap(memory, 2 * page);
}

static void touch(void *memory)
{
    *(volatile char *)memory = 1;
}

TEST(memory_that_is_guarded_faults_also_when_it_is_discarded)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = coil__memory_map(2 * page);

    if (!coil__memory_has_guards(memory + page, page)) {
        test_skip("this kernel does not support such guards");
    } else {
        CHECK(coil__memory_guard(memory, page));
        CHECK(coil__memory_discard(memory, page));
        test_dies_by_signal(touch, memory, SIGSEGV, "");
    }
    munmap(memory, 2 * page);
}

TEST(memory_is_read_up_to_where_it_is_mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = coil__memory_map(2 * page), copy[64];
    int fd = coil__memory_open();

    if (fd < 0) {
        test_skip("this system does not let a process read its own memory");
        munmap(memory, 2 * page);
        return;
    }
    memcpy(memory + page - 4, "coil", 4);
    munmap(memory + page, page);
    CHECK_INT(coil__memory_read(fd, copy, (uintptr_t)memory + page - 4, sizeof copy), 4);
    CHECK(memcmp(copy, "coil", 4) == 0);
    munmap(memory, page);
    CHECK_INT(coil__memory_read(fd, copy, (uintptr_t)memory, sizeof copy), -1);
    close(fd);
}

TEST(memory_has_a_limit_of_mappings)
{
    CHECK(coil__memory_mapping_limit() > 0);
}
