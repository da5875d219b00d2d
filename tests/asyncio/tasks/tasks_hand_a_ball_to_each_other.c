/* Two tasks that wake each other by futures take a turn for each throw, with others
 * between. */
#include "../scenario.h"

static coil_future *balls[7];

static int play(const char *name, int i)
{
    for (; i < 6; i += 2) {
        int rc = coil_await(balls[i]);

        if (rc < 0)
            return rc;
        trace("%s catches ball %d", name, i);
        coil_future_set(balls[i + 1], 0, NULL, NULL);
    }
    return 0;
}

static int left(void *arg)
{
    (void)arg;
    return play("left", 0);
}

static int right(void *arg)
{
    (void)arg;
    return play("right", 1);
}

SCENARIO(tasks_hand_a_ball_to_each_other)
{
    coil_task *a, *b, *ticks;

    for (int i = 0; i < 7; i++)
        balls[i] = new_future();
    a = start(left, NULL);
    b = start(right, NULL);
    ticks = start(ticker, TURNS(7));
    if (ticks == NULL)
        return -ENOMEM;
    coil_future *tasks[] = {coil_task_future(a), coil_task_future(b),
                            coil_task_future(ticks)};
    turns(1);
    coil_future_set(balls[0], 0, NULL, NULL);
    trace("service");
    coil_wait(tasks, 3, COIL_WAIT_ALL, COIL_NEVER);
    trace("the last ball: %s", state(balls[6]));
    return 0;
}
