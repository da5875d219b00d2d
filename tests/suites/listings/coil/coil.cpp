/* needs: coil-testing */
/* coil.cpp - compiles and runs the examples in include/coil.hpp. */
#include "cxx.hpp"

#include "coil.hpp/1"
#undef main

int main()
{
    coil_network_opts network = {};

    coil_testing_network(&network);
    return listing_main();
}
