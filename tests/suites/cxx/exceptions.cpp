/*
 * exceptions.cpp - tests that each task has its own exceptions, even if it suspends in a
 * catch block or in a destructor during unwinding.
 */
#include "check.hpp"

#include <coil.h>

#include <exception>
#include <random>
#include <string>
#include <thread>
#include <vector>

static std::string text_of(int number)
{
    return "an exception too long to be kept in place, of task " + std::to_string(number);
}

template <typename F> static int call(void *arg)
{
    return (*static_cast<F *>(arg))();
}

/* Run all bodies concurrently in a group. */
template <typename F> static void run_each(F *bodies, int count)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < count; i++)
        CHECK(coil_group_spawn(&group, call<F>, &bodies[i], nullptr, nullptr) == 0);
    CHECK(coil_group_exit(&group, 0) == 0);
}

/* ---- catch blocks ------------------------------------------------------------------ */

struct catches {
    int number;

    int operator()() const
    {
        try {
            throw text_of(number);
        } catch (const std::string &caught) {
            coil_sleep(COIL_MSEC(number));
            CHECK(caught == text_of(number));
            try {
                throw;
            } catch (const std::string &again) {
                CHECK(again == text_of(number));
            }
        }
        CHECK(std::current_exception() == nullptr);
        return 0;
    }
};

static void each_task_catches_its_own()
{
    catches tasks[] = {{1}, {2}, {3}, {4}};

    run_each(tasks, 4);
}

/*
 * Suspend in nested catch blocks. Several tasks do this, and resume in arbitrary order.
 */
struct catches_many {
    int number;
    std::mt19937 random;

    void go(int depth)
    {
        try {
            throw text_of(number * 100 + depth);
        } catch (const std::string &caught) {
            for (unsigned n = random() % 3; n > 0; n--)
                coil_yield();
            if (depth > 0)
                go(depth - 1);
            if (random() % 2 == 0)
                coil_sleep(COIL_USEC(random() % 500));
            CHECK(caught == text_of(number * 100 + depth));
            try {
                std::rethrow_exception(std::current_exception());
            } catch (const std::string &again) {
                CHECK(again == text_of(number * 100 + depth));
            }
        }
    }

    int operator()()
    {
        for (int i = 0; i < 20; i++)
            go(static_cast<int>(random() % 6));
        CHECK(std::current_exception() == nullptr && std::uncaught_exceptions() == 0);
        return 0;
    }
};

static void catch_blocks_nest_in_any_order()
{
    std::vector<catches_many> tasks(50);

    for (int i = 0; i < 50; i++) {
        tasks[i].number = i;
        tasks[i].random.seed(static_cast<unsigned>(i));
    }
    run_each(tasks.data(), 50);
}

/* ---- destructors ------------------------------------------------------------------- */

struct sleeps_when_destroyed {
    int expected;

    ~sleeps_when_destroyed()
    {
        CHECK(std::uncaught_exceptions() == expected);
        coil_sleep(COIL_MSEC(2));
        CHECK(std::uncaught_exceptions() == expected);
    }
};

struct unwinds {
    bool throws;

    int operator()() const
    {
        CHECK(std::uncaught_exceptions() == 0);
        try {
            sleeps_when_destroyed one{throws ? 1 : 0};

            if (throws)
                throw 1;
        } catch (int) {
            CHECK(std::uncaught_exceptions() == 0);
        }
        return 0;
    }
};

static void unwinding_is_counted_for_each_task_alone()
{
    unwinds tasks[] = {{true}, {false}, {true}, {false}};

    run_each(tasks, 4);
}

/* ---- a new coroutine has none ------------------------------------------------------ */

static int has_none(void *)
{
    CHECK(std::current_exception() == nullptr && std::uncaught_exceptions() == 0);
    coil_yield();
    CHECK(std::current_exception() == nullptr);
    return 0;
}

static void task_begins_without_exceptions()
{
    coil_spawn_opts eagerly = {};
    coil_task *task, *eager;

    eagerly.eager = true;
    try {
        throw 1;
    } catch (int) {
        CHECK(coil_spawn(has_none, nullptr, &eagerly, &eager) == 0);
        CHECK(std::current_exception() != nullptr);
        CHECK(coil_spawn(has_none, nullptr, nullptr, &task) == 0);
        CHECK(coil_task_await(task) == 0 && coil_task_await(eager) == 0);
        CHECK(std::current_exception() != nullptr);
    }
    coil_task_release(task);
    coil_task_release(eager);
}

/* ---- generators, bare coroutines --------------------------------------------------- */

static int count_in_catch(coil_gen *, void *arg)
{
    int base = *static_cast<int *>(arg);

    CHECK(std::current_exception() == nullptr);
    for (int i = 0; i < 3; i++) {
        try {
            throw base + i;
        } catch (int number) {
            coil_yield(); /* suspends the task from inside the generator */
            CHECK(coil_gen_yield(&number, nullptr) == 0);
            try {
                throw;
            } catch (int again) {
                CHECK(again == base + i && number == again);
            }
        }
    }
    return 0;
}

struct takes_from_generators {
    int base;

    int operator()() const
    {
        int bases[] = {base, base + 10};
        coil_gen *gens[2];

        for (int i = 0; i < 2; i++)
            CHECK(coil_gen_create(count_in_catch, &bases[i], nullptr, &gens[i]) == 0);
        for (int n = 0; n < 3; n++) {
            for (int i = 0; i < 2; i++) {
                try {
                    throw text_of(base);
                } catch (const std::string &caught) {
                    void *value;

                    CHECK(coil_gen_next(gens[i], &value) == COIL_GEN_YIELDED);
                    CHECK(*static_cast<int *>(value) == bases[i] + n);
                    CHECK(caught == text_of(base));
                }
            }
        }
        for (coil_gen *gen : gens) {
            CHECK(coil_gen_next(gen, nullptr) == COIL_GEN_ENDED);
            coil_gen_destroy(gen);
        }
        return 0;
    }
};

static void generators_have_their_own()
{
    takes_from_generators tasks[] = {{100}, {200}};

    run_each(tasks, 2);
}

static void *suspends_in_catch(void *arg)
{
    try {
        throw arg;
    } catch (void *caught) {
        coil_coro_suspend(caught);
        try {
            throw;
        } catch (void *again) {
            CHECK(again == arg);
        }
    }
    return arg;
}

static void bare_coroutines_have_their_own()
{
    int numbers[2];
    coil_coro *coros[2];

    for (int i = 0; i < 2; i++) {
        CHECK(coil_coro_create(suspends_in_catch, &numbers[i], nullptr, &coros[i]) == 0);
        CHECK(coil_coro_resume(coros[i], nullptr) == &numbers[i]);
        CHECK(std::current_exception() == nullptr);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(coil_coro_resume(coros[i], nullptr) == &numbers[i]);
        coil_coro_destroy(coros[i]);
    }
}

/* ---- main -------------------------------------------------------------------------- */

static int app(void *)
{
    each_task_catches_its_own();
    catch_blocks_nest_in_any_order();
    unwinding_is_counted_for_each_task_alone();
    task_begins_without_exceptions();
    generators_have_their_own();
    CHECK(std::current_exception() == nullptr);
    return 0;
}

static void run()
{
    bare_coroutines_have_their_own();
    CHECK(coil_run(app, nullptr, nullptr) == 0);
    try {
        throw text_of(0);
    } catch (const std::string &caught) { /* handled on the thread's own stack */
        CHECK(coil_run(app, nullptr, nullptr) == 0);
        CHECK(caught == text_of(0) && std::current_exception() != nullptr);
    }
}

int main()
{
    std::thread other(run);

    run();
    other.join();
    std::puts("ok");
}
