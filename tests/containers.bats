#!/usr/bin/env bats
# What a container takes away: the first PID namespace, CPUs, a writable /sys, capabilities, tracefs.

setup() {
	load helpers
	cd "$BATS_TEST_DIRNAME/.."
	rate=$PWD/${BUILD:-build/plain}/syscall-rate
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m true 2>/dev/null || skip "no private namespaces"
}

# The counter $1 works here.
need() {
	reason=$("$rate" --list | sed -n "s/^  $1 .*not here: //p")
	[ -z "$reason" ] || skip "$1: $reason"
}

# Every call counted; $1: the JSON.
exact() {
	jq -e '.lost == 0 and .total.made > 0 and .total.made == .total.counted and all(.cores[]; .made == .counted)' <<<"$1"
}

@test "in a PID namespace every call is counted, and the others' are not" {
	for counter in bpf:tp_btf bpf:raw_tp; do
		need "$counter"
		"$rate" -q -o /dev/null -d 5s --counter none &
		run unshare -pf --mount-proc "$rate" -q --json - -d 200ms --threads 4 --counter "$counter"
		kill %1
		wait %1 || true
		[ "$status" = 0 ]
		exact "$output"
		jq -e --arg c "$counter" '.counter == $c and any(.summary[]; .syscall == "getuid")' <<<"$output"
	done
}

@test "in a PID namespace -p is the namespace's number, and a command is counted as outside" {
	need bpf:tp_btf
	run unshare -pf --mount-proc sh -c '
		(while :; do kill -0 $$ || exit; done) & other=$!
		[ $other -lt 20 ] || exit 9
		"$0" -q --json - -d 300ms -p $other; code=$?
		kill $other; exit $code' "$rate"
	[ "$status" = 0 ]
	jq -e '.mode == "pid" and any(.summary[]; .syscall == "kill" and .calls > 10)' <<<"$output"
	run unshare -pf --mount-proc "$rate" -q --json - -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done'
	[ "$status" = 0 ]
	jq -e 'any(.summary[]; .syscall == "execve" and .calls == 6)' <<<"$output"
	run unshare -pf --mount-proc "$rate" -p 99999
	[ "$status" = 1 ]
	[ "$(wc -l <<<"$output")" = 1 ]
}

@test "on a cpuset of one CPU the rest are not there" {
	run taskset -c 1 "$rate" -q --json - -d 100ms --counter none
	[ "$status" = 0 ]
	jq -e '(.cores | length) == 1 and .cores[0].cpu == 1 and .host.cpus_allowed == 1' <<<"$output"
	run taskset -c 1 "$rate" --cores 2 -d 100ms
	[ "$status" = 2 ]
	[ "$(wc -l <<<"$output")" = 1 ]
	run taskset -c 1 "${rate%/*}/message-rate" --modes copy -d 5ms -r 1 -q --json -
	[ "$status" = 0 ]
	jq -e 'all(.rows[]; if .cores == "two" then .status == "unavailable" and .note == "there is one CPU" else .status == "ok" end)' <<<"$output"
}

@test "a read-only /sys is no hindrance; one that is not there is told" {
	need bpf:tp_btf
	run unshare -m sh -c 'mount --bind /sys /sys && mount -o remount,bind,ro /sys && ! touch /sys/x 2>/dev/null && exec "$0" -q --json - -d 200ms' "$rate"
	[ "$status" = 0 ]
	exact "$output"
	run unshare -m sh -c 'mount -t tmpfs tmpfs /sys && exec "$0" -d 100ms --counter bpf' "$rate"
	[ "$status" = 1 ]
	grep -q '/sys, which tells how many CPUs there may be, is not mounted' <<<"$output"
}

@test "without BTF the raw tracepoint counts, and what needs BTF says so" {
	need bpf:tp_btf
	run unshare -m sh -c 'mount -t tmpfs tmpfs /sys/kernel/btf && exec "$0" -q --json - -d 200ms' "$rate"
	[ "$status" = 0 ]
	exact "$output"
	jq -e '.counter == "bpf:raw_tp"' <<<"$output"
	for counter in bpf:tp_btf bpf:fentry; do
		run unshare -m sh -c 'mount -t tmpfs tmpfs /sys/kernel/btf && exec "$0" -d 100ms --counter "$1"' "$rate" "$counter"
		[ "$status" = 1 ]
		grep -q 'this kernel has no BTF' <<<"$output"
	done
}

@test "without CAP_BPF the threads count themselves, and the reason is told" {
	run setpriv --bounding-set -bpf,-sys_admin --inh-caps -all "$rate" -q --json "$BATS_TEST_TMPDIR/json" -d 100ms
	[ "$status" = 0 ]
	jq -e '.counter == "none" and .total.made > 0 and .total.counted == null' "$BATS_TEST_TMPDIR/json"
	run setpriv --bounding-set -bpf,-sys_admin --inh-caps -all "$rate" -d 100ms
	grep -q 'counting in user space only (--counter none): root without CAP_BPF and CAP_PERFMON (a container?): grant both' <<<"$output"
	run setpriv --bounding-set -bpf,-sys_admin --inh-caps -all "$rate" -d 100ms --counter bpf
	[ "$status" = 1 ]
	run setpriv --bounding-set -bpf,-sys_admin --inh-caps -all "$rate" -- true
	[ "$status" = 1 ]
	grep -q 'strace -c' <<<"$output"
}

@test "without tracefs bpf:tp and perf say what to mount, the others work" {
	need bpf:tp_btf
	run unshare -m sh -c 'umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null; exec "$0" -d 100ms --counter bpf:tp' "$rate"
	[ "$status" = 1 ]
	grep -q 'tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing' <<<"$output"
	run unshare -m sh -c 'umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null; exec "$0" --list' "$rate"
	grep -qE '^  perf .*not here: .*tracefs' <<<"$output"
	run unshare -m sh -c 'umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null; exec "$0" -q --json - -d 200ms' "$rate"
	[ "$status" = 0 ]
	exact "$output"
}
