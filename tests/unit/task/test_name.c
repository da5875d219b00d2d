/*
 * test_name.c - task names: short names are stored in the task, and long names are
 * shared.
 */
#include "../../../src/task/name.h"
#include "../../harness/harness.h"

#include <coil.h>

#include <string.h>

static const char fifteen[] = "fifteen bytes..", sixteen[] = "sixteen bytes...",
                  longest[] = "thirty-one bytes, the most there";

TEST(a_name_keeps_up_to_31_bytes)
{
    struct coil__name name = {.text = ""};

    CHECK_STR(coil__name_text(&name), "");
    coil__name_set(&name, fifteen);
    CHECK_STR(coil__name_text(&name), fifteen);
    CHECK(!coil__name_is_long(&name));
    coil__name_set(&name, sixteen);
    CHECK_STR(coil__name_text(&name), sixteen);
    coil__name_set(&name, longest);
    CHECK_INT(strlen(coil__name_text(&name)), 31);
    CHECK(strncmp(coil__name_text(&name), longest, 31) == 0);
    coil__name_set(&name, "short");
    CHECK_STR(coil__name_text(&name), "short");
    coil__name_finish(&name);
}

TEST(a_name_that_is_a_number_is_spelt_when_it_is_asked_for)
{
    static const struct {
        uint64_t number;
        const char *text;
    } cases[] = {{1, "task-1"},
                 {10, "task-10"},
                 {999, "task-999"},
                 {1000, "task-1000"},
                 {9999999999, "task-9999999999"},
                 {10000000000, "task-10000000000"},
                 {UINT64_MAX, "task-18446744073709551615"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct coil__name name, copy = {.text = ""};

        /* simulate memory that was used before */
        memset(&name, 0xff, sizeof name);
        coil__name_set_number(&name, cases[i].number);
        coil__name_copy(&copy, &name);
        CHECK_STR(coil__name_text(&copy), cases[i].text);
        CHECK_STR(coil__name_text(&name), cases[i].text);
        CHECK_STR(coil__name_text(&name), cases[i].text);
        CHECK_INT(coil__name_is_long(&name), strlen(cases[i].text) > 15);
        coil__name_finish(&name);
        coil__name_finish(&copy);
    }
}

TEST(a_name_that_is_a_number_is_changed)
{
    struct coil__name name = {.text = ""};

    coil__name_set_number(&name, 77);
    coil__name_set(&name, sixteen);
    CHECK_STR(coil__name_text(&name), sixteen);
    coil__name_set(&name, fifteen);
    CHECK_STR(coil__name_text(&name), fifteen);
}

TEST(a_name_is_set_to_a_part_of_itself)
{
    struct coil__name name = {.text = ""};

    coil__name_set(&name, sixteen);
    coil__name_set(&name, coil__name_text(&name) + 8);
    CHECK_STR(coil__name_text(&name), "bytes...");
    coil__name_set(&name, coil__name_text(&name));
    CHECK_STR(coil__name_text(&name), "bytes...");
    coil__name_finish(&name);
}

TEST(a_long_name_is_shared_and_needs_no_memory_for_it)
{
    struct coil__name name = {.text = ""}, copy = {.text = ""};

    coil__name_set(&name, sixteen);
    test_fail_allocation(1);
    coil__name_copy(&copy, &name);
    coil__name_copy(&copy, &copy);
    test_fail_allocation(0);
    coil__name_set(&name, "other");
    CHECK_STR(coil__name_text(&copy), sixteen);
    coil__name_copy(&name, &copy);
    coil__name_copy(&copy, NULL);
    CHECK_STR(coil__name_text(&copy), "");
    CHECK_STR(coil__name_text(&name), sixteen);
    coil__name_finish(&name);
    CHECK_STR(coil__name_text(&name), "");
}

TEST(without_memory_a_name_is_cut_after_15_bytes)
{
    struct coil__name name = {.text = ""};

    test_fail_allocation(1);
    coil__name_set(&name, sixteen);
    test_fail_allocation(0);
    CHECK_STR(coil__name_text(&name), "sixteen bytes..");
    coil__name_finish(&name);
}

static int sleep_on(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

static int cancel_it(void *arg)
{
    coil_task_cancel(arg, "enough");
    return 0;
}

TASK_TEST(an_origin_keeps_the_long_name_of_a_task_that_has_gone)
{
    coil_spawn_opts opts = {.name = sixteen};
    coil_cancel_origin origin;
    coil_task *task, *canceller;

    CHECK_INT(coil_spawn(sleep_on, NULL, NULL, &task), 0);
    CHECK_INT(coil_spawn(cancel_it, task, &opts, &canceller), 0);
    CHECK_INT(test_join(canceller), 0);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK(coil_task_cancel_origin(task, &origin));
    CHECK_STR(origin.task, sixteen);
    CHECK_STR(origin.reason, "enough");
    coil_task_release(task);
}
