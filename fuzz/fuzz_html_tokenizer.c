/*
 * fuzz_html_tokenizer.c - checks that the tokens of a page do not depend on the pieces in
 * which it arrives.
 *
 * The first byte of the input selects the tokenizer's initial state, the second byte the
 * wanted tokens, and the third byte the size of the pieces. The rest is the page. The
 * target also checks that a consumer that wants fewer tokens gets the same tags and
 * attributes.
 */
#include "fuzz.h"

#include "../crawler/page/html/html_tokenizer.h"

enum { TEXT = 1, CDATA = 2, CONTENTS = 4 };

struct record {
    struct html_tokenizer tokenizer;
    unsigned flags;
    struct html_buffer tags;   /* all tokens except text, with their positions */
    struct html_buffer tokens; /* all tokens, including text */
    size_t last_kind;
};

static void note(struct record *record, char kind, const char *bytes, size_t n)
{
    char separator[2] = {'\1', kind};
    size_t was = record->last_kind;

    CLAIM(n <= HTML_VALUE_BYTES);
    record->last_kind = (size_t)kind;
    if (kind != 't' || was != 't')
        html_buffer_add(&record->tokens, separator, 2, SIZE_MAX);
    html_buffer_add(&record->tokens, bytes, n, SIZE_MAX);
    if (kind == 't')
        return;
    html_buffer_add(&record->tags, separator, 2, SIZE_MAX);
    html_buffer_add(&record->tags, bytes, n, SIZE_MAX);
}

static void note_place(struct record *record, struct html_position place)
{
    CLAIM(place.line >= 1 && place.column >= 1);
    note(record, 'p', (const char *)&place, sizeof place);
}

static bool on_tag(const struct html_name *name, bool is_end, void *arg)
{
    note(arg, is_end ? 'e' : 's', name->bytes, name->n);
    return true;
}

static bool on_wants(const struct html_name *name, void *arg)
{
    (void)arg;
    CLAIM(name->n > 0);
    return name->bytes[0] != 'u';
}

static int on_attribute(const struct html_name *name, const struct html_value *value,
                        void *arg)
{
    char *decoded = malloc(3 * value->n + 1);
    size_t n = html_decode(value->bytes, value->n, decoded);

    note(arg, 'a', name->bytes, name->n);
    note(arg, value->cut ? 'c' : 'v', value->bytes, value->n);
    CLAIM(n <= 3 * value->n);
    note_place(arg, value->place);
    free(decoded);
    return 0;
}

static enum html_content content_of(char first)
{
    switch (first) {
    case 's':
        return HTML_SCRIPT;
    case 't':
        return HTML_RCDATA;
    case 'x':
        return HTML_RAWTEXT;
    case 'z':
        return HTML_PLAINTEXT;
    default:
        return HTML_DATA;
    }
}

static int on_tag_end(const struct html_name *name, bool is_end, bool is_self_closing,
                      void *arg)
{
    struct record *record = arg;

    note(record, is_self_closing ? '/' : '>', name->bytes, name->n);
    note_place(record, record->tokenizer.tag_place);
    if (!is_end && record->flags & CONTENTS)
        html_tokenizer_set_content(&record->tokenizer, content_of(name->bytes[0]),
                                   name->bytes);
    return 0;
}

static int on_text(const char *bytes, size_t n, void *arg)
{
    note(arg, 't', bytes, n);
    return 0;
}

static int on_comment(const char *bytes, size_t n, void *arg)
{
    note(arg, '!', bytes, n);
    return 0;
}

static int on_doctype(const struct html_doctype *doctype, void *arg)
{
    note(arg, doctype->force_quirks ? 'Q' : 'D', doctype->name.bytes, doctype->name.n);
    note(arg, 'P', doctype->public_id.bytes, doctype->public_id.n);
    note(arg, 'S', doctype->system_id.bytes, doctype->system_id.n);
    return 0;
}

static const struct html_sink sink = {on_tag,  on_wants,   on_attribute, on_tag_end,
                                      on_text, on_comment, on_doctype,   NULL};

static void feed(struct record *record, const uint8_t *page, size_t n, size_t piece)
{
    for (size_t at = 0; at < n; at += piece) {
        size_t part = n - at < piece ? n - at : piece;
        uint8_t *block = fuzz_bytes(page + at, part);
        CLAIM(html_tokenizer_feed(&record->tokenizer, (char *)block, part) == 0);
        free(block);
    }
    CLAIM(html_tokenizer_end(&record->tokenizer) == 0);
}

static void run(struct record *record, uint8_t begin, unsigned flags, const uint8_t *page,
                size_t n, size_t piece)
{
    *record = (struct record){.flags = flags};
    html_tokenizer_init(&record->tokenizer, &sink, record);
    html_tokenizer_set_content(&record->tokenizer, (enum html_content)(begin % 6),
                               "script");
    record->tokenizer.wants_text = flags & TEXT;
    record->tokenizer.allows_cdata = flags & CDATA;
    record->tokenizer.marks_tags = true;
    feed(record, page, n, piece);
    html_tokenizer_finish(&record->tokenizer);
}

static void finish(struct record *record)
{
    html_buffer_finish(&record->tags);
    html_buffer_finish(&record->tokens);
}

static bool same(const struct html_buffer *one, const struct html_buffer *other)
{
    return one->n == other->n &&
           (one->n == 0 || memcmp(one->bytes, other->bytes, one->n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    uint8_t begin = fuzz_byte(&in), flags = fuzz_byte(&in), piece = fuzz_byte(&in);
    struct record whole, pieces, bytes, silent;

    run(&whole, begin, flags | TEXT, in.at, in.left, in.left + 1);
    run(&pieces, begin, flags | TEXT, in.at, in.left, 2U + piece);
    run(&bytes, begin, flags | TEXT, in.at, in.left, 1);
    run(&silent, begin, flags & ~(unsigned)TEXT, in.at, in.left, 2U + piece);
    CLAIM(same(&whole.tokens, &pieces.tokens));
    CLAIM(same(&whole.tokens, &bytes.tokens));
    CLAIM(same(&whole.tags, &silent.tags));
    finish(&whole);
    finish(&pieces);
    finish(&bytes);
    finish(&silent);
    return 0;
}
