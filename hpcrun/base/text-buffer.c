#include "hpcrun/base/text-buffer.h"

#include <errno.h>
#include <string.h>

void text_add_bytes(struct text *text, const char *bytes, size_t count)
{
    size_t room = text->room - text->length - 1;
    if (count > room)
        count = room;
    memcpy(text->at + text->length, bytes, count);
    text->length += count;
    text->at[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_add_bytes(text, string, strlen(string));
}

void text_add_number(struct text *text, uint64_t number)
{
    char digits[20];
    unsigned at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    text_add_bytes(text, digits + at, sizeof digits - at);
}

void text_add_decimal(struct text *text, uint64_t value, unsigned decimals)
{
    uint64_t unit = 1;
    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    text_add_number(text, value / unit);
    text_add(text, ".");
    for (uint64_t rest = value % unit; unit > 1; rest %= unit) {
        unit /= 10;
        text_add_number(text, rest / unit);
    }
}

void text_add_error(struct text *text, long error)
{
    switch (error < 0 ? -error : error) {
    case EACCES: text_add(text, "Permission denied"); break;
    case EPERM: text_add(text, "Operation not permitted"); break;
    case ENOENT: text_add(text, "No such file or directory"); break;
    case ENOSPC: text_add(text, "No space left on device"); break;
    case EDQUOT: text_add(text, "Disk quota exceeded"); break;
    case EFBIG: text_add(text, "File too large"); break;
    case EROFS: text_add(text, "Read-only file system"); break;
    case EMFILE: text_add(text, "Too many open files"); break;
    case ENFILE: text_add(text, "Too many open files in system"); break;
    case ENOSYS: text_add(text, "Function not implemented"); break;
    case ENOMEM: text_add(text, "Cannot allocate memory"); break;
    case EAGAIN: text_add(text, "Resource temporarily unavailable"); break;
    case EIO: text_add(text, "Input/output error"); break;
    case ENODEV: text_add(text, "No such device"); break;
    case EOPNOTSUPP: text_add(text, "Operation not supported"); break;
    case EINVAL: text_add(text, "Invalid argument"); break;
    case EBADF: text_add(text, "Bad file descriptor"); break;
    default:
        text_add(text, "error ");
        text_add_number(text, (uint64_t)(error < 0 ? -error : error));
    }
}

bool text_parse_number(const char **at, uint64_t *number)
{
    const char *start = *at;
    uint64_t value = 0;
    while (**at >= '0' && **at <= '9')
        value = value * 10 + (uint64_t)(*(*at)++ - '0');
    if (*at == start)
        return false;
    *number = value;
    return true;
}

const char *text_after(const char *string, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(string, prefix, length) == 0 ? string + length : NULL;
}
