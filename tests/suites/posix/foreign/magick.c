/*
 * magick.c - ImageMagick's MagickWand: each task reads an image from a pipe, into which
 * another task writes it in pieces, and resizes it.
 */
#include "foreign.h"

#include <wand/MagickWand.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIDE 16
#define PIECES 4

static int ends[FOREIGN_USES][2];

static bool check(MagickWand *wand, int number)
{
    unsigned char pixel[3];

    return (MagickResizeImage(wand, SIDE / 2, SIDE / 2, BoxFilter, 1.0) == MagickTrue &&
            MagickExportImagePixels(wand, 3, 3, 1, 1, "RGB", CharPixel, pixel) ==
                MagickTrue &&
            pixel[0] == number && pixel[1] == 2 * number && pixel[2] == 7) ||
           foreign_failed("a wrong pixel");
}

/* Read an image from a pipe. ImageMagick closes the descriptor. */
static bool use(int number)
{
    MagickWand *wand = NewMagickWand();
    char name[40];
    bool right;

    snprintf(name, sizeof name, "ppm:fd:%d", ends[number][0]);
    right = MagickReadImage(wand, name) == MagickTrue && check(wand, number);
    DestroyMagickWand(wand);
    return right;
}

static bool start(void)
{
    MagickWandGenesis();
    for (int i = 0; i < FOREIGN_USES; i++)
        if (pipe(ends[i]) < 0)
            return false;
    return true;
}

/* Write a portable pixmap of one colour, and return its size. */
static size_t make_image(char *image, int number)
{
    size_t n = (size_t)sprintf(image, "P6\n%d %d\n255\n", SIDE, SIDE);

    for (int i = 0; i < SIDE * SIDE; i++, n += 3)
        memcpy(image + n, (char[]){(char)number, (char)(2 * number), 7}, 3);
    return n;
}

static bool write_piece(int number, int piece)
{
    char image[SIDE * SIDE * 3 + 40];
    size_t n = make_image(image, number), begin = n * (size_t)piece / PIECES,
           end = n * ((size_t)piece + 1) / PIECES;

    return write(ends[number][1], image + begin, end - begin) == (ssize_t)(end - begin);
}

static bool write_images(void)
{
    while (foreign_begun < FOREIGN_USES)
        usleep(1000);
    for (int piece = 0; piece < PIECES; piece++, usleep(2000))
        for (int i = 0; i < FOREIGN_USES; i++)
            if (!write_piece(i, piece))
                return false;
    for (int i = 0; i < FOREIGN_USES; i++)
        close(ends[i][1]);
    return true;
}

static bool stop(void)
{
    MagickWandTerminus();
    return true;
}

const struct foreign foreign = {.name = "ImageMagick",
                                .tested = "reading images from pipes, resizing",
                                .start = start,
                                .use = use,
                                .other_side = write_images,
                                .stop = stop};
