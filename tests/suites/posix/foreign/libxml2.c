/*
 * libxml2.c - libxml2's HTTP client, which reads documents from the network.
 */
#include "foreign.h"

#include <libxml/nanohttp.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>

static bool start(void)
{
    xmlInitParser();
    xmlNanoHTTPInit();
    return true;
}

static bool use(int number)
{
    char url[100], *type = NULL, body[100] = "";
    void *request;
    int n = 0;

    (void)number;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", foreign_port);
    request = xmlNanoHTTPOpen(url, &type);
    if (request != NULL) {
        n = xmlNanoHTTPRead(request, body, sizeof body - 1);
        xmlNanoHTTPClose(request);
    }
    xmlFree(type);
    return (n == 5 && strcmp(body, "slow\n") == 0) ||
           foreign_failed("%d bytes, %s", n, body);
}

static bool stop(void)
{
    xmlNanoHTTPCleanup();
    xmlCleanupParser();
    return true;
}

const struct foreign foreign = {.name = "libxml2",
                                .tested = "its HTTP client",
                                .server = true,
                                .start = start,
                                .use = use,
                                .stop = stop};
