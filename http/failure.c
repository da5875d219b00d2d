/*
 * failure.c - libcurl's many ways to fail, as the few that a caller can act upon.
 */
#include "failure.h"

#include <stdio.h>
#include <string.h>

/* A socket there was none of comes before the refusal libcurl takes that for. */
static int errno_of_connection(const coil_http_response *response)
{
    long error = 0;

    curl_easy_getinfo(response->easy, CURLINFO_OS_ERRNO, &error);
    if (error > 0)
        return -(int)error;
    return response->socket_errno > 0 ? -response->socket_errno : -ECONNREFUSED;
}

/* A proxy that says no to a tunnel looks to libcurl like a broken connection. */
static int errno_of_reception(const coil_http_response *response)
{
    long status = 0;

    curl_easy_getinfo(response->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 300 ? -EPROTO : -ECONNRESET;
}

static int errno_of(const coil_http_response *response)
{
    switch (response->code) {
    case CURLE_OK:
        return 0;
    case CURLE_OUT_OF_MEMORY:
        return -ENOMEM;
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CACERT_BADFILE:
        return -EINVAL;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return -ENOENT;
    case CURLE_COULDNT_CONNECT:
        return errno_of_connection(response);
    case CURLE_OPERATION_TIMEDOUT:
        return -ETIMEDOUT;
    case CURLE_PARTIAL_FILE:
        return -ENODATA;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
        return -ECONNRESET;
    case CURLE_RECV_ERROR:
        return errno_of_reception(response);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return -EKEYREJECTED;
    default:
        return -EPROTO;
    }
}

int coil__http_outcome(const coil_http_response *response)
{
    return response->failure < 0 ? response->failure : errno_of(response);
}

static const char *sentence(const coil_http_response *response, int rc)
{
    if (response->failure == 0 && response->code != CURLE_OK)
        return curl_easy_strerror(response->code);
    switch (rc) {
    case -EMSGSIZE:
        return "the body is longer than the limit";
    case -ELOOP:
        return "too many redirects";
    case -ESHUTDOWN:
        return "the session was destroyed";
    case -ECANCELED:
        return "the request was cancelled";
    default:
        return strerror(-rc);
    }
}

/* What there is already is better, if it is about this failure. */
static bool is_explained(const coil_http_response *response, int rc)
{
    return response->failure == 0 && response->error[0] != '\0' && rc != -ECANCELED &&
           rc != -ELOOP;
}

int coil__http_give_up(coil_http_response *response, int rc)
{
    coil__http_stop(response);
    if (response->given_up)
        return rc;
    if (!is_explained(response, rc))
        snprintf(response->error, sizeof response->error, "%s", sentence(response, rc));
    response->failure = rc;
    response->given_up = response->done = true;
    return rc;
}
