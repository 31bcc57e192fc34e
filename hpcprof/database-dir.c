#include "hpcprof/database-dir.h"

#include "hpcprof/run-program.h"

#include "lib/diag.h"
#include "lib/mem.h"
#include "lib/path.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *final_path, *temporary_path; /* temporary_path is NULL when there is none */
static char *stem;                        /* without -n; NULL when the user gave the name */

/* Who holds it may publish or remove the folder. A signal never lets go of it. */
static pthread_mutex_t fate_of_folder = PTHREAD_MUTEX_INITIALIZER;

/* ---- names ---- */

/* Whether it is empty or "-NUMBER". */
static bool is_number_suffix(const char *text)
{
    if (text[0] == '\0')
        return true;
    size_t digits = text[0] == '-' ? strspn(text + 1, "0123456789") : 0;
    return digits > 0 && text[1 + digits] == '\0';
}

/* "hpctoolkit-CMD-measurements-3" -> "hpctoolkit-CMD-database" and "-3"; anything else X ->
 * "hpctoolkit-X-database" and "". The caller frees both. */
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
    for (const char *at = strstr(base, word); at; at = strstr(at + 1, word))
        found = at;
    const char *rest = found ? found + strlen(word) : NULL;
    if (rest && strncmp(base, prefix, strlen(prefix)) == 0 && is_number_suffix(rest)) {
        *name = mem_printf("%.*s-database", (int)(found - base), base);
        *number = mem_strdup(rest);
    } else {
        *name = mem_printf("%s%s-database", prefix, base[0] ? base : "root");
        *number = mem_strdup("");
    }
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

static bool is_empty_directory(const char *path)
{
    DIR *stream = opendir(path);
    if (!stream)
        return false;
    bool empty = true;
    for (struct dirent *entry; (entry = readdir(stream));)
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(stream);
    return empty;
}

static void take_name(const char *wanted)
{
    if (exists(wanted) && !is_empty_directory(wanted))
        diag_fatal(wanted, "it exists and is not an empty directory; nothing is overwritten");
    final_path = path_normalize(wanted);
}

/* ---- removal ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

static void remove_temporary(void)
{
    /* Other threads may still write when a signal stops the process: they end with it. */
    for (int attempt = 0; attempt < 100 && temporary_path && exists(temporary_path); attempt++)
        nftw(temporary_path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Those that stop the process, as it was started. */
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
    pthread_mutex_lock(&fate_of_folder);
    run_program_stop_all();
    remove_temporary();
    signal(number, SIG_DFL);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return NULL;
}

/* Without this thread only the tidying up after a signal is lost. */
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

const char *database_dir_create(const char *wanted, const char *measurements)
{
    if (wanted)
        take_name(wanted);
    else
        choose_name(measurements);
    temporary_path = mem_printf("%s.unfinished-%ld", final_path, (long)getpid());
    if (mkdir(temporary_path, 0777) != 0)
        diag_fatal(temporary_path, "%s", strerror(errno));
    atexit(remove_temporary);
    watch_signals();
    return temporary_path;
}

const char *database_dir_publish(void)
{
    pthread_mutex_lock(&fate_of_folder);
    while (rename(temporary_path, final_path) != 0) {
        bool taken = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;
        if (!taken || !stem)
            diag_fatal(final_path, "%s", strerror(errno));
        free(final_path);
        final_path = next_free_name();
    }
    free(temporary_path);
    temporary_path = NULL;
    pthread_mutex_unlock(&fate_of_folder);
    return final_path;
}
