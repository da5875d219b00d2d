/*
 * certificates.c - see certificates.h.
 */
#include "certificates.h"

#include "../../harness/harness.h"

#include <dirent.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <unistd.h>

struct identity {
    X509 *certificate;
    EVP_PKEY *key;
};

#define DAY (24L * 60 * 60)

struct wish {
    const char *name;      /* the subject's common name */
    const char *alt_names; /* "DNS:localhost"; NULL: an authority */
    /* validity in days from now; 0 and 0: the next ten days */
    long from, until;
    bool rsa; /* use an RSA key instead of an elliptic-curve key */
};

static void add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509_EXTENSION *extension;

    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    CHECK(extension != NULL);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

/* Create a key and a certificate, which is self-signed if `issuer` is NULL. */
static struct identity make(const struct wish *wish, const struct identity *issuer)
{
    static long serial = 1;
    struct identity made = {X509_new(),
                            wish->rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256")};
    const struct identity *by = issuer != NULL ? issuer : &made;
    X509_NAME *name = X509_get_subject_name(made.certificate);
    long until = wish->until != 0 ? wish->until : 10;

    X509_set_version(made.certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(made.certificate), wish->from * DAY - 60);
    X509_gmtime_adj(X509_getm_notAfter(made.certificate), until * DAY);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               (const unsigned char *)wish->name, -1, -1, 0);
    X509_set_issuer_name(made.certificate, X509_get_subject_name(by->certificate));
    X509_set_pubkey(made.certificate, made.key);
    add_extension(made.certificate, by->certificate, NID_basic_constraints,
                  wish->alt_names != NULL ? "critical,CA:FALSE" : "critical,CA:TRUE");
    add_extension(made.certificate, by->certificate, NID_subject_key_identifier, "hash");
    if (wish->alt_names != NULL && wish->alt_names[0] != '\0')
        add_extension(made.certificate, by->certificate, NID_subject_alt_name,
                      wish->alt_names);
    CHECK(X509_sign(made.certificate, by->key, EVP_sha256()) > 0);
    return made;
}

static void drop(struct identity *identity)
{
    X509_free(identity->certificate);
    EVP_PKEY_free(identity->key);
}

static FILE *open_in(const struct certificates *c, const char *name, char path[96])
{
    FILE *file;

    snprintf(path, 96, "%s/%s.pem", c->folder, name);
    file = fopen(path, "we");
    CHECK(file != NULL);
    return file;
}

static void save(const struct certificates *c, const char *name, char path[96],
                 const struct identity *identity, const struct identity *above,
                 const char *password)
{
    FILE *file = open_in(c, name, path);

    PEM_write_X509(file, identity->certificate);
    if (above != NULL)
        PEM_write_X509(file, above->certificate);
    PEM_write_PrivateKey(file, identity->key, password != NULL ? EVP_aes_128_cbc() : NULL,
                         NULL, 0, NULL, (void *)password);
    fclose(file);
}

static void make_and_save(const struct certificates *c, const char *file, char path[96],
                          const struct wish *wish, const struct identity *issuer,
                          const struct identity *above)
{
    struct identity made = make(wish, issuer);

    save(c, file, path, &made, above, NULL);
    drop(&made);
}

#define SERVER_NAMES "DNS:localhost,DNS:*.example.org,IP:127.0.0.1,IP:::1"

static void make_servers(struct certificates *c, const struct identity *by)
{
    struct wish server = {"server", SERVER_NAMES, 0, 0, false};
    struct identity locked = make(&server, by);

    make_and_save(c, "server", c->server, &server, by, by);
    make_and_save(c, "no_chain", c->no_chain, &server, by, NULL);
    make_and_save(c, "other_name", c->other_name,
                  &(struct wish){"localhost", "DNS:other.test", 0, 0, false}, by, by);
    make_and_save(c, "expired", c->expired,
                  &(struct wish){"server", SERVER_NAMES, -10, -5, false}, by, by);
    make_and_save(c, "future", c->future,
                  &(struct wish){"server", SERVER_NAMES, 5, 10, false}, by, by);
    make_and_save(c, "self_signed", c->self_signed, &server, NULL, NULL);
    save(c, "locked", c->locked, &locked, by, "sesame");
    drop(&locked);
}

static X509_CRL *list_revoked(const struct identity *by, X509 *revoked)
{
    X509_CRL *list = X509_CRL_new();
    ASN1_TIME *now = X509_gmtime_adj(NULL, -60), *next = X509_gmtime_adj(NULL, DAY);

    X509_CRL_set_version(list, X509_CRL_VERSION_2);
    X509_CRL_set_issuer_name(list, X509_get_subject_name(by->certificate));
    X509_CRL_set1_lastUpdate(list, now);
    X509_CRL_set1_nextUpdate(list, next);
    if (revoked != NULL) {
        X509_REVOKED *entry = X509_REVOKED_new();

        X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked));
        X509_REVOKED_set_revocationDate(entry, now);
        X509_CRL_add0_revoked(list, entry);
    }
    CHECK(X509_CRL_sign(list, by->key, EVP_sha256()) > 0);
    ASN1_TIME_free(now);
    ASN1_TIME_free(next);
    return list;
}

static void save_lists(struct certificates *c, const struct identity *root,
                       const struct identity *below)
{
    struct identity revoked =
        make(&(struct wish){"server", SERVER_NAMES, 0, 0, false}, below);
    X509_CRL *lists[] = {list_revoked(root, NULL),
                         list_revoked(below, revoked.certificate)};
    FILE *file = open_in(c, "crl", c->crl);

    for (int i = 0; i < 2; i++) {
        PEM_write_X509_CRL(file, lists[i]);
        X509_CRL_free(lists[i]);
    }
    fclose(file);
    save(c, "revoked", c->revoked, &revoked, below, NULL);
    drop(&revoked);
}

static void save_root(struct certificates *c, X509 *root)
{
    FILE *file = open_in(c, "root", c->root);
    char hashed[96];

    PEM_write_X509(file, root);
    fclose(file);
    snprintf(hashed, sizeof hashed, "%s/%08lx.0", c->folder,
             X509_NAME_hash_ex(X509_get_subject_name(root), NULL, NULL, NULL));
    CHECK_INT(link(c->root, hashed), 0);
}

static void save_key(const struct certificates *c, const char *name, char path[96],
                     EVP_PKEY *key)
{
    FILE *file = open_in(c, name, path);

    PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL);
    fclose(file);
    EVP_PKEY_free(key);
}

void certificates_make(struct certificates *c)
{
    struct identity root = make(&(struct wish){"root", NULL, 0, 0, false}, NULL);
    struct identity below =
        make(&(struct wish){"intermediate", NULL, 0, 0, false}, &root);

    strcpy(c->folder, "/tmp/coil-certificates-XXXXXX");
    CHECK(mkdtemp(c->folder) != NULL);
    save_root(c, root.certificate);
    make_servers(c, &below);
    save_lists(c, &root, &below);
    make_and_save(c, "client", c->client, &(struct wish){"client", "", 0, 0, false},
                  &root, NULL);
    make_and_save(c, "stranger", c->stranger, &(struct wish){"stranger", "", 0, 0, false},
                  NULL, NULL);
    save_key(c, "key", c->key, EVP_EC_gen("P-256"));
    save_key(c, "other_key", c->other_key, EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
    drop(&root);
    drop(&below);
}

void certificates_add_rsa(const struct certificates *c, char path[96])
{
    make_and_save(c, "rsa", path,
                  &(struct wish){.name = "rsa", .alt_names = SERVER_NAMES, .rsa = true},
                  NULL, NULL);
}

void certificates_remove(const struct certificates *c)
{
    DIR *folder = opendir(c->folder);
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    CHECK_INT(rmdir(c->folder), 0);
}
