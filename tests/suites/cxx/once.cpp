/*
 * once.cpp - tests std::call_once() with libcoil-posix: tasks and threads call it at the
 * same time.
 */
#include "check.hpp"

#include <coil.hpp>
#include <coil/posix.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

/* A function for std::call_once(). Its first `failures` calls fail. */
struct step {
    std::once_flag flag;
    std::atomic<int> calls{0};
    int failures = 0;

    bool fails()
    {
        try {
            std::call_once(flag, [this] {
                int call = ++calls;

                std::this_thread::sleep_for(2ms); /* meanwhile, other callers wait */
                if (call <= failures)
                    throw std::runtime_error("not yet");
            });
            return false;
        } catch (const std::runtime_error &) {
            return true;
        }
    }
};

static int count_failures(step &once, int tasks)
{
    int failed = 0;
    coil::group group;

    for (int i = 0; i < tasks; i++)
        group.spawn([&] { failed += once.fails(); });
    CHECK(group.exit() == 0);
    return failed;
}

static void first_task_calls_for_all()
{
    step once;

    CHECK(count_failures(once, 10) == 0 && once.calls == 1);
}

/* Each failed call must wake a waiting task, because waiting tasks do not poll. */
static void next_task_calls_after_a_failure()
{
    int64_t begun = coil_now();
    step once;

    once.failures = 20;
    CHECK(count_failures(once, 30) == 20 && once.calls == 21);
    CHECK(coil_now() - begun < COIL_SEC(1));
}

static void each_task_calls_its_own_function()
{
    std::once_flag flag;
    std::vector<int> called;
    coil::group group;

    for (int i = 0; i < 4; i++)
        group.spawn([&, i] {
            try {
                std::call_once(flag, [&called](int task) {
                    std::this_thread::sleep_for(2ms);
                    called.push_back(task);
                    if (task < 3)
                        throw std::runtime_error("not yet");
                }, i);
                CHECK(i == 3);
            } catch (const std::runtime_error &) {
                CHECK(i < 3);
            }
        });
    CHECK(group.exit() == 0 && called.size() == 4);
    for (int i = 0; i < 4; i++)
        CHECK(called[i] == i);
}

static void calls_nest()
{
    std::once_flag outer;
    step inner;
    int outer_calls = 0;
    coil::group group;

    inner.failures = 2;
    for (int i = 0; i < 4; i++) {
        group.spawn([&] {
            std::call_once(outer, [&] {
                std::this_thread::sleep_for(1ms);
                outer_calls++;
                while (inner.fails())
                    continue;
            });
        });
        group.spawn([&] { inner.fails(); });
    }
    CHECK(group.exit() == 0 && outer_calls == 1 && inner.calls == 3);
}

static void run_tasks(step &once, std::atomic<int> &failed)
{
    CHECK(coil::run([&] { failed += count_failures(once, 5); }) == 0);
}

static void tasks_of_several_threads_and_threads_wait_for_each_other()
{
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    step once;

    once.failures = 6;
    for (int i = 0; i < 3; i++) {
        threads.emplace_back(run_tasks, std::ref(once), std::ref(failed));
        threads.emplace_back([&] { failed += once.fails(); });
    }
    for (std::thread &thread : threads)
        thread.join();
    CHECK(failed == 6 && once.calls == 7);
}

int main()
{
    CHECK(coil::run([] {
        CHECK(coil_posix_active());
        first_task_calls_for_all();
        next_task_calls_after_a_failure();
        each_task_calls_its_own_function();
        calls_nest();
    }) == 0);
    tasks_of_several_threads_and_threads_wait_for_each_other();
    std::puts("ok");
}
