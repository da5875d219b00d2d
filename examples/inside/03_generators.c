/*
 * 03_generators.c - all generators in the documents that docs/seeds.md lists, and their
 * values.
 *
 * The program uses coil/gen.h, which needs no loop, for Python's next(), send(), throw(),
 * `return value` and `yield from`. Where Python raises an exception, a call returns an
 * error number: "raised ENOENT" stands for a traceback. Two properties suffice for
 * building coroutines: values can be passed in and out, and an inner generator
 * communicates directly with the code that resumes the outer generator.
 *
 * To try: remove the last next(). A generator that has not begun cannot catch an error,
 * and ends.
 */
#include <coil/gen.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char *call, int rc, const void *value)
{
    if (rc == COIL_GEN_YIELDED)
        printf("  %-16s -> %s\n", call, (const char *)value);
    else if (rc == COIL_GEN_ENDED)
        printf("  %-16s -> ended with %s\n", call, value ? (const char *)value : "None");
    else
        printf("  %-16s -> raised %s\n", call, strerrorname_np(-rc));
}

static void next(coil_gen *gen)
{
    void *value;
    int rc = coil_gen_next(gen, &value);

    show("next()", rc, value);
}

static void send(coil_gen *gen, char *sent)
{
    char call[32];
    void *value;
    int rc = coil_gen_send(gen, sent, &value);

    snprintf(call, sizeof call, "send(%s)", sent);
    show(call, rc, value);
}

static void throw(coil_gen * gen, int error)
{
    void *value;
    int rc = coil_gen_throw(gen, error, &value);

    show("throw(ENOENT)", rc, value);
}

static coil_gen *begin(const char *title, coil_gen_fn fn, void *arg)
{
    coil_gen *gen;

    if (title != NULL)
        printf("%s\n", title);
    if (coil_gen_create(fn, arg, NULL, &gen) < 0)
        exit(1);
    return gen;
}

/* [send] */
static int blog(coil_gen *gen, void *arg)
{
    void *f;

    coil_gen_yield("1", NULL);
    coil_gen_yield("2", &f);
    printf("  f = %s\n", (char *)f);
    coil_gen_yield("3", NULL);
    coil_gen_return(gen, "0");
    return (void)arg, 0;
}
/* [end] */

/* [test] */
static int test(coil_gen *gen, void *arg)
{
    void *val;
    int rc = coil_gen_yield("1", &val);

    if (rc < 0)
        return rc;
    printf("  %s\n", (char *)val);
    if ((rc = coil_gen_yield("2", NULL)) < 0)
        return rc; // an error that was thrown in, and is not handled here
    rc = coil_gen_yield("3", NULL);
    return (void)gen, (void)arg, rc;
}
/* [end] */

static int one_two(coil_gen *gen, void *arg)
{
    coil_gen_yield("1", NULL);
    coil_gen_yield("2", NULL);
    return (void)gen, (void)arg, 0;
}

/* [return] */
static int returns_abc(coil_gen *gen, void *arg)
{
    coil_gen_yield("1", NULL);
    coil_gen_return(gen, "abc");
    return (void)arg, 0;
}
/* [end] */

/* [yield_from] */
static int inner(coil_gen *gen, void *arg)
{
    void *result;

    coil_gen_yield("2", &result);
    printf("  inner %s\n", (char *)result);
    coil_gen_return(gen, "3");
    return (void)arg, 0;
}

static int outer(coil_gen *gen, void *arg)
{
    coil_gen *in = arg;
    void *val;

    coil_gen_yield("1", NULL);
    coil_gen_yield_from(in, &val); // next() and send() go straight to `inner`
    printf("  outer %s\n", (char *)val);
    coil_gen_yield("4", NULL);
    return (void)gen, 0;
}
/* [end] */

/* [wrap] */
static int cofoo(coil_gen *gen, void *arg)
{
    return (void)gen, coil_gen_yield(arg, NULL);
}

static int wrap(coil_gen *gen, void *arg)
{
    coil_gen_yield("before", NULL);
    coil_gen_yield_from(arg, NULL);
    return (void)gen, coil_gen_yield("after", NULL);
}
/* [end] */

/* [gen_fn] */
static int gen_fn(coil_gen *gen, void *arg)
{
    void *result;
    int rc = coil_gen_yield("1", &result);

    if (rc < 0)
        return rc;
    printf("  result of yield: %s\n", (char *)result);
    rc = coil_gen_yield("2", &result);
    if (rc < 0)
        return rc;
    printf("  result of 2nd yield: %s\n", (char *)result);
    coil_gen_return(gen, "done");
    return (void)arg, 0;
}
/* [end] */

/* [catch] */
static int caller_fn(coil_gen *gen, void *arg)
{
    void *rv;
    int rc = coil_gen_yield_from(arg, &rv);

    if (rc < 0) { // try: yield from gen_fn(); except Exception as exc:
        printf("  caught %s\n", strerror(-rc));
        return 0;
    }
    printf("  return value of yield-from: %s\n", (char *)rv);
    return (void)gen, 0;
}
/* [end] */

int main(void)
{
    coil_gen *gen = begin("the blog's", blog, NULL), *in;

    next(gen), next(gen), send(gen, "4"), next(gen), next(gen);
    coil_gen_destroy(gen);

    gen = begin("the answer's, sent to and thrown into", test, NULL);
    next(gen), send(gen, "abc"), throw(gen, -ENOENT), next(gen);
    coil_gen_destroy(gen);

    gen = begin("the answer's, with a return value", returns_abc, NULL);
    next(gen), next(gen), coil_gen_destroy(gen);

    in = begin(NULL, inner, NULL);
    gen = begin("outer(inner())", outer, in);
    next(gen), next(gen), send(gen, "abc"), next(gen);
    coil_gen_destroy(gen), coil_gen_destroy(in);

    in = begin(NULL, cofoo, "cofoo");
    gen = begin("wrap(cofoo())", wrap, in);
    next(gen), next(gen), next(gen), next(gen);
    coil_gen_destroy(gen), coil_gen_destroy(in);

    gen = begin("the answer's, plain", one_two, NULL);
    next(gen), next(gen), next(gen), coil_gen_destroy(gen);

    in = begin(NULL, gen_fn, NULL);
    gen = begin("caller_fn(gen_fn())", caller_fn, in);
    next(gen), send(gen, "hello"), send(gen, "goodbye");
    coil_gen_destroy(gen), coil_gen_destroy(in);

    in = begin(NULL, gen_fn, NULL);
    gen = begin("caller_fn(gen_fn()), thrown into", caller_fn, in);
    next(gen), throw(gen, -ENOENT);
    coil_gen_destroy(gen), coil_gen_destroy(in);
    return 0;
}
