/*
 * test_symbol.c - the frames of the running stack, and their names.
 */
#include "../../harness/harness.h"

#include "../../../src/coro/coroutine.h"
#include "../../../src/error/backtrace.h"
#include "../../../src/error/symbol.h"
#include "../coro/emulated.h"

#include <coil/coro.h>
#include <coil/gen.h>

/* ---- a stack with three functions of ours ------------------------------------------ */

struct found {
    void *addresses[COIL__BACKTRACE_MAX];
    size_t n;
};

static COIL__NOINLINE void find_innermost(struct found *found)
{
    found->n = coil__backtrace(found->addresses, COIL__BACKTRACE_MAX, NULL);
    __asm__ volatile("");
}
enum { LINE_OF_WALK = __LINE__ - 3 };

static COIL__NOINLINE void find_middle(struct found *found)
{
    find_innermost(found);
    __asm__ volatile("");
}

static COIL__NOINLINE void *find_outermost(void *found)
{
    find_middle(found);
    __asm__ volatile("");
    return NULL;
}

static char text[8192];

static const char *text_of_stack(const struct found *found)
{
    struct coil__report report;

    CHECK(coil__report_begin_text(&report, text, sizeof text));
    coil__symbol_print_stack(&report, "    ", found->addresses, found->n);
    coil__report_end_text(&report);
    return text;
}

static const char *text_of_symbol(const void *pc)
{
    struct coil__report report;

    CHECK(coil__report_begin_text(&report, text, sizeof text));
    coil__symbol_print(&report, "function", "%s", pc);
    coil__report_end_text(&report);
    return text;
}

static bool has_lines(void)
{
    return strstr(text_of_symbol((char *)has_lines + 8), "test_symbol.c:") != NULL;
}

/* ---- backtraces -------------------------------------------------------------------- */

TEST(backtrace_begins_with_its_caller_and_ends_with_the_body)
{
    struct found found;
    coil_coro *coro;

    CHECK_INT(coil_coro_create(find_outermost, &found, NULL, &coro), 0);
    coil_coro_resume(coro, NULL);
    coil_coro_destroy(coro);
    CHECK_INT(found.n, 3);
}

TEST(backtrace_begins_where_it_is_told)
{
    struct found whole, part;

    find_middle(&whole);
    part.n = coil__backtrace(part.addresses, COIL__BACKTRACE_MAX, whole.addresses[2]);
    CHECK(whole.n >= 3);
    CHECK_INT(part.n, 0); /* the frame's function has returned */
    CHECK_INT(coil__backtrace(part.addresses, 1, __builtin_return_address(0)), 1);
    CHECK_PTR(part.addresses[0], __builtin_return_address(0));
}

static int find_in_gen(coil_gen *gen, void *found)
{
    (void)gen;
    find_outermost(found);
    return 0;
}

TEST(backtrace_inside_a_generator_is_of_the_generator)
{
    struct found found;
    coil_gen *gen;
    void *value;

    CHECK_INT(coil_gen_create(find_in_gen, &found, NULL, &gen), 0);
    CHECK_INT(coil_gen_next(gen, &value), 0);
    coil_gen_destroy(gen);
    CHECK_INT(found.n, 4);
}

static int find_and_compare(const void *a, const void *b)
{
    find_innermost(*(struct found *const *)a);
    (void)b;
    return 0;
}

static void *find_in_qsort(void *arg)
{
    struct found *twice[] = {arg, arg};

    qsort(twice, 2, sizeof twice[0], find_and_compare);
    return NULL;
}

TEST(backtrace_goes_through_qsort)
{
    struct found found;
    coil_coro *coro;

    CHECK_INT(coil_coro_create(find_in_qsort, &found, NULL, &coro), 0);
    coil_coro_resume(coro, NULL);
    coil_coro_destroy(coro);
    CHECK(found.n >= 4);
    if (has_lines())
        CHECK(strstr(text_of_stack(&found), "\n    find_in_qsort at ") != NULL);
}

/*
 * Recurse, and make a backtrace at each level, until too little stack is left for this.
 */
static COIL__NOINLINE void *find_until_full(void *arg)
{
    struct found *found = arg;
    volatile char room[512];

    room[0] = 0;
    found->n = coil__backtrace(found->addresses, COIL__BACKTRACE_MAX, NULL);
    if (found->n > 0)
        find_until_full(arg);
    __asm__ volatile("" : : "r"(room));
    return NULL;
}

TEST(backtrace_needs_room_and_says_so)
{
    struct found found;
    coil_coro *coro;

    CHECK_INT(coil_coro_create(find_until_full, &found, NULL, &coro), 0);
    coil_coro_resume(coro, NULL);
    coil_coro_destroy(coro);
    CHECK_INT(found.n, 0);
}

/* ---- symbols ----------------------------------------------------------------------- */

static void skip_without_lines(void)
{
    if (!has_lines())
        test_skip("no debug data here, or no libdw");
}

TEST(symbols_name_function_file_and_line)
{
    const char *place;
    struct found found;

    skip_without_lines();
    find_outermost(&found);
    text_of_stack(&found);
    place = test_place("    find_innermost");
    CHECK(strncmp(text, place, strlen(place)) == 0);
    CHECK_INT(atoi(text + strlen(place)), LINE_OF_WALK);
    CHECK(strstr(text, "\n    find_middle at ") != NULL);
}

static inline __attribute__((always_inline)) void inlined(struct found *found)
{
    find_innermost(found);
    __asm__ volatile("");
}

static COIL__NOINLINE void calls_inlined(struct found *found)
{
    inlined(found);
    inlined(found);
}

TEST(symbols_tell_inlined_functions_apart)
{
    struct found found;
    const char *line;

    skip_without_lines();
    calls_inlined(&found);
    line = strstr(text_of_stack(&found), "    inlined at ");
    CHECK(line != NULL && strstr(line, "    calls_inlined at ") != NULL);
}

static void *print_on_small_stack(void *arg)
{
    (void)arg;
    text_of_symbol(__builtin_return_address(0));
    return NULL;
}

TEST(symbols_need_no_room_on_the_stack_of_a_coroutine)
{
    coil_coro_opts opts = {.stack_bytes = 32768};
    coil_coro *coro;

    skip_without_lines();
    CHECK_INT(coil_coro_create(print_on_small_stack, NULL, &opts, &coro), 0);
    coil_coro_resume(coro, NULL);
    coil_coro_destroy(coro);
    CHECK(strstr(text, "main at ") != NULL);
    CHECK_INT(coil__stack_count(), 0);
}

TEST(symbols_outside_of_everything_are_addresses)
{
    CHECK_STR(text_of_symbol((const void *)(uintptr_t)0x11), "0x10");
}
