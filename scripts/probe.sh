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

# Runs one program more into NAME.json and the summary: run NAME PROGRAM ARGUMENT...
run() {
	name=$1
	shift
	echo | tee -a "$folder/summary.txt"
	"./$@" --json "$folder/$name.json" -o "$folder/$name.txt" || status=$?
	[ -e "$folder/$name.txt" ] || return 0
	tee -a "$folder/summary.txt" <"$folder/$name.txt"
	rm "$folder/$name.txt"
	case $name in
	fib-compare | file-words) ;;
	*) ! command -v gnuplot >/dev/null || scripts/plot.sh "$folder/$name.json" "$folder/$name.svg" || status=1 ;;
	esac
}

# The short form: fewer blocks, less of the file, fewer clients; the work file is in /var/tmp, or TMPDIR. A short probe
# has a small fib as well.
case $duration in
*ms | [0-4] | [0-4]s) work='-n 27' size=4M some='-d 5ms -r 2' clients=100,200 ;;
*) work='' size=256M some='-d 50ms -r 3' clients=1000,5000,20000 ;;
esac
# shellcheck disable=SC2086 # $work and $some are lists of options
{
	run fib-compare fib-compare $work
	run file-read file-rate read --size $size --blocks 512,4K,64K,1M $some
	run file-rw file-rate rw --size 16M --blocks 1K,16K,256K $some
	run file-lines file-rate lines --size $size --blocks 256,4K,64K,1M $some
	run file-words file-rate words --size $size -r 1
	run message-send message-rate send $some
	run message-broadcast message-rate broadcast --clients $clients -r 3
}

# Behind sudo make probe, what this made belongs to the user.
if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ]; then
	chown -Rh "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" results build ./*-rate ./fib-compare 2>/dev/null || true
fi
echo "probe: results in $folder" >&2
exit "$status"
