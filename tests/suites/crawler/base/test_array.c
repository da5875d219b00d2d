#include "../../../../crawler/base/array.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

TEST(array_keeps_its_elements_as_it_grows)
{
    size_t count = 0, capacity = 0;
    uint64_t *all = NULL;

    while (count < 1000) {
        if (count == capacity)
            CHECK_INT(array_grow(&all, &capacity, sizeof *all), 0);
        CHECK(capacity > count);
        all[count] = count;
        count++;
    }
    for (size_t i = 0; i < count; i++)
        CHECK_INT(all[i], i);
    free(all);
}

TEST(array_without_room_stays_as_it_is)
{
    size_t many = SIZE_MAX / 8, most = SIZE_MAX / 2 + 1;
    uint64_t one = 1, *all = &one;

    CHECK_INT(array_grow(&all, &many, sizeof *all), -ENOMEM);
    CHECK_INT(array_grow(&all, &most, 1), -ENOMEM);
    CHECK_INT(array_reach(&all, &many, sizeof *all, SIZE_MAX / 8), -ENOMEM);
    CHECK_PTR(all, &one);
    CHECK(many == SIZE_MAX / 8 && most == SIZE_MAX / 2 + 1);
}

TEST(array_reaches_an_index_with_zeroes)
{
    size_t capacity = 0, before;
    uint32_t *all = NULL;

    CHECK_INT(array_reach(&all, &capacity, sizeof *all, 0), 0);
    before = capacity;
    for (size_t i = 0; i < before; i++)
        all[i] = 7;
    CHECK_INT(array_reach(&all, &capacity, sizeof *all, before - 1), 0);
    CHECK_INT(capacity, before);
    CHECK_INT(array_reach(&all, &capacity, sizeof *all, 1000), 0);
    CHECK(capacity > 1000);
    for (size_t i = 0; i < capacity; i++)
        CHECK_INT(all[i], i < before ? 7 : 0);
    free(all);
}
