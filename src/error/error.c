/*
 * error.c - coil_error: an errno, a message, a backtrace, and the error that caused it.
 *
 * An error is one immutable block. A task that awaits a failed task gets a new error
 * whose cause is the failed task's error. The failed task's error itself does not change,
 * because other tasks may await the same task. So errors form trees with shared causes. A
 * chain of causes can be as long as a chain of tasks that await each other, so it is
 * walked in loops, never by recursion.
 */
#include "error.h"

#include "../coro/coroutine.h"
#include "backtrace.h"
#include "report.h"
#include "symbol.h"

#include <stdlib.h>
#include <string.h>

#define TASK_BYTES 32
#define PRINTED_MAX 32 /* maximum number of errors in a chain that are printed */

struct coil_error {
    int rc;
    coil_error *cause;
    coil_error *earlier; /* may be set in a bare error; see error.h */
    const char *message; /* stored after the frames, or the cause's message, or NULL */
    unsigned refs;       /* 0 once freed: see coil__misuse_gone() */
    bool handed_on;
    bool is_bare;
    /* created only in debug mode, with memory from malloc(3): see base.h */
    bool is_for_debugging;
    char task[TASK_BYTES];
    size_t frame_count;
    void *frames[];
};

/* ---- making one -------------------------------------------------------------------- */

static coil_error *allocate_error(const struct coil__error_place *place, int rc,
                                  coil_error *cause, size_t message_bytes,
                                  bool is_for_debugging)
{
    void *frames[COIL__BACKTRACE_MAX];
    size_t count =
        coil__backtrace_through(frames, COIL__BACKTRACE_MAX, place->from, place->coro);
    size_t frames_bytes = count * sizeof frames[0];
    size_t bytes = sizeof(coil_error) + frames_bytes + message_bytes;
    coil_error *error = is_for_debugging ? malloc(bytes) : coil__alloc(bytes);

    if (error == NULL)
        return NULL;
    memset(error, 0, sizeof *error);
    error->refs = 1;
    error->rc = rc;
    error->is_for_debugging = is_for_debugging;
    error->cause = cause != NULL ? coil_error_retain(cause) : NULL;
    if (place->task != NULL)
        strncpy(error->task, place->task, sizeof error->task - 1);
    error->frame_count = count;
    memcpy(error->frames, frames, frames_bytes);
    return error;
}

/* Return the size of the message with its null byte, or 0 if `format` is NULL. */
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
    coil_error *error = allocate_error(place, rc, cause, message_bytes, false);

    if (error != NULL && message_bytes > 0) {
        char *message = (char *)&error->frames[error->frame_count];

        errno = saved; /* the format may contain %m */
        vsnprintf(message, message_bytes, format, args);
        error->message = message;
    }
    errno = saved;
    return error;
}

coil_error *coil__error_hand_on(const struct coil__error_place *place, coil_error *cause)
{
    int saved = errno;
    coil_error *error =
        allocate_error(place, cause->rc, cause, 0, cause->is_for_debugging);

    errno = saved;
    if (error == NULL)
        return NULL;
    error->message = cause->message;
    error->handed_on = true;
    return error;
}

coil_error *coil__error_create_bare(const struct coil__error_place *place, int rc,
                                    coil_error *earlier)
{
    int saved = errno;
    coil_error *error = allocate_error(place, rc, NULL, 0, true);

    errno = saved;
    if (error == NULL)
        return NULL;
    error->is_bare = true;
    error->earlier = earlier != NULL ? coil_error_retain(earlier) : NULL;
    return error;
}

coil_error *coil__error_of_rc(coil_error *error, int rc)
{
    if (error != NULL && error->rc != rc)
        error = error->earlier;
    return error != NULL && error->rc == rc ? error : NULL;
}

coil_error *coil__error_with_message(coil_error *error)
{
    return error->is_bare ? error->earlier : error;
}

coil_error *coil__error_create_at(const coil_error *where, int rc, const char *format,
                                  va_list args)
{
    int saved = errno;
    size_t frames_bytes = where->frame_count * sizeof where->frames[0];
    size_t message_bytes = measure(format, args);
    coil_error *error = coil__alloc(sizeof *error + frames_bytes + message_bytes);

    errno = saved;
    if (error == NULL)
        return NULL;
    memset(error, 0, sizeof *error);
    error->refs = 1;
    error->rc = rc;
    memcpy(error->task, where->task, sizeof error->task);
    error->frame_count = where->frame_count;
    memcpy(error->frames, where->frames, frames_bytes);
    if (message_bytes > 0) {
        char *message = (char *)&error->frames[error->frame_count];

        vsnprintf(message, message_bytes, format, args);
        error->message = message;
    }
    errno = saved;
    return error;
}

coil_error *coil_error_retain(coil_error *error)
{
    COIL__REQUIRE(error, "an error");
    if (error->refs++ == 0)
        coil__misuse_gone("coil_error_retain");
    return error;
}

void coil_error_release(coil_error *error)
{
    if (error != NULL && error->refs == 0)
        coil__misuse_gone("coil_error_release");
    while (error != NULL && --error->refs == 0) {
        coil_error *cause = error->cause;

        /* not a deep recursion, because only a bare error has an earlier error */
        coil_error_release(error->earlier);
        if (error->is_for_debugging)
            free(error);
        else
            coil__free_object(error);
        error = cause;
    }
}

static void check_not_gone(const coil_error *error, const char *caller)
{
    if (COIL__UNLIKELY(error->refs == 0))
        coil__misuse_gone(caller);
}

/* ---- queries ----------------------------------------------------------------------- */

int coil_error_rc(const coil_error *error)
{
    COIL__REQUIRE(error, "an error");
    check_not_gone(error, __func__);
    return error->rc;
}

const char *coil_strerror(int rc)
{
    return rc == -COIL_EFAILED ? "the application failed" : strerror(-rc);
}

const char *coil_error_message(const coil_error *error)
{
    COIL__REQUIRE(error, "an error");
    check_not_gone(error, __func__);
    return error->message != NULL ? error->message : coil_strerror(error->rc);
}

const char *coil_error_task(const coil_error *error)
{
    COIL__REQUIRE(error, "an error");
    check_not_gone(error, __func__);
    return error->task;
}

coil_error *coil_error_cause(const coil_error *error)
{
    COIL__REQUIRE(error, "an error");
    check_not_gone(error, __func__);
    return error->cause;
}

/* ---- printing ---------------------------------------------------------------------- */

/*
 * Print the message, and then the errno's text in parentheses, unless that text adds
 * nothing. The message comes first because it describes the failure more specifically.
 */
static void print_message(struct coil__report *report, const coil_error *error)
{
    const char *text = coil_strerror(error->rc), *message = error->message;
    bool adds_nothing =
        error->rc == -COIL_EFAILED || (message != NULL && strstr(message, text) != NULL);

    coil__report_words(report, "%s", error->cause != NULL ? "which led to: " : "");
    if (message != NULL)
        coil__report_value(report, "message", "%s", message);
    if (message == NULL)
        coil__report_value(report, "error", "%s", text);
    else if (report->json || !adds_nothing)
        coil__report_value(report, "error", " (%s)", text);
    coil__report_words(report, "\n");
}

static void print_error(struct coil__report *report, const coil_error *error)
{
    const char *key = error->handed_on ? "awaited_by" : "task";

    coil__report_open(report, NULL, '{');
    if (!error->handed_on)
        print_message(report, error);
    coil__report_words(report, "  %s ", error->handed_on ? "awaited by" : "in");
    if (error->task[0] != '\0')
        coil__report_value(report, key, "task '%s'\n", error->task);
    else
        coil__report_words(report, "no task\n");
    coil__symbol_print_stack(report, "    ", error->frames, error->frame_count);
    coil__report_close(report, '}');
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
    struct coil__report *report;
    const coil_error *error;
};

static void print_chain(void *arg)
{
    const struct printing *p = arg;
    size_t n = chain_length(p->error);
    size_t left_out = n > PRINTED_MAX ? n - PRINTED_MAX : 0;

    coil__report_open(p->report, "errors", '[');
    for (size_t i = n; i-- > left_out;)
        print_error(p->report, nth_cause(p->error, i));
    coil__report_close(p->report, ']');
    if (left_out > 0)
        coil__report_value(p->report, "more", "  and so on: %zu more awaited it\n",
                           left_out);
}

/*
 * Print on a larger stack, because a small task's stack is not large enough. If memory
 * for that stack cannot be allocated, print only the message of the root cause.
 */
void coil__error_print(struct coil__report *report, const coil_error *error)
{
    struct printing printing = {report, error};

    if (coil__coro_call(COIL__ERROR_PRINT_BYTES, print_chain, &printing) < 0)
        print_message(report, nth_cause(error, chain_length(error) - 1));
}

void coil_error_print(const coil_error *error, FILE *out)
{
    COIL__REQUIRE(error, "an error");
    COIL__REQUIRE(out, "a file");
    check_not_gone(error, __func__);
    struct coil__report report;

    coil__report_begin(&report, out, "error");
    coil__error_print(&report, error);
    coil__report_end(&report);
}

/* ---- misuse: the program aborts ---------------------------------------------------- */

struct stack {
    struct coil__report report;
    const char *name;
    void *frames[COIL__BACKTRACE_MAX];
    size_t frame_count;
};

static void print_stack(void *arg)
{
    struct stack *stack = arg;

    coil__report_value(&stack->report, "stack", "  in %s\n", stack->name);
    coil__symbol_print_stack(&stack->report, "    ", stack->frames, stack->frame_count);
}

void coil__error_print_misuse(const char *sentence, const void *from)
{
    const coil__coro *coro = coil__coro_current();
    struct stack stack = {.name = coro->stack.low != NULL ? coil__coro_label(coro)
                                                          : "the thread"};

    coil__report_begin(&stack.report, stderr, "misuse");
    coil__report_value(&stack.report, "message", "coil: %s\n", sentence);
    stack.frame_count = coil__backtrace(stack.frames, COIL__BACKTRACE_MAX, from);
    if (stack.frame_count > 0)
        coil__coro_call(COIL__ERROR_PRINT_BYTES, print_stack, &stack);
    coil__report_end(&stack.report);
}
