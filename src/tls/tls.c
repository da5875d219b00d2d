/*
 * tls.c - TLS contexts, each of which can be shared by many connections.
 *
 * Loops on different threads can share a context: after its creation only its sessions,
 * which are protected by a lock, and its atomic reference count change. The same context
 * can be used for clients and for servers: settings that differ between the two are
 * applied to each connection (tls_verify.c). Loading the system's authorities takes 30 ms
 * and a megabyte, and servers do not need them. So a context with a certificate, which is
 * probably for a server, loads them only before its first connection as a client.
 *
 * SERVER NAMES. A server may have a separate context for each of its names. The context
 * is chosen in the ClientHello callback, before OpenSSL looks for the session that the
 * client wants to resume, and a session can be resumed only with the context that created
 * it (its session ID context). If the context were chosen later, as is usual, a session
 * that was created without a client certificate could be resumed for a name that requires
 * one (CVE-2025-23419).
 */
#include "tls.h"

#include "../base/fault.h"
#include "../task/task.h"

#include <coil/error.h>
#include <coil/executor.h>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------- */

/*
 * Check that a file or folder can be opened, because OpenSSL does not report why it
 * cannot read one. Returns -EISDIR if a file was expected but `path` is a folder, and
 * -ENOTDIR in the opposite case.
 */
static int check_path(const char *path, bool is_folder)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (is_folder ? O_DIRECTORY : 0);
    int fd = COIL__CALL(EMFILE, open(path, flags));
    int rc = fd >= 0 ? 0 : -errno;
    struct stat info;

    if (rc == 0 && !is_folder && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        rc = -EISDIR;
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return coil_fail(rc, "cannot open '%s': %s", path, strerror(-rc));
    return 0;
}

static int check_file(const char *path)
{
    return check_path(path, false);
}

struct password {
    const char *text;
    bool wanted;
};

/*
 * Callback that copies the password of a private key to `buf`, and returns the password's
 * length or -1. Without a callback OpenSSL would ask for the password on the terminal.
 */
static int give_password(char *buf, int size, int writing, void *arg)
{
    struct password *password = arg;
    size_t n;

    (void)writing;
    if (password == NULL)
        return -1;
    n = password->text != NULL ? strlen(password->text) : 0;
    password->wanted = true;
    if (password->text == NULL || n > (size_t)size)
        return -1;
    memcpy(buf, password->text, n);
    return (int)n;
}

/*
 * Check that the private key matches the certificate. Without this check, OpenSSL would
 * accept a key of a different type than the certificate's, and then never use it.
 */
static int check_pair(const SSL_CTX *ctx, const char *path)
{
    if (SSL_CTX_check_private_key(ctx) != 1)
        return coil__tls_fail_setup(-EINVAL, "cannot use the key in", path);
    return 0;
}

static int load_key(SSL_CTX *ctx, const coil_tls_opts *opts)
{
    const char *path = opts->key_file != NULL ? opts->key_file : opts->certificate_file;
    struct password password = {.text = opts->key_password};
    int rc = check_file(path);
    int loaded;

    if (rc < 0)
        return rc;
    SSL_CTX_set_default_passwd_cb_userdata(ctx, &password);
    loaded = SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM);
    SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL);
    if (loaded == 1)
        return check_pair(ctx, path);
    if (password.wanted && password.text == NULL)
        return coil__tls_fail_setup(-ENOKEY, "no password for the key in", path);
    if (password.wanted)
        return coil__tls_fail_setup(-EKEYREJECTED, "wrong password for the key in", path);
    return coil__tls_fail_setup(-EINVAL, "cannot use the key in", path);
}

static int load_certificate(SSL_CTX *ctx, const coil_tls_opts *opts)
{
    int rc;

    if (opts->certificate_file == NULL)
        return opts->key_file == NULL
                   ? 0
                   : coil_fail(-EINVAL, "key_file needs a certificate_file");
    rc = check_file(opts->certificate_file);
    if (rc < 0)
        return rc;
    if (SSL_CTX_use_certificate_chain_file(ctx, opts->certificate_file) != 1)
        return coil__tls_fail_setup(-EINVAL, "cannot use the certificate in",
                                    opts->certificate_file);
    return load_key(ctx, opts);
}

/*
 * Make a server send the names of the authorities in `ca_file` to clients, which can then
 * choose a certificate that was issued by one of them.
 */
static int name_authorities(SSL_CTX *ctx, const char *ca_file)
{
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(ca_file);

    if (names == NULL)
        return coil__tls_fail_setup(-EINVAL, "no certificate in", ca_file);
    SSL_CTX_set_client_CA_list(ctx, names);
    return 0;
}

/*
 * Check that the default file of authorities can be opened, if it exists. OpenSSL ignores
 * every failure to read it, even if descriptors have run out. The context would then trust
 * no authority as long as it exists.
 */
static int check_default_file(void)
{
    const char *path = secure_getenv(X509_get_default_cert_file_env());
    int fd;

    if (path == NULL)
        path = X509_get_default_cert_file();
    fd = COIL__CALL(EMFILE, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0) {
        int error = errno;

        if (error != EMFILE && error != ENFILE && error != ENOMEM)
            return 0;
        return coil_fail(-error, "cannot open '%s': %s", path, strerror(error));
    }
    close(fd);
    return 0;
}

static int trust_system(SSL_CTX *ctx)
{
    int rc = check_default_file();

    if (rc < 0)
        return rc;
    if (SSL_CTX_set_default_verify_paths(ctx) != 1)
        return coil__tls_fail_setup(-EINVAL, "cannot load", "the system's authorities");
    ERR_clear_error(); /* if there are no authorities, no peer is trusted */
    return 0;
}

int coil__tls_trust_system(coil_tls *tls)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int rc = 0;

    if (!atomic_load_explicit(&tls->trusts_system_later, memory_order_acquire))
        return 0;
    pthread_mutex_lock(&lock);
    if (atomic_load(&tls->trusts_system_later))
        rc = trust_system(tls->ctx);
    if (rc == 0)
        atomic_store_explicit(&tls->trusts_system_later, false, memory_order_release);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int load_authorities(coil_tls *tls, const coil_tls_opts *opts)
{
    SSL_CTX *ctx = tls->ctx;
    int rc;

    if (opts->verify_client && opts->ca_file == NULL && opts->ca_path == NULL)
        return coil_fail(-EINVAL, "verify_client needs a ca_file or ca_path");
    if (opts->ca_file == NULL && opts->ca_path == NULL) {
        tls->trusts_system_later = opts->certificate_file != NULL && !opts->no_verify;
        return tls->trusts_system_later || opts->no_verify ? 0 : trust_system(ctx);
    }
    rc = opts->ca_path != NULL ? check_path(opts->ca_path, true) : 0;
    if (rc == 0 && opts->ca_file != NULL)
        rc = check_file(opts->ca_file);
    if (rc < 0)
        return rc;
    if (opts->ca_path != NULL && SSL_CTX_load_verify_dir(ctx, opts->ca_path) != 1)
        return coil__tls_fail_setup(-EINVAL, "cannot use", opts->ca_path);
    if (opts->ca_file == NULL)
        return 0;
    if (SSL_CTX_load_verify_file(ctx, opts->ca_file) != 1)
        return coil__tls_fail_setup(-EINVAL, "no certificate in", opts->ca_file);
    return opts->verify_client ? name_authorities(ctx, opts->ca_file) : 0;
}

/*
 * Load revocation lists, and accept a chain only if there is a list for each authority in
 * it. The flags are set in the store, not in SSL_CTX_get0_param(): a connection copies
 * those parameters when it is created, so the flags of a context that choose_context()
 * selects later would have no effect.
 */
static int load_revoked(SSL_CTX *ctx, const char *crl_file)
{
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    int rc = check_file(crl_file);

    if (rc < 0)
        return rc;
    if (lookup == NULL || X509_load_crl_file(lookup, crl_file, X509_FILETYPE_PEM) < 1)
        return coil__tls_fail_setup(-EINVAL, "no list of revoked certificates in",
                                    crl_file);
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return 0;
}

/* ---- versions, ciphers, protocols -------------------------------------------------- */

static bool is_version(int version)
{
    return version == 0 || version == COIL_TLS_1_2 || version == COIL_TLS_1_3;
}

/*
 * The default ciphers of TLS 1.2. Each of these ciphers has forward secrecy, as all
 * ciphers of TLS 1.3 do: recorded traffic cannot be decrypted with a key that is stolen
 * later (RFC 9325, 4.2).
 */
#define FORWARD_SECRET "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:!aNULL"

static int set_versions(SSL_CTX *ctx, const coil_tls_opts *opts)
{
    int least = opts->min_version != 0 ? opts->min_version : COIL_TLS_1_2;
    const char *ciphers = opts->ciphers != NULL ? opts->ciphers : FORWARD_SECRET;

    if (!is_version(opts->min_version) || !is_version(opts->max_version) ||
        (opts->max_version != 0 && opts->max_version < least))
        return coil_fail(-EINVAL, "unknown version of TLS");
    SSL_CTX_set_min_proto_version(ctx, least);
    SSL_CTX_set_max_proto_version(ctx, opts->max_version);
    if (SSL_CTX_set_cipher_list(ctx, ciphers) != 1)
        return coil__tls_fail_setup(-EINVAL, "ciphers", ciphers);
    if (opts->ciphersuites != NULL &&
        SSL_CTX_set_ciphersuites(ctx, opts->ciphersuites) != 1)
        return coil__tls_fail_setup(-EINVAL, "ciphersuites", opts->ciphersuites);
    return 0;
}

/*
 * Convert the ALPN protocols to the wire format, such as "\2h2\10http/1.1", and set them.
 */
static int set_protocols(coil_tls *tls, const char *const *protocols)
{
    size_t bytes = 0;

    if (protocols == NULL || protocols[0] == NULL)
        return 0;
    for (size_t i = 0; protocols[i] != NULL; i++) {
        size_t n = strlen(protocols[i]);

        bytes += n + 1;
        if (n == 0 || n > 255 || bytes > 65535)
            return coil_fail(-EINVAL, "alpn: '%.20s' is too short or too long",
                             protocols[i]);
    }
    tls->alpn = coil__alloc(bytes);
    if (tls->alpn == NULL)
        return coil__failed(-ENOMEM);
    for (size_t i = 0; protocols[i] != NULL; i++) {
        size_t n = strlen(protocols[i]);

        tls->alpn[tls->alpn_bytes] = (unsigned char)n;
        memcpy(&tls->alpn[tls->alpn_bytes + 1], protocols[i], n);
        tls->alpn_bytes += (unsigned)n + 1;
    }
    if (SSL_CTX_set_alpn_protos(tls->ctx, tls->alpn, tls->alpn_bytes) != 0)
        return coil__failed(-ENOMEM);
    return 0;
}

/*
 * ALPN callback of servers: select the first of the server's protocols that the client
 * supports. If the client supports none of them, the handshake fails (RFC 7301, 3.2).
 */
static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_bytes,
                           const unsigned char *offered, unsigned offered_bytes,
                           void *arg)
{
    const coil_tls *tls = coil__tls_of(ssl)->chosen;

    (void)arg;
    if (tls->alpn == NULL)
        return SSL_TLSEXT_ERR_NOACK;
    if (SSL_select_next_proto((unsigned char **)out, out_bytes, tls->alpn,
                              tls->alpn_bytes, offered,
                              offered_bytes) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    return SSL_TLSEXT_ERR_OK;
}

/* ---- names ------------------------------------------------------------------------- */

static bool pattern_matches(const char *pattern, const char *name)
{
    const char *rest = strchr(name, '.');

    if (pattern[0] == '*')
        return rest != NULL && rest != name && strcasecmp(pattern + 1, rest) == 0;
    return strcasecmp(pattern, name) == 0;
}

coil_tls *coil__tls_for_name(coil_tls *tls, const char *name)
{
    coil_tls *found = tls;

    for (const struct coil__tls_name *n = tls->names; n != NULL; n = n->next)
        if (pattern_matches(n->pattern, name)) {
            if (n->pattern[0] != '*')
                return n->tls;
            found = n->tls;
        }
    return found;
}

int coil_tls_add_name(coil_tls *tls, const char *name, coil_tls *other)
{
    COIL__REQUIRE(tls, "a TLS context");
    COIL__REQUIRE(name, "a name");
    COIL__REQUIRE(other, "a TLS context");
    char normal[COIL__TLS_NAME_MAX + 1];
    struct coil__tls_name *added;
    size_t bytes;

    if (atomic_load(&tls->references) == 0)
        coil__misuse_gone("coil_tls_add_name");
    if (other == tls || coil__tls_normalize(name, normal) != COIL__TLS_HOST ||
        (normal[0] == '*' && normal[1] != '.') || strchr(normal + 1, '*') != NULL)
        return coil__failed(-EINVAL);
    for (const struct coil__tls_name *n = tls->names; n != NULL; n = n->next)
        if (strcasecmp(n->pattern, normal) == 0)
            return coil__failed(-EEXIST);
    bytes = strlen(normal) + 1;
    added = coil__alloc(sizeof *added + bytes);
    if (added == NULL)
        return coil__failed(-ENOMEM);
    memcpy(added->pattern, normal, bytes);
    added->tls = coil_tls_retain(other);
    added->next = tls->names;
    tls->names = added;
    return 0;
}

/*
 * Copy the server name in a ClientHello, normalized, to `name`. Returns false if the name
 * is missing or invalid. The extension (RFC 6066, 3) consists of the list's length (2
 * bytes), a zero byte, the name's length (2 bytes), and the name.
 */
static bool read_name(SSL *ssl, char *name)
{
    const unsigned char *bytes;
    char asked[256];
    size_t n, length;

    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &n) != 1 ||
        n < 5 || bytes[2] != TLSEXT_NAMETYPE_host_name)
        return false;
    length = (size_t)bytes[3] << 8 | bytes[4];
    if (length == 0 || length > n - 5 || length >= sizeof asked ||
        memchr(bytes + 5, '\0', length) != NULL)
        return false; /* OpenSSL rejects the malformed extension */
    memcpy(asked, bytes + 5, length);
    asked[length] = '\0';
    return coil__tls_normalize(asked, name) == COIL__TLS_HOST;
}

/*
 * Let the program choose a context (coil_tls_opts.choose). Returns NULL if the program
 * leaves the choice to coil.
 */
static coil_tls *choose_by_callback(struct coil__tls_stream *t)
{
    struct coil__no_suspend region;
    coil_tls *tls = t->tls;

    if (tls->choose == NULL)
        return NULL;
    /* set if this is the second ClientHello of the handshake */
    coil_tls_release(t->given);
    coil__no_suspend_enter(&region, "coil_tls_opts.choose is called");
    t->given = tls->choose(t->name, tls->choose_arg);
    coil__no_suspend_exit(&region);
    return t->given;
}

static int choose_context(SSL *ssl, int *alert, void *arg)
{
    struct coil__tls_stream *t = coil__tls_of(ssl);
    bool has_name;

    (void)arg;
    t->name[0] = '\0';
    has_name = read_name(ssl, t->name);
    t->chosen = choose_by_callback(t);
    if (t->chosen == NULL)
        t->chosen = has_name ? coil__tls_for_name(t->tls, t->name) : t->tls;
    /* If memory runs out, fail; otherwise the wrong certificate would be sent. */
    if (SSL_set_SSL_CTX(ssl, t->chosen->ctx) == NULL) {
        *alert = SSL_AD_INTERNAL_ERROR;
        return SSL_CLIENT_HELLO_ERROR;
    }
    coil__tls_expect_client(t, t->chosen);
    return SSL_CLIENT_HELLO_SUCCESS;
}

/* Make OpenSSL confirm to the client that its server name was used. */
static int accept_name(SSL *ssl, int *alert, void *arg)
{
    (void)ssl;
    (void)alert;
    (void)arg;
    return SSL_TLSEXT_ERR_OK;
}

/* ---- sessions ---------------------------------------------------------------------- */

/*
 * Callback for each new session: store a session that a client has received. Returns 1 if
 * the table has taken over the reference to the session.
 */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct coil__tls_stream *t = coil__tls_of(ssl);

    if (SSL_is_server(ssl) || t->name[0] == '\0' || !SSL_SESSION_is_resumable(session))
        return 0;
    return coil__tls_sessions_put(&t->tls->sessions, t->name, session);
}

/* ---- creating and releasing contexts ----------------------------------------------- */

/* Apply the settings that are common to all contexts. */
static int prepare_context(coil_tls *tls)
{
    unsigned char id[SSL_MAX_SID_CTX_LENGTH];
    SSL_CTX *ctx = tls->ctx;

    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_default_passwd_cb(ctx, give_password);
    /* idle connections hold no buffers */
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(ctx,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, keep_session);
    SSL_CTX_set_client_hello_cb(ctx, choose_context, NULL);
    SSL_CTX_set_tlsext_servername_callback(ctx, accept_name);
    SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ctx), X509_V_FLAG_PARTIAL_CHAIN);
    if (RAND_bytes(id, sizeof id) != 1 ||
        SSL_CTX_set_session_id_context(ctx, id, sizeof id) != 1)
        return coil__tls_fail_setup(-EIO, "cannot make", "a random number");
    return 0;
}

static int configure(coil_tls *tls, const coil_tls_opts *opts)
{
    int rc = coil__tls_set_up_key_log(tls, opts);

    if (rc < 0)
        return rc;
    rc = prepare_context(tls);
    if (rc < 0)
        return rc;
    rc = set_versions(tls->ctx, opts);
    if (rc < 0)
        return rc;
    rc = set_protocols(tls, opts->alpn);
    if (rc < 0)
        return rc;
    rc = load_authorities(tls, opts);
    if (rc < 0)
        return rc;
    if (opts->crl_file != NULL) {
        rc = load_revoked(tls->ctx, opts->crl_file);
        if (rc < 0)
            return rc;
    }
    return load_certificate(tls->ctx, opts);
}

static int fill_in(coil_tls *tls, const coil_tls_opts *opts)
{
    int rc;

    ERR_clear_error();
    tls->ctx = SSL_CTX_new(TLS_method());
    if (tls->ctx == NULL)
        return coil__tls_fail_setup(-ENOMEM, "cannot make", "a context");
    tls->no_verify = opts->no_verify;
    tls->verify_client = opts->verify_client;
    tls->allow_truncation = opts->allow_truncation;
    tls->choose = opts->choose;
    tls->choose_arg = opts->choose_arg;
    rc = configure(tls, opts);
    ERR_clear_error();
    return rc;
}

static void clear_context(coil_tls *tls)
{
    while (tls->names != NULL) {
        struct coil__tls_name *name = tls->names;

        tls->names = name->next;
        coil_tls_release(name->tls);
        coil__free(name);
    }
    SSL_CTX_free(tls->ctx);
    coil__tls_sessions_finish(&tls->sessions);
    coil__free(tls->alpn);
    coil__free(tls->key_file);
}

int coil_tls_create(const coil_tls_opts *opts, coil_tls **out)
{
    COIL__REQUIRE(out, "an output pointer");
    static const coil_tls_opts defaults;
    coil_tls *tls = coil__alloc_zeroed(sizeof *tls);
    int rc;

    *out = NULL;
    if (tls == NULL)
        return coil__failed(-ENOMEM);
    tls->references = 1;
    coil__tls_sessions_init(&tls->sessions);
    rc = fill_in(tls, opts != NULL ? opts : &defaults);
    if (rc < 0)
        coil_tls_release(tls);
    else
        *out = tls;
    return rc;
}

coil_tls *coil_tls_retain(coil_tls *tls)
{
    COIL__REQUIRE(tls, "a TLS context");
    if (atomic_fetch_add_explicit(&tls->references, 1, memory_order_relaxed) == 0)
        coil__misuse_gone("coil_tls_retain");
    return tls;
}

void coil_tls_release(coil_tls *tls)
{
    unsigned before =
        tls != NULL ? atomic_fetch_sub_explicit(&tls->references, 1, memory_order_acq_rel)
                    : 2;

    if (COIL__UNLIKELY(before == 0))
        coil__misuse_gone("coil_tls_release");
    if (before > 1)
        return;
    clear_context(tls);
    coil__free_object(tls);
}

/* ---- the default context ----------------------------------------------------------- */

/*
 * The default context, which is never freed. A thread of the file lane sets it up,
 * because reading the authorities takes long on systems that keep all of them in one
 * file.
 */
static coil_tls the_default = {.references = 1};
static pthread_mutex_t making_default = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool default_is_made;

static int make_default(void *arg)
{
    static const coil_tls_opts defaults;
    int rc = 0;

    (void)arg;
    pthread_mutex_lock(&making_default);
    if (!default_is_made) {
        coil__tls_sessions_init(&the_default.sessions);
        rc = fill_in(&the_default, &defaults);
        if (rc < 0)
            clear_context(&the_default);
        default_is_made = rc == 0;
    }
    pthread_mutex_unlock(&making_default);
    if (rc < 0)
        coil_clear_error(); /* an error on this thread does not reach the task */
    return rc;
}

int coil__tls_default(coil_tls **out)
{
    int rc = default_is_made ? 0 : coil_blocking(COIL_LANE_FILE, make_default, NULL);

    *out = &the_default;
    if (rc < 0 && rc != -ECANCELED)
        return coil_fail(rc, "cannot load the system's authorities: %s", strerror(-rc));
    return rc;
}
