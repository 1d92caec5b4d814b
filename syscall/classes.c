/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/classes.h"

#include <stdio.h>
#include <string.h>

/* As strace 6.1 traces for -e trace=%CLASS on x86-64, found by asking it for each call. Other
 * architectures have fewer of these calls. */
static const struct {
	const char *name, *calls;
} classes[] = {
	{"file",
		" open stat lstat access execve truncate getcwd chdir rename mkdir rmdir creat link unlink"
		" symlink readlink chmod chown lchown utime mknod uselib statfs pivot_root chroot acct mount"
		" umount2 swapon swapoff quotactl setxattr lsetxattr getxattr lgetxattr listxattr llistxattr"
		" removexattr lremovexattr utimes inotify_add_watch openat mkdirat mknodat fchownat futimesat"
		" newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat utimensat"
		" fanotify_mark name_to_handle_at renameat2 execveat statx open_tree move_mount fsconfig"
		" fspick openat2 faccessat2 mount_setattr "},
	{"process",
		" clone fork vfork execve exit wait4 kill rt_sigqueueinfo tkill exit_group tgkill waitid"
		" rt_tgsigqueueinfo execveat pidfd_send_signal clone3 "},
	{"network",
		" sendfile socket connect accept sendto recvfrom sendmsg recvmsg shutdown bind listen"
		" getsockname getpeername socketpair setsockopt getsockopt getpmsg putpmsg accept4 recvmmsg"
		" sendmmsg "},
	{"signal",
		" rt_sigaction rt_sigprocmask rt_sigreturn pause kill rt_sigpending rt_sigtimedwait"
		" rt_sigqueueinfo rt_sigsuspend sigaltstack tkill tgkill signalfd signalfd4 rt_tgsigqueueinfo"
		" pidfd_send_signal io_uring_enter "},
	{"ipc",
		" shmget shmat shmctl semget semop semctl shmdt msgget msgsnd msgrcv msgctl semtimedop "},
	{"desc",
		" read write open close fstat poll lseek mmap ioctl pread64 pwrite64 readv writev pipe select"
		" dup dup2 sendfile fcntl flock fsync fdatasync ftruncate getdents fchdir creat fchmod fchown"
		" fstatfs readahead fsetxattr fgetxattr flistxattr fremovexattr epoll_create getdents64"
		" fadvise64 epoll_wait epoll_ctl mq_open mq_timedsend mq_timedreceive mq_notify mq_getsetattr"
		" inotify_init inotify_add_watch inotify_rm_watch openat mkdirat mknodat fchownat futimesat"
		" newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll"
		" splice tee sync_file_range vmsplice utimensat epoll_pwait signalfd timerfd_create eventfd"
		" fallocate timerfd_settime timerfd_gettime signalfd4 eventfd2 epoll_create1 dup3 pipe2"
		" inotify_init1 preadv pwritev perf_event_open fanotify_init fanotify_mark name_to_handle_at"
		" open_by_handle_at syncfs setns finit_module renameat2 memfd_create kexec_file_load bpf"
		" execveat userfaultfd copy_file_range preadv2 pwritev2 statx pidfd_send_signal io_uring_setup"
		" io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig fsmount fspick"
		" pidfd_open openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr"
		" quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret"
		" process_mrelease "},
	{"memory",
		" mmap mprotect munmap brk mremap msync mincore madvise shmat shmdt mlock munlock mlockall"
		" munlockall io_setup io_destroy remap_file_pages mbind set_mempolicy get_mempolicy"
		" migrate_pages move_pages mlock2 pkey_mprotect io_uring_register set_mempolicy_home_node "},
	{"creds",
		" getuid getgid setuid setgid geteuid getegid setreuid setregid getgroups setgroups setresuid"
		" getresuid setresgid getresgid setfsuid setfsgid capget capset prctl "},
	{"clock",
		" gettimeofday adjtimex settimeofday time clock_settime clock_gettime clock_getres"
		" clock_adjtime "},
	{"pure",
		" getpid getuid getgid geteuid getegid getppid getpgrp gettid "},
	{"stat",
		" stat "},
	{"lstat",
		" lstat "},
	{"fstat",
		" fstat newfstatat statx "},
	{"statfs",
		" statfs "},
	{"fstatfs",
		" fstatfs "},
	{"%stat",
		" stat fstat lstat newfstatat statx "},
	{"%statfs",
		" ustat statfs fstatfs "},
};

#define OLD 7 /* of the table, from its beginning: these need no % */

/* The calls of a class, between blanks; or NULL. */
static const char *calls_of(const char *word)
{
	const char *name = *word == '%' ? word + 1 : word;
	size_t n = name == word ? OLD : sizeof(classes) / sizeof(*classes);

	if (!strcmp(name, "net"))
		name = "network";
	for (size_t i = 0; i < n; i++)
		if (!strcmp(classes[i].name, name))
			return classes[i].calls;
	return NULL;
}

bool class__known(const char *word)
{
	return !strcmp(word, "all") || !strcmp(word, "none") || calls_of(word);
}

bool class__has(const char *word, const char *call)
{
	const char *calls = calls_of(word);
	char wanted[64];

	if (!calls)
		return !strcmp(word, "all");
	snprintf(wanted, sizeof(wanted), " %s ", call);
	return strstr(calls, wanted);
}
