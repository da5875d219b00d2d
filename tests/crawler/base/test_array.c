#include "../../../crawler/base/array.h"
#include "../../harness/harness.h"

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
    CHECK_PTR(all, &one);
    CHECK(many == SIZE_MAX / 8 && most == SIZE_MAX / 2 + 1);
}
