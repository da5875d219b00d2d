/*
 * pattern.c - see pattern.h
 *
 * With a pattern such as "(a+)+$", the time of a match doubles with each character of the
 * URL, and sites choose their URLs. Therefore the steps and the memory of a match are
 * limited. PCRE2's just-in-time compiler is not used, because it may need more stack than
 * a task has.
 */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "pattern.h"

#include <errno.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 1000000  /* about 10 ms */
#define HEAP_KIB_MAX 65536 /* memory for backtracking */

struct pattern {
    const char *text;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    bool is_complained_of;
};

/*
 * PCRE2 allocates memory with these functions, so that tests can make its allocations
 * fail.
 */
static void *allocate(size_t n, void *arg)
{
    (void)arg;
    return malloc(n);
}

static void release(void *old, void *arg)
{
    (void)arg;
    free(old);
}

/* ---- errors ------------------------------------------------------------------------ */

/* True if an odd number of backslashes precedes the character at `at`. */
static bool is_escaped(const char *text, size_t at)
{
    size_t n = 0;

    while (n < at && text[at - n - 1] == '\\')
        n++;
    return n % 2 == 1;
}

/* True if the text contains "\<" or "\>", which are word boundaries in GNU's syntax but
   plain characters in PCRE2's. */
static bool has_gnu_words(const char *text)
{
    for (size_t i = 1; text[0] != '\0' && text[i] != '\0'; i++)
        if ((text[i] == '<' || text[i] == '>') && is_escaped(text, i))
            return true;
    return false;
}

static bool is_ascii(const char *text)
{
    while (*text != '\0' && (unsigned char)*text < 0x80)
        text++;
    return *text == '\0';
}

/* Return why a valid pattern is probably a mistake, or NULL. */
static const char *mistake_in(const char *text)
{
    size_t n = strlen(text);

    if (n == 0)
        return "an empty pattern would match every URL";
    if (text[0] == '|' || (text[n - 1] == '|' && !is_escaped(text, n - 1)))
        return "the empty alternative at \"|\" would match every URL";
    if (has_gnu_words(text))
        return "\"\\<\" and \"\\>\" match no word: write \\b";
    if (!is_ascii(text))
        return "URLs are ASCII: write the character as they have it, \"%C3%A9\" for "
               "\"\xc3\xa9\"";
    return NULL;
}

/* ---- compiling --------------------------------------------------------------------- */

static int compile_pattern(struct pattern *pattern, pcre2_general_context *memory,
                           char why[PATTERN_WHY_BYTES])
{
    pcre2_compile_context *context = pcre2_compile_context_create(memory);
    char words[PATTERN_WHY_BYTES - 40];
    PCRE2_SIZE at;
    int code;

    if (context == NULL)
        return -ENOMEM;
    pattern->code = pcre2_compile((PCRE2_SPTR)pattern->text, PCRE2_ZERO_TERMINATED, 0,
                                  &code, &at, context);
    pcre2_compile_context_free(context);
    if (pattern->code != NULL)
        return 0;
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return -ENOMEM;
    if (pcre2_get_error_message(code, (PCRE2_UCHAR *)words, sizeof words) < 0)
        snprintf(words, sizeof words, "error %d", code);
    snprintf(why, PATTERN_WHY_BYTES, "%s (at character %zu)", words, at + 1);
    return -EINVAL;
}

static int prepare_match(struct pattern *pattern, char why[PATTERN_WHY_BYTES])
{
    pcre2_general_context *memory = pcre2_general_context_create(allocate, release, NULL);
    int rc = memory != NULL ? compile_pattern(pattern, memory, why) : -ENOMEM;

    if (rc == 0) {
        pattern->match = pcre2_match_data_create(1, memory);
        pattern->limits = pcre2_match_context_create(memory);
        rc = pattern->match != NULL && pattern->limits != NULL ? 0 : -ENOMEM;
    }
    if (rc == 0) {
        pcre2_set_match_limit(pattern->limits, STEPS_MAX);
        pcre2_set_heap_limit(pattern->limits, HEAP_KIB_MAX);
    }
    pcre2_general_context_free(memory);
    return rc;
}

static void finish_pattern(struct pattern *pattern)
{
    pcre2_match_context_free(pattern->limits);
    pcre2_match_data_free(pattern->match);
    pcre2_code_free(pattern->code);
}

int patterns_add(struct pattern_list *list, const char *text, char why[PATTERN_WHY_BYTES])
{
    const char *mistake = mistake_in(text);
    struct pattern pattern = {.text = text}, *longer;
    int rc;

    if (mistake != NULL) {
        snprintf(why, PATTERN_WHY_BYTES, "%s", mistake);
        return -EINVAL;
    }
    longer = realloc(list->at, (list->count + 1) * sizeof *longer);
    if (longer == NULL)
        return -ENOMEM;
    list->at = longer;
    rc = prepare_match(&pattern, why);
    if (rc < 0)
        finish_pattern(&pattern);
    else
        longer[list->count++] = pattern;
    return rc;
}

void patterns_finish(struct pattern_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        finish_pattern(&list->at[i]);
    free(list->at);
    *list = (struct pattern_list){NULL, 0};
}

/* ---- matching ---------------------------------------------------------------------- */

int pattern_matches(const struct pattern_list *list, size_t index, const char *text)
{
    const struct pattern *pattern = &list->at[index];
    int code = pcre2_match(pattern->code, (PCRE2_SPTR)text, strlen(text), 0, 0,
                           pattern->match, pattern->limits);

    switch (code) {
    case PCRE2_ERROR_NOMATCH:
        return 0;
    case PCRE2_ERROR_NOMEMORY:
        return -ENOMEM;
    default:
        return code >= 0 ? 1 : -ETIMEDOUT;
    }
}

int patterns_match(const struct pattern_list *list, const char *text, size_t *which)
{
    int rc = 0;

    for (size_t i = 0; i < list->count && rc == 0; i++) {
        rc = pattern_matches(list, i, text);
        if (which != NULL)
            *which = i;
    }
    return rc;
}

const char *pattern_text(const struct pattern_list *list, size_t index)
{
    return list->at[index].text;
}

bool pattern_is_news(const struct pattern_list *list, size_t index)
{
    bool is_news = !list->at[index].is_complained_of;

    list->at[index].is_complained_of = true;
    return is_news;
}
