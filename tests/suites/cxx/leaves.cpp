/*
 * leaves.cpp - throws an exception that leaves a task, generator, coroutine or callback,
 * depending on the argument. The exception must end the program with a message that shows
 * where the exception was thrown. The catch block around coil_run() must not catch the
 * exception.
 */
#include "check.hpp"

#include <coil.h>

#include <cstring>
#include <stdexcept>

static void blow(void *)
{
    throw std::runtime_error("the reason");
}

static int blow_in_task(void *)
{
    blow(nullptr);
    return 0;
}

static int blow_in_generator(coil_gen *, void *)
{
    blow(nullptr);
    return 0;
}

static void *blow_in_coroutine(void *)
{
    blow(nullptr);
    return nullptr;
}

static int app(void *arg)
{
    const char *where = static_cast<const char *>(arg);
    coil_spawn_opts opts = {};
    coil_coro *coro;
    coil_gen *gen;

    opts.name = "exploder";
    if (std::strcmp(where, "task") == 0)
        coil_spawn(blow_in_task, nullptr, &opts, nullptr);
    if (std::strcmp(where, "generator") == 0 &&
        coil_gen_create(blow_in_generator, nullptr, nullptr, &gen) == 0)
        coil_gen_next(gen, nullptr);
    if (std::strcmp(where, "coroutine") == 0 &&
        coil_coro_create(blow_in_coroutine, nullptr, nullptr, &coro) == 0)
        coil_coro_resume(coro, nullptr);
    if (std::strcmp(where, "callback") == 0)
        coil_call_soon(blow, nullptr, nullptr);
    return coil_sleep(COIL_SEC(1));
}

int main(int, char **argv)
{
    try {
        coil_run(app, argv[1], nullptr);
    } catch (const std::exception &) {
        std::puts("it came through");
    }
}
