/*
 * wrapped.cpp - tests coil.hpp: handles, lambdas as tasks, and exceptions that are passed
 * to the waiting task.
 */
#include "check.hpp"

#include <coil.hpp>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <ios>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

static void lambdas_run_with_what_they_capture()
{
    auto moved = std::make_unique<int>(2);
    int sum = 0;
    coil::group group;

    CHECK(group.spawn([&sum] {
        coil_sleep(COIL_MSEC(2));
        sum += 1;
    }) == 0);
    CHECK(group.spawn([&sum, moved = std::move(moved)] {
        coil_yield();
        sum += *moved;
        return 0;
    }) == 0);
    CHECK(group.exit() == 0 && sum == 3);
}

static void exceptions_reach_whoever_exits_the_group()
{
    bool cancelled = false;

    try {
        coil::group group;

        group.spawn([&] { cancelled = coil_sleep(COIL_SEC(100)) == -ECANCELED; });
        group.spawn([] {
            coil_sleep(COIL_MSEC(1));
            throw std::runtime_error("of a child");
        });
        group.exit();
        CHECK(!"it threw nothing");
    } catch (const std::runtime_error &failure) {
        CHECK(std::string(failure.what()) == "of a child");
    }
    CHECK(cancelled);
}

static void errors_are_codes_or_exceptions_by_choice()
{
    coil::group group;
    coil::file file;
    int rc;

    rc = coil_file_open("/nowhere/at/all", O_RDONLY, 0, file.out());
    CHECK(rc == -ENOENT && file.get() == nullptr);
    group.spawn([rc] { return rc; });
    CHECK(group.exit() == -ENOENT);
    try {
        coil::check(rc);
        CHECK(!"it threw nothing");
    } catch (const std::system_error &failure) {
        CHECK(failure.code() == std::errc::no_such_file_or_directory);
    }
}

static void group_that_an_exception_passes_cancels_its_children()
{
    int ended = 0;

    try {
        coil::group group;

        for (int i = 0; i < 3; i++)
            group.spawn([&ended] { ended += coil_sleep(COIL_SEC(100)) == -ECANCELED; });
        coil_yield();
        throw 1;
    } catch (int) {
        CHECK(ended == 3);
    }
}

static void body_that_never_begins_is_destroyed()
{
    auto counted = std::make_shared<int>(0);

    try {
        coil::group group;

        group.spawn([counted] { CHECK(!"it began"); });
        throw 1;
    } catch (int) {
    }
    CHECK(counted.use_count() == 1);
}

static void scopes_and_locks_end_with_their_block()
{
    coil_lock lock = COIL_LOCK_INIT;
    coil_rwlock shared = COIL_RWLOCK_INIT;
    coil::scope limit(coil_in(COIL_MSEC(5)));

    {
        coil::lock_guard held(lock);
        CHECK(coil_lock_locked(&lock));
    }
    CHECK(!coil_lock_locked(&lock));
    {
        coil::read_guard first(shared), second(shared);
        CHECK(coil_rwlock_locked(&shared));
    }
    {
        coil::write_guard held(shared);
        CHECK(coil_rwlock_locked(&shared));
    }
    CHECK(!coil_rwlock_locked(&shared));
    CHECK(limit.exit(coil_sleep(COIL_SEC(100))) == -ETIMEDOUT);
    coil_rwlock_finish(&shared);
    coil_lock_finish(&lock);
}

static void tasks_of_the_loops_own_are_detached_or_awaited()
{
    auto counted = std::make_shared<int>(0);
    coil::task task;

    CHECK(coil::spawn([counted] { ++*counted; }) == 0);
    CHECK(coil::spawn([counted] { return 7; }, nullptr, task.out()) == 0);
    CHECK(coil_task_await(task) == 7);
    coil_yield();
    CHECK(*counted == 1 && counted.use_count() == 1);
    CHECK(coil::spawn([counted] { throw std::runtime_error("of a task"); }, nullptr,
                      task.out()) == 0);
    CHECK(coil_task_await(task) == -EIO);
    CHECK(std::string(coil_error_message(coil_last_error())) == "of a task");
    CHECK(coil::spawn([counted] { CHECK(!"it began"); }, nullptr, task.out()) == 0);
    coil_task_cancel(task, nullptr);
    CHECK(coil_task_await(task) == -ECANCELED);
    coil_yield();
    CHECK(counted.use_count() == 1);
}

static int news;

void *operator new(std::size_t bytes)
{
    void *memory = std::malloc(bytes);

    news++;
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

void operator delete(void *memory) noexcept
{
    std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

template <typename Body> static int result_of(Body body)
{
    coil::task task;

    CHECK(coil::spawn(body, nullptr, task.out()) == 0);
    coil_yield();
    return coil_task_await(task);
}

/*
 * A trivially copyable lambda of up to 1,024 bytes is copied into the task, without an
 * allocation. The smallest lambdas fit into the pointer `arg`.
 */
static void bodies_without_a_destructor_need_no_memory()
{
    struct numbers {
        int first, more[40], last;
    } large = {3, {}, 4};
    short two = 2;
    int before = news, got = 0;

    CHECK(result_of([] { return 1; }) == 1);
    CHECK(result_of([two] { return two; }) == 2);
    CHECK(result_of([&got]() noexcept { got = 5; }) == 0 && got == 5);
    CHECK(result_of([large] { return large.first + large.last; }) == 7);
    CHECK(result_of([n = 1, large]() mutable { return ++n + large.first; }) == 5);
    CHECK(news == before);
    CHECK(result_of([large]() -> int { throw std::system_error(
        large.first + ENOENT - 3, std::generic_category()); }) == -ENOENT);
}

struct counted_item {
    explicit counted_item(int value) : value(value) { alive++; }
    counted_item(const counted_item &) = delete;
    ~counted_item() { alive--; }
    bool operator<(const counted_item &other) const { return value < other.value; }

    int value;
    static int alive;
};

int counted_item::alive = 0;

static std::unique_ptr<counted_item> make(int value)
{
    return std::make_unique<counted_item>(value);
}

static void queues_own_what_is_in_them()
{
    std::unique_ptr<counted_item> item = make(3);
    {
        coil::queue<counted_item> queue(2);

        CHECK(queue.put(make(1)) == 0 && queue.put(make(2)) == 0 && queue.full());
        CHECK(queue.put_nowait(std::move(item)) == -EAGAIN);
        CHECK(item && item->value == 3); /* still owned here */
        CHECK(queue.get(item) == 0 && item->value == 1);
        CHECK(queue.count() == 1 && counted_item::alive == 2);
    }
    CHECK(counted_item::alive == 1);
    item.reset();
}

static void queues_hand_items_from_task_to_task()
{
    coil::queue<counted_item> queue(1);
    coil::group group;
    int sum = 0;

    group.spawn([&] {
        for (std::unique_ptr<counted_item> item; queue.get(item) == 0; queue.task_done())
            sum += item->value;
    });
    for (int i = 1; i <= 10; i++)
        CHECK(queue.put(make(i)) == 0);
    CHECK(queue.join() == 0);
    queue.shutdown();
    CHECK(queue.put(make(1)) == -ESHUTDOWN);
    CHECK(group.exit() == 0 && sum == 55 && counted_item::alive == 0);
}

static void put_that_is_cancelled_leaves_the_item_with_its_owner()
{
    coil::queue<counted_item> queue(1);
    coil::scope limit(coil_in(COIL_MSEC(5)));
    std::unique_ptr<counted_item> item = make(2);

    CHECK(queue.put(make(1)) == 0);
    CHECK(limit.exit(queue.put(std::move(item))) == -ETIMEDOUT);
    CHECK(item && counted_item::alive == 2);
    queue.shutdown(true);
    CHECK(queue.empty() && counted_item::alive == 1 && queue.join() == 0);
}

static void queues_have_an_order()
{
    coil::queue<int> last_first(0, COIL_QUEUE_LIFO);
    coil::priority_queue<counted_item> least_first;
    std::unique_ptr<counted_item> item;
    std::unique_ptr<int> number;

    for (int i : {2, 3, 1}) {
        CHECK(last_first.put(std::make_unique<int>(i)) == 0);
        CHECK(least_first.put(make(i)) == 0);
    }
    CHECK(last_first.get(number) == 0 && *number == 1);
    CHECK(least_first.get_nowait(item) == 0 && item->value == 1);
    CHECK(least_first.get(item) == 0 && item->value == 2);
}

/*
 * Exceptions whose code is not an errno, or is EINPROGRESS, make a task fail with -EIO.
 */
static void codes_of_other_kinds_are_failures_of_no_errno()
{
    const std::error_code codes[] = {{ECANCELED, std::iostream_category()},
                                     {EINPROGRESS, std::generic_category()}};

    for (const auto &code : codes) {
        coil::task task;

        CHECK(coil::spawn([&code] { throw std::system_error(code); }, nullptr, task.out()) ==
              0);
        CHECK(coil_task_await(task) == -EIO);
    }
}

/*
 * After Ctrl-C, coil::run() returns -EINTR even if the body throws, and the program
 * continues.
 */
static void ctrl_c_ends_a_run_that_throws()
{
    CHECK(coil::run([] {
        raise(SIGINT);
        coil::check(coil_sleep(COIL_SEC(100)));
    }) == -EINTR);
}

int main()
{
    CHECK(coil::run([] {
        lambdas_run_with_what_they_capture();
        exceptions_reach_whoever_exits_the_group();
        errors_are_codes_or_exceptions_by_choice();
        group_that_an_exception_passes_cancels_its_children();
        body_that_never_begins_is_destroyed();
        scopes_and_locks_end_with_their_block();
        tasks_of_the_loops_own_are_detached_or_awaited();
        bodies_without_a_destructor_need_no_memory();
        queues_own_what_is_in_them();
        queues_hand_items_from_task_to_task();
        put_that_is_cancelled_leaves_the_item_with_its_owner();
        queues_have_an_order();
        codes_of_other_kinds_are_failures_of_no_errno();
    }) == 0);
    ctrl_c_ends_a_run_that_throws();
    try {
        coil::run([] { throw std::string("out of main"); });
        CHECK(!"it threw nothing");
    } catch (const std::string &thrown) {
        CHECK(thrown == "out of main");
    }
    std::puts("ok");
}
