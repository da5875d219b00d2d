/*
 * coil.hpp - coil for C++17: handles that release objects, lambdas as tasks, and
 * exceptions that are passed to the awaiting task. This interface is header-only, and can
 * be combined with all functions of coil.h.
 *
 *     #include <coil.hpp>
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
 * Calls return a negative errno for a failure, as in C. To get an exception instead, use
 * coil::check(), which throws the errno as a coil::error. The function that a task runs
 * is called its body. It returns either an int, with the same meaning as in C, or
 * nothing. An exception thrown by a body never propagates through coil's own code.
 * Instead, the task fails with the errno of a std::system_error, or with -EIO for any
 * other exception, and the task's group, or run(), throws the exception again.
 *
 * coil::check(-ECANCELED) turns a cancellation into an exception. Scopes and groups
 * translate this exception in the same way as coil_scope_exit() and coil_group_exit()
 * translate an rc. If the deadline of a coil::scope caused the cancellation, the
 * exception leaves the scope with the code -ETIMEDOUT. If a child's exception caused the
 * cancellation, coil::check() throws that exception instead.
 */
#ifndef COIL_HPP
#define COIL_HPP

#include <coil.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <list>
#include <memory>
#include <system_error>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace coil
{

class error;
class group;
class scope;

namespace detail
{

/*
 * Marks functions that are inlined even without optimisation, so that coil's reports name
 * the caller's line.
 */
#define COIL__INLINED [[gnu::always_inline]] inline

/* The address of this variable identifies the thread. */
inline thread_local char this_thread;

/*
 * Points to an exception in flight. The exception shares this pointer with the regions
 * through which it passes, and sets it to null when it is destroyed.
 */
using flying = std::shared_ptr<std::atomic<error *>>;

/* An open group or scope of the running task. */
class region
{
  public:
    region(const region &) = delete;
    region &operator=(const region &) = delete;

    static region *innermost()
    {
        return static_cast<region *>(coil_region_bound(nullptr));
    }
    region *outer() const { return static_cast<region *>(coil_region_bound(this)); }

    /* If a failure in this region cancelled the task, throw that failure. */
    virtual void throw_failure() {}
    virtual bool has_expired() const noexcept { return false; }

    /*
     * Record a cancellation that was thrown in this region or has left an inner region.
     */
    void note_cancellation(flying cancellation) noexcept
    {
        cancellation_ = std::move(cancellation);
    }

  protected:
    region() : exceptions_(std::uncaught_exceptions()) {}
    ~region()
    {
        region *around = innermost();

        if (cancellation_ && around != nullptr)
            around->note_cancellation(std::move(cancellation_));
    }

    /* Attach this object to the scope or group that was entered last. */
    void bind() { coil_region_bind(this); }

    bool is_left_by_exception() const noexcept
    {
        return std::uncaught_exceptions() > exceptions_;
    }

    /* If a cancellation thrown by coil::check() is leaving this region, return it. */
    error *cancellation() const noexcept
    {
        return is_left_by_exception() && cancellation_ ? cancellation_->load() : nullptr;
    }

  private:
    int exceptions_; /* number of exceptions in flight on entry */
    flying cancellation_;
};

} // namespace detail

/* ---- errors ------------------------------------------------------------------------ */

/*
 * The exception that coil::check() throws. code().value() is the errno, and what() is
 * coil's message. An exception in flight must not be passed to another thread.
 */
class __attribute__((visibility("default"))) error : public std::system_error
{
  public:
    /*
     * Create an exception for the negative errno `rc`, with the message of
     * coil_last_error() if that error has the same rc.
     */
    explicit error(int rc) : std::system_error(-rc, std::generic_category())
    {
        if (rc == -ECANCELED)
            enter_region();
        else
            take_failure(rc);
    }
    error(const error &other) noexcept
        : std::system_error(other), failure_(other.failure_), cause_(other.cause_)
    {
    }
    error &operator=(const error &other) noexcept
    {
        std::system_error::operator=(other);
        failure_ = other.failure_;
        cause_ = other.cause_;
        return *this;
    }
    ~error() override
    {
        if (self_)
            self_->store(nullptr);
    }

    const char *what() const noexcept override
    {
        return failure() != nullptr ? coil_error_message(failure())
                                    : std::system_error::what();
    }

    /*
     * Return the error with the message and the stack of the throw, for
     * coil_error_print(); NULL for a cancellation, or if memory ran out.
     */
    coil_error *failure() const noexcept
    {
        return failure_ && coil_error_rc(failure_.get()) == -code().value()
                   ? failure_.get()
                   : nullptr;
    }

    /*
     * Return the exception that caused this cancellation, or null if this object is the
     * original failure.
     */
    const std::exception_ptr &cause() const noexcept { return cause_; }

  private:
    friend class group;
    friend class scope;

    /*
     * Replace the code -ECANCELED of this exception with `rc`, the failure that caused
     * the cancellation. `cause` is the exception of that failure, or null.
     */
    void become(int rc, const std::exception_ptr &cause) noexcept
    {
        try {
            std::system_error::operator=(std::system_error(-rc, std::generic_category()));
        } catch (...) {
            return; /* out of memory: the exception remains a cancellation */
        }
        if (failure() == nullptr)
            take_failure(rc);
        cause_ = cause;
    }

    /*
     * A coil_error may be used only on its own thread, so it is leaked if another thread
     * destroys the exception.
     */
    void take_failure(int rc) noexcept
    {
        coil_error *last = coil_last_error();

        if (last == nullptr || coil_error_rc(last) != rc)
            return;
        try {
            failure_.reset(coil_error_retain(last),
                           [home = &detail::this_thread](coil_error *e) {
                               if (home == &detail::this_thread)
                                   coil_error_release(e);
                           });
        } catch (...) {
        }
    }

    void enter_region() noexcept
    {
        auto *innermost = detail::region::innermost();
        bool has_expired = false;

        if (innermost == nullptr)
            return;
        for (auto *at = innermost; at != nullptr; at = at->outer())
            has_expired |= at->has_expired();
        if (has_expired)
            note_time_out();
        try {
            self_ = std::make_shared<std::atomic<error *>>(this);
        } catch (...) {
            return; /* out of memory: the exception remains a cancellation */
        }
        innermost->note_cancellation(self_);
    }

    /*
     * Record the current stack for -ETIMEDOUT, because this cancellation will probably
     * become a timeout.
     */
    void note_time_out() noexcept
    {
        coil_error *last = coil_last_error();

        if (last != nullptr)
            coil_error_retain(last);
        (coil_fail)(-ETIMEDOUT, nullptr);
        take_failure(-ETIMEDOUT);
        if (last == nullptr)
            coil_clear_error();
        else
            coil_fail_again(last);
        coil_error_release(last);
    }

    std::shared_ptr<coil_error> failure_;
    std::exception_ptr cause_;
    detail::flying self_; /* shared with the regions through which the exception passes */
};

namespace detail
{

/* True if coil has not yet recorded the stack of this failure. */
inline bool has_no_place(int rc) noexcept
{
    coil_error *last = coil_last_error();

    return rc != -ECANCELED && (last == nullptr || coil_error_rc(last) != rc);
}

[[noreturn, gnu::noinline]] inline void raise(int rc)
{
    if (rc == -ECANCELED)
        for (region *at = region::innermost(); at != nullptr; at = at->outer())
            at->throw_failure();
    throw error(rc);
}

} // namespace detail

/* Return the rc; if it is negative, throw a coil::error. */
template <typename Rc> COIL__INLINED Rc check(Rc rc)
{
    if (rc < 0) {
        if (detail::has_no_place(static_cast<int>(rc)))
            coil_fail(static_cast<int>(rc), nullptr);
        detail::raise(static_cast<int>(rc));
    }
    return rc;
}

/* ---- handles ----------------------------------------------------------------------- */

/*
 * Owns an object, and releases it when destroyed. A handle converts to the pointer that
 * coil's functions take.
 */
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

    /*
     * Return the address to pass as the out-parameter of a function. An object that the
     * handle already owns is released first.
     */
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
using directory = handle<coil_directory, coil_directory_destroy>;
using watch = handle<coil_watch, coil_watch_destroy>;
using process = handle<coil_process, coil_process_destroy>;
using tls = handle<coil_tls, coil_tls_release>;
using task = handle<coil_task, coil_task_release>;
using future = handle<coil_future, coil_future_release>;
using generator = handle<coil_gen, coil_gen_destroy>;

/* ---- bodies ------------------------------------------------------------------------ */

namespace detail
{

/*
 * Return an exception's code as a negative errno. Returns -EIO if the code is not an
 * errno, or is an errno with which a task must not end.
 */
inline int rc_of(const std::error_code &code) noexcept
{
    bool is_errno = code.category() == std::generic_category() ||
                    code.category() == std::system_category();

    return is_errno && code.value() > 0 && code.value() != EINPROGRESS ? -code.value()
                                                                       : -EIO;
}

/*
 * True if this failure is already the last error, for example because a group has
 * returned its child's error.
 */
inline bool is_noted(int rc, const char *message) noexcept
{
    coil_error *last = coil_last_error();

    return last != nullptr && coil_error_rc(last) == rc &&
           std::strcmp(coil_error_message(last), message) == 0;
}

/* Set the task's error, with the stack of the throw, and return the rc. */
inline int fail(coil_error *thrown, int rc, const char *message) noexcept
{
    if (!is_noted(rc, message))
        return coil_fail_traced(thrown, rc, "%s", message);
    coil_error_release(thrown);
    return rc;
}

inline int fail(coil_error *thrown, const error &failure) noexcept
{
    int rc = rc_of(failure.code());

    if (failure.failure() == nullptr || coil_error_rc(failure.failure()) != rc)
        return fail(thrown, rc, failure.what());
    coil_error_release(thrown);
    return coil_fail_again(failure.failure());
}

/*
 * Set the task's error for an exception that is not derived from std::exception. The
 * message contains the name of the exception's type.
 */
inline int fail(coil_error *thrown, const std::type_info *type) noexcept
{
    char *name = type != nullptr
                     ? abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr)
                     : nullptr;
    char message[200];

    std::snprintf(message, sizeof message, "an exception of type %s",
                  name != nullptr ? name : "unknown");
    std::free(name);
    return fail(thrown, -EIO, message);
}

template <typename Body> int enter(void *arg)
{
    Body &body = **static_cast<Body **>(arg);

    if constexpr (std::is_void_v<decltype(body())>) {
        body();
        return 0;
    } else {
        return body();
    }
}

/*
 * Call the body and return its rc. If the body throws an exception, store it in `kept`
 * and return its errno.
 */
template <typename Body> int call(Body &body, std::exception_ptr &kept) noexcept
{
    coil_error *thrown = nullptr;
    Body *place = std::addressof(body);

    try {
        return coil_call_traced(enter<Body>, &place, &thrown);
    } catch (const error &failure) {
        kept = failure.cause() ? failure.cause() : std::current_exception();
        return fail(thrown, failure);
    } catch (const std::system_error &failure) {
        kept = std::current_exception();
        return fail(thrown, rc_of(failure.code()), failure.what());
    } catch (const std::exception &failure) {
        kept = std::current_exception();
        return fail(thrown, -EIO, failure.what());
    } catch (...) {
        kept = std::current_exception();
        return fail(thrown, abi::__cxa_current_exception_type());
    }
}

template <typename Body> struct main_body {
    Body &body;
    std::exception_ptr thrown;

    static int enter(void *arg)
    {
        auto *self = static_cast<main_body *>(arg);
        int rc = call(self->body, self->thrown);

        /*
         * Return 0 after an exception: run() rethrows it, so coil_run() must not print it
         * as a failure. A cancellation is returned unchanged, because coil_run() must
         * return -EINTR if Ctrl-C caused it.
         */
        return self->thrown && rc != -ECANCELED ? 0 : rc;
    }
};

} // namespace detail

/*
 * Run a lambda with coil_run(), and return its rc or throw its exception. After Ctrl-C
 * the result is -EINTR, even if coil::check() threw an exception.
 */
template <typename Body>
COIL__INLINED int run(Body &&body, const coil_run_opts *opts = nullptr)
{
    detail::main_body<std::remove_reference_t<Body>> main{body, nullptr};
    int rc = coil_run(main.enter, &main, opts);

    if (main.thrown && rc != -EINTR)
        std::rethrow_exception(main.thrown);
    return rc;
}

/* ---- tasks without a group --------------------------------------------------------- */

namespace detail
{

/*
 * Stores a body until its task has ended, even if the task is cancelled before its first
 * step.
 */
template <typename Body> struct lone_body {
    Body body;
    bool runs = false, ends_itself = false;

    template <typename From>
    explicit lone_body(From &&from) : body(std::forward<From>(from))
    {
    }

    static int enter(void *arg)
    {
        auto *self = static_cast<lone_body *>(arg);
        std::exception_ptr thrown;
        int rc;

        self->runs = true;
        rc = call(self->body, thrown);
        self->runs = false;
        if (self->ends_itself)
            delete self;
        return rc;
    }

    static void ended(coil_future *, void *arg) { delete static_cast<lone_body *>(arg); }
};

/*
 * Spawn a task whose body has a destructor. The body is stored on the heap until the task
 * has ended.
 */
template <typename Body>
COIL__INLINED int spawn_owned(Body &&body, const coil_spawn_opts *opts, coil_task **out)
{
    using lone = lone_body<std::decay_t<Body>>;
    auto owned = std::make_unique<lone>(std::forward<Body>(body));
    task spawned;
    int rc = coil_spawn(lone::enter, owned.get(), opts, spawned.out());

    if (rc < 0)
        return rc;
    rc = coil_future_add_callback(coil_task_future(spawned), lone::ended, owned.get());
    if (rc < 0) {
        coil_task_cancel(spawned, "no memory to free the body when the task ends");
        owned->ends_itself = owned->runs; /* true if the body has begun and is waiting */
        if (owned->runs)
            owned.release();
        return rc;
    }
    owned.release();
    if (out != nullptr)
        *out = spawned.release();
    return 0;
}

/*
 * True for trivially copyable bodies. No memory is allocated for such a body, because the
 * task holds a copy of its bytes.
 */
template <typename Body>
constexpr bool is_plain_body = std::is_trivially_copyable_v<Body> &&
                               sizeof(Body) <= 1024 &&
                               alignof(Body) <= alignof(std::max_align_t);
template <typename Body>
constexpr bool is_small_body = is_plain_body<Body> && sizeof(Body) <= sizeof(void *) &&
                               alignof(Body) <= alignof(void *);

template <typename Body> int enter_plain(void *arg)
{
    Body *body = static_cast<Body *>(arg);

    if constexpr (std::is_nothrow_invocable_v<Body &>) {
        return enter<Body>(&body);
    } else {
        std::exception_ptr thrown;

        return call(*body, thrown);
    }
}

template <typename Body>
COIL__INLINED int spawn_plain(Body body, const coil_spawn_opts *opts, coil_task **out)
{
    coil_spawn_opts with_body = opts != nullptr ? *opts : coil_spawn_opts{};

    with_body.arg_bytes = sizeof body;
    return coil_spawn(enter_plain<Body>, std::addressof(body), &with_body, out);
}

/* Call a small body, whose bytes are stored in `arg` itself. */
template <typename Body> int enter_small(void *arg)
{
    return enter_plain<Body>(std::addressof(arg));
}

template <typename Body>
COIL__INLINED int spawn_small(Body body, const coil_spawn_opts *opts, coil_task **out)
{
    void *arg = nullptr;

    std::memcpy(&arg, std::addressof(body), sizeof body);
    if (opts == nullptr) /* a task without options is created faster */
        return coil_spawn(enter_small<Body>, arg, nullptr, out);

    coil_spawn_opts own = *opts;

    own.arg_bytes = 0; /* `arg` contains the body */
    return coil_spawn(enter_small<Body>, arg, &own, out);
}

} // namespace detail

/*
 * Spawn a lambda as a task outside any group: detached, or with a reference in `out`.
 *
 * The lambda is copied or moved into the task, and destroyed after the task has ended.
 * The lambda must own the objects that it uses, because the spawning function may have
 * returned. If the lambda throws an exception, the task fails, and the exception is not
 * thrown again. If no task awaits the failed task, the failure is reported.
 *
 * Returns 0, or fails like coil_spawn() and coil_future_add_callback(). If the call fails
 * with -ENOMEM and opts->eager is set, the body may already have run; if it is waiting,
 * it is cancelled.
 */
template <typename Body>
COIL__INLINED int spawn(Body &&body, const coil_spawn_opts *opts = nullptr,
                        coil_task **out = nullptr)
{
    using body_t = std::decay_t<Body>;

    if constexpr (detail::is_small_body<body_t>)
        return detail::spawn_small<body_t>(body, opts, out);
    else if constexpr (detail::is_plain_body<body_t>)
        return detail::spawn_plain<body_t>(body, opts, out);
    else
        return detail::spawn_owned(std::forward<Body>(body), opts, out);
}

/* ---- queues ------------------------------------------------------------------------ */

/*
 * A coil_queue of objects owned by std::unique_ptr: `coil::queue<message> inbox(16);`.
 *
 * The queue owns each item from the put to the get that returns the item. Destroying the
 * queue destroys the remaining items; no task may still be waiting for the queue. The
 * coil_queue functions also accept this queue, with items of type `T *`.
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

    /* Like coil_queue_put(). After a failure the caller still owns the item. */
    COIL__INLINED int put(item &&given) { return give(coil_queue_put, given); }
    int put_nowait(item &&given) { return give(coil_queue_put_nowait, given); }

    /*
     * Like coil_queue_get(). On success, the object that `taken` owned before is
     * destroyed.
     */
    COIL__INLINED int get(item &taken) { return take(coil_queue_get, taken); }
    int get_nowait(item &taken) { return take(coil_queue_get_nowait, taken); }

    int task_done() { return coil_queue_task_done(&queue_); }
    COIL__INLINED int join() { return coil_queue_join(&queue_); }

    /* If `immediate` is true, the items in the queue are destroyed. */
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
    /* Create a queue that returns the smallest item first. */
    queue(std::size_t maxsize, int (*compare)(const void *, const void *))
    {
        coil_queue_init_priority(&queue_, sizeof(T *), maxsize, compare);
    }

  private:
    template <typename Put> COIL__INLINED int give(Put put, item &given)
    {
        T *raw = given.get();
        int rc = put(&queue_, &raw);

        if (rc == 0)
            given.release();
        return rc;
    }

    template <typename Get> COIL__INLINED int take(Get get, item &taken)
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

/* A queue that returns the smallest item first, according to operator<. */
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
 * A coil_group. If control leaves the group's block without exit(), because of an
 * exception or a return, the children are cancelled and awaited. Like a coil_group, a
 * group cannot be moved, and groups and scopes must end last in, first out.
 *
 * The first exception that a child throws is passed to the owner, however the owner
 * leaves the group:
 *
 * - exit() throws the child's exception.
 * - If the child's failure has cancelled the owner, coil::check(-ECANCELED) in the body
 *   throws the child's exception.
 * - If the owner returns without exit(), the child's exception is thrown at the end of
 *   the block. If the child failed without an exception, a coil::error is thrown.
 * - If another exception leaves the block, that exception continues. If a child had
 *   already failed, its failure is reported to the loop's exception handler.
 */
class group : private detail::region
{
  public:
    COIL__INLINED group()
    {
        coil_group_enter(&group_);
        bind();
    }
    COIL__INLINED ~group() noexcept(false)
    {
        if (open_)
            leave();
    }

    operator coil_group *() { return &group_; }

    /*
     * Start a child. The body is copied or moved, and exists until it has returned or the
     * group exits. The pointer in *out is borrowed, as from coil_group_spawn(): use a
     * plain coil_task *, not a handle's out().
     */
    template <typename Body>
    COIL__INLINED int spawn(Body &&body, const coil_spawn_opts *opts = nullptr,
                            coil_task **out = nullptr)
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

    COIL__INLINED void cancel(const char *reason = nullptr)
    {
        coil_group_cancel(&group_, reason);
    }

    /*
     * Wait for all children. Throws the first exception that a child threw, except
     * cancellations; otherwise returns like coil_group_exit().
     */
    COIL__INLINED int exit(int rc = 0)
    {
        rc = close(rc);
        if (thrown_)
            std::rethrow_exception(std::exchange(thrown_, nullptr));
        return rc;
    }

  private:
    bool has_failed() const noexcept { return coil_group_error_count(&group_) > 0; }

    void throw_failure() override
    {
        if (!thrown_ || !has_failed())
            return;
        reported_ = true;
        std::rethrow_exception(thrown_);
    }

    COIL__INLINED int close(int rc)
    {
        open_ = false;
        rc = coil_group_exit(&group_, rc);
        bodies_.clear();
        return rc;
    }

    /*
     * End the group when control leaves the block without exit(). C++ cannot replace an
     * exception in flight. So if the exception is coil's cancellation, its code is
     * changed to that of the child's failure; any other exception continues unchanged.
     */
    COIL__INLINED void leave()
    {
        bool had_failed = has_failed(), by_exception = is_left_by_exception();
        error *cancellation = this->cancellation();
        int rc = close(-ECANCELED);

        if (!has_failed())
            return;
        if (!by_exception && thrown_)
            std::rethrow_exception(thrown_);
        if (!by_exception)
            detail::raise(rc);
        if (cancellation != nullptr)
            cancellation->become(rc, thrown_);
        else if (had_failed && !reported_)
            report(rc);
    }

    static void report(int rc)
    {
        coil_exception lost = {};

        lost.message =
            "A child of a group has failed, but another exception leaves the group";
        lost.rc = rc;
        lost.error = coil_last_error();
        coil_call_exception_handler(&lost);
    }

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
            std::exception_ptr thrown;
            int rc = detail::call(self->body, thrown);

            if (rc != -ECANCELED && !of.thrown_)
                of.thrown_ = thrown;
            of.bodies_.erase(self->place);
            return rc;
        }
    };

    coil_group group_;
    bool open_ = true, reported_ = false;
    std::exception_ptr thrown_; /* first exception from a child, except cancellations */
    std::list<std::unique_ptr<any_body>> bodies_; /* bodies that have not returned */
};

/*
 * A coil_scope, with a deadline: `coil::scope limit(coil_in(COIL_SEC(2)));`. If the
 * scope's deadline has cancelled the task, the exception thrown by coil::check() leaves
 * the scope with the code -ETIMEDOUT.
 */
class scope : private detail::region
{
  public:
    COIL__INLINED explicit scope(int64_t deadline = COIL_NEVER)
    {
        check(coil_scope_enter(&scope_, deadline));
        bind();
    }
    COIL__INLINED ~scope()
    {
        if (open_)
            leave();
    }

    operator coil_scope *() { return &scope_; }

    /*
     * Close the scope and return the resulting rc: -ETIMEDOUT if `rc` is -ECANCELED
     * because of the scope's deadline, else `rc`.
     */
    COIL__INLINED int exit(int rc)
    {
        open_ = false;
        return coil_scope_exit(&scope_, rc);
    }

  private:
    bool has_expired() const noexcept override
    {
        return open_ && coil_scope_expired(&scope_);
    }

    COIL__INLINED void leave()
    {
        error *cancellation = this->cancellation();

        if (coil_scope_exit(&scope_, cancellation != nullptr ? -ECANCELED : 0) ==
            -ETIMEDOUT)
            cancellation->become(-ETIMEDOUT, nullptr);
    }

    coil_scope scope_;
    bool open_ = true;
};

/*
 * Holds a coil_lock: `coil::lock_guard held(lock);` Throws if the task is cancelled while
 * it waits for the lock.
 */
class lock_guard
{
  public:
    COIL__INLINED explicit lock_guard(coil_lock &lock) : lock_(lock)
    {
        check(coil_lock_acquire(&lock));
    }
    lock_guard(const lock_guard &) = delete;
    lock_guard &operator=(const lock_guard &) = delete;
    ~lock_guard() { coil_lock_release(&lock_); }

  private:
    coil_lock &lock_;
};

/*
 * read_guard and write_guard hold a coil_rwlock for reading or for writing. Like
 * lock_guard, both throw if the task is cancelled while it waits for the lock.
 */
class read_guard
{
  public:
    COIL__INLINED explicit read_guard(coil_rwlock &lock) : lock_(lock)
    {
        check(coil_rwlock_acquire_read(&lock));
    }
    read_guard(const read_guard &) = delete;
    read_guard &operator=(const read_guard &) = delete;
    ~read_guard() { coil_rwlock_release(&lock_); }

  private:
    coil_rwlock &lock_;
};

class write_guard
{
  public:
    COIL__INLINED explicit write_guard(coil_rwlock &lock) : lock_(lock)
    {
        check(coil_rwlock_acquire_write(&lock));
    }
    write_guard(const write_guard &) = delete;
    write_guard &operator=(const write_guard &) = delete;
    ~write_guard() { coil_rwlock_release(&lock_); }

  private:
    coil_rwlock &lock_;
};

#undef COIL__INLINED

} // namespace coil

#endif
