/* Writes single bytes: nearly all of its time is in the kernel.
 * Usage: writes [THOUSANDS] */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long thousands = argc > 1 ? atol(argv[1]) : 2000;
    int file = open("/dev/null", O_WRONLY);
    for (long i = 0; i < thousands * 1000; i++)
        if (write(file, "", 1) != 1) /* MARK call */
            return 1;
    return 0;
}
