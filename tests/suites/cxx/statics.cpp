/*
 * statics.cpp - tests function-local static variables whose initialiser waits: several
 * tasks and threads use such a variable at the same time. With the argument `recursion`
 * or `callback`, the program must abort.
 */
#include "check.hpp"

#include <coil.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

static int initialise_slowly(std::atomic<int> &calls, int failures)
{
    int call = ++calls;

    coil_sleep(COIL_MSEC(2));
    if (call <= failures)
        throw std::runtime_error("not yet");
    return 42;
}

template <int Kind> static std::atomic<int> calls;

/*
 * Return the static variable for this Kind. The first `Failures` attempts to initialise
 * it fail.
 */
template <int Kind, int Failures = 0> static int needed()
{
    static int value = initialise_slowly(calls<Kind>, Failures);
    return value;
}

template <int Kind, int Failures>
static int count_failures(int tasks, enum coil_light light = COIL_NOT_LIGHT)
{
    coil_spawn_opts opts = {};
    int failed = 0;
    coil::group group;

    opts.light = light;

    for (int i = 0; i < tasks; i++)
        group.spawn([&failed] {
            try {
                CHECK((needed<Kind, Failures>() == 42));
            } catch (const std::runtime_error &) {
                failed++;
            }
        }, &opts);
    CHECK(group.exit() == 0);
    return failed;
}

static void first_task_initialises_for_all()
{
    CHECK((count_failures<0, 0>(10) == 0));
    CHECK(calls<0> == 1);
}

static void next_task_initialises_after_a_failure()
{
    CHECK((count_failures<1, 3>(10) == 3));
    CHECK(calls<1> == 4);
}

static void light_tasks_wait_too()
{
    CHECK((count_failures<6, 3>(10, COIL_LIGHT) == 3));
    CHECK(calls<6> == 4);
}

static void initialiser_may_need_another_variable()
{
    static int (*inner)() = needed<2>;
    auto outer = [] {
        static int value = inner() + 1;
        return value;
    };
    coil::group group;

    for (int i = 0; i < 3; i++) {
        group.spawn([&] { CHECK(outer() == 43); });
        group.spawn([&] { CHECK(inner() == 42); });
    }
    CHECK(group.exit() == 0 && calls<2> == 1);
}

static void cancelled_task_has_the_variable()
{
    coil::group group;

    group.spawn([] { CHECK(needed<3>() == 42); });
    group.spawn([] {
        CHECK(needed<3>() == 42);
        CHECK(coil_sleep(COIL_SEC(100)) == -ECANCELED);
    });
    coil_yield();
    group.cancel();
    CHECK(group.exit() == 0 && calls<3> == 1);
}

/*
 * A thread without a loop can run the initialiser, which then blocks the thread, or wait
 * for a task that runs it.
 */
template <int Kind> static int needed_on_any_thread()
{
    static int value = [] {
        int call = ++calls<Kind>;

        if (coil_may_suspend())
            coil_sleep(COIL_MSEC(1));
        else
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (call <= 4)
            throw std::runtime_error("not yet");
        return 42;
    }();
    return value;
}

template <int Kind> static bool fails()
{
    try {
        CHECK(needed_on_any_thread<Kind>() == 42);
        return false;
    } catch (const std::runtime_error &) {
        return true;
    }
}

static void run_tasks(std::atomic<int> &failed)
{
    CHECK(coil::run([&failed] {
        coil::group group;

        for (int i = 0; i < 5; i++)
            group.spawn([&failed] { failed += fails<4>(); });
        CHECK(group.exit() == 0);
    }) == 0);
}

static void tasks_of_several_threads_and_threads_wait_for_each_other()
{
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;

    for (int i = 0; i < 3; i++) {
        threads.emplace_back(run_tasks, std::ref(failed));
        threads.emplace_back([&failed] { failed += fails<4>(); });
    }
    for (std::thread &thread : threads)
        thread.join();
    CHECK(failed == 4 && calls<4> == 5);
}

static int needs_itself(bool again)
{
    static int value = (coil_sleep(COIL_MSEC(1)), again ? needs_itself(false) : 0);
    return value;
}

static void need_it_in_callback(void *)
{
    needed<5>();
}

static void misuse(const char *how)
{
    if (std::strcmp(how, "recursion") == 0)
        needs_itself(true);
    coil_call_soon(need_it_in_callback, nullptr, nullptr);
    needed<5>();
}

int main(int argc, char **argv)
{
    CHECK(coil::run([argc, argv] {
        if (argc > 1)
            misuse(argv[1]);
        first_task_initialises_for_all();
        next_task_initialises_after_a_failure();
        light_tasks_wait_too();
        initialiser_may_need_another_variable();
        cancelled_task_has_the_variable();
    }) == 0);
    tasks_of_several_threads_and_threads_wait_for_each_other();
    std::puts("ok");
}
