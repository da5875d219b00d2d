/*
 * simulated_flow.c - the bytes of a simulated connection, from one end to the other.
 *
 *   send --> waiting --> flying --> the other end's `received` --> receive
 *               |  room there |  latency                              |
 *               ^             `--> acknowledgement: room for send     |
 *               `-------------------- the window opens ---------------'
 *
 * Invariants
 * 1. The packets in flight arrive in the order in which they were sent: none is due
 *    before its predecessor. An event is scheduled only for the first of them.
 * 2. The bytes in flight plus the bytes that the other end has received but not read do
 *    not exceed the other end's receive_limit. The only exception is a single packet that
 *    is larger than the limit. Packets for which there is no room are in `waiting`.
 * 3. `unacknowledged` is the number of bytes that are waiting or in flight, or that have
 *    arrived but are not acknowledged yet. This number never exceeds send_limit: a sender waits for room.
 * 4. Memory is allocated only when bytes are sent. The packets of handshakes, FINs and
 *    resets are members of the connection, so neither closing a socket nor the arrival of
 *    a packet can fail for lack of memory.
 */
#include "simulated_flow.h"

#include <string.h>

enum { DEFAULT_SEGMENT = 16384 };

/* Linux's defaults: see tcp_retries2 and tcp_syn_retries in tcp(7). */
#define SENDER_GIVES_UP COIL_MSEC(924600)
#define CONNECTING_GIVES_UP COIL_SEC(127)

static struct coil__sim_packet *first_of(struct coil__list *list)
{
    return coil__list_empty(list)
               ? NULL
               : COIL__CONTAINER(list->next, struct coil__sim_packet, link);
}

static void drop_packet(struct coil__sim_packet *packet)
{
    coil__list_remove(&packet->link);
    if (packet->kind >= COIL__SIM_CONTROLS)
        coil__inside->free(packet);
}

static void drop_packets(struct coil__list *packets)
{
    while (!coil__list_empty(packets))
        drop_packet(first_of(packets));
}

void coil__sim_flow_drop_waiting(struct coil__sim_end *end)
{
    drop_packets(&end->waiting);
}

void coil__sim_flow_finish(struct coil__sim *sim, struct coil__sim_end *end)
{
    coil__sim_unschedule(sim, &end->arrival);
    coil__sim_unschedule(sim, &end->acknowledgement);
    drop_packets(&end->waiting);
    drop_packets(&end->flying);
    drop_packets(&end->received);
}

/* ---- transmission ------------------------------------------------------------------ */

static void launch_packet(struct coil__sim *sim, struct coil__sim_end *end,
                          struct coil__sim_packet *packet)
{
    int64_t now = coil__sim_now(), leaves = now > end->wire_free ? now : end->wire_free;

    if (sim->opts.bytes_per_second > 0)
        leaves += (int64_t)packet->bytes * COIL_SEC(1) / sim->opts.bytes_per_second;
    end->wire_free = leaves;
    packet->sent = now;
    packet->due = coil__inside->time_add(leaves, coil__sim_latency(sim));
    if (packet->due < end->last_due)
        packet->due = end->last_due;
    end->last_due = packet->due;
    packet->breaks =
        packet->kind == COIL__SIM_DATA && coil__sim_chance(sim, sim->opts.reset_ppm);
    coil__sim_perhaps_cut(sim, &coil__sim_other(end)->name.host);
    end->flying_bytes += packet->bytes;
    coil__list_remove(&packet->link);
    coil__list_push(&end->flying, &packet->link);
    if (!end->arrival.queued)
        coil__sim_schedule(sim, &end->arrival, packet->due);
}

static bool has_room(const struct coil__sim_end *end,
                     const struct coil__sim_packet *packet)
{
    const struct coil__sim_end *other = coil__sim_other(end);
    size_t there = end->flying_bytes + other->received_bytes;

    return packet->bytes == 0 || there == 0 ||
           there + packet->bytes <= other->receive_limit;
}

/* Send the waiting packets for which the other end has room. */
static void transmit(struct coil__sim *sim, struct coil__sim_end *end)
{
    struct coil__sim_packet *packet;

    while ((packet = first_of(&end->waiting)) != NULL && has_room(end, packet))
        launch_packet(sim, end, packet);
}

void coil__sim_flow_control(struct coil__sim *sim, struct coil__sim_end *end,
                            enum coil__sim_packet_kind kind)
{
    struct coil__sim_packet *packet = &end->controls[kind];

    if (!coil__list_empty(&packet->link))
        return;
    if (kind == COIL__SIM_RST)
        drop_packets(&end->waiting);
    coil__list_push(&end->waiting, &packet->link);
    transmit(sim, end);
}

/* ---- arrival ----------------------------------------------------------------------- */

static void acknowledgement_arrives(struct coil__sim *sim, struct coil__sim_event *event)
{
    struct coil__sim_end *end =
        COIL__CONTAINER(event, struct coil__sim_end, acknowledgement);

    end->unacknowledged -= end->acknowledging;
    end->acknowledging = 0;
    coil__sim_changed(sim, end->socket);
}

static void log_packet(struct coil__sim *sim, const struct coil__sim_end *end,
                       const struct coil__sim_packet *packet)
{
    static const char *const kinds[] = {
        [COIL__SIM_HELLO] = "hello", [COIL__SIM_FIN] = "fin", [COIL__SIM_RST] = "reset"};
    const struct coil__sim_end *other = coil__sim_other(end);

    if (packet->kind == COIL__SIM_DATA)
        coil__sim_log(sim, &end->name, &other->name, "data %zu%s", packet->bytes,
                      packet->breaks ? ", lost with the connection" : "");
    else
        coil__sim_log(sim, &end->name, &other->name, "%s", kinds[packet->kind]);
}

/*
 * Deliver a packet with data that `end` has sent. If the other end is closed or dead, or
 * the packet is to break the connection, the other end answers with a reset.
 */
static void deliver_data(struct coil__sim *sim, struct coil__sim_end *end,
                         struct coil__sim_packet *packet)
{
    struct coil__sim_end *other = coil__sim_other(end);
    bool welcome = other->open && !other->dead && !packet->breaks;

    end->acknowledging += packet->bytes;
    if (!end->acknowledgement.queued)
        coil__sim_schedule(
            sim, &end->acknowledgement,
            coil__inside->time_add(coil__sim_now(), coil__sim_latency(sim)));
    if (welcome) {
        other->received_bytes += packet->bytes;
        coil__list_push(&other->received, &packet->link);
        coil__sim_changed(sim, other->socket);
        return;
    }
    drop_packet(packet);
    coil__sim_flow_control(sim, other, COIL__SIM_RST);
    if (other->open && !other->dead)
        other->connection->class->was_reset(sim, other);
}

static void deliver_packet(struct coil__sim *sim, struct coil__sim_end *end,
                           struct coil__sim_packet *packet)
{
    struct coil__sim_end *other = coil__sim_other(end);

    switch (packet->kind) {
    case COIL__SIM_HELLO:
        other->connection->class->greeted(sim, other);
        break;
    case COIL__SIM_FIN:
        /* after a reset, receive() must return the reset's error, not 0 */
        if (!other->dead)
            other->fin_received = true;
        coil__sim_changed(sim, other->socket);
        break;
    case COIL__SIM_RST:
        other->connection->class->was_reset(sim, other);
        break;
    default:
        deliver_data(sim, end, packet);
        break;
    }
}

/*
 * Delay the packet until `until`, because one of the hosts is cut off until then. If TCP
 * would give up earlier, the connection fails with ETIMEDOUT at that time.
 */
static void hold_packet(struct coil__sim *sim, struct coil__sim_end *end,
                        const struct coil__sim_packet *packet, int64_t until)
{
    bool connecting = end == &end->connection->ends[COIL__SIM_SERVER] &&
                      !coil__sim_other(end)->established;
    int64_t limit = coil__inside->time_add(packet->sent, connecting ? CONNECTING_GIVES_UP
                                                                    : SENDER_GIVES_UP);

    if (coil__sim_now() < limit) {
        coil__sim_schedule(sim, &end->arrival, until < limit ? until : limit);
        return;
    }
    coil__sim_log(sim, &end->name, &coil__sim_other(end)->name, "given up");
    drop_packets(&end->flying);
    end->flying_bytes = 0;
    end->connection->class->fail(sim, connecting ? coil__sim_other(end) : end, ETIMEDOUT);
}

static void packet_arrives(struct coil__sim *sim, struct coil__sim_event *event)
{
    struct coil__sim_end *end = COIL__CONTAINER(event, struct coil__sim_end, arrival);
    struct coil__sim_packet *packet = first_of(&end->flying);
    int64_t until =
        coil__sim_cut_until(sim, &end->name.host, &coil__sim_other(end)->name.host);

    if (until > coil__sim_now()) {
        hold_packet(sim, end, packet, until);
        return;
    }
    log_packet(sim, end, packet);
    end->flying_bytes -= packet->bytes;
    coil__list_remove(&packet->link);
    if (!coil__list_empty(&end->flying))
        coil__sim_schedule(sim, event, first_of(&end->flying)->due);
    deliver_packet(sim, end, packet); /* this may free the connection */
}

static void reschedule_arrival(struct coil__sim *sim, struct coil__sim_end *end)
{
    int64_t now = coil__sim_now(), due;

    if (coil__list_empty(&end->flying))
        return;
    due = first_of(&end->flying)->due;
    coil__sim_schedule(sim, &end->arrival, due > now ? due : now);
}

void coil__sim_flow_reschedule(struct coil__sim *sim)
{
    COIL__LIST_EACH (link, &sim->connections) {
        struct coil__sim_connection *c =
            COIL__CONTAINER(link, struct coil__sim_connection, link);

        for (int i = 0; i < 2; i++)
            reschedule_arrival(sim, &c->ends[i]);
    }
}

void coil__sim_flow_init(struct coil__sim_end *end)
{
    coil__list_init(&end->received);
    coil__list_init(&end->waiting);
    coil__list_init(&end->flying);
    end->arrival.happen = packet_arrives;
    end->acknowledgement.happen = acknowledgement_arrives;
    end->last_due = end->wire_free = INT64_MIN;
    for (int i = 0; i < COIL__SIM_CONTROLS; i++) {
        end->controls[i].kind = (enum coil__sim_packet_kind)i;
        coil__list_init(&end->controls[i].link);
    }
}

/* ---- sending ----------------------------------------------------------------------- */

/*
 * Return and clear the pending error of this end, and store it in `lost`: Linux reports
 * such an error only once, but all backends of coil return it from each later receive.
 */
static int take_error(struct coil__sim_end *end)
{
    int error = end->error;

    end->error = 0;
    if (error != 0 && error != EPIPE)
        end->lost = error;
    return error;
}

/*
 * Append a packet to `waiting`, with n bytes of the parts, starting at `offset`. Fails
 * with -ENOBUFS.
 */
static int add_packet(struct coil__sim_end *end, const struct iovec *parts, size_t count,
                      size_t offset, size_t n)
{
    struct coil__sim_packet *packet = coil__inside->alloc(sizeof *packet + n);

    if (packet == NULL)
        return -ENOBUFS;
    *packet = (struct coil__sim_packet){.kind = COIL__SIM_DATA, .bytes = n};
    coil__list_init(&packet->link);
    coil__sim_iov_get(parts, count, offset, packet->data, n);
    coil__list_push(&end->waiting, &packet->link);
    end->unacknowledged += n;
    return 0;
}

ssize_t coil__sim_flow_send(struct coil__sim *sim, struct coil__sim_end *end,
                            const struct iovec *parts, size_t count)
{
    size_t segment =
        sim->opts.segment_bytes > 0 ? sim->opts.segment_bytes : DEFAULT_SEGMENT;
    size_t n = coil__sim_iov_bytes(parts, count), room, done, part;
    int rc = 0;

    if (end->error != 0)
        return -take_error(end);
    if (end->dead || end->fin_sent)
        return -EPIPE;
    if (n == 0)
        return 0;
    if (end->unacknowledged >= end->send_limit)
        return -EAGAIN;
    room = end->send_limit - end->unacknowledged;
    n = coil__sim_shorten(sim, n < room ? n : room);
    for (done = 0; done < n && rc == 0; done += part) {
        part = n - done < segment ? n - done : segment;
        rc = add_packet(end, parts, count, done, part);
        if (rc < 0)
            break;
    }
    transmit(sim, end);
    return done > 0 ? (ssize_t)done : rc;
}

/* ---- receiving --------------------------------------------------------------------- */

/*
 * Return the result of a receive when there is no data. The order of the checks is that
 * of Linux's tcp_recvmsg_locked().
 */
static ssize_t receive_nothing(struct coil__sim_end *end)
{
    if (end->fin_received)
        return 0;
    if (end->error != 0)
        return -take_error(end);
    return end->dead || end->reading_ended ? -end->lost : -EAGAIN;
}

ssize_t coil__sim_flow_receive(struct coil__sim *sim, struct coil__sim_end *end,
                               const struct iovec *parts, size_t count, int flags)
{
    size_t n = coil__sim_iov_bytes(parts, count), done = 0;

    if (flags & MSG_OOB)
        return -EINVAL;
    if (n == 0)
        return 0;
    if (end->received_bytes == 0)
        return receive_nothing(end);
    n = coil__sim_shorten(sim, n < end->received_bytes ? n : end->received_bytes);
    COIL__LIST_EACH (link, &end->received) {
        struct coil__sim_packet *packet =
            COIL__CONTAINER(link, struct coil__sim_packet, link);
        size_t left = packet->bytes - packet->taken,
               part = left < n - done ? left : n - done;

        coil__sim_iov_put(parts, count, done, packet->data + packet->taken, part);
        done += part;
        if (!(flags & MSG_PEEK)) {
            packet->taken += part;
            if (part == left)
                drop_packet(packet);
        }
        if (done == n)
            break;
    }
    if (!(flags & MSG_PEEK)) {
        end->received_bytes -= n;
        transmit(sim, coil__sim_other(end));
    }
    return (ssize_t)n;
}

/* ---- parts of a message ------------------------------------------------------------ */

size_t coil__sim_iov_bytes(const struct iovec *parts, size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

/*
 * Copy n bytes from `bytes` to the parts if `into` is true, otherwise from the parts to
 * `bytes`.
 */
static void copy_parts(const struct iovec *parts, size_t count, size_t offset,
                       unsigned char *bytes, size_t n, bool into)
{
    for (size_t i = 0; i < count && n > 0; i++) {
        size_t here = parts[i].iov_len, part;

        if (offset >= here) {
            offset -= here;
            continue;
        }
        part = here - offset < n ? here - offset : n;
        if (into)
            memcpy((char *)parts[i].iov_base + offset, bytes, part);
        else
            memcpy(bytes, (const char *)parts[i].iov_base + offset, part);
        bytes += part;
        n -= part;
        offset = 0;
    }
}

void coil__sim_iov_get(const struct iovec *parts, size_t count, size_t offset, void *to,
                       size_t n)
{
    copy_parts(parts, count, offset, to, n, false);
}

void coil__sim_iov_put(const struct iovec *parts, size_t count, size_t offset,
                       const void *from, size_t n)
{
    copy_parts(parts, count, offset, (unsigned char *)from, n, true);
}
