#include "../../../../crawler/judge/reference.h"
#include "../../../harness/harness.h"

static struct targets targets;
static struct references references;

static struct target *get(const char *url)
{
    bool is_new;

    return targets_get(&targets, url, 0, &is_new);
}

static void reference(struct target *target, const char *text, uint32_t line)
{
    CHECK_INT(references_add(
                  &references, &targets, target,
                  &(struct reference_place){get("http://a/page"), text, line, 7, false}),
              0);
}

/* Write the references to the trace, the last one first. */
static void trace(const struct target *target)
{
    const struct reference *at = references_of(&references, &targets, target);

    for (; at != NULL; at = references_at(&references, at->before))
        test_trace("%s:%u:%u %s, ", at->page->url, at->line, at->column,
                   reference_text(at));
}

static void finish(void)
{
    references_finish(&references);
    targets_finish(&targets);
}

TEST(references_are_kept_with_their_places)
{
    struct target *x = get("http://a/x"), *y = get("http://a/y");

    reference(x, "x", 1);
    reference(y, "../y", 2);
    reference(x, "/X", 3);
    trace(x);
    CHECK_TRACE("http://a/page:3:7 /X, http://a/page:1:7 x, ");
    trace(y);
    CHECK_TRACE("http://a/page:2:7 ../y, ");
    CHECK_INT(targets_known(&targets, x)->reference_count, 2);
    CHECK_PTR(references_at(&references, 0), NULL);
    finish();
}

/* Links on several pages are added in interleaved order. */
TEST(references_beyond_a_hundred_are_the_first_on_each_page)
{
    struct target *x = get("http://a/x"), *pages[9];
    const struct reference *last;

    for (int i = 0; i < 9; i++) {
        char url[32];
        snprintf(url, sizeof url, "http://a/%d", i);
        pages[i] = get(url);
    }
    for (int i = 0; i < 9; i += 3)
        for (uint32_t line = 1; line <= 120; line++)
            CHECK_INT(references_add(&references, &targets, x,
                                     &(struct reference_place){pages[i + (int)line % 3],
                                                               "x", line, 7, false}),
                      0);
    CHECK_INT(targets_known(&targets, x)->reference_count, 360);
    CHECK_INT(references.count, REFERENCES_KEPT + 6);
    last = references_of(&references, &targets, x);
    CHECK_PTR(last->page, pages[6]);
    CHECK_INT(last->line, 3);
    finish();
}

TEST(references_beyond_a_hundred_on_a_page_are_only_counted)
{
    struct target *x = get("http://a/x");

    for (uint32_t i = 1; i <= 150; i++)
        reference(x, "x", i);
    CHECK_INT(targets_known(&targets, x)->reference_count, 150);
    CHECK_INT(references.count, REFERENCES_KEPT);
    CHECK_INT(references_of(&references, &targets, x)->line, REFERENCES_KEPT);
    finish();
}

TEST(references_of_what_is_well_or_skipped_are_only_counted)
{
    static const enum verdict verdicts[] = {VERDICT_OK, VERDICT_SKIPPED};

    for (size_t i = 0; i < 2; i++) {
        struct target *x = get("http://a/x");
        x->verdict = verdicts[i];
        reference(x, "x", 1);
        CHECK_PTR(references_of(&references, &targets, x), NULL);
        CHECK_INT(targets_known(&targets, x)->reference_count, 1);
        finish();
    }
}

TEST(references_of_a_verdict_that_fails_the_run_are_kept)
{
    static const bool fail_on[VERDICT_COUNT] = {[VERDICT_SKIPPED] = true};
    struct target *x = get("http://a/x"), *y = get("http://a/y");

    x->verdict = VERDICT_SKIPPED;
    y->verdict = VERDICT_OK;
    references.fail_on = fail_on;
    CHECK(references_are_needed(&references, x));
    CHECK(!references_are_needed(&references, y));
    reference(x, "x", 1);
    reference(y, "y", 2);
    trace(x);
    CHECK_TRACE("http://a/page:1:7 x, ");
    CHECK_PTR(references_of(&references, &targets, y), NULL);
    finish();
}

TEST(references_that_are_dropped_make_room_for_others)
{
    struct target *x = get("http://a/x"), *y = get("http://a/y"), *z = get("http://a/z");

    reference(x, "x1", 1);
    reference(y, "y1", 2);
    reference(x, "x2", 3);
    references_drop(&references, &targets, x);
    references_drop(&references, &targets, x);
    references_drop(&references, &targets, z);
    CHECK_PTR(references_of(&references, &targets, x), NULL);
    CHECK_INT(targets_known(&targets, x)->reference_count, 2);
    reference(z, "z1", 4);
    reference(y, "y2", 5);
    reference(z, "z2", 6);
    CHECK_INT(references.count, 4);
    trace(z);
    trace(y);
    CHECK_TRACE("http://a/page:6:7 z2, http://a/page:4:7 z1, "
                "http://a/page:5:7 y2, http://a/page:2:7 y1, ");
    finish();
}

TEST(references_cut_texts_that_are_very_long)
{
    struct target *x = get("http://a/x");
    char text[1001];

    memset(text, 'y', 1000);
    text[1000] = '\0';
    reference(x, text, 1);
    CHECK_INT(strlen(reference_text(references_of(&references, &targets, x))), 203);
    CHECK_STR(reference_text(references_of(&references, &targets, x)) + 195, "yyyyy...");
    finish();
}

TEST(references_that_are_cold_are_as_good)
{
    struct cold *cold = cold_create(".");
    struct unseen unseen;
    struct target *x, *page;

    targets_init(&targets, cold);
    x = get("http://a/x");
    page = get("http://a/page");
    reference(x, "x", 1);
    CHECK(targets_find_unseen(&targets, "http://a/x", 10,
                              targets_expect(&targets, "http://a/x", 10), &unseen));
    CHECK_INT(
        references_add_unseen(&references, &targets, &unseen,
                              &(struct reference_place){page, "../x#", 2, 8, false}),
        0);
    trace(x);
    CHECK_TRACE("http://a/page:2:8 ../x#, http://a/page:1:7 x, ");
    references_drop(&references, &targets, x);
    CHECK_INT(references_add_unseen(&references, &targets, &unseen,
                                    &(struct reference_place){page, "x", 3, 9, false}),
              0);
    CHECK_PTR(references_of(&references, &targets, x), NULL);
    CHECK_INT(unseen.known->reference_count, 3);
    finish();
    cold_destroy(cold);
}
