/*
 * toml.c - see toml.h. (Debian 12 does not have a C library for TOML.)
 *
 * This is a recursive-descent parser, whose functions are named after parts of the
 * grammar (toml.io/en/v1.0.0). Strings are decoded in place, because no escape is shorter
 * than the character that it represents.
 *
 * Start reading at toml_read() and read_pair().
 */
#include "toml.h"

#include "../base/ascii.h"
#include "../base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_BYTES 64

struct reader {
    char *at; /* rest of the text, with a single NUL at its end */
    unsigned line;
    struct toml_mistake *mistake;
    int (*take)(void *arg, const struct toml_value *value);
    void *arg;
};

static int syntax_error(struct reader *reader, const char *what)
{
    *reader->mistake = (struct toml_mistake){what, reader->line};
    return -EINVAL;
}

/* ---- between values ---------------------------------------------------------------- */

/* Return the length of LF or CR LF, or 0. */
static size_t newline_length(const char *at)
{
    return at[0] == '\n' ? 1 : at[0] == '\r' && at[1] == '\n' ? 2 : 0;
}

static bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t");
}

/* Skip blanks and a comment, up to the end of the line. */
static int skip_comment(struct reader *reader)
{
    skip_blanks(reader);
    if (*reader->at != '#')
        return 0;
    while (*reader->at != '\0' && newline_length(reader->at) == 0)
        if (is_control(*reader->at++))
            return syntax_error(reader, "a control character");
    return 0;
}

/* Skip a newline. Returns false if the next character is not a newline. */
static bool skip_newline(struct reader *reader)
{
    size_t n = newline_length(reader->at);

    reader->at += n;
    reader->line += n > 0;
    return n > 0;
}

static int skip_lines(struct reader *reader)
{
    int rc;

    do
        rc = skip_comment(reader);
    while (rc == 0 && skip_newline(reader));
    return rc;
}

/* ---- strings ----------------------------------------------------------------------- */

/*
 * Write a code point as UTF-8, and advance *to. Returns false if the code point is
 * invalid.
 */
static bool put_point(char **to, uint32_t point)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    int n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

    if (point == 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return false;
    for (int i = n - 1; i > 0; i--, point >>= 6)
        (*to)[i] = (char)(0x80 | (point & 0x3f));
    (*to)[0] = (char)(first[n] | point);
    *to += n;
    return true;
}

/*
 * Read the digits of an escape such as "\u00e9" or "\U0001f600". `digits` is their
 * number.
 */
static int read_point(struct reader *reader, int digits, char **to)
{
    uint32_t point = 0;

    for (int i = 0; i < digits; i++) {
        int value = hex_value(*reader->at);
        if (value < 0)
            return syntax_error(reader, "an escape that TOML does not have");
        point = point << 4 | (uint32_t)value;
        reader->at++;
    }
    return put_point(to, point)
               ? 0
               : syntax_error(reader, "an escape that is not a character");
}

/*
 * If the backslash is at the end of its line, skip white space and newlines up to the
 * next text. Otherwise return false.
 */
static bool skip_line_end(struct reader *reader)
{
    const char *at = reader->at + strspn(reader->at, " \t");

    if (newline_length(at) == 0)
        return false;
    do
        skip_blanks(reader);
    while (skip_newline(reader));
    return true;
}

/* Read the text after a backslash. */
static int read_escape(struct reader *reader, bool may_span, char **to)
{
    static const char names[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
    const char *found;
    char letter;

    if (may_span && skip_line_end(reader))
        return 0;
    letter = *reader->at;
    found = letter != '\0' ? strchr(names, letter) : NULL;
    if (found == NULL && letter != 'u' && letter != 'U')
        return syntax_error(reader, "an escape that TOML does not have");
    reader->at++;
    if (found == NULL)
        return read_point(reader, letter == 'u' ? 4 : 8, to);
    *(*to)++ = values[found - names];
    return 0;
}

/*
 * Read quotes in a multi-line string. Three quotes end the string. One or two quotes are
 * text, and may precede these three. Returns true if the string ends.
 */
static bool read_quotes(struct reader *reader, char quote, char **to)
{
    size_t n = strspn(reader->at, (char[]){quote, '\0'});
    bool is_end = n >= 3;
    size_t own = n > 5 ? 2 : is_end ? n - 3 : n;

    memset(*to, quote, own);
    *to += own;
    reader->at += is_end ? own + 3 : own;
    return is_end;
}

static bool ends_string(struct reader *reader, char quote, bool may_span, char **to)
{
    if (may_span)
        return read_quotes(reader, quote, to);
    reader->at++;
    return true;
}

/* Read one character of a string, or a newline. */
static int read_character(struct reader *reader, char quote, bool may_span, char **to)
{
    char c = *reader->at;
    size_t newline = newline_length(reader->at);

    if (c == '\0' || (newline > 0 && !may_span))
        return syntax_error(reader, "a string without an end");
    if (newline > 0) {
        skip_newline(reader);
        *(*to)++ = '\n';
        return 0;
    }
    if (is_control(c))
        return syntax_error(reader, "a control character");
    reader->at++;
    if (c == '\\' && quote == '"')
        return read_escape(reader, may_span, to);
    *(*to)++ = c;
    return 0;
}

static int read_string(struct reader *reader, bool may_span, const char **out)
{
    char quote = *reader->at, *to;
    int rc;

    may_span = may_span && reader->at[1] == quote && reader->at[2] == quote;
    reader->at += may_span ? 3 : 1;
    if (may_span)
        skip_newline(reader);
    *out = to = reader->at;
    while (*reader->at != quote || !ends_string(reader, quote, may_span, &to)) {
        if (*reader->at == quote)
            continue;
        rc = read_character(reader, quote, may_span, &to);
        if (rc < 0)
            return rc;
    }
    *to = '\0';
    return 0;
}

/* ---- numbers ----------------------------------------------------------------------- */

/*
 * Copy digits to *to, omitting underscores between them. Returns false if they are
 * invalid.
 */
static bool read_digits(const char **at, int base, char **to)
{
    const char *s = *at;

    for (;; s++) {
        int value = hex_value(*s);
        if (value < 0 || value >= base)
            return false;
        *(*to)++ = *s;
        if (s[1] == '_')
            s++;
        else if (hex_value(s[1]) < 0 || hex_value(s[1]) >= base)
            break;
    }
    *at = s + 1;
    return true;
}

/* Convert a number such as "0x1f", "0o17" or "0b101" to decimal digits. */
static bool read_in_base(const char *at, char to[NUMBER_BYTES])
{
    int base = at[1] == 'x' ? 16 : at[1] == 'o' ? 8 : 2;
    char digits[NUMBER_BYTES], *end = digits;
    uint64_t number = 0;

    at += 2;
    if (!read_digits(&at, base, &end) || *at != '\0')
        return false;
    for (const char *c = digits; c < end; c++) {
        if (number > (uint64_t)INT64_MAX / (uint64_t)base)
            return false;
        number = number * (uint64_t)base + (uint64_t)hex_value(*c);
    }
    snprintf(to, NUMBER_BYTES, "%" PRIu64, number);
    return number <= INT64_MAX;
}

/* Read a number such as "10", "-1", "1_000", "0.5" or "1e3". */
static bool read_decimal(const char *at, char to[NUMBER_BYTES])
{
    const char *whole;

    if (*at == '-')
        *to++ = '-';
    at += *at == '-' || *at == '+';
    whole = at;
    if (!read_digits(&at, 10, &to) || (*whole == '0' && at - whole > 1))
        return false;
    if (*at == '.') {
        *to++ = *at++;
        if (!read_digits(&at, 10, &to))
            return false;
    }
    if (*at == 'e' || *at == 'E') {
        *to++ = *at++;
        if (*at == '-' || *at == '+')
            *to++ = *at++;
        if (!read_digits(&at, 10, &to))
            return false;
    }
    *to = '\0';
    return *at == '\0';
}

/* Read a value without quotes: true, false or a number. */
static int read_word(struct reader *reader, char number[NUMBER_BYTES],
                     struct toml_value *value)
{
    char word[NUMBER_BYTES];
    size_t n = strcspn(reader->at, " \t\r\n,]#");
    bool is_based;

    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1),
             reader->at);
    if (n == 0)
        return syntax_error(reader, "there is no value");
    value->kind = strcmp(word, "true") == 0 || strcmp(word, "false") == 0 ? TOML_BOOLEAN
                                                                          : TOML_NUMBER;
    is_based = word[0] == '0' && word[1] != '\0' && strchr("xob", word[1]) != NULL;
    value->text = number;
    if (value->kind == TOML_BOOLEAN)
        memcpy(number, word, sizeof word);
    else if (n >= sizeof word ||
             !(is_based ? read_in_base(word, number) : read_decimal(word, number)))
        return syntax_error(reader,
                            "neither a number, true nor false: a text needs quotes");
    reader->at += n;
    return 0;
}

/* ---- values ------------------------------------------------------------------------ */

/* Read a value that is not a list, and pass it to take(). */
static int read_value(struct reader *reader, struct toml_value value)
{
    char number[NUMBER_BYTES];
    int rc;

    value.line = reader->line;
    if (*reader->at == '{')
        return syntax_error(reader, "a table: options have none");
    if (*reader->at == '[')
        return syntax_error(reader, "a list in a list");
    if (*reader->at == '"' || *reader->at == '\'')
        rc = read_string(reader, true, &value.text);
    else
        rc = read_word(reader, number, &value);
    return rc == 0 ? reader->take(reader->arg, &value) : rc;
}

/* Read the rest of a list after '['. */
static int read_list(struct reader *reader, struct toml_value value)
{
    int rc = skip_lines(reader);
    size_t count = 0;

    value.in_list = true;
    for (; rc == 0 && *reader->at != ']'; count++) {
        value.is_first = count == 0;
        rc = read_value(reader, value);
        if (rc == 0)
            rc = skip_lines(reader);
        if (rc == 0 && *reader->at == ',') {
            reader->at++;
            rc = skip_lines(reader);
        } else if (rc == 0 && *reader->at != ']') {
            rc = syntax_error(reader, "neither a comma nor the end of the list");
        }
    }
    if (rc < 0)
        return rc;
    reader->at++;
    value.line = reader->line;
    return count > 0 ? 0 : reader->take(reader->arg, &value);
}

/* Read a key, up to '='. */
static int read_key(struct reader *reader, const char **key)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-";
    bool is_quoted = *reader->at == '"' || *reader->at == '\'';
    char *end;
    int rc = 0;

    *key = reader->at;
    if (is_quoted)
        rc = read_string(reader, false, key);
    else
        reader->at += strspn(reader->at, bare);
    end = reader->at;
    if (rc < 0)
        return rc;
    if (*key == end)
        return syntax_error(reader, *end == '[' ? "a table: options have none"
                                                : "there is no name before \"=\"");
    skip_blanks(reader);
    if (*reader->at == '.')
        return syntax_error(reader, "a name with a dot in it: options have no tables");
    if (*reader->at != '=')
        return syntax_error(reader, "there is no \"=\" after the name");
    reader->at++;
    if (!is_quoted)
        *end = '\0';
    return 0;
}

/* Read a pair "key = value", up to the end of its last line. */
static int read_pair(struct reader *reader)
{
    struct toml_value value = {.kind = TOML_STRING, .is_first = true};
    int rc = read_key(reader, &value.key);

    if (rc < 0)
        return rc;
    skip_blanks(reader);
    if (*reader->at == '[') {
        reader->at++;
        rc = read_list(reader, value);
    } else {
        rc = read_value(reader, value);
    }
    if (rc == 0)
        rc = skip_comment(reader);
    if (rc == 0 && *reader->at != '\0' && !skip_newline(reader))
        rc = syntax_error(reader, "there is text after the value");
    return rc;
}

/* ---- a file ------------------------------------------------------------------------ */

/* Check that the file is valid UTF-8 without NULs. Returns 0 or an error. */
static int check_bytes(struct reader *reader, const char *text, size_t n)
{
    for (size_t i = 0, length; i < n; i += length) {
        bool is_valid = true;

        length = text_utf8_length(text + i, n - i, &is_valid);
        if (!is_valid)
            return syntax_error(reader, "not UTF-8");
        if (text[i] == '\0')
            return syntax_error(reader, "a NUL byte");
        reader->line += text[i] == '\n';
    }
    reader->line = 1;
    return 0;
}

int toml_read(char *text, size_t n,
              int (*take)(void *arg, const struct toml_value *value), void *arg,
              struct toml_mistake *mistake)
{
    struct reader reader = {text, 1, mistake, take, arg};
    int rc;

    *mistake = (struct toml_mistake){NULL, 0};
    rc = check_bytes(&reader, text, n);
    if (rc == 0 && n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        reader.at += 3;
    while (rc == 0 && (rc = skip_lines(&reader)) == 0 && *reader.at != '\0')
        rc = read_pair(&reader);
    return rc;
}
