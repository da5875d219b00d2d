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

/* ---- meta refresh ------------------------------------------------------------------ */

static const char white_space[] = " \t\n\f\r";

/* Behind "url =", in any case and with any white space; or `s` if it is not there. */
static const char *skip_word_url(const char *s)
{
    const char *at = s + 3;

    if (strncasecmp(s, "url", 3) != 0)
        return s;
    at += strspn(at, white_space);
    if (*at != '=')
        return s;
    at++;
    return at + strspn(at, white_space);
}

/*
 * The URL in <meta http-equiv="refresh" content="0; url=there">, or NULL.
 * (HTML standard: shared declarative refresh steps)
 */
static const char *refresh_target(const GumboElement *element, struct arena *arena)
{
    const char *what = attribute(element, "http-equiv");
    const char *s = attribute(element, "content");
    char quote[2] = "", *target;
    size_t n;

    if (what == NULL || s == NULL || strcasecmp(what, "refresh") != 0)
        return NULL;
    s += strspn(s, white_space);
    n = strspn(s, "0123456789.");
    if (n == 0 || (s[n] != ';' && s[n] != ',' && strchr(white_space, s[n]) == NULL))
        return NULL;
    s += n;
    s += strspn(s, white_space);
    s += *s == ';' || *s == ',';
    s = skip_word_url(s + strspn(s, white_space));
    if (*s == '"' || *s == '\'')
        quote[0] = *s++;
    n = strcspn(s, quote);
    if (n == 0)
        return NULL;
    target = arena_allocate(arena, n + 1);
    memcpy(target, s, n);
    target[n] = '\0';
    return target;
}

/* ---- srcset ------------------------------------------------------------------------ */

/* Behind what follows a URL, "2x" or "100w", which may have commas in parentheses. */
static const char *skip_descriptors(const char *s)
{
    bool in_parentheses = false;

    for (; *s != '\0'; s++) {
        if (*s == '(')
            in_parentheses = true;
        else if (*s == ')')
            in_parentheses = false;
        else if (*s == ',' && !in_parentheses)
            return s + 1;
    }
    return s;
}

/* Each image of srcset="small.png, large.png 2x". (HTML standard: parse a srcset) */
static int visit_srcset(const char *s, struct arena *arena, links_visit visit, void *arg)
{
    int rc = 0;

    for (s += strspn(s, " \t\n\f\r,"); *s != '\0' && rc == 0;
         s += strspn(s, " \t\n\f\r,")) {
        size_t n = strcspn(s, white_space), url_n = n;
        char *url = arena_allocate(arena, n + 1);

        while (url_n > 0 && s[url_n - 1] == ',')
            url_n--;
        memcpy(url, s, url_n);
        url[url_n] = '\0';
        s += n;
        if (url_n == n)
            s = skip_descriptors(s);
        rc = visit(LINK_OTHER, url, arg);
    }
    return rc;
}

/* ---- what counts as a link --------------------------------------------------------- */

static const struct {
    GumboTag tag;
    const char *attributes[2];
} linking[] = {
    {GUMBO_TAG_A, {"href"}},      {GUMBO_TAG_AREA, {"href"}},
    {GUMBO_TAG_LINK, {"href"}},   {GUMBO_TAG_IMG, {"src", "srcset"}},
    {GUMBO_TAG_SCRIPT, {"src"}},  {GUMBO_TAG_IFRAME, {"src"}},
    {GUMBO_TAG_FRAME, {"src"}},   {GUMBO_TAG_VIDEO, {"src", "poster"}},
    {GUMBO_TAG_AUDIO, {"src"}},   {GUMBO_TAG_SOURCE, {"src", "srcset"}},
    {GUMBO_TAG_TRACK, {"src"}},   {GUMBO_TAG_EMBED, {"src"}},
    {GUMBO_TAG_OBJECT, {"data"}}, {GUMBO_TAG_FORM, {"action"}},
    {GUMBO_TAG_INPUT, {"src"}},
};

/* True for an attribute that is one of these words. */
static bool attribute_is(const GumboElement *element, const char *name, const char *one,
                         const char *other)
{
    const char *value = attribute(element, name);

    return value != NULL &&
           (strcasecmp(value, one) == 0 || strcasecmp(value, other) == 0);
}

/*
 * A <link rel="preconnect"> names a host to get ready and no resource; what a form is
 * posted to need not answer to GET; and of inputs, only images have a source.
 */
static bool names_no_resource(const GumboElement *element)
{
    switch (element->tag) {
    case GUMBO_TAG_LINK:
        return attribute_is(element, "rel", "preconnect", "dns-prefetch");
    case GUMBO_TAG_FORM:
        return attribute_is(element, "method", "post", "dialog");
    case GUMBO_TAG_INPUT:
        return !attribute_is(element, "type", "image", "image");
    default:
        return false;
    }
}

/* An empty <a href> leads to the page itself; elsewhere browsers take it for none. */
static int visit_attribute(const GumboElement *element, const char *name,
                           struct arena *arena, links_visit visit, void *arg)
{
    const char *value = attribute(element, name);
    bool may_be_empty = element->tag == GUMBO_TAG_A || element->tag == GUMBO_TAG_AREA;

    if (value == NULL || (*value == '\0' && !may_be_empty))
        return 0;
    if (strcmp(name, "srcset") == 0)
        return visit_srcset(value, arena, visit, arg);
    return visit(LINK_OTHER, value, arg);
}

static int visit_element(const GumboElement *element, struct arena *arena,
                         links_visit visit, void *arg)
{
    const char *target;
    int rc = 0;

    if (element->tag == GUMBO_TAG_META) {
        target = refresh_target(element, arena);
        return target != NULL ? visit(LINK_OTHER, target, arg) : 0;
    }
    for (size_t i = 0; i < sizeof linking / sizeof linking[0]; i++) {
        if (linking[i].tag != element->tag || names_no_resource(element))
            continue;
        for (size_t k = 0; k < 2 && linking[i].attributes[k] != NULL && rc == 0; k++)
            rc = visit_attribute(element, linking[i].attributes[k], arena, visit, arg);
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
