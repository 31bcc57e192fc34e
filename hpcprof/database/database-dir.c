#include "hpcprof/database/database-dir.h"

#include "hpcprof/base/output-file.h"

#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/path.h"
#include "lib/safe-output.h"
#include "lib/sanitized-text.h"
#include "lib/subprocess.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *final_path;
static char *temporary_path; /* NULL: the folder was published */
static int folder = -1;      /* descriptor of temporary_path */
static char *stem;           /* final_path without -n; NULL: the user chose the name */

/* Held while the folder is published or removed. A signal never releases it. */
static pthread_mutex_t folder_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- names ---- */

/* Whether a text is empty or "-NUMBER". */
static bool is_number_suffix(const char *text)
{
    if (text[0] == '\0')
        return true;
    size_t digits = text[0] == '-' ? strspn(text + 1, "0123456789") : 0;
    return digits > 0 && text[1 + digits] == '\0';
}

/* Derives the name of the database from that of the measurement directory, without control
 * characters:
 *
 *     hpctoolkit-CMD-measurements-3 -> *name hpctoolkit-CMD-database, *number -3
 *     X (anything else)             -> *name hpctoolkit-X-database, *number empty
 *
 * The caller frees both. */
static void derive_name(const char *measurements, char **name, char **number)
{
    static const char prefix[] = "hpctoolkit-", word[] = "-measurements";
    char *path = path_normalize(measurements);
    if (strcmp(path, ".") == 0 || strcmp(path_base(path), "..") == 0) {
        char *absolute = realpath(path, NULL);
        if (absolute) {
            free(path);
            path = absolute;
        }
    }
    const char *base = path_base(path), *found = NULL;
    char *raw;
    for (const char *at = strstr(base, word); at; at = strstr(at + 1, word))
        found = at;
    const char *rest = found ? found + strlen(word) : NULL;
    if (rest && strncmp(base, prefix, strlen(prefix)) == 0 && is_number_suffix(rest)) {
        raw = mem_printf("%.*s-database", (int)(found - base), base);
        *number = mem_strdup(rest);
    } else {
        raw = mem_printf("%s%s-database", prefix, base[0] ? base : "root");
        *number = mem_strdup("");
    }
    *name = printable_file_name(raw);
    free(raw);
    free(path);
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* The first of STEM-1, STEM-2, ... that does not exist; the caller frees. */
static char *next_free_name(void)
{
    for (unsigned n = 1;; n++) {
        char *path = mem_printf("%s-%u", stem, n);
        if (!exists(path))
            return path;
        free(path);
    }
}

static void choose_name(const char *measurements)
{
    char *number;
    derive_name(measurements, &stem, &number);
    final_path = mem_printf("%s%s", stem, number);
    free(number);
    if (exists(final_path)) {
        free(final_path);
        final_path = next_free_name();
    }
}

static void check_existing(const char *wanted)
{
    char *cause;
    int directory = own_directory_open(wanted, &cause);
    if (directory < 0)
        diag_fatal(wanted, "%s", cause);
    if (!own_directory_is_empty(directory))
        diag_fatal(wanted, "it exists and is not an empty directory; nothing is overwritten");
    close(directory);
}

static void take_name(const char *wanted)
{
    if (exists(wanted))
        check_existing(wanted);
    final_path = path_normalize(wanted);
}

/* ---- removal ---- */

static void remove_entries(int directory);

/* Removes an entry of a directory. Uses descriptors, since names above may be replaced meanwhile.
 */
static void remove_one(int directory, const char *name)
{
    if (unlinkat(directory, name, 0) == 0 || errno == ENOENT)
        return;
    int inner = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0)
        remove_entries(inner);
    unlinkat(directory, name, AT_REMOVEDIR);
}

/* Empties and closes `directory`. */
static void remove_entries(int directory)
{
    DIR *stream = fdopendir(directory);
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_one(directory, entry->d_name);
    if (stream)
        closedir(stream);
}

static void remove_temporary(void)
{
    /* Repeats, since other threads may still write until the signal ends the process. */
    for (int attempt = 0; attempt < 100 && temporary_path && exists(temporary_path); attempt++) {
        int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (again >= 0)
            remove_entries(again);
        rmdir(temporary_path);
    }
}

/* The signals that stop the process, unless it was started with them ignored. */
static void stop_signals(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, numbers[i]);
    }
}

static void *remove_at_signal(void *unused)
{
    (void)unused;
    sigset_t set;
    int number;
    stop_signals(&set);
    if (sigwait(&set, &number) != 0)
        return NULL;
    pthread_mutex_lock(&folder_lock);
    run_program_stop_all();
    remove_temporary();
    signal(number, SIG_DFL);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return NULL;
}

/* Starts the thread that removes the folder after a signal. If that fails, an interrupted run
 * leaves its folder behind. */
static void watch_signals(void)
{
    sigset_t set;
    stop_signals(&set);
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&thread, NULL, remove_at_signal, NULL) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- life of the folder ---- */

static void make_folder(bool shared)
{
    char *cause;
    if (!shared)
        umask(umask(0) | (0777 & ~own_directory_mode(false)));
    temporary_path = mem_printf("%s.unfinished-%ld", final_path, (long)getpid());
    if (mkdir(temporary_path, own_directory_mode(shared)) != 0)
        diag_fatal(temporary_path, "%s%s", strerror(errno),
                   errno == EACCES || errno == EROFS ? " (hpcprof -o DB chooses another place)" : "");
    folder = own_directory_open(temporary_path, &cause);
    if (folder < 0)
        diag_fatal(temporary_path, "%s", cause);
    output_root(folder, temporary_path);
}

const char *database_dir_create(const char *wanted, const char *measurements, bool shared)
{
    assert(!temporary_path);
    if (wanted)
        take_name(wanted);
    else
        choose_name(measurements);
    make_folder(shared);
    atexit(remove_temporary);
    watch_signals();
    return temporary_path;
}

/* Ends the process if another user, who may write to the directory above, replaced the folder. */
static void check_folder(void)
{
    struct stat by_name, status;
    if (lstat(temporary_path, &by_name) != 0 || fstat(folder, &status) != 0)
        diag_fatal(temporary_path, "%s", strerror(errno));
    if (by_name.st_dev != status.st_dev || by_name.st_ino != status.st_ino)
        diag_fatal(temporary_path, "another user moved or replaced the unfinished database");
}

const char *database_dir_publish(void)
{
    assert(temporary_path);
    pthread_mutex_lock(&folder_lock);
    check_folder();
    while (rename(temporary_path, final_path) != 0) {
        bool taken = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;
        if (!taken || !stem)
            diag_fatal(final_path, "%s", strerror(errno));
        free(final_path);
        final_path = next_free_name();
    }
    free(temporary_path);
    temporary_path = NULL;
    pthread_mutex_unlock(&folder_lock);
    return final_path;
}
