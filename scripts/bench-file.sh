#!/bin/sh
# The promised ratios of file-rate, from arms interleaved in one run: raw and two readers against dd; lines against wc
# and getline; words against mawk and the best of 2013. ROUNDS=N (9).
set -eu
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-9}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

echo "read, 1 GiB in the page cache, blocks of 1 MiB, medians of $rounds interleaved rounds:"
./file-rate -q --json "$dir/read" --modes raw,dd,pread-2,whole,whole-huge,whole-reused --blocks 1M -r "$rounds" -d 10s
jq -r 'def r: . * 1000 | round / 1000; (.rows | map({key: .mode, value: .}) | from_entries) as $m
	| "  raw against dd bs=1M, time:               \($m.raw.seconds / $m.dd.seconds | r) x (at most 1.03)",
	  "  pread-2 against dd bs=1M, throughput:     \($m["pread-2"].bytes_per_second / $m.dd.bytes_per_second | r) x (at least 1.7)",
	  "  whole: a fresh buffer takes               \(1 - $m["whole-reused"].seconds / $m.whole.seconds | r) of its \($m.whole.seconds | r) s; of huge pages it takes \($m["whole-huge"].seconds | r) s"' "$dir/read"

echo "lines, 821 MB, medians of $rounds interleaved rounds:"
./file-rate lines -q --json "$dir/lines" --modes "raw,wc -l,getline" --blocks 16K,64K,256K,1M -r "$rounds" -d 5s
jq -r 'def r: . * 1000 | round / 1000;
	def best($kind): [.rows[] | select(.kind == $kind and .mode == "raw") | .bytes_per_second] | max;
	def other($name): [.rows[] | select(.mode == $name) | .bytes_per_second // 0] | .[0];
	  "  counted, against wc -l, throughput:       \(best("count") / other("wc -l") | r) x (at least 1)",
	  "  each line handed out, against getline(3): \(best("iterate") / other("getline") | r) x (at least 5)"' "$dir/lines"

echo "words, 1.1 GB:"
./file-rate words -q --json "$dir/words" --modes words-1,words-2,mawk -r 3
jq -r 'def r: . * 1000 | round / 1000; def of($name; $part): [.rows[] | select(.mode == $name and (.kind == "part") == $part) | .seconds // 0] | .[0];
	"  two threads:                              \(of("words-2"; false) | r) s (at most 2.6)",
	"  one thread against mawk, 64 MiB:          \(of("mawk"; true) / of("words-1"; true) | r) x (at least 8)",
	"  exact:                                    \(all(.rows[]; .status != "failed" and .note == ""))"' "$dir/words"
