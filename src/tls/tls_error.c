/*
 * tls_error.c - converts OpenSSL's errors to coil's.
 *
 * The first error in OpenSSL's queue is the cause of the others. If the peer has sent an
 * alert, the error's reason code is the alert's number plus SSL_AD_REASON_OFFSET.
 */
#include "tls.h"

#include <coil/error.h>

#include <openssl/err.h>
#include <openssl/x509.h>
#include <string.h>

static int rc_of_verification(int code)
{
    switch (code) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED:
        return -ENOKEY;
    case X509_V_ERR_CERT_NOT_YET_VALID:
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return -EKEYEXPIRED;
    case X509_V_ERR_CERT_REVOKED:
        return -EKEYREVOKED;
    case X509_V_ERR_OUT_OF_MEM:
        return -ENOMEM;
    default:
        return -EKEYREJECTED;
    }
}

static int fail_verification(const struct coil__tls_stream *t)
{
    int rc = rc_of_verification(t->verify_error);

    if (t->complaint != NULL)
        return coil_fail(rc, "%s", t->complaint);
    return coil_fail(rc, "the peer's certificate is refused: %s",
                     X509_verify_cert_error_string(t->verify_error));
}

static const char *reason_of(unsigned long error)
{
    const char *text = ERR_reason_error_string(error);

    return text != NULL ? text : "unknown error";
}

static const char *alert_of(unsigned long error)
{
    int number = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET;
    const char *text = SSL_alert_desc_string_long(number);

    /*
     * SSL_alert_desc_string_long() does not support the alerts of TLS 1.3. For these
     * alerts, use the text of the error's reason.
     */
    return strcmp(text, "unknown") != 0 ? text : reason_of(error);
}

/*
 * Empty the queue. Returns true if any of the errors in it was a failed allocation, which
 * OpenSSL may queue before or after the error that resulted from it.
 */
static bool ran_out_of_memory(void)
{
    unsigned long error;
    bool found = false;

    while ((error = ERR_get_error()) != 0)
        found |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
    return found;
}

int coil__tls_fail(struct coil__tls_stream *t, const char *doing)
{
    unsigned long error = ERR_peek_error();
    int reason = ERR_GET_REASON(error);
    int rc;

    if (ran_out_of_memory() || t->out_of_memory)
        rc = coil_fail(-ENOMEM, "%s: out of memory", doing);
    else if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && t->verify_error != X509_V_OK)
        rc = fail_verification(t);
    else if (ERR_GET_LIB(error) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET)
        rc = coil_fail(-EPROTO, "%s: the peer sent the alert '%s'", doing,
                       alert_of(error));
    else
        rc = coil_fail(-EPROTO, "%s: %s", doing, reason_of(error));
    return rc;
}

int coil__tls_fail_setup(int rc, const char *what, const char *detail)
{
    unsigned long error = ERR_peek_last_error();
    const char *text = ERR_reason_error_string(error);

    if (ran_out_of_memory())
        return coil_fail(-ENOMEM, "%s '%s': out of memory", what, detail);
    if (text != NULL)
        return coil_fail(rc, "%s '%s': %s", what, detail, text);
    return coil_fail(rc, "%s '%s'", what, detail);
}
