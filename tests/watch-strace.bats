#!/usr/bin/env bats
# The same calls and errors as strace -f -c, for every command here and both ways of watching.

setup() {
	load helpers
	cd "$BATS_TEST_DIRNAME/.."
	rate=$PWD/${BUILD:-build/plain}/syscall-rate
	need_watching
	command -v strace >/dev/null || skip "strace is not installed"
	[ "${BUILD:-}" != build/thread ] || skip "ThreadSanitizer adds a thread of its own to the command before its execve"
	counter=${COUNTER:-bpf}
	without=/
}

@test "cat, dd, tar, failing opens, a sleeper" {
	same cat /etc/passwd
	same dd if=/dev/zero of=/dev/null bs=1 count=3000
	same tar cf /dev/null "$PWD/fib"
	same cat /nonexistent /nonexistent/either
	same sleep 0.1
}

@test "100 times true, 100 forks, a pipeline" {
	same sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done'
	same perl -e 'for (1 .. 100) { my $p = fork; exit 0 if !$p; waitpid $p, 0 }'
	# How often cat reads, and what wait4 and SIGCHLD find, depends on who is first.
	without='wait4|rt_sigreturn|read'
	same sh -c 'echo one | cat | cat'
}

@test "a grandchild that outlives its parent" {
	same sh -c '(sleep 0.3; cat /nonexistent; /bin/true) &'
}

@test "1000 signals handled" {
	same perl -e '$SIG{USR1} = sub {}; for (1 .. 1000) { kill USR1 => $$ }'
}

@test "50 threads" {
	compile "$BATS_TEST_TMPDIR/threads" -pthread <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
static pthread_barrier_t all;
static void *work(void *unused)
{
	pthread_barrier_wait(&all); /* all are there at once, whoever is watched */
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	return unused;
}
int main(void)
{
	static pthread_t threads[50];
	pthread_barrier_init(&all, 0, 50);
	for (int i = 0; i < 50; i++) {
		pthread_attr_t attributes; /* stacks of our own: no cache of them, which depends on who ends first */
		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, aligned_alloc(4096, 65536), 65536);
		pthread_create(&threads[i], &attributes, work, 0);
	}
	for (int i = 0; i < 50; i++)
		pthread_join(threads[i], 0);
	return 0;
}
C
	# Who waits depends on who is first; so does the memory that malloc gives a thread of its own.
	without='futex'
	same "$BATS_TEST_TMPDIR/threads"
	[ "$(rows "$BATS_TEST_TMPDIR/table" | sed -n 's/^getppid //p')" = "5000 0" ]
}

@test "an execve by a thread that is not the leader" {
	compile "$BATS_TEST_TMPDIR/other" -pthread <<'C'
#include <pthread.h>
#include <unistd.h>
static volatile int created; /* with all calls that this makes */
static void *work(void *unused)
{
	while (!created)
		;
	execl("/bin/cat", "cat", "/nonexistent", (char *)0);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	created = 1;
	pause();
	return 0;
}
C
	[ "$counter" != bpf:raw_tp ] || without=pause # of a killed leader: not told from a return without BTF
	same "$BATS_TEST_TMPDIR/other"
}

@test "ends in the middle of a call: SIGKILL, SIGTERM, another thread's exit" {
	[ "$counter" != bpf:raw_tp ] || skip "not told from a return without BTF"
	same sh -c 'kill -9 $$'
	same perl -e 'my $p = fork; if (!$p) { sleep 60 } select(undef, undef, undef, 0.2); kill TERM => $p; waitpid $p, 0'
	same perl -e 'my $p = fork; if (!$p) { sleep 60 } select(undef, undef, undef, 0.2); kill KILL => $p; waitpid $p, 0'
	compile "$BATS_TEST_TMPDIR/idle" -pthread <<'C'
#include <pthread.h>
#include <unistd.h>
static void *work(void *unused)
{
	pause();
	return unused;
}
int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 10; i++)
		pthread_create(&thread, 0, work, 0);
	usleep(200000);
	return 0;
}
C
	same "$BATS_TEST_TMPDIR/idle"
}

@test "32-bit calls: int 0x80 in a 64-bit process, and a 32-bit program" {
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	compile "$BATS_TEST_TMPDIR/int80" <tests/vm/int80.c
	"$BATS_TEST_TMPDIR/int80" || skip "no 32-bit calls in this kernel"
	[ "$counter" = bpf:raw_tp ] || same "$BATS_TEST_TMPDIR/int80"
	compile "$BATS_TEST_TMPDIR/bits32" -m32 -static -nostdlib -ffreestanding -fno-pic -fno-stack-protector <tests/vm/bits32.c
	same "$BATS_TEST_TMPDIR/bits32"
}

# That is: strace's counts again, from a private mount namespace in which tracefs is mounted.
@test "the back end without BTF has the same" {
	unshare -m true 2>/dev/null || skip "no private mount namespace"
	[ -z "${COUNTER:-}" ] || skip "it is this one"
	run unshare -m sh -c "mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
		exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin BUILD='${BUILD:-}' COUNTER=bpf:raw_tp bats --tap '$BATS_TEST_FILENAME'"
	echo "$output"
	[ "$status" = 0 ]
	grep -q '^ok 1 ' <<<"$output"
}
