/*
 * test_hooks_openssl.c - OpenSSL's error queue contains only the errors of the current
 * task.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <openssl/err.h>
#include <string.h>

static int raise_errors(void *arg)
{
    int number = *(int *)arg;
    const char *text;
    int flags;

    CHECK_INT((long)ERR_peek_error(), 0);
    for (int i = 1; i <= number; i++) {
        ERR_raise_data(ERR_LIB_USER, 100 + i, "of task %d", number);
        coil_sleep(COIL_MSEC(number));
    }
    ERR_raise(ERR_LIB_USER, 99);
    coil_yield();
    for (int i = 1; i <= number; i++) {
        unsigned long code = ERR_get_error_all(NULL, NULL, NULL, &text, &flags);

        CHECK_INT(ERR_GET_REASON(code), 100 + i);
        CHECK(strncmp(text, "of task ", 8) == 0 && text[8] == '0' + number);
        coil_yield();
    }
    CHECK_INT(ERR_GET_REASON(ERR_get_error()), 99);
    CHECK_INT((long)ERR_get_error(), 0);
    ERR_raise(ERR_LIB_USER, 98); /* must be invisible to other tasks */
    return 0;
}

TASK_TEST(hooks_keep_the_errors_of_openssl)
{
    const coil_task_hooks *hooks[] = {coil_hooks_openssl_errors(), NULL};
    coil_spawn_opts opts = {.hooks = hooks};
    int numbers[] = {1, 2, 5};
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < 3; i++)
        coil_group_spawn(&group, raise_errors, &numbers[i], &opts, NULL);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_INT((long)ERR_peek_error(), 0);
}
