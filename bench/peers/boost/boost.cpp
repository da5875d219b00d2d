/*
 * boost.cpp - measures a switch with fcontext, the fastest interface of Boost.Context.
 * fcontext only exchanges registers: it neither unwinds stacks nor passes objects.
 */
#include "../../bench.h"

#include <boost/context/detail/fcontext.hpp>

using namespace boost::context::detail;

static void swing(transfer_t from)
{
    for (;;)
        from = jump_fcontext(from.fctx, from.data);
}

static void run_switch(const struct bench_row *row)
{
    size_t bytes = 128 * 1024;
    char *stack = static_cast<char *>(malloc(bytes));
    transfer_t there = {make_fcontext(stack + bytes, bytes, swing), nullptr};
    double start;

    there = jump_fcontext(there.fctx, nullptr);
    start = bench_cpu_ns();
    for (long i = 0; i < row->n; i += 2)
        there = jump_fcontext(there.fctx, nullptr);
    bench_time(row, start);
}

int main(int argc, char **argv)
{
    static const struct bench_row rows[] = {
        {"switch", run_switch, 40000000, 0},
        {nullptr, nullptr, 0, 0},
    };

    return bench_main(argc, argv, rows);
}
