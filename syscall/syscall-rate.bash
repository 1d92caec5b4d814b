# SPDX-License-Identifier: BSD-2-Clause
# Completion of syscall-rate for bash. Options and names are those that the program tells.
_syscall_rate() {
	local program=$1 word=$2 before=$3 words='' i
	COMPREPLY=()
	# Behind "--" is a command with its own words.
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			if [ "$i" = $((COMP_CWORD - 1)) ]; then
				mapfile -t COMPREPLY < <(compgen -c -- "$word")
			else
				compopt -o default
			fi
			return
		fi
	done
	# "--call=x" is three words.
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	_syscall_rate_listed() { "$program" --list 2>/dev/null | sed -n "/^$1:/,/^[a-z]*:\$/s/^  \([^ ]*\) .*/\1/p"; }
	case $before in
	--call) words=$(_syscall_rate_listed calls) ;;
	--counter) words="bpf $(_syscall_rate_listed counters)" ;;
	--driver) words='native interp jit' ;;
	--timing) words='auto all none' ;;
	--per) words='process thread core' ;;
	-S | --summary-sort-by) words='time calls errors name nothing min-time max-time avg-time' ;;
	-U | --summary-columns) words='time-percent total-time min-time max-time avg-time calls errors name' ;;
	-e | --trace) words='trace= trace=! trace=%file trace=%process trace=%network trace=%signal trace=%ipc trace=%desc trace=%memory' ;;
	-p | --pid) words=$(cd /proc && printf '%s\n' [0-9]*) ;;
	-u | --user) words=$(compgen -u) ;;
	-o | --json) compopt -o default; return ;;
	-d | --duration | -i | --interval | --calls | --cores | --threads | --project) return ;;
	*) words=$("$program" --help 2>/dev/null | sed '/^Examples:/,$d' | grep -oE -- '(^|[ ,])--?[a-zA-Z?][a-z-]*' | tr -d ' ,') ;;
	esac
	# COMP_WORDBREAKS parts words at "=" and ":", where bash puts what is chosen.
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	case $before in
	--counter) [[ $COMP_WORDBREAKS == *:* && $word == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}") ;;
	esac
	return 0
}
complete -F _syscall_rate syscall-rate
