#include "../../../../crawler/base/blocks.h"
#include "../../../harness/harness.h"

TEST(blocks_have_zeroes_that_do_not_move)
{
    struct blocks blocks = {.element_bytes = sizeof(int)};
    int *first = blocks_reach(&blocks, 0), *far = blocks_reach(&blocks, 1000000);

    CHECK_INT(*first + *far, 0);
    *first = 1;
    *far = 2;
    for (size_t i = 0; i < 100000; i++)
        CHECK(blocks_reach(&blocks, i) != NULL);
    CHECK_PTR(blocks_at(&blocks, 0), first);
    CHECK_PTR(blocks_reach(&blocks, 1000000), far);
    CHECK_INT(*(int *)blocks_at(&blocks, 1000000), 2);
    blocks_finish(&blocks);
    blocks_finish(&blocks);
}

TEST(blocks_are_made_where_they_are_needed_alone)
{
    struct blocks blocks = {.element_bytes = 1};

    CHECK_PTR(blocks_find(&blocks, 0), NULL);
    CHECK(blocks_reach(&blocks, 5 * BLOCKS_ELEMENTS) != NULL);
    CHECK_PTR(blocks_find(&blocks, 5 * BLOCKS_ELEMENTS - 1), NULL);
    CHECK(blocks_find(&blocks, 6 * BLOCKS_ELEMENTS - 1) != NULL);
    CHECK_PTR(blocks_find(&blocks, 500 * BLOCKS_ELEMENTS), NULL);
    blocks_finish(&blocks);
}

TEST(blocks_may_be_cold)
{
    struct cold *cold = cold_create(".");
    struct blocks blocks = {.element_bytes = 8, .cold = cold};
    uint64_t *at = blocks_reach(&blocks, 7);

    CHECK_INT(*at, 0);
    *at = 7;
    CHECK_PTR(blocks_find(&blocks, 7), at);
    blocks_finish(&blocks);
    cold_destroy(cold);
}
