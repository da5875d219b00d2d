/*
 * tokens.c - prints the tokens of texts in the format of html5lib's tests.
 *
 * Reads lines `CONTENT LAST PIECE TEXT`: the number of an enum html_content, the last
 * start tag or '-', the number of bytes in a piece or 0 for the whole text, and the text
 * in hexadecimal. Writes the tokens of each text as a line of JSON.
 */
#include "../../../crawler/page/html/html_tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The attributes and the text of the current token that have arrived so far. Both are
 * written when the token is complete.
 */
static struct {
    FILE *attributes, *text;
    char *attributes_bytes, *text_bytes;
    size_t attributes_n, text_n;
    bool any;
} out;

static void write_json(FILE *file, const char *bytes, size_t n)
{
    putc('"', file);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\' || c < ' ')
            fprintf(file, "\\u%04x", c);
        else
            putc(c, file);
    }
    putc('"', file);
}

static void write_or_null(const struct html_name *text)
{
    if (text->bytes == NULL)
        fputs("null", stdout);
    else
        write_json(stdout, text->bytes, text->n);
}

static void begin_token(const char *kind)
{
    printf("%s[\"%s\",", out.any ? "," : "", kind);
    out.any = true;
}

static void end_text(void)
{
    fflush(out.text);
    if (out.text_n > 0) {
        begin_token("Character");
        write_json(stdout, out.text_bytes, out.text_n);
        putchar(']');
    }
    rewind(out.text);
}

static bool on_tag(const struct html_name *name, bool is_end, void *arg)
{
    (void)name;
    (void)is_end;
    (void)arg;
    rewind(out.attributes);
    return true;
}

static int on_attribute(const struct html_name *name, const struct html_value *value,
                        void *arg)
{
    char *decoded = malloc(3 * value->n + 1);
    size_t n = html_decode(value->bytes, value->n, decoded);

    (void)arg;
    if (ftell(out.attributes) > 0)
        putc(',', out.attributes);
    write_json(out.attributes, name->bytes, name->n);
    putc(':', out.attributes);
    write_json(out.attributes, decoded, n);
    free(decoded);
    return 0;
}

static int on_tag_end(const struct html_name *name, bool is_end, bool is_self_closing,
                      void *arg)
{
    (void)arg;
    end_text();
    begin_token(is_end ? "EndTag" : "StartTag");
    write_json(stdout, name->bytes, name->n);
    if (!is_end) {
        fflush(out.attributes);
        printf(",{%.*s}%s", (int)out.attributes_n, out.attributes_bytes,
               is_self_closing ? ",true" : "");
    }
    putchar(']');
    return 0;
}

static int on_text(const char *bytes, size_t n, void *arg)
{
    (void)arg;
    fwrite(bytes, 1, n, out.text);
    return 0;
}

static int on_comment(const char *bytes, size_t n, void *arg)
{
    (void)arg;
    end_text();
    begin_token("Comment");
    write_json(stdout, bytes, n);
    putchar(']');
    return 0;
}

static int on_doctype(const struct html_doctype *doctype, void *arg)
{
    (void)arg;
    end_text();
    begin_token("DOCTYPE");
    write_or_null(&doctype->name);
    putchar(',');
    write_or_null(&doctype->public_id);
    putchar(',');
    write_or_null(&doctype->system_id);
    printf(",%s]", doctype->force_quirks ? "false" : "true");
    return 0;
}

static const struct html_sink sink = {
    .tag = on_tag,
    .attribute = on_attribute,
    .tag_end = on_tag_end,
    .text = on_text,
    .comment = on_comment,
    .doctype = on_doctype,
};

/* Each piece is a separate allocation, so that sanitizers detect reads past its end. */
static int feed(struct html_tokenizer *tokenizer, const char *text, size_t n,
                size_t piece)
{
    int rc = 0;

    for (size_t at = 0; at < n && rc == 0; at += piece) {
        size_t part = n - at < piece ? n - at : piece;
        char *block = malloc(part);
        memcpy(block, text + at, part);
        rc = html_tokenizer_feed(tokenizer, block, part);
        free(block);
    }
    return rc == 0 ? html_tokenizer_end(tokenizer) : rc;
}

static void write_tokens(int content, const char *last, size_t piece, const char *text,
                         size_t n)
{
    struct html_tokenizer tokenizer;

    html_tokenizer_init(&tokenizer, &sink, NULL);
    html_tokenizer_set_content(&tokenizer, (enum html_content)content, last);
    out.any = false;
    putchar('[');
    if (feed(&tokenizer, text, n, piece > 0 ? piece : n + 1) < 0)
        exit(1);
    end_text();
    puts("]");
    html_tokenizer_finish(&tokenizer);
}

static size_t from_hexadecimal(char *text)
{
    size_t n = strcspn(text, "\n") / 2;

    for (size_t i = 0; i < n; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        text[i] = (char)strtol(digits, NULL, 16);
    }
    return n;
}

int main(void)
{
    char *line = NULL, last[64];
    size_t capacity = 0;

    out.attributes = open_memstream(&out.attributes_bytes, &out.attributes_n);
    out.text = open_memstream(&out.text_bytes, &out.text_n);
    if (out.attributes == NULL || out.text == NULL)
        return 1;
    while (getline(&line, &capacity, stdin) > 0) {
        int content, piece, at = 0;
        if (sscanf(line, "%d %63s %d %n", &content, last, &piece, &at) != 3)
            return 2;
        write_tokens(content, strcmp(last, "-") == 0 ? "" : last, (size_t)piece,
                     line + at, from_hexadecimal(line + at));
    }
    fclose(out.attributes);
    fclose(out.text);
    free(out.attributes_bytes);
    free(out.text_bytes);
    free(line);
    return 0;
}
