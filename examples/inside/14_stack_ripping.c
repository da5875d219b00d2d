/*
 * 14_stack_ripping.c - the traceback of the same failure in three kinds of code.
 *
 * (1) In a callback, the stack shows only the loop. fetch(), which requested the page,
 * has returned: the stack was ripped. (2) In a task, and (3) in a generator without a
 * loop, the callers are still on the stack, and a failure is the result of a call.
 *
 * To try: call each fetch...() through another function. Only traceback (2) contains it.
 */
#include <coil.h>

#include <stdio.h>

static int parse_links(const char *page)
{
    return coil_fail(-EBADMSG, "parse error in '%s'", page);
}

static void print_failure(const char *where)
{
    printf("%s:\n", where);
    coil_error_print(coil_last_error(), stdout);
}

/* [callbacks] */
static void read_response(void *page)
{
    if (parse_links(page) < 0)
        print_failure("in a callback"); // no caller could receive the failure
}

static int fetch_by_callbacks(void *page)
{
    return coil_call_soon(read_response, page, NULL); // and fetch() returns
}
/* [end] */

/* [task] */
static int fetch(void *page)
{
    int rc = coil_sleep(COIL_MSEC(1)); // await the response: fetch() stays on the stack

    return rc < 0 ? rc : parse_links(page);
}
/* [end] */

static int app(void *page)
{
    if (fetch_by_callbacks(page) == 0 && fetch(page) == -EBADMSG)
        print_failure("in a task");
    return 0;
}

/* [generator] */
static int gen_fn(const char *page)
{
    int rc = coil_gen_yield(NULL, NULL);

    return rc < 0 ? rc : parse_links(page);
}

static int caller_fn(coil_gen *gen, void *page)
{
    return (void)gen, gen_fn(page); // yield from gen_fn()
}
/* [end] */

int main(void)
{
    char page[] = "<a href=";
    coil_gen *gen;

    if (coil_run(app, page, NULL) < 0 || coil_gen_create(caller_fn, page, NULL, &gen) < 0)
        return 1;
    if (coil_gen_next(gen, NULL) >= 0 && coil_gen_next(gen, NULL) == -EBADMSG)
        print_failure("in a generator");
    coil_gen_destroy(gen);
    return 0;
}
