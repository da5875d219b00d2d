/*
 * markdown_mask.c - hide the parts of a Markdown text that are not Markdown.
 *
 *     lines --> fenced code: unchanged
 *           '-> "$$" at the beginning of a line, to a line that ends with "$$": a formula
 *           '-> paragraphs --> code spans: unchanged
 *                          '-> "$$x$$", "$x$": a formula
 *
 * In a formula, only punctuation that could form a link is hidden, because the id of a
 * heading contains the words of its formulas. GitHub's rules decide where formulas begin
 * and end: for example, "$5 or $6" is not a formula.
 */
#include "markdown_mask.h"

#include "../../base/ascii.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUN_MAX 64 /* maximum number of backticks at each end of a code span */

struct mask {
    const char *text;
    size_t n;
    char *copy; /* NULL until something is hidden */
    int rc;
    bool is_mdx;
    /* no MDX comment ends in the rest of the text; no "$$" block ends there */
    bool no_comment_end, no_display_end;
};

/* ---- masking ----------------------------------------------------------------------- */

static bool has_copy(struct mask *mask)
{
    if (mask->copy != NULL || mask->rc < 0)
        return mask->copy != NULL;
    mask->copy = malloc(mask->n);
    if (mask->copy == NULL)
        mask->rc = -ENOMEM;
    else
        memcpy(mask->copy, mask->text, mask->n);
    return mask->copy != NULL;
}

/* Replace everything except newlines with blanks. */
static void make_blank(struct mask *mask, size_t begin, size_t end)
{
    if (begin < end && has_copy(mask))
        for (size_t i = begin; i < end; i++)
            if (mask->copy[i] != '\n' && mask->copy[i] != '\r')
                mask->copy[i] = ' ';
}

static void mask_formula(struct mask *mask, size_t begin, size_t end)
{
    if (begin < end && has_copy(mask))
        for (size_t i = begin; i < end; i++)
            if (mask->copy[i] != '\0' && strchr("[]<>:@.", mask->copy[i]) != NULL)
                mask->copy[i] = ',';
}

/* ---- lines ------------------------------------------------------------------------- */

/* Return the end of the line at `at`, before its CR or LF. */
static size_t line_end(const struct mask *mask, size_t at)
{
    while (at < mask->n && mask->text[at] != '\n' && mask->text[at] != '\r')
        at++;
    return at;
}

/* Return the beginning of the next line after `at`. */
static size_t next_line(const struct mask *mask, size_t at)
{
    at = line_end(mask, at);
    if (at + 1 < mask->n && mask->text[at] == '\r' && mask->text[at + 1] == '\n')
        return at + 2;
    return at < mask->n ? at + 1 : at;
}

/* Skip blanks and quotation marks (">") at the beginning of a line. */
static size_t skip_indent(const struct mask *mask, size_t at, size_t end)
{
    while (at < end &&
           (mask->text[at] == ' ' || mask->text[at] == '\t' || mask->text[at] == '>'))
        at++;
    return at;
}

static size_t run_length(const struct mask *mask, size_t at, size_t end)
{
    size_t n = 0;

    while (at + n < end && mask->text[at + n] == mask->text[at])
        n++;
    return n;
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Skip the mark of a list item ("-" or "1.") and its blank, if there is one. */
static size_t skip_list_mark(const struct mask *mask, size_t at, size_t end)
{
    size_t digits = at;

    while (digits < end && is_digit(mask->text[digits]))
        digits++;
    if (digits + 1 < end && mask->text[digits + 1] == ' ' &&
        is_one_of(mask->text[digits], digits > at ? ".)" : "-*+"))
        return skip_indent(mask, digits + 1, end);
    return at;
}

/*
 * If the line opens fenced code, return the length of its fence, at least three.
 * Otherwise return 0.
 */
static size_t fence_at(const struct mask *mask, size_t line, size_t end, char *mark)
{
    size_t at = skip_list_mark(mask, skip_indent(mask, line, end), end), n;

    if (at == end || (mask->text[at] != '`' && mask->text[at] != '~'))
        return 0;
    n = run_length(mask, at, end);
    *mark = mask->text[at];
    if (*mark == '`' && memchr(mask->text + at + n, '`', end - at - n) != NULL)
        return 0; /* a code span */
    return n >= 3 ? n : 0;
}

/* Skip fenced code whose opening fence is the line at `at`. */
static size_t skip_fence(const struct mask *mask, size_t at, char mark, size_t n)
{
    while ((at = next_line(mask, at)) < mask->n) {
        size_t end = line_end(mask, at);
        size_t text = skip_indent(mask, at, end);

        if (text < end && mask->text[text] == mark && run_length(mask, text, end) >= n &&
            skip_indent(mask, text + run_length(mask, text, end), end) == end)
            return next_line(mask, at);
    }
    return at;
}

/* ---- formulas ---------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* True if the "$" at `at` may begin a formula. False in a price, a word or a URL. */
static bool opens_formula(const struct mask *mask, size_t at, size_t begin, size_t end)
{
    char before = at > begin ? mask->text[at - 1] : ' ';
    char behind = at + 1 < end ? mask->text[at + 1] : ' ';

    return !is_blank(behind) && behind != '$' &&
           (is_blank(before) || (before & 0x80) != 0 ||
            is_one_of(before, "([{\"'*_~,;:.-|>!"));
}

static bool closes_formula(const struct mask *mask, size_t at, size_t end)
{
    char before = mask->text[at - 1];
    char behind = at + 1 < end ? mask->text[at + 1] : ' ';

    return !is_blank(before) && (is_blank(behind) || (behind & 0x80) != 0 ||
                                 is_one_of(behind, ")]}\"'*_~,;:.-|<!?"));
}

/*
 * Return the offset of the "$" that ends the formula beginning at `at`, or `end` if there
 * is none.
 */
static size_t find_closing(const struct mask *mask, size_t at, size_t end)
{
    for (at += 1; at < end; at++) {
        if (mask->text[at] == '\\')
            at++;
        else if (mask->text[at] == '$' && closes_formula(mask, at, end))
            return at;
    }
    return end;
}

static size_t find_double(const struct mask *mask, size_t at, size_t end)
{
    for (; at + 1 < end; at++) {
        if (mask->text[at] == '\\')
            at++;
        else if (mask->text[at] == '$' && mask->text[at + 1] == '$')
            return at;
    }
    return end;
}

/*
 * Closing marks that do not occur in the rest of a paragraph, and need not be searched
 * for again.
 */
struct absent {
    bool closing, closing_double, run[RUN_MAX + 1];
};

/*
 * Return the offset after the code span that begins at `at`, or after the backticks there
 * if they do not begin a code span.
 */
static size_t skip_code(const struct mask *mask, size_t at, size_t end,
                        struct absent *absent)
{
    size_t n = run_length(mask, at, end), next = at + n;

    if (n > RUN_MAX || absent->run[n])
        return next;
    for (size_t i = next; i < end; i++) {
        size_t length;

        if (mask->text[i] != '`')
            continue;
        length = run_length(mask, i, end);
        if (length == n)
            return i + n;
        i += length - 1;
    }
    absent->run[n] = true;
    return next;
}

/*
 * If a formula begins at `at`, hide it and return the offset after it. Otherwise return
 * the offset after the "$".
 */
static size_t hide_formula(struct mask *mask, size_t at, size_t begin, size_t end,
                           struct absent *absent)
{
    bool is_double = at + 1 < end && mask->text[at + 1] == '$';
    size_t close;

    if (is_double && !absent->closing_double) {
        close = find_double(mask, at + 2, end);
        absent->closing_double = close == end;
        if (close < end) {
            mask_formula(mask, at + 2, close);
            return close + 2;
        }
    }
    if (is_double)
        return at + 2;
    if (absent->closing || !opens_formula(mask, at, begin, end))
        return at + 1;
    close = find_closing(mask, at, end);
    absent->closing = close == end;
    mask_formula(mask, at + 1, close < end ? close : at + 1);
    return close < end ? close + 1 : at + 1;
}

/*
 * If an MDX comment begins at `at`, hide it and return the offset after it. Otherwise
 * return 0.
 */
static size_t hide_mdx_comment(struct mask *mask, size_t at, size_t end)
{
    const char *close;

    if (!mask->is_mdx || mask->no_comment_end || end - at < 3 ||
        memcmp(mask->text + at, "{/*", 3) != 0)
        return 0;
    close = memmem(mask->text + at + 3, mask->n - at - 3, "*/}", 3);
    mask->no_comment_end = close == NULL;
    if (close == NULL)
        return 0;
    end = (size_t)(close - mask->text) + 3;
    make_blank(mask, at, end);
    return end;
}

static void mask_paragraph(struct mask *mask, size_t begin, size_t end)
{
    struct absent absent = {.closing = false};
    size_t at = begin, behind;

    while (at < end && mask->rc == 0) {
        char c = mask->text[at];

        if (c == '\\')
            at += 2;
        else if (c == '`')
            at = skip_code(mask, at, end, &absent);
        else if (c == '$')
            at = hide_formula(mask, at, begin, end, &absent);
        else if (c == '{' && (behind = hide_mdx_comment(mask, at, end)) > 0)
            at = behind;
        else
            at++;
    }
}

static bool ends_line(const struct mask *mask, size_t at)
{
    while (at < mask->n && (mask->text[at] == ' ' || mask->text[at] == '\t'))
        at++;
    return at >= mask->n || mask->text[at] == '\n' || mask->text[at] == '\r';
}

/*
 * If the line begins with "$$", hide this formula, which continues to a line that ends
 * with "$$", even after empty lines. Returns the offset after the formula, or 0 if there
 * is none.
 */
static size_t hide_display(struct mask *mask, size_t line, size_t end)
{
    size_t at = skip_indent(mask, line, end), close;

    if (mask->no_display_end || end - at < 2 || memcmp(mask->text + at, "$$", 2) != 0)
        return 0;
    close = find_double(mask, at + 2, mask->n);
    while (close < mask->n && !ends_line(mask, close + 2))
        close = find_double(mask, close + 2, mask->n);
    mask->no_display_end = close == mask->n;
    if (close == mask->n)
        return 0;
    mask_formula(mask, at + 2, close);
    return next_line(mask, close);
}

/* ---- whole ------------------------------------------------------------------------- */

static bool begins_module_line(const struct mask *mask, size_t at, size_t end)
{
    size_t n = end - at;

    return mask->is_mdx && n > 7 &&
           (memcmp(mask->text + at, "import", 6) == 0 ||
            memcmp(mask->text + at, "export", 6) == 0) &&
           is_one_of(mask->text[at + 6], " {*\"'");
}

static void end_paragraph(struct mask *mask, size_t begin, size_t end)
{
    if (begin == end)
        return;
    if (begins_module_line(mask, begin, line_end(mask, begin)))
        make_blank(mask, begin, end);
    else
        mask_paragraph(mask, begin, end);
}

static void mask_lines(struct mask *mask, size_t at)
{
    size_t paragraph = at, behind;
    char mark = '\0';

    while (at < mask->n && mask->rc == 0) {
        size_t end = line_end(mask, at), fence = fence_at(mask, at, end, &mark);

        behind = fence > 0 ? skip_fence(mask, at, mark, fence) : 0;
        if (behind == 0)
            behind = hide_display(mask, at, end);
        if (behind == 0 && skip_indent(mask, at, end) < end) {
            at = next_line(mask, at);
            continue;
        }
        end_paragraph(mask, paragraph, at);
        at = paragraph = behind > 0 ? behind : next_line(mask, at);
    }
    end_paragraph(mask, paragraph, mask->n);
}

/*
 * Return the length of the front matter, from "---" to "---" or "...", or 0 if there is
 * none.
 */
static size_t front_matter(const struct mask *mask)
{
    const char *text = mask->text;
    size_t at = mask->n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    size_t end = line_end(mask, at);

    if (end - at != 3 || memcmp(text + at, "---", 3) != 0)
        return 0;
    while (end < mask->n) {
        at = end + 1;
        end = line_end(mask, at);
        if (end - at == 3 &&
            (memcmp(text + at, "---", 3) == 0 || memcmp(text + at, "...", 3) == 0))
            return end;
    }
    return 0;
}

int markdown_mask(const char *text, size_t n, bool is_mdx, char **copy)
{
    struct mask mask = {.text = text, .n = n, .is_mdx = is_mdx};
    size_t front = front_matter(&mask);

    make_blank(&mask, 0, front);
    if (is_mdx || memchr(text + front, '$', n - front) != NULL)
        mask_lines(&mask, front);
    *copy = mask.rc == 0 ? mask.copy : NULL;
    if (mask.rc < 0)
        free(mask.copy);
    return mask.rc;
}
