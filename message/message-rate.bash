# SPDX-License-Identifier: BSD-2-Clause
# Completion of message-rate for bash. Options and names are those that the program tells.
_message_rate() {
	local program=$1 word=$2 before=$3 words
	COMPREPLY=()
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $before in
	--modes) words=$("$program" --list 2>/dev/null | sed -n 's/^  \([a-z][^ ]*\) .*/\1/p' | sort -u) ;;
	-n | -s | --pairs | --clients | --stalled | --threads | --cores | -r | --rounds | -d | --duration) return ;;
	-o | --json) compopt -o default; return ;;
	*)
		if [[ $word == -* ]]; then
			words=$("$program" --help 2>/dev/null | sed '/^Examples:/,$d' | grep -oE -- '(^|[ ,])--?[a-zA-Z?][a-z-]*' | tr -d ' ,')
		else
			words='send broadcast'
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _message_rate message-rate
