/*
 * perl.c - embedded Perl: each task has its own interpreter. Hooks set the thread's Perl
 * context, through which Perl finds its interpreter, to that of the running task.
 */
#include <coil.h>

#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>

struct task_state {
    PerlInterpreter *perl;
};

static void enter(void *memory, void *data)
{
    struct task_state *state = memory;

    (void)data;
    if (state->perl != NULL)
        PERL_SET_CONTEXT(state->perl);
}

static void leave(void *memory, void *data)
{
    struct task_state *state = memory;

    (void)data;
    state->perl = PERL_GET_CONTEXT;
    PERL_SET_CONTEXT(NULL);
}

static const coil_task_hooks perl_context = {
    .state_bytes = sizeof(struct task_state), .enter = enter, .leave = leave};
static const coil_task_hooks *const hooks[] = {&perl_context, NULL};

static XS(xs_sleep)
{
    dXSARGS;
    PerlInterpreter *before = my_perl;

    PERL_UNUSED_VAR(cv);
    coil_sleep(COIL_MSEC(items > 0 ? SvIV(ST(0)) : 0));
    if (PERL_GET_CONTEXT != before)
        croak("another task's interpreter");
    XSRETURN_EMPTY;
}

static void define_functions(pTHX)
{
    newXS("Coil::sleep", xs_sleep, __FILE__);
}

static int run_perl(void *arg)
{
    static char code[] =
        "our $kept; sub go { my ($n, $depth) = @_; local $kept = $n * $depth;"
        " eval { Coil::sleep($n); die \"$n\\n\" };"
        " die \"mixed: $@\" if $@ ne \"$n\\n\";"
        " go($n, $depth - 1) if $depth; Coil::sleep(1);"
        " die 'lost' if $kept != $n * $depth; }"
        " go($ARGV[0], 10);";
    char *arguments[] = {(char[]){""}, (char[]){"-e"}, code, arg, NULL};
    PerlInterpreter *my_perl = perl_alloc();
    int rc;

    PERL_SET_CONTEXT(my_perl);
    perl_construct(my_perl);
    PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
    rc = perl_parse(my_perl, define_functions, 4, arguments, NULL);
    if (rc == 0)
        rc = perl_run(my_perl);
    perl_destruct(my_perl);
    perl_free(my_perl);
    return rc == 0 ? 0 : -EINVAL;
}

static int app(void *arg)
{
    coil_spawn_opts opts = {.stack_bytes = 1 << 20, .hooks = hooks};
    static char numbers[][2] = {"1", "2", "3"};
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    for (int i = 0; i < 3; i++)
        coil_group_spawn(&group, run_perl, numbers[i], &opts, NULL);
    return coil_group_exit(&group, 0);
}

int main(int argc, char **argv, char **env)
{
    int rc;

    PERL_SYS_INIT3(&argc, &argv, &env);
    rc = coil_run(app, NULL, NULL);
    PERL_SYS_TERM();
    puts(rc == 0 ? "ok" : "failed");
    return rc != 0;
}
