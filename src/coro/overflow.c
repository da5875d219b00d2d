/*
 * overflow.c - which coroutine overflowed its stack, told before the program dies.
 *
 * The guard turns an overflow into a SIGSEGV; a core without a word leaves people
 * guessing. The handler runs on an alternate stack, as the one in use has no room, and
 * says the label and the size with write(2). Then the default disposition is restored and
 * the handler returns: the instruction faults again and the program dies at the very
 * spot, as a debugger or a core file will show it.
 *
 * The handler is the process's, the alternate stack a thread's (sigaltstack(2)): each
 * thread that installs has one of its own.
 */
#include "../base/line.h"
#include "coroutine.h"

#include "../base/fault.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned install_count; /* of the process, under the lock */

struct alternate {
    unsigned install_count; /* of the thread */
    stack_t stack;          /* ss_sp is NULL where it is somebody else's */
};

static COIL__THREAD_LOCAL struct alternate alternate;

static bool in_guard(const struct coil__stack *stack, const char *address)
{
    return stack->slot != NULL && address >= stack->slot && address < stack->low;
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
    const coil__coro *coro = coil__coro_current();
    struct coil__message line = {.length = 0};

    (void)context;
    if (in_guard(&coro->stack, info->si_addr)) {
        coil__line_add(&line, "coil: stack overflow in ");
        coil__line_add(&line, coro->label);
        coil__line_add(&line, " (");
        coil__line_add_number(&line, coil__stack_bytes(&coro->stack), 10);
        coil__line_add(&line, " bytes)\n");
        if (!coil__line_write(&line))
            _exit(128 + signo);
    }
    signal(signo, SIG_DFL);
    if (info->si_code <= 0) /* sent by somebody: it will not come again by itself */
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

/* This thread's. One that is there already will do. */
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
    sigaltstack(&none, NULL);
    munmap(alternate.stack.ss_sp, alternate.stack.ss_size);
    alternate.stack.ss_sp = NULL;
}

static bool take_signal(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction old;

    return sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == SIG_DFL &&
           sigaction(SIGSEGV, &action, NULL) == 0;
}

/* Somebody may have taken it over meanwhile. */
static void give_signal_back(void)
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
    taken = install_count > 0 || take_signal();
    install_count += taken;
    pthread_mutex_unlock(&lock);
    if (!taken)
        drop_alternate_stack();
    return taken;
}

void coil__overflow_uninstall(void)
{
    pthread_mutex_lock(&lock);
    if (--install_count == 0)
        give_signal_back();
    pthread_mutex_unlock(&lock);
    drop_alternate_stack();
}
