/*
 * overflow.c - prints the name of a coroutine that overflows its stack.
 *
 * A stack overflow hits the guard and raises SIGSEGV. The handler runs on an alternate
 * stack, because the coroutine's stack is full, and prints the label and the size. After
 * that the handler restores the default action and returns. The instruction faults again,
 * so a debugger or a core file shows that instruction.
 *
 * A frame that is larger than the guard may fault outside the guard. The handler
 * recognises such an overflow by the stack pointer.
 *
 * A fault on a light stack that was swapped out is not an overflow: the handler swaps the
 * stack in, and the instruction runs again (light_swap.c). The handler checks for an
 * overflow first, because an overflow of the neighbouring stack may reach such a stack
 * too.
 *
 * The whole process has one handler, but each thread that installs it has its own
 * alternate stack (sigaltstack(2)).
 */
#include "../base/line.h"
#include "coroutine.h"
#include "light.h"

#include "../base/fault.h"
#include "../kernel/registers.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define BELOW_SP 4096 /* bytes below sp that a call or a leaf function may touch */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned install_count; /* number of installs in the process; guarded by `lock` */

struct alternate {
    unsigned install_count; /* number of installs in this thread */
    stack_t stack;          /* ss_sp is NULL if the thread already had one */
};

static COIL__THREAD_LOCAL struct alternate alternate;

/* True if the fault occurred in a signal handler on the alternate stack. */
static bool on_alternate_stack(const ucontext_t *context, const char *sp)
{
    const char *low = context->uc_stack.ss_sp;

    return low != NULL && sp >= low && sp - low <= (ptrdiff_t)context->uc_stack.ss_size;
}

/*
 * True if the address is in the guard, or in a frame larger than the guard. In the second
 * case the stack pointer is below the stack, by at most the largest stack size, and the
 * address is between the stack pointer and the stack. Other faults are not overflows of
 * this stack; code on one of the program's own stacks may have caused them.
 */
static bool has_overflowed(const struct coil__stack *stack, const char *address,
                           const ucontext_t *context)
{
    const char *sp = (const char *)coil__registers_of(context).sp;

    if (!coil__stack_in_slot(stack))
        return false;
    if (address >= coil__stack_slot(stack) && address < stack->low)
        return true;
    return address < stack->low && address >= sp - BELOW_SP &&
           stack->low - sp <= (ptrdiff_t)1 << 30 && !on_alternate_stack(context, sp);
}

/*
 * Return a note for the message: if the address is outside coil's stacks, one of the
 * program's own stacks may have overflowed.
 */
static const char *foreign_stack_note(const struct coil__stack *stack,
                                      const char *address)
{
    const struct coil__slab *slab = stack->slab;

    if (coil__stack_is_light(stack) || (address >= slab->base && address < stack->low))
        return "";
    return ", or of a stack that is not coil's";
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
    const coil__coro *coro = coil__coro_current();
    const bool overflowed = has_overflowed(&coro->stack, info->si_addr, context);

    if (!overflowed && info->si_code > 0 && coil__light_fault(info->si_addr))
        return; /* the instruction runs again */
    if (overflowed &&
        !coil__line_print("coil: stack overflow in %s (%zu bytes)%s\n",
                          coil__coro_label(coro), coil__stack_bytes(&coro->stack),
                          foreign_stack_note(&coro->stack, info->si_addr)))
        _exit(128 + signo);
    signal(signo, SIG_DFL);
    if (info->si_code <= 0) /* sent by kill(2): the instruction does not fault again */
        raise(signo);
}

static bool make_alternate_stack(stack_t *stack)
{
    long bytes = sysconf(_SC_SIGSTKSZ);

    *stack = (stack_t){.ss_size = bytes > 64 * 1024 ? (size_t)bytes : 64 * 1024};
    if (coil__call_fails(ENOMEM, "mmap"))
        return false;
    stack->ss_sp = mmap(NULL, stack->ss_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack->ss_sp != MAP_FAILED && COIL__CALL(ENOMEM, sigaltstack(stack, NULL)) == 0)
        return true;
    if (stack->ss_sp != MAP_FAILED)
        munmap(stack->ss_sp, stack->ss_size);
    stack->ss_sp = NULL;
    return false;
}

/* True unless the program has replaced our alternate stack with another one. */
static bool uses_our_alternate_stack(void)
{
    stack_t now;

    return sigaltstack(NULL, &now) == 0 && now.ss_sp == alternate.stack.ss_sp;
}

/* Give this thread an alternate stack, unless it has one. */
static bool use_alternate_stack(void)
{
    stack_t old;

    if (alternate.install_count == 0 &&
        (sigaltstack(NULL, &old) < 0 || (old.ss_flags & SS_DISABLE) != 0) &&
        !make_alternate_stack(&alternate.stack))
        return false;
    alternate.install_count++;
    return true;
}

static void drop_alternate_stack(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};

    if (--alternate.install_count > 0 || alternate.stack.ss_sp == NULL)
        return;
    if (uses_our_alternate_stack())
        sigaltstack(&none, NULL);
    munmap(alternate.stack.ss_sp, alternate.stack.ss_size);
    alternate.stack.ss_sp = NULL;
}

static bool take_sigsegv(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction old;

    return sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == SIG_DFL &&
           sigaction(SIGSEGV, &action, NULL) == 0;
}

/* Restore the default action, unless another handler has replaced ours. */
static void give_sigsegv_back(void)
{
    struct sigaction now;

    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == on_fault)
        signal(SIGSEGV, SIG_DFL);
}

bool coil__overflow_install(void)
{
    bool taken;

    if (!use_alternate_stack())
        return false;
    pthread_mutex_lock(&lock);
    taken = install_count > 0 || take_sigsegv();
    install_count += taken;
    pthread_mutex_unlock(&lock);
    if (!taken)
        drop_alternate_stack();
    return taken;
}

bool coil__overflow_watched(void)
{
    return alternate.install_count > 0;
}

bool coil__overflow_is_ours(void)
{
    struct sigaction now;

    return coil__overflow_watched() && sigaction(SIGSEGV, NULL, &now) == 0 &&
           now.sa_sigaction == on_fault;
}

void coil__overflow_uninstall(void)
{
    pthread_mutex_lock(&lock);
    if (--install_count == 0)
        give_sigsegv_back();
    pthread_mutex_unlock(&lock);
    drop_alternate_stack();
}
