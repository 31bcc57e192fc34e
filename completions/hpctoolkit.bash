# Completion of the command lines of hpcrun, hpcstruct, hpcprof and hpcviewer for bash.
#
# Options are those that the tool's --help tells, so that nothing here has to follow them; only what
# can be their values is known here. `make install` puts this file where bash-completion finds it.

# The lines of TOOL --help that begin with an option, without what they explain.
_hpctoolkit_help() {
    "$1" --help 2>/dev/null | sed -n '/^ *-/{s/^ *//; s/   *.*//; p}'
}

# All options of TOOL.
_hpctoolkit_options() {
    _hpctoolkit_help "$1" | tr -s ' ,' '\n' | grep '^-'
}

# Those options of TOOL that take a value.
_hpctoolkit_valued() {
    _hpctoolkit_help "$1" | grep -v '\(^\| \)-[^ ]*$' | tr -s ' ,' '\n' | grep '^-'
}

# Sets `at` to the index of the command in `hpcrun [options] command ...`, 0 while there is none.
_hpctoolkit_find_command() {
    local i valued
    valued=" $(_hpctoolkit_valued "$1" | tr '\n' ' ')"
    at=0
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) at=$((i + 1)); return ;;
        =) ((i++)) ;;
        -*) [[ $valued == *" ${COMP_WORDS[i]} "* && ${COMP_WORDS[i + 1]} != = ]] && ((i++)) ;;
        *) at=$i; return ;;
        esac
    done
}

_hpctoolkit_reply() { # WORDS CURRENT
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_hpctoolkit_reply_files() { # KIND CURRENT
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

# Values of OPTION of TOOL that begin with CURRENT; false if there is no such option.
_hpctoolkit_value() { # TOOL OPTION CURRENT
    case ${1##*/}:$2 in
    hpcviewer:--print) _hpctoolkit_reply "top-down bottom-up flat threads summary" "$3" ;;
    hpcviewer:--format)
        _hpctoolkit_reply "text csv json folded flamegraph speedscope pprof" "$3" ;;
    hpcviewer:--scaling) _hpctoolkit_reply "strong weak" "$3" ;;
    hpcrun:-e | hpcrun:--event)
        _hpctoolkit_reply "$("$1" -L 2>/dev/null | awk '!NF { exit } { print $1 }')" "$3" ;;
    hpcrun:--agent) _hpctoolkit_reply "auto none" "$3" ;;
    hpcstruct:-o | hpcviewer:--output) _hpctoolkit_reply_files -f "$3" ;;
    *:-o | *:--output | *:-I | *:--include | *:--debug-dir) _hpctoolkit_reply_files -d "$3" ;;
    *) _hpctoolkit_valued "$1" | grep -qxe "$2" ;;
    esac
}

_hpctoolkit() { # TOOL CURRENT PREVIOUS
    local tool=$1 current=$2 previous=$3 at=0
    COMPREPLY=()
    # bash makes three words of --option=value.
    [[ $current == = ]] && current=
    [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}
    if [[ ${tool##*/} == hpcrun ]]; then
        _hpctoolkit_find_command "$tool"
        if ((at > 0 && at < COMP_CWORD)); then
            if declare -F _command_offset >/dev/null; then
                _command_offset "$at"
            else
                _hpctoolkit_reply_files -f "$current"
            fi
            return
        fi
    fi
    if [[ $previous == -* && at -eq 0 ]] && _hpctoolkit_value "$tool" "$previous" "$current"; then
        return
    fi
    case $current in
    -*) _hpctoolkit_reply "$(_hpctoolkit_options "$tool")" "$current" ;;
    *)
        case ${tool##*/} in
        hpcrun) _hpctoolkit_reply_files -c "$current" ;;
        hpcstruct) _hpctoolkit_reply_files -f "$current" ;;
        *) _hpctoolkit_reply_files -d "$current" ;;
        esac
        ;;
    esac
}

complete -F _hpctoolkit hpcrun hpcstruct hpcprof hpcviewer
