#!/bin/sh
# A picture of a run's JSON: plot.sh RUN.json PICTURE.svg. Time of a call against the block size of file-rate,
# both logarithmic, with the published points; a panel for each kind of work.
set -eu
json=$1 picture=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The series: a name, then "x y" lines.
jq -r '
	.rows |= map(select(.block != null and .ns_per_call != null and (.mode | startswith("whole") or . == "null" | not)))
	| [.rows[].kind // ""] as $all | reduce $all[] as $k ([]; if index([$k]) then . else . + [$k] end)
	| .[]' "$json" >"$dir/kinds"
panels=0
while IFS= read -r kind; do
	panels=$((panels + 1))
	jq -r --arg kind "$kind" '
		[.rows[] | select((.kind // "") == $kind and .block != null and .ns_per_call != null
			and (.mode | startswith("whole") or . == "null" | not))]
		| group_by(.mode)[] | "\"\(.[0].mode)\"", (sort_by(.block)[] | "\(.block) \(.ns_per_call)"), "", ""' \
		"$json" >"$dir/rows.$panels"
	jq -r '
		if .experiment == "read" then .seed.rows[] | select(.block <= 1048576) | "\(.block) \(.seconds * 1e9 / .calls)"
		elif .experiment == "lines" then .seed | .bytes as $bytes | .blocks as $blocks | .rows[].seconds
			| to_entries[] | "\($blocks[.key]) \(.value * 1e9 / $bytes * $blocks[.key])"
		else empty end' "$json" >"$dir/seed.$panels"
	echo "$kind" >"$dir/title.$panels"
done <"$dir/kinds"
[ "$panels" -gt 0 ] || { echo "plot: $json has nothing with block sizes" >&2; exit 1; }

year=$(jq -r '.seed.published | .[:4]' "$json")
{
	echo "set terminal svg size 1000,$((panels > 2 ? 1000 : 600)) dynamic font 'sans,12' background rgb 'white'"
	echo "set output '$dir/picture.svg'"
	echo "set termoption noenhanced; set logscale x 2; set logscale y; set grid; set key outside right"
	echo "set xlabel 'bytes a call'; set ylabel 'ns a call'; set format x '%.0b%B'; set format y '%.0s%c'; set xtics 8"
	[ "$panels" = 1 ] || echo "set multiplot layout $(((panels + 1) / 2)),2"
	i=1
	while [ "$i" -le "$panels" ]; do
		n=$(grep -c '^"' "$dir/rows.$i")
		echo "set title '$(jq -r '"file-rate " + .experiment' "$json") $(cat "$dir/title.$i")'"
		printf "plot for [i=0:%d] '%s' index i using 1:2 with linespoints title columnheader(1)" $((n - 1)) "$dir/rows.$i"
		[ ! -s "$dir/seed.$i" ] || printf ", '%s' using 1:2 with points pointtype 2 linecolor 'black' title 'published %s'" "$dir/seed.$i" "$year"
		echo
		i=$((i + 1))
	done
} >"$dir/script"
gnuplot "$dir/script"
mv "$dir/picture.svg" "$picture"
