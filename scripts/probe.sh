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

# A short probe has a small fib as well.
case $duration in *ms | [0-4] | [0-4]s) work='-n 27' ;; *) work= ;; esac
echo >>"$folder/summary.txt"
# shellcheck disable=SC2086 # $work is a list of options
./fib-compare $work --json "$folder/fib-compare.json" -o "$folder/fib.txt" || status=$?
if [ -e "$folder/fib.txt" ]; then
	tee -a "$folder/summary.txt" <"$folder/fib.txt"
	rm "$folder/fib.txt"
fi
# Behind sudo make probe, what this made belongs to the user.
if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ]; then
	chown -Rh "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" results build ./*-rate ./fib-compare 2>/dev/null || true
fi
echo "probe: results in $folder" >&2
exit "$status"
