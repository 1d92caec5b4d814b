#!/usr/bin/env bats
# The kernel as it is: every counter, fentry among them; eight CPUs, and some that go away; watching as strace does.
# boot:

setup() {
	load ../helpers
	cd "$BATS_TEST_DIRNAME/../.."
	rate=$PWD/build/plain/syscall-rate
	counter=bpf
	without=/
}

# Every call counted on every one of $2 cores; $1: the JSON.
exact() {
	jq -e --argjson cores "$2" '.lost == 0 and .total.made == .total.counted and (.cores | length) == $cores
		and all(.cores[]; .made > 0 and .made == .counted)' <<<"$1"
}

@test "there are eight CPUs" {
	[ "$(nproc)" = 8 ]
}

@test "every counter is exact on eight cores" {
	for counter in bpf:tp_btf bpf:raw_tp bpf:tp bpf:fentry; do
		run "$rate" -q --json - -d 300ms --cores 8 --counter "$counter"
		[ "$status" = 0 ]
		exact "$output" 8
		jq -e --arg c "$counter" '.counter == $c' <<<"$output"
	done
}

@test "fentry is in nobody's way: it runs for the one call alone, the tracepoint for all" {
	sysctl -qw kernel.bpf_stats_enabled=1
	dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
	run "$rate" -q --json - --calls 2000 --cores 2 --counter bpf:fentry
	[ "$status" = 0 ]
	exact "$output" 2
	jq -e '.program_runs == .total.counted and (.summary | length) == 1 and .summary[0].syscall == "getuid"' <<<"$output"
	run "$rate" -q --json - -d 500ms --cores 2 --counter bpf:tp_btf
	kill %1
	sysctl -qw kernel.bpf_stats_enabled=0
	[ "$status" = 0 ]
	jq -e '.program_runs > .total.counted + 1000' <<<"$output"
}

@test "fentry counts a call without arguments, and one with three" {
	for call in getppid read; do
		run "$rate" -q --json - -d 200ms --cores 2 --counter bpf:fentry --call "$call"
		[ "$status" = 0 ]
		exact "$output" 2
	done
}

@test "--cost has a row for fentry, the bystander's beside it, and all that count are exact" {
	run timeout 250 "$rate" --cost -q --json - -d 30ms
	[ "$status" = 0 ]
	jq -e 'any(.observers[]; .observer == "bpf:fentry, counting" and .status == "measured" and .exact)' <<<"$output"
	jq -e 'any(.observers[]; .observer == "not watched while another is" and .status == "measured")' <<<"$output"
	jq -e 'all(.observers[] | select(.exact != null and (.observer | test("^(bpf|watched)"))); .exact)' <<<"$output"
}

@test "a CPU that is offline is not there" {
	echo 0 >/sys/devices/system/cpu/cpu3/online
	run "$rate" -q --json - -d 100ms --cores 8 --counter none
	seven=$("$rate" -q --json - -d 100ms)
	echo 1 >/sys/devices/system/cpu/cpu3/online
	[ "$status" = 2 ]
	[ "$output" = "syscall-rate: --cores: 8 asked for, but this process may run on 7" ]
	exact "$seven" 7
	jq -e '[.cores[].cpu] == [0, 1, 2, 4, 5, 6, 7] and .host.cpus_online == 7' <<<"$seven"
}

@test "a CPU that goes offline during the run is told, and nothing is lost" {
	"$rate" -d 4s --interval 200ms -o "$BATS_TEST_TMPDIR/table" --json "$BATS_TEST_TMPDIR/json" 2>"$BATS_TEST_TMPDIR/said" &
	sleep 2
	echo 0 >/sys/devices/system/cpu/cpu5/online
	code=0
	wait $! || code=$?
	echo 1 >/sys/devices/system/cpu/cpu5/online
	[ "$code" = 1 ]
	grep -q 'a measured CPU went away' "$BATS_TEST_TMPDIR/said"
	grep -q '^noise: ' "$BATS_TEST_TMPDIR/table"
	jq -e '.lost == 0 and .total.made > 0' "$BATS_TEST_TMPDIR/json"
}

@test "a cpuset of two CPUs is kept to" {
	echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/two
	echo 2,5 >/sys/fs/cgroup/two/cpuset.cpus
	run sh -c 'echo $$ >/sys/fs/cgroup/two/cgroup.procs && exec "$0" -q --json - -d 200ms' "$rate"
	[ "$status" = 0 ]
	exact "$output" 2
	jq -e '[.cores[].cpu] == [2, 5] and .host.cpus_online == 8 and .host.cpus_allowed == 2' <<<"$output"
}

@test "watching has the calls and errors of strace, with BTF" {
	same cat /etc/passwd
	same cat /nonexistent
	same dd if=/dev/zero of=/dev/null bs=1 count=500
	same tar cf /dev/null "$PWD/fib"
	same sh -c '(sleep 0.3; /usr/bin/jq -n 1; cat /nonexistent) &'
	same sh -c 'i=0; while [ $i -lt 10 ]; do /usr/bin/jq -n 1; i=$((i + 1)); done'
}

@test "... and without" {
	counter=bpf:raw_tp
	same cat /etc/passwd
	same dd if=/dev/zero of=/dev/null bs=1 count=500
	same sh -c '(sleep 0.3; /usr/bin/jq -n 1; cat /nonexistent) &'
}

@test "32-bit calls have their own names: int 0x80 in a 64-bit process, and a 32-bit program" {
	same /toll/int80
	run "$rate" -q --json - -- /toll/int80
	jq -e 'any(.summary[]; .syscall == "getpid" and .calls == 20)' <<<"$output"
	same /toll/bits32
	counter=bpf:raw_tp
	same /toll/bits32
	# By a program of the other kind, as well.
	same sh -c '/toll/bits32; /toll/bits32; cat /nonexistent'
}

@test "the processor's mitigations are told" {
	run "$rate" --host
	jq -e '.mitigations.spectre_v1 | test("^Mitigation: ")' <<<"$output"
	jq -e '.virtualization != null and .kernel != null and .lockdown == "none"' <<<"$output"
}

@test "the other programs run" {
	run build/plain/fib-compare -n 15 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.engines[] | select(.status == "ok"); .result == 987) and any(.engines[]; .engine == "jit" and .status == "ok")' <<<"$output"
	run build/plain/file-rate read --size 1M --blocks 4K,64K --modes raw,stdio,io_uring,pool,server,mmap -d 5ms -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[]; .status == "ok")' <<<"$output"
	run build/plain/message-rate -n 500 -d 5ms -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[]; .status == "ok" and .sent == .received)' <<<"$output"
	run build/plain/message-rate broadcast --clients 200 --stalled 2 -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[]; .status == "ok" and .received == 198)' <<<"$output"
}
