/*
 * error.c - what went wrong, and where: a sentence, program counters, and what it came
 * of.
 *
 * An error is one block, made once and never changed: whoever awaits a failure does not
 * add to its error but makes one of his own, of which that is the cause, as two may await
 * the same. So errors form trees that grow from their causes, and a chain is as long as
 * the tasks that awaited each other: it is walked in loops, never by recursion.
 */
#include "error.h"

#include "../coro/coroutine.h"
#include "backtrace.h"
#include "symbol.h"

#include <string.h>

#define TASK_BYTES 32
#define PRINTED_MAX 32 /* of a chain: more say nothing new */

struct coil_error {
    unsigned refs;
    int rc;
    coil_error *cause;
    const char *message; /* its own, after the addresses, or its cause's */
    bool handed_on;
    char task[TASK_BYTES];
    size_t frame_count;
    void *frames[];
};

/* ---- making one -------------------------------------------------------------------- */

static coil_error *create(const struct coil__error_place *place, int rc,
                          coil_error *cause, size_t message_bytes)
{
    void *frames[COIL__BACKTRACE_MAX];
    size_t count =
        coil__backtrace_through(frames, COIL__BACKTRACE_MAX, place->from, place->coro);
    size_t frames_bytes = count * sizeof frames[0];
    coil_error *error = coil__alloc(sizeof *error + frames_bytes + message_bytes);

    if (error == NULL)
        return NULL;
    memset(error, 0, sizeof *error);
    error->refs = 1;
    error->rc = rc;
    error->cause = cause != NULL ? coil_error_retain(cause) : NULL;
    if (place->task != NULL)
        strncpy(error->task, place->task, sizeof error->task - 1);
    error->frame_count = count;
    memcpy(error->frames, frames, frames_bytes);
    return error;
}

/* The size of the sentence with its end; 0 if there is none. */
static size_t measure(const char *format, va_list args)
{
    va_list again;
    int length;

    if (format == NULL)
        return 0;
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    return length > 0 ? (size_t)length + 1 : 0;
}

coil_error *coil__error_create(const struct coil__error_place *place, int rc,
                               coil_error *cause, const char *format, va_list args)
{
    int saved = errno;
    size_t message_bytes = measure(format, args);
    coil_error *error = create(place, rc, cause, message_bytes);

    if (error != NULL && message_bytes > 0) {
        char *message = (char *)&error->frames[error->frame_count];

        errno = saved; /* for %m */
        vsnprintf(message, message_bytes, format, args);
        error->message = message;
    }
    errno = saved;
    return error;
}

coil_error *coil__error_hand_on(const struct coil__error_place *place, coil_error *cause)
{
    int saved = errno;
    coil_error *error = create(place, cause->rc, cause, 0);

    errno = saved;
    if (error == NULL)
        return NULL;
    error->message = cause->message;
    error->handed_on = true;
    return error;
}

coil_error *coil_error_retain(coil_error *error)
{
    error->refs++;
    return error;
}

void coil_error_release(coil_error *error)
{
    while (error != NULL && --error->refs == 0) {
        coil_error *cause = error->cause;

        coil__free(error);
        error = cause;
    }
}

/* ---- asking ------------------------------------------------------------------------ */

int coil_error_rc(const coil_error *error)
{
    return error->rc;
}

const char *coil_error_message(const coil_error *error)
{
    return error->message != NULL ? error->message : strerror(-error->rc);
}

const char *coil_error_task(const coil_error *error)
{
    return error->task;
}

coil_error *coil_error_cause(const coil_error *error)
{
    return error->cause;
}

/* ---- printing ---------------------------------------------------------------------- */

static void print_sentence(const coil_error *error, FILE *out)
{
    const char *lead = error->cause != NULL ? "which led to: " : "";

    if (error->message != NULL)
        fprintf(out, "%s%s: %s\n", lead, strerror(-error->rc), error->message);
    else
        fprintf(out, "%s%s\n", lead, strerror(-error->rc));
}

static void print_one(const coil_error *error, FILE *out)
{
    const char *how = error->handed_on ? "awaited by" : "in";

    if (!error->handed_on)
        print_sentence(error, out);
    if (error->task[0] != '\0')
        fprintf(out, "  %s task '%s'\n", how, error->task);
    else
        fprintf(out, "  %s a callback\n", how);
    coil__symbol_print_stack(out, error->frames, error->frame_count);
}

static size_t chain_length(const coil_error *error)
{
    size_t n = 0;

    for (; error != NULL; error = error->cause)
        n++;
    return n;
}

static const coil_error *nth_cause(const coil_error *error, size_t n)
{
    while (n-- > 0)
        error = error->cause;
    return error;
}

struct printing {
    const coil_error *error;
    FILE *out;
};

static void print_chain(void *arg)
{
    const struct printing *p = arg;
    size_t n = chain_length(p->error);
    size_t left_out = n > PRINTED_MAX ? n - PRINTED_MAX : 0;

    coil__symbols_begin();
    for (size_t i = n; i-- > left_out;)
        print_one(nth_cause(p->error, i), p->out);
    coil__symbols_end();
    if (left_out > 0)
        fprintf(p->out, "  and so on: %zu more awaited it\n", left_out);
}

/* What prints takes more stack than a task may have; without it the sentence remains. */
void coil_error_print(const coil_error *error, FILE *out)
{
    struct printing printing = {error, out};

    if (coil__coro_call(COIL__ERROR_PRINT_BYTES, print_chain, &printing) < 0)
        print_sentence(nth_cause(error, chain_length(error) - 1), out);
}

/* ---- a program that is stopped ----------------------------------------------------- */

static const char *stack_name(const coil__coro *coro)
{
    return coro->stack.low != NULL ? coro->label : "the thread";
}

struct stack {
    const char *name;
    void *frames[COIL__BACKTRACE_MAX];
    size_t frame_count;
};

static void print_stack(void *arg)
{
    const struct stack *stack = arg;

    fprintf(stderr, "  in %s\n", stack->name);
    coil__symbol_print_stack(stderr, stack->frames, stack->frame_count);
}

void coil__error_print_here(const void *from)
{
    struct stack stack = {.name = stack_name(coil__coro_current())};

    stack.frame_count = coil__backtrace(stack.frames, COIL__BACKTRACE_MAX, from);
    if (stack.frame_count > 0)
        coil__coro_call(COIL__ERROR_PRINT_BYTES, print_stack, &stack);
}
