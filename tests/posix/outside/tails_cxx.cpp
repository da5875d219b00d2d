/*
 * tails_cxx.cpp - lambdas as tasks (coil.hpp) that end in every kind of call: see tails.c.
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

static int in_lambda(void *arg)
{
    auto fn = static_cast<const form *>(arg)->fn;
    coil::group group;

    return group.exit(group.spawn([fn] { return fn(); }, nullptr, &caller));
}

static int in_void_lambda(void *arg)
{
    auto fn = static_cast<const form *>(arg)->fn;
    coil::group group;

    return group.exit(group.spawn([fn] { fn(); }, nullptr, &caller));
}

static int in_scope(void *arg)
{
    auto fn = static_cast<const form *>(arg)->fn;
    coil::scope scope;

    begin();
    return scope.exit(fn());
}

struct kind {
    const char *name;
    int (*fn)(void *arg);
};

static const kind kinds[] = {{"a lambda", in_lambda},
                             {"a lambda without a result", in_void_lambda},
                             {"a scope", in_scope}};

int main()
{
    int wrong = 0;

    if (!coil_posix_active())
        puts("libcoil-posix is not active");
    for (const kind &k : kinds)
        for (form f : forms) {
            int status = run_alone(k.fn, &f);

            if (status == 0)
                continue;
            wrong++;
            printf("%s that ends in %s(): status %d\n", k.name, f.name, status);
        }
    printf("%d wrong\n", wrong);
    return wrong > 0;
}
