/*
 * fuzz_escape.c - escapes a text for each report format, and checks that parsing the
 * result returns the same text and that no character of the text has a special meaning.
 */
#include "fuzz.h"

#include "../crawler/base/text.h"
#include "../crawler/report/escape.h"

#include <jansson.h>

static void add(void *to, const char *piece, size_t n)
{
    text_add(to, piece, n);
}

/* Return the escaped text. The caller frees it. */
static char *escaped(void (*escape)(const char *text, escape_put put, void *to),
                     const char *text)
{
    struct text got = {0};
    char *whole;

    escape(text, add, &got);
    whole = text_take(&got);
    CLAIM(whole != NULL);
    return whole;
}

/* Decode character references such as "&#60;", in place. */
static void decode_references(char *text)
{
    char *to = text;

    while (*text != '\0') {
        if (strncmp(text, "&#", 2) != 0) {
            *to++ = *text++;
            continue;
        }
        *to++ = (char)strtol(text + 2, &text, 10);
        text += *text == ';';
    }
    *to = '\0';
}

static void check_references(void (*escape)(const char *text, escape_put put, void *to),
                             const char *text, const char *plain, const char *marks)
{
    char *got = escaped(escape, text);

    CLAIM(strpbrk(got, marks) == NULL);
    for (const char *at = got; (at = strchr(at, '&')) != NULL; at++)
        CLAIM(at[1] == '#');
    decode_references(got);
    CLAIM(strcmp(got, plain) == 0);
    free(got);
}

/* Parse a JSON string. The caller frees the result. */
static char *parse(const char *escaped_text)
{
    size_t n = strlen(escaped_text);
    char *quoted = malloc(n + 3), *text;
    json_t *value;

    CLAIM(quoted != NULL);
    snprintf(quoted, n + 3, "\"%s\"", escaped_text);
    value = json_loads(quoted, JSON_DECODE_ANY, NULL);
    CLAIM(json_is_string(value));
    text = strdup(json_string_value(value));
    json_decref(value);
    free(quoted);
    return text;
}

/* Decode the escapes of a SARIF message: backslashes and doubled braces. */
static void decode_message(char *text)
{
    char *to = text;

    for (; *text != '\0'; text++) {
        if (*text == '\\')
            text++;
        else
            CLAIM(*text != '[' && *text != ']');
        if (*text == '{' || *text == '}') {
            CLAIM(text[1] == *text);
            text++;
        }
        *to++ = *text;
    }
    *to = '\0';
}

static void check_json(const char *text, const char *plain)
{
    char *json = escaped(escape_json, text), *sarif = escaped(escape_sarif, text);
    char *one = parse(json), *other = parse(sarif);

    CLAIM(strcmp(one, plain) == 0);
    decode_message(other);
    CLAIM(strcmp(other, plain) == 0);
    free(json);
    free(sarif);
    free(one);
    free(other);
}

static void check_csv(const char *text, const char *plain)
{
    char *field = escaped(escape_csv, text), *to = field;
    size_t n = strlen(field);

    CLAIM(n >= 2 && field[0] == '"' && field[n - 1] == '"');
    CLAIM(strchr("=+-@", field[1]) == NULL);
    field[n - 1] = '\0';
    for (char *at = field + 1; *at != '\0'; at++) {
        CLAIM(*at != '"' || *++at == '"');
        *to++ = *at;
    }
    *to = '\0';
    CLAIM(strcmp(field + (field[0] == '\'' && strcmp(field, plain) != 0), plain) == 0);
    free(field);
}

static void check_plain(const char *plain)
{
    size_t n = strlen(plain), length;
    bool is_valid;

    for (size_t i = 0; i < n; i += length) {
        length = text_utf8_length(plain + i, n - i, &is_valid);
        CLAIM(is_valid && (unsigned char)plain[i] >= ' ' && plain[i] != 0x7f);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *plain = escaped(escape_plain, text);

    check_plain(plain);
    check_references(escape_markup, text, plain, "<>\"'`");
    check_references(escape_markdown, text, plain, "<>\"'`|*_[]()\\@:~!{}$^");
    check_json(text, plain);
    check_csv(text, plain);
    free(text);
    free(plain);
    return 0;
}
