/*
 * guile.c - Guile: each task runs a Scheme program, which waits in a C procedure and then
 * reads from a socket through Guile's own ports.
 *
 * Guile stores its state per thread in a thread-local variable and under a thread key.
 * Its garbage collector (bdw-gc) scans only the thread's own stack for references, so the
 * hooks `stacks` make it scan the stacks of all tasks. While the collector waits for its
 * own threads, no task may run, because it could change objects that are being marked.
 */
#include "foreign.h"

#include <coil/posix.h>
#include <coil/task.h>

#include <gc/gc.h>
#include <gc/gc_mark.h>
#include <libguile.h>
#include <stdio.h>
#include <unistd.h>

/* space below the frame for the registers that leave_stack() saves */
#define BELOW_FRAME 512
#define ROUNDS 20

/* [hooks] */
/* A task's stack. The stacks of waiting tasks form a list. */
struct stack {
    struct stack *next, **link;
    void *low, *high;
    void *pointer; /* the stack pointer of a waiting task */
};

static struct stack *waiting;
static struct GC_stack_base thread_bottom;
static void *thread, *thread_pointer;
static GC_push_other_roots_proc push_other_roots;

/* The collector calls this function while it marks reachable objects. */
static void push_stacks(void)
{
    if (push_other_roots != NULL)
        push_other_roots();
    for (struct stack *s = waiting; s != NULL; s = s->next)
        GC_push_all_eager(s->pointer, s->high);
    GC_push_all_eager(thread_pointer, thread_bottom.mem_base);
}

static void enter_stack(void *memory, void *unused)
{
    struct stack *s = memory;

    (void)unused;
    if (s->high == NULL)
        coil_task_stack(coil_task_current(), &s->low, &s->high);
    else if ((*s->link = s->next) != NULL)
        s->next->link = s->link;
    GC_set_stackbottom(thread, &(struct GC_stack_base){.mem_base = s->high});
}

__attribute__((noinline)) static void leave_stack(void *memory, void *unused)
{
    struct stack *s = memory;

    (void)unused;
    __builtin_unwind_init(); /* saves the registers in this frame */
    s->pointer = (char *)__builtin_frame_address(0) - BELOW_FRAME;
    s->next = waiting;
    s->link = &waiting;
    if (waiting != NULL)
        waiting->link = &s->next;
    waiting = s;
    GC_set_stackbottom(thread, &thread_bottom);
}

static void end_stack(void *memory, void *unused)
{
    (void)memory, (void)unused;
    GC_set_stackbottom(thread, &thread_bottom);
}

static const coil_task_hooks stacks = {sizeof(struct stack), enter_stack, leave_stack,
                                       end_stack, NULL};

/* The function that calls coil_run() must call prepare() through scm_with_guile(). */
static void *prepare(void *frame)
{
    thread = GC_get_my_stackbottom(&thread_bottom);
    thread_pointer = frame;
    push_other_roots = GC_get_push_other_roots();
    GC_set_push_other_roots(push_stacks);
    return NULL;
}
/* [hooks] */

static SCM wait_a_moment(SCM us)
{
    usleep(scm_to_uint(us));
    return us;
}

static void *define(void *unused)
{
    scm_c_define_gsubr("wait-a-moment", 1, 0, 0, wait_a_moment);
    return unused;
}

static void before_run(void)
{
    coil_posix_exclude((const void *)GC_get_my_stackbottom);
    scm_with_guile(define, NULL);
    scm_with_guile(prepare, __builtin_frame_address(0));
}

static const char script[] =
    "(let loop ((i 0) (texts '()))"
    "  (if (< i %d)"
    "      (begin (wait-a-moment 200)"
    "             (loop (+ i 1) (cons (number->string (+ i %d)) texts)))"
    "      (let ((s (socket PF_INET SOCK_STREAM 0)))"
    "        (gc)"
    "        (connect s AF_INET INADDR_LOOPBACK %d)"
    "        (display \"GET / HTTP/1.0\\r\\n\\r\\n\" s)"
    "        (let wait ((c (read-char s)) (n 0))"
    "          (if (eof-object? c)"
    "              (if (> n 0) (apply + (map string->number texts)) -1)"
    "              (wait (read-char s) (+ n 1)))))))";

static void *evaluate(void *number)
{
    char text[sizeof script + 40];
    int *n = number;

    snprintf(text, sizeof text, script, ROUNDS, *n, foreign_port);
    *n = scm_to_int(scm_eval_string(scm_from_utf8_string(text)));
    return NULL;
}

static bool use(int number)
{
    int n = number, expected = ROUNDS * number + ROUNDS * (ROUNDS - 1) / 2;

    scm_with_guile(evaluate, &n);
    return n == expected || foreign_failed("%d, not %d", n, expected);
}

const struct foreign foreign = {.name = "Guile",
                                .tested = "evaluation, garbage collection, sockets",
                                .option = "with three hooks: see Guile in posix.md",
                                .before_run = before_run,
                                .thread_keys = true,
                                .thread_locals = (void (*)(void))scm_with_guile,
                                .hooks = &stacks,
                                .server = true,
                                .use = use};
