#!/bin/sh
# The promised ratios of message-rate: modes of send interleaved in one run; broadcasts without and with stalled clients
# in turn. ROUNDS=N (9) samples of each mode, PAIRS=N (5) broadcasts of each kind.
set -eu
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-9} pairs=${PAIRS:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

echo "send, 1024 bytes, medians of $rounds interleaved rounds:"
./message-rate -q --json "$dir/send" --modes reference,reference-atomic,copy,list8,list16,tcp,tcp-batch -r "$rounds"
jq -r 'def r: . * 10 | round / 10;
	def ns($mode; $cores): .rows[] | select(.mode == $mode and .cores == $cores) | .ns_per_message // 0;
	def both($what; $slow; $fast; $target): "  \($what) \([("two", "one") as $c | "\(ns($slow; $c) / ns($fast; $c) | r) x on \($c)"] | join(", "))\($target)";
	"  reference, two cores:            \(1e3 / ns("reference"; "two") | r) M/s (at least 10; aim at 50)",
	"  ... with one atomic count:       \(1e3 / ns("reference-atomic"; "two") | r) M/s",
	both("reference to copied list16:     "; "list16"; "reference"; " (at least 20)"),
	both("reference to copied list8:      "; "list8"; "reference"; " (2009, one core: 31)"),
	both("reference to tcp:               "; "tcp"; "reference"; " (2009: 40)"),
	both("tcp collected to one send each: "; "tcp"; "tcp-batch"; " (at least 5)")' "$dir/send"

echo "broadcast, 20,000 clients, $pairs times without and with 200 stalled, in turn, medians:"
i=0
while [ "$i" -lt "$pairs" ]; do
	for stalled in 0 200; do
		./message-rate broadcast -q --stalled "$stalled" -r 6 --json "$dir/broadcast.$stalled.$i"
	done
	i=$((i + 1))
done
jq -rs 'def r: . * 10 | round / 10; def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2] + .[length / 2 - 1]) / 2 end;
	. as $runs | [$runs[0].rows[].mode][] as $mode
	| ([$runs[] | {stalled, ms: (.rows[] | select(.mode == $mode) | .last_ms)}]) as $all
	| ([$all[] | select(.stalled == 0) | .ms]) as $without | ([$all[] | select(.stalled > 0) | .ms]) as $with
	| "  \($mode + ":" | . + " " * (12 - length)) last client after \($without | median | r) ms (at most 150; aim at 100); with 1 % stalled \($with | median | r) ms, "
	+ "\([range($with | length) | $with[.] / $without[.]] | median | . * 100 | round / 100) x (at most 1.1)"' "$dir"/broadcast.*
