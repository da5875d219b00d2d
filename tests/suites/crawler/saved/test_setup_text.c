/*
 * test_setup_text.c - crawler/saved/setup_text.h: the setup of a crawl is restored from
 * its text. Invalid texts are refused.
 */
#include "../../../../crawler/saved/setup_text.h"
#include "../../../harness/harness.h"

#include <errno.h>

static void trace_all(const struct store_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        test_trace("<%s>", texts->at[i]);
    test_trace("\n");
}

TEST(setup_text_brings_back_settings_and_starts)
{
    const char *settings[] = {"--max-depth=3", "", "-H=a:\n\xff 7:"},
               *starts[] = {"http://a/"};
    struct store_texts first = {settings, 3}, second = {starts, 1};
    struct text text = {0};
    struct setup_text setup;

    setup_text_write(&text, &first, &second);
    CHECK_INT(setup_text_read(text.at, &setup), 0);
    trace_all(&setup.settings);
    trace_all(&setup.starts);
    CHECK_TRACE("<--max-depth=3><><-H=a:\n\xff 7:>\n<http://a/>\n");
    setup_text_finish(&setup);
    text_finish(&text);
}

TEST(setup_text_of_nothing_is_nothing)
{
    struct text text = {0};
    struct setup_text setup;

    setup_text_write(&text, &(struct store_texts){NULL, 0},
                     &(struct store_texts){NULL, 0});
    CHECK_STR(text.at, "");
    CHECK_INT(setup_text_read(text.at, &setup), 0);
    CHECK_INT(setup.settings.count + setup.starts.count, 0);
    setup_text_finish(&setup);
    text_finish(&text);
}

TEST(setup_text_that_is_none_is_refused)
{
    const char *const bad[] = {"x",
                               "o",
                               "o:",
                               "o3:ab",
                               "o3:ab\n",
                               "o2:abc\n",
                               "o2:ab",
                               "o-1:\n",
                               "o 1:a\n",
                               "q1:a\n",
                               "o99999999999999999999:a\n",
                               "s1:a\nx"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct setup_text setup;

        CHECK_INT(setup_text_read(bad[i], &setup), -EBADMSG);
        setup_text_finish(&setup);
    }
}
