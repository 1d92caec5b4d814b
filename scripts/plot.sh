#!/bin/sh
# A picture of a run's JSON, with the published points: plot.sh RUN.json PICTURE.svg.
# file-rate: time of a call against the block size, a panel for each kind of work; message-rate broadcast: the last
# client's time against the number of clients; message-rate send: time of a message by mode.
set -eu
json=$1 picture=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# What there is to draw: {title, x, y, settings, panels: [{title, series: [{name, points}], published: [point]}]};
# a point is [x, y].
jq '
def lines($rows; $x; $y): $rows | group_by(.mode)
	| map({name: .[0].mode, points: (sort_by(.[$x]) | map([.[$x], .[$y]]))});
def times_of_blocks:
	[.rows[] | select(.block != null and .ns_per_call != null and (.mode | startswith("whole") or . == "null" | not))] as $rows
	| [$rows[].kind // ""] as $all
	| (reduce $all[] as $kind ([]; if index([$kind]) then . else . + [$kind] end)) as $kinds
	| (if .experiment == "read" then [.seed.rows[] | select(.block <= 1048576) | [.block, .seconds * 1e9 / .calls]]
		elif .experiment == "lines" then .seed | .bytes as $bytes | .blocks as $blocks
			| [.rows[].seconds | to_entries[] | [$blocks[.key], .value * 1e9 / $bytes * $blocks[.key]]]
		else [] end) as $published
	| {title: "file-rate \(.experiment)", x: "bytes a call", y: "ns a call",
		settings: "set logscale x 2; set format y \"%.0s%c\"; set xtics (\"1\" 1, \"8\" 8, \"64\" 64, \"512\" 512, \"4K\" 4096, \"32K\" 32768, \"256K\" 262144, \"2M\" 2097152, \"16M\" 16777216)", panels:
		[$kinds[] as $kind | {title: $kind, series: lines([$rows[] | select((.kind // "") == $kind)]; "block"; "ns_per_call"), $published}]};
def last_client:
	{title: "message-rate broadcast", x: "clients", y: "ms until the last client has it", settings: "set logscale x", panels: [{title: "",
		series: lines([.rows[] | select(.last_ms != null)]; "clients"; "last_ms"),
		published: [.seed | .clients as $clients | .rows[] | [$clients, .last_ms]]}]};
def times_of_modes:
	{title: "message-rate send", x: "", y: "ns a message", settings: "set format y \"%.0s%c\"; set xtics rotate by -45 scale 0; set style fill solid 0.6; set boxwidth 0.4", panels: [{title: "",
		modes: (reduce .rows[].mode as $mode ([]; if index([$mode]) then . else . + [$mode] end)),
		rows: [.rows[] | select(.ns_per_message != null)],
		published: [.seed as $seed | .seed.rows[] | select(.ours != null) | {mode: .ours, ns: (.us * 1e3 / $seed.messages)}]}
		| .modes as $modes | {title, modes, published: [.published[] | .mode as $mode | select($modes | index([$mode])) | [($modes | index([$mode])), .ns]],
			series: [.rows | group_by(.cores)[] | {name: "\(.[0].cores) core\(if .[0].cores == "one" then "" else "s" end)",
				points: map(.mode as $mode | [($modes | index([$mode])) + (if .cores == "one" then 0.2 else -0.2 end), .ns_per_message])}]}]};
.seed.published[:4] as $year
| if .program == "file-rate" then times_of_blocks elif .experiment == "broadcast" then last_client else times_of_modes end
| .year = $year' "$json" >"$dir/drawing"

panels=$(jq '.panels | map(select(.series != [])) | length' "$dir/drawing")
[ "$panels" -gt 0 ] || { echo "plot: $json has nothing to draw" >&2; exit 1; }
of() {
	jq -r "$1" "$dir/drawing"
}
{
	echo "set terminal svg size 1000,$((panels > 2 ? 1000 : 600)) dynamic font 'sans,12' background rgb 'white'"
	echo "set output '$dir/picture.svg'"
	echo "set termoption noenhanced; set logscale y; set grid; set key outside right"
	of '"set xlabel \"\(.x)\"; set ylabel \"\(.y)\"; \(.settings)"'
	[ "$panels" = 1 ] || echo "set multiplot layout $(((panels + 1) / 2)),2"
	i=0
	while [ "$i" -lt "$panels" ]; do
		of ".panels[$i].series[] | \"\\\"\(.name)\\\"\", (.points[] | \"\(.[0]) \(.[1])\"), \"\", \"\"" >"$dir/series.$i"
		of ".panels[$i].published[] | \"\(.[0]) \(.[1])\"" >"$dir/published.$i"
		of "\"set title \\\"\(.title) \(.panels[$i].title)\\\"\""
		style=linespoints
		if [ "$(of ".panels[$i].modes != null")" = true ]; then
			style=boxes
			of ".panels[$i].modes | \"set xrange [-0.7:\(length - 0.3)]; set xtics (\(to_entries | map(\"\\\"\(.value)\\\" \(.key)\") | join(\", \")))\""
		fi
		printf "plot for [i=0:%d] '%s' index i using 1:2 with $style title columnheader(1)" \
			$(($(of ".panels[$i].series | length") - 1)) "$dir/series.$i"
		[ ! -s "$dir/published.$i" ] || printf ", '%s' using 1:2 with points pointtype 2 pointsize 1.5 linecolor 'black' title 'published %s'" \
			"$dir/published.$i" "$(of .year)"
		echo
		i=$((i + 1))
	done
} >"$dir/script"
gnuplot "$dir/script"
mv "$dir/picture.svg" "$picture"
