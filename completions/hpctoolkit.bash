# Completion of the command lines of hpcrun, hpcstruct, hpcprof and hpcviewer for bash.
#
# The options and their values come from the tool itself: TOOL --option-table prints a line for each option, with fields
# separated by tabs: letters, name, value, kind of completion (lib/option-table.h). `make install` puts this file where
# bash-completion finds it.

# All options of TOOL.
_hpctoolkit_options() {
    "$1" --option-table 2>/dev/null | awk -F'\t' '{ if ($1) print "-" $1; print "--" $2 }'
}

# Those options of TOOL that take a value.
_hpctoolkit_valued() {
    "$1" --option-table 2>/dev/null | awk -F'\t' '$3 { if ($1) print "-" $1; print "--" $2 }'
}

# How to complete the value of OPTION of TOOL; false if it takes none, or is not one of its options.
_hpctoolkit_kind() { # TOOL OPTION
    "$1" --option-table 2>/dev/null | awk -F'\t' -v option="$2" '
        $3 && (option == "-" $1 || option == "--" $2) { print $4; found = 1 }
        END { exit !found }'
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

# Offers values of OPTION of TOOL that begin with CURRENT; false if it takes none.
_hpctoolkit_value() { # TOOL OPTION CURRENT
    local kind
    kind=$(_hpctoolkit_kind "$1" "$2") || return
    case $kind in
    @event) _hpctoolkit_reply "$("$1" -L 2>/dev/null | awk '!NF { exit } { print $1 }')" "$3" ;;
    @file) _hpctoolkit_reply_files -f "$3" ;;
    @directory) _hpctoolkit_reply_files -d "$3" ;;
    *) _hpctoolkit_reply "$kind" "$3" ;;
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
