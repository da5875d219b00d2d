#include "../../../../crawler/scope/site.h"
#include "../../../harness/harness.h"

#include <errno.h>

TEST(site_strict_is_a_host_and_its_port)
{
    struct site site = {.lenient = false};

    CHECK_INT(site_has(&site, "http://example.org/"), 0);
    CHECK_INT(site_add(&site, "http://www.example.org/a"), 0);
    CHECK_INT(site_add(&site, "https://example.org/b"), 0);
    CHECK_INT(site_has(&site, "http://example.org/"), 1);
    CHECK_INT(site_has(&site, "https://www.example.org/"), 1);
    CHECK_INT(site_has(&site, "http://example.org./"), 1);
    CHECK_INT(site_has(&site, "http://user:a@example.org/"), 1);
    CHECK_INT(site_has(&site, "http://example.org:8080/"), 0);
    CHECK_INT(site_has(&site, "http://a.example.org/"), 0);
    CHECK_INT(site_has(&site, "http://xexample.org/"), 0);
    CHECK_INT(site_add(&site, "http://example.org:8080/"), 0);
    CHECK_INT(site_has(&site, "https://www.example.org:8080/"), 1);
    site_finish(&site);
}

TEST(site_lenient_is_the_last_two_labels)
{
    struct site site = {.lenient = true};

    CHECK_INT(site_add(&site, "http://a.b.example.org:81/"), 0);
    CHECK_INT(site_has(&site, "https://example.org/"), 1);
    CHECK_INT(site_has(&site, "http://c.example.org:99/"), 1);
    CHECK_INT(site_has(&site, "http://www.example.org./"), 1);
    CHECK_INT(site_has(&site, "http://xexample.org/"), 0);
    CHECK_INT(site_has(&site, "http://org/"), 0);
    CHECK_INT(site_has(&site, "http://example.org.net/"), 0);
    site_finish(&site);
}

TEST(site_addresses_are_never_shortened)
{
    struct site site = {.lenient = true};

    CHECK_INT(site_add(&site, "http://127.0.0.1:81/"), 0);
    CHECK_INT(site_add(&site, "http://[2001:db8::1]:81/"), 0);
    CHECK_INT(site_add(&site, "http://localhost/"), 0);
    CHECK_INT(site_has(&site, "http://127.0.0.1/"), 1);
    CHECK_INT(site_has(&site, "http://127.1.0.1/"), 0);
    CHECK_INT(site_has(&site, "http://[2001:db8::1]/"), 1);
    CHECK_INT(site_has(&site, "http://[2001:db8::2]/"), 0);
    CHECK_INT(site_has(&site, "http://localhost:1/"), 1);
    CHECK_INT(site_has(&site, "http://a.localhost/"), 0);
    site_finish(&site);
}
