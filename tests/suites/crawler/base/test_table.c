#include "../../../../crawler/base/table.h"
#include "../../../harness/harness.h"

TEST(table_starts_empty_and_as_zeroes)
{
    struct table table = {0};

    CHECK_PTR(table_get(&table, "a"), NULL);
    CHECK_INT(table.count, 0);
    table_finish(&table);
}

TEST(table_keeps_every_key_while_it_grows)
{
    char(*keys)[24] = test_memory(20000 * sizeof *keys);
    struct table table = {0};

    for (size_t i = 0; i < 20000; i++) {
        snprintf(keys[i], sizeof keys[i], "http://host/%zu", i);
        CHECK_INT(table_add(&table, keys[i], keys[i]), 0);
    }
    CHECK_INT(table.count, 20000);
    for (size_t i = 0; i < 20000; i++)
        CHECK_PTR(table_get(&table, keys[i]), keys[i]);
    CHECK_PTR(table_get(&table, "http://host/20000"), NULL);
    table_finish(&table);
}

TEST(table_tells_keys_apart_that_share_a_beginning)
{
    const char *keys[] = {"", "a", "aa", "aaaaaaaa", "aaaaaaaaa", "aaaaaaaaaaaaaaaa"};
    struct table table = {0};

    for (size_t i = 0; i < 6; i++)
        CHECK_INT(table_add(&table, keys[i], (void *)keys[i]), 0);
    for (size_t i = 0; i < 6; i++)
        CHECK_STR(table_get(&table, keys[i]), keys[i]);
    CHECK_PTR(table_get(&table, "aaaaaaa"), NULL);
    table_finish(&table);
}
