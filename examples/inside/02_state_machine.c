/*
 * 02_state_machine.c - stopping halfway by hand: SUSPEND, handed up from call to call.
 *
 * From the third answer to "How does asyncio actually work?". Awaiting suspends only if
 * it must. read_byte() tries; where it would block, it registers with the loop and
 * returns SUSPEND. Each caller up to the loop has to return SUSPEND too, and to remember
 * in self->pos where to go on. What must survive is a member of self: local variables do
 * not. This is what a compiler makes of `await` in a language with stackless coroutines.
 *
 * Let read_byte() not register (self->reads = false): who suspends is never resumed.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

#define SUSPEND (-2)

/* [await] */
struct player {
    const char *word;
    int fd, pos;
    bool reads; // registered: the loop resumes it when there is something to read
    char ball;
};

static int read_byte(struct player *self)
{
    ssize_t n = recv(self->fd, &self->ball, 1, MSG_DONTWAIT);

    self->reads = n < 0;
    return n < 0 ? SUSPEND : (int)n; // it was there: no need to suspend
}

static int catch_ball(struct player *self)
{
    if (read_byte(self) == SUSPEND)
        return SUSPEND; // handed up; called again, it begins again
    return printf("%s %d\n", self->word, self->ball);
}

static int play(struct player *self)
{
    while (self->ball < 6)
        if (self->pos == 0) { // data = await catch_ball()
            if (catch_ball(self) == SUSPEND)
                return SUSPEND;
            self->pos++;
        } else { // throw it back, higher
            self->ball++;
            send(self->fd, &self->ball, 1, MSG_NOSIGNAL);
            self->pos = 0;
        }
    return 0;
}
/* [end] */

/* [loop] */
static void run(struct player players[2])
{
    struct pollfd fds[2] = {{.revents = POLLIN}, {.revents = POLLIN}}; // both may run

    do
        for (int i = 0; i < 2; i++) {
            if (fds[i].revents != 0 && play(&players[i]) == SUSPEND)
                printf("  (%s waits)\n", players[i].word);
            fds[i] = (struct pollfd){players[i].reads ? players[i].fd : -1, POLLIN, 0};
        }
    while ((players[0].reads || players[1].reads) && poll(fds, 2, -1) > 0);
}
/* [end] */

int main(void)
{
    int fds[2] = {-1, -1};

    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    run((struct player[2]){{"ping", fds[0], 0, false, 0}, {"pong", fds[1], 1, false, 0}});
    return 0;
}
