/*
 * links.c - finding links with libgumbo, an HTML5 parser.
 *
 * Four things about libgumbo (0.10) would let a hostile page end the crawler: it does
 * not check its allocations, it frees its tree recursively, and a page of a few
 * megabytes can make it ask for gigabytes or compute for hours. All of them go away with
 * an allocator of our own: memory is cut from large chunks and never freed singly, a
 * refusal jumps straight out of the parser, and the end of the parse drops the chunks.
 * For the same reason the walk through the tree does not recurse.
 */
#include "links.h"

#include <errno.h>
#include <gumbo.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- memory of one parse ----------------------------------------------------------- */

#define CHUNK_BYTES ((size_t)256 * 1024)

/* A parse may use this many bytes, and so many more for each byte of the page, in all. */
#define ARENA_BASE_BYTES ((size_t)16 * 1024 * 1024)
#define ARENA_BYTES_PER_BYTE 128
#define ARENA_MAX_BYTES ((size_t)1024 * 1024 * 1024)

/* Time is looked at once in so many allocations. */
#define ALLOCATIONS_PER_LOOK 1024
#define MAX_SECONDS 10

struct chunk {
    struct chunk *previous;
    size_t used, capacity;
    _Alignas(max_align_t) char bytes[];
};

struct arena {
    struct chunk *latest;
    size_t left; /* bytes that may still be taken from the system */
    size_t allocations;
    time_t deadline; /* of this thread's processor time, in seconds */
    int refusal;     /* a negative errno, on the way to: */
    jmp_buf refused;
};

static _Noreturn void refuse(struct arena *arena, int rc)
{
    arena->refusal = rc;
    longjmp(arena->refused, 1);
}

static void arena_finish(struct arena *arena)
{
    while (arena->latest != NULL) {
        struct chunk *chunk = arena->latest;
        arena->latest = chunk->previous;
        free(chunk);
    }
}

static struct chunk *add_chunk(struct arena *arena, size_t n)
{
    size_t capacity = n > CHUNK_BYTES ? n : CHUNK_BYTES;
    struct chunk *chunk = NULL;

    if (capacity <= arena->left)
        chunk = malloc(sizeof *chunk + capacity);
    if (chunk == NULL)
        refuse(arena, -ENOMEM);
    arena->left -= capacity;
    *chunk = (struct chunk){.previous = arena->latest, .capacity = capacity};
    arena->latest = chunk;
    return chunk;
}

static time_t processor_seconds(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec;
}

/* For libgumbo: never returns NULL, which it would not survive. */
static void *arena_allocate(void *context, size_t n)
{
    const size_t align = _Alignof(max_align_t);
    struct arena *arena = context;
    struct chunk *chunk = arena->latest;
    void *block;

    if (++arena->allocations % ALLOCATIONS_PER_LOOK == 0 &&
        processor_seconds() > arena->deadline)
        refuse(arena, -ETIME);
    n = (n + align - 1) & ~(align - 1);
    if (chunk == NULL || chunk->capacity - chunk->used < n)
        chunk = add_chunk(arena, n);
    block = chunk->bytes + chunk->used;
    chunk->used += n;
    return block;
}

static void arena_free(void *context, void *block)
{
    (void)context;
    (void)block;
}

/* ---- walking ----------------------------------------------------------------------- */

/* Children of a node; none for text and comments. A <template>'s content is inert. */
static const GumboVector *children(const GumboNode *node)
{
    static const GumboVector none;

    if (node->type == GUMBO_NODE_DOCUMENT)
        return &node->v.document.children;
    if (node->type == GUMBO_NODE_ELEMENT)
        return &node->v.element.children;
    return &none;
}

/* The node after this one in the order of the page, or NULL. */
static const GumboNode *following(const GumboNode *node)
{
    if (children(node)->length > 0)
        return children(node)->data[0];
    for (; node->parent != NULL; node = node->parent) {
        const GumboVector *siblings = children(node->parent);
        size_t next = node->index_within_parent + 1;
        if (next < siblings->length)
            return siblings->data[next];
    }
    return NULL;
}

static const char *attribute(const GumboElement *element, const char *name)
{
    const GumboAttribute *found = gumbo_get_attribute(&element->attributes, name);

    return found != NULL ? found->value : NULL;
}

/* ---- what counts as a link --------------------------------------------------------- */

static const struct {
    GumboTag tag;
    const char *attributes[2];
} linking[] = {
    {GUMBO_TAG_A, {"href"}},      {GUMBO_TAG_AREA, {"href"}},
    {GUMBO_TAG_LINK, {"href"}},   {GUMBO_TAG_IMG, {"src"}},
    {GUMBO_TAG_SCRIPT, {"src"}},  {GUMBO_TAG_IFRAME, {"src"}},
    {GUMBO_TAG_FRAME, {"src"}},   {GUMBO_TAG_VIDEO, {"src", "poster"}},
    {GUMBO_TAG_AUDIO, {"src"}},   {GUMBO_TAG_SOURCE, {"src"}},
    {GUMBO_TAG_TRACK, {"src"}},   {GUMBO_TAG_EMBED, {"src"}},
    {GUMBO_TAG_OBJECT, {"data"}},
};

/* <link rel="preconnect"> and "dns-prefetch" name a host to get ready, not a resource. */
static bool names_only_a_host(const GumboElement *element)
{
    const char *rel;

    if (element->tag != GUMBO_TAG_LINK)
        return false;
    rel = attribute(element, "rel");
    return rel != NULL &&
           (strcasecmp(rel, "preconnect") == 0 || strcasecmp(rel, "dns-prefetch") == 0);
}

/* The URL in <meta http-equiv="refresh" content="0; url=there">, or NULL. */
static const char *refresh_target(const GumboElement *element, struct arena *arena)
{
    const char *what = attribute(element, "http-equiv");
    const char *s = attribute(element, "content");
    size_t n;
    char *target;

    if (what == NULL || s == NULL || strcasecmp(what, "refresh") != 0)
        return NULL;
    s += strspn(s, " \t\r\n0123456789.");
    if (*s != ';' && *s != ',')
        return NULL;
    s += strspn(s, ";, \t\r\n");
    if (strncasecmp(s, "url", 3) == 0 && strchr("= \t\r\n", s[3]) != NULL)
        s += 3 + strspn(s + 3, "= \t\r\n");
    n = *s == '"' || *s == '\'' ? strcspn(s + 1, *s == '"' ? "\"" : "'") : strlen(s);
    if (n == 0)
        return NULL;
    target = arena_allocate(arena, n + 1);
    memcpy(target, *s == '"' || *s == '\'' ? s + 1 : s, n);
    target[n] = '\0';
    return target;
}

static int visit_element(const GumboElement *element, struct arena *arena,
                         links_visit visit, void *arg)
{
    const char *reference;
    int rc = 0;

    if (element->tag == GUMBO_TAG_META) {
        reference = refresh_target(element, arena);
        return reference != NULL ? visit(LINK_OTHER, reference, arg) : 0;
    }
    for (size_t i = 0; i < sizeof linking / sizeof linking[0]; i++) {
        if (linking[i].tag != element->tag || names_only_a_host(element))
            continue;
        for (size_t k = 0; k < 2 && linking[i].attributes[k] != NULL && rc == 0; k++) {
            reference = attribute(element, linking[i].attributes[k]);
            if (reference != NULL)
                rc = visit(LINK_OTHER, reference, arg);
        }
    }
    return rc;
}

/* The first <base> with an href counts for the whole page, wherever it stands. */
static int visit_base(const GumboNode *root, links_visit visit, void *arg)
{
    for (const GumboNode *node = root; node != NULL; node = following(node)) {
        const char *href;
        if (node->type != GUMBO_NODE_ELEMENT || node->v.element.tag != GUMBO_TAG_BASE)
            continue;
        href = attribute(&node->v.element, "href");
        if (href != NULL)
            return visit(LINK_BASE, href, arg);
    }
    return 0;
}

/* The arena lies in the caller's frame, since locals of this one do not outlast a jump.
 */
static int find_with(struct arena *arena, const char *html, size_t n, links_visit visit,
                     void *arg)
{
    GumboOptions options = kGumboDefaultOptions;
    const GumboNode *root;
    int rc;

    if (setjmp(arena->refused) != 0)
        return arena->refusal;
    options.allocator = arena_allocate;
    options.deallocator = arena_free;
    options.userdata = arena;
    options.max_errors = 0;
    root = gumbo_parse_with_options(&options, html, n)->document;
    rc = visit_base(root, visit, arg);
    for (const GumboNode *node = root; node != NULL && rc == 0; node = following(node))
        if (node->type == GUMBO_NODE_ELEMENT)
            rc = visit_element(&node->v.element, arena, visit, arg);
    return rc;
}

int links_find(const char *html, size_t n, links_visit visit, void *arg)
{
    struct arena arena = {.left = ARENA_BASE_BYTES + n * ARENA_BYTES_PER_BYTE,
                          .deadline = processor_seconds() + MAX_SECONDS};
    int rc;

    if (n >= UINT32_MAX)
        return -ENOMEM;
    if (arena.left > ARENA_MAX_BYTES)
        arena.left = ARENA_MAX_BYTES;
    rc = find_with(&arena, html, n, visit, arg);
    arena_finish(&arena);
    return rc;
}
