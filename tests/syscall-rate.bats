#!/usr/bin/env bats
# syscall-rate from outside: counts, output, exit codes, bad input.

setup() {
	load helpers
	cd "$BATS_TEST_DIRNAME/.."
	rate=$PWD/${BUILD:-build/plain}/syscall-rate
}

# Skips, with the reason, where counter $1 does not work here.
need() {
	local line
	line=$("$rate" --list | grep -E "^  $1 ")
	case $line in *"not here:"*) skip "${line##*not here: }" ;; esac
}

# made = counted, nothing lost, and the table has the same count; $1: the JSON.
exact() {
	jq -e '.total.made > 0 and .total.made == .total.counted and .lost == 0
		and all(.cores[]; .made == .counted)
		and (.total.counted as $n | .call as $c | any(.summary[]; .syscall == $c and .calls == $n))' <<<"$1"
}

# 1, 2 and 8 threads, the last on however many CPUs there are; $1: the counter.
exact_with_threads() {
	exact "$("$rate" -q --json - -d 300ms --cores 1 --counter "$1")"
	exact "$("$rate" -q --json - -d 300ms --threads 2 --cores 1 --counter "$1")"
	exact "$("$rate" -q --json - -d 300ms --threads 8 --counter "$1")"
}

@test "counted equals made: 1, 2 and 8 threads, bpf:tp_btf" {
	need bpf:tp_btf
	exact_with_threads bpf:tp_btf
}

@test "counted equals made: 1, 2 and 8 threads, bpf:raw_tp" {
	need bpf:raw_tp
	exact_with_threads bpf:raw_tp
}

@test "counted equals made: bpf:tp, in a mount namespace with tracefs" {
	need bpf:raw_tp
	unshare -m true 2>/dev/null || skip "no private mount namespace"
	exact "$(unshare -m sh -c "mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
		exec $rate -q --json - -d 300ms --threads 8 --counter bpf:tp")"
}

@test "every call: counted equals made" {
	need bpf:tp_btf
	for call in $("$rate" --list | sed -n '/^calls:/,/^counters:/s/^  \([a-z_]*\) .*/\1/p'); do
		[ "$call" != null ] || continue
		exact "$("$rate" -q --json - -d 60ms --call "$call")"
	done
}

@test "the loop of 2009, as bytecode and as machine code: counted equals made" {
	need bpf:tp_btf
	for driver in interp jit; do
		json=$("$rate" -q --json - -d 300ms --threads 8 --driver "$driver")
		exact "$json"
		[ "$(jq -r .driver <<<"$json")" = "$driver" ]
		run "$rate" -q --calls 12345 --driver "$driver" --json -
		[ "$(jq -c '[.total.made, .total.counted]' <<<"$output")" = '[12345,12345]' ]
	done
	run "$rate" --driver interp --call read
	[ "$status" = 2 ]
}

@test "1,000,000 calls are 1,000,000 in the table" {
	need bpf:tp_btf
	run "$rate" --calls 1000000
	[ "$status" = 0 ]
	grep -qE ' 1000000 +getuid$' <<<"$output"
	run "$rate" -q --calls 7 --json -
	[ "$(jq .total.counted <<<"$output")" = 7 ]
}

@test "another process hammering getuid is not counted" {
	need bpf:tp_btf
	"$rate" -q --counter none -d 3s -o /dev/null &
	other=$!
	json=$("$rate" -q --json - -d 300ms)
	kill "$other"
	wait "$other" || true
	exact "$json"
}

@test "null makes no calls and counts its loop" {
	run "$rate" --call null -d 60ms --json - -q
	[ "$status" = 0 ]
	jq -e '.total.made > 0 and .total.counted == null and .counter == "none"' <<<"$output"
	run "$rate" --call null --counter bpf
	[ "$status" = 2 ]
}

@test "SIGINT and SIGTERM: what was measured is printed, exit 130 and 143" {
	for pair in INT:130 TERM:143; do
		rm -f "$BATS_TEST_TMPDIR/table" "$BATS_TEST_TMPDIR/json"
		"$rate" -d 60s --interval 200ms -o "$BATS_TEST_TMPDIR/table" --json "$BATS_TEST_TMPDIR/json" &
		sleep 1.5
		kill -"${pair%:*}" $!
		code=0
		wait $! || code=$?
		[ "$code" = "${pair#*:}" ]
		grep -q 'here, measured on' "$BATS_TEST_TMPDIR/table"
		jq -e '.total.made > 0' "$BATS_TEST_TMPDIR/json"
	done
}

@test "an unprivileged user: bpf by default falls back, bpf by name is an error" {
	[ "$(id -u)" = 0 ] || skip "needs root to become someone else"
	copy=$(mktemp /tmp/toll-test.XXXXXX)
	cp "$rate" "$copy"
	chmod 755 "$copy"
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$copy" -d 60ms
	fallback=$status said=$output
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$copy" -d 60ms --counter bpf
	rm "$copy"
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	status=$fallback output=$said
	[ "$status" = 0 ]
	grep -q 'BPF needs root, or CAP_BPF and CAP_PERFMON' <<<"$output"
	grep -q 'counter none' <<<"$output"
}

@test "a full disk: -o, --json and standard output" {
	run "$rate" -d 60ms -o /dev/full
	[ "$status" = 1 ]
	grep -q 'No space left on device' <<<"$output"
	run "$rate" -d 60ms -q --json /dev/full
	[ "$status" = 1 ]
	run sh -c "'$rate' -d 60ms >/dev/full"
	[ "$status" = 1 ]
	grep -q 'standard output: No space left' <<<"$output"
}

@test "an affinity mask is kept to" {
	run taskset -c 0 "$rate" -q -d 60ms --json -
	[ "$(jq -c '[.cores[].cpu]' <<<"$output")" = '[0]' ]
	run taskset -c 0 "$rate" --cores 2
	[ "$status" = 2 ]
}

@test "piped output has no progress and no colour" {
	run sh -c "'$rate' -d 60ms | cat"
	[ "$status" = 0 ]
	refute grep -q $'[\r\033]' <<<"$output"
}

@test "bad input: exit 2 and one line that names it" {
	for bad in '--cores 99' '--cores 0-' '--cores 5-2' '--cores=' '-d 0' '-d -1' '-d 1e99' \
		'-d 5parsecs' '--calls 0' '--call nosuch' '--counter nosuch' '--threads 0' '--driver nosuch' 'extra' \
		'--json /nosuch/folder/file'; do
		run "$rate" $bad
		echo "$bad: $status $output"
		[ "$status" = 2 ]
		[ "${#lines[@]}" = 1 ]
		[[ "$output" == *syscall-rate:* ]]
	done
	run "$rate" --nosuch
	[ "$status" = 2 ]
}

@test "a CPU named twice is used once, and said" {
	run "$rate" -d 60ms --counter none --cores 0,0
	[ "$status" = 0 ]
	grep -q 'named twice' <<<"$output"
	grep -q '1 thread on 1 core' <<<"$output"
}

@test "a projection is marked as one" {
	run "$rate" -d 60ms --counter none --project 1000
	grep -q '^projected, not measured: .* on 1000 cores' <<<"$output"
}

@test "the seed: 29.6 M/s as written up, 27.6 as its counts add up" {
	run "$rate" -d 60ms --counter none
	grep -q '29.6 M/s as written up, 27.6 M/s as its printed counts add up' <<<"$output"
}

@test "root without CAP_BPF and CAP_PERFMON is told so" {
	[ "$(id -u)" = 0 ] || skip "needs root to drop capabilities"
	run setpriv --bounding-set=-bpf,-perfmon,-sys_admin "$rate" -d 60ms --counter bpf
	[ "$status" = 1 ]
	[ "$output" = "syscall-rate: --counter bpf: root without CAP_BPF and CAP_PERFMON (a container?): grant both" ]
}
