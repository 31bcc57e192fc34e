/* What is opened for reading and for writing, and whose word a file is. Root plays another user;
 * the tests that need that are skipped otherwise. */
#include "tests/unit/cmocka_suite.h"

#include "lib/alloc.h"
#include "lib/gzip.h"
#include "lib/safe-input.h"
#include "lib/safe-output.h"
#include "lib/trusted-path.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER 65533

static char folder[64];

static int make_folder(void **state)
{
    strcpy(folder, "/tmp/test-files-XXXXXX");
    return mkdtemp(folder) && chmod(folder, 0777) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    char *command = mem_printf("rm -rf %s", folder);
    int status = system(command);
    free(command);
    return status;
}

/* A path in the folder; valid until this is called four times more. */
static const char *at(const char *name)
{
    static char *paths[4];
    static unsigned next;
    char **path = &paths[next++ % 4];
    free(*path);
    return *path = mem_printf("%s/%s", folder, name);
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(at(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *name, const char *text)
{
    char *cause;
    size_t size;
    char *found = input_read(at(name), 1000, &size, &cause);
    assert_non_null(found);
    assert_string_equal(found, text);
    free(found);
}

static void give_away(const char *name)
{
    assert_int_equal(lchown(at(name), OTHER, OTHER), 0);
}

static bool is_link(const char *name)
{
    struct stat status;
    return lstat(at(name), &status) == 0 && S_ISLNK(status.st_mode);
}

/* ---- inputs ---- */

static void assert_refused(const char *path, int error, const char *why)
{
    struct stat status;
    size_t size;
    char *cause = NULL;
    assert_int_equal(input_open(path, &status, &cause), -1);
    assert_int_equal(errno, error);
    assert_string_equal(cause, why);
    free(cause);
    assert_null(input_stream(path, &cause));
    assert_string_equal(cause, why);
    free(cause);
    assert_null(input_read(path, SIZE_MAX, &size, &cause));
    assert_int_equal(errno, error);
    assert_string_equal(cause, why);
    free(cause);
    assert_null(input_map(path, &status, &cause));
    assert_int_equal(errno, error);
    assert_string_equal(cause, why);
    free(cause);
}

TEST_WITH(make_folder, remove_folder, only_regular_files_are_read)
{
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    assert_int_equal(symlink("fifo", at("link")), 0);
    assert_refused(at("fifo"), EINVAL, "not a regular file");
    assert_refused(at("link"), EINVAL, "not a regular file");
    assert_refused("/dev/null", EINVAL, "not a regular file");
    assert_refused(folder, EISDIR, "Is a directory");
    assert_refused(at("missing"), ENOENT, "No such file or directory");
}

TEST_WITH(make_folder, remove_folder, the_bytes_of_a_file)
{
    char *cause = NULL, *big = mem_alloc(200001);
    struct stat status;
    size_t size;
    memset(big, 'x', 200000);
    write_text("big", big);
    char *text = input_read(at("big"), 200000, &size, &cause);
    assert_int_equal(size, 200000);
    assert_string_equal(text, big);
    free(text);
    assert_null(input_read(at("big"), 199999, &size, &cause));
    assert_int_equal(errno, EFBIG);
    free(cause);
    const uint8_t *bytes = input_map(at("big"), &status, &cause);
    assert_int_equal(status.st_size, 200000);
    assert_memory_equal(bytes, big, 200000);
    munmap((void *)bytes, 200000);
    write_text("empty", "");
    text = input_read(at("empty"), 0, &size, &cause);
    assert_string_equal(text, "");
    assert_int_equal(size, 0);
    free(text);
    assert_null(input_map(at("empty"), &status, &cause));
    assert_string_equal(cause, "the file is empty");
    free(cause);
    text = input_read("/proc/self/stat", SIZE_MAX, &size, &cause); /* its size is 0 */
    assert_int_equal(atoi(text), getpid());
    free(text);
    free(big);
}

TEST_WITH(make_folder, remove_folder, packed_files_unpack_to_what_their_size_justifies)
{
    const size_t enough = 16 << 20, piece = 1 << 20;
    assert_int_equal(input_most_unpacked(0), enough);
    assert_int_equal(input_most_unpacked(enough / 64), enough);
    assert_int_equal(input_most_unpacked(enough / 64 + 1), enough + 64);
    assert_int_equal(input_most_unpacked(SIZE_MAX / 2), SIZE_MAX);
    uint8_t *zeros = mem_alloc(piece);
    for (size_t pieces = 16; pieces <= 17; pieces++) {
        struct gzip gzip;
        FILE *out = fopen(at("packed"), "w");
        gzip_start(&gzip, out);
        for (size_t i = 0; i < pieces; i++)
            gzip_write(&gzip, zeros, piece);
        gzip_finish(&gzip);
        fclose(out);
        size_t size = 0;
        char *bytes = gzip_read(at("packed"), SIZE_MAX, &size);
        assert_int_equal(bytes != NULL, pieces == 16);
        assert_int_equal(size, bytes ? enough : 0);
        free(bytes);
    }
    free(zeros);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    assert_null(gzip_read(at("fifo"), SIZE_MAX, &(size_t){0}));
}

/* ---- whose word it is ---- */

static const char *why(uid_t owner, gid_t group, mode_t mode, const struct stat *of)
{
    const struct stat status = {.st_uid = owner, .st_gid = group, .st_mode = S_IFREG | mode};
    return why_not_trusted(&status, of);
}

#define OF_ANOTHER "it belongs to another user"
#define WRITABLE   "other users can write to it"

TEST(who_can_have_written_a_file)
{
    uid_t me = geteuid();
    assert_null(why(0, 0, 0644, NULL));
    assert_null(why(me, 5, 0644, NULL));
    assert_string_equal(why(me + 1, 5, 0644, NULL), OF_ANOTHER);
    assert_string_equal(why(me, 5, 0664, NULL), WRITABLE);
    assert_string_equal(why(me, 5, 0646, NULL), WRITABLE);
    /* Whoever can write to another file that is trusted already. */
    struct stat of = {.st_uid = me + 1, .st_gid = 5, .st_mode = S_IFREG | 0755};
    assert_null(why(me + 1, 5, 0644, &of));
    assert_null(why(0, 5, 0644, &of));
    assert_string_equal(why(me + 2, 5, 0644, &of), OF_ANOTHER);
    assert_string_equal(why(me + 1, 5, 0664, &of), WRITABLE);
    of.st_mode = S_IFREG | 0775;
    assert_null(why(me + 1, 5, 0664, &of));
    assert_string_equal(why(me + 1, 6, 0664, &of), WRITABLE);
    assert_string_equal(why(me + 1, 5, 0666, &of), WRITABLE);
    of.st_mode = S_IFREG | 0757;
    assert_null(why(me + 1, 5, 0646, &of));
    assert_string_equal(why(me + 1, 5, 0664, &of), WRITABLE);
    of.st_mode = S_IFDIR | S_ISVTX | 0777; /* those who can write to it cannot replace what is in it */
    assert_string_equal(why(me + 1, 5, 0646, &of), WRITABLE);
    assert_string_equal(why(me + 1, 5, 0664, &of), WRITABLE);
}

static void assert_path(char *found, const char *name)
{
    assert_non_null(found);
    char *real = realpath(folder, NULL), *expected = mem_printf("%s/%s", real, name);
    assert_string_equal(found, expected);
    free(expected);
    free(real);
    free(found);
}

TEST_WITH(make_folder, remove_folder, paths_without_links)
{
    write_text("file", "");
    assert_int_equal(symlink("file", at("link")), 0);
    assert_int_equal(symlink("nothing", at("new")), 0);
    assert_int_equal(symlink("round", at("round")), 0);
    assert_path(trusted_path(at("file"), NO_USER), "file");
    assert_path(trusted_path(at("link"), NO_USER), "file");
    assert_path(trusted_new_path(at("link")), "file");
    assert_path(trusted_new_path(at("new")), "nothing");
    assert_path(trusted_new_path(at("other")), "other");
    assert_null(trusted_path(at("new"), NO_USER));
    assert_int_equal(errno, ENOENT);
    assert_null(trusted_new_path(at("missing/file")));
    assert_int_equal(errno, ENOENT);
    assert_null(trusted_new_path(""));
    assert_int_equal(errno, ENOENT);
    assert_null(trusted_new_path(at("round")));
    assert_int_equal(errno, ELOOP);
}

TEST_WITH(make_folder, remove_folder, links_of_other_users)
{
    if (geteuid() != 0)
        skip();
    write_text("file", "");
    assert_int_equal(mkdir(at("own"), 0755), 0);
    assert_int_equal(symlink("file", at("link")), 0);
    assert_int_equal(symlink("own", at("way")), 0);
    give_away("link");
    give_away("way");
    const char *const names[] = {"link", "way/file"};
    for (size_t i = 0; i < 2; i++) {
        assert_null(trusted_path(at(names[i]), NO_USER));
        assert_int_equal(errno, EPERM);
        assert_null(trusted_new_path(at(names[i])));
        assert_int_equal(errno, EPERM);
    }
    assert_path(trusted_path(at("link"), OTHER), "file");
}

/* ---- outputs ---- */

/* Writes "new"; false, with the cause, if that is refused. */
static bool is_written(const char *name, const char *why_not)
{
    struct atomic_file file;
    char *cause = NULL;
    bool is_begun = atomic_file_begin(&file, at(name), &cause);
    if (is_begun) {
        fputs("new", file.out);
        is_begun = atomic_file_commit(&file, &cause);
    }
    if (!is_begun)
        assert_string_equal(cause, why_not);
    free(cause);
    return is_begun;
}

TEST_WITH(make_folder, remove_folder, own_links_stay)
{
    write_text("file", "old");
    assert_int_equal(chmod(at("file"), 0640), 0);
    assert_int_equal(symlink("file", at("link")), 0);
    assert_int_equal(symlink("later", at("new")), 0);
    assert_true(is_written("link", NULL));
    assert_true(is_link("link"));
    assert_holds("file", "new");
    struct stat status;
    assert_int_equal(stat(at("file"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_true(is_written("new", NULL));
    assert_true(is_link("new"));
    assert_holds("later", "new");
    assert_true(output_exists(at("new")));
    assert_int_equal(unlink(at("later")), 0);
    assert_true(output_exists(at("new")));
    assert_false(output_exists(at("later")));
}

TEST_WITH(make_folder, remove_folder, standard_output_has_a_name)
{
    int pipe_ends[2];
    char text[8] = "", *cause = NULL;
    struct atomic_file file;
    assert_int_equal(pipe(pipe_ends), 0);
    char *path = mem_printf("/proc/self/fd/%d", pipe_ends[1]);
    assert_true(atomic_file_begin(&file, path, &cause));
    fputs("new", file.out);
    assert_true(atomic_file_commit(&file, &cause));
    assert_int_equal(read(pipe_ends[0], text, sizeof text), 3);
    assert_string_equal(text, "new");
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    free(path);
}

#define DECIDED "a link or FIFO of another user's decides where that is"

TEST_WITH(make_folder, remove_folder, what_others_planted_is_not_written)
{
    if (geteuid() != 0)
        skip();
    write_text("victim", "old");
    assert_int_equal(symlink("victim", at("link")), 0);
    assert_int_equal(symlink("later", at("new")), 0);
    assert_int_equal(symlink(".", at("way")), 0);
    assert_int_equal(mkfifo(at("fifo"), 0666), 0);
    const char *const names[] = {"link", "new", "way", "fifo"};
    for (size_t i = 0; i < 4; i++)
        give_away(names[i]);
    assert_false(is_written("link", DECIDED));
    assert_false(is_written("new", DECIDED));
    assert_false(is_written("way/victim", DECIDED));
    int reader = open(at("fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* so that a writer need not wait for one */
    assert_false(is_written("fifo", DECIDED));
    close(reader);
    assert_holds("victim", "old");
    assert_false(output_exists(at("later")));
    /* A plain file of theirs in our directory is replaced, and becomes ours. */
    write_text("theirs", "old");
    assert_int_equal(chmod(at("theirs"), 0666), 0);
    give_away("theirs");
    assert_true(is_written("theirs", NULL));
    struct stat status;
    assert_int_equal(stat(at("theirs"), &status), 0);
    assert_int_equal(status.st_uid, 0);
    assert_int_equal(status.st_mode & 0022, 0);
}

STEP(prepare)
{
    umask(022);
}

ALL_TESTS(prepare, NULL);
