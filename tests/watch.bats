#!/usr/bin/env bats
# Watching other programs: the same calls and errors as strace -f -c, and what happens around it.

setup() {
	load helpers
	cd "$BATS_TEST_DIRNAME/.."
	rate=$PWD/${BUILD:-build/plain}/syscall-rate
	need_watching
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
	grep -qE '^never returned: (nanosleep 1, )?exit_group 1$' "$BATS_TEST_TMPDIR/err"
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
	sh -c "while [ ! -e '$BATS_TEST_TMPDIR/end' ]; do sleep 0.1; done; exit 9" &
	target=$!
	for i in 1 2 3 4 5; do "$rate" -q -p "$target" -d 50ms -o /dev/null; done
	(sleep 1.5; touch "$BATS_TEST_TMPDIR/end") &
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
	for bad in '-p 0:2' '-p -5:2' '-p x:2' '-p 1,,2:2' '-p 99999999:1' '-p 2:1' '-p 1 -a:2' '-a --timing nosuch:2' '-a -S nosuch:2' '-a -e trace=nosuch:2' '-p 1 -- true:2' \
		'-a -U nosuch:2' '-a -U calls,calls:2' '-a --per nosuch:2' '-u root:2' '-u nosuch-user -- true:2' '-a -i 0:2' '--cost -a:2' \
		'--cost --call null:2' '-a --counter nosuch:2'; do
		run "$rate" ${bad%:*}
		echo "$bad: $status $output"
		[ "$status" = "${bad##*:}" ]
		[ "${#lines[@]}" = 1 ]
	done
	run setpriv --bounding-set=-bpf,-perfmon,-sys_admin "$rate" -- true
	[ "$status" = 1 ]
	grep -q 'strace -c needs none of it' <<<"$output"
}

@test "intervals add up to the total, and a table of all follows" {
	"$rate" -i 150ms --timing all -o "$BATS_TEST_TMPDIR/table" --json "$BATS_TEST_TMPDIR/json" -- sh -c 'for i in 1 2 3 4 5; do sleep 0.1; done'
	jq -e '(.intervals | length) >= 3
		and ([.intervals[].summary[]] | group_by(.syscall) | map({key: .[0].syscall, value: [(map(.calls) | add), (map(.errors) | add)]}) | from_entries)
			== ([.summary[] | {key: .syscall, value: [.calls, .errors]}] | from_entries)
		and (([.intervals[].summary[].seconds] | add) - ([.summary[].seconds] | add) | fabs) < 1e-6
		and ([.intervals[].from_s][1:] == [.intervals[].to_s][:-1])' "$BATS_TEST_TMPDIR/json"
	[ "$(grep -c '^from ' "$BATS_TEST_TMPDIR/table")" = "$(jq '.intervals | length' "$BATS_TEST_TMPDIR/json")" ]
	[ "$(grep -c '^in all, ' "$BATS_TEST_TMPDIR/table")" = 1 ]
}

@test "SIGUSR1 prints a table at once" {
	"$rate" -- sleep 1 >"$BATS_TEST_TMPDIR/table" 2>&1 &
	sleep 0.5
	kill -USR1 $!
	sleep 0.2
	grep -q '^from 0.000 s to ' "$BATS_TEST_TMPDIR/table"
	refute grep -q '^in all' "$BATS_TEST_TMPDIR/table"
	wait $!
	grep -q '^in all' "$BATS_TEST_TMPDIR/table"
}

@test "-U has strace's columns, in the order given" {
	command -v strace >/dev/null || skip "strace is not installed"
	for columns in calls,name min-time,max-time,avg-time,name,total-time errors,time-percent name; do
		"$rate" -U "$columns" -o "$BATS_TEST_TMPDIR/ours" -- true
		strace -c -U "$columns" -o "$BATS_TEST_TMPDIR/theirs" true
		diff <(head -2 "$BATS_TEST_TMPDIR/theirs") <(head -2 "$BATS_TEST_TMPDIR/ours")
	done
	run "$rate" -w --timing all -U max-time,min-time,calls,name -o /dev/stdout -- sleep 0.2
	awk '$4 == "clock_nanosleep" && $1 >= 0.2 && $2 >= 0.2 && $3 == 1 {ok = 1} END {exit !ok}' <<<"$output"
}

@test "tables per process, thread and core have all calls" {
	for per in process thread core; do
		"$rate" --per "$per" -o "$BATS_TEST_TMPDIR/table" --json "$BATS_TEST_TMPDIR/json" -- \
			perl -e 'for (1 .. 3) { if (!fork) { syscall(102) for 1 .. 1000; exit } } 1 while wait > 0'
		jq -e --arg per "$per" '(([.[$per][].summary[].calls] | add) == ([.summary[].calls] | add))
			and ([.[$per][].summary[] | select(.syscall == "getuid") | .calls] | add) == ([.summary[] | select(.syscall == "getuid") | .calls] | add)' "$BATS_TEST_TMPDIR/json"
	done
	run "$rate" --per process -q --json - -- perl -e 'for (1 .. 3) { if (!fork) { syscall(102) for 1 .. 1000; exit } } 1 while wait > 0'
	[ "$(jq '[.process[] | select(.name == "perl")] | length' <<<"$output")" = 4 ]
	[ "$(jq '[.process[] | select(any(.summary[]; .syscall == "getuid" and .calls >= 1000))] | length' <<<"$output")" = 3 ]
	run "$rate" --per thread -o /dev/stdout -- sleep 0
	grep -qE '^sleep, process ([0-9]+), thread \1:$' <<<"$output"
}

@test "-u runs the command as that user" {
	id nobody >/dev/null || skip "no user nobody"
	run "$rate" -q -u nobody -- id
	[ "$status" = 0 ]
	[ "$output" = "$(setpriv --reuid nobody --regid "$(id -g nobody)" --init-groups id)" ]
	mkdir -m 700 "$BATS_TEST_TMPDIR/closed"
	run "$rate" -q -u nobody -- ls "$BATS_TEST_TMPDIR/closed"
	[ "$status" = 2 ]
}

@test "-e trace=%class is strace's" {
	command -v strace >/dev/null || skip "strace is not installed"
	[ "${BUILD:-}" != build/thread ] || skip "ThreadSanitizer adds a thread of its own to the command before its execve"
	for trace in %file %desc '!%memory' %process,brk %stat; do
		strace -f -c -e trace="$trace" -o "$BATS_TEST_TMPDIR/theirs" cat /etc/passwd >/dev/null
		"$rate" -e trace="$trace" -o "$BATS_TEST_TMPDIR/ours" -- cat /etc/passwd >/dev/null
		diff <(rows "$BATS_TEST_TMPDIR/theirs") <(rows "$BATS_TEST_TMPDIR/ours")
	done
}

@test "restarts, and calls in flight at attach" {
	# The signal interrupts a wait; the handler returns, and the kernel begins it anew. Who sends it lives on: its end
	# would be what the wait returns with.
	run "$rate" -q --json - -- sh -c 'trap : USR1; (sleep 0.2; kill -USR1 $$; sleep 0.2) & sleep 0.5; wait'
	jq -e '([.restarted[]] | add) >= 1' <<<"$output"
	sleep 0.9 &
	json=$("$rate" -q --json - -p $!)
	jq -e '.in_flight_at_attach == 1 and (.never_returned.exit_group == 1)
		and all(.summary[]; .syscall != "clock_nanosleep")' <<<"$json"
}

@test "without BTF the other back end is taken, and says what it lacks" {
	unshare -m true 2>/dev/null || skip "no private mount namespace"
	run unshare -m sh -c "mount -t tmpfs none /sys/kernel/btf; mount -t tracefs tracefs /sys/kernel/tracing
		'$rate' -o /dev/stdout -- sh -c 'cat /dev/null; :'"
	echo "$output"
	grep -q 'watching with bpf:raw_tp: ' <<<"$output"
	[ "$(rows <<<"$output" | sed -n 's/^execve //p')" = "2 0" ]
	run unshare -m sh -c "mount -t tmpfs none /sys/kernel/btf; umount -l /sys/kernel/tracing 2>/dev/null
		umount -l /sys/kernel/debug 2>/dev/null; '$rate' -o /dev/stdout -- sh -c 'cat /dev/null; :'"
	grep -q 'children are not watched' <<<"$output"
	grep -q '^seconds are wall time' <<<"$output"
	[ "$(rows <<<"$output" | sed -n 's/^execve //p')" = "1 0" ]
}

@test "200 times attached to and detached from, a busy process goes on unharmed, and loses no call" {
	# One watcher has it from its first call to its last; the others come and go meanwhile.
	"$rate" -q --json "$BATS_TEST_TMPDIR/json" -- perl -e '
		$| = 1; $n = 0; while (!-e $ARGV[0]) { syscall(111) for 1 .. 1000; $n += 1000 } print "$n\n"' "$BATS_TEST_TMPDIR/end" >"$BATS_TEST_TMPDIR/made" &
	watcher=$!
	for i in $(seq 50); do
		target=$(pgrep -P "$watcher") && break
		sleep 0.1
	done
	for i in $(seq 200); do
		"$rate" -q -p "$target" -d 1ms -o "$BATS_TEST_TMPDIR/table"
		grep -q ' getpgrp$' "$BATS_TEST_TMPDIR/table" || [ "$i" -lt 200 ]
	done
	touch "$BATS_TEST_TMPDIR/end"
	wait "$watcher"
	made=$(cat "$BATS_TEST_TMPDIR/made")
	[ "$made" -gt 0 ]
	jq -e --argjson made "$made" '.lost == 0 and ([.summary[] | select(.syscall == "getpgrp") | .calls] == [$made])' "$BATS_TEST_TMPDIR/json"
}

@test "a target that is killed ends the watching" {
	perl -e 'syscall(102) while 1' &
	target=$!
	(sleep 0.7; kill -9 "$target") &
	run timeout 20 "$rate" -p "$target"
	[ "$status" = 0 ]
	grep -q ' getuid$' <<<"$output"
}

@test "a process that forks, execs and ends while it is attached to is no error" {
	for i in 1 2 3 4 5 6 7 8; do
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; exec /bin/true' &
		code=0
		timeout 20 "$rate" -f -q -o /dev/null -p $! 2>"$BATS_TEST_TMPDIR/said" || code=$?
		[ "$code" = 0 ] || { [ "$code" = 1 ] && grep -qE 'no such process|has ended' "$BATS_TEST_TMPDIR/said"; }
		wait $!
	done
}

@test "a reader that leaves ends the watching with 1; a pipe gets neither colour nor progress" {
	run timeout 20 bash -c "'$rate' -a -i 50ms | head -1; exit \${PIPESTATUS[0]}"
	[ "$status" = 1 ]
	grep -q 'Broken pipe' <<<"$output"
	run bash -c "'$rate' -a -d 100ms | cat"
	[ "$status" = 0 ]
	refute grep -q $'[\r\033]' <<<"$output"
}

@test "10 sleeps of 100 ms are a second of wall time, and almost none on the CPU" {
	run "$rate" -w -q --json - -- perl -e 'select(undef, undef, undef, 0.1) for 1 .. 10'
	jq -e '[.summary[] | select(.syscall == "select" or .syscall == "pselect6")] | (map(.calls) | add) == 10 and (map(.seconds) | add) >= 1' <<<"$output"
	run "$rate" -q --json - -- perl -e 'select(undef, undef, undef, 0.1) for 1 .. 10'
	jq -e '[.summary[] | select(.syscall == "select" or .syscall == "pselect6")] | (map(.calls) | add) == 10 and (map(.seconds) | add) < 0.1' <<<"$output"
}

@test "inside a PID namespace, -p and the command are the namespace's" {
	unshare -pf --mount-proc true 2>/dev/null || skip "no private PID namespace"
	run unshare -pf --mount-proc sh -c "perl -e 'syscall(102) while 1' & sleep 0.3
		'$rate' -p \$! -d 200ms -q --json - --per process; kill \$!"
	jq -e '(.summary[] | select(.syscall == "getuid") | .calls > 1000) and .process[0].process < 10' <<<"$output"
	run unshare -pf --mount-proc "$rate" -o /dev/stdout -- sh -c 'cat /dev/null; :'
	[ "$(rows <<<"$output" | sed -n 's/^execve //p')" = "2 0" ]
}

@test "3000 processes and 300 threads at once: all are counted, and the end of the last is seen" {
	run timeout 100 "$rate" -q --json - -- perl -e 'for (1 .. 3000) { my $p = fork; exit 0 if !$p; waitpid $p, 0 }'
	[ "$status" = 0 ]
	jq -e '.lost == 0 and .never_returned.exit_group == 3001 and .in_flight == 0' <<<"$output"
	run timeout 100 "$rate" -q --json - -- "$rate" -q --counter none --threads 300 --calls 300000 -o /dev/null
	# LeakSanitizer has a thread more.
	jq -e '.lost == 0 and (.never_returned.exit | . == 300 or . == 301) and (.summary[] | select(.syscall == "getuid") | .calls >= 300000)' <<<"$output"
}

@test "--cost: every observer has a row, ours are exact, a bystander is not counted" {
	run timeout 200 "$rate" --cost -d 30ms -q --json -
	[ "$status" = 0 ]
	jq -e '.mode == "cost" and .observers[0].observer == "bare" and .observers[0].slowdown == 1
		and ([.observers[].observer] | index("strace -f -c", "perf stat", "bpftrace, count() by number", "bpf:fentry, counting") | type == "number")
		and all(.observers[]; .status != "" and (.status != "measured" or (.ns_per_call > 0 and (.samples_ns | length) == 6)))
		and all(.observers[] | select(.observer | test("^(bpf|watched|not watched)")) | select(.status == "measured"); .exact != false)
		and ([.observers[] | select(.observer == "watched, --timing all" or .observer == "not watched while another is") | .exact] == [true, true])
		and ([.observers[] | select(.observer == "strace -f -c" and .status == "measured")] | all(.exact and .slowdown > 5))' <<<"$output"
	refute ls -d /tmp/toll-cost.* 2>/dev/null
}

@test "--cost without privileges measures what needs none; SIGINT prints what there is" {
	copy=$(mktemp -d /tmp/toll-test.XXXXXX)
	chmod 755 "$copy"
	cp "$rate" "$copy/rate"
	run timeout 100 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$copy/rate" --cost -d 12ms
	rm -r "$copy"
	[ "$status" = 0 ]
	grep -qE '^seccomp, a filter by number +[0-9]' <<<"$output"
	grep -qE '^bpf:tp_btf, counting +- .*needs root' <<<"$output"
	"$rate" --cost -d 20s -o "$BATS_TEST_TMPDIR/table" &
	sleep 5
	kill -INT $!
	code=0
	wait $! || code=$?
	[ "$code" = 130 ]
	grep -qE '^bare +[0-9]' "$BATS_TEST_TMPDIR/table"
	grep -qE '^strace -f -c +- .*not (measured|installed)' "$BATS_TEST_TMPDIR/table"
}
