/*
 * late_plugin.cpp - the plugin that late.c loads.
 */
#include <coil/task.h>

extern "C" int catch_and_sleep(int number)
{
    int wrong = 0;

    try {
        throw number;
    } catch (int) {
        coil_sleep(COIL_MSEC(number * 2));
        try {
            throw;
        } catch (int again) {
            wrong = again != number;
        }
    }
    return wrong;
}
