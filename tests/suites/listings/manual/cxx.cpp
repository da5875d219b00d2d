/* needs: coil-testing */
/* cxx.cpp - compiles and runs the examples in docs/manual/cxx.md. */
#include "cxx.hpp"

#include "cxx.md/c"
#undef main

static void step();
static void log(const char *text);

static void run_step()
{
#include "cxx.md/exceptions"
}

/* The group's child throws immediately. */
static void run_group()
{
#include "cxx.md/cancellation"
}

struct settings {
    int port;
};

static settings load_settings()
{
    coil::check(coil_sleep(COIL_MSEC(1)));
    return {7000};
}

#include "cxx.md/variables-in-functions"

#include <cstring>
#include <stdexcept>

static int logged;

static void step()
{
    throw std::runtime_error("the reason");
}

static void log(const char *text)
{
    CHECK(std::strcmp(text, "the reason") == 0);
    logged++;
}

int main()
{
    coil_network_opts network = {};

    coil_testing_network(&network);
    CHECK(listing_main() == 0);
    coil_testing_network(nullptr);
    CHECK(coil::run([] {
              try {
                  run_step();
              } catch (const std::runtime_error &) {
                  logged++;
              }
              try {
                  run_group();
              } catch (const std::runtime_error &) {
                  logged++;
              }
              CHECK(shared().port == 7000);
          }) == 0);
    return logged != 3;
}
