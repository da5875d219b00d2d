/*
 * overflow.c - which coroutine overflowed its stack, told before the program dies.
 *
 * The guard turns an overflow into a SIGSEGV; a core without a word leaves people
 * guessing. The handler runs on an alternate stack, as the one in use has no room, and
 * says the label and the size with write(2). Then the default disposition is restored and
 * the handler returns: the instruction faults again and the program dies at the very
 * spot, as a debugger or a core file will show it.
 */
#include "../base/line.h"
#include "coroutine.h"

#include "../base/fault.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned install_count; /* of the process; coil_run installs on the main thread */
static stack_t alternate;

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

/* An alternate stack that is there already will do. */
static bool use_alternate_stack(void)
{
    long bytes = sysconf(_SC_SIGSTKSZ);
    stack_t old;

    if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE) == 0)
        return true;
    alternate.ss_size = bytes > 64 * 1024 ? (size_t)bytes : 64 * 1024;
    alternate.ss_sp = MAP_FAILED;
    if (!coil__call_fails(ENOMEM, "mmap"))
        alternate.ss_sp = mmap(NULL, alternate.ss_size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (alternate.ss_sp == MAP_FAILED) {
        alternate.ss_sp = NULL;
        return false;
    }
    if (COIL__CALL(ENOMEM, sigaltstack(&alternate, NULL)) == 0)
        return true;
    munmap(alternate.ss_sp, alternate.ss_size);
    alternate.ss_sp = NULL;
    return false;
}

static void drop_alternate_stack(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};

    if (alternate.ss_sp == NULL)
        return;
    sigaltstack(&none, NULL);
    munmap(alternate.ss_sp, alternate.ss_size);
    alternate.ss_sp = NULL;
}

bool coil__overflow_install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction old;

    if (install_count > 0) {
        install_count++;
        return true;
    }
    if (sigaction(SIGSEGV, NULL, &old) != 0 || old.sa_handler != SIG_DFL)
        return false;
    if (!use_alternate_stack())
        return false;
    if (sigaction(SIGSEGV, &action, NULL) != 0) {
        drop_alternate_stack();
        return false;
    }
    install_count = 1;
    return true;
}

void coil__overflow_uninstall(void)
{
    struct sigaction old;

    if (install_count == 0 || --install_count > 0)
        return;
    /* Somebody may have taken it over meanwhile. */
    if (sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_sigaction == on_fault)
        signal(SIGSEGV, SIG_DFL);
    drop_alternate_stack();
}
