/*
 * digest.c - collect findings and their links from records.
 *
 * A link may arrive before or after the verdict on its target. So each target has a slot
 * in a hash table, which is found by a 64-bit hash with a secret seed. The states of a
 * slot:
 *
 *     OPEN ---- verdict: OK ---------------> WELL        its links are dropped
 *      |
 *      '------- verdict: to be reported ---> FINDING     links remain, except those
 *                                                      in the baseline
 *
 * Invariants
 *   1. Each link in the list of a slot or a finding holds a reference to its page.
 *   2. A page is open, and is not freed, from its first link until its own record
 *      arrives.
 *   3. A slot or a finding stores the first DIGEST_LINKS_KEPT links and, after that, only
 *      the first link on each page. All links are counted.
 */
#include "digest_inside.h"

#include "../base/array.h"
#include "../base/hash.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256
#define LONGEST_TEXT 200    /* longer link texts are truncated */
#define LONGEST_TARGET 4096 /* longer targets are truncated */
/* at least the usual number of pages that are searched concurrently (--max-tasks) */
#define PAGES_AT_A_TIME 32
#define LONGEST_CHAIN 250 /* maximum number of redirects to follow: --max-redirect */
#define MANY_LINKS ((UINT32_C(1) << 28) - 1)

enum slot_state { SLOT_FREE, SLOT_OPEN, SLOT_OK, SLOT_FINDING };

struct digest_slot {
    uint64_t hash;
    uint32_t at; /* OPEN: index of the last link, or 0; FINDING: index of the finding */
    uint32_t link_count : 28, state : 2;
};

struct redirect {
    const char *target; /* NULL: the URL does not redirect */
    int status;
};

void digest_init(struct digest *digest, const struct options *options, time_t begin)
{
    *digest = (struct digest){.options = options, .begin = begin, .seed = hash_seed()};
}

static void *copy_text(struct digest *digest, const char *text, size_t n)
{
    return arena_text(&digest->arena, text, n);
}

/* ---- slots ------------------------------------------------------------------------- */

static uint64_t hash_of(const struct digest *digest, const char *target,
                        const char *fragment)
{
    uint64_t hash = hash_bytes(target, strlen(target), digest->seed);

    return fragment != NULL ? hash_bytes(fragment, strlen(fragment), ~hash) : hash;
}

static struct digest_slot *find_slot(struct digest_slot *slots, size_t capacity,
                                     uint64_t hash)
{
    size_t i = hash & (capacity - 1);

    while (slots[i].state != SLOT_FREE && slots[i].hash != hash)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static int grow_slots(struct digest *digest)
{
    size_t capacity = digest->slot_capacity > 0 ? 2 * digest->slot_capacity : FIRST_SLOTS;
    struct digest_slot *slots = calloc(capacity, sizeof *slots);

    if (slots == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < digest->slot_capacity; i++)
        if (digest->slots[i].state != SLOT_FREE)
            *find_slot(slots, capacity, digest->slots[i].hash) = digest->slots[i];
    free(digest->slots);
    digest->slots = slots;
    digest->slot_capacity = capacity;
    return 0;
}

/*
 * Return the slot of a target, creating an OPEN slot if necessary. Returns NULL if memory
 * runs out.
 */
static struct digest_slot *slot_of(struct digest *digest, const char *target,
                                   const char *fragment)
{
    uint64_t hash = hash_of(digest, target, fragment);
    struct digest_slot *slot;

    if (digest->slot_count >= digest->slot_capacity / 4 * 3 && grow_slots(digest) < 0)
        return NULL;
    slot = find_slot(digest->slots, digest->slot_capacity, hash);
    if (slot->state == SLOT_FREE) {
        *slot = (struct digest_slot){.hash = hash, .state = SLOT_OPEN};
        digest->slot_count++;
    }
    return slot;
}

/* ---- pages ------------------------------------------------------------------------- */

void digest_release_page(struct digest_page *page)
{
    if (--page->uses == 0)
        free(page);
}

static struct digest_page *create_page(const char *url, uint64_t hash)
{
    size_t n = strlen(url) + 1;
    struct digest_page *page = malloc(sizeof *page + n);

    if (page == NULL)
        return NULL;
    *page = (struct digest_page){.hash = hash, .uses = 1};
    memcpy(page->url, url, n);
    return page;
}

/* Return the index of an open page, or open_count if the page is not open. */
static size_t find_open(const struct digest *digest, const char *url, uint64_t hash)
{
    size_t i = 0;

    while (i < digest->open_count &&
           (digest->open[i]->hash != hash || strcmp(digest->open[i]->url, url) != 0))
        i++;
    return i;
}

/*
 * Return the open page with this URL, creating it if necessary. Move it to the end of the
 * list, because most links are on the same page as the previous one. The list is short,
 * because each worker has at most one open page. Returns NULL if memory runs out.
 */
static struct digest_page *open_page(struct digest *digest, const char *url)
{
    uint64_t hash = hash_of(digest, url, NULL);
    size_t at = find_open(digest, url, hash);
    struct digest_page *page;

    if (at < digest->open_count) {
        page = digest->open[at];
    } else {
        if (digest->open_count == digest->open_capacity &&
            array_grow(&digest->open, &digest->open_capacity,
                       sizeof(struct digest_page *)) < 0)
            return NULL;
        page = create_page(url, hash);
        if (page == NULL)
            return NULL;
        digest->open_count++;
    }
    memmove(digest->open + 1, digest->open, at * sizeof(struct digest_page *));
    digest->open[0] = page;
    return page;
}

static int close_page(void *arg, const struct record_page *record)
{
    struct digest *digest = arg;
    size_t at = find_open(digest, record->url, hash_of(digest, record->url, NULL));

    if (at == digest->open_count)
        return 0;
    digest_release_page(digest->open[at]);
    digest->open_count--;
    memmove(digest->open + at, digest->open + at + 1,
            (digest->open_count - at) * sizeof(struct digest_page *));
    return 0;
}

/* ---- words ------------------------------------------------------------------------- */

/*
 * Return the index of the name of an element or attribute in digest->words, 0 for NULL or
 * if there are too many names, or -ENOMEM.
 */
static int number_of(struct digest *digest, const char *word)
{
    uintptr_t number =
        word != NULL ? (uintptr_t)table_get(&digest->word_numbers, word) : 0;
    char *kept;

    if (word == NULL || number > 0)
        return (int)number;
    if (digest->word_count > UINT16_MAX)
        return 0;
    if (digest->word_count == digest->word_capacity &&
        array_grow(&digest->words, &digest->word_capacity, sizeof(const char *)) < 0)
        return -ENOMEM;
    if (digest->word_count == 0)
        digest->words[digest->word_count++] = NULL;
    number = digest->word_count;
    kept = copy_text(digest, word, strlen(word));
    /* The table stores the number as a pointer, which is never dereferenced. */
    if (kept == NULL ||
        table_add(&digest->word_numbers, kept, (void *)number) < 0) // NOLINT
        return -ENOMEM;
    digest->words[digest->word_count++] = kept;
    return (int)number;
}

/* ---- links ------------------------------------------------------------------------- */

/* Return the index of an unused link, or 0 if memory runs out. */
static uint32_t allocate_link(struct digest *digest)
{
    uint32_t at = digest->unused_links;

    if (at > 0) {
        digest->unused_links = digest->links[at].before;
        return at;
    }
    if (digest->link_count + 1 >= digest->link_capacity &&
        (digest->link_count >= UINT32_MAX / 2 ||
         array_grow(&digest->links, &digest->link_capacity, sizeof *digest->links) < 0))
        return 0;
    return (uint32_t)++digest->link_count;
}

/* Move all links of a nonempty list to the list of unused links. */
static void drop_links(struct digest *digest, uint32_t last)
{
    uint32_t first = last;

    for (uint32_t at = last; at > 0; at = digest->links[at].before) {
        digest_release_page(digest->links[at].page);
        free(digest->links[at].text);
        first = at;
    }
    digest->links[first].before = digest->unused_links;
    digest->unused_links = last;
}

/* True if the link text is a suffix of "target#fragment", as most are. */
static bool is_end_of(const struct record_link *record, size_t n)
{
    const char *text = record->text, *fragment = record->fragment;
    size_t target_n, m = fragment != NULL ? strlen(fragment) + 1 : 0;

    if (record->target == NULL)
        return false;
    target_n = strlen(record->target);
    if (target_n > LONGEST_TARGET || m > LONGEST_TARGET || n < m || n - m > target_n)
        return false;
    if (m > 0 && (text[n - m] != '#' || memcmp(text + n - m + 1, fragment, m - 1) != 0))
        return false;
    return memcmp(record->target + target_n - (n - m), text, n - m) == 0;
}

/* Store the text of a link. Returns 0, or -ENOMEM without changing `link`. */
static int store_text(struct digest_link *link, const struct record_link *record)
{
    size_t n = strlen(record->text);
    char *text;
    int written = 0;

    if (is_end_of(record, n)) {
        link->text_n = (uint32_t)n;
        return 0;
    }
    if (n <= LONGEST_TEXT)
        text = strdup(record->text);
    else
        written = asprintf(&text, "%.*s...", LONGEST_TEXT, record->text);
    if (written < 0 || text == NULL)
        return -ENOMEM;
    link->text = text;
    return 0;
}

static int add_link(struct digest *digest, uint32_t *last,
                    const struct record_link *record)
{
    struct digest_link link = {.line = (uint32_t)record->line,
                               .column = (uint32_t)record->column,
                               .is_known = record->is_known,
                               .before = *last};
    int element = number_of(digest, record->element);
    int attribute = number_of(digest, record->attribute);
    uint32_t at;

    link.page = open_page(digest, record->page);
    if (element < 0 || attribute < 0 || link.page == NULL ||
        store_text(&link, record) < 0)
        return -ENOMEM;
    at = allocate_link(digest);
    if (at == 0) {
        free(link.text);
        return -ENOMEM;
    }
    link.element = (uint16_t)element;
    link.attribute = (uint16_t)attribute;
    link.page->uses++;
    digest->links[at] = link;
    *last = at;
    return 0;
}

/*
 * True if one of the last links in a list is on the page. Several links are checked,
 * because several pages are searched at a time.
 */
static bool has_page(const struct digest *digest, uint32_t last, const char *url)
{
    for (int i = 0; i < PAGES_AT_A_TIME && last > 0; i++) {
        if (strcmp(digest->links[last].page->url, url) == 0)
            return true;
        last = digest->links[last].before;
    }
    return false;
}

/*
 * Store a link to a target in the list *last. After the first DIGEST_LINKS_KEPT links,
 * store only the first link on each page (invariant 3). `count` is the number of links to
 * the target so far.
 */
static int store_link(struct digest *digest, uint32_t *last, size_t count,
                      const struct record_link *record)
{
    if (count > DIGEST_LINKS_KEPT && has_page(digest, *last, record->page))
        return 0;
    return add_link(digest, last, record);
}

static int add_link_record(void *arg, const struct record_link *record)
{
    struct digest *digest = arg;
    const char *target = record->target != NULL ? record->target : record->text;
    struct digest_slot *slot = slot_of(digest, target, record->fragment);
    struct finding *finding;

    if (slot == NULL)
        return -ENOMEM;
    if (slot->state == SLOT_OK || (slot->state == SLOT_FINDING && record->is_known &&
                                   digest->findings[slot->at].is_known))
        return 0;
    slot->link_count += slot->link_count < MANY_LINKS;
    if (slot->state == SLOT_OPEN)
        return store_link(digest, &slot->at, slot->link_count, record);
    finding = &digest->findings[slot->at];
    finding->link_count = slot->link_count;
    return store_link(digest, &finding->links, slot->link_count, record);
}

/* ---- redirects --------------------------------------------------------------------- */

static int add_redirect(void *arg, const struct record_redirect *record)
{
    struct digest *digest = arg;
    struct redirect *redirect;
    const char *url;

    if (table_get(&digest->redirects, record->url) != NULL)
        return 0;
    redirect = arena_alloc(&digest->arena, sizeof *redirect);
    url = copy_text(digest, record->url, strlen(record->url));
    if (redirect == NULL || url == NULL)
        return -ENOMEM;
    *redirect = (struct redirect){.status = record->status};
    if (record->target != NULL) {
        redirect->target = copy_text(digest, record->target, strlen(record->target));
        if (redirect->target == NULL)
            return -ENOMEM;
    }
    return table_add(&digest->redirects, url, redirect);
}

const char *digest_end_of_chain(const struct digest *digest, const char *url,
                                bool is_for_good)
{
    const char *end = NULL;

    for (int i = 0; i < LONGEST_CHAIN; i++) {
        const struct redirect *redirect = table_get(&digest->redirects, url);

        if (redirect == NULL || redirect->target == NULL ||
            (is_for_good && redirect->status != 301 && redirect->status != 308))
            break;
        end = url = redirect->target;
    }
    return end;
}

/* ---- verdicts ---------------------------------------------------------------------- */

static int count_total(struct digest *digest, const struct record_verdict *record)
{
    struct digest_total one = {.verdict = record->verdict,
                               .reason = record->reason,
                               .status =
                                   record->reason == REASON_STATUS ? record->status : 0,
                               .count = 1};

    for (size_t i = 0; i < digest->total_count; i++) {
        struct digest_total *total = &digest->totals[i];

        if (total->verdict == one.verdict && total->reason == one.reason &&
            total->status == one.status) {
            total->count++;
            return 0;
        }
    }
    if (digest->total_count == digest->total_capacity &&
        array_grow(&digest->totals, &digest->total_capacity, sizeof *digest->totals) < 0)
        return -ENOMEM;
    digest->totals[digest->total_count++] = one;
    return 0;
}

static bool is_finding(const struct options *options, const struct record_verdict *record)
{
    if (verdict_traits(record->verdict)->tone >= TONE_WARNING ||
        options->fail_on[record->verdict])
        return true;
    return record->verdict == VERDICT_REDIRECT && record->reason != REASON_TEMPORARY;
}

static enum finding_kind kind_of(const struct options *options, enum verdict verdict)
{
    if (options->fail_on[verdict])
        return FINDING_FAILS;
    return verdict == VERDICT_REDIRECT ? FINDING_MOVED : FINDING_WARNS;
}

/*
 * Return a copy of the message. Equal messages share one copy. Returns NULL if memory
 * runs out.
 */
static const char *store_message(struct digest *digest, const char *message)
{
    char *kept = table_get(&digest->messages, message);

    if (kept != NULL)
        return kept;
    kept = copy_text(digest, message, strlen(message));
    return kept != NULL && table_add(&digest->messages, kept, kept) == 0 ? kept : NULL;
}

static const char *store_target(struct digest *digest, const char *target)
{
    size_t n = strlen(target);
    char cut[LONGEST_TARGET + 4];

    if (n <= LONGEST_TARGET)
        return copy_text(digest, target, n);
    snprintf(cut, sizeof cut, "%.*s...", LONGEST_TARGET, target);
    return copy_text(digest, cut, LONGEST_TARGET + 3);
}

static int add_finding(struct digest *digest, const struct digest_slot *slot,
                       const struct record_verdict *record)
{
    struct finding finding = {.kind = kind_of(digest->options, record->verdict),
                              .verdict = record->verdict,
                              .reason = record->reason,
                              .status = record->status,
                              .is_known = record->is_known,
                              .links = slot->at,
                              .link_count = slot->link_count};

    if (digest->finding_count == digest->finding_capacity &&
        (digest->finding_count >= UINT32_MAX / 2 ||
         array_grow(&digest->findings, &digest->finding_capacity,
                    sizeof *digest->findings) < 0))
        return -ENOMEM;
    finding.target = store_target(digest, record->target);
    if (record->fragment != NULL)
        finding.fragment = store_target(digest, record->fragment);
    if (record->message != NULL)
        finding.message = store_message(digest, record->message);
    if (finding.target == NULL ||
        (record->fragment != NULL && finding.fragment == NULL) ||
        (record->message != NULL && finding.message == NULL))
        return -ENOMEM;
    digest->findings[digest->finding_count++] = finding;
    return 0;
}

/* Drop the links that are in the baseline, preserving the order of the others. */
static void drop_known_links(struct digest *digest, struct digest_slot *slot)
{
    uint32_t *at = &slot->at;
    size_t left = 0;

    while (*at > 0) {
        uint32_t link = *at;

        if (!digest->links[link].is_known) {
            at = &digest->links[link].before;
            left++;
            continue;
        }
        *at = digest->links[link].before;
        digest->links[link].before = 0;
        drop_links(digest, link);
    }
    slot->link_count = left < MANY_LINKS ? (uint32_t)left : MANY_LINKS;
}

static int add_verdict(void *arg, const struct record_verdict *record)
{
    struct digest *digest = arg;
    struct digest_slot *slot = slot_of(digest, record->target, record->fragment);
    int rc = slot != NULL ? count_total(digest, record) : -ENOMEM;

    if (rc < 0 || slot->state != SLOT_OPEN)
        return rc;
    if (record->is_known)
        drop_known_links(digest, slot);
    if (is_finding(digest->options, record)) {
        rc = add_finding(digest, slot, record);
        if (rc < 0)
            return rc; /* the slot remains OPEN */
        slot->at = (uint32_t)(digest->finding_count - 1);
        slot->state = SLOT_FINDING;
        return 0;
    }
    if (slot->at > 0)
        drop_links(digest, slot->at);
    slot->at = 0;
    slot->state = SLOT_OK;
    return 0;
}

/* ---- the others -------------------------------------------------------------------- */

static int add_answer(void *arg, const struct record_answer *record)
{
    return speed_add(&((struct digest *)arg)->speed, record);
}

static int set_summary(void *arg, const struct record_summary *record)
{
    ((struct digest *)arg)->summary = *record;
    return 0;
}

struct record_sink digest_sink(struct digest *digest)
{
    return (struct record_sink){.page = close_page,
                                .link = add_link_record,
                                .answer = add_answer,
                                .redirect = add_redirect,
                                .verdict = add_verdict,
                                .summary = set_summary,
                                .arg = digest};
}
