/* Waits again and again until a terminal has taken what was written. Prints "fine" if no wait was
 * interrupted: it has no handlers. */
#include "burn.h"

#include <fcntl.h>
#include <termios.h>

int main(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return 1;
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (terminal < 0)
        return 1;
    for (uint64_t end = clock_ns(CLOCK_MONOTONIC) + 500000000; clock_ns(CLOCK_MONOTONIC) < end;)
        for (int i = 0; i < 1000; i++)
            if (tcdrain(terminal) != 0) {
                perror("tcdrain");
                return 2;
            }
    puts("fine");
    return 0;
}
