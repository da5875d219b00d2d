#include "../../../crawler/frontier/depth_queue.h"
#include "../../../crawler/frontier/target.h"
#include "../../harness/harness.h"

static struct target targets[5000];

TEST(deeper_gives_the_least_depth_in_the_order_in_which_it_was_added)
{
    struct deeper deeper = {.count = 0};

    CHECK_INT(deeper_add(&deeper, 3, &targets[0]), 0);
    CHECK_INT(deeper_add(&deeper, 2, &targets[1]), 0);
    CHECK_INT(deeper_add(&deeper, 65535, &targets[2]), 0);
    CHECK_INT(deeper_add(&deeper, 2, &targets[3]), 0);
    CHECK_INT(deeper.count, 4);
    CHECK_INT(deeper_first(&deeper), 2);
    CHECK_PTR(deeper_take(&deeper, 2), &targets[1]);
    CHECK_PTR(deeper_take(&deeper, 2), &targets[3]);
    CHECK_PTR(deeper_take(&deeper, 2), NULL);
    CHECK_INT(deeper_first(&deeper), 3);
    CHECK_PTR(deeper_take(&deeper, 3), &targets[0]);
    CHECK_PTR(deeper_take(&deeper, deeper_first(&deeper)), &targets[2]);
    CHECK_INT(deeper.count, 0);
    deeper_finish(&deeper);
    deeper_finish(&deeper);
}

TEST(deeper_makes_room_of_what_was_taken)
{
    struct deeper deeper = {.count = 0};

    for (unsigned depth = 0; depth < 50; depth++) {
        for (int i = 0; i < 5000; i++)
            deeper_add(&deeper, depth, &targets[i]);
        for (int i = 0; i < 5000; i++)
            if (deeper_take(&deeper, depth) != &targets[i])
                CHECK_INT(depth, i);
    }
    CHECK_INT(deeper.made, 5000);
    deeper_finish(&deeper);
}
