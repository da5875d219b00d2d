#include "../../../../crawler/frontier/depth_queue.h"
#include "../../../../crawler/frontier/target.h"
#include "../../../harness/harness.h"

static struct target targets[5000];

TEST(deeper_gives_the_least_depth_in_the_order_in_which_it_was_added)
{
    struct depth_queue depth_queue = {.count = 0};

    CHECK_INT(depth_queue_add(&depth_queue, 3, &targets[0]), 0);
    CHECK_INT(depth_queue_add(&depth_queue, 2, &targets[1]), 0);
    CHECK_INT(depth_queue_add(&depth_queue, 65535, &targets[2]), 0);
    CHECK_INT(depth_queue_add(&depth_queue, 2, &targets[3]), 0);
    CHECK_INT(depth_queue.count, 4);
    CHECK_INT(depth_queue_first(&depth_queue), 2);
    CHECK_PTR(depth_queue_take(&depth_queue, 2), &targets[1]);
    CHECK_PTR(depth_queue_take(&depth_queue, 2), &targets[3]);
    CHECK_PTR(depth_queue_take(&depth_queue, 2), NULL);
    CHECK_INT(depth_queue_first(&depth_queue), 3);
    CHECK_PTR(depth_queue_take(&depth_queue, 3), &targets[0]);
    CHECK_PTR(depth_queue_take(&depth_queue, depth_queue_first(&depth_queue)),
              &targets[2]);
    CHECK_INT(depth_queue.count, 0);
    depth_queue_finish(&depth_queue);
    depth_queue_finish(&depth_queue);
}

TEST(deeper_makes_room_of_what_was_taken)
{
    struct depth_queue depth_queue = {.count = 0};

    for (unsigned depth = 0; depth < 50; depth++) {
        for (int i = 0; i < 5000; i++)
            depth_queue_add(&depth_queue, depth, &targets[i]);
        for (int i = 0; i < 5000; i++)
            if (depth_queue_take(&depth_queue, depth) != &targets[i])
                CHECK_INT(depth, i);
    }
    CHECK_INT(depth_queue.made, 5000);
    depth_queue_finish(&depth_queue);
}
