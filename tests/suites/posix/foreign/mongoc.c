/*
 * mongoc.c - MongoDB's C driver: each task has a client, and runs the commands ping and
 * find.
 */
#include "foreign.h"

#include <mongoc/mongoc.h>
#include <stdio.h>

/* Check that the server answers with one document that contains twice the number. */
static bool find(mongoc_client_t *client, int number)
{
    mongoc_collection_t *collection = mongoc_client_get_collection(client, "db", "c");
    bson_t *filter = BCON_NEW("n", BCON_INT32(number));
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(collection, filter, NULL, NULL);
    const bson_t *document;
    bson_iter_t iter;
    int found = -1;

    while (mongoc_cursor_next(cursor, &document))
        if (bson_iter_init_find(&iter, document, "twice"))
            found = bson_iter_int32(&iter);
    mongoc_cursor_destroy(cursor);
    bson_destroy(filter);
    mongoc_collection_destroy(collection);
    return found == 2 * number || foreign_failed("%d, not %d", found, 2 * number);
}

static bool ping(mongoc_client_t *client)
{
    bson_t *command = BCON_NEW("ping", BCON_INT32(1));
    bson_error_t error;
    bool right =
        mongoc_client_command_simple(client, "admin", command, NULL, NULL, &error);

    bson_destroy(command);
    return right || foreign_failed("%s", error.message);
}

static bool use(int number)
{
    mongoc_client_t *client;
    char uri[60];
    bool right;

    snprintf(uri, sizeof uri, "mongodb://127.0.0.1:%d/", foreign_port);
    client = mongoc_client_new(uri);
    right = ping(client) && find(client, number);
    mongoc_client_destroy(client);
    return right;
}

static bool start(void)
{
    mongoc_init();
    return true;
}

static bool stop(void)
{
    mongoc_cleanup();
    return true;
}

const struct foreign foreign = {.name = "libmongoc",
                                .tested = "commands, finding documents",
                                .server = true,
                                .start = start,
                                .use = use,
                                .stop = stop};
