/*
 * 02_state_machine.c - suspending by hand: each call returns SUSPEND to its caller.
 *
 * If a read would block, read_byte() registers with the loop and returns SUSPEND, as does
 * each caller. self->pos stores where to continue. Local variables are lost. Compilers of
 * languages with stackless coroutines generate such code from `await`.
 *
 * To try: keep read_byte() from registering (self->reads = false). A suspended player is
 * then never resumed.
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
    bool reads; // the loop resumes the player when its descriptor is readable
    char ball;
};

static int read_byte(struct player *self)
{
    ssize_t n = recv(self->fd, &self->ball, 1, MSG_DONTWAIT);

    self->reads = n < 0;
    return n < 0 ? SUSPEND : (int)n; // a byte has arrived: no need to suspend
}

static int catch_ball(struct player *self)
{
    if (read_byte(self) == SUSPEND)
        return SUSPEND; // the next call starts from the beginning
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
    // at first both may run
    struct pollfd fds[2] = {{.revents = POLLIN}, {.revents = POLLIN}};

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
