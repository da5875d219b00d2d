/*
 * test_store.c - the allocator of cells, in which swapped-out stacks are stored.
 */
#include "../../../src/coro/store.h"
#include "../../harness/harness.h"

enum { COUNT = 3000 };

TEST(store_cells_are_aligned_and_apart)
{
    static unsigned char *cells[COUNT];
    struct coil__store store;

    coil__store_init(&store);
    for (size_t size = 16; size <= COIL__STORE_MAX; size += 336) {
        for (int i = 0; i < COUNT; i++) {
            cells[i] = coil__store_take(&store, size);
            CHECK_INT((uintptr_t)cells[i] & 15, 0);
            memset(cells[i], i & 255, size);
        }
        CHECK_INT(store.bytes, COUNT * size);
        for (int i = 0; i < COUNT; i++) {
            CHECK_INT(cells[i][0], i & 255);
            CHECK_INT(cells[i][size - 1], i & 255);
            coil__store_give(&store, cells[i]);
        }
        CHECK_INT(store.bytes, 0);
        CHECK_INT(store.chunk_count, 0);
    }
    coil__store_drain(&store);
}

TEST(store_uses_cells_again_and_returns_empty_chunks)
{
    static void *cells[COUNT];
    struct coil__store store;
    size_t chunks;
    void *one;

    coil__store_init(&store);
    for (int i = 0; i < COUNT; i++)
        cells[i] = coil__store_take(&store, 256);
    chunks = store.chunk_count;
    CHECK(chunks >= COUNT * 256 / 65536 && chunks <= COUNT * 256 / 65000 + 1);
    for (int i = 0; i < COUNT; i += 2)
        coil__store_give(&store, cells[i]);
    CHECK_INT(store.chunk_count, chunks);
    one = cells[COUNT - 2];
    CHECK_PTR(coil__store_take(&store, 256), one);
    coil__store_give(&store, one);
    for (int i = 1; i < COUNT; i += 2)
        coil__store_give(&store, cells[i]);
    CHECK_INT(store.chunk_count, 0);
    one = coil__store_take(&store, 1024);
    CHECK_INT(store.chunk_count, 1);
    coil__store_give(&store, one);
    coil__store_drain(&store);
}
