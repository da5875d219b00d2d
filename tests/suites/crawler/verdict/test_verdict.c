/*
 * test_verdict.c - crawler/verdict/verdict.h: the tables of verdicts and reasons, and the
 * names that docs/design/checker.md lists.
 */
#include "../../../../crawler/verdict/verdict.h"
#include "../../../harness/harness.h"

TEST(verdict_words_are_those_of_the_design)
{
    static const char *const words[] = {"ok",      "redirect", "broken", "fragment",
                                        "text",    "blocked",  "error",  "timeout",
                                        "skipped", "unchecked"};

    CHECK_PTR(verdict_word(VERDICT_OPEN), NULL);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        CHECK_STR(verdict_word((enum verdict)(i + 1)), words[i]);
        CHECK_INT(verdict_of_word(words[i]), i + 1);
    }
    CHECK_INT(VERDICT_COUNT, sizeof words / sizeof words[0] + 1);
}

/*
 * Each verdict has a complete row in the table, with a rule that it may share with other
 * verdicts.
 */
TEST(verdict_every_verdict_has_its_traits)
{
    int of_fragment = 0;

    for (int i = VERDICT_OPEN + 1; i < VERDICT_COUNT; i++) {
        const struct verdict_traits *traits = verdict_traits((enum verdict)i);

        CHECK(traits->word != NULL && strlen(traits->word) <= 15);
        CHECK(traits->title != NULL && traits->rule != NULL);
        CHECK_INT(traits->list != NULL, traits->verbosity > 0);
        CHECK_INT(traits->list == NULL,
                  traits->tone == TONE_BAD || traits->tone == TONE_GOOD);
        of_fragment += traits->is_of_fragment;
    }
    /* the 5 bits of known->counted (frontier/target.h): one for each of these verdicts, and
       one that all other verdicts share */
    CHECK(of_fragment <= 4);
}

TEST(verdict_of_an_unknown_word_is_open)
{
    CHECK_INT(verdict_of_word("fine"), VERDICT_OPEN);
    CHECK_INT(verdict_of_word("OK"), VERDICT_OPEN);
    CHECK_INT(verdict_of_word(""), VERDICT_OPEN);
}

/*
 * Each reason except REASON_STATUS must have a message. The only full stop in a message
 * is that of "robots.txt".
 */
TEST(verdict_every_reason_has_a_word_and_a_sentence)
{
    CHECK_PTR(reason_word(REASON_NONE), NULL);
    CHECK_STR(reason_sentence(REASON_NONE), "");
    for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        const char *word = reason_word((enum reason)i);
        const char *sentence = reason_sentence((enum reason)i);

        CHECK(word != NULL &&
              strspn(word, "abcdefghijklmnopqrstuvwxyz-") == strlen(word));
        CHECK((sentence[0] == '\0') == (i == REASON_STATUS));
        CHECK(strchr(sentence, '.') == NULL || i == REASON_ROBOTS);
        for (int j = REASON_NONE + 1; word != NULL && j < i; j++)
            CHECK(strcmp(word, reason_word((enum reason)j)) != 0);
    }
}

TEST(verdict_reason_words_are_those_of_the_design)
{
    CHECK_STR(reason_word(REASON_PERMANENT), "permanent");
    CHECK_STR(reason_word(REASON_NO_SUCH_ID), "no-such-id");
    CHECK_STR(reason_word(REASON_TRAP_CALENDAR), "trap-calendar");
    CHECK_STR(reason_word(REASON_NOT_SEARCHED), "not-searched");
    CHECK_STR(reason_sentence(REASON_NO_SUCH_ID), "no element has this id");
}

TEST(verdict_statuses_have_the_names_of_the_registry)
{
    CHECK_STR(status_name(200), "OK");
    CHECK_STR(status_name(404), "Not Found");
    CHECK_STR(status_name(413), "Content Too Large");
    CHECK_STR(status_name(451), "Unavailable For Legal Reasons");
    CHECK_STR(status_name(511), "Network Authentication Required");
    CHECK_STR(status_name(0), "");
    CHECK_STR(status_name(299), "");
    CHECK_STR(status_name(999), "");
    CHECK_STR(status_name(-1), "");
}
