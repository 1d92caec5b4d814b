#!/usr/bin/env bats
# Watching other programs: the same calls and errors as strace -f -c, and what happens around it.

# A command that must fail (bash ignores a bare "!").
refute() {
	! "$@"
}

setup() {
	cd "$BATS_TEST_DIRNAME/.."
	rate=$PWD/${BUILD:-build/plain}/syscall-rate
	[ "$(id -u)" = 0 ] || skip "needs root"
	"$rate" -q -o /dev/null -- true 2>"$BATS_TEST_TMPDIR/why" || skip "$(cat "$BATS_TEST_TMPDIR/why")"
}

# "name calls errors" of a table of strace -c, sorted.
rows() {
	awk '$1 ~ /^([0-9]+\.[0-9]+|-)$/ && $NF != "total" {print $NF, $4, NF == 6 ? $5 : 0}' "$1" | sort
}

# The command $@ has the same calls and errors under both.
same() {
	[ "${BUILD:-}" != build/thread ] || skip "ThreadSanitizer adds a thread of its own to the command before its execve"
	strace -f -c -o "$BATS_TEST_TMPDIR/strace" "$@" >/dev/null 2>&1 </dev/null || true
	"$rate" -o "$BATS_TEST_TMPDIR/ours" -- "$@" >/dev/null 2>&1 </dev/null || true
	"$rate" -o "$BATS_TEST_TMPDIR/none" --timing none -- "$@" >/dev/null 2>&1 </dev/null || true
	diff <(rows "$BATS_TEST_TMPDIR/strace") <(rows "$BATS_TEST_TMPDIR/ours")
	diff <(rows "$BATS_TEST_TMPDIR/strace") <(rows "$BATS_TEST_TMPDIR/none")
	[ "$(rows "$BATS_TEST_TMPDIR/ours" | wc -l)" -gt 5 ]
}

@test "calls and errors equal strace's: cat, dd, tar, failing opens, a sleeper" {
	command -v strace >/dev/null || skip "strace is not installed"
	same cat /etc/passwd
	same dd if=/dev/zero of=/dev/null bs=1 count=3000
	same tar cf /dev/null "$PWD/fib"
	same cat /nonexistent /nonexistent/either
	same sleep 0.1
}

@test "calls and errors equal strace's: children, and a grandchild that outlives its parent" {
	command -v strace >/dev/null || skip "strace is not installed"
	same sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
	same perl -e 'for (1 .. 100) { my $p = fork; exit 0 if !$p; waitpid $p, 0 }'
	same sh -c '(sleep 0.3; cat /nonexistent; /bin/true) &'
}

@test "calls and errors equal strace's: 1000 signals handled" {
	command -v strace >/dev/null || skip "strace is not installed"
	same perl -e '$SIG{USR1} = sub {}; for (1 .. 1000) { kill USR1 => $$ }'
}

@test "the command's own exit status, or 128 and the signal that ended it" {
	run "$rate" -q -- sh -c 'exit 7'
	[ "$status" = 7 ]
	run "$rate" -q -- sh -c 'kill -9 $$'
	[ "$status" = 137 ]
	code=0
	"$rate" -- /nosuch/command 2>"$BATS_TEST_TMPDIR/said" || code=$?
	[ "$code" = 127 ]
	[ "$(cat "$BATS_TEST_TMPDIR/said")" = "syscall-rate: /nosuch/command: No such file or directory" ]
	run "$rate" -- /etc/passwd
	[ "$status" = 126 ]
}

@test "the command's output is its own: the table goes to standard error" {
	"$rate" -- echo hello >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	[ "$(cat "$BATS_TEST_TMPDIR/out")" = hello ]
	grep -q ' write$' "$BATS_TEST_TMPDIR/err"
	grep -q '^never returned: exit_group 1$' "$BATS_TEST_TMPDIR/err"
}

@test "wall time is the sleep's, time on the CPU is not" {
	wall=$("$rate" -w --timing all -q --json - -- sleep 0.3 | jq '.summary[] | select(.syscall == "clock_nanosleep") | .seconds')
	cpu=$("$rate" --timing all -q --json - -- sleep 0.3 | jq '.summary[] | select(.syscall == "clock_nanosleep") | .seconds')
	none=$("$rate" --timing none -q --json - -- sleep 0.1 | jq '.summary[0].seconds')
	echo "wall $wall, cpu $cpu, none $none"
	[ "$(jq -n "$wall >= 0.3 and $cpu < 0.1")" = true ]
	[ "$none" = null ]
}

@test "auto never misses a single long call" {
	run "$rate" -w --timing auto -q --json - -- perl -e 'syscall(102) for 1 .. 5000; select(undef, undef, undef, 0.3)'
	jq -e '[.summary[] | select(.syscall == "select" or .syscall == "pselect6") | .seconds] | add >= 0.3' <<<"$output"
	jq -e '.summary[] | select(.syscall == "getuid") | .calls >= 5000' <<<"$output"
}

@test "-p: a running process with all its threads, until -d is over, and it goes on unharmed" {
	"$rate" -q --counter none --threads 4 -d 60s -o /dev/null &
	target=$!
	sleep 0.5
	json=$("$rate" -p "$target" -d 500ms -q --json -)
	kill -0 "$target"
	jq -e '.mode == "pid" and .lost == 0 and (.summary[] | select(.syscall == "getuid") | .calls > 100000 and .errors == 0)' <<<"$json"
	kill "$target"
	wait "$target" || true
}

@test "-p ends when the process does; attach and detach leave it as it was" {
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.1; done; exit 9' &
	target=$!
	for i in 1 2 3 4 5; do "$rate" -q -p "$target" -d 50ms -o /dev/null; done
	run "$rate" -f -p "$target"
	[ "$status" = 0 ]
	grep -q ' clock_nanosleep$' <<<"$output"
	code=0
	wait "$target" || code=$?
	[ "$code" = 9 ]
}

@test "without -f a process's children are not watched" {
	perl -e '$| = 1; sleep 1; system("true") for 1 .. 3' &
	run "$rate" -q -p $! --json -
	jq -e '([.summary[] | select(.syscall == "execve") | .calls] | add) == null' <<<"$output"
}

@test "-a sees other processes, and not this one" {
	perl -e 'syscall(102) for 1 .. 100000000' &
	busy=$!
	run "$rate" -a -d 300ms -q --json -
	kill "$busy"
	wait "$busy" || true
	jq -e '.mode == "all" and (.summary[] | select(.syscall == "getuid") | .calls > 1000)' <<<"$output"
}

@test "SIGTERM: the table is printed, the command ended, exit 143; SIGINT ends -p with 130" {
	"$rate" -o "$BATS_TEST_TMPDIR/table" -- sh -c 'echo $$ >"$0"; exec sleep 60' "$BATS_TEST_TMPDIR/pid" &
	sleep 0.7
	kill $!
	code=0
	wait $! || code=$?
	[ "$code" = 143 ]
	grep -q ' execve$' "$BATS_TEST_TMPDIR/table"
	for i in $(seq 20); do kill -0 "$(cat "$BATS_TEST_TMPDIR/pid")" 2>/dev/null || break; sleep 0.1; done
	refute kill -0 "$(cat "$BATS_TEST_TMPDIR/pid")"
	sleep 5 &
	target=$!
	"$rate" -p "$target" -o "$BATS_TEST_TMPDIR/table" &
	sleep 0.7
	kill -INT $!
	code=0
	wait $! || code=$?
	kill "$target"
	[ "$code" = 130 ]
}

@test "two at once count the same" {
	"$rate" -q --json "$BATS_TEST_TMPDIR/one" -- dd if=/dev/zero of=/dev/null bs=1 count=100000 2>/dev/null &
	"$rate" -q --json "$BATS_TEST_TMPDIR/two" -- dd if=/dev/zero of=/dev/null bs=1 count=100000 2>/dev/null
	wait $!
	for file in one two; do
		[ "$(jq '.summary[] | select(.syscall == "write") | .calls - 100000 | . >= 0 and . < 10' "$BATS_TEST_TMPDIR/$file")" = true ]
	done
}

@test "32-bit calls have their own names" {
	command -v gcc >/dev/null && [ "$(uname -m)" = x86_64 ] || skip "needs gcc on x86-64"
	# int 0x80 in a 64-bit process: 20 is getpid there, and writev here
	echo 'int main(void) { for (int i = 0; i < 20; i++) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "0"(20L) : "memory"); } return 0; }' >"$BATS_TEST_TMPDIR/c.c"
	gcc -o "$BATS_TEST_TMPDIR/c" "$BATS_TEST_TMPDIR/c.c"
	run "$rate" -q --json - -- "$BATS_TEST_TMPDIR/c"
	[ "$status" = 0 ] || skip "no 32-bit calls in this kernel"
	jq -e '(.summary[] | select(.syscall == "getpid") | .calls) == 20 and all(.summary[]; .syscall != "writev")' <<<"$output"
}

@test "-S sorts, -e trace= chooses, calls in flight at the end are told" {
	run "$rate" -S name -e trace=openat,mmap -o /dev/stdout -- cat /dev/null
	[ "$(rows /dev/stdin <<<"$output" | awk '{print $1}' | paste -sd,)" = mmap,openat ]
	[ "$(grep -oE '(mmap|openat)$' <<<"$output" | paste -sd,)" = mmap,openat ]
	run "$rate" -e 'trace=!mmap' -o /dev/stdout -- cat /dev/null
	refute grep -q ' mmap$' <<<"$output"
	grep -q ' openat$' <<<"$output"
	sh -c 'for i in 1 2 3; do sleep 0.2; done; sleep 5' &
	target=$!
	run "$rate" -p "$target" -d 1s
	kill "$target"
	grep -q '^in flight at the end: 1$' <<<"$output"
}

@test "bad input: one line and its exit code" {
	for bad in '-p 0:2' '-p -5:2' '-p x:2' '-p 1,,2:2' '-p 99999999:1' '-p 2:1' '-p 1 -a:2' '-a --timing nosuch:2' '-a -S nosuch:2' '-a -e trace=nosuch:2' '-p 1 -- true:2'; do
		run "$rate" ${bad%:*}
		echo "$bad: $status $output"
		[ "$status" = "${bad##*:}" ]
		[ "${#lines[@]}" = 1 ]
	done
	run setpriv --bounding-set=-bpf,-perfmon,-sys_admin "$rate" -- true
	[ "$status" = 1 ]
	grep -q 'strace -c needs none of it' <<<"$output"
}
