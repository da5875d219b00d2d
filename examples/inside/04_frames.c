/*
 * 04_frames.c - where the variables of a suspended function are.
 *
 * When a subroutine returns, its frame is gone. A coroutine that yields keeps its frame,
 * on a stack of its own. The program shows both kinds of frames, ten frames of one
 * function, and the local variables of a suspended function (Python: gi_frame.f_locals)
 * and of its caller (f_back).
 *
 * To try: make deep()'s `local` static. All ten calls then share it.
 */
#include <coil/gen.h>

#include <stdio.h>

/* [kinds] */
static int subfoo(int bar)
{
    int qux = 3;

    return qux * bar; // bar and qux do not survive this line
}

static int cofoo(coil_gen *gen, void *bar)
{
    void *qux; // kept while cofoo() is suspended

    coil_gen_yield(bar, &qux);
    coil_gen_return(gen, qux);
    return 0;
}
/* [end] */

/* [frames] */
struct frame { // what a debugger shows of a frame
    int *local;
    struct frame *back;
};

static int deep(struct frame *back)
{
    int local = 10 * *back->local, rc;

    while ((rc = coil_gen_yield(&(struct frame){&local, back}, NULL)) == 0)
        local++; // resumed: deep() continues after its yield
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
    coil_gen_next(gens[7], &yielded[7]); // resumed for the second time
    for (int i = 0; i < 10; i++) {
        const struct frame *frame = yielded[i];
        printf("deep has %d, body %d\n", *frame->local, *frame->back->local);
        coil_gen_destroy(gens[i]);
    }
    return 0;
}
