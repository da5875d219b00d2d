/*
 * sitemap_xml.c - parse sitemaps and feeds in XML.
 */
#include "sitemap_inside.h"

#include "../../base/array.h"
#include "../../base/ascii.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- xml:base ---------------------------------------------------------------------- */

#define BASE_BYTES_MAX 2048 /* maximum total size of all nested bases */

static const char *value_of_name(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/*
 * Append the xml:base of an element to the bases of the elements around it, to which it
 * is relative. (XML Base; RFC 4287, 2)
 */
static void enter_base(struct sitemap *sitemap, const char *const *attributes)
{
    const char *value = value_of_name(attributes, "xml:base");
    struct html_buffer *base = &sitemap->base;

    sitemap->base_n[sitemap->depth] = (uint32_t)base->n;
    if (value == NULL || base->n + strlen(value) + 1 > BASE_BYTES_MAX)
        return;
    sitemap->last_base = 0;
    if ((base->n > 0 && html_buffer_add(base, "\n", 1, SIZE_MAX) < 0) ||
        html_buffer_add(base, value, strlen(value), SIZE_MAX) < 0)
        sitemap_fail(sitemap, -ENOMEM);
}

static void leave_base(struct sitemap *sitemap)
{
    uint32_t n = sitemap->base_n[sitemap->depth];

    if (sitemap->base.n != n)
        sitemap->last_base = 0;
    sitemap->base.n = n;
}

uint32_t sitemap_store_base(struct sitemap *sitemap)
{
    bool is_feed = sitemap->root == SITEMAP_ATOM || sitemap->root == SITEMAP_RSS;

    if (sitemap->base.n == 0 || !is_feed || sitemap->last_base != 0)
        return is_feed ? sitemap->last_base : 0;
    if ((sitemap->bases.n == 0 &&
         html_buffer_add(&sitemap->bases, "", 1, SIZE_MAX) < 0) ||
        sitemap->bases.n > SITEMAP_BYTES) {
        sitemap_fail(sitemap, sitemap->bases.n > 0 ? -EMSGSIZE : -ENOMEM);
        return 0;
    }
    sitemap->last_base = (uint32_t)sitemap->bases.n;
    if (html_buffer_add(&sitemap->bases, sitemap->base.bytes, sitemap->base.n, SIZE_MAX) <
            0 ||
        html_buffer_add(&sitemap->bases, "", 1, SIZE_MAX) < 0)
        sitemap_fail(sitemap, -ENOMEM);
    return sitemap->last_base;
}

/* ---- XML --------------------------------------------------------------------------- */

/*
 * Return the place of expat's current token. Expat counts lines and columns from the
 * place in sitemap->counter.
 */
static struct html_position place_in_xml(const struct sitemap *sitemap)
{
    struct html_position begin = sitemap->counter.place;
    uint32_t line = (uint32_t)XML_GetCurrentLineNumber(sitemap->parser);
    uint32_t column = (uint32_t)XML_GetCurrentColumnNumber(sitemap->parser) + 1;

    return (struct html_position){begin.line + line - 1,
                                  line == 1 ? begin.column + column - 1 : column};
}

static const char *value_of(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(sitemap_local_name(attributes[0]), name) == 0)
            return attributes[1];
    return NULL;
}

static void store_attribute(struct sitemap *sitemap, size_t source, const char *value)
{
    size_t n;

    value += strspn(value, BLANK);
    n = strlen(value);
    while (n > 0 && sitemap_is_blank(value[n - 1]))
        n--;
    sitemap_store_url(sitemap, value, n < HTML_VALUE_BYTES ? n : HTML_VALUE_BYTES, source,
                      n > HTML_VALUE_BYTES, place_in_xml(sitemap));
}

/* True for a link to a hub (rel="hub"), which receives notifications and is not a page.
   (WebSub) */
static bool is_hub(const char *const *attributes)
{
    const char *rel = value_of(attributes, "rel");

    return rel != NULL && strcmp(rel, "hub") == 0;
}

static void begin_source(struct sitemap *sitemap, const char *name,
                         const char *const *attributes)
{
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        const struct source *source = &sources[i];
        const char *value;

        if ((source->roots >> sitemap->root & 1) == 0 || strcmp(source->name, name) != 0)
            continue;
        value =
            source->attribute != NULL ? value_of(attributes, source->attribute) : NULL;
        if (value != NULL && !is_hub(attributes))
            store_attribute(sitemap, i, value);
        if (source->attribute != NULL)
            continue;
        sitemap->source = (int)i;
        sitemap->has_text = false;
        html_buffer_clear(&sitemap->text);
    }
}

/*
 * True for the <loc> of a <url> or <sitemap>, which is at depth three. Only these URLs
 * count towards the protocol's limit.
 */
static bool is_listed(const struct sitemap *sitemap, const char *name)
{
    return sitemap->depth == 3 && strcmp(name, "loc") == 0;
}

static void on_start(void *arg, const char *qualified, const char **attributes)
{
    struct sitemap *sitemap = arg;
    const char *name = sitemap_local_name(qualified);

    sitemap->token_at = sitemap->total;
    sitemap->source = -1;
    if (sitemap->is_over)
        return;
    if (++sitemap->depth == 1)
        sitemap->root = sitemap_root_of_name(qualified, strlen(qualified));
    if (sitemap->depth <= DEPTH_MAX)
        enter_base(sitemap, attributes);
    if (sitemap->root == SITEMAP_OTHER || sitemap->root == SITEMAP_HTML)
        sitemap_stop(sitemap, "it is neither a sitemap nor a feed");
    else if (sitemap->depth > DEPTH_MAX)
        sitemap_stop(sitemap, "its elements are nested too deep");
    else if (!is_listed(sitemap, name) || sitemap_may_list(sitemap))
        begin_source(sitemap, name, attributes);
}

static void on_end(void *arg, const char *name)
{
    struct sitemap *sitemap = arg;

    (void)name;
    sitemap->token_at = sitemap->total;
    if (sitemap->source >= 0 && !sitemap->is_over)
        sitemap_store_text(sitemap, (size_t)sitemap->source);
    if (sitemap->depth <= DEPTH_MAX)
        leave_base(sitemap);
    sitemap->depth--;
    sitemap->source = -1;
}

static void on_text(void *arg, const char *text, int n)
{
    struct sitemap *sitemap = arg;

    sitemap->token_at = sitemap->total;
    if (sitemap->source < 0 || sitemap->is_over)
        return;
    sitemap_add_text(sitemap, text, (size_t)n,
                     sitemap->has_text ? sitemap->place : place_in_xml(sitemap));
}

/* Process all other tokens, such as comments and unknown references. */
static void on_other(void *arg, const char *text, int n)
{
    struct sitemap *sitemap = arg;

    (void)text;
    (void)n;
    sitemap->token_at = sitemap->total;
}

static void on_doctype(void *arg, const char *name, const char *system_id,
                       const char *public_id, int has_internal_subset)
{
    struct sitemap *sitemap = arg;

    (void)name;
    (void)system_id;
    (void)public_id;
    sitemap->token_at = sitemap->total;
    if (has_internal_subset)
        sitemap_stop(sitemap, "its document type has declarations, which are refused");
}

/*
 * Expat allocates memory with these functions, so that tests can make its allocations
 * fail.
 */
static void *allocate(size_t n)
{
    return malloc(n);
}

static void *reallocate(void *old, size_t n)
{
    return realloc(old, n);
}

static void release_memory(void *old)
{
    free(old);
}

void sitemap_begin_xml(struct sitemap *sitemap)
{
    static const XML_Memory_Handling_Suite memory = {allocate, reallocate,
                                                     release_memory};

    sitemap->form = XML;
    sitemap->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (sitemap->parser == NULL) {
        sitemap_fail(sitemap, -ENOMEM);
        return;
    }
    XML_SetUserData(sitemap->parser, sitemap);
    XML_SetElementHandler(sitemap->parser, on_start, on_end);
    XML_SetCharacterDataHandler(sitemap->parser, on_text);
    XML_SetDefaultHandler(sitemap->parser, on_other);
    XML_SetStartDoctypeDeclHandler(sitemap->parser, on_doctype);
}

void sitemap_process_xml(struct sitemap *sitemap, const char *bytes, size_t n,
                         bool is_final)
{
    char problem[PROBLEM_BYTES];
    enum XML_Error error;

    if (XML_Parse(sitemap->parser, bytes, (int)n, is_final) != XML_STATUS_ERROR) {
        if (sitemap->total - sitemap->token_at > TOKEN_BYTES)
            sitemap_stop(sitemap, "one of its tags or comments is too long");
        return;
    }
    error = XML_GetErrorCode(sitemap->parser);
    if (sitemap->is_over)
        return;
    if (error == XML_ERROR_NO_MEMORY) {
        sitemap_fail(sitemap, -ENOMEM);
        return;
    }
    snprintf(problem, sizeof problem, "line %u: %s", place_in_xml(sitemap).line,
             XML_ErrorString(error));
    sitemap_stop(sitemap, problem);
}
