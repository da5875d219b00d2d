/*
 * tls_sessions.c - the sessions that a client may resume.
 *
 * The table has a fixed size and is searched linearly, which takes a thousandth of the
 * time of a handshake. When the table is full, a new session replaces the oldest one.
 * Each server can have at most SESSIONS_OF_ONE entries, so that a server that sends many
 * tickets does not displace the sessions of all other servers.
 *
 * Sessions are found by the verified name of the server. The certificate is not verified
 * again when a session is resumed, so a session for another name must not be used.
 */
#include "tls.h"

#include <string.h>

#define SESSIONS 128
#define SESSIONS_OF_ONE 4

struct coil__tls_session {
    SSL_SESSION *session; /* NULL: the entry is free */
    /* value of the table's `clock` after the session was stored */
    uint64_t kept;
    char name[COIL__TLS_NAME_MAX + 1];
};

void coil__tls_sessions_init(struct coil__tls_sessions *sessions)
{
    pthread_mutex_init(&sessions->mutex, NULL);
    sessions->table = NULL;
    sessions->clock = 0;
}

void coil__tls_sessions_finish(struct coil__tls_sessions *sessions)
{
    for (size_t i = 0; sessions->table != NULL && i < SESSIONS; i++)
        SSL_SESSION_free(sessions->table[i].session);
    OPENSSL_free(sessions->table);
    pthread_mutex_destroy(&sessions->mutex);
}

/*
 * Return the entry in which to store a new session: the server's oldest entry if the
 * server already has SESSIONS_OF_ONE entries, otherwise a free entry, or the oldest entry
 * in the table if none is free.
 */
static struct coil__tls_session *find_place(struct coil__tls_sessions *sessions,
                                            const char *name)
{
    struct coil__tls_session *own = NULL, *any = &sessions->table[0];
    int own_count = 0;

    for (size_t i = 0; i < SESSIONS; i++) {
        struct coil__tls_session *s = &sessions->table[i];

        if (s->kept < any->kept)
            any = s; /* `kept` is 0 in free entries, so these are used first */
        if (s->session == NULL || strcmp(s->name, name) != 0)
            continue;
        own_count++;
        if (own == NULL || s->kept < own->kept)
            own = s;
    }
    return own_count >= SESSIONS_OF_ONE ? own : any;
}

bool coil__tls_sessions_put(struct coil__tls_sessions *sessions, const char *name,
                            SSL_SESSION *session)
{
    struct coil__tls_session *place;

    pthread_mutex_lock(&sessions->mutex);
    if (sessions->table == NULL)
        sessions->table = OPENSSL_zalloc(SESSIONS * sizeof *sessions->table);
    if (sessions->table != NULL) {
        place = find_place(sessions, name);
        SSL_SESSION_free(place->session);
        place->session = session;
        place->kept = ++sessions->clock;
        strcpy(place->name, name);
    }
    pthread_mutex_unlock(&sessions->mutex);
    return sessions->table != NULL;
}

static struct coil__tls_session *find_newest(struct coil__tls_sessions *sessions,
                                             const char *name)
{
    struct coil__tls_session *found = NULL;

    for (size_t i = 0; sessions->table != NULL && i < SESSIONS; i++) {
        struct coil__tls_session *s = &sessions->table[i];

        if (s->session != NULL && strcmp(s->name, name) == 0 &&
            (found == NULL || s->kept > found->kept))
            found = s;
    }
    return found;
}

SSL_SESSION *coil__tls_sessions_take(struct coil__tls_sessions *sessions,
                                     const char *name)
{
    struct coil__tls_session *found;
    SSL_SESSION *session = NULL;

    pthread_mutex_lock(&sessions->mutex);
    found = find_newest(sessions, name);
    if (found != NULL) {
        session = found->session;
        /*
         * If a TLS 1.3 ticket were used twice, eavesdroppers could see that both
         * connections are from the same client (RFC 8446, C.4). TLS 1.2 sessions can be
         * resumed any number of times.
         */
        if (SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION) {
            found->session = NULL;
            found->kept = 0;
        } else {
            SSL_SESSION_up_ref(session);
        }
    }
    pthread_mutex_unlock(&sessions->mutex);
    return session;
}
