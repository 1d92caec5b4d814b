#!/bin/sh
# What being watched costs: dd with one byte a call, alone and under each observer, arms interleaved; and
# what each adds to a getppid, of the watched process and of one that is not; and how far the seconds of
# --timing auto are from those of all, on a mixed command. ROUNDS=N (5).
set -eu
cd "$(dirname "$0")/.."

# perf trace needs tracefs: mount it where only this script sees it.
if [ "$(id -u)" = 0 ] && [ ! -d /sys/kernel/tracing/events ] && [ -z "${TOLL_PRIVATE:-}" ]; then
	exec env TOLL_PRIVATE=1 unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing; exec "$0"' "$0"
fi

rounds=${ROUNDS:-5} count=2000000 few=20000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')

median() { sort -n "$1" | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
# Seconds of dd itself, as it says, for $1 bytes under "$@".
dd_under() {
	n=$1
	shift
	LC_ALL=C taskset -c "$cpu" "$@" dd if=/dev/zero of=/dev/null bs=1 count="$n" 2>&1 |
		sed -n 's/.* copied, \([0-9.e-]*\) s,.*/\1/p'
}
loop() { taskset -c "$cpu" "$@" build/plain/tests/bench/hand-loop 3000000; }

if ! ./syscall-rate -q -o /dev/null -- true 2>"$dir/why"; then
	echo "watching: $(cat "$dir/why")"
	exit 0
fi
# tar, a web of sleeps, and dd, on one CPU.
cat >"$dir/mixed" <<'END'
tar cf /dev/null /usr/include 2>/dev/null &
for i in 1 2 3 4 5 6 7 8; do
	(for j in 1 2 3; do sleep 0.0$i; done) &
done
dd if=/dev/zero of=/dev/null bs=1 count=300000 2>/dev/null
wait
END

for i in $(seq "$rounds"); do
	dd_under $count env >>"$dir/alone"
	loop env >>"$dir/loop-alone"
	for timing in none auto all; do
		dd_under $count ./syscall-rate -o /dev/null --timing "$timing" -- >>"$dir/$timing"
		loop ./syscall-rate -o /dev/null --timing "$timing" -- >>"$dir/loop-$timing"
	done
	./syscall-rate -q -o /dev/null -- sleep 20 &
	other=$!
	sleep 0.5
	loop env >>"$dir/loop-bystander"
	kill "$other"
	wait "$other" || true
	dd_under $few env >>"$dir/few-alone"
	if command -v strace >/dev/null; then dd_under $few strace -f -c -o /dev/null >>"$dir/strace"; fi
	if command -v perf >/dev/null; then dd_under $few perf trace -s -o /dev/null >>"$dir/perf" 2>/dev/null || true; fi
done

for i in $(seq $((2 * rounds))); do
	for timing in auto all; do
		./syscall-rate -q --timing "$timing" --json "$dir/mixed-$timing-$i" -- taskset -c "$cpu" sh "$dir/mixed"
	done
done

row() { # FILE BASE NAME
	if [ -s "$dir/$1" ]; then
		awk -v a="$(median "$dir/$1")" -v b="$(median "$dir/$2")" -v n="$3" 'BEGIN {printf "  %-34s %8.3f s  %8.2f x\n", n, a, a / b}'
	else
		printf '  %-34s not installed, or refused here\n' "$3"
	fi
}
added() { awk -v a="$(median "$dir/$1")" -v b="$(median "$dir/loop-alone")" -v n="$2" 'BEGIN {printf "  %-34s %+8.1f ns\n", n, a - b}'; }
echo "dd bs=1, $count bytes, medians of $rounds interleaved rounds:"
row alone alone "alone"
for timing in none auto all; do row "$timing" alone "syscall-rate --timing $timing"; done
echo "the same with $few bytes:"
row strace few-alone "strace -f -c"
row perf few-alone "perf trace -s"
echo "added to a getppid:"
for timing in none auto all; do added "loop-$timing" "watched, --timing $timing"; done
added loop-bystander "not watched while another is"
echo "seconds of --timing auto to those of all, tar with sleeps and dd, medians of $((2 * rounds)) interleaved rounds,"
echo "calls with at least 1 % of the time (in brackets: the longest to the shortest of all's own rounds):"
for timing in auto all; do cat "$dir/mixed-$timing"-* >"$dir/mixed-$timing"; done
jq -nr --slurpfile auto "$dir/mixed-auto" --slurpfile all "$dir/mixed-all" '
	def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2] + .[length / 2 - 1]) / 2 end;
	def of($name): [.[].summary[] | select(.syscall == $name) | .seconds];
	([$all[].summary[].syscall] | unique) as $names | ([$names[] | . as $n | $all | of($n) | median] | add) as $whole
	| [$names[] | . as $n | {n: ., all: ($all | of($n)), auto: ($auto | of($n))} | select((.all | median) >= $whole / 100)]
	| sort_by(-(.all | median))[]
	| "  \(.n)                    "[:20] + " \((.all | median) * 1e5 | round / 100) ms   \((.auto | median) / (.all | median) * 1000 | round / 1000)   (\((.all | max) / (.all | min) * 100 | round / 100))"'
