/*
 * tails_cxx.cpp - like tails.c, for C++ lambdas that run as tasks (coil.hpp).
 *
 *     tails_cxx          all of them; prints those that blocked the thread
 */
#include "tails.h"

#include <coil.hpp>

struct form {
    const char *name;
    int (*fn)();
};

#define FORM(name, call) {#name, [] { return static_cast<int>(call); }},
static const form forms[] = {CALLS(FORM)};

static int in_lambda(const form &f)
{
    auto fn = f.fn;
    coil::group group;
    coil_task *task;

    group.spawn([fn] { return fn(); }, nullptr, &task);
    begin_in(task);
    return group.exit(0);
}

static int in_void_lambda(const form &f)
{
    auto fn = f.fn;
    coil::group group;
    coil_task *task;

    group.spawn([fn] { fn(); }, nullptr, &task);
    begin_in(task);
    return group.exit(0);
}

static int in_scope(const form &f)
{
    coil::scope scope;

    begin();
    return scope.exit(f.fn());
}

struct kind {
    const char *name;
    int (*fn)(const form &f);
};

static const kind kinds[] = {{"a lambda", in_lambda},
                             {"a lambda without a result", in_void_lambda},
                             {"a scope", in_scope}};

struct pair {
    const kind *k;
    const form *f;
};

static int run_pair(void *arg)
{
    auto p = static_cast<const pair *>(arg);

    return p->k->fn(*p->f);
}

static void report(const void *arg, int status)
{
    auto p = static_cast<const pair *>(arg);

    printf("%s that ends in %s(): status %d\n", p->k->name, p->f->name, status);
}

int main()
{
    int wrong = 0;

    if (!coil_posix_active())
        puts("libcoil-posix is not active");
    prepare_queues();
    for (const form &f : forms) {
        pair pairs[] = {{&kinds[0], &f}, {&kinds[1], &f}, {&kinds[2], &f}};

        wrong += run_alone(
            {run_pair, reinterpret_cast<char *>(pairs), sizeof *pairs, 3, nullptr},
            report);
    }
    printf("%d wrong\n", wrong);
    remove_queues();
    return wrong > 0;
}
