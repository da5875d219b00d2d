/*
 * rust.c - Rust's standard library. Each task waits ROUNDS times in thread::park() until
 * the previous task unparks it, and then unparks the next task. After that, each task
 * waits in thread::scope().
 */
#include "foreign.h"

#include <stddef.h>
#include <unistd.h>

#define ROUNDS 10

void *turn_create(void);
void turn_await(void *turn);
void turn_give(void *turn);
void turn_destroy(void *turn);
int scope_sum(int number);

static void *turns[FOREIGN_USES];
static int created, finished;

static bool use(int number)
{
    int sum;

    turns[number] = turn_create();
    if (++created == FOREIGN_USES)
        turn_give(turns[0]);
    for (int i = 0; i < ROUNDS; i++) {
        turn_await(turns[number]);
        usleep(100);
        turn_give(turns[(number + 1) % FOREIGN_USES]);
    }
    sum = scope_sum(number);
    if (++finished == FOREIGN_USES)
        for (int i = 0; i < FOREIGN_USES; i++)
            turn_destroy(turns[i]);
    return sum == 2 * number + 1 || foreign_failed("the sum is %d", sum);
}

const struct foreign foreign = {.name = "Rust's std",
                                .tested = "`thread::park()`, `thread::scope()`",
                                .option = "with `coil_hooks_thread_locals()`",
                                .thread_locals = (void (*)(void))turn_create,
                                .use = use};
