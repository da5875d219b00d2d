/*
 * gssapi.c - MIT Kerberos: each task uses a password to get a ticket from the key
 * distribution centre, and authenticates itself to a service with that ticket.
 */
#include "foreign.h"

#include <gssapi/gssapi_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSWORD "secret"

/*
 * Add the port of the key distribution centre to the configuration, because it was not
 * known before.
 */
static bool start(void)
{
    const char *path = getenv("KRB5_CONFIG");
    FILE *file = fopen(path, "a");

    if (file == NULL)
        return foreign_failed("no configuration");
    fprintf(file, "[realms]\n TEST = {\n  kdc = 127.0.0.1:%d\n }\n", foreign_port);
    return fclose(file) == 0;
}

static gss_name_t import(const char *text, gss_OID type)
{
    gss_buffer_desc buffer = {strlen(text), (void *)text};
    gss_name_t name = GSS_C_NO_NAME;
    OM_uint32 minor;

    gss_import_name(&minor, &buffer, type, &name);
    return name;
}

static gss_cred_id_t log_in(void)
{
    gss_buffer_desc password = {strlen(PASSWORD), PASSWORD};
    gss_name_t user = import("user", GSS_C_NT_USER_NAME);
    gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
    OM_uint32 minor;

    gss_acquire_cred_with_password(&minor, user, &password, 0, GSS_C_NO_OID_SET,
                                   GSS_C_INITIATE, &credential, NULL, NULL);
    gss_release_name(&minor, &user);
    return credential;
}

/* Accept the ticket on behalf of the service, and check the user's name in it. */
static bool accept_token(gss_buffer_t token)
{
    gss_ctx_id_t context = GSS_C_NO_CONTEXT;
    gss_buffer_desc reply = GSS_C_EMPTY_BUFFER, text = GSS_C_EMPTY_BUFFER;
    gss_name_t user = GSS_C_NO_NAME;
    OM_uint32 minor, major;
    bool right;

    major = gss_accept_sec_context(&minor, &context, GSS_C_NO_CREDENTIAL, token,
                                   GSS_C_NO_CHANNEL_BINDINGS, &user, NULL, &reply, NULL,
                                   NULL, NULL);
    if (major == GSS_S_COMPLETE)
        gss_display_name(&minor, user, &text, NULL);
    right = text.length == strlen("user@TEST") &&
            memcmp(text.value, "user@TEST", text.length) == 0;
    gss_release_buffer(&minor, &text);
    gss_release_buffer(&minor, &reply);
    gss_release_name(&minor, &user);
    gss_delete_sec_context(&minor, &context, NULL);
    return right || foreign_failed("the service does not accept the ticket");
}

static bool use(int number)
{
    gss_name_t service = import("service@localhost", GSS_C_NT_HOSTBASED_SERVICE);
    gss_buffer_desc token = GSS_C_EMPTY_BUFFER;
    gss_ctx_id_t context = GSS_C_NO_CONTEXT;
    gss_cred_id_t credential = log_in();
    OM_uint32 minor, major;
    bool right;

    (void)number;
    major = gss_init_sec_context(&minor, credential, &context, service, GSS_C_NO_OID, 0,
                                 0, GSS_C_NO_CHANNEL_BINDINGS, GSS_C_NO_BUFFER, NULL,
                                 &token, NULL, NULL);
    right = major == GSS_S_COMPLETE ? accept_token(&token)
                                    : foreign_failed("no ticket: %x, %u", major, minor);
    gss_release_buffer(&minor, &token);
    gss_delete_sec_context(&minor, &context, NULL);
    gss_release_cred(&minor, &credential);
    gss_release_name(&minor, &service);
    return right;
}

const struct foreign foreign = {.name = "Kerberos (GSSAPI)",
                                .tested = "tickets with a password, service contexts",
                                .server = true,
                                .start = start,
                                .use = use};
