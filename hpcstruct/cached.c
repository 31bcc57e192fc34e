#include "hpcstruct/cached.h"

#include "hpcstruct/dwarf-reader.h"

#include "lib/diag.h"
#include "lib/idmap.h"
#include "lib/path.h"
#include "lib/structure-cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What distinguishes a debug file: it may be installed, replaced or removed at any time. */
static uint64_t identity_of(const struct elf_image *image)
{
    struct stat status;
    if (!image || stat(image->path, &status) != 0)
        return 0;
    uint64_t time = (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
    return hash_pair(hash_pair(hash_bytes(image->path, strlen(image->path)), image->file.size),
                     time);
}

static uint64_t size_of_section(const struct elf_image *image, const char *name)
{
    const struct elf_section *section = elf_section(image, name);
    return section ? section->stored.size : 0;
}

/* What the structure depends on beside the code: the name (it is part of the names of procedures
 * without symbols), symbols and debug information. Binaries that were stripped share their
 * build-id with what they were stripped from. */
static uint64_t detail_of(const struct binary *binary, const struct analysis_options *options)
{
    const char *name = path_base(binary->path);
    uint64_t detail = hash_bytes(name, strlen(name));
    detail = hash_pair(detail, size_of_section(binary->image, ".symtab"));
    detail = hash_pair(detail, size_of_section(binary->image, ".debug_info"));
    detail = hash_pair(detail, size_of_section(binary->image, ".debug_line"));
    detail = hash_pair(detail, identity_of(binary->debug));
    detail = hash_pair(detail, identity_of(binary->supplement));
    return hash_pair(detail, options->with_calls);
}

static char *path_for(const char *directory, const struct binary *binary,
                      const struct analysis_options *options)
{
    struct elf_bytes id = binary->image->build_id;
    uint64_t contents;
    if (!id.size) {
        contents = hash_bytes(binary->image->file.at, binary->image->file.size);
        id = (struct elf_bytes){(const uint8_t *)&contents, sizeof contents};
    }
    return structure_cache_path(directory, id.at, id.size, detail_of(binary, options));
}

char *cached_structure(const char *path, const struct analysis_options *options)
{
    struct binary binary;
    char *note, *found = NULL;
    char *directory = structure_cache_directory(&note);
    if (!directory)
        diag_error(NULL, "%s", note);
    else if (note)
        diag_note(NULL, "%s", note);
    free(note);
    if (directory && binary_open(&binary, path, options)) {
        found = path_for(directory, &binary, options);
        if (!structure_cache_has(found) && !binary_write(&binary, options, found)) {
            free(found);
            found = NULL;
        }
        binary_close(&binary);
    }
    free(directory);
    return found;
}
