/*
 * test_broadcast.c - broadcasts, which deliver each item to every receiver.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_broadcast news = COIL_BROADCAST_INIT(sizeof(int), 4);

static void send_item(int item)
{
    CHECK_INT(coil_broadcast_send(&news, &item), 0);
}

static int follow(void *arg)
{
    coil_receiver receiver;
    int item, rc;

    coil_broadcast_subscribe(&news, &receiver);
    while ((rc = coil_broadcast_receive(&receiver, &item)) >= 0)
        test_trace("%s%d/%d ", (const char *)arg, item, rc);
    return rc;
}

TASK_TEST(broadcast_gives_each_item_to_each_receiver)
{
    coil_task *a = test_spawn(follow, "a"), *b = test_spawn(follow, "b");

    send_item(1); /* no task receives yet */
    coil_yield();
    send_item(2);
    coil_yield();
    send_item(3);
    send_item(4);
    coil_broadcast_shutdown(&news);
    CHECK_INT(test_join(a), -ESHUTDOWN);
    CHECK_INT(test_join(b), -ESHUTDOWN);
    CHECK_TRACE("a2/0 b2/0 a3/0 a4/0 b3/0 b4/0 ");
    CHECK_INT(coil_broadcast_send(&news, &(int){5}), -ESHUTDOWN);
    coil_broadcast_finish(&news);
}

TASK_TEST(broadcast_reports_what_a_slow_receiver_missed)
{
    coil_receiver slow;
    int item;

    coil_broadcast_init(&news, sizeof(int), 4);
    coil_broadcast_subscribe(&news, &slow);
    CHECK_INT(coil_broadcast_receive_nowait(&slow, &item), -EAGAIN);
    for (int i = 1; i <= 10; i++)
        send_item(i);
    CHECK_INT(coil_broadcast_receive(&slow, &item), 6);
    CHECK_INT(item, 7);
    CHECK_INT(coil_broadcast_receive(&slow, &item), 0);
    CHECK_INT(item, 8);
    send_item(11);
    CHECK_INT(coil_broadcast_receive_nowait(&slow, &item), 0);
    CHECK_INT(item, 9);
    coil_broadcast_finish(&news);
}

TASK_TEST(broadcast_receiver_cancelled_receives_no_item)
{
    coil_task *task = test_spawn(follow, "a");

    coil_broadcast_init(&news, sizeof(int), 4);
    coil_yield();
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    send_item(1);
    CHECK_TRACE("");
    coil_broadcast_finish(&news);
    coil_broadcast_finish(NULL);
}

TASK_TEST(broadcast_fails_without_memory_or_a_size)
{
    coil_broadcast_init(&news, sizeof(int), 4);
    test_fail_allocation(1);
    CHECK_INT(coil_broadcast_send(&news, &(int){1}), -ENOMEM);
    test_fail_allocation(0);
    send_item(1);
    coil_broadcast_finish(&news);
    coil_broadcast_init(&news, 8, SIZE_MAX / 4);
    CHECK_INT(coil_broadcast_send(&news, &(int){1}), -ENOMEM);
    coil_broadcast_init(&news, 0, 4);
    CHECK_INT(coil_broadcast_send(&news, &(int){1}), -EINVAL);
    coil_broadcast_init(&news, 4, 0);
    CHECK_INT(coil_broadcast_send(&news, &(int){1}), -EINVAL);
}

/* ---- misuse ------------------------------------------------------------------------ */

static void receive_by(void *receiver)
{
    int item, rc = coil_broadcast_receive_nowait(receiver, &item);

    (void)rc;
}

static int receive_in_a_task(void *receiver)
{
    int item;

    return coil_broadcast_receive(receiver, &item);
}

static void run_receive_by(void *receiver)
{
    coil_run(receive_in_a_task, receiver, NULL);
}

static void check_both(coil_receiver *receiver, const char *message)
{
    char text[200];

    snprintf(text, sizeof text, "coil_broadcast_receive_nowait: %s", message);
    test_dies(receive_by, receiver, text);
    snprintf(text, sizeof text, "coil_broadcast_receive: %s", message);
    test_dies(run_receive_by, receiver, text);
}

TEST(broadcast_receiver_that_is_not_subscribed_is_a_mistake)
{
    coil_receiver receiver = {.broadcast = NULL};

    check_both(&receiver, "the receiver is not subscribed");
    memset(&receiver, 0xa5, sizeof receiver);
    check_both(&receiver, "the receiver is not subscribed");
    memset(&receiver, 0xff, sizeof receiver);
    check_both(&receiver, "the receiver is not subscribed");
}

static void send_to(void *broadcast)
{
    coil_broadcast_send(broadcast, &(int){1});
}

static void subscribe_to(void *broadcast)
{
    coil_receiver receiver;

    coil_broadcast_subscribe(broadcast, &receiver);
}

static void shut_down(void *broadcast)
{
    coil_broadcast_shutdown(broadcast);
}

TEST(broadcast_that_is_finished_is_not_used)
{
    coil_broadcast broadcast = COIL_BROADCAST_INIT(sizeof(int), 4);
    coil_receiver receiver;

    coil_broadcast_subscribe(&broadcast, &receiver);
    CHECK_INT(coil_broadcast_send(&broadcast, &(int){1}), 0);
    coil_broadcast_finish(&broadcast);
    check_both(&receiver, "the channel was finished before");
    test_dies(send_to, &broadcast,
              "coil_broadcast_send: the channel was finished before");
    test_dies(subscribe_to, &broadcast,
              "coil_broadcast_subscribe: the channel was finished before");
    test_dies(shut_down, &broadcast,
              "coil_broadcast_shutdown: the channel was finished before");
    coil_broadcast_finish(&broadcast);
    coil_broadcast_init(&broadcast, sizeof(int), 4);
    CHECK_INT(coil_broadcast_send(&broadcast, &(int){1}), 0);
    coil_broadcast_finish(&broadcast);
}

TEST(broadcast_of_zeroes_fails)
{
    coil_broadcast broadcast = {.capacity = 0};
    coil_receiver receiver;
    int item;

    coil_broadcast_subscribe(&broadcast, &receiver);
    CHECK_INT(coil_broadcast_send(&broadcast, &(int){1}), -EINVAL);
    CHECK_INT(coil_broadcast_receive_nowait(&receiver, &item), -EINVAL);
    CHECK_INT(coil_broadcast_receive(&receiver, &item), -EINVAL);
    coil_broadcast_finish(&broadcast);
}
