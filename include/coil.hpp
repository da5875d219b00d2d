/*
 * coil.hpp - coil for C++17: handles that release, lambdas as tasks, exceptions that
 * reach whoever waits. Header only; everything in coil.h works beside it.
 *
 *     #include <coil.hpp>
 *
 *     int main()
 *     {
 *         return coil::run([] {
 *             coil::stream peer;
 *             coil::group both;       // declared last: it ends first
 *
 *             coil::check(coil_connect("example.org", "80", peer.out()));
 *             both.spawn([&] { send_all(peer); });
 *             both.spawn([&] { receive_all(peer); });
 *             both.exit();            // waits; throws what a child has thrown
 *         });
 *     }
 *
 * Calls return what coil's do, a negative errno for a failure; coil::check() makes that a
 * std::system_error, where exceptions are wanted. A body may return an int, which counts
 * as in C, or nothing. What it throws never passes through coil: it is kept, the task
 * fails with the errno of a std::system_error, else -EIO, and the exception is thrown
 * again by group::exit(), or run().
 */
#ifndef COIL_HPP
#define COIL_HPP

#include <coil.h>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

namespace coil
{

/* The rc, or where it is negative an exception: code().value() is the errno. */
template <typename Rc> Rc check(Rc rc)
{
    if (rc < 0)
        throw std::system_error(static_cast<int>(-rc), std::generic_category());
    return rc;
}

/* ---- handles ----------------------------------------------------------------------- */

/* Owns one, and gives it back; converts to the pointer that the functions take. */
template <typename T, void (*give_back)(T *)> class handle
{
  public:
    handle() = default;
    explicit handle(T *owned) : owned_(owned) {}
    handle(handle &&other) noexcept : owned_(other.release()) {}
    handle &operator=(handle &&other) noexcept
    {
        reset(other.release());
        return *this;
    }
    ~handle() { reset(); }

    operator T *() const { return owned_; }
    T *get() const { return owned_; }

    /* For a function's last argument; what it owned before is given back. */
    T **out()
    {
        reset();
        return &owned_;
    }
    T *release() { return std::exchange(owned_, nullptr); }
    void reset(T *owned = nullptr)
    {
        if (T *old = std::exchange(owned_, owned))
            give_back(old);
    }

  private:
    T *owned_ = nullptr;
};

using stream = handle<coil_stream, coil_stream_destroy>;
using listener = handle<coil_listener, coil_listener_destroy>;
using server = handle<coil_server, coil_server_destroy>;
using datagram = handle<coil_datagram, coil_datagram_destroy>;
using file = handle<coil_file, coil_file_destroy>;
using process = handle<coil_process, coil_process_destroy>;
using tls = handle<coil_tls, coil_tls_release>;
using task = handle<coil_task, coil_task_release>;
using future = handle<coil_future, coil_future_release>;
using generator = handle<coil_gen, coil_gen_destroy>;

/* ---- bodies ------------------------------------------------------------------------ */

namespace detail
{

/* The errno of what was thrown, negative; -EIO for a code that is none, or that no task may end
   with. */
inline int rc_of(const std::error_code &code) noexcept
{
    bool is_errno = code.category() == std::generic_category() ||
                    code.category() == std::system_category();

    return is_errno && code.value() > 0 && code.value() != EINPROGRESS ? -code.value()
                                                                       : -EIO;
}

/* Call it; what it throws is kept in *thrown unless that is taken, and is an rc then. */
template <typename Body> int call(Body &body, std::exception_ptr &thrown) noexcept
{
    int rc = -EIO;

    try {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return 0;
        } else {
            return body();
        }
    } catch (const std::system_error &failure) {
        rc = rc_of(failure.code());
        coil_fail(rc, "%s", failure.what());
        if (!thrown)
            thrown = std::current_exception();
    } catch (const std::exception &failure) {
        coil_fail(rc, "%s", failure.what());
        if (!thrown)
            thrown = std::current_exception();
    } catch (...) {
        if (!thrown)
            thrown = std::current_exception();
    }
    return rc;
}

template <typename Body> struct main_body {
    Body &body;
    std::exception_ptr thrown;

    static int enter(void *arg)
    {
        auto *self = static_cast<main_body *>(arg);
        int rc = call(self->body, self->thrown);

        /* run() throws it: no failure to be printed. But coil_run() must see a cancellation,
           which may be Ctrl-C's. */
        return self->thrown && rc != -ECANCELED ? 0 : rc;
    }
};

} // namespace detail

/* coil_run() of a lambda: returns its rc, or throws what it has thrown. After Ctrl-C it returns
   -EINTR, though coil::check() has thrown. */
template <typename Body> int run(Body &&body, const coil_run_opts *opts = nullptr)
{
    detail::main_body<std::remove_reference_t<Body>> main{body, nullptr};
    int rc = coil_run(main.enter, &main, opts);

    if (main.thrown && rc != -EINTR)
        std::rethrow_exception(main.thrown);
    return rc;
}

/* ---- tasks of the loop's own ------------------------------------------------------- */

namespace detail
{

/* A body that lives until its task has ended, be it before the first step. */
template <typename Body> struct lone_body {
    Body body;

    template <typename From> explicit lone_body(From &&from) : body(std::forward<From>(from))
    {
    }

    static int enter(void *arg)
    {
        std::exception_ptr thrown;

        return call(static_cast<lone_body *>(arg)->body, thrown);
    }

    static void ended(coil_future *, void *arg) { delete static_cast<lone_body *>(arg); }
};

} // namespace detail

/*
 * coil_spawn() of a lambda, which belongs to no group: detached, or with a reference for
 * `out`. It is a copy or moved here, and is destroyed after the task has ended. What it
 * throws is the task's failure, which is reported if nobody awaits that, and is not
 * thrown again. It must own what it uses: whoever spawned it may have returned. Returns 0
 * or as coil_spawn() and coil_future_add_callback(). An opts->eager body may have run
 * where that is -ENOMEM.
 */
template <typename Body>
int spawn(Body &&body, const coil_spawn_opts *opts = nullptr, coil_task **out = nullptr)
{
    using lone = detail::lone_body<std::decay_t<Body>>;
    auto owned = std::make_unique<lone>(std::forward<Body>(body));
    task spawned;
    int rc = coil_spawn(lone::enter, owned.get(), opts, spawned.out());

    if (rc < 0)
        return rc;
    rc = coil_future_add_callback(coil_task_future(spawned), lone::ended, owned.get());
    if (rc < 0) {
        coil_task_cancel(spawned, "there is no memory for the end of its body");
        return rc;
    }
    owned.release();
    if (out != nullptr)
        *out = spawned.release();
    return 0;
}

/* ---- queues ------------------------------------------------------------------------ */

/*
 * A coil_queue of what std::unique_ptr owns: `coil::queue<message> inbox(16);`. An item
 * is the queue's from a put that returned 0 to the get that returns it; what nobody took
 * is destroyed with the queue, for which nothing may wait any more. coil_queue's
 * functions take it, too, with items that are a `T *`.
 */
template <typename T> class queue
{
  public:
    using item = std::unique_ptr<T>;

    explicit queue(std::size_t maxsize = 0, coil_queue_order order = COIL_QUEUE_FIFO)
    {
        if (order == COIL_QUEUE_LIFO)
            coil_queue_init_lifo(&queue_, sizeof(T *), maxsize);
        else
            coil_queue_init(&queue_, sizeof(T *), maxsize);
    }
    queue(const queue &) = delete;
    queue &operator=(const queue &) = delete;
    ~queue()
    {
        drop_items();
        coil_queue_finish(&queue_);
    }

    operator coil_queue *() { return &queue_; }

    /* As coil_queue_put(). After a failure the item is still the caller's. */
    int put(item &&given) { return give(coil_queue_put, given); }
    int put_nowait(item &&given) { return give(coil_queue_put_nowait, given); }

    /* As coil_queue_get(). What *taken owned is destroyed, where that succeeds. */
    int get(item &taken) { return take(coil_queue_get, taken); }
    int get_nowait(item &taken) { return take(coil_queue_get_nowait, taken); }

    int task_done() { return coil_queue_task_done(&queue_); }
    int join() { return coil_queue_join(&queue_); }

    /* `immediate` destroys what is in it. */
    void shutdown(bool immediate = false)
    {
        if (immediate)
            drop_items();
        coil_queue_shutdown(&queue_, immediate);
    }

    std::size_t count() const { return coil_queue_count(&queue_); }
    std::size_t maxsize() const { return coil_queue_maxsize(&queue_); }
    bool empty() const { return coil_queue_empty(&queue_); }
    bool full() const { return coil_queue_full(&queue_); }

  protected:
    /* An item that is less than another comes first. */
    queue(std::size_t maxsize, int (*compare)(const void *, const void *))
    {
        coil_queue_init_priority(&queue_, sizeof(T *), maxsize, compare);
    }

  private:
    template <typename Put> int give(Put put, item &given)
    {
        T *raw = given.get();
        int rc = put(&queue_, &raw);

        if (rc == 0)
            given.release();
        return rc;
    }

    template <typename Get> int take(Get get, item &taken)
    {
        T *raw = nullptr;
        int rc = get(&queue_, &raw);

        if (rc == 0)
            taken.reset(raw);
        return rc;
    }

    void drop_items()
    {
        for (item dropped; get_nowait(dropped) == 0;)
            task_done();
    }

    coil_queue queue_;
};

/* The least item first, by operator<. */
template <typename T> class priority_queue : public queue<T>
{
  public:
    explicit priority_queue(std::size_t maxsize = 0) : queue<T>(maxsize, compare) {}

  private:
    static int compare(const void *a, const void *b)
    {
        const T &left = **static_cast<T *const *>(a);
        const T &right = **static_cast<T *const *>(b);

        return left < right ? -1 : right < left ? 1 : 0;
    }
};

/* ---- regions ----------------------------------------------------------------------- */

/*
 * A coil_group. Where it is not exited, an exception passes: its children are cancelled,
 * and waited for. As a coil_group it is not moved, and regions end last in, first out.
 */
class group
{
  public:
    group() { coil_group_enter(&group_); }
    group(const group &) = delete;
    group &operator=(const group &) = delete;
    ~group()
    {
        if (open_)
            coil_group_exit(&group_, -ECANCELED);
    }

    operator coil_group *() { return &group_; }

    /* The body, a copy or moved here, lives until it has returned, or the group exits. *out is
       borrowed, as from coil_group_spawn(): a plain coil_task *, and no handle's out(). */
    template <typename Body>
    int spawn(Body &&body, const coil_spawn_opts *opts = nullptr, coil_task **out = nullptr)
    {
        using child_t = child<std::decay_t<Body>>;
        auto owned = std::make_unique<child_t>(*this, std::forward<Body>(body));
        child_t *raw = owned.get();
        auto place = bodies_.insert(bodies_.end(), std::move(owned));
        int rc;

        raw->place = place;
        rc = coil_group_spawn(&group_, child_t::enter, raw, opts, out);
        if (rc < 0)
            bodies_.erase(place);
        return rc;
    }

    void cancel(const char *reason = nullptr) { coil_group_cancel(&group_, reason); }

    /* Wait for all; throws the first exception of a child, else returns its rc. */
    int exit(int rc = 0)
    {
        open_ = false;
        rc = coil_group_exit(&group_, rc);
        bodies_.clear();
        if (thrown_)
            std::rethrow_exception(std::exchange(thrown_, nullptr));
        return rc;
    }

  private:
    struct any_body {
        virtual ~any_body() = default;
        std::list<std::unique_ptr<any_body>>::iterator place;
    };

    template <typename Body> struct child : any_body {
        group &of;
        Body body;

        template <typename From>
        child(group &group, From &&from) : of(group), body(std::forward<From>(from))
        {
        }

        static int enter(void *arg)
        {
            auto *self = static_cast<child *>(arg);
            group &of = self->of;
            int rc = detail::call(self->body, of.thrown_);

            of.bodies_.erase(self->place);
            return rc;
        }
    };

    coil_group group_;
    bool open_ = true;
    std::exception_ptr thrown_;
    std::list<std::unique_ptr<any_body>> bodies_; /* that have not returned */
};

/* A coil_scope, with a deadline: `coil::scope limit(coil_in(COIL_SEC(2)));` */
class scope
{
  public:
    explicit scope(int64_t deadline = COIL_NEVER)
    {
        check(coil_scope_enter(&scope_, deadline));
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope()
    {
        if (open_)
            coil_scope_exit(&scope_, 0);
    }

    operator coil_scope *() { return &scope_; }

    /* What became of it: -ETIMEDOUT for an rc of -ECANCELED that was the deadline's. */
    int exit(int rc)
    {
        open_ = false;
        return coil_scope_exit(&scope_, rc);
    }

  private:
    coil_scope scope_;
    bool open_ = true;
};

/* Holds a coil_lock: `coil::lock_guard held(lock);` Throws where it was cancelled. */
class lock_guard
{
  public:
    explicit lock_guard(coil_lock &lock) : lock_(lock) { check(coil_lock_acquire(&lock)); }
    lock_guard(const lock_guard &) = delete;
    lock_guard &operator=(const lock_guard &) = delete;
    ~lock_guard() { coil_lock_release(&lock_); }

  private:
    coil_lock &lock_;
};

} // namespace coil

#endif
