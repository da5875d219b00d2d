/*
 * charset.c - see charset.h
 *
 * The encoding matters for links such as <a href="caf\xe9.html">: browsers request
 * caf%C3%A9.html, so coil-crawl must do the same. A page that declares an encoding is
 * converted with iconv(3) before it is searched, because in UTF-16, even tags could not
 * be found otherwise. A page without a declaration is searched unconverted, and meanwhile
 * checked for valid UTF-8.
 */
#include "charset.h"

#include "html/html_tokenizer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

/* ---- finding out ------------------------------------------------------------------- */

/*
 * Set the encoding to the one with this label, and return true. If browsers do not
 * support the label, only return false.
 */
static bool set_label(struct charset *charset, const char *label, size_t n)
{
    const char *name;

    for (; n > 0 && strchr(HTML_SPACE, *label) != NULL; label++)
        n--;
    while (n > 0 && strchr(HTML_SPACE, label[n - 1]) != NULL)
        n--;
    name = charset_name(label, n);
    if (name == NULL)
        return false;
    snprintf(charset->label, sizeof charset->label, "%s", name);
    return true;
}

/*
 * Find the label in "text/html; charset=label", with or without quotes. Returns false if
 * it is missing. (WHATWG: extracting a character encoding from a meta element)
 */
static bool find_label(const char *text, const char **label, size_t *n)
{
    for (const char *s = text; (s = strcasestr(s, "charset")) != NULL;) {
        s += strlen("charset");
        s += strspn(s, HTML_SPACE);
        if (*s != '=')
            continue;
        s++;
        s += strspn(s, HTML_SPACE);
        *n = strcspn(s, ";" HTML_SPACE);
        *label = s;
        if (*s != '"' && *s != '\'')
            return *n > 0;
        *label = s + 1;
        *n = strcspn(s + 1, *s == '"' ? "\"" : "'");
        return s[1 + *n] != '\0';
    }
    return false;
}

/* ---- <meta> ------------------------------------------------------------------------ */

/*
 * The state of a search for a <meta> that declares an encoding. (WHATWG: prescan a byte
 * stream to determine its encoding)
 */
struct prescan {
    struct charset charset;
    bool has_charset, is_pragma; /* properties of the current tag */
    /* the charset is from `content`, which is ignored without http-equiv */
    bool needs_pragma;
    /* the tag has a `charset` attribute, so its `content` is ignored */
    bool has_attribute;
};

static bool begin_meta(const struct html_name *name, bool is_end, void *arg)
{
    struct prescan *scan = arg;

    scan->has_charset = scan->is_pragma = scan->needs_pragma = false;
    scan->has_attribute = false;
    return !is_end && strcmp(name->bytes, "meta") == 0;
}

static bool wants_of_meta(const struct html_name *name, void *arg)
{
    (void)arg;
    return strcmp(name->bytes, "charset") == 0 || strcmp(name->bytes, "content") == 0 ||
           strcmp(name->bytes, "http-equiv") == 0;
}

static void add_label(struct prescan *scan, const char *label, size_t n)
{
    scan->has_charset = set_label(&scan->charset, label, n);
    /*
     * The declaration consists of ASCII bytes, so UTF-16 cannot be correct. (WHATWG:
     * prescan)
     */
    if (strncasecmp(scan->charset.label, "utf-16", 6) == 0)
        scan->charset.label[0] = '\0';
}

static int on_attribute(const struct html_name *name, const struct html_value *value,
                        void *arg)
{
    struct prescan *scan = arg;
    char text[CHARSET_HEAD_BYTES + 1];
    const char *label;
    size_t n = value->n;

    memcpy(text, value->bytes, n); /* at most CHARSET_HEAD_BYTES */
    text[n] = '\0';
    if (strcmp(name->bytes, "http-equiv") == 0) {
        scan->is_pragma = strcasecmp(text, "content-type") == 0;
    } else if (strcmp(name->bytes, "charset") == 0) {
        scan->has_attribute = true;
        scan->needs_pragma = false;
        add_label(scan, text, n);
    } else if (!scan->has_attribute && find_label(text, &label, &n)) {
        scan->needs_pragma = true;
        add_label(scan, label, n);
    }
    return 0;
}

/* Stop the tokenizer if the tag declares an encoding. */
static int end_meta(const struct html_name *name, bool is_end, bool is_self_closing,
                    void *arg)
{
    struct prescan *scan = arg;

    (void)name;
    (void)is_end;
    (void)is_self_closing;
    return scan->has_charset && (scan->is_pragma || !scan->needs_pragma) ? -EALREADY : 0;
}

/*
 * Find an encoding that a <meta> tag declares. Returns 1 if there is one, 0 if not, or
 * -ENOMEM.
 */
static int find_in_meta(const char *html, size_t n, struct charset *out)
{
    static const struct html_sink sink = {.tag = begin_meta,
                                          .wants = wants_of_meta,
                                          .attribute = on_attribute,
                                          .tag_end = end_meta};
    struct prescan scan = {.has_charset = false};
    struct html_tokenizer tokenizer;
    int rc;

    html_tokenizer_init(&tokenizer, &sink, &scan);
    rc = html_tokenizer_feed(&tokenizer, html,
                             n < CHARSET_HEAD_BYTES ? n : CHARSET_HEAD_BYTES);
    html_tokenizer_finish(&tokenizer);
    if (rc != -EALREADY)
        return rc == -ENOMEM ? rc : 0;
    *out = scan.charset;
    return 1;
}

/* ---- any --------------------------------------------------------------------------- */

static bool find_in_type(const char *content_type, struct charset *out)
{
    const char *label;
    size_t n;

    return content_type != NULL && find_label(content_type, &label, &n) &&
           set_label(out, label, n);
}

/* Find a byte order mark. */
static bool find_mark(const char *text, size_t n, struct charset *out)
{
    *out = (struct charset){.label = ""};
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        out->mark_bytes = 3;
    else if (n >= 2 && memcmp(text, "\xff\xfe", 2) == 0)
        *out = (struct charset){.label = "utf-16le", .mark_bytes = 2};
    else if (n >= 2 && memcmp(text, "\xfe\xff", 2) == 0)
        *out = (struct charset){.label = "utf-16be", .mark_bytes = 2};
    return out->mark_bytes > 0;
}

/*
 * Replace UTF-16 with UTF-8. The declaration consists of ASCII bytes, so UTF-16 cannot be
 * correct.
 */
static void replace_utf_16(struct charset *charset)
{
    if (strncasecmp(charset->label, "utf-16", 6) == 0)
        charset->label[0] = '\0';
}

/* Find <?xml version="1.0" encoding="..."?>. (HTML: get an XML encoding) */
static bool find_in_xml(const char *html, size_t n, struct charset *out)
{
    const char *end, *at, *quote;

    n = n < CHARSET_HEAD_BYTES ? n : CHARSET_HEAD_BYTES;
    if (n < 5 || memcmp(html, "<?xml", 5) != 0)
        return false;
    end = memchr(html, '>', n);
    at = end != NULL ? memmem(html, (size_t)(end - html), "encoding", 8) : NULL;
    if (at == NULL)
        return false;
    for (at += 8; at < end && (unsigned char)*at <= ' ';)
        at++;
    if (at == end || *at++ != '=')
        return false;
    while (at < end && (unsigned char)*at <= ' ')
        at++;
    if (at == end || (*at != '"' && *at != '\''))
        return false;
    quote = memchr(at + 1, *at, (size_t)(end - at - 1));
    if (quote == NULL || !set_label(out, at + 1, (size_t)(quote - at - 1)))
        return false;
    replace_utf_16(out);
    return true;
}

int charset_of(struct charset *charset, const char *content_type, const char *html,
               size_t n)
{
    int found = 1;

    if (!find_mark(html, n, charset) && !find_in_type(content_type, charset)) {
        found = find_in_meta(html, n, charset);
        if (found == 0)
            found = find_in_xml(html, n, charset);
    }
    charset->is_declared = found > 0;
    return found < 0 ? found : 0;
}

/*
 * Find @charset. A rule must begin exactly with `@charset "`, because it is not parsed as
 * CSS.
 */
static bool find_in_rule(const char *css, size_t n, struct charset *out)
{
    static const char rule[] = "@charset \"";
    size_t at = sizeof rule - 1;
    const char *quote;

    n = n < CHARSET_HEAD_BYTES ? n : CHARSET_HEAD_BYTES;
    if (n < at || memcmp(css, rule, at) != 0)
        return false;
    quote = memchr(css + at, '"', n - at);
    if (quote == NULL || quote + 1 == css + n || quote[1] != ';')
        return false;
    if (!set_label(out, css + at, (size_t)(quote - css) - at))
        return false;
    replace_utf_16(out);
    return true;
}

void charset_of_sheet(struct charset *charset, const char *content_type, const char *css,
                      size_t n)
{
    if (!find_mark(css, n, charset) && !find_in_type(content_type, charset))
        find_in_rule(css, n, charset);
    charset->is_declared = true;
}

bool charset_is_utf8(const struct charset *charset)
{
    return charset->label[0] == '\0';
}

/* ---- UTF-8 ------------------------------------------------------------------------- */

#define BLOCK 16

static bool is_ascii(const char *bytes)
{
    uint64_t words[2];

    memcpy(words, bytes, BLOCK);
    return ((words[0] | words[1]) & 0x8080808080808080) == 0;
}

static void check_byte(struct charset_check *check, unsigned char c)
{
    if (check->pending > 0) {
        check->failed |= (c & 0xc0) != 0x80;
        check->pending--;
    } else if (c >= 0x80) {
        check->failed |= c < 0xc2 || c > 0xf4;
        check->pending = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    }
}

void charset_check_utf8(struct charset_check *check, const char *text, size_t n)
{
    while (n > 0 && !check->failed) {
        if (check->pending == 0 && n >= BLOCK && is_ascii(text)) {
            text += BLOCK;
            n -= BLOCK;
            continue;
        }
        check_byte(check, (unsigned char)*text);
        text++;
        n--;
    }
}

/* ---- converting -------------------------------------------------------------------- */

#define PIECE_BYTES 1024

int charset_converter_open(struct charset_converter *converter,
                           const struct charset *charset)
{
    bool is_utf16 = strncasecmp(charset->label, "utf-16", 6) == 0;

    *converter = (struct charset_converter){.iconv = iconv_open("UTF-8", charset->label),
                                            .back = (iconv_t)-1,
                                            .unit = is_utf16 ? 2 : 1};
    if (converter->iconv == (iconv_t)-1)
        return errno == ENOMEM ? -ENOMEM : -EINVAL;
    if (is_utf16)
        return 0;
    converter->back = iconv_open(charset->label, "UTF-8");
    if (converter->back != (iconv_t)-1 || errno != ENOMEM)
        return 0;
    iconv_close(converter->iconv);
    return -ENOMEM;
}

void charset_converter_reset(struct charset_converter *converter)
{
    iconv(converter->iconv, NULL, NULL, NULL, NULL);
    converter->left_n = 0;
}

void charset_converter_close(struct charset_converter *converter)
{
    iconv_close(converter->iconv);
    if (converter->back != (iconv_t)-1)
        iconv_close(converter->back);
}

/*
 * Skip converter->unit bytes of an invalid sequence, and pass U+FFFD to take() instead.
 */
static int skip_invalid(const struct charset_converter *converter, char **text, size_t *n,
                        charset_take take, void *arg)
{
    size_t unit = converter->unit < *n ? converter->unit : *n;

    *text += unit;
    *n -= unit;
    return take("\xef\xbf\xbd", 3, arg);
}

/*
 * Convert the text up to an incomplete character at its end. Returns the number of bytes
 * of this character, or a negative error.
 */
static ssize_t convert(const struct charset_converter *converter, char *text, size_t n,
                       charset_take take, void *arg)
{
    int rc = 0;

    while (n > 0 && rc >= 0) {
        char piece[PIECE_BYTES], *to = piece;
        size_t room = sizeof piece;
        int error = 0;

        if (iconv(converter->iconv, &text, &n, &to, &room) == (size_t)-1)
            error = errno;
        if (to > piece)
            rc = take(piece, (size_t)(to - piece), arg);
        if (error == EINVAL)
            return rc < 0 ? rc : (ssize_t)n;
        if (error != 0 && error != E2BIG && rc >= 0)
            rc = skip_invalid(converter, &text, &n, take, arg);
    }
    return rc < 0 ? rc : 0;
}

/*
 * Append a byte to the incomplete character, and convert the character if it is now
 * complete.
 */
static int convert_left(struct charset_converter *converter, char byte, charset_take take,
                        void *arg)
{
    char *left = converter->left;
    ssize_t rest;
    int rc = 0;

    left[converter->left_n++] = byte;
    rest = convert(converter, left, converter->left_n, take, arg);
    if (rest < 0)
        return (int)rest;
    memmove(left, left + converter->left_n - (size_t)rest, (size_t)rest);
    converter->left_n = (size_t)rest;
    /* these bytes are invalid, because no character is so long */
    if (converter->left_n == sizeof converter->left) {
        rc = take("\xef\xbf\xbd", 3, arg);
        converter->left_n = 0;
    }
    return rc;
}

int charset_convert(struct charset_converter *converter, const char *text, size_t n,
                    charset_take take, void *arg)
{
    ssize_t rest = 0;
    int rc = 0;

    for (; converter->left_n > 0 && n > 0 && rc >= 0; text++, n--)
        rc = convert_left(converter, *text, take, arg);
    if (rc < 0)
        return rc;
    rest = convert(converter, (char *)text, n, take, arg);
    if (rest < 0)
        return (int)rest;
    text += n - (size_t)rest;
    for (; rest > 0 && rc >= 0; text++, rest--)
        rc = convert_left(converter, *text, take, arg);
    return rc;
}

int charset_convert_end(struct charset_converter *converter, charset_take take, void *arg)
{
    size_t left_n = converter->left_n;

    converter->left_n = 0;
    return left_n > 0 ? take("\xef\xbf\xbd", 3, arg) : 0;
}

/* ---- queries ----------------------------------------------------------------------- */

/*
 * Append the percent-encoded numeric reference, such as "&#9731;", of a character of n
 * bytes.
 */
static void add_by_number(struct text *out, const char *s, size_t n)
{
    char reference[sizeof "%26%23%3B" + 10];
    int length = snprintf(reference, sizeof reference, "%%26%%23%u%%3B",
                          (unsigned)text_utf8_point(s, n));

    text_add(out, reference, (size_t)length);
}

static void add_in_windows_1252(struct text *out, const char *s, size_t n)
{
    size_t length;

    for (; n > 0; s += length, n -= length) {
        bool is_valid;
        unsigned byte = 0x80;
        char c;

        length = text_utf8_length(s, n, &is_valid);
        while (byte <= 0xff &&
               html_windows_1252((unsigned char)byte) != text_utf8_point(s, length))
            byte++;
        c = (char)byte;
        if (byte <= 0xff)
            text_add_encoded(out, &c, 1, PERCENT_SPECIAL_QUERY);
        else
            add_by_number(out, s, length);
    }
}

/*
 * Call iconv(3) once, and append the result, percent-encoded. If `s` is NULL, reset the
 * converter. Returns 0, or the errno of iconv(3).
 */
static int add_converted(iconv_t back, struct text *out, char **s, size_t *n)
{
    char piece[PIECE_BYTES], *to = piece;
    size_t room = sizeof piece;
    int error = iconv(back, s, n, &to, &room) == (size_t)-1 ? errno : 0;

    text_add_encoded(out, piece, (size_t)(to - piece), PERCENT_SPECIAL_QUERY);
    return error;
}

static void add_in_encoding(iconv_t back, struct text *out, const char *s, size_t n)
{
    char *at = (char *)s;

    while (n > 0) {
        int error = add_converted(back, out, &at, &n);
        bool is_valid;
        size_t length;

        if (error == E2BIG)
            continue;
        add_converted(back, out, NULL, NULL);
        if (error == 0)
            return;
        length = text_utf8_length(at, n, &is_valid);
        add_by_number(out, at, length);
        at += length;
        n -= length;
    }
}

void charset_add_query(const struct charset_converter *converter, struct text *out,
                       const char *s, size_t n)
{
    const char *end = s + n;

    while (s < end) {
        const char *begin = s;

        while (s < end && (unsigned char)*s < 0x80)
            s++;
        text_add(out, begin, (size_t)(s - begin));
        begin = s;
        while (s < end && (unsigned char)*s >= 0x80)
            s++;
        if (converter == NULL)
            add_in_windows_1252(out, begin, (size_t)(s - begin));
        else if (converter->back != (iconv_t)-1)
            add_in_encoding(converter->back, out, begin, (size_t)(s - begin));
        else
            text_add(out, begin, (size_t)(s - begin));
    }
}
