#!/bin/sh
# Measures everything, prints the summaries and leaves results/<UTC time>-<host>/.
# CORES=N|LIST (a number past what there is: measure what there is, project the rest), DURATION=SEC.
set -eu
cd "$(dirname "$0")/.."
cores=${CORES:-} duration=${DURATION:-10s} project=
available=$(nproc)
case $cores in
'' | *[!0-9]*) ;;
*)
	if [ "$cores" -gt "$available" ]; then
		echo "probe: $cores cores asked for; measuring on the $available there are" >&2
		project=$cores cores=$available
	fi
	;;
esac

# Root counts with eBPF; so does sudo where it asks nothing; else the threads count themselves.
as=
if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	as='sudo -n'
fi

folder=results/$(date -u +%Y%m%dT%H%M%SZ)-$(uname -n)
mkdir -p "$folder"
./syscall-rate --host >"$folder/host.json"
status=0
$as ./syscall-rate -d "$duration" ${cores:+--cores "$cores"} ${project:+--project "$project"} \
	--json "$folder/syscall-rate.json" -o "$folder/summary.txt" || status=$?
[ ! -e "$folder/summary.txt" ] || cat "$folder/summary.txt"

# A short probe has a small fib and small files as well.
case $duration in
*ms | [0-4] | [0-4]s) work='-n 27' size=4M text=4M some='-d 5ms -r 2' ;;
*) work='' size=256M text=256M some='-d 50ms -r 3' ;;
esac
echo >>"$folder/summary.txt"
# shellcheck disable=SC2086 # $work is a list of options
./fib-compare $work --json "$folder/fib-compare.json" -o "$folder/fib.txt" || status=$?
if [ -e "$folder/fib.txt" ]; then
	tee -a "$folder/summary.txt" <"$folder/fib.txt"
	rm "$folder/fib.txt"
fi

# The short form: fewer blocks, less of the file; the work file is in /var/tmp, or TMPDIR.
for experiment in read rw lines words; do
	case $experiment in
	read) with="--size $size --blocks 512,4K,64K,1M $some" ;;
	rw) with="--size 16M --blocks 1K,16K,256K $some" ;;
	lines) with="--size $text --blocks 256,4K,64K,1M $some" ;;
	words) with="--size $text -r 1" ;;
	esac
	echo >>"$folder/summary.txt"
	# shellcheck disable=SC2086 # $with is a list of options
	./file-rate "$experiment" $with --json "$folder/file-$experiment.json" -o "$folder/file.txt" || status=$?
	[ -e "$folder/file.txt" ] || continue
	echo
	tee -a "$folder/summary.txt" <"$folder/file.txt"
	rm "$folder/file.txt"
	if command -v gnuplot >/dev/null && [ "$experiment" != words ]; then
		scripts/plot.sh "$folder/file-$experiment.json" "$folder/file-$experiment.svg" || status=1
	fi
done

# Behind sudo make probe, what this made belongs to the user.
if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ]; then
	chown -Rh "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" results build ./*-rate ./fib-compare 2>/dev/null || true
fi
echo "probe: results in $folder" >&2
exit "$status"
