/*
 * wire.c - report transmitted bytes: coil_http_request.on_wire.
 *
 * The bytes are those that libcurl passes to its debug callback: heads (the first line
 * and the headers) and bodies. Received bodies are still chunked and compressed. (curl:
 * CURLOPT_DEBUGFUNCTION)
 */
#include "wire.h"

#include <string.h>

/* True for a CONNECT request to a proxy and for its response, which are not reported. */
static bool is_of_tunnel(coil_http_response *response, curl_infotype type,
                         const char *bytes, size_t n)
{
    static const char connect[] = "CONNECT ";

    if (type == CURLINFO_HEADER_OUT)
        response->in_tunnel =
            n > strlen(connect) && memcmp(bytes, connect, strlen(connect)) == 0;
    return response->in_tunnel;
}

static int on_debug(CURL *easy, curl_infotype type, char *bytes, size_t n, void *arg)
{
    static const enum coil_http_wire names[] = {
        [CURLINFO_HEADER_OUT] = COIL_HTTP_WIRE_REQUEST_HEAD,
        [CURLINFO_DATA_OUT] = COIL_HTTP_WIRE_REQUEST_BODY,
        [CURLINFO_HEADER_IN] = COIL_HTTP_WIRE_RESPONSE_HEAD,
        [CURLINFO_DATA_IN] = COIL_HTTP_WIRE_RESPONSE_BODY};
    coil_http_response *response = ((struct http_easy *)arg)->response;

    (void)easy;
    if (type < CURLINFO_HEADER_IN || type > CURLINFO_DATA_OUT || response == NULL ||
        response->on_wire == NULL || is_of_tunnel(response, type, bytes, n))
        return 0;
    response->on_wire(names[type], bytes, n, response->on_wire_arg);
    return 0;
}

void coil__http_wire(struct http_easy *handle)
{
    handle->is_wired = true;
    curl_easy_setopt(handle->easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(handle->easy, CURLOPT_DEBUGDATA, handle);
    curl_easy_setopt(handle->easy, CURLOPT_VERBOSE, 1L);
    curl_easy_setopt(handle->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
}

void coil__http_unwire(struct http_easy *handle)
{
    curl_easy_setopt(handle->easy, CURLOPT_VERBOSE, 0L);
    curl_easy_setopt(handle->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_NONE);
}
