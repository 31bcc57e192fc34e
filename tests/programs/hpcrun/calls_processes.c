/* calls_processes: calls that wait for messages, semaphores, signals or children; see
 * interrupted-calls.h. */
#include "interrupted-calls.h"

#include <mqueue.h>
#include <poll.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>

/* ---- queues of POSIX ---- */

static mqd_t queue;

static void prepare_queue(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 10};
    queue = (mqd_t)must(mq_open(name, O_CREAT | O_RDWR, 0600, &attributes));
    mq_unlink(name);
    fds[0] = queue;
}

static void prepare_full_queue(void)
{
    prepare_queue();
    must(mq_send(queue, "x", 1, 0));
}

static void put_message(void)
{
    mq_send(queue, "x", 1, 0);
}

static void take_message(void)
{
    char message[10];
    mq_receive(queue, message, sizeof message, NULL);
}

CALL(mq_receive, prepare_queue, put_message)
{
    char message[10];
    return mq_receive(queue, message, sizeof message, NULL);
}

static long receive_in_time(void)
{
    char message[10];
    struct timespec time = at_ms(CLOCK_REALTIME, wait_ms);
    return mq_timedreceive(queue, message, sizeof message, NULL, &time);
}

CALL(mq_timedreceive, prepare_queue, put_message)
{
    return receive_in_time();
}

CALL(mq_timedreceive_in_time, prepare_queue, NULL, SAMPLES, true)
{
    return receive_in_time();
}

CALL(mq_send, prepare_full_queue, take_message)
{
    return mq_send(queue, "y", 1, 0);
}

/* ---- System V; objects outlive the process: the caller removes them after its call ---- */

static int object;

static void remove_messages(void)
{
    round_.returned = true;
    msgctl(object, IPC_RMID, NULL);
}

static struct message {
    long type;
    char text[8192];
} message = {.type = 1};

static void prepare_messages(void)
{
    object = (int)must(msgget(IPC_PRIVATE, 0600));
}

static void put_sysv_message(void)
{
    msgsnd(object, &message, 1, IPC_NOWAIT);
}

EVERY_CALL(msgrcv, prepare_messages, put_sysv_message)
{
    static struct message taken;
    return THEN(MADE(msgrcv(object, &taken, sizeof taken.text, 0, 0), SYS_msgrcv, object, &taken,
                     sizeof taken.text),
                remove_messages());
}

static void prepare_full_messages(void)
{
    prepare_messages();
    while (msgsnd(object, &message, sizeof message.text, IPC_NOWAIT) == 0)
        continue;
}

static void take_sysv_message(void)
{
    static struct message taken;
    msgrcv(object, &taken, sizeof taken.text, 0, IPC_NOWAIT);
}

EVERY_CALL(msgsnd, prepare_full_messages, take_sysv_message)
{
    return THEN(MADE(msgsnd(object, &message, sizeof message.text, 0), SYS_msgsnd, object, &message,
                     sizeof message.text),
                remove_messages());
}

static void prepare_semaphore(void)
{
    object = (int)must(semget(IPC_PRIVATE, 1, 0600));
}

static void up(void)
{
    struct sembuf operation = {.sem_op = 1};
    semop(object, &operation, 1);
}

EVERY_CALL(semop, prepare_semaphore, up)
{
    struct sembuf operation = {.sem_op = -1};
    return THEN(MADE(semop(object, &operation, 1), SYS_semop, object, &operation, 1),
                semctl(object, 0, IPC_RMID));
}

EVERY_CALL(semtimedop, prepare_semaphore, .timed = true)
{
    struct sembuf operation = {.sem_op = -1};
    struct timespec time = in_ms(wait_ms);
    return THEN(MADE(semtimedop(object, &operation, 1, &time), SYS_semtimedop, object, &operation,
                     1, &time),
                semctl(object, 0, IPC_RMID));
}

/* ---- waits that only a signal ends: SIGUSR2, which is blocked except in some of them ---- */

static sigset_t usr2(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return set;
}

static void mask_usr2(int how)
{
    sigset_t set = usr2();
    syscall(SYS_rt_sigprocmask, how, &set, NULL, 8);
}

static void block_usr2(void)
{
    mask_usr2(SIG_BLOCK);
    signal(SIGUSR2, count_signal);
}

static void send_usr2(void)
{
    pthread_kill(caller, SIGUSR2);
}

/* For waits that any handler ends. */
static void send_usr2_alone(void)
{
    if (mode == SAMPLES)
        send_usr2();
}

EVERY_CALL(pause, block_usr2, send_usr2_alone)
{
    mask_usr2(SIG_UNBLOCK);
    return MADE(pause(), SYS_pause);
}

EVERY_CALL(sigsuspend, block_usr2, send_usr2_alone)
{
    sigset_t none;
    sigemptyset(&none);
    return MADE(sigsuspend(&none), SYS_rt_sigsuspend, &none, 8);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* old programs call it */
CALL(sigpause, block_usr2, send_usr2_alone)
{
    return sigpause(SIGUSR2);
}

CALL(sigwaitinfo, block_usr2, send_usr2_alone)
{
    sigset_t set = usr2();
    return sigwaitinfo(&set, NULL) == SIGUSR2 ? 0 : -1;
}

EVERY_CALL(sigtimedwait, block_usr2, .timed = true)
{
    struct timespec time = in_ms(wait_ms);
    sigset_t set = usr2();
    return MADE(sigtimedwait(&set, NULL, &time), SYS_rt_sigtimedwait, &set, NULL, &time, 8);
}

CALL(sigwait, block_usr2, send_usr2)
{
    int number;
    sigset_t set = usr2();
    return -sigwait(&set, &number);
}

/* A signal that only the call blocks comes at its end. */
static _Atomic bool may_end, came_early;

static void note_when(int number)
{
    (void)number;
    came_early = came_early || !may_end;
}

static void send_blocked(void)
{
    send_usr2();
    expose();
    may_end = true;
    put_byte();
}

static void prepare_blocked(void)
{
    prepare_pipe();
    signal(SIGUSR2, note_when);
    may_end = came_early = false;
}

/* Afterwards the thread has its own mask again. */
RAW_CALL(blocked_signal, prepare_blocked, send_blocked, SAMPLES)
{
    struct pollfd at = {.fd = fds[0], .events = POLLIN};
    struct timespec time = in_ms(LONG_MS);
    sigset_t set = usr2(), after;
    mask_usr2(SIG_UNBLOCK);
    long result = RAW(SYS_ppoll, &at, 1, &time, &set, 8, 0, 0);
    sigemptyset(&after);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &after, 8);
    return came_early ? -2 : sigismember(&after, SIGUSR2) ? -3 : result;
}

/* ---- children ---- */

static pid_t child;

/* A child that ends when its pipe is closed. */
static void prepare_child(void)
{
    prepare_pipe();
    child = (pid_t)must(fork());
    if (child == 0) {
        char byte;
        close(fds[1]);
        _exit(read(fds[0], &byte, 1) == 0 ? 3 : 4);
    }
}

static void end_child(void)
{
    close(fds[1]);
    fds[1] = 0;
}

/* If the caller has not waited for the child, waits until end_child has ended it. */
static long without_child(long result)
{
    return THEN(result, result < 0 ? waitpid(child, NULL, 0) : 0);
}

CALL(waitpid, prepare_child, end_child)
{
    int status = 0;
    pid_t pid = waitpid(child, &status, 0);
    return without_child(pid == child ? WEXITSTATUS(status) : -1);
}

CALL(waitid, prepare_child, end_child)
{
    siginfo_t info = {0};
    int result = waitid(P_ALL, 0, &info, WEXITED);
    return without_child(result == 0 ? info.si_status : -1);
}

CALL(system, NULL, NULL, SAMPLES)
{
    return system("read x < /dev/null; exec sleep 0.05");
}
