/*
 * test_tls_context.c - contexts: errors in files and options, trusted authorities, and
 * the default context of the process.
 */
#include "certificates.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_says(const char *part)
{
    coil_error *error = coil_last_error();
    const char *text = error != NULL ? coil_error_message(error) : "";

    if (strstr(text, part) == NULL)
        CHECK_STR(text, part);
}

/* ---- files and options ------------------------------------------------------------- */

static void check_fails(const coil_tls_opts *opts, int rc, const char *sentence)
{
    coil_tls *tls = NULL;

    CHECK_INT(coil_tls_create(opts, &tls), rc);
    CHECK_PTR(tls, NULL);
    check_says(sentence);
}

static void check_works(const coil_tls_opts *opts)
{
    coil_tls *tls;

    CHECK_INT(coil_tls_create(opts, &tls), 0);
    coil_tls_release(tls);
}

TASK_TEST(tls_context_with_a_key_that_is_locked)
{
    struct certificates files;

    certificates_make(&files);
    check_works(
        &(coil_tls_opts){.certificate_file = files.locked, .key_password = "sesame"});
    check_fails(&(coil_tls_opts){.certificate_file = files.locked}, -ENOKEY,
                "no password for the key in '");
    check_fails(&(coil_tls_opts){.certificate_file = files.locked, .key_password = "x"},
                -EKEYREJECTED, "wrong password for the key in '");
    check_fails(&(coil_tls_opts){.certificate_file = files.locked, .key_password = ""},
                -EKEYREJECTED, "wrong password for the key in '");
    certificates_remove(&files);
}

/*
 * A context cannot be created if the key belongs to another certificate or has another
 * type.
 */
TASK_TEST(tls_context_with_a_key_that_does_not_fit)
{
    struct certificates files;

    certificates_make(&files);
    check_fails(&(coil_tls_opts){.certificate_file = files.server, .key_file = files.key},
                -EINVAL, "key.pem': key values mismatch");
    check_fails(
        &(coil_tls_opts){.certificate_file = files.server, .key_file = files.other_key},
        -EINVAL, "other_key.pem'");
    check_fails(&(coil_tls_opts){.certificate_file = files.root}, -EINVAL,
                "cannot use the key in '"); /* root.pem contains no key */
    check_fails(&(coil_tls_opts){.key_file = files.key}, -EINVAL,
                "key_file needs a certificate_file");
    certificates_remove(&files);
}

TASK_TEST(tls_context_without_its_files)
{
    struct certificates files;

    certificates_make(&files);
    check_fails(&(coil_tls_opts){.certificate_file = "/nowhere/a.pem"}, -ENOENT,
                "cannot open '/nowhere/a.pem': No such file");
    check_fails(
        &(coil_tls_opts){.certificate_file = files.server, .key_file = "/nowhere/b.pem"},
        -ENOENT, "cannot open '/nowhere/b.pem'");
    check_fails(&(coil_tls_opts){.ca_file = "/nowhere/c.pem"}, -ENOENT,
                "cannot open '/nowhere/c.pem'");
    check_fails(&(coil_tls_opts){.ca_path = "/nowhere"}, -ENOENT,
                "cannot open '/nowhere'");
    check_fails(&(coil_tls_opts){.crl_file = "/nowhere/d.pem"}, -ENOENT,
                "cannot open '/nowhere/d.pem'");
    check_fails(&(coil_tls_opts){.ca_path = files.root}, -ENOTDIR, "root.pem'");
    check_fails(&(coil_tls_opts){.ca_file = files.folder}, -EISDIR, "Is a directory");
    check_fails(&(coil_tls_opts){.certificate_file = files.folder}, -EISDIR,
                "Is a directory");
    if (geteuid() != 0) {
        CHECK_INT(chmod(files.server, 0), 0);
        check_fails(&(coil_tls_opts){.certificate_file = files.server}, -EACCES,
                    "Permission denied");
    }
    certificates_remove(&files);
}

TASK_TEST(tls_context_with_files_of_something_else)
{
    struct certificates files;

    certificates_make(&files);
    check_fails(&(coil_tls_opts){.certificate_file = files.key}, -EINVAL,
                "cannot use the certificate in '");
    check_fails(&(coil_tls_opts){.ca_file = files.key}, -EINVAL, "no certificate in '");
    check_fails(&(coil_tls_opts){.ca_file = "/dev/null"}, -EINVAL,
                "no certificate in '/dev/null'");
    check_fails(&(coil_tls_opts){.crl_file = files.root}, -EINVAL,
                "no list of revoked certificates in '");
    certificates_remove(&files);
}

TASK_TEST(tls_context_with_options_that_cannot_be)
{
    char long_name[300];

    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    check_fails(&(coil_tls_opts){.min_version = 0x0301}, -EINVAL,
                "unknown version of TLS");
    check_fails(
        &(coil_tls_opts){.min_version = COIL_TLS_1_3, .max_version = COIL_TLS_1_2},
        -EINVAL, "unknown version of TLS");
    check_fails(&(coil_tls_opts){.ciphers = "NONSENSE"}, -EINVAL, "ciphers 'NONSENSE'");
    check_fails(&(coil_tls_opts){.ciphersuites = "NONSENSE"}, -EINVAL,
                "ciphersuites 'NONSENSE'");
    check_fails(&(coil_tls_opts){.alpn = (const char *const[]){"", NULL}}, -EINVAL,
                "too short or too long");
    check_fails(&(coil_tls_opts){.alpn = (const char *const[]){long_name, NULL}}, -EINVAL,
                "too short or too long");
    check_fails(&(coil_tls_opts){.verify_client = true}, -EINVAL,
                "verify_client needs a ca_file or ca_path");
    check_works(&(coil_tls_opts){.alpn = (const char *const[]){NULL}});
}

/* ---- whom it trusts ---------------------------------------------------------------- */

struct accepting {
    coil_stream *stream;
    coil_tls *tls;
    int rc;
};

static int accept_it(void *arg)
{
    struct accepting *a = arg;

    a->rc = coil_accept_tls(a->stream, a->tls);
    return 0;
}

/*
 * Perform a handshake between a client and a server with these options. Returns the
 * client's result, and stores the server's result in *server_rc.
 */
static int meet(const coil_tls_opts *server, coil_tls *client, int *server_rc)
{
    struct accepting a = {.rc = 0};
    coil_stream *ends[2];
    coil_task *task;
    int rc;

    CHECK_INT(coil_tls_create(server, &a.tls), 0);
    connect_streams(ends);
    a.stream = ends[1];
    CHECK_INT(coil_spawn(accept_it, &a, NULL, &task), 0);
    rc = coil_start_tls(ends[0], client, "localhost");
    coil_stream_destroy(ends[0]);
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    coil_stream_destroy(ends[1]);
    coil_tls_release(a.tls);
    *server_rc = a.rc;
    return rc;
}

static int meet_as(const coil_tls_opts *client, const char *certificate)
{
    coil_tls_opts server = {.certificate_file = certificate};
    coil_tls *tls;
    int rc, server_rc;

    CHECK_INT(coil_tls_create(client, &tls), 0);
    rc = meet(&server, tls, &server_rc);
    coil_tls_release(tls);
    return rc;
}

NET_TEST(tls_authorities_in_a_folder)
{
    struct certificates files;
    coil_tls_opts client;

    certificates_make(&files);
    client = (coil_tls_opts){.ca_path = files.folder};
    CHECK_INT(meet_as(&client, files.server), 0);
    CHECK_INT(meet_as(&client, files.self_signed), -ENOKEY);
    client.ca_path = "/"; /* a folder without certificates */
    CHECK_INT(meet_as(&client, files.server), -ENOKEY);
    client.ca_file = files.root; /* used in addition to ca_path */
    CHECK_INT(meet_as(&client, files.server), 0);
    certificates_remove(&files);
}

NET_TEST(tls_clients_authorities_in_a_folder)
{
    struct certificates files;
    coil_tls_opts server, client;
    coil_tls *tls;
    int rc;

    certificates_make(&files);
    server = (coil_tls_opts){
        .certificate_file = files.server, .verify_client = true, .ca_path = files.folder};
    client = (coil_tls_opts){.ca_file = files.root,
                             .certificate_file = files.client,
                             .max_version = COIL_TLS_1_2};
    CHECK_INT(coil_tls_create(&client, &tls), 0);
    CHECK_INT(meet(&server, tls, &rc), 0);
    CHECK_INT(rc, 0);
    coil_tls_release(tls);
    client.certificate_file = files.stranger;
    CHECK_INT(coil_tls_create(&client, &tls), 0);
    CHECK_INT(meet(&server, tls, &rc), -EPROTO);
    CHECK_INT(rc, -ENOKEY);
    coil_tls_release(tls);
    certificates_remove(&files);
}

NET_TEST(tls_certificates_that_were_revoked)
{
    struct certificates files;
    coil_tls_opts client;

    certificates_make(&files);
    client = (coil_tls_opts){.ca_file = files.root};
    /* without a revocation list the certificate is accepted */
    CHECK_INT(meet_as(&client, files.revoked), 0);
    client.crl_file = files.crl;
    CHECK_INT(meet_as(&client, files.server), 0);
    CHECK_INT(meet_as(&client, files.revoked), -EKEYREVOKED);
    check_says("certificate revoked (depth 0, subject 'CN = server'");
    /* crl_file contains no list of this authority */
    client.ca_file = files.self_signed;
    CHECK_INT(meet_as(&client, files.self_signed), -EKEYREJECTED);
    check_says("unable to get certificate CRL");
    certificates_remove(&files);
}

/* ---- the process's own ------------------------------------------------------------- */

/*
 * When it is first used, the default context reads its trusted authorities from the file
 * that SSL_CERT_FILE names. Later changes to the variable have no effect.
 */
IO_TEST(tls_default_context)
{
    struct certificates files;
    coil_tls_opts server;
    int rc;

    certificates_make(&files);
    server = (coil_tls_opts){.certificate_file = files.server};
    setenv("SSL_CERT_FILE", files.root, 1);
    CHECK_INT(meet(&server, NULL, &rc), 0);
    setenv("SSL_CERT_FILE", "/dev/null", 1);
    CHECK_INT(meet(&server, NULL, &rc), 0);
    server.certificate_file = files.expired;
    CHECK_INT(meet(&server, NULL, &rc), -EKEYEXPIRED);
    certificates_remove(&files);
}

IO_TEST(tls_default_context_of_a_system_without_authorities)
{
    struct certificates files;
    coil_tls_opts server;
    int rc;

    certificates_make(&files);
    server = (coil_tls_opts){.certificate_file = files.server};
    setenv("SSL_CERT_FILE", "/nowhere/a.pem", 1);
    setenv("SSL_CERT_DIR", "/nowhere", 1);
    CHECK_INT(meet(&server, NULL, &rc), -ENOKEY);
    certificates_remove(&files);
}

/*
 * If descriptors have run out, the default context is not created. Otherwise the process
 * would never trust an authority.
 */
IO_TEST(tls_default_context_without_descriptors)
{
    struct certificates files;
    coil_tls_opts server;
    coil_stream *ends[2];
    int before, rc;

    certificates_make(&files);
    server = (coil_tls_opts){.certificate_file = files.server};
    setenv("SSL_CERT_FILE", files.root, 1);
    setenv("SSL_CERT_DIR", "/nowhere", 1);
    CHECK_INT(coil_stream_pair(ends), 0);
    before = limit_descriptors(0);
    check_fails(NULL, -EMFILE, "Too many open files");
    CHECK_INT(coil_start_tls(ends[0], NULL, "localhost"), -EMFILE);
    check_says("cannot load the system's authorities: Too many open files");
    restore_descriptors(before);
    CHECK_INT(meet(&server, NULL, &rc), 0);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    certificates_remove(&files);
}

/*
 * A context with a certificate loads the system's authorities when a client first uses
 * it, and never for a server.
 */
IO_TEST(tls_context_with_a_certificate_trusts_the_system_when_it_connects)
{
    struct certificates files;
    coil_tls_opts server, client;
    coil_tls *tls;
    int rc;

    certificates_make(&files);
    server = (coil_tls_opts){.certificate_file = files.server};
    client = (coil_tls_opts){.certificate_file = files.client};
    setenv("SSL_CERT_DIR", "/nowhere", 1);
    setenv("SSL_CERT_FILE", "/dev/null", 1);
    CHECK_INT(coil_tls_create(&client, &tls), 0);
    setenv("SSL_CERT_FILE", files.root, 1);
    CHECK_INT(meet(&server, tls, &rc), 0);
    setenv("SSL_CERT_FILE", "/dev/null", 1);
    CHECK_INT(meet(&server, tls, &rc), 0);
    coil_tls_release(tls);
    CHECK_INT(coil_tls_create(&client, &tls), 0);
    CHECK_INT(meet(&server, tls, &rc), -ENOKEY);
    coil_tls_release(tls);
    certificates_remove(&files);
}

/*
 * The default context is created for later calls even if the task that waits for it is
 * cancelled.
 */
IO_TEST(tls_default_context_that_nobody_waits_for)
{
    struct certificates files;
    coil_tls_opts server;
    coil_stream *ends[2];
    coil_scope scope;
    int rc;

    certificates_make(&files);
    server = (coil_tls_opts){.certificate_file = files.server};
    setenv("SSL_CERT_FILE", files.root, 1);
    connect_streams(ends);
    coil_scope_enter(&scope, coil_in(0));
    rc = coil_start_tls(ends[0], NULL, "localhost");
    CHECK_INT(coil_scope_exit(&scope, rc), -ETIMEDOUT);
    destroy_streams(ends);
    CHECK_INT(meet(&server, NULL, &rc), 0);
    certificates_remove(&files);
}
