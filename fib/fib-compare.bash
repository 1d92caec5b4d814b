# SPDX-License-Identifier: BSD-2-Clause
# Completion of fib-compare for bash. Options and names are those that the program tells.
_fib_compare() {
	local program=$1 word=$2 before=$3 words
	COMPREPLY=()
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $before in
	--engines) words=$("$program" --list 2>/dev/null | sed -n '/^engines:/,/^[a-z]*:$/s/^  \([^ ]*\) .*/\1/p') ;;
	--dump) words='bytecode asm' ;;
	--without) words='overflow tags reductions stackcheck' ;;
	--wx) words='mprotect dual' ;;
	-n | -k | -r | --cores) return ;;
	-o | --json) compopt -o default; return ;;
	*)
		if [[ $word != -* ]]; then
			compopt -o default
			mapfile -t COMPREPLY < <(compgen -f -X '!*.basm' -- "$word")
			return
		fi
		words=$("$program" --help 2>/dev/null | sed '/^Examples:/,$d' | grep -oE -- '(^|[ ,])--?[a-zA-Z?][a-z-]*' | tr -d ' ,')
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _fib_compare fib-compare
