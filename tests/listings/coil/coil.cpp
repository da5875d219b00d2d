/* needs: coil-testing */
/* coil.cpp - what the listing of include/coil.hpp stands in. */
#include "cxx.hpp"

#include "coil.hpp/1"
#undef main

int main()
{
    coil_network_opts network = {};

    coil_testing_network(&network);
    return listing_main();
}
