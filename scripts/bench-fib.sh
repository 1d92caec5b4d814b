#!/bin/sh
# The promised ratios of fib-compare, from engines that take turns in one run; what each check of the
# JIT costs; and where the time goes when machine code calls bytecode. N=40, SAMPLES=5.
set -eu
cd "$(dirname "$0")/.."
n=${N:-40} samples=${SAMPLES:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

./fib-compare -q -n "$n" -k 1 -r "$samples" --all --json "$dir/json" \
	--engines c-O0,c-O2-same,c-O2,interp-plain,interp,jit,erlang,luajit-joff
echo "fib($n), $samples samples, engines in turn; medians of ns a call without start-up:"
jq -r '
	(.engines | map({(.engine): .}) | add) as $e |
	def ratio(a; b; most):
		if $e[b].status != "ok" then "  \(a) / \(b): \($e[b].reason)"
		elif $e[a].status != "ok" then "  \(a) / \(b): \($e[a].reason)"
		else "  \(a) / \(b): \($e[a].ns_per_call / $e[b].ns_per_call * 1000 | round / 1000) (at most \(most))" end;
	ratio("interp-plain"; "luajit-joff"; 0.5), ratio("interp"; "luajit-joff"; 0.3),
	ratio("jit"; "c-O0"; 0.8), ratio("jit"; "erlang"; 0.65), ratio("jit"; "c-O2-same"; 1.3),
	"  calls of c-O2 / calls of the recursion: \($e["c-O2"].calls / $e["c-O0"].calls * 1000 | round / 1000)"
' "$dir/json"
echo
./fib-compare -n "$n" -k 1 -r "$samples" --ablate -o "$dir/ablate"
sed -n '/^what each check/,/^noise/p' "$dir/ablate" | sed '/^noise/d'

if command -v perf >/dev/null && perf record -q -e cpu-clock -o "$dir/data" \
	./fib-compare -q -n 34 -k 1 -r 1 --engines mixed --perf-map --json "$dir/mixed" 2>/dev/null; then
	echo
	echo "where mixed spends its time (perf record -e cpu-clock):"
	perf report -i "$dir/data" --stdio --sort symbol 2>/dev/null | grep -E '^ +[0-9.]+%' | head -6
	find /tmp -maxdepth 1 -user "$(id -un)" -name 'perf-[0-9]*.map' -newer "$dir/ablate" -delete
fi
