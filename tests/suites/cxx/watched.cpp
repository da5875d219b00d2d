/*
 * watched.cpp - a program built with AddressSanitizer, but linked with a libcoil built
 * without it. Unless coil prevents this, part of a task's stack remains marked as
 * unusable after a throw or longjmp(). AddressSanitizer must not report correct uses of
 * that memory, but must report a real error.
 */
#include "check.hpp"

#include <coil.h>

#include <csetjmp>
#include <cstring>
#include <stdexcept>

#define OWN_FRAME __attribute__((noinline))

static std::jmp_buf back;

template <typename T> static void keep(T &value)
{
    asm volatile("" ::"r"(&value) : "memory");
}

OWN_FRAME static void leave(int depth, bool by_throw)
{
    char buffer[64];

    std::memset(buffer, depth, sizeof buffer);
    keep(buffer);
    if (depth == 0 && by_throw)
        throw std::runtime_error("x");
    if (depth == 0)
        std::longjmp(back, 1);
    leave(depth - 1, by_throw);
    keep(buffer);
}

OWN_FRAME static int use_much()
{
    char buffer[3000];

    std::memset(buffer, 1, sizeof buffer);
    keep(buffer);
    return buffer[5];
}

static int jump_and_throw(void *)
{
    for (int i = 0; i < 20; i++) {
        try {
            leave(20, true);
        } catch (const std::exception &) {
            coil_yield();
        }
        CHECK(use_much() == 1);
        if (setjmp(back) == 0)
            leave(20, false);
        CHECK(use_much() == 1);
        coil_sleep(COIL_USEC(100));
    }
    return 0;
}

static int overrun(void *)
{
    char buffer[16];
    volatile int past = 16;

    std::memset(buffer, 0, sizeof buffer);
    coil_yield();
    keep(buffer);
    return buffer[past];
}

static int app(void *arg)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < 3; i++) {
        coil_group_spawn(&group, jump_and_throw, nullptr, nullptr, nullptr);
        coil_group_exit(&group, 0);
        coil_group_enter(&group);
    }
    if (arg != nullptr)
        coil_group_spawn(&group, overrun, nullptr, nullptr, nullptr);
    return coil_group_exit(&group, 0);
}

int main(int argc, char **argv)
{
    CHECK(coil_run(app, argc > 1 ? argv[1] : nullptr, nullptr) == 0);
    std::puts("ok");
}
