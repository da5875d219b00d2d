/* needs: coil coil-http certificate */
/* http.c - compiles and runs the examples in docs/manual/http.md. */
#include "listings.h"

struct parser;
static int parser_feed(struct parser *parser, const char *bytes, size_t n);

#include "http.md/http"
#include "http.md/reading-the-body"
#include "http.md/deadlines-and-cancellation"

#include "web.h"

struct parser {
    size_t n;
};

static int parser_feed(struct parser *parser, const char *bytes, size_t n)
{
    CHECK(bytes != NULL);
    parser->n += n;
    return 0;
}

static int get_all(void *arg)
{
    struct parser parser = {0};
    coil_http_session *session;
    struct web web;
    char *body;
    size_t n;

    (void)arg;
    open_web(&web);
    CHECK(app(NULL) == 0);
    CHECK(coil_http_session_create(NULL, &session) == 0);
    CHECK(parse_page(session, "https://example.org/", &parser) == 0 && parser.n == 6);
    CHECK(get_in_time(session, "https://example.org/", &body, &n) == 0 && n == 6);
    free(body);
    coil_http_session_destroy(session);
    close_web(&web);
    return 0;
}

int main(void)
{
    RUN(get_all, NULL);
    return 0;
}
