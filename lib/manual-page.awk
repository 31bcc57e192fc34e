# Writes a manual page: PAGE.1.in, its lines @OPTIONS@ and @KEYS@ replaced by the options and keys of the tool.
# usage: awk -v tool=PROGRAM -f lib/manual-page.awk PAGE.1.in
# PROGRAM --option-table (lib/option-table.h) and PROGRAM --key-table print a line for each, fields separated by tabs.

function literal(text) {
    gsub(/-/, "\\-", text)
    return text
}

function tag(letters, name, value,    text) {
    text = letters ? "\\fB" literal("-" letters) "\\fR, " : ""
    text = text "\\fB" literal("--" name) "\\fR"
    gsub(/[A-Z]+/, "\\fI&\\fR", value)
    return value ? text " " value : text
}

# Text with the words of `value` in italics.
function with_placeholders(text, value,    words, is_placeholder, n, i, done) {
    n = split(value, words, /[^A-Z]+/)
    for (i = 1; i <= n; i++)
        is_placeholder[words[i]] = 1
    while (match(text, /[A-Za-z0-9_-]+/)) {
        done = done substr(text, 1, RSTART - 1)
        i = substr(text, RSTART, RLENGTH)
        done = done (i in is_placeholder ? "\\fI" i "\\fR" : i)
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

# What stands between two backquotes is bold.
function paragraph(text, value,    parts, n, i, done) {
    n = split(text, parts, "`")
    for (i = 1; i <= n; i++)
        done = done (i % 2 ? with_placeholders(parts[i], value) : "\\fB" literal(parts[i]) "\\fR")
    return done
}

function print_options(    command, line, field, n) {
    command = tool " --option-table"
    while ((command | getline line) > 0) {
        split(line, field, "\t")
        print ".TP\n" tag(field[1], field[2], field[5]) "\n" paragraph(field[6], field[5])
        n++
    }
    if (!n || close(command))
        exit 1
}

# A heading has no keys; the keys of a row are separated by ", ".
function print_keys(    command, line, field, n) {
    command = tool " --key-table"
    while ((command | getline line) > 0) {
        gsub(/\\/, "\\e", line)
        split(line, field, "\t")
        if (field[1] "" == "")
            print ".PD\n.SS " field[2] "\n.PD 0"
        else
            print ".TP 16\n\\fB\\&" literal(field[1]) "\\fR\n\\&" field[2]
        n++
    }
    print ".PD"
    if (!n || close(command))
        exit 1
}

$0 == "@OPTIONS@" { print_options(); next }
$0 == "@KEYS@" { print_keys(); next }
{ print }
