/* regions.cpp - tests exceptions that leave groups and scopes of coil.hpp. */
#include "check.hpp"

#include <coil.hpp>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

/* A user-defined exception type that is not derived from std::exception. */
struct failure {
    int number;
};

static void fail_with(int number)
{
    coil_sleep(COIL_MSEC(1));
    throw failure{number};
}

static void wait_long()
{
    coil::check(coil_sleep(COIL_SEC(100)));
}

/*
 * Run `body`. Returns the number in the `failure` that `body` throws, the negative errno
 * of a system_error, or 0.
 */
template <typename Body> static int what_leaves(Body body)
{
    try {
        body();
        return 0;
    } catch (const failure &thrown) {
        return thrown.number;
    } catch (const std::system_error &error) {
        return -error.code().value();
    }
}

static bool still_works()
{
    return coil_sleep(COIL_MSEC(1)) == 0;
}

/* ---- groups ------------------------------------------------------------------------ */

static void child_s_exception_replaces_the_cancellation_that_it_causes()
{
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn([] { fail_with(7); });
        wait_long();
        group.exit();
    }) == 7);
    CHECK(still_works());
}

static void child_s_exception_leaves_by_a_return_too()
{
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn([] { fail_with(7); });
        return coil_sleep(COIL_SEC(100));
    }) == 7);
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn([] {
            coil_sleep(COIL_MSEC(1));
            return -ENOENT;
        });
        return coil_sleep(COIL_SEC(100));
    }) == -ENOENT);
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn(wait_long);
    }) == 0);
    CHECK(still_works());
}

static void child_s_code_replaces_the_cancellation_that_it_causes()
{
    try {
        coil::group group;

        group.spawn([] {
            coil_sleep(COIL_MSEC(1));
            return coil_fail(-ENOENT, "there is no such thing");
        });
        wait_long();
        CHECK(!"it threw nothing");
    } catch (const std::system_error &error) {
        CHECK(error.code() == std::errc::no_such_file_or_directory);
        CHECK(std::string(error.what()) == "there is no such thing");
    }
    CHECK(still_works());
}

static void exit_does_not_throw_the_cancellation_of_a_sibling()
{
    coil::group group;

    group.spawn(wait_long);
    group.spawn([] {
        coil_sleep(COIL_MSEC(1));
        return -ENOENT;
    });
    CHECK(group.exit() == -ENOENT);

    coil::group cancelled;

    cancelled.spawn(wait_long);
    coil_yield();
    cancelled.cancel();
    CHECK(cancelled.exit() == 0);
    CHECK(still_works());
}

static void first_of_several_failures_is_thrown()
{
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn([] {
            try {
                wait_long();
            } catch (const std::system_error &) {
                throw failure{1};
            }
        });
        group.spawn([] { fail_with(2); });
        group.spawn([] { fail_with(3); });
        group.exit();
    }) == 2);
}

static void groups_nest()
{
    int ended = 0;

    CHECK(what_leaves([&ended] {
        coil::group outer;

        outer.spawn([&ended] { ended += coil_sleep(COIL_SEC(100)) == -ECANCELED; });
        coil::group inner;
        inner.spawn([] { fail_with(1); });
        wait_long();
    }) == 1);
    CHECK(ended == 1);
    CHECK(what_leaves([&ended] {
        coil::group outer;

        outer.spawn([] { fail_with(2); });
        coil::group inner;
        inner.spawn([&ended] { ended += coil_sleep(COIL_SEC(100)) == -ECANCELED; });
        coil::scope limit(coil_in(COIL_SEC(200)));
        wait_long();
    }) == 2);
    CHECK(ended == 2);
    CHECK(what_leaves([] {
        coil::group outer;

        outer.spawn([] {
            coil::group inner;

            inner.spawn([] { fail_with(3); });
            wait_long();
        });
        wait_long();
    }) == 3);
    CHECK(still_works());
}

/*
 * If a child fails and the owner is cancelled, the group exits with the child's failure,
 * as in C, and the next wait returns the cancellation.
 */
static void failure_of_a_child_precedes_a_cancellation_of_the_owner()
{
    coil::task owner;
    int by_exit = 0, by_exception = 0, next = 0;
    auto fail_in_the_end = [] {
        coil_sleep(COIL_SEC(100));
        throw std::system_error(ENOENT, std::generic_category());
    };

    CHECK(coil::spawn([&] {
        by_exit = what_leaves([&] {
            coil::group group;

            group.spawn(fail_in_the_end);
            group.exit(coil_sleep(COIL_SEC(100)));
        });
        next = coil_sleep(COIL_MSEC(1));
        coil_cancel_caught();
        coil_uncancel();
    }, nullptr, owner.out()) == 0);
    coil_sleep(COIL_MSEC(1));
    coil_task_cancel(owner, nullptr);
    CHECK(coil_task_await(owner) == 0 && by_exit == -ENOENT && next == -ECANCELED);

    CHECK(coil::spawn([&] {
        by_exception = what_leaves([&] {
            coil::group group;

            group.spawn(fail_in_the_end);
            wait_long();
        });
        return -EBADMSG;
    }, nullptr, owner.out()) == 0);
    coil_sleep(COIL_MSEC(1));
    coil_task_cancel(owner, nullptr);
    CHECK(coil_task_await(owner) == -EBADMSG && by_exception == -ENOENT);
}

/*
 * If the owner of a group is cancelled, a child's exception cannot be thrown in the
 * owner's frame. Instead, the owner's task fails with this exception.
 */
static void exception_of_a_cancelled_owner_s_child_reaches_its_group()
{
    CHECK(what_leaves([] {
        coil::group outer;
        coil_task *owner;

        outer.spawn([] {
            coil::group inner;

            inner.spawn([] {
                coil_sleep(COIL_SEC(100));
                throw failure{5};
            });
            wait_long();
        }, nullptr, &owner);
        coil_sleep(COIL_MSEC(1));
        coil_task_cancel(owner, nullptr);
        outer.exit();
    }) == 5);
}

static void cancellation_of_the_owner_leaves_as_one()
{
    coil::task owner;

    CHECK(coil::spawn([] {
        coil::scope limit(coil_in(COIL_SEC(200)));
        coil::group group;

        group.spawn(wait_long);
        wait_long();
    }, nullptr, owner.out()) == 0);
    coil_sleep(COIL_MSEC(1));
    coil_task_cancel(owner, nullptr);
    CHECK(coil_task_await(owner) == -ECANCELED);
}

static int reports;

static void count_report(const coil_exception *exception, void *)
{
    CHECK(exception->rc == -EIO);
    reports++;
}

/*
 * If the body of a group throws an exception itself, a child's failure cannot replace
 * that exception. So the failure is passed to the exception handler.
 */
static void lost_failure_of_a_child_is_reported()
{
    coil_set_exception_handler(count_report, nullptr);
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn([] { fail_with(1); });
        coil_sleep(COIL_SEC(100));
        throw failure{2};
    }) == 2);
    CHECK(reports == 1);
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn([] { fail_with(1); });
        try {
            wait_long();
        } catch (const failure &) {
            throw failure{2};
        }
    }) == 2);
    CHECK(reports == 1);
    coil_set_exception_handler(nullptr, nullptr);
    CHECK(still_works());
}

static void failure_that_the_body_has_caught_is_thrown_by_exit()
{
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn([] { fail_with(4); });
        CHECK(what_leaves(wait_long) == 4);
        group.exit();
    }) == 4);
}

/* ---- scopes ------------------------------------------------------------------------ */

static void cancellation_by_a_deadline_leaves_its_scope_as_a_time_out()
{
    int inside = 0;

    CHECK(what_leaves([&inside] {
        coil::scope limit(coil_in(COIL_MSEC(2)));

        try {
            wait_long();
        } catch (const std::system_error &error) {
            inside = -error.code().value();
            throw;
        }
    }) == -ETIMEDOUT);
    CHECK(inside == -ECANCELED && still_works());
}

static void deadline_of_an_outer_scope_passes_the_inner_ones()
{
    int between = 0;

    CHECK(what_leaves([&between] {
        coil::scope outer(coil_in(COIL_MSEC(2)));

        between = what_leaves([] {
            coil::scope inner(coil_in(COIL_SEC(10)));
            wait_long();
        });
        wait_long();
    }) == -ETIMEDOUT);
    CHECK(between == -ECANCELED);
    CHECK(what_leaves([&between] {
        coil::scope outer(coil_in(COIL_MSEC(2)));

        between = what_leaves([] {
            coil::scope inner(coil_in(COIL_MSEC(2)));
            wait_long();
        });
        coil::check(between);
    }) == -ETIMEDOUT);
    CHECK(still_works());
}

static void deadline_passes_a_group()
{
    int ended = 0;

    CHECK(what_leaves([&ended] {
        coil::scope limit(coil_in(COIL_MSEC(2)));
        coil::group group;

        group.spawn([&ended] { ended += coil_sleep(COIL_SEC(100)) == -ECANCELED; });
        wait_long();
    }) == -ETIMEDOUT);
    CHECK(ended == 1 && still_works());
}

static void deadline_in_a_group_is_its_own()
{
    CHECK(what_leaves([] {
        coil::group group;

        group.spawn([] {
            coil::scope limit(coil_in(COIL_MSEC(2)));
            wait_long();
        });
        wait_long();
    }) == -ETIMEDOUT);
    CHECK(still_works());
}

static void exception_of_another_kind_passes_a_scope_that_has_expired()
{
    CHECK(what_leaves([] {
        coil::scope limit(coil_in(COIL_MSEC(2)));

        coil_sleep(COIL_SEC(100));
        throw failure{6};
    }) == 6);
    CHECK(still_works());
}

static void cancellation_is_stored_and_thrown_later()
{
    std::exception_ptr stored;

    CHECK(what_leaves([&stored] {
        coil::scope limit(coil_in(COIL_MSEC(2)));

        try {
            wait_long();
        } catch (...) {
            stored = std::current_exception();
        }
    }) == 0);
    CHECK(what_leaves([&stored] { std::rethrow_exception(stored); }) == -ECANCELED);
    stored = nullptr;
    CHECK(still_works());
}

/* ---- tasks of the loop's own ------------------------------------------------------- */

static int allocations_left = -1;

static void *allocate(void *, void *block, size_t size)
{
    if (size == 0) {
        std::free(block);
        return nullptr;
    }
    if (allocations_left == 0)
        return nullptr;
    if (allocations_left > 0)
        allocations_left--;
    return std::realloc(block, size);
}

struct closure {
    int *ended;
    std::unique_ptr<int> value = std::make_unique<int>(42);

    int operator()()
    {
        coil_sleep(COIL_MSEC(1));
        CHECK(*value == 42); /* it still exists */
        return 0;
    }
    explicit closure(int &ended) : ended(&ended) {}
    closure(closure &&) = default;
    ~closure()
    {
        if (value)
            ++*ended;
    }
};

static void eager_body_that_waits_outlives_a_lack_of_memory()
{
    coil_spawn_opts opts = {};
    int rc = -ENOMEM;

    opts.eager = true;
    for (int n = 0; rc == -ENOMEM; n++) {
        int ended = 0;

        allocations_left = n;
        rc = coil::spawn(closure(ended), &opts);
        allocations_left = -1;
        coil_sleep(COIL_MSEC(3));
        coil_yield(); /* a callback destroys the body one iteration after its task ends */
        CHECK(ended == 1);
    }
    CHECK(rc == 0);
}

int main()
{
    static const coil_allocator allocator = {allocate, nullptr};

    coil_set_allocator(&allocator);
    CHECK(coil::run([] {
        child_s_exception_replaces_the_cancellation_that_it_causes();
        child_s_exception_leaves_by_a_return_too();
        child_s_code_replaces_the_cancellation_that_it_causes();
        exit_does_not_throw_the_cancellation_of_a_sibling();
        first_of_several_failures_is_thrown();
        groups_nest();
        failure_of_a_child_precedes_a_cancellation_of_the_owner();
        exception_of_a_cancelled_owner_s_child_reaches_its_group();
        cancellation_of_the_owner_leaves_as_one();
        lost_failure_of_a_child_is_reported();
        failure_that_the_body_has_caught_is_thrown_by_exit();
        cancellation_by_a_deadline_leaves_its_scope_as_a_time_out();
        deadline_of_an_outer_scope_passes_the_inner_ones();
        deadline_passes_a_group();
        deadline_in_a_group_is_its_own();
        exception_of_another_kind_passes_a_scope_that_has_expired();
        cancellation_is_stored_and_thrown_later();
        eager_body_that_waits_outlives_a_lack_of_memory();
    }) == 0);
    std::puts("ok");
}
