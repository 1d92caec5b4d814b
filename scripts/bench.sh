#!/bin/sh
# The promised ratios, from arms interleaved in one run: the hammer against perf bench syscall basic,
# stress-ng and a hand-written loop on one core; and what each counter, ours and others', adds to a call.
# ROUNDS=N (9), CALLS=N a round (3000000).
set -eu
cd "$(dirname "$0")/.."

# The tracepoints of perf and bpftrace need tracefs: mount it where only this script sees it.
if [ "$(id -u)" = 0 ] && [ ! -d /sys/kernel/tracing/events ] && [ -z "${TOLL_PRIVATE:-}" ]; then
	exec env TOLL_PRIVATE=1 unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing; exec "$0"' "$0"
fi

rounds=${ROUNDS:-9} calls=${CALLS:-3000000}
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

median() { sort -n "$1" | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
has() { command -v "$1" >/dev/null; }

# Each arm prints ns a call, or nothing where its program is missing.
hammer() { ./syscall-rate -q --call getppid --counter none --cores "$cpu," --calls "$calls" --json "$dir/run" && jq .total.ns_per_call "$dir/run"; }
hand() { taskset -c "$cpu" build/plain/tests/bench/hand-loop "$calls"; }
perf_bench() { perf bench -f simple syscall basic -l 1 >/dev/null 2>&1 && taskset -c "$cpu" perf bench -f simple syscall basic -l "$calls" | awk -v n="$calls" '{print $1 * 1e9 / n}'; }
# One operation of stress-ng --get is a fixed mix of calls: perf stat counts them once.
stress_get() {
	[ -s "$dir/mix" ] || return 0
	stress-ng --get 1 --taskset "$cpu" -t 1 --metrics 2>&1 |
		awk -v mix="$(cat "$dir/mix")" '$4 == "get" && $NF + 0 {print 1e9 / ($(NF - 2) * mix)}'
}
under_perf_stat() { perf stat -o /dev/null -e raw_syscalls:sys_enter ./syscall-rate -q --call getppid --counter none --cores "$cpu," --calls "$calls" --json "$dir/run" 2>/dev/null && jq .total.ns_per_call "$dir/run"; }
under_bpftrace() { bpftrace -e 'tracepoint:raw_syscalls:sys_exit /pid == cpid/ { @[args->id] = count(); }' -c "$PWD/syscall-rate -q --call getppid --counter none --cores $cpu, --calls $calls --json $dir/run" >/dev/null 2>&1 && jq .total.ns_per_call "$dir/run"; }

if has stress-ng && has perf; then
	perf stat -x, -o "$dir/stat" -e raw_syscalls:sys_enter stress-ng --get 1 --get-ops 1000 >/dev/null 2>&1 &&
		awk -F, '/sys_enter/ {print $1 / 1000}' "$dir/stat" >"$dir/mix" || true
fi
for i in $(seq "$rounds"); do
	for arm in hammer hand perf_bench stress_get under_perf_stat under_bpftrace; do
		$arm >>"$dir/$arm" 2>/dev/null || true
	done
done

# A row: arm $1, called $2, and how the hammer's time compares (ratio) or what it adds (added).
row() {
	if [ ! -s "$dir/$1" ]; then
		printf '  %-38s not installed, or refused here\n' "$2"
		return
	fi
	awk -v name="$2" -v ns="$(median "$dir/$1")" -v h="$h" -v how="$3" 'BEGIN {
		printf "  %-38s %8.2f ns  ", name, ns
		if (how == "ratio") printf "hammer / this: %.3f\n", h / ns
		else printf "+%.1f ns\n", ns - h}'
}
h=$(median "$dir/hammer")
echo "getppid on one core, median of $rounds interleaved rounds of $calls calls:"
printf '  %-38s %8.2f ns\n' "syscall-rate --counter none" "$h"
row hand "hand-written loop" ratio
row perf_bench "perf bench syscall basic" ratio
row stress_get "stress-ng --get (a mix of calls)" ratio
row under_perf_stat "under perf stat -e raw_syscalls" added
row under_bpftrace "under bpftrace, count() by number" added
echo
echo "what each counter adds to a getuid, counted and uncounted windows interleaved:"
for counter in $(./syscall-rate --list | sed -n '/^counters:/,$s/^  \([a-z:_]*\) .*/\1/p'); do
	[ "$counter" != none ] || continue
	if ./syscall-rate -q -d 3s --cores "$cpu," --counter "$counter" --json "$dir/json" 2>"$dir/why"; then
		jq -r --arg c "$counter" 'def r: . * 10 | round / 10;
			"  \($c)\t+\(.added_ns.median | r) ns (95 % interval \(.added_ns.ci95[0] | r) to \(.added_ns.ci95[1] | r)), bare \(.baseline.ns_per_call | r) ns"' "$dir/json"
	else
		printf '  %s\t%s\n' "$counter" "$(cat "$dir/why")"
	fi
done
