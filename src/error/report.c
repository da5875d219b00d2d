/*
 * report.c - reports about errors and tasks, as text or as JSON.
 */
#include "report.h"

#include "symbol.h"

#include <errno.h>
#include <string.h>

_Atomic bool coil__report_json;

int coil__report_choose(const char *format)
{
    if (format == NULL || *format == '\0')
        return 0;
    if (strcmp(format, "json") != 0 && strcmp(format, "text") != 0)
        return -EINVAL;
    coil__report_json = *format == 'j';
    return 0;
}

/* ---- bytes ------------------------------------------------------------------------- */

static void put_bytes(struct coil__report *report, const char *bytes, size_t count)
{
    if (report->out != NULL)
        fwrite(bytes, 1, count, report->out);
    else
        coil__line_add_bytes(report->line, bytes, count);
}

static void put_formatted(struct coil__report *report, const char *format, va_list args)
{
    if (report->out != NULL)
        vfprintf(report->out, format, args);
    else
        coil__line_vadd(report->line, format, args);
}

/* ---- JSON -------------------------------------------------------------------------- */

/*
 * Return the length of the UTF-8 character at `text`, or 0 if it is invalid. (RFC 3629)
 */
static size_t character_length(const unsigned char *text, size_t max)
{
    unsigned char first = text[0], low = 0x80, high = 0xbf;
    size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    if (n == 1)
        return 1;
    if (first < 0xc2 || first > 0xf4 || n > max)
        return 0;
    if (first == 0xe0) /* below 0xa0: overlong encodings */
        low = 0xa0;
    else if (first == 0xed) /* surrogates */
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4) /* beyond U+10FFFF */
        high = 0x8f;
    for (size_t i = 1; i < n; i++, low = 0x80, high = 0xbf)
        if (text[i] < low || text[i] > high)
            return 0;
    return n;
}

/* Write a JSON string. JSON is UTF-8, so invalid bytes become U+FFFD. */
static void put_string(struct coil__report *report, const char *text, size_t count)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + count;

    put_bytes(report, "\"", 1);
    while (p < end) {
        size_t n = character_length(p, (size_t)(end - p));
        char control[] = {
            '\\', 'u', '0', '0', (char)('0' + *p / 16), "0123456789abcdef"[*p % 16]};

        if (n == 0)
            put_bytes(report, "\\ufffd", 6);
        else if (*p < ' ')
            put_bytes(report, control, sizeof control);
        else if (*p == '"' || *p == '\\')
            put_bytes(report, (const char[]){'\\', (char)*p}, 2);
        else
            put_bytes(report, (const char *)p, n);
        p += n > 0 ? n : 1;
    }
    put_bytes(report, "\"", 1);
}

static void put_key(struct coil__report *report, const char *key)
{
    if (report->follows)
        put_bytes(report, ",", 1);
    report->follows = true;
    if (key == NULL)
        return;
    put_string(report, key, strlen(key));
    put_bytes(report, ":", 1);
}

/* Write a fraction without printf(3)'s %f, which uses the locale's decimal point. */
static void put_fraction(struct coil__report *report, double value)
{
    long long thousandths = (long long)(value * 1000);
    const char *sign = thousandths < 0 ? "-" : "";

    if (thousandths < 0)
        thousandths = -thousandths;
    fprintf(report->out, "%s%lld.%03lld", sign, thousandths / 1000, thousandths % 1000);
}

/* Write the value of the pattern's one conversion. */
static void put_value(struct coil__report *report, const char *pattern, va_list args)
{
    const char *start = strchr(pattern, '%');
    size_t length = start != NULL ? strcspn(start, "sduxpf") + 1 : 0;
    char kind = start != NULL ? start[length - 1] : '\0', conversion[8] = "";

    if (kind == 's') {
        size_t max = start[1] == '.' ? (size_t)va_arg(args, int) : SIZE_MAX;
        const char *text = va_arg(args, const char *);

        put_string(report, text, strnlen(text, max));
    } else if (kind == 'f') {
        put_fraction(report, va_arg(args, double));
    } else if (kind == '\0') {
        put_string(report, pattern, strlen(pattern));
    } else {
        memcpy(conversion, start, length);
        if (kind == 'x' || kind == 'p')
            put_bytes(report, kind == 'x' ? "\"0x" : "\"", kind == 'x' ? 3 : 1);
        put_formatted(report, conversion, args);
        if (kind == 'x' || kind == 'p')
            put_bytes(report, "\"", 1);
    }
}

/* ---- values, words, records and lists ---------------------------------------------- */

void coil__report_value(struct coil__report *report, const char *key, const char *pattern,
                        ...)
{
    va_list args;

    va_start(args, pattern);
    if (report->json) {
        put_key(report, key);
        put_value(report, pattern, args);
    } else
        put_formatted(report, pattern, args);
    va_end(args);
}

void coil__report_words(struct coil__report *report, const char *format, ...)
{
    va_list args;

    if (report->json)
        return;
    va_start(args, format);
    put_formatted(report, format, args);
    va_end(args);
}

void coil__report_open(struct coil__report *report, const char *key, char bracket)
{
    if (!report->json)
        return;
    put_key(report, key);
    put_bytes(report, &bracket, 1);
    report->follows = false;
}

void coil__report_close(struct coil__report *report, char bracket)
{
    if (!report->json)
        return;
    put_bytes(report, &bracket, 1);
    report->follows = true;
}

/* ---- beginning and end ------------------------------------------------------------- */

static void open_report(struct coil__report *report, const char *kind)
{
    coil__report_open(report, NULL, '{');
    if (report->json)
        coil__report_value(report, "report", "%s", kind);
}

static void close_report(struct coil__report *report)
{
    coil__report_close(report, '}');
    if (report->json)
        put_bytes(report, "\n", 1);
}

/* Lock order: first the file, then the debug data (symbol.c). */
void coil__report_begin(struct coil__report *report, FILE *out, const char *kind)
{
    *report = (struct coil__report){.out = out, .json = coil__report_json};
    flockfile(out);
    coil__symbols_begin();
    open_report(report, kind);
}

void coil__report_end(struct coil__report *report)
{
    close_report(report);
    coil__symbols_end();
    funlockfile(report->out);
}

void coil__report_begin_in_handler(struct coil__report *report,
                                   struct coil__message *line, const char *kind)
{
    *report = (struct coil__report){.line = line, .json = coil__report_json};
    open_report(report, kind);
}

void coil__report_end_in_handler(struct coil__report *report)
{
    close_report(report);
}

bool coil__report_begin_text(struct coil__report *report, char *text, size_t size)
{
    text[0] = '\0';
    *report = (struct coil__report){.out = fmemopen(text, size, "w")};
    return report->out != NULL;
}

void coil__report_end_text(struct coil__report *report)
{
    fclose(report->out);
}
