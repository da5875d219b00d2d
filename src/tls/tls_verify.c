/*
 * tls_verify.c - verifies the peer's certificate, and explains why it was rejected.
 *
 * OpenSSL verifies the certificate, and this file adds the messages. OpenSSL keeps only
 * an error number until the end of the handshake, so note_complaint(), a callback,
 * composes the message during the verification.
 */
#include "tls.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------- */

/*
 * True for an IPv4 or IPv6 address without a zone. Zones, such as "%eth0", are valid only
 * on the local machine, so they never appear in certificates.
 */
static bool is_address(const char *name)
{
    unsigned char address[16];

    return inet_pton(AF_INET, name, address) == 1 ||
           inet_pton(AF_INET6, name, address) == 1;
}

enum coil__tls_name_kind coil__tls_normalize(const char *name, char *out)
{
    size_t n = strlen(name);
    const char *zone = strchr(name, '%');

    if (zone != NULL && strchr(name, ':') != NULL)
        n = (size_t)(zone - name);
    else if (n > 1 && name[n - 1] == '.')
        n--;
    if (n == 0 || n > COIL__TLS_NAME_MAX)
        return COIL__TLS_NO_NAME;
    memcpy(out, name, n);
    out[n] = '\0';
    if (is_address(out))
        return COIL__TLS_ADDRESS;
    return zone == NULL && out[0] != '.' ? COIL__TLS_HOST : COIL__TLS_NO_NAME;
}

/* ---- the message ------------------------------------------------------------------- */

/* Return the text that was printed to the BIO, and free the BIO. */
static char *text_of_bio(BIO *bio)
{
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    char *text = n >= 0 ? OPENSSL_strndup(bytes, (size_t)n) : NULL;

    BIO_free(bio);
    return text;
}

char *coil__tls_name_text(const X509_NAME *name)
{
    BIO *bio = BIO_new(BIO_s_mem());

    if (bio == NULL)
        return NULL;
    X509_NAME_print_ex(bio, name, 0,
                       XN_FLAG_ONELINE & ~(unsigned long)ASN1_STRFLGS_ESC_MSB);
    return text_of_bio(bio);
}

/* Print the names for which the certificate is valid. */
static void print_names(BIO *bio, const X509 *certificate)
{
    GENERAL_NAMES *names =
        X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    int count = sk_GENERAL_NAME_num(names);

    BIO_puts(bio, count > 0 ? "; it is for " : "; it is for no name or address");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            BIO_puts(bio, ", ");
        GENERAL_NAME_print(bio, sk_GENERAL_NAME_value(names, i));
    }
    GENERAL_NAMES_free(names);
}

static void print_dates(BIO *bio, const X509 *certificate)
{
    BIO_puts(bio, "; it is valid from ");
    ASN1_TIME_print(bio, X509_get0_notBefore(certificate));
    BIO_puts(bio, " to ");
    ASN1_TIME_print(bio, X509_get0_notAfter(certificate));
}

static void print_complaint(BIO *bio, const struct coil__tls_stream *t,
                            const X509_STORE_CTX *context, const X509 *certificate)
{
    unsigned long flags = XN_FLAG_ONELINE & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;

    BIO_printf(bio, "the certificate of '%s' is refused: %s (depth %d, subject '",
               t->name[0] != '\0' ? t->name : "the client",
               X509_verify_cert_error_string(t->verify_error),
               X509_STORE_CTX_get_error_depth(context));
    X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, flags);
    BIO_puts(bio, "', issuer '");
    X509_NAME_print_ex(bio, X509_get_issuer_name(certificate), 0, flags);
    BIO_puts(bio, "'");
    switch (t->verify_error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        print_names(bio, certificate);
        break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        print_dates(bio, certificate);
        break;
    default:
        break;
    }
    BIO_puts(bio, ")");
}

/*
 * OpenSSL calls this function for each certificate of a chain. If OpenSSL has rejected
 * the certificate, record the error and a message. Returns OpenSSL's verdict unchanged.
 */
static int note_complaint(int is_fine, X509_STORE_CTX *context)
{
    const SSL *ssl =
        X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct coil__tls_stream *t = coil__tls_of(ssl);
    const X509 *certificate = X509_STORE_CTX_get_current_cert(context);
    BIO *bio;

    if (is_fine)
        return is_fine;
    t->verify_error = X509_STORE_CTX_get_error(context);
    bio = certificate != NULL ? BIO_new(BIO_s_mem()) : NULL;
    if (bio != NULL) {
        print_complaint(bio, t, context, certificate);
        OPENSSL_free(t->complaint);
        t->complaint = text_of_bio(bio);
    }
    return is_fine;
}

/* ---- what the peer must prove ------------------------------------------------------ */

int coil__tls_expect_server(struct coil__tls_stream *t, enum coil__tls_name_kind kind)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(t->ssl);
    int ok = 1;

    if (kind == COIL__TLS_HOST)
        ok = SSL_set_tlsext_host_name(t->ssl, t->name) == 1;
    if (t->tls->no_verify) {
        SSL_set_verify(t->ssl, SSL_VERIFY_NONE, NULL);
        return ok ? 0 : coil__failed(-ENOMEM);
    }
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                                               X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (kind == COIL__TLS_HOST)
        ok = ok && X509_VERIFY_PARAM_set1_host(param, t->name, 0) == 1;
    else
        ok = ok && X509_VERIFY_PARAM_set1_ip_asc(param, t->name) == 1;
    SSL_set_verify(t->ssl, SSL_VERIFY_PEER, note_complaint);
    return ok ? 0 : coil__failed(-ENOMEM);
}

void coil__tls_expect_client(struct coil__tls_stream *t, const coil_tls *tls)
{
    if (tls->verify_client)
        SSL_set_verify(t->ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       note_complaint);
    else
        SSL_set_verify(t->ssl, SSL_VERIFY_NONE, NULL);
}
