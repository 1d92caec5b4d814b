#!/bin/sh
# The promised ratios, from arms interleaved in one run: the hammer against perf bench syscall basic
# and a hand-written loop (getppid, one core), and what each counter adds to a getuid.
set -eu
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-9} calls=5000000
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

hammer() { ./syscall-rate -q --call getppid --counter none --cores "$cpu," --calls "$calls" --json - | jq .total.ns_per_call; }
hand() { taskset -c "$cpu" build/plain/tests/bench/hand-loop "$calls"; }
peer() { taskset -c "$cpu" perf bench -f simple syscall basic -l "$calls" | awk -v n="$calls" '{print $1 * 1e9 / n}'; }
median() { sort -n "$1" | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }

# A row: what $1 took ($2 ns a call), and the hammer's time as a ratio to it.
against() { awk -v name="$1" -v ns="$2" -v h="$h" 'BEGIN {printf "%-28s %8.2f  hammer / this: %.3f\n", name, ns, h / ns}'; }

for i in $(seq "$rounds"); do
	hammer >>"$dir/hammer"
	hand >>"$dir/hand"
	if command -v perf >/dev/null && perf bench syscall basic -l 1 >/dev/null 2>&1; then peer >>"$dir/peer"; fi
done
echo "getppid, ns a call, median of $rounds interleaved rounds of $calls calls:"
h=$(median "$dir/hammer")
printf '%-28s %8.2f\n' "syscall-rate --counter none" "$h"
against "hand-written loop" "$(median "$dir/hand")"
if [ -s "$dir/peer" ]; then
	against "perf bench syscall basic" "$(median "$dir/peer")"
else
	printf '%-28s not installed\n' "perf bench syscall basic"
fi
echo
echo "added to a getuid, counted and uncounted windows interleaved:"
for counter in bpf:tp_btf bpf:raw_tp bpf:tp; do
	if ./syscall-rate -q -d 3s --cores "$cpu," --counter "$counter" --json "$dir/json" 2>"$dir/why"; then
		jq -r '"\(.counter)  +\(.added_ns.median * 100 | round / 100) ns (95 % interval \(.added_ns.ci95[0] * 100 | round / 100) to \(.added_ns.ci95[1] * 100 | round / 100)), bare \(.baseline.ns_per_call * 100 | round / 100) ns"' "$dir/json"
	else
		echo "$counter  $(cat "$dir/why")"
	fi
done
