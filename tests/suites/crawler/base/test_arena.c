#include "../../../../crawler/base/arena.h"
#include "../../../harness/harness.h"

TEST(arena_memory_is_aligned_and_apart)
{
    struct arena arena = {.chunks = NULL};
    char *last = NULL;
    size_t last_n = 0;

    for (size_t i = 0; i < 20000; i++) {
        size_t n = i % 37;
        char *at = arena_alloc(&arena, n);
        CHECK(at != NULL);
        if ((uintptr_t)at % sizeof(uint64_t) != 0)
            CHECK_INT((uintptr_t)at % sizeof(uint64_t), 0);
        memset(at, (int)i, n);
        if (last != NULL && last_n > 0 && last[last_n - 1] != (char)(i - 1))
            CHECK_INT(last[last_n - 1], (char)(i - 1));
        last = at;
        last_n = n;
        CHECK_STR(arena_text(&arena, "odd", i % 4), i % 4 == 0   ? ""
                                                    : i % 4 == 1 ? "o"
                                                    : i % 4 == 2 ? "od"
                                                                 : "odd");
    }
    arena_finish(&arena);
}

TEST(arena_what_is_large_does_not_waste_the_rest_of_a_chunk)
{
    struct arena arena = {.chunks = NULL};
    char *small = arena_text(&arena, "a", 1), *large = arena_alloc(&arena, 1 << 20);

    CHECK(small != NULL && large != NULL);
    memset(large, 'x', 1 << 20);
    CHECK_PTR(arena_text(&arena, "b", 1), small + 2);
    CHECK_STR(small, "a");
    arena_finish(&arena);
    CHECK_PTR(arena.chunks, NULL);
}

TEST(arena_begins_with_something_large)
{
    struct arena arena = {.chunks = NULL};
    char *large = arena_alloc(&arena, 100000);

    CHECK(large != NULL);
    memset(large, 'x', 100000);
    CHECK_STR(arena_text(&arena, "after", 5), "after");
    CHECK_INT(large[99999], 'x');
    arena_finish(&arena);
    arena_finish(&arena);
}
