/*
 * traces.cpp - prints reports that name lines of this program. The argument selects a
 * report. The script `run` compares the lines in the report with the lines that are
 * marked for this report.
 */
#include <coil.hpp>

#include <cstdio>
#include <cstring>
#include <stdexcept>

static void open_nothing()
{
    coil::file file;

    coil::check(coil_file_open("/nowhere", 0, 0, file.out())); // message: 1 // printed: 1
}

static void find_nothing()
{
    coil::check(-ENOENT); // code: 1
}

static void wait_too_long()
{
    coil::scope limit(coil_in(COIL_MSEC(1)));

    coil::check(coil_sleep(COIL_SEC(10))); // deadline: 1
}

static void throw_something()
{
    throw std::runtime_error("the reason"); // exception: 1 // child: 1
}

static void throw_again()
{
    try {
        throw 7;
    } catch (int) {
        throw; // another type: 1
    }
}

static void fail(const char *how)
{
    if (std::strcmp(how, "message") == 0 || std::strcmp(how, "printed") == 0)
        open_nothing(); // message: 2 // printed: 2
    if (std::strcmp(how, "code") == 0)
        find_nothing(); // code: 2
    if (std::strcmp(how, "deadline") == 0)
        wait_too_long(); // deadline: 2
    if (std::strcmp(how, "exception") == 0)
        throw_something(); // exception: 2
    if (std::strcmp(how, "another type") == 0)
        throw_again(); // another type: 2
}

/* Dump tasks inside and outside a group, with the functions that spawned them. */
static void dump()
{
    coil::queue<int> queue(1);
    std::unique_ptr<int> item;
    coil::group group;

    group.spawn([] { coil::check(coil_sleep(COIL_SEC(10))); }); // dump: 3 4
    group.spawn([&] {                                           // dump: 6
        coil::check(queue.get(item));                           // dump: 5
    });
    coil::spawn([] { coil_yield(); }); // dump: 7 8
    coil_yield();
    coil_dump(stderr); // dump: 1
    group.cancel();
    group.exit();
}

/* Make the owner of a group fail with the error of a child. */
static void fail_by_child()
{
    coil::group group;

    group.spawn([] {
        throw_something(); // child: 2
    });
    group.exit(); // child: 3
}

static void print(const char *how)
{
    try {
        fail(how); // printed: 3
    } catch (const coil::error &error) {
        coil_error_print(error.failure(), stdout);
    }
}

/* Decrements the number of running bodies when a body ends. */
struct leaving {
    int &running;

    explicit leaving(int &count) : running(count) {}
    ~leaving() { running--; }
};

int main(int, char **argv)
{
    coil::run([how = argv[1]] {
        if (std::strcmp(how, "dump") == 0)
            return dump(); // dump: 2
        if (std::strcmp(how, "printed") == 0)
            return print(how); // printed: 4
        int running = 2;

        coil::spawn([how, &running] {
            leaving body(running);

            if (std::strcmp(how, "child") == 0)
                fail_by_child(); // child: 4
        });
        coil::spawn([how, &running] {
            leaving body(running);

            fail(how); // message: 3 // code: 3 // deadline: 3 // exception: 3 // another type: 3
        });
        while (running > 0)
            coil_sleep(COIL_MSEC(1));
        coil_yield(); /* run callbacks of ended tasks */
    });
}
