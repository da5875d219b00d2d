/*
 * test_toml.c - crawler/options/toml.h: parsed values, and the positions of syntax
 * errors.
 */
#include "../../../../crawler/options/toml.h"
#include "../../../harness/harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARSED_BYTES 512

/*
 * Append "key=text;" to the record, with a letter for the kind of value: s, n or b. The
 * elements of a list are in brackets, and separated by "+".
 */
static int note(void *arg, const struct toml_value *value)
{
    char *parsed = arg, *end = parsed + strlen(parsed);

    snprintf(end, PARSED_BYTES - (size_t)(end - parsed),
             value->in_list ? "%s%s=%c[%s];" : "%s%s=%c%s;",
             value->is_first || value->text == NULL ? "" : "+", value->key,
             "snb"[value->kind], value -> text != NULL ? value -> text : "-");
    return strcmp(value->key, "stop") == 0 ? -ESHUTDOWN : 0;
}

static int read_bytes(const char *bytes, size_t n, char parsed[PARSED_BYTES],
                      struct toml_mistake *mistake)
{
    /* a copy of exactly this size, so that sanitizers find overruns */
    char *text = malloc(n + 1);
    int rc;

    memcpy(text, bytes, n);
    text[n] = '\0';
    parsed[0] = '\0';
    rc = toml_read(text, n, note, parsed, mistake);
    free(text);
    return rc;
}

static void check_read(const char *text, const char *expected)
{
    struct toml_mistake mistake;
    char parsed[PARSED_BYTES];

    CHECK_INT(read_bytes(text, strlen(text), parsed, &mistake), 0);
    CHECK_STR(parsed, expected);
    CHECK(mistake.what == NULL);
}

static void check_wrong(const char *text, unsigned line, const char *what)
{
    struct toml_mistake mistake;
    char parsed[PARSED_BYTES];

    CHECK_INT(read_bytes(text, strlen(text), parsed, &mistake), -EINVAL);
    CHECK_STR(mistake.what != NULL ? mistake.what : "", what);
    CHECK_INT(mistake.line, line);
}

TEST(toml_reads_lines_of_names_and_values)
{
    check_read("", "");
    check_read("\n# nothing\n \t\r\n", "");
    check_read("a = 1", "a=n1;");
    check_read("\xef\xbb\xbf a-b_9=true # why\r\n\"c d\" = false\n'e\"' = 2",
               "a-b_9=btrue;c d=bfalse;e\"=n2;");
}

TEST(toml_reads_numbers)
{
    static const char *const wrong[] = {
        "a=01",   "a=1_",         "a=_1",
        "a=1__0", "a=1.",         "a=.5",
        "a=1e",   "a=0x",         "a=0xg",
        "a=+0x1", "a=0x_1",       "a=0X1",
        "a=30s",  "a=head",       "a=nan",
        "a=True", "a=2026-11-25", "a=0b2",
        "a=00",   "a=1.2.3",      "a=0x8000000000000000",
    };

    check_read("a=0\nb=+7\nc=-7\nd=1_000\ne=0.5\nf=1_0.2_5\ng=1e3\nh=-2.5E-1_0",
               "a=n0;b=n7;c=n-7;d=n1000;e=n0.5;f=n10.25;g=n1e3;h=n-2.5E-10;");
    check_read("a=0x1F\nb=0o17\nc=0b1_01\nd=0x7fff_ffff_ffff_ffff",
               "a=n31;b=n15;c=n5;d=n9223372036854775807;");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        check_wrong(wrong[i], 1, "neither a number, true nor false: a text needs quotes");
}

TEST(toml_reads_strings)
{
    check_read("a=\"\"\nb=''\nc=\"x # y\"\nd='C:\\x\"'", "a=s;b=s;c=sx # y;d=sC:\\x\";");
    check_read("a=\"\\b\\t\\n\\f\\r\\\"\\\\\\u00e9\\U0001F600\"",
               "a=s\b\t\n\f\r\"\\\xc3\xa9\xf0\x9f\x98\x80;");
    check_wrong("a=\"x\nb\"", 1, "a string without an end");
    check_wrong("\na='x", 2, "a string without an end");
    check_wrong("a='\x01'", 1, "a control character");
    check_wrong("a=1 # \x7f", 1, "a control character");
    check_wrong("a=\"\\e\"", 1, "an escape that TOML does not have");
    check_wrong("a=\"\\u12g4\"", 1, "an escape that TOML does not have");
    check_wrong("a=\"x\\ \ny\"", 1, "an escape that TOML does not have");
    check_wrong("a=\"\\ud800\"", 1, "an escape that is not a character");
    check_wrong("a=\"\\U00110000\"", 1, "an escape that is not a character");
    check_wrong("a=\"\\u0000\"", 1, "an escape that is not a character");
}

TEST(toml_reads_strings_of_several_lines)
{
    check_read("a=\"\"\"\nx\r\n  y\"\"\"\nb='''\\n''z'''", "a=sx\n  y;b=s\\n''z;");
    check_read("a=\"\"\"x \\  \n\n \t y\\\"\"\"\"\nb=\"\"\"\"q\"\"\"\"\"",
               "a=sx y\";b=s\"q\"\";");
    check_wrong("a=\"\"\"x\n\"\"", 2, "a string without an end");
    check_wrong("a='''''''''", 1, "there is text after the value");
}

TEST(toml_reads_lists)
{
    check_read("a=[1,'x', true ]\nb=[ # c\n\n1, # d\n 2 ,\n]",
               "a=n[1];+a=s[x];+a=b[true];b=n[1];+b=n[2];");
    check_read("a=[]\nb=[\n]", "a=s[-];b=s[-];");
    check_wrong("a=[1 2]", 1, "neither a comma nor the end of the list");
    check_wrong("a=[1,\n,2]", 2, "there is no value");
    check_wrong("a=[1,\n", 2, "there is no value");
    check_wrong("a=[1", 1, "neither a comma nor the end of the list");
    check_wrong("a=[[1]]", 1, "a list in a list");
    check_wrong("a=[{}]", 1, "a table: options have none");
}

TEST(toml_refuses_what_options_have_no_use_for)
{
    check_wrong("a=1\n[b]\n", 2, "a table: options have none");
    check_wrong("a={b=1}", 1, "a table: options have none");
    check_wrong("a.b=1", 1, "a name with a dot in it: options have no tables");
    check_wrong("a", 1, "there is no \"=\" after the name");
    check_wrong("=1", 1, "there is no name before \"=\"");
    check_wrong("a=", 1, "there is no value");
    check_wrong("a=\n1", 1, "there is no value");
    check_wrong("a=1 b=2", 1, "there is text after the value");
    check_wrong("a='x'y", 1, "there is text after the value");
    check_wrong("\"\"\"a\"\"\"=1", 1, "there is no \"=\" after the name");
    check_wrong("a=1\n\rb=2", 2, "there is no name before \"=\"");
    check_wrong("a=1\nb='\xff'", 2, "not UTF-8");
}

TEST(toml_refuses_a_byte_of_zero)
{
    struct toml_mistake mistake;
    char parsed[PARSED_BYTES];

    CHECK_INT(read_bytes("a=1\n\0b=2", 8, parsed, &mistake), -EINVAL);
    CHECK_STR(mistake.what, "a NUL byte");
    CHECK_INT(mistake.line, 2);
}

TEST(toml_ends_with_what_its_taker_fails_with)
{
    struct toml_mistake mistake;
    char parsed[PARSED_BYTES];

    CHECK_INT(read_bytes("a=1\nstop=2\nb=3", 14, parsed, &mistake), -ESHUTDOWN);
    CHECK_STR(parsed, "a=n1;stop=n2;");
    CHECK(mistake.what == NULL);
}
