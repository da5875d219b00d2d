/*
 * crowd.cpp - coil.hpp: lambdas as tasks, handles that release their objects, and
 * exceptions that reach the waiting task.
 */
#include <coil.hpp>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

static void greet(coil_stream *stream, const std::string &name)
{
    std::string line = "hello from " + name + "\n";

    coil::check(coil_write(stream, line.data(), line.size()));
}

/*
 * Two tasks and the stream between them. At the end of the block, the tasks are cancelled
 * and the stream is closed.
 */
static void talk()
{
    coil::stream here, there;
    coil_stream *pair[2];
    coil::group both;

    coil::check(coil_stream_pair(pair));
    here.reset(pair[0]);
    there.reset(pair[1]);
    both.spawn([&] { greet(here, "a lambda"); });
    both.spawn([&] {
        char line[100];

        coil::check(coil_read_line(there, line, sizeof line));
        std::puts(line);
    });
    both.exit();
}

/* The queue owns its items. */
static void hand_over()
{
    coil::queue<std::string> inbox(1);
    std::unique_ptr<std::string> letter;
    coil::group both;

    both.spawn([&] { coil::check(inbox.put(std::make_unique<std::string>("a letter"))); });
    coil::check(inbox.get(letter));
    std::puts(letter->c_str());
    both.exit();
}

/*
 * One child throws. The other task is cancelled, and exit() throws the exception again.
 */
static void fail()
{
    coil::group both;

    both.spawn([] { coil_sleep(COIL_SEC(3600)); });
    both.spawn([] { throw std::runtime_error("a child has thrown"); });
    both.exit();
}

int main()
{
    try {
        return coil::run([] {
            talk();
            hand_over();
            fail();
        });
    } catch (const std::runtime_error &failure) {
        std::puts(failure.what());
    }
    return 0;
}
