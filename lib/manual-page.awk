# Writes a manual page: PAGE.1.in with its line @OPTIONS@ replaced by the options of the tool.
# usage: awk -v table=FILE -f lib/manual-page.awk PAGE.1.in
# FILE is what TOOL --option-table prints (lib/option-table.h): a line for each option, fields separated by tabs.

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

function print_options(    line, field) {
    while ((getline line < table) > 0) {
        split(line, field, "\t")
        print ".TP\n" tag(field[1], field[2], field[5]) "\n" paragraph(field[6], field[5])
    }
}

$0 == "@OPTIONS@" { print_options(); next }
{ print }
