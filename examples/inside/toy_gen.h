/*
 * toy_gen.h - generators for the toy programs, based on makecontext(3). This header does
 * not use coil.
 *
 *     static void *count(void *arg)
 *     {
 *         for (long i = 1; i <= 3; i++)
 *             gen_yield((void *)i);
 *         return "done";
 *     }
 *
 *     struct gen *gen = gen_new(count, NULL);
 *     while (gen_send(gen, NULL, &value))
 *         ...                                   // value is 1, 2, 3
 *     gen_free(gen);                            // value was "done" at the end
 *
 * A generator is a function with a stack of its own. gen_send() switches to that stack,
 * gen_yield() switches back, and the generator's frames are not touched. There is no
 * throw() and no close(): if a generator is freed before its end, its frames are lost.
 * coil/gen.h is the complete version.
 */
#ifndef TOY_GEN_H
#define TOY_GEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define GEN_STACK_BYTES (64 * 1024)

/* [gen] */
struct gen {
    ucontext_t here, caller; // registers of the generator and of the code that resumed it
    void *(*body)(void *arg);
    void *arg;
    void *sent, *given; // the values passed in and out
    struct gen *outer;
    bool ended;
    char *stack;
};

static struct gen *gen_running; // the innermost running generator

static inline void gen_start(void)
{
    struct gen *gen = gen_running;

    gen->given = gen->body(gen->arg);
    gen->ended = true; // now makecontext(3) switches to uc_link, the last resumer
}

/* Resume until the next yield (true) or the return (false). *out is the value. */
static inline bool gen_send(struct gen *gen, void *sent, void **out)
{
    if (gen->ended) {
        *out = NULL;
        return false;
    }
    gen->sent = sent;
    gen->outer = gen_running;
    gen_running = gen;
    swapcontext(&gen->caller, &gen->here);
    gen_running = gen->outer;
    *out = gen->given;
    return !gen->ended;
}

/* Suspend the running generator. Returns the value of the next gen_send(). */
static inline void *gen_yield(void *value)
{
    struct gen *gen = gen_running;

    gen->given = value;
    swapcontext(&gen->here, &gen->caller);
    return gen->sent;
}
/* [end] */

static inline struct gen *gen_new(void *(*body)(void *arg), void *arg)
{
    struct gen *gen = calloc(1, sizeof *gen);

    if (gen == NULL || (gen->stack = malloc(GEN_STACK_BYTES)) == NULL) {
        perror("gen_new");
        exit(1);
    }
    gen->body = body;
    gen->arg = arg;
    getcontext(&gen->here);
    gen->here.uc_stack.ss_sp = gen->stack;
    gen->here.uc_stack.ss_size = GEN_STACK_BYTES;
    gen->here.uc_link = &gen->caller;
    makecontext(&gen->here, gen_start, 0);
    return gen;
}

static inline void gen_free(struct gen *gen)
{
    free(gen->stack);
    free(gen);
}

#endif
