/* SPDX-License-Identifier: Apache-2.0 */
#include "base/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { STREAMS = 2 }; /* stdout, stderr */

struct child {
    pid_t pid;
    int ends[STREAMS]; /* read ends; -1: closed */
    struct timespec end;
};

static void close_both(const int pipe_ends[2])
{
    (void)close(pipe_ends[0]);
    (void)close(pipe_ends[1]);
}

/* The child's descriptors and its group; what it starts is stopped with it. Returns an errno. */
static int spawn(const char *folder, const char *const *argv, int pipes[STREAMS][2], pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&files, pipes[0][1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, pipes[1][1], STDERR_FILENO);
    if (folder != NULL)
        (void)posix_spawn_file_actions_addchdir_np(&files, folder);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    /* POSIX: the words are not changed, though the type does not say so */
    const int problem =
        posix_spawnp(pid, argv[0], &files, &attributes, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return problem;
}

static enum devimg_status start(const char *folder, const char *const *argv, unsigned seconds,
                                struct child *out, struct devimg_error *err)
{
    int pipes[STREAMS][2];
    if (pipe2(pipes[0], O_CLOEXEC) != 0)
        return dvi_fail_plain(err, DEVIMG_IO, argv[0], "cannot be started: %s", strerror(errno));
    if (pipe2(pipes[1], O_CLOEXEC) != 0) {
        const int problem = errno;
        close_both(pipes[0]);
        return dvi_fail_plain(err, DEVIMG_IO, argv[0], "cannot be started: %s", strerror(problem));
    }
    const int problem = spawn(folder, argv, pipes, &out->pid);
    for (size_t i = 0; i < STREAMS; i++) {
        (void)close(pipes[i][1]);
        out->ends[i] = pipes[i][0];
        if (problem != 0)
            (void)close(pipes[i][0]);
    }
    if (problem != 0)
        return dvi_fail_plain(err, DEVIMG_IO, argv[0], "cannot be started: %s", strerror(problem));
    (void)clock_gettime(CLOCK_MONOTONIC, &out->end);
    out->end.tv_sec += (time_t)seconds;
    return DEVIMG_OK;
}

/* Milliseconds until the child's time is up, at least 0. */
static int time_left(const struct child *child)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const long long left = ((long long)child->end.tv_sec - now.tv_sec) * 1000 +
                           (child->end.tv_nsec - now.tv_nsec) / 1000000;
    return left <= 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

/* Read once from a stream that has something; its end is closed. */
static void read_some(struct child *child, size_t stream, size_t most, struct dvi_ran *out)
{
    char rest[4096] = "";
    char *text = stream == 0 ? out->output : out->errors;
    size_t *size = stream == 0 ? &out->output_size : &out->errors_size;
    const bool keep = *size < most;
    const ssize_t got =
        read(child->ends[stream], keep ? text + *size : rest, keep ? most - *size : sizeof rest);
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        (void)close(child->ends[stream]);
        child->ends[stream] = -1;
    } else if (keep) {
        *size += (size_t)got;
    } else {
        out->cut = true;
    }
}

/* Everything it prints, to the end of both streams; false: its time is up. */
static bool read_all(struct child *child, size_t most, struct dvi_ran *out)
{
    while (child->ends[0] >= 0 || child->ends[1] >= 0) {
        struct pollfd wait[STREAMS] = { { .fd = child->ends[0], .events = POLLIN },
                                        { .fd = child->ends[1], .events = POLLIN } };
        const int ready = poll(wait, STREAMS, time_left(child));
        if (ready == 0)
            return false;
        for (size_t i = 0; i < STREAMS && ready > 0; i++)
            if (wait[i].revents != 0)
                read_some(child, i, most, out);
        if (time_left(child) == 0)
            return false;
    }
    return true;
}

/* Wait until it has ended, at most until its time is up; then stop it and its group. */
static void finish(struct child *child, bool in_time, struct dvi_ran *out)
{
    int status = 0;
    out->exit_code = -1;
    for (size_t i = 0; i < STREAMS; i++)
        if (child->ends[i] >= 0)
            (void)close(child->ends[i]);
    while (in_time) {
        const pid_t ended = waitpid(child->pid, &status, WNOHANG);
        if (ended == child->pid) {
            out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
            return;
        }
        if ((ended < 0 && errno != EINTR) || time_left(child) == 0)
            break;
        const struct timespec pause = { .tv_nsec = 1000000 };
        (void)nanosleep(&pause, NULL);
    }
    out->timed_out = true;
    (void)kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
}

enum devimg_status dvi_run_in(const char *folder, const char *const *argv, unsigned seconds,
                              size_t most, struct dvi_ran *out, struct devimg_error *err)
{
    struct child child = { 0 };
    *out =
        (struct dvi_ran){ .exit_code = -1, .output = malloc(most + 1), .errors = malloc(most + 1) };
    if (out->output == NULL || out->errors == NULL) {
        dvi_ran_free(out);
        return dvi_fail_memory(err, argv[0]);
    }
    const enum devimg_status status = start(folder, argv, seconds, &child, err);
    if (status != DEVIMG_OK) {
        dvi_ran_free(out);
        return status;
    }
    const bool in_time = read_all(&child, most, out);
    finish(&child, in_time, out);
    out->output[out->output_size] = '\0';
    out->errors[out->errors_size] = '\0';
    return DEVIMG_OK;
}

enum devimg_status dvi_run(const char *const *argv, unsigned seconds, size_t most,
                           struct dvi_ran *out, struct devimg_error *err)
{
    return dvi_run_in(NULL, argv, seconds, most, out, err);
}

void dvi_ran_free(struct dvi_ran *ran)
{
    free(ran->output);
    free(ran->errors);
    *ran = (struct dvi_ran){ .exit_code = -1 };
}

/* "folder/name" from the root when that is a file that may be run, else NULL. */
static char *runnable(const char *folder, size_t folder_size, const char *name)
{
    struct stat info;
    char *here = folder_size > 0 && folder[0] == '/' ? NULL : getcwd(NULL, 0);
    char *path = NULL;
    if (here == NULL && (folder_size == 0 || folder[0] != '/'))
        return NULL;
    const int size = asprintf(&path, "%s%s%.*s%s%s", here != NULL ? here : "",
                              here != NULL ? "/" : "", (int)folder_size, folder,
                              folder_size > 0 && folder[folder_size - 1] != '/' ? "/" : "", name);
    free(here);
    if (size < 0)
        return NULL;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *dvi_program_path(const char *name)
{
    if (name[0] == '\0')
        return NULL;
    const char *slash = strrchr(name, '/');
    if (slash != NULL)
        return runnable(name, (size_t)(slash - name) + 1, slash + 1);
    const char *folders = getenv("PATH");
    if (folders == NULL)
        folders = "/bin:/usr/bin"; /* what execvp() looks through then */
    for (;;) {
        const size_t size = strcspn(folders, ":");
        char *path = runnable(folders, size, name);
        if (path != NULL || folders[size] == '\0')
            return path;
        folders += size + 1;
    }
}
