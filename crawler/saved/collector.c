/* collector.c - see collector.h */
#include "collector.h"

#include "link_blob.h"
#include "page_blob.h"
#include "state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct collector {
    struct state *state;
    struct targets targets; /* the URLs in the file, with their numbers */
    size_t max_url_bytes;
    int64_t last;
    struct page_blob blob;
    /* the links of the page being added, with numbers instead of URLs */
    struct link_blob links;
};

/* ---- life cycle -------------------------------------------------------------------- */

static int add_url(void *arg, const struct store_url *url)
{
    struct collector *collector = arg;
    struct target *target;
    bool is_new;

    target = targets_get(&collector->targets, url->url, url->fragment_at, &is_new);
    if (target == NULL)
        return -ENOMEM;
    targets_known(&collector->targets, target)->number = url->id;
    return 0;
}

static int open_store(struct collector *collector, struct store *store)
{
    int rc = store_each_url(store, add_url, collector);

    collector->last = rc == 0 ? store_last_page(store) : 0;
    return collector->last < 0 ? (int)collector->last : rc;
}

int collector_create(struct store *store, size_t max_url_bytes, struct collector **out)
{
    struct collector *collector = calloc(1, sizeof *collector);
    int rc;

    *out = NULL;
    if (collector == NULL) {
        store_close(store);
        return -ENOMEM;
    }
    targets_init(&collector->targets, NULL);
    collector->max_url_bytes = max_url_bytes;
    collector->state = state_create(store, 0);
    rc = collector->state != NULL ? open_store(collector, store) : -ENOMEM;
    if (rc < 0) {
        collector_destroy(collector);
        return rc;
    }
    state_take_targets(collector->state, &collector->targets);
    *out = collector;
    return 0;
}

void collector_destroy(struct collector *collector)
{
    if (collector == NULL)
        return;
    state_destroy(collector->state);
    targets_finish(&collector->targets);
    page_blob_finish(&collector->blob);
    link_blob_finish(&collector->links);
    free(collector);
}

int64_t collector_last(const struct collector *collector)
{
    return collector->last;
}

const char *collector_message(const struct collector *collector)
{
    const char *message;

    return state_failure(collector->state, &message) < 0 ? message : NULL;
}

/* ---- a page ------------------------------------------------------------------------ */

static bool is_web(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

/*
 * Return the number of a URL, assigning one if necessary, or 0 for a URL that is not
 * followed, as in page_note_link(). If memory runs out, return 0 and set *rc to -ENOMEM.
 */
static uint32_t number_of(struct collector *collector, const struct url *url, int *rc)
{
    struct target *target;
    uint32_t number;
    bool is_new;

    if (url->kind != URL_WEB || url->n > collector->max_url_bytes || !is_web(url->href))
        return 0;
    target = targets_get(&collector->targets, url->href, url->fragment_at, &is_new);
    number = target != NULL ? state_number_of(collector->state, target) : 0;
    if (number == 0)
        *rc = -ENOMEM;
    return number;
}

static int add_link(const struct search_found *found, void *arg)
{
    struct collector *collector = arg;
    const struct url *url = found->url;
    uint32_t number = 0;
    int rc = 0;

    if (url != NULL)
        number = number_of(collector, url, &rc);
    if (rc == 0)
        link_blob_add(&collector->links, found, number, url != NULL ? url->href : NULL,
                      url != NULL ? url->n : 0);
    return rc;
}

/*
 * Reject numbers in links, because the links of answers from other machines must contain
 * URLs.
 */
static const char *reject_number(uint32_t number, size_t *fragment_at, void *arg)
{
    (void)number;
    (void)fragment_at;
    (void)arg;
    return NULL;
}

static int number_links(struct collector *collector, struct store_page *page)
{
    struct link_blob_reader reader = {reject_number, add_link, collector};
    int rc;

    link_blob_begin(&collector->links);
    if (page->links == NULL)
        return 0;
    rc = link_blob_read(page->links, page->links_n, &reader);
    if (rc == 0 && collector->links.bytes.failed)
        rc = -ENOMEM;
    page->links = collector->links.bytes.n > 0 ? collector->links.bytes.at : "";
    page->links_n = collector->links.bytes.n;
    return rc;
}

static int add_page(struct collector *collector, int64_t number)
{
    struct page_blob *blob = &collector->blob;
    struct target *target;
    bool is_new;
    int rc = number_links(collector, &blob->page);

    if (rc < 0)
        return rc;
    target = targets_get(&collector->targets, blob->url, blob->fragment_at, &is_new);
    if (target == NULL)
        return -ENOMEM;
    blob->page.number = number;
    return state_add(collector->state, target, &blob->page);
}

int collector_add(struct collector *collector, int64_t number, const void *bytes,
                  size_t n)
{
    int rc = page_blob_read(bytes, n, &collector->blob);

    if (rc == 0 && (number <= collector->last || !is_web(collector->blob.url)))
        rc = -EBADMSG;
    if (rc == 0)
        rc = add_page(collector, number);
    if (rc == 0)
        collector->last = number;
    return rc;
}

int collector_save(struct collector *collector)
{
    return state_save(collector->state);
}

int collector_finish(struct collector *collector, bool is_over)
{
    return state_finish(collector->state, is_over);
}
