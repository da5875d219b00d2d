/*
 * 04_frames.c - where a function's variables live while it is suspended.
 *
 * A subroutine's frame is gone when it returns: each call begins anew. A coroutine that
 * yields keeps its frame, on a stack of its own that belongs to no caller. Shown here:
 * both kinds; ten frames of one function; and the local variables of a function that is
 * suspended (Python: gi_frame.f_locals), and of its caller (f_back).
 *
 * Make deep()'s `local` static, and all ten share it.
 */
#include <coil/gen.h>

#include <stdio.h>

/* [kinds] */
static int subfoo(int bar)
{
    int qux = 3;

    return qux * bar; // and here bar and qux are gone
}

static int cofoo(coil_gen *gen, void *bar)
{
    void *qux; // stays while we are suspended

    coil_gen_yield(bar, &qux);
    coil_gen_return(gen, qux);
    return 0;
}
/* [end] */

/* [frames] */
struct frame { // as a debugger shows it
    int *local;
    struct frame *back;
};

static int deep(struct frame *back)
{
    int local = 10 * *back->local, rc;

    while ((rc = coil_gen_yield(&(struct frame){&local, back}, NULL)) == 0)
        local++; // the yield was below the generator's body
    return rc;
}

static int body(coil_gen *gen, void *arg)
{
    int local = *(int *)arg;

    return (void)gen, deep(&(struct frame){&local, NULL});
}
/* [end] */

int main(void)
{
    coil_gen *foo, *gens[10];
    void *value, *yielded[10];

    printf("subroutine: %d, and again %d\n", subfoo(2), subfoo(2));
    if (coil_gen_create(cofoo, "bar", NULL, &foo) < 0)
        return 1;
    coil_gen_next(foo, &value);
    printf("coroutine: %s", (char *)value);
    coil_gen_send(foo, "qux", &value);
    printf(", and then %s\n", (char *)value);
    coil_gen_destroy(foo);
    for (int i = 0; i < 10; i++)
        if (coil_gen_create(body, &i, NULL, &gens[i]) < 0 ||
            coil_gen_next(gens[i], &yielded[i]) != COIL_GEN_YIELDED)
            return 1;
    coil_gen_next(gens[7], &yielded[7]); // this one a step further
    for (int i = 0; i < 10; i++) {
        const struct frame *frame = yielded[i];
        printf("deep has %d, body %d\n", *frame->local, *frame->back->local);
        coil_gen_destroy(gens[i]);
    }
    return 0;
}
