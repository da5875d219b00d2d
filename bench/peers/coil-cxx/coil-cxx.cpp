/*
 * coil-cxx.cpp - some of the benchmarks in coil.c, written with the C++ wrapper, to
 * measure its cost.
 */
#include "../../bench.h"

#include <coil.hpp>

#include <sys/socket.h>
#include <unistd.h>

template <typename Body> static void run_in_loop(const bench_row *row, Body body)
{
    bench_must(coil::run([&] { body(row); }) == 0, row->name);
}

/*
 * A body that may throw costs another 2 ns, because it is called by coil_call_traced(),
 * which can record where it throws.
 */
static void run_spawn(const bench_row *row)
{
    run_in_loop(row, [](const bench_row *own) {
        double start = bench_cpu_ns();

        for (long i = 0; i < own->n; i++) {
            coil::task task;

            coil::check(coil::spawn([]() noexcept { return 0; }, nullptr, task.out()));
            coil_task_await(task);
        }
        bench_time(own, start);
    });
}

static void run_await_done(const bench_row *row)
{
    run_in_loop(row, [](const bench_row *own) {
        coil::future future;

        coil::check(coil_future_create(future.out()));
        coil_future_set(future, 1, nullptr, nullptr);
        double start = bench_cpu_ns();
        for (long i = 0; i < own->n; i++)
            bench_must(coil::check(coil_await(future)) == 1, "coil_await");
        bench_time(own, start);
    });
}

static void run_stream_read(const bench_row *row)
{
    run_in_loop(row, [](const bench_row *own) {
        int ends[2];
        coil::stream stream;
        char byte = 1;

        bench_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
        coil::check(coil_stream_adopt(ends[0], stream.out()));
        double start = bench_cpu_ns();
        for (long i = 0; i < own->n; i++) {
            bench_must(write(ends[1], &byte, 1) == 1, "write");
            bench_must(coil::check(coil_read(stream, &byte, 1)) == 1, "coil_read");
        }
        bench_time(own, start);
        close(ends[1]);
    });
}

int main(int argc, char **argv)
{
    static const bench_row rows[] = {
        {"spawn", run_spawn, 2000000, 0},
        {"await_done", run_await_done, 50000000, 0},
        {"stream_read", run_stream_read, 1000000, 0},
        {},
    };

    return bench_main(argc, argv, rows);
}
