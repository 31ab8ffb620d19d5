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

#include "base/interrupt.h"

extern char **environ;

enum {
    STREAMS = 2,  /* stdout, stderr */
    SLICE = 100,  /* milliseconds between looks at the child and at interrupts */
    LINGER = 500, /* milliseconds that outputs which others hold open are read past its end */
    GRACE = 2000  /* milliseconds between SIGTERM and SIGKILL */
};

struct child {
    pid_t pid;
    int ends[STREAMS];   /* read ends; -1: closed */
    struct timespec end; /* of its time; once it has ended, of what is still read */
    bool ended;          /* by itself; waitpid() tells how */
};

static void close_both(const int pipe_ends[2])
{
    (void)close(pipe_ends[0]);
    (void)close(pipe_ends[1]);
}

/* What is run, and where. */
struct what {
    const char *const *argv;
    const char *folder;             /* NULL: where we are */
    const char *const *environment; /* NULL: ours */
};

/* The child's descriptors and its group; what it starts is stopped with it. Returns an errno. */
static int spawn(const struct what *what, int pipes[STREAMS][2], pid_t *pid)
{
    int problem = 0;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&files, pipes[0][1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, pipes[1][1], STDERR_FILENO);
    if (what->folder != NULL)
        problem = posix_spawn_file_actions_addchdir_np(&files, what->folder);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    /* POSIX: the words are not changed, though the type does not say so */
    if (problem == 0)
        problem = posix_spawnp(
            pid, what->argv[0], &files, &attributes, (char *const *)(uintptr_t)what->argv,
            what->environment != NULL ? (char *const *)(uintptr_t)what->environment : environ);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&files);
    return problem;
}

static struct timespec later(long long milliseconds)
{
    struct timespec when;
    (void)clock_gettime(CLOCK_MONOTONIC, &when);
    const long long past = when.tv_nsec + milliseconds % 1000 * 1000000;
    when.tv_sec += (time_t)(milliseconds / 1000 + past / 1000000000);
    when.tv_nsec = (long)(past % 1000000000);
    return when;
}

static enum devimg_status fail_start(const char *program, int problem, struct devimg_error *err)
{
    if (problem == ENOMEM)
        return dvi_fail_memory(err, program);
    return dvi_fail_plain(err, DEVIMG_IO, program, "cannot be started: %s", strerror(problem));
}

static enum devimg_status start(const struct what *what, unsigned seconds, struct child *out,
                                struct devimg_error *err)
{
    const char *name = what->argv[0];
    int pipes[STREAMS][2];
    if (pipe2(pipes[0], O_CLOEXEC) != 0)
        return fail_start(name, errno, err);
    if (pipe2(pipes[1], O_CLOEXEC) != 0) {
        const int problem = errno;
        close_both(pipes[0]);
        return fail_start(name, problem, err);
    }
    const int problem = spawn(what, pipes, &out->pid);
    for (size_t i = 0; i < STREAMS; i++) {
        (void)close(pipes[i][1]);
        out->ends[i] = pipes[i][0];
        if (problem != 0)
            (void)close(pipes[i][0]);
    }
    if (problem != 0)
        return fail_start(name, problem, err);
    out->end = later((long long)seconds * 1000);
    return DEVIMG_OK;
}

/* Milliseconds until the time is up, at least 0. */
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

/* What is there to read, or a moment without any. */
static void read_for(struct child *child, int milliseconds, size_t most, struct dvi_ran *out)
{
    struct pollfd wait[STREAMS] = { { .fd = child->ends[0], .events = POLLIN },
                                    { .fd = child->ends[1], .events = POLLIN } };
    const int ready = poll(wait, STREAMS, milliseconds);
    for (size_t i = 0; i < STREAMS && ready > 0; i++)
        if (wait[i].revents != 0)
            read_some(child, i, most, out);
}

/* It stays a zombie, so that its group keeps its number, until it is waited for in earnest. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = { 0 };
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        return info.si_pid == pid;
    return errno == ECHILD; /* SIGCHLD is ignored here: nobody keeps what ended */
}

/*
 * All that it prints until it has ended, or its time is up. What it started may hold its outputs
 * open for ever: past its end they are read for a moment only.
 */
static void read_to_end(struct child *child, size_t most, struct dvi_ran *out)
{
    for (;;) {
        const bool open = child->ends[0] >= 0 || child->ends[1] >= 0;
        if (!child->ended && has_ended(child->pid)) {
            child->ended = true;
            child->end = later(LINGER);
        }
        const int left = time_left(child);
        if ((child->ended && !open) || left == 0 || dvi_interrupted())
            return;
        const int slice = open ? SLICE : 1;
        read_for(child, left < slice ? left : slice, most, out);
    }
}

/* The child and its group; it may have left that for another, ours for one. */
static void signal_all(const struct child *child, int number)
{
    (void)kill(-child->pid, number);
    (void)kill(child->pid, number);
}

/*
 * Nothing that it started stays behind. Where it did not end by itself it is asked to first, so
 * that a compiler removes its files; what is left after a while is ended.
 */
static void finish(struct child *child, struct dvi_ran *out)
{
    int status = 0;
    if (!child->ended) {
        const struct timespec pause = { .tv_nsec = 1000000 };
        child->end = later(GRACE);
        signal_all(child, SIGTERM);
        while (!has_ended(child->pid) && time_left(child) > 0)
            (void)nanosleep(&pause, NULL);
    }
    signal_all(child, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    for (size_t i = 0; i < STREAMS; i++) /* only now: what it prints while it tidies up is no end */
        if (child->ends[i] >= 0)
            (void)close(child->ends[i]);
    out->timed_out = !child->ended;
    out->exit_code = child->ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static enum devimg_status run(const struct what *what, unsigned seconds, size_t most,
                              struct dvi_ran *out, struct devimg_error *err)
{
    struct child child = { 0 };
    if (dvi_interrupted())
        return dvi_fail_plain(err, DEVIMG_IO, what->argv[0], "not started: interrupted");
    DVI_TRY(start(what, seconds, &child, err));
    read_to_end(&child, most, out);
    finish(&child, out);
    if (dvi_interrupted())
        return dvi_fail_plain(err, DEVIMG_IO, what->argv[0], "stopped: interrupted");
    out->output[out->output_size] = '\0';
    out->errors[out->errors_size] = '\0';
    return DEVIMG_OK;
}

static enum devimg_status run_what(const struct what *what, unsigned seconds, size_t most,
                                   struct dvi_ran *out, struct devimg_error *err)
{
    *out =
        (struct dvi_ran){ .exit_code = -1, .output = malloc(most + 1), .errors = malloc(most + 1) };
    enum devimg_status status = DEVIMG_NOMEM;
    if (out->output != NULL && out->errors != NULL) {
        dvi_interrupts_catch();
        status = run(what, seconds, most, out, err);
        dvi_interrupts_end();
    } else {
        (void)dvi_fail_memory(err, what->argv[0]);
    }
    if (status != DEVIMG_OK)
        dvi_ran_free(out);
    return status;
}

enum devimg_status dvi_run_in(const char *folder, const char *const *argv, unsigned seconds,
                              size_t most, struct dvi_ran *out, struct devimg_error *err)
{
    const struct what what = { .argv = argv, .folder = folder };
    return run_what(&what, seconds, most, out, err);
}

enum devimg_status dvi_run_with(const char *const *environment, const char *const *argv,
                                unsigned seconds, size_t most, struct dvi_ran *out,
                                struct devimg_error *err)
{
    const struct what what = { .argv = argv, .environment = environment };
    return run_what(&what, seconds, most, out, err);
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

const char *dvi_said(const char *text, size_t most, struct dvi_arena *arena)
{
    char *line = dvi_arena_array(arena, most + 1, 1);
    size_t size = 0;
    if (line == NULL)
        return NULL;
    for (const char *at = text; *at != '\0' && size < most; at++)
        if (*at != '\n' && *at != '\r')
            line[size++] = *at;
        else if (size > 0 && line[size - 1] != ' ')
            line[size++] = ' ';
    while (size > 0 && line[size - 1] == ' ')
        size--;
    line[size] = '\0';
    return line;
}

const char *dvi_ran_words(const struct dvi_ran *ran, struct dvi_arena *arena)
{
    enum { MOST = 400 };
    const char *first = dvi_said(ran->output, MOST, arena);
    const char *second = dvi_said(ran->errors, MOST, arena);
    if (first == NULL || second == NULL)
        return NULL;
    return dvi_arena_format(arena, "%s%s%s%s", first[0] != '\0' || second[0] != '\0' ? ": " : "",
                            first, first[0] != '\0' && second[0] != '\0' ? " " : "", second);
}

const char *dvi_ran_ended(const struct dvi_ran *ran, const char *what, unsigned seconds,
                          struct dvi_arena *arena)
{
    const char *words = dvi_ran_words(ran, arena);
    if (words == NULL)
        return NULL;
    if (ran->timed_out)
        return dvi_arena_format(arena, "%s: did not end within %u s and was stopped%s", what,
                                seconds, words);
    if (ran->exit_code < 0)
        return dvi_arena_format(arena, "%s: crashed%s", what, words);
    return dvi_arena_format(arena, "%s: exit status %d%s", what, ran->exit_code, words);
}

/* 0: a file that may be run; else an errno. */
static int program_problem(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return errno;
    if (!S_ISREG(info.st_mode))
        return EACCES;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* "FOLDER/NAME" of the first folder of PATH that has it; NULL: no memory. `problem`: why none has. */
static const char *look_up(const char *name, struct dvi_arena *arena, int *problem)
{
    const char *folders = getenv("PATH");
    const char *path = name;
    *problem = ENOENT;
    if (folders == NULL)
        folders = "/bin:/usr/bin";
    for (const char *at = folders; path != NULL && name[0] != '\0'; at++) {
        const size_t size = strcspn(at, ":");
        path = size == 0 ? dvi_arena_format(arena, "./%s", name)
                         : dvi_arena_format(arena, "%.*s/%s", (int)size, at, name);
        const int found = path != NULL ? program_problem(path) : 0;
        if (found == 0) {
            *problem = 0;
            return path;
        }
        if (found == EACCES)
            *problem = EACCES;
        at += size;
        if (*at == '\0')
            break;
    }
    return path;
}

enum devimg_status dvi_find_program(const char *name, struct dvi_arena *arena, const char **out,
                                    struct devimg_error *err)
{
    int problem = 0;
    const bool in_path = strchr(name, '/') == NULL;
    const char *path = name;
    if (in_path)
        path = look_up(name, arena, &problem);
    else
        problem = program_problem(name);
    if (path == NULL)
        return dvi_fail_memory(err, name);
    if (problem != 0)
        return dvi_fail_plain(err, DEVIMG_IO, name, "%s",
                              in_path && problem == ENOENT ? "not found in PATH"
                                                           : strerror(problem));
    if (path[0] != '/') {
        char *here = getcwd(NULL, 0);
        if (here == NULL)
            return dvi_fail_plain(err, DEVIMG_IO, name, "%s", strerror(errno));
        path = dvi_arena_format(arena, "%s/%s", here, path);
        free(here);
        if (path == NULL)
            return dvi_fail_memory(err, name);
    }
    *out = path;
    return DEVIMG_OK;
}
