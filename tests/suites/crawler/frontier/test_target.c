#include "../../../../crawler/frontier/target.h"
#include "../../../harness/harness.h"

static struct target *get(struct targets *targets, const char *url, bool *is_new)
{
    const char *sign = strchr(url, '#');

    return targets_get(targets, url, sign != NULL ? (size_t)(sign + 1 - url) : 0, is_new);
}

TEST(targets_have_one_for_each_url)
{
    struct targets targets = {.count = 0};
    struct target *a, *b;
    bool is_new;

    CHECK_PTR(targets_find(&targets, "http://a/"), NULL);
    a = get(&targets, "http://a/", &is_new);
    CHECK(is_new);
    b = get(&targets, "http://a/b", &is_new);
    CHECK(is_new && a != b);
    CHECK_PTR(get(&targets, "http://a/", &is_new), a);
    CHECK(!is_new);
    CHECK_STR(a->url, "http://a/");
    CHECK_INT(a->url_n, 9);
    CHECK_PTR(a->page, a);
    CHECK_INT(a->verdict, VERDICT_OPEN);
    CHECK_PTR(targets_find(&targets, "http://a/b"), b);
    CHECK_PTR(targets_find(&targets, "http://a/bc"), NULL);
    CHECK_INT(targets.count, 2);
    CHECK_PTR(targets_at(&targets, 1), b);
    targets_finish(&targets);
    targets_finish(&targets);
}

TEST(targets_with_a_fragment_belong_to_their_page)
{
    struct targets targets = {.count = 0};
    struct target *x, *page;
    bool is_new;

    x = get(&targets, "http://a/#x", &is_new);
    CHECK(is_new);
    CHECK_INT(targets.count, 2);
    page = get(&targets, "http://a/", &is_new);
    CHECK(!is_new);
    CHECK_PTR(x->page, page);
    CHECK_PTR(page->page, page);
    CHECK_STR(x->url + x->fragment_at, "x");
    CHECK_INT(page->fragment_at, 0);
    CHECK_PTR(get(&targets, "http://a/#y", &is_new)->page, page);
    CHECK_INT(targets.count, 3);
    targets_finish(&targets);
}

TEST(targets_stay_where_they_are_while_the_table_grows)
{
    enum { COUNT = 20000 };
    struct targets targets = {.count = 0};
    struct target **all = calloc(COUNT, sizeof *all);
    char url[64];
    bool is_new;

    for (int i = 0; i < COUNT; i++) {
        snprintf(url, sizeof url, "http://a.example/%d#%d", i / 2, i);
        all[i] = get(&targets, url, &is_new);
        if (!is_new)
            CHECK(is_new);
    }
    CHECK_INT(targets.count, COUNT + COUNT / 2);
    for (int i = 0; i < COUNT; i++) {
        snprintf(url, sizeof url, "http://a.example/%d#%d", i / 2, i);
        if (targets_find(&targets, url) != all[i])
            CHECK_PTR(targets_find(&targets, url), all[i]);
        if (all[i]->page != all[i & ~1]->page)
            CHECK_PTR(all[i]->page, all[i & ~1]->page);
        if (targets_at(&targets, all[i]->index) != all[i])
            CHECK_PTR(targets_at(&targets, all[i]->index), all[i]);
    }
    free(all);
    targets_finish(&targets);
}

TEST(targets_intern_a_text_once)
{
    struct targets targets = {.count = 0};
    const char *first = targets_intern(&targets, "abcdef", 3), *nothing;

    CHECK_STR(first, "abc");
    CHECK_PTR(targets_intern(&targets, "abc", 3), first);
    CHECK(targets_intern(&targets, "abcd", 4) != first);
    nothing = targets_intern(&targets, "", 0);
    CHECK_STR(nothing, "");
    for (int i = 0; i < 5000; i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "%d", i);
        targets_intern(&targets, text, (size_t)n);
    }
    CHECK_PTR(targets_intern(&targets, "abc", 3), first);
    CHECK_PTR(targets_intern(&targets, "", 0), nothing);
    targets_finish(&targets);
}

TEST(target_ids_are_found_however_many_there_are)
{
    struct targets targets = {.count = 0};
    uint64_t hashes[1000];
    char id[16];
    bool is_new;
    struct target *page = get(&targets, "http://a/", &is_new);

    CHECK_INT(targets_keep_ids(&targets, page, NULL, 0), 0);
    CHECK(!target_has_id(page, targets_hash_id(&targets, "0", 1)));
    for (int i = 0; i < 1000; i++) {
        int n = snprintf(id, sizeof id, "%d", i / 2);
        hashes[i] = targets_hash_id(&targets, id, (size_t)n);
    }
    CHECK_INT(targets_keep_ids(&targets, page, hashes, 1000), 0);
    for (int i = 0; i < 1000; i++) {
        int n = snprintf(id, sizeof id, "%d", i);
        if (target_has_id(page, targets_hash_id(&targets, id, (size_t)n)) != (i < 500))
            CHECK_STR(id, "another outcome");
    }
    targets_finish(&targets);
}

/* Return the number of bytes that the targets use in memory and not in the file. */
static size_t hot_bytes(const struct targets *targets)
{
    return targets->capacity * sizeof *targets->slots +
           (targets->count / BLOCKS_ELEMENTS + 1) * BLOCKS_ELEMENTS *
               sizeof(struct known) +
           (targets->known.count + targets->all.count) * sizeof(char *);
}

TEST(targets_that_are_cold_take_forty_bytes_of_memory)
{
    struct cold *cold = cold_create(".");
    struct targets targets;
    char url[64];
    bool is_new;

    targets_init(&targets, cold);
    for (int i = 0; i < 100000; i++) {
        snprintf(url, sizeof url, "http://a.example/%d", i);
        get(&targets, url, &is_new);
        if (hot_bytes(&targets) > 64 * 1024 + 40 * targets.count)
            CHECK_INT(hot_bytes(&targets), 40 * targets.count);
    }
    CHECK_INT(targets.count, 100000);
    CHECK_STR(targets_at(&targets, 77777)->url, "http://a.example/77777");
    CHECK_PTR(targets_find(&targets, "http://a.example/77777"),
              targets_at(&targets, 77777));
    targets_finish(&targets);
    cold_destroy(cold);
}

TEST(targets_are_known_without_a_look_at_them)
{
    struct targets targets = {.count = 0};
    struct unseen unseen;
    struct target *x;
    bool is_new;
    uint64_t hash;

    x = get(&targets, "http://a/#x", &is_new);
    hash = targets_expect(&targets, "http://a/#x", 11);
    CHECK(targets_find_unseen(&targets, "http://a/#x", 11, hash, &unseen));
    CHECK_PTR(unseen.target, x);
    CHECK_PTR(unseen.known, targets_known(&targets, x));
    CHECK(!unseen.known->is_wanted);
    x->is_wanted = true;
    target_set_state(x->page, TARGET_ACCEPTED);
    x->page->depth = 3;
    targets_remember(&targets, x);
    CHECK(unseen.known->is_wanted && !unseen.known->is_near);
    CHECK(targets_known(&targets, x->page)->is_near);
    CHECK_INT(targets_known(&targets, x->page)->depth, 3);
    x->page->hops = 1;
    targets_remember(&targets, x);
    CHECK(!targets_known(&targets, x->page)->is_near);
    CHECK(!targets_find_unseen(&targets, "http://a/#y", 11, hash ^ 1, &unseen));
    targets_finish(&targets);
}

TEST(targets_that_are_cold_intern_most_texts_once)
{
    struct cold *cold = cold_create(".");
    struct targets targets;
    const char *first, *again;

    targets_init(&targets, cold);
    first = targets_intern(&targets, "abc", 3);
    CHECK_PTR(targets_intern(&targets, "abc", 3), first);
    for (int i = 0; i < 100000; i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "%d", i);
        if (strcmp(targets_intern(&targets, text, (size_t)n), text) != 0)
            CHECK_STR(text, "another text");
    }
    again = targets_intern(&targets, "abc", 3);
    CHECK(again != first);
    CHECK_STR(first, again);
    CHECK(targets.text_capacity <= 16384);
    targets_finish(&targets);
    cold_destroy(cold);
}

static void finish_without_queueing(void *arg)
{
    struct target target = {.state = TARGET_HELD};

    (void)arg;
    target_set_state(&target, TARGET_DONE);
}

TEST(target_aborts_when_a_state_does_not_follow)
{
    struct target target = {.state = TARGET_MET};

    target_set_state(&target, TARGET_ACCEPTED);
    target_set_state(&target, TARGET_QUEUED);
    target_set_state(&target, TARGET_DONE);
    target_set_state(&target, TARGET_QUEUED);
    CHECK_INT(target.state, TARGET_QUEUED);
    CHECK(target_is_decided(&target) && target_was_queued(&target));
#ifndef NDEBUG
    test_dies(finish_without_queueing, NULL, "target_set_state");
#else
    (void)finish_without_queueing;
#endif
}
