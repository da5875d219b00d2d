/*
 * check.hpp - macros that check results in the programs in this folder. The program exits
 * at the first failed check.
 */
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(ok)                                                                        \
    do {                                                                                 \
        if (!(ok)) {                                                                     \
            std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #ok);        \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)
